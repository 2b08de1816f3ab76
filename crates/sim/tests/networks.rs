//! The engine against another simulator: ten networks of queues, for which there is no closed form, in both. SimPy runs
//! the same descriptions in `networks.py`, with random numbers of its own.
//!
//! The two means may differ by as much as twice the interval of their difference. `FLUX_SIM_FLOWS` makes the runs
//! longer and so the intervals narrower.

#![expect(clippy::disallowed_methods, reason = "it starts the other simulator")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use flux_ir::program::Mode;
use flux_sim::interval::Interval;
use flux_sim::machine::run;
use flux_sim::random::{Distribution, Random};
use flux_sim::script::{Action, Branch, Fork, Lock, Script};
use flux_sim::setting::{Arrivals, Runtime, Setting, Sharing};
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::rc::Rc;

const RUNS: usize = 8;

/// The networks. A flow takes a route, with its probability: stages that wait, compute (on the only loop, where there
/// is one, else as if alone), hold a lock around other stages, or fork. `threads` is how many flows run at once; 0 is
/// all.
fn networks() -> Vec<Value> {
    let both = json!([["wait", 1.0], ["compute", 0.5]]);
    vec![
        // Two locks, one after the other, and the way back.
        json!({ "rate": 0.6, "threads": 0, "loop": false, "routes": [
            [1.0, [["lock", 0, [["wait", 1.0]]], ["lock", 1, [["wait", 0.8]]], ["wait", 2.0]]]] }),
        // Two kinds of flows meet at one lock.
        json!({ "rate": 0.8, "threads": 0, "loop": false, "routes": [
            [0.7, [["lock", 0, [["wait", 0.5]]], ["wait", 1.0]]],
            [0.3, [["wait", 1.0], ["lock", 0, [["wait", 1.5]]]]]] }),
        // A lock within a lock.
        json!({ "rate": 0.5, "threads": 0, "loop": false, "routes": [
            [0.5, [["lock", 0, [["wait", 0.4], ["lock", 1, [["wait", 0.6]]]]]]],
            [0.5, [["lock", 1, [["wait", 0.9]]]]]] }),
        // Threads that wait for a lock are kept.
        json!({ "rate": 1.0, "threads": 4, "loop": false, "routes": [
            [0.6, [["wait", 1.5], ["lock", 0, [["wait", 0.5]]]]],
            [0.4, [["lock", 0, [["wait", 1.0]]], ["compute", 1.0]]]] }),
        // Few threads and long waits.
        json!({ "rate": 0.9, "threads": 3, "loop": false, "routes": [
            [0.9, [["compute", 1.0], ["wait", 1.0]]], [0.1, [["wait", 5.0]]]] }),
        // Clients over threads and a lock.
        json!({ "clients": 10, "think": 4.0, "threads": 5, "loop": false, "routes": [
            [0.5, [["lock", 0, [["wait", 1.0]]]]], [0.5, [["wait", 2.0], ["lock", 1, [["wait", 1.0]]]]]] }),
        // A loop, and waits between its visits: first of all a flow waits for the loop.
        json!({ "rate": 0.7, "threads": 0, "loop": true, "routes": [
            [0.5, [["compute", 0.7], ["wait", 2.0], ["compute", 0.5]]],
            [0.5, [["compute", 0.2], ["wait", 1.0], ["compute", 0.6]]]] }),
        // Clients of a loop.
        json!({ "clients": 6, "think": 3.0, "threads": 0, "loop": true, "routes": [
            [0.8, [["compute", 0.4], ["wait", 1.0], ["compute", 0.4]]], [0.2, [["compute", 2.0]]]] }),
        // Branches, of which each goes to a lock.
        json!({ "rate": 0.5, "threads": 0, "loop": false, "routes": [
            [1.0, [["fork", [[["lock", 0, [["wait", 1.0]]]], [["wait", 0.5], ["lock", 1, [["wait", 0.8]]]], both]],
                   ["wait", 0.2], ["lock", 0, [["wait", 0.3]]]]]] }),
        // Branches within branches.
        json!({ "clients": 4, "think": 2.0, "threads": 0, "loop": false, "routes": [
            [0.5, [["fork", [[["fork", [[["wait", 1.0]], [["lock", 0, [["wait", 1.0]]]]]]], [["wait", 1.5]]]]]],
            [0.5, [["lock", 0, [["wait", 1.0]]]]]] }),
    ]
}

/// What a flow that takes these stages does.
fn actions(stages: &Value, random: &mut Random) -> Vec<Action> {
    let mut all = vec![];
    for stage in stages.as_array().unwrap() {
        let mut draw = || Distribution::Exponential(stage[1].as_f64().unwrap()).sample(random);
        match stage[0].as_str().unwrap() {
            "wait" => all.push(Action::Wait(draw())),
            "compute" => all.push(Action::Compute(draw())),
            "lock" => {
                let lock = Lock { number: stage[1].as_u64().unwrap() as usize, constraint: 0 };
                all.push(Action::Acquire(lock, Mode::Write));
                all.extend(actions(&stage[2], random));
                all.push(Action::Release(lock));
            }
            "fork" => {
                let branches = stage[1].as_array().unwrap().iter();
                let branches: Rc<[_]> =
                    branches.map(|one| Branch { actions: actions(one, random).into(), after: None }).collect();
                all.push(Action::Fork(Fork { width: branches.len(), branches }));
            }
            other => panic!("{other}"),
        }
    }
    all
}

/// The throughput and the mean latency of each run.
fn here(network: &Value, flows: f64) -> Vec<(f64, f64)> {
    let threads = network["threads"].as_u64().unwrap() as usize;
    let (runtime, cpus) = match (network["loop"].as_bool().unwrap(), threads) {
        (true, _) => (Runtime::Event(1), 1),
        (false, 0) => (Runtime::Thread, 100_000),
        (false, threads) => (Runtime::Pool(threads), threads),
    };
    let arrivals = match network["clients"].as_u64() {
        Some(clients) => {
            Arrivals::Clients(clients as usize, Distribution::Exponential(network["think"].as_f64().unwrap()))
        }
        None => Arrivals::Poisson(network["rate"].as_f64().unwrap()),
    };
    let setting = Setting {
        cpus,
        cpu_speed: 1.0,
        sharing: Sharing::Equal,
        runtime,
        arrivals: vec![arrivals],
        seen: None,
        warm_up: flows / 5.0,
        flows,
    };
    let mut workload = |_: usize, random: &mut Random| {
        let routes = network["routes"].as_array().unwrap();
        let mut drawn = random.unit();
        let mut taken = routes.iter().skip_while(|route| {
            drawn -= route[0].as_f64().unwrap();
            drawn >= 0.0
        });
        let stages = &taken.next().or(routes.last()).unwrap()[1];
        Script { produce: Rc::new([]), run: Some(actions(stages, random).into()) }
    };
    let mut random = Random::new(1);
    let mut one = || run(&setting, &mut workload, random.split());
    (0..RUNS).map(|_| one()).map(|seen| (seen.throughput(), seen.mean())).collect()
}

#[test]
fn both_simulators_say_the_same() {
    let flows: u32 = std::env::var("FLUX_SIM_FLOWS").map_or(1000, |flows| flows.parse().unwrap());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/networks.py");
    let mut command = Command::new("/usr/bin/python3");
    let piped = command.args([script, &RUNS.to_string(), &flows.to_string()]).stdin(Stdio::piped());
    let mut child = piped.stdout(Stdio::piped()).spawn().unwrap();
    let networks = networks();
    let text: String = networks.iter().map(|network| format!("{network}\n")).collect();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let ours: Vec<_> = networks.iter().map(|network| here(network, f64::from(flows))).collect();
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "SimPy failed; is python3-simpy installed?");
    assert_eq!(printed.lines().count(), 10);
    for ((network, ours), theirs) in networks.iter().zip(ours).zip(printed.lines()) {
        let theirs: Vec<(f64, f64)> = serde_json::from_str(theirs).unwrap();
        let (throughput, latency): (Vec<_>, Vec<_>) = ours.into_iter().unzip();
        let (their_throughput, their_latency): (Vec<_>, Vec<_>) = theirs.into_iter().unzip();
        for (ours, theirs) in [(throughput, their_throughput), (latency, their_latency)] {
            let (ours, theirs) = (Interval::of(&ours), Interval::of(&theirs));
            let within = 2.0 * ours.within.hypot(theirs.within);
            assert!((ours.mean - theirs.mean).abs() <= within, "{ours:?} here, {theirs:?} in SimPy: {network}");
        }
    }
}
