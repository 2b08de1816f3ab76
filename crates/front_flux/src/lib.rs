//! Reads `.flux` text into the program model.
//!
//! [`load`] finds the modules. Then come stages that are each total on any text and linear in it: [`lexer`] makes
//! tokens, comments included; [`parser`] makes a syntax tree of each file; [`qualify`] makes them one, in which a
//! module's names are what they are to the whole program; [`resolve`] makes a [`Program`], whose names are ids. Each
//! reports all the mistakes it finds and goes on, so that one run shows them all. What needs types (signatures left
//! out, edges, cycles) is the passes'.

pub mod attribute;
pub mod body;
mod comment;
pub mod cpp_keyword;
pub mod cpp_type;
pub mod ids;
pub mod lexer;
mod lists;
pub mod load;
pub mod parser;
pub mod qualify;
pub mod quantity;
pub mod resolve;
pub mod syntax;
pub mod token;

use crate::load::LoadedFile;
use crate::syntax::{Statement, Syntax};
use flux_diagnostic::Diagnostics;
use flux_front::{Front, Library};
use flux_ir::program::{Include, Module, ModuleId, Program};
use flux_source::{FileId, SourceMap, Span};
use std::path::Path;

/// The notation of `.flux` files.
pub struct FluxFront;

impl Front for FluxFront {
    fn extension(&self) -> &'static str {
        "flux"
    }

    fn read(
        &self,
        sources: &mut SourceMap,
        file: FileId,
        library: Library<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Program {
        let files = load::load(sources, file, library, diagnostics);
        read(sources, &files, diagnostics)
    }
}

/// Reads a program that is loaded: `files` are as [`load::load`] gives them. What is wrong goes to `diagnostics`; where
/// that has errors, the program is what could be understood, and is not to be compiled.
pub fn read(sources: &SourceMap, files: &[LoadedFile], diagnostics: &mut Diagnostics) -> Program {
    let mut program = Program::default();
    let mut trees = vec![];
    for loaded in files {
        let Some(source) = sources.file(loaded.file) else { return Program::default() };
        let tokens = lexer::lex(loaded.file, &source.text);
        let syntax = parser::parse(&source.text, tokens, diagnostics);
        let (uses, includes) = preamble(loaded, &syntax);
        match &loaded.module {
            Some(name) => {
                let span = Span::new(loaded.file, 0..source.text.len());
                program.modules.add(Module { name: name.clone(), uses, includes, span });
            }
            None => program = Program { name: stem(&source.name), uses, includes, ..program },
        }
        trees.push(syntax);
    }
    let mut syntax = qualify::qualify(files, trees, diagnostics);
    lists::expand(&mut syntax, diagnostics);
    resolve::resolve(program, &syntax, diagnostics)
}

/// What a file uses and includes.
fn preamble(loaded: &LoadedFile, syntax: &Syntax<'_>) -> (Vec<ModuleId>, Vec<Include>) {
    let uses = loaded.uses.iter().map(|used| ModuleId::new(used.index)).collect();
    let includes = syntax.statements.iter().filter_map(|statement| match statement {
        Statement::Include(include) => Some(Include { path: include.path.clone(), span: include.span }),
        _ => None,
    });
    (uses, includes.collect())
}

/// `image` of `pictures/image.flux`.
fn stem(name: &str) -> String {
    Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
