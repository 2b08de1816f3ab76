//! Whether two samples differ by more than chance would have it.

use crate::histogram::Histogram;
use std::collections::BTreeMap;

/// Which times were measured of all, so that those that were stand for the others.
#[derive(Clone, Copy)]
pub enum Sampled {
    /// Each was.
    Each,
    /// Those of some flows: the first 64, then 64 of which each stands for two, and so on, until each stands for 251
    /// (`runtime/include/flux/flow/flow_timing.hpp`). Where several sources do so, it is more.
    Flows,
    /// The first hold of each thread, and of the others each that stands for 61
    /// (`runtime/include/flux/flow/constraint_counts.hpp`).
    Holds,
}

/// How likely chance alone would make two samples of the same times as different as these: the test of Mann and Whitney
/// ("On a test of whether one of two random variables is stochastically larger than the other", 1947), by its normal
/// approximation, corrected for ties, as all times of a step are alike. It asks nothing of how times are distributed,
/// so a few that are very long decide nothing. 1 where one of them has none.
///
/// Times that stand for others count as many times alike would that say as much ([`effective`]).
pub fn chance_of(one: &Histogram, other: &Histogram, sampled: Sampled) -> f64 {
    let (n1, n2) = (effective(one, sampled), effective(other, sampled));
    let (all1, all2) = (one.times() as f64, other.times() as f64);
    if n1 == 0.0 || n2 == 0.0 || all1 == 0.0 || all2 == 0.0 {
        return 1.0;
    }
    let mut steps: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for (begin, times) in one.steps() {
        steps.entry(begin).or_default().0 += times as f64 * n1 / all1;
    }
    for (begin, times) in other.steps() {
        steps.entry(begin).or_default().1 += times as f64 * n2 / all2;
    }
    let n = n1 + n2;
    let (mut below, mut rank_sum, mut ties) = (0.0, 0.0, 0.0);
    for (in_one, in_other) in steps.values() {
        let tied = in_one + in_other;
        rank_sum += in_one * (below + (tied + 1.0) / 2.0);
        ties += tied.powi(3) - tied;
        below += tied;
    }
    let u = rank_sum - n1 * (n1 + 1.0) / 2.0;
    let variance = n1 * n2 / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    if n < 2.0 || variance <= 0.0 {
        return 1.0;
    }
    let z = ((u - n1 * n2 / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    two_sided(z)
}

/// How many times that count alike say as much as those that were measured (Kish, "Survey Sampling", 1965: the square
/// of the sum of weights by the sum of their squares).
fn effective(of: &Histogram, sampled: Sampled) -> f64 {
    if of.times() <= of.measured() {
        return of.measured() as f64;
    }
    match sampled {
        Sampled::Each => of.measured() as f64,
        Sampled::Flows => effective_flows(of.measured()),
        Sampled::Holds => effective_holds(of.measured() as f64, of.times() as f64),
    }
}

fn effective_flows(measured: u64) -> f64 {
    const ALIKE: u64 = 64;
    const RAREST: u64 = 251;
    let (mut left, mut weight, mut sum, mut squares) = (measured, 1, 0.0, 0.0);
    while left > 0 {
        let alike = if weight == RAREST { left } else { left.min(ALIKE) };
        sum += alike as f64 * weight as f64;
        squares += alike as f64 * (weight * weight) as f64;
        left -= alike;
        weight = (2 * weight).min(RAREST);
    }
    sum * sum / squares
}

fn effective_holds(measured: f64, times: f64) -> f64 {
    const EACH: f64 = 61.0;
    // So many stand for 61, and the rest for themselves.
    let heavy = ((times - measured) / (EACH - 1.0)).min(measured);
    times * times / (heavy * EACH * EACH + measured - heavy)
}

/// How likely chance alone would make parts as different as `k1` of `n1` and `k2` of `n2`, by the normal approximation
/// of two proportions. 1 where there are none.
pub fn chance_of_parts(k1: u64, n1: u64, k2: u64, n2: u64) -> f64 {
    let [k1, n1, k2, n2] = [k1, n1, k2, n2].map(|number| number as f64);
    let together = (k1 + k2) / (n1 + n2);
    let variance = together * (1.0 - together) * (1.0 / n1 + 1.0 / n2);
    if n1 == 0.0 || n2 == 0.0 || variance <= 0.0 {
        return 1.0;
    }
    two_sided((k1 / n1 - k2 / n2).abs() / variance.sqrt())
}

/// How likely a normal variable is so far from its mean, in standard deviations: by the continued fraction of the
/// complementary error function (Abramowitz and Stegun, 7.1.14) beyond 2, and by its series (7.1.6) before.
fn two_sided(z: f64) -> f64 {
    let x = z / std::f64::consts::SQRT_2;
    let scale = (-x * x).exp() / std::f64::consts::PI.sqrt();
    if x > 2.0 {
        let fraction = (1..=60).rev().fold(x, |under, k| x + f64::from(k) / 2.0 / under);
        return scale / fraction;
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..60 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
    }
    1.0 - 2.0 * scale * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tails_of_the_normal_distribution() {
        // From tables.
        for (z, chance) in
            [(0.0, 1.0), (0.674_49, 0.5), (1.959_964, 0.05), (2.575_829, 0.01), (3.290_527, 1e-3), (4.891_638, 1e-6)]
        {
            let found = two_sided(z);
            assert!((found - chance).abs() < 1e-4 * chance + 1e-9, "{z}: {found} instead of {chance}");
        }
    }

    #[test]
    fn mann_and_whitney_by_ranks() {
        // From the ranks of 1 to 8 and of 4 to 13, three of these twice: U = 23, z = 2.07344.
        let one = Histogram::of(&(1..=8).map(|ns| (ns, 1)).collect::<Vec<_>>());
        let other = Histogram::of(&(4..=13).map(|ns| (ns, if ns < 7 { 2 } else { 1 })).collect::<Vec<_>>());
        let chance = chance_of(&one, &other, Sampled::Each);
        assert!((chance - 0.038_132).abs() < 1e-6, "{chance}");
        assert!((chance_of(&other, &one, Sampled::Each) - chance).abs() < 1e-12);
        assert!(chance_of(&one, &one, Sampled::Each) > 0.9);
        assert!((chance_of(&one, &Histogram::default(), Sampled::Each) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn times_that_stand_for_others_say_less() {
        // 64 of 1, 64 of 2 and 64 of 4: (64 + 128 + 256)^2 / (64 + 256 + 1024).
        let json = r#"{"times": 448, "measured": 192, "sum_ns": 1, "steps": [[7, 448]]}"#;
        let of: Histogram = serde_json::from_str(json).unwrap_or_default();
        assert!((effective(&of, Sampled::Flows) - 149.333).abs() < 1e-3, "{}", effective(&of, Sampled::Flows));
        assert!((effective(&Histogram::of(&[(7, 192)]), Sampled::Flows) - 192.0).abs() < 1e-9);
        // 2 threads' first, and 3 of 61: 185^2 / (2 + 3 * 61^2).
        let json = r#"{"times": 185, "measured": 5, "sum_ns": 1, "steps": [[7, 185]]}"#;
        let of: Histogram = serde_json::from_str(json).unwrap_or_default();
        assert!((effective(&of, Sampled::Holds) - 3.065_4).abs() < 1e-3, "{}", effective(&of, Sampled::Holds));
    }

    #[test]
    fn parts() {
        assert!((chance_of_parts(10, 100, 10, 100) - 1.0).abs() < 1e-9);
        // 10 and 0 of 100, of which 5 % is expected of each: z = 3.2444.
        assert!((chance_of_parts(10, 100, 0, 100) - 1.1769e-3).abs() < 1e-6);
        assert!((chance_of_parts(0, 0, 1, 2) - 1.0).abs() < 1e-12);
    }
}
