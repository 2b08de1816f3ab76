//! `flux advise`

use crate::arguments::{Advise, Simulated};
use crate::failure::Result;
use crate::live::{Found, percent, tried};
use crate::sim::{Load, Server, load_text, number, setting, table};
use crate::terminal::{Terminal, print};
use flux_ir::flow::{Exit, Flow};
use flux_ir::flow_path::FlowPath;
use flux_ir::paths::graph;
use flux_sim::advice::{Advice, Change, TakenPath, advise as advices};
use flux_sim::interval::Interval;
use serde_json::json;

/// Says which changes of a server would help, the best first.
pub fn advise(arguments: &Advise, terminal: &Terminal) -> Result {
    let has_load = !arguments.server.rate.is_empty() || !arguments.server.clients.is_empty();
    let Some(address) = &arguments.live else { return simulate(&arguments.server, arguments, terminal).map(drop) };
    let mut simulated = vec![];
    if has_load {
        let mut server = arguments.server.clone();
        if server.profile.is_none() && server.file.is_none() && server.estimates.is_empty() {
            server.profile = Some(address.into());
        }
        simulated = simulate(&server, arguments, terminal)?;
    }
    let found = tried(arguments, address, terminal)?;
    match arguments.json {
        true => found.iter().for_each(|one| print(&format!("{}\n", live_object(arguments, address, one)))),
        false => print(&live_shown(arguments, address, &found, &simulated)),
    }
    Ok(())
}

/// Prints what the simulation says; gives what it says of faster nodes at the first point.
fn simulate(simulated: &Simulated, arguments: &Advise, terminal: &Terminal) -> Result<Vec<(String, Interval)>> {
    let server = Server::read(simulated, terminal)?;
    let flow = server.flow()?;
    let loads = server.loads(simulated)?;
    if !arguments.json {
        server.tell_assumed(terminal)?;
    }
    let left = 1.0 - f64::from(arguments.faster) / 100.0;
    let mut first = vec![];
    for cpus in &simulated.cpus {
        for load in &loads {
            let setting = setting(simulated, &server, flow, *cpus, *load);
            let all = advices(flow, &server.estimates, &setting, left, simulated.seed);
            let faster = arguments.faster;
            match arguments.json {
                true => {
                    all.iter().for_each(|advice| print(&format!("{}\n", object(flow, *cpus, *load, faster, advice))));
                }
                false => print(&shown(flow, *cpus, *load, faster, &all)),
            }
            if first.is_empty() {
                first = all.into_iter().filter_map(faster_node).collect();
            }
        }
    }
    Ok(first)
}

fn faster_node(advice: Advice) -> Option<(String, Interval)> {
    match advice.change {
        Change::Faster(node) => Some((node, advice.throughput)),
        _ => None,
    }
}

fn live_shown(arguments: &Advise, address: &str, found: &[Found], simulated: &[(String, Interval)]) -> String {
    let mut rows = vec![vec!["change", "throughput", "latency", "slower by"]];
    if !simulated.is_empty() {
        rows.iter_mut().for_each(|row| row.push("simulated throughput"));
    }
    let mut rows: Vec<Vec<String>> = rows.into_iter().map(|row| row.into_iter().map(str::to_owned).collect()).collect();
    for one in found {
        let slower = format!("{:.0} %", 100.0 * one.slower - 100.0);
        let mut row = vec![less(&one.node, arguments.faster), percent(one.throughput), percent(one.latency), slower];
        if let Some((_, throughput)) = simulated.iter().find(|(node, _)| *node == one.node) {
            row.push(percent(*throughput));
        }
        rows.push(row);
    }
    format!("live at {address}:\n{}", table(&rows))
}

fn live_object(arguments: &Advise, address: &str, one: &Found) -> serde_json::Value {
    let figure = |interval: Interval| json!({ "mean": interval.mean, "within": interval.within });
    json!({
        "live": address,
        "change": less(&one.node, arguments.faster),
        "throughput": figure(one.throughput),
        "latency": figure(one.latency),
        "slower": one.slower,
    })
}

/// A node that is faster, as its author would make it.
fn less(node: &str, percent: u32) -> String {
    match percent {
        10 => format!("{node} takes a tenth less"),
        25 => format!("{node} takes a quarter less"),
        50 => format!("{node} takes half as long"),
        other => format!("{node} takes {other} % less"),
    }
}

fn shown(flow: &Flow, cpus: u32, load: Load, faster: u32, all: &[Advice]) -> String {
    let unit = match load {
        Load::Rate(_) => " flows/s",
        Load::Clients(_) => " clients",
        Load::Timers => "",
    };
    let plural = if cpus == 1 { "" } else { "s" };
    let mut rows = vec![["change", "throughput", "latency"].map(str::to_owned).to_vec()];
    for advice in all {
        let percent = |interval| format!("{} %", number(interval, 100.0));
        let latency = if advice.overloaded { "grows".to_owned() } else { percent(advice.latency) };
        rows.push(vec![name(flow, faster, &advice.change), percent(advice.throughput), latency]);
    }
    format!("{cpus} CPU{plural}, {}{unit}:\n{}{}", load_text(load), table(&rows), paths(flow, all))
}

/// A line for each path: its nodes, and what it has of flows and of time.
fn paths(flow: &Flow, all: &[Advice]) -> String {
    let taken = all.iter().filter_map(|advice| match &advice.change {
        Change::FasterPath(taken) => Some(taken),
        _ => None,
    });
    let graph = graph(flow);
    let line = |taken: &TakenPath| {
        let labels = taken.path.labels(flow, &graph).unwrap_or_default().join(" -> ");
        let name = path_name(flow, taken.path);
        let [flows, time] = [taken.flows, taken.time].map(|part| 100.0 * part);
        format!("{name}: {labels}; {flows:.1} % of flows, {time:.1} % of the time that nodes take\n")
    };
    taken.map(line).collect()
}

/// A path as the profile numbers it, by what tells it from others: its exit, and its source where there are several.
fn path_name(flow: &Flow, path: FlowPath) -> String {
    let exit = exit_name(path.exit);
    let end = if path.exit == Exit::Done { String::new() } else { format!(" ({exit})") };
    let source = path.source_name(flow).filter(|_| flow.entries.len() > 1);
    format!("path {}{}{end}", path.number, source.map(|name| format!(" of {name}")).unwrap_or_default())
}

fn exit_name(exit: Exit) -> &'static str {
    match exit {
        Exit::Done => "done",
        Exit::Failed => "failed",
        Exit::Ended => "ended",
    }
}

/// A change, as its author would make it.
fn name(flow: &Flow, faster: u32, change: &Change) -> String {
    match change {
        Change::Faster(node) => less(node, faster),
        Change::FasterPath(taken) => less(&path_name(flow, taken.path), faster),
        Change::Readers(constraint) => {
            format!("{0}? in place of {0}", flow.program.constraints[*constraint].name)
        }
        Change::Cpu => "one more CPU".to_owned(),
        Change::Threads => "twice the threads".to_owned(),
    }
}

fn object(flow: &Flow, cpus: u32, load: Load, faster: u32, advice: &Advice) -> serde_json::Value {
    let figure = |interval: Interval| json!({ "mean": interval.mean, "within": interval.within });
    let mut object = json!({
        "cpus": cpus,
        "load": load_text(load),
        "change": name(flow, faster, &advice.change),
        "throughput": figure(advice.throughput),
        "latency": if advice.overloaded { serde_json::Value::Null } else { figure(advice.latency) },
    });
    if let (Change::FasterPath(TakenPath { path, flows, time }), Some(members)) =
        (&advice.change, object.as_object_mut())
    {
        let path = json!({
            "source": path.source_name(flow),
            "exit": exit_name(path.exit),
            "number": path.number,
            "labels": path.labels(flow, &graph(flow)),
            "flows": flows,
            "time": time,
        });
        members.insert("path".to_owned(), path);
    }
    object
}
