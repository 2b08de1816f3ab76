//! What nodes take on each path: a profile has what all calls of a node took, and what whole flows of each path ran and
//! were parked, but not what a node took on a path.
//!
//! That is the table of nodes and paths of which the sums of rows and of columns are known. It is filled in by
//! iterative proportional fitting (Deming and Stephan, "On a least squares adjustment of a sampled frequency table when
//! the expected marginal totals are known", 1940): of all tables with these sums, the one that says no more than they
//! do. Where each path has one node that others do not share, it is exact. Rows are fitted last, so that what is not
//! right about the paths leaves what is known of nodes as it is.
//!
//! Times are then drawn from the histogram of the node, its times weighted so that their mean is that of the path
//! (`Histogram::tilted`).

use crate::estimates::{Estimates, Part};
use crate::random::{Distribution, Histogram};
use crate::together::probability;
use flux_ir::flow::{Exit, Flow};
use flux_ir::flow_path::FlowPath;
use flux_ir::paths::{PathGraph, graph};
use flux_profile::histogram::Histogram as Measured;
use flux_profile::profile::{NodeTimes, Path, Profile, Sums, Times};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Of fewer flows the mean is not known well enough.
const LEAST_MEASURED: u64 = 50;
/// A difference that is less says nothing.
const LEAST_CHANGE: f64 = 0.02;
/// So often all columns and all rows are fitted.
const ROUNDS: usize = 50;

/// What a node does in the flows on a path, where that is not as in all flows.
pub struct OnPath {
    /// The path.
    pub path: FlowPath,
    /// The node's name.
    pub node: String,
    /// What it does.
    pub parts: Vec<Part>,
}

/// A path: how often it was taken, how often it has each node, and what one of its flows took, where that is known.
struct Column {
    path: Option<FlowPath>,
    flows: f64,
    /// In the order of nodes, so that sums are rounded alike each time.
    calls: BTreeMap<usize, f64>,
    whole: Option<f64>,
}

/// What is known to be taken otherwise on some paths. The profile is of this program.
pub fn on_paths(flow: &Flow, profile: &Profile, nodes: &[&NodeTimes]) -> Vec<OnPath> {
    let graph = graph(flow);
    let places: HashMap<_, _> = nodes.iter().enumerate().map(|(at, node)| (node.name.as_str(), at)).collect();
    let calls = |labels: &Option<Vec<String>>| {
        let mut calls = BTreeMap::new();
        for at in labels.iter().flatten().filter_map(|label| places.get(label.as_str())) {
            *calls.entry(*at).or_insert(0.0) += 1.0;
        }
        calls
    };
    let known = profile.paths.iter().map(|path| {
        let found = flow_path(flow, &graph, path);
        (found, path.count, &path.labels, found.is_some() && is_plain(flow, path))
    });
    let cut = profile.cut.iter().map(|path| (None, path.count, &path.labels, false));
    let column = |sum: fn(&Sums) -> u64| {
        let wholes = profile.paths.iter().map(move |path| sum(&path.sums) as f64 / path.times.times().max(1) as f64);
        let columns = known.clone().chain(cut.clone()).zip(wholes.chain(std::iter::repeat(0.0)));
        let column = |((path, flows, labels, is_known), whole): ((Option<FlowPath>, u64, _, bool), f64)| Column {
            path,
            flows: flows as f64,
            calls: calls(labels),
            whole: is_known.then_some(whole),
        };
        columns.map(column).collect::<Vec<_>>()
    };
    let means = |of: fn(&Times) -> &Measured| nodes.iter().map(|node| of(&node.times).mean()).collect::<Vec<_>>();
    let columns = column(|sums| sums.ran_ns);
    let ran = fitted(&means(|times| &times.ran), &columns);
    let beside = fitted(&means(|times| &times.beside), &column(|sums| sums.beside_ns));
    let parked = fitted(&means(|times| &times.parked), &column(|sums| sums.parked_ns));
    let mut found = vec![];
    for (number, column) in columns.iter().enumerate() {
        let Some(path) = column.path else { continue };
        for at in column.calls.keys() {
            let factors = [&ran, &beside, &parked].map(|of| of[number].get(at).copied().unwrap_or(1.0));
            if factors.iter().any(|factor| (factor - 1.0).abs() > LEAST_CHANGE) {
                let parts = parts(&nodes[*at].times, factors);
                found.push(OnPath { path, node: nodes[*at].name.clone(), parts });
            }
        }
    }
    found
}

/// The paths on which nodes take long together, and how likely each does where its flow does, with what is estimated of
/// nodes there.
pub fn together_on(flow: &Flow, profile: &Profile, estimates: &Estimates) -> Vec<(FlowPath, f64)> {
    let graph = graph(flow);
    let known = profile.paths.iter().filter_map(|path| {
        let found = flow_path(flow, &graph, path)?;
        let variance = path.ran_variance_s2().filter(|_| is_plain(flow, path))?;
        let times = path.labels.iter().flatten().filter_map(|label| {
            let parts = estimates.parts_on(&found, label).or_else(|| Some(&estimates.work(label)?.parts))?;
            parts.iter().find_map(|part| match part {
                Part::Compute(Distribution::Measured(times)) => Some(times.as_ref()),
                _ => None,
            })
        });
        Some((found, probability(&times.collect::<Vec<_>>(), variance)))
    });
    known.filter(|(_, probability)| *probability > 0.0).collect()
}

/// The time on a CPU, that of threads beside the loop, and what is waited for the world, their means times these
/// factors; none where the node took none.
pub fn parts(times: &Times, [ran, beside, parked]: [f64; 3]) -> Vec<Part> {
    let drawn = |times: &Measured, factor: f64| {
        let steps: Vec<_> = times.steps().collect();
        // Where it never took any time, nothing is drawn.
        let has_any = steps.iter().any(|(begin, _)| *begin > 0);
        has_any.then(|| {
            let all = Histogram::new(&steps);
            Distribution::Measured(Arc::new(if factor == 1.0 { all } else { all.tilted(factor) }))
        })
    };
    let mut reasons = times.parked_for.keys();
    let sleeps = (reasons.next().map(String::as_str), reasons.next()) == (Some("sleep"), None);
    let parked = drawn(&times.parked, parked).map(if sleeps { Part::Sleep } else { Part::Wait });
    let beside = drawn(&times.beside, beside).map(Part::Beside);
    drawn(&times.ran, ran).map(Part::Compute).into_iter().chain(beside).chain(parked).collect()
}

/// The path of a profile by its number; none where the program has another of that number.
fn flow_path(flow: &Flow, graph: &PathGraph, path: &Path) -> Option<FlowPath> {
    let exit = match path.exit.as_str() {
        "done" => Exit::Done,
        "failed" => Exit::Failed,
        "ended" => Exit::Ended,
        _ => return None,
    };
    let mut sources = (0..flow.entries.len()).map(|source| FlowPath { source, exit, number: path.number });
    let found = sources.find(|one| one.source_name(flow).as_ref() == Some(&path.source));
    found.filter(|found| found.labels(flow, graph) == path.labels)
}

/// Whether what its flows took is what the nodes took that it shows: no branches ran beside it, no functions are
/// counted by themselves, and enough flows were timed.
fn is_plain(flow: &Flow, path: &Path) -> bool {
    let is_own = |label: &String| {
        matches!(label.as_str(), "(" | "...") || flow.functions.iter().any(|(_, function)| function.name == *label)
    };
    path.times.measured() >= LEAST_MEASURED && !path.labels.iter().flatten().any(is_own)
}

/// For each column by how much its nodes take longer than on average, from the mean of each node.
fn fitted(means: &[f64], columns: &[Column]) -> Vec<BTreeMap<usize, f64>> {
    let mut factors: Vec<BTreeMap<_, _>> =
        columns.iter().map(|column| column.calls.keys().map(|at| (*at, 1.0)).collect()).collect();
    for _ in 0..ROUNDS {
        for (column, own) in columns.iter().zip(&mut factors) {
            let sum: f64 = column.calls.iter().map(|(at, calls)| calls * means[*at] * own[at]).sum();
            if let Some(whole) = column.whole.filter(|_| sum > 0.0) {
                own.values_mut().for_each(|factor| *factor *= whole / sum);
            }
        }
        let (mut wanted, mut sums) = (vec![0.0; means.len()], vec![0.0; means.len()]);
        for (column, own) in columns.iter().zip(&factors) {
            for (at, calls) in &column.calls {
                wanted[*at] += column.flows * calls;
                sums[*at] += column.flows * calls * own[at];
            }
        }
        for (at, factor) in factors.iter_mut().flatten().filter(|(at, _)| sums[**at] > 0.0) {
            *factor *= wanted[*at] / sums[*at];
        }
    }
    factors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(flows: f64, calls: &[usize], whole: Option<f64>) -> Column {
        Column { path: None, flows, calls: calls.iter().map(|at| (*at, 1.0)).collect(), whole }
    }

    #[test]
    fn nodes_take_what_their_paths_leave() {
        // Work (0) takes 1 where a hit (1) follows, which takes 1, and 9 where a miss (2) does.
        let columns = [column(30.0, &[0, 1], Some(2.0)), column(10.0, &[0, 2], Some(10.0))];
        let found = fitted(&[3.0, 1.0, 1.0], &columns);
        let expected = [(0, 0, 1.0 / 3.0), (0, 1, 1.0), (1, 0, 3.0), (1, 2, 1.0)];
        for (path, node, factor) in expected {
            assert!((found[path][&node] - factor).abs() < 1e-3, "{found:?}");
        }
    }

    #[test]
    fn what_is_not_known_of_a_path_is_as_on_all() {
        let columns = [column(30.0, &[0, 1], None), column(10.0, &[0, 2], None)];
        assert!(fitted(&[3.0, 1.0, 1.0], &columns).iter().flatten().all(|(_, factor)| *factor == 1.0));
    }
}
