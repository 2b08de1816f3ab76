//! Names that become C++, names that do not exist, and names that stand for two things.

use super::Resolver;
use crate::cpp_keyword::is_keyword;
use crate::ids;
use crate::syntax::Name;
use flux_diagnostic::{Diagnostic, nearest};
use flux_ir::program::{NodeId, split_name};
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
    pub(super) fn existing_node(&mut self, name: &'syntax Name<'syntax>, who: &str) -> Option<NodeId> {
        let known = self.nodes.get(name.as_str()).copied();
        if known.is_none() && self.is_unknown(ids::UNKNOWN_NODE, &name.text) {
            self.report_unknown_node(name, who);
        }
        known
    }

    fn report_unknown_node(&mut self, name: &Name, who: &str) {
        let word = &name.text;
        let may_suggest = self.may_suggest(word);
        let headline = format!("there is no node `{word}` to have {who}");
        let diagnostic = Diagnostic::error(ids::UNKNOWN_NODE, headline, name.span);
        let names = self.node_names.iter().map(|known| known.as_str());
        let meant = if may_suggest { nearest(word, names) } else { None };
        let meant = meant.and_then(|meant| self.node_names.get(self.nodes.get(meant)?.index()));
        let diagnostic = match meant {
            Some(meant) => {
                diagnostic.mark(meant.span, "a similar name").help(format!("did you mean `{}`?", meant.text))
            }
            None => diagnostic.help(format!("declare it, `{word} (…) => (…);`, or name it in a flow")),
        };
        self.report(diagnostic);
    }

    /// Checks that `name` can be a C++ function.
    pub(super) fn check_function(&mut self, name: &'syntax Name<'syntax>) {
        self.check_word(&name.text, name.span, "function");
        self.check_taken(&name.text, name.span);
    }

    /// Checks that `word` is not a keyword of C++; `kind` says what it names.
    pub(super) fn check_word(&mut self, name: &'syntax str, span: Span, kind: &str) {
        let (_, word) = split_name(name);
        if is_keyword(word) && self.reported.insert((ids::INVALID_NAME, word)) {
            let headline = format!("`{word}` is a keyword of C++ and cannot name a {kind}");
            self.report(Diagnostic::error(ids::INVALID_NAME, headline, span).help("choose another name"));
        }
    }

    pub(super) fn check_taken(&mut self, name: &'syntax str, span: Span) {
        let (_, word) = split_name(name);
        let Some((_, reason)) = TAKEN.iter().find(|(taken, _)| *taken == word) else { return };
        if self.reported.insert((ids::INVALID_NAME, word)) {
            let headline = format!("`{word}` cannot name a function: {reason}");
            self.report(Diagnostic::error(ids::INVALID_NAME, headline, span).help("choose another name"));
        }
    }

    /// Checks every node's name, where it is declared or stands first.
    pub(super) fn check_node_names(&mut self) {
        for id in self.program.nodes.ids() {
            let Some(name) = self.node_names.get(id.index()).copied() else { continue };
            self.check_word(&name.text, name.span, "node");
            self.check_taken(&name.text, name.span);
            self.check_clash(&name.text, name.span);
        }
    }

    /// Checks that no module, no predicate type, no record or enumeration, and no struct that is generated for another
    /// node, has the node's name.
    fn check_clash(&mut self, name: &'syntax str, span: Span) {
        let (_, own) = split_name(name);
        if self.program.modules.iter().any(|(_, module)| module.name == own) {
            let headline = format!("`{own}` is both a node and a module");
            let help = "give the node another name: the module's is that of a namespace of C++";
            return self.report(Diagnostic::error(ids::NAME_CLASH, headline, span).help(help));
        }
        if let Some(predicate) = self.predicates.get(name) {
            let predicate = &self.program.predicates[*predicate];
            let diagnostic =
                Diagnostic::error(ids::NAME_CLASH, format!("`{name}` is both a node and a predicate type"), span)
                    .mark(predicate.span, "the predicate type")
                    .help("give one of them another name");
            return self.report(diagnostic);
        }
        if let Some(declared) = self.type_names.find(name) {
            let declared = &self.program.types[declared];
            let diagnostic = Diagnostic::error(ids::NAME_CLASH, format!("`{name}` is both a node and a type"), span)
                .mark(declared.span, "the type")
                .help("give one of them another name");
            return self.report(diagnostic);
        }
        for (suffix, values) in [("_in", "inputs"), ("_out", "outputs")] {
            let Some(node) = name.strip_suffix(suffix).and_then(|other| self.nodes.get(other)) else { continue };
            let Some(node) = self.node_names.get(node.index()) else { continue };
            let diagnostic = Diagnostic::error(
                ids::NAME_CLASH,
                format!("the node `{name}` has the name of the struct for the {values} of `{}`", node.text),
                span,
            )
            .mark(node.span, format!("its {values} are a `struct {name}`"))
            .help("give one of them another name");
            self.report(diagnostic);
        }
    }
}
