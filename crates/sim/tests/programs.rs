//! Programs with estimates: what their flows do, and how they queue, against closed forms.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod support;

use flux_ir::flow::Flow;
use flux_sim::estimates::Estimates;
use flux_sim::predict::{Limiting, Prediction, predict};
use flux_sim::random::Random;
use flux_sim::script::Workload;
use flux_sim::setting::{Arrivals, Runtime, Setting, Sharing};
use flux_sim::turns::Slices;
use flux_sim::walk::Flows;
use std::collections::HashMap;
use support::{PAGES, flow};

fn predicted(flow: &Flow, estimates: &[&str], cpus: usize, runtime: Runtime, rate: f64) -> Prediction {
    let estimates = Estimates::read(flow, estimates.iter().copied()).unwrap();
    assert_eq!(estimates.missing(flow), [""; 0]);
    let setting = Setting {
        cpus,
        sharing: Sharing::Equal,
        runtime,
        arrivals: vec![Arrivals::Poisson(rate)],
        seen: None,
        cpu_speed: 1.0,
        warm_up: 2000.0,
        flows: 12_000.0,
    };
    predict(flow, &estimates, &setting, 1)
}

/// A mean within 3 % and twice its interval.
#[track_caller]
fn close(interval: flux_sim::interval::Interval, truth: f64) {
    let off = (interval.mean - truth).abs();
    assert!(off <= 0.03 * truth && off <= 2.0 * interval.within, "{interval:?} instead of {truth}");
}

/// How long a customer is in a queue with constant service (Pollaczek and Khinchin).
fn constant_service(rate: f64, service: f64) -> f64 {
    service + rate * service * service / (2.0 * (1.0 - rate * service))
}

/// Each node has its part of the CPUs: the rate at which flows come to it, times what it takes.
#[test]
fn branches_are_taken_as_often_as_estimated() {
    let flow = flow(PAGES);
    let estimates = ["Look = 1ms", "hit = 75%", "Make = exponential(8ms), fails 10%", "Sorry = 10ms", "Send = 2ms"];
    let seen = predicted(&flow, &estimates, 2, Runtime::Thread, 100.0);
    // Look, Make and Sorry; whoever is sorry does not Send.
    let seconds = 1e-3 + 0.25 * 8e-3 + 0.025 * 10e-3 + 0.975 * 2e-3;
    close(seen.cpus, 100.0 * seconds / 2.0);
    close(seen.throughput, 100.0);
    assert!(!seen.overloaded);
}

#[test]
fn a_writer_is_alone_and_readers_are_together() {
    let program = "
        Read () => (int socket);
        Work (int socket) => ();
        source Read => Page;
        Page = Work;
        atomic Work:{table};
    ";
    let (writer, reader) = (flow(program), flow(&program.replace("table", "table?")));
    for runtime in [Runtime::Thread, Runtime::Pool(100), Runtime::Event(1)] {
        let seen = predicted(&writer, &["Work = wait 10ms"], 1, runtime, 60.0);
        close(seen.mean, constant_service(60.0, 0.010));
        let limit = seen.limit.unwrap();
        assert_eq!(limit.what, Limiting::Constraint(0), "{runtime:?}");
        close(limit.waiting, 60.0 * (constant_service(60.0, 0.010) - 0.010));
        let seen = predicted(&reader, &["Work = wait 10ms"], 1, runtime, 60.0);
        assert!((seen.p99.mean - 0.010).abs() < 1e-9, "{seen:?}");
        assert_eq!(seen.limit, None);
    }
    // With few threads, who waits for one waits for the constraint; with many more flows, too.
    let seen = predicted(&writer, &["Work = wait 10ms"], 1, Runtime::Pool(4), 200.0);
    assert!((seen.throughput.mean - 100.0).abs() < 0.1, "{seen:?}");
    assert_eq!((seen.overloaded, seen.limit.map(|limit| limit.what)), (true, Some(Limiting::Constraint(0))));
}

/// So many keys, equally likely, are so many queues.
#[test]
fn each_key_is_a_lock() {
    let flow = flow(
        "
        Read () => (int account);
        Note (int account) => (int account);
        Work (int account) => ();
        source Read => Move;
        Move = Note -> Work;
        atomic Note:{account(account)};
        atomic Work:{account(account)};
    ",
    );
    let of_both = ["Note = wait 4ms", "Work = wait 6ms"];
    let all = |keys| [&of_both[..], &[keys]].concat();
    let seen = predicted(&flow, &all("account = 4"), 1, Runtime::Thread, 240.0);
    assert!(seen.mean.mean > 0.010 && seen.p50.mean > 0.010, "{seen:?}");
    let alone = predicted(&flow, &of_both, 1, Runtime::Thread, 240.0);
    assert!((alone.p99.mean - 0.010).abs() < 1e-9, "{alone:?}");
    // With one node there is one visit, and so a closed form.
    let one = ["Work = wait 10ms", "account = 4"];
    close(predicted(&flow, &one, 1, Runtime::Thread, 240.0).mean, constant_service(60.0, 0.010));
    // The first of four keys is as likely as 12 of 25, and so on.
    let skewed = predicted(&flow, &["Work = wait 10ms", "account = zipf(4, 1)"], 1, Runtime::Thread, 140.0);
    let parts = [12.0, 6.0, 4.0, 3.0].map(|part| part / 25.0);
    close(skewed.mean, parts.map(|part| part * constant_service(140.0 * part, 0.010)).iter().sum());
}

/// A flow that takes two keys may have the same twice, and another may have them the other way round: nobody waits for
/// ever.
#[test]
fn two_keys_are_taken_in_one_order_and_equal_ones_once() {
    let program = "
        Read () => (int from, int to);
        Move (int from, int to) => ();
        source Read => Page;
        Page = Move;
        atomic Move:{account(from), account(to)};
    ";
    let flow = flow(program);
    for runtime in [Runtime::Thread, Runtime::Event(1)] {
        let seen = predicted(&flow, &["account = 8", "Move = wait exponential(1ms)"], 1, runtime, 400.0);
        close(seen.throughput, 400.0);
        assert!(seen.mean.mean > 1e-3 && seen.mean.mean < 2e-3, "{seen:?}");
    }
}

/// A loop goes on with others while a `blocking` node computes on another CPU.
#[test]
fn blocking_nodes_run_beside_their_loop() {
    let program = |attribute: &str| {
        format!(
            "
            Read () => ();
            Load () => (){attribute};
            Send () => ();
            source Read => Page;
            Page = Load -> Send;
        "
        )
    };
    let estimates = ["Load = exponential(8ms)", "Send = 1ms"];
    let beside = predicted(&flow(&program(" blocking")), &estimates, 2, Runtime::Event(1), 150.0);
    close(beside.throughput, 150.0);
    close(beside.cpus, 150.0 * 9e-3 / 2.0);
    let held = predicted(&flow(&program("")), &estimates, 2, Runtime::Event(1), 150.0);
    assert!(held.overloaded, "{held:?}");
    close(held.throughput, 1.0 / 9e-3);
    // Threads are held by it in any case.
    let threads = predicted(&flow(&program(" blocking")), &estimates, 2, Runtime::Pool(1), 150.0);
    close(threads.throughput, 1.0 / 9e-3);
}

/// Also where nothing is known of what it takes to be woken: a thread of a pool has a flow only once it has a CPU.
#[test]
fn threads_that_are_woken_wait_for_a_cpu() {
    let flow = flow("Read () => (); Work () => (); source Read => Work;");
    let p95 = |wake: f64| {
        let mut estimates = Estimates::read(&flow, ["Work = lognormal(700us, 0.2)"]).unwrap();
        estimates.set_wake(wake);
        let setting = Setting {
            cpus: 1,
            sharing: Sharing::Turns(Slices::of_linux(1)),
            runtime: Runtime::Pool(30),
            arrivals: vec![Arrivals::Poisson(1000.0)],
            seen: None,
            cpu_speed: 1.0,
            warm_up: 2000.0,
            flows: 30_000.0,
        };
        predict(&flow, &estimates, &setting, 1).p95.mean
    };
    let (none, little) = (p95(0.0), p95(1e-7));
    assert!((none / little - 1.0).abs() < 0.03, "{none} and {little}");
}

/// So it does with a call that is handed over: that takes a CPU, which a wait does not.
#[test]
fn calls_that_are_handed_over_take_a_cpu_beside_their_loop() {
    let flow = flow("Read () => (); Load () => (); source Read => Load;");
    let calls = ["Load = 1ms + beside exponential(8ms)"];
    let beside = predicted(&flow, &calls, 2, Runtime::Event(1), 150.0);
    close(beside.throughput, 150.0);
    close(beside.cpus, 150.0 * 9e-3 / 2.0);
    let alone = predicted(&flow, &calls, 1, Runtime::Event(1), 150.0);
    close(alone.throughput, 1.0 / 9e-3);
    // A thread makes the call itself.
    close(predicted(&flow, &calls, 2, Runtime::Pool(1), 150.0).throughput, 1.0 / 9e-3);
    let waits = predicted(&flow, &["Load = 1ms + wait exponential(8ms)"], 1, Runtime::Event(1), 150.0);
    close(waits.throughput, 150.0);
}

#[test]
fn figures_may_be_of_one_source() {
    let program = "
        Ask () => ();
        Read () => ();
        Quick () => ();
        Slow () => ();
        source Ask => Quick;
        source Read => Slow;
    ";
    let flow = flow(program);
    let estimates = Estimates::read(&flow, ["Quick = wait 1ms", "Slow = wait 50ms"]).unwrap();
    let setting = Setting {
        cpus: 1,
        sharing: Sharing::Equal,
        runtime: Runtime::Thread,
        arrivals: vec![Arrivals::Poisson(100.0), Arrivals::Every(1e-3)],
        seen: Some(0),
        cpu_speed: 1.0,
        warm_up: 2000.0,
        flows: 100_000.0,
    };
    let seen = predict(&flow, &estimates, &setting, 1);
    close(seen.throughput, 100.0);
    assert!((seen.p99.mean - 1e-3).abs() < 1e-6, "{seen:?}");
    assert!(!seen.overloaded);
}

#[test]
fn each_session_is_a_lock() {
    let flow = flow(
        "
        Read () => (int user);
        Work (int user) => ();
        source Read {session: User} => Page;
        Page = Work;
        atomic Work:{cart(session)};
    ",
    );
    let seen = predicted(&flow, &["Work = wait 10ms", "cart = 3"], 1, Runtime::Thread, 180.0);
    close(seen.mean, constant_service(60.0, 0.010));
}

#[test]
fn branches_and_instances_run_at_once() {
    let flow = flow(
        "
        Read () => (int socket);
        User (int socket) => (int user);
        News (int socket) => (std::vector<std::string> links);
        Fetch (std::string link) => (std::string picture);
        Send (std::vector<std::string> pictures) => ();
        source Read => Page;
        Page = (User & News) -> [Fetch](2) -> Send;
    ",
    );
    let estimates = ["User = wait 3ms", "News = wait 5ms", "Fetch = wait 10ms", "links = 5", "Send = wait 1ms"];
    for runtime in [Runtime::Thread, Runtime::Pool(64), Runtime::Event(1)] {
        let seen = predicted(&flow, &estimates, 1, runtime, 10.0);
        // Two by two: 30 ms for five.
        assert!((seen.p99.mean - 0.036).abs() < 1e-6, "{runtime:?}: {seen:?}");
    }
    // A single thread does all in turn.
    let seen = predicted(&flow, &estimates, 1, Runtime::Pool(1), 10.0);
    close(seen.mean, constant_service(10.0, 0.059));
    assert_eq!(seen.limit.unwrap().what, Limiting::Threads);
}

#[test]
fn the_cpus_limit() {
    let flow = flow(PAGES);
    let estimates = ["hit = 0", "Make = exponential(10ms)"];
    for runtime in [Runtime::Thread, Runtime::Pool(16), Runtime::Event(2)] {
        let seen = predicted(&flow, &estimates, 2, runtime, 150.0);
        assert_eq!(seen.limit.unwrap().what, Limiting::Cpus, "{runtime:?}");
        let seen = predicted(&flow, &estimates, 2, runtime, 400.0);
        let off = (seen.throughput.mean - 200.0).abs();
        assert!(off < 2.0 * seen.throughput.within && seen.throughput.within < 2.0, "{runtime:?}: {seen:?}");
        assert_eq!((seen.overloaded, seen.limit.unwrap().what), (true, Limiting::Cpus), "{runtime:?}");
    }
}

#[test]
fn estimates_that_are_none_say_what_to_write() {
    let flow = flow(&format!("{PAGES} atomic Look:{{table}};"));
    let read = |line: &str| Estimates::read(&flow, [line]).map(|_| ()).map_err(|errors| errors.join("\n"));
    for right in [
        "Make=12ms",
        "Make = exponential(1.5s) # as measured",
        "Make = lognormal(12us, 0.5) + wait uniform(1ms, 2ms), fails 5%",
        "Make = fails 0.5",
        "hit = 0.8",
        "Sorry = 1µs",
        "",
        "# nothing",
    ] {
        assert_eq!(read(right), Ok(()), "{right}");
    }
    for (wrong, message) in [
        ("Mak=1ms", "`Mak` is nothing of this program; did you mean `Make`?"),
        ("Xyzzy=1ms", "`Xyzzy` is nothing of this program; what can be estimated: Look, Make, Read, Send, Sorry, hit"),
        ("Make", "`Make` is no estimate: write `NAME=VALUE`, such as `Compress=12ms`"),
        ("Page=1ms", "`Page` cannot be estimated: it is a flow through other nodes; estimate these"),
        ("table=5", "`table` cannot be estimated: all flows share this constraint, so it has no keys"),
        ("hit=1.2", "`1.2` is no estimate of `hit`: write how often it holds, such as `0.8` or `80%`"),
    ] {
        assert_eq!(read(wrong), Err(message.to_owned()), "{wrong}");
    }
    for wrong in
        ["12", "-1ms", "normal(1ms)", "exponential(1ms, 2ms)", "1ms + ", "uniform(2ms, 1ms)", "1ms, fails 2", "nanms"]
    {
        assert!(read(&format!("Make = {wrong}")).unwrap_err().contains("write how long it takes"), "{wrong}");
    }
    assert_eq!(Estimates::default().missing(&flow), ["hit=0.5"]);
    let assumed = Estimates::read(&flow, ["Make=1ms", "Sorry=1ms"]).unwrap().assumed(&flow);
    assert_eq!(assumed, ["no time is estimated for Look, Read, Send: they take none"]);
}

/// Paths are numbered as generated code numbers them: what a number says is what was drawn.
#[test]
fn flows_take_the_paths_of_their_numbers() {
    const PROGRAM: &str = "
Read () => (int socket);
User (int socket) => (int user);
News (int socket) => (int news);
Show (int user, int news) => (int user);
Send (int user) => (int user);
Twice (int user) => (int user);
Last (int user) => ();
source Read => Page;
Page (int socket) => ();
Page = (User & News) -> Show -> Twice -> Twice -> Last;
Twice:[fresh] = ;
Twice:[_] = Send;
typedef fresh IsFresh;
handle error News => Complain;
";
    let flow = flow(PROGRAM);
    let lines = ["User = 1us, fails 10%", "News = 1us, fails 20%", "fresh = 75%", "Send = 1us, fails 50%"];
    let estimates = Estimates::read(&flow, lines).unwrap();
    let mut flows = Flows::new(&flow, &estimates);
    let mut random = Random::new(1);
    (0..20_000).for_each(|_| drop(flows.flow(0, &mut random)));
    let graph = flux_ir::paths::graph(&flow);
    let taken: HashMap<_, _> =
        flows.taken().iter().map(|(path, of)| (path.labels(&flow, &graph).unwrap(), of)).collect();
    assert_eq!(taken.len(), flows.taken().len());
    let shown = 0.9 * 0.8;
    for (path, part) in [
        ("Read ( User & News ERROR Complain )", 0.9 * 0.2),
        ("Read ( User ERROR & News )", 0.1 * 0.8),
        ("Read ( User ERROR & News ERROR Complain )", 0.1 * 0.2),
        ("Read ( User & News ) Show Twice:[fresh] Twice:[fresh] Last", shown * 0.75),
        ("Read ( User & News ) Show Twice:[_] Send Twice:[fresh] Last", shown * 0.125 * 0.75),
        ("Read ( User & News ) Show Twice:[_] Send ERROR", shown * 0.125),
    ] {
        let labels: Vec<_> = path.split(' ').map(str::to_owned).collect();
        let found = taken.get(&labels).unwrap_or_else(|| panic!("{path}: {:?}", taken.keys())).flows / 20_000.0;
        assert!((found - part).abs() < 0.01, "{path}: {found} {part}");
    }
}
