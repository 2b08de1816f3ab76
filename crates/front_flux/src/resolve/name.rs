//! Names that become C++, names that do not exist, and names that stand for two things.

use super::Resolver;
use crate::cpp_keyword::is_keyword;
use crate::ids;
use crate::syntax::QualifiedName;
use flux_diagnostic::{Diagnostic, nearest};
use flux_ir::name::Name;
use flux_ir::program::NodeId;
use flux_source::Span;

/// The names that a server has already.
const TAKEN: [(&str, &str); 5] = [
    ("main", "the server starts in a `main` of its own"),
    ("flux", "`flux` is the namespace of the runtime"),
    ("flux_flows", "`flux_flows` is the namespace of the generated code"),
    ("FLUX_GENERATED_SUPPORT", "it is a macro of the runtime"),
    ("std", "`std` is the namespace of the C++ library"),
];

impl<'syntax> Resolver<'syntax, '_> {
    /// Whether one more mistake may look at every name for the one that `word` was meant to be: any name of one letter
    /// is like any other.
    pub(super) fn may_suggest(&mut self, word: &str) -> bool {
        let left = self.suggestions_left.checked_sub(1);
        self.suggestions_left = left.unwrap_or(0);
        left.is_some() && word.len() > 1
    }

    /// The node called `name`, which is declared, has a flow or is mentioned in one; `who` speaks of it: "a handler".
    pub(super) fn existing_node(&mut self, name: &QualifiedName<'_>, who: &str) -> Option<NodeId> {
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
        let names = if may_suggest { self.node_names.as_slice() } else { &[] };
        let words: Vec<_> = names.iter().map(ToString::to_string).collect();
        let meant = nearest(word, words.iter().map(String::as_str));
        let meant = meant.and_then(|meant| names.iter().find(|known| known.declared() == meant));
        let diagnostic = match meant {
            Some(meant) => diagnostic.mark(meant.span, "a similar name").help(format!("did you mean `{meant}`?")),
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
        if is_keyword(word) && self.reported.insert((ids::INVALID_NAME, Name::new(word))) {
            let headline = format!("`{word}` is a keyword of C++ and cannot name a {kind}");
            self.report(Diagnostic::error(ids::INVALID_NAME, headline, span).help("choose another name"));
        }
    }

    pub(super) fn check_taken(&mut self, name: &QualifiedName<'_>) {
        let (_, word) = name.parts();
        let Some((_, reason)) = TAKEN.iter().find(|(taken, _)| *taken == word) else { return };
        if self.reported.insert((ids::INVALID_NAME, Name::new(word))) {
            let headline = format!("`{word}` cannot name a function: {reason}");
            self.report(Diagnostic::error(ids::INVALID_NAME, headline, name.span).help("choose another name"));
        }
    }

    /// Checks every node's name, where it is declared or stands first.
    pub(super) fn check_node_names(&mut self) {
        for id in self.program.nodes.ids() {
            let Some(name) = self.node_names.get(id.index()).copied() else { continue };
            self.check_word(&name.own, name.span, "node");
            self.check_taken(name);
            self.check_clash(name);
        }
    }

    /// Checks that no module, no predicate type, no record or enumeration, and no struct that is generated for another
    /// node, has the node's name.
    fn check_clash(&mut self, name: &QualifiedName<'_>) {
        let ((module, own), span) = (name.parts(), name.span);
        if self.program.modules.iter().any(|(_, module)| module.name == own) {
            let headline = format!("`{own}` is both a node and a module");
            let help = "give the node another name: the module's is that of a namespace of C++";
            return self.report(Diagnostic::error(ids::NAME_CLASH, headline, span).help(help));
        }
        if let Some(predicate) = self.known_predicate(name) {
            let predicate = &self.program.predicates[predicate];
            let diagnostic =
                Diagnostic::error(ids::NAME_CLASH, format!("`{name}` is both a node and a predicate type"), span)
                    .mark(predicate.span, "the predicate type")
                    .help("give one of them another name");
            return self.report(diagnostic);
        }
        if let Some(declared) = self.type_names.find(&name.to_string()) {
            let declared = &self.program.types[declared];
            let diagnostic = Diagnostic::error(ids::NAME_CLASH, format!("`{name}` is both a node and a type"), span)
                .mark(declared.span, "the type")
                .help("give one of them another name");
            return self.report(diagnostic);
        }
        for (suffix, values) in [("_in", "inputs"), ("_out", "outputs")] {
            let Some(node) = own.strip_suffix(suffix).and_then(|other| self.nodes.find(module, other)) else {
                continue;
            };
            let Some(node) = self.node_names.get(node.index()) else { continue };
            let diagnostic = Diagnostic::error(
                ids::NAME_CLASH,
                format!("the node `{name}` has the name of the struct for the {values} of `{node}`"),
                span,
            )
            .mark(node.span, format!("its {values} are a `struct {name}`"))
            .help("give one of them another name");
            self.report(diagnostic);
        }
    }
}
