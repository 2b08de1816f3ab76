//! Random flows that are well-formed: calls of nodes, functions, forks and handlers, on values that fit, with
//! fallbacks, dispatch and constraints.

use crate::random::Choices;
use flux_ir::error_code::ErrorPart;
use flux_ir::external::{External, ExternalId, ExternalRole};
use flux_ir::flow::*;
use flux_ir::name::Name;
use flux_ir::program::{Body, Chain, Constant, Mode, Node, NodeId, Origin, Parameter, Program, Scope, Signature};
use flux_ir::program::{Constraint, Handler, HandlerTarget, Predicate, Source, TestedBy};
use flux_ir::provenance::Provenance;
use flux_ir::types::Type;
use flux_source::Span;

/// A flow that is well-formed and whose paths have no numbers yet.
pub fn sound_flow(choices: &mut Choices) -> Flow {
    let flow = Flow { program: program(choices), functions: Default::default(), entries: vec![] };
    let mut maker = Maker { choices, flow, steps: 0 };
    let nodes: Vec<NodeId> = maker.flow.program.nodes.ids().collect();
    for id in nodes {
        let node = maker.flow.program.nodes[id].clone();
        if node.body.is_external() {
            continue;
        }
        let role = if maker.choices.below(3) == 2 { Role::Branch(id) } else { Role::Abstract(id) };
        maker.function(role, node.name.own(), node.inputs().to_vec(), node.outputs().to_vec());
    }
    for index in 0..maker.flow.program.sources.len() {
        let produced = parameters(maker.choices);
        let produce = match maker.flow.program.sources[index].origin {
            Origin::Timer(_) => None,
            Origin::Node(_) => {
                Some(maker.function(Role::Produce(index), &format!("produce_{index}"), vec![], produced.clone()))
            }
        };
        let inputs = if produce.is_some() { produced } else { vec![] };
        let run = maker.function(Role::Run(index), &format!("run_{index}"), inputs, vec![]);
        maker.flow.entries.push(Entry { produce, run });
    }
    maker.flow
}

/// Nodes without inputs and with, abstract ones last, and what they share.
fn program(choices: &mut Choices) -> Program {
    let span = Span::default();
    let mut program = Program { name: "random".to_owned(), ..Program::default() };
    let is_test = external(&mut program, "is_test", ExternalRole::Predicate);
    program.predicates.add(Predicate { name: Name::new("test"), tested_by: TestedBy::External(is_test), span });
    external(&mut program, "handle", ExternalRole::Handler);
    for name in ["d", "c", "b", "a"] {
        let scope = choices.of(&[Scope::Program, Scope::Session, Scope::Keyed]);
        program.constraints.add(Constraint { name: Name::new(name), scope, table: None, span });
    }
    let (concrete, all) = (1 + choices.below(3), 2 + choices.below(4));
    for index in 0..concrete + all {
        let signature =
            Signature { inputs: parameters(choices), outputs: parameters(choices), defaults: vec![], inferred: false };
        let (name, requirements) = (format!("N{index}"), vec![]);
        let body = match index < concrete {
            true => function(&mut program, &name),
            false => Body::Chain(Chain { steps: vec![], results: None, span }),
        };
        let signature = Some(signature);
        let name = Name::new(name);
        program.nodes.add(Node {
            name,
            signature,
            body,
            requirements,
            blocking: false,
            replicable: false,
            stack: None,
            span,
        });
    }
    for _ in 0..choices.below(3) {
        let timer = choices.chance();
        let node = NodeId::new(program.nodes.len());
        let origin = if timer { Origin::Timer(1) } else { Origin::Node(source_application(node)) };
        if !timer {
            let name = format!("S{}", program.nodes.len());
            let signature = Some(Signature::default());
            let (body, requirements) = (function(&mut program, &name), vec![]);
            let name = Name::new(name);
            program.nodes.add(Node {
                name,
                signature,
                body,
                requirements,
                blocking: false,
                replicable: false,
                stack: None,
                span,
            });
        }
        program.sources.push(Source {
            origin,
            session: None,
            target: NodeId::new(0),
            arguments: None,
            on_loops: false,
            span,
        });
    }
    program
}

fn external(program: &mut Program, name: &str, role: ExternalRole) -> ExternalId {
    program.externals.add(External::new(Name::new(name), role))
}

/// The function of a node.
fn function(program: &mut Program, name: &str) -> Body {
    Body::External(external(program, name, ExternalRole::Node))
}

fn source_application(node: NodeId) -> flux_ir::program::Application {
    flux_ir::program::Application {
        node,
        constants: vec![],
        named: vec![],
        arguments: None,
        kept: vec![],
        span: Span::default(),
    }
}

fn parameters(choices: &mut Choices) -> Vec<Parameter> {
    let mut names = ["x", "y", "z"].into_iter();
    choices.list(2, |choices| Parameter {
        ty: Type::new(choices.of(&["int", "long", "image_tag *"])),
        name: names.next().unwrap().to_owned(),
        span: Span::default(),
    })
}

/// A value and what it is.
type Value = (Operand, Parameter);

/// Where a block is.
#[derive(Clone, Copy)]
enum Place<'a> {
    Body,
    Line,
    /// Of a step with these outputs, which calls this node.
    Failure(&'a [Parameter], Option<NodeId>),
}

struct Maker<'a, 'b> {
    choices: &'a mut Choices<'b>,
    flow: Flow,
    steps: u32,
}

impl Maker<'_, '_> {
    fn function(&mut self, role: Role, name: &str, inputs: Vec<Parameter>, outputs: Vec<Parameter>) -> FunctionId {
        self.steps = 0;
        let values = values(&inputs, Operand::Input);
        let body = self.block(values, &outputs, Place::Body, 3);
        let fault = self.choices.chance().then_some(0);
        let (held, paths, span) = (vec![], Exits::default(), Span::default());
        self.flow.functions.add(Function {
            name: name.to_owned(),
            role,
            inputs,
            outputs,
            held,
            body,
            fault,
            paths,
            span,
        })
    }

    fn block(&mut self, mut values: Vec<Value>, outputs: &[Parameter], place: Place, depth: usize) -> Block {
        let mut steps = vec![];
        for _ in 0..if depth == 0 { 0 } else { self.choices.below(4) } {
            let step = self.step(&values, outputs, place, depth);
            values.extend(values_of(&self.flow, &step));
            steps.push(step);
        }
        let end = match (place, self.choices.below(4)) {
            (Place::Body, 1) if depth > 0 => self.dispatch(&values, outputs, depth),
            (Place::Failure(..), 0) => End::Failed { offset: 0 },
            (Place::Failure(..), 1) => End::Ended { offset: 0 },
            (Place::Failure([], Some(node)), 2) => self.go_on(node),
            (Place::Failure([], None), 2) => End::Ended { offset: 0 },
            (Place::Failure(failed, _), 2) => End::Resume { values: self.pick(&values, failed), offset: 0 },
            _ => End::Done { values: self.pick(&values, outputs), offset: 0 },
        };
        Block { steps, end }
    }

    /// The flow goes on after this node, because a handler says so.
    fn go_on(&mut self, node: NodeId) -> End {
        let (path, target) = (vec![Some(node)], HandlerTarget::GoOn(None));
        let (replacements, span) = (vec![], Span::default());
        self.flow.program.handlers.push(Handler { path, target, replacements, span });
        End::GoOn { offset: 0 }
    }

    fn dispatch(&mut self, values: &[Value], outputs: &[Parameter], depth: usize) -> End {
        let mut lines = vec![];
        for _ in 0..1 + self.choices.below(3) {
            let tests = (0..1 + self.choices.below(2)).map(|_| Test {
                predicate: self.flow.program.predicates.ids().next().unwrap(),
                value: self.any(values),
            });
            let tests = tests.collect();
            let block = self.block(values.to_vec(), outputs, Place::Line, depth - 1);
            lines.push(Line { tests, block, span: Span::default() });
        }
        let unmatched = self.choices.chance().then_some(0);
        if let (None, Some(last)) = (unmatched, lines.last_mut()) {
            last.tests.clear();
        }
        End::Dispatch { lines, unmatched }
    }

    fn step(&mut self, values: &[Value], outputs: &[Parameter], place: Place, depth: usize) -> Step {
        self.steps += 1;
        let id = StepId(self.steps);
        let callee = self.callee(matches!(place, Place::Failure(..)));
        let takes = self.flow.callee_inputs(&callee).to_vec();
        let gives: Vec<Parameter> = self.flow.callee_outputs(&callee).into_iter().cloned().collect();
        let inputs = self.pick(values, &takes);
        let acquire = self.acquisitions(values);
        let mut known = values.to_vec();
        known.extend(ErrorPart::ALL.map(|part| (Operand::Error(id, part), part.parameter())));
        let failing = Place::Failure(&gives, self.flow.callee_node(&callee));
        let failure = self.block(known, outputs, failing, depth - 1);
        let (paths, span) = (StepPaths::default(), Span::default());
        Step { id, callee, inputs, within: None, acquire, failure, paths, span }
    }

    fn callee(&mut self, failing: bool) -> Callee {
        let (program, functions) = (&self.flow.program, &self.flow.functions);
        let concrete = program.nodes.iter().filter(|(_, node)| node.body.is_external());
        let node = self.choices.of(&concrete.map(|(id, _)| id).collect::<Vec<_>>());
        let ids: Vec<FunctionId> = functions.ids().collect();
        match self.choices.below(5) {
            1 | 2 if !ids.is_empty() => Callee::Function(self.choices.of(&ids)),
            3 if !ids.is_empty() => {
                let first = self.choices.of(&ids);
                let types = |id: FunctionId| functions[id].inputs.iter().map(|input| &input.ty).collect::<Vec<_>>();
                let alike: Vec<_> = ids.iter().copied().filter(|id| types(*id) == types(first)).collect();
                let others: Vec<_> = self.choices.list(2, |choices| choices.of(&alike));
                Callee::Fork(
                    std::iter::once(first).chain(others).map(|function| Branch { function, after: None }).collect(),
                )
            }
            4 if failing => {
                let known = program.externals.iter().find(|(_, one)| one.role == ExternalRole::Handler);
                Callee::External { external: known.map(|(id, _)| id).unwrap(), node }
            }
            _ => Callee::Node(node),
        }
    }

    fn acquisitions(&mut self, values: &[Value]) -> Vec<Acquisition> {
        let program = self.flow.program.clone();
        let mut ids: Vec<_> = program.constraints.ids().collect();
        ids.sort_by_key(|id| (program.constraints[*id].scope, program.constraints[*id].name.clone()));
        ids.retain(|_| self.choices.below(5) == 4);
        let acquisition = |constraint| {
            let keyed = program.constraints[constraint].scope == Scope::Keyed;
            let key = if keyed { vec![self.any(values)] } else { vec![] };
            Acquisition {
                constraint,
                mode: self.choices.of(&[Mode::Read, Mode::Write]),
                key,
                provenance: Provenance::Author,
                span: Span::default(),
            }
        };
        ids.into_iter().map(acquisition).collect()
    }

    /// A value for each of the parameters.
    fn pick(&mut self, values: &[Value], parameters: &[Parameter]) -> Vec<Operand> {
        let one = |parameter: &Parameter| {
            let fitting: Vec<_> = values.iter().filter(|(_, value)| value.ty == parameter.ty).cloned().collect();
            self.any(&fitting)
        };
        parameters.iter().map(one).collect()
    }

    /// One of the values, or a constant.
    fn any(&mut self, values: &[Value]) -> Operand {
        match self.choices.below(values.len() + 1) {
            0 => Operand::Constant(Constant::Integer(7)),
            choice => values[choice - 1].0.clone(),
        }
    }
}

fn values(parameters: &[Parameter], operand: impl Fn(usize) -> Operand) -> Vec<Value> {
    parameters.iter().enumerate().map(|(index, parameter)| (operand(index), parameter.clone())).collect()
}

fn values_of(flow: &Flow, step: &Step) -> Vec<Value> {
    let outputs: Vec<Parameter> = flow.callee_outputs(&step.callee).into_iter().cloned().collect();
    values(&outputs, |index| Operand::Output(step.id, index))
}
