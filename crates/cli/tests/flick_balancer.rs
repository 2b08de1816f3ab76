//! The load balancers of `examples/balancer` that choose by more than a hash, before HTTP servers that count who asks
//! them, are slow and fall when they are told to; on event loops with both kinds of I/O.

use crate::support;
use crate::support::backend::{Backend, State};
use crate::support::{LIMIT, Server, folder, free_port, text, wait_for};
use rustix::net::{AddressFamily, SocketType, bind, connect, ipproto, socket, sockopt};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Both kinds of I/O, on one loop: each counts for itself.
const LOOPS: [&[&str]; 2] = [&["--flux-workers=1", "--flux-io=reactor"], &["--flux-workers=1", "--flux-io=proactor"]];

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const HEAD: &str = "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n";

/// A balancer, built.
fn built(name: &str) -> PathBuf {
    support::built::build(
        &support::built::examples().join("balancer").join(name).with_extension("flick"),
        &[],
        &["--debug"],
    )
}

/// It before these, bound so.
fn before(program: &Path, backends: &[&Backend], bound: &str, loops: &[&str]) -> Server {
    let all: Vec<String> = backends.iter().map(|each| format!("127.0.0.1:{}", each.port)).collect();
    let servers = format!("--servers={}{bound}", all.join(", "));
    Server::listening(Command::new(program).args(["--client=127.0.0.1:0", &servers]).args(loops))
}

/// The balancer by least connections, built once.
fn least(backends: &[Backend], bound: &str, loops: &[&str]) -> Server {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    let all: Vec<&Backend> = backends.iter().collect();
    before(ONCE.get_or_init(|| built("least")), &all, bound, loops)
}

/// Answers each request with the name of the server.
fn answer_all(mut client: &TcpStream, state: &State) {
    let mut lines = BufReader::new(client).lines().map_while(Result::ok);
    while let Some(first) = lines.next() {
        if lines.by_ref().find(String::is_empty).is_none() {
            return;
        }
        if !state.is_asked() {
            return;
        }
        let body = if first.starts_with("HEAD") { "" } else { &state.name };
        let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", state.name.len());
        if client.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

fn start(name: &str) -> Backend {
    Backend::start(name, answer_all)
}

/// The servers of most of these tests.
fn three() -> [Backend; 3] {
    ["a", "b", "c"].map(start)
}

/// How often each has been asked.
fn counts(of: &[Backend]) -> Vec<usize> {
    of.iter().map(Backend::requests).collect()
}

/// How large the head of a reply is.
const HEAD_SIZE: usize = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n".len();

/// The name of the server that answers next; none where the connection ends before.
fn reply(client: &mut TcpStream) -> Option<String> {
    let mut all = [0; HEAD_SIZE + 1];
    client.read_exact(&mut all).ok()?;
    Some(text(&all[HEAD_SIZE..]))
}

/// A new client, that has asked.
fn asking(balancer: &Server) -> TcpStream {
    let mut client = balancer.connect();
    client.write_all(GET.as_bytes()).unwrap();
    client
}

/// A new client, which asks once and leaves.
fn ask_once(balancer: &Server) -> Option<String> {
    reply(&mut asking(balancer))
}

/// All servers are idle: each gets the same.
fn share_alike(balancer: &Server, of: &[Backend], why: &str) {
    let before = counts(of);
    for _ in 0..of.len() * 4 {
        assert!(ask_once(balancer).is_some(), "{why}");
    }
    let more: Vec<_> = counts(of).iter().zip(&before).map(|(now, before)| now - before).collect();
    assert!(more.iter().all(|count| *count == 4), "{why}: {more:?}");
}

/// One client asks a server that does not answer it, which is given with it.
fn kept_waiting(balancer: &Server, of: &[Backend]) -> (TcpStream, usize) {
    let before = counts(of);
    of.iter().for_each(|each| each.hold(true));
    let client = asking(balancer);
    let asked = || counts(of).iter().zip(&before).position(|(now, before)| now > before);
    let slow = wait_for("a request", asked);
    of.iter().enumerate().for_each(|(at, each)| each.hold(at == slow));
    (client, slow)
}

#[test]
fn a_slow_server_gets_nothing_while_others_are_idle() {
    for loops in LOOPS {
        for bound in ["", "; keep 4", "; retry 1; eject after 3"] {
            let backends = three();
            let balancer = least(&backends, bound, loops);
            let why = |what: &str| format!("{loops:?} {bound}: {what}");
            share_alike(&balancer, &backends, &why("at first"));

            let before = counts(&backends);
            let (mut waiting, slow) = kept_waiting(&balancer, &backends);
            for _ in 0..20 {
                assert_ne!(ask_once(&balancer), Some(backends[slow].state.name.clone()), "{bound}");
            }
            let more: Vec<_> = counts(&backends).iter().zip(&before).map(|(now, before)| now - before).collect();
            for (at, count) in more.into_iter().enumerate() {
                assert_eq!(count, if at == slow { 1 } else { 10 }, "{}", why("the others share"));
            }
            backends[slow].hold(false);
            assert_eq!(reply(&mut waiting).as_ref(), Some(&backends[slow].state.name), "{loops:?}");
            share_alike(&balancer, &backends, &why("its client is there, and has its answer"));
        }
    }
}

#[test]
fn those_who_come_at_once_are_shared_out() {
    for loops in LOOPS {
        let backends = three();
        let balancer = least(&backends, "", loops);
        backends.iter().for_each(|each| each.hold(true));
        let mut clients: Vec<_> = (0..12).map(|_| asking(&balancer)).collect();
        wait_for("all requests", || (counts(&backends).iter().sum::<usize>() == 12).then_some(()));
        assert_eq!(counts(&backends), [4, 4, 4], "{loops:?}");
        backends.iter().for_each(|each| each.hold(false));
        assert!(clients.iter_mut().all(|client| reply(client).is_some()), "{loops:?}");
    }
}

#[test]
fn requests_of_a_connection_stay_in_order_at_one_server() {
    for loops in LOOPS {
        let backends = three();
        let balancer = least(&backends, "; keep 4", loops);
        let mut client = balancer.connect();
        client.write_all(GET.repeat(8).as_bytes()).unwrap();
        let first = reply(&mut client).unwrap();
        for _ in 1..8 {
            assert_eq!(reply(&mut client).as_ref(), Some(&first), "{loops:?}");
        }
        share_alike(&balancer, &backends, "behind it");
    }
}

/// The reply to HEAD has a length, and no content.
#[test]
fn what_follows_the_reply_to_head_is_for_who_asked_for_it() {
    for loops in LOOPS {
        for bound in ["", "; keep 4", "; retry 1"] {
            let backends = three();
            let balancer = least(&backends, bound, loops);
            let mut client = balancer.connect();
            client.write_all([GET, HEAD, GET, HEAD, HEAD, GET].concat().as_bytes()).unwrap();
            let first = reply(&mut client).unwrap();
            for heads in [1, 2] {
                let mut all = vec![0; heads * HEAD_SIZE];
                client.read_exact(&mut all).unwrap();
                let expected = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n".repeat(heads);
                assert_eq!(text(&all), expected, "{loops:?} {bound}");
                assert_eq!(reply(&mut client).as_ref(), Some(&first), "{loops:?} {bound}");
            }
            share_alike(&balancer, &backends, bound);
        }
    }
}

/// Answers a request for `/switch` with a switch of protocols, and then says in capitals what it hears; other requests
/// as they are answered mostly.
fn switch(mut client: &TcpStream, state: &State) {
    const SWITCH: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: any\r\nConnection: Upgrade\r\n\r\nhello";
    let mut reader = BufReader::new(client);
    loop {
        let lines: Vec<String> =
            reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        let Some(first) = lines.first() else { return };
        if !state.is_asked() {
            return;
        }
        if first.contains("/switch") {
            break;
        }
        let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", state.name.len(), state.name);
        let _ = client.write_all(reply.as_bytes());
    }
    let _ = client.write_all(SWITCH);
    while let Some(said) = reader.fill_buf().ok().map(<[u8]>::to_ascii_uppercase).filter(|said| !said.is_empty()) {
        reader.consume(said.len());
        let _ = client.write_all(&said);
    }
}

/// What a client reads next is this.
fn hears(client: &mut TcpStream, expected: &str, why: &str) {
    let mut all = vec![0; expected.len()];
    client.read_exact(&mut all).unwrap();
    assert_eq!(text(&all), expected, "{why}");
}

#[test]
fn behind_a_switch_of_protocols_both_ways_pass_as_they_are() {
    const REST: &str = "Host: a\r\nConnection: Upgrade\r\nUpgrade: any\r\n\r\n";
    let by_hash = built("balancer");
    for loops in LOOPS {
        for bound in ["", "; keep 4", "; retry 1"] {
            let backends = ["a", "b"].map(|name| Backend::start(name, switch));
            let by_least = least(&backends, bound, loops);
            let others: Vec<&Backend> = backends.iter().collect();
            for balancer in [&by_least, &before(&by_hash, &others, bound, loops)] {
                for early in ["", "early GET / HTTP/1.1\r\n\r\n"] {
                    let why = format!("{loops:?} {bound} {early}");
                    let mut client = balancer.connect();
                    // A server that does not switch goes on with messages.
                    if bound.contains("keep") {
                        client.write_all(format!("GET /stay HTTP/1.1\r\n{REST}{GET}").as_bytes()).unwrap();
                        let first = reply(&mut client);
                        assert!(first.is_some() && reply(&mut client) == first, "{why}");
                    }
                    client.write_all(format!("GET /switch HTTP/1.1\r\n{REST}{early}").as_bytes()).unwrap();
                    hears(&mut client, "HTTP/1.1 101 Switching Protocols\r\n", &why);
                    hears(&mut client, "Upgrade: any\r\nConnection: Upgrade\r\n\r\nhello", &why);
                    hears(&mut client, &early.to_uppercase(), &why);
                    client.write_all(b"HTTP/1.1 later\r\n").unwrap();
                    hears(&mut client, "HTTP/1.1 LATER\r\n", &why);
                    client.shutdown(std::net::Shutdown::Write).unwrap();
                    assert_eq!(client.read(&mut [0]).unwrap(), 0, "{why}: the end of one is the end of the other");
                }
            }
            share_alike(&by_least, &backends, bound);
        }
    }
}

/// Forwards requests, and replies but for a switch of protocols.
const GUARD: &str = "use std.http_message
type request : record of http_message.request
  head : http_message.request_head
type reply : record of http_message.response
  head : http_message.response_head
type reply_head : record of http_message.response_head
  code : uint16
proc Guard : (request/reply client, [reply/request] servers)
  | client => to_server(servers)
  | servers => judge(client)
fun to_server : ([-/request] servers, what : request) -> ()
  what => servers[0]
fun judge : (-/reply client, what : reply) -> ()
  if what.head.code > 199: what => client
";

/// What a client sends behind its request goes past no rule because the server alone has said that it switches.
#[test]
fn a_rule_that_holds_a_switch_back_opens_no_tunnel() {
    let program = folder("flick_balancer", "guard").join("guard.flick");
    std::fs::write(&program, GUARD).unwrap();
    let guard = support::built::build(&program, &[], &["--debug"]);
    for loops in LOOPS {
        for said in ["", "hello"] {
            let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let servers = format!("--servers=127.0.0.1:{}", listener.local_addr().unwrap().port());
            let balancer = Server::listening(Command::new(&guard).args(["--client=127.0.0.1:0", &servers]).args(loops));
            let server = std::thread::spawn(move || {
                let (mut own, _) = listener.accept().unwrap();
                let reply = format!("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n{said}");
                let mut heard = Vec::new();
                while !heard.ends_with(b"\r\n\r\n") {
                    let mut one = [0];
                    own.read_exact(&mut one).unwrap();
                    heard.extend(one);
                }
                own.write_all(reply.as_bytes()).unwrap();
                // The balancer may end it by a reset.
                let _ = own.read_to_end(&mut heard);
                text(&heard)
            });
            let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n\r\n";
            let mut client = balancer.connect();
            client.write_all(format!("{request}no message\r\n\r\n").as_bytes()).unwrap();
            let mut all = Vec::new();
            let _ = client.read_to_end(&mut all);
            assert_eq!((text(&all), server.join().unwrap()), (String::new(), request.to_owned()), "{loops:?} {said}");
        }
    }
}

/// A connection that carries no messages is one that is open, as long as it lasts.
#[test]
fn where_replies_are_not_counted_connections_are() {
    for loops in LOOPS {
        let backends = ["a", "b", "c"].map(|name| Backend::start(name, switch));
        let balancer = least(&backends, "", loops);
        let mut client = balancer.connect();
        client.write_all(b"GET /switch HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n\r\n").unwrap();
        hears(&mut client, "HTTP/1.1 101 ", "it switches");
        let of = counts(&backends).iter().position(|count| *count == 1).unwrap();
        for _ in 0..10 {
            assert_ne!(ask_once(&balancer), Some(backends[of].state.name.clone()), "{loops:?}");
        }
        drop(client);
        wait_for("its turn again", || ask_once(&balancer).filter(|name| *name == backends[of].state.name));
    }
}

#[test]
fn what_comes_behind_the_last_request_is_not_forwarded() {
    for loops in LOOPS {
        for bound in ["", "; keep 4"] {
            let backends = [start("a")];
            let balancer = least(&backends, bound, loops);
            let mut client = balancer.connect();
            let last = GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
            client.write_all([GET, &last, GET, GET].concat().as_bytes()).unwrap();
            let mut all = String::new();
            client.read_to_string(&mut all).unwrap();
            assert_eq!(all.matches("\r\n\r\na").count(), 2, "{loops:?} {bound}: {all}");
            assert_eq!(counts(&backends), [2], "{loops:?} {bound}");
        }
    }
}

/// Answers each request with the next of some replies that are not quite right, but common.
fn answer_oddly(mut client: &TcpStream, state: &State) {
    let mut lines = BufReader::new(client).lines().map_while(Result::ok);
    while lines.by_ref().find(String::is_empty).is_some() && state.is_asked() {
        let reply = ODD[(state.requests() - 1) % ODD.len()];
        if client.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

const ODD: [&str; 6] = [
    "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\na",
    "HTTP/1.1 200 \r\nContent-Length: 1\r\n\r\na",
    "HTTP/1.1 999 Request denied\r\nContent-Length: 1\r\n\r\na",
    "HTTP/1.1 200 D\u{e9}j\u{e0}\r\nContent-Length: 1\r\n\r\na",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1  \r\na\r\n0 \r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
];

#[test]
fn replies_that_are_odd_but_common_pass() {
    for loops in LOOPS {
        for bound in ["", "; keep 4"] {
            let balancer = least(&[Backend::start("a", answer_oddly)], bound, loops);
            let mut client = balancer.connect();
            for odd in ODD {
                client.write_all(GET.as_bytes()).unwrap();
                hears(&mut client, odd, &format!("{loops:?} {bound}"));
            }
        }
    }
}

#[test]
fn what_was_not_answered_is_not_open_for_ever() {
    for loops in LOOPS {
        let backends = three();
        let balancer = least(&backends, "", loops);
        let (mut waiting, slow) = kept_waiting(&balancer, &backends);
        backends[slow].end_connections();
        assert_eq!(reply(&mut waiting), None, "{loops:?}");
        backends[slow].hold(false);
        share_alike(&balancer, &backends, "its connection has ended");

        let (waiting, slow) = kept_waiting(&balancer, &backends);
        drop(waiting);
        backends[slow].hold(false);
        // What its client has left is answered, and then the server is as idle as others.
        wait_for("its turn again", || ask_once(&balancer).filter(|name| *name == backends[slow].state.name));
        share_alike(&balancer, &backends, "its client has left");
    }
}

#[test]
fn a_server_that_is_down_is_left_out_also_while_others_are_busy() {
    for loops in LOOPS {
        for bound in ["; retry 1; eject after 1 for 100ms", "; eject after 2; check every 500ms"] {
            let backends = three();
            let balancer = least(&backends, bound, loops);
            share_alike(&balancer, &backends, bound);
            backends[1].fall();
            if bound.contains("check") {
                wait_for("a check that fails", || balancer.said().contains("fails its checks").then_some(()));
                // Both others have more to do than it.
                backends.iter().for_each(|each| each.hold(true));
                let before = counts(&backends);
                let mut clients: Vec<_> = (0..8).map(|_| asking(&balancer)).collect();
                let all = before.iter().sum::<usize>() + 8;
                wait_for("all requests", || (counts(&backends).iter().sum::<usize>() == all).then_some(()));
                assert_eq!(counts(&backends), [before[0] + 4, before[1], before[2] + 4], "{loops:?}");
                backends.iter().for_each(|each| each.hold(false));
                assert!(clients.iter_mut().all(|client| reply(client).is_some()), "{loops:?}");
            }
            for _ in 0..20 {
                assert!(matches!(ask_once(&balancer).as_deref(), Some("a" | "c")), "{loops:?} {bound}");
            }
            backends[1].rise();
            wait_for("the server to be used again", || ask_once(&balancer).filter(|name| name == "b"));
            share_alike(&balancer, &backends, bound);
        }
    }
}

/// Whoever connects by themselves are no servers.
#[test]
fn an_array_of_clients_has_none_that_is_least_busy() {
    let home = folder("flick_balancer", "clients");
    let program = home.join("greet.flick");
    let text_of_it = "type kv : record\n  key : string\nproc Greet : ([-/kv] clients)\n  \
                      kv(\"hello\") => clients[least_busy(clients)]\n";
    std::fs::write(&program, text_of_it).unwrap();
    let greet = support::built::build(&program, &[], &["--debug"]);
    let mut server = Server::listening(Command::new(&greet).arg("--clients=127.0.0.1:0*1").args(LOOPS[0]));
    let _client = server.connect();
    assert!(!server.wait().success());
    let why =
        "the channel `clients` cannot be bound so: clients connect there, and the program asks which of its servers";
    wait_for(why, || server.said().contains(why).then_some(()));
}

/// Who answers a client that has this address and port.
fn home(balancer: &Server, client: SocketAddrV4) -> String {
    let own = socket(AddressFamily::INET, SocketType::STREAM, Some(ipproto::TCP)).unwrap();
    sockopt::set_socket_reuseaddr(&own, true).unwrap();
    bind(&own, &client).unwrap();
    connect(&own, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, balancer.port)).unwrap();
    let mut own = TcpStream::from(own);
    own.set_read_timeout(Some(LIMIT)).unwrap();
    own.write_all(GET.as_bytes()).unwrap();
    reply(&mut own).unwrap()
}

#[test]
fn a_server_that_ends_an_idle_connection_is_asked_on_another_where_that_is_said() {
    for loops in LOOPS {
        for (bound, goes_on) in [("", false), ("; keep 4", false), ("; retry 1", true), ("; keep 4; retry 1", true)] {
            let backends = [start("a")];
            let balancer = least(&backends, bound, loops);
            let mut client = asking(&balancer);
            assert_eq!(reply(&mut client).as_deref(), Some("a"));
            backends[0].end_connections();
            // The balancer may see it later than what comes next, and then asks again as this may be repeated.
            let _ = client.write_all(GET.as_bytes());
            let why = format!("{loops:?} {bound}");
            assert_eq!(reply(&mut client).is_some(), goes_on, "{why}");
            assert_eq!(ask_once(&balancer).as_deref(), Some("a"), "{why}");
        }
    }
}

/// Answers one request, and closes.
fn answer_once(mut client: &TcpStream, state: &State) {
    if BufReader::new(client).lines().map_while(Result::ok).any(|line| line.is_empty()) && state.is_asked() {
        let reply = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n{}", state.name);
        let _ = client.write_all(reply.as_bytes());
    }
}

/// A client reads until its connection ends; then it goes on to send, which it should not: its connection is closed, or
/// the output alone.
fn ends_behind(balancer: &Server, request: &str, is_closed: bool) {
    let mut client = balancer.connect();
    client.write_all(request.as_bytes()).unwrap();
    let mut all = String::new();
    client.read_to_string(&mut all).unwrap();
    assert!(all.ends_with("\r\n\r\na"), "{request}: {all}");
    if is_closed {
        wait_for("a connection that is closed", || client.write_all(b"x").err());
    } else {
        for _ in 0..3 {
            balancer.rest();
            assert!(client.write_all(b"x").is_ok(), "{request}: it is closed");
        }
    }
}

#[test]
fn who_asks_for_nothing_more_is_closed_at_once() {
    for (loops, closes) in LOOPS.iter().zip([true, false]) {
        let balancer = least(&[Backend::start("a", answer_once)], "", loops);
        for (head, is_closed) in [
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", true),
            ("GET / HTTP/1.0\r\n\r\n", true),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi", true),
            (GET, false),
            ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false),
        ] {
            ends_behind(&balancer, head, is_closed && closes);
        }
    }
}

#[test]
fn where_a_server_comes_or_goes_clients_of_others_stay_with_theirs() {
    const CLIENTS: u8 = 240;
    let program = built("consistent");
    let backends = ["a", "b", "c", "d"].map(start);
    let [a, b, c, d] = &backends;
    let port = free_port();
    let clients: Vec<_> = (1..=CLIENTS).map(|last| SocketAddrV4::new(Ipv4Addr::new(127, 0, 3, last), port)).collect();
    let homes = |before: &Server| clients.iter().map(|client| home(before, *client)).collect::<Vec<_>>();

    let three = before(&program, &[a, b, c], "", LOOPS[0]);
    let at_first = homes(&three);
    let from_another_port: Vec<_> =
        clients.iter().map(|client| home(&three, SocketAddrV4::new(*client.ip(), 0))).collect();
    assert_eq!(from_another_port, at_first, "a client that comes again has the same");
    let of = |name: &str, homes: &[String]| homes.iter().filter(|home| *home == name).count();
    for name in ["a", "b", "c"] {
        let count = of(name, &at_first);
        assert!((40..=120).contains(&count), "each has about a third of {CLIENTS}: {name} has {count}");
    }

    let without = homes(&before(&program, &[a, c], "", LOOPS[1]));
    for (was, is) in at_first.iter().zip(&without) {
        assert!(is == was || (was == "b" && is != "b"), "from {was} to {is}, and `b` alone is gone");
    }
    assert!(["a", "c"].iter().all(|name| of(name, &without) > of(name, &at_first)), "both others have a share of it");

    // Wherever it stands in the binding.
    let with = homes(&before(&program, &[d, a, b, c], "", LOOPS[1]));
    for (was, is) in at_first.iter().zip(&with) {
        assert!(is == was || is == "d", "from {was} to {is}, and `d` alone has come");
    }
    let share = of("d", &with);
    assert!((24..=105).contains(&share), "it takes about a quarter of {CLIENTS}: {share}");
}
