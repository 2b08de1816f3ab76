//! The paths through a flow and their numbers.
//!
//! Flow graphs are acyclic, so each path can be given a number (Ball and Larus, "Optimally profiling and tracing
//! programs", TOPLAS 16(4), 1994), with one addition on an edge. Ours are counted forwards: `P(v)` is the number of
//! paths from the start to the vertex `v`, a path that arrives at `v` has a number below `P(v)`, and an edge into a
//! join adds the number of paths that the edges before it bring. Structured functions have joins only at their exits
//! and at [`End::Resume`], so a straight flow adds nothing at all, and the numbers of each [`Exit`] are dense by
//! themselves.
//!
//! A call of a function with `N` paths to an exit multiplies: `before * N + own`. Thus a shared function is numbered
//! once, whoever calls it. Where a product would exceed [`LIMIT`], the call is cut: the callee's paths are counted by
//! themselves and count as one in the caller. Where a sum would, after scores of fallbacks in one function, those who
//! come from the fallback are no longer told apart from those who did not need it; such a path shows `...` there. It
//! begins there, too, unless the number at that point is sure to be that of what comes before.
//!
//! A parallel step is a call of all its branches, whose numbers are the digits of its own, that of the last branch the
//! lowest. Where all are done, a digit is a number of the branch's paths to that exit. Else it is one of all its paths,
//! those that are done first, then the failed and the ended ones: so the step has, by these exits, some numbers that
//! are those of no path. Where it is cut, each branch is counted by itself. A step that runs a function for each
//! element of a list is always cut, as nobody knows how many elements there will be.
//!
//! A number is read back from an exit towards the start: of the edges into a vertex the one with the largest offset not
//! above the number was taken; at a call the remainder by the radix is the callee's own number.

use crate::arena::Arena;
use crate::external::{External, ExternalId};
use crate::flow::{Block, Branch, Callee, Each, End, Exit, Exits, Flow, Function, FunctionId, Step, StepPaths};
use crate::program::NodeId;
use flux_source::deep;
use std::collections::HashMap;

/// The largest count of paths to one point, which leaves a register room for the sum over 65,536 exits.
pub const LIMIT: u64 = 1 << 48;

/// The graph that path numbers run over, as tables: what the server carries and the tools read.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct PathGraph {
    /// One for each function of the flow, by its index.
    pub functions: Vec<PathFunction>,
    /// The vertices of all functions.
    pub vertices: Vec<Vertex>,
    /// The edges into all vertices, those of one vertex side by side, offsets ascending.
    pub edges: Vec<Edge>,
}

/// Something on a path that is shown. Reports give it words: [`Event::text`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Event {
    /// A node was called.
    Node(NodeId),
    /// A function in C++ that is no node's was called: to handle an error.
    External(ExternalId),
    /// This line of the dispatch of a function was taken.
    Line(FunctionId, usize),
    /// A function whose paths are counted by themselves was called.
    Function(FunctionId),
    /// What comes before has failed.
    Error,
    /// A parallel step begins, with its first branch.
    Fork,
    /// Its next branch.
    Branch,
    /// It ends.
    Join,
    /// Whether a fallback was needed is not known.
    Either,
}

/// The part of a graph that stands for a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathFunction {
    /// The function's name.
    pub name: String,
    /// How many paths lead to each exit.
    pub paths: Exits,
    /// The vertices of the exits, in the order of [`Exit::ALL`].
    pub exits: [usize; 3],
}

/// A point on a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vertex {
    /// What happened there.
    pub kind: VertexKind,
    /// The first of its incoming edges in [`PathGraph::edges`].
    pub first_edge: usize,
    /// How many edges come in; none for a start, for what cannot be reached, and where it is not known from where.
    pub edge_count: usize,
}

/// What happened at a vertex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VertexKind {
    /// The function began.
    Start,
    /// Paths come together; nothing to show.
    Join,
    /// Something that is shown.
    Event(Event),
    /// A call of the function came back by the exit.
    Call(FunctionId, Exit),
    /// As `Call`, with a callee whose paths are counted by themselves: it is one path here.
    Cut(FunctionId, Exit),
    /// A branch of a parallel step came back by whichever exit: its number is one of those of [`any`].
    Any(FunctionId),
}

/// A way into a vertex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The vertex it comes from.
    pub from: usize,
    /// What it adds to the path register.
    pub offset: u64,
}

/// Numbers the paths of every function: fills in all offsets, [`Step::paths`], [`Function::fault`] and
/// [`Function::paths`]. O(size of the flow).
pub fn number(flow: &mut Flow) {
    let mut known: HashMap<FunctionId, Exits> = HashMap::new();
    for (id, function) in flow.functions.iter_mut() {
        let mut counter = Counter { known: &known, totals: Exits::default() };
        counter.block(&mut function.body, 1, 0);
        if let Some(offset) = &mut function.fault {
            *offset = counter.totals.failed;
            counter.totals.failed += 1;
        }
        function.paths = counter.totals;
        known.insert(id, function.paths);
    }
}

/// Counts the paths of one function.
struct Counter<'a> {
    known: &'a HashMap<FunctionId, Exits>,
    totals: Exits,
}

impl Counter<'_> {
    /// Numbers a block at whose start `arriving` paths arrive. In a failure block, `beside` paths reach the point where
    /// a `Resume` goes on; the result is how many more do so from here.
    fn block(&mut self, block: &mut Block, mut arriving: u64, beside: u64) -> u64 {
        deep(|| {
            for step in &mut block.steps {
                arriving = self.step(step, arriving);
            }
            let totals = &mut self.totals;
            let mut leave = |total: fn(&mut Exits) -> &mut u64, offset: &mut u64| {
                let total = total(totals);
                *offset = *total;
                *total = total.saturating_add(arriving);
            };
            match &mut block.end {
                End::Done { offset, .. } => leave(|totals| &mut totals.done, offset),
                End::Failed { offset } => leave(|totals| &mut totals.failed, offset),
                End::Ended { offset } => leave(|totals| &mut totals.ended, offset),
                End::Resume { offset, .. } | End::GoOn { offset } => {
                    *offset = resume_offset(beside, arriving);
                    return (*offset + arriving).max(beside) - beside;
                }
                End::Dispatch { lines, unmatched } => {
                    if let Some(offset) = unmatched {
                        leave(|totals| &mut totals.failed, offset);
                    }
                    for line in lines {
                        self.block(&mut line.block, arriving, 0);
                    }
                }
            }
            0
        })
    }

    /// Numbers a step before which `arriving` paths arrive; the result is how many go on after it.
    fn step(&mut self, step: &mut Step, arriving: u64) -> u64 {
        let counted = match &step.callee {
            Callee::Function(callee) => self.known.get(callee).copied().unwrap_or_default(),
            Callee::Fork(branches) => self.fork(branches),
            Callee::Each(each) => self.each(each),
            Callee::Node(_) | Callee::External { .. } => {
                step.paths = StepPaths::default();
                let resumed = self.block(&mut step.failure, arriving, arriving);
                return arriving.saturating_add(resumed);
            }
        };
        let fits = |count: u64| arriving.checked_mul(count).is_some_and(|product| product <= LIMIT);
        let is_each = matches!(step.callee, Callee::Each(_));
        let cut = is_each || !Exit::ALL.iter().all(|exit| fits(counted.get(*exit)));
        let radix = if cut { one_each(counted) } else { counted };
        let leaving = |exit| arriving.saturating_mul(radix.get(exit));
        step.paths = StepPaths { save: arriving > 1 || cut, cut, radix, ended_offset: self.totals.ended };
        self.totals.ended = self.totals.ended.saturating_add(leaving(Exit::Ended));
        let done = leaving(Exit::Done);
        done.saturating_add(self.block(&mut step.failure, leaving(Exit::Failed), done))
    }

    /// The ways out of an each step: without an element it is done.
    fn each(&self, each: &Each) -> Exits {
        let known = self.known.get(&each.function).copied().unwrap_or_default();
        Exits { done: 1, ..one_each(known) }
    }

    /// The paths of a parallel step: all branches done; or any other combination of their exits, where there is one.
    fn fork(&self, branches: &[Branch]) -> Exits {
        let known = |branch: &Branch| self.known.get(&branch.function).copied().unwrap_or_default();
        let paths: Vec<_> = branches.iter().map(known).collect();
        let product = |of: fn(Exits) -> u64| paths.iter().fold(1, |product: u64, one| product.saturating_mul(of(*one)));
        let others = |exit| if paths.iter().any(|one| one.get(exit) > 0) { product(any) } else { 0 };
        Exits { done: product(|one| one.done), failed: others(Exit::Failed), ended: others(Exit::Ended) }
    }
}

/// How many paths lead to whichever exit: numbered those that are done first, then the failed and the ended ones.
pub fn any(paths: Exits) -> u64 {
    paths.done.saturating_add(paths.failed).saturating_add(paths.ended)
}

/// Adds the digit of a branch with these paths, which came back by this exit with this number, to the number of a
/// parallel step that is left by `exit`. `None` where that fits no number.
pub fn digit(number: u64, exit: Exit, (paths, by, own): (Exits, Exit, u64)) -> Option<u64> {
    let (radix, first) = match (exit, by) {
        (Exit::Done, _) => (paths.done, 0),
        (_, Exit::Done) => (any(paths), 0),
        (_, Exit::Failed) => (any(paths), paths.done),
        (_, Exit::Ended) => (any(paths), paths.done.checked_add(paths.failed)?),
    };
    number.checked_mul(radix)?.checked_add(first)?.checked_add(own)
}

/// What `arriving` paths add where they resume beside others; 0 where they are no longer told apart from those.
pub fn resume_offset(beside: u64, arriving: u64) -> u64 {
    if beside + arriving > LIMIT { 0 } else { beside }
}

/// Whether a step that is done, or whose fallback resumes without an offset, leaves the path register as it was.
fn keeps_number(step: &Step) -> bool {
    let adds = |step: &Step| step.failure.end.rejoins().is_some_and(|offset| offset != 0);
    let calls_functions = |step: &Step| !step.callee.functions().is_empty();
    !calls_functions(step) && step.failure.steps.iter().all(|step| !adds(step) && keeps_number(step))
}

/// One path to each exit that any path leads to.
fn one_each(counted: Exits) -> Exits {
    Exits { done: counted.done.min(1), failed: counted.failed.min(1), ended: counted.ended.min(1) }
}

/// The graph of a numbered flow. O(size of the flow).
pub fn graph(flow: &Flow) -> PathGraph {
    let mut graph = PathGraph::default();
    for (id, function) in flow.functions.iter() {
        Drawer::draw((id, function), &flow.program.externals, &mut graph);
    }
    graph
}

/// Draws the vertices and edges of one function.
struct Drawer<'a> {
    id: FunctionId,
    externals: &'a Arena<External>,
    first: usize,
    vertices: Vec<(VertexKind, Vec<Edge>)>,
    exits: [usize; 3],
}

impl<'a> Drawer<'a> {
    fn draw((id, function): (FunctionId, &Function), externals: &'a Arena<External>, graph: &mut PathGraph) {
        let first = graph.vertices.len();
        let mut drawer = Self { id, externals, first, vertices: vec![], exits: [0; 3] };
        let start = drawer.vertex(VertexKind::Start, vec![]);
        drawer.exits = Exit::ALL.map(|_| drawer.vertex(VertexKind::Join, vec![]));
        drawer.block(&function.body, start, None);
        if let Some(offset) = function.fault {
            let fault = drawer.event(Event::Error, start);
            drawer.leave(Exit::Failed, fault, offset);
        }
        graph.functions.push(PathFunction { name: function.name.clone(), paths: function.paths, exits: drawer.exits });
        for (kind, mut edges) in drawer.vertices {
            edges.sort_by_key(|edge| edge.offset);
            let first_edge = graph.edges.len();
            graph.vertices.push(Vertex { kind, first_edge, edge_count: edges.len() });
            graph.edges.extend(edges);
        }
    }

    fn vertex(&mut self, kind: VertexKind, edges: Vec<Edge>) -> usize {
        self.vertices.push((kind, edges));
        self.first + self.vertices.len() - 1
    }

    fn event(&mut self, event: Event, from: usize) -> usize {
        self.vertex(VertexKind::Event(event), vec![Edge { from, offset: 0 }])
    }

    fn join(&mut self, into: usize, from: usize, offset: u64) {
        if let Some((_, edges)) = self.vertices.get_mut(into - self.first) {
            edges.push(Edge { from, offset });
        }
    }

    fn leave(&mut self, exit: Exit, from: usize, offset: u64) {
        let [done, failed, ended] = self.exits;
        let into = match exit {
            Exit::Done => done,
            Exit::Failed => failed,
            Exit::Ended => ended,
        };
        self.join(into, from, offset);
    }

    /// Draws a block that begins at `at`; `resume` is where a `Resume` in it goes on.
    fn block(&mut self, block: &Block, mut at: usize, resume: Option<usize>) {
        deep(|| {
            for step in &block.steps {
                at = self.step(step, at);
            }
            match &block.end {
                End::Done { offset, .. } => self.leave(Exit::Done, at, *offset),
                End::Failed { offset } => self.leave(Exit::Failed, at, *offset),
                End::Ended { offset } => self.leave(Exit::Ended, at, *offset),
                End::Resume { offset, .. } | End::GoOn { offset } => {
                    if let Some(into) = resume {
                        self.join(into, at, *offset);
                    }
                }
                End::Dispatch { lines, unmatched } => {
                    if let Some(offset) = unmatched {
                        let error = self.event(Event::Error, at);
                        self.leave(Exit::Failed, error, *offset);
                    }
                    for (index, line) in lines.iter().enumerate() {
                        let chosen = self.event(Event::Line(self.id, index), at);
                        self.block(&line.block, chosen, None);
                    }
                }
            }
        })
    }

    /// Draws a step that begins at `at`; the result is where the flow goes on.
    fn step(&mut self, step: &Step, at: usize) -> usize {
        let (done, failed) = match &step.callee {
            Callee::Node(node) => self.call(Event::Node(*node), at),
            Callee::External { external, .. } => match self.externals[*external].role.is_event() {
                true => self.call(Event::External(*external), at),
                false => (at, self.event(Event::Error, at)),
            },
            Callee::Function(function) => {
                let function = *function;
                let kind = |exit| match step.paths.cut {
                    true => VertexKind::Cut(function, exit),
                    false => VertexKind::Call(function, exit),
                };
                self.come_back(step, |drawer, exit| drawer.vertex(kind(exit), vec![Edge { from: at, offset: 0 }]))
            }
            Callee::Fork(branches) => self.come_back(step, |drawer, exit| drawer.fork(step, branches, exit, at)),
            Callee::Each(each) => {
                let kind = |exit| VertexKind::Cut(each.function, exit);
                self.come_back(step, |drawer, exit| drawer.vertex(kind(exit), vec![Edge { from: at, offset: 0 }]))
            }
        };
        let calls_functions = !step.callee.functions().is_empty();
        let never_done = calls_functions && step.paths.radix.done == 0;
        if step.failure.end.rejoins() == Some(0) && !never_done {
            self.block(&step.failure, failed, None);
            let before = Edge { from: done, offset: 0 };
            let edges = if keeps_number(step) { vec![before] } else { vec![] };
            return self.vertex(VertexKind::Event(Event::Either), edges);
        }
        let go_on = self.vertex(VertexKind::Join, vec![Edge { from: done, offset: 0 }]);
        self.block(&step.failure, failed, Some(go_on));
        go_on
    }

    /// A step that calls functions, with the vertices where it comes back: where it is done, and where it failed.
    fn come_back(&mut self, step: &Step, arrive: impl Fn(&mut Self, Exit) -> usize) -> (usize, usize) {
        let ended = arrive(self, Exit::Ended);
        self.leave(Exit::Ended, ended, step.paths.ended_offset);
        (arrive(self, Exit::Done), arrive(self, Exit::Failed))
    }

    /// A parallel step that begins at `at` and comes back by `exit`: its branches, one after the other.
    fn fork(&mut self, step: &Step, branches: &[Branch], exit: Exit, at: usize) -> usize {
        let mut at = at;
        for (index, Branch { function, .. }) in branches.iter().enumerate() {
            at = self.event(if index == 0 { Event::Fork } else { Event::Branch }, at);
            let kind = match (step.paths.cut, exit) {
                (true, _) => VertexKind::Cut(*function, exit),
                (false, Exit::Done) => VertexKind::Call(*function, exit),
                (false, Exit::Failed | Exit::Ended) => VertexKind::Any(*function),
            };
            at = self.vertex(kind, vec![Edge { from: at, offset: 0 }]);
        }
        self.event(Event::Join, at)
    }

    /// A call of a C++ function: where it is done, and where it failed.
    fn call(&mut self, event: Event, at: usize) -> (usize, usize) {
        let called = self.event(event, at);
        (called, self.event(Event::Error, called))
    }
}

/// The exit that number `number` of all paths leads to, and its number among those.
fn exit_of(paths: Exits, number: u64) -> (Exit, u64) {
    let failed = number.saturating_sub(paths.done);
    match number {
        _ if number < paths.done => (Exit::Done, number),
        _ if failed < paths.failed => (Exit::Failed, failed),
        _ => (Exit::Ended, failed - paths.failed),
    }
}

impl Event {
    /// As reports on `flow` say it: `Compress`, `Handler:[_, _, hit]`, `ERROR`.
    pub fn text(self, flow: &Flow) -> String {
        match self {
            Self::Node(node) => flow.program.nodes[node].name.to_string(),
            Self::External(external) => flow.program.externals[external].name.to_string(),
            Self::Function(function) => flow.functions[function].name.clone(),
            Self::Line(function, index) => {
                let function = &flow.functions[function];
                match &function.body.end {
                    End::Dispatch { lines, .. } => lines.get(index).map(|line| flow.line_label(function, line)),
                    _ => None,
                }
                .unwrap_or_default()
            }
            Self::Error => "ERROR".to_owned(),
            Self::Fork => "(".to_owned(),
            Self::Branch => "&".to_owned(),
            Self::Join => ")".to_owned(),
            Self::Either => "...".to_owned(),
        }
    }
}

impl PathGraph {
    /// What is to be seen along path `number` of those that lead from the start of function `function` to `exit`;
    /// `None` where there is no such path. O(length of the path · joins).
    pub fn decode(&self, function: FunctionId, exit: Exit, number: u64) -> Option<Vec<Event>> {
        let mut events = vec![];
        self.walk(function, exit, number, &mut events)?;
        events.reverse();
        Some(events)
    }

    /// Collects the events from the exit back to the start.
    fn walk(&self, id: FunctionId, exit: Exit, mut number: u64, events: &mut Vec<Event>) -> Option<()> {
        deep(|| {
            let function = self.functions.get(id.index())?;
            if number >= function.paths.get(exit) {
                return None;
            }
            let [done, failed, ended] = function.exits;
            let mut at = match exit {
                Exit::Done => done,
                Exit::Failed => failed,
                Exit::Ended => ended,
            };
            loop {
                let vertex = self.vertices.get(at)?;
                match &vertex.kind {
                    VertexKind::Start => return (number == 0).then_some(()),
                    VertexKind::Join => {}
                    VertexKind::Event(event) => events.push(*event),
                    VertexKind::Cut(callee, _) => events.push(Event::Function(*callee)),
                    VertexKind::Call(callee, exit) => {
                        let radix = self.functions.get(callee.index())?.paths.get(*exit).max(1);
                        self.walk(*callee, *exit, number % radix, events)?;
                        number /= radix;
                    }
                    VertexKind::Any(branch) => {
                        let paths = self.functions.get(branch.index())?.paths;
                        let radix = any(paths).max(1);
                        let (exit, own) = exit_of(paths, number % radix);
                        self.walk(*branch, exit, own, events)?;
                        number /= radix;
                    }
                }
                let edges = self.edges.get(vertex.first_edge..vertex.first_edge + vertex.edge_count)?;
                if vertex.kind == VertexKind::Event(Event::Either) && edges.is_empty() {
                    return Some(());
                }
                let taken = edges.iter().rfind(|edge| edge.offset <= number)?;
                number -= taken.offset;
                at = taken.from;
            }
        })
    }
}
