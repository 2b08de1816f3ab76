//! `flux advise`

use crate::arguments::Advise;
use crate::failure::Result;
use crate::sim::{Load, Server, load_text, number, setting, table};
use crate::terminal::{Terminal, print};
use flux_ir::flow::Flow;
use flux_sim::advice::{Advice, Change, advise as advices};
use serde_json::json;

/// Says which changes of a server would help, the best first.
pub fn advise(arguments: &Advise, terminal: &Terminal) -> Result {
    let server = Server::read(&arguments.server, !arguments.json, terminal)?;
    let flow = server.flow()?;
    for cpus in &arguments.server.cpus {
        for load in &server.loads {
            let setting = setting(&arguments.server, &server, flow, *cpus, *load);
            let all = advices(flow, &server.estimates, &setting, arguments.server.seed);
            match arguments.json {
                true => all.iter().for_each(|advice| print(&format!("{}\n", object(flow, *cpus, *load, advice)))),
                false => print(&shown(flow, *cpus, *load, &all)),
            }
        }
    }
    Ok(())
}

fn shown(flow: &Flow, cpus: u32, load: Load, all: &[Advice]) -> String {
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
        rows.push(vec![name(flow, &advice.change), percent(advice.throughput), latency]);
    }
    format!("{cpus} CPU{plural}, {}{unit}:\n{}", load_text(load), table(&rows))
}

/// A change, as its author would make it.
fn name(flow: &Flow, change: &Change) -> String {
    match change {
        Change::Faster(node) => format!("{node} takes a tenth less"),
        Change::Readers(constraint) => {
            format!("{0}? in place of {0}", flow.program.constraints[*constraint].name)
        }
        Change::Cpu => "one more CPU".to_owned(),
        Change::Threads => "twice the threads".to_owned(),
    }
}

fn object(flow: &Flow, cpus: u32, load: Load, advice: &Advice) -> serde_json::Value {
    let figure = |interval: flux_sim::interval::Interval| json!({ "mean": interval.mean, "within": interval.within });
    json!({
        "cpus": cpus,
        "load": load_text(load),
        "change": name(flow, &advice.change),
        "throughput": figure(advice.throughput),
        "latency": if advice.overloaded { serde_json::Value::Null } else { figure(advice.latency) },
    })
}
