//! What runs: a flow, or a branch of one that has a thread of its own, and how far it has come.

use crate::observe::Reason;
use crate::script::{Action, Actions};

/// Where an execution runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// On the thread of its source.
    Source,
    /// On a thread or a loop of the strategy.
    Thread(usize),
}

/// A flow, or a branch of one that runs beside it.
#[derive(Debug)]
pub struct Execution {
    pub source: usize,
    /// When its flow came.
    pub arrived: f64,
    pub frames: Vec<Frame>,
    pub place: Place,
    /// Whether it has left its loop for a thread beside it.
    pub is_beside: bool,
    /// What the flow does after its source has made it; none of a branch.
    pub then: Option<Actions>,
    pub is_branch: bool,
    /// Whether it has done all, and its thread ends.
    pub is_over: bool,
    /// How many locks it has.
    pub holds: usize,
    /// Whether its loop counts it among those that have something to do.
    pub is_counted: bool,
    /// Since when it waits, or has the loop.
    pub since: f64,
    /// What for.
    pub reason: Reason,
}

impl Execution {
    /// One that does these from now on, for this source; a flow comes now.
    pub fn new(source: usize, now: f64, place: Place, actions: Actions) -> Self {
        Self {
            source,
            arrived: now,
            frames: vec![Frame { actions, at: 0, branch: None }],
            place,
            is_beside: false,
            then: None,
            is_branch: false,
            is_over: false,
            holds: 0,
            is_counted: false,
            since: now,
            reason: Reason::Threads,
        }
    }

    /// It does these before it goes on.
    pub fn do_first(&mut self, actions: Actions) {
        self.frames.push(Frame { actions, at: 0, branch: None });
    }

    /// It waits from now on, or has its loop, for this.
    pub fn wait_for(&mut self, reason: Reason, now: f64) {
        (self.since, self.reason) = (now, reason);
    }
}

/// Actions that are being done.
#[derive(Debug)]
pub struct Frame {
    pub actions: Actions,
    /// Which is next.
    pub at: usize,
    /// The branch that they are of.
    pub branch: Option<(usize, usize)>,
}

impl Frame {
    /// Takes what is next; none where all is done.
    pub fn next(&mut self) -> Option<Action> {
        let next = self.actions.get(self.at).cloned();
        self.at += usize::from(next.is_some());
        next
    }
}
