//! The types that fields of messages have in programs: what a body reads, and what it gives to make one.
//!
//! In formulas integers have 64 bits; here they have what they have on the wire, up to a size that machines know. What
//! is in a choice may not be there.

use super::{Field, FieldId, Form, Given, Item, Message, MessageId, is_before_streams};
use crate::arena::Arena;
use crate::types::{Integer, Type, TypeKind};

/// The type of the field `id` of `message`, an optional one where it is in a choice; none where nobody can ask for it:
/// it has no name, is a literal, is not known before streams come, or there is none. O(size of the messages in it).
pub fn field_type(messages: &Arena<Message>, message: &Message, id: FieldId) -> Option<Type> {
    let field = message.field(id).filter(|field| !field.name.is_empty() && is_before_streams(messages, message, id))?;
    match &field.convert {
        Some(convert) => Some(where_it_is(message, id, convert.value.ty.clone())),
        None => made_type(messages, message, id),
    }
}

/// The same of a field that is given to make one: of a stream, too, all is given, and what is converted when it is read
/// is given as it is written.
fn made_type(messages: &Arena<Message>, message: &Message, id: FieldId) -> Option<Type> {
    Some(where_it_is(message, id, once_type(messages, message.field(id)?)?))
}

/// The type of a field that may be in a choice.
fn where_it_is(message: &Message, id: FieldId, ty: Type) -> Type {
    let is_always = message.items.iter().any(|item| matches!(item, Item::Field(field) if *field == id));
    if is_always { ty } else { Type::of_kind(TypeKind::Optional(ty)) }
}

/// The type of what somebody gives who makes `message`; none where there is nothing of this kind.
pub fn given_type(messages: &Arena<Message>, message: &Message, given: Given) -> Option<Type> {
    match given {
        Given::Parameter(index) => message.parameters.get(index).map(|parameter| parameter.ty.clone()),
        Given::Field(id) => made_type(messages, message, id),
    }
}

/// The type of a field as it is on the wire, where it is there.
fn once_type(messages: &Arena<Message>, field: &Field) -> Option<Type> {
    if field.name.is_empty() {
        return None;
    }
    let ty = match &field.form {
        Form::Integer(integer, _) | Form::Digits(integer, _) => sized(*integer),
        Form::Bits(bits) => sized(Integer { signed: false, bits: *bits }),
        Form::Bytes => Type::of_kind(TypeKind::Bytes),
        Form::Text | Form::Token(_) => Type::of_kind(TypeKind::Text),
        Form::Unit(id, _) => message_type(messages, *id)?,
        Form::Variable(ty, _) => ty.clone(),
        Form::Literal(_) => return None,
    };
    Some(if field.is_list() { Type::of_kind(TypeKind::List(ty)) } else { ty })
}

/// The type of the values of a message.
pub fn message_type(messages: &Arena<Message>, id: MessageId) -> Option<Type> {
    Some(Type::of_message(id, &messages.find(id)?.name))
}

/// The smallest integers of a machine that have so many bits.
fn sized(Integer { signed, bits }: Integer) -> Type {
    Integer { signed, bits: bits.next_power_of_two().max(8) }.ty()
}
