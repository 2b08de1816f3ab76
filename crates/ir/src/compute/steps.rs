//! How long a computation takes at most, in steps: one for each operation, and one for each element or byte that it
//! goes through. It is known before anything runs, as computations end: loops go through what is there.
//!
//! What is computed with is known by its extent alone. A loop is looked at twice, to see what it adds to its variables
//! each time; what grows faster than that has the most elements that anything may have in a computation ([`MOST`]).

use super::{
    Callable, Comprehension, Computation, Expression, Function, MOST, Operator, Statement, Term, VariableId, Walk,
};
use crate::message::MessageId;
use crate::program::{Body, NodeId, Program};
use crate::types::{Type, TypeKind};
use std::collections::BTreeSet;

/// How large a value is at most: the bytes of a text, the elements of a list or a map. None has no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

/// The steps of a node that is computed, for inputs of these extents; none of any other. A message has the extent that
/// it says itself.
pub fn steps(program: &Program, node: NodeId, inputs: &[Extent]) -> Option<Steps> {
    let (Body::Computed(computation), outputs) = (&program.nodes[node].body, program.nodes[node].outputs().len())
    else {
        return None;
    };
    let mut counter = Counter { program, extents: vec![], calls: BTreeSet::new(), depth: 0 };
    let (most, outputs) = counter.computation(computation, inputs, outputs);
    Some(Steps { most, outputs, calls: counter.calls })
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

struct Counter<'program> {
    program: &'program Program,
    /// Of the variables of the computation that is looked at.
    extents: Vec<Extent>,
    calls: BTreeSet<NodeId>,
    /// How many loops there are around.
    depth: usize,
}

impl Counter<'_> {
    fn computation(&mut self, body: &Computation, inputs: &[Extent], outputs: usize) -> (Option<u64>, Vec<Extent>) {
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
        let outside = std::mem::replace(&mut self.extents, extents);
        let mut most = self.block(&body.block);
        if let Some(says) = &body.says {
            most = sum(most, self.expression(says).0);
        }
        let extents = std::mem::replace(&mut self.extents, outside);
        (most, extents.into_iter().skip(inputs.len()).take(outputs).collect())
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
            most = sum(most, self.statement(statement));
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
            Statement::For(walk, block) => self.walk(walk, |counter| counter.block(block)),
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
    fn walk(&mut self, walk: &Walk, body: impl Fn(&mut Self) -> Option<u64>) -> Option<u64> {
        let (asked, over) = self.expression(&walk.over);
        self.put(walk.element, over.part());
        if let Some(value) = walk.value {
            self.put(value, over.part());
        }
        let before = self.extents.clone();
        body(self);
        let once = self.extents.clone();
        // What is deep in each other is looked at once, as each look takes two of what is inside.
        self.depth += 1;
        if self.depth <= MOST_DEPTH {
            body(self);
        }
        let twice = std::mem::take(&mut self.extents);
        let all = before.iter().zip(&once).zip(&twice);
        let after: Vec<Extent> =
            all.map(|((before, once), twice)| after_all(over.own, [*before, *once, *twice])).collect();
        self.extents.clone_from(&after);
        let each = body(self);
        self.depth -= 1;
        self.extents = after;
        sum(asked, product(over.own, sum(each, Some(1))))
    }

    fn put(&mut self, variable: VariableId, extent: Extent) {
        if let Some(own) = self.extents.get_mut(variable.index()) {
            *own = extent;
        }
    }

    /// How long it takes, and what comes of it.
    fn expression(&mut self, expression: &Expression) -> (Option<u64>, Extent) {
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

    fn applied(&mut self, callee: Callable, arguments: &[Expression], outputs: usize) -> (Option<u64>, Vec<Extent>) {
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
                _ => {
                    self.calls.insert(id);
                    None
                }
            },
        };
        let Some(computation) = computation else { return (most, vec![Extent::ANY; outputs]) };
        let (inside, given) = self.computation(computation, &inputs, outputs);
        (sum(most, inside), given)
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

/// Loops so deep in each other are looked at twice.
const MOST_DEPTH: usize = 5;
