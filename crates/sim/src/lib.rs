//! Predicts how a server performs, before it is written or on a machine that is not at hand: its flows run in virtual
//! time, over CPUs, threads and locks that queue as those of the runtime do (paper, section 5.1; `docs/sim.md`).
//!
//! What a flow does is drawn when it arrives, as a script: which CPU times, which waits, which locks, which branches.
//! None of that depends on when things happen, so the engine needs no processes of its own, as libraries for simulation
//! have them, but plays scripts over one queue of events.

#![allow(clippy::indexing_slicing, reason = "an index that leads nowhere is a bug of ours, and a bug asserts")]

pub mod advice;
mod agenda;
mod balance;
pub mod estimates;
mod execution;
mod fair_lock;
mod fork;
pub mod interval;
pub mod machine;
pub mod measured;
pub mod most_load;
pub mod observe;
mod on_paths;
pub mod plot;
pub mod predict;
mod processors;
pub mod random;
pub mod recorded;
pub mod script;
pub mod setting;
mod threads;
mod together;
pub mod turns;
pub mod walk;
