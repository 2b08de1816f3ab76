//! Messages that are not read again once they are written: those of which reading could only say what has been
//! written, so that the places of their fields are noted meanwhile.
//!
//! Such a message has no lists, streams or tokens, nothing in it is converted or changes, and it looks no further than
//! its own fields. That it is read as it was meant follows from what the writer asks while it writes, of the values
//! where the reader will ask the same of the bytes:
//!
//! - A literal is what is read there, and an integer or the digits of one are read as the value that fits (digits end
//!   before a literal that does not begin with a digit).
//! - A text or a message of which a field says the size is so long. Where that field is given this size alone, that
//!   need not be asked.
//! - A message in it is one of which nothing is asked, and that always has as many bytes.
//! - A text up to some bytes does not have these earlier, and none is longer than it may be.
//! - What is required of a field holds, and a variable is what it was taken for, and is changed by integers alone.
//! - Of a choice the way is written that the reader will take, and nothing is given for the others.
//! - The message has no more bytes than it may have, and has some.

use super::formula::Said;
use super::plan::{Plan, Step, Store, are_redone, only_size};
use super::writing::{Writing, infix, known_of, require, run};
use super::{Messages, accessor};
use crate::tree::{Expression as Cpp, Statement};
use flux_ir::compute::Term;
use flux_ir::message::{Extent, Field, FieldId, Form, Formula, Label, Message, MessageId, Root, Switch, has_streams};
use flux_ir::program::Program;
use flux_source::Deep;

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
        let is_alone = message.parameters.is_empty() && !has_streams(&self.program.messages, id);
        let straight = Straight { program: self.program, id, message, plan: self.plan(id) };
        let has_bytes = straight.plan.steps.iter().any(|step| match step {
            Step::Run(..) => true,
            Step::Field(id) => {
                message.field(*id).is_some_and(|field| matches!(field.form, Form::Literal(_) | Form::Digits(..)))
            }
            Step::If(..) | Step::Switch(..) => false,
        });
        is_alone && has_bytes && straight.are_steps(&straight.plan.steps)
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

/// Whether the formula asks for nothing but the message's own fields, or the value that it is about.
fn is_of_fields(formula: &Formula) -> bool {
    let is_own = |root, path: &[FieldId]| matches!((root, path), (Root::Own, [_]) | (Root::Value, []));
    formula.names.iter().all(|name| is_own(name.root, &name.path))
}

/// Whether it is one value, which is on the wire as it is given.
pub(super) fn is_written_once(field: &Field) -> bool {
    is_one(field) && field.updates.is_empty()
}

fn is_one(field: &Field) -> bool {
    !field.is_list() && !field.is_stream && field.parse_at.is_none() && field.convert.is_none()
}

/// A message of which it is asked whether it is straight.
struct Straight<'m, 'p> {
    program: &'p Program,
    id: MessageId,
    message: &'p Message,
    plan: &'m Plan<'p>,
}

impl<'p> Straight<'_, 'p> {
    fn are_steps(&self, steps: &[Step<'p>]) -> bool {
        (0..steps.len()).all(|at| self.is_step(steps, at))
    }

    fn is_step(&self, steps: &[Step<'p>], at: usize) -> bool {
        let field = |id: FieldId| {
            let is_clear = |field: &&Field| {
                is_one(field) && self.are_updates_clear(field) && field.requires.iter().all(is_of_fields)
            };
            self.message.field(id).filter(is_clear)
        };
        match steps.get(at) {
            Some(Step::Run(placed, ..)) => {
                let is_integer = |field: &Field| matches!(field.form, Form::Integer(..)) && field.extent.is_none();
                placed.iter().all(|one| field(one.field).is_some_and(is_integer))
            }
            Some(Step::Field(id)) => field(*id).is_some_and(|field| match (&field.form, &field.extent) {
                (Form::Literal(bytes), None) => !bytes.is_empty(),
                (Form::Digits(..), None) => self.is_value(*id) && ends_digits(self.message, steps.get(at + 1)),
                (Form::Bytes | Form::Text, Some(extent)) => self.is_part(*id) && self.is_text(*id, extent),
                (Form::Unit(unit, _), Some(Extent::Length(length))) => {
                    self.has_places(*id) && only_size(&self.program.messages[*unit]).is_some() && is_of_fields(length)
                }
                (Form::Variable(ty, formula), None) => {
                    self.is_value(*id) && ty.integer().is_some() && is_of_fields(formula)
                }
                _ => false,
            }),
            Some(Step::If(condition, then, otherwise, choice)) => {
                is_of_fields(condition) && self.are_ways(choice, [then, otherwise])
            }
            Some(Step::Switch(switch, ways, choice)) => is_by_integer(switch) && self.are_ways(choice, ways),
            None => false,
        }
    }

    /// Whether what it changes is changed as it is written, and nothing else says what that is.
    fn are_updates_clear(&self, field: &Field) -> bool {
        let is_noted = |id: FieldId| self.message.field(id).is_some_and(|target| target.serialize.is_none());
        let is_clear = |id: FieldId, formula| self.is_value(id) && is_noted(id) && is_of_fields(formula);
        are_redone(self.message, field) && field.updates.iter().all(|(target, formula)| is_clear(*target, formula))
    }

    fn are_ways<'s>(&self, choice: &str, ways: impl IntoIterator<Item = &'s Vec<Step<'p>>>) -> bool
    where
        'p: 's,
    {
        ways.into_iter().enumerate().all(|(index, steps)| {
            self.plan.begun_by(choice, index + 1, self.program, self.id).is_empty() && self.are_steps(steps)
        })
    }

    fn store(&self, id: FieldId) -> Option<&Store> {
        self.plan.stores.get(id.index())
    }

    fn is_value(&self, id: FieldId) -> bool {
        matches!(self.store(id), Some(Store::Value(_)))
    }

    fn is_part(&self, id: FieldId) -> bool {
        matches!(self.store(id), Some(Store::Part(_)))
    }

    fn has_places(&self, id: FieldId) -> bool {
        matches!(self.store(id), Some(Store::Places(..)))
    }

    fn is_text(&self, id: FieldId, extent: &Extent) -> bool {
        let is_given = self.message.made_of().contains(&id);
        match extent {
            Extent::Length(length) => is_given && is_of_fields(length),
            Extent::Until(end) => is_given && !end.is_empty(),
            Extent::UntilHolds(_) | Extent::EndOfData => false,
        }
    }
}

/// Whether an integer that has been read says which way is taken.
fn is_by_integer(switch: &Switch) -> bool {
    let is_integer = |label: &Label| matches!(label, Label::Integer(_));
    switch.on.as_ref().is_some_and(is_of_fields) && switch.cases.iter().all(|case| case.labels.iter().all(is_integer))
}

/// Whether digits end before what is next: digits of any base do.
fn ends_digits(message: &Message, next: Option<&Step<'_>>) -> bool {
    let Some(Step::Field(id)) = next else { return false };
    match message.field(*id).map(|field| &field.form) {
        Some(Form::Literal(bytes)) => bytes.first().is_some_and(|byte| !byte.is_ascii_alphanumeric()),
        _ => false,
    }
}

/// Whether a field that says how long a text is has that from this text alone, which is always there.
fn is_size_of(message: &Message, id: FieldId, length: &Formula) -> bool {
    let size_of = |field: &Field| match &field.extent {
        Some(Extent::Length(length)) => named(length),
        _ => None,
    };
    let Some(size) = named(length) else { return false };
    let is_number = |field: &Field| match field.form {
        Form::Integer(..) | Form::Digits(..) => true,
        Form::Variable(..) => field.serialize.is_some(), // which asks for it, so it is set
        _ => false,
    };
    let is_set_by = |field: &Field| field.serialize.as_ref().is_some_and(|(target, _)| *target == size);
    let is_counted = |field: &Field| {
        field.extent.iter().any(|extent| match extent {
            Extent::Length(length) => length.names.iter().any(|name| name.path.first() == Some(&size)),
            _ => false,
        })
    };
    message.field(size).is_some_and(is_number)
        && message.fields.iter().filter(|field| size_of(field) == Some(size)).count() == 1
        && message.fields.iter().filter(|field| is_counted(field)).count() == 1
        && !message.fields.iter().any(is_set_by)
        && message.made_of().contains(&id)
}

/// Of a message that is not read again.
impl Writing<'_, '_> {
    /// That this way of a choice is taken, where the reader keeps it.
    pub(super) fn taken(&self, choice: &str, way: usize) -> Option<Statement> {
        self.is_straight.then(|| Statement::Assign(Cpp::name(format!("at.{choice}")), Cpp::name(way)))
    }

    /// What is given for a way of a choice is there only where that is taken.
    pub(super) fn absent_where_not_taken(&self) -> Vec<Statement> {
        let fields = self.message.made_of().into_iter().filter_map(|id| {
            let (field, taken) = (self.message.field(id)?, self.plan.taken.get(id.index())?.as_ref()?);
            let given = Cpp::name(format!("of.{}", accessor(self.message, &field.name)));
            let is_taken = infix(Cpp::name(format!("at.{}", taken.choice)), "==", Cpp::name(taken.way));
            Some(require(infix(Cpp::Prefix("!", Deep::new(given)), "||", is_taken)))
        });
        fields.collect()
    }

    /// What the reader will ask of a field: how long it is, and what is required of it.
    pub(super) fn asked_of(&self, id: FieldId, field: &Field, own: &Said) -> Vec<Statement> {
        let mut asked = vec![];
        if let Some(Extent::Length(length)) = &field.extent
            && (self.is_optional(id) || !is_size_of(self.message, id, length))
        {
            let size = |wanted: Cpp| Cpp::name("std::cmp_equal").call(vec![wanted, self.size(id, field)]);
            asked.push(require(size(self.formula(length, None).cpp)));
            if let Form::Unit(unit, _) = &field.form {
                let always = only_size(&self.messages.program.messages[*unit]);
                asked.extend(always.map(|always| require(size(Cpp::name(always)))));
            }
        }
        asked.extend(field.requires.iter().map(|formula| require(self.formula(formula, Some(own)).cpp)));
        asked
    }

    /// What a field makes of variables.
    pub(super) fn note_updates(&self, field: &Field, own: &Said, body: &mut Vec<Statement>) {
        for (target, formula) in &field.updates {
            let Some(place) = self.kept(*target) else { continue };
            body.push(run("out.variable", vec![self.formula(formula, Some(own)).cpp, place]));
        }
    }

    /// A variable: what the reader will find. Where others follow from it, that is what they followed from.
    pub(super) fn note_variable(&self, id: FieldId, field: &Field, formula: &Formula, body: &mut Vec<Statement>) {
        let value = self.formula(formula, None);
        let Some(place) = self.kept(id) else { return };
        body.push(run("out.variable", vec![value.cpp, place.clone()]));
        let said = Said { cpp: place.clone(), known: known_of(field) };
        body.extend(self.asked_of(id, field, &said));
        let settled = self.locals.borrow().get(&id).cloned();
        match settled {
            Some(settled) => body.push(require(Cpp::name("std::cmp_equal").call(vec![place, settled.cpp]))),
            None => drop(self.locals.borrow_mut().insert(id, said)),
        }
    }
}
