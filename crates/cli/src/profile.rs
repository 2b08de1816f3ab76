//! `flux profile`

use crate::arguments::Profile as Arguments;
use crate::compared;
use crate::failure::{Failure, Result};
use crate::profile_source::read;
use crate::program::plain;
use crate::sim::table;
use crate::terminal::print;
use flux_profile::compare::compare;
use flux_profile::histogram::Histogram;
use flux_profile::merge::merge;
use flux_profile::pprof::pprof;
use flux_profile::profile::{Constraint, EdgeSizes, Holds, HotKey, NodeTimes, Path, Profile, Times};
use serde_json::{Value, json};
use std::path;

/// So many rows of a kind are shown where not all are asked for.
const MOST_ROWS: usize = 20;

/// Shows, compares, merges or converts profiles.
pub fn profile(arguments: &Arguments) -> Result {
    let mut profiles = arguments.sources.iter().map(|source| read(source)).collect::<Result<Vec<_>>>()?;
    if arguments.merge {
        let mut all = profiles.remove(0);
        for (source, other) in arguments.sources.iter().skip(1).zip(profiles) {
            merge(&mut all, other).map_err(|wrong| Failure::Bytes(format!("{source}: {wrong}")))?;
        }
        return match &arguments.output {
            Some(file) => write(file, all.write().as_bytes()),
            None => {
                print(&all.write());
                Ok(())
            }
        };
    }
    match profiles.as_slice() {
        [one] => {
            if let Some(file) = &arguments.pprof {
                return write(file, &pprof(one));
            }
            if let Some(constraint) = &arguments.cache {
                return caches(one, constraint, arguments.json);
            }
            match arguments.json {
                true => objects(one).iter().for_each(|row| print(&format!("{row}\n"))),
                false => print(&shown(one, arguments.all)),
            }
            Ok(())
        }
        [before, after] if arguments.pprof.is_none() && arguments.cache.is_none() => {
            let compared = compare(before, after).map_err(Failure::Bytes)?;
            match arguments.json {
                true => compared::objects(&compared).iter().for_each(|row| print(&format!("{row}\n"))),
                false => print(&compared::shown(&compared, arguments.all)),
            }
            Ok(())
        }
        _ => Err(Failure::usage(
            "one profile is shown, two are compared, and several are added up with --merge; --pprof and --cache take \
             one",
        )),
    }
}

fn write(file: &path::Path, bytes: &[u8]) -> Result {
    std::fs::write(file, bytes)
        .map_err(|error| Failure::usage(format!("cannot write {}: {}", file.display(), plain(&error))))
}

/// How often caches for so many keys of a constraint would have had the one that is taken.
fn caches(of: &Profile, constraint: &str, as_json: bool) -> Result {
    let known = of.constraints.iter().filter(|one| !one.reuse.is_empty());
    let Some(found) = known.clone().find(|one| one.name == constraint) else {
        let names: Vec<_> = known.map(|one| one.name.as_str()).collect();
        let those = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(Failure::usage(format!(
            "no keys of a constraint {constraint} were taken; constraints of which some were: {those}"
        )));
    };
    let rates = found.reuse.sizes().into_iter().map(|keys| (keys, found.reuse.hit_rate(keys)));
    if as_json {
        rates.for_each(|(keys, hit)| print(&format!("{}\n", json!({"keys": keys, "hit_rate": hit}))));
        return Ok(());
    }
    let head = ["cache for keys", "hits", "misses"].map(str::to_owned).to_vec();
    let rows = rates.map(|(keys, hit)| vec![keys.to_string(), percent(hit), percent(1.0 - hit)]);
    print(&table(&[head].into_iter().chain(rows).collect::<Vec<_>>()));
    Ok(())
}

/// A time, with three digits.
pub fn time(ns: f64) -> String {
    let (scale, unit) = match ns {
        ns if ns >= 1e9 => (1e-9, "s"),
        ns if ns >= 1e6 => (1e-6, "ms"),
        ns if ns >= 1e3 => (1e-3, "µs"),
        _ => (1.0, "ns"),
    };
    let value = ns * scale;
    let digits = if value >= 100.0 || unit == "ns" { 0 } else { usize::from(value < 10.0) + 1 };
    format!("{value:.digits$} {unit}")
}

/// A number of bytes, with three digits.
pub fn size(bytes: f64) -> String {
    let (scale, unit) = match bytes {
        bytes if bytes >= 1024.0 * 1024.0 * 1024.0 => (30, "GiB"),
        bytes if bytes >= 1024.0 * 1024.0 => (20, "MiB"),
        bytes if bytes >= 1024.0 => (10, "KiB"),
        _ => (0, "B"),
    };
    let value = bytes / f64::from(1 << scale);
    let digits = if value >= 100.0 || value.fract() == 0.0 { 0 } else { usize::from(value < 10.0) + 1 };
    format!("{value:.digits$} {unit}")
}

/// A part, in percent.
pub fn percent(part: f64) -> String {
    match part * 100.0 {
        0.0 => "-".to_owned(),
        percent if percent < 0.1 => "< 0.1 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

fn part(of: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { of as f64 / all as f64 }
}

/// Where a row ends that is for a person.
fn cut<T>(rows: &[T], all: bool) -> &[T] {
    rows.get(..MOST_ROWS).filter(|_| !all).unwrap_or(rows)
}

/// A profile for a person: what takes most is first.
fn shown(of: &Profile, all: bool) -> String {
    let flows = &of.flows;
    let mut text = format!(
        "{}: {} flows in {:.1} s under {}, {} failed; processors worked {:.2} s\n",
        of.program, flows.started, of.seconds, of.strategy, flows.failed, of.cpu_seconds
    );
    text += &held(of);
    text += &section("flows of", of.flow_times.iter().map(|one| (one.source.as_str(), &one.times, 0)), all);
    let mut nodes: Vec<_> = of.node_times.iter().collect();
    nodes.sort_by_key(|node| std::cmp::Reverse(node.times.whole.sum()));
    let nodes = nodes.into_iter().map(|node| (node.name.as_str(), &node.times, of.failures_of(&node.name)));
    text += &section("node", nodes, all);
    text += &parks(of, all);
    text += &sizes(&of.value_sizes, all);
    text += &constraints(&of.constraints, all);
    text + &paths(&of.paths, all)
}

/// What flows hold, and what waits; nothing of a profile that does not say.
fn held(of: &Profile) -> String {
    let memory = &of.memory;
    let mut text = String::new();
    if memory.flows > 0 {
        let kib = memory.flow_bytes.div_ceil(1024);
        text += &format!("memory: {} flows of {kib} KiB together, {} stacks\n", memory.flows, memory.stacks);
    }
    let waiting: Vec<_> = of.queues.iter().filter(|queue| queue.waiting > 0).collect();
    if !waiting.is_empty() {
        let each: Vec<_> = waiting.iter().map(|queue| format!("{} at {}", queue.waiting, queue.place)).collect();
        text += &format!("waiting: {}\n", each.join(", "));
    }
    text
}

/// What a time went to, in the order of [`Times::parts`].
const PARTS: [&str; 6] = ["ran", "beside", "parked", "waited", "queued", "branches"];

/// A table of times: what they are of, and how often that failed.
fn section<'a>(name: &str, rows: impl Iterator<Item = (&'a str, &'a Times, u64)>, all: bool) -> String {
    let head = [&[name, "calls", "mean", "p50", "p99", "together"], PARTS.as_slice(), &["failed"]].concat();
    let mut lines = vec![head.into_iter().map(str::to_owned).collect()];
    for (name, times, failed) in rows {
        let whole = &times.whole;
        let mut line = vec![
            name.to_owned(),
            whole.times().to_string(),
            time(whole.mean()),
            time(whole.quantile(0.5) as f64),
            time(whole.quantile(0.99) as f64),
            time(whole.sum() as f64),
        ];
        line.extend(times.parts().map(|(_, of)| percent(part(of.sum(), whole.sum()))));
        line.push(if failed == 0 { "-".to_owned() } else { failed.to_string() });
        lines.push(line);
    }
    match lines.len() {
        1 => String::new(),
        _ => format!("\n{}", table(cut(&without_beside(lines), all))),
    }
}

/// Without what threads beside loops did, where there was none: few servers have any.
fn without_beside(mut lines: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let at = lines.first().and_then(|head| head.iter().position(|name| name == PARTS[1]));
    if let Some(at) = at.filter(|at| lines.iter().skip(1).all(|line| line.get(*at) == Some(&percent(0.0)))) {
        lines.iter_mut().for_each(|line| drop(line.remove(at)));
    }
    lines
}

/// What nodes were parked for, longest first.
fn parks(of: &Profile, all: bool) -> String {
    let reasons = |node: &'_ NodeTimes| {
        let name = node.name.clone();
        node.times.parked_for.clone().into_iter().map(move |(reason, times)| (name.clone(), reason, times))
    };
    let mut rows: Vec<_> = of.node_times.iter().flat_map(reasons).collect();
    rows.sort_by_key(|(_, _, times)| std::cmp::Reverse(times.sum()));
    let mut lines = vec![["node", "parked for", "times", "mean", "p50", "p99", "together"].map(str::to_owned).to_vec()];
    lines.extend(rows.into_iter().map(|(name, reason, times)| {
        let spans = [times.mean(), times.quantile(0.5) as f64, times.quantile(0.99) as f64];
        let [mean, half, most] = spans.map(time);
        vec![name, reason, times.times().to_string(), mean, half, most, time(times.sum() as f64)]
    }));
    match lines.len() {
        1 => String::new(),
        _ => format!("\n{}", table(cut(&lines, all))),
    }
}

/// How large the values on edges are; what most goes along together is first.
fn sizes(of: &[EdgeSizes], all: bool) -> String {
    let mut given: Vec<_> = of.iter().collect();
    given.sort_by_key(|edge| std::cmp::Reverse(edge.bytes.sum()));
    let head = ["from", "to", "given", "mean", "p50", "p99", "largest", "together"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for edge in given {
        let of = &edge.bytes;
        let [half, most, largest, together] = [of.quantile(0.5), of.quantile(0.99), of.largest(), of.sum()];
        let sizes = [of.mean(), half as f64, most as f64, largest as f64, together as f64].map(size);
        lines.push([edge.from.clone(), edge.to.clone(), of.times().to_string()].into_iter().chain(sizes).collect());
    }
    match lines.len() {
        1 => String::new(),
        _ => format!("\n{}", table(cut(&lines, all))),
    }
}

fn constraints(of: &[Constraint], all: bool) -> String {
    let mut taken: Vec<_> = of.iter().filter(|one| one.taken > 0).collect();
    taken.sort_by_key(|one| std::cmp::Reverse(one.waited_ns));
    let head = ["constraint", "taken", "waited for", "wait p50", "p99", "held p50", "p99", "hottest key"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for one in taken {
        // What is sure: a key that came late may have taken over the count of another.
        let sure = |key: &&HotKey| key.times.saturating_sub(key.surplus);
        let hottest = one.keys.iter().max_by_key(sure).filter(|key| sure(key) > 0 && one.waited > 0);
        let hottest = hottest.map_or_else(
            || "-".to_owned(),
            |key| {
                let name = key.text.as_ref().map(|text| format!("{text}: ")).unwrap_or_default();
                format!("{name}{} of waits", percent(part(sure(&key), one.waited)))
            },
        );
        for (mode, holds) in [("to read", &one.readers), ("to change", &one.writers)] {
            if holds.taken > 0 {
                lines.push(constraint_row(&format!("{} {mode}", one.name), holds, &hottest));
            }
        }
    }
    match lines.len() {
        1 => String::new(),
        _ => format!("\n{}", table(cut(&lines, all))),
    }
}

/// One mode of a constraint; what is to be said of its hottest key is said of both.
fn constraint_row(name: &str, of: &Holds, hottest: &str) -> Vec<String> {
    let at = |times: &Histogram, which: f64| match times.times() {
        0 => "-".to_owned(),
        _ => time(times.quantile(which) as f64),
    };
    vec![
        name.to_owned(),
        of.taken.to_string(),
        percent(part(of.waited, of.taken)),
        at(&of.waits, 0.5),
        at(&of.waits, 0.99),
        at(&of.holds, 0.5),
        at(&of.holds, 0.99),
        hottest.to_owned(),
    ]
}

fn paths(of: &[Path], all: bool) -> String {
    let sum = of.iter().map(|path| path.count).fold(0, u64::saturating_add);
    let head = [["flows", "share", "mean", "p50", "p99"].as_slice(), &PARTS, &["path"]].concat();
    let mut lines = vec![head.into_iter().map(str::to_owned).collect()];
    for path in of {
        let whole = &path.times;
        let mut line = vec![path.count.to_string(), percent(part(path.count, sum))];
        line.extend(match whole.times() {
            0 => ["-"; 3].map(str::to_owned),
            _ => [whole.mean(), whole.quantile(0.5) as f64, whole.quantile(0.99) as f64].map(time),
        });
        line.extend(path.sums.parts().map(|ns| percent(part(ns, whole.sum()))));
        let end = if path.exit == "done" { String::new() } else { format!("  -- {}", path.exit) };
        let labels =
            path.labels.as_ref().map_or_else(|| format!("number {}", path.number), |labels| labels.join(" -> "));
        line.push(labels + &end);
        lines.push(line);
    }
    match lines.len() {
        1 => String::new(),
        _ => format!("\n{}", table(cut(&without_beside(lines), all))),
    }
}

/// The rows of a profile for programs.
fn objects(of: &Profile) -> Vec<Value> {
    let times = |of: &Times| {
        let mut row = json!({
            "calls": of.whole.times(), "measured": of.whole.measured(), "mean_ns": of.whole.mean(),
            "p50_ns": of.whole.quantile(0.5), "p99_ns": of.whole.quantile(0.99), "sum_ns": of.whole.sum(),
        });
        for (name, histogram) in of.parts() {
            if let Some(row) = row.as_object_mut() {
                row.insert(format!("{name}_ns"), json!(histogram.sum()));
            }
        }
        for (reason, histogram) in &of.parked_for {
            if let Some(row) = row.as_object_mut() {
                row.insert(format!("parked_for_{reason}_ns"), json!(histogram.sum()));
            }
        }
        row
    };
    let with = |mut row: Value, members: &[(&str, Value)]| {
        if let Some(row) = row.as_object_mut() {
            row.extend(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        }
        row
    };
    let sources = of.flow_times.iter().map(|one| with(times(&one.times), &[("source", json!(one.source))]));
    let nodes = of.node_times.iter().map(|one| {
        let failed = of.failures_of(&one.name);
        let place = [("file", json!(one.file)), ("line", json!(one.line))];
        let members = [("node", json!(one.name)), ("failed", json!(failed))];
        with(with(times(&one.times), &members), &place)
    });
    let constraints = of.constraints.iter().map(|one| {
        let of = |holds: &Holds| {
            json!({
                "taken": holds.taken, "waited": holds.waited, "waited_ns": holds.waited_ns,
                "wait_p50_ns": holds.waits.quantile(0.5), "wait_p99_ns": holds.waits.quantile(0.99),
                "held_p50_ns": holds.holds.quantile(0.5), "held_p99_ns": holds.holds.quantile(0.99),
            })
        };
        json!({
            "constraint": one.name, "taken": one.taken, "waited": one.waited, "waited_ns": one.waited_ns,
            "readers": of(&one.readers), "writers": of(&one.writers), "keys": one.keys,
            "distinct_keys": one.distinct_keys,
        })
    });
    let paths = of.paths.iter().map(|one| {
        json!({
            "path": one.labels, "source": one.source, "exit": one.exit, "flows": one.count,
            "measured": one.times.measured(), "mean_ns": one.times.mean(), "p50_ns": one.times.quantile(0.5),
            "p99_ns": one.times.quantile(0.99), "ran_ns": one.sums.ran_ns,
            "beside_ns": one.sums.beside_ns, "parked_ns": one.sums.parked_ns, "waited_ns": one.sums.waited_ns,
            "queued_ns": one.sums.queued_ns, "branched_ns": one.sums.branched_ns,
        })
    });
    let edges = of.value_sizes.iter().map(|one| {
        let bytes = &one.bytes;
        json!({
            "from": one.from, "to": one.to, "given": bytes.times(), "measured": bytes.measured(),
            "mean_bytes": bytes.mean(), "p50_bytes": bytes.quantile(0.5), "p99_bytes": bytes.quantile(0.99),
            "largest_bytes": bytes.largest(), "sum_bytes": bytes.sum(),
        })
    });
    sources.chain(nodes).chain(constraints).chain(edges).chain(paths).collect()
}
