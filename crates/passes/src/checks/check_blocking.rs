//! Checks how blocking nodes use connections. Requires: every signature is known. Establishes: nothing; warns of a
//! blocking node that keeps a connection, or makes one. Event loops run such a node on a thread beside them, and a
//! connection may only be used by its own loop, so the server would end. Under the other runtimes both are correct, and
//! a connection that a node only passes on is correct everywhere.

use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Node, Parameter, Program, Source};
use std::cmp::Ordering;
use std::collections::HashSet;

/// Warns of such nodes. O(parameters).
pub fn check_blocking(program: &Program, diagnostics: &mut Diagnostics) {
    // A source has a thread of its own, and what it gives comes to a loop later.
    let sources: HashSet<_> = program.sources.iter().filter_map(Source::producer).collect();
    let nodes = program.nodes.iter().filter(|(id, node)| node.blocking && !sources.contains(id));
    for (_, node) in nodes.filter(|(_, node)| node.body.is_external()) {
        check(node).into_iter().for_each(|warning| diagnostics.push(warning));
    }
}

fn check(node: &Node) -> Option<Diagnostic> {
    let (taken, given) = (connections(node.inputs()), connections(node.outputs()));
    let (parameter, headline, help) = match given.len().cmp(&taken.len()) {
        Ordering::Equal => return None,
        Ordering::Less => (
            taken.first(),
            format!("`{}` is blocking and keeps a connection, which only its event loop may use", node.name),
            "pass the connection on, and let a later step send or close; a \
             node that waits only for connections need not be `blocking`",
        ),
        Ordering::Greater => (
            given.first(),
            format!("`{}` is blocking and makes a connection, which no event loop may use", node.name),
            "connect in a node that is not `blocking`: `flux::connect` and `tcp.Connect` do not block an event loop",
        ),
    };
    let span = parameter.map_or(node.span, |parameter| parameter.span);
    let warning = Diagnostic::warning(ids::BLOCKING_CONNECTION, headline, span);
    Some(warning.mark(node.span, "is blocking").help(help))
}

fn connections(list: &[Parameter]) -> Vec<&Parameter> {
    list.iter().filter(|parameter| parameter.ty.is_connection()).collect()
}
