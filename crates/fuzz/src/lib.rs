//! Fuzzing with nothing but a stable compiler: programs of the corpus, mutated, through every layer that reads text.
//!
//! Coverage-guided fuzzers find their way into a parser by themselves and need a nightly toolchain for it. Here the way
//! is known: [`mutate`] starts from programs that go through (every one in the documentation, and random ones), and
//! changes tokens, statements, names and bytes of them, or joins two. [`hold`] says what must be so of any text, and
//! [`minimise`] makes a text on which it is not so small enough to read. All of it is determined by a seed.
//!
//! The tests of this crate run a thousand mutations each time; `make fuzz` runs for as long as it is told.

pub mod hold;
pub mod minimise;
pub mod mutate;
