//! Looks for slips of the pen. Requires: resolved. Establishes: no node that is named but once, without a declaration
//! or a flow, is nearly called like one that has either. Its signature could be inferred, and only the linker would
//! say.

use crate::check_constants::applications;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics, nearest};
use flux_ir::program::{Body, HandlerTarget, Node, NodeId, Program, split_name};
use std::collections::HashMap;

/// Names shorter than this are too alike to tell a slip from intention.
const COMPARED_LENGTH: usize = 4;

/// Among more nodes than this none is looked for, as each is compared with each.
const COMPARISON_LIMIT: usize = 2000;

/// Reports such nodes. O(nodes that are named once · nodes).
pub fn check_slips(program: &Program, diagnostics: &mut Diagnostics) {
    if program.nodes.len() > COMPARISON_LIMIT {
        return;
    }
    let mentions = mentions(program);
    let is_defined = |node: &Node| node.signature.is_some() || node.body != Body::Concrete;
    for (id, node) in program.nodes.iter() {
        if is_defined(node) || mentions.get(&id) != Some(&1) || node.name.len() < COMPARED_LENGTH {
            continue;
        }
        let module = split_name(&node.name).0;
        let others = program.nodes.iter().map(|(_, other)| other);
        let others = others.filter(|other| is_defined(other) && split_name(&other.name).0 == module);
        // `Step1` and `Step2` are meant to be two.
        let letters = |name: &str| name.chars().filter(|one| !one.is_ascii_digit()).collect::<String>();
        let others = others.filter(|other| letters(&other.name) != letters(&node.name));
        let Some(meant) = nearest(&node.name, others.map(|other| other.name.as_str())) else { continue };
        let headline = format!("`{}` is named only here, and nothing says what it is", node.name);
        let error = Diagnostic::error(ids::SIMILAR_NODE, headline, node.span);
        let error = match program.node_named(meant) {
            Some(other) => error.mark(program.nodes[other].span, "a similar name"),
            None => error,
        };
        diagnostics
            .push(error.help(format!("did you mean `{meant}`? Otherwise declare it: `{} (…) => (…);`", node.name)));
    }
}

/// How often each node is named in flows, sources, handlers and constraints.
fn mentions(program: &Program) -> HashMap<NodeId, usize> {
    let applied = applications(program).map(|application| application.node);
    let targets = program.sources.iter().map(|source| source.target);
    let handled = program.handlers.iter().flat_map(|handler| {
        let target = match handler.target {
            HandlerTarget::Node(node) => Some(node),
            HandlerTarget::Function(_) => None,
        };
        handler.path.iter().copied().flatten().chain(target)
    });
    let held = program.nodes.iter().filter(|(_, node)| !node.requirements.is_empty()).map(|(id, _)| id);
    let mut counts = HashMap::new();
    applied.chain(targets).chain(handled).chain(held).for_each(|node| *counts.entry(node).or_default() += 1);
    counts
}
