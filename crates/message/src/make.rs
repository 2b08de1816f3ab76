//! Making: a message of the values that somebody gives, as `make` of the generated classes does it.
//!
//! What says how large something is follows from it, as where a message is written that was read. What nobody gives is
//! empty, or zero; of cases between which the next byte chooses, that is taken of which something is given. At last
//! what was written is read again: values that are read as others make no message.

use crate::names::value_of;
use crate::parse::Grammar;
use crate::tree::{Content, Failure, Read, Tree, Value};
use crate::write::{Tokens, unit};
use flux_ir::message::{
    Extent, Field, FieldId, Firsts, Form, Given, Item, Message, MessageId, Repeat, Switch, all_lists, unit_of,
};
use flux_ir::program::Program;
use std::collections::BTreeSet;

/// The values of which a message is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenMessage {
    /// Which it is.
    pub message: MessageId,
    /// In the order of [`Message::given`]; none where a field in a choice is not given.
    pub values: Vec<Option<GivenValue>>,
}

/// One of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GivenValue {
    /// An integer, a text, a truth value.
    Value(Value),
    /// Another message.
    Message(GivenMessage),
    /// The elements of a list.
    List(Vec<Self>),
}

/// A message that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What is read of them.
    pub tree: Tree,
}

/// What nobody has given of a message while it is written.
pub(crate) struct Making<'p> {
    /// The fields that were given.
    given: BTreeSet<FieldId>,
    firsts: &'p Firsts,
}

/// Makes a message; messages in it are made first, each by itself.
///
/// # Errors
///
/// Values that are no such message.
pub fn make(grammar: &Grammar<'_>, given: &GivenMessage) -> Result<Made, Failure> {
    let program = grammar.program();
    let message = &program.messages[given.message];
    made(grammar, message, given).map_err(|failure| failure.within(&message.name.to_string()))
}

fn made(grammar: &Grammar<'_>, message: &Message, given: &GivenMessage) -> Result<Made, Failure> {
    let program = grammar.program();
    let (mut parameters, mut fields) = (vec![], vec![None; message.fields.len()]);
    let mut making = Making { given: BTreeSet::new(), firsts: grammar.firsts() };
    for (what, value) in message.given().into_iter().zip(&given.values) {
        match (what, value) {
            (Given::Parameter(_), Some(GivenValue::Value(value))) => parameters.push(value.clone()),
            (Given::Parameter(_), None) if message.stands_alone() => parameters.push(Value::Integer(0)),
            (Given::Parameter(_), _) => return Err(Failure::new(0, "a parameter is not given")),
            (Given::Field(_), None) => {}
            (Given::Field(id), Some(value)) => {
                making.given.insert(id);
                if let Some(slot) = fields.get_mut(id.index()) {
                    *slot = Some(read(content(grammar, value)?));
                }
            }
        }
    }
    for item in &message.items {
        if let Item::Field(id) = item
            && let (Some(slot), Some(field)) = (fields.get_mut(id.index()), message.field(*id))
        {
            slot.get_or_insert_with(|| nothing(field));
        }
    }
    let mut tree =
        Tree { message: given.message, start: 0, end: 0, parameters: parameters.clone(), fields, choices: vec![] };
    for (index, field) in message.fields.iter().enumerate() {
        convert(&mut tree, FieldId::new(index), field);
    }
    let wanted = tree.clone();
    let bytes = unit(program, &Tokens::default(), &mut tree, Some(&making))?;
    if bytes.is_empty() && parameters.is_empty() && !is_in_another(program, given.message) {
        return Err(Failure::new(0, "the message has no bytes"));
    }
    let tree = grammar.read_all(given.message, parameters, &bytes)?;
    match differing(message, &making, &wanted, &tree) {
        None => Ok(Made { bytes, tree }),
        Some(field) => Err(Failure::new(0, "it would be read as another value").within(&field.name)),
    }
}

/// A given value as one that was read.
fn content(grammar: &Grammar<'_>, value: &GivenValue) -> Result<Content, Failure> {
    Ok(match value {
        GivenValue::Value(value) => Content::value(value.clone()),
        GivenValue::Message(given) => Content::Unit(Box::new(make(grammar, given)?.tree)),
        GivenValue::List(all) => {
            let all = all.iter().map(|one| content(grammar, one).map(read));
            Content::List(all.collect::<Result<_, _>>()?)
        }
    })
}

fn read(content: Content) -> Read {
    Read { start: 0, end: 0, content }
}

/// A field that nobody gives: it is empty, or zero.
pub(crate) fn nothing(field: &Field) -> Read {
    let zero = || Content::value(Value::Integer(0));
    read(match (&field.form, field.is_list()) {
        (_, true) => Content::List(vec![]),
        (Form::Literal(_), _) => Content::Literal,
        // No bytes at all.
        (Form::Unit(..), _) => Content::Stream { size: 0, kept: vec![] },
        (Form::Bytes | Form::Text | Form::Token(_), _) => Content::value(Value::Bytes(vec![])),
        (Form::Variable(..) | Form::Integer(..) | Form::Digits(..) | Form::Bits(_), _) => zero(),
    })
}

/// Formulas see the value of a field as it is converted.
fn convert(tree: &mut Tree, id: FieldId, field: &Field) {
    let Some(formula) = &field.convert else { return };
    let Some(own) = tree.fields.get(id.index()).and_then(Option::as_ref).map(|read| read.content.clone()) else {
        return;
    };
    let value = value_of(formula, tree, Some(&own)).ok();
    if let Some(Some(Read { content: Content::Value { converted, .. }, .. })) = tree.fields.get_mut(id.index()) {
        *converted = value;
    }
}

/// Whether some message contains it.
fn is_in_another(program: &Program, id: MessageId) -> bool {
    program.messages.iter().any(|(_, message)| message.fields.iter().any(|field| unit_of(field) == Some(id)))
}

impl Making<'_> {
    /// The case that is taken of those between which the next byte will choose.
    pub(crate) fn choose(&self, message: &Message, switch: &Switch) -> Option<usize> {
        let made_of = message.made_of();
        let has_any = |items: &[Item], is: &dyn Fn(&FieldId) -> bool| {
            let lists = all_lists(items);
            lists.into_iter().flatten().any(|item| matches!(item, Item::Field(id) if is(id)))
        };
        let cases = || switch.cases.iter().enumerate();
        let given = cases().find(|(_, case)| !case.is_default && has_any(&case.items, &|id| self.given.contains(id)));
        let default = || cases().find(|(_, case)| case.is_default);
        let can_be_empty = |items: &[Item]| self.firsts.items(message, items).can_be_empty;
        let mut of_nothing: Vec<_> =
            cases().filter(|(_, case)| !has_any(&case.items, &|id| made_of.contains(id))).collect();
        of_nothing.sort_by_key(|(_, case)| !can_be_empty(&case.items));
        given.or_else(default).or_else(|| of_nothing.first().copied()).map(|(index, _)| index)
    }
}

/// The first field that was given and is read as something else.
fn differing<'m>(message: &'m Message, making: &Making<'_>, wanted: &Tree, tree: &Tree) -> Option<&'m Field> {
    let sized: Vec<_> = message.fields.iter().filter_map(|field| size(message, field)).collect();
    let of = |tree: &Tree, id: FieldId| tree.fields.get(id.index()).cloned().flatten().map(|read| read.content);
    let differs = |id: &FieldId| {
        let is_sized = sized.iter().any(|path| *path == [*id]);
        // Of a choice that was taken, what is not given may be anything.
        let is_given = making.given.contains(id);
        is_given && !is_sized && of(wanted, *id).zip(of(tree, *id)).is_none_or(|(one, other)| !is_same(&one, &other))
    };
    message.made_of().into_iter().find(differs).and_then(|id| message.field(id))
}

/// What a field's size asks alone, or plus or minus a constant.
fn size(message: &Message, field: &Field) -> Option<Vec<FieldId>> {
    let formula = match (&field.extent, &field.repeat) {
        (Some(Extent::Length(length)), _) => length,
        (_, Repeat::Times(count)) => count,
        _ => return None,
    };
    Some(message.solve(formula, 0)?.0)
}

/// Whether two fields have the same value, wherever they stand.
fn is_same(one: &Content, other: &Content) -> bool {
    match (one, other) {
        (Content::Value { read: one, .. }, Content::Value { read: other, .. }) => one == other,
        (Content::Value { read: Value::Bytes(one), .. }, Content::Stream { kept, .. }) => one == kept,
        (Content::Unit(one), Content::Unit(other)) => is_same_tree(one, other),
        (Content::List(one), Content::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(&one.content, &other.content))
        }
        (one, other) => one == other,
    }
}

fn is_same_tree(one: &Tree, other: &Tree) -> bool {
    let is_same_field = |(one, other): (&Option<Read>, &Option<Read>)| match (one, other) {
        (Some(one), Some(other)) => is_same(&one.content, &other.content),
        (one, other) => one.is_none() && other.is_none(),
    };
    one.parameters == other.parameters
        && one.choices == other.choices
        && one.fields.iter().zip(&other.fields).all(is_same_field)
}
