//! The engine against what is known of queues: closed forms, and Markov chains that are solved here.
//!
//! Each model is simulated twenty times with other seeds, each time as ten runs. An interval of 95 % may miss the true
//! figure, but at least 15 of the 20 must contain it (by chance fewer do once in 3000 times; the seeds are fixed), and
//! so must the interval of all 200 runs, made twice as wide.

#![allow(clippy::indexing_slicing, reason = "an index that leads nowhere fails the test")]

use flux_ir::program::Mode;
use flux_sim::interval::Interval;
use flux_sim::machine::{run, run_saturated, saturating};
use flux_sim::observe::Observed;
use flux_sim::random::{Distribution, Random};
use flux_sim::recorded::Recorded;
use flux_sim::script::{Action, Branch, Fork, Lock, Script, Workload};
use flux_sim::setting::{Arrivals, Runtime, Setting, Sharing};
use flux_sim::turns::Slices;
use std::rc::Rc;

const UNIT: Distribution = Distribution::Exponential(1.0);

fn script(actions: impl Into<Rc<[Action]>>) -> Script {
    Script { produce: Rc::new([]), run: Some(actions.into()) }
}

fn computing(service: Distribution) -> impl Fn(usize, &mut Random) -> Script {
    move |_, random| script([Action::Compute(service.sample(random))])
}

fn setting(cpus: usize, runtime: Runtime, rate: f64) -> Setting {
    Setting {
        cpus,
        sharing: Sharing::Equal,
        runtime,
        arrivals: vec![Arrivals::Poisson(rate)],
        seen: None,
        cpu_speed: 1.0,
        warm_up: 400.0,
        flows: 2500.0,
    }
}

/// Flows, and what a thread does as it wakes.
struct Waking<F>(F, f64);

impl<F: Fn(usize, &mut Random) -> Script> Workload for Waking<F> {
    fn flow(&mut self, source: usize, random: &mut Random) -> Script {
        self.0(source, random)
    }

    fn wake(&self) -> f64 {
        self.1
    }
}

/// Holds a figure of a model against the true one.
#[track_caller]
fn check(
    setting: &Setting,
    workload: impl Fn(usize, &mut Random) -> Script,
    figure: impl Fn(&Observed) -> f64,
    truth: f64,
) {
    check_waking(setting, &mut Waking(workload, 0.0), figure, truth);
}

#[track_caller]
fn check_waking(setting: &Setting, workload: &mut dyn Workload, figure: impl Fn(&Observed) -> f64, truth: f64) {
    let mut figures = vec![];
    let mut contained = 0;
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let runs: Vec<_> = (0..10).map(|_| figure(&run(setting, workload, random.split()))).collect();
        contained += usize::from(Interval::of(&runs).contains(truth));
        figures.extend(runs);
    }
    let all = Interval::of(&figures);
    assert!(contained >= 15, "{contained} of 20 intervals contain {truth}: {all:?}");
    assert!((all.mean - truth).abs() < 2.0 * all.within, "{all:?} instead of {truth}");
}

/// How likely a customer waits with `servers` servers, `load` of them busy on average (Erlang, 1917).
fn erlang_c(servers: u32, load: f64) -> f64 {
    let mut blocked = 1.0;
    for server in 1..=servers {
        blocked = load * blocked / (f64::from(server) + load * blocked);
    }
    let servers = f64::from(servers);
    servers * blocked / (servers - load * (1.0 - blocked))
}

#[test]
fn one_server_first_come_first_served() {
    let queue = setting(1, Runtime::Event(1), 0.7);
    let mean = 1.0 / (1.0 - 0.7);
    check(&queue, computing(UNIT), Observed::mean, mean);
    check(&queue, computing(UNIT), |seen| seen.percentile(0.95), -mean * 0.05_f64.ln());
    check(&queue, computing(UNIT), |seen| seen.cpus, 0.7);
    check(&queue, computing(UNIT), Observed::throughput, 0.7);
}

#[test]
fn several_servers() {
    for (servers, rate) in [(2, 1.5), (8, 6.0)] {
        let mean = 1.0 + erlang_c(servers, rate) / (f64::from(servers) - rate);
        let servers = servers as usize;
        // Loops and threads that compute, each with a CPU; then threads that wait, with whatever CPUs.
        check(&setting(servers, Runtime::Event(servers), rate), computing(UNIT), Observed::mean, mean);
        check(&setting(servers, Runtime::Pool(servers), rate), computing(UNIT), Observed::mean, mean);
        let waiting = |_, random: &mut Random| script([Action::Wait(UNIT.sample(random))]);
        check(&setting(1, Runtime::Pool(servers), rate), waiting, Observed::mean, mean);
    }
}

/// As much as all servers can do (M/M/c beyond its capacity), in each way to share them.
#[test]
fn more_than_several_servers_can_do() {
    for (servers, rate) in [(1, 1.2), (2, 8.0)] {
        for runtime in [Runtime::Event(servers), Runtime::Pool(servers), Runtime::Thread] {
            let capacity = servers as f64;
            let open = setting(servers, runtime, rate);
            let full = Setting { warm_up: saturating(rate, capacity), flows: 8000.0, ..open };
            let mut random = Random::new(3);
            let runs: Vec<_> = (0..20)
                .map(|_| {
                    let mut workload = |at, random: &mut _| computing(UNIT)(at, random);
                    run_saturated(&full, &mut workload, random.split()).throughput()
                })
                .collect();
            let all = Interval::of(&runs);
            let off = (all.mean - capacity).abs();
            assert!(off < 2.0 * all.within && all.within < 0.01 * capacity, "{runtime:?} {rate}: {all:?}");
        }
    }
}

/// Pollaczek (1930) and Khinchin (1932).
#[test]
fn any_service_first_come_first_served() {
    let lognormal = Distribution::Lognormal { mean: 1.0, variation: 1.5 };
    for (service, squared) in
        [(Distribution::Constant(1.0), 1.0), (Distribution::Uniform(0.0, 2.0), 4.0 / 3.0), (lognormal, 1.0 + 1.5 * 1.5)]
    {
        let mean = 1.0 + 0.6 * squared / (2.0 * (1.0 - 0.6));
        check(&setting(1, Runtime::Event(1), 0.6), computing(service), Observed::mean, mean);
    }
}

/// Who finds the server asleep waits for it to wake first (Welch, "On a Generalized M/G/1 Queuing Process in Which the
/// First Customer of Each Busy Period Receives Exceptional Service", 1964).
#[test]
fn who_comes_to_a_thread_that_sleeps_wakes_it_first() {
    let (rate, wake) = (0.6, 0.5);
    let queue = rate * 1.0 / (2.0 * (1.0 - rate));
    let waking = (2.0 * wake + rate * wake * wake) / (2.0 * (1.0 + rate * wake));
    for runtime in [Runtime::Event(1), Runtime::Pool(1)] {
        let mut workload = Waking(computing(Distribution::Constant(1.0)), wake);
        check_waking(&setting(1, runtime, rate), &mut workload, Observed::mean, 1.0 + queue + waking);
    }
}

/// Waits are as long on other CPUs.
#[test]
fn faster_cpus_compute_in_less_time() {
    let faster = |rate| Setting { cpu_speed: 2.0, ..setting(1, Runtime::Event(1), rate) };
    check(&faster(0.7), computing(Distribution::Exponential(2.0)), Observed::mean, 1.0 / (1.0 - 0.7));
    let waiting = |_, _: &mut Random| script([Action::Wait(3.0), Action::Compute(2.0)]);
    let alone = run(&faster(0.001), &mut { waiting }, Random::new(1)).percentile(0.5);
    assert!((alone - 4.0).abs() < 1e-6, "{alone}");
}

/// Loops round them up to a tick, by half of one on average; they and threads wake up late by their slack.
#[test]
fn sleeps_end_with_ticks_on_loops() {
    let sleeping = |_, _: &mut Random| script([Action::Sleep(2e-3)]);
    for (runtime, late, within) in [(Runtime::Event(1), 5.5e-4, 1e-5), (Runtime::Pool(4), 5e-5, 1e-6)] {
        let seen = run(&setting(1, runtime, 1.0), &mut { sleeping }, Random::new(1)).mean();
        assert!((seen - 2e-3 - late).abs() < within, "{runtime:?}: {seen}");
    }
}

/// Slices that are short beside the work are equal parts.
#[test]
fn any_service_in_short_turns() {
    let sharing = Sharing::Turns(Slices { slice: 0.05, tick: 0.05, packs: false });
    for service in [Distribution::Constant(1.0), UNIT] {
        let queue = Setting { sharing, ..setting(1, Runtime::Thread, 0.6) };
        check(&queue, computing(service), Observed::mean, 1.0 / (1.0 - 0.6));
    }
    // Nothing is lost in turns, nor by two CPUs: half of each is in use.
    for runtime in [Runtime::Thread, Runtime::Pool(16), Runtime::Event(2)] {
        let queue = Setting { sharing: Sharing::Turns(Slices::of_linux(2)), ..setting(2, runtime, 1.0) };
        let short = |_: usize, random: &mut Random| script([Action::Compute(0.01 * UNIT.sample(random))]);
        let queue = Setting { arrivals: vec![Arrivals::Poisson(100.0)], ..queue };
        check(&queue, short, |seen| seen.cpus, 0.5);
    }
}

/// Where all are served at once, only the mean service matters (Kleinrock, "Queueing Systems", volume 2, section 4.4).
#[test]
fn any_service_all_at_once() {
    let lognormal = Distribution::Lognormal { mean: 1.0, variation: 1.5 };
    for service in [Distribution::Constant(1.0), UNIT, lognormal] {
        check(&setting(1, Runtime::Thread, 0.6), computing(service), Observed::mean, 1.0 / (1.0 - 0.6));
    }
    let mean = 1.0 + erlang_c(4, 3.0) / (4.0 - 3.0);
    check(&setting(4, Runtime::Thread, 3.0), computing(UNIT), Observed::mean, mean);
}

/// Loops between which flows wait: each visit is one to a queue by itself (Jackson, "Networks of waiting lines", 1957).
#[test]
fn visits_to_a_loop() {
    let visiting = |_: usize, random: &mut Random| {
        let half = Distribution::Exponential(0.5);
        let [first, wait, second] =
            [half.clone(), Distribution::Exponential(2.0), half].map(|time| time.sample(random));
        script([Action::Compute(first), Action::Wait(wait), Action::Compute(second)])
    };
    let queue = setting(1, Runtime::Event(1), 0.7);
    check(&queue, visiting, |seen| seen.cpus, 0.7);
    check(&queue, visiting, Observed::mean, 2.0 * 0.5 / (1.0 - 0.7) + 2.0);
}

/// Clients that think: a chain of births and deaths in how many of them wait or are served.
#[test]
fn clients_that_think() {
    let (clients, think) = (8, 6.0);
    let mut weights = vec![1.0];
    for waiting in 0..clients {
        weights.push(weights[waiting] * (clients - waiting) as f64 / think);
    }
    let throughput = 1.0 - 1.0 / weights.iter().sum::<f64>();
    let arrivals = vec![Arrivals::Clients(clients, Distribution::Exponential(think))];
    for runtime in [Runtime::Event(1), Runtime::Thread, Runtime::Pool(1)] {
        let queue = Setting {
            cpus: 1,
            sharing: Sharing::Equal,
            runtime,
            arrivals: arrivals.clone(),
            seen: None,
            cpu_speed: 1.0,
            warm_up: 400.0,
            flows: 2500.0,
        };
        check(&queue, computing(UNIT), Observed::throughput, throughput);
        check(&queue, computing(UNIT), Observed::mean, clients as f64 / throughput - think);
    }
}

/// How many readers and writers wait for a lock, on average. Kinds in the queue are independent of all before until
/// they are seen, so a state is who is inside and how many wait; behind readers the first is a writer.
fn waiting_at_lock(reads: f64, writes: f64, read: f64, write: f64) -> f64 {
    const READERS: usize = 24;
    const WAITING: usize = 60;
    let is_read = reads / (reads + writes);
    let rate_out =
        |readers: usize, is_write: bool| reads + writes + if is_write { 1.0 / write } else { readers as f64 / read };
    // readers[r][k], writer[k]
    let mut readers = vec![vec![0.0; WAITING + 1]; READERS + 1];
    let mut writer = vec![0.0; WAITING + 1];
    readers[0][0] = 1.0;
    let step = 1.0 / (rate_out(READERS, false).max(rate_out(0, true)) * 1.01);
    for _ in 0..6000 {
        let (mut next_readers, mut next_writer) = (readers.clone(), writer.clone());
        for inside in 0..=READERS {
            for waiting in 0..=WAITING {
                let part = readers[inside][waiting] * step;
                let fewer = part * inside as f64 / read;
                let mut left = fewer;
                match (inside, waiting) {
                    (1, 1..) => next_writer[waiting - 1] += fewer,
                    (1.., _) => next_readers[inside - 1][waiting] += fewer,
                    (0, _) => {}
                }
                if waiting > 0 {
                    let full = waiting == WAITING;
                    next_readers[inside][if full { waiting } else { waiting + 1 }] += part * (reads + writes);
                } else {
                    next_readers[(inside + 1).min(READERS)][0] += part * reads;
                    match inside {
                        0 => next_writer[0] += part * writes,
                        _ => next_readers[inside][1] += part * writes,
                    }
                }
                left += part * (reads + writes);
                next_readers[inside][waiting] -= left;
            }
        }
        for waiting in 0..=WAITING {
            let part = writer[waiting] * step;
            next_writer[(waiting + 1).min(WAITING)] += part * (reads + writes);
            next_writer[waiting] -= part * (reads + writes + 1.0 / write);
            let done = part / write;
            // So many readers are at the front, then a writer or nobody.
            let mut likely = done;
            for front in 0..=waiting {
                match (front, front == waiting) {
                    (_, true) => next_readers[front.min(READERS)][0] += likely,
                    (0, false) => next_writer[waiting - 1] += likely * (1.0 - is_read),
                    (_, false) => next_readers[front.min(READERS)][waiting - front] += likely * (1.0 - is_read),
                }
                likely *= is_read;
            }
        }
        (readers, writer) = (next_readers, next_writer);
    }
    let number = |states: &[f64]| states.iter().enumerate().map(|(waiting, part)| waiting as f64 * part).sum::<f64>();
    number(&writer) + readers.iter().map(|states| number(states)).sum::<f64>()
}

#[test]
fn readers_and_writers() {
    for (reads, writes, read, write) in [(1.0, 0.2, 1.0, 0.5), (0.5, 0.5, 0.5, 0.5), (3.0, 0.1, 0.5, 1.0)] {
        let waiting = waiting_at_lock(reads, writes, read, write);
        let mean = (waiting + reads * read + writes * write) / (reads + writes);
        let workload = move |source: usize, random: &mut Random| {
            let lock = Lock { number: 0, constraint: 0 };
            let (mode, inside) = if source == 0 { (Mode::Read, read) } else { (Mode::Write, write) };
            let inside = Action::Wait(Distribution::Exponential(inside).sample(random));
            script([Action::Acquire(lock, mode), inside, Action::Release(lock)])
        };
        let arrivals = vec![Arrivals::Poisson(reads), Arrivals::Poisson(writes)];
        for runtime in [Runtime::Thread, Runtime::Event(1)] {
            let queue = Setting {
                cpus: 1,
                sharing: Sharing::Equal,
                runtime,
                arrivals: arrivals.clone(),
                seen: None,
                cpu_speed: 1.0,
                warm_up: 400.0,
                flows: 2500.0,
            };
            check(&queue, workload, Observed::mean, mean);
            let waits = |seen: &Observed| seen.waits.constraints[0] / seen.seconds;
            check(&queue, workload, waits, waiting);
        }
    }
}

/// Branches that nothing holds up take as long as the longest, and one loop or thread takes them in turn.
#[test]
fn branches() {
    let forking = |width: usize, action: fn(f64) -> Action| {
        move |_: usize, random: &mut Random| {
            let branch = |random: &mut Random| Branch { actions: Rc::new([action(UNIT.sample(random))]), after: None };
            let branches = (0..3).map(|_| branch(random)).collect();
            script([Action::Fork(Fork { branches, width })])
        }
    };
    let longest = 1.0 + 1.0 / 2.0 + 1.0 / 3.0;
    check(&setting(100, Runtime::Thread, 0.5), forking(3, Action::Compute), Observed::mean, longest);
    check(&setting(1, Runtime::Event(1), 0.5), forking(3, Action::Wait), Observed::mean, longest);
    check(&setting(1, Runtime::Pool(100), 0.5), forking(3, Action::Wait), Observed::mean, longest);
    check(&setting(100, Runtime::Pool(100), 0.5), forking(1, Action::Compute), Observed::mean, 3.0);
    // One after the other on one thread: a service of three phases (Pollaczek and Khinchin).
    let mean = 3.0 + 0.2 * 12.0 / (2.0 * (1.0 - 0.6));
    check(&setting(1, Runtime::Pool(1), 0.2), forking(3, Action::Compute), Observed::mean, mean);
    check(&setting(1, Runtime::Pool(1), 0.2), forking(3, Action::Wait), Observed::mean, mean);
}

#[test]
fn a_branch_begins_after_another() {
    let workload = |_: usize, random: &mut Random| {
        let mut branch = |after| Branch { actions: Rc::new([Action::Wait(UNIT.sample(random))]), after };
        let branches = Rc::new([branch(None), branch(None), branch(Some(0)), branch(Some(2))]);
        script([Action::Fork(Fork { branches, width: 4 })])
    };
    // The longer of three in a row and one: 3 + 1 less the shorter, which is (1 - 1/8).
    let mean = 4.0 - (1.0 - 1.0 / 8.0);
    check(&setting(1, Runtime::Thread, 0.5), workload, Observed::mean, mean);
    check(&setting(1, Runtime::Event(2), 0.5), workload, Observed::mean, mean);
}

#[test]
fn a_seed_decides_all() {
    let queue = setting(2, Runtime::Pool(3), 1.5);
    let seen = |seed| run(&queue, &mut computing(UNIT), Random::new(seed));
    assert_eq!(seen(7), seen(7));
    assert_ne!(seen(7), seen(8));
}

#[test]
fn what_was_recorded_is_replayed_with_its_bursts() {
    // Ten at once, and nobody for long: each waits for those before it.
    let times = (0..50).flat_map(|burst| std::iter::repeat_n(format!("{}  # burst {burst}\n", burst * 200), 10));
    let recorded = Recorded::read(&times.collect::<String>()).expect("times");
    assert!((recorded.rate() - 499.0 / 9800.0).abs() < 1e-9);
    let queue = Setting { arrivals: vec![Arrivals::Recorded(recorded)], ..setting(1, Runtime::Event(1), 1.0) };
    let workload = computing(Distribution::Constant(1.0));
    let seen = run(&queue, &mut |at, random: &mut _| workload(at, random), Random::new(3));
    assert!((seen.mean() - 5.5).abs() < 0.05, "{}", seen.mean());
    // Twenty times as many come, and the bursts run into each other.
    let Some(Arrivals::Recorded(recorded)) = queue.arrivals.first() else { return };
    let faster = Setting { arrivals: vec![Arrivals::Recorded(recorded.at(0.99))], ..queue.clone() };
    let seen = run(&faster, &mut |at, random: &mut _| workload(at, random), Random::new(3));
    assert!(seen.mean() > 5.6 && seen.mean() < 20.0, "{}", seen.mean());
}

#[test]
fn what_are_no_arrivals_is_told() {
    let wrong = |text: &str| Recorded::read(text).expect_err("no arrivals");
    assert_eq!(wrong("1\nsoon\n"), "line 2: `soon` is no time: write seconds, as 12.5");
    assert_eq!(wrong("# two\n2\n1.5\n"), "line 3: 1.5 is before the line above: sort the times (sort -n)");
    assert_eq!(wrong("3\n"), "there are no two arrivals at different times: write one time a line, in seconds");
}
