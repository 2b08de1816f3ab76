//! Reads `.flux` text into the program model.
//!
//! There are four stages, each of which accepts any text and takes linear time: [`lexer`] makes tokens, comments
//! included; [`parser`] makes a syntax tree; [`qualify`] adds to every name the module that declares it; [`resolve`]
//! adds what the tree says to a program, in which names are ids. Each reports all the mistakes it finds and goes on, so
//! that one run shows them all. Everything that needs types (omitted signatures, edges, cycles) is done by the passes.

mod attribute;
pub mod body;
mod comment;
pub mod cpp_type;
pub mod ids;
pub mod lexer;
mod lists;
pub mod message;
pub mod parser;
pub mod qualify;
pub mod quantity;
pub mod resolve;
pub mod syntax;
pub mod token;

use crate::syntax::{Statement, UsedModule};
use flux_diagnostic::Diagnostics;
use flux_front::scope::Scope;
use flux_front::{Front, Use, Wanted, link};
use flux_ir::program::{Include, Program};
use flux_source::{FileId, SourceMap, Span};

/// The notation of `.flux` files.
pub struct FluxFront;

impl Front for FluxFront {
    fn extension(&self) -> &'static str {
        "flux"
    }

    fn uses(&self, file: FileId, text: &str) -> Vec<Use> {
        let syntax = parser::parse(text, lexer::lex(file, text), &mut Diagnostics::new());
        let first_state = syntax.statements.iter().find_map(|statement| match statement {
            Statement::State(state) => Some(state.span),
            _ => None,
        });
        let used = syntax.statements.into_iter().filter_map(|statement| match statement {
            Statement::Use(used) => Some(used),
            _ => None,
        });
        let mut used: Vec<Use> = used.map(wanted).collect();
        used.extend(first_state.map(of_states));
        used
    }

    fn read(&self, file: FileId, text: &str, scope: &mut Scope<'_>) {
        let tokens = lexer::lex(file, text);
        let mut syntax = parser::parse(text, tokens, scope.diagnostics);
        let words = syntax.skipped_words.iter().map(|word| &**word);
        scope.leave_unread((!syntax.truncated).then_some(words));
        for statement in &syntax.statements {
            if let Statement::Include(include) = statement {
                scope.include(Include { path: include.path.clone(), span: include.span });
            }
        }
        qualify::qualify(&mut syntax, scope);
        lists::expand(&mut syntax, scope);
        resolve::resolve(&syntax, scope);
    }
}

/// The module that states stand on.
fn of_states(span: Span) -> Use {
    let module = Wanted::Standard { folder: Some("std".to_owned()), name: resolve::STATE_MODULE.to_owned() };
    Use { module, alias: None, span, name_span: span }
}

fn wanted(used: syntax::Use<'_>) -> Use {
    let span = used.module.span();
    let module = match used.module {
        UsedModule::Standard(name) => {
            Wanted::Standard { folder: name.before().map(str::to_owned), name: name.own.into_owned() }
        }
        UsedModule::File(path) => Wanted::File(path.text.into_owned()),
    };
    let name_span = used.alias.as_ref().map_or(span, |alias| alias.span);
    Use { module, alias: used.alias.map(|alias| alias.text.into_owned()), span, name_span }
}

/// Reads a program that uses no modules. What is wrong goes to `diagnostics`; where that has errors, the program is
/// what could be understood, and is not to be compiled.
pub fn read(sources: &SourceMap, file: FileId, diagnostics: &mut Diagnostics) -> Program {
    link::read_alone(&FluxFront, sources, file, diagnostics)
}
