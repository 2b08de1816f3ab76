//! A profile, as far as it is used here. Members that are not known are left out, and what is missing is empty.

use crate::histogram::{self, Histogram};
use crate::reuse::Reuse;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The format that is read.
pub const FORMAT: u64 = 1;

/// What a server has measured.
#[derive(Clone, PartialEq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
pub struct Profile {
    /// [`FORMAT`].
    pub format: u64,
    /// The program's name.
    pub program: String,
    /// What ran the flows: `thread`, `pool`, `event`.
    pub strategy: String,
    /// How long the server has run.
    pub seconds: f64,
    /// How long its threads have had a processor, together.
    pub cpu_seconds: f64,
    /// Of these, the threads of sources; 0 where it does not say.
    pub source_cpu_seconds: f64,
    /// And about so long timed flows had one read what their threads had had.
    pub measuring_cpu_seconds: f64,
    /// What a thread took there.
    pub thread_cost_ns: ThreadCost,
    /// How often event loops slept.
    pub loop_sleeps: LoopSleeps,
    /// Of all sources.
    pub flows: Flows,
    /// Each source.
    pub sources: Vec<Source>,
    /// Each constraint.
    pub constraints: Vec<Constraint>,
    /// What waited where, when it was asked.
    pub queues: Vec<Queue>,
    /// What flows held then.
    pub memory: Memory,
    /// Errors of nodes.
    pub failures: Vec<Failures>,
    /// What whole flows took, for each source that has had any.
    pub flow_times: Vec<SourceTimes>,
    /// What nodes took, those that were called.
    pub node_times: Vec<NodeTimes>,
    /// How large the values are that nodes are given, where that is not always the same by their types.
    pub value_sizes: Vec<EdgeSizes>,
    /// The paths that whole flows took.
    pub paths: Vec<Path>,
    /// So many of the flows that were timed, with those that they stand for, took paths whose times are not known.
    pub path_times_left_out: u64,
    /// Those through functions that are counted by themselves.
    pub cut: Vec<CutPath>,
}

/// What it took to make a thread, to begin and to end it, in nanoseconds; 0 where that is not known.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
pub struct ThreadCost {
    /// On one processor.
    pub alone: u64,
    /// Where another one did so, too.
    pub beside: u64,
}

/// How often event loops slept, and how long processors worked for those sleeps that were measured, together.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "their names say what they are")]
pub struct LoopSleeps {
    pub times: u64,
    pub measured: u64,
    pub worked_ns: u64,
}

impl LoopSleeps {
    /// What a sleep takes of a processor, in seconds; 0 where none was measured.
    #[must_use]
    pub fn each_s(&self) -> f64 {
        if self.measured == 0 { 0.0 } else { self.worked_ns as f64 * 1e-9 / self.measured as f64 }
    }
}

/// Flows, by what became of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "their names say what they are")]
pub struct Flows {
    pub started: u64,
    pub done: u64,
    pub failed: u64,
    pub ended: u64,
    pub cancelled: u64,
}

impl Flows {
    /// Those that have come to an end.
    pub fn finished(&self) -> u64 {
        [self.done, self.failed, self.ended, self.cancelled].into_iter().fold(0, u64::saturating_add)
    }
}

/// A source, where it is declared, and its flows.
#[derive(Clone, PartialEq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "their names say what they are")]
pub struct Source {
    pub name: String,
    pub file: String,
    pub line: u64,
    /// How often it had nothing.
    pub nothing: u64,
    pub flows: Flows,
}

/// How many flows, calls or peers wait somewhere.
#[derive(Clone, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "their names say what they are")]
pub struct Queue {
    #[serde(rename = "where")]
    pub place: String,
    pub waiting: u64,
}

/// The flows that were made, for those in progress or kept for the next, with their memory and their stacks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "their names say what they are")]
pub struct Memory {
    pub flows: u64,
    pub flow_bytes: u64,
    pub stacks: u64,
}

/// How often a constraint was taken and waited for, and how long.
#[derive(Clone, PartialEq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "their names say what they are")]
pub struct Constraint {
    pub name: String,
    pub taken: u64,
    pub waited: u64,
    pub waited_ns: u64,
    /// So many holds were timed; they took `held_ns` together.
    pub timed: u64,
    pub held_ns: u64,
    /// Of these, those that read, and those that change.
    pub readers: Holds,
    pub writers: Holds,
    /// The keys that flows waited for most.
    pub keys: Vec<HotKey>,
    /// How many keys were taken, to a few percent.
    pub distinct_keys: u64,
    /// How soon they came again.
    #[serde(skip_serializing_if = "Reuse::is_empty")]
    pub reuse: Reuse,
}

/// How often a constraint was taken in one mode; how long each wait was, and each hold that was timed.
#[derive(Clone, PartialEq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "their names say what they are")]
pub struct Holds {
    pub taken: u64,
    pub waited: u64,
    pub waited_ns: u64,
    pub waits: Histogram,
    pub holds: Histogram,
}

/// A key, as a number that stands for it, and how often flows waited for it; that is too high by `surplus` at most. Its
/// text is the beginning of a string, or a number; other keys have none.
#[derive(Clone, PartialEq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "their names say what they are")]
pub struct HotKey {
    pub key: String,
    pub text: Option<String>,
    pub times: u64,
    pub surplus: u64,
}

/// How often a node failed with an error.
#[derive(Clone, PartialEq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "their names say what they are")]
pub struct Failures {
    /// None outside of nodes.
    pub name: Option<String>,
    pub code: i64,
    pub meaning: String,
    pub times: u64,
    /// Where no handler took it.
    pub unhandled: u64,
}

/// What a time went to. What took no time is empty.
#[derive(Clone, PartialEq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "`docs/admin.md` says what they are")]
pub struct Times {
    pub whole: Histogram,
    #[serde(skip_serializing_if = "Histogram::is_empty")]
    pub ran: Histogram,
    #[serde(skip_serializing_if = "Histogram::is_empty")]
    pub beside: Histogram,
    #[serde(skip_serializing_if = "Histogram::is_empty")]
    pub parked: Histogram,
    #[serde(skip_serializing_if = "Histogram::is_empty")]
    pub waited: Histogram,
    #[serde(skip_serializing_if = "Histogram::is_empty")]
    pub queued: Histogram,
    #[serde(skip_serializing_if = "Histogram::is_empty")]
    pub branched: Histogram,
    /// What `parked` was for, by its name: of those times alone that have some of it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parked_for: BTreeMap<String, Histogram>,
}

impl Times {
    /// A part that is left out took no time, each time.
    fn fill(&mut self) {
        let whole = &self.whole;
        let Self { ran, beside, parked, waited, queued, branched, .. } = self;
        for part in [ran, beside, parked, waited, queued, branched] {
            if part.is_empty() && !whole.is_empty() {
                *part = Histogram::zeros_like(whole);
            }
        }
    }

    /// How long processors worked for it, in nanoseconds: its own thread, and threads beside its loop.
    pub fn cpu_ns(&self) -> u64 {
        self.ran.sum().saturating_add(self.beside.sum())
    }

    /// The parts of the whole, with their names.
    pub fn parts(&self) -> [(&'static str, &Histogram); 6] {
        [
            ("ran", &self.ran),
            ("beside", &self.beside),
            ("parked", &self.parked),
            ("waited", &self.waited),
            ("queued", &self.queued),
            ("branched", &self.branched),
        ]
    }
}

/// What the flows of a source took.
#[derive(Clone, PartialEq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "their names say what they are")]
pub struct SourceTimes {
    pub source: String,
    #[serde(flatten)]
    pub times: Times,
}

/// What the calls of a node took, and where it is declared.
#[derive(Clone, PartialEq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "their names say what they are")]
pub struct NodeTimes {
    pub name: String,
    pub file: String,
    pub line: u64,
    #[serde(flatten)]
    pub times: Times,
}

/// How large the values are that a node is given after another, or after a source.
#[derive(Clone, PartialEq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "their names say what they are")]
pub struct EdgeSizes {
    pub from: String,
    pub to: String,
    #[serde(with = "histogram::bytes")]
    pub bytes: Histogram,
}

/// A path that flows took from their source to their end.
#[derive(Clone, PartialEq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "their names say what they are")]
pub struct Path {
    pub source: String,
    pub exit: String,
    pub number: u64,
    pub count: u64,
    /// None where the program does not know it.
    pub labels: Option<Vec<String>>,
    /// What those of its flows took that were timed.
    #[serde(skip_serializing_if = "Histogram::is_empty")]
    pub times: Histogram,
    #[serde(flatten)]
    pub sums: Sums,
    /// The squares of what each of these flows ran, in microseconds, together.
    pub ran_squares_us2: f64,
}

impl Path {
    /// The variance of what its flows ran, in seconds squared; none where it is not known.
    pub fn ran_variance_s2(&self) -> Option<f64> {
        let flows = self.times.times() as f64;
        let mean_us = self.sums.ran_ns as f64 * 1e-3 / flows;
        (flows > 0.0 && self.ran_squares_us2 > 0.0)
            .then(|| (self.ran_squares_us2 / flows - mean_us * mean_us).max(0.0) * 1e-12)
    }
}

/// What the times of a path went to, together.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "`docs/admin.md` says what they are")]
pub struct Sums {
    pub ran_ns: u64,
    pub beside_ns: u64,
    pub parked_ns: u64,
    pub waited_ns: u64,
    pub queued_ns: u64,
    pub branched_ns: u64,
}

impl Sums {
    /// The parts, in the order of [`Times::parts`].
    pub fn parts(&self) -> [u64; 6] {
        [self.ran_ns, self.beside_ns, self.parked_ns, self.waited_ns, self.queued_ns, self.branched_ns]
    }
}

/// A path through a function that is counted by itself.
#[derive(Clone, PartialEq, Default, Debug, Deserialize, Serialize)]
#[serde(default)]
#[expect(missing_docs, reason = "their names say what they are")]
pub struct CutPath {
    pub function: String,
    pub exit: String,
    pub number: u64,
    pub count: u64,
    pub labels: Option<Vec<String>>,
}

impl Profile {
    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it, and what to do.
    pub fn read(json: &str) -> Result<Self, String> {
        let value: serde_json::Value =
            serde_json::from_str(json).map_err(|error| format!("it is no JSON: {error}; was it cut short?"))?;
        let member = |name: &str| value.get(name);
        if member("program").is_none() || member("node_times").is_none() {
            return Err("it is no profile: let a server write one with --flux-report=json:FILE".to_owned());
        }
        match member("format").and_then(serde_json::Value::as_u64) {
            Some(FORMAT) => {
                let mut read: Self =
                    serde_json::from_value(value).map_err(|error| format!("it is no profile: {error}"))?;
                read.flow_times.iter_mut().for_each(|one| one.times.fill());
                read.node_times.iter_mut().for_each(|one| one.times.fill());
                Ok(read)
            }
            Some(other) => Err(format!(
                "it has format {other}, and this flux reads format {FORMAT}: use the flux that built the server"
            )),
            None => Err("it is of an older Flux, without a format: build the server with this one".to_owned()),
        }
    }

    /// Its JSON, with which [`read`](Self::read) gives the same.
    pub fn write(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// How often nodes of this name failed.
    pub fn failures_of(&self, node: &str) -> u64 {
        let of_node = |failures: &&Failures| failures.name.as_deref() == Some(node);
        self.failures.iter().filter(of_node).map(|failures| failures.times).fold(0, u64::saturating_add)
    }
}
