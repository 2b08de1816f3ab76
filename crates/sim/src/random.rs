//! Random numbers from a seed, and the distributions that times are drawn from.
//!
//! The generator is xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), its
//! state filled by splitmix64: the same seed gives the same numbers on every machine.

use std::sync::Arc;

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Self {
        let mut seed = seed;
        let state = std::array::from_fn(|_| {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = seed;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        });
        Self { state }
    }

    /// Another generator, whose numbers have nothing to do with those that follow here.
    pub fn split(&mut self) -> Self {
        Self::new(self.bits())
    }

    fn bits(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// A number above 0, at most 1.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() <= probability
    }

    /// An integer below `bound`, each equally likely; 0 where the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number of the normal distribution with mean 0 and variance 1 (Box and Muller, 1958).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// Times as a server has measured them: steps of a log-linear histogram, 32 to each power of two of nanoseconds
/// (`runtime/include/flux/flow/histogram.hpp`).
#[derive(Clone, PartialEq, Debug)]
pub struct Histogram {
    /// The shortest time of each step, its width, and how many times are in it or before.
    steps: Vec<(f64, f64, u64)>,
    mean: f64,
}

impl Histogram {
    /// Of steps that begin at so many nanoseconds, with how many times are in each.
    pub fn new(counted: &[(u64, u64)]) -> Self {
        const NANOSECONDS: f64 = 1e-9;
        let (mut so_far, mut sum) = (0_u64, 0.0);
        let step = |&(begin, times): &(u64, u64)| {
            so_far = so_far.saturating_add(times);
            let width = 1_u64 << begin.checked_ilog2().unwrap_or_default().saturating_sub(5);
            // Where a step has one time, that is known.
            let (begin, width) = (begin as f64 * NANOSECONDS, (width - 1) as f64 * NANOSECONDS);
            sum += (begin + width / 2.0) * times as f64;
            (begin, width, so_far)
        };
        let steps: Vec<_> = counted.iter().map(step).collect();
        Self { steps, mean: if so_far == 0 { 0.0 } else { sum / so_far as f64 } }
    }

    /// The same times, so weighted that their mean is `factor` times as long: by a power of a number for each second,
    /// which of all weights changes the distribution least (exponential tilting). The mean comes as close to that as it
    /// can with times that were measured.
    #[must_use]
    pub fn tilted(&self, factor: f64) -> Self {
        const ALL: f64 = (1_u64 << 40) as f64;
        const HALVINGS: usize = 60;
        let before = std::iter::once(0).chain(self.steps.iter().map(|step| step.2));
        let counts: Vec<_> = self.steps.iter().zip(before).map(|(step, before)| (step.2 - before) as f64).collect();
        let middles: Vec<_> = self.steps.iter().map(|(begin, width, _)| begin + width / 2.0).collect();
        let (Some(first), Some(last)) = (middles.first(), middles.last()) else { return self.clone() };
        let wanted = (self.mean * factor).clamp(*first, *last);
        let weights = |tilt: f64| {
            // The largest power is 1, so none is too large.
            let top = if tilt > 0.0 { *last } else { *first };
            let weight = |(middle, count): (&f64, &f64)| count * (tilt * (middle - top)).exp();
            middles.iter().zip(&counts).map(weight).collect::<Vec<_>>()
        };
        let mean = |weights: &[f64]| {
            let sum: f64 = middles.iter().zip(weights).map(|(middle, weight)| middle * weight).sum();
            sum / weights.iter().sum::<f64>()
        };
        let most = 1e3 / (last - first).max(1e-9);
        let (mut low, mut high) = (-most, most);
        for _ in 0..HALVINGS {
            let tilt = f64::midpoint(low, high);
            *(if mean(&weights(tilt)) < wanted { &mut low } else { &mut high }) = tilt;
        }
        let weights = weights(f64::midpoint(low, high));
        let all: f64 = weights.iter().sum();
        let mut so_far = 0.0;
        let steps = self.steps.iter().zip(&weights).map(|((begin, width, _), weight)| {
            so_far += weight;
            (*begin, *width, (ALL * so_far / all).round() as u64)
        });
        Self { steps: steps.collect(), mean: mean(&weights) }
    }

    /// The time at this place among all from the shortest to the longest, from 0 to 1.
    pub fn at(&self, place: f64) -> f64 {
        let all = self.steps.last().map_or(0, |last| last.2);
        let wanted = place * all as f64;
        let at = self.steps.partition_point(|step| (step.2 as f64) < wanted);
        let before = at.checked_sub(1).and_then(|before| self.steps.get(before)).map_or(0, |step| step.2);
        self.steps.get(at).map_or(0.0, |(begin, width, so_far)| {
            let own = (so_far - before).max(1) as f64;
            begin + width * ((wanted - before as f64) / own)
        })
    }

    fn sample(&self, random: &mut Random) -> f64 {
        let drawn = random.below(self.steps.last().map_or(0, |last| last.2));
        let at = self.steps.partition_point(|step| step.2 <= drawn);
        self.steps.get(at).map_or(0.0, |(begin, width, _)| begin + width * random.unit())
    }
}

/// What a time is drawn from. All times are in seconds.
#[derive(Clone, PartialEq, Debug)]
pub enum Distribution {
    /// Always the same.
    Constant(f64),
    /// Of this mean.
    Exponential(f64),
    /// Of this mean, and with a standard deviation of so many means.
    Lognormal {
        /// The mean.
        mean: f64,
        /// The standard deviation divided by the mean.
        variation: f64,
    },
    /// Anything from the first to the second, equally likely.
    Uniform(f64, f64),
    /// One of those that were measured.
    Measured(Arc<Histogram>),
}

impl Distribution {
    /// Draws one.
    pub fn sample(&self, random: &mut Random) -> f64 {
        match *self {
            Self::Constant(value) => value,
            Self::Exponential(mean) => -mean * random.unit().ln(),
            Self::Lognormal { mean, variation } => {
                let variance = (1.0 + variation * variation).ln();
                mean * (variance.sqrt() * random.normal() - variance / 2.0).exp()
            }
            Self::Uniform(low, high) => low + (high - low) * random.unit(),
            Self::Measured(ref times) => times.sample(random),
        }
    }

    /// The same, of which each time is multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match *self {
            Self::Constant(value) => Self::Constant(value * factor),
            Self::Exponential(mean) => Self::Exponential(mean * factor),
            Self::Lognormal { mean, variation } => Self::Lognormal { mean: mean * factor, variation },
            Self::Uniform(low, high) => Self::Uniform(low * factor, high * factor),
            Self::Measured(ref times) => {
                let steps = times.steps.iter().map(|(begin, width, count)| (begin * factor, width * factor, *count));
                Self::Measured(Arc::new(Histogram { steps: steps.collect(), mean: times.mean * factor }))
            }
        }
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Constant(mean) | Self::Exponential(mean) | Self::Lognormal { mean, .. } => mean,
            Self::Uniform(low, high) => f64::midpoint(low, high),
            Self::Measured(ref times) => times.mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_its_time() {
        let all = Histogram::new(&[(7, 100), (1 << 20, 300)]);
        let last = (1 << 20) as f64 * 33.0 / 32.0 * 1e-9;
        for (place, time) in [(0.0, 7e-9), (0.2, 7e-9), (0.2501, 1.048e-3), (1.0, last)] {
            assert!((all.at(place) - time).abs() < 1e-3 * time, "{place}: {}", all.at(place));
        }
        assert!(Histogram::new(&[]).at(0.5).abs() < 1e-12);
    }

    #[test]
    fn weights_give_the_mean_that_is_wanted() {
        let all = Histogram::new(&[(1 << 20, 300), (9 << 20, 100)]);
        let mean = |factor: f64| all.tilted(factor).mean / all.mean;
        for factor in [0.5, 0.8, 1.0, 1.7, 2.5] {
            assert!((mean(factor) - factor).abs() < 1e-6, "{factor}: {}", mean(factor));
        }
        // It has no longer times, and no shorter ones.
        let few = all.tilted(0.01);
        let mut random = Random::new(1);
        assert!((0..1000).all(|_| few.sample(&mut random) < 1.1e-3) && all.tilted(100.0).mean > 9.4e-3);
        assert!(Histogram::new(&[]).tilted(2.0).mean.abs() < 1e-12 && Histogram::new(&[(7, 3)]).tilted(2.0).mean > 0.0);
    }
}
