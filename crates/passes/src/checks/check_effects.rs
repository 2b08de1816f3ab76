//! Checks what authors promise of functions in C++ ([`flux_ir::effects`]). Requires: names are ids. Establishes: what
//! is said to be pure neither shares something nor waits for the outside.

use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::effects::Effects;
use flux_ir::program::{Body, Node, Program};

/// Reports promises that the rest of the program contradicts. O(nodes).
pub fn check_effects(program: &Program, diagnostics: &mut Diagnostics) {
    for (_, node) in program.nodes.iter() {
        if let Body::External(external) = node.body
            && program.externals[external].effects == Effects::Pure
            && let Some(conflict) = conflict(node)
        {
            diagnostics.push(conflict);
        }
    }
}

fn conflict(node: &Node) -> Option<Diagnostic> {
    let name = &node.name;
    let error = |headline| Diagnostic::error(ids::EFFECTS_CONFLICT, headline, node.span);
    if node.blocking {
        let headline = format!("`{name}` is both pure and blocking");
        let help = "a pure function waits for nothing: remove `blocking`, or write `silent` for `pure`";
        return Some(error(headline).help(help));
    }
    let shared = node.requirements.first()?;
    let headline = format!("`{name}` is declared pure, but has constraints");
    let help = "a pure function depends only on its inputs: remove the constraints, or `pure`";
    Some(error(headline).mark(shared.span, "shared here").help(help))
}
