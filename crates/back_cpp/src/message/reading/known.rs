//! The function that finds the fields of a message again which has been read before: of an element of a list, while
//! somebody goes through it. Nothing is asked of its bytes, and a token ends at the byte that follows it.

use super::super::Messages;
use super::super::formula::quoted;
use super::super::plan::{Step, Store};
use super::{NO_VALUE, Own, Reading, call};
use crate::tree::{Declarator, Expression as Cpp, Initial, Statement};
use flux_contract::message as runtime;
use flux_ir::message::{Extent, Field, FieldId, Form, MessageId};
use std::cell::Cell;

impl<'m, 'p> Reading<'m, 'p> {
    /// What the function does; none where reading the message again is as fast.
    pub(in super::super) fn finding(messages: &'m Messages<'p>, id: MessageId) -> Option<Vec<Statement>> {
        let known = Reading { is_known: true, ..Self::new(messages, id) };
        let cursor = Declarator::new(runtime::KNOWN_CURSOR, "in");
        let mut body =
            vec![Statement::Variable(cursor, Initial::Arguments(vec![Cpp::name("bytes"), Cpp::name("begin")]))];
        let is_faster = Cell::new(false);
        known.find_steps(&known.plan.steps, &is_faster, &mut body)?;
        if known.uses_fits.get() {
            // It was found to fit when the message was read.
            let fits = Declarator::new("bool", "fits");
            body.insert(0, Statement::Variable(fits, Initial::Value(Cpp::name("true"))));
        }
        body.push(Statement::Return(call("in.position", vec![])));
        (is_faster.get() && !messages.needs_origin(id)).then_some(body)
    }

    fn find_steps(&self, steps: &[Step<'p>], is_faster: &Cell<bool>, body: &mut Vec<Statement>) -> Option<()> {
        for (index, step) in steps.iter().enumerate() {
            self.look_for_ends(steps, index, body);
            match step {
                Step::Field(id) => {
                    let field = self.message.field(*id)?;
                    self.find(*id, field, steps.get(index + 1), is_faster, body)?;
                }
                Step::If(condition, then, otherwise, choice) => {
                    let holds = self.formula(condition, &NO_VALUE, "", body);
                    let way = |number: usize, steps: &[Step<'p>]| {
                        let taken = Cpp::name(format!("at.{choice}"));
                        let mut inner = vec![Statement::Assign(taken, Cpp::name(number))];
                        self.scoped(|| self.find_steps(steps, is_faster, &mut inner))?;
                        Some(inner)
                    };
                    let otherwise = if otherwise.is_empty() { vec![] } else { way(2, otherwise)? };
                    body.push(Statement::If(holds.cpp, way(1, then)?, otherwise));
                }
                Step::Run(..) | Step::Switch(..) => return None,
            }
        }
        Some(())
    }

    fn find(
        &self,
        id: FieldId,
        field: &'p Field,
        next: Option<&Step<'p>>,
        is_faster: &Cell<bool>,
        body: &mut Vec<Statement>,
    ) -> Option<()> {
        if field.is_list() || field.is_stream || field.parse_at.is_some() {
            return None;
        }
        if let Form::Variable(_, formula) = &field.form {
            self.variable(id, field, formula, body);
            return Some(());
        }
        let part = match self.plan.stores.get(id.index()) {
            Some(Store::Part(member)) => Cpp::name(format!("at.{member}")),
            _ => Cpp::name(""),
        };
        let found = match (&field.form, &field.extent) {
            (Form::Literal(bytes), _) => call("in.skip", vec![Cpp::name(bytes.len())]),
            (Form::Token(expression), _) => {
                let (set, name) = self.messages.token_set(self.id, field, expression)?;
                match self.first_byte(next).filter(|byte| !set.contains(*byte)) {
                    Some(byte) => {
                        is_faster.set(true);
                        let end = self.end_of(id);
                        let end = end.unwrap_or_else(|| call("in.end_at", vec![Cpp::name(character(byte))]));
                        call("in.until", vec![part, end])
                    }
                    None => call("in.run", vec![part, Cpp::name(name).call(vec![])]),
                }
            }
            (Form::Bytes | Form::Text, Some(Extent::Length(length))) => {
                let size = self.number(length, &field.name, body);
                call("in.text", vec![part, size])
            }
            _ => return None,
        };
        body.push(Statement::Run(found));
        let raw = self.messages.raw(self.id, id, &Self::from());
        let own = Own { value: raw.as_ref(), unit: None };
        self.finish(id, field, &own, &|what: &str| self.wrong(&field.name, what), body);
        Some(())
    }

    /// The byte that a step begins with, where that is always the same.
    pub(super) fn first_byte(&self, step: Option<&Step<'p>>) -> Option<u8> {
        let Some(Step::Field(id)) = step else { return None };
        match &self.message.field(*id)?.form {
            Form::Literal(bytes) => bytes.first().copied(),
            _ => None,
        }
    }
}

/// A byte as a character of C++.
pub(super) fn character(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        _ => format!("'{}'", quoted(&[byte]).trim_matches('"')),
    }
}
