//! Tells what happened, line by line, by going the same way again.

use crate::Trace;
use crate::behaviour::{Action, LockId, Use};
use crate::build::Built;
use crate::state::{Move, Phase, Rules, State};
use flux_ir::program::Mode;

/// What happens on `path`, and where everything is at its end.
pub fn trace(built: &Built, rules: &Rules, initial: State, path: &[Move]) -> Trace {
    let teller = Teller { built, rules };
    let mut lines = vec![];
    let mut state = initial;
    for step in path {
        lines.push(teller.happens(&state, *step));
        state = rules.after(&state, *step);
    }
    for at in 0..state.executions.len() {
        lines.extend(teller.stands(&state, at));
    }
    if let Some((one, used, other, too)) = rules.lost_exclusion(&state) {
        let [one, other] = [one, other].map(|at| teller.name(&state, at));
        let [used, too] = [used, too].map(|used| teller.uses(used));
        lines.push(format!("{one} is inside {used} while {other} is inside {too}"));
    }
    lines.extend(state.left_held.iter().map(|(lock, _)| format!("{} is left held", teller.lock(*lock))));
    if let Some(at) = state.starved_writer() {
        lines.push(format!("{} was passed more than once", teller.name(&state, at)));
    }
    Trace(lines)
}

struct Teller<'a> {
    built: &'a Built<'a>,
    rules: &'a Rules<'a>,
}

impl Teller<'_> {
    fn happens(&self, state: &State, step: Move) -> String {
        match step {
            Move::Take(at, edge) => {
                let does = self.action(state, at, edge).map(|action| self.does(action)).unwrap_or_default();
                format!("{} {does}", self.name(state, at))
            }
            Move::Wait(at, edge) => format!("{} {}", self.name(state, at), self.waits(state, at, edge)),
            Move::Wake(lock) => format!("whoever is first to wait for {} gets it", self.lock(lock)),
            Move::Start(at) => format!("{} starts", self.name(state, at)),
            Move::Help(at) => format!("{} is started by its parent", self.name(state, at)),
            Move::Cancel(flow) => format!("flow {} is cancelled", flow + 1),
            Move::Unwind(at) => match state.executions[at].phase {
                Phase::Unwinding(point, held, _) if held > 0 => {
                    let (lock, _) = self.rules.graph.points[point as usize].holds[held - 1];
                    format!("{} gives {} back", self.name(state, at), self.lock(lock))
                }
                _ => format!("{} ends", self.name(state, at)),
            },
        }
    }

    /// What holds up an execution at the end.
    fn stands(&self, state: &State, at: usize) -> Option<String> {
        let what = match state.executions[at].phase {
            Phase::Waiting(_, edge, _) => self.waits(state, at, edge),
            Phase::Joining(..) => "waits for its branches".to_owned(),
            Phase::Queued(_) | Phase::Unstarted(..) => "has not started".to_owned(),
            Phase::Running(..) => "runs".to_owned(),
            Phase::Unwinding(..) => "is on its way to its end".to_owned(),
            Phase::Coming(_) | Phase::Ended(_) => return None,
        };
        Some(format!("= {} {what}", self.name(state, at)))
    }

    fn action(&self, state: &State, at: usize, edge: usize) -> Option<&Action> {
        let (Phase::Running(point, _) | Phase::Waiting(point, ..) | Phase::Joining(point, ..)) =
            state.executions[at].phase
        else {
            return None;
        };
        let edge = self.rules.graph.points[point as usize].edges.get(edge)?;
        Some(&edge.action)
    }

    fn does(&self, action: &Action) -> String {
        match action {
            Action::Acquire(lock, mode) => format!("takes {}{}", self.lock(*lock), as_what(*mode)),
            Action::Release(lock, _) => format!("gives {} back", self.lock(*lock)),
            Action::Fork(starts, _) => format!("forks into {} branches", starts.len()),
            Action::Enqueue => "is queued".to_owned(),
            Action::Exit(exit) => format!("ends: {exit:?}"),
        }
    }

    fn waits(&self, state: &State, at: usize, edge: usize) -> String {
        match self.action(state, at, edge) {
            Some(Action::Acquire(lock, mode)) => format!("waits for {}{}", self.lock(*lock), as_what(*mode)),
            _ => "waits".to_owned(),
        }
    }

    fn uses(&self, used: Use) -> String {
        let node = &self.built.flow.program.nodes[used.node].name;
        format!("`{node}`, which needs {}{}", self.lock(used.lock), as_what(used.mode))
    }

    /// `flow 1`, `flow 1, branch 2, branch 1`
    fn name(&self, state: &State, at: usize) -> String {
        let execution = &state.executions[at];
        match execution.parent {
            None => format!("flow {}", execution.flow + 1),
            Some((parent, branch)) => format!("{}, branch {}", self.name(state, parent), branch + 1),
        }
    }

    /// `account(1)`
    fn lock(&self, lock: LockId) -> String {
        let lock = &self.rules.graph.locks[usize::from(lock)];
        let name = &self.built.flow.program.constraints[lock.constraint].name;
        let values: Vec<String> = lock.values.iter().map(u8::to_string).collect();
        if values.is_empty() { format!("`{name}`") } else { format!("`{name}({})`", values.join(", ")) }
    }
}

fn as_what(mode: Mode) -> &'static str {
    match mode {
        Mode::Read => " as a reader",
        Mode::Intent => " for rows of it",
        Mode::Write => " as a writer",
    }
}
