//! Which messages have streams, and which fields are known when one that has some is given to a flow: those that stand
//! before the first byte that goes along. And which messages lead back to bytes that have gone by.

use super::{Field, FieldId, Item, Message, MessageId, unit_of};
use crate::arena::Arena;
use flux_source::deep;
use std::collections::HashSet;

/// Whether a message, or one in it, has a `&stream`. O(size of the messages in it).
pub fn has_streams(messages: &Arena<Message>, id: MessageId) -> bool {
    within(messages, id).iter().any(|message| message.fields.iter().any(|field| field.is_stream))
}

/// Whether a message, or one in it, has a `&parse_at`, and so leads back to bytes before it. O(size of the messages in
/// it).
pub fn looks_back(messages: &Arena<Message>, id: MessageId) -> bool {
    within(messages, id).iter().any(|message| message.fields.iter().any(|field| field.parse_at.is_some()))
}

/// Whether the field `wanted` of `message` has its value before the first byte of a stream comes: it is no stream, no
/// list with streams in it, and comes after none. O(size of the messages in it).
pub fn is_before_streams(messages: &Arena<Message>, message: &Message, wanted: FieldId) -> bool {
    Walk { messages, message, wanted }.items(&message.items, &mut false).unwrap_or(false)
}

/// A message and those in it.
fn within(messages: &Arena<Message>, id: MessageId) -> Vec<&Message> {
    let (mut open, mut seen, mut found) = (vec![id], HashSet::new(), vec![]);
    while let Some(id) = open.pop() {
        if seen.insert(id)
            && let Some(message) = messages.find(id)
        {
            found.push(message);
            open.extend(message.fields.iter().filter_map(unit_of));
        }
    }
    found
}

struct Walk<'a> {
    messages: &'a Arena<Message>,
    message: &'a Message,
    wanted: FieldId,
}

impl Walk<'_> {
    /// Whether the wanted field is known, where it is among these; `is_behind` says whether a stream has come before.
    fn items(&self, items: &[Item], is_behind: &mut bool) -> Option<bool> {
        deep(|| {
            for item in items {
                let ways: Vec<&[Item]> = match item {
                    Item::Field(id) => {
                        let field = self.message.field(*id)?;
                        if *id == self.wanted {
                            return Some(!*is_behind && self.is_known(field));
                        }
                        *is_behind |= self.streams(field);
                        continue;
                    }
                    Item::If(_, then, otherwise) => vec![then.as_slice(), otherwise],
                    Item::Switch(switch) => switch.cases.iter().map(|case| case.items.as_slice()).collect(),
                };
                let before = *is_behind;
                for way in ways {
                    let mut behind = before;
                    if let Some(found) = self.items(way, &mut behind) {
                        return Some(found);
                    }
                    *is_behind |= behind;
                }
            }
            None
        })
    }

    fn streams(&self, field: &Field) -> bool {
        field.is_stream || unit_of(field).is_some_and(|unit| has_streams(self.messages, unit))
    }

    /// Whether it is known where nothing before it streams. The places of a message that may be in itself are found by
    /// reading all of it again.
    fn is_known(&self, field: &Field) -> bool {
        let is_again = |unit| within(self.messages, unit).iter().any(|inner| inner.name == self.message.name);
        !self.streams(field) || !field.is_stream && !field.is_list() && !unit_of(field).is_some_and(is_again)
    }
}
