//! Which nodes a node contains: those that its flow applies, and those that stand in for it when it fails.
//!
//! A handler that is a node counts as part of the node it stands in for, since that node's failure runs it.

use crate::analyses::depth_first::depth_first;
use crate::analyses::walks::{Meeting, Walks};
use flux_ir::arena::ArenaId;
use flux_ir::program::{Handler, Node, NodeId, Program};
use flux_source::Span;
use std::collections::BTreeSet;

/// A node that another contains.
#[derive(Clone, Copy, Debug)]
pub struct Contained {
    /// Which.
    pub node: NodeId,
    /// The place that says so.
    pub span: Span,
    /// Whether it stands in for the other as its error handler.
    pub handles: bool,
}

/// The nodes, each after all that it contains. Requires: acyclic. O(size of the program).
pub fn callees_first(program: &Program) -> Vec<NodeId> {
    search(program, |_| {})
}

/// As [`callees_first`], where there may be cycles: each is told once, as its nodes with what each contains of it, the
/// last one the first node again. Then the order is that in which the search has left them.
pub fn search(program: &Program, mut cycle: impl FnMut(&[(NodeId, Contained)])) -> Vec<NodeId> {
    let contained = contained(program);
    let edges: Vec<Vec<usize>> =
        contained.iter().map(|list| list.iter().map(|contained| contained.node.index()).collect()).collect();
    let left = depth_first(&edges, |steps| {
        let steps =
            steps.iter().filter_map(|(node, next)| Some((ArenaId::new(*node), *contained.get(*node)?.get(*next)?)));
        cycle(&steps.collect::<Vec<_>>());
    });
    left.into_iter().map(ArenaId::new).collect()
}

/// For each node those that it contains.
fn contained(program: &Program) -> Vec<Vec<Contained>> {
    let applied = |(_, node): (NodeId, &Node)| {
        let applications = node.chains().flat_map(|chain| chain.applications());
        applications.map(|it| Contained { node: it.node, span: it.span, handles: false }).collect::<Vec<_>>()
    };
    let mut contained: Vec<_> = program.nodes.iter().map(applied).collect();
    for (failing, handler) in handled(program) {
        if let (Some(node), Some(list)) = (handler.target.node(), contained.get_mut(failing.index())) {
            list.push(Contained { node, span: handler.span, handles: true });
        }
    }
    contained
}

/// Each node with a handler that may take its place, whatever the path: where that ends in `*`, every node in which a
/// walk ends that it matches.
fn handled(program: &Program) -> Vec<(NodeId, &Handler)> {
    let named = |handler: &Handler| handler.path.last().copied().flatten();
    let handlers = program.handlers.iter();
    let mut handled: Vec<_> = handlers.filter_map(|handler| Some((named(handler)?, handler))).collect();
    if handled.len() < program.handlers.len() {
        let walks = Walks::of(program);
        let matching = |meeting: &Meeting| walks.paths.matching(meeting.before, meeting.node);
        let pairs = walks.meetings.iter().flat_map(|it| matching(it).into_iter().map(|handler| (handler, it.node)));
        let any = pairs.collect::<BTreeSet<_>>().into_iter();
        let any = any.filter_map(|(handler, node)| Some((node, program.handlers.get(handler)?)));
        handled.extend(any.filter(|(_, handler)| named(handler).is_none()));
    }
    handled
}
