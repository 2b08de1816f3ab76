//! Random Flux programs whose behaviour is known: what tests run through the compiler and the runtimes, and compare
//! with a reference that shares nothing with either.
//!
//! [`generate`] draws a well-formed program from a seed, which replays it, within the bounds of a [`Shape`]. Every node
//! decides by a hash of the values it is given whether it succeeds, returns an error or throws, and what it gives; so a
//! flow's path is determined by its number alone, whatever runs at the same time. Some predicates are computed instead:
//! bodies, whose [`formula`] is computed a second time here. The program is written out twice, as
//! Flux and as the C++ functions of its nodes ([`RandomProgram::files`]), and can be interpreted
//! ([`RandomProgram::run`]):
//!
//! - the paths that the server reports must be those of the interpreted flows, and as many of each;
//! - the calls that its functions wrote down, flow by flow, must be those too;
//! - nobody may have seen a constraint broken, a value lost, or an object that was never destroyed.

mod cpp_text;
mod environment;
mod flux_text;
pub mod formula;
mod generate;
pub mod list;
pub mod model;
mod random;
mod reference;
pub mod script;
mod shape;
mod slice;
mod words;

pub use random::Random;
pub use reference::{Counts, Exit, Label, Run};
pub use shape::Shape;
pub use slice::is_in_slice;

use model::Model;

/// A random program.
#[derive(Clone, Debug)]
pub struct RandomProgram {
    /// The seed that it was drawn from.
    pub seed: u64,
    /// Its name: `random_7`.
    pub name: String,
    /// What it is.
    pub model: Model,
}

/// A file to write.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name, without a folder.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The program of `seed`: the same for the same shape, on every machine.
pub fn generate(seed: u64, shape: &Shape) -> RandomProgram {
    RandomProgram { seed, name: format!("random_{seed}"), model: generate::generate(seed, shape) }
}

impl RandomProgram {
    /// The program itself.
    pub fn flux_text(&self) -> String {
        flux_text::flux_text(&self.model, self.seed)
    }

    /// All that is needed to build its server: the program, the header with its types, and the functions of its nodes.
    pub fn files(&self) -> Vec<File> {
        let file = |name: &str, text: &str| File { name: name.to_owned(), text: text.to_owned() };
        vec![
            file(&format!("{}.flux", self.name), &self.flux_text()),
            file("values.hpp", include_str!("../cpp/values.hpp")),
            file("nodes.hpp", include_str!("../cpp/nodes.hpp")),
            file("nodes.cpp", &cpp_text::nodes_text(&self.model, &self.name)),
        ]
    }

    /// What becomes of flow number `flow`. Flows are numbered from 0 and dealt to the sources in turn.
    pub fn run(&self, flow: u32) -> Run {
        reference::run(&self.model, flow)
    }

    /// Whether its source fails, once, before it produces flow number `flow`.
    pub fn source_fails_before(&self, flow: u32) -> bool {
        reference::source_fails_before(&self.model, flow)
    }
}
