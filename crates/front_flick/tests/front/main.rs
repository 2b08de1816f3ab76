//! The language of `.flick` files: what parses, what it means, and what is said of mistakes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that cannot go on fails"
)]

mod layout;
mod listings;
mod mistakes;
mod pages;
mod relays;
mod robust;

use flux_diagnostic::Diagnostics;
use flux_front::link::read_alone;
use flux_front_flick::FlickFront;
use flux_ir::program::Program;
use flux_source::{FileId, SourceMap};

/// Reads a program without modules.
fn read(text: &str) -> (Program, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let program = read_alone(&FlickFront, &SourceMap::of("test.flick", text), FileId(0), &mut diagnostics);
    (program, diagnostics)
}

/// What is said of a program, `LINE: [id] headline`.
fn said(text: &str) -> Vec<String> {
    let all = read(text).1;
    let line = |start: u32| text[..start as usize].matches('\n').count() + 1;
    let shown = all
        .sorted()
        .into_iter()
        .map(|one| format!("{}: [{}] {}", line(one.primary.span.start), one.id.0, one.headline));
    shown.collect()
}

/// Asserts that nothing is said of a program.
fn right(text: &str) -> Program {
    assert_eq!(said(text), [""; 0], "{text}");
    read(text).0
}
