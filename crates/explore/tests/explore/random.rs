//! Random programs, explored with the passes and without.

use crate::compile::{lower, order, verified};
use crate::generate::{Random, add_path_handlers, generate};
use flux_explore::{Bounds, Cancellation, Discipline, Fault, Verdict, explore};
use std::collections::BTreeMap;
use std::ops::Range;

/// How a seed's flows run: two or three of them, with threads or few executors.
fn bounds(seed: u64, states: usize) -> Bounds {
    let mut random = Random::new(!seed);
    let flows: &[usize] = match random.below(16) {
        0..=7 => &[0, 0],
        8..=12 => &[0, 1],
        13..=14 => &[1, 1],
        _ => &[0, 0, 1],
    };
    let executors = if random.chance(30) { Some(1 + random.below(2)) } else { None };
    let discipline = if random.chance(30) { Discipline::PassedOnce } else { Discipline::FirstInFirstOut };
    Bounds { executors, discipline, states, ..Bounds::of(flows) }
}

/// What came of many programs.
#[derive(Default)]
struct Tally {
    /// All of them.
    programs: usize,
    /// With the rules of order, explored to the end.
    explored: usize,
    /// With them, explored as far as the bounds allow.
    stopped: usize,
    /// Those whose author would have to write them otherwise: a key is made inside what would have to hold it, say.
    refused: usize,
    /// Without the rules: faulty in each of these ways.
    without: BTreeMap<Fault, usize>,
}

impl Tally {
    fn faulty_without(&self) -> usize {
        self.without.values().sum()
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { programs, explored, stopped, refused, .. } = self;
        let tenths = |count: usize| 1000 * count / programs.max(&1);
        let share = tenths(self.faulty_without());
        write!(
            out,
            "{programs} programs: with the rules none is faulty, {explored} explored to the end, {stopped} as far as \
             the bound, {refused} refused; without them {} faulty ({}.{} %: {:?})",
            self.faulty_without(),
            share / 10,
            share % 10,
            self.without,
        )
    }
}

/// Explores the programs of these seeds, up to so many states each: with the rules of order none is faulty, and the
/// verifier agrees. Says how far it is, if it is to, a hundred times on the way.
#[expect(clippy::print_stderr, reason = "it is for whoever waits for it")]
fn run(seeds: Range<u64>, states: usize, tell: bool) -> Tally {
    let mut tally = Tally::default();
    let stride = (seeds.end / 100).max(1);
    for seed in seeds {
        let bounds = bounds(seed, states);
        let lowered = lower(generate(seed));
        if let Verdict::Faulty(fault, _) = explore(&lowered, &bounds) {
            *tally.without.entry(fault).or_default() += 1;
        }
        tally.programs += 1;
        match order(&lowered) {
            None => tally.refused += 1,
            Some(flow) => {
                assert_eq!(verified(&flow), [""; 0], "seed {seed}");
                match explore(&flow, &bounds) {
                    Verdict::Sound { .. } => tally.explored += 1,
                    Verdict::Unfinished => tally.stopped += 1,
                    Verdict::Faulty(fault, trace) => panic!("seed {seed}: {fault:?}\n{trace}"),
                }
            }
        }
        if tell && (seed + 1) % stride == 0 {
            eprintln!("{tally}");
        }
    }
    tally
}

/// Many programs are accepted and explored to the end, and without the rules a large share is faulty.
#[track_caller]
fn assert_telling(tally: &Tally) {
    assert!(tally.explored * 2 > tally.programs, "{tally}");
    assert!(tally.explored > tally.stopped * 3, "{tally}");
    assert!(tally.faulty_without() * 3 > tally.programs, "{tally}");
}

/// Explores the programs of these seeds, with error handlers on paths too, up to so many states each, while a flow may
/// be cancelled wherever it is: none is faulty. How many were explored to the end.
fn run_cancelled(seeds: Range<u64>, states: usize) -> usize {
    let mut explored = 0;
    for seed in seeds {
        let mut program = generate(seed);
        add_path_handlers(&mut program, seed);
        let Some(flow) = order(&lower(program)) else { continue };
        assert_eq!(verified(&flow), [""; 0], "seed {seed}");
        let bounds = Bounds { cancellation: Cancellation::LetsGo, ..bounds(seed, states) };
        match explore(&flow, &bounds) {
            Verdict::Sound { .. } => explored += 1,
            Verdict::Unfinished => {}
            Verdict::Faulty(fault, trace) => panic!("seed {seed}, cancelled: {fault:?}\n{trace}"),
        }
    }
    explored
}

#[test]
fn a_flow_may_be_cancelled_anywhere() {
    let explored = run_cancelled(0..400, 3_000);
    assert!(explored > 150, "only {explored} to the end");
}

#[test]
fn thousands_of_programs_neither_deadlock_nor_lose_exclusion() {
    assert_telling(&run(0..2_000, 3_600, false));
}

/// As many as `FLUX_EXPLORE_PROGRAMS` says, 100,000 where it says nothing, and of a tenth of them flows that are
/// cancelled: for `make fuzz`.
#[test]
#[ignore = "takes long: `make fuzz`"]
#[expect(clippy::disallowed_methods, reason = "a test harness is a shell")]
#[expect(clippy::print_stderr, reason = "it is for whoever waits for it")]
fn fuzz_explorer() {
    let programs: u64 = std::env::var("FLUX_EXPLORE_PROGRAMS").map_or(100_000, |said| said.parse().unwrap());
    assert_telling(&run(0..programs, 10_000, true));
    let cancelled = 0..programs.div_ceil(10);
    let explored = run_cancelled(cancelled.clone(), 10_000);
    eprintln!(
        "{} programs of which a flow is cancelled: none is faulty, {explored} explored to the end",
        cancelled.end
    );
}
