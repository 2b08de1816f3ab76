//! Checks what is declared replicable. Requires: acyclic. Establishes: nothing replicable is declared to block, nor is
//! anything in it. Warns if a source has one instance although the node that it waits in could have several.
//!
//! An event loop runs a replicable source beside its flows, so a node that blocks there would hold up all of them, for
//! as long as no peer comes.

use crate::analyses::containment::callees_first;
use crate::analyses::fit::show;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Chain, Node, NodeId, Origin, Program, Source};
use std::collections::HashMap;

/// Reports replicable nodes that block, and abstract sources that hide a replicable node. O(size of the program).
pub fn check_replicable(program: &Program, diagnostics: &mut Diagnostics) {
    if program.nodes.iter().all(|(_, node)| !node.replicable) {
        return;
    }
    let order = callees_first(program);
    // A replicable node answers for itself.
    let blocking = first_within(program, &order, |node| node.blocking, |node| !node.replicable);
    let replicable = first_within(program, &order, |node| node.replicable, |_| true);
    for (id, node) in program.nodes.iter().filter(|(_, node)| node.replicable) {
        if let Some(inner) = blocking.get(&id) {
            diagnostics.push(blocks(node, &program.nodes[*inner]));
        }
    }
    for source in &program.sources {
        if let Origin::Node(application) = &source.origin
            && let node = &program.nodes[application.node]
            && !node.replicable
            && !blocking.contains_key(&application.node)
            && let Some(inner) = replicable.get(&application.node)
        {
            diagnostics.push(one_instance(source, node, &program.nodes[*inner]));
        }
    }
}

/// By node: itself where it `is` what is looked for, else the first such that its flow applies, in the order of the
/// text; nodes that are not to be entered have none for those around them.
fn first_within(
    program: &Program,
    callees_first: &[NodeId],
    is: impl Fn(&Node) -> bool,
    is_entered: impl Fn(&Node) -> bool,
) -> HashMap<NodeId, NodeId> {
    let mut found = HashMap::new();
    for id in callees_first {
        let node = &program.nodes[*id];
        let inner = node.chains().flat_map(Chain::applications).map(|application| application.node);
        let mut within = inner.filter(|inner| is_entered(&program.nodes[*inner]));
        let first = if is(node) { Some(*id) } else { within.find_map(|inner| found.get(&inner).copied()) };
        found.extend(first.map(|first| (*id, first)));
    }
    found
}

fn blocks(node: &Node, inner: &Node) -> Diagnostic {
    if node.name == inner.name {
        let headline = format!("`{}` is both replicable and blocking", node.name);
        return Diagnostic::error(ids::REPLICABLE_BLOCKS, headline, node.span)
            .help("remove `replicable`: the node would block an event loop with all its flows");
    }
    let headline = format!("`{}` is replicable, but `{}` in it is blocking", node.name, inner.name);
    Diagnostic::error(ids::REPLICABLE_BLOCKS, headline, node.span)
        .mark(inner.span, "blocking here")
        .help(format!("remove `replicable`, or let `{}` wait through the runtime and remove `blocking`", inner.name))
}

fn one_instance(source: &Source, node: &Node, inner: &Node) -> Diagnostic {
    let headline =
        format!("the source `{}` has only one instance, although `{}` in it is replicable", node.name, inner.name);
    let (inputs, outputs) = (show(node.inputs()), show(node.outputs()));
    Diagnostic::warning(ids::SOURCE_NOT_REPLICABLE, headline, source.span).mark(inner.span, "replicable here").help(
        format!(
            "if all of it may run in several instances, declare it so: `{} ({inputs}) => ({outputs}) replicable;`",
            node.name
        ),
    )
}
