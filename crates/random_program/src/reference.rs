//! The instrumented reference: what a program does with a flow, by interpreting the model that its generator made.
//!
//! It shares no code with the compiler. Values are interpreted too, as the bits they carry, and every decision of a
//! node depends on the values it is given; so a value that goes astray in the server soon shows as another path.

use crate::flux_text::patterns;
use crate::list::Lists;
use crate::model::*;

/// What happened to one flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Which source it came from, by its index.
    pub source: usize,
    /// How it ended.
    pub exit: Exit,
    /// The labels along its path, as the profile shows them.
    pub path: Vec<Label>,
    /// The paths of the instances of each steps, which are no part of the flow's, in the order in which they end where
    /// one runs at a time.
    pub instances: Vec<Instance>,
    /// The functions that were called in it, each followed by `ERROR` if it failed: what they can write down
    /// themselves. That is the path without its lines, unless a value broke: then the path forgets what led there. Of
    /// branches, which run at once, those that come first in the text come first.
    pub trace: Vec<String>,
    /// What it did on the way.
    pub counts: Counts,
}

/// What happened to one instance of an each step.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Instance {
    /// The node in whose flow the step is.
    pub node: String,
    /// How it ended.
    pub exit: Exit,
    /// The labels along its path.
    pub path: Vec<Label>,
}

/// How often things happened, as the runtime counts them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Calls of nodes, abstract ones included, and of handlers.
    pub calls: u64,
    /// Choices among the lines of a node.
    pub dispatches: u64,
    /// Constraints taken; one that a node names twice is taken once.
    pub acquisitions: u64,
    /// Functions that failed, and dispatches.
    pub failures: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.dispatches += other.dispatches;
        self.acquisitions += other.acquisitions;
        self.failures += other.failures;
    }
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
    /// The function of a node or a handler was called.
    Called(String),
    /// The function called last failed.
    CallFailed,
    /// A line of a dispatch was taken: `Flow3:[_, is_2]`.
    Line(String),
    /// The branches of a parallel step begin, go on with the next, or have all ended: `(`, `&`, `)`.
    Branches(&'static str),
    /// An each step, with the node in whose flow it is: `Flow3[]`.
    Each(String),
    /// No line of a dispatch matched.
    Unmatched,
    /// A predicate threw, or the copy of a value. It takes the place of all that the abstract node had done.
    Faulted,
}

impl Label {
    /// As the profile writes it.
    pub fn text(&self) -> &str {
        match self {
            Self::Called(text) | Self::Line(text) | Self::Each(text) => text,
            Self::Branches(text) => text,
            Self::CallFailed | Self::Unmatched | Self::Faulted => "ERROR",
        }
    }
}

impl Run {
    /// The path as text: `Flow1:[_] -> Step2 -> ERROR`.
    pub fn path_text(&self) -> String {
        self.path.iter().map(Label::text).collect::<Vec<_>>().join(" -> ")
    }
}

/// What becomes of flow number `flow`, which comes from the source at index `flow` modulo the number of sources.
pub fn run(model: &Model, flow: u32) -> Run {
    let source = flow as usize % model.sources.len().max(1);
    let (counts, walk) = (Counts::default(), vec![]);
    let (lists, instances) = (Lists::default(), vec![]);
    let mut interpreter = Interpreter { model, path: vec![], instances, trace: vec![], counts, walk, lists };
    let exit = match model.sources.get(source) {
        None => Exit::Done,
        Some(found) => {
            let values = interpreter.produced(found, flow);
            interpreter.walk.push(Some(found.node));
            let outcome = interpreter.apply(found.target, &values, &[]);
            match interpreter.settled(outcome, 0) {
                Outcome::Done(_) => Exit::Done,
                Outcome::Ended => Exit::Ended,
                Outcome::Failed(_) | Outcome::Faulted => Exit::Failed,
            }
        }
    };
    let Interpreter { path, instances, trace, counts, .. } = interpreter;
    Run { source, exit, path, instances, trace, counts }
}

/// Whether its source fails, once, before it produces flow `flow`.
pub fn source_fails_before(model: &Model, flow: u32) -> bool {
    let source = model.sources.get(flow as usize % model.sources.len().max(1));
    let behaviour = source.and_then(|source| behaviour(&model.nodes[source.node]));
    behaviour.is_some_and(|behaviour| behaviour.decide(behaviour.digest([flow.into()])) != Decision::Succeed)
}

fn behaviour(node: &Node) -> Option<&Behaviour> {
    match &node.body {
        Body::Concrete(behaviour) => Some(behaviour),
        Body::Chain(_) | Body::Dispatch(_) | Body::Computed(_) => None,
    }
}

/// A value: what it is called where it comes from, and the bits it carries.
type Value = (Parameter, u64);

/// What came of applying a node. An error code of the runtime's is 0.
enum Outcome {
    Done(Vec<Value>),
    Failed(u64),
    Ended,
    /// A value broke, or a predicate: the abstract node around it fails.
    Faulted,
}

struct Interpreter<'a> {
    model: &'a Model,
    path: Vec<Label>,
    instances: Vec<Instance>,
    trace: Vec<String>,
    counts: Counts,
    lists: Lists,
    /// What was come by, as the paths of handlers see it: an abstract node that has ended is one node.
    walk: Vec<Option<NodeId>>,
}

impl<'a> Interpreter<'a> {
    fn produced(&self, source: &Source, flow: u32) -> Vec<Value> {
        let node = &self.model.nodes[source.node];
        let digest = behaviour(node).map_or(0, |behaviour| behaviour.digest([flow.into()]));
        outputs(node, flow.into(), |index, ty| Behaviour::source_output(digest, index, ty))
    }

    /// Applies a node to what the step before gives, and its handler where it fails. It may reach what was `made`
    /// before.
    fn apply(&mut self, id: NodeId, values: &[Value], made: &[Value]) -> Outcome {
        let model = self.model;
        let node = &model.nodes[id];
        self.walk.push(Some(id));
        let reached = self.walk.len();
        let inputs = pass_or_reach(values, made, &node.inputs);
        if breaks(&inputs) {
            return Outcome::Faulted;
        }
        self.counts.acquisitions += self.model.named(node).len() as u64;
        self.counts.calls += 1;
        let mut outcome = self.call(node, &inputs);
        if let Outcome::Failed(error) = outcome
            && let Some(handler) = self.handler_of(node)
        {
            outcome = self.handle(node, handler, (inputs, made), error);
        }
        self.walk.truncate(reached);
        outcome
    }

    /// The handler of a node in which the walk ends: the one with the longest path.
    fn handler_of(&self, node: &'a Node) -> Option<&'a Handler> {
        let on_path = self.model.path_handlers.iter().filter(|one| one.matches(&self.walk));
        on_path.max_by_key(|one| one.path.len()).map(|one| &one.handler).or(node.handler.as_ref())
    }

    fn call(&mut self, node: &Node, inputs: &[Value]) -> Outcome {
        let start = self.path.len();
        match &node.body {
            Body::Chain(chain) => {
                let outcome = self.chain(node, chain, inputs);
                self.settled(outcome, start)
            }
            Body::Dispatch(lines) => {
                let outcome = self.dispatch(node, lines, inputs);
                self.settled(outcome, start)
            }
            Body::Computed(script) => {
                self.path.push(Label::Called(node.name.clone()));
                let elements = |one: &Value| match one.0.ty {
                    Type::List(_) => self.lists.elements(one.1),
                    _ => vec![],
                };
                let inputs: Vec<_> = inputs.iter().map(|one| (one.0.clone(), one.1, elements(one))).collect();
                match script.run(&inputs, &node.outputs, &self.model.helpers) {
                    Ok(bits) => Outcome::Done(node.outputs.iter().cloned().zip(bits).collect()),
                    // Nobody writes down what has no function.
                    Err(error) => {
                        self.counts.failures += 1;
                        self.path.push(Label::CallFailed);
                        Outcome::Failed(error)
                    }
                }
            }
            Body::Concrete(behaviour) => {
                self.called(&node.name);
                let digest = behaviour.digest(inputs.iter().map(|(parameter, bits)| parameter.ty.narrow(*bits)));
                match behaviour.decide(digest) {
                    Decision::Succeed => {
                        let flow = inputs.first().map_or(0, |(_, bits)| *bits);
                        let made = |index, ty| self.lists.made(ty, Behaviour::output(digest, index));
                        Outcome::Done(outputs(node, flow, made))
                    }
                    Decision::Fail(error) => self.call_failed(error),
                    Decision::Throw => self.call_failed(0),
                }
            }
        }
    }

    /// What a node comes to whose path began at `start`: a fault in it is its failure.
    fn settled(&mut self, outcome: Outcome, start: usize) -> Outcome {
        if !matches!(outcome, Outcome::Faulted) {
            return outcome;
        }
        self.counts.failures += 1;
        self.path.truncate(start);
        self.path.push(Label::Faulted);
        Outcome::Failed(0)
    }

    fn called(&mut self, name: &str) {
        self.trace.push(name.to_owned());
        self.path.push(Label::Called(name.to_owned()));
    }

    fn call_failed(&mut self, error: u64) -> Outcome {
        self.counts.failures += 1;
        self.trace.push(Label::CallFailed.text().to_owned());
        self.path.push(Label::CallFailed);
        Outcome::Failed(error)
    }

    fn dispatch(&mut self, node: &Node, lines: &[Line], inputs: &[Value]) -> Outcome {
        self.counts.dispatches += 1;
        for line in lines {
            match self.matches(line, inputs) {
                Some(true) => {
                    self.path.push(Label::Line(format!("{}:{}", node.name, patterns(self.model, line))));
                    return self.chain(node, &line.chain, inputs);
                }
                Some(false) => {}
                None => return Outcome::Faulted,
            }
        }
        self.counts.failures += 1;
        self.path.push(Label::Unmatched);
        Outcome::Failed(0)
    }

    /// Whether all patterns of a line hold, tested from left to right up to the first that does not; `None` where one
    /// throws.
    fn matches(&self, line: &Line, inputs: &[Value]) -> Option<bool> {
        for (pattern, (parameter, bits)) in line.patterns.iter().zip(inputs) {
            let Some(predicate) = pattern else { continue };
            if parameter.ty.breaks(*bits) {
                return None;
            }
            if !self.model.predicates[*predicate].holds(*bits)? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Runs a chain of `node`, and gives its outputs.
    fn chain(&mut self, node: &Node, chain: &Chain, inputs: &[Value]) -> Outcome {
        let mut made = inputs.to_vec();
        match self.steps(node, chain, inputs.to_vec(), &mut made) {
            Outcome::Done(values) => given(pass_or_reach(&values, &made, &node.outputs)),
            outcome => outcome,
        }
    }

    /// Runs steps of `node`, the first of which is given `values`; what they make goes to what was `made` before.
    fn steps(&mut self, node: &Node, chain: &[Step], values: Vec<Value>, made: &mut Vec<Value>) -> Outcome {
        let start = self.walk.len();
        let mut outcome = Outcome::Done(values);
        for step in chain {
            let Outcome::Done(values) = &outcome else { break };
            outcome = match step {
                Step::Apply(applied) => self.apply(*applied, values, made),
                Step::Parallel(branches) => self.parallel(node, branches, values, made),
                Step::Each(each) => self.each(node, each, values, made),
            };
            if let Outcome::Done(values) = &outcome {
                made.extend(values.iter().cloned());
            }
        }
        self.walk.truncate(start);
        outcome
    }

    /// Runs all branches, and joins their outputs; the first failure is the step's, and counts before an end.
    fn parallel(&mut self, node: &Node, branches: &[Chain], values: &[Value], made: &[Value]) -> Outcome {
        if breaks(values) {
            return Outcome::Faulted;
        }
        // What comes before a branch comes before the step, which has no name.
        let (mut joined, mut failed, mut ended) = (vec![], None, false);
        for (index, branch) in branches.iter().enumerate() {
            self.path.push(Label::Branches(if index == 0 { "(" } else { "&" }));
            let start = self.path.len();
            let outcome = match self.steps(node, branch, values.to_vec(), &mut made.to_vec()) {
                Outcome::Done(values) => given(values),
                outcome => outcome,
            };
            match self.settled(outcome, start) {
                Outcome::Done(given) => joined.extend(given),
                Outcome::Failed(error) => failed = failed.or(Some(error)),
                Outcome::Faulted => failed = failed.or(Some(0)),
                Outcome::Ended => ended = true,
            }
        }
        self.walk.push(None);
        self.path.push(Label::Branches(")"));
        match failed {
            Some(error) => Outcome::Failed(error),
            None if ended => Outcome::Ended,
            None => Outcome::Done(joined),
        }
    }

    /// Runs the chain of an each step in the flow of `node` for each element of the one list that fits it, and gathers
    /// what it gives.
    fn each(&mut self, node: &Node, each: &Each, values: &[Value], made: &[Value]) -> Outcome {
        let model = self.model;
        let (Some(element), outputs) = (model.each_inputs(each).0, model.each_outputs(each)) else {
            return Outcome::Faulted;
        };
        let ty = element.ty.gathered();
        let (lists, mut others): (Vec<_>, Vec<_>) =
            values.iter().cloned().partition(|(parameter, _)| parameter.ty == ty);
        let elements = lists.first().map(|(_, bits)| self.lists.elements(*bits)).unwrap_or_default();
        self.path.push(Label::Each(format!("{}[]", node.name)));
        let (mut failed, mut ended, mut made) = (None, false, made.to_vec());
        let mut gathered: Vec<Vec<u64>> = vec![vec![]; outputs.len()];
        for bits in elements {
            let given: Vec<_> = std::iter::once((element.clone(), bits)).chain(others.iter().cloned()).collect();
            match self.instance(node, each, given, &made) {
                Outcome::Done(given) => {
                    gathered.iter_mut().zip(&given).for_each(|(list, (_, bits))| list.push(*bits));
                    let carried: Vec<_> =
                        given.into_iter().filter(|(output, _)| model.is_carried(each, output)).collect();
                    for other in &mut others {
                        *other = carried.iter().find(|(output, _)| *output == other.0).unwrap_or(other).clone();
                    }
                    made.extend(carried);
                }
                Outcome::Failed(error) => failed = failed.or(Some(error)),
                Outcome::Faulted => failed = failed.or(Some(0)),
                Outcome::Ended => ended = true,
            }
            if each.width.is_none() && (failed.is_some() || ended) {
                break;
            }
        }
        self.walk.push(None);
        if let Some(error) = failed {
            return Outcome::Failed(error);
        }
        if ended {
            return Outcome::Ended;
        }
        let give = |(output, list): (Parameter, Vec<u64>)| {
            let bits = match output.ty {
                Type::List(_) if !model.is_carried(each, &output) => self.lists.add(list),
                // Of an empty list, what came in.
                _ => known(&others, &made, &output)?.1,
            };
            Some((output, bits))
        };
        Outcome::Done(outputs.into_iter().zip(gathered).filter_map(give).collect())
    }

    /// One instance, with a path of its own.
    fn instance(&mut self, node: &Node, each: &Each, values: Vec<Value>, made: &[Value]) -> Outcome {
        let around = std::mem::take(&mut self.path);
        let mut made: Vec<_> = made.iter().chain(values.first()).cloned().collect();
        let outcome = match self.steps(node, &each.chain, values, &mut made) {
            Outcome::Done(values) => given(values),
            outcome => outcome,
        };
        let outcome = self.settled(outcome, 0);
        let exit = match outcome {
            Outcome::Done(_) => Exit::Done,
            Outcome::Failed(_) | Outcome::Faulted => Exit::Failed,
            Outcome::Ended => Exit::Ended,
        };
        let path = std::mem::replace(&mut self.path, around);
        self.instances.push(Instance { node: node.name.clone(), exit, path });
        outcome
    }

    /// Lets `handler` take the place of `node`, which failed with `error` when it was given `inputs`. It may reach what
    /// was `made` before.
    fn handle(
        &mut self,
        node: &Node,
        handler: &Handler,
        (inputs, made): (Vec<Value>, &[Value]),
        error: u64,
    ) -> Outcome {
        match handler {
            Handler::Function { name, behaviour: own } => {
                self.handler_function(node, (name, own), &inputs, error).unwrap_or(Outcome::Ended)
            }
            // Without values to go on with, the flow ends.
            Handler::Node(target) => match self.handler_node(node, *target, (inputs, made), error) {
                Outcome::Done(values) if values.is_empty() || node.outputs.is_empty() => Outcome::Ended,
                Outcome::Done(values) => pass(&values, &node.outputs).map_or(Outcome::Ended, given),
                outcome => outcome,
            },
            Handler::GoOn(None) => Outcome::Done(vec![]),
            Handler::GoOn(Some(first)) => {
                let outcome = match &**first {
                    Handler::Function { name, behaviour: own } => {
                        self.handler_function(node, (name, own), &inputs, error)
                    }
                    Handler::Node(target) => Some(self.handler_node(node, *target, (inputs, made), error)),
                    Handler::GoOn(_) => None,
                };
                match outcome {
                    None | Some(Outcome::Done(_)) => Outcome::Done(vec![]),
                    Some(outcome) => outcome,
                }
            }
        }
    }

    /// Calls a function as a handler; none where it does not fail.
    fn handler_function(
        &mut self,
        node: &Node,
        (name, own): (&str, &Behaviour),
        inputs: &[Value],
        error: u64,
    ) -> Option<Outcome> {
        self.counts.calls += 1;
        self.called(name);
        let mut given: Vec<_> = inputs.iter().map(|(parameter, bits)| parameter.ty.narrow(*bits)).collect();
        if let Some(failed) = behaviour(node) {
            // It sees what the node has made of its inputs.
            Behaviour::changed(failed.digest(given.iter().copied()), &node.inputs, &mut given);
        }
        match own.decide(own.digest(given.into_iter().chain([Type::Error.narrow(error)]))) {
            Decision::Throw => Some(self.call_failed(0)),
            Decision::Succeed | Decision::Fail(_) => None,
        }
    }

    /// Applies a node as a handler.
    fn handler_node(
        &mut self,
        node: &Node,
        target: NodeId,
        (inputs, made): (Vec<Value>, &[Value]),
        error: u64,
    ) -> Outcome {
        let wanted = &self.model.nodes[target].inputs;
        let parameters = Model::handler_values(&node.inputs, wanted);
        let values: Vec<_> =
            parameters.into_iter().zip(inputs.into_iter().map(|(_, bits)| bits).chain([error])).collect();
        self.apply(target, &values, made)
    }
}

/// The values that go into `parameters`, under their new names; `None` where they do not fit.
fn pass(values: &[Value], parameters: &[Parameter]) -> Option<Vec<Value>> {
    let given: Vec<_> = values.iter().map(|(parameter, _)| parameter.clone()).collect();
    let positions = fit(&given, parameters)?;
    let bits = positions.into_iter().filter_map(|at| values.get(at)).map(|(_, bits)| *bits);
    Some(parameters.iter().cloned().zip(bits).collect())
}

/// The value of this name and type in `values`, or else the last that was `made` before.
fn known(values: &[Value], made: &[Value], wanted: &Parameter) -> Option<Value> {
    values.iter().chain(made.iter().rev()).find(|(parameter, _)| parameter == wanted).cloned()
}

/// As [`pass`], where what the values lack is the last of its name and type that was `made` before.
fn pass_or_reach(values: &[Value], made: &[Value], parameters: &[Parameter]) -> Vec<Value> {
    let reach = |wanted: &Parameter| known(values, made, wanted);
    pass(values, parameters).unwrap_or_else(|| parameters.iter().filter_map(reach).collect())
}

/// Values that are handed on, unless one of them breaks on the way.
fn given(values: Vec<Value>) -> Outcome {
    if breaks(&values) { Outcome::Faulted } else { Outcome::Done(values) }
}

fn breaks(values: &[Value]) -> bool {
    values.iter().any(|(parameter, bits)| parameter.ty.breaks(*bits))
}

/// What a function gives: the flow's number first.
fn outputs(node: &Node, flow: u64, mut bits: impl FnMut(usize, Type) -> u64) -> Vec<Value> {
    let value = |(index, one): (usize, &Parameter)| (one.clone(), if index == 0 { flow } else { bits(index, one.ty) });
    node.outputs.iter().enumerate().map(value).collect()
}
