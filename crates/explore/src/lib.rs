//! Runs a few flows in every way in which they can run, and looks for what must not happen.
//!
//! An [`ir::flow`](flux_ir::flow) is explored as it would be compiled. Which line of a dispatch is taken, which node
//! fails, what a key or a session is: all of it is left open, and each possibility is followed. So is each order in
//! which the flows and their parallel branches acquire, release, fork, join, enter the queue of their source and find
//! an executor. Nothing of the passes is used, and what nodes require is read from the program, not from what is
//! acquired. Found are:
//!
//! - a deadlock: something has not ended, and nothing can go on;
//! - lost exclusion: two executions are inside nodes that may not be inside at once, neither being the other's
//!   ancestor;
//! - a starved writer: one that waits for a constraint is passed more than once by others who came later;
//! - a constraint left held: nobody is there any more who could give it back.
//!
//! [`behaviour`] makes of a flow the graph of what one execution does, with everything left out that no other can
//! notice: its edges are what executions do to each other, and a path through it is one run. `search` goes through
//! the states of several such executions, each state once. (State hashing as in Holzmann, "Design and Validation of
//! Computer Protocols", 1991. A release, an end or a fork between which and the action before no constrained node runs
//! is taken before anything else: it enables, and never disables, what others do. Lipton, "Reduction: a method of
//! proving properties of parallel programs", 1975.)

#![allow(clippy::indexing_slicing, reason = "an index that leads nowhere is a bug of ours, and a bug asserts")]

pub mod behaviour;
mod build;
mod cancellation;
mod relevance;
mod search;
mod state;
mod trace;

use flux_ir::flow::Flow;

/// What is explored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// One for each flow that runs: the index of its source.
    pub flows: Vec<usize>,
    /// How many flows and branches can run at once; none where each has a thread of its own.
    pub executors: Option<usize>,
    /// A parent that waits for its branches runs those that have not started, one after the other.
    pub helping: bool,
    /// How many flows have room in the queue between the sources and the executors.
    pub places: usize,
    /// How many values a key or a session can have, constants in the program apart.
    pub values: u8,
    /// Who may take a constraint that others wait for.
    pub discipline: Discipline,
    /// Whether one flow may be cancelled, at any time, and what becomes of it.
    pub cancellation: Cancellation,
    /// After so many states the search is given up.
    pub states: usize,
}

impl Bounds {
    /// Flows of these sources, each with a thread of its own, two values, first in first out.
    pub fn of(flows: &[usize]) -> Self {
        let flows = flows.to_vec();
        let discipline = Discipline::FirstInFirstOut;
        let cancellation = Cancellation::Never;
        Self { flows, executors: None, helping: true, places: 1, values: 2, discipline, cancellation, states: 200_000 }
    }
}

/// Who may take a constraint that others wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Discipline {
    /// Nobody.
    FirstInFirstOut,
    /// Whoever finds it free may pass the first who waits, once: as the runtime's lock allows while it wakes a waiter.
    PassedOnce,
    /// Readers join readers, whoever waits: what the runtime's lock does not do, as writers starve.
    ReadersFirst,
}

/// Whether one flow may be cancelled, at any time, and what becomes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cancellation {
    /// None may.
    Never,
    /// It waits for nothing any more but its branches, which are cancelled too, and gives back what it holds.
    LetsGo,
    /// As `LetsGo`, but what it holds it keeps.
    KeepsHolds,
    /// As `LetsGo`, but where it waits for a constraint it is given that yet.
    StaysInRow,
}

/// What came of an exploration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Nothing that must not happen can happen within the bounds.
    Sound {
        /// How many states there are.
        states: usize,
    },
    /// This can happen.
    Faulty(Fault, Trace),
    /// There are more states than the bounds allow, and nothing was found in as many.
    Unfinished,
}

/// What must not happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    /// Something has not ended, and nothing can go on.
    Deadlock,
    /// Two executions are inside nodes that may not be inside at once.
    LostExclusion,
    /// A writer was passed more than once.
    StarvedWriter,
    /// Nobody is there any more who could give a constraint back.
    LeftHeld,
}

/// How it came about: a line for each thing that happened, then one for each execution as it is then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace(pub Vec<String>);

impl std::fmt::Display for Trace {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

/// Explores what `flow`, which must be well-formed, can do within `bounds`.
pub fn explore(flow: &Flow, bounds: &Bounds) -> Verdict {
    let built = build::build(flow, bounds);
    search::search(&built, bounds)
}
