//! Advice: what it promises against closed forms, and whether it names first what holds a server up.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod support;

use flux_driver::compile;
use flux_ir::flow::Flow;
use flux_ir::program::ConstraintId;
use flux_sim::advice::{Advice, Change, advise};
use flux_sim::estimates::Estimates;
use flux_sim::setting::{Arrivals, Runtime, Setting, Sharing};
use flux_source::SourceMap;

const PROGRAM: &str = "
Read () => (int socket);
First (int socket) => (int socket);
Second (int socket) => (int socket);
Third (int socket) => ();
source Read => Page;
Page = First -> Second -> Third;
atomic Second:{table};
";

fn flow() -> Flow {
    let mut sources = SourceMap::new();
    let file = sources.add("test.flux", PROGRAM.to_owned());
    let compilation = compile(&mut sources, file, &mut |path| Err(format!("there is no {path}")));
    assert!(!compilation.diagnostics.has_errors());
    compilation.flow.unwrap()
}

/// What helps, the best first.
fn advised(estimates: &[&str], cpus: usize, runtime: Runtime, arrivals: Arrivals) -> Vec<Advice> {
    let flow = flow();
    let estimates = Estimates::read(&flow, estimates.iter().copied()).unwrap();
    let setting = Setting {
        cpus,
        cpu_speed: 1.0,
        sharing: Sharing::Equal,
        runtime,
        arrivals: vec![arrivals],
        seen: None,
        warm_up: 1000.0,
        flows: 5000.0,
    };
    advise(&flow, &estimates, &setting, 0.9, 1)
}

fn of(all: &[Advice], change: &Change) -> Advice {
    all.iter().find(|advice| advice.change == *change).unwrap().clone()
}

/// A lock that is held for constant times is a queue with constant service (Pollaczek and Khinchin).
#[test]
fn what_is_promised_comes_about() {
    let all = advised(&["First = wait 5ms", "Second = wait 10ms"], 1, Runtime::Thread, Arrivals::Poisson(60.0));
    let second = |service: f64| service + 60.0 * service * service / (2.0 * (1.0 - 60.0 * service));
    let now = 0.005 + second(0.010);
    for (change, then) in [
        (Change::Faster("First".to_owned()), 0.0045 + second(0.010)),
        (Change::Faster("Second".to_owned()), 0.005 + second(0.009)),
        (Change::Readers(ConstraintId::new(0)), 0.005 + 0.010),
        (Change::Cpu, now),
    ] {
        let promised = of(&all, &change).latency;
        let off = (promised.mean - (then / now - 1.0)).abs();
        assert!(off <= 2.0 * promised.within + 1e-9 && off < 0.02, "{change:?}: {promised:?}, {}", then / now - 1.0);
    }
}

/// A bottleneck is planted, and named first; where it is a node, first of all nodes.
#[test]
fn what_holds_up_is_named_first() {
    let faster = |name: &str| Change::Faster(name.to_owned());
    let rate = Arrivals::Poisson;
    let nodes = |all: &[Advice]| -> Vec<Change> {
        all.iter().map(|advice| advice.change.clone()).filter(|change| matches!(change, Change::Faster(_))).collect()
    };
    // Readers need not wait for each other.
    let all = advised(&["First = 1ms", "Second = wait 9ms", "Third = 1ms"], 4, Runtime::Pool(64), rate(90.0));
    assert_eq!(all[0].change, Change::Readers(ConstraintId::new(0)));
    assert_eq!(nodes(&all)[0], faster("Second"));
    // A CPU is short, because of Third.
    let all =
        advised(&["First = 1ms", "Second = 100us", "Third = exponential(7ms)"], 1, Runtime::Event(1), rate(100.0));
    assert_eq!((&all[0].change, &nodes(&all)[0]), (&Change::Cpu, &faster("Third")));
    // Threads are short, because First keeps them.
    let all = advised(&["First = wait 20ms", "Second = 100us", "Third = 1ms"], 2, Runtime::Pool(2), rate(85.0));
    assert_eq!((&all[0].change, &nodes(&all)[0]), (&Change::Threads, &faster("First")));
    // Beyond what can be answered throughput counts, and so it does for clients.
    let slow = ["First = exponential(4ms)", "Second = exponential(1ms)", "Third = exponential(2ms)"];
    for arrivals in [rate(400.0), Arrivals::Clients(50, flux_sim::random::Distribution::Constant(0.0))] {
        let all = advised(&slow, 1, Runtime::Thread, arrivals.clone());
        assert_eq!((&all[0].change, &nodes(&all)[0]), (&Change::Cpu, &faster("First")));
        let promised = of(&all, &faster("First")).throughput;
        let off = (promised.mean - (7.0 / 6.6 - 1.0)).abs();
        assert!(off < 0.01 && off < 2.0 * promised.within, "{arrivals:?}: {promised:?}");
    }
}

/// Pages of which one in four is made, and takes most of the time; and all pages, of which none is.
#[test]
fn paths_are_named_that_some_flows_take() {
    let paths = |estimates: &[&str]| {
        let flow = support::flow(support::PAGES);
        let estimates = Estimates::read(&flow, estimates.iter().copied()).unwrap();
        let setting = Setting {
            cpus: 1,
            cpu_speed: 1.0,
            sharing: Sharing::Equal,
            runtime: Runtime::Thread,
            arrivals: vec![Arrivals::Poisson(10.0)],
            warm_up: 500.0,
            flows: 4000.0,
            seen: None,
        };
        let all = advise(&flow, &estimates, &setting, 0.9, 1);
        let graph = flux_ir::paths::graph(&flow);
        let taken = all.into_iter().filter_map(|advice| match advice.change {
            Change::FasterPath(taken) => {
                Some((taken.path.labels(&flow, &graph).unwrap().join(" "), taken, advice.latency))
            }
            _ => None,
        });
        taken.collect::<Vec<_>>()
    };
    // No flow waits for another, so what a path gives is its part of the time.
    let found =
        paths(&["Look = wait 1ms", "Make = wait 8ms, fails 20%", "Send = wait 1ms", "Sorry = wait 1ms", "hit = 75%"]);
    let expected = [
        ("Read Look Find:[_] Make Send", 0.2, 10.0),
        ("Read Look Find:[hit] Send", 0.75, 2.0),
        ("Read Look Find:[_] Make ERROR Sorry", 0.05, 10.0),
    ];
    let whole: f64 = expected.iter().map(|(_, flows, time)| flows * time).sum();
    assert_eq!(found.len(), expected.len());
    for ((labels, taken, latency), (path, flows, time)) in found.iter().zip(expected) {
        assert_eq!(labels, path);
        assert!((taken.flows - flows).abs() < 0.02 && (taken.time - flows * time / whole).abs() < 0.03, "{taken:?}");
        assert!((latency.mean + 0.1 * taken.time).abs() < 0.003, "{latency:?} {taken:?}");
    }
    // Where all take one path, its nodes say it all.
    assert_eq!(paths(&["Look = wait 1ms", "Make = wait 8ms", "hit = 100%"]).len(), 0);
}
