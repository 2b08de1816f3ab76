//! Checks what authors promise of functions in C++. Requires: names are ids. Establishes: only such a function is said
//! to be silent or pure, and what is said to be pure neither shares something nor waits for the outside.
//!
//! Of all else the compiler knows what it does ([`flux_ir::effects`]): a computation does nothing, a flow what its
//! steps do.

use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::effects::Effects;
use flux_ir::program::{Body, Node, Program};

/// Reports promises that nobody need make, and those that the rest of the program contradicts. O(nodes).
pub fn check_effects(program: &Program, diagnostics: &mut Diagnostics) {
    for (_, node) in program.nodes.iter().filter(|(_, node)| node.effects != Effects::Unknown) {
        if let Some(conflict) = conflict(node) {
            diagnostics.push(conflict);
        }
    }
}

fn conflict(node: &Node) -> Option<Diagnostic> {
    let (name, promise) = (&node.name, node.effects.name());
    let error = |headline| Diagnostic::error(ids::EFFECTS_CONFLICT, headline, node.span);
    match &node.body {
        Body::Concrete => {}
        Body::Computed(_) => {
            let headline = format!("`{name}` is said to be {promise}, and has a body, which is pure in any case");
            return Some(error(headline).help(format!("remove `{promise}`")));
        }
        Body::Chain(_) | Body::Dispatch(_) => {
            let headline = format!("`{name}` is said to be {promise}, and is a flow, which does what its steps do");
            let help = format!("remove `{promise}`, and say it of the functions in C++ that the flow calls");
            return Some(error(headline).help(help));
        }
    }
    if node.effects != Effects::Pure {
        return None;
    }
    if node.blocking {
        let headline = format!("`{name}` is both pure and blocking");
        let help = "a pure function waits for nothing: remove `blocking`, or write `silent` for `pure`";
        return Some(error(headline).help(help));
    }
    let shared = node.requirements.first()?;
    let headline = format!("`{name}` is said to be pure, and shares something with others");
    let help = "what is pure sees its inputs alone: remove what it holds, or `pure`";
    Some(error(headline).mark(shared.span, "shared here").help(help))
}
