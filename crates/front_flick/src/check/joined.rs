//! What `foldt` makes of elements of one key, where only one number goes from each pair to the next:
//!
//! ```text
//! ifile.Count(word, combine(e1.value, e2.value))
//! ```
//!
//! Then the numbers are joined, and one message is made of the last for each key, not one for each pair. That is the
//! same where what is made has the number in the field that it was read from, whatever the number is, and where it is
//! made, or cannot be made, by the key alone.

use super::made::{read, some};
use flux_ir::arena::Arena;
use flux_ir::compute::{
    Callable, Computation, Expression, Function, Statement, Term, VariableId, any_expression, sets,
};
use flux_ir::message::{Field, FieldId, Form, Formula, Given, Item, Message, MessageId, Repeat, Root};
use flux_ir::program::{Body, Program};
use flux_ir::types::{Type, TypeKind};
use flux_source::{Deep, deep};

/// The parts of `combine (e1, e2, key) => (result)`, each computed from the variables that are named there.
pub(super) struct Joined {
    /// The type of the number.
    pub number: Type,
    /// Of `(element)`: its number.
    pub of: Expression,
    /// Of `(one, other, key)`, two numbers: the number of both.
    pub combined: Expression,
    /// Of `(number, key)`: what is sent.
    pub made: Expression,
}

/// The inputs of `combine`.
const ONE: VariableId = VariableId(0);
const OTHER: VariableId = VariableId(1);
const KEY: VariableId = VariableId(2);

/// The parts of what is made of two elements of this type, if it is made of a number of each.
pub(super) fn of(program: &Program, element: &Type, combine: &Computation) -> Option<Joined> {
    let TypeKind::Message(message) = element.kind() else { return None };
    let [Statement::Set { value, .. }] = combine.block.as_slice() else { return None };
    let (at, field) = match &value.term {
        Term::Message(given) => {
            let at = the_one(given.iter().map(|(_, value)| value))?;
            (at, given.get(at)?.0)
        }
        Term::Apply(Callable::Node(node), arguments) => {
            let at = the_one(arguments.iter())?;
            let Body::Computed(maker) = &program.nodes[*node].body else { return None };
            (at, given_from(maker, VariableId::new(at), VariableId::new(arguments.len()), *message)?)
        }
        _ => return None,
    };
    let Given::Field(field) = field else { return None };
    let number = whole_number(&program.messages, *message, field)?;
    let (combined, made) = parts(value, at, field, &number)?;
    let of = read_field(&combine.block, field)?;
    (combined.ty == number).then_some(Joined { number, of, combined, made })
}

/// The index of the only one that names an element.
fn the_one<'a>(values: impl Iterator<Item = &'a Expression>) -> Option<usize> {
    let mut naming = values.enumerate().filter(|(_, value)| value.any(&mut |part| is_element(part)));
    let (at, _) = naming.next()?;
    naming.next().is_none().then_some(at)
}

/// What is given for a field that may not be there.
fn given_value(value: &Expression) -> &Expression {
    match &value.term {
        Term::Some(value) => value,
        _ => value,
    }
}

fn is_element(value: &Expression) -> bool {
    matches!(value.term, Term::Variable(ONE | OTHER))
}

/// The field that each message which `maker` gives has its input `number` in, which is used for nothing else.
fn given_from(maker: &Computation, number: VariableId, result: VariableId, message: MessageId) -> Option<Given> {
    let is_number = |value: &Expression| value.term == Term::Variable(number);
    let gives = |value: &Expression| is_number(given_value(value));
    let (mut uses, mut fields) = (0, vec![]);
    let (mut results, mut makers) = (0, 0);
    any_expression(&maker.block, &mut |value| {
        uses += usize::from(is_number(value));
        if let Term::Message(given) = &value.term
            && matches!(value.ty.kind(), TypeKind::Message(of) if *of == message)
        {
            makers += 1;
            fields.extend(given.iter().filter(|(_, value)| gives(value)).map(|(field, _)| *field));
        }
        false
    });
    let is_made = all_set_to_messages(&maker.block, result, &mut results);
    let first = *fields.first()?;
    let is_same = fields.iter().all(|field| *field == first);
    let is_only = uses == fields.len() && fields.len() == makers && makers == results && !sets(&maker.block, number);
    (is_made && is_same && is_only).then_some(first)
}

/// Whether `result` is only ever set to a message that is made there; counts how often.
fn all_set_to_messages(block: &[Statement], result: VariableId, count: &mut usize) -> bool {
    deep(|| {
        block.iter().all(|statement| match statement {
            Statement::Set { variable, value, .. } if *variable == result => {
                *count += 1;
                matches!(value.term, Term::Message(_))
            }
            Statement::If(_, then, otherwise) => {
                all_set_to_messages(then, result, count) && all_set_to_messages(otherwise, result, count)
            }
            Statement::Set { .. } | Statement::Fail(_) => true,
            Statement::For(..) | Statement::Take { .. } | Statement::Put { .. } => false,
        })
    })
}

/// The type of a field that may be any number of its type, and on which nothing else in the message depends.
fn whole_number(messages: &Arena<Message>, id: MessageId, of: FieldId) -> Option<Type> {
    let message = messages.find(id)?;
    let field = message.field(of)?;
    let Form::Integer(integer, _) = &field.form else { return None };
    let is_plain = matches!(field.repeat, Repeat::Once)
        && field.extent.is_none()
        && field.parse_at.is_none()
        && !field.is_stream
        && field.convert.is_none()
        && field.requires.is_empty()
        && field.updates.is_empty()
        && field.serialize.is_none();
    let names = |id: &FieldId| *id == of;
    let formulas = message.fields.iter().flat_map(Field::formulas).chain(choices(&message.items));
    let is_named = formulas
        .flat_map(|formula| &formula.names)
        .any(|name| name.root == Root::Own && name.path.first().is_none_or(names));
    let is_target = message.fields.iter().any(|field| {
        field
            .updates
            .iter()
            .map(|(target, _)| target)
            .chain(field.serialize.iter().map(|(target, _)| target))
            .any(names)
    });
    let has_all = matches!(integer.bits, 8 | 16 | 32 | 64);
    (is_plain && !is_named && !is_target && has_all).then(|| integer.ty())
}

/// What decides of the choices in a message.
fn choices(items: &[Item]) -> Vec<&Formula> {
    let inside = |item| match item {
        &Item::Field(_) => vec![],
        Item::If(condition, then, otherwise) => [vec![condition], choices(then), choices(otherwise)].concat(),
        Item::Switch(switch) => {
            let cases = switch.cases.iter().flat_map(|case| choices(&case.items));
            switch.on.iter().chain(cases).collect()
        }
    };
    items.iter().flat_map(inside).collect()
}

/// How a field of the first element is read, as one of the variable 0.
fn read_field(block: &[Statement], field: FieldId) -> Option<Expression> {
    let mut found = None;
    any_expression(block, &mut |value| {
        if found.is_none() && number_of(value, field) == Some(ONE) {
            found = Some(value.clone());
        }
        false
    });
    found
}

/// The element whose field is read.
fn number_of(value: &Expression, field: FieldId) -> Option<VariableId> {
    let read = match &value.term {
        Term::Call(Function::Value, all) => all.first()?,
        _ => value,
    };
    match &read.term {
        Term::Field(of, index) if *index == field.index() => match of.term {
            Term::Variable(element) if is_element(of) => Some(element),
            _ => None,
        },
        _ => None,
    }
}

/// What is computed of two numbers, and what is made of the last.
fn parts(value: &Expression, at: usize, field: FieldId, number: &Type) -> Option<(Expression, Expression)> {
    let combined = rewritten(given_value(value.parts().get(at)?), &|part| match part.term {
        Term::Variable(KEY) => Some(part.clone()),
        _ => number_of(part, field).filter(|_| part.ty == *number).map(|element| read(element, number, part.span)),
    })?;
    let with_key = |one: &Expression| {
        rewritten(one, &|part| match part.term {
            Term::Variable(KEY) => Some(read(VariableId(1), &part.ty, part.span)),
            _ => None,
        })
    };
    let each = |(index, one): (usize, &Expression)| match index == at {
        true => {
            let number = read(VariableId(0), number, one.span);
            Some(if matches!(one.term, Term::Some(_)) { some(number) } else { number })
        }
        false => with_key(one),
    };
    let all: Vec<Expression> = value.parts().into_iter().enumerate().map(each).collect::<Option<_>>()?;
    let term = match &value.term {
        Term::Message(given) => Term::Message(given.iter().map(|(given, _)| *given).zip(all).collect()),
        Term::Apply(callable, _) => Term::Apply(*callable, all),
        _ => return None,
    };
    Some((combined, Expression { term, ty: value.ty.clone(), span: value.span }))
}

/// The same with other expressions in the places of those for which `other` has one; none where a variable is left, or
/// something that cannot be written anew here.
fn rewritten(value: &Expression, other: &dyn Fn(&Expression) -> Option<Expression>) -> Option<Expression> {
    deep(|| {
        if let Some(other) = other(value) {
            return Some(other);
        }
        let one = |part: &Expression| rewritten(part, other).map(Deep::new);
        let all = |parts: &[Expression]| parts.iter().map(|part| rewritten(part, other)).collect::<Option<Vec<_>>>();
        let term = match &value.term {
            Term::Integer(_) | Term::Truth(_) | Term::Text(_) | Term::Enumerator(_) | Term::Code(_) | Term::None => {
                value.term.clone()
            }
            Term::Field(of, index) => Term::Field(one(of)?, *index),
            Term::Some(of) => Term::Some(one(of)?),
            Term::Not(of) => Term::Not(one(of)?),
            Term::Negate(of) => Term::Negate(one(of)?),
            Term::Convert(of) => Term::Convert(one(of)?),
            Term::Binary(operator, two) => Term::Binary(*operator, Deep::new(all(&**two)?.try_into().ok()?)),
            Term::Choose(three) => Term::Choose(Deep::new(all(&**three)?.try_into().ok()?)),
            Term::Call(function, parts) => Term::Call(*function, all(parts)?),
            Term::Apply(callable, parts) => Term::Apply(*callable, all(parts)?),
            _ => return None,
        };
        Some(Expression { term, ty: value.ty.clone(), span: value.span })
    })
}
