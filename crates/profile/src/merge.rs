//! Several profiles of one program as one: of several servers, or of one server on several days. What is counted adds
//! up, and so do the steps of histograms, so nothing is lost by it.

use crate::histogram::Histogram;
use crate::profile::{Constraint, CutPath, Flows, Holds, Path, Profile, Sums, Times};
use std::hash::Hash;

/// Adds what another has measured.
///
/// # Errors
/// Where it is of another program.
pub fn merge(into: &mut Profile, other: Profile) -> Result<(), String> {
    if into.program != other.program {
        return Err(format!("it is of the program `{}`, and the first is of `{}`", other.program, into.program));
    }
    if into.strategy != other.strategy {
        into.strategy = "several".to_owned();
    }
    into.seconds += other.seconds;
    into.cpu_seconds += other.cpu_seconds;
    into.source_cpu_seconds += other.source_cpu_seconds;
    into.measuring_cpu_seconds += other.measuring_cpu_seconds;
    let cost = &mut into.thread_cost_ns;
    cost.alone = cost.alone.max(other.thread_cost_ns.alone);
    cost.beside = cost.beside.max(other.thread_cost_ns.beside);
    add(&mut into.loop_sleeps.times, other.loop_sleeps.times);
    add(&mut into.loop_sleeps.measured, other.loop_sleeps.measured);
    add(&mut into.loop_sleeps.worked_ns, other.loop_sleeps.worked_ns);
    add_flows(&mut into.flows, other.flows);
    add_each(
        &mut into.sources,
        other.sources,
        |one| one.name.clone(),
        |one, more| {
            add(&mut one.nothing, more.nothing);
            add_flows(&mut one.flows, more.flows);
        },
    );
    add_each(&mut into.constraints, other.constraints, |one| one.name.clone(), add_constraint);
    add_each(
        &mut into.failures,
        other.failures,
        |one| (one.name.clone(), one.code),
        |one, more| {
            add(&mut one.times, more.times);
            add(&mut one.unhandled, more.unhandled);
        },
    );
    add_each(
        &mut into.flow_times,
        other.flow_times,
        |one| one.source.clone(),
        |one, more| {
            add_times(&mut one.times, &more.times);
        },
    );
    add_each(
        &mut into.node_times,
        other.node_times,
        |one| one.name.clone(),
        |one, more| {
            add_times(&mut one.times, &more.times);
        },
    );
    add_each(
        &mut into.value_sizes,
        other.value_sizes,
        |one| (one.from.clone(), one.to.clone()),
        |one, more| one.bytes.merge(&more.bytes),
    );
    // What waited at different times is no sum, and what flows held then is of each server.
    into.queues.clear();
    add(&mut into.memory.flows, other.memory.flows);
    add(&mut into.memory.flow_bytes, other.memory.flow_bytes);
    add(&mut into.memory.stacks, other.memory.stacks);
    add_paths(into, other.paths, other.cut);
    add(&mut into.path_times_left_out, other.path_times_left_out);
    Ok(())
}

/// Adds how often each path was taken; those that were taken most are first.
fn add_paths(into: &mut Profile, paths: Vec<Path>, cut: Vec<CutPath>) {
    let of_path = |source: &str, exit: &str, labels: &Option<Vec<String>>, number: u64| {
        // Numbers are those of one version of the program, and what the path is called of all.
        (source.to_owned(), exit.to_owned(), labels.clone(), if labels.is_some() { 0 } else { number })
    };
    add_each(
        &mut into.paths,
        paths,
        |one| of_path(&one.source, &one.exit, &one.labels, one.number),
        |one, more| {
            add(&mut one.count, more.count);
            one.times.merge(&more.times);
            add_sums(&mut one.sums, more.sums);
            one.ran_squares_us2 += more.ran_squares_us2;
        },
    );
    add_each(
        &mut into.cut,
        cut,
        |one| of_path(&one.function, &one.exit, &one.labels, one.number),
        |one, more| add(&mut one.count, more.count),
    );
    into.paths.sort_by_key(|path| std::cmp::Reverse(path.count));
    into.cut.sort_by_key(|path| std::cmp::Reverse(path.count));
}

fn add_constraint(into: &mut Constraint, other: Constraint) {
    add(&mut into.taken, other.taken);
    add(&mut into.waited, other.waited);
    add(&mut into.waited_ns, other.waited_ns);
    add(&mut into.timed, other.timed);
    add(&mut into.held_ns, other.held_ns);
    add_holds(&mut into.readers, &other.readers);
    add_holds(&mut into.writers, &other.writers);
    // How often a key came where it has no count is not known, and left out.
    add_each(
        &mut into.keys,
        other.keys,
        |key| key.key.clone(),
        |key, more| {
            add(&mut key.times, more.times);
            add(&mut key.surplus, more.surplus);
        },
    );
    // Which of them are the same keys is not known: there are as many at least.
    into.distinct_keys = into.distinct_keys.max(other.distinct_keys);
    into.reuse.merge(&other.reuse);
    into.keys.sort_by_key(|key| std::cmp::Reverse(key.times));
}

fn add_holds(into: &mut Holds, other: &Holds) {
    add(&mut into.taken, other.taken);
    add(&mut into.waited, other.waited);
    add(&mut into.waited_ns, other.waited_ns);
    into.waits.merge(&other.waits);
    into.holds.merge(&other.holds);
}

/// Counts so far that they cannot be counted stay at the most.
fn add(into: &mut u64, other: u64) {
    *into = into.saturating_add(other);
}

fn add_flows(into: &mut Flows, other: Flows) {
    add(&mut into.started, other.started);
    add(&mut into.done, other.done);
    add(&mut into.failed, other.failed);
    add(&mut into.ended, other.ended);
    add(&mut into.cancelled, other.cancelled);
}

fn add_sums(into: &mut Sums, other: Sums) {
    add(&mut into.ran_ns, other.ran_ns);
    add(&mut into.beside_ns, other.beside_ns);
    add(&mut into.parked_ns, other.parked_ns);
    add(&mut into.waited_ns, other.waited_ns);
    add(&mut into.queued_ns, other.queued_ns);
    add(&mut into.branched_ns, other.branched_ns);
}

fn add_times(into: &mut Times, other: &Times) {
    let pairs: [(&mut Histogram, &Histogram); 7] = [
        (&mut into.whole, &other.whole),
        (&mut into.ran, &other.ran),
        (&mut into.beside, &other.beside),
        (&mut into.parked, &other.parked),
        (&mut into.waited, &other.waited),
        (&mut into.queued, &other.queued),
        (&mut into.branched, &other.branched),
    ];
    for (one, more) in pairs {
        one.merge(more);
    }
    for (reason, more) in &other.parked_for {
        into.parked_for.entry(reason.clone()).or_default().merge(more);
    }
}

/// Adds those that there are already, by their key, and appends the others.
fn add_each<T, K: Hash + Eq>(into: &mut Vec<T>, other: Vec<T>, key: impl Fn(&T) -> K, join: impl Fn(&mut T, T)) {
    let mut at: std::collections::HashMap<K, usize> =
        into.iter().enumerate().map(|(place, one)| (key(one), place)).collect();
    for more in other {
        let place = *at.entry(key(&more)).or_insert(into.len());
        match into.get_mut(place) {
            Some(one) => join(one, more),
            None => into.push(more),
        }
    }
}
