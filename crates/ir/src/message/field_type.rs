//! The types that fields of messages have in programs: what a body reads, and what it gives to make one.
//!
//! In formulas integers have 64 bits; here they have what they have on the wire, up to a size that machines know. What
//! is in a choice may not be there.

use super::{Field, FieldId, Form, Item, Message, MessageId};
use crate::arena::Arena;
use crate::types::{Integer, Type, TypeKind};

/// The type of the field `id` of `message`, an optional one where it is in a choice; none where nobody can ask for it:
/// it has no name, is a literal, or a stream, or there is none. O(1) but for the items of `message`.
pub fn field_type(messages: &Arena<Message>, message: &Message, id: FieldId) -> Option<Type> {
    let ty = given_type(messages, message.field(id)?)?;
    let is_always = message.items.iter().any(|item| matches!(item, Item::Field(field) if *field == id));
    Some(if is_always { ty } else { Type::of_kind(TypeKind::Optional(ty)) })
}

/// The type of a field where it is there.
fn given_type(messages: &Arena<Message>, field: &Field) -> Option<Type> {
    if field.name.is_empty() || field.is_stream {
        return None;
    }
    if let Some(convert) = &field.convert {
        return Some(convert.value.ty.clone());
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
