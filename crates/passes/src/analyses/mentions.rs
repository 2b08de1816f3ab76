//! Where a program names its nodes.

use flux_ir::compute::{Callable, calls_of};
use flux_ir::program::{Application, NodeId, Origin, Program};

/// Every step, and every source that is a node.
pub fn applications(program: &Program) -> impl Iterator<Item = &Application> {
    let in_chains = program.nodes.iter().flat_map(|(_, node)| node.chains()).flat_map(|chain| chain.applications());
    let in_sources = program.sources.iter().filter_map(|source| match &source.origin {
        Origin::Node(application) => Some(application),
        Origin::Timer(_) => None,
    });
    in_chains.chain(in_sources)
}

/// The nodes that flows, sources, handlers, bodies and functions name, each as often as they do.
pub fn named_nodes(program: &Program) -> impl Iterator<Item = NodeId> {
    let applied = applications(program).map(|application| application.node);
    let targets = program.sources.iter().map(|source| source.target);
    let handled =
        program.handlers.iter().flat_map(|handler| handler.path.iter().copied().flatten().chain(handler.target.node()));
    let called = calls_of(program).into_iter().flat_map(|(_, calls)| calls).filter_map(|call| match call.callee {
        Callable::Node(node) => Some(node),
        Callable::Predicate(_) => None,
    });
    let given = program.externals.iter().flat_map(|(_, external)| external.functions.iter().copied());
    applied.chain(targets).chain(handled).chain(called).chain(given)
}
