//! Messages that are not read again once they are written: those of which reading could only say what has been
//! written, so that the places of their fields are noted meanwhile.
//!
//! Such a message is a row of literals, integers, digits and texts, without choices, and nothing is asked or computed
//! of a field. That it is read as it was meant follows from what the writer asks while it writes:
//!
//! - A literal is what is read there, and an integer or the digits of one are read as the value that fits (digits end
//!   before a literal that does not begin with a digit).
//! - A text of which a field says the size is so long: the field is given that size alone, and it fits.
//! - A text up to some bytes does not have these earlier, and none is longer than it may be.
//! - The message has no more bytes than it may have, and has some.

use super::Messages;
use super::plan::{Plan, Step, Store, is_plain};
use flux_ir::compute::Term;
use flux_ir::message::{Extent, Field, FieldId, Form, Formula, Message, MessageId, Root, has_streams};

/// So many digits has the longest integer, with its sign: to the base 10, and to the base 16.
const DECIMAL_DIGITS: u64 = 20;
const HEXADECIMAL_DIGITS: u64 = 17;

/// The field whose value alone is a length.
fn named(length: &Formula) -> Option<FieldId> {
    let mut at = &length.value;
    // That of any size fits in 64 bits.
    while let Term::Convert(inner) = &at.term {
        at = at.ty.integer().filter(|integer| integer.bits == 64).map(|_| &**inner)?;
    }
    let Term::Variable(id) = &at.term else { return None };
    let name = length.names.get(id.index())?;
    match (name.root, name.path.as_slice()) {
        (Root::Own, [field]) => Some(*field),
        _ => None,
    }
}

impl Messages<'_> {
    /// Whether a message is one that is not read again.
    pub(super) fn is_straight(&self, id: MessageId) -> bool {
        let message: &Message = &self.program.messages[id];
        let plan = self.plan(id);
        let is_alone = message.parameters.is_empty() && !has_streams(&self.program.messages, id);
        let has_bytes = message.fields.iter().any(|field| !matches!(field.form, Form::Bytes | Form::Text));
        is_alone && has_bytes && (0..plan.steps.len()).all(|at| is_straight_step(message, plan, at))
    }

    /// How many bytes a message has at most beside its texts and lists.
    pub(super) fn bytes_beside_texts(&self, id: MessageId) -> u64 {
        let message: &Message = &self.program.messages[id];
        let size = |field: &Field| match (&field.form, &field.extent) {
            (Form::Literal(bytes), _) => bytes.len() as u64,
            (Form::Integer(integer, _), _) => u64::from(integer.bits / 8),
            (Form::Digits(_, base), _) if *base == 10 => DECIMAL_DIGITS,
            (Form::Digits(..), _) => HEXADECIMAL_DIGITS,
            (_, Some(Extent::Until(end))) => end.len() as u64,
            _ => 0,
        };
        message.fields.iter().map(size).sum()
    }
}

fn is_straight_step(message: &Message, plan: &Plan<'_>, at: usize) -> bool {
    let field = |id: FieldId| message.field(id).filter(|field| is_written_once(field));
    match plan.steps.get(at) {
        Some(Step::Run(placed, ..)) => {
            let is_integer = |field: &Field| matches!(field.form, Form::Integer(..)) && field.extent.is_none();
            placed.iter().all(|one| field(one.field).is_some_and(is_integer))
        }
        Some(Step::Field(id)) => field(*id).is_some_and(|field| match (&field.form, &field.extent) {
            (Form::Literal(bytes), None) => !bytes.is_empty(),
            (Form::Digits(..), None) => is_value(plan, *id) && ends_digits(message, plan.steps.get(at + 1)),
            (Form::Bytes | Form::Text, Some(extent)) => is_part(plan, *id) && is_straight_text(message, *id, extent),
            _ => false,
        }),
        Some(Step::If(..) | Step::Switch(..)) | None => false,
    }
}

/// Whether it is one value, which is on the wire as it is given.
pub(super) fn is_written_once(field: &Field) -> bool {
    !field.is_list() && !field.is_stream && field.parse_at.is_none() && field.serialize.is_none() && is_plain(field)
}

fn is_value(plan: &Plan<'_>, id: FieldId) -> bool {
    matches!(plan.stores.get(id.index()), Some(Store::Value(_)))
}

fn is_part(plan: &Plan<'_>, id: FieldId) -> bool {
    matches!(plan.stores.get(id.index()), Some(Store::Part(_)))
}

/// Whether digits end before what is next: digits of any base do.
fn ends_digits(message: &Message, next: Option<&Step<'_>>) -> bool {
    let Some(Step::Field(id)) = next else { return false };
    match message.field(*id).map(|field| &field.form) {
        Some(Form::Literal(bytes)) => bytes.first().is_some_and(|byte| !byte.is_ascii_alphanumeric()),
        _ => false,
    }
}

fn is_straight_text(message: &Message, id: FieldId, extent: &Extent) -> bool {
    let is_given = message.made_of().contains(&id);
    match extent {
        Extent::Length(length) => {
            let size_of = |field: &Field| match &field.extent {
                Some(Extent::Length(length)) => named(length),
                _ => None,
            };
            let Some(size) = named(length) else { return false };
            let is_number =
                message.field(size).is_some_and(|field| matches!(field.form, Form::Integer(..) | Form::Digits(..)));
            is_given && is_number && message.fields.iter().filter(|field| size_of(field) == Some(size)).count() == 1
        }
        Extent::Until(end) => is_given && !end.is_empty(),
        Extent::UntilHolds(_) | Extent::EndOfData => false,
    }
}
