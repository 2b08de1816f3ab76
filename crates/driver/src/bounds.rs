//! What a program takes at most, known before it runs: `flux check --bounds`. Of each process of FLICK the bytes that
//! one run may hold, and how long one message keeps its loop busy; of any program its messages, and what is computed.

use crate::FRONTS;
use flux_front_flick::bounds::{Channel, Held, Process, processes};
use flux_ir::compute::{Extent, StepCounter, Steps};
use flux_ir::program::{Body, NodeId, Parameter, Program};
use flux_ir::types::TypeKind;
use flux_source::SourceMap;
use std::fmt::Write as _;
use std::path::Path;

/// One bound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// Of what.
    pub what: String,
    /// The most; none where there is no bound.
    pub most: Option<u64>,
    /// How it comes about, or what to write to have one; empty where nothing is to be said.
    pub note: String,
}

/// Those of a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessBounds {
    /// What it is called.
    pub name: String,
    /// The bytes that one run holds, by what holds them.
    pub run: Vec<Bound>,
    /// All of them together.
    pub bytes: Option<u64>,
    /// The steps that one message takes, by where it comes from.
    pub steps: Vec<Bound>,
}

/// Those of a program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Bounds {
    /// Its processes.
    pub processes: Vec<ProcessBounds>,
    /// The bytes of state that all runs share.
    pub shared: Vec<Bound>,
    /// The bytes of its own messages.
    pub messages: Vec<Bound>,
    /// The steps of its own nodes that are computed.
    pub nodes: Vec<Bound>,
}

/// The bounds of a program that is right.
pub fn bounds(sources: &SourceMap, program: &Program) -> Bounds {
    let mut found = Bounds::default();
    let (mut of_processes, mut counter) = (vec![], StepCounter::new(program));
    for (id, file) in sources.files() {
        let ending = Path::new(&file.name).extension().and_then(|ending| ending.to_str());
        if ending != Some(FRONTS[1].extension()) {
            continue;
        }
        let (processes, globals) = processes(id, &file.text, program);
        for process in &processes {
            let mut reader = Reader { program, process, globals: &globals, counter: &mut counter };
            found.processes.push(reader.bounds(&mut of_processes));
        }
        found.shared.extend(globals.iter().map(|held| bound_of("global", held)));
    }
    let own = |module: Option<&str>| module.is_none();
    for (id, message) in program.messages.iter().filter(|(_, message)| own(message.name.module())) {
        let most = Some(program.messages[id].most_bytes());
        let note = if message.max_size.is_none() { "by default: `%max_size = 4k;` says less" } else { "" };
        found.messages.push(Bound { what: message.name.to_string(), most, note: note.to_owned() });
    }
    for (id, node) in program.nodes.iter().filter(|(_, node)| own(node.name.module())) {
        if let (Body::Computed(_), false) = (&node.body, of_processes.contains(&id)) {
            let inputs: Vec<Extent> = node.inputs().iter().map(|_| Extent::ANY).collect();
            found.nodes.extend(counter.steps(id, &inputs).map(|steps| {
                let what = node.name.to_string();
                steps_bound(program, what, &steps, "of inputs of any size, such as texts and lists")
            }));
        }
    }
    found
}

fn bound_of(kind: &str, held: &Held) -> Bound {
    let note = if held.bytes.is_none() { format!("write `{} : {}`", held.name, held.bounded) } else { String::new() };
    Bound { what: format!("{kind} {}", held.name), most: held.bytes, note }
}

fn steps_bound(program: &Program, what: String, steps: &Steps, unbounded: &str) -> Bound {
    let mut note = if steps.most.is_none() { unbounded.to_owned() } else { String::new() };
    if !steps.calls.is_empty() {
        let names: Vec<String> = steps.calls.iter().map(|node| format!("`{}`", program.nodes[*node].name)).collect();
        let and = if note.is_empty() { "" } else { "; " };
        let _ = write!(note, "{and}besides {}, in C++", names.join(", "));
    }
    Bound { what, most: steps.most, note }
}

struct Reader<'a, 'program> {
    program: &'program Program,
    process: &'a Process,
    globals: &'a [Held],
    counter: &'a mut StepCounter<'program>,
}

impl Reader<'_, '_> {
    /// Of one process; its nodes are added to `known`.
    fn bounds(&mut self, known: &mut Vec<NodeId>) -> ProcessBounds {
        let (mut run, mut times) = (vec![], vec![]);
        for channel in &self.process.channels {
            self.channel(channel, known, (&mut run, &mut times));
        }
        if self.process.is_fold {
            match self.node("rules") {
                Some(rules) => self.once(rules, known, (&mut run, &mut times)),
                None => self.fold(known, (&mut run, &mut times)),
            }
        }
        run.extend(self.process.locals.iter().map(|held| bound_of("local", held)));
        let bytes = run.iter().try_fold(0_u64, |sum, bound| Some(sum.saturating_add(bound.most?)));
        for state in self.process.locals.iter().chain(self.globals) {
            known.extend(self.node(&format!("first_{}", state.name)));
        }
        ProcessBounds { name: self.process.name.clone(), run, bytes, steps: times }
    }

    fn node(&self, own: &str) -> Option<NodeId> {
        let own = format!("{}_{own}", self.process.name);
        self.program.nodes.iter().find(|(_, node)| node.name.own() == own).map(|(id, _)| id)
    }

    fn channel(
        &mut self,
        channel: &Channel,
        known: &mut Vec<NodeId>,
        (run, times): (&mut Vec<Bound>, &mut Vec<Bound>),
    ) {
        let name = &channel.name;
        let no_bound = || format!("write `{}`", channel.bounded);
        let kinds = [None].into_iter().chain(channel.events.iter().copied().map(Some));
        for event in kinds {
            let what = event.map_or(name.clone(), |event| format!("error {event} {name}"));
            let own = event.map_or(name.clone(), |event| format!("{name}_{event}"));
            let message = self.node(&own).and_then(|node| self.program.nodes[node].inputs().last());
            let Some((rules, message)) = self.node(&format!("{own}_rules")).zip(message) else {
                if event.is_none() && message.is_some() {
                    let note = "its bytes go on as they are, and what is not taken is not received".to_owned();
                    run.push(Bound { what: format!("{name}: messages"), most: Some(0), note });
                }
                continue;
            };
            known.push(rules);
            let node = &self.program.nodes[rules];
            let inputs: Vec<Extent> = node.inputs().iter().map(|input| self.extent(input)).collect();
            let Some(steps) = self.counter.steps(rules, &inputs) else { continue };
            let size = self.extent(message).own;
            let read = if event.is_none() { size } else { Some(0) };
            let all =
                Steps { most: steps.most.zip(read).map(|(most, read)| most.saturating_add(read)), ..steps.clone() };
            let unbounded = self.unbounded(node.inputs());
            times.push(steps_bound(self.program, what.clone(), &all, &unbounded));
            if event.is_none() {
                let most = size.zip(channel.most).map(|(size, channels)| size.saturating_mul(channels));
                let counted = |channels: u64| format!("{channels} × {}", size.unwrap_or(0));
                let note = channel.most.map_or_else(no_bound, counted) + self.room_of_shared(channel);
                run.push(Bound { what: format!("{what}: messages"), most, note });
            }
            let sends = steps.outputs.last().copied().unwrap_or(Extent::ONE);
            let each = sends.own.zip(sends.inner).map(|(count, size)| count.saturating_mul(size));
            let most = each.zip(channel.most).map(|(each, channels)| each.saturating_mul(channels));
            let note = match (sends.own, channel.most) {
                (Some(count), Some(channels)) => format!("{channels} × {count} × {}", sends.inner.unwrap_or(0)),
                (None, Some(_)) => unbounded,
                (_, None) => no_bound(),
            };
            run.push(Bound { what: format!("{what}: what it sends"), most, note });
        }
    }

    /// What the room for replies is where its connections are bound as `shared`, which the program does not say. The
    /// clients' channel, which is the first, has none.
    fn room_of_shared(&self, channel: &Channel) -> &'static str {
        let is_clients = !channel.is_array && self.process.channels.first() == Some(channel);
        if channel.may_share && !is_clients { "; with `shared` up to 128 of each, or 1 MiB" } else { "" }
    }

    /// Of a process that has statements.
    fn once(&mut self, rules: NodeId, known: &mut Vec<NodeId>, (run, times): (&mut Vec<Bound>, &mut Vec<Bound>)) {
        known.push(rules);
        let node = &self.program.nodes[rules];
        let inputs: Vec<Extent> = node.inputs().iter().map(|input| self.extent(input)).collect();
        let Some(steps) = self.counter.steps(rules, &inputs) else { return };
        let unbounded = self.unbounded(node.inputs());
        times.push(steps_bound(self.program, "its statements".to_owned(), &steps, &unbounded));
        let sends = steps.outputs.last().copied().unwrap_or(Extent::ONE);
        let most = sends.own.zip(sends.inner).map(|(count, size)| count.saturating_mul(size));
        let counted = sends.own.zip(sends.inner).map(|(count, size)| format!("{count} × {size}"));
        run.push(Bound { what: "what it sends".to_owned(), most, note: counted.unwrap_or(unbounded) });
    }

    /// What to write so that all has a bound that rules take.
    fn unbounded(&self, inputs: &[Parameter]) -> String {
        let is_told = |name: &str, of: &str| [format!("{of}_all"), format!("{of}_peers")].contains(&name.to_owned());
        let has = |test: &dyn Fn(&str) -> bool| inputs.iter().any(|input| test(&input.name));
        let channels = self.process.channels.iter();
        let channels = channels.filter(|channel| channel.most.is_none() && has(&|name| is_told(name, &channel.name)));
        let states = self.process.locals.iter().chain(self.globals);
        let states = states.filter(|held| held.bytes.is_none() && has(&|name| name == held.name));
        let written = states.map(|held| format!("`{} : {}`", held.name, held.bounded));
        let all: Vec<String> = channels.map(|channel| format!("`{}`", channel.bounded)).chain(written).collect();
        if all.is_empty() { "it makes what has no bound".to_owned() } else { format!("write {}", all.join(", ")) }
    }

    /// The next element of each channel; what is ordered by, and what two of one key become.
    fn fold(&mut self, known: &mut Vec<NodeId>, (run, times): (&mut Vec<Bound>, &mut Vec<Bound>)) {
        let element = self.node("key").and_then(|node| self.program.nodes[node].inputs().first());
        let size = element.and_then(|element| self.extent(element).own);
        for channel in self.process.channels.iter().filter(|channel| channel.is_array) {
            let most = size.zip(channel.most).map(|(size, channels)| size.saturating_mul(channels));
            let note = match channel.most {
                Some(channels) => format!("{channels} × {}", size.unwrap_or(0)),
                None => format!("write `{}`", channel.bounded),
            };
            run.push(Bound { what: format!("{}: an element of each", channel.name), most, note });
        }
        for (own, what) in [("key", "each element, its key"), ("combine", "two elements of one key")] {
            let Some(node) = self.node(own) else { continue };
            known.push(node);
            let inputs: Vec<Extent> = self.program.nodes[node].inputs().iter().map(|one| self.extent(one)).collect();
            let found = self.counter.steps(node, &inputs);
            times.extend(found.map(|steps| steps_bound(self.program, what.to_owned(), &steps, "a key has any size")));
        }
    }

    /// Of what rules take: a message, state, or what they are told of their channels.
    fn extent(&self, input: &Parameter) -> Extent {
        if let TypeKind::Message(id) = input.ty.kind() {
            return flux_ir::compute::message_extent(self.program, *id);
        }
        let states = self.process.locals.iter().chain(self.globals);
        if let Some(held) = states.into_iter().find(|held| held.name == input.name) {
            return held.extent;
        }
        let ends = ["_count", "_all", "_peers", "_peer"];
        let channels = self.process.channels.iter();
        let told = channels.flat_map(|channel| ends.map(|end| (channel, end)));
        let told = told.into_iter().find(|(channel, end)| input.name == format!("{}{end}", channel.name));
        match (told, input.name.as_str()) {
            (Some((channel, "_all")), _) => Extent { own: channel.most, inner: Some(1) },
            (Some((channel, "_peers")), _) => Extent { own: channel.most, inner: Some(MOST_ADDRESS) },
            (Some((_, "_peer")), _) => Extent::bytes(MOST_ADDRESS),
            (Some(_), _) => Extent::ONE,
            (None, "message") => Extent::bytes(MOST_REASON),
            (None, _) => Extent::ANY,
        }
    }
}

/// The bytes of a name of the domain name system with a port (RFC 1035, 2.3.4), and of what went wrong.
const MOST_ADDRESS: u64 = 262;
const MOST_REASON: u64 = 1024;

/// As a table for people.
pub fn table(bounds: &Bounds) -> String {
    let mut text = String::new();
    for process in &bounds.processes {
        let _ = writeln!(text, "proc {}", process.name);
        let all = Bound { what: "in all".to_owned(), most: process.bytes, note: String::new() };
        rows(&mut text, "one run holds, in bytes at most", process.run.iter().chain([&all]));
        rows(&mut text, "one message takes, in steps at most", process.steps.iter());
    }
    let groups = [
        (&bounds.shared, "all runs share, in bytes at most"),
        (&bounds.messages, "messages, in bytes at most"),
        (&bounds.nodes, "what is computed, in steps at most"),
    ];
    for (group, title) in groups {
        rows(&mut text, title, group.iter());
    }
    text
}

fn rows<'b>(text: &mut String, title: &str, all: impl Iterator<Item = &'b Bound>) {
    let all: Vec<&Bound> = all.collect();
    if all.is_empty() {
        return;
    }
    let _ = writeln!(text, "  {title}");
    let most = |bound: &Bound| bound.most.map_or("no bound".to_owned(), |most| most.to_string());
    let width = all.iter().map(|bound| bound.what.chars().count()).max().unwrap_or(0);
    for bound in all {
        let line = format!("    {:width$}  {:>12}  {}", bound.what, most(bound), bound.note);
        let _ = writeln!(text, "{}", line.trim_end());
    }
}
