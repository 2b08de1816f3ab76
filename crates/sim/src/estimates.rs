//! What an author expects of nodes that may not be written yet: how long they take, how often values are of a type, how
//! many keys there are. An estimate is a line `NAME = VALUE`; what the value says depends on what the name is of.
//! `docs/sim.md` has the notation.

use crate::random::{Distribution, Random};
use flux_diagnostic::nearest;
use flux_ir::external::ExternalRole;
use flux_ir::flow::{Callee, Flow};
use flux_ir::flow_path::FlowPath;
use flux_ir::program::{Body, ConstraintId, PredicateId, Scope};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What is expected of a program.
#[derive(Clone, Default, Debug)]
pub struct Estimates {
    work: HashMap<String, Work>,
    /// What nodes do on paths on which they take another time than on all.
    on_paths: HashMap<FlowPath, HashMap<String, Vec<Part>>>,
    /// How likely a node is long where its flow is, on a path.
    together: HashMap<FlowPath, f64>,
    predicates: HashMap<PredicateId, f64>,
    keys: HashMap<ConstraintId, Keys>,
    lists: HashMap<String, u64>,
    outside: f64,
    wake: f64,
    /// On one CPU, and on several.
    thread_cost: [f64; 2],
}

/// What a node or an error handler does.
#[derive(Clone, PartialEq, Debug)]
pub struct Work {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// How likely it fails.
    pub fails: f64,
}

/// A part of what a node does.
#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    /// Uses a CPU for so long.
    Compute(Distribution),
    /// A thread beside the event loop, if there is one, uses a CPU for so long, and the flow waits for that: a call
    /// that is handed over.
    Beside(Distribution),
    /// Waits for something outside of the server for so long.
    Wait(Distribution),
    /// Sleeps for as long as it asks for.
    Sleep(Distribution),
}

impl Part {
    /// How long it takes.
    pub fn time(&self) -> &Distribution {
        let (Self::Compute(time) | Self::Beside(time) | Self::Wait(time) | Self::Sleep(time)) = self;
        time
    }

    /// The same, `factor` times as long.
    fn scaled(&self, factor: f64) -> Self {
        let of = match self {
            Self::Compute(_) => Self::Compute,
            Self::Beside(_) => Self::Beside,
            Self::Wait(_) => Self::Wait,
            Self::Sleep(_) => Self::Sleep,
        };
        of(self.time().scaled(factor))
    }
}

/// Which keys or sessions flows have.
#[derive(Clone, PartialEq, Debug)]
pub struct Keys {
    /// How likely one up to this is.
    sums: Vec<f64>,
}

/// No constraint has more keys than this.
const MOST_KEYS: u64 = 10_000_000;

/// No list has more elements: each is a branch of its flow.
const MOST_ELEMENTS: u64 = 10_000;

/// No time is longer, and none varies more: beyond, figures lose their meaning.
const MOST_SECONDS: f64 = 1e6;
const MOST_VARIATION: f64 = 100.0;

impl Keys {
    /// So many, of which the one at rank r is as likely as 1 / r to this power; all alike where it is 0.
    fn zipf(count: u64, power: f64) -> Self {
        let mut sum = 0.0;
        let add = |rank: u64| {
            sum += (rank as f64).powf(-power);
            sum
        };
        Self { sums: (1..=count).map(add).collect() }
    }

    /// Draws one. O(log n).
    pub fn sample(&self, random: &mut Random) -> u64 {
        let drawn = random.unit() * self.sums.last().copied().unwrap_or_default();
        self.sums.partition_point(|sum| *sum < drawn) as u64
    }
}

/// What a name is of.
#[derive(Clone, PartialEq, Eq)]
enum Named {
    Work,
    Predicate(PredicateId),
    Keys(ConstraintId),
    List,
    /// Nothing that can be estimated; why.
    Nothing(String),
}

impl Estimates {
    /// Reads estimates of a program; those of one name replace earlier ones.
    ///
    /// # Errors
    /// A message for each line that is none.
    pub fn read<'a>(flow: &Flow, lines: impl IntoIterator<Item = &'a str>) -> Result<Self, Vec<String>> {
        Self::default().and(flow, lines)
    }

    /// These, and what is read besides, which replaces what they say of the same.
    ///
    /// # Errors
    /// As above.
    pub fn and<'a>(self, flow: &Flow, lines: impl IntoIterator<Item = &'a str>) -> Result<Self, Vec<String>> {
        let names = names(flow);
        let mut estimates = self;
        let mut errors = vec![];
        for line in lines {
            let text = line.split('#').next().unwrap_or_default().trim();
            if !text.is_empty()
                && let Err(error) = estimates.add(&names, text)
            {
                errors.push(error);
            }
        }
        if errors.is_empty() { Ok(estimates) } else { Err(errors) }
    }

    fn add(&mut self, names: &BTreeMap<String, Named>, text: &str) -> Result<(), String> {
        let Some((name, value)) = text.split_once('=') else {
            return Err(format!("`{text}` is no estimate: write `NAME=VALUE`, such as `Compress=12ms`"));
        };
        let (name, value) = (name.trim(), value.trim());
        let Some(named) = names.get(name) else {
            let help = match nearest(name, names.keys().map(String::as_str)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("what can be estimated: {}", listed(names)),
            };
            return Err(format!("`{name}` is nothing of this program; {help}"));
        };
        let wrong = |what: &str| format!("`{value}` is no estimate of `{name}`: {what}");
        match named {
            Named::Work => {
                let work = work(value).ok_or_else(|| {
                    wrong(
                        "write how long it takes, `12ms`, `exponential(12ms)`, `1ms + wait 30ms`, `5us + beside 20us` \
                         (of a thread beside the event loop) or `1ms, fails 2%`",
                    )
                })?;
                // It is the same on all paths.
                self.on_paths.values_mut().for_each(|nodes| drop(nodes.remove(name)));
                self.work.insert(name.to_owned(), work);
            }
            Named::Predicate(id) => {
                let likely =
                    probability(value).ok_or_else(|| wrong("write how often it holds, such as `0.8` or `80%`"))?;
                self.predicates.insert(*id, likely);
            }
            Named::Keys(id) => {
                let keys = keys(value)
                    .ok_or_else(|| wrong("write how many there are, such as `1000` or `zipf(1000, 0.9)`"))?;
                self.keys.insert(*id, keys);
            }
            Named::List => {
                let count = value.parse().ok().filter(|count| *count <= MOST_ELEMENTS);
                let count = count.ok_or_else(|| wrong("write how many elements it has, such as `5`; at most 10000"))?;
                self.lists.insert(name.to_owned(), count);
            }
            Named::Nothing(why) => return Err(format!("`{name}` cannot be estimated: {why}")),
        }
        Ok(())
    }

    /// What a node or a handler of this name does.
    pub fn work(&self, name: &str) -> Option<&Work> {
        self.work.get(name)
    }

    /// The nodes and handlers that take some time, by name.
    pub fn worked(&self) -> Vec<String> {
        let takes = |part: &Part| part.time().mean() > 0.0;
        let worked = self.work.iter().filter(|(_, work)| work.parts.iter().any(takes));
        worked.map(|(name, _)| name.clone()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The same, but this node takes `factor` times as long.
    #[must_use]
    pub fn scaled(&self, name: &str, factor: f64) -> Self {
        let mut scaled = self.clone();
        let on_paths = scaled.on_paths.values_mut().filter_map(|nodes| nodes.get_mut(name));
        for parts in scaled.work.get_mut(name).map(|work| &mut work.parts).into_iter().chain(on_paths) {
            parts.iter_mut().for_each(|part| *part = part.scaled(factor));
        }
        scaled
    }

    /// A node or a handler of this name does this.
    pub fn set_work(&mut self, name: &str, work: Work) {
        self.work.insert(name.to_owned(), work);
    }

    /// In flows on this path a node or a handler of this name does this.
    pub fn set_parts_on(&mut self, path: FlowPath, name: &str, parts: Vec<Part>) {
        self.on_paths.entry(path).or_default().insert(name.to_owned(), parts);
    }

    /// That; none where it is as on all paths.
    pub fn parts_on(&self, path: &FlowPath, name: &str) -> Option<&Vec<Part>> {
        self.on_paths.get(path)?.get(name)
    }

    /// In flows on this path a node is long where its flow is, with this probability (`together.rs`).
    pub fn set_together(&mut self, path: FlowPath, probability: f64) {
        self.together.insert(path, probability);
    }

    /// That; 0 where nothing is known.
    pub fn together(&self, path: &FlowPath) -> f64 {
        self.together.get(path).copied().unwrap_or_default()
    }

    /// Whether what nodes do depends on the path of the flow.
    pub fn has_paths(&self) -> bool {
        !self.on_paths.is_empty() || !self.together.is_empty()
    }

    /// For a flow a CPU is used for so many seconds outside of its nodes, before the first of them.
    pub fn set_outside(&mut self, seconds: f64) {
        self.outside = seconds;
    }

    /// That; 0 where nothing is known.
    pub fn outside(&self) -> f64 {
        self.outside
    }

    /// A thread or loop that had nothing to do uses a CPU for so many seconds before it begins with something.
    pub fn set_wake(&mut self, seconds: f64) {
        self.wake = seconds;
    }

    /// That; 0 where nothing is known.
    pub fn wake(&self) -> f64 {
        self.wake
    }

    /// A thread takes so many seconds for itself on one CPU, and on several.
    pub fn set_thread_cost(&mut self, seconds: [f64; 2]) {
        self.thread_cost = seconds;
    }

    /// That on so many CPUs; 0 where nothing is known.
    pub fn thread_cost(&self, cpus: usize) -> f64 {
        self.thread_cost[usize::from(cpus > 1)]
    }

    /// A constraint has so many keys or sessions, equally likely.
    pub fn set_keys(&mut self, constraint: ConstraintId, count: u64) {
        self.keys.insert(constraint, Keys::zipf(count.min(MOST_KEYS), 0.0));
    }

    /// A predicate holds with this probability.
    pub fn set_likely(&mut self, predicate: PredicateId, likely: f64) {
        self.predicates.insert(predicate, likely);
    }

    /// How likely a predicate holds.
    pub fn likely(&self, predicate: PredicateId) -> Option<f64> {
        self.predicates.get(&predicate).copied()
    }

    /// The keys or sessions of a constraint; none where every flow has its own.
    pub fn keys(&self, constraint: ConstraintId) -> Option<&Keys> {
        self.keys.get(&constraint)
    }

    /// How many elements a list of this name has.
    pub fn elements(&self, list: &str) -> Option<u64> {
        self.lists.get(list).copied()
    }

    /// Estimates without which nothing can be said, as they would be written.
    pub fn missing(&self, flow: &Flow) -> Vec<String> {
        let mut missing = BTreeSet::new();
        for (_, function) in flow.functions.iter() {
            if let flux_ir::flow::End::Dispatch { lines, .. } = &function.body.end {
                let tests = lines.iter().flat_map(|line| &line.tests);
                let unknown = tests.filter(|test| self.likely(test.predicate).is_none());
                missing.extend(unknown.map(|test| format!("{}=0.5", flow.program.predicates[test.predicate].name)));
            }
            let lists = function.body.all_steps().into_iter().filter_map(|step| match &step.callee {
                Callee::Each(each) => each.inputs.first(),
                _ => None,
            });
            let unknown = lists.filter(|list| self.elements(&list.name).is_none());
            missing.extend(unknown.map(|list| format!("{}=10", list.name)));
        }
        missing.into_iter().collect()
    }

    /// What is taken for granted for want of an estimate: a sentence each.
    pub fn assumed(&self, flow: &Flow) -> Vec<String> {
        let names = names(flow);
        let idle: Vec<_> = called(flow).into_iter().filter(|name| self.work(name).is_none()).collect();
        let own = names.iter().filter(|(_, named)| matches!(named, Named::Keys(id) if self.keys(*id).is_none()));
        let own: Vec<_> = own.map(|(name, _)| name.as_str()).collect();
        let mut assumed = vec![];
        if !idle.is_empty() {
            assumed.push(format!("no time is estimated for {}: they take none", idle.join(", ")));
        }
        if !own.is_empty() {
            assumed.push(format!(
                "no number of keys or sessions is estimated for {}: no two flows have the same",
                own.join(", ")
            ));
        }
        assumed
    }
}

/// The nodes and error handlers that flows come to.
fn called(flow: &Flow) -> BTreeSet<String> {
    let steps = flow.functions.iter().flat_map(|(_, function)| function.body.all_steps());
    let name = |callee: &Callee| match callee {
        Callee::Node(node) => Some(flow.program.nodes[*node].name.to_string()),
        Callee::External { external, .. } => {
            let external = &flow.program.externals[*external];
            (external.role == ExternalRole::Handler).then(|| external.name.to_string())
        }
        Callee::Function(_) | Callee::Fork(_) | Callee::Each(_) => None,
    };
    steps.filter_map(|step| name(&step.callee)).collect()
}

/// All names of a program, with what they are of.
fn names(flow: &Flow) -> BTreeMap<String, Named> {
    let program = &flow.program;
    let mut names = BTreeMap::new();
    for (_, function) in flow.functions.iter() {
        for step in function.body.all_steps() {
            if let Callee::Each(each) = &step.callee
                && let Some(list) = each.inputs.first()
            {
                names.insert(list.name.clone(), Named::List);
            }
        }
    }
    for (id, constraint) in program.constraints.iter() {
        let named = match constraint.scope {
            Scope::Program => Named::Nothing("all flows share this constraint, so it has no keys".to_owned()),
            Scope::Session | Scope::Keyed => Named::Keys(id),
        };
        names.insert(constraint.name.to_string(), named);
    }
    for (id, predicate) in program.predicates.iter() {
        names.insert(predicate.name.to_string(), Named::Predicate(id));
    }
    for (_, node) in program.nodes.iter() {
        let named = match node.body {
            Body::External(_) | Body::Computed(_) => Named::Work,
            Body::Chain(_) | Body::Dispatch(_) => {
                Named::Nothing("it is a flow through other nodes; estimate these".to_owned())
            }
        };
        names.insert(node.name.to_string(), named);
    }
    let handlers = program.externals.iter().filter(|(_, external)| external.role == ExternalRole::Handler);
    names.extend(handlers.map(|(_, external)| (external.name.to_string(), Named::Work)));
    names
}

fn listed(names: &BTreeMap<String, Named>) -> String {
    let can = names.iter().filter(|(_, named)| !matches!(named, Named::Nothing(_)));
    can.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

/// `exponential(12ms) + beside 20us + wait 30ms, fails 2%`
fn work(text: &str) -> Option<Work> {
    let (parts, fails) = match text.rsplit_once("fails ") {
        Some((parts, fails)) => (parts.trim().trim_end_matches(',').trim(), probability(fails.trim())?),
        None => (text, 0.0),
    };
    let part = |text: &str| {
        let of = |word: &str| text.trim().strip_prefix(word).map(str::trim);
        match (of("beside "), of("wait ")) {
            (Some(time), _) => distribution(time).map(Part::Beside),
            (None, Some(time)) => distribution(time).map(Part::Wait),
            (None, None) => distribution(text.trim()).map(Part::Compute),
        }
    };
    let parts = if parts.is_empty() { vec![] } else { parts.split('+').map(part).collect::<Option<_>>()? };
    Some(Work { parts, fails })
}

/// `12ms`, `exponential(12ms)`, `lognormal(12ms, 0.5)`, `uniform(1ms, 3ms)`: a time, and what it is drawn from.
pub fn distribution(text: &str) -> Option<Distribution> {
    let Some((kind, arguments)) = call(text) else { return time(text).map(Distribution::Constant) };
    match (kind, arguments.as_slice()) {
        ("constant", [value]) => time(value).map(Distribution::Constant),
        ("exponential", [mean]) => time(mean).map(Distribution::Exponential),
        ("lognormal", [mean, variation]) => {
            let variation = number(variation).filter(|variation| *variation <= MOST_VARIATION)?;
            Some(Distribution::Lognormal { mean: time(mean)?, variation })
        }
        ("uniform", [low, high]) => {
            let (low, high) = (time(low)?, time(high)?);
            (low <= high).then_some(Distribution::Uniform(low, high))
        }
        _ => None,
    }
}

/// `zipf(1000, 0.9)` as its name and its arguments.
fn call(text: &str) -> Option<(&str, Vec<&str>)> {
    let (name, arguments) = text.strip_suffix(')')?.split_once('(')?;
    Some((name.trim(), arguments.split(',').map(str::trim).collect()))
}

fn keys(text: &str) -> Option<Keys> {
    let (count, power) = match call(text) {
        Some(("zipf", arguments)) => match arguments.as_slice() {
            [count, power] => (*count, number(power)?),
            _ => return None,
        },
        Some(_) => return None,
        None => (text, 0.0),
    };
    let count = count.parse().ok().filter(|count| (1..=MOST_KEYS).contains(count))?;
    Some(Keys::zipf(count, power))
}

/// A time in seconds: a number with `ns`, `us`, `ms` or `s`.
pub fn time(text: &str) -> Option<f64> {
    let units = [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let seconds = units.into_iter().find_map(|(unit, seconds)| Some(number(text.strip_suffix(unit)?)? * seconds));
    seconds.filter(|seconds| *seconds <= MOST_SECONDS)
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

fn probability(text: &str) -> Option<f64> {
    let value = match text.strip_suffix('%') {
        Some(percent) => number(percent)? / 100.0,
        None => number(text)?,
    };
    (value <= 1.0).then_some(value)
}
