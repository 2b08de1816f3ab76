//! The paths through a flow and their numbers.
//!
//! Flow graphs are acyclic, so each path can be given a number (Ball and Larus, "Optimally profiling and tracing
//! programs", TOPLAS 16(4), 1994), with one addition on an edge. Ours are counted forwards: `P(v)` is the number of
//! paths from the start to the vertex `v`, a path that arrives at `v` has a number below `P(v)`, and an edge into a join
//! adds the number of paths that the edges before it bring. Structured functions have joins only at their exits and at
//! [`End::Resume`], so a straight flow adds nothing at all, and the numbers of each [`Exit`] are dense by themselves.
//!
//! A call of a function with `N` paths to an exit multiplies: `before * N + own`. Thus a shared function is numbered
//! once, whoever calls it. Where a product would exceed [`LIMIT`], the call is cut: the callee's paths are counted by
//! themselves and count as one in the caller.
//!
//! A number is read back from an exit towards the start: of the edges into a vertex the one with the largest offset not
//! above the number was taken; at a call the remainder by the radix is the callee's own number.

use crate::flow::{Block, Callee, End, Exit, Exits, Flow, Function, FunctionId, Step, StepPaths};
use std::collections::HashMap;

/// The largest count of paths: what a JSON number holds exactly.
pub const LIMIT: u64 = 1 << 53;

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
    /// How many edges come in; none for a start, and for what cannot be reached.
    pub edge_count: usize,
}

/// What happened at a vertex.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VertexKind {
    /// The function began.
    Start,
    /// Paths come together; nothing to show.
    Join,
    /// Something that is shown: a node (`Compress`), a line (`Handler:[_, _, hit]`), a handler, `ERROR`.
    Label(String),
    /// A call of the function came back by the exit.
    Call(FunctionId, Exit),
    /// As `Call`, with a callee whose paths are counted by themselves: it is one path here.
    Cut(FunctionId, Exit),
}

/// A way into a vertex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The vertex it comes from.
    pub from: usize,
    /// What it adds to the path register.
    pub offset: u64,
}
