//! What must hold of both models after every pass.
//!
//! If a pass breaks the model, it is found here, before a back end turns the mistake into a server. The checks share
//! nothing with the passes: they compute what a pass computes in another way, or they check its consequences. A
//! violation is always a defect of the compiler, never of the program that is compiled.

mod bindings;
mod compute;
mod constraints;
mod externals;
mod flow;
mod message;
mod names;
mod paths;
mod program;
mod sessions;
mod types;

use crate::flow::Flow;
use crate::program::Program;
use flux_source::Span;
use std::fmt;

/// How far the passes have come, and so how much must hold. Each stage of a program includes those before it, and a
/// flow is well-formed at each of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage {
    /// A program whose names are ids.
    Resolved,
    /// All signatures are known, and what is applied, tested and held fits them; no node reaches itself.
    Typed,
    /// Every input and every output of a flow names its value, one that is there and of its type.
    Bound,
    /// A flow: calls, dispatch, acquisitions and failures are explicit and fit.
    Lowered,
    /// Besides, its paths have numbers.
    Numbered,
    /// Besides, in every context acquisitions are in the one order, and what nodes require is held: no flows can
    /// deadlock. What is held for a session is held where there is one.
    Ordered,
    /// Both, so that back ends can read it.
    Finished,
}

/// Something that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// What, as a sentence without a full stop.
    pub message: String,
    /// Where in the source; the default span where no place is concerned.
    pub span: Span,
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.message)
    }
}

/// What does not hold of `program` and must at `stage`. O(size of the program).
pub fn program(program: &Program, stage: Stage) -> Vec<Violation> {
    let mut violations = Violations::default();
    program::check_resolved(program, &mut violations);
    if violations.is_empty() {
        externals::check(program, &mut violations);
    }
    if violations.is_empty() {
        compute::check(program, &mut violations);
        message::check(program, &mut violations);
    }
    // Once an id leads nowhere, what it leads to cannot be judged.
    if violations.is_empty() && stage >= Stage::Typed {
        program::check_typed(program, &mut violations);
        externals::check_typed(program, &mut violations);
    }
    if violations.is_empty() && stage >= Stage::Bound {
        externals::check_promises(program, &mut violations);
        externals::check_stacks(program, &mut violations);
        bindings::check(program, &mut violations);
    }
    violations.found
}

/// What does not hold of `flow` and must at `stage`. Of its program only what it still refers to is looked at: nothing
/// reads chains any more, so they need not be bound. O(size of the flow · log).
pub fn flow(flow: &Flow, stage: Stage) -> Vec<Violation> {
    let mut violations = Violations { found: program(&flow.program, Stage::Typed) };
    if violations.is_empty() {
        flow::check(flow, &mut violations);
    }
    if violations.is_empty() && matches!(stage, Stage::Numbered | Stage::Finished) {
        paths::check(flow, &mut violations);
    }
    if violations.is_empty() && matches!(stage, Stage::Ordered | Stage::Finished) {
        constraints::check(flow, &mut violations);
        sessions::check(flow, &mut violations);
    }
    violations.found
}

/// The violations found so far.
#[derive(Default)]
struct Violations {
    found: Vec<Violation>,
}

impl Violations {
    fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Adds a violation.
    fn add(&mut self, span: Span, message: String) {
        self.found.push(Violation { message, span });
    }

    /// Adds a violation unless `holds`.
    fn require(&mut self, holds: bool, span: Span, message: impl FnOnce() -> String) {
        if !holds {
            self.add(span, message());
        }
    }
}
