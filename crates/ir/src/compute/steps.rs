//! How long a computation takes at most, in steps: one for each operation, and one for each element or byte that it
//! goes through. It is known before anything runs, as computations end: loops go through what is there.
//!
//! What is computed with is known by its extent alone. A loop is looked at twice, to see what it adds to its variables
//! each time; what grows faster than that has the most elements that anything may have in a computation ([`MOST`]).
//! Each body is looked at once for each extent of its inputs, however many nodes call it, and a loop that is deep in
//! others once; so the time is polynomial in the size of the program.

use super::{
    Callable, Comprehension, Computation, Expression, Function, MOST, Operator, Statement, Term, VariableId, Walk,
};
use crate::message::MessageId;
use crate::program::{Body, NodeId, Program};
use crate::types::{Type, TypeKind};
use flux_source::deep;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How large a value is at most: the bytes of a text, the elements of a list or a map. None has no bound.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Extent {
    /// Of the value itself.
    pub own: Option<u64>,
    /// Of whatever is in it, at any depth.
    pub inner: Option<u64>,
}

impl Extent {
    /// Of a number, and of what has no parts.
    pub const ONE: Self = Self { own: Some(1), inner: Some(1) };
    /// Of what may be of any size.
    pub const ANY: Self = Self { own: None, inner: None };

    /// Of a value that has so many bytes, with all that is in it.
    pub fn bytes(count: u64) -> Self {
        Self { own: Some(count), inner: Some(count) }
    }

    fn or(self, other: Self) -> Self {
        Self { own: larger(self.own, other.own), inner: larger(self.inner, other.inner) }
    }

    fn part(self) -> Self {
        Self { own: self.inner, inner: self.inner }
    }
}

/// What a computation takes, and gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Steps {
    /// How many there are at most; none where that has no bound.
    pub most: Option<u64>,
    /// What the node gives.
    pub outputs: Vec<Extent>,
    /// Functions in C++ that it calls, of which nothing is known: each counts as one step.
    pub calls: BTreeSet<NodeId>,
}

/// The most bytes of a message.
pub fn message_extent(program: &Program, id: MessageId) -> Extent {
    Extent::bytes(program.messages[id].most_bytes())
}

fn larger(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.max(other?))
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.saturating_add(other?))
}

fn product(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(0), _) | (_, Some(0)) => Some(0),
        (one, other) => Some(one?.saturating_mul(other?)),
    }
}

/// The most steps, and the extents of what is given.
type Taken = (Option<u64>, Vec<Extent>);

/// Counts the steps of the nodes of a program. One counter for many nodes looks at each body that they call once, not
/// once for each node.
#[derive(Debug)]
pub struct StepCounter<'program> {
    program: &'program Program,
    /// Of the variables of the computation that is looked at.
    extents: Vec<Extent>,
    /// What the computation that is looked at calls itself.
    callees: BTreeSet<Callable>,
    /// The functions in C++ that each body calls, itself or through others, as far as it was looked at.
    functions: HashMap<Callable, BTreeSet<NodeId>>,
    /// How many loops of the computation that is looked at there are around.
    depth: usize,
    /// What each body takes and gives for these extents of its inputs, as far as it was looked at.
    known: HashMap<(Callable, Vec<Extent>), Taken>,
    /// The variables that the bodies of loops give values, as far as they were looked for.
    given: HashMap<*const Statement, BTreeSet<VariableId>>,
    /// For how many extents of its inputs each body was looked at.
    looks: BTreeMap<Callable, usize>,
}

impl<'program> StepCounter<'program> {
    /// A counter that has looked at nothing yet.
    pub fn new(program: &'program Program) -> Self {
        Self {
            program,
            extents: vec![],
            callees: BTreeSet::new(),
            functions: HashMap::new(),
            depth: 0,
            known: HashMap::new(),
            given: HashMap::new(),
            looks: BTreeMap::new(),
        }
    }

    /// The steps of a node that is computed, for inputs of these extents; none of any other. A message has the extent
    /// that it says itself.
    pub fn steps(&mut self, node: NodeId, inputs: &[Extent]) -> Option<Steps> {
        let node = &self.program.nodes[node];
        let Body::Computed(computation) = &node.body else { return None };
        let ((most, outputs), calls) = self.computation(computation, inputs, node.outputs().len());
        Some(Steps { most, outputs, calls })
    }

    /// What a body takes and gives, and the functions in C++ that it calls.
    fn computation(&mut self, body: &Computation, inputs: &[Extent], outputs: usize) -> (Taken, BTreeSet<NodeId>) {
        let typed = body.variables.iter().map(|variable| self.of_type(&variable.ty));
        let mut extents: Vec<Extent> = typed.collect();
        for (extent, (input, variable)) in extents.iter_mut().zip(inputs.iter().zip(&body.variables)) {
            // What its type says is never less exact.
            if extent.own.is_none() && !matches!(variable.ty.kind(), TypeKind::Message(_)) {
                *extent = *input;
            }
        }
        for extent in extents.iter_mut().skip(inputs.len()) {
            *extent = Extent { own: Some(0), inner: Some(0) };
        }
        // What is known of a body must not depend on who calls it.
        let depth = std::mem::take(&mut self.depth);
        let callees = std::mem::take(&mut self.callees);
        let outside = std::mem::replace(&mut self.extents, extents);
        let mut most = self.block(&body.block);
        if let Some(says) = &body.says {
            most = sum(most, self.expression(says).0);
        }
        let extents = std::mem::replace(&mut self.extents, outside);
        let callees = std::mem::replace(&mut self.callees, callees);
        self.depth = depth;
        ((most, extents.into_iter().skip(inputs.len()).take(outputs).collect()), self.functions_of(callees))
    }

    /// The functions in C++ among `callees`, and those that the others call, which were all looked at.
    fn functions_of(&self, callees: BTreeSet<Callable>) -> BTreeSet<NodeId> {
        let mut all = BTreeSet::new();
        for callee in callees {
            match (self.functions.get(&callee), callee) {
                (Some(functions), _) => all.extend(functions),
                (None, Callable::Node(node)) => _ = all.insert(node),
                (None, Callable::Predicate(_)) => {}
            }
        }
        all
    }

    /// As far as a type alone says.
    fn of_type(&self, ty: &Type) -> Extent {
        match ty.kind() {
            TypeKind::Bool | TypeKind::Integer(_) | TypeKind::Float(_) | TypeKind::Enum(_) => Extent::ONE,
            TypeKind::Message(id) => message_extent(self.program, *id),
            _ => Extent::ANY,
        }
    }

    fn block(&mut self, block: &[Statement]) -> Option<u64> {
        let mut most = Some(0);
        for statement in block {
            most = sum(most, deep(|| self.statement(statement)));
        }
        most
    }

    fn statement(&mut self, statement: &Statement) -> Option<u64> {
        match statement {
            Statement::Set { variable, value, .. } => {
                let (most, extent) = self.expression(value);
                self.put(*variable, extent);
                sum(most, Some(1))
            }
            Statement::If(condition, then, otherwise) => {
                let (asked, _) = self.expression(condition);
                let before = self.extents.clone();
                let then = self.block(then);
                let after_then = std::mem::replace(&mut self.extents, before);
                let otherwise = self.block(otherwise);
                for (extent, other) in self.extents.iter_mut().zip(after_then) {
                    *extent = extent.or(other);
                }
                sum(asked, larger(then, otherwise))
            }
            Statement::For(walk, block) => self.walk(walk, block),
            Statement::Take { variables, node, arguments, .. } => {
                let (most, outputs) = self.applied(Callable::Node(*node), arguments, variables.len());
                for (variable, extent) in variables.iter().zip(outputs) {
                    self.put(*variable, extent);
                }
                most
            }
            Statement::Put { variable, key, value } => {
                let ((key_steps, key), (value_steps, value)) = (self.expression(key), self.expression(value));
                if let Some(extent) = self.extents.get_mut(variable.index()) {
                    let parts = [key.own, key.inner, value.own, value.inner];
                    let inner = parts.into_iter().fold(extent.inner, larger);
                    *extent = Extent { own: sum(extent.own, Some(1)), inner };
                }
                sum(sum(key_steps, value_steps), sum(key.own, Some(1)))
            }
            Statement::Fail(_) => Some(1),
        }
    }

    /// A loop, whose body adds the same to its variables each time, or else as much as fits.
    fn walk(&mut self, walk: &Walk, block: &[Statement]) -> Option<u64> {
        let (asked, over) = self.expression(&walk.over);
        self.put(walk.element, over.part());
        if let Some(value) = walk.value {
            self.put(value, over.part());
        }
        self.depth += 1;
        let after = if self.depth <= MOST_DEPTH { self.after_loop(over.own, block) } else { self.after_any(block) };
        self.extents.clone_from(&after);
        let each = self.block(block);
        self.depth -= 1;
        self.extents = after;
        sum(asked, product(over.own, sum(each, Some(1))))
    }

    /// The extents after a loop of so many times, by what its body does the first two times.
    fn after_loop(&mut self, times: Option<u64>, block: &[Statement]) -> Vec<Extent> {
        let before = self.extents.clone();
        self.block(block);
        let once = self.extents.clone();
        self.block(block);
        let twice = std::mem::take(&mut self.extents);
        let all = before.iter().zip(&once).zip(&twice);
        all.map(|((before, once), twice)| after_all(times, [*before, *once, *twice])).collect()
    }

    /// The extents after a loop whose body is not looked at: what it gives a value may be as large as anything.
    fn after_any(&mut self, block: &[Statement]) -> Vec<Extent> {
        let largest = Extent::bytes(MOST as u64);
        let given = self.given.entry(block.as_ptr()).or_insert_with(|| {
            let mut given = BTreeSet::new();
            variables_given(block, &mut given);
            given
        });
        let after = |(at, extent): (usize, &Extent)| match given.contains(&VariableId::new(at)) {
            true => Extent { own: larger(extent.own, largest.own), inner: larger(extent.inner, largest.inner) },
            false => *extent,
        };
        self.extents.iter().enumerate().map(after).collect()
    }

    fn put(&mut self, variable: VariableId, extent: Extent) {
        if let Some(own) = self.extents.get_mut(variable.index()) {
            *own = extent;
        }
    }

    /// How long it takes, and what comes of it.
    fn expression(&mut self, expression: &Expression) -> (Option<u64>, Extent) {
        deep(|| self.expression_here(expression))
    }

    fn expression_here(&mut self, expression: &Expression) -> (Option<u64>, Extent) {
        let is_of_parts = matches!(
            expression.ty.kind(),
            TypeKind::Text | TypeKind::Bytes | TypeKind::List(_) | TypeKind::Map(..) | TypeKind::Value
        );
        match &expression.term {
            Term::Text(text) => (Some(1), Extent { own: u64::try_from(text.len()).ok(), inner: Some(1) }),
            Term::Variable(variable) => (Some(1), self.extents.get(variable.index()).copied().unwrap_or(Extent::ANY)),
            Term::Integer(_) | Term::Real(_) | Term::Truth(_) | Term::Enumerator(_) | Term::Code(_) => {
                (Some(1), Extent::ONE)
            }
            Term::Option(_) => (Some(1), self.of_type(&expression.ty)),
            Term::None => (Some(1), Extent { own: Some(0), inner: Some(0) }),
            Term::Some(one) => self.expression(one),
            Term::Field(of, _) => {
                let (most, whole) = self.expression(of);
                (sum(most, Some(1)), self.of_part(&expression.ty, whole.part()))
            }
            Term::Not(one) | Term::Negate(one) => {
                let (most, extent) = self.expression(one);
                (sum(most, Some(1)), extent)
            }
            // A number has a few digits.
            Term::Convert(one) => {
                let (most, extent) = self.expression(one);
                let extent =
                    if is_of_parts { extent.or(Extent::bytes(24)) } else { self.of_part(&expression.ty, extent) };
                (sum(sum(most, Some(1)), extent.own), extent)
            }
            Term::Binary(operator, two) => self.binary(*operator, two),
            Term::Choose(three) => {
                let (most, all) = self.made(three.iter());
                (sum(most, Some(1)), self.of_part(&expression.ty, all.part()))
            }
            Term::Record(all) | Term::List(all) => self.made(all.iter()),
            Term::Message(all) => {
                let (most, _) = self.made(all.iter().map(|(_, value)| value));
                let extent = self.of_type(&expression.ty);
                (most, extent)
            }
            Term::Map(all) => self.made(all.iter().flatten()),
            Term::Comprehension(function, one) => {
                let (most, all) = self.comprehension(one);
                (most, if function.is_some() { self.of_part(&expression.ty, all.part()) } else { all })
            }
            Term::Element(two) => {
                let [of, at] = &**two;
                let ((list_steps, list), (key_steps, key)) = (self.expression(of), self.expression(at));
                (sum(sum(list_steps, key_steps), key.own), self.of_part(&expression.ty, list.part()))
            }
            Term::Slice(of, from, to) => {
                let (most, extent) = self.expression(of);
                let most = sum(most, self.expression(from).0);
                let to = to.as_ref().map_or(Some(0), |to| self.expression(to).0);
                (sum(sum(most, to), extent.own), extent)
            }
            Term::Call(function, arguments) => {
                let (most, all) = self.made(arguments.iter());
                let looks = !matches!(function, Function::Length | Function::Has | Function::Value);
                let most = if looks { sum(most, all.inner) } else { most };
                (most, self.of_part(&expression.ty, all.part()))
            }
            Term::Apply(callee, arguments) => {
                let (most, outputs) = self.applied(*callee, arguments, 1);
                let extent = outputs.first().copied().unwrap_or(Extent::ONE);
                (most, if extent.own.is_none() { self.of_type(&expression.ty) } else { extent })
            }
        }
    }

    /// The list of a comprehension.
    fn comprehension(&mut self, one: &Comprehension) -> (Option<u64>, Extent) {
        let (asked, over) = self.expression(&one.walk.over);
        self.put(one.walk.element, over.part());
        if let Some(value) = one.walk.value {
            self.put(value, over.part());
        }
        let condition = one.condition.as_ref().map_or(Some(0), |condition| self.expression(condition).0);
        let (each, value) = self.expression(&one.value);
        let most = sum(asked, product(over.own, sum(sum(condition, each), Some(1))));
        (most, Extent { own: over.own, inner: larger(value.own, value.inner) })
    }

    /// A part that has this type of something of the extent.
    fn of_part(&self, ty: &Type, whole: Extent) -> Extent {
        match self.of_type(ty) {
            Extent::ANY => whole,
            known => known,
        }
    }

    /// What is made of all of these; of which each has at most the extent that is inside.
    fn made<'e>(&mut self, all: impl Iterator<Item = &'e Expression>) -> (Option<u64>, Extent) {
        let (mut most, mut extent) = (Some(1), Extent { own: Some(0), inner: Some(0) });
        for one in all {
            let (steps, part) = self.expression(one);
            most = sum(most, steps);
            extent =
                Extent { own: sum(extent.own, Some(1)), inner: larger(extent.inner, larger(part.own, part.inner)) };
        }
        (most, extent)
    }

    fn binary(&mut self, operator: Operator, two: &[Expression; 2]) -> (Option<u64>, Extent) {
        let ((left_steps, left), (right_steps, right)) = (self.expression(&two[0]), self.expression(&two[1]));
        let most = sum(sum(left_steps, right_steps), Some(1));
        if two[0].ty.integer().is_some() {
            return (most, Extent::ONE);
        }
        // What is compared or joined is gone through.
        let both = Extent { own: sum(left.own, right.own), inner: larger(left.inner, right.inner) };
        (sum(most, both.own), if operator == Operator::Add { both } else { Extent::ONE })
    }

    fn applied(&mut self, callee: Callable, arguments: &[Expression], outputs: usize) -> Taken {
        let (mut most, mut inputs) = (Some(1), vec![]);
        for argument in arguments {
            let (steps, extent) = self.expression(argument);
            most = sum(most, steps);
            inputs.push(extent);
        }
        let program = self.program;
        let computation = match callee {
            Callable::Predicate(id) => program.predicates[id].computed().map(|computed| &computed.computation),
            Callable::Node(id) => match &program.nodes[id].body {
                Body::Computed(computation) => Some(computation),
                _ => None,
            },
        };
        self.callees.insert(callee);
        let Some(computation) = computation else { return (most, vec![Extent::ANY; outputs]) };
        let (inside, given) = self.called(callee, computation, inputs, outputs);
        (sum(most, inside), given)
    }

    /// What a body takes and gives that is called.
    fn called(&mut self, callee: Callable, computation: &Computation, inputs: Vec<Extent>, outputs: usize) -> Taken {
        let mut key = (callee, inputs);
        if !self.known.contains_key(&key) && self.looks.get(&callee).is_some_and(|looks| *looks >= MOST_LOOKS) {
            key.1.fill(Extent::ANY);
        }
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        *self.looks.entry(callee).or_default() += 1;
        let (found, functions) = deep(|| self.computation(computation, &key.1, outputs));
        self.functions.insert(callee, functions);
        self.known.insert(key, found.clone());
        found
    }
}

/// What a variable has after a loop that goes through so many: it grew each time as it did the second time, or not at
/// all; or else it has as much as fits.
fn after_all(times: Option<u64>, [before, once, twice]: [Extent; 3]) -> Extent {
    let after = |before: Option<u64>, once: Option<u64>, twice: Option<u64>| match (before, once, twice) {
        (Some(before), Some(once), Some(twice)) if once <= before && twice <= once => Some(before),
        (_, Some(once), Some(twice)) if twice <= once => Some(once),
        (Some(before), Some(once), Some(twice)) if once.checked_sub(before) == twice.checked_sub(once) => {
            sum(Some(before), product(times, once.checked_sub(before))).map(|all| all.min(MOST as u64))
        }
        (None, None, None) => None,
        _ => Some(MOST as u64),
    };
    Extent { own: after(before.own, once.own, twice.own), inner: after(before.inner, once.inner, twice.inner) }
}

/// The variables that `block` gives values.
fn variables_given(block: &[Statement], found: &mut BTreeSet<VariableId>) {
    for statement in block {
        match statement {
            Statement::Set { variable, .. } | Statement::Put { variable, .. } => _ = found.insert(*variable),
            Statement::Take { variables, .. } => found.extend(variables),
            Statement::For(walk, _) => found.extend(std::iter::once(walk.element).chain(walk.value)),
            Statement::If(..) | Statement::Fail(_) => {}
        }
        statement.parts().1.into_iter().for_each(|block| deep(|| variables_given(block, found)));
    }
}

/// The bodies of loops so deep in each other are looked at three times.
const MOST_DEPTH: usize = 5;

/// A body is looked at for so many different extents of its inputs; from then on they may be of any size.
const MOST_LOOKS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_program;
    use std::fmt::Write as _;

    /// Nodes of which each calls the one before twice, with these arguments.
    fn calls(ty: &str, count: usize, (left, right): (&str, &str)) -> Program {
        let mut text = "program p\n\n".to_owned();
        for number in 0..=count {
            let apply = |arguments: &str| format!("apply:\"{ty}\" = N{}({arguments})", number.saturating_sub(1));
            let value = match number {
                0 => format!("variable:\"{ty}\" 0"),
                _ => format!("+:\"{ty}\"({}, {})", apply(left), apply(right)),
            };
            let _ =
                writeln!(text, "node N{number} ({ty} n) => ({ty} m) {{\n  compute {{\n    set #1 = {value}\n  }}\n}}");
        }
        parse_program(&text).unwrap()
    }

    /// How many bodies are looked at for the last node.
    fn looks(program: &Program, input: Extent) -> (usize, Option<u64>) {
        let mut counter = StepCounter::new(program);
        let steps = counter.steps(NodeId::new(program.nodes.len() - 1), &[input]);
        (counter.looks.values().sum(), steps.and_then(|steps| steps.most))
    }

    #[test]
    fn a_body_is_looked_at_once_however_often_it_is_called() {
        let variable = "variable:\"uint64\" 0";
        let program = calls("uint64", 20, (variable, variable));
        assert_eq!(looks(&program, Extent::ONE), (20, Some(8_388_602)));
        assert_eq!(looks(&calls("uint64", 1000, (variable, variable)), Extent::ONE), (1000, Some(u64::MAX)));
    }

    #[test]
    fn a_body_is_looked_at_once_however_many_nodes_call_it() {
        let program = calls("uint64", 50, ("variable:\"uint64\" 0", "variable:\"uint64\" 0"));
        let mut counter = StepCounter::new(&program);
        for (id, _) in program.nodes.iter() {
            assert_eq!(counter.steps(id, &[Extent::ANY]), StepCounter::new(&program).steps(id, &[Extent::ANY]));
        }
        assert_eq!(counter.looks.values().sum::<usize>(), 50);
    }

    #[test]
    fn each_node_has_the_functions_that_it_calls_through_others() {
        let mut text = "program p\n\nnode C (uint64 n) => (uint64 m)\n".to_owned();
        for (name, callee) in [("A", "C"), ("B", "A"), ("D", "B")] {
            let value = format!("apply:\"uint64\" = {callee}(variable:\"uint64\" 0)");
            let _ =
                writeln!(text, "node {name} (uint64 n) => (uint64 m) {{\n  compute {{\n    set #1 = {value}\n  }}\n}}");
        }
        let program = parse_program(&text).unwrap();
        let mut counter = StepCounter::new(&program);
        let calls = program.nodes.ids().filter_map(|id| Some(counter.steps(id, &[Extent::ANY])?.calls));
        assert_eq!(calls.collect::<Vec<_>>(), vec![BTreeSet::from([NodeId::new(0)]); 3]);
    }

    #[test]
    fn a_body_is_looked_at_for_so_many_sizes_alone() {
        let [twice, more] = ["variable:\"text\" 0", "string:\"text\" = \"a\""]
            .map(|right| format!("+:\"text\"(variable:\"text\" 0, {right})"));
        let program = calls("text", 20, (&twice, &more));
        let (looks, most) = looks(&program, Extent::bytes(1));
        assert!(looks <= 20 * (MOST_LOOKS + 1), "{looks}");
        assert_eq!(most, None);
    }
}
