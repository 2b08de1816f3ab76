//! Times, or sizes of values, in the steps of a log-linear histogram, 32 to each power of two, as servers keep them
//! (`runtime/include/flux/flow/histogram.hpp`). What is read from it is off by a 64th at most. Times are in
//! nanoseconds, sizes in bytes.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many amounts are in which step.
#[derive(Clone, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
#[serde(from = "Written", into = "Written")]
pub struct Histogram {
    measured: u64,
    sum: u64,
    steps: BTreeMap<u64, u64>,
}

/// As it is in a profile: of times.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct Written {
    times: u64,
    measured: u64,
    sum_ns: u64,
    p50_ns: u64,
    p90_ns: u64,
    p99_ns: u64,
    steps: Vec<(u64, u64)>,
}

/// Of sizes.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct WrittenBytes {
    times: u64,
    measured: u64,
    sum_bytes: u64,
    p50_bytes: u64,
    p90_bytes: u64,
    p99_bytes: u64,
    steps: Vec<(u64, u64)>,
}

/// For serde: a histogram of sizes.
pub mod bytes {
    use super::{Histogram, WrittenBytes};
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    /// Reads one.
    ///
    /// # Errors
    /// Where it is none.
    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Histogram, D::Error> {
        let written = WrittenBytes::deserialize(from)?;
        Ok(Histogram::read(written.measured, written.sum_bytes, written.steps))
    }

    /// Writes one.
    ///
    /// # Errors
    /// Where that cannot be written to.
    pub fn serialize<S: Serializer>(of: &Histogram, to: S) -> Result<S::Ok, S::Error> {
        let [p50_bytes, p90_bytes, p99_bytes] = [0.5, 0.9, 0.99].map(|part| of.quantile(part));
        let (times, measured, sum_bytes, steps) = (of.times(), of.measured, of.sum, of.steps().collect());
        WrittenBytes { times, measured, sum_bytes, p50_bytes, p90_bytes, p99_bytes, steps }.serialize(to)
    }
}

impl From<Written> for Histogram {
    fn from(written: Written) -> Self {
        Self::read(written.measured, written.sum_ns, written.steps)
    }
}

impl From<Histogram> for Written {
    fn from(of: Histogram) -> Self {
        let [p50_ns, p90_ns, p99_ns] = [0.5, 0.9, 0.99].map(|part| of.quantile(part));
        let (times, measured, sum_ns) = (of.times(), of.measured, of.sum);
        Self { times, measured, sum_ns, p50_ns, p90_ns, p99_ns, steps: of.steps.into_iter().collect() }
    }
}

fn add(steps: &mut BTreeMap<u64, u64>, begin: u64, times: u64) {
    let step = steps.entry(begin).or_default();
    *step = step.saturating_add(times);
}

/// How wide the step is that begins here.
fn width(begin: u64) -> u64 {
    1 << begin.checked_ilog2().unwrap_or_default().saturating_sub(5)
}

/// The middle of the step that begins here.
fn middle(begin: u64) -> u64 {
    begin.saturating_add(width(begin) / 2)
}

impl Histogram {
    fn read(measured: u64, sum: u64, written: Vec<(u64, u64)>) -> Self {
        let mut steps = BTreeMap::new();
        for (begin, times) in written {
            add(&mut steps, begin, times);
        }
        Self { measured, sum, steps }
    }

    /// Of steps that begin at so much, with how many times are in each; all of them were measured. The sum
    /// is that of the middles.
    pub fn of(steps: &[(u64, u64)]) -> Self {
        let mut all = Self::default();
        for (begin, times) in steps {
            add(&mut all.steps, *begin, *times);
            all.measured += times;
            all.sum += middle(*begin) * times;
        }
        all
    }

    /// As many times as in another, all of them 0.
    pub fn zeros_like(other: &Self) -> Self {
        Self { measured: other.measured, sum: 0, steps: BTreeMap::from([(0, other.times())]) }
    }

    /// Whether all of it is 0, or there is none.
    pub fn is_empty(&self) -> bool {
        self.sum == 0
    }

    /// How many amounts are in it.
    pub fn times(&self) -> u64 {
        self.steps.values().fold(0, |sum, times| sum.saturating_add(*times))
    }

    /// How many of them were measured; each stands for others that were not, too.
    pub fn measured(&self) -> u64 {
        self.measured
    }

    /// All of them together.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The beginnings of the steps in which there are any, with how many, the smallest first.
    pub fn steps(&self) -> impl Iterator<Item = (u64, u64)> {
        self.steps.iter().map(|(begin, times)| (*begin, *times))
    }

    /// The mean; 0 where there is none.
    pub fn mean(&self) -> f64 {
        match self.times() {
            0 => 0.0,
            times => self.sum as f64 / times as f64,
        }
    }

    /// An amount that this part of all do not exceed; 0 where there is none.
    pub fn quantile(&self, part: f64) -> u64 {
        let wanted = (part * self.times() as f64).ceil().max(1.0) as u64;
        let mut so_far = 0_u64;
        for (begin, times) in &self.steps {
            so_far = so_far.saturating_add(*times);
            if so_far >= wanted {
                return middle(*begin);
            }
        }
        0
    }

    /// The largest; 0 where there is none.
    pub fn largest(&self) -> u64 {
        self.steps.last_key_value().map_or(0, |(begin, _)| middle(*begin))
    }

    /// Those of both.
    pub fn merge(&mut self, other: &Self) {
        for (begin, times) in &other.steps {
            add(&mut self.steps, *begin, *times);
        }
        self.measured = self.measured.saturating_add(other.measured);
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// Those that came since an earlier look at the same.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let left = |(begin, times): (&u64, &u64)| {
            let before = earlier.steps.get(begin).copied().unwrap_or_default();
            Some((*begin, times.checked_sub(before)?)).filter(|(_, left)| *left > 0)
        };
        Self {
            measured: self.measured.saturating_sub(earlier.measured),
            sum: self.sum.saturating_sub(earlier.sum),
            steps: self.steps.iter().filter_map(left).collect(),
        }
    }
}
