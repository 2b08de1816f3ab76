//! Names of nodes that C++ does not allow, and names that stand for two things. A node gives its name to a function and
//! to structs, a module to a namespace, a predicate type and a record to types.

use crate::ids;
use crate::scope::Declared;
use crate::taken::TAKEN;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::cpp_keyword::is_keyword;
use flux_ir::name::Name;
use flux_ir::program::Program;
use flux_source::Span;
use std::collections::HashSet;

/// Reports such names, each where its node is declared or stands first. O(nodes).
pub(crate) fn check_node_names(program: &Program, declared: &Declared, diagnostics: &mut Diagnostics) {
    let mut reported = HashSet::new();
    for (id, node) in program.nodes.iter() {
        let span = declared.node_name(id);
        let own = node.name.own();
        let wrong = match TAKEN.iter().find(|(taken, _)| *taken == own) {
            _ if is_keyword(own) => Some(format!("`{own}` is a keyword of C++ and cannot name a node")),
            Some((_, reason)) => Some(format!("`{own}` cannot name a function: {reason}")),
            None => None,
        };
        if let Some(headline) = wrong.filter(|_| reported.insert(own)) {
            diagnostics.push(Diagnostic::error(ids::INVALID_NAME, headline, span).help("choose another name"));
        }
        check_clash(program, declared, &node.name, span, diagnostics);
    }
}

/// Checks that no module, no predicate type, no record or enumeration, and no struct that is generated for another
/// node, has the node's name.
fn check_clash(program: &Program, declared: &Declared, name: &Name, span: Span, diagnostics: &mut Diagnostics) {
    let own = name.own();
    if program.modules.iter().any(|(_, module)| module.name == own) {
        let headline = format!("`{own}` is both a node and a module");
        let help = "give the node another name: the module's is that of a namespace of C++";
        return diagnostics.push(Diagnostic::error(ids::NAME_CLASH, headline, span).help(help));
    }
    let predicate = declared.predicates.get(name).map(|id| (program.predicates[*id].span, "predicate type"));
    let type_ = || declared.types.get(name).map(|id| (program.types[*id].span, "type"));
    if let Some((other, kind)) = predicate.or_else(type_) {
        let headline = format!("`{name}` is both a node and a {kind}");
        let error = Diagnostic::error(ids::NAME_CLASH, headline, span).mark(other, format!("the {kind}"));
        return diagnostics.push(error.help("give one of them another name"));
    }
    for (suffix, values) in [("_in", "inputs"), ("_out", "outputs")] {
        let Some(other) = name.strip_suffix(suffix) else { continue };
        let Some(node) = declared.nodes.get(&other) else { continue };
        let headline = format!("the node `{name}` has the name of the struct for the {values} of `{other}`");
        let error = Diagnostic::error(ids::NAME_CLASH, headline, span);
        let error = error.mark(declared.node_name(*node), format!("its {values} are a `struct {name}`"));
        diagnostics.push(error.help("give one of them another name"));
    }
}
