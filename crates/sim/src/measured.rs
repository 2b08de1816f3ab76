//! What a running server has told of itself, in place of estimates: the times of its nodes, how often they fail, and
//! which lines of dispatches flows take. It is the JSON of `--flux-report=json` and of `/profile`.
//!
//! Times are drawn from the histograms that were measured. A node's times on a CPU and its waits are drawn apart from
//! one another, and so is what different nodes of a flow take: where they belong together, that is lost.

use crate::estimates::{Estimates, Part, Work};
use crate::random::{Distribution, Histogram};
use flux_ir::external::ExternalRole;
use flux_ir::flow::{End, Flow, Line};
use flux_ir::program::Body;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

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
    let profile: Value = serde_json::from_str(json).map_err(|error| format!("it is no JSON: {error}"))?;
    let (Some(program), Some(nodes)) = (profile["program"].as_str(), profile["node_times"].as_array()) else {
        return Err("it is no profile: let a server write one with --flux-report=json:FILE".to_owned());
    };
    if program != flow.program.name {
        return Err(format!("it is of the program `{program}`, and this is `{}`", flow.program.name));
    }
    if nodes.is_empty() {
        return Err("it has no times, as no flow had come when it was written: load the server first".to_owned());
    }
    let visits = visits(&profile);
    let mut estimates = Estimates::default();
    let known = working(flow);
    for node in nodes {
        let name = node["name"].as_str().unwrap_or_default();
        if known.contains(name) {
            let fails = visits.get(name).map_or(0.0, |of| if of.times > 0.0 { of.failed / of.times } else { 0.0 });
            estimates.set_work(name, Work { parts: parts(node)?, fails });
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

/// The names of the nodes and handlers that do something.
fn working(flow: &Flow) -> BTreeSet<String> {
    let does = |body: &Body| matches!(body, Body::External(_) | Body::Computed(_));
    let nodes = flow.program.nodes.iter().filter(|(_, node)| does(&node.body)).map(|(_, node)| node.name.to_string());
    let handlers = flow.program.externals.iter().filter(|(_, one)| one.role == ExternalRole::Handler);
    nodes.chain(handlers.map(|(_, external)| external.name.to_string())).collect()
}

/// Of whole flows, and of the functions whose paths are counted by themselves.
fn visits(profile: &Value) -> HashMap<&str, Visits> {
    let mut visits: HashMap<&str, Visits> = HashMap::new();
    let paths = ["paths", "cut"].iter().filter_map(|list| profile[*list].as_array()).flatten();
    for path in paths {
        let count = path["count"].as_f64().unwrap_or_default();
        let mut before = None;
        for label in path["labels"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if label == "ERROR" {
                let failed = before.and_then(|before| visits.get_mut(before));
                failed.into_iter().for_each(|of| of.failed += count);
            } else {
                visits.entry(label).or_default().times += count;
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

/// The time on a CPU, and what is waited for the world.
fn parts(node: &Value) -> Result<Vec<Part>, String> {
    let ran = times(node, "ran")?.map(Part::Compute);
    let parked = times(node, "parked")?.map(Part::Wait);
    Ok(ran.into_iter().chain(parked).collect())
}

/// The times of one kind; none where the node took none.
fn times(node: &Value, kind: &str) -> Result<Option<Distribution>, String> {
    let Some(steps) = node[kind]["steps"].as_array() else { return Ok(None) };
    let pair = |step: &Value| Some((step[0].as_u64()?, step[1].as_u64()?));
    let steps: Option<Vec<_>> = steps.iter().map(pair).collect();
    let steps = steps.ok_or("its histograms are no pairs of numbers")?;
    Ok(Some(Distribution::Measured(Arc::new(Histogram::new(&steps)))))
}
