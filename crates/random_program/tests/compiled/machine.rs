//! Runs a compiled flow on one thread, with the path register that generated code keeps, and reads the paths back.
//!
//! What nodes do is the random program's business; how values go, which function is called and what is added to the
//! register is read from the compiler's flow. It does what generated code does, by the contract with the runtime.

use flux_ir::flow::*;
use flux_ir::paths::{Event, PathGraph, any, graph};
use flux_ir::program::Parameter;
use flux_random_program::RandomProgram;
use flux_random_program::model::{Behaviour, Body, Decision, Handler, Model, Node, Type};
use std::collections::HashMap;

/// What became of a flow.
pub struct Seen {
    pub exit: Exit,
    /// The labels along its path, those of paths that were cut out put back in their place.
    pub path: Vec<String>,
    /// How many paths were cut out.
    pub cut: usize,
}

pub struct Machine<'a> {
    model: &'a Model,
    flow: &'a Flow,
    graph: PathGraph,
    nodes: HashMap<&'a str, &'a Node>,
    predicates: HashMap<&'a str, (Type, &'a Behaviour)>,
    handlers: HashMap<&'a str, &'a Behaviour>,
}

/// One flow.
struct State {
    register: u64,
    error: u64,
    /// The labels of the paths that were cut out below the function that runs, in the order of their calls.
    cut: Vec<Vec<String>>,
    cut_count: usize,
}

/// The values in one function.
#[derive(Default)]
struct Frame {
    /// The parameters of what the function gives.
    gives: Vec<Parameter>,
    inputs: Vec<u64>,
    outputs: HashMap<(StepId, usize), u64>,
    /// What the steps were given, and the errors of those that failed.
    given: HashMap<(StepId, usize), u64>,
    errors: HashMap<StepId, u64>,
}

/// How a block was left.
enum Left {
    By(Exit, Vec<u64>),
    Resumed(Vec<u64>),
    Faulted,
}

impl<'a> Machine<'a> {
    pub fn new(program: &'a RandomProgram, flow: &'a Flow) -> Self {
        let model = &program.model;
        let nodes = model.nodes.iter().map(|(_, node)| (node.name.as_str(), node)).collect();
        let predicates =
            model.predicates.iter().map(|(_, one)| (one.name.as_str(), (one.ty, &one.behaviour))).collect();
        let handler = |handler: &'a Handler| match handler {
            Handler::Function { name, behaviour } => Some((name.as_str(), behaviour)),
            Handler::Node(_) => None,
        };
        let handlers = model.nodes.iter().filter_map(|(_, node)| node.handler.as_ref());
        let handlers = handlers.chain(model.path_handlers.iter().map(|one| &one.handler)).filter_map(handler).collect();
        Self { model, flow, graph: graph(flow), nodes, predicates, handlers }
    }

    /// Runs flow `number`, which the source at index `source` produced.
    pub fn run(&self, source: usize, number: u32) -> Seen {
        let node = &self.model.nodes[self.model.sources[source].node];
        let digest = behaviour(node).digest([number.into()]);
        let values = outputs(node, number.into(), |index, ty| Behaviour::source_output(digest, index, ty));
        let mut state = State { register: 0, error: 0, cut: vec![], cut_count: 0 };
        let run = self.flow.entries[source].run;
        let (exit, _) = self.function(&mut state, run, values);
        let path = self.labels(run, exit, state.register, std::mem::take(&mut state.cut));
        Seen { exit, path, cut: state.cut_count }
    }

    /// The labels of a path, with `cut` in the places of the functions that were cut out of it.
    fn labels(&self, function: FunctionId, exit: Exit, number: u64, cut: Vec<Vec<String>>) -> Vec<String> {
        let decoded = self.graph.decode(function, exit, number).expect("a path number leads back to the start");
        let mut cut = cut.into_iter();
        let expand = |event: Event| match event {
            Event::Function(_) => cut.next().expect("as many paths were cut out as the path says"),
            event => vec![self.graph.text(self.flow, event)],
        };
        let labels = decoded.into_iter().flat_map(expand).collect();
        assert_eq!(cut.next(), None, "as many paths were cut out as the path says");
        labels
    }

    fn function(&self, state: &mut State, id: FunctionId, inputs: Vec<u64>) -> (Exit, Vec<u64>) {
        let function = &self.flow.functions[id];
        let mut frame = Frame { inputs, gives: function.outputs.clone(), ..Frame::default() };
        match self.block(state, &mut frame, &function.body) {
            Left::By(exit, values) => (exit, values),
            Left::Resumed(_) => panic!("a function's body cannot resume"),
            Left::Faulted => {
                state.error = 0;
                state.register = function.fault.expect("a function with a predicate can fault");
                (Exit::Failed, vec![])
            }
        }
    }

    fn block(&self, state: &mut State, frame: &mut Frame, block: &Block) -> Left {
        for step in &block.steps {
            if let Some(left) = self.step(state, frame, step) {
                return left;
            }
        }
        let values = |frame: &Frame, operands: &[Operand]| operands.iter().map(|one| value(frame, one)).collect();
        let (exit, offset, given) = match &block.end {
            End::Done { values: operands, offset } => (Exit::Done, offset, values(frame, operands)),
            End::Failed { offset } => (Exit::Failed, offset, vec![]),
            End::Ended { offset } => (Exit::Ended, offset, vec![]),
            End::Resume { values: operands, offset } => {
                state.register += offset;
                return Left::Resumed(values(frame, operands));
            }
            End::Dispatch { lines, unmatched } => return self.dispatch(state, frame, lines, *unmatched),
        };
        if breaks(&frame.gives, &given) {
            return Left::Faulted;
        }
        state.register += offset;
        Left::By(exit, given)
    }

    fn dispatch(&self, state: &mut State, frame: &mut Frame, lines: &[Line], unmatched: Option<u64>) -> Left {
        for line in lines {
            let mut matches = true;
            for test in &line.tests {
                let (ty, behaviour) = self.predicates[self.flow.program.predicates[test.predicate].name.as_str()];
                let bits = ty.narrow(value(frame, &test.value));
                if ty.breaks(bits) {
                    return Left::Faulted;
                }
                match behaviour.decide(behaviour.digest([bits])) {
                    Decision::Succeed => {}
                    Decision::Fail(_) => matches = false,
                    Decision::Throw => return Left::Faulted,
                }
                if !matches {
                    break;
                }
            }
            if matches {
                return self.block(state, frame, &line.block);
            }
        }
        state.register += unmatched.expect("a dispatch that may match nothing says so");
        state.error = 0;
        Left::By(Exit::Failed, vec![])
    }

    /// Runs a step; says how the block was left where it does not go on.
    fn step(&self, state: &mut State, frame: &mut Frame, step: &Step) -> Option<Left> {
        let inputs: Vec<_> = step.inputs.iter().map(|one| value(frame, one)).collect();
        let copied = !step.inputs.iter().any(|operand| matches!(operand, Operand::Changed(..)));
        if copied && breaks(self.flow.callee_inputs(&step.callee), &inputs) {
            return Some(Left::Faulted);
        }
        for (index, bits) in inputs.iter().enumerate() {
            frame.given.insert((step.id, index), *bits);
        }
        let given = match self.call(state, step, inputs) {
            (Exit::Done, given) => given,
            (Exit::Ended, _) => {
                state.register += step.paths.ended_offset;
                return Some(Left::By(Exit::Ended, vec![]));
            }
            (Exit::Failed, _) => {
                frame.errors.insert(step.id, state.error);
                match self.block(state, frame, &step.failure) {
                    Left::Resumed(values) if breaks(self.flow.callee_outputs(&step.callee), &values) => {
                        return Some(Left::Faulted);
                    }
                    Left::Resumed(values) => values,
                    left => return Some(left),
                }
            }
        };
        for (index, bits) in given.into_iter().enumerate() {
            frame.outputs.insert((step.id, index), bits);
        }
        None
    }

    fn call(&self, state: &mut State, step: &Step, inputs: Vec<u64>) -> (Exit, Vec<u64>) {
        match &step.callee {
            Callee::Node(id) => {
                let node = self.nodes[self.flow.program.nodes[*id].name.as_str()];
                let flow = inputs[0];
                let digest = behaviour(node).digest(narrowed(node, &inputs));
                match self.decide(state, behaviour(node), digest) {
                    true => (Exit::Done, outputs(node, flow, |index, ty| Behaviour::output(digest, index, ty))),
                    false => (Exit::Failed, vec![]),
                }
            }
            Callee::Handler { function, node } => {
                let node = self.nodes[self.flow.program.nodes[*node].name.as_str()];
                let mut inputs = narrowed(node, &inputs);
                if step.inputs.iter().any(|operand| matches!(operand, Operand::Changed(..))) {
                    let failed = self::behaviour(node).digest(inputs.iter().copied());
                    Behaviour::changed(failed, &node.inputs, &mut inputs);
                }
                let behaviour = self.handlers[function.as_str()];
                let error = Type::Error.narrow(state.error);
                let digest = behaviour.digest(inputs.into_iter().chain([error]));
                let done = self.decide(state, behaviour, digest);
                (if done { Exit::Done } else { Exit::Failed }, vec![])
            }
            Callee::Function(callee) => self.call_function(state, step.paths, *callee, inputs),
            Callee::Fork(branches) => self.fork(state, step.paths, branches, &inputs),
            Callee::Session { .. } => panic!("not in the programs run here"),
        }
    }

    /// Whether a call succeeds; where not, its error is in hand.
    fn decide(&self, state: &mut State, behaviour: &Behaviour, digest: u64) -> bool {
        match behaviour.decide(digest) {
            Decision::Succeed => return true,
            Decision::Fail(error) => state.error = error,
            Decision::Throw => state.error = 0,
        }
        false
    }

    /// Runs branches one after the other, and joins them.
    fn fork(&self, state: &mut State, paths: StepPaths, branches: &[Branch], inputs: &[u64]) -> (Exit, Vec<u64>) {
        let StepPaths { save, cut, radix, .. } = paths;
        let before = state.register;
        assert!(save || before == 0, "a register that is not saved is 0");
        let (mut ended, mut joined, mut errors) = (vec![], vec![], vec![]);
        for Branch { function, .. } in branches {
            state.register = 0;
            let (exit, given) = match cut {
                true => self.call_function(state, paths, *function, inputs.to_vec()),
                false => self.function(state, *function, inputs.to_vec()),
            };
            errors.extend((exit == Exit::Failed).then_some(state.error));
            joined.extend(given);
            ended.push((self.flow.functions[*function].paths, exit, state.register));
        }
        let exits: Vec<_> = ended.iter().map(|(_, exit, _)| *exit).collect();
        let exit = [Exit::Failed, Exit::Ended].into_iter().find(|exit| exits.contains(exit)).unwrap_or(Exit::Done);
        state.error = errors.first().copied().unwrap_or(state.error);
        let number = |number: u64, (paths, by, own): (Exits, Exit, u64)| match (exit, by) {
            (Exit::Done, _) => number * paths.done + own,
            (_, Exit::Done) => number * any(paths) + own,
            (_, Exit::Failed) => number * any(paths) + paths.done + own,
            (_, Exit::Ended) => number * any(paths) + paths.done + paths.failed + own,
        };
        state.register = if cut { before } else { before * radix.get(exit) + ended.into_iter().fold(0, number) };
        (exit, if exit == Exit::Done { joined } else { vec![] })
    }

    fn call_function(
        &self,
        state: &mut State,
        paths: StepPaths,
        callee: FunctionId,
        inputs: Vec<u64>,
    ) -> (Exit, Vec<u64>) {
        let StepPaths { save, cut, radix, .. } = paths;
        let before = state.register;
        assert!(save || before == 0, "a register that is not saved is 0");
        state.register = 0;
        let cut_before = if cut { std::mem::take(&mut state.cut) } else { vec![] };
        let (exit, given) = self.function(state, callee, inputs);
        if cut {
            let below = std::mem::replace(&mut state.cut, cut_before);
            let labels = self.labels(callee, exit, state.register, below);
            state.cut.push(labels);
            state.cut_count += 1;
            state.register = before;
        } else {
            state.register += before * radix.get(exit);
        }
        (exit, given)
    }
}

fn behaviour(node: &Node) -> &Behaviour {
    match &node.body {
        Body::Concrete(behaviour) => behaviour,
        Body::Chain(_) | Body::Dispatch(_) => panic!("{} is called, but has no function", node.name),
    }
}

fn narrowed(node: &Node, inputs: &[u64]) -> Vec<u64> {
    node.inputs.iter().zip(inputs).map(|(input, bits)| input.ty.narrow(*bits)).collect()
}

fn outputs(node: &Node, flow: u64, bits: impl Fn(usize, Type) -> u64) -> Vec<u64> {
    let bits = |(index, ty): (usize, Type)| if index == 0 { flow } else { bits(index, ty) };
    node.outputs.iter().map(|output| output.ty).enumerate().map(bits).collect()
}

/// Whether one of the values breaks where it is copied or moved into its parameter.
fn breaks<'a>(parameters: impl IntoIterator<Item = &'a Parameter>, values: &[u64]) -> bool {
    let fragile = |parameter: &Parameter| parameter.ty.cpp() == Type::Fragile.spelling().0;
    parameters.into_iter().zip(values).any(|(one, bits)| fragile(one) && Type::Fragile.breaks(*bits))
}

fn value(frame: &Frame, operand: &Operand) -> u64 {
    match operand {
        Operand::Input(index) => frame.inputs[*index],
        Operand::Output(step, index) => frame.outputs[&(*step, *index)],
        // What the node has made of it is known where the handler is called.
        Operand::Changed(step, index) => frame.given[&(*step, *index)],
        Operand::Error(step) => frame.errors[step],
        Operand::Constant(_) => panic!("random programs bind no constants"),
    }
}
