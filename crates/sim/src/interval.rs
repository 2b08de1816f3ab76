//! A figure with its interval: what several runs that have nothing to do with each other say of it (independent
//! replications; Law, "Simulation Modeling and Analysis", chapter 9).

/// A mean, and how far the true one may be from it.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Interval {
    /// The mean of the runs.
    pub mean: f64,
    /// The true mean is no farther away, in 95 of 100 such intervals.
    pub within: f64,
}

/// The 97.5 % quantiles of Student's distribution, from 1 degree of freedom on.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

impl Interval {
    /// What these runs say; of fewer than two nothing is known.
    pub fn of(runs: &[f64]) -> Self {
        let count = runs.len() as f64;
        let mean = runs.iter().sum::<f64>() / count.max(1.0);
        let Some(freedom) = runs.len().checked_sub(2) else { return Self { mean, within: f64::INFINITY } };
        let variance = runs.iter().map(|run| (run - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let student = STUDENT.get(freedom).copied().unwrap_or(2.0);
        Self { mean, within: student * (variance / count).sqrt() }
    }

    /// Whether a value is in it.
    pub fn contains(self, value: f64) -> bool {
        (value - self.mean).abs() <= self.within
    }
}
