//! The model's text form, verifier and path numbers, on examples and on random programs.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod bindings;
mod compute;
mod constraints;
mod evaluate;
mod externals;
mod failures;
mod message;
mod paths;
mod random;
mod run;
mod sound;
mod text;
mod values;
mod verify;
