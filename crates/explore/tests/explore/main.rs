//! The explorer, and by it the rules that keep programs from deadlocking.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod advice;
mod compile;
mod generate;
mod random;
mod rules;
