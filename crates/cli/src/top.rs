//! `flux top`

use crate::arguments::Top;
use crate::failure::{Failure, Result};
use crate::profile::{percent, time};
use crate::profile_source::{asked, asked_for_places};
use crate::program::plain;
use crate::screen::{Event, Screen};
use crate::sim::table;
use crate::terminal::print;
use flux_profile::histogram::Histogram;
use flux_profile::places::Place;
use flux_profile::profile::{Flows, NodeTimes, Profile, Times};
use serde_json::{Value, json};
use signal_hook::consts::SIGINT;
use signal_hook::low_level::emulate_default_handler;
use std::io::IsTerminal as _;
use std::sync::mpsc::channel;
use std::time::Duration;

/// The looks at a server, one after the other.
struct Looks {
    address: String,
    interval: f64,
    before: Profile,
}

/// What has happened between two looks, and where flows are at the second.
struct Look {
    before: Profile,
    now: Profile,
    places: Vec<Place>,
    seconds: f64,
}

/// Looks at a server until it ends.
pub fn top(arguments: &Top) -> Result {
    let before = asked(&arguments.address)?;
    let mut looks = Looks { address: arguments.address.clone(), interval: arguments.interval, before };
    if !arguments.json && !arguments.once && std::io::stdout().is_terminal() {
        return draw(looks);
    }
    loop {
        match looks.next() {
            Ok(look) if arguments.json => print(&format!("{}\n", look.object())),
            Ok(look) => print(&format!("{}\n", look.text())),
            // Who looks once wants to know; who has looked for long knows that servers end.
            Err(error) if arguments.once => return Err(error),
            Err(error) => {
                print(&looks.end(&error));
                return Ok(());
            }
        }
        if arguments.once {
            return Ok(());
        }
    }
}

/// Draws each look in place, until the server ends or somebody has seen enough.
fn draw(mut looks: Looks) -> Result {
    let cannot = |error: std::io::Error| Failure::usage(format!("cannot draw on this terminal: {}", plain(&error)));
    let mut text = format!("{}: the first look takes {} s; q ends them\n", looks.before.program, looks.interval);
    let (to, events) = channel();
    let screen = Screen::take(&to).map_err(cannot)?;
    std::thread::spawn(move || {
        loop {
            let look = looks.next().map(|look| look.text()).map_err(|error| looks.end(&error));
            let is_last = look.is_err();
            if to.send(Event::New(look)).is_err() || is_last {
                return;
            }
        }
    });
    loop {
        screen.draw(&text).map_err(cannot)?;
        match events.recv() {
            Ok(Event::Key(b'q' | b'Q') | Event::Signal(SIGINT)) | Err(_) => return Ok(()),
            Ok(Event::Key(_) | Event::Resized) => {}
            Ok(Event::New(Ok(look))) => text = look,
            Ok(Event::New(Err(end))) => {
                drop(screen);
                print(&end);
                return Ok(());
            }
            Ok(Event::Signal(signal)) => {
                drop(screen);
                // Who waits for us is to see what has ended us.
                return emulate_default_handler(signal).map_err(cannot);
            }
        }
    }
}

impl Looks {
    /// Waits, and looks again.
    fn next(&mut self) -> Result<Look> {
        loop {
            std::thread::sleep(Duration::from_secs_f64(self.interval));
            let now = asked(&self.address)?;
            let places = asked_for_places(&self.address)?;
            let before = std::mem::replace(&mut self.before, now.clone());
            // Where another server has taken its place, what it does is known after the next look.
            if now.seconds >= before.seconds {
                let seconds = (now.seconds - before.seconds).max(1e-3);
                return Ok(Look { before, now, places, seconds });
            }
        }
    }

    /// What is said of a server that was looked at and answers no more.
    fn end(&self, error: &Failure) -> String {
        let why = error.message().unwrap_or_default();
        format!("{} has ended, or does not answer any more: {why}\n", self.before.program)
    }
}

impl Look {
    fn per_second(&self, now: u64, before: u64) -> f64 {
        now.saturating_sub(before) as f64 / self.seconds
    }

    fn text(&self) -> String {
        let worked = (self.now.cpu_seconds - self.before.cpu_seconds) / self.seconds;
        let flows = rates(self, &self.now.flows, &self.before.flows);
        let in_progress = in_progress(&self.now.flows);
        let mut text = format!(
            "{} under {}: {:.0} flows/s, {:.0} failures/s, {in_progress} in progress; {} of a CPU; up {:.0} s\n",
            self.now.program,
            self.now.strategy,
            flows.0,
            flows.1,
            percent(worked),
            self.now.seconds
        );
        text += &format!("\n{}", table(&self.sources()));
        let waiting: Vec<_> = self.now.queues.iter().filter(|queue| queue.waiting > 0).collect();
        if !waiting.is_empty() {
            let head = ["queue", "waiting"].map(str::to_owned).to_vec();
            let rows = waiting.iter().map(|queue| vec![queue.place.clone(), queue.waiting.to_string()]);
            text += &format!("\n{}", table(&[head].into_iter().chain(rows).collect::<Vec<_>>()));
        }
        if !self.places.is_empty() {
            text += &format!("\n{}", table(&self.places()));
        }
        text += &format!("\n{}", table(&self.nodes()));
        let constraints = self.constraints();
        if constraints.len() > 1 {
            text += &format!("\n{}", table(&constraints));
        }
        text
    }

    /// The flows of each source, and what those did that were in progress: how many did so at a time, on average, is
    /// how long all have done it in a second (Little's law).
    fn sources(&self) -> Vec<Vec<String>> {
        let head = ["source", "flows/s", "failed/s", "in progress", "run", "are parked", "wait", "queue"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for current in &self.now.sources {
            let before = self.before.sources.iter().find(|before| before.name == current.name);
            let (started, failed) = rates(self, &current.flows, &before.map(|before| before.flows).unwrap_or_default());
            let times = |of: &Profile| of.flow_times.iter().find(|one| one.source == current.name).cloned();
            let (now, before) =
                (times(&self.now).unwrap_or_default().times, times(&self.before).unwrap_or_default().times);
            let mean =
                |now: &Histogram, before: &Histogram| format!("{:.2}", self.per_second(now.sum(), before.sum()) * 1e-9);
            rows.push(vec![
                current.name.clone(),
                format!("{started:.0}"),
                format!("{failed:.0}"),
                in_progress(&current.flows).to_string(),
                format!("{:.2}", self.per_second(now.cpu_ns(), before.cpu_ns()) * 1e-9),
                mean(&now.parked, &before.parked),
                mean(&now.waited, &before.waited),
                mean(&now.queued, &before.queued),
            ]);
        }
        rows
    }

    /// The times of each node since the last look, by its name.
    fn times(&self) -> Vec<(&str, Times)> {
        let since = |now: &NodeTimes| {
            let before = self.before.node_times.iter().find(|before| before.name == now.name);
            let before = before.map(|before| before.times.clone()).unwrap_or_default();
            Times {
                whole: now.times.whole.since(&before.whole),
                ran: now.times.ran.since(&before.ran),
                beside: now.times.beside.since(&before.beside),
                parked: now.times.parked.since(&before.parked),
                waited: now.times.waited.since(&before.waited),
                queued: now.times.queued.since(&before.queued),
                branched: now.times.branched.since(&before.branched),
                ..Times::default()
            }
        };
        self.now.node_times.iter().map(|now| (now.name.as_str(), since(now))).collect()
    }

    /// What takes most of the processors is first.
    fn nodes(&self) -> Vec<Vec<String>> {
        let mut nodes = self.times();
        nodes.sort_by_key(|(_, times)| std::cmp::Reverse(times.cpu_ns()));
        let head = ["node", "calls/s", "of a CPU", "p50", "p99", "parked", "waited", "queued"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for (name, times) in nodes {
            let share = |ns: u64| ns as f64 * 1e-9 / self.seconds;
            let of_whole =
                |ns: u64| percent(if times.whole.is_empty() { 0.0 } else { ns as f64 / times.whole.sum() as f64 });
            rows.push(vec![
                name.to_owned(),
                format!("{:.0}", times.whole.times() as f64 / self.seconds),
                percent(share(times.cpu_ns())),
                time(times.whole.quantile(0.5) as f64),
                time(times.whole.quantile(0.99) as f64),
                of_whole(times.parked.sum()),
                of_whole(times.waited.sum()),
                of_whole(times.queued.sum()),
            ]);
        }
        rows
    }

    /// Where most flows are is first.
    fn places(&self) -> Vec<Vec<String>> {
        let mut rows = vec![["in progress at", "source", "flows", "longest"].map(str::to_owned).to_vec()];
        for place in &self.places {
            rows.push(vec![
                place.node.clone().unwrap_or_else(|| "(before the first node)".to_owned()),
                place.source.clone(),
                place.flows.to_string(),
                if place.longest_ms == 0 { "-".to_owned() } else { time(place.longest_ms as f64 * 1e6) },
            ]);
        }
        rows
    }

    fn constraints(&self) -> Vec<Vec<String>> {
        let head = ["constraint", "taken/s", "waits/s", "flows that wait"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for (now, before) in self.now.constraints.iter().zip(&self.before.constraints) {
            rows.push(vec![
                now.name.clone(),
                format!("{:.0}", self.per_second(now.taken, before.taken)),
                format!("{:.0}", self.per_second(now.waited, before.waited)),
                format!("{:.2}", self.per_second(now.waited_ns, before.waited_ns) * 1e-9),
            ]);
        }
        rows
    }

    fn object(&self) -> Value {
        let (started, failed) = rates(self, &self.now.flows, &self.before.flows);
        let nodes: Vec<_> = self
            .times()
            .iter()
            .map(|(name, times)| {
                json!({
                    "node": name, "calls_per_s": times.whole.times() as f64 / self.seconds,
                    "cpus": times.cpu_ns() as f64 * 1e-9 / self.seconds,
                    "p50_ns": times.whole.quantile(0.5), "p99_ns": times.whole.quantile(0.99),
                })
            })
            .collect();
        let places = self.places.iter().map(|place| {
            json!({
                "node": place.node, "source": place.source, "flows": place.flows, "longest_ms": place.longest_ms,
            })
        });
        json!({
            "program": self.now.program, "seconds": self.now.seconds, "flows_per_s": started, "failed_per_s": failed,
            "in_progress": in_progress(&self.now.flows),
            "cpus": (self.now.cpu_seconds - self.before.cpu_seconds) / self.seconds, "nodes": nodes,
            "places": places.collect::<Vec<_>>(), "queues": self.now.queues, "memory": self.now.memory,
        })
    }
}

/// Flows that began and that failed, a second.
fn rates(look: &Look, now: &Flows, before: &Flows) -> (f64, f64) {
    (look.per_second(now.started, before.started), look.per_second(now.failed, before.failed))
}

fn in_progress(of: &Flows) -> u64 {
    of.started.saturating_sub(of.finished())
}
