//! A random program as its generator knows it.
//!
//! This is a model of its own, not the compiler's: what the compiler makes of the program's text is checked against
//! what this model says, so the two share nothing but the language's rules. [`fit`] is the rule of edges, written a
//! second time for that reason.

use crate::formula::Comparison;
use crate::list::{Item, list_bits};
use crate::random::combine;
use crate::script::{Helper, Script};
use flux_ir::arena::{Arena, ArenaId};
use std::collections::BTreeMap;

/// A node of a [`Model`].
pub type NodeId = ArenaId<Node>;
/// A predicate of a [`Model`].
pub type PredicateId = ArenaId<Predicate>;
/// A constraint of a [`Model`].
pub type ConstraintId = ArenaId<Constraint>;

/// A whole program.
#[derive(Clone, Default, Debug)]
pub struct Model {
    /// Every node, sources and handlers included; each comes after all that it reaches.
    pub nodes: Arena<Node>,
    /// The predicates.
    pub predicates: Arena<Predicate>,
    /// The computed nodes that bodies call.
    pub helpers: Vec<Helper>,
    /// The constraints.
    pub constraints: Arena<Constraint>,
    /// The sources, in order.
    pub sources: Vec<Source>,
    /// The error handlers on paths. No two could tie: of those with equally long paths, at most one matches a walk.
    pub path_handlers: Vec<PathHandler>,
}

/// A C++ type whose values carry bits: what [`Type::narrow`] keeps of a word goes in and comes out again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// `int`; the flow's number, the first value of every list, is one.
    Integer,
    /// `unsigned long`
    Wide,
    /// `bool`
    Flag,
    /// `std::string`, long enough not to be stored in the object itself.
    Text,
    /// `int[3]`
    Array,
    /// `std::vector<int>`
    Vector,
    /// `std::map<int, long>`: its comma separates no parameters.
    Table,
    /// `record *`, which points to memory of the flow's own.
    Record,
    /// `tracked`, a class that counts its objects: none may be lost, none destroyed twice.
    Tracked,
    /// `fragile`, a class of which some values throw when they are copied or moved.
    Fragile,
    /// A list of what an each step goes through or gathers.
    List(Item),
    /// `int`, the error code that a handler is given.
    Error,
}

impl Type {
    /// The types that nodes pass on.
    pub const VALUES: [Self; 10] = [
        Self::Integer,
        Self::Wide,
        Self::Flag,
        Self::Text,
        Self::Array,
        Self::Vector,
        Self::Table,
        Self::Record,
        Self::Tracked,
        Self::Fragile,
    ];

    /// The C++ type, its array suffix, and the stem of names for such values.
    pub fn spelling(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Integer => ("int", "", "number"),
            Self::Wide => ("unsigned long", "", "wide"),
            Self::Flag => ("bool", "", "flag"),
            Self::Text => ("std::string", "", "text"),
            Self::Array => ("int", "[3]", "array"),
            Self::Vector => ("std::vector<int>", "", "vector"),
            Self::Table => ("std::map<int, long>", "", "table"),
            Self::Record => ("record *", "", "record"),
            Self::Tracked => ("tracked", "", "tracked"),
            Self::Fragile => ("fragile", "", "fragile"),
            Self::List(item) => (item.spelling().0, "", item.spelling().1),
            Self::Error => ("int", "", "error"),
        }
    }

    /// What a value of this type keeps of `bits`.
    pub fn narrow(self, bits: u64) -> u64 {
        match self {
            Self::Integer => bits & 0xffff_ffff,
            Self::Flag => bits & 1,
            Self::Error => code(bits),
            _ => bits,
        }
    }

    /// What a value of this type carries that a function makes of `bits`.
    pub fn made(self, bits: u64) -> u64 {
        match self {
            Self::List(item) => list_bits(&item.elements(bits)),
            _ => self.narrow(bits),
        }
    }

    /// The type of the elements of such lists.
    pub(crate) fn element(self) -> Self {
        match self {
            Self::List(item) => item.ty(),
            other => other,
        }
    }

    /// The type of a list of such values.
    pub(crate) fn gathered(self) -> Self {
        let item = match self {
            Self::Wide => Item::Wide,
            Self::Flag => Item::Flag,
            Self::Text => Item::Text,
            Self::Vector => Item::Vector,
            Self::Table => Item::Table,
            Self::Tracked => Item::Tracked,
            _ => Item::Flow,
        };
        Self::List(item)
    }

    /// Whether a value with these bits throws when it is copied or moved.
    pub fn breaks(self, bits: u64) -> bool {
        self == Self::Fragile && bits.is_multiple_of(64)
    }
}

/// An error code as nodes see it: those they return, [`Decision::Fail`], are themselves; those of the runtime, for an
/// exception or a dispatch that no line matches, are all 0.
fn code(bits: u64) -> u64 {
    if (1..=CODES).contains(&bits) { bits } else { 0 }
}

/// Nodes return error codes from 1 to this.
const CODES: u64 = 200;

/// A value's type and name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// The type.
    pub ty: Type,
    /// The name.
    pub name: String,
}

impl Parameter {
    /// The number of the flow, which all nodes take first.
    pub fn flow() -> Self {
        Self { ty: Type::Integer, name: "flow".to_owned() }
    }

    /// Whether C++ sees the same type.
    pub(crate) fn same_type(&self, other: &Self) -> bool {
        let spelling = |ty: Type| (ty.spelling().0, ty.spelling().1);
        spelling(self.ty) == spelling(other.ty)
    }
}

/// How `values` fit `parameters`: for each parameter the position of its value. By position where arity and types
/// agree, unless the names are the same in another order; else by name and type; `None` where neither holds.
pub fn fit(values: &[Parameter], parameters: &[Parameter]) -> Option<Vec<usize>> {
    let pairs = || values.iter().zip(parameters);
    if values.len() == parameters.len() && pairs().all(|(value, parameter)| value.same_type(parameter)) {
        let in_place = pairs().all(|(value, parameter)| value.name == parameter.name);
        return (in_place || sorted_names(values) != sorted_names(parameters)).then(|| (0..values.len()).collect());
    }
    let find = |parameter: &Parameter| {
        values.iter().position(|value| value.name == parameter.name && value.same_type(parameter))
    };
    parameters.iter().map(find).collect()
}

fn sorted_names(list: &[Parameter]) -> Vec<&str> {
    let mut names: Vec<_> = list.iter().map(|one| one.name.as_str()).collect();
    names.sort_unstable();
    names
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What it takes: the flow's number and what else there is; nothing where it is a source.
    pub inputs: Vec<Parameter>,
    /// What it gives: the flow's number and what else there is, or nothing.
    pub outputs: Vec<Parameter>,
    /// What it does.
    pub body: Body,
    /// What it must hold.
    pub requirements: Vec<Requirement>,
    /// What takes its place where it fails.
    pub handler: Option<Handler>,
}

/// What a node does.
#[derive(Clone, Debug)]
pub enum Body {
    /// A function decides what it does by a hash.
    Concrete(Behaviour),
    /// It is computed.
    Computed(Script),
    /// One chain.
    Chain(Chain),
    /// The first line that matches is taken.
    Dispatch(Vec<Line>),
}

/// Steps one after the other.
pub type Chain = Vec<Step>;

/// One step of a chain.
#[derive(Clone, Debug)]
pub enum Step {
    /// A node is applied.
    Apply(NodeId),
    /// Chains run concurrently, each on a copy of the same values; their outputs are joined.
    Parallel(Vec<Chain>),
    /// A chain runs for each element of a list.
    Each(Each),
}

/// A step that runs a chain for each element of a list.
#[derive(Clone, Debug)]
pub struct Each {
    /// The chain. Its first step applies a node whose first input takes the flow's number by its name, so that the
    /// second one takes the element.
    pub chain: Chain,
    /// How many instances may run at once; none where it is a loop.
    pub width: Option<usize>,
}

/// One line of a dispatch.
#[derive(Clone, Debug)]
pub struct Line {
    /// One for each input; `None` matches anything.
    pub patterns: Vec<Option<PredicateId>>,
    /// Whether the patterns are written; they may be left out where all of them match anything.
    pub written: bool,
    /// What happens on a match.
    pub chain: Chain,
}

/// A predicate: a type's name, and the function that tests it.
#[derive(Clone, Debug)]
pub struct Predicate {
    /// The name in patterns.
    pub name: String,
    /// The C++ function.
    pub function: String,
    /// The type of what it tests.
    pub ty: Type,
    /// In how many of a thousand cases it does not hold, or throws.
    pub behaviour: Behaviour,
    /// What it computes instead, where it is no function.
    pub formula: Option<Comparison>,
}

impl Predicate {
    /// What it says of a value with these bits; none where it throws, or fails.
    pub fn holds(&self, bits: u64) -> Option<bool> {
        if let Some(formula) = &self.formula {
            // An `int` is in the low half, and has a sign; an `unsigned long` has none.
            let is_wide = self.ty == Type::Wide;
            return formula.holds(if is_wide { i128::from(bits) } else { i128::from(bits as u32 as i32) });
        }
        match self.behaviour.decide(self.behaviour.digest([self.ty.narrow(bits)])) {
            Decision::Succeed => Some(true),
            Decision::Fail(_) => Some(false),
            Decision::Throw => None,
        }
    }
}

/// What takes a failing node's place.
#[derive(Clone, Debug)]
pub enum Handler {
    /// An undeclared function, which may throw.
    Function {
        /// Its name.
        name: String,
        /// Its failures; as it returns nothing, it only throws.
        behaviour: Behaviour,
    },
    /// A node.
    Node(NodeId),
    /// `_`: after what runs first, if anything does, the flow goes on behind the node, which has no outputs.
    GoOn(Option<Box<Handler>>),
}

impl Handler {
    /// The node that it runs.
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Self::Function { .. } => None,
            Self::Node(node) => Some(*node),
            Self::GoOn(first) => first.as_ref().and_then(|first| first.node()),
        }
    }

    /// The function that it runs: its name, and what it does.
    pub fn function(&self) -> Option<(&str, &Behaviour)> {
        match self {
            Self::Function { name, behaviour } => Some((name, behaviour)),
            Self::Node(_) => None,
            Self::GoOn(first) => first.as_ref().and_then(|first| first.function()),
        }
    }
}

/// What takes a failing node's place where it was reached by a path of two nodes or more.
#[derive(Clone, Debug)]
pub struct PathHandler {
    /// The nodes that come one after the other, the failing one last; `None` is any. A path that ends in any node has a
    /// function.
    pub path: Vec<Option<NodeId>>,
    /// What takes its place.
    pub handler: Handler,
}

impl PathHandler {
    /// Whether `walk` ends in the path; a node of a walk that is `None` has no name.
    pub fn matches(&self, walk: &[Option<NodeId>]) -> bool {
        let mut pairs = self.path.iter().rev().zip(walk.iter().rev());
        walk.len() >= self.path.len() && pairs.all(|(part, node)| part.is_none() || part == node)
    }
}

/// A source of flows.
#[derive(Clone, Debug)]
pub struct Source {
    /// The node that makes them.
    pub node: NodeId,
    /// The node they start in.
    pub target: NodeId,
    /// The function that tells a flow's session.
    pub session: Option<String>,
    /// Whether it may run in several instances at once.
    pub replicable: bool,
}

/// A thing that nodes share.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Its name.
    pub name: String,
    /// Who shares it.
    pub scope: Scope,
}

/// Which flows a constraint holds apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All.
    Program,
    /// Those of one session.
    Session,
    /// Those in which a value has the same bits: the flow's number, in these programs.
    Keyed,
}

/// One mention of a constraint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Requirement {
    /// Which.
    pub constraint: ConstraintId,
    /// How it is held.
    pub mode: Mode,
    /// Whether a writer is marked as such: `name!`.
    pub marked: bool,
}

/// How a constraint is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Mode {
    /// Together with other readers: `name?`.
    Read,
    /// Alone: `name`.
    Write,
}

/// How a function decides what to do: by a hash of what it is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Behaviour {
    /// Sets this function's decisions apart from others'.
    pub salt: u64,
    /// In so many of a thousand cases it returns an error; a predicate returns false.
    pub errors: u64,
    /// In so many of a thousand cases it throws.
    pub throws: u64,
}

/// What a function decides to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// It succeeds.
    Succeed,
    /// It returns this error code, never 0.
    Fail(u64),
    /// It throws.
    Throw,
}

impl Behaviour {
    /// The hash of a call with `inputs`, as narrowed to their types.
    pub fn digest(&self, inputs: impl IntoIterator<Item = u64>) -> u64 {
        inputs.into_iter().fold(self.salt, combine)
    }

    /// What the call with this digest does.
    pub fn decide(&self, digest: u64) -> Decision {
        let roll = combine(digest, 1) % 1000;
        if roll < self.errors {
            Decision::Fail(1 + combine(digest, 2) % CODES)
        } else if roll < self.errors + self.throws {
            Decision::Throw
        } else {
            Decision::Succeed
        }
    }

    /// What a call with this digest leaves of its inputs: it may change those after the first.
    pub fn changed(digest: u64, inputs: &[Parameter], bits: &mut [u64]) {
        if !combine(digest, 5).is_multiple_of(2) {
            return;
        }
        let changing = inputs.iter().zip(bits).enumerate().skip(1).filter(|(_, (input, _))| input.ty != Type::Error);
        for (index, (input, bits)) in changing {
            *bits = input.ty.made(combine(digest, 64 + index as u64));
        }
    }

    /// The bits of which a call with this digest makes output `index`; the flow's number, output 0, is handed on
    /// instead.
    pub fn output(digest: u64, index: usize) -> u64 {
        combine(digest, 16 + index as u64)
    }

    /// The same for a source. What it gives never breaks: so that it is the source's to say whether it fails.
    pub fn source_output(digest: u64, index: usize, ty: Type) -> u64 {
        let bits = Self::output(digest, index);
        if ty == Type::Fragile { bits | 1 } else { bits }
    }
}

impl Model {
    /// Whether some of a flow's functions may run at once: it has a parallel step, or an each step that is no loop.
    pub fn is_parallel(&self) -> bool {
        self.nodes.iter().any(|(_, node)| node.all_steps().iter().any(|(step, _)| step.is_parallel()))
    }

    /// Whether it has an each step.
    pub fn has_each(&self) -> bool {
        let is_each = |(step, _): &(&Step, bool)| matches!(step, Step::Each(_));
        self.nodes.iter().any(|(_, node)| node.all_steps().iter().any(is_each))
    }

    /// The constraints that `node` names itself, each in the strongest mode in which it does.
    pub fn named(&self, node: &Node) -> Held {
        let mut held = Held::new();
        for one in &node.requirements {
            let mode = held.entry(one.constraint).or_insert(one.mode);
            *mode = one.mode.max(*mode);
        }
        held
    }

    /// For each node, what is held for it alone whenever it runs, whoever applies it: what it names itself, and what is
    /// held around it in every place. What is held around a parallel step is held for all of its branches.
    pub fn promised(&self) -> Vec<Held> {
        let mut around: Vec<Option<Held>> = vec![None; self.nodes.len()];
        for source in &self.sources {
            place(&mut around, source.target, &Held::new());
        }
        let mut promised = vec![];
        let outside_branches = Held::new();
        // Who applies a node comes after it, so what is around a node is known when its turn comes.
        for (id, node) in self.nodes.iter().rev() {
            let outside = around.get(id.index()).cloned().flatten().unwrap_or_default();
            let on_paths = self.path_handlers.iter().filter(|one| one.path.last() == Some(&Some(id)));
            for handler in node.handler.iter().chain(on_paths.map(|one| &one.handler)) {
                if let Some(target) = handler.node() {
                    place(&mut around, target, &outside);
                }
            }
            let mut inside = outside;
            for (constraint, mode) in self.named(node) {
                let held = inside.entry(constraint).or_insert(mode);
                *held = mode.max(*held);
            }
            for (child, in_branch) in node.applied() {
                place(&mut around, child, if in_branch { &outside_branches } else { &inside });
            }
            promised.push(inside);
        }
        promised.reverse();
        promised
    }

    /// What a step gives.
    pub fn outputs(&self, step: &Step, inputs: &[Parameter]) -> Vec<Parameter> {
        match step {
            Step::Apply(node) => self.nodes[*node].outputs.clone(),
            Step::Parallel(branches) => {
                let given =
                    |chain: &Chain| chain.iter().fold(inputs.to_vec(), |values, step| self.outputs(step, &values));
                branches.iter().flat_map(given).collect()
            }
            Step::Each(each) => self.each_outputs(each),
        }
    }

    /// The inputs of the node that the chain of an each step begins with: the element, and the others. The flow's
    /// number is left out.
    pub fn each_inputs(&self, each: &Each) -> (Option<&Parameter>, &[Parameter]) {
        let first = each.chain.first().and_then(Step::node);
        let inputs = first.map_or(&[][..], |first| &self.nodes[first].inputs);
        (inputs.get(1), inputs.get(2..).unwrap_or_default())
    }

    /// Whether a loop hands `output` on to the next instance.
    pub fn is_carried(&self, each: &Each, output: &Parameter) -> bool {
        let first = each.chain.first().and_then(Step::node);
        let inputs = first.map_or(&[][..], |first| &self.nodes[first].inputs);
        let mut others = inputs.iter().enumerate().filter(|(at, _)| *at != 1);
        each.width.is_none() && others.any(|(_, input)| input.name == output.name)
    }

    /// What an each step gives.
    pub fn each_outputs(&self, each: &Each) -> Vec<Parameter> {
        let last = each.chain.last().and_then(Step::node);
        let outputs = last.map_or(&[][..], |last| &self.nodes[last].outputs);
        let gathered = |output: &Parameter| match self.is_carried(each, output) {
            true => output.clone(),
            false => Parameter { ty: output.ty.gathered(), ..output.clone() },
        };
        outputs.iter().map(gathered).collect()
    }

    /// The values that a handler which takes `wanted` is given in place of a node that takes `inputs`: those, and last
    /// the error code if it wants that.
    pub fn handler_values(inputs: &[Parameter], wanted: &[Parameter]) -> Vec<Parameter> {
        let mut values = inputs.to_vec();
        values.extend(wanted.last().filter(|last| last.ty == Type::Error && last.name == "error").cloned());
        values
    }
}

/// Constraints that are held, and how.
pub type Held = BTreeMap<ConstraintId, Mode>;

/// Notes that `node` is applied where `held` is held: only what is held there too is held around it in every place.
fn place(around: &mut [Option<Held>], node: NodeId, held: &Held) {
    let Some(slot) = around.get_mut(node.index()) else { return };
    let common = |other: Held| {
        let both =
            other.into_iter().filter_map(|(constraint, mode)| Some((constraint, mode.min(*held.get(&constraint)?))));
        both.collect()
    };
    *slot = Some(slot.take().map_or_else(|| held.clone(), common));
}

impl Step {
    /// The node that it applies; a parallel step has no name.
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Self::Apply(node) => Some(*node),
            Self::Parallel(_) | Self::Each(_) => None,
        }
    }

    /// Whether what is in it may run at once.
    pub fn is_parallel(&self) -> bool {
        match self {
            Self::Apply(_) => false,
            Self::Parallel(_) => true,
            Self::Each(each) => each.width.is_some(),
        }
    }

    /// The chains in it.
    pub fn chains(&self) -> &[Chain] {
        match self {
            Self::Apply(_) => &[],
            Self::Parallel(branches) => branches,
            Self::Each(each) => std::slice::from_ref(&each.chain),
        }
    }
}

impl Node {
    /// Its chains: none for a concrete node.
    pub fn chains(&self) -> Vec<&Chain> {
        match &self.body {
            Body::Concrete(_) | Body::Computed(_) => vec![],
            Body::Chain(chain) => vec![chain],
            Body::Dispatch(lines) => lines.iter().map(|line| &line.chain).collect(),
        }
    }

    /// The steps of its chains and those in them, in textual order, and whether other steps may run beside them.
    pub fn all_steps(&self) -> Vec<(&Step, bool)> {
        let mut found = vec![];
        let mut open: Vec<_> = self.chains().into_iter().flatten().map(|step| (step, false)).rev().collect();
        while let Some((step, in_branch)) = open.pop() {
            let in_branch_below = in_branch || step.is_parallel();
            open.extend(step.chains().iter().flatten().map(|step| (step, in_branch_below)).rev());
            found.push((step, in_branch));
        }
        found
    }

    /// The nodes that its chains apply, in textual order, and whether other steps may run beside them.
    pub fn applied(&self) -> Vec<(NodeId, bool)> {
        self.all_steps().into_iter().filter_map(|(step, in_branch)| Some((step.node()?, in_branch))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(parameters: &[(Type, &str)]) -> Vec<Parameter> {
        parameters.iter().map(|(ty, name)| Parameter { ty: *ty, name: (*name).to_owned() }).collect()
    }

    #[test]
    fn values_fit_by_position_else_by_name_and_never_permuted() {
        use Type::{Error, Flag, Integer};
        let values = list(&[(Integer, "a"), (Integer, "b"), (Flag, "c")]);
        assert_eq!(fit(&values, &list(&[(Integer, "x"), (Error, "y"), (Flag, "z")])), Some(vec![0, 1, 2]));
        assert_eq!(fit(&values, &list(&[(Integer, "b"), (Integer, "a"), (Flag, "c")])), None);
        assert_eq!(fit(&values, &list(&[(Flag, "c"), (Integer, "a")])), Some(vec![2, 0]));
        assert_eq!(fit(&values, &list(&[(Flag, "a")])), None);
        assert_eq!(fit(&values, &[]), Some(vec![]));
    }

    #[test]
    fn shares_of_a_thousand_are_kept() {
        let behaviour = Behaviour { salt: 9, errors: 100, throws: 300 };
        let decisions: Vec<_> = (0..10_000).map(|input| behaviour.decide(behaviour.digest([input]))).collect();
        let count = |wanted: fn(&Decision) -> bool| decisions.iter().filter(|one| wanted(one)).count();
        assert!((900..1100).contains(&count(|one| matches!(one, Decision::Fail(1..=200)))));
        assert!((2800..3200).contains(&count(|one| matches!(one, Decision::Throw))));
    }

    #[test]
    fn promised_is_what_is_held_in_every_place() {
        let node = |name: &str, body, held: &[(usize, Mode)], handler| {
            let requirement = |(index, mode): &(usize, Mode)| Requirement {
                constraint: ConstraintId::new(*index),
                mode: *mode,
                marked: false,
            };
            let requirements = held.iter().map(requirement).collect();
            Node { name: name.to_owned(), inputs: vec![], outputs: vec![], body, requirements, handler }
        };
        let leaf = || Body::Concrete(Behaviour { salt: 0, errors: 0, throws: 0 });
        let apply = |nodes: &[NodeId]| Body::Chain(nodes.iter().map(|node| Step::Apply(*node)).collect());
        let mut model = Model::default();
        let shared = model.nodes.add(node("Shared", leaf(), &[], None));
        let handler = model.nodes.add(node("Handler", leaf(), &[], None));
        let fails = model.nodes.add(node("Fails", leaf(), &[(3, Mode::Write)], Some(Handler::Node(handler))));
        let first =
            model.nodes.add(node("First", apply(&[shared, fails]), &[(1, Mode::Write), (2, Mode::Write)], None));
        let second = model.nodes.add(node("Second", apply(&[shared]), &[(1, Mode::Read)], None));
        let target = model.nodes.add(node("Target", apply(&[first, second]), &[], None));
        model.sources.push(Source { node: target, target, session: None, replicable: false });
        let promised = model.promised();
        let of =
            |node: NodeId| promised[node.index()].iter().map(|(one, mode)| (one.index(), *mode)).collect::<Vec<_>>();
        assert_eq!(of(shared), [(1, Mode::Read)], "what only one of its callers holds is no promise");
        assert_eq!(
            of(handler),
            [(1, Mode::Write), (2, Mode::Write)],
            "it takes the place of Fails, which has released 3"
        );
        assert_eq!(of(fails), [(1, Mode::Write), (2, Mode::Write), (3, Mode::Write)]);
        assert_eq!(of(target), []);
    }
}
