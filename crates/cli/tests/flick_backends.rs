//! How channels of FLICK are bound: connections to servers that are kept, servers that fail and come back, what is
//! asked again, and limits. The proxy for memcached is before servers that speak its protocol, count who connects, and
//! fail when they are told to; on event loops with both kinds of I/O.

use crate::support;
use crate::support::backend::Backend;
use crate::support::memcached::{self, opaque_of, request};
use crate::support::proxy::{self, GET, LOOPS, QUIET_GET, SET, ask, ask_once, start};
use crate::support::{Server, folder, sanitized, text, wait_for, worlds};
use flux_random_program::is_in_slice;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// The proxy, built once, with its peers in simulated worlds.
fn program() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| proxy::build(&[]))
}

/// The proxy before these, bound so. A flow that waits for a connection without need waits for longer than a test does.
fn proxy(backends: &[&Backend], bound: &str, loops: &[&str]) -> Server {
    proxy::start_before(program(), backends, bound, &[loops, &["--flick-connect=60m"]].concat())
}

#[test]
fn a_connection_is_kept_for_the_next_client() {
    for loops in LOOPS {
        let backend = start("a");
        let server = proxy(&[&backend], "keep 4 for 60s", loops);
        for opaque in 0..40 {
            assert_eq!(ask_once(&server, SET, opaque, "key").as_deref(), Some("a"), "{loops:?}");
        }
        // A client may come before the last one's connection is back.
        assert!(backend.connections() <= 4, "{loops:?}: {}", backend.connections());

        // Of what is not counted nobody knows when it is answered, so its connection ends with its client.
        let (before, mut quiet) = (backend.connections(), server.connect());
        quiet.write_all(&request(QUIET_GET, 50, 0, [&[], b"key", &[]])).unwrap();
        assert_eq!(ask(&mut quiet, GET, 50, "key").as_deref(), Some("a"));
        let mut second = vec![0; 25];
        quiet.read_exact(&mut second).unwrap();
        // What its client is not there to read any more concerns no other.
        quiet.write_all(&request(QUIET_GET, 51, 0, [&[], b"key", &[]])).unwrap();
        drop(quiet);
        for opaque in 60..80 {
            assert_eq!(ask_once(&server, GET, opaque, "key").as_deref(), Some("a"), "{loops:?}");
        }
        assert!(backend.connections() <= before + 5, "{loops:?}");
    }
}

#[test]
fn without_keep_each_client_has_a_connection() {
    let backend = start("a");
    let server = proxy(&[&backend], "", LOOPS[0]);
    for opaque in 0..5 {
        assert_eq!(ask_once(&server, GET, opaque, "key").as_deref(), Some("a"));
    }
    assert_eq!(backend.connections(), 5);
}

#[test]
fn what_may_be_asked_twice_is_asked_again_where_a_kept_connection_has_ended() {
    for loops in LOOPS {
        let backend = start("a");
        let server = proxy(&[&backend], "keep 4", loops);
        assert!(ask_once(&server, GET, 1, "key").is_some());
        wait_for("the connection to be kept", || {
            let before = backend.connections();
            assert!(ask_once(&server, GET, 2, "key").is_some());
            (backend.connections() == before).then_some(())
        });
        // It ends as it is asked: a get goes to the next, a set may have been done.
        backend.state.drops.store(1, SeqCst);
        assert_eq!(ask_once(&server, GET, 3, "key").as_deref(), Some("a"), "{loops:?}");
        wait_for("the connection to be kept", || {
            let before = backend.connections();
            assert!(ask_once(&server, GET, 4, "key").is_some());
            (backend.connections() == before).then_some(())
        });
        let requests = backend.requests();
        backend.state.drops.store(1, SeqCst);
        assert_eq!(ask_once(&server, SET, 5, "key"), None, "{loops:?}");
        assert_eq!(backend.requests(), requests + 1, "{loops:?}");
        // One that has ended while it was kept is not used.
        backend.end_connections();
        for opaque in 10..20 {
            assert_eq!(ask_once(&server, SET, opaque, "key").as_deref(), Some("a"), "{loops:?}");
        }
    }
}

#[test]
fn a_connection_that_its_server_ends_while_a_client_has_it_is_not_kept() {
    for loops in LOOPS {
        for (bound, goes_on) in [("keep 8", false), ("keep 8; retry 1", true)] {
            let backend = start("a");
            let server = proxy(&[&backend], bound, loops);
            let mut client = server.connect();
            assert_eq!(ask(&mut client, GET, 7, "key").as_deref(), Some("a"), "{loops:?}");
            backend.end_connections();
            assert_eq!(ask(&mut client, GET, 8, "key").is_some(), goes_on, "{loops:?} {bound}");
            assert_eq!(ask_once(&server, GET, 9, "key").as_deref(), Some("a"), "{loops:?} {bound}");
        }
    }
}

#[test]
fn what_may_be_asked_twice_is_asked_so_often_as_it_is_said() {
    for loops in LOOPS {
        let backend = start("a");
        let server = proxy(&[&backend], "retry 3", loops);
        let mut client = server.connect();
        for (dropped, answered) in [(3, true), (1, true), (20, false)] {
            backend.state.drops.store(dropped, SeqCst);
            assert_eq!(ask(&mut client, GET, 7, "key").is_some(), answered, "{loops:?}: {dropped} times");
        }
        backend.state.drops.store(0, SeqCst);
    }
}

/// Gets of many clients while one of two servers falls and rises: each has its own answer, and none is lost.
#[test]
fn a_server_that_falls_and_rises_under_load_loses_no_request_that_may_be_asked_again() {
    for loops in [LOOPS[0], &["--flux-workers=2", "--flux-io=proactor"]] {
        let backends = [start("a"), start("b")];
        let bound = "keep 8; retry 5; eject after 1 for 30ms";
        let server = proxy(&[&backends[0], &backends[1]], bound, loops);
        let is_over = AtomicBool::new(false);
        let answered = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for number in 0..6_u32 {
                let (server, is_over, answered) = (&server, &is_over, &answered);
                scope.spawn(move || {
                    let mut opaque = number << 24;
                    while !is_over.load(SeqCst) {
                        let mut client = server.connect();
                        for _ in 0..5 {
                            opaque += 1;
                            let from = ask(&mut client, GET, opaque, &format!("key {opaque}"));
                            assert!(from.is_some(), "{loops:?}: a get was lost");
                            answered.fetch_add(1, SeqCst);
                        }
                    }
                });
            }
            for _ in 0..4 {
                let so_far = answered.load(SeqCst);
                let more = |count| wait_for("answers", || (answered.load(SeqCst) >= so_far + count).then_some(()));
                more(50);
                backends[0].fall();
                more(100);
                backends[0].rise();
                more(150);
            }
            is_over.store(true, SeqCst);
        });
        assert!(server.said().contains("has failed, and is left out for 30 ms"), "{}", server.said());
    }
}

#[test]
fn a_server_that_is_left_out_is_replaced_by_the_next_and_comes_back() {
    for loops in LOOPS {
        let backends = [start("a"), start("b"), start("c")];
        let all: Vec<&Backend> = backends.iter().collect();
        let server = proxy(&all, "retry 1; eject after 2 for 100ms", loops);
        let keys: Vec<String> = (0..30).map(|at| format!("key {at}")).collect();
        let homes = || -> Vec<String> { keys.iter().map(|key| ask_once(&server, SET, 1, key).unwrap()).collect() };
        let before = homes();
        assert!(["a", "b", "c"].iter().all(|name| before.iter().any(|home| home == name)));
        backends[1].fall();
        let meanwhile = homes();
        for (home, now) in before.iter().zip(&meanwhile) {
            assert_eq!(now, if home == "b" { "c" } else { home }, "{loops:?}: to the next, and others stay");
        }
        backends[1].rise();
        wait_for("the server to be used again", || (homes() == before).then_some(()));
        wait_for("that it is told", || server.said().contains("is well again").then_some(()));
    }
}

#[test]
fn checks_leave_a_server_out_before_anybody_asks_it() {
    for loops in LOOPS {
        let backends = [start("a"), start("b")];
        // A no-operation, and how its answer begins.
        let probe = format!("\\x80\\x0a{}", "\\0".repeat(22));
        let bound = format!("check \"{probe}\" expects \"\\x81\\x0a\" every 500ms back after 2");
        let server = proxy(&[&backends[0], &backends[1]], &bound, loops);
        wait_for("checks", || (backends[0].requests() > 2 && backends[1].requests() > 2).then_some(()));
        backends[0].fall();
        wait_for("a check that fails", || server.said().contains("fails its checks").then_some(()));
        for at in 0..10 {
            assert_eq!(ask_once(&server, SET, at, &format!("key {at}")).as_deref(), Some("b"), "{loops:?}");
        }
        backends[0].rise();
        wait_for("checks that are good", || server.said().contains("is well again").then_some(()));
        let seen: Vec<_> = (0..20).map(|at| ask_once(&server, SET, at, &format!("key {at}")).unwrap()).collect();
        assert!(seen.iter().any(|from| from == "a"), "{loops:?}: {seen:?}");
    }
}

#[test]
fn what_is_over_a_limit_waits_or_is_refused() {
    for loops in LOOPS {
        let backend = start("a");
        let server = proxy(&[&backend], "keep 1; at most 1 queue 1", loops);
        backend.state.holds.store(true, SeqCst);
        std::thread::scope(|scope| {
            let first = scope.spawn(|| ask_once(&server, GET, 1, "key"));
            wait_for("the first request", || (backend.requests() == 1).then_some(()));
            let others: Vec<_> = (2..5)
                .map(|opaque| {
                    scope.spawn({
                        let server = &server;
                        move || ask_once(server, GET, opaque, "key")
                    })
                })
                .collect();
            wait_for("two to be refused", || {
                (server.said().matches("(Device or resource busy)").count() > 0).then_some(())
            });
            wait_for("two to have ended", || {
                (others.iter().filter(|each| each.is_finished()).count() == 2).then_some(())
            });
            backend.state.holds.store(false, SeqCst);
            assert_eq!(first.join().unwrap().as_deref(), Some("a"), "{loops:?}");
            let answered = others.into_iter().filter_map(|each| each.join().unwrap()).count();
            assert_eq!(answered, 1, "{loops:?}: one had waited for the connection");
        });
        assert_eq!(backend.connections(), 1, "{loops:?}");

        let address = format!("--backends=127.0.0.1:{}", backend.port);
        let mut command = Command::new(program());
        let server = Server::listening(command.args(["--client=0; at most 2", &address]).args(loops));
        let mut clients = [server.connect(), server.connect()];
        for client in &mut clients {
            assert!(ask(client, GET, 1, "key").is_some(), "{loops:?}");
        }
        assert_eq!(ask_once(&server, GET, 2, "key"), None, "{loops:?}: the third is sent away");
        drop(clients);
        wait_for("room for another", || ask_once(&server, GET, 3, "key"));
    }
}

/// Two clients have the only connection to a server each, and ask the other's server then, at the same time; again and
/// again, until one is not answered. What they were answered then, and what was to be.
fn asked_crosswise(server: &Server) -> ([Option<String>; 2], [&'static str; 2]) {
    let key_of = |name: &str| {
        let mut keys = (0..).map(|at| format!("key {at}"));
        keys.find(|key| ask_once(server, GET, 1, key).unwrap() == name).unwrap()
    };
    let mut of = ["a", "b"].map(|name| (name, key_of(name)));
    let mut clients = [server.connect(), server.connect()];
    for round in 0.. {
        for (client, (name, key)) in clients.iter_mut().zip(&of) {
            assert_eq!(ask(client, GET, round, key).as_deref(), Some(*name));
        }
        of.reverse();
        let answers = std::thread::scope(|scope| {
            let mut asking = vec![];
            for (client, (_, key)) in clients.iter_mut().zip(&of) {
                asking.push(scope.spawn(move || ask(client, SET, round, key)));
            }
            asking.into_iter().map(|each| each.join().unwrap()).collect::<Vec<_>>()
        });
        let answers: [Option<String>; 2] = answers.try_into().unwrap();
        let wanted = [of[0].0, of[1].0];
        if round == 20 || answers.each_ref().map(Option::as_deref) != wanted.map(Some) {
            return (answers, wanted);
        }
    }
    unreachable!()
}

/// Each lends what it does not need while it waits; connections that are not kept nobody lends, so one run is told.
#[test]
fn runs_that_want_each_others_connections_go_on_or_one_is_told_at_once() {
    for loops in LOOPS {
        let backends = [start("a"), start("b")];
        let both = [&backends[0], &backends[1]];
        let server = proxy(&both, "at most 1; keep 1", loops);
        let (answers, wanted) = asked_crosswise(&server);
        assert_eq!(answers.each_ref().map(Option::as_deref), wanted.map(Some), "{loops:?}");
        assert_eq!([backends[0].connections(), backends[1].connections()], [1, 1], "{loops:?}");
        drop(server);

        let server = proxy(&both, "at most 1", loops);
        let (answers, wanted) = asked_crosswise(&server);
        let answered = answers.iter().zip(wanted).filter(|(answer, name)| answer.as_deref() == Some(name)).count();
        assert_eq!(answered, 1, "{loops:?}: {answers:?}");
        let told = "and the runs that have them wait for each other's: bind it with `keep`";
        wait_for(told, || server.said().contains(told).then_some(()));
        wait_for("its error", || server.said().contains("error 35 (Resource deadlock avoided)").then_some(()));
    }
}

/// One that has nothing to ask now does not keep others from the server for as long as it stays.
#[test]
fn a_client_that_rests_lends_its_connection() {
    for loops in LOOPS {
        let backend = start("a");
        let server = proxy(&[&backend], "at most 1; keep 1", loops);
        let mut clients: Vec<_> = (0..4).map(|_| server.connect()).collect();
        for round in 0..20 {
            for client in &mut clients {
                assert_eq!(ask(client, GET, round, "key").as_deref(), Some("a"), "{loops:?} {round}");
            }
        }
        assert_eq!(backend.connections(), 1, "{loops:?}");
    }
}

/// The time that a client has that was sent away is no limit for whoever comes next.
#[test]
fn a_client_that_was_sent_away_leaves_no_time_limit_behind() {
    for loops in LOOPS {
        let backend = start("a");
        let address = format!("--backends=127.0.0.1:{}", backend.port);
        let mut command = Command::new(program());
        command.args(["--client=0; at most 1", &address, "--tcp-request=100ms"]).args(loops);
        let server = Server::listening(&mut command);
        let mut client = server.connect();
        assert!(ask(&mut client, GET, 1, "key").is_some(), "{loops:?}");
        assert_eq!(ask_once(&server, GET, 2, "key"), None, "{loops:?}: it is sent away");
        support::let_pass(200);
        // A loop whose time limit has passed would not.
        server.rest();
        assert!(ask(&mut client, GET, 3, "key").is_some(), "{loops:?}");
    }
}

#[test]
fn a_file_says_what_channels_are_bound_to() {
    let home = folder("flick_backends", "file");
    let file = home.join("proxy.bindings");
    let backends = [start("a"), start("b")];
    let bindings = format!(
        "# The proxy.\n\nclient = 0\nbackends = 127.0.0.1:{},\n           127.0.0.1:{} # two of them\n    ; keep 4\n",
        backends[0].port, backends[1].port
    );
    std::fs::write(&file, bindings).unwrap();
    let bound = format!("--flick-bindings={}", file.display());
    let server = Server::listening(Command::new(program()).arg(&bound).args(LOOPS[0]));
    for at in 0..20 {
        assert!(ask_once(&server, SET, at, &format!("key {at}")).is_some());
    }
    assert!(backends.iter().all(|each| (1..=4).contains(&each.connections())));
}

#[test]
fn mistakes_in_bindings_are_told_with_their_place_and_what_to_write() {
    let home = folder("flick_backends", "mistakes");
    let file = home.join("proxy.bindings");
    let said = |arguments: &[&str]| {
        let output = Command::new(program()).args(arguments).output().unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        text(&output.stderr)
    };
    let cases = [
        ("a:1; kep 3", "--backends:6: this cannot be `kep` here: write `keep 32 for 60s`, "),
        ("a:1, ; own", "--backends:6: this cannot be `;` here: give it addresses"),
        ("a:1; keep many", "--backends:11: this cannot be `many` here: write how many connections are kept"),
        ("a:1; keep 3 for ever", "--backends:17: this cannot be `ever` here: write how long"),
        ("a:1; check hourly", "--backends:12: this cannot be `hourly` here: write how often, `check every 2s`"),
        ("a:1; check \"x\\q\" expects", "write one of `\\r`, `\\n`"),
        ("a:1; eject after 0", "--backends:18: this cannot be `0` here: write after how many failures"),
        ("a:1; at least 3", "--backends:9: this cannot be `least` here: write `at most 1000`"),
        ("a:1 keep", "--backends:5: this cannot be `keep` here: separate what is said of a channel by semicolons"),
        ("", "say what the channel `backends` is bound to, `--backends='127.0.0.1:7001, 127.0.0.1:7002'`"),
        ("a:1,", "--backends:5: something is missing here: give it addresses, `127.0.0.1:7001, 127.0.0.1:7002`"),
        ("a:1; keep", "--backends:10: something is missing here: write how many connections are kept"),
        ("a:1; check \"x", "--backends:14: something is missing here: end the text with a quote"),
        ("a:1; shared; keep 2", "--backends:20: connections that are `shared` stay open"),
    ];
    for (text, wanted) in cases {
        let said = said(&["--client=0", &format!("--backends={text}")]);
        assert!(said.contains(wanted), "{text}: {said}");
        // Each loop finds it, and one says so.
        // The last is said of one that sanitizers slow down.
        let others = [" runs on ", ": listening on ", " holds its event loop "];
        assert_eq!(said.lines().filter(|line| !others.iter().any(|other| line.contains(other))).count(), 1, "{said}");
    }
    assert!(said(&["--client=0; keep 3", "--backends=a:1"]).contains("clients connect to this channel"));
    let in_file = [
        ("client = 0\nbackends = a:1;\n   kept 3\n", "proxy.bindings:3:4: this cannot be `kept` here: "),
        ("client = 0\nbackends a:1\n", "proxy.bindings:2:1: this cannot be `backends` here: write `channel = "),
        ("client = 0\n", "say what the channel `backends` is bound to, `backends = 127.0.0.1:7001, 127.0.0.1:7002`"),
    ];
    for (text, wanted) in in_file {
        std::fs::write(&file, text).unwrap();
        let said = said(&[&format!("--flick-bindings={}", file.display())]);
        assert!(said.contains(wanted), "{text}: {said}");
    }
    let missing = said(&["--flick-bindings=/nowhere/there"]);
    assert!(missing.contains("this file of bindings cannot be read"), "{missing}");
}

/// The servers of these tests answer as memcached does.
#[test]
fn memcached_itself_is_kept_too() {
    let backend = memcached::server();
    let bound = format!("--backends=127.0.0.1:{}; keep 2", backend.port);
    let server = Server::listening(Command::new(program()).args(["--client=0", &bound]).args(LOOPS[1]));
    let before = memcached::connections(&backend);
    for opaque in 0..20 {
        let mut client = server.connect();
        client.write_all(&request(SET, opaque, 0, [&[0; 8], b"key", b"value"])).unwrap();
        assert_eq!(opaque_of(&memcached::reply(&mut client)), opaque);
    }
    let kept = wait_for("those that are kept alone", || {
        let more = memcached::connections(&backend) - before;
        (more <= 2).then_some(more)
    });
    assert!(kept >= 1);
}

#[test]
fn the_sanitizers_find_nothing() {
    sanitized::run_again("flick_backends", "the_sanitizers_find_nothing");
}

/// With servers that end connections as they are asked, clients that leave or do not read, and all that the network
/// does to them: each reply goes to who has asked, in order, and at the end nothing is open.
#[test]
fn the_proxy_holds_in_simulated_worlds() {
    let servers = "--backends=127.0.0.1:7001, 127.0.0.1:7002, 127.0.0.1:7003; ";
    let all = format!("{servers}keep 1 for 50ms; at most 1; retry 2; eject after 2 for 20ms");
    let all = ["--client=127.0.0.1:7000", all.as_str()];
    if std::env::var_os("FLUX_SIMULATION_SEEDS").is_some() {
        return support::holds_in_simulated_worlds(program(), &all);
    }
    // In the first ones what was asked again was lost once, where that connection ended, too.
    [83, 107, 147].into_iter().chain(0..worlds(30)).for_each(|seed| support::holds_in_world(program(), &all, seed));
}

/// The same where clients ask all servers in turn, each of which has one connection: who waits has it when it is not
/// used, so all are answered where nothing goes wrong.
#[test]
fn runs_that_want_each_others_connections_hold_in_simulated_worlds() {
    let servers = "--backends=127.0.0.1:7001, 127.0.0.1:7002, 127.0.0.1:7003; ";
    let seeds = std::env::var("FLUX_SIMULATION_SEEDS").map_or(worlds(40), |seeds| seeds.parse().unwrap());
    let bounds = [
        ("keep 1; at most 1; retry 2", "answered", 0),
        ("keep 1 for 20ms; at most 1", "answered", 1000),
        ("at most 1", "refused", 2000),
    ];
    for (bound, asked, first) in bounds {
        for seed in (first..first + seeds).filter(|seed| sanitized::which().is_some() || is_in_slice(*seed, 4)) {
            let mut world = Command::new(program());
            world.env("FLICK_CROSSWISE", asked).arg(format!("--flux-io=simulation:{seed}"));
            let said = world.args(["--client=127.0.0.1:7000", &format!("{servers}{bound}")]).output().unwrap();
            assert!(said.status.success(), "{bound} {seed}: {}", text(&said.stderr));
        }
    }
}
