//! The branches of a parallel step, or the instances of an each step, of one flow: which have begun and which have
//! ended. The one who forks runs the first, then those that nobody else has begun; then it waits for the rest.

use crate::script::{Actions, Fork};

/// Branches on their way.
#[derive(Debug)]
pub struct Forked {
    fork: Fork,
    /// Who forked, and waits for the rest.
    pub parent: usize,
    /// Whether it waits already.
    pub parent_waits: bool,
    /// How many were offered to others that have not looked yet.
    pub offered: usize,
    begun: Vec<bool>,
    ended: Vec<bool>,
    running: usize,
}

impl Forked {
    /// The branches of `parent`, of which none has begun.
    pub fn new(fork: Fork, parent: usize) -> Self {
        let none = vec![false; fork.branches.len()];
        Self { fork, parent, parent_waits: false, offered: 0, begun: none.clone(), ended: none, running: 0 }
    }

    fn may_begin(&self, at: usize) -> bool {
        !self.begun[at] && self.fork.branches[at].after.is_none_or(|before| self.ended[before])
    }

    /// How many more could begin at once.
    pub fn ready(&self) -> usize {
        let room = self.fork.width.max(1).saturating_sub(self.running);
        (0..self.begun.len()).filter(|at| self.may_begin(*at)).take(room).count()
    }

    /// Begins the next: its index and what it does.
    pub fn begin(&mut self) -> Option<(usize, Actions)> {
        if self.running >= self.fork.width.max(1) {
            return None;
        }
        let at = (0..self.begun.len()).find(|at| self.may_begin(*at))?;
        self.begun[at] = true;
        self.running += 1;
        Some((at, self.fork.branches[at].actions.clone()))
    }

    /// A branch has ended.
    pub fn end(&mut self, at: usize) {
        self.ended[at] = true;
        self.running -= 1;
    }

    /// Whether all have ended.
    pub fn is_over(&self) -> bool {
        self.ended.iter().all(|ended| *ended)
    }
}
