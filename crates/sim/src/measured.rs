//! What a running server has told of itself, in place of estimates: the times of its nodes, how often they fail, and
//! which lines of dispatches flows take. It is the JSON of `--flux-report=json` and of `/profile`.
//!
//! Times are drawn from the histograms that were measured, with the means that a node has on the path of the flow
//! (`on_paths.rs`), and so that what different nodes of a flow take on a CPU is long together as often as it was
//! (`together.rs`). A node's times on a CPU and its waits are drawn apart from one another.

use crate::estimates::{Estimates, Part, Work};
use crate::on_paths::{on_paths, parts, together_on};
use crate::random::Distribution;
use flux_ir::external::ExternalRole;
use flux_ir::flow::{End, Flow, Line};
use flux_ir::program::{Body, Origin, Scope};
use flux_profile::profile::{NodeTimes, Path, Profile, ThreadCost};
use std::collections::{BTreeSet, HashMap};

/// How often flows came to what paths show, and how often they failed there.
#[derive(Default)]
struct Visits {
    times: f64,
    failed: f64,
}

/// What was measured of a program, as far as it has what the profile names.
///
/// # Errors
/// What is wrong with the profile, and what to do.
pub fn measured(flow: &Flow, json: &str) -> Result<Estimates, String> {
    let profile = Profile::read(json)?;
    let nodes = &profile.node_times;
    if profile.program != flow.program.name {
        return Err(format!("it is of the program `{}`, and this is `{}`", profile.program, flow.program.name));
    }
    if nodes.is_empty() {
        return Err("it has no times, as no flow had come when it was written: load the server first".to_owned());
    }
    let visits = visits(&profile);
    let mut estimates = Estimates::default();
    let known = working(flow);
    for node in nodes {
        if known.contains(&node.name) {
            let visits = visits.get(node.name.as_str());
            let fails = visits.map_or(0.0, |of| if of.times > 0.0 { of.failed / of.times } else { 0.0 });
            estimates.set_work(&node.name, Work { parts: parts(&node.times, [1.0; 3]), fails });
        }
    }
    let worked: Vec<_> = nodes.iter().filter(|node| known.contains(&node.name)).collect();
    for one in on_paths(flow, &profile, &worked) {
        estimates.set_parts_on(one.path, &one.node, one.parts);
    }
    for (path, probability) in together_on(flow, &profile, &estimates) {
        estimates.set_together(path, probability);
    }
    let each_s = |seconds: f64| seconds / profile.flows.started.max(1) as f64;
    if profile.source_cpu_seconds > 0.0 {
        let parts = vec![Part::Compute(Distribution::Constant(each_s(profile.source_cpu_seconds)))];
        for node in producing(flow) {
            estimates.set_work(&node, Work { parts: parts.clone(), fails: 0.0 });
        }
    }
    let woken_s = profile.loop_sleeps.times as f64 * profile.loop_sleeps.each_s();
    let apart_s = woken_s + threads_s(&profile);
    estimates.set_outside(each_s((outside_s(&profile, &known) - apart_s).max(0.0)));
    estimates.set_wake(profile.loop_sleeps.each_s());
    estimates.set_thread_cost(thread_cost_s(&profile));
    for (id, constraint) in flow.program.constraints.iter() {
        let seen = profile.constraints.iter().find(|seen| seen.name == constraint.name.to_string());
        if constraint.scope != Scope::Program
            && let Some(seen) = seen.filter(|seen| seen.distinct_keys > 0)
        {
            estimates.set_keys(id, seen.distinct_keys);
        }
    }
    for (_, function) in flow.functions.iter() {
        if let End::Dispatch { lines, .. } = &function.body.end {
            let labels: Vec<_> = lines.iter().map(|line| flow.line_label(function, line)).collect();
            add_choices(&visits, lines, &labels, &mut estimates);
        }
    }
    Ok(estimates)
}

/// How long processors worked outside of these nodes and of threads of sources, in seconds: for loops, for connections.
fn outside_s(profile: &Profile, of: &BTreeSet<String>) -> f64 {
    let worked = |node: &NodeTimes| node.times.cpu_ns() as f64 * 1e-9;
    let in_nodes: f64 = profile.node_times.iter().filter(|node| of.contains(&node.name)).map(worked).sum();
    (profile.cpu_seconds - profile.source_cpu_seconds - profile.measuring_cpu_seconds - in_nodes).max(0.0)
}

/// What threads took for themselves where each flow and branch had one, in seconds: where flows run otherwise they take
/// none, and else it is counted for each.
fn threads_s(profile: &Profile) -> f64 {
    let branches = |path: &Path| path.labels.iter().flatten().filter(|label| *label == "&").count() as f64;
    let of_paths: f64 = profile.paths.iter().map(|path| path.count as f64 * branches(path)).sum();
    let threads = if profile.strategy == "thread" { profile.flows.started as f64 + of_paths } else { 0.0 };
    threads * thread_cost_s(profile)[1]
}

/// The nodes that make flows on threads of their own.
fn producing(flow: &Flow) -> BTreeSet<String> {
    let program = &flow.program;
    let nodes = program.sources.iter().filter_map(|source| match &source.origin {
        Origin::Node(made) => Some(&program.nodes[made.node]),
        Origin::Timer(_) => None,
    });
    let calls = nodes.filter(|node| matches!(node.body, Body::External(_) | Body::Computed(_)));
    calls.map(|node| node.name.to_string()).collect()
}

/// The names of the nodes and handlers that do something.
fn working(flow: &Flow) -> BTreeSet<String> {
    let does = |body: &Body| matches!(body, Body::External(_) | Body::Computed(_));
    let nodes = flow.program.nodes.iter().filter(|(_, node)| does(&node.body)).map(|(_, node)| node.name.to_string());
    let handlers = flow.program.externals.iter().filter(|(_, one)| one.role == ExternalRole::Handler);
    nodes.chain(handlers.map(|(_, external)| external.name.to_string())).collect()
}

/// Of whole flows, and of the functions whose paths are counted by themselves.
fn visits(profile: &Profile) -> HashMap<&str, Visits> {
    let mut visits: HashMap<&str, Visits> = HashMap::new();
    let whole = profile.paths.iter().map(|path| (path.count, &path.labels));
    for (count, labels) in whole.chain(profile.cut.iter().map(|path| (path.count, &path.labels))) {
        let mut before = None;
        for label in labels.iter().flatten().map(String::as_str) {
            if label == "ERROR" {
                let failed = before.and_then(|before| visits.get_mut(before));
                failed.into_iter().for_each(|of| of.failed += count as f64);
            } else {
                visits.entry(label).or_default().times += count as f64;
                before = Some(label);
            }
        }
    }
    visits
}

/// How often the predicate of a line holds, of those values that the lines before have left. A line with several
/// predicates does not say which of them held, so these are left to estimates.
fn add_choices(visits: &HashMap<&str, Visits>, lines: &[Line], labels: &[String], estimates: &mut Estimates) {
    let times = |label: &String| visits.get(label.as_str()).map_or(0.0, |of| of.times);
    for (at, line) in lines.iter().enumerate() {
        let left: f64 = labels.iter().skip(at).map(times).sum();
        if let ([test], Some(label)) = (line.tests.as_slice(), labels.get(at))
            && left > 0.0
        {
            estimates.set_likely(test.predicate, times(label) / left);
        }
    }
}

/// What a thread takes, in seconds, on one CPU and on several: where the second is not known, as much.
fn thread_cost_s(profile: &Profile) -> [f64; 2] {
    let ThreadCost { alone, beside } = profile.thread_cost_ns;
    [alone, if beside > 0 { beside } else { alone }].map(|ns| ns as f64 * 1e-9)
}
