//! Making: this module makes a message from given values, in the same way as `make` of the generated classes.
//!
//! A field that holds the size of another field follows from that field, as in a message that is read and written
//! again. A field without a given value is empty, or zero. The next byte may choose between the cases of a switch; the
//! module then takes the case that has a given field. At the end, the module reads the written bytes again. The module
//! returns an error if a value is read differently.

use crate::names::value_of;
use crate::parse::Grammar;
use crate::tree::{Content, Failure, Read, Tree, Value};
use crate::write::{Tokens, unit};
use flux_ir::message::{
    Extent, Field, FieldId, Firsts, Form, Given, Item, Message, MessageId, Repeat, Switch, all_lists, unit_of,
};
use flux_ir::program::Program;
use std::collections::BTreeSet;

/// The values that make a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenMessage {
    /// The message.
    pub message: MessageId,
    /// The values in the order of [`Message::given`]; none for a field in a choice that has no given value.
    pub values: Vec<Option<GivenValue>>,
}

/// A given value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GivenValue {
    /// An integer, a text or a truth value.
    Value(Value),
    /// Another message.
    Message(GivenMessage),
    /// The elements of a list.
    List(Vec<Self>),
}

/// A message that this module has made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    /// The bytes of the message.
    pub bytes: Vec<u8>,
    /// The tree that the parser reads from the bytes.
    pub tree: Tree,
}

/// The facts about given fields that the writer of a message needs.
pub(crate) struct Making<'p> {
    /// The given fields.
    given: BTreeSet<FieldId>,
    firsts: &'p Firsts,
}

/// Makes a message. Each inner message is made first, by itself.
///
/// # Errors
///
/// The values do not make such a message.
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

/// A given value in the form of a value that was read.
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

/// The content of a field without a given value: empty, or zero.
pub(crate) fn nothing(field: &Field) -> Read {
    let zero = || Content::value(Value::Integer(0));
    read(match (&field.form, field.is_list()) {
        (_, true) => Content::List(vec![]),
        (Form::Literal(_), _) => Content::Literal,
        // The inner message has no bytes at all.
        (Form::Unit(..), _) => Content::Stream { size: 0, kept: vec![] },
        (Form::Bytes | Form::Text | Form::Token(_), _) => Content::value(Value::Bytes(vec![])),
        (Form::Variable(..) | Form::Integer(..) | Form::Digits(..) | Form::Bits(_), _) => zero(),
    })
}

/// Converts the value of a field, because formulas use the converted value.
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

/// Whether some message contains this message.
fn is_in_another(program: &Program, id: MessageId) -> bool {
    program.messages.iter().any(|(_, message)| message.fields.iter().any(|field| unit_of(field) == Some(id)))
}

impl Making<'_> {
    /// The case to take if the next byte will choose between the cases.
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

/// The first given field that is read as another value.
fn differing<'m>(message: &'m Message, making: &Making<'_>, wanted: &Tree, tree: &Tree) -> Option<&'m Field> {
    let sized: Vec<_> = message.fields.iter().filter_map(|field| size(message, field)).collect();
    let of = |tree: &Tree, id: FieldId| tree.fields.get(id.index()).cloned().flatten().map(|read| read.content);
    let differs = |id: &FieldId| {
        let is_sized = sized.iter().any(|path| *path == [*id]);
        // A field without a given value may have any value in the case that was taken.
        let is_given = making.given.contains(id);
        is_given && !is_sized && of(wanted, *id).zip(of(tree, *id)).is_none_or(|(one, other)| !is_same(&one, &other))
    };
    message.made_of().into_iter().find(differs).and_then(|id| message.field(id))
}

/// The field that gives the size of `field`, alone or plus or minus a constant.
fn size(message: &Message, field: &Field) -> Option<Vec<FieldId>> {
    let formula = match (&field.extent, &field.repeat) {
        (Some(Extent::Length(length)), _) => length,
        (_, Repeat::Times(count)) => count,
        _ => return None,
    };
    Some(message.solve(formula, 0)?.0)
}

/// Whether two fields have the same value; their positions do not matter.
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
