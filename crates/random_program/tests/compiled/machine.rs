//! Runs a compiled flow on one thread over the world of its random program, and reads the paths back.

use flux_ir::compute::{Failure, Reason, Value};
use flux_ir::external::ExternalId;
use flux_ir::flow::{Callee, Exit, Flow, FunctionId};
use flux_ir::paths::{Event, PathGraph, graph};
use flux_ir::program::{Constant, NodeId, OptionId, Parameter, PredicateId};
use flux_ir::run::{World, run};
use flux_ir::types::{Type as FlowType, TypeKind};
use flux_random_program::RandomProgram;
use flux_random_program::list::Lists;
use flux_random_program::model::{Behaviour, Body, Decision, Handler, Model, Node, Predicate, Type};
use std::collections::{HashMap, HashSet};

/// What became of a flow.
pub struct Seen {
    pub exit: Exit,
    /// The labels along its path, those of paths that were cut out put back in their place.
    pub path: Vec<String>,
    /// How many paths were cut out.
    pub cut: usize,
    /// The paths of the instances of each steps, with the nodes in whose flows these are.
    pub instances: Vec<(String, Exit, Vec<String>)>,
}

pub struct Machine<'a> {
    model: &'a Model,
    flow: &'a Flow,
    graph: PathGraph,
    nodes: HashMap<&'a str, &'a Node>,
    predicates: HashMap<&'a str, &'a Predicate>,
    handlers: HashMap<&'a str, &'a Behaviour>,
    /// The functions that each steps run.
    instances: HashSet<FunctionId>,
}

/// What is around one flow.
struct Around<'a> {
    machine: &'a Machine<'a>,
    /// The labels of the paths that were cut out, for each function that was cut out and runs those below it.
    cut: Vec<Vec<Vec<String>>>,
    cut_count: usize,
    instances: Vec<(String, Exit, Vec<String>)>,
    lists: Lists,
}

impl<'a> Machine<'a> {
    pub fn new(program: &'a RandomProgram, flow: &'a Flow) -> Self {
        let model = &program.model;
        let nodes = model.nodes.iter().map(|(_, node)| (node.name.as_str(), node)).collect();
        let predicates = model.predicates.iter().map(|(_, one)| (one.name.as_str(), one)).collect();
        let handlers = model.nodes.iter().filter_map(|(_, node)| node.handler.as_ref());
        let handlers = handlers.chain(model.path_handlers.iter().map(|one| &one.handler)).filter_map(Handler::function);
        let handlers = handlers.collect();
        let steps = flow.functions.iter().flat_map(|(_, function)| function.body.all_steps());
        let instance = |callee: &Callee| match callee {
            Callee::Each(each) => Some(each.function),
            _ => None,
        };
        let instances = steps.filter_map(|step| instance(&step.callee)).collect();
        Self { model, flow, graph: graph(flow), nodes, predicates, handlers, instances }
    }

    /// Runs flow `number`, which the source at index `source` produced.
    pub fn run(&self, source: usize, number: u32) -> Seen {
        let node = &self.model.nodes[self.model.sources[source].node];
        let digest = behaviour(node).digest([number.into()]);
        let values = outputs(node, number.into(), |index, ty| Behaviour::source_output(digest, index, ty));
        let function = self.flow.entries[source].run;
        let (lists, instances) = (Lists::default(), vec![]);
        let mut around = Around { machine: self, cut: vec![vec![]], cut_count: 0, instances, lists };
        let ran = run(self.flow, function, values, &mut around).expect("a verified flow runs");
        let cut = around.cut.pop().expect("what began has ended");
        let path = self.labels(function, ran.exit, ran.number, cut);
        Seen { exit: ran.exit, path, cut: around.cut_count, instances: around.instances }
    }

    /// The labels of a path, with `cut` in the places of the functions that were cut out of it.
    fn labels(&self, function: FunctionId, exit: Exit, number: u64, cut: Vec<Vec<String>>) -> Vec<String> {
        let decoded = self.graph.decode(function, exit, number).expect("a path number leads back to the start");
        let mut cut = cut.into_iter();
        let expand = |event: Event| match event {
            Event::Function(function) if self.instances.contains(&function) => {
                vec![format!("{}[]", self.owner(function))]
            }
            Event::Function(_) => cut.next().expect("as many paths were cut out as the path says"),
            event => vec![event.text(self.flow)],
        };
        let labels = decoded.into_iter().flat_map(expand).collect();
        assert_eq!(cut.next(), None, "as many paths were cut out as the path says");
        labels
    }

    /// The node in whose flow a function is.
    fn owner(&self, function: FunctionId) -> &'a str {
        self.flow.functions[function].name.split('_').next().unwrap()
    }

    fn node(&self, id: NodeId) -> &'a Node {
        self.nodes[self.flow.program.nodes[id].name.own()]
    }
}

/// Values are bits, cut to their types where they are taken.
impl World for Around<'_> {
    type Value = u64;

    fn node(&mut self, node: NodeId, inputs: Vec<u64>) -> Result<Vec<u64>, u64> {
        let node = self.machine.node(node);
        let digest = behaviour(node).digest(narrowed(node, &inputs));
        decide(behaviour(node), digest)?;
        Ok(outputs(node, inputs[0], |index, ty| self.lists.made(ty, Behaviour::output(digest, index))))
    }

    fn external(
        &mut self,
        external: ExternalId,
        node: NodeId,
        inputs: Vec<u64>,
        changed: bool,
        error: &u64,
    ) -> Result<(), u64> {
        let node = self.machine.node(node);
        let mut inputs = narrowed(node, &inputs);
        if changed && let Body::Concrete(failed) = &node.body {
            let failed = failed.digest(inputs.iter().copied());
            Behaviour::changed(failed, &node.inputs, &mut inputs);
        }
        let behaviour = self.machine.handlers[self.machine.flow.program.externals[external].name.own()];
        decide(behaviour, behaviour.digest(inputs.into_iter().chain([Type::Error.narrow(*error)])))
    }

    fn test(&mut self, predicate: PredicateId, value: u64) -> Option<bool> {
        let name = self.machine.flow.program.predicates[predicate].name.own();
        let predicate = self.machine.predicates[name];
        if predicate.ty.breaks(value) {
            return None;
        }
        predicate.holds(value)
    }

    fn constant(&mut self, _constant: &Constant) -> u64 {
        panic!("random programs bind no constants")
    }

    fn fault(&mut self) -> u64 {
        0
    }

    fn elements(&mut self, list: u64) -> Vec<u64> {
        self.lists.elements(list)
    }

    fn list(&mut self, elements: Vec<u64>) -> u64 {
        self.lists.add(elements)
    }

    fn open(&mut self, ty: &FlowType, bits: &u64) -> Value {
        match ty.kind() {
            TypeKind::Bool => Value::Truth(*bits & 1 == 1),
            TypeKind::Text => Value::Bytes(format!("{bits:032}").into_bytes()),
            TypeKind::List(element) => {
                let elements = self.lists.elements(*bits);
                Value::List(elements.iter().map(|bits| self.open(element, bits)).collect())
            }
            // An `int` is in the low half, and has a sign; an `unsigned long` has none.
            _ if ty.integer().is_some_and(|integer| integer.signed) => Value::Integer((*bits as u32 as i32).into()),
            _ => Value::Integer((*bits).into()),
        }
    }

    fn close(&mut self, ty: &FlowType, value: Value) -> u64 {
        match (value, ty.kind()) {
            (Value::Integer(value), _) => value as u64,
            (Value::Truth(value), _) => value.into(),
            (Value::Bytes(text), _) => String::from_utf8(text).unwrap().parse().unwrap(),
            (Value::List(elements), TypeKind::List(element)) => {
                let elements = elements.into_iter().map(|value| self.close(element, value)).collect();
                self.lists.add(elements)
            }
            (other, _) => panic!("no random program has {other:?}"),
        }
    }

    fn failure(&mut self, failure: &Failure) -> u64 {
        match failure.reason {
            Reason::Own(code) => code.try_into().unwrap(),
            _ => 0,
        }
    }

    fn option(&mut self, _option: OptionId) -> Value {
        panic!("random programs have no options")
    }

    fn takes(&mut self, parameters: &[&Parameter], values: &[u64]) -> bool {
        let fragile = |parameter: &Parameter| parameter.ty.cpp() == Type::Fragile.spelling().0;
        !parameters.iter().zip(values).any(|(one, bits)| fragile(one) && Type::Fragile.breaks(*bits))
    }

    fn cut_begins(&mut self) {
        self.cut.push(vec![]);
    }

    fn cut_ends(&mut self, function: FunctionId, exit: Exit, number: u64) {
        let below = self.cut.pop().expect("what ends has begun");
        let labels = self.machine.labels(function, exit, number, below);
        if self.machine.instances.contains(&function) {
            return self.instances.push((self.machine.owner(function).to_owned(), exit, labels));
        }
        self.cut.last_mut().expect("a flow is around it").push(labels);
        self.cut_count += 1;
    }
}

/// Whether a call succeeds; else its error.
fn decide(behaviour: &Behaviour, digest: u64) -> Result<(), u64> {
    match behaviour.decide(digest) {
        Decision::Succeed => Ok(()),
        Decision::Fail(error) => Err(error),
        Decision::Throw => Err(0),
    }
}

fn behaviour(node: &Node) -> &Behaviour {
    match &node.body {
        Body::Concrete(behaviour) => behaviour,
        Body::Chain(_) | Body::Dispatch(_) | Body::Computed(_) => {
            panic!("{} is called, but has no function", node.name)
        }
    }
}

fn narrowed(node: &Node, inputs: &[u64]) -> Vec<u64> {
    node.inputs.iter().zip(inputs).map(|(input, bits)| input.ty.narrow(*bits)).collect()
}

fn outputs(node: &Node, flow: u64, mut bits: impl FnMut(usize, Type) -> u64) -> Vec<u64> {
    let bits = |(index, ty): (usize, Type)| if index == 0 { flow } else { bits(index, ty) };
    node.outputs.iter().map(|output| output.ty).enumerate().map(bits).collect()
}
