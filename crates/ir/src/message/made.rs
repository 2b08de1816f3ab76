//! What a message is made of: the parameters and fields that whoever makes one gives, and the fields that follow from
//! them.

use super::{Extent, Field, FieldId, Form, Formula, Item, Message, Repeat, Root};
use crate::compute::{Expression, Operator, Term};
use std::collections::BTreeSet;

/// What whoever makes a message gives a value: its parameters, and fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Given {
    /// The parameter at this index.
    Parameter(usize),
    /// This field.
    Field(FieldId),
}

/// The variables by which messages say which replies belong to which request.
const EXCHANGE: [&str; 8] =
    ["replies", "asks", "may_repeat", "may_end_messages", "is_interim", "is_mark", "ends_messages", "ends_connection"];

/// The parameter by which a reply learns what its request `asks` for.
const ASKED: &str = "asked";

impl Message {
    /// Whether it has a variable that says something of the exchange that it is in.
    pub fn says_of_exchange(&self) -> bool {
        self.fields.iter().any(|field| field.is_variable() && EXCHANGE.contains(&field.name.as_str()))
    }

    /// Whether it depends on what its request asks for.
    pub fn is_asked(&self) -> bool {
        self.parameters.iter().any(|one| one.name == ASKED && one.ty.integer().is_some())
    }

    /// Whether it can stand by itself: what it does not find in its bytes is at most what its request asks for. Whoever
    /// makes one may leave that out; then it is 0.
    pub fn stands_alone(&self) -> bool {
        self.parameters.len() == usize::from(self.is_asked())
    }

    /// Its parameters, and the fields of which one is made, in the order of their declarations.
    pub fn given(&self) -> Vec<Given> {
        let parameters = (0..self.parameters.len()).map(Given::Parameter);
        parameters.chain(self.made_of().into_iter().map(Given::Field)).collect()
    }

    /// The fields of which one is made, in the order of their declarations: those with a name and a value of their own.
    /// A variable, a literal and what `&parse_at` looks back at are none; nor is what always follows from
    /// others: what a `&serialize` gives a value, and what a `&length` or a `T[n]` names alone, or plus or minus a
    /// constant. O(size of the message).
    pub fn made_of(&self) -> Vec<FieldId> {
        let follows = self.following();
        let fields = self.fields.iter().enumerate().map(|(index, field)| (FieldId::new(index), field));
        let is_given = |id: &FieldId, field: &Field| {
            let has_value = !matches!(field.form, Form::Literal(_) | Form::Variable(..));
            !field.name.is_empty() && has_value && field.parse_at.is_none() && !follows.contains(id)
        };
        fields.filter(|(id, field)| is_given(id, field)).map(|(id, _)| id).collect()
    }

    /// The field that makes `formula` be `wanted`, and its value, if the formula is a field plus or minus a constant.
    /// None of this message that is converted: of what it becomes does not follow what it is on the wire.
    pub fn solve(&self, formula: &Formula, wanted: i128) -> Option<(Vec<FieldId>, i128)> {
        let found = solve(formula, wanted)?;
        match found.0.as_slice() {
            [id] if self.field(*id).is_some_and(|field| field.convert.is_some()) => None,
            _ => Some(found),
        }
    }

    /// The fields whose values always follow from others.
    fn following(&self) -> BTreeSet<FieldId> {
        let always = self.items.iter().filter_map(|item| match item {
            Item::Field(id) => self.field(*id),
            Item::If(..) | Item::Switch(_) => None,
        });
        let mut found = BTreeSet::new();
        for field in always.filter(|field| field.parse_at.is_none()) {
            found.extend(field.serialize.iter().map(|(target, _)| *target));
            let size = match (&field.extent, &field.repeat) {
                (Some(Extent::Length(length)), _) => Some(length),
                (_, Repeat::Times(count)) => Some(count),
                _ => None,
            };
            if let Some((path, _)) = size.and_then(|size| self.solve(size, 0))
                && let [target] = path.as_slice()
            {
                found.insert(*target);
            }
        }
        found
    }
}

fn solve(formula: &Formula, wanted: i128) -> Option<(Vec<FieldId>, i128)> {
    let (mut at, mut wanted) = (&formula.value, wanted);
    loop {
        match &at.term {
            Term::Convert(inner) => at = inner,
            Term::Variable(id) => {
                let name = formula.names.get(id.index()).filter(|name| name.root == Root::Own)?;
                return Some((name.path.clone(), wanted));
            }
            Term::Binary(Operator::Add, two) => {
                let [left, right] = &**two;
                let (inner, other) = match constant(right) {
                    Some(other) => (left, other),
                    None => (right, constant(left)?),
                };
                (at, wanted) = (inner, wanted.checked_sub(other)?);
            }
            Term::Binary(Operator::Subtract, two) => {
                let [left, right] = &**two;
                (at, wanted) = (left, wanted.checked_add(constant(right)?)?);
            }
            _ => return None,
        }
    }
}

fn constant(expression: &Expression) -> Option<i128> {
    match expression.term {
        Term::Integer(value) => Some(value),
        _ => None,
    }
}
