//! Which changes would make a server faster: each is simulated with the same random numbers as the server as it is, so
//! that the difference is known more closely than either (common random numbers; Law, "Simulation Modeling and
//! Analysis", section 11.2). That a node is made faster in a simulation and all else stays is what Curtsinger and
//! Berger call a virtual speed-up ("Coz: finding code that counts with causal profiling", 2015).

use crate::estimates::Estimates;
use crate::interval::Interval;
use crate::machine::{Runtime, Setting, run};
use crate::observe::Observed;
use crate::predict::{RUNS, is_overloaded};
use crate::random::Random;
use crate::walk::Flows;
use flux_ir::flow::Flow;
use flux_ir::program::{ConstraintId, Mode};
use std::collections::BTreeSet;

/// A change of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// A node or a handler takes less.
    Faster(String),
    /// Who takes this constraint only reads.
    Readers(ConstraintId),
    /// There is one more CPU, and one more loop where there are loops.
    Cpu,
    /// The pool has twice as many threads.
    Threads,
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
    let runs = |estimates: &Estimates, setting: &Setting, readers: Option<ConstraintId>| -> Vec<Observed> {
        let mut random = Random::new(seed);
        let mut one = || run(setting, &mut Flows::new(flow, estimates).with_readers(readers), random.split());
        (0..RUNS).map(|_| one()).collect()
    };
    let now = runs(estimates, setting, None);
    let mut all: Vec<_> = changes(flow, estimates, setting)
        .into_iter()
        .map(|change| {
            let then = match &change {
                Change::Faster(name) => runs(&estimates.scaled(name, left), setting, None),
                Change::Readers(constraint) => runs(estimates, setting, Some(*constraint)),
                Change::Cpu => runs(estimates, &with_a_cpu(setting), None),
                Change::Threads => runs(estimates, &with_threads(setting), None),
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

fn changes(flow: &Flow, estimates: &Estimates, setting: &Setting) -> Vec<Change> {
    let mut changes: Vec<_> = estimates.worked().into_iter().map(Change::Faster).collect();
    let steps = flow.functions.iter().flat_map(|(_, function)| function.body.all_steps());
    let written = steps.flat_map(|step| &step.acquire).filter(|taken| taken.mode == Mode::Write);
    let written: BTreeSet<_> = written.map(|taken| taken.constraint.index()).collect();
    changes.extend(written.into_iter().map(|constraint| Change::Readers(ConstraintId::new(constraint))));
    changes.push(Change::Cpu);
    changes.extend(matches!(setting.runtime, Runtime::Pool(_)).then_some(Change::Threads));
    changes
}

fn with_a_cpu(setting: &Setting) -> Setting {
    let runtime = match setting.runtime {
        Runtime::Event(loops) => Runtime::Event(loops + 1),
        other => other,
    };
    Setting { cpus: setting.cpus + 1, runtime, ..setting.clone() }
}

fn with_threads(setting: &Setting) -> Setting {
    let runtime = match setting.runtime {
        Runtime::Pool(threads) => Runtime::Pool(2 * threads),
        other => other,
    };
    Setting { runtime, ..setting.clone() }
}
