//! The values that make a message: the maker gives parameters and fields, and the other fields follow from them.

use super::{Extent, Field, FieldId, Form, Formula, Item, Message, Repeat, Root};
use crate::compute::{Expression, Operator, Term};
use std::collections::BTreeSet;

/// A value that the maker of a message gives: a parameter or a field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Given {
    /// The parameter at this index.
    Parameter(usize),
    /// A field of the message.
    Field(FieldId),
}

/// The variables of a message that tell which replies belong to which request.
const EXCHANGE: [&str; 8] =
    ["replies", "asks", "may_repeat", "may_end_messages", "is_interim", "is_mark", "ends_messages", "ends_connection"];

/// The parameter of a reply that carries the value of its request's variable `asks`.
const ASKED: &str = "asked";

impl Message {
    /// Whether the message has a variable that describes its exchange.
    pub fn says_of_exchange(&self) -> bool {
        self.fields.iter().any(|field| field.is_variable() && EXCHANGE.contains(&field.name.as_str()))
    }

    /// Whether the message depends on the variable `asks` of its request.
    pub fn is_asked(&self) -> bool {
        self.parameters.iter().any(|one| one.name == ASKED && one.ty.integer().is_some())
    }

    /// Whether the message can stand alone. The reader of such a message needs at most one value from outside its
    /// bytes: the value of its request's variable `asks`. A maker may leave this value out; the value is then 0.
    pub fn stands_alone(&self) -> bool {
        self.parameters.len() == usize::from(self.is_asked())
    }

    /// The parameters, and the fields that the maker gives, in the order of their declarations.
    pub fn given(&self) -> Vec<Given> {
        let parameters = (0..self.parameters.len()).map(Given::Parameter);
        parameters.chain(self.made_of().into_iter().map(Given::Field)).collect()
    }

    /// The fields that the maker gives, in the order of their declarations. Each has a name and a value of its own. The
    /// list has no variables, no literals and no fields that `&parse_at` reads from earlier bytes. The list also leaves
    /// out fields that always follow from others. A `&serialize` gives such a field its value, or a `&length` or a
    /// `T[n]` names the field alone, or plus or minus a constant. O(size of the message).
    pub fn made_of(&self) -> Vec<FieldId> {
        let follows = self.following();
        let fields = self.fields.iter().enumerate().map(|(index, field)| (FieldId::new(index), field));
        let is_given = |id: &FieldId, field: &Field| {
            let has_value = !matches!(field.form, Form::Literal(_) | Form::Variable(..));
            !field.name.is_empty() && has_value && field.parse_at.is_none() && !follows.contains(id)
        };
        fields.filter(|(id, field)| is_given(id, field)).map(|(id, _)| id).collect()
    }

    /// The field that makes `formula` equal to `wanted`, and the field's value, if the formula is a field plus or minus
    /// a constant. The result is none for a converted field of this message: its value on the wire does not follow from
    /// its converted value.
    pub fn solve(&self, formula: &Formula, wanted: i128) -> Option<(Vec<FieldId>, i128)> {
        let found = solve(formula, wanted)?;
        match found.0.as_slice() {
            [id] if self.field(*id).is_some_and(|field| field.convert.is_some()) => None,
            _ => Some(found),
        }
    }

    /// The fields with values that always follow from other fields.
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
