//! Reads and writes messages as their declarations say: the reference for the parsers that are generated from the same
//! declarations, and what `flux message` prints.
//!
//! It is simple on purpose, and follows the order of the bytes: `parse` goes through the items of a message and waits
//! when a byte has not arrived. Waiting is Rust's `async`, driven by [`Parser`] without a runtime, so a message may be
//! fed byte by byte and no state machine is written by hand. [`write()`] goes through the same items in the other
//! direction, and [`make()`] writes one of values that nobody has read.
//!
//! Bounds hold here as in what is generated: of size, of number and of depth. No step looks twice at a byte that it has
//! passed, but for what a grammar asks for by `&parse_at`, whose chains are bounded.

mod input;
mod make;
mod names;
mod parse;
mod parser;
mod tree;
mod write;

pub use make::{GivenMessage, GivenValue, Made, make};
pub use parse::Grammar;
pub use parser::{Parsed, Parser, Streams};
pub use tree::{Content, Failure, Read, Tree, Value};
pub use write::write;
