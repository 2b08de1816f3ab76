//! The interface of the compiler of 2006 (Burns, Grimaldi, Kostadinov, Berger and Corner: Flux, USENIX 2006), for
//! sources that were written for it.
//!
//! A program is of that time if one of its sources, or a header beside one, includes `mStructs.h` or `mImpl.h`. Then
//! these two headers are generated instead of today's ([`headers`]). They differ in this: each node has both structs,
//! empty or not; the first member of an `X_in` is the session; abstract nodes are declared as functions too, which
//! those sources define and nobody calls; `localStructs.h`, which the author may have beside the program, comes first;
//! and the system headers of that time are included.
//!
//! That compiler was also less strict about parameters. So a function is declared and called as its source defines it
//! ([`definitions`]): with both structs where one is empty, with a result that nobody reads, or, for a handler, without
//! the error. Such a function has [the convention of 2006](flux_ir::external::Convention::Of2006).
//!
//! [`SCRIPT`] compiles the sources themselves, with the [`VARIABLES`] of the Makefile: it tries several standards and
//! flags, and takes the first that works.

mod compile;
mod definitions;
mod headers;

pub use compile::{SCRIPT, SCRIPT_NAME, VARIABLES};
pub use definitions::{Definition, Definitions};
pub(crate) use headers::{functions, structs};

/// The name of the header with the structs.
pub const STRUCTS: &str = "mStructs.h";
/// The name of the header with the functions.
pub const FUNCTIONS: &str = "mImpl.h";
