//! The passes of the compiler, in the order in which they run.
//!
//! An analysis computes and changes nothing, a check reports, a rewrite changes. Each is one file, those of passes
//! named verb first. A pass says which facts it requires and which it establishes; [`PROGRAM_PASSES`] and
//! [`FLOW_PASSES`] are the order. The driver runs no pass of which a requirement does not hold, and verifies the model
//! after each rewrite.

pub mod analyses;
pub mod checks;
pub mod ids;
pub mod rewrites;

use flux_diagnostic::Diagnostics;
use flux_ir::flow::Flow;
use flux_ir::program::Program;
use flux_ir::verify::Stage;
use std::collections::BTreeSet;

/// What is known of a program, or of its flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fact {
    /// Names are ids. The front establishes it.
    Resolved,
    /// Messages can be read from their first byte to their last, within bounds.
    MessagesRead,
    /// One byte decides every choice in a message, and none begins with itself.
    MessagesChoose,
    /// No node reaches itself, by its flow or by what handles its errors.
    Acyclic,
    /// No name is a slip of the pen.
    Spelled,
    /// No step lacks a constant, where that is plain.
    ConstantsThere,
    /// Every signature is known.
    Typed,
    /// Constants are for inputs that there are, and of their kind.
    ConstantsFit,
    /// Keys are of types that can be keys.
    KeysFit,
    /// Sources take nothing but constants, targets of heartbeats nothing.
    SourcesFit,
    /// What is replicable does not block.
    ReplicableRuns,
    /// What is promised of functions is not contradicted.
    PromisesFit,
    /// Lines of a dispatch have as many patterns as there are inputs.
    DispatchFits,
    /// Every input of a step, and every output of a flow, names its value.
    EdgesBound,
    /// One handler is asked first for each failure.
    HandlersDecided,
    /// Every handler that is a node says what it takes of each node whose place it takes.
    HandlersBound,
    /// What is held for a session is held where there is one.
    SessionsKnown,
    /// Calls, dispatch, acquisitions and failures are explicit.
    Lowered,
    /// Acquisitions are in the one order, whatever the context.
    Ordered,
    /// Paths have numbers.
    Numbered,
}

/// What a pass does.
pub enum Work<T: 'static> {
    /// It reports, and changes nothing.
    Check(fn(&T, &mut Diagnostics)),
    /// It changes the model, or reports why it cannot.
    Rewrite(fn(&mut T, &mut Diagnostics)),
}

/// A pass over a program, or over a flow.
pub struct Pass<T: 'static> {
    /// Its name: the stem of its file.
    pub name: &'static str,
    /// What it does.
    pub work: Work<T>,
    /// What must hold before it runs.
    pub requires: &'static [Fact],
    /// What holds afterwards, where it has reported no error.
    pub establishes: &'static [Fact],
}

impl<T> Pass<T> {
    /// Does its work on `model`.
    pub fn run(&self, model: &mut T, diagnostics: &mut Diagnostics) {
        match self.work {
            Work::Check(check) => check(model, diagnostics),
            Work::Rewrite(rewrite) => rewrite(model, diagnostics),
        }
    }

    /// Whether it changes the model.
    pub fn is_rewrite(&self) -> bool {
        matches!(self.work, Work::Rewrite(_))
    }
}

const fn check<T>(
    name: &'static str,
    check: fn(&T, &mut Diagnostics),
    requires: &'static [Fact],
    establishes: &'static [Fact],
) -> Pass<T> {
    Pass { name, work: Work::Check(check), requires, establishes }
}

const fn rewrite<T>(
    name: &'static str,
    rewrite: fn(&mut T, &mut Diagnostics),
    requires: &'static [Fact],
    establishes: &'static [Fact],
) -> Pass<T> {
    Pass { name, work: Work::Rewrite(rewrite), requires, establishes }
}

use Fact::*;

/// The passes over a program. What they establish together, [`LOWERING`] requires.
pub const PROGRAM_PASSES: [Pass<Program>; 19] = [
    check("check_messages", checks::check_messages::check_messages, &[Resolved], &[MessagesRead]),
    check("check_message_shapes", checks::check_message_shapes::check_message_shapes, &[Resolved], &[MessagesChoose]),
    check("check_cycles", checks::check_cycles::check_cycles, &[Resolved], &[Acyclic]),
    check("check_slips", checks::check_slips::check_slips, &[Resolved, Acyclic], &[Spelled]),
    check(
        "check_missing_constants",
        checks::check_missing_constants::check_missing_constants,
        &[Resolved, Acyclic],
        &[ConstantsThere],
    ),
    rewrite(
        "infer_signatures",
        rewrites::infer_signatures::infer_signatures,
        &[Acyclic, Spelled, ConstantsThere],
        &[Typed],
    ),
    check("check_constants", checks::check_constants::check_constants, &[Typed], &[ConstantsFit]),
    check("check_options", checks::check_options::check_options, &[Typed], &[]),
    check("check_keys", checks::check_keys::check_keys, &[Typed], &[KeysFit]),
    check("check_sources", checks::check_sources::check_sources, &[Typed], &[SourcesFit]),
    check("check_replicable", checks::check_replicable::check_replicable, &[Acyclic, Typed], &[ReplicableRuns]),
    check("check_blocking", checks::check_blocking::check_blocking, &[Typed], &[]),
    check("check_effects", checks::check_effects::check_effects, &[Resolved], &[PromisesFit]),
    rewrite("bind_edges", rewrites::bind_edges::bind_edges, &[Typed], &[EdgesBound]),
    check("check_dispatch", checks::check_dispatch::check_dispatch, &[Typed], &[DispatchFits]),
    check("check_handlers", checks::check_handlers::check_handlers, &[Acyclic, Typed], &[HandlersDecided]),
    rewrite("bind_handlers", rewrites::bind_handlers::bind_handlers, &[Acyclic, Typed, EdgesBound], &[HandlersBound]),
    check("check_sessions", checks::check_sessions::check_sessions, &[Acyclic, Typed], &[SessionsKnown]),
    // A misspelt name leaves the right one without a use: only what is otherwise right is looked at.
    check("check_uses", checks::check_uses::check_uses, LOWERING, &[]),
];

/// What a program must be for [`rewrites::lower_program::lower_program`], which establishes [`Fact::Lowered`].
pub const LOWERING: &[Fact] = &[
    Resolved,
    MessagesRead,
    MessagesChoose,
    Acyclic,
    Spelled,
    Typed,
    ConstantsFit,
    KeysFit,
    SourcesFit,
    ReplicableRuns,
    PromisesFit,
    DispatchFits,
    EdgesBound,
    HandlersDecided,
    HandlersBound,
    SessionsKnown,
];

/// The passes over a flow, after it has been lowered.
pub const FLOW_PASSES: [Pass<Flow>; 2] = [
    rewrite("order_constraints", rewrites::order_constraints::order_constraints, &[Lowered], &[Ordered]),
    rewrite("number_paths", rewrites::number_paths::number_paths, &[Lowered, Ordered], &[Numbered]),
];

/// How much of a model with these facts can be verified.
pub fn stage(facts: &BTreeSet<Fact>) -> Stage {
    let have = |all: &[Fact]| all.iter().all(|one| facts.contains(one));
    match () {
        () if have(&[Ordered, Numbered]) => Stage::Finished,
        () if have(&[Ordered]) => Stage::Ordered,
        () if have(&[Lowered]) => Stage::Lowered,
        () if have(LOWERING) => Stage::Bound,
        () if have(&[Acyclic, Typed, ConstantsFit, SourcesFit, DispatchFits]) => Stage::Typed,
        () => Stage::Resolved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pass comes after those that establish what it requires; nothing is established twice.
    #[test]
    fn what_a_pass_requires_is_established_before_it() {
        let mut facts = BTreeSet::from([Resolved]);
        let mut run = |name: &str, requires: &[Fact], establishes: &[Fact]| {
            for fact in requires {
                assert!(facts.contains(fact), "{name} requires {fact:?}, and nothing before it establishes that");
            }
            for fact in establishes {
                assert!(facts.insert(*fact), "{name} establishes {fact:?} again");
            }
        };
        PROGRAM_PASSES.iter().for_each(|pass| run(pass.name, pass.requires, pass.establishes));
        run("lower_program", LOWERING, &[Lowered]);
        FLOW_PASSES.iter().for_each(|pass| run(pass.name, pass.requires, pass.establishes));
        assert_eq!(stage(&facts), Stage::Finished);
    }
}
