//! Checks that the graph is acyclic. Requires: resolved. Establishes: no node reaches itself, so later passes may
//! recurse; no body calls itself, so that it ends.

use crate::analyses::containment::{Contained, search};
use crate::analyses::depth_first::depth_first;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::compute::{Callable, calls_of};
use flux_ir::program::{NodeId, Program};
use flux_source::Span;
use std::collections::HashMap;

/// Reports each cycle once, at the mention that closes it. O(size of the program).
pub fn check_cycles(program: &Program, diagnostics: &mut Diagnostics) {
    search(program, |cycle| {
        if let Some(error) = describe(program, cycle) {
            diagnostics.push(error);
        }
    });
    search_calls(program, diagnostics);
}

/// Reports each cycle of calls in bodies once, at the call that closes it.
fn search_calls(program: &Program, diagnostics: &mut Diagnostics) {
    let all = calls_of(program);
    let indices: HashMap<Callable, usize> =
        all.iter().enumerate().map(|(index, (caller, _))| (*caller, index)).collect();
    let calls: Vec<Vec<(usize, Span)>> = all
        .iter()
        .map(|(_, calls)| calls.iter().filter_map(|call| Some((*indices.get(&call.callee)?, call.span))).collect())
        .collect();
    let edges: Vec<Vec<usize>> = calls.iter().map(|calls| calls.iter().map(|(callee, _)| *callee).collect()).collect();
    let named = |index: usize| match all.get(index) {
        Some((Callable::Node(node), _)) => program.nodes[*node].name.to_string(),
        Some((Callable::Predicate(predicate), _)) => program.predicates[*predicate].name.to_string(),
        None => String::new(),
    };
    depth_first(&edges, |cycle| {
        let Some((first, (last, call))) = cycle.first().map(|(first, _)| *first).zip(cycle.last().copied()) else {
            return;
        };
        let Some((_, span)) = calls.get(last).and_then(|calls| calls.get(call)) else { return };
        let shown: Vec<_> = cycle.iter().map(|(caller, _)| named(*caller)).chain([named(first)]).collect();
        let headline = match cycle {
            [_] => format!("`{}` calls itself", named(first)),
            _ => format!("`{}` calls itself, through {}", named(first), shown.join(" → ")),
        };
        let error = Diagnostic::error(ids::CYCLE, headline, *span).label(format!("`{}` again", named(first)));
        diagnostics.push(error.help("a body always ends, so it has no recursion: go through a list, `for x in …`"));
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
        diagnostic = diagnostic.mark(handler.span, "an error handler counts as part of the node that it handles");
    }
    Some(diagnostic.help(match handlers().next() {
        Some(_) => "let another node handle the error: a node cannot handle its own failure",
        None => "a flow runs once from its source to its end; let the source start another flow instead",
    }))
}
