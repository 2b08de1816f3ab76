//! Which error handlers the failure of a node goes to, by the path on which it was reached.
//!
//! A path is matched against the end of a walk: the nodes that come one after the other before the node that fails,
//! and that node. Before a step comes the step before it in its chain; before the first step of a flow, the abstract
//! node whose flow it is; before the target of a source, the source; before an error handler, the node that failed. So
//! an abstract node that has ended counts as one node. A parallel step and a heartbeat have no name: only `*` is them.
//!
//! All paths are matched at once, by an automaton whose states are the sets of their beginnings that the walk ends in
//! (the subset construction of Rabin and Scott, "Finite automata and their decision problems", IBM J. 3(2), 1959). Its
//! states are made as they are needed; a program whose handlers are all for one node has one. Without `*` there are no
//! more than the paths have nodes (Aho and Corasick, "Efficient string matching", CACM 18(6), 1975). Each `*` may
//! double them, so there is a limit.

use flux_ir::program::{Handler, NodeId, Program};
use std::collections::HashMap;

/// What the handlers' paths can know of the walk so far: a state of the automaton.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Context(usize);

impl Context {
    /// Before the first node of a walk: nothing has come before it.
    pub const START: Self = Self(0);
}

/// The walk ends in the first `length` nodes of the path of a handler, given by its index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Beginning {
    length: usize,
    handler: usize,
}

/// The handlers of a program, by their paths.
pub struct HandlerPaths<'a> {
    program: &'a Program,
    /// Those whose path is one node, by that node: none is `*`.
    single: HashMap<Option<NodeId>, Vec<usize>>,
    /// The others, by the first node of their path.
    longer: HashMap<Option<NodeId>, Vec<usize>>,
    states: Vec<Vec<Beginning>>,
    numbers: HashMap<Vec<Beginning>, Context>,
    transitions: HashMap<(Context, Option<NodeId>), Context>,
    limit: usize,
    /// Whether the walks had more states than the limit, some of which were then taken for the first.
    pub overflowed: bool,
}

/// How many states there may be beside those that paths without `*` have.
const STATE_LIMIT: usize = 256;

impl<'a> HandlerPaths<'a> {
    /// The paths of the handlers of `program`. O(handlers).
    pub fn new(program: &'a Program) -> Self {
        let (mut single, mut longer): (HashMap<_, Vec<_>>, HashMap<_, Vec<_>>) = (HashMap::new(), HashMap::new());
        for (index, handler) in program.handlers.iter().enumerate() {
            if let Some((first, rest)) = handler.path.split_first() {
                let by_first = if rest.is_empty() { &mut single } else { &mut longer };
                by_first.entry(*first).or_default().push(index);
            }
        }
        let numbers = HashMap::from([(vec![], Context::START)]);
        let limit = STATE_LIMIT + program.handlers.iter().map(|handler| handler.path.len()).sum::<usize>();
        let (states, transitions) = (vec![vec![]], HashMap::new());
        Self { program, single, longer, states, numbers, transitions, limit, overflowed: false }
    }

    /// The context after `node`, which none is where only `*` stands for it.
    pub fn after(&mut self, context: Context, node: Option<NodeId>) -> Context {
        if self.longer.is_empty() {
            return context;
        }
        if let Some(known) = self.transitions.get(&(context, node)) {
            return *known;
        }
        let unnamed = node.and_then(|_| self.longer.get(&None));
        let begun = self.longer.get(&node).into_iter().chain(unnamed).flatten();
        let mut state: Vec<_> = begun.map(|handler| Beginning { length: 1, handler: *handler }).collect();
        let goes_on = |one: &Beginning| one.length + 1 < self.path(one.handler).len() && self.takes(*one, node);
        let going_on = self.state(context).iter().filter(|one| goes_on(one));
        state.extend(going_on.map(|one| Beginning { length: one.length + 1, ..*one }));
        state.sort_unstable();
        let next = self.number(state);
        self.transitions.insert((context, node), next);
        next
    }

    fn number(&mut self, state: Vec<Beginning>) -> Context {
        if let Some(known) = self.numbers.get(&state) {
            return *known;
        }
        if self.states.len() > self.limit {
            self.overflowed = true;
            return Context::START;
        }
        let next = Context(self.states.len());
        self.numbers.insert(state.clone(), next);
        self.states.push(state);
        next
    }

    /// The handlers whose path a walk ends in that goes on with `node` after `context`; those with the longest come
    /// first, and among those the ones that were written first. A handler never takes its own place.
    pub fn matching(&self, context: Context, node: NodeId) -> Vec<usize> {
        let is_last =
            |one: &&Beginning| one.length + 1 == self.path(one.handler).len() && self.takes(**one, Some(node));
        let longer = self.state(context).iter().filter(is_last).map(|one| one.handler);
        let single = [Some(node), None].into_iter().filter_map(|name| self.single.get(&name)).flatten().copied();
        let is_itself = |handler: &Handler| handler.path.last() == Some(&None) && handler.target.node() == Some(node);
        let mut found: Vec<_> = longer.chain(single).filter(|one| !self.handler(*one).is_some_and(is_itself)).collect();
        found.sort_by_key(|handler| (std::cmp::Reverse(self.path(*handler).len()), *handler));
        found
    }

    /// The handler that takes the place of `node` where it is reached after `context` and fails.
    pub fn handler_of(&self, context: Context, node: NodeId) -> Option<&'a Handler> {
        self.handler(*self.matching(context, node).first()?)
    }

    /// What is known of the way to a node in whose flow `context` holds, as part of a name: `_after_CheckCache`; empty
    /// where nothing is.
    pub fn way(&self, context: Context) -> String {
        let Some(longest) = self.state(context).last() else { return String::new() };
        let before = self.path(longest.handler).get(..longest.length - 1).unwrap_or_default();
        let names = before.iter().flatten().map(|node| self.program.nodes[*node].name.joined("_"));
        let names: Vec<_> = names.collect();
        if names.is_empty() { String::new() } else { format!("_after_{}", names.join("_")) }
    }

    fn handler(&self, index: usize) -> Option<&'a Handler> {
        self.program.handlers.get(index)
    }

    fn path(&self, handler: usize) -> &'a [Option<NodeId>] {
        self.handler(handler).map_or(&[], |handler| &handler.path)
    }

    /// Whether the path goes on with `node` after this beginning.
    fn takes(&self, beginning: Beginning, node: Option<NodeId>) -> bool {
        self.path(beginning.handler).get(beginning.length).is_some_and(|next| next.is_none() || *next == node)
    }

    fn state(&self, context: Context) -> &[Beginning] {
        self.states.get(context.0).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_ir::text::parse_program;

    /// A program of four nodes with these lines.
    fn program(handlers: &str) -> Program {
        parse_program(&format!("program p\nnode A\nnode B\nnode C\nnode D\n{handlers}\n")).unwrap()
    }

    /// The context after these nodes, `AB`; `-` is one without a name.
    fn after(paths: &mut HandlerPaths<'_>, walk: &str) -> Context {
        walk.chars().fold(Context::START, |context, node| {
            let node = paths.program.node_named(&node.to_string());
            paths.after(context, node)
        })
    }

    #[test]
    fn a_context_knows_only_of_what_a_path_may_go_on_after() {
        let program = program("handle error A -> B -> C => function F");
        let mut paths = HandlerPaths::new(&program);
        for nothing in ["C", "B", "ABC", "ABD", "A-", "ABCB"] {
            assert_eq!(after(&mut paths, nothing), Context::START, "{nothing}");
        }
        let (first, second) = (after(&mut paths, "A"), after(&mut paths, "AB"));
        assert_eq!([after(&mut paths, "DA"), after(&mut paths, "ABA")], [first; 2]);
        assert_eq!(after(&mut paths, "AAB"), second);
        assert_eq!(paths.states.len(), 3);
        assert_eq!([paths.way(Context::START), paths.way(first), paths.way(second)], ["", "", "_after_A"]);
    }

    #[test]
    fn of_the_paths_that_a_walk_ends_in_the_longest_comes_first() {
        let program = program(
            "handle error C => function F\nhandle error B -> C => function G\nhandle error A -> * -> C => function H\n\
             handle error * => function I\nhandle error B -> * => node C",
        );
        let mut paths = HandlerPaths::new(&program);
        let mut matching = |walk: &str| {
            let context = after(&mut paths, walk);
            paths.matching(context, program.node_named("C").unwrap())
        };
        assert_eq!(matching(""), [0, 3]);
        assert_eq!(matching("B"), [1, 0, 3], "a handler never takes its own place");
        assert_eq!(matching("AB"), [2, 1, 0, 3]);
        assert_eq!(matching("A-"), [2, 0, 3]);
        assert_eq!(matching("ABD"), [0, 3]);
    }
}
