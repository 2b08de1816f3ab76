//! Checks that the graph is acyclic. Requires: resolved. Establishes: no node reaches itself, so later passes may
//! recurse.

use crate::analyses::containment::{Contained, search};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{NodeId, Program};

/// Reports each cycle once, at the mention that closes it. O(size of the program).
pub fn check_cycles(program: &Program, diagnostics: &mut Diagnostics) {
    search(program, |cycle| {
        if let Some(error) = describe(program, cycle) {
            diagnostics.push(error);
        }
    });
}

/// The nodes of a cycle, each with what it contains of it.
fn describe(program: &Program, cycle: &[(NodeId, Contained)]) -> Option<Diagnostic> {
    let name = |id: NodeId| &program.nodes[id].name;
    let ((first, _), (_, last)) = (*cycle.first()?, *cycle.last()?);
    let shown: Vec<_> =
        cycle.iter().map(|(node, _)| name(*node).to_string()).chain([name(first).to_string()]).collect();
    let headline = match cycle {
        [_] => format!("`{}` contains itself", name(first)),
        _ => format!("`{}` contains itself, through {}", name(first), shown.join(" → ")),
    };
    let mut diagnostic = Diagnostic::error(ids::CYCLE, headline, last.span)
        .label(format!("`{}` again", name(first)))
        .mark(program.nodes[first].span, format!("`{}` begins here", name(first)));
    let handlers = || cycle.iter().map(|(_, contained)| contained).filter(|contained| contained.handles);
    for handler in handlers().filter(|handler| handler.span != last.span) {
        diagnostic = diagnostic.mark(handler.span, "an error handler is part of the node whose place it takes");
    }
    Some(diagnostic.help(match handlers().next() {
        Some(_) => "let another node handle the error: what has failed cannot take its own place",
        None => "a flow runs once from its source to its end; let the source start another flow instead",
    }))
}
