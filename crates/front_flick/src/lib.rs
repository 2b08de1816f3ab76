//! Reads `.flick` text, the language of the FLICK paper (section 4), into the program model.
//!
//! There are three stages, each of which accepts any text and takes linear time: the lexer of `.flux` makes tokens, of
//! which [`parser`] makes a syntax tree by the offside rule; [`check`](check::check) declares its types in the program,
//! and finds what does not fit. A text that does not parse is not checked: most of what could be said of it would
//! follow from that.
//!
//! A `unit` is in the notation of messages, which `.flux` has too: that front reads it. `docs/flick.md` says what
//! of the language runs.

pub mod bounds;
pub mod check;
pub mod ids;
pub mod messages;
pub mod parser;
pub mod syntax;
mod walk;

use crate::syntax::Declaration;
use flux_diagnostic::{Diagnostics, Severity};
use flux_front::scope::Scope;
use flux_front::{Front, Use, Wanted};
use flux_front_flux::syntax::UsedModule;
use flux_source::FileId;

/// The notation of `.flick` files.
pub struct FlickFront;

impl Front for FlickFront {
    fn extension(&self) -> &'static str {
        "flick"
    }

    fn has_nodes(&self) -> bool {
        false
    }

    fn uses(&self, file: FileId, text: &str) -> Vec<Use> {
        let syntax = parser::parse(file, text, &mut Diagnostics::new());
        let used = syntax.declarations.iter().filter_map(|declaration| match declaration {
            Declaration::Use(used) => Some(wanted(used)),
            _ => None,
        });
        let mut used: Vec<Use> = used.collect();
        let process = syntax.declarations.iter().find_map(|declaration| match declaration {
            Declaration::Process(process) => Some(process.head),
            _ => None,
        });
        // What processes run on.
        let standard = |name: &str| Wanted::Standard { folder: Some("std".to_owned()), name: name.to_owned() };
        used.extend(process.map(|span| Use { module: standard("flick"), alias: None, span, name_span: span }));
        used
    }

    fn read(&self, file: FileId, text: &str, scope: &mut Scope<'_>) {
        let before = scope.diagnostics.count(Severity::Error);
        let syntax = parser::parse(file, text, scope.diagnostics);
        if scope.diagnostics.count(Severity::Error) > before {
            scope.leave_unread(None::<std::iter::Empty<&str>>);
            return;
        }
        messages::read(file, text, &syntax, scope);
        check::check(&syntax, scope);
    }
}

fn wanted(used: &flux_front_flux::syntax::Use<'_>) -> Use {
    let span = used.module.span();
    let module = match &used.module {
        UsedModule::Standard(name) => {
            Wanted::Standard { folder: name.before().map(str::to_owned), name: name.own.clone().into_owned() }
        }
        UsedModule::File(path) => Wanted::File(path.text.clone().into_owned()),
    };
    let name_span = used.alias.as_ref().map_or(span, |alias| alias.span);
    Use { module, alias: used.alias.as_ref().map(|alias| alias.text.clone().into_owned()), span, name_span }
}
