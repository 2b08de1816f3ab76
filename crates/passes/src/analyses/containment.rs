//! Which nodes a node contains: those that its flow applies, and those that stand in for it when it fails.
//!
//! A depth-first search with an explicit stack: a program may nest as deep as it likes. A handler that is a node counts
//! as part of the node it stands in for, since that node's failure runs it.

use crate::analyses::walks::{Meeting, Walks};
use flux_ir::program::{Handler, HandlerTarget, Node, NodeId, Program};
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
    let next_of = |node: NodeId, next: usize| contained.get(node.index())?.get(next).copied();
    let mut states = vec![State::New; program.nodes.len()];
    let mut left = vec![];
    for root in program.nodes.ids() {
        if state(&states, root) != State::New {
            continue;
        }
        let mut open: Vec<(NodeId, usize)> = vec![(root, 0)];
        set(&mut states, root, State::Open);
        while let Some((node, next)) = open.pop() {
            let Some(Contained { node: child, .. }) = next_of(node, next) else {
                set(&mut states, node, State::Closed);
                left.push(node);
                continue;
            };
            open.push((node, next + 1));
            match state(&states, child) {
                State::New => {
                    set(&mut states, child, State::Open);
                    open.push((child, 0));
                }
                State::Open => {
                    let steps = open.iter().skip_while(|(node, _)| *node != child);
                    let steps = steps.filter_map(|(node, next)| Some((*node, next_of(*node, next.checked_sub(1)?)?)));
                    cycle(&steps.collect::<Vec<_>>());
                }
                State::Closed => {}
            }
        }
    }
    left
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Closed,
}

fn state(states: &[State], node: NodeId) -> State {
    states.get(node.index()).copied().unwrap_or(State::Closed)
}

fn set(states: &mut [State], node: NodeId, state: State) {
    if let Some(slot) = states.get_mut(node.index()) {
        *slot = state;
    }
}

/// For each node those that it contains.
fn contained(program: &Program) -> Vec<Vec<Contained>> {
    let applied = |(_, node): (NodeId, &Node)| {
        let applications = node.chains().flat_map(|chain| chain.applications());
        applications.map(|it| Contained { node: it.node, span: it.span, handles: false }).collect::<Vec<_>>()
    };
    let mut contained: Vec<_> = program.nodes.iter().map(applied).collect();
    for (failing, handler) in handled(program) {
        if let (HandlerTarget::Node(target), Some(list)) = (&handler.target, contained.get_mut(failing.index())) {
            list.push(Contained { node: *target, span: handler.span, handles: true });
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
