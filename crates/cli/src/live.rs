//! `flux advise --live`: experiments on a running server

use crate::arguments::Advise;
use crate::failure::{Failure, Result};
use crate::profile_source::{asked, experiment};
use crate::sim::number;
use crate::terminal::Terminal;
use flux_profile::profile::Profile;
use flux_sim::interval::Interval;
use serde::Deserialize;
use std::time::Duration;

/// How often the server is asked whether it has come to the end.
const LOOK: Duration = Duration::from_millis(200);
/// So many nodes are tried where none are named.
const TRIED: usize = 3;

/// What an experiment has found of a node.
pub struct Found {
    /// The node.
    pub node: String,
    /// By which part more flows end: 0.1 is a tenth more.
    pub throughput: Interval,
    /// By which part flows take longer, from their first node on.
    pub latency: Interval,
    /// How much longer all took while the node was faster, virtually: 1.2 is a fifth longer.
    pub slower: f64,
}

/// What the admin interface says of an experiment; `/speed-up` in `docs/admin.md`.
#[derive(Deserialize)]
struct Experiment {
    is_running: bool,
    slices: Vec<Slice>,
}

/// A slice of time.
#[derive(Deserialize)]
struct Slice {
    percent: u32,
    ns: f64,
    delays_ns: f64,
    flows: f64,
    followed: f64,
    followed_ns: f64,
}

impl Slice {
    /// Flows a second of a server with the faster node: all delays would not be there.
    fn rate(&self) -> f64 {
        self.flows / (self.ns - self.delays_ns).max(1.0)
    }

    /// How long flows took.
    fn latency(&self) -> f64 {
        self.followed_ns / self.followed.max(1.0)
    }
}

/// Tries the nodes, one after the other, at this server.
pub fn tried(arguments: &Advise, address: &str, terminal: &Terminal) -> Result<Vec<Found>> {
    let nodes = match arguments.nodes.is_empty() {
        true => dearest(&asked(address)?),
        false => arguments.nodes.clone(),
    };
    nodes.into_iter().map(|node| one(arguments, address, node, terminal)).collect()
}

/// Those that take most of all time.
fn dearest(profile: &Profile) -> Vec<String> {
    let mut all: Vec<_> = profile.node_times.iter().map(|node| (node.times.whole.sum(), &node.name)).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.0));
    all.into_iter().take(TRIED).map(|(_, name)| name.clone()).collect()
}

fn one(arguments: &Advise, address: &str, node: String, terminal: &Terminal) -> Result<Found> {
    terminal.show(&format!("note: {node} is tried for {:.0} s\n", f64::from(arguments.slices + 1) / 4.0));
    let query = format!("node={node}&percent={}&slices={}&slice_ms=250", arguments.faster, arguments.slices);
    let mut now = read(address, Some(&query))?;
    while now.is_running {
        std::thread::sleep(LOOK);
        now = read(address, None)?;
    }
    if now.slices.len() < arguments.slices as usize {
        return Err(Failure::usage(format!("{address}: the experiment was ended before its time, by another request")));
    }
    let pairs: Vec<_> = now.slices.chunks_exact(2).filter_map(pair).collect();
    let part = |figure: fn(&Slice) -> f64| {
        let known = pairs.iter().filter(|(before, _)| figure(before) > 0.0);
        Interval::of(&known.map(|(before, then)| figure(then) / figure(before) - 1.0).collect::<Vec<_>>())
    };
    let faster = now.slices.iter().filter(|slice| slice.percent > 0);
    let (all, delays) = faster.fold((0.0, 0.0), |(all, delays), slice| (all + slice.ns, delays + slice.delays_ns));
    let slower = all / (all - delays).max(1.0);
    Ok(Found { node, throughput: part(Slice::rate), latency: part(Slice::latency), slower })
}

fn read(address: &str, begun: Option<&str>) -> Result<Experiment> {
    let said = experiment(address, begun)?;
    serde_json::from_value(said).map_err(|error| Failure::Bytes(format!("{address}: {error}")))
}

/// Two neighbours in time: the node as it is, and faster.
fn pair(two: &[Slice]) -> Option<(&Slice, &Slice)> {
    match two {
        [one, other] if one.percent == 0 => Some((one, other)),
        [one, other] => Some((other, one)),
        _ => None,
    }
}

/// A part as a percentage; where too few flows have ended, nothing is known.
pub fn percent(part: Interval) -> String {
    if part.within.is_finite() { format!("{} %", number(part, 100.0)) } else { "-".to_owned() }
}
