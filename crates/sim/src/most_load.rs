//! The load up to which a server keeps a limit of latency. For each of several runs, with random numbers of its own, it
//! is found by halving what lies between a load at which the limit is kept and one at which it is not.

use crate::estimates::Estimates;
use crate::interval::Interval;
use crate::machine::run;
use crate::predict::RUNS;
use crate::random::Random;
use crate::setting::Setting;
use crate::walk::Flows;
use flux_ir::flow::Flow;

/// A load is found when what it lies between differs by no more than this part.
const NEAR: f64 = 0.005;
/// Loads that are tried, in flows a second.
const TRIED: std::ops::Range<f64> = 1e-3..1e9;
/// Where fewer than this part of what comes ends, more come than can end, however long they take so far. As many may be
/// missing besides as chance has it.
const ENDS: f64 = 0.97;

/// The flows a second up to which 99 % of them take no longer than `limit`, in seconds; none where they take longer at
/// any load. `setting` is the server at a load.
pub fn most_load(
    flow: &Flow,
    estimates: &Estimates,
    setting: impl Fn(f64) -> Setting,
    limit: f64,
    seed: u64,
) -> Option<Interval> {
    let mut random = Random::new(seed);
    let mut found = vec![];
    for _ in 0..RUNS {
        let own = random.split();
        let keeps = |rate: f64| {
            let setting = setting(rate);
            let seen = run(&setting, &mut Flows::new(flow, estimates), own.clone());
            let comes = setting.seen_rate().unwrap_or_default();
            let chance = 3.0 / setting.flows.sqrt();
            seen.throughput() >= (ENDS - chance) * comes && seen.percentile(0.99) <= limit
        };
        found.push(last_kept(keeps, found.last().copied().unwrap_or(1.0))?);
    }
    Some(Interval::of(&found))
}

/// The last load that is kept, looked for from `near` on; none where none is.
fn last_kept(keeps: impl Fn(f64) -> bool, near: f64) -> Option<f64> {
    let (mut kept, mut not_kept) = (near, near);
    let mut step = 1.1;
    if keeps(near) {
        while not_kept < TRIED.end && keeps(not_kept) {
            kept = not_kept;
            not_kept *= step;
            step *= step;
        }
    } else {
        while !keeps(kept) {
            not_kept = kept;
            kept /= step;
            step *= step;
            if kept < TRIED.start {
                return None;
            }
        }
    }
    while not_kept > kept * (1.0 + NEAR) {
        let between = (kept * not_kept).sqrt();
        match keeps(between) {
            true => kept = between,
            false => not_kept = between,
        }
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_load_that_is_kept_is_found_from_anywhere() {
        for near in [1.0, 70.0, 100.0, 1e4, 1e6] {
            let found = last_kept(|rate| rate <= 100.0, near).unwrap_or_default();
            assert!(found <= 100.0 && found > 99.4, "from {near}: {found}");
        }
        assert_eq!(last_kept(|_| false, 1.0), None);
        assert!(last_kept(|_| true, 1.0).is_some_and(|rate| rate >= 1e8), "nothing takes any time");
    }
}
