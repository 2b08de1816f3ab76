//! The instrumented reference: what a program does with a flow, by interpreting the model that its generator made.
//!
//! It shares no code with the compiler. Values are interpreted too, as the bits they carry, and every decision of a node
//! depends on the values it is given; so a value that goes astray in the server soon shows as another path.

use crate::flux_text::patterns;
use crate::model::*;

/// What happened to one flow.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Run {
    /// Which source it came from, by its index.
    pub source: usize,
    /// How it ended.
    pub exit: Exit,
    /// The labels along its path, as the profile shows them.
    pub path: Vec<Label>,
}

/// How a flow ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Exit {
    /// Its target gave its outputs.
    Done,
    /// A failure was not handled.
    Failed,
    /// A handler took care of a failure and gave nothing to go on with.
    Ended,
}

/// One label of a path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Label {
    /// A node or a handler was called: something that a function can record.
    Called(String),
    /// The function called last failed.
    CallFailed,
    /// A line of a dispatch was taken: `Flow3:[_, is_2]`. No function knows of it.
    Line(String),
    /// No line of a dispatch matched, or a predicate threw. No function knows of it.
    DispatchFailed,
}

impl Label {
    /// As the profile writes it.
    pub fn text(&self) -> &str {
        match self {
            Self::Called(text) | Self::Line(text) => text,
            Self::CallFailed | Self::DispatchFailed => "ERROR",
        }
    }
}

impl Run {
    /// The path as text: `Flow1:[_] -> Step2 -> ERROR`.
    pub fn path_text(&self) -> String {
        self.path.iter().map(Label::text).collect::<Vec<_>>().join(" -> ")
    }

    /// What the functions themselves record of it: `Step2 ERROR`.
    pub fn trace(&self) -> String {
        let recorded = self.path.iter().filter(|label| matches!(label, Label::Called(_) | Label::CallFailed));
        recorded.map(Label::text).collect::<Vec<_>>().join(" ")
    }
}

/// What becomes of flow number `flow`, which comes from the source at index `flow` modulo the number of sources.
pub fn run(model: &Model, flow: u32) -> Run {
    let source = flow as usize % model.sources.len().max(1);
    let mut interpreter = Interpreter { model, path: vec![] };
    let exit = match model.sources.get(source) {
        None => Exit::Done,
        Some(found) => {
            let values = interpreter.produced(found, flow);
            match interpreter.apply(found.target, &values) {
                Outcome::Done(_) => Exit::Done,
                Outcome::Failed(_) => Exit::Failed,
                Outcome::Ended => Exit::Ended,
            }
        }
    };
    Run { source, exit, path: interpreter.path }
}

/// How many times the sources of `model` fail before they produced flow `flow`: as often as the hash says, at most once.
pub fn source_fails_before(model: &Model, flow: u32) -> bool {
    let source = model.sources.get(flow as usize % model.sources.len().max(1));
    let behaviour = source.and_then(|source| behaviour(&model.nodes[source.node]));
    behaviour.is_some_and(|behaviour| behaviour.decide(behaviour.digest([flow.into()])) != Decision::Succeed)
}

fn behaviour(node: &Node) -> Option<&Behaviour> {
    match &node.body {
        Body::Concrete(behaviour) => Some(behaviour),
        Body::Chain(_) | Body::Dispatch(_) => None,
    }
}

/// A value: what it is called where it comes from, and the bits it carries.
type Value = (Parameter, u64);

/// What came of applying a node. An error code of the runtime's is 0.
enum Outcome {
    Done(Vec<Value>),
    Failed(u64),
    Ended,
}

struct Interpreter<'a> {
    model: &'a Model,
    path: Vec<Label>,
}

impl Interpreter<'_> {
    fn produced(&self, source: &Source, flow: u32) -> Vec<Value> {
        let node = &self.model.nodes[source.node];
        let digest = behaviour(node).map_or(0, |behaviour| behaviour.digest([flow.into()]));
        outputs(node, flow.into(), digest)
    }

    /// Applies a node, and its handler where it fails.
    fn apply(&mut self, id: NodeId, values: &[Value]) -> Outcome {
        let node = &self.model.nodes[id];
        let inputs = pass(values, &node.inputs).unwrap_or_default();
        match (self.call(node, &inputs), &node.handler) {
            (Outcome::Failed(error), Some(handler)) => self.handle(node, handler, inputs, error),
            (outcome, _) => outcome,
        }
    }

    fn call(&mut self, node: &Node, inputs: &[Value]) -> Outcome {
        match &node.body {
            Body::Chain(chain) => self.chain(node, chain, inputs),
            Body::Dispatch(lines) => self.dispatch(node, lines, inputs),
            Body::Concrete(behaviour) => {
                self.path.push(Label::Called(node.name.clone()));
                let digest = behaviour.digest(inputs.iter().map(|(parameter, bits)| parameter.ty.narrow(*bits)));
                match behaviour.decide(digest) {
                    Decision::Succeed => {
                        let flow = inputs.first().map_or(0, |(_, bits)| *bits);
                        Outcome::Done(outputs(node, flow, digest))
                    }
                    Decision::Fail(error) => self.call_failed(error),
                    Decision::Throw => self.call_failed(0),
                }
            }
        }
    }

    fn call_failed(&mut self, error: u64) -> Outcome {
        self.path.push(Label::CallFailed);
        Outcome::Failed(error)
    }

    fn dispatch(&mut self, node: &Node, lines: &[Line], inputs: &[Value]) -> Outcome {
        for line in lines {
            match self.matches(line, inputs) {
                Some(true) => {
                    self.path.push(Label::Line(format!("{}:{}", node.name, patterns(self.model, line))));
                    return self.chain(node, &line.chain, inputs);
                }
                Some(false) => {}
                None => break,
            }
        }
        self.path.push(Label::DispatchFailed);
        Outcome::Failed(0)
    }

    /// Whether all patterns of a line hold, tested from left to right up to the first that does not; `None` where one
    /// throws.
    fn matches(&self, line: &Line, inputs: &[Value]) -> Option<bool> {
        for (pattern, (parameter, bits)) in line.patterns.iter().zip(inputs) {
            let Some(predicate) = pattern else { continue };
            let behaviour = &self.model.predicates[*predicate].behaviour;
            match behaviour.decide(behaviour.digest([parameter.ty.narrow(*bits)])) {
                Decision::Succeed => {}
                Decision::Fail(_) => return Some(false),
                Decision::Throw => return None,
            }
        }
        Some(true)
    }

    /// Runs a chain of `node`, and gives its outputs.
    fn chain(&mut self, node: &Node, chain: &Chain, inputs: &[Value]) -> Outcome {
        match self.steps(chain, inputs.to_vec()) {
            Outcome::Done(values) => Outcome::Done(pass(&values, &node.outputs).unwrap_or_default()),
            outcome => outcome,
        }
    }

    fn steps(&mut self, chain: &Chain, mut values: Vec<Value>) -> Outcome {
        for step in chain {
            let outcome = match step {
                Step::Apply(node) => self.apply(*node, &values),
                Step::Parallel(branches) => self.parallel(branches, &values),
            };
            match outcome {
                Outcome::Done(given) => values = given,
                outcome => return outcome,
            }
        }
        Outcome::Done(values)
    }

    /// Runs all branches, and joins their outputs; the first failure is the step's, and counts before an end.
    fn parallel(&mut self, branches: &[Chain], values: &[Value]) -> Outcome {
        let (mut joined, mut failed, mut ended) = (vec![], None, false);
        for branch in branches {
            match self.steps(branch, values.to_vec()) {
                Outcome::Done(given) => joined.extend(given),
                Outcome::Failed(error) => failed = failed.or(Some(error)),
                Outcome::Ended => ended = true,
            }
        }
        match failed {
            Some(error) => Outcome::Failed(error),
            None if ended => Outcome::Ended,
            None => Outcome::Done(joined),
        }
    }

    /// Lets `handler` take the place of `node`, which failed with `error` when it was given `inputs`.
    fn handle(&mut self, node: &Node, handler: &Handler, inputs: Vec<Value>, error: u64) -> Outcome {
        match handler {
            Handler::Function { name, behaviour } => {
                self.path.push(Label::Called(name.clone()));
                let given = inputs.iter().map(|(parameter, bits)| parameter.ty.narrow(*bits));
                match behaviour.decide(behaviour.digest(given.chain([Type::Error.narrow(error)]))) {
                    Decision::Throw => self.call_failed(0),
                    Decision::Succeed | Decision::Fail(_) => Outcome::Ended,
                }
            }
            Handler::Node(target) => {
                let wanted = &self.model.nodes[*target].inputs;
                let parameters = Model::handler_values(&node.inputs, wanted);
                let values: Vec<_> =
                    parameters.into_iter().zip(inputs.into_iter().map(|(_, bits)| bits).chain([error])).collect();
                match self.apply(*target, &values) {
                    Outcome::Done(given) => pass(&given, &node.outputs).map_or(Outcome::Ended, Outcome::Done),
                    outcome => outcome,
                }
            }
        }
    }
}

/// The values that go into `parameters`, under their new names; `None` where they do not fit.
fn pass(values: &[Value], parameters: &[Parameter]) -> Option<Vec<Value>> {
    let given: Vec<_> = values.iter().map(|(parameter, _)| parameter.clone()).collect();
    let positions = fit(&given, parameters)?;
    let bits = positions.into_iter().filter_map(|at| values.get(at)).map(|(_, bits)| *bits);
    Some(parameters.iter().cloned().zip(bits).collect())
}

/// What a function with this digest gives: the flow's number first.
fn outputs(node: &Node, flow: u64, digest: u64) -> Vec<Value> {
    let bits = |index: usize, ty: Type| if index == 0 { flow } else { ty.narrow(Behaviour::output(digest, index)) };
    node.outputs.iter().enumerate().map(|(index, one)| (one.clone(), bits(index, one.ty))).collect()
}
