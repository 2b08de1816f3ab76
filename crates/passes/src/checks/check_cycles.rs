//! Checks that the graph is acyclic. Requires: resolved. Establishes: no node reaches itself, so later passes may
//! recurse.
//!
//! A depth-first search with an explicit stack: a program may nest as deep as it likes. A handler that is a node counts
//! as part of the node it stands in for, since that node's failure runs it.

use crate::analyses::walks::{Meeting, Walks};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Handler, HandlerTarget, Node, NodeId, Program};
use flux_source::Span;
use std::collections::BTreeSet;

/// The nodes in an order in which each comes after all that it reaches, if there is no cycle; else each cycle is
/// reported once, at the mention that closes it.
pub fn check_cycles(program: &Program, diagnostics: &mut Diagnostics) {
    let mut search = Search { program, reached: reached(program), state: vec![State::New; program.nodes.len()] };
    for id in program.nodes.ids() {
        search.from(id, diagnostics);
    }
}

/// The nodes, callees before callers. Requires: acyclic.
pub fn callees_first(program: &Program) -> Vec<NodeId> {
    let mut search = Search { program, reached: reached(program), state: vec![State::New; program.nodes.len()] };
    let mut unused = Diagnostics::new();
    program.nodes.ids().flat_map(|id| search.from(id, &mut unused)).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Closed,
}

struct Search<'a> {
    program: &'a Program,
    reached: Vec<Vec<Reached>>,
    state: Vec<State>,
}

impl Search<'_> {
    /// Visits all that `root` reaches and that is new; the nodes in the order in which they were left.
    fn from(&mut self, root: NodeId, diagnostics: &mut Diagnostics) -> Vec<NodeId> {
        let mut left = vec![];
        if self.state_of(root) != State::New {
            return left;
        }
        let mut open: Vec<(NodeId, usize)> = vec![(root, 0)];
        self.set(root, State::Open);
        while let Some((node, next)) = open.pop() {
            let Some(Reached { node: child, .. }) = self.reached(node, next) else {
                self.set(node, State::Closed);
                left.push(node);
                continue;
            };
            open.push((node, next + 1));
            match self.state_of(child) {
                State::New => {
                    self.set(child, State::Open);
                    open.push((child, 0));
                }
                State::Open => {
                    let cycle: Vec<_> = open.iter().copied().skip_while(|(node, _)| *node != child).collect();
                    diagnostics.push(self.describe(&cycle, child));
                }
                State::Closed => {}
            }
        }
        left
    }

    /// What `node` reaches as number `next`.
    fn reached(&self, node: NodeId, next: usize) -> Option<Reached> {
        self.reached.get(node.index())?.get(next).copied()
    }

    /// `cycle` has the nodes from `first` to the one that reaches it again, each with one more than the number of what
    /// it reaches there.
    fn describe(&self, cycle: &[(NodeId, usize)], first: NodeId) -> Diagnostic {
        let name = |id: NodeId| self.program.nodes[id].name.as_str();
        let steps: Vec<_> = cycle.iter().filter_map(|(node, next)| self.reached(*node, next.checked_sub(1)?)).collect();
        let shown: Vec<_> = cycle.iter().map(|(node, _)| name(*node)).chain([name(first)]).collect();
        let headline = match cycle {
            [_] => format!("`{}` contains itself", name(first)),
            _ => format!("`{}` contains itself, through {}", name(first), shown.join(" → ")),
        };
        let first_span = self.program.nodes[first].span;
        let span = steps.last().map_or(first_span, |step| step.span);
        let mut diagnostic = Diagnostic::error(ids::CYCLE, headline, span)
            .label(format!("`{}` again", name(first)))
            .mark(first_span, format!("`{}` begins here", name(first)));
        let handlers = || steps.iter().filter(|step| step.handles);
        for handler in handlers().filter(|handler| handler.span != span) {
            diagnostic = diagnostic.mark(handler.span, "an error handler is part of the node whose place it takes");
        }
        diagnostic.help(match handlers().next() {
            Some(_) => "let another node handle the error: what has failed cannot take its own place",
            None => "a flow runs once from its source to its end; let the source start another flow instead",
        })
    }

    fn state_of(&self, node: NodeId) -> State {
        self.state.get(node.index()).copied().unwrap_or(State::Closed)
    }

    fn set(&mut self, node: NodeId, state: State) {
        if let Some(slot) = self.state.get_mut(node.index()) {
            *slot = state;
        }
    }
}

/// A node that another contains, or that stands in for it.
#[derive(Clone, Copy)]
struct Reached {
    node: NodeId,
    /// The place that says so.
    span: Span,
    /// Whether it is an error handler.
    handles: bool,
}

/// For each node those it contains, and those that stand in for it.
fn reached(program: &Program) -> Vec<Vec<Reached>> {
    let contained = |(_, node): (NodeId, &Node)| {
        let applications = node.chains().flat_map(|chain| chain.applications());
        applications.map(|it| Reached { node: it.node, span: it.span, handles: false }).collect::<Vec<_>>()
    };
    let mut reached: Vec<_> = program.nodes.iter().map(contained).collect();
    for (failing, handler) in handled(program) {
        if let (HandlerTarget::Node(target), Some(list)) = (&handler.target, reached.get_mut(failing.index())) {
            list.push(Reached { node: *target, span: handler.span, handles: true });
        }
    }
    reached
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
