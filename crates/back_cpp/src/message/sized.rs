//! Messages whose parts all have sizes that are known before them: fixed ones, or those that integers say, as most
//! binary formats have it. Nothing is looked for in them, and whoever reads one sets all of its places, which therefore
//! need no values before (`flux::sized_cursor`).

use super::Messages;
use super::plan::{Plan, Step, are_redone, is_changed, is_changing, only_size};
use crate::tree::{Expression as Cpp, Statement};
use flux_ir::message::{Extent, Field, FieldId, Form, Message, MessageId, has_streams};

/// So many ways has a choice whose member is one byte.
const MOST_WAYS_OF_A_BYTE: usize = 255;

impl Messages<'_> {
    /// Whether a message is one of these.
    pub(super) fn is_sized(&self, id: MessageId) -> bool {
        let message: &Message = &self.program.messages[id];
        let is_alone = message.parameters.is_empty() && !self.has_origins();
        is_alone
            && !has_streams(&self.program.messages, id)
            && self.are_sized(message, self.plan(id), &self.plan(id).steps)
    }

    fn are_sized(&self, message: &Message, plan: &Plan<'_>, steps: &[Step<'_>]) -> bool {
        let field = |id: FieldId| message.field(id);
        steps.iter().all(|step| match step {
            Step::Run(placed, ..) => {
                placed.iter().all(|one| field(one.field).is_some_and(|one| are_redone(message, one)))
            }
            Step::Field(id) => field(*id).is_some_and(|field| self.is_sized_field(message, plan, *id, field)),
            Step::If(condition, then, otherwise, _) => {
                let ways = [then, otherwise];
                !is_changing(message, condition) && ways.iter().all(|steps| self.are_sized(message, plan, steps))
            }
            Step::Switch(switch, ways, _) => {
                let is_by_value = switch.on.as_ref().is_some_and(|on| !is_changing(message, on));
                is_by_value && ways.iter().all(|steps| self.are_sized(message, plan, steps))
            }
        })
    }

    fn is_sized_field(&self, message: &Message, plan: &Plan<'_>, id: FieldId, field: &Field) -> bool {
        let is_one = !field.is_list() && !field.is_stream && field.parse_at.is_none();
        let is_one = is_one && are_redone(message, field);
        let is_said = |length| !is_changing(message, length);
        is_one
            && match (&field.form, &field.extent) {
                (Form::Variable(_, formula), _) => {
                    is_said(formula) && !is_changed(message, id) && plan.begins_with(message, id).is_none()
                }
                (Form::Bytes | Form::Text, Some(Extent::Length(length))) => is_said(length),
                (Form::Unit(unit, given), Some(Extent::Length(length))) => {
                    let unit: &Message = &self.program.messages[*unit];
                    let is_plain = given.is_empty() && field.max_depth.is_none();
                    is_plain && is_said(length) && only_size(unit).is_some()
                }
                _ => false,
            }
    }
}

/// What says that no way was taken of the choices among these steps.
pub(super) fn none_taken(steps: &[Step<'_>]) -> Vec<Statement> {
    let none = |choice: &str| Statement::Assign(Cpp::name(format!("at.{choice}")), Cpp::name(0));
    let inner = |ways: &[Vec<Step<'_>>]| ways.iter().flat_map(|way| none_taken(way)).collect::<Vec<_>>();
    let of = |step: &Step<'_>| match step {
        Step::If(_, then, otherwise, choice) => [vec![none(choice)], none_taken(then), none_taken(otherwise)].concat(),
        Step::Switch(_, ways, choice) => [vec![none(choice)], inner(ways)].concat(),
        Step::Run(..) | Step::Field(_) => vec![],
    };
    steps.iter().flat_map(of).collect()
}

/// The type of the member that says which way of a choice was taken.
pub(super) fn choice_type(steps: &[Step<'_>], choice: &str) -> &'static str {
    match ways_of(steps, choice) {
        Some(ways) if ways > MOST_WAYS_OF_A_BYTE => "std::uint16_t",
        _ => "std::uint8_t",
    }
}

/// How many ways a choice has.
fn ways_of(steps: &[Step<'_>], wanted: &str) -> Option<usize> {
    steps.iter().find_map(|step| match step {
        Step::If(.., choice) if choice == wanted => Some(2),
        Step::If(_, then, otherwise, _) => ways_of(then, wanted).or_else(|| ways_of(otherwise, wanted)),
        Step::Switch(_, ways, choice) if choice == wanted => Some(ways.len()),
        Step::Switch(_, ways, _) => ways.iter().find_map(|way| ways_of(way, wanted)),
        Step::Run(..) | Step::Field(_) => None,
    })
}
