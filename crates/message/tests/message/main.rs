//! The reference, over small messages and over what real clients and servers said to each other.

#![expect(clippy::disallowed_methods, reason = "`make fuzz` says by the environment how much is tried")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod bounds;
mod captures;
mod changes;
mod http;
mod programs;
mod text;

use flux_ir::message::MessageId;
use flux_ir::program::Program;
use flux_message::{Failure, Grammar, Parsed, Parser, Streams};
use flux_source::SourceMap;

/// The program of this text.
fn program(text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add("test.flux".to_owned(), text.to_owned());
    let compilation = flux_driver::compile(&mut sources, file, &mut |_: &str| Err("no modules".to_owned()));
    let wrong: Vec<_> = compilation.diagnostics.sorted().iter().map(|one| one.headline.clone()).collect();
    assert_eq!(wrong, Vec::<String>::new());
    compilation.program().unwrap().clone()
}

/// The program that a standard module is.
fn module(name: &str) -> Program {
    program(flux_nodes::modules().find(|(known, _)| *known == name).unwrap().1)
}

fn message(program: &Program, name: &str) -> MessageId {
    program.messages.iter().find(|(_, message)| message.name == name).unwrap().0
}

/// What comes of bytes that are fed in these pieces, and then end.
fn read_pieces<'b>(
    grammar: &Grammar<'_>,
    id: MessageId,
    pieces: impl IntoIterator<Item = &'b [u8]>,
) -> Vec<Result<Parsed, Failure>> {
    let mut parser = Parser::new(grammar, id, Streams::Kept);
    let mut found = vec![];
    for piece in pieces {
        parser.feed(piece);
        found.extend(std::iter::from_fn(|| parser.next_message()));
    }
    parser.close();
    found.extend(std::iter::from_fn(|| parser.next_message()));
    found
}

/// What comes of bytes that are fed at once.
fn read(program: &Program, name: &str, bytes: &[u8]) -> Vec<Result<Parsed, Failure>> {
    read_pieces(&Grammar::new(program), message(program, name), [bytes])
}

/// Why bytes are no message.
fn failure(program: &Program, name: &str, bytes: &[u8]) -> String {
    read(program, name, bytes).into_iter().find_map(Result::err).expect("they are one").to_string()
}
