//! Draws a program at random, well-formed by construction.
//!
//! A node is added to the model when it is complete, and applies only nodes that are in the model by then: so graphs
//! are acyclic, handlers included. Every edge is drawn from the values that arrive: the next node is one that they
//! fit, or a new one that takes them, or some of them by name. All lists begin with the flow's number, by which a node
//! finds the trace of its flow. Some nodes reach for values from further back.

mod each;
mod handler;

use crate::environment::Environment;
use crate::formula::Comparison;
use crate::model::*;
use crate::random::Random;
use crate::script::{Script, helpers};
use crate::shape::Shape;
use each::EACH_DEPTH;
use std::collections::BTreeSet;

/// A parallel step holds parallel steps at most so deep.
const BRANCH_DEPTH: usize = 2;

/// The program of `seed`; the same for the same shape, always.
pub fn generate(seed: u64, shape: &Shape) -> Model {
    let mut random = Random::new(seed);
    let row = |random: &mut Random| {
        let length = random.between(shape.values.min(1), shape.values);
        (0..length).filter_map(|_| random.choose(&Type::VALUES)).collect()
    };
    let rows = (0..4).map(|_| row(&mut random)).collect();
    let nests_left = shape.abstract_nodes;
    let mut generator =
        Generator { random, shape, rows, nests_left, model: Model::default(), calls: vec![], bound: BTreeSet::new() };
    generator.constraints();
    if shape.computed > 0 {
        generator.model.helpers = helpers(&mut generator.random);
    }
    for _ in 0..generator.random.between(1, shape.sources) {
        generator.source();
    }
    for _ in 0..shape.path_handlers {
        generator.path_handler();
    }
    generator.model
}

struct Generator<'a> {
    random: Random,
    shape: &'a Shape,
    /// The lists of types that nodes pass on. There are few, so that many nodes fit each other.
    rows: Vec<Vec<Type>>,
    /// How many more abstract nodes there may be.
    nests_left: usize,
    model: Model,
    /// For each node of the model, the most calls that applying it may take.
    calls: Vec<usize>,
    /// The nodes whose handlers reach what is there where they are applied, and so are applied nowhere else.
    bound: BTreeSet<NodeId>,
}

impl Generator<'_> {
    fn constraints(&mut self) {
        for number in 1..=self.shape.constraints {
            let mut scopes = vec![Scope::Program];
            scopes.extend(self.shape.sessions.then_some(Scope::Session));
            scopes.extend(self.shape.keys.then_some(Scope::Keyed));
            let scope = self.random.choose(&scopes).unwrap_or(Scope::Program);
            self.model.constraints.add(Constraint { name: format!("lock_{number}"), scope });
        }
    }

    /// A source with its target: one that exists, or a new one.
    fn source(&mut self) {
        let number = self.model.sources.len() + 1;
        let targets: Vec<_> = self.model.sources.iter().map(|source| source.target).collect();
        let shared = self.random.choose(&targets).filter(|_| self.random.chance(self.shape.shared));
        let (outputs, target) = match shared {
            Some(target) => {
                let wanted = self.model.nodes[target].inputs.clone();
                (self.given(&wanted), target)
            }
            None => {
                let outputs = self.row();
                let (inputs, given) = (self.taken(&outputs), self.given(&[]));
                (outputs, self.abstract_node(inputs, given, &[], self.shape.depth))
            }
        };
        let body = Body::Concrete(self.behaviour(50, 10));
        let node = self.add(Node {
            name: format!("Source{number}"),
            inputs: vec![],
            outputs,
            body,
            requirements: vec![],
            handler: None,
        });
        let session = self.shape.sessions.then(|| format!("Session{number}"));
        // Not all of them, so that flows of both kinds meet.
        let replicable = self.shape.replicable && number != 2;
        self.model.sources.push(Source { node, target, session, replicable });
    }

    /// An abstract node, whose handler may reach what is `far`.
    fn abstract_node(
        &mut self,
        inputs: Vec<Parameter>,
        outputs: Vec<Parameter>,
        far: &[Parameter],
        depth: usize,
    ) -> NodeId {
        self.nests_left = self.nests_left.saturating_sub(1);
        let inside = depth.saturating_sub(1);
        let body = if self.random.chance(self.shape.dispatches) {
            Body::Dispatch(self.lines(&inputs, &outputs, inside))
        } else {
            Body::Chain(self.chain(&inputs, &outputs, inside))
        };
        let (handler, is_bound) = self.handler(&inputs, &outputs, far, inside);
        let requirements = if self.shape.abstract_constraints { self.requirements() } else { vec![] };
        let name = format!("Flow{}", self.model.nodes.len());
        let node = self.add(Node { name, inputs, outputs, body, requirements, handler });
        self.bound.extend(is_bound.then_some(node));
        node
    }

    /// A concrete node, whose handler may reach what is `far`.
    fn concrete_node(
        &mut self,
        inputs: Vec<Parameter>,
        outputs: Vec<Parameter>,
        far: &[Parameter],
        depth: usize,
    ) -> NodeId {
        let body = Body::Concrete(match self.random.chance(self.shape.fallible) {
            true => {
                let errors = self.random.choose(&[10, 30, 80, 200]).unwrap_or(50);
                let throws = self.random.choose(&[0, 0, 10]).unwrap_or(0);
                self.behaviour(errors, throws)
            }
            false => self.behaviour(0, 0),
        });
        let (handler, is_bound) = self.handler(&inputs, &outputs, far, depth);
        let (body, requirements) = match self.script(&inputs, &outputs) {
            // What is computed touches nothing that others could share.
            Some(script) => (Body::Computed(script), vec![]),
            None => (body, self.requirements()),
        };
        let name = format!("Step{}", self.model.nodes.len());
        let node = self.add(Node { name, inputs, outputs, body, requirements, handler });
        self.bound.extend(is_bound.then_some(node));
        node
    }

    /// The body of a node that is computed; none where it is not.
    fn script(&mut self, inputs: &[Parameter], outputs: &[Parameter]) -> Option<Script> {
        let is_computed = self.shape.computed > 0 && self.random.chance(self.shape.computed);
        let helpers = &self.model.helpers;
        if is_computed { Script::any(&mut self.random, inputs, outputs, helpers) } else { None }
    }

    fn behaviour(&mut self, errors: u64, throws: u64) -> Behaviour {
        Behaviour { salt: self.random.word(), errors, throws }
    }

    fn add(&mut self, node: Node) -> NodeId {
        let calls = self.node_calls(&node);
        self.calls.push(calls);
        self.model.nodes.add(node)
    }

    fn node_calls(&self, node: &Node) -> usize {
        let own = match &node.body {
            Body::Concrete(_) | Body::Computed(_) => 1,
            Body::Chain(chain) => self.chain_calls(chain),
            Body::Dispatch(lines) => lines.iter().map(|line| self.chain_calls(&line.chain)).max().unwrap_or(0),
        };
        let handler = match &node.handler {
            None => 0,
            Some(handler) => handler.node().map_or(1, |target| self.calls_of(target)),
        };
        own + handler
    }

    fn chain_calls(&self, chain: &Chain) -> usize {
        let of_step = |step: &Step| match step {
            Step::Apply(node) => self.calls_of(*node),
            Step::Parallel(branches) => branches.iter().map(|branch| self.chain_calls(branch)).sum(),
            // Mostly a list is shorter.
            Step::Each(each) => 3 * self.chain_calls(&each.chain),
        };
        chain.iter().map(of_step).sum()
    }

    fn calls_of(&self, node: NodeId) -> usize {
        self.calls.get(node.index()).copied().unwrap_or(0)
    }

    /// The lines of a dispatch; those that take whatever comes are last.
    fn lines(&mut self, inputs: &[Parameter], outputs: &[Parameter], depth: usize) -> Vec<Line> {
        let count = self.random.between(1, self.shape.lines);
        let complete = !self.random.chance(self.shape.incomplete);
        let mut lines = vec![];
        for number in 1..=count {
            let (patterns, written) = if complete && number == count {
                (vec![None; inputs.len()], count == 1 || self.random.chance(700))
            } else {
                (self.patterns(inputs), true)
            };
            lines.push(Line { patterns, written, chain: self.chain(inputs, outputs, depth) });
        }
        lines
    }

    /// A pattern for each input, one of them at least a predicate. Arrays are not tested, as C++ passes none by value.
    fn patterns(&mut self, inputs: &[Parameter]) -> Vec<Option<PredicateId>> {
        let testable = |input: &Parameter| !matches!(input.ty, Type::Array | Type::Error);
        let all: Vec<_> = (0..inputs.len()).filter(|at| inputs.get(*at).is_some_and(testable)).collect();
        let certain = self.random.choose(&all);
        let pattern = |(index, input): (usize, &Parameter)| {
            let tested = certain == Some(index) || testable(input) && self.random.chance(250);
            tested.then(|| self.predicate(input.ty))
        };
        inputs.iter().enumerate().map(pattern).collect()
    }

    /// A predicate for values of `ty`: one that exists, or a new one.
    fn predicate(&mut self, ty: Type) -> PredicateId {
        let fitting: Vec<_> =
            self.model.predicates.iter().filter(|(_, one)| one.ty == ty).map(|(predicate, _)| predicate).collect();
        if let (Some(existing), true) = (self.random.choose(&fitting), self.random.chance(600)) {
            return existing;
        }
        let errors = self.random.choose(&[300, 500, 700]).unwrap_or(500);
        let throws = self.random.choose(&[0, 0, 0, 10]).unwrap_or(0);
        let behaviour = self.behaviour(errors, throws);
        let number = self.model.predicates.len() + 1;
        let (name, function) = (format!("is_{number}"), format!("Test{number}"));
        let can_compute = matches!(ty, Type::Integer | Type::Wide) && self.random.chance(500);
        let formula = can_compute.then(|| Comparison::any(&mut self.random));
        self.model.predicates.add(Predicate { name, function, ty, behaviour, formula })
    }

    /// A chain that takes `from` and gives what fits `to`.
    fn chain(&mut self, from: &[Parameter], to: &[Parameter], depth: usize) -> Chain {
        let mut chain = vec![];
        if accepts(from, to) && self.random.chance(self.shape.empty) {
            return chain;
        }
        let mut values = Environment::new(from);
        for left in (0..self.random.between(1, self.shape.steps)).rev() {
            if left > 0 && self.shape.each > 0 && self.random.chance(self.shape.each) {
                chain.extend(self.each(&mut values, depth, EACH_DEPTH));
                continue;
            }
            if left > 0 && self.shape.guards > 0 && self.random.chance(self.shape.guards) {
                chain.extend(self.guard(&mut values));
                continue;
            }
            let step = if self.shape.parallel && left > 0 && self.random.chance(150) {
                self.parallel(&mut values, depth, BRANCH_DEPTH)
            } else {
                self.apply(&mut values, (left == 0).then_some(to), depth)
            };
            chain.push(step);
        }
        chain
    }

    /// A step that applies a node, and what there is after it.
    fn apply(&mut self, values: &mut Environment, to: Option<&[Parameter]>, depth: usize) -> Step {
        let node = self.step(values, to, depth);
        values.apply(&self.model.nodes[node]);
        Step::Apply(node)
    }

    /// A step that gives nothing, and one after it that takes what can be reached, the flow's number among it; nothing
    /// where there is no such number.
    fn guard(&mut self, values: &mut Environment) -> Vec<Step> {
        let given = values.given();
        if given.first() != Some(&Parameter::flow()) || values.flow().is_none() {
            return vec![];
        }
        let (inputs, far) = (self.taken(&given), values.all_reachable());
        let guard = self.concrete_node(inputs, vec![], &far, 1);
        values.apply(&self.model.nodes[guard]);
        let (mut inputs, mut far) = (vec![Parameter::flow()], values.all_reachable());
        far.retain(|one| *one != Parameter::flow() && self.random.chance(500));
        inputs.extend(far);
        let outputs = self.row();
        let far = values.all_reachable();
        let next = self.concrete_node(inputs, outputs, &far, 0);
        values.apply(&self.model.nodes[next]);
        vec![Step::Apply(guard), Step::Apply(next)]
    }

    /// A parallel step; so many more may be nested in it.
    fn parallel(&mut self, values: &mut Environment, depth: usize, nests: usize) -> Step {
        let (mut branches, mut ends) = (vec![], vec![]);
        for _ in 0..self.random.between(2, 3) {
            let (mut values, mut chain) = (values.inside(), vec![]);
            for _ in 0..self.random.between(0, 2) {
                if self.shape.each > 0 && self.random.chance(self.shape.each) {
                    chain.extend(self.each(&mut values, depth, 0));
                    continue;
                }
                chain.push(if nests > 0 && self.random.chance(150) {
                    self.parallel(&mut values, depth, nests - 1)
                } else {
                    self.apply(&mut values, None, depth)
                });
            }
            branches.push(chain);
            ends.push(values);
        }
        values.join(&ends);
        Step::Parallel(branches)
    }

    /// A node that takes `values`, and gives what fits `to`; something, where that is open.
    fn step(&mut self, values: &Environment, to: Option<&[Parameter]>, depth: usize) -> NodeId {
        let given = values.given();
        let enough = self.model.nodes.len() >= self.shape.concrete_nodes + self.shape.abstract_nodes;
        if (enough || self.random.chance(self.shape.shared))
            && let Some(node) = self.shared(&given, to)
        {
            return node;
        }
        let inputs = match self.reaches() {
            true => self.reaching(&given, &values.reachable()),
            false => None,
        };
        let inputs = inputs.unwrap_or_else(|| self.taken(&given));
        let outputs = match to {
            Some(to) if self.reaches() => self.leaving(to, &values.all_reachable()),
            Some(to) => self.given(to),
            None => self.row(),
        };
        let far = values.all_reachable();
        if depth > 0 && self.nests_left > 0 && self.random.chance(self.shape.nested) {
            self.abstract_node(inputs, outputs, &far, depth)
        } else {
            self.concrete_node(inputs, outputs, &far, depth)
        }
    }

    /// Draws nothing where nothing is to reach: so the programs of such a shape stay what they were.
    fn reaches(&mut self) -> bool {
        self.shape.reaches > 0 && self.random.chance(self.shape.reaches)
    }

    /// The inputs of a new node that takes some of what is `given`, by name, and some of what is `reachable`; none
    /// where that does not go.
    fn reaching(&mut self, given: &[Parameter], reachable: &[Parameter]) -> Option<Vec<Parameter>> {
        let mut far = reachable.to_vec();
        self.random.shuffle(&mut far);
        far.truncate(self.random.between(1, 2));
        // What is given of a type that is reached must be taken, or it would look like a slip.
        let must = |one: &Parameter| far.iter().any(|far| far.same_type(one));
        let rest = given.get(1..).unwrap_or_default();
        let mut some: Vec<_> = rest.iter().filter(|one| must(one) || self.random.chance(500)).cloned().collect();
        some.extend(far.iter().cloned());
        self.random.shuffle(&mut some);
        some.splice(0..0, given.first().cloned());
        let is_sound = !far.is_empty() && distinct(given) && distinct(&some) && fit(given, &some).is_none();
        is_sound.then_some(some)
    }

    /// The outputs of a new node that is the last of a flow which gives `to`: without some that are `reachable`.
    fn leaving(&mut self, to: &[Parameter], reachable: &[Parameter]) -> Vec<Parameter> {
        let mut outputs: Vec<_> = to.iter().take(1).cloned().collect();
        for one in to.iter().skip(1) {
            if !reachable.contains(one) || self.random.chance(300) {
                outputs.push(one.clone());
            }
        }
        if distinct(to) { outputs } else { self.given(to) }
    }

    /// A node of the model that takes `values` and gives what fits `to`.
    fn shared(&mut self, values: &[Parameter], to: Option<&[Parameter]>) -> Option<NodeId> {
        let gives = |node: &Node| to.map_or(!node.outputs.is_empty(), |to| accepts(&node.outputs, to));
        let fits = |node: &Node| !node.inputs.is_empty() && accepts(values, &node.inputs) && gives(node);
        let short = |node: NodeId| self.calls_of(node) <= self.shape.calls;
        let nodes = self.model.nodes.iter();
        // The last of a chain that runs at once calls the flow's number otherwise.
        let goes_on = |node: &Node| node.outputs.first().is_none_or(|first| *first == Parameter::flow());
        let free = nodes.filter(|(id, node)| short(*id) && fits(node) && goes_on(node) && !self.bound.contains(id));
        let fitting: Vec<_> = free.map(|(id, _)| id).collect();
        self.random.choose(&fitting)
    }

    /// A way that a flow may take, from its source to some node in it.
    fn walk(&mut self) -> Vec<Option<NodeId>> {
        let model = self.model.clone();
        let Some(source) = self.random.choose(&model.sources) else { return vec![] };
        let mut walk = vec![Some(source.node), Some(source.target)];
        let mut chains = model.nodes[source.target].chains();
        while let Some(chain) = self.random.choose(&chains).filter(|chain| !chain.is_empty()) {
            let at = self.random.below(chain.len());
            walk.extend(chain.iter().take(at).map(Step::node));
            chains = match chain.get(at) {
                Some(Step::Apply(node)) => {
                    walk.push(Some(*node));
                    if self.random.chance(200) { vec![] } else { model.nodes[*node].chains() }
                }
                Some(step) => step.chains().iter().collect(),
                None => vec![],
            };
        }
        let failing = walk.last().copied().flatten();
        let handler = failing.and_then(|failing| model.nodes[failing].handler.as_ref());
        if let Some(target) = handler.and_then(Handler::node) {
            walk.extend(self.random.chance(500).then_some(Some(target)));
        }
        walk
    }

    fn requirements(&mut self) -> Vec<Requirement> {
        let mut requirements = vec![];
        if self.shape.constraints == 0 || !self.random.chance(self.shape.constrained) {
            return requirements;
        }
        for _ in 0..self.random.between(1, 3) {
            let constraint = ConstraintId::new(self.random.below(self.shape.constraints));
            let mode = if self.random.chance(500) { Mode::Read } else { Mode::Write };
            requirements.push(Requirement { constraint, mode, marked: mode == Mode::Write && self.random.chance(500) });
        }
        requirements
    }

    /// The inputs of a new node that is given `values`.
    fn taken(&mut self, values: &[Parameter]) -> Vec<Parameter> {
        if self.random.chance(self.shape.fits_by_name) {
            let rest = values.get(1..).unwrap_or_default();
            let mut some: Vec<_> = rest.iter().filter(|_| self.random.chance(600)).cloned().collect();
            self.random.shuffle(&mut some);
            some.splice(0..0, values.first().cloned());
            if distinct(values) && accepts(values, &some) {
                return some;
            }
        }
        let renamed = self.named(values.get(1..).unwrap_or_default().iter().map(|value| value.ty));
        if accepts(values, &renamed) { renamed } else { values.to_vec() }
    }

    /// The outputs of a new node that gives what fits `to`.
    fn given(&mut self, to: &[Parameter]) -> Vec<Parameter> {
        let Some((flow, rest)) = to.split_first() else {
            return if self.random.chance(self.shape.without_outputs) { vec![] } else { self.row() };
        };
        if self.random.chance(self.shape.fits_by_name) {
            let ty = self.random.choose(&Type::VALUES).unwrap_or(Type::Integer);
            let mut more = rest.to_vec();
            more.push(Parameter { ty, name: format!("{}_dropped", ty.spelling().2) });
            self.random.shuffle(&mut more);
            more.insert(0, flow.clone());
            if distinct(&more) && accepts(&more, to) {
                return more;
            }
        }
        let renamed = self.named(rest.iter().map(|value| value.ty));
        if accepts(&renamed, to) { renamed } else { to.to_vec() }
    }

    /// A list that some other nodes pass on too.
    fn row(&mut self) -> Vec<Parameter> {
        let types = self.random.choose(&self.rows).unwrap_or_default();
        self.named(types.into_iter())
    }

    /// The flow's number, and values of these types with names of two kinds: so lists with the same types often differ
    /// in some names, and never hold the same names in another order by chance.
    fn named(&mut self, types: impl Iterator<Item = Type>) -> Vec<Parameter> {
        let mut list = vec![Parameter::flow()];
        for (position, ty) in types.enumerate() {
            let prefix = if self.random.chance(300) { "other_" } else { "" };
            list.push(Parameter { ty, name: format!("{prefix}{}_{position}", ty.spelling().2) });
        }
        list
    }
}

/// Whether values fit, and each keeps its type: an error code is an `int` to C++, but not to the nodes.
fn accepts(values: &[Parameter], parameters: &[Parameter]) -> bool {
    let same = |(parameter, at): (&Parameter, usize)| values.get(at).is_some_and(|value| value.ty == parameter.ty);
    fit(values, parameters).is_some_and(|positions| parameters.iter().zip(positions).all(same))
}

fn distinct(list: &[Parameter]) -> bool {
    let mut names: Vec<_> = list.iter().map(|one| &one.name).collect();
    names.sort();
    names.windows(2).all(|pair| matches!(pair, [first, second] if first != second))
}
