//! Reads `.flux` text into the program model.
//!
//! Three stages, each total on any text and linear in it: [`lexer`] makes tokens, comments included; [`parser`] makes
//! the syntax tree; [`resolve`] makes a [`Program`], whose names are ids. Each reports all the mistakes it finds and
//! goes on, so that one run shows them all. What needs types (signatures left out, edges, cycles) is the passes'.

pub mod cpp_keyword;
pub mod cpp_type;
pub mod ids;
pub mod lexer;
pub mod parser;
pub mod quantity;
pub mod resolve;
pub mod syntax;
pub mod token;

use flux_diagnostic::Diagnostics;
use flux_ir::program::Program;
use flux_source::{FileId, SourceMap};
use std::path::Path;

/// Reads the file `file` of `sources`. What is wrong with it goes to `diagnostics`; where that has errors, the program
/// is what could be understood, and is not to be compiled.
pub fn read(sources: &SourceMap, file: FileId, diagnostics: &mut Diagnostics) -> Program {
    let Some(source) = sources.file(file) else { return Program::default() };
    let tokens = lexer::lex(file, &source.text);
    let syntax = parser::parse(&source.text, tokens, diagnostics);
    resolve::resolve(stem(&source.name), &syntax, diagnostics)
}

/// `image` of `pictures/image.flux`.
fn stem(name: &str) -> String {
    Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
