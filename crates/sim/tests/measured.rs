//! Predictions from what a server has measured: they are those of estimates that say the same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod support;

use flux_ir::flow::Flow;
use flux_sim::estimates::{Estimates, Part};
use flux_sim::measured::measured;
use flux_sim::predict::predict;
use flux_sim::random::Random;
use flux_sim::script::Workload;
use flux_sim::setting::{Arrivals, Runtime, Setting, Sharing};
use flux_sim::walk::Flows;
use support::{PAGES, flow};

/// A profile of pages, with the members that are read: of 100 flows 75 hit, and 5 of the 25 others fail.
const PROFILE: &str = r#"{"format": 1, "program": "test", "cpu_seconds": 0.25, "flows": {"started": 100},
  "node_times": [
    {"name": "Look", "ran": {"sum_ns": 100000000, "steps": [[983040, 50], [1015808, 50]]}},
    {"name": "Make", "ran": {"sum_ns": 100000000, "steps": [[4063232, 25]]},
     "parked": {"steps": [[0, 10], [7864320, 15]]}},
    {"name": "Send", "ran": {"steps": [[7, 95]]}},
    {"name": "Find", "ran": {"steps": [[1, 100]]}}, {"name": "std.other", "ran": {"steps": [[1, 1]]}}],
  "paths": [
    {"count": 75, "labels": ["Read", "Look", "Find:[hit]", "Send"]},
    {"count": 20, "labels": ["Read", "Look", "Find:[_]", "Make", "Send"]},
    {"count": 5, "labels": ["Read", "Look", "Find:[_]", "Make", "ERROR", "Sorry"]}], "cut": []}"#;

#[test]
fn a_profile_says_what_estimates_would() {
    let flow = flow(PAGES);
    let estimates = measured(&flow, PROFILE).unwrap();
    assert_eq!(estimates.missing(&flow), [""; 0]);
    let make = estimates.work("Make").unwrap();
    assert!((make.fails - 0.2).abs() < 1e-9, "{make:?}");
    let mean = |part: &Part| match part {
        Part::Compute(time) => ("compute", (time.mean() * 1e6).round()),
        Part::Beside(time) => ("beside", (time.mean() * 1e6).round()),
        Part::Wait(time) => ("wait", (time.mean() * 1e6).round()),
        Part::Sleep(time) => ("sleep", (time.mean() * 1e6).round()),
    };
    // The middle of each step.
    assert_eq!(make.parts.iter().map(mean).collect::<Vec<_>>(), [("compute", 4096.0), ("wait", 4758.0)]);
    let (predicate, _) = flow.program.predicates.iter().next().unwrap();
    assert!((estimates.likely(predicate).unwrap() - 0.75).abs() < 1e-9);
    assert!(estimates.work("std.other").is_none() && estimates.work("Find").is_none());
    assert!((estimates.outside() - 0.5e-3).abs() < 1e-9, "{}", estimates.outside());
}

#[test]
fn what_loops_slept_and_what_was_measured_is_no_work_of_flows() {
    let slept = r#""measuring_cpu_seconds": 0.01, "strategy": "event", "loop_sleeps":
      {"times": 1000, "measured": 10, "worked_ns": 200000}, "cpu_seconds": 0.25"#;
    let json = PROFILE.replace(r#""cpu_seconds": 0.25"#, slept);
    let json = json.replace(
        r#""parked": {"steps": [[0, 10], [7864320, 15]]}"#,
        r#""parked": {"steps": [[7864320, 25]]},
      "parked_for": {"sleep": {"steps": [[7864320, 25]]}}"#,
    );
    let estimates = measured(&flow(PAGES), &json).unwrap();
    // Of half a millisecond a flow it read clocks for 0.1 ms, and slept ten times for 20 µs each.
    assert!((estimates.outside() - 0.2e-3).abs() < 1e-9, "{}", estimates.outside());
    assert!((estimates.wake() - 20e-6).abs() < 1e-12, "{}", estimates.wake());
    assert!(matches!(&estimates.work("Make").unwrap().parts[..], [Part::Compute(_), Part::Sleep(_)]));
}

#[test]
fn threads_that_flows_had_are_counted_once() {
    let of = |strategy: &str| {
        let thread = format!(
            r#""strategy": "{strategy}", "thread_cost_ns": {{"alone": 100000, "beside": 0}}, "cpu_seconds": 0.25"#
        );
        measured(&flow(PAGES), &PROFILE.replace(r#""cpu_seconds": 0.25"#, &thread)).unwrap()
    };
    // Of half a millisecond a flow a thread took a fifth; it is taken for one where others are predicted.
    assert!((of("thread").outside() - 0.4e-3).abs() < 1e-9 && (of("event").outside() - 0.5e-3).abs() < 1e-9);
    assert!([1, 2].iter().all(|cpus| (of("thread").thread_cost(*cpus) - 1e-4).abs() < 1e-12));
}

#[test]
fn threads_beside_loops_work_for_nodes() {
    let json = PROFILE.replace(
        r#""parked": {"steps": [[0, 10], [7864320, 15]]}"#,
        r#""beside": {"sum_ns": 25000000, "steps": [[0, 10], [1650000, 15]]}, "parked": {"steps": [[7864320, 25]]}"#,
    );
    let estimates = measured(&flow(PAGES), &json).unwrap();
    assert!(
        matches!(&estimates.work("Make").unwrap().parts[..], [Part::Compute(_), Part::Beside(_), Part::Wait(_)]),
        "{:?}",
        estimates.work("Make")
    );
    // What they did is not counted for what is around nodes, too.
    assert!((estimates.outside() - 0.25e-3).abs() < 1e-9, "{}", estimates.outside());
}

#[test]
fn keys_are_as_many_as_were_taken() {
    const KEYED: &str = "Read () => (int key); Take (int key) => (); source Read => Take; atomic Take:{table(key)};";
    const PROFILE: &str = r#"{"format": 1, "program": "test", "cpu_seconds": 1.0, "source_cpu_seconds": 0.25,
      "flows": {"started": 1000}, "node_times": [
      {"name": "Take", "ran": {"sum_ns": 500000000, "steps": [[507904, 1000]]}}],
      "constraints": [{"name": "table", "distinct_keys": 3}]}"#;
    let flow = flow(KEYED);
    let estimates = measured(&flow, PROFILE).unwrap();
    let (table, _) = flow.program.constraints.iter().next().unwrap();
    let mut random = Random::new(1);
    let mut drawn: Vec<_> = (0..100).map(|_| estimates.keys(table).unwrap().sample(&mut random)).collect();
    drawn.sort_unstable();
    drawn.dedup();
    assert_eq!(drawn, [0, 1, 2]);
    // A quarter of a second is of the source's thread, and a quarter of what is around nodes.
    let read = estimates.work("Read").unwrap();
    assert!(matches!(&read.parts[..], [Part::Compute(time)] if (time.mean() - 0.25e-3).abs() < 1e-9), "{read:?}");
    assert!((estimates.outside() - 0.25e-3).abs() < 1e-9);
}

#[test]
fn times_are_drawn_as_they_were_measured() {
    let flow = flow(PAGES);
    let estimates = measured(&flow, PROFILE).unwrap();
    let setting = Setting {
        cpus: 4,
        sharing: Sharing::Equal,
        runtime: Runtime::Thread,
        arrivals: vec![Arrivals::Poisson(10.0)],
        seen: None,
        cpu_speed: 1.0,
        warm_up: 500.0,
        flows: 20_000.0,
    };
    let seen = predict(&flow, &estimates, &setting, 1);
    // Three of four flows look alone; the median of a look is the border of its two steps. Outside of nodes is half a
    // millisecond.
    let [p50, p95, p99] = [seen.p50.mean, seen.p95.mean, seen.p99.mean];
    assert!((p50 - 1.54e-3).abs() < 0.04e-3, "{p50}");
    assert!(p95 > 13e-3 && p99 < 15e-3, "{p95} {p99}: a make that waits takes 4.1 and 8 ms");
}

/// Looks take 1 ms on hits and 9 ms before a page is made, which a node's own times do not tell.
#[test]
fn nodes_take_what_they_take_on_a_path() {
    const PROFILE: &str = r#"{"format": 1, "program": "test", "flows": {"started": 400}, "node_times": [
        {"name": "Look", "ran": {"sum_ns": 1200000000, "steps": [[983040, 300], [8912896, 100]]}},
        {"name": "Make", "ran": {"sum_ns": 400000000, "steps": [[3997696, 100]]}}],
      "paths": [
        {"source": "Read", "exit": "done", "number": 0, "count": 300, "labels": ["Read", "Look", "Find:[hit]", "Send"],
         "times": {"measured": 300, "sum_ns": 300000000, "steps": [[983040, 300]]}, "ran_ns": 300000000},
        {"source": "Read", "exit": "done", "number": 1, "count": 100,
         "labels": ["Read", "Look", "Find:[_]", "Make", "Send"],
         "times": {"measured": 100, "sum_ns": 1300000000, "steps": [[12582912, 100]]}, "ran_ns": 1300000000}]}"#;
    let flow = flow(PAGES);
    let estimates = measured(&flow, PROFILE).unwrap();
    let mut flows = Flows::new(&flow, &estimates);
    let mut random = Random::new(1);
    (0..1000).for_each(|_| drop(flows.flow(0, &mut random)));
    let mut means: Vec<_> = flows.taken().iter().map(|(path, of)| (path.number, of.seconds / of.flows)).collect();
    means.sort_by_key(|one| one.0);
    let [(0, hit), (1, made)] = means[..] else { panic!("{means:?}") };
    assert!((hit - 1e-3).abs() < 0.03e-3 && (made - 13e-3).abs() < 0.3e-3, "{means:?}");
    // An estimate is one for all paths.
    let estimates = estimates.and(&flow, ["Look = 2ms"]).unwrap();
    assert!(flows_take(&flow, &estimates).all(|seconds| (2e-3..2.01e-3).contains(&seconds) || seconds > 5.9e-3));
}

/// What single flows take.
fn flows_take(flow: &Flow, estimates: &Estimates) -> impl Iterator<Item = f64> {
    let mut random = Random::new(1);
    (0..100).map(move |_| {
        let mut flows = Flows::new(flow, estimates);
        flows.flow(0, &mut random);
        flows.taken().values().map(|of| of.seconds).sum()
    })
}

#[test]
fn what_is_no_profile_is_told() {
    let flow = flow(PAGES);
    let wrong = |json: &str| measured(&flow, json).unwrap_err();
    assert!(wrong("{").starts_with("it is no JSON: "));
    assert_eq!(wrong("{}"), "it is no profile: let a server write one with --flux-report=json:FILE");
    assert_eq!(
        wrong(r#"{"format": 1, "program": "other", "node_times": []}"#),
        "it is of the program `other`, and this is `test`"
    );
    assert!(wrong(r#"{"format": 1, "program": "test", "node_times": []}"#).starts_with("it has no times, "));
    let histogram =
        r#"{"format": 1, "program": "test", "node_times": [{"name": "Look", "ran": {"steps": [[1, "a"]]}}]}"#;
    assert!(wrong(histogram).starts_with("it is no profile: "));
}
