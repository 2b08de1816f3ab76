//! Which changes would make a server faster: each is simulated with the same random numbers as the server as it is, so
//! that the difference is known more closely than either (common random numbers; Law, "Simulation Modeling and
//! Analysis", section 11.2). That a node is made faster in a simulation and all else stays is what Curtsinger and
//! Berger call a virtual speed-up ("Coz: finding code that counts with causal profiling", 2015).

use crate::estimates::Estimates;
use crate::interval::Interval;
use crate::machine::run;
use crate::observe::Observed;
use crate::predict::{RUNS, is_overloaded};
use crate::processors::Sharing;
use crate::random::Random;
use crate::setting::{Runtime, Setting};
use crate::turns::Slices;
use crate::walk::{Flows, Taken};
use flux_ir::flow::Flow;
use flux_ir::flow_path::FlowPath;
use flux_ir::program::{ConstraintId, Mode};
use std::collections::{BTreeMap, BTreeSet};

/// So many paths are made faster, those that take most time together.
const PATHS: usize = 3;
/// If they have this part of all time.
const LEAST_TIME: f64 = 0.01;
/// And no more than this part of all flows: a path that nearly all take says what their nodes say.
const MOST_FLOWS: f64 = 0.99;

/// A change of a server.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// A node or a handler takes less.
    Faster(String),
    /// All nodes of the flows on a path take less, of no others.
    FasterPath(TakenPath),
    /// Who takes this constraint only reads.
    Readers(ConstraintId),
    /// There is one more CPU, and one more loop where there are loops.
    Cpu,
    /// The pool has twice as many threads.
    Threads,
}

/// A path that some flows take.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TakenPath {
    /// Which.
    pub path: FlowPath,
    /// The part of all flows that take it.
    pub flows: f64,
    /// The part of the time that all nodes take, on the CPUs and waiting for the world.
    pub time: f64,
}

/// What a change would give.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// The change.
    pub change: Change,
    /// By which part more flows end: 0.1 is a tenth more.
    pub throughput: Interval,
    /// By which part flows take longer, on average: -0.1 is a tenth less.
    pub latency: Interval,
    /// More flows come than can end, with the change, too.
    pub overloaded: bool,
}

/// All changes, the best first: by throughput where that is the limit, else by latency. A faster node takes the part
/// `left` of its time.
pub fn advise(flow: &Flow, estimates: &Estimates, setting: &Setting, left: f64, seed: u64) -> Vec<Advice> {
    let as_it_is = || Flows::new(flow, estimates);
    let (now, taken) = runs(setting, seed, as_it_is);
    let mut all: Vec<_> = changes(flow, estimates, setting, &taken)
        .into_iter()
        .map(|change| {
            let (then, _) = match &change {
                Change::Faster(name) => {
                    let scaled = estimates.scaled(name, left);
                    runs(setting, seed, || Flows::new(flow, &scaled))
                }
                Change::FasterPath(taken) => runs(setting, seed, || as_it_is().with_faster(taken.path, left)),
                Change::Readers(constraint) => runs(setting, seed, || as_it_is().with_readers(*constraint)),
                Change::Cpu => runs(&with_a_cpu(setting), seed, as_it_is),
                Change::Threads => runs(&with_threads(setting), seed, as_it_is),
            };
            let part = |figure: fn(&Observed) -> f64| {
                let pairs = now.iter().zip(&then).filter(|(now, _)| figure(now) > 0.0);
                Interval::of(&pairs.map(|(now, then)| figure(then) / figure(now) - 1.0).collect::<Vec<_>>())
            };
            let overloaded = is_overloaded(setting, &then);
            Advice { change, throughput: part(Observed::throughput), latency: part(Observed::mean), overloaded }
        })
        .collect();
    let is_limited = setting.rate().is_none() || is_overloaded(setting, &now);
    let gain = |advice: &Advice| if is_limited { advice.throughput.mean } else { -advice.latency.mean };
    all.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
    all
}

/// What is seen of a server in several runs, and the paths that its flows took.
fn runs<'f>(
    setting: &Setting,
    seed: u64,
    server: impl Fn() -> Flows<'f>,
) -> (Vec<Observed>, BTreeMap<FlowPath, Taken>) {
    let mut random = Random::new(seed);
    let mut taken: BTreeMap<FlowPath, Taken> = BTreeMap::new();
    let one = |_| {
        let mut flows = server();
        let seen = run(setting, &mut flows, random.split());
        flows.taken().iter().for_each(|(path, of)| taken.entry(*path).or_default().add(of));
        seen
    };
    ((0..RUNS).map(one).collect(), taken)
}

fn changes(flow: &Flow, estimates: &Estimates, setting: &Setting, taken: &BTreeMap<FlowPath, Taken>) -> Vec<Change> {
    let mut changes: Vec<_> = estimates.worked().into_iter().map(Change::Faster).collect();
    changes.extend(dear_paths(taken).into_iter().map(Change::FasterPath));
    let steps = flow.functions.iter().flat_map(|(_, function)| function.body.all_steps());
    let written = steps.flat_map(|step| &step.acquire).filter(|taken| taken.mode == Mode::Write);
    let written: BTreeSet<_> = written.map(|taken| taken.constraint.index()).collect();
    changes.extend(written.into_iter().map(|constraint| Change::Readers(ConstraintId::new(constraint))));
    changes.push(Change::Cpu);
    changes.extend(matches!(setting.runtime, Runtime::Pool(_)).then_some(Change::Threads));
    changes
}

/// Those that take most time, the dearest first.
fn dear_paths(taken: &BTreeMap<FlowPath, Taken>) -> Vec<TakenPath> {
    let mut all = Taken::default();
    taken.values().for_each(|one| all.add(one));
    let part = |of: f64, all: f64| if all > 0.0 { of / all } else { 0.0 };
    let paths = taken.iter().map(|(path, of)| TakenPath {
        path: *path,
        flows: part(of.flows, all.flows),
        time: part(of.seconds, all.seconds),
    });
    let mut paths: Vec<_> = paths.filter(|one| one.time >= LEAST_TIME && one.flows <= MOST_FLOWS).collect();
    paths.sort_by(|a, b| b.time.total_cmp(&a.time));
    paths.truncate(PATHS);
    paths
}

fn with_a_cpu(setting: &Setting) -> Setting {
    let runtime = match setting.runtime {
        Runtime::Event(loops) => Runtime::Event(loops + 1),
        other => other,
    };
    let cpus = setting.cpus + 1;
    let sharing = match setting.sharing {
        Sharing::Turns(Slices { packs, .. }) => Sharing::Turns(Slices { packs, ..Slices::of_linux(cpus) }),
        equal @ Sharing::Equal => equal,
    };
    Setting { cpus, runtime, sharing, ..setting.clone() }
}

fn with_threads(setting: &Setting) -> Setting {
    let runtime = match setting.runtime {
        Runtime::Pool(threads) => Runtime::Pool(2 * threads),
        other => other,
    };
    Setting { runtime, ..setting.clone() }
}
