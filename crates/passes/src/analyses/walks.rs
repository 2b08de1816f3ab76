//! Every way in which the nodes of a program are reached, as far as the paths of error handlers tell them apart.
//!
//! A walk begins with a source, or with what nothing else reaches. From there a breadth-first search meets every
//! application of a node, and every handler that is a node, once for each context in which the flow around it begins:
//! see [`crate::analyses::handler_paths`]. It ends whether or not the graph is acyclic, as contexts are finitely many.

use crate::analyses::handler_paths::{Context, HandlerPaths};
use flux_ir::program::{Action, Chain, NodeId, Origin, Program, Source};
use flux_source::deep;
use std::collections::{BTreeSet, HashSet, VecDeque};

/// The walks of a program.
pub struct Walks<'a> {
    program: &'a Program,
    /// What tells them apart.
    pub paths: HandlerPaths<'a>,
    /// Every place in which a node is reached, in the order in which they were found.
    pub meetings: Vec<Meeting>,
    /// By node: the contexts in which its flow begins.
    entered: Vec<BTreeSet<Context>>,
    /// The failures for which a node takes the place of another: that other, and the context before it.
    failed: HashSet<(NodeId, Context)>,
    open: VecDeque<Open>,
    /// What was come by, each with what came before it.
    links: Vec<Link>,
}

/// A node is reached.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// The node.
    pub node: NodeId,
    /// The context before it.
    pub before: Context,
    /// A walk that ends in it.
    link: usize,
}

/// The end of a walk.
#[derive(Clone, Copy, Debug)]
struct Link {
    node: Option<NodeId>,
    before: Option<usize>,
}

/// What is still to be gone along.
enum Open {
    /// The flow of a node.
    Flow(NodeId, At),
    /// A node that takes the place of the one before it.
    Handler(NodeId, At),
}

/// How far along a walk we are.
#[derive(Clone, Copy)]
struct At {
    context: Context,
    link: Option<usize>,
}

/// The beginning of every walk.
const NOWHERE: At = At { context: Context::START, link: None };

impl<'a> Walks<'a> {
    /// All walks of `program`. O(size of the program · contexts); a program without handlers on paths has one context.
    pub fn of(program: &'a Program) -> Self {
        let mut walks = Self::new(program);
        for source in &program.sources {
            walks.produce(source);
            walks.run(source);
        }
        walks.follow();
        // What no source reaches is compiled too; what nothing applies comes first, so that what it reaches is reached.
        let applied: HashSet<_> = program
            .nodes
            .iter()
            .flat_map(|(_, node)| node.chains().flat_map(Chain::applications))
            .map(|application| application.node)
            .collect();
        for first in [true, false] {
            for (id, node) in program.nodes.iter() {
                let is_new = walks.entered.get(id.index()).is_some_and(BTreeSet::is_empty);
                if is_new && !node.body.is_leaf() && first != applied.contains(&id) {
                    walks.meet(NOWHERE, id);
                    walks.follow();
                }
            }
        }
        walks
    }

    /// No walk yet, for those who ask where some sources lead: they begin those walks, and [`Self::follow`] them.
    pub fn new(program: &'a Program) -> Self {
        Self {
            program,
            paths: HandlerPaths::new(program),
            meetings: vec![],
            entered: vec![BTreeSet::new(); program.nodes.len()],
            failed: HashSet::new(),
            open: VecDeque::new(),
            links: vec![],
        }
    }

    /// Begins the walks inside a source, which end where it gives its values.
    pub fn produce(&mut self, source: &Source) {
        if let Origin::Node(application) = &source.origin {
            self.meet(NOWHERE, application.node);
        }
    }

    /// Begins the walks of the flows that a source starts.
    pub fn run(&mut self, source: &Source) {
        let after = self.pass(NOWHERE, source.producer());
        self.meet(after, source.target);
    }

    /// Goes on with all walks that were begun.
    pub fn follow(&mut self) {
        while let Some(open) = self.open.pop_front() {
            match open {
                Open::Handler(target, at) => _ = self.meet(at, target),
                Open::Flow(node, at) => {
                    let program = self.program;
                    program.nodes[node].chains().for_each(|chain| self.along(chain, at));
                }
            }
        }
    }

    /// The contexts in which the flow of an abstract node begins: those of which less is known first.
    pub fn entered(&self, node: NodeId) -> Vec<Context> {
        let mut contexts: Vec<_> = self.entered.get(node.index()).into_iter().flatten().copied().collect();
        contexts.sort_by_key(|context| self.paths.way(*context).len());
        contexts
    }

    /// The nodes of a walk that ends in a meeting, in order; `*` for what has no name.
    pub fn walk(&self, meeting: &Meeting) -> Vec<String> {
        let mut names = vec![];
        let mut next = Some(meeting.link);
        while let Some(link) = next.and_then(|at| self.links.get(at)) {
            names.push(link.node.map_or("*".to_owned(), |node| self.program.nodes[node].name.to_string()));
            next = link.before;
        }
        names.reverse();
        names
    }

    /// What comes right before a meeting: nothing, or a node, or what has no name.
    pub fn just_before(&self, meeting: &Meeting) -> Option<Option<NodeId>> {
        let before = self.links.get(meeting.link)?.before?;
        self.links.get(before).map(|link| link.node)
    }

    fn along(&mut self, chain: &Chain, mut at: At) {
        deep(|| {
            for step in &chain.steps {
                at = match &step.action {
                    Action::Apply(application) => self.meet(at, application.node),
                    Action::Parallel(parallel) => {
                        parallel.branches.iter().for_each(|branch| self.along(branch, at));
                        self.pass(at, None)
                    }
                    Action::Each(each) => {
                        self.along(&each.chain, at);
                        self.pass(at, None)
                    }
                };
            }
        })
    }

    /// Reaches a node; gives where we are after it.
    fn meet(&mut self, at: At, node: NodeId) -> At {
        let after = self.pass(at, Some(node));
        self.meetings.push(Meeting { node, before: at.context, link: self.links.len() - 1 });
        if let Some(target) = self.paths.handler_of(at.context, node).and_then(|handler| handler.target.node())
            && self.failed.insert((node, at.context))
        {
            self.open.push_back(Open::Handler(target, after));
        }
        if let Some(contexts) = self.entered.get_mut(node.index())
            && contexts.insert(after.context)
        {
            self.open.push_back(Open::Flow(node, after));
        }
        after
    }

    /// Comes by something; gives where we are after it.
    fn pass(&mut self, at: At, node: Option<NodeId>) -> At {
        self.links.push(Link { node, before: at.link });
        At { context: self.paths.after(at.context, node), link: Some(self.links.len() - 1) }
    }
}
