//! Variables that are computed when somebody asks for them, and not while their message is read: its reading does not
//! need them, and nothing about them can be wrong.

use super::plan::{is_changing, is_plain, is_updated};
use flux_ir::compute::{Expression, Operator, Term};
use flux_ir::message::{Field, FieldId, Form, Formula, Item, Message, MessageId, Root, Switch, all_lists, unit_of};
use flux_ir::program::Program;
use std::collections::{HashMap, HashSet};

/// Fields, each with its message.
pub(super) type Fields = HashSet<(MessageId, FieldId)>;

/// Those variables of all messages.
pub(super) fn derived(program: &Program) -> Fields {
    let fields = |id: MessageId| program.messages[id].fields.iter().enumerate();
    let of = |id: MessageId| fields(id).map(move |(index, field)| (id, FieldId::new(index), field));
    let may_be = |(id, at, field): &(MessageId, FieldId, &Field)| is_pure(&program.messages[*id], *at, field);
    let mut derived: Fields = program.messages.ids().flat_map(of).filter(may_be).map(|(id, at, _)| (id, at)).collect();
    // What is left out is computed while a message is read, and what that names with it.
    loop {
        let uses = uses(program, &derived);
        let before = derived.len();
        derived.retain(|one| uses.get(one).is_none_or(|uses| uses.is_rare()));
        if derived.len() == before {
            return derived;
        }
    }
}

/// How often what reads or makes messages names a field.
#[derive(Default)]
struct Uses {
    by_own: usize,
    by_others: usize,
}

impl Uses {
    /// Whether to compute it there costs no more: others may be read without it.
    fn is_rare(&self) -> bool {
        self.by_own == 0 && self.by_others <= 1
    }
}

/// Whether a variable is the same whenever it is computed, and always can be.
fn is_pure(message: &Message, at: FieldId, field: &Field) -> bool {
    let Form::Variable(_, formula) = &field.form else { return false };
    is_plain(field)
        && field.serialize.is_none()
        && !matches!(formula.value.term, Term::Integer(_) | Term::Truth(_))
        && !is_updated(message, at)
        && !is_changing(message, formula)
        && !formula.value.any(&mut |expression| may_fail(expression))
}

/// Whether the term itself may have no value. What is known of ranges is left alone.
fn may_fail(expression: &Expression) -> bool {
    match &expression.term {
        Term::Integer(_) | Term::Truth(_) | Term::Text(_) | Term::Variable(_) | Term::Not(_) | Term::Choose(_) => false,
        Term::Binary(operator, _) => !operator.is_comparison() && !matches!(operator, Operator::And | Operator::Or),
        Term::Convert(inner) => match (inner.ty.integer(), expression.ty.integer()) {
            (Some(from), Some(to)) => !to.includes(from),
            _ => true,
        },
        // Those that messages may call have a value of all texts.
        Term::Call(..) => false,
        _ => true,
    }
}

/// The fields that are named by whatever is computed while messages are read or made.
fn uses(program: &Program, derived: &Fields) -> HashMap<(MessageId, FieldId), Uses> {
    let mut found = HashMap::new();
    for (id, message) in program.messages.iter() {
        for (index, field) in message.fields.iter().enumerate() {
            if !derived.contains(&(id, FieldId::new(index))) {
                field
                    .formulas()
                    .into_iter()
                    .for_each(|formula| add_uses(program, id, Some(field), formula, &mut found));
            }
        }
        conditions(message).for_each(|formula| add_uses(program, id, None, formula, &mut found));
    }
    found
}

/// What decides the choices of a message.
pub(super) fn conditions(message: &Message) -> impl Iterator<Item = &Formula> {
    all_lists(&message.items).into_iter().flatten().filter_map(|item| match item {
        Item::If(condition, ..) => Some(condition),
        Item::Switch(Switch { on, .. }) => on.as_ref(),
        Item::Field(_) => None,
    })
}

/// Adds every field on the paths that a formula names, of a field of this message.
fn add_uses(
    program: &Program,
    id: MessageId,
    of: Option<&Field>,
    formula: &Formula,
    found: &mut HashMap<(MessageId, FieldId), Uses>,
) {
    for reference in &formula.names {
        let mut at = match reference.root {
            Root::Own => Some(id),
            Root::Value => of.and_then(unit_of),
            Root::Parameter(_) => None,
        };
        for step in &reference.path {
            let Some(message) = at else { break };
            let uses: &mut Uses = found.entry((message, *step)).or_default();
            *(if message == id { &mut uses.by_own } else { &mut uses.by_others }) += 1;
            at = program.messages[message].field(*step).and_then(unit_of);
        }
    }
}
