//! What becomes of a cancelled flow. Wherever it is, in a node, waiting for a constraint or for its branches, it comes
//! to its end: it leaves the queue that it waits in, its branches are cancelled with it and it waits for them, and it
//! releases what it holds, one lock after the other.
//!
//! That is more than the runtime does, where a flow that waits for a constraint goes on waiting. Its error handlers are
//! left out: a flow whose node fails, and then its handlers, is among the runs without cancellation.

use crate::Cancellation;
use crate::behaviour::PointId;
use crate::state::{Move, Phase, Rules, State, Thread};
use flux_ir::flow::Exit;

impl Rules<'_> {
    /// The flows that can be cancelled: those that have begun, as long as none has been.
    pub fn cancellations(&self, state: &State) -> Vec<Move> {
        if self.bounds.cancellation == Cancellation::Never || state.cancelled.is_some() {
            return vec![];
        }
        let has_begun = |phase| {
            matches!(
                phase,
                Phase::Running(_, Thread::Executor)
                    | Phase::Waiting(_, _, Thread::Executor)
                    | Phase::Joining(_, _, Thread::Executor)
            )
        };
        let begun = state.executions.iter().filter(|one| one.parent.is_none() && has_begun(one.phase));
        begun.map(|one| Move::Cancel(one.flow)).collect()
    }

    /// Cancels a flow and its branches.
    pub fn cancel(&self, state: &mut State, flow: usize) {
        state.cancelled = Some(flow);
        let mut left = vec![];
        for at in 0..state.executions.len() {
            if state.executions[at].flow != flow {
                continue;
            }
            match state.executions[at].phase {
                Phase::Running(point, place) => self.unwind(state, at, point, place),
                Phase::Waiting(point, _, place) => {
                    let own = state.waiters.iter().position(|waiter| waiter.execution == Some(at));
                    match self.bounds.cancellation {
                        Cancellation::StaysInRow => own.into_iter().for_each(|own| state.waiters[own].execution = None),
                        _ => left.extend(own.map(|own| state.waiters.remove(own).lock)),
                    }
                    self.unwind(state, at, point, place);
                }
                Phase::Joining(..) | Phase::Unstarted(..) | Phase::Ended(_) => {}
                Phase::Coming(_) | Phase::Queued(_) | Phase::Unwinding(..) => {}
            }
        }
        // Those behind them may be let in.
        left.into_iter().for_each(|lock| self.pass_on(state, lock));
    }

    /// An execution of a cancelled flow comes to its end from this point.
    pub fn unwind(&self, state: &mut State, at: usize, point: PointId, place: Thread) {
        let holds = &self.graph.points[point as usize].holds;
        let mut held = holds.len();
        if self.bounds.cancellation == Cancellation::KeepsHolds {
            state.left_held.extend(holds);
            held = 0;
        }
        state.executions[at].phase = Phase::Unwinding(point, held, place);
    }

    /// Such an execution gives back the last of what it holds, or ends.
    pub fn unwind_further(&self, state: &mut State, at: usize) {
        let Phase::Unwinding(point, held, place) = state.executions[at].phase else { return };
        match held.checked_sub(1) {
            None => self.end(state, at, Exit::Failed),
            Some(last) => {
                let (lock, _) = self.graph.points[point as usize].holds[last];
                state.executions[at].phase = Phase::Unwinding(point, last, place);
                self.pass_on(state, lock);
            }
        }
    }
}
