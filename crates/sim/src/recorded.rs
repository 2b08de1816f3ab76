//! Arrivals that were recorded, of a server's log for example, to be replayed: with their bursts, and their lulls.

use std::sync::Arc;

/// The times between recorded arrivals, each as a multiple of their mean.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorded {
    gaps: Arc<[f64]>,
    rate: f64,
}

impl Recorded {
    /// Reads the times of arrivals, in seconds since any moment, one a line, in order; `#` begins a comment.
    ///
    /// # Errors
    /// What is wrong, and in which line.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut times: Vec<f64> = vec![];
        for (number, line) in (1..).zip(text.lines()) {
            let word = line.split('#').next().unwrap_or_default().trim();
            if word.is_empty() {
                continue;
            }
            let time = word.parse().ok().filter(|time: &f64| time.is_finite());
            let time = time.ok_or_else(|| format!("line {number}: `{word}` is no time: write seconds, as 12.5"))?;
            if times.last().is_some_and(|last| time < *last) {
                return Err(format!("line {number}: {word} is before the line above: sort the times (sort -n)"));
            }
            times.push(time);
        }
        let gaps: Vec<_> = times.iter().zip(times.iter().skip(1)).map(|(one, next)| next - one).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len().max(1) as f64;
        if mean <= 0.0 {
            return Err("there are no two arrivals at different times: write one time a line, in seconds".to_owned());
        }
        // How long nobody came behind the last is not known: as long as on average.
        Ok(Self { gaps: gaps.into_iter().map(|gap| gap / mean).chain([1.0]).collect(), rate: 1.0 / mean })
    }

    /// How many arrived in a second, on average.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The same arrivals, so many in a second on average.
    #[must_use]
    pub fn at(&self, rate: f64) -> Self {
        Self { gaps: Arc::clone(&self.gaps), rate }
    }

    /// How many times there are between arrivals.
    pub(crate) fn len(&self) -> usize {
        self.gaps.len()
    }

    /// The time between an arrival and the next, in seconds; behind the last comes the first again.
    pub(crate) fn gap(&self, number: usize) -> f64 {
        self.gaps.get(number % self.gaps.len()).copied().unwrap_or_default() / self.rate
    }
}
