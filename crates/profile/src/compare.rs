//! What is different between two profiles of one program, and whether that is more than chance.
//!
//! The times of each source and node are compared whole and by what they went to, and how often each fails; of each
//! constraint, for those who read and those who change, how often they wait, how long each wait is and each hold; and
//! on each edge of the graph how large the values are. What is in one of the profiles alone has appeared or gone. Of
//! many comparisons some look different by chance, so chances are corrected for how many there are (Holm, "A simple
//! sequentially rejective multiple test procedure", 1979).

use crate::histogram::Histogram;
use crate::profile::{Flows, Holds, Profile, Times};
use crate::significance::{Sampled, chance_of, chance_of_parts};

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
    /// Those who take a constraint to read, or to change.
    Constraint(String, Mode),
    /// What a node is given after another, or after a source: where it comes from, and that node.
    Edge(String, String),
}

/// What a constraint is taken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Others may read at once.
    Read,
    /// Nobody else has it.
    Change,
}

impl Subject {
    /// Its name; of an edge, that of the node that it leads to.
    pub fn name(&self) -> &str {
        match self {
            Self::Source(name) | Self::Node(name) | Self::Constraint(name, _) | Self::Edge(_, name) => name,
        }
    }
}

/// A figure of it in both profiles.
#[derive(Clone, PartialEq, Debug)]
pub enum Figures {
    /// Times: whole, or what they went to, by its name; of constraints, waits and holds.
    Times {
        /// `whole`, `ran`, …; `wait`, `held`
        part: &'static str,
        /// In nanoseconds: the mean, the median and the 99th percentile.
        before: [f64; 3],
        /// The same.
        after: [f64; 3],
    },
    /// Sizes of values, in bytes.
    Sizes {
        /// The mean, the median and the 99th percentile.
        before: [f64; 3],
        /// The same.
        after: [f64; 3],
    },
    /// The part that failed, or had to wait.
    Part {
        /// `failed`, `waited for`
        of_what: &'static str,
        /// From 0 to 1.
        before: f64,
        /// The same.
        after: f64,
    },
}

impl Figures {
    /// What they are of.
    pub fn what(&self) -> &'static str {
        match self {
            Self::Times { part, .. } => part,
            Self::Sizes { .. } => "bytes",
            Self::Part { of_what, .. } => of_what,
        }
    }
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

/// What is in one of two profiles alone.
#[derive(Clone, PartialEq, Debug)]
pub struct Alone {
    /// What.
    pub of: Subject,
    /// Whether it is in the second: it has appeared. Else it has gone.
    pub is_new: bool,
    /// How often it was called, begun or taken.
    pub times: u64,
    /// In nanoseconds, the mean of its times; of a constraint, of its holds.
    pub mean_ns: f64,
}

/// Two profiles of one program.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Comparison {
    /// First those that are significant, of these the largest first.
    pub differences: Vec<Difference>,
    /// What came most often is first.
    pub alone: Vec<Alone>,
}

impl Difference {
    /// What it makes of a call or flow, in nanoseconds; of sizes in bytes, of parts their part.
    fn weight(&self) -> f64 {
        match &self.figures {
            Figures::Times { before, after, .. } | Figures::Sizes { before, after } => (after[0] - before[0]).abs(),
            Figures::Part { before, after, .. } => (after - before).abs(),
        }
    }
}

/// What is found in both profiles is compared, and what is in one of them alone is named.
///
/// # Errors
/// Where they are of different programs.
pub fn compare(before: &Profile, after: &Profile) -> Result<Comparison, String> {
    if before.program != after.program {
        return Err(format!("the programs are not the same: `{}` and `{}`", before.program, after.program));
    }
    let mut all = vec![];
    add_sources(&mut all, before, after);
    add_nodes(&mut all, before, after);
    add_constraints(&mut all, before, after);
    add_sizes(&mut all, before, after);
    correct(&mut all);
    for one in &mut all {
        one.is_significant = one.chance < RARE && is_beyond_steps(&one.figures);
    }
    all.sort_by(|one, other| {
        let kind = |of: &Figures| match of {
            Figures::Part { .. } => 0,
            Figures::Times { .. } => 1,
            Figures::Sizes { .. } => 2,
        };
        let rank = |of: &Difference| (!of.is_significant, kind(&of.figures));
        rank(one).cmp(&rank(other)).then(other.weight().total_cmp(&one.weight()))
    });
    let (old, new) = (present(before), present(after));
    let only = |of: &[Alone], others: &[Alone], is_new: bool| {
        let is_alone = |one: &&Alone| !others.iter().any(|other| other.of == one.of);
        of.iter().filter(is_alone).map(|one| Alone { is_new, ..one.clone() }).collect::<Vec<_>>()
    };
    let mut alone = [only(&new, &old, true), only(&old, &new, false)].concat();
    alone.sort_by_key(|one| std::cmp::Reverse(one.times));
    Ok(Comparison { differences: all, alone })
}

/// All that flows came to.
fn present(in_profile: &Profile) -> Vec<Alone> {
    let of_times =
        |of: Subject, times: &Histogram| Alone { of, is_new: false, times: times.times(), mean_ns: times.mean() };
    let sources = in_profile.flow_times.iter();
    let sources = sources.map(|one| of_times(Subject::Source(one.source.clone()), &one.times.whole));
    let nodes = in_profile.node_times.iter();
    let nodes = nodes.map(|one| of_times(Subject::Node(one.name.clone()), &one.times.whole));
    let constraints = in_profile.constraints.iter().flat_map(|one| {
        modes(&one.readers, &one.writers).map(|(mode, holds)| Alone {
            times: holds.taken,
            ..of_times(Subject::Constraint(one.name.clone(), mode), &holds.holds)
        })
    });
    sources.chain(nodes).chain(constraints).filter(|one| one.times > 0).collect()
}

fn modes<'a>(readers: &'a Holds, writers: &'a Holds) -> [(Mode, &'a Holds); 2] {
    [(Mode::Read, readers), (Mode::Change, writers)]
}

fn add_sources(all: &mut Vec<Difference>, before: &Profile, after: &Profile) {
    for one in &before.flow_times {
        if let Some(other) = after.flow_times.iter().find(|other| other.source == one.source) {
            add_times(all, &Subject::Source(one.source.clone()), &one.times, &other.times);
        }
    }
    for one in &before.sources {
        if let Some(other) = after.sources.iter().find(|other| other.name == one.name) {
            let of = |flows: &Flows| (flows.failed, flows.finished());
            add_part(all, Subject::Source(one.name.clone()), "failed", of(&one.flows), of(&other.flows));
        }
    }
}

fn add_nodes(all: &mut Vec<Difference>, before: &Profile, after: &Profile) {
    for one in &before.node_times {
        if let Some(other) = after.node_times.iter().find(|other| other.name == one.name) {
            let of = Subject::Node(one.name.clone());
            add_times(all, &of, &one.times, &other.times);
            let failed = |profile: &Profile, times: &Times| (profile.failures_of(&one.name), times.whole.times());
            add_part(all, of, "failed", failed(before, &one.times), failed(after, &other.times));
        }
    }
}

fn add_constraints(all: &mut Vec<Difference>, before: &Profile, after: &Profile) {
    for one in &before.constraints {
        let Some(other) = after.constraints.iter().find(|other| other.name == one.name) else { continue };
        let pairs = modes(&one.readers, &one.writers).into_iter().zip(modes(&other.readers, &other.writers));
        for ((mode, one_holds), (_, other_holds)) in pairs {
            if one_holds.taken == 0 || other_holds.taken == 0 {
                continue;
            }
            let of = Subject::Constraint(one.name.clone(), mode);
            let waited = |holds: &Holds| (holds.waited, holds.taken);
            add_part(all, of.clone(), "waited for", waited(one_holds), waited(other_holds));
            add_histograms(all, &of, times("wait"), Sampled::Each, (&one_holds.waits, &other_holds.waits));
            add_histograms(all, &of, times("held"), Sampled::Holds, (&one_holds.holds, &other_holds.holds));
        }
    }
}

fn add_sizes(all: &mut Vec<Difference>, before: &Profile, after: &Profile) {
    for one in &before.value_sizes {
        if let Some(other) = after.value_sizes.iter().find(|other| (&other.from, &other.to) == (&one.from, &one.to)) {
            let (of, figures) =
                (Subject::Edge(one.from.clone(), one.to.clone()), |before, after| Figures::Sizes { before, after });
            add_histograms(all, &of, figures, Sampled::Flows, (&one.bytes, &other.bytes));
        }
    }
}

fn add_times(all: &mut Vec<Difference>, of: &Subject, before: &Times, after: &Times) {
    let whole = [("whole", &before.whole, &after.whole)];
    let parts = before.parts().into_iter().zip(after.parts()).map(|((name, one), (_, other))| (name, one, other));
    for (part, one, other) in whole.into_iter().chain(parts) {
        add_histograms(all, of, times(part), Sampled::Flows, (one, other));
    }
}

/// What makes figures of times.
fn times(part: &'static str) -> impl Fn([f64; 3], [f64; 3]) -> Figures {
    move |before, after| Figures::Times { part, before, after }
}

fn add_histograms(
    all: &mut Vec<Difference>,
    of: &Subject,
    figures: impl Fn([f64; 3], [f64; 3]) -> Figures,
    sampled: Sampled,
    (one, other): (&Histogram, &Histogram),
) {
    if one.is_empty() && other.is_empty() {
        return;
    }
    let of_one = |of: &Histogram| [of.mean(), of.quantile(0.5) as f64, of.quantile(0.99) as f64];
    let figures = figures(of_one(one), of_one(other));
    all.push(Difference { of: of.clone(), figures, chance: chance_of(one, other, sampled), is_significant: false });
}

fn add_part(all: &mut Vec<Difference>, of: Subject, of_what: &'static str, before: (u64, u64), after: (u64, u64)) {
    if before.0 == 0 && after.0 == 0 {
        return;
    }
    let part = |(some, all): (u64, u64)| if all == 0 { 0.0 } else { some as f64 / all as f64 };
    let figures = Figures::Part { of_what, before: part(before), after: part(after) };
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
        Figures::Part { .. } => true,
        Figures::Times { before, after, .. } | Figures::Sizes { before, after } => {
            let [mean, median, _] = [0, 1, 2].map(|which: usize| {
                let pair = before.get(which).zip(after.get(which));
                pair.map_or(0.0, |(before, after)| (after - before).abs() / before.abs().max(1.0))
            });
            mean > STEP || median > STEP
        }
    }
}
