//! Fuzzing that needs only a stable compiler: programs of the corpus, mutated, through every layer that reads text.
//!
//! Coverage-guided fuzzers find their own way into a parser, but need a nightly toolchain. Here the way is known:
//! [`mutate`] starts from programs that compile (every one in the documentation, and random ones), and changes tokens,
//! statements, names and bytes of them, or joins two. [`hold`] says what must hold for any text, and [`minimise`]
//! shrinks a text that breaks it until it is small enough to read. A seed determines everything.
//!
//! The tests of this crate run a thousand mutations each time; `make fuzz` runs for as long as it is told.

pub mod hold;
pub mod minimise;
pub mod mutate;
