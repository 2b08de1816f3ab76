//! What messages may begin with, and which of them may be empty: what one byte of look-ahead goes by.

use super::ByteSet;
use super::{Extent, Field, Form, Item, Message, MessageId, Repeat, Token};
use crate::program::Program;

/// What something may begin with.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct First {
    /// The first bytes that it may have.
    pub bytes: ByteSet,
    /// Whether it may have none at all.
    pub can_be_empty: bool,
}

impl First {
    /// Nothing.
    const EMPTY: Self = Self { bytes: ByteSet::new(), can_be_empty: true };

    fn bytes(bytes: ByteSet) -> Self {
        Self { bytes, can_be_empty: false }
    }

    /// One or the other.
    fn or(self, other: Self) -> Self {
        Self { bytes: self.bytes.union(other.bytes), can_be_empty: self.can_be_empty || other.can_be_empty }
    }

    /// One and then the other.
    fn then(self, other: Self) -> Self {
        if !self.can_be_empty {
            return self;
        }
        Self { bytes: self.bytes.union(other.bytes), can_be_empty: other.can_be_empty }
    }
}

/// What each message of a program may begin with.
#[derive(Clone, Debug)]
pub struct Firsts(Vec<First>);

impl Firsts {
    /// Those of `program`: the least that fits, from nothing up. A round is linear in the program, and there are as
    /// many rounds as messages begin with each other.
    pub fn of(program: &Program) -> Self {
        let mut firsts = Self(vec![First::default(); program.messages.len()]);
        loop {
            let next = program.messages.iter().map(|(_, message)| firsts.items(message, &message.items)).collect();
            if firsts.0 == next {
                return firsts;
            }
            firsts.0 = next;
        }
    }

    /// What the message `id` may begin with.
    pub fn message(&self, id: MessageId) -> First {
        self.0.get(id.index()).copied().unwrap_or_default()
    }

    /// What `items` of `message` may begin with.
    pub fn items(&self, message: &Message, items: &[Item]) -> First {
        items.iter().fold(First::EMPTY, |first, item| match first.can_be_empty {
            true => first.then(self.item(message, item)),
            false => first,
        })
    }

    /// What one of them may begin with. The recursion is as deep as choices are in each other, which whoever reads them
    /// bounds.
    pub fn item(&self, message: &Message, item: &Item) -> First {
        match item {
            Item::Field(id) => message.field(*id).map_or(First::EMPTY, |field| self.field(field)),
            Item::If(_, then, otherwise) => self.items(message, then).or(self.items(message, otherwise)),
            Item::Switch(switch) => {
                let cases = switch.cases.iter().map(|case| self.items(message, &case.items));
                cases.reduce(First::or).unwrap_or(First::EMPTY)
            }
        }
    }

    /// What a field may begin with.
    pub fn field(&self, field: &Field) -> First {
        if field.parse_at.is_some() {
            return First::EMPTY;
        }
        let one = self.element(field);
        let is_some = |count: i128| count > 0;
        match (&field.repeat, &field.extent) {
            (Repeat::Once, _) => one,
            (Repeat::Times(count), _) if count.constant().is_some_and(is_some) => one,
            (Repeat::Open, Some(Extent::Until(end))) => match end.first() {
                Some(byte) => one.or(First::bytes(ByteSet::of(*byte))),
                None => one,
            },
            (Repeat::Open, Some(Extent::UntilHolds(_))) => one,
            (Repeat::Times(_) | Repeat::Open, _) => First { can_be_empty: true, ..one },
        }
    }

    /// What a field, or an element of a list, may begin with.
    pub fn element(&self, field: &Field) -> First {
        match &field.form {
            Form::Integer(..) | Form::Bits(_) => First::bytes(ByteSet::ALL),
            Form::Digits(integer, base) => First::bytes(digits(*base, integer.signed)),
            Form::Bytes | Form::Text => {
                let is_sure = match &field.extent {
                    Some(Extent::Length(length)) => length.constant().is_some_and(|length| length > 0),
                    Some(Extent::Until(_)) => true,
                    _ => false,
                };
                First { bytes: ByteSet::ALL, can_be_empty: !is_sure }
            }
            Form::Literal(bytes) => match bytes.first() {
                Some(byte) => First::bytes(ByteSet::of(*byte)),
                None => First::EMPTY,
            },
            Form::Token(expression) => {
                let (bytes, can_be_empty) = Token::beginning(expression);
                First { bytes, can_be_empty }
            }
            Form::Unit(id, _) => self.message(*id),
            Form::Variable(..) => First::EMPTY,
        }
    }
}

/// What an integer that is written as digits may begin with.
fn digits(base: u32, signed: bool) -> ByteSet {
    let is_digit = |byte: &u8| char::from(*byte).is_digit(base) || signed && matches!(byte, b'-' | b'+');
    (0..=u8::MAX).filter(is_digit).collect()
}
