//! Two profiles that were compared, for a person and for programs.

use crate::profile::{percent, size, time};
use crate::sim::table;
use flux_profile::compare::{Alone, Comparison, Difference, Figures, Mode, Subject};
use serde_json::{Value, json};

/// What differs, and what is in one of them alone.
pub fn shown(of: &Comparison, all: bool) -> String {
    let significant = of.differences.iter().filter(|one| one.is_significant).count();
    let mut lines = vec![["", "what", "mean", "p50", "p99", "change", "by chance"].map(str::to_owned).to_vec()];
    for one in of.differences.iter().filter(|one| all || one.is_significant) {
        lines.push(difference_row(one));
    }
    let number = of.differences.len();
    let what = match (significant, number) {
        (0, 0) => "nothing was measured in both profiles\n".to_owned(),
        (0, _) => format!("nothing has changed by more than chance: {number} compared\n"),
        _ if all => format!("{significant} of {number} have changed by more than chance\n"),
        _ => format!("{significant} of {number} have changed by more than chance (--all shows the others)\n"),
    };
    let what = if lines.len() == 1 { what } else { format!("{what}\n{}", table(&lines)) };
    let mut alone = vec![["in one alone", "which", "times", "mean"].map(str::to_owned).to_vec()];
    alone.extend(of.alone.iter().map(alone_row));
    if alone.len() == 1 { what } else { format!("{what}\n{}", table(&alone)) }
}

/// One object for each comparison, and one for what is in one of them alone.
pub fn objects(of: &Comparison) -> Vec<Value> {
    of.differences.iter().map(difference_object).chain(of.alone.iter().map(alone_object)).collect()
}

fn name(of: &Subject) -> String {
    match of {
        Subject::Source(name) => format!("flows of {name}"),
        Subject::Node(name) => name.clone(),
        Subject::Constraint(name, Mode::Read) => format!("{name} to read"),
        Subject::Constraint(name, Mode::Change) => format!("{name} to change"),
        Subject::Edge(from, to) => format!("{from} -> {to}"),
    }
}

fn difference_row(of: &Difference) -> Vec<String> {
    let name = name(&of.of);
    let chance = if of.chance < 1e-4 { "< 0.01 %".to_owned() } else { format!("{:.2} %", of.chance * 100.0) };
    match &of.figures {
        Figures::Times { part, before, after } => {
            histogram_row([name, (*part).to_owned()], before, after, time, chance)
        }
        Figures::Sizes { before, after } => histogram_row([name, "bytes".to_owned()], before, after, size, chance),
        Figures::Part { of_what, before, after } => {
            let parts = format!("{} -> {}", percent(*before), percent(*after));
            vec![name, (*of_what).to_owned(), parts, String::new(), String::new(), String::new(), chance]
        }
    }
}

/// The mean, the median and the 99th percentile of both.
fn histogram_row(
    [name, what]: [String; 2],
    before: &[f64; 3],
    after: &[f64; 3],
    shown: impl Fn(f64) -> String,
    chance: String,
) -> Vec<String> {
    let [mean, p50, p99] = [0, 1, 2].map(|which: usize| {
        let of = |figures: &[f64; 3]| shown(figures.get(which).copied().unwrap_or_default());
        format!("{} -> {}", of(before), of(after))
    });
    let [before, after] = [before, after].map(|figures| figures.first().copied().unwrap_or_default());
    let change = if before > 0.0 { format!("{:+.1} %", 100.0 * (after / before - 1.0)) } else { "new".to_owned() };
    vec![name, what, mean, p50, p99, change, chance]
}

fn alone_row(of: &Alone) -> Vec<String> {
    let which = if of.is_new { "has appeared" } else { "has gone" };
    vec![name(&of.of), which.to_owned(), of.times.to_string(), time(of.mean_ns)]
}

/// What it is of, with these members.
fn object(of: &Subject, mut members: Value) -> Value {
    let named = match of {
        Subject::Source(name) => vec![("source", name.as_str())],
        Subject::Node(name) => vec![("node", name.as_str())],
        Subject::Constraint(name, Mode::Read) => vec![("constraint", name.as_str()), ("mode", "read")],
        Subject::Constraint(name, Mode::Change) => vec![("constraint", name.as_str()), ("mode", "write")],
        Subject::Edge(from, to) => vec![("from", from.as_str()), ("to", to.as_str())],
    };
    if let Some(row) = members.as_object_mut() {
        row.extend(named.into_iter().map(|(member, value)| (member.to_owned(), json!(value))));
    }
    members
}

fn difference_object(of: &Difference) -> Value {
    let (what, before, after) = match &of.figures {
        Figures::Times { part, before, after } => {
            let times = |[mean, p50, p99]: &[f64; 3]| json!({"mean_ns": mean, "p50_ns": p50, "p99_ns": p99});
            (*part, times(before), times(after))
        }
        Figures::Sizes { before, after } => {
            let sizes = |[mean, p50, p99]: &[f64; 3]| json!({"mean_bytes": mean, "p50_bytes": p50, "p99_bytes": p99});
            ("bytes", sizes(before), sizes(after))
        }
        Figures::Part { of_what, before, after } => (*of_what, json!(before), json!(after)),
    };
    let members = json!({
        "what": what, "before": before, "after": after, "chance": of.chance, "significant": of.is_significant,
    });
    object(&of.of, members)
}

fn alone_object(of: &Alone) -> Value {
    let what = if of.is_new { "appeared" } else { "gone" };
    object(&of.of, json!({"what": what, "times": of.times, "mean_ns": of.mean_ns}))
}
