//! Random programs, explored with the passes and without.

use crate::compile::{lower, order, verified};
use crate::generate::{Random, generate};
use flux_explore::{Bounds, Discipline, Verdict, explore};
use flux_passes::order_constraints::Rules;
use std::ops::Range;

/// How a seed's flows run: two or three of them, with threads or few executors.
fn bounds(seed: u64) -> Bounds {
    let mut random = Random::new(!seed);
    let flows: &[usize] = match random.below(16) {
        0..=7 => &[0, 0],
        8..=12 => &[0, 1],
        13..=14 => &[1, 1],
        _ => &[0, 0, 1],
    };
    let executors = if random.chance(30) { Some(1 + random.below(2)) } else { None };
    let discipline = if random.chance(30) { Discipline::PassedOnce } else { Discipline::FirstInFirstOut };
    Bounds { executors, discipline, states: 3_000, ..Bounds::of(flows) }
}

/// What came of many programs.
#[derive(Default, Debug)]
struct Tally {
    /// With the rules of order, explored to the end.
    explored: usize,
    /// With them, explored as far as the bounds allow.
    unfinished: usize,
    /// Those whose author would have to write them otherwise: a key is made inside what would have to hold it, say.
    refused: usize,
    /// Without the rules, faulty.
    faulty_without: usize,
}

/// Explores the programs of these seeds: with the rules of order none is faulty, and the verifier agrees.
fn run(seeds: Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let lowered = lower(generate(seed));
        tally.faulty_without += usize::from(matches!(explore(&lowered, &bounds(seed)), Verdict::Faulty(..)));
        let Some(flow) = order(&lowered, Rules::default()) else {
            tally.refused += 1;
            continue;
        };
        assert_eq!(verified(&flow), [""; 0], "seed {seed}");
        match explore(&flow, &bounds(seed)) {
            Verdict::Sound { .. } => tally.explored += 1,
            Verdict::Unfinished => tally.unfinished += 1,
            Verdict::Faulty(fault, trace) => panic!("seed {seed}: {fault:?}\n{trace}"),
        }
    }
    tally
}

/// Many programs are accepted and explored to the end, and without the rules a large share is faulty.
#[track_caller]
fn assert_telling(tally: &Tally, programs: usize) {
    assert!(tally.explored * 5 > programs * 2, "{tally:?}");
    assert!(tally.faulty_without * 3 > programs, "{tally:?}");
}

#[test]
fn thousands_of_programs_neither_deadlock_nor_lose_exclusion() {
    let tally = run(0..2_000);
    assert_telling(&tally, 2_000);
}

/// As many as `FLUX_EXPLORE_PROGRAMS` says, 100,000 where it says nothing: for `make fuzz`.
#[test]
#[ignore = "takes long: `make fuzz`"]
#[expect(clippy::disallowed_methods, reason = "a test harness is a shell")]
fn fuzz_explorer() {
    let programs = std::env::var("FLUX_EXPLORE_PROGRAMS").map_or(100_000, |said| said.parse().unwrap());
    let tally = run(0..programs);
    assert_telling(&tally, usize::try_from(programs).unwrap());
}
