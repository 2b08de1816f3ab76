//! Connections to servers that all runs of a process share: nobody gets what is another's, whoever leaves, is slow, or
//! ends; on event loops with both kinds of I/O, and under the sanitizers.

use crate::support;
use crate::support::backend::Backend;
use crate::support::proxy::{
    self, GET, LOOPS, QUIET_GET, SET, ask, ask_once, request_for, start_echo, value_for, value_of,
};
use crate::support::sockets::wait_until_sent;
use crate::support::{Server, flux, folder, text, wait_for};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

fn program() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| proxy::build(&[]))
}

fn before(backends: &[&Backend], bound: &str, loops: &[&str]) -> Server {
    proxy::start_before(program(), backends, bound, loops)
}

/// Numbers by a generator.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// A client that has come, and asks some things at once; it may leave before it has the replies. How many it has. All
/// keys of one request are for one server, so replies come in order.
fn come_and_ask(server: &Server, number: u32, state: &mut u64) -> usize {
    let mut client = server.connect();
    let mut answered = 0;
    for round in 0..1 + draw(state, 5) {
        let count = 1 + u32::try_from(draw(state, 12)).unwrap();
        let first = number << 12 | u32::try_from(round).unwrap() << 6;
        let mark = if draw(state, 8) == 0 { "!" } else { "" };
        let key = format!("of {number} in {round}{mark}");
        let requests: Vec<u8> = (0..count)
            .flat_map(|at| request_for(if draw(state, 3) == 0 { SET } else { GET }, first + at, &key))
            .collect();
        if client.write_all(&requests).is_err() {
            return answered;
        }
        if draw(state, 12) == 0 {
            return answered; // the replies are nobody's
        }
        for at in 0..count {
            let Some(value) = value_for(&mut client, first + at) else { return answered };
            assert!(value == value_of(key.as_bytes()), "{number}: another's value");
            answered += 1;
        }
    }
    if draw(state, 2) == 0 {
        client.shutdown(Shutdown::Write).unwrap();
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
    }
    answered
}

/// Many clients at once, so many one after the other in each of so many threads. How many replies there were.
fn many_come(server: &Server, threads: u32, each: u32) -> usize {
    let answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let answered = &answered;
            scope.spawn(move || {
                let mut state = u64::from(thread) * 2 + 1;
                for at in 0..each {
                    answered.fetch_add(come_and_ask(server, thread * each + at, &mut state), SeqCst);
                }
            });
        }
    });
    answered.load(SeqCst)
}

/// Until these were asked so many times more, or it is over: by the clock, more would be lost where all is slow.
fn wait_for_requests(backends: &[Backend], more: usize, is_over: &AtomicBool) {
    let asked = || backends.iter().map(Backend::requests).sum::<usize>();
    let enough = asked() + more;
    wait_for("requests", || (is_over.load(SeqCst) || asked() >= enough).then_some(()));
}

#[test]
fn each_reply_is_for_who_has_asked() {
    for (loops, bound, most) in [(LOOPS[0], "shared", 2), (LOOPS[1], "shared", 2), (LOOPS[0], "shared 3", 6)] {
        let backends = [start_echo("a"), start_echo("b")];
        let server = before(&[&backends[0], &backends[1]], bound, loops);
        assert!(many_come(&server, 12, 40) > 5000, "{loops:?}");
        let made = backends[0].connections() + backends[1].connections();
        assert!(made <= most, "{loops:?}, {bound}: {made}");
    }
}

/// Servers end connections within what was asked meanwhile: who is lost is lost alone, and gets no other's.
#[test]
fn each_reply_is_for_who_has_asked_also_where_connections_end() {
    for loops in LOOPS {
        let backends = [start_echo("a"), start_echo("b")];
        let server = before(&[&backends[0], &backends[1]], "shared; retry 2", loops);
        let is_over = AtomicBool::new(false);
        let answered = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(SeqCst) {
                    backends[0].state.drops.store(1, SeqCst);
                    wait_for_requests(&backends, 15, &is_over);
                    backends[1].end_connections();
                    wait_for_requests(&backends, 15, &is_over);
                }
            });
            let answered = many_come(&server, 10, 40);
            is_over.store(true, SeqCst);
            answered
        });
        assert!(answered > 1000, "{loops:?}: {answered}");
        backends[0].state.drops.store(0, SeqCst);
        wait_for("all to be well", || ask_once(&server, SET, 1, "key"));
    }
}

#[test]
fn the_sanitizers_find_nothing() {
    for sanitizer in ["address", "thread"].into_iter().filter(|each| support::is_asked_for(each)) {
        let built = proxy::build(&["--sanitize", sanitizer]);
        for loops in [&["--flux-workers=2", "--flux-io=reactor"], &["--flux-workers=2", "--flux-io=proactor"]] {
            let backends = [start_echo("a"), start_echo("b")];
            let mut server = proxy::start_before(&built, &[&backends[0], &backends[1]], "shared 2; retry 2", loops);
            let is_over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !is_over.load(SeqCst) {
                        backends[0].end_connections();
                        wait_for_requests(&backends, 50, &is_over);
                    }
                });
                assert!(many_come(&server, 8, 30) > 300, "{sanitizer}, {loops:?}");
                is_over.store(true, SeqCst);
            });
            server.terminate();
            assert!(server.wait().success(), "{sanitizer}, {loops:?}: {}", server.said());
        }
    }
}

#[test]
fn a_client_that_reads_nothing_holds_up_nobody() {
    for loops in LOOPS {
        let backend = start_echo("a");
        let server = before(&[&backend], "shared", loops);
        let mut slow = server.connect();
        let mut sends = slow.try_clone().unwrap();
        let count = 3000;
        let sender = std::thread::spawn(move || {
            let requests: Vec<u8> = (0..count).flat_map(|opaque| request_for(GET, opaque, "much!")).collect();
            sends.write_all(&requests).unwrap();
        });
        wait_for("it to be full", || {
            let so_far = backend.requests();
            server.rest();
            (so_far > 10 && backend.requests() == so_far).then_some(())
        });
        assert!(backend.requests() < count as usize, "{loops:?}: what it does not read is not asked");
        let mut others: Vec<TcpStream> = (0..20).map(|_| server.connect()).collect();
        for round in 0..20 {
            for (at, other) in (0..).zip(&mut others) {
                let key = format!("{round} of {at}");
                assert_eq!(ask(other, GET, 7 << 20 | round << 8 | at, &key), Some(key), "{loops:?}");
            }
        }
        assert_eq!(backend.connections(), 1, "{loops:?}");
        let wanted = value_of(b"much!");
        for opaque in 0..count {
            assert!(value_for(&mut slow, opaque).is_some_and(|value| value == wanted), "{loops:?}: {opaque}");
        }
        sender.join().unwrap();
    }
}

#[test]
fn what_comes_for_those_who_have_left_is_nobodys() {
    for loops in LOOPS {
        let backend = start_echo("a");
        let server = before(&[&backend], "shared", loops);
        assert!(ask_once(&server, GET, 1, "key").is_some());
        backend.hold(true);
        for opaque in 2..50 {
            server.connect().write_all(&request_for(GET, opaque, "left")).unwrap();
        }
        let mut stays = server.connect();
        stays.write_all(&request_for(GET, 100, "stays")).unwrap();
        server.rest();
        backend.hold(false);
        assert_eq!(value_for(&mut stays, 100).map(|value| text(&value)).as_deref(), Some("stays"), "{loops:?}");
        assert_eq!(ask_once(&server, GET, 101, "comes").as_deref(), Some("comes"), "{loops:?}");
        assert_eq!(backend.connections(), 1, "{loops:?}");
    }
}

/// What may be asked twice is asked of the server when it is back; else its client is lost, and others are not.
#[test]
fn a_server_that_dies_and_returns_is_asked_again() {
    for loops in LOOPS {
        let backend = start_echo("a");
        let server = before(&[&backend], "shared; retry 2", loops);
        let (mut gets, mut sets, mut idle) = (server.connect(), server.connect(), server.connect());
        for client in [&mut gets, &mut sets, &mut idle] {
            assert!(ask(client, GET, 1, "key").is_some());
        }
        backend.hold(true);
        let so_far = backend.requests();
        gets.write_all(&request_for(GET, 2, "get")).unwrap();
        wait_for("a request", || (backend.requests() == so_far + 1).then_some(()));
        sets.write_all(&request_for(SET, 3, "set")).unwrap();
        wait_until_sent([&sets]);
        server.rest();
        backend.state.drops.store(2, SeqCst);
        backend.end_connections();
        backend.hold(false);
        backend.state.drops.store(0, SeqCst);
        assert_eq!(value_for(&mut gets, 2).map(|value| text(&value)).as_deref(), Some("get"), "{loops:?}");
        assert_eq!(value_for(&mut sets, 3), None, "{loops:?}: a set may have been done");
        assert_eq!(ask(&mut idle, SET, 4, "idle").as_deref(), Some("idle"), "{loops:?}: it had asked nothing");
        backend.fall();
        assert_eq!(ask(&mut idle, GET, 5, "idle"), None, "{loops:?}: nobody is there");
        backend.rise();
        assert_eq!(ask_once(&server, SET, 6, "key").as_deref(), Some("key"), "{loops:?}");
        assert!(ask(&mut gets, GET, 7, "key").is_some(), "{loops:?}: it had asked nothing");
    }
}

/// Who has asked is told, by the rule for that, and goes on; who has not notices nothing.
#[test]
fn who_waits_for_a_reply_learns_that_the_connection_broke() {
    let home = folder("flick_shared", "broken");
    let source = "use std.memcached\n\ntype cmd : record of memcached.command\n  magic_code : uint8\n  key : string\n\n\
                  proc Told : (cmd/cmd client, [cmd/cmd] servers)\n  | client => ask(servers)\n  \
                  | servers => client\n  | error broken servers => tell(client)\n\n\
                  fun ask : ([-/cmd] servers, req : cmd) -> ()\n  req => servers[hash(req.key) mod len(servers)]\n\n\
                  fun tell : (-/cmd client, why : string) -> ()\n  cmd(magic_code: 0x81, key: why) => client\n";
    std::fs::write(home.join("told.flick"), source).unwrap();
    let said = flux(&home, &["build", "--debug", "told.flick", "-o", "told"]);
    assert!(said.status.success(), "{}", text(&said.stderr));
    for loops in LOOPS {
        let backend = start_echo("a");
        let bound = format!("--servers=127.0.0.1:{}; shared", backend.port);
        let server = Server::listening(Command::new(home.join("told")).args(["--client=0", &bound]).args(loops));
        let mut idle = server.connect();
        assert!(ask(&mut idle, SET, 1, "key").is_some());
        let mut asks: Vec<TcpStream> = (0..5).map(|_| server.connect()).collect();
        backend.hold(true);
        let so_far = backend.requests();
        for (opaque, client) in (0..).zip(&mut asks) {
            client.write_all(&request_for(SET, opaque, "key")).unwrap();
        }
        wait_for("a request", || (backend.requests() > so_far).then_some(()));
        wait_until_sent(&asks);
        server.rest();
        backend.end_connections();
        for client in &mut asks {
            let why = value_for(client, 0);
            assert_eq!(why.map(|why| text(&why)).as_deref(), Some("ended before it answered"), "{loops:?}");
        }
        backend.hold(false);
        for client in asks.iter_mut().chain([&mut idle]) {
            assert_eq!(ask(client, SET, 9, "again").as_deref(), Some("again"), "{loops:?}");
        }
    }
}

/// A quiet get has a reply or none: its run has a connection of its own from then on, when it has what it asked before.
#[test]
fn what_cannot_be_counted_goes_over_a_connection_of_the_runs_own() {
    for loops in LOOPS {
        let backend = start_echo("a");
        let server = before(&[&backend], "shared", loops);
        let (mut quiet, mut other) = (server.connect(), server.connect());
        assert!(ask(&mut other, GET, 1, "other").is_some());
        let mut all: Vec<u8> = (10..20).flat_map(|opaque| request_for(GET, opaque, "before!")).collect();
        all.extend(request_for(QUIET_GET, 20, "quiet"));
        all.extend((21..30).flat_map(|opaque| request_for(GET, opaque, "behind")));
        quiet.write_all(&all).unwrap();
        for opaque in 10..30 {
            let key = if opaque < 20 {
                "before!"
            } else if opaque == 20 {
                "quiet"
            } else {
                "behind"
            };
            assert!(value_for(&mut quiet, opaque) == Some(value_of(key.as_bytes())), "{loops:?}: {opaque}");
            assert_eq!(ask(&mut other, GET, 100 + opaque, "other").as_deref(), Some("other"), "{loops:?}");
        }
        assert_eq!(backend.connections(), 2, "{loops:?}");
        // Its own ends with it; the others' stays.
        quiet.write_all(&request_for(QUIET_GET, 31, "left")).unwrap();
        drop(quiet);
        assert_eq!(ask(&mut other, SET, 200, "other").as_deref(), Some("other"), "{loops:?}");
        assert_eq!(ask_once(&server, SET, 201, "next").as_deref(), Some("next"), "{loops:?}");
        assert_eq!(backend.connections(), 2, "{loops:?}");
    }
}

/// Whose it is nobody knows, so nobody gets it.
#[test]
fn a_server_that_says_what_nobody_asked_is_left() {
    for loops in LOOPS {
        let backend = Backend::start("a", |mut client, state| {
            let mut request = [0; 27];
            while client.read_exact(&mut request).is_ok() && state.is_asked() {
                let reply = |opaque: &[u8]| [&[0x81, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], opaque, &[0; 8]].concat();
                let twice = [reply(&request[12..16]), reply(b"none")].concat();
                let _ = client.write_all(&twice);
            }
        });
        let server = before(&[&backend], "shared", loops);
        let mut client = server.connect();
        assert_eq!(ask(&mut client, GET, 1, "key").as_deref(), Some(""), "{loops:?}");
        wait_for("the connection to be left", || server.said().contains("has said what nobody asked").then_some(()));
        assert_eq!(ask(&mut client, GET, 2, "key").as_deref(), Some(""), "{loops:?}");
        assert_eq!(backend.connections(), 2, "{loops:?}");
    }
}

/// A server that stands still is found by its checks, and what was asked there is asked of another.
#[test]
fn a_server_that_fails_its_checks_is_left() {
    let backends = [start_echo("a"), start_echo("b")];
    let probe = format!("\\x80\\x0a{}", "\\0".repeat(22));
    let bound = format!("shared; retry 1; check \"{probe}\" expects \"\\x81\\x0a\" every 500ms");
    let server = before(&[&backends[0], &backends[1]], &bound, LOOPS[0]);
    let mut clients: Vec<TcpStream> = (0..20).map(|_| server.connect()).collect();
    for (at, client) in (0..).zip(&mut clients) {
        assert!(ask(client, GET, at, &format!("key {at}")).is_some());
    }
    assert!(backends[0].requests() > 3 && backends[1].requests() > 3);
    backends[0].hold(true);
    for (at, client) in (0..).zip(&mut clients) {
        let key = format!("key {at}");
        assert_eq!(ask(client, GET, 100 + at, &key), Some(key));
    }
    wait_for("it to be said", || server.said().contains("fails its checks").then_some(()));
    backends[0].hold(false);
}

/// A process whose replies go on as they are: no rule looks at them.
#[test]
fn replies_that_go_on_as_they_are_are_shared_too() {
    let home = folder("flick_shared", "relay");
    let program = home.join("relay.flick");
    let source = "use std.memcached\n\ntype cmd : record of memcached.command\n  key : string\n\n\
                  proc Relay : (cmd/cmd client, cmd/cmd server)\n  | client => server\n  | server => client\n";
    std::fs::write(&program, source).unwrap();
    let said = flux(&home, &["build", "--debug", "relay.flick", "-o", "relay"]);
    assert!(said.status.success(), "{}", text(&said.stderr));
    for loops in LOOPS {
        let backend = start_echo("a");
        let bound = format!("--server=connect:127.0.0.1:{}; shared; retry 1", backend.port);
        let server = Server::listening(Command::new(home.join("relay")).args(["--client=0", &bound]).args(loops));
        assert!(many_come(&server, 10, 40) > 3000, "{loops:?}");
        assert_eq!(backend.connections(), 1, "{loops:?}");
        let mut slow = server.connect();
        let requests: Vec<u8> = (0..600).flat_map(|opaque| request_for(GET, opaque, "much!")).collect();
        let mut sends = slow.try_clone().unwrap();
        let sender = std::thread::spawn(move || sends.write_all(&requests).unwrap());
        server.rest();
        assert!(many_come(&server, 4, 10) > 50, "{loops:?}");
        for opaque in 0..600 {
            assert!(value_for(&mut slow, opaque) == Some(value_of(b"much!")), "{loops:?}: {opaque}");
        }
        sender.join().unwrap();
        backend.end_connections();
        // The end may be seen behind the next request, which is asked again then, as a get may be.
        assert!(ask(&mut slow, GET, 1, "key").is_some(), "{loops:?}: it had asked nothing");
    }
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let home = folder("flick_shared", "refused");
    let said = |program: &Path, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        text(&output.stderr)
    };
    let cases = [
        (
            "--backends=a:1; shared 0",
            "--backends:13: this cannot be `0` here: write how many connections to each server",
        ),
        ("--backends=a:1; shared; keep 3", "connections that are `shared` stay open as long as they are used"),
        ("--backends=a:1; shared 4; at most 3", "there are fewer connections `at most` than are `shared`"),
        ("--backends=a:1; share", "this cannot be `share` here: write `keep 32 for 60s`, "),
    ];
    for (bound, wanted) in cases {
        let said = said(program(), &["--client=0", bound]);
        assert!(said.contains(wanted), "{bound}: {said}");
    }
    assert!(said(program(), &["--client=0; shared", "--backends=a:1"]).contains("clients connect to this channel"));
    let programs = [
        (
            "type cmd : record\n  key : string\n\nproc P : (cmd/cmd client, [cmd/cmd] servers)\n  \
          | client => servers[0]\n  | servers => client\n",
            "its messages do not say how many replies they have, so nobody knows which reply is",
        ),
        (
            "use std.http_message\n\nproc P : (http_message.request/http_message.response client, \
          [http_message.response/http_message.request] servers)\n  | client => servers[0]\n  | servers => client\n",
            "its replies have streams, or no rule reads them",
        ),
    ];
    for (at, (source, wanted)) in programs.into_iter().enumerate() {
        let name = format!("refused{at}");
        std::fs::write(home.join(format!("{name}.flick")), source).unwrap();
        let built = flux(&home, &["build", "--debug", &format!("{name}.flick"), "-o", &name]);
        assert!(built.status.success(), "{}", text(&built.stderr));
        let said = said(&home.join(&name), &["--client=0", "--servers=127.0.0.1:1; shared"]);
        assert!(said.contains(wanted), "{source}: {said}");
    }
}

/// The world of `flick_backends.rs`: servers that end connections, clients that leave or do not read, and what the
/// network does to them. Each reply goes to who has asked, in order, and at the end nothing is open.
#[test]
fn they_hold_in_simulated_worlds() {
    let servers = "--backends=127.0.0.1:7001, 127.0.0.1:7002, 127.0.0.1:7003; ";
    let all = format!("{servers}shared; at most 1; retry 2; eject after 2 for 20ms");
    let all = ["--client=127.0.0.1:7000", all.as_str()];
    if std::env::var_os("FLUX_SIMULATION_SEEDS").is_some() {
        return support::holds_in_simulated_worlds(program(), &all);
    }
    (0..support::worlds(30)).for_each(|seed| support::holds_in_world(program(), &all, seed));
}
