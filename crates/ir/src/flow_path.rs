//! The path of a whole flow: that of its making by its source, and that of its run.
//!
//! They are numbered together as those of two calls, `made * radix + run`, or, where that would exceed
//! [`SHOWN_LIMIT`], the path of the making is left out (`runtime/include/flux/flow/paths.hpp`, which servers count by).

use crate::flow::{Entry, Exit, Flow};
use crate::paths::PathGraph;
use crate::program::Origin;

/// The largest count of paths of flows: what a JSON number holds exactly.
const SHOWN_LIMIT: u64 = 1 << 53;

/// Which path a flow has taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FlowPath {
    /// The source of the flow: its place among [`Flow::entries`].
    pub source: usize,
    /// How the flow ended.
    pub exit: Exit,
    /// The number of the path among those of the source's flows that end so.
    pub number: u64,
}

impl FlowPath {
    /// That of a flow which was made on path `made`, and run on path `run` to `exit`; `None` where there is no such
    /// source.
    pub fn of(flow: &Flow, source: usize, made: u64, exit: Exit, run: u64) -> Option<Self> {
        let entry = flow.entries.get(source)?;
        let made = if counts_making(flow, entry) { made } else { 0 };
        let radix = flow.functions.find(entry.run)?.paths.get(exit);
        Some(Self { source, exit, number: made.checked_mul(radix)?.checked_add(run)? })
    }

    /// What reports show of it, from its source to its end: `Listen`, `Handler:[_, _, hit]`, `Compress`. `None` where
    /// the flow has no such path. O(length of the path · joins).
    pub fn labels(&self, flow: &Flow, graph: &PathGraph) -> Option<Vec<String>> {
        let entry = flow.entries.get(self.source)?;
        let is_made = counts_making(flow, entry);
        let radix = if is_made { flow.functions.find(entry.run)?.paths.get(self.exit).max(1) } else { u64::MAX };
        let made = match entry.produce.filter(|_| is_made) {
            Some(produce) => graph.decode(produce, Exit::Done, self.number / radix)?,
            None => vec![],
        };
        let run = graph.decode(entry.run, self.exit, self.number % radix)?;
        let source = if is_made { None } else { self.source_name(flow) };
        Some(source.into_iter().chain(made.into_iter().chain(run).map(|event| event.text(flow))).collect())
    }

    /// Its source, as servers call it: the node, or `every 100ms`.
    pub fn source_name(&self, flow: &Flow) -> Option<String> {
        Some(match &flow.program.sources.get(self.source)?.origin {
            Origin::Node(made) => flow.program.nodes[made.node].name.to_string(),
            Origin::Timer(milliseconds) => format!("every {milliseconds}ms"),
        })
    }
}

/// Whether the numbers of a source's flows have the path of the making in them.
fn counts_making(flow: &Flow, entry: &Entry) -> bool {
    let paths = |function| flow.functions.find(function).map(|function| function.paths).unwrap_or_default();
    let run = paths(entry.run);
    entry.produce.is_some_and(|produce| {
        let made = paths(produce).done.max(1);
        Exit::ALL.iter().all(|exit| made.checked_mul(run.get(*exit)).is_some_and(|count| count <= SHOWN_LIMIT))
    })
}
