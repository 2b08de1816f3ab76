//! Binds to the C and C++ functions of a program what their sources and headers say about them, all at once.
//!
//! The tokens of the sources tell which functions are in C, and how functions of 2006 are defined
//! ([`crate::interface_2006`]); the C++ compiler tells which functions the headers declare ([`crate::probe`]).
//! Everything else reads this from the program.

use crate::Options;
use crate::interface_2006::Definitions;
use flux_ir::external::{Convention, ExternalId, Language, PlainFunction};
use flux_ir::program::Program;
use std::collections::BTreeSet;

/// What was found out.
#[derive(Clone, Default, Debug)]
pub struct Found {
    /// The functions that sources in C define outside of all else.
    pub in_c: BTreeSet<String>,
    /// What sources of 2006 define, where there are some.
    pub of_2006: Option<Definitions>,
    /// The functions that headers declare as plain ones; of two overloads the later is known.
    pub plain: Vec<(ExternalId, PlainFunction)>,
}

/// Binds what was found to the functions of `program`, and gives what it says of the program as a whole. A module is in
/// C++, and later than 2006. O(functions · log).
pub fn bind_externals(program: &mut Program, found: Found) -> Options {
    for (_, external) in program.externals.iter_mut() {
        if !external.name.is_of_module() && found.in_c.contains(external.name.own()) {
            external.language = Language::C;
        }
        if found.of_2006.as_ref().is_some_and(|definitions| !definitions.of(&external.name).is_empty()) {
            external.convention = Convention::Of2006;
        }
    }
    for (id, plain) in found.plain {
        program.externals[id].convention = Convention::Plain(plain);
    }
    Options { has_c: !found.in_c.is_empty(), interface_2006: found.of_2006 }
}
