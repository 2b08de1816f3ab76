//! Checks that the graph is acyclic. Requires: resolved. Establishes: no node reaches itself, so later passes may
//! recurse.
//!
//! A depth-first search with an explicit stack: a program may nest as deep as it likes. A handler that is a node counts
//! as part of the node it stands in for, since that node's failure runs it.

use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{HandlerTarget, NodeId, Program};
use flux_source::Span;

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
    reached: Vec<Vec<(NodeId, Span)>>,
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
            let Some((child, span)) = self.reached.get(node.index()).and_then(|all| all.get(next)).copied() else {
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
                    let path: Vec<NodeId> = open.iter().map(|(node, _)| *node).collect();
                    diagnostics.push(self.describe(&path, child, span));
                }
                State::Closed => {}
            }
        }
        left
    }

    fn describe(&self, path: &[NodeId], child: NodeId, span: Span) -> Diagnostic {
        let name = |id: NodeId| self.program.nodes[id].name.as_str();
        let cycle: Vec<_> = path.iter().copied().skip_while(|node| *node != child).collect();
        let shown: Vec<_> = cycle.iter().chain([&child]).map(|node| name(*node)).collect();
        let headline = match cycle.as_slice() {
            [_] => format!("`{}` contains itself", name(child)),
            _ => format!("`{}` contains itself, through {}", name(child), shown.join(" → ")),
        };
        let diagnostic = Diagnostic::error(ids::CYCLE, headline, span)
            .label(format!("`{}` again", name(child)))
            .mark(self.program.nodes[child].span, format!("`{}` begins here", name(child)));
        diagnostic.help("a flow runs once from its source to its end; let the source start another flow instead")
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

/// For each node those it contains, and those that stand in for it, with the place that says so.
fn reached(program: &Program) -> Vec<Vec<(NodeId, Span)>> {
    let contained = |(_, node): (NodeId, &flux_ir::program::Node)| {
        let applications = node.chains().flat_map(|chain| chain.applications());
        applications.map(|application| (application.node, application.span)).collect::<Vec<_>>()
    };
    let mut reached: Vec<_> = program.nodes.iter().map(contained).collect();
    for handler in &program.handlers {
        if let (HandlerTarget::Node(target), Some(Some(failing))) = (&handler.target, handler.path.last())
            && let Some(list) = reached.get_mut(failing.index())
        {
            list.push((*target, handler.span));
        }
    }
    reached
}
