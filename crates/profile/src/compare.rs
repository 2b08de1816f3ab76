//! What is different between two profiles of one program, and whether that is more than chance.
//!
//! The times of each source and node are compared whole and by what they went to, and how often each fails. Of many
//! comparisons some look different by chance, so chances are corrected for how many there are (Holm, "A simple
//! sequentially rejective multiple test procedure", 1979).

use crate::histogram::Histogram;
use crate::profile::{Flows, Profile, Times};
use crate::significance::{chance_of, chance_of_parts};

/// What chance alone would show less often than this is taken for a difference.
pub const RARE: f64 = 0.01;

/// What differs by less than the steps of histograms are wide is not: neither the median nor the mean.
const STEP: f64 = 1.0 / 32.0;

/// What is compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// The flows of a source.
    Source(String),
    /// The calls of a node.
    Node(String),
}

impl Subject {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Source(name) | Self::Node(name) => name,
        }
    }
}

/// A figure of it in both profiles.
#[derive(Clone, PartialEq, Debug)]
pub enum Figures {
    /// Times: whole, or what they went to, by its name.
    Times {
        /// `whole`, `ran`, …
        part: &'static str,
        /// In nanoseconds: the mean, the median and the 99th percentile.
        before: [f64; 3],
        /// The same.
        after: [f64; 3],
    },
    /// The part that failed.
    Failed {
        /// From 0 to 1.
        before: f64,
        /// The same.
        after: f64,
    },
}

/// One comparison.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// Of what.
    pub of: Subject,
    /// In what.
    pub figures: Figures,
    /// How likely chance alone would show as much somewhere among all that were compared.
    pub chance: f64,
    /// Whether it is more than chance, and more than the steps of histograms.
    pub is_significant: bool,
}

impl Difference {
    /// What it makes of a call or flow, in nanoseconds; of failures, their part.
    fn weight(&self) -> f64 {
        match &self.figures {
            Figures::Times { before, after, .. } => (after[0] - before[0]).abs(),
            Figures::Failed { before, after } => (after - before).abs(),
        }
    }
}

/// All comparisons of two profiles; first those that are significant, of these the largest first.
///
/// # Errors
/// Where they are of different programs.
pub fn compare(before: &Profile, after: &Profile) -> Result<Vec<Difference>, String> {
    if before.program != after.program {
        return Err(format!("the programs are not the same: `{}` and `{}`", before.program, after.program));
    }
    let mut all = vec![];
    for one in &before.flow_times {
        if let Some(other) = after.flow_times.iter().find(|other| other.source == one.source) {
            add_times(&mut all, &Subject::Source(one.source.clone()), &one.times, &other.times);
        }
    }
    for one in &before.sources {
        if let Some(other) = after.sources.iter().find(|other| other.name == one.name) {
            let of = |flows: &Flows| (flows.failed, flows.finished());
            add_failures(&mut all, Subject::Source(one.name.clone()), of(&one.flows), of(&other.flows));
        }
    }
    for one in &before.node_times {
        if let Some(other) = after.node_times.iter().find(|other| other.name == one.name) {
            let of = Subject::Node(one.name.clone());
            add_times(&mut all, &of, &one.times, &other.times);
            let failed = |profile: &Profile, times: &Times| (profile.failures_of(&one.name), times.whole.times());
            add_failures(&mut all, of, failed(before, &one.times), failed(after, &other.times));
        }
    }
    correct(&mut all);
    for one in &mut all {
        one.is_significant = one.chance < RARE && is_beyond_steps(&one.figures);
    }
    all.sort_by(|one, other| {
        let rank = |of: &Difference| (!of.is_significant, matches!(of.figures, Figures::Times { .. }));
        rank(one).cmp(&rank(other)).then(other.weight().total_cmp(&one.weight()))
    });
    Ok(all)
}

fn add_times(all: &mut Vec<Difference>, of: &Subject, before: &Times, after: &Times) {
    let whole = [("whole", &before.whole, &after.whole)];
    let parts = before.parts().into_iter().zip(after.parts()).map(|((name, one), (_, other))| (name, one, other));
    for (part, one, other) in whole.into_iter().chain(parts) {
        if one.is_empty() && other.is_empty() {
            continue;
        }
        let figures = |of: &Histogram| [of.mean_ns(), of.quantile_ns(0.5) as f64, of.quantile_ns(0.99) as f64];
        let figures = Figures::Times { part, before: figures(one), after: figures(other) };
        all.push(Difference { of: of.clone(), figures, chance: chance_of(one, other), is_significant: false });
    }
}

fn add_failures(all: &mut Vec<Difference>, of: Subject, before: (u64, u64), after: (u64, u64)) {
    if before.0 == 0 && after.0 == 0 {
        return;
    }
    let part = |(failed, all): (u64, u64)| if all == 0 { 0.0 } else { failed as f64 / all as f64 };
    let figures = Figures::Failed { before: part(before), after: part(after) };
    let chance = chance_of_parts(before.0, before.1, after.0, after.1);
    all.push(Difference { of, figures, chance, is_significant: false });
}

/// Holm's correction: the rarest counts as often as there are comparisons, the next once less, and none is rarer than
/// those before it.
fn correct(all: &mut [Difference]) {
    all.sort_by(|one, other| one.chance.total_cmp(&other.chance));
    let mut least = 0.0_f64;
    let count = all.len();
    for (before, one) in all.iter_mut().enumerate() {
        least = least.max(one.chance * (count - before) as f64).min(1.0);
        one.chance = least;
    }
}

fn is_beyond_steps(figures: &Figures) -> bool {
    match figures {
        Figures::Failed { .. } => true,
        Figures::Times { before, after, .. } => {
            let [mean, median, _] = [0, 1, 2].map(|which: usize| {
                let pair = before.get(which).zip(after.get(which));
                pair.map_or(0.0, |(before, after)| (after - before).abs() / before.abs().max(1.0))
            });
            mean > STEP || median > STEP
        }
    }
}
