//! What a flow does, drawn before it begins: nothing of it depends on what other flows do meanwhile, only when it
//! happens does.

use crate::random::Random;
use flux_ir::program::Mode;
use std::rc::Rc;

/// Actions one after the other.
pub type Actions = Rc<[Action]>;

/// One thing that a flow does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Comes to a node: where it has had its event loop for long, it lets others of the loop go on first.
    Arrive,
    /// Leaves its event loop, if it has one, for a thread beside it.
    Beside,
    /// Comes back from there, and waits for its loop.
    Back,
    /// Uses a CPU for so many seconds.
    Compute(f64),
    /// Waits for something outside of the server for so many seconds.
    Wait(f64),
    /// Sleeps for so many seconds; on an event loop until the tick after that.
    Sleep(f64),
    /// Takes a lock.
    Acquire(Lock, Mode),
    /// Takes one that was free when this execution was woken for it, if that is still so, and waits on otherwise.
    TryAgain(Lock),
    /// A thread of a pool that was woken takes what is next, if others have not; only it does this.
    Look,
    /// Gives a lock back.
    Release(Lock),
    /// Runs branches, and goes on when all have ended.
    Fork(Fork),
    /// A thread for a branch of the fork with this number has been made; only who makes it does this.
    Start(usize),
}

/// A lock: what a constraint is for all flows, or for those of one key or session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lock {
    /// Its number, counted from 0.
    pub number: usize,
    /// The number of its constraint.
    pub constraint: usize,
}

/// Branches of a parallel step, or the instances of an each step.
#[derive(Clone, Debug)]
pub struct Fork {
    /// In the order in which they begin.
    pub branches: Rc<[Branch]>,
    /// How many may run at once.
    pub width: usize,
}

/// A branch.
#[derive(Clone, Debug)]
pub struct Branch {
    /// What it does.
    pub actions: Actions,
    /// The branch that must have ended before it begins, an earlier one.
    pub after: Option<usize>,
}

/// What one flow does.
#[derive(Clone, Debug)]
pub struct Script {
    /// What its source does to make it, on the source's own thread.
    pub produce: Actions,
    /// What it does then; none where the source has failed.
    pub run: Option<Actions>,
}

/// Where flows come from.
pub trait Workload {
    /// Draws what the next flow of this source does.
    fn flow(&mut self, source: usize, random: &mut Random) -> Script;

    /// What a thread or loop that has slept uses a CPU for before it begins with something, in seconds.
    fn wake(&self) -> f64 {
        0.0
    }

    /// What it uses to make a thread, to begin and to end it, on so many CPUs, where each flow and branch has one.
    fn thread_cost(&self, _cpus: usize) -> f64 {
        0.0
    }
}

impl<F: FnMut(usize, &mut Random) -> Script> Workload for F {
    fn flow(&mut self, source: usize, random: &mut Random) -> Script {
        self(source, random)
    }
}
