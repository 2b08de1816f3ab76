//! Predicts a server at points: so many CPUs, such a load. Each point is run several times with other random numbers,
//! so that each figure has an interval.

use crate::estimates::Estimates;
use crate::interval::Interval;
use crate::machine::{run, run_saturated, saturating};
use crate::observe::Observed;
use crate::random::Random;
use crate::setting::{Runtime, Setting};
use crate::walk::Flows;
use flux_ir::flow::Flow;

/// How often a point is run.
pub(crate) const RUNS: usize = 10;

/// What is predicted.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// Flows that end, a second. Where more come than can end, as many as can: the capacity.
    pub throughput: Interval,
    /// How long a flow takes, in seconds.
    pub mean: Interval,
    /// Half of the flows take no longer, in seconds.
    pub p50: Interval,
    /// 95 % of them.
    pub p95: Interval,
    /// 99 % of them.
    pub p99: Interval,
    /// The part of the CPUs that is in use.
    pub cpus: Interval,
    /// More flows come than can end: latencies are those of the first flows, and would grow for ever.
    pub overloaded: bool,
    /// What holds flows up most.
    pub limit: Option<Limit>,
}

/// What holds flows up.
#[derive(Clone, PartialEq, Debug)]
pub struct Limit {
    /// What it is.
    pub what: Limiting,
    /// How many flows wait for it, on average.
    pub waiting: Interval,
}

/// What can hold flows up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Limiting {
    /// The CPUs.
    Cpus,
    /// The threads of the pool, or the event loops.
    Threads,
    /// A constraint, by its number.
    Constraint(usize),
}

/// Predicts one point.
pub fn predict(flow: &Flow, estimates: &Estimates, setting: &Setting, seed: u64) -> Prediction {
    let mut random = Random::new(seed);
    let mut runs: Vec<_> = (0..RUNS).map(|_| run(setting, &mut Flows::new(flow, estimates), random.split())).collect();
    let overloaded = is_overloaded(setting, &runs);
    if overloaded && let Some(saturated) = saturated(flow, estimates, setting, &runs, &mut random) {
        runs = saturated;
    }
    let interval = |figure: &dyn Fn(&Observed) -> f64| Interval::of(&runs.iter().map(figure).collect::<Vec<_>>());
    let throughput = interval(&Observed::throughput);
    let cpus = interval(&|seen| seen.cpus);
    let waiting = |what: &Limiting| interval(&|seen| waiting(seen, what));
    let limit = limiting(&runs, cpus.mean, setting).map(|(what, line)| Limit { what, waiting: waiting(&line) });
    Prediction {
        throughput,
        mean: interval(&Observed::mean),
        p50: interval(&|seen| seen.percentile(0.5)),
        p95: interval(&|seen| seen.percentile(0.95)),
        p99: interval(&|seen| seen.percentile(0.99)),
        cpus,
        overloaded,
        limit,
    }
}

/// No run of a server to which more flows come than can end counts fewer: they end in waves, as thousands of them take
/// turns, and a run begins and ends somewhere in one.
const SATURATED_FLOWS: f64 = 20_480.0;

/// Runs the server again, in the steady state that it comes to under a load beyond what it can do: as many flows are in
/// progress as may be. None where too few flows end to see it.
fn saturated(
    flow: &Flow,
    estimates: &Estimates,
    setting: &Setting,
    runs: &[Observed],
    random: &mut Random,
) -> Option<Vec<Observed>> {
    let throughput = Interval::of(&runs.iter().map(Observed::throughput).collect::<Vec<_>>()).mean;
    let warm_up = setting.warm_up.max(saturating(setting.seen_rate()?, throughput));
    let setting = Setting { warm_up, flows: setting.flows.max(SATURATED_FLOWS), ..setting.clone() };
    let runs = (0..RUNS).map(|_| run_saturated(&setting, &mut Flows::new(flow, estimates), random.split()));
    let runs: Vec<_> = runs.collect();
    runs.iter().all(|seen| seen.latencies.len() as f64 >= 0.1 * setting.flows).then_some(runs)
}

/// Whether more flows come than can end.
pub(crate) fn is_overloaded(setting: &Setting, runs: &[Observed]) -> bool {
    let throughput = Interval::of(&runs.iter().map(Observed::throughput).collect::<Vec<_>>());
    setting.seen_rate().is_some_and(|rate| throughput.mean + throughput.within < 0.97 * rate)
}

/// How many executions waited for it, on average.
fn waiting(seen: &Observed, what: &Limiting) -> f64 {
    let seconds = match what {
        Limiting::Cpus => seen.waits.cpus,
        Limiting::Threads => seen.waits.threads,
        Limiting::Constraint(constraint) => seen.waits.constraints.get(*constraint).copied().unwrap_or_default(),
    };
    if seen.seconds > 0.0 { seconds / seen.seconds } else { 0.0 }
}

/// What limits the server, and what most wait for, if flows spend a twentieth of their time on that. Who waits for
/// threads waits in truth for what keeps the threads, and a loop is kept by those who compute.
fn limiting(runs: &[Observed], cpus: f64, setting: &Setting) -> Option<(Limiting, Limiting)> {
    let mean = |figure: &dyn Fn(&Observed) -> f64| runs.iter().map(figure).sum::<f64>() / runs.len().max(1) as f64;
    let line = |what: &Limiting| mean(&|seen| waiting(seen, what));
    let flows = mean(&|seen| seen.throughput() * seen.mean());
    let constraints = runs.iter().map(|seen| seen.waits.constraints.len()).max().unwrap_or_default();
    let hottest = (0..constraints).map(Limiting::Constraint).max_by(|a, b| line(a).total_cmp(&line(b)));
    let all = [Some(Limiting::Cpus), Some(Limiting::Threads), hottest.clone()];
    let most = all.into_iter().flatten().max_by(|a, b| line(a).total_cmp(&line(b)))?;
    if line(&most) <= 0.05 * flows {
        return None;
    }
    let is_computing = matches!(setting.runtime, Runtime::Event(loops) if loops >= setting.cpus);
    let what = match most {
        _ if cpus >= 0.95 => Limiting::Cpus,
        Limiting::Threads if is_computing => Limiting::Cpus,
        Limiting::Threads => {
            let half = mean(&|seen| seen.threads) / 2.0;
            hottest.into_iter().chain([Limiting::Cpus]).find(|what| line(what) > half).unwrap_or(Limiting::Threads)
        }
        Limiting::Cpus | Limiting::Constraint(_) => most.clone(),
    };
    Some((what, most))
}
