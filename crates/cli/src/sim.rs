//! `flux sim`

use crate::arguments::{Sim, Simulated, SimulatedRuntime};
use crate::failure::{Failure, Result};
use crate::profile_source;
use crate::program::{Notes, Program, compile, plain};
use crate::terminal::{Terminal, print};
use flux_ir::flow::Flow;
use flux_ir::program::{ConstraintId, Origin};
use flux_sim::estimates::{Estimates, distribution};
use flux_sim::interval::Interval;
use flux_sim::measured::measured;
use flux_sim::most_load::most_load;
use flux_sim::plot;
use flux_sim::predict::{Limiting, Prediction, predict};
use flux_sim::random::Distribution;
use flux_sim::recorded::Recorded;
use flux_sim::setting::{Arrivals, Runtime, Setting, Sharing};
use flux_sim::turns::Slices;
use serde_json::{Value, json};
use std::path::Path;

/// What comes.
#[derive(Clone, Copy)]
pub enum Load {
    /// So many flows a second.
    Rate(f64),
    /// So many clients.
    Clients(u32),
    /// Only what timers bring.
    Timers,
}

/// A point and what is predicted of it.
struct Predicted {
    cpus: u32,
    load: Load,
    of: Prediction,
}

/// A program that can be simulated.
pub struct Server {
    program: Program,
    /// What is expected of it.
    pub estimates: Estimates,
    think: Distribution,
    /// How flows come that come by themselves; where there is none, independent of each other.
    recorded: Option<Recorded>,
    /// The source that figures are of; none where they are of all.
    seen: Option<usize>,
}

impl Server {
    /// Reads a program and what is expected of it.
    pub fn read(arguments: &Simulated, terminal: &Terminal) -> Result<Self> {
        let program = compile(&arguments.program)?;
        program.report(Notes::Hidden, terminal)?;
        let flow = program.compilation.flow.as_ref().ok_or(Failure::Program)?;
        let estimates = estimates(arguments, flow)?;
        let recorded = recorded(arguments)?;
        let seen = arguments.of.as_deref().map(|name| source(name, flow)).transpose()?;
        let think = distribution(&arguments.think).ok_or_else(|| {
            Failure::usage(format!("`{}` is no time: write --think 100ms, or 'exponential(100ms)'", arguments.think))
        })?;
        Ok(Self { program, estimates, think, recorded, seen })
    }

    /// What its flows do.
    pub fn flow(&self) -> Result<&Flow> {
        self.program.compilation.flow.as_ref().ok_or(Failure::Program)
    }

    /// Says what is taken for granted.
    pub fn tell_assumed(&self, terminal: &Terminal) -> Result {
        for assumed in self.estimates.assumed(self.flow()?) {
            terminal.show(&format!("note: {assumed}\n"));
        }
        Ok(())
    }

    /// The loads that are asked for.
    pub fn loads(&self, arguments: &Simulated) -> Result<Vec<Load>> {
        loads(arguments, self.recorded.as_ref(), self.flow()?)
    }
}

/// Predicts how a program performs.
pub fn sim(arguments: &Sim, terminal: &Terminal) -> Result {
    let server = Server::read(&arguments.server, terminal)?;
    if let Some(limit) = &arguments.p99 {
        return within(arguments, &server, limit, terminal);
    }
    let flow = server.flow()?;
    let loads = server.loads(&arguments.server)?;
    if !arguments.json {
        server.tell_assumed(terminal)?;
    }
    let mut all = vec![];
    let mut shown = vec![header(&loads)];
    for cpus in &arguments.server.cpus {
        for load in &loads {
            let setting = setting(&arguments.server, &server, flow, *cpus, *load);
            let of = predict(flow, &server.estimates, &setting, arguments.server.seed);
            let one = Predicted { cpus: *cpus, load: *load, of };
            match arguments.json {
                true => print(&format!("{}\n", object(flow, &one))),
                false => shown.push(row(flow, &one)),
            }
            all.push(one);
        }
    }
    if !arguments.json {
        print(&table(&shown));
    }
    match &arguments.plot {
        None => Ok(()),
        Some(path) => std::fs::write(path, drawn(&flow.program.name, &arguments.server, &all))
            .map_err(|error| Failure::usage(format!("cannot write {}: {}", path.display(), plain(&error)))),
    }
}

/// Finds the load up to which nearly all flows take no longer than that.
fn within(arguments: &Sim, server: &Server, limit: &str, terminal: &Terminal) -> Result {
    let flow = server.flow()?;
    let seconds = flux_sim::estimates::time(limit).filter(|seconds| *seconds > 0.0);
    let seconds = seconds.ok_or_else(|| Failure::usage(format!("`{limit}` is no time: write --p99 100ms")))?;
    if !has_others(flow) {
        return Err(Failure::usage("all sources are timers, so no other load comes: leave out --p99"));
    }
    if !arguments.json {
        server.tell_assumed(terminal)?;
    }
    let mut shown = vec![vec!["CPUs".to_owned(), format!("rate/s with p99 up to {limit}")]];
    for cpus in &arguments.server.cpus {
        if !arguments.json {
            terminal.progress("Simulating", &format!("{cpus} {}", if *cpus == 1 { "CPU" } else { "CPUs" }));
        }
        let at = |rate| setting(&arguments.server, server, flow, *cpus, Load::Rate(rate));
        let found = most_load(flow, &server.estimates, at, seconds, arguments.server.seed);
        match arguments.json {
            true => print(&format!("{}\n", json!({ "cpus": cpus, "p99": seconds, "rate": found.map(figure) }))),
            false => {
                let rate = found.map_or("none: one alone takes longer".to_owned(), |rate| number(rate, 1.0));
                shown.push(vec![cpus.to_string(), rate]);
            }
        }
    }
    if !arguments.json {
        print(&table(&shown));
    }
    Ok(())
}

/// What is in a file.
fn text(path: &Path) -> Result<String> {
    let failed = |error| Failure::usage(format!("cannot read {}: {}", path.display(), plain(&error)));
    std::fs::read_to_string(path).map_err(failed)
}

fn estimates(arguments: &Simulated, flow: &Flow) -> Result<Estimates> {
    let file = arguments.file.as_deref().map_or(Ok(String::new()), text)?;
    let known = match &arguments.profile {
        Some(path) => {
            let json = profile_source::text(path)?;
            measured(flow, &json).map_err(|wrong| Failure::usage(format!("{}: {wrong}", path.display())))?
        }
        None => Estimates::default(),
    };
    let lines = file.lines().chain(arguments.estimates.iter().map(String::as_str));
    let estimates = known.and(flow, lines).map_err(|errors| Failure::usage(errors.join("\n")))?;
    let missing = estimates.missing(flow);
    match missing.is_empty() {
        true => Ok(estimates),
        false => Err(Failure::usage(format!(
            "which way flows take is not estimated: add {}, with what you expect",
            missing.iter().map(|one| format!("--estimate {one}")).collect::<Vec<_>>().join(" ")
        ))),
    }
}

/// Whether there are sources that bring what comes from outside.
fn has_others(flow: &Flow) -> bool {
    (0..flow.entries.len()).any(|source| !is_timer(flow, source))
}

/// Whether a source brings flows by itself.
fn is_timer(flow: &Flow, source: usize) -> bool {
    matches!(flow.program.sources.get(source).map(|source| &source.origin), Some(Origin::Timer(_)))
}

/// The number of a source whose node has this name.
fn source(name: &str, flow: &Flow) -> Result<usize> {
    let named = |origin: &Origin| match origin {
        Origin::Node(made) => Some(flow.program.nodes[made.node].name.to_string()),
        Origin::Timer(_) => None,
    };
    let names: Vec<_> = flow.program.sources.iter().map(|source| named(&source.origin)).collect();
    names.iter().position(|one| one.as_deref() == Some(name)).ok_or_else(|| {
        let known: Vec<_> = names.iter().flatten().map(String::as_str).collect();
        Failure::usage(format!("no source is `{name}`: --of takes one of {}", known.join(", ")))
    })
}

/// Arrivals that are to be replayed.
fn recorded(arguments: &Simulated) -> Result<Option<Recorded>> {
    let Some(file) = &arguments.arrivals else { return Ok(None) };
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("cannot read {}: {}", file.display(), plain(&error))))?;
    let wrong = |wrong| Failure::usage(format!("{}: {wrong}", file.display()));
    Recorded::read(&text).map(Some).map_err(wrong)
}

fn loads(arguments: &Simulated, recorded: Option<&Recorded>, flow: &Flow) -> Result<Vec<Load>> {
    let as_recorded = recorded.filter(|_| arguments.rate.is_empty()).map(Recorded::rate);
    let rates = arguments.rate.iter().copied().chain(as_recorded).map(Load::Rate);
    let loads: Vec<_> = rates.chain(arguments.clients.iter().map(|clients| Load::Clients(*clients))).collect();
    match (loads.is_empty(), has_others(flow)) {
        (true, true) => Err(Failure::usage("say what load comes: --rate 100 (flows a second), or --clients 20")),
        (true, false) => Ok(vec![Load::Timers]),
        (false, false) => Err(Failure::usage("all sources are timers, so no other load comes: leave out --rate")),
        (false, true) => Ok(loads),
    }
}

/// A server and its load.
pub fn setting(arguments: &Simulated, server: &Server, flow: &Flow, cpus: u32, load: Load) -> Setting {
    let sources = flow.program.sources.iter();
    let others = sources.clone().filter(|source| matches!(source.origin, Origin::Node(_))).count();
    let mut seen = 0;
    let arrivals = sources.map(|source| match (&source.origin, load) {
        (Origin::Timer(milliseconds), _) => Arrivals::Every(*milliseconds as f64 / 1000.0),
        (Origin::Node(_), Load::Rate(rate)) => match &server.recorded {
            Some(recorded) => Arrivals::Recorded(recorded.at(rate / others as f64)),
            None => Arrivals::Poisson(rate / others as f64),
        },
        (Origin::Node(_), Load::Clients(clients)) => {
            // The first sources have one more where they do not share evenly.
            seen += 1;
            let clients = clients as usize;
            Arrivals::Clients(clients / others + usize::from(seen <= clients % others), server.think.clone())
        }
        (Origin::Node(_), Load::Timers) => Arrivals::Never,
    });
    let cpus = cpus as usize;
    let workers = arguments.workers.map(|workers| workers as usize);
    let runtime = match arguments.runtime {
        SimulatedRuntime::Thread => Runtime::Thread,
        SimulatedRuntime::Pool => Runtime::Pool(workers.unwrap_or((4 * cpus).max(16))),
        SimulatedRuntime::Event => Runtime::Event(workers.unwrap_or(cpus)),
    };
    let flows = f64::from(arguments.flows);
    // Few machines have one CPU, also where a server is given one.
    let sharing = Sharing::Turns(Slices { packs: arguments.vcpu_pack, ..Slices::of_linux(cpus.max(2)) });
    let arrivals = arrivals.collect();
    let (cpu_speed, seen) = (arguments.cpu_speed, server.seen);
    Setting { cpus, cpu_speed, sharing, runtime, arrivals, seen, warm_up: flows / 5.0, flows }
}

/// What limits, as a reader knows it.
fn limit_name(flow: &Flow, what: &Limiting) -> String {
    match what {
        Limiting::Cpus => "CPUs".to_owned(),
        Limiting::Threads => "threads".to_owned(),
        Limiting::Constraint(number) => {
            let constraint = flow.program.constraints.find(ConstraintId::new(*number));
            constraint.map_or_else(String::new, |constraint| format!("constraint {}", constraint.name))
        }
    }
}

fn header(loads: &[Load]) -> Vec<String> {
    let load = match loads.first() {
        Some(Load::Clients(_)) => "clients",
        Some(Load::Rate(_)) | Some(Load::Timers) | None => "rate/s",
    };
    let names = ["CPUs", load, "throughput/s", "p50", "p95", "p99", "CPUs used", "limited by"];
    names.map(str::to_owned).to_vec()
}

/// A load, without its unit.
pub fn load_text(load: Load) -> String {
    match load {
        // That of recorded arrivals has any number of digits.
        Load::Rate(rate) => ((rate * 1000.0).round() / 1000.0).to_string(),
        Load::Clients(clients) => clients.to_string(),
        Load::Timers => "timers".to_owned(),
    }
}

fn row(flow: &Flow, one: &Predicted) -> Vec<String> {
    let load = load_text(one.load);
    let of = &one.of;
    let latency = |interval| if of.overloaded { "grows".to_owned() } else { time(interval) };
    let limit = of.limit.as_ref().map_or("-".to_owned(), |limit| {
        let name = limit_name(flow, &limit.what);
        if of.overloaded { name } else { format!("{name}: {} wait", number(limit.waiting, 1.0)) }
    });
    vec![
        one.cpus.to_string(),
        load,
        number(of.throughput, 1.0) + if of.overloaded { " (capacity)" } else { "" },
        latency(of.p50),
        latency(of.p95),
        latency(of.p99),
        format!("{} %", number(of.cpus, 100.0)),
        limit,
    ]
}

/// A figure with its interval, with as many digits as that leaves a meaning.
pub fn number(interval: Interval, scale: f64) -> String {
    let (mean, within) = (interval.mean * scale, interval.within * scale);
    let size = if within > 0.0 { within } else { mean / 1000.0 };
    let digits = if size > 0.0 { (1.0 - size.log10().floor()).clamp(0.0, 3.0) as usize } else { 0 };
    format!("{mean:.digits$} ±{within:.digits$}")
}

/// A time with its interval.
fn time(interval: Interval) -> String {
    let (scale, unit) = match interval.mean {
        mean if mean >= 1.0 => (1.0, "s"),
        mean if mean >= 1e-3 => (1e3, "ms"),
        _ => (1e6, "µs"),
    };
    format!("{} {unit}", number(interval, scale))
}

/// Rows with columns below each other.
pub fn table(rows: &[Vec<String>]) -> String {
    let length = |text: &String| text.chars().count();
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<_> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(length).max().unwrap_or_default())
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

fn figure(interval: Interval) -> Value {
    json!({ "mean": interval.mean, "within": interval.within })
}

fn object(flow: &Flow, one: &Predicted) -> Value {
    let of = &one.of;
    let latency = |interval| if of.overloaded { Value::Null } else { figure(interval) };
    let limit =
        of.limit.as_ref().map(|limit| json!({ "by": limit_name(flow, &limit.what), "waiting": figure(limit.waiting) }));
    json!({
        "cpus": one.cpus,
        "rate": match one.load { Load::Rate(rate) => Some(rate), _ => None },
        "clients": match one.load { Load::Clients(clients) => Some(clients), _ => None },
        "throughput": figure(of.throughput),
        "mean": latency(of.mean),
        "p50": latency(of.p50),
        "p95": latency(of.p95),
        "p99": latency(of.p99),
        "cpus_used": figure(of.cpus),
        "overloaded": of.overloaded,
        "limit": limit,
    })
}

fn drawn(name: &str, arguments: &Simulated, all: &[Predicted]) -> String {
    let axis = if arguments.clients.is_empty() { "load, flows/s" } else { "clients" };
    let milliseconds = |interval: Interval| Interval { mean: interval.mean * 1e3, within: interval.within * 1e3 };
    let lines = arguments.cpus.iter().map(|cpus| {
        let of_these = all.iter().filter(|one| one.cpus == *cpus);
        let mut points: Vec<_> = of_these
            .map(|one| plot::Point {
                load: match one.load {
                    Load::Rate(rate) => rate,
                    Load::Clients(clients) => f64::from(clients),
                    Load::Timers => one.of.throughput.mean,
                },
                throughput: one.of.throughput,
                p95: (!one.of.overloaded).then(|| milliseconds(one.of.p95)),
            })
            .collect();
        points.sort_by(|a, b| a.load.total_cmp(&b.load));
        plot::Line { name: format!("{cpus} {}", if *cpus == 1 { "CPU" } else { "CPUs" }), points }
    });
    let title = format!("{name}: predicted, {:?}", arguments.runtime).to_lowercase();
    plot::draw(&title, axis, &lines.collect::<Vec<_>>())
}
