//! Names that become C++, and names that do not exist.

use super::Resolver;
use crate::ids;
use crate::syntax::QualifiedName;
use flux_diagnostic::{Diagnostic, nearest};
use flux_front::ids::INVALID_NAME;
use flux_front::taken::TAKEN;
use flux_ir::cpp_keyword::{is_keyword, is_macro, is_of_c};
use flux_ir::name::Name;
use flux_ir::program::NodeId;
use flux_source::Span;

impl<'syntax> Resolver<'syntax, '_, '_> {
    /// Whether one more mistake may look at every name for the one that `word` was meant to be: any name of one letter
    /// is like any other.
    pub(super) fn may_suggest(&mut self, word: &str) -> bool {
        let left = self.suggestions_left.checked_sub(1);
        self.suggestions_left = left.unwrap_or(0);
        left.is_some() && word.len() > 1
    }

    /// The node called `name`, which is declared, has a flow or is mentioned in one; `who` speaks of it: "a handler".
    pub(super) fn existing_node(&mut self, name: &QualifiedName<'_>, who: &str) -> Option<NodeId> {
        if self.generic(name).is_some() {
            return self.only_instance(name);
        }
        let known = self.known_node(name);
        if known.is_none() && self.is_unknown(ids::UNKNOWN_NODE, name) {
            self.report_unknown_node(name, who);
        }
        known
    }

    fn report_unknown_node(&mut self, name: &QualifiedName<'_>, who: &str) {
        let word = &name.to_string();
        let may_suggest = self.may_suggest(word);
        let headline = format!("there is no node `{word}` to have {who}");
        let diagnostic = Diagnostic::error(ids::UNKNOWN_NODE, headline, name.span);
        let nodes = self.scope.program.nodes.iter().take(if may_suggest { usize::MAX } else { 0 });
        let names: Vec<_> = nodes.map(|(id, node)| (id, node.name.to_string())).collect();
        let meant = nearest(word, names.iter().map(|(_, name)| name.as_str()));
        let meant = names.iter().find(|(_, name)| Some(name.as_str()) == meant);
        let diagnostic = match meant {
            Some((id, meant)) => {
                let similar = diagnostic.mark(self.scope.node_name(*id), "a similar name");
                similar.help(format!("did you mean `{meant}`?"))
            }
            None => diagnostic.help(format!("declare it, `{word} (…) => (…);`, or name it in a flow")),
        };
        self.report(diagnostic);
    }

    /// Checks that `name` can be a C++ function.
    pub(super) fn check_function(&mut self, name: &QualifiedName<'_>) {
        self.check_word(&name.own, name.span, "function");
        self.check_taken(name);
    }

    /// Checks that `word` is not a keyword of C++; `kind` says what it names.
    pub(super) fn check_word(&mut self, word: &str, span: Span, kind: &str) {
        if is_keyword(word) && self.reported.insert((INVALID_NAME, Name::new(word))) {
            let headline = format!("`{word}` is a keyword of C++ and cannot name a {kind}");
            self.report(Diagnostic::error(INVALID_NAME, headline, span).help("choose another name"));
        } else if is_macro(word) && self.reported.insert((INVALID_NAME, Name::new(word))) {
            let headline = format!("`{word}` is a macro of C and cannot name a {kind}");
            self.report(Diagnostic::error(INVALID_NAME, headline, span).help("choose another name"));
        }
    }

    /// Checks that `name` can be a type in C++; `kind` says of which kind.
    pub(super) fn check_type(&mut self, name: &QualifiedName<'_>, kind: &str) {
        self.check_word(&name.own, name.span, kind);
        self.check_taken(name);
        let (module, word) = name.parts();
        if module.is_none() && is_of_c(word) && self.reported.insert((INVALID_NAME, Name::new(word))) {
            let headline = format!("`{word}` is a name of the C library and cannot name a {kind}");
            let help = "choose another name, or declare it in a module, which is a namespace in C++";
            self.report(Diagnostic::error(INVALID_NAME, headline, name.span).help(help));
        }
    }

    pub(super) fn check_taken(&mut self, name: &QualifiedName<'_>) {
        let (_, word) = name.parts();
        let Some((_, reason)) = TAKEN.iter().find(|(taken, _)| *taken == word) else { return };
        if self.reported.insert((INVALID_NAME, Name::new(word))) {
            let headline = format!("`{word}` cannot name a function: {reason}");
            self.report(Diagnostic::error(INVALID_NAME, headline, name.span).help("choose another name"));
        }
    }
}
