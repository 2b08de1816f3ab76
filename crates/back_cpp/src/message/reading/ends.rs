//! Ends of runs that are looked for beside each other. Where all bytes before a run may be in it, too, its end is
//! looked for from where they begin: nothing then waits until the runs among them have been found. The value of a field
//! of HTTP is such a run, as it may have the bytes of the field's name and the colon.

use super::super::plan::Step;
use super::{Reading, call};
use crate::tree::{Declarator, Expression as Cpp, Initial, Statement};
use flux_ir::message::{ByteSet, Field, FieldId, Form};

/// The bytes that a step may read.
enum Bytes {
    /// So many as it always has.
    Fixed(ByteSet),
    /// As many as come.
    Run(ByteSet),
    /// None.
    Nothing,
}

impl<'p> Reading<'_, 'p> {
    /// The bytes of a step, where they are a set's.
    fn bytes(&self, step: &Step<'p>) -> Option<Bytes> {
        let Step::Field(id) = step else { return None };
        let field: &Field = self.message.field(*id)?;
        match &field.form {
            _ if field.is_list() => None,
            Form::Variable(..) => Some(Bytes::Nothing),
            Form::Literal(bytes) => Some(Bytes::Fixed(bytes.iter().copied().collect())),
            Form::Token(expression) => match self.messages.token_set(self.id, field, expression) {
                Some((set, _)) => Some(Bytes::Run(set)),
                None => self.messages.one_set(expression).map(Bytes::Fixed),
            },
            _ => None,
        }
    }

    /// The first run before the step at `index` from which on all bytes are as `may_be` says.
    fn first_run(&self, steps: &[Step<'p>], index: usize, may_be: &dyn Fn(ByteSet) -> bool) -> Option<usize> {
        let mut first = None;
        for (at, step) in steps.iter().enumerate().take(index).rev() {
            match self.bytes(step) {
                Some(Bytes::Nothing) => {}
                Some(Bytes::Fixed(set)) if may_be(set) => {}
                Some(Bytes::Run(set)) if may_be(set) => first = Some(at),
                _ => break,
            }
        }
        first
    }

    /// Looks for the ends of later runs, before the step at `index`.
    pub(super) fn look_for_ends(&self, steps: &[Step<'p>], index: usize, body: &mut Vec<Statement>) {
        for (at, step) in steps.iter().enumerate().skip(index + 1) {
            let Step::Field(id) = step else { break };
            let Some((field, ends)) = self.message.field(*id).zip(self.ends_by(*id, steps.get(at + 1))) else {
                continue;
            };
            if self.first_run(steps, at, &*ends.may_be_before) == Some(index) {
                let name = self.claim(&format!("{}_end", field.name));
                let end = Declarator::new("const char *const", &name);
                body.push(Statement::Variable(end, Initial::Value(ends.found)));
                self.ends.borrow_mut().insert(*id, name);
            }
        }
    }

    /// How a run ends; none where the field is none.
    fn ends_by(&self, id: FieldId, next: Option<&Step<'p>>) -> Option<Ends> {
        let field = self.message.field(id).filter(|field| !field.is_list())?;
        let Form::Token(expression) = &field.form else { return None };
        let (set, name) = self.messages.token_set(self.id, field, expression)?;
        if self.is_known {
            let byte = self.first_byte(next).filter(|byte| !set.contains(*byte))?;
            let found = call("in.end_at", vec![Cpp::name(super::known::character(byte))]);
            return Some(Ends { may_be_before: Box::new(move |bytes| !bytes.contains(byte)), found });
        }
        let found = call("in.run_end", vec![Cpp::name(name).call(vec![])]);
        let others = set.complement();
        Some(Ends { may_be_before: Box::new(move |bytes| bytes.intersection(others).is_empty()), found })
    }

    /// The end of a run that has been looked for.
    pub(super) fn end_of(&self, id: FieldId) -> Option<Cpp> {
        self.ends.borrow().get(&id).map(Cpp::name)
    }
}

/// How a run ends.
struct Ends {
    /// Which bytes may be between where its end is looked for and where it begins.
    may_be_before: Box<dyn Fn(ByteSet) -> bool>,
    /// What finds it.
    found: Cpp,
}
