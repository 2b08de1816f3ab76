//! The servers of `examples/` that talk in lines, under everything that can run flows: what they answer, and that
//! clients who are slow hold up nobody else.

use crate::support;
use crate::support::{LIMIT, RUNTIMES, Server};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// More than a pool has threads.
const SLOW_CLIENTS: usize = 20;

/// The servers, each built once, with the peers that it has in simulated worlds.
fn store() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_example("line_servers", "store", &["store.cpp", "test/peers.cpp"]))
}

fn aggregator() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_example("line_servers", "aggregator", &["aggregator.cpp", "test/peers.cpp"]))
}

fn scores() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_example("line_servers", "scores", &["scores.cpp", "test/peers.cpp"]))
}

fn timings() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_example("line_servers", "timings", &[]))
}

fn start(server: &Path, runtime: &[&str], arguments: &[&str]) -> Server {
    Server::listening(Command::new(server).arg("--listen=127.0.0.1:0").args(runtime).args(arguments))
}

/// A client that sends lines and reads lines.
struct Client {
    reader: BufReader<TcpStream>,
}

impl Client {
    fn of(server: &Server) -> Self {
        Self { reader: BufReader::new(server.connect()) }
    }

    fn send(&self, text: &str) {
        self.reader.get_ref().write_all(text.as_bytes()).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        line
    }

    fn ask(&mut self, line: &str) -> String {
        self.send(&format!("{line}\n"));
        self.line()
    }

    /// What comes until the server ends the connection.
    fn rest(mut self) -> String {
        let mut rest = Vec::new();
        // One whose input was not read to its end is reset.
        let _ = self.reader.read_to_end(&mut rest);
        support::text(&rest)
    }
}

#[test]
fn the_store_answers_lines_in_order() {
    for runtime in RUNTIMES {
        let server = start(store(), runtime, &["--longest-line=1k"]);
        let mut client = Client::of(&server);
        assert_eq!(client.ask("GET colour"), "NONE\n", "{runtime:?}");
        assert_eq!(client.ask("SET colour light blue\r"), "OK\n");
        assert_eq!(client.ask("GET colour"), "VALUE light blue\n");
        assert_eq!(client.ask("colour?"), "ERROR\n");
        // A line in two pieces, and the next with its second.
        client.send("DEL col");
        assert_eq!(Client::of(&server).ask("GET colour"), "VALUE light blue\n");
        client.send("our\nDEL colour\n");
        assert_eq!((client.line().as_str(), client.line().as_str()), ("OK\n", "NONE\n"));
        // Many at once, then the end of the input.
        client.send(&(0..500).map(|number| format!("SET {number} {number}\nGET {number}\n")).collect::<String>());
        client.reader.get_ref().shutdown(Shutdown::Write).unwrap();
        let expected: String = (0..500).map(|number| format!("OK\nVALUE {number}\n")).collect();
        assert!(client.rest() == expected, "{runtime:?}");
        let long = Client::of(&server);
        long.send(&"x".repeat(2000));
        assert_eq!(long.rest(), "", "{runtime:?}: a line that is too long ends its connection");
    }
}

#[test]
fn clients_of_the_store_share_it() {
    for runtime in RUNTIMES {
        let server = start(store(), runtime, &[]);
        let work = |number: usize| {
            let mut client = Client::of(&server);
            for round in 0..100 {
                assert_eq!(client.ask(&format!("SET own{number} {round}")), "OK\n");
                assert_eq!(client.ask(&format!("GET own{number}")), format!("VALUE {round}\n"));
                assert_eq!(client.ask(&format!("SET shared {number}")), "OK\n");
                assert!(client.ask("GET shared").starts_with("VALUE "));
            }
        };
        std::thread::scope(|scope| (0..8).for_each(|number| drop(scope.spawn(move || work(number)))));
    }
}

/// Clients of which each has sent half a line.
fn send_half_lines(server: &Server) -> Vec<Client> {
    let clients: Vec<Client> = (0..SLOW_CLIENTS).map(|_| Client::of(server)).collect();
    clients.iter().for_each(|client| client.send("GE"));
    clients
}

/// Clients that ask as long as they can and read no answer.
fn read_nothing(server: &Server, request: &str) -> Vec<TcpStream> {
    let requests = request.repeat(100_000 / request.len());
    let stubborn = |_| {
        let mut client = server.connect();
        client.set_nonblocking(true).unwrap();
        while client.write_all(requests.as_bytes()).is_ok() {}
        client
    };
    (0..SLOW_CLIENTS).map(stubborn).collect()
}

#[test]
fn slow_clients_of_the_store_hold_up_nobody() {
    for runtime in RUNTIMES {
        // Nobody is sent away meanwhile.
        let server = start(store(), runtime, &["--tcp-request=0s", "--tcp-idle=0s", "--tcp-first-byte=0s"]);
        let mut client = Client::of(&server);
        assert_eq!(client.ask(&format!("SET large {}", "x".repeat(60_000))), "OK\n");
        let halves = send_half_lines(&server);
        assert!(client.ask("GET large").starts_with("VALUE xx"), "{runtime:?}");
        let readers = read_nothing(&server, "GET large\n");
        assert_eq!(client.ask("GET none"), "NONE\n", "{runtime:?}");
        for mut half in halves {
            assert_eq!(half.ask("T none"), "NONE\n", "{runtime:?}");
        }
        drop(readers);
    }
}

#[test]
fn who_takes_too_long_is_sent_away() {
    for runtime in RUNTIMES {
        let server = start(store(), runtime, &["--tcp-request=300ms", "--tcp-idle=0s", "--tcp-first-byte=100ms"]);
        let half = Client::of(&server);
        half.send("GET a");
        assert_eq!(half.rest(), "", "{runtime:?}: half a request");
        assert_eq!(Client::of(&server).rest(), "", "{runtime:?}: nothing");
        let server = start(store(), runtime, &["--tcp-request=0s", "--tcp-idle=400ms", "--tcp-first-byte=0s"]);
        let mut idle = Client::of(&server);
        assert_eq!(idle.ask("GET a"), "NONE\n");
        assert_eq!(idle.rest(), "", "{runtime:?}: nothing after a request");
    }
}

#[test]
fn the_store_listens_on_a_unix_socket() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::UnixStream;
    let path = support::folder("line_servers", "unix").join("socket");
    for runtime in RUNTIMES {
        // The file of the server before is still there.
        let mut command = Command::new(store());
        command.arg(format!("--listen=unix:{}", path.display())).arg("--tcp-unix-mode=660").args(runtime);
        let server = Server::listening(&mut command);
        assert!(server.said().contains(&format!("listening on unix:{}\n", path.display())), "{}", server.said());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o660);
        let mut client = UnixStream::connect(&path).unwrap();
        client.set_read_timeout(Some(LIMIT)).unwrap();
        client.write_all(b"SET a b\nGET a\n").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut said = String::new();
        client.read_to_string(&mut said).unwrap();
        assert_eq!(said, "OK\nVALUE b\n", "{runtime:?}");
        let second = Command::new(store()).arg(format!("--listen=unix:{}", path.display())).output().unwrap();
        let said = support::text(&second.stderr);
        assert!(said.contains("socket: Address already in use"), "{said}");
    }
}

#[test]
fn an_address_that_is_none_is_refused() {
    for address in ["localhost:80", "127.0.0.1:65536", "unix:", "somewhere"] {
        let ended = Command::new(store()).arg(format!("--listen={address}")).output().unwrap();
        let said = format!("flux: tcp.Listen: cannot listen on {address}: it is to be a port from 0 to 65535,");
        assert_eq!(ended.status.code(), Some(1), "{address}");
        assert!(support::text(&ended.stderr).contains(&said), "{}", support::text(&ended.stderr));
    }
}

/// A server that the aggregator asks: it answers each line with its name before it, but says nothing to `slow NAME`,
/// and ends the connection after its answer to `last NAME`. Its address, and how many connections it has accepted.
fn upstream(name: char) -> (String, Arc<AtomicUsize>) {
    let accepted = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&accepted);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serve = move |client: TcpStream| {
        let mut reader = BufReader::new(client);
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|count| count != 0) {
            let answers = !line.contains(&format!("slow {name}"));
            if answers && reader.get_ref().write_all(format!("{name}:{line}").as_bytes()).is_err() {
                break;
            }
            if line.contains(&format!("last {name}")) {
                break;
            }
            line.clear();
        }
    };
    std::thread::spawn(move || {
        for client in listener.incoming() {
            counted.fetch_add(1, Ordering::Relaxed);
            std::thread::spawn(move || serve(client.unwrap()));
        }
    });
    (address, accepted)
}

/// Asks until the answer is this: on a slow machine a server of the aggregator's may not answer in time.
fn asks_until(client: &mut Client, line: &str, answer: &str) {
    support::wait_for(answer, || (client.ask(line) == answer).then_some(()));
}

#[test]
fn the_aggregator_answers_with_what_it_has_in_time() {
    let [first, second] = ['A', 'B'].map(|name| upstream(name).0);
    for runtime in RUNTIMES {
        let [first, second] = [format!("--first={first}"), format!("--second={second}")];
        let server = start(aggregator(), runtime, &[&first, &second, "--patience=3s"]);
        let mut client = Client::of(&server);
        asks_until(&mut client, "one", "A:one | B:one\n");
        asks_until(&mut client, "slow A", "(slow) | B:slow A\n");
        let dead = start(aggregator(), runtime, &["--first=127.0.0.1:1", &second, "--patience=1m"]);
        assert_eq!(Client::of(&dead).ask("two"), "(dead) | B:two\n", "{runtime:?}");
    }
}

/// An aggregator with two servers: the first by its name, with its connections counted, and the second by its address.
struct Aggregated {
    first: String,
    second: String,
    accepted: Arc<AtomicUsize>,
}

impl Aggregated {
    fn new() -> Self {
        let [(first, accepted), (second, _)] = ['A', 'B'].map(upstream);
        let by_name = first.replace("127.0.0.1", "localhost");
        Self { first: format!("--first={by_name}"), second: format!("--second={second}"), accepted }
    }

    fn start(&self, runtime: &[&str], arguments: &[&str]) -> Server {
        self.accepted.store(0, Ordering::Relaxed);
        let own = [self.first.as_str(), self.second.as_str()];
        start(aggregator(), runtime, &[&own, arguments].concat())
    }

    /// Waits until the server has no connection to the first any more.
    fn wait_for_ends(&self, server: &Server) {
        let port = self.first.rsplit(':').next().unwrap().parse().unwrap();
        support::wait_for("the end of connections", || (support::sockets::open_to(port) == 0).then_some(()));
        server.rest();
    }

    fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }
}

#[test]
fn connections_to_a_server_are_borrowed_and_given_back() {
    let both = Aggregated::new();
    for runtime in RUNTIMES {
        let server = both.start(runtime, &["--patience=1m", "--upstream-most=1"]);
        let ask = |number: usize| {
            let mut client = Client::of(&server);
            for round in 0..20 {
                let line = format!("{number} {round}");
                assert_eq!(client.ask(&line), format!("A:{line} | B:{line}\n"), "{runtime:?}");
            }
        };
        std::thread::scope(|scope| (0..6).for_each(|number| drop(scope.spawn(move || ask(number)))));
        // Each of two loops may have one.
        assert!((1..=2).contains(&both.accepted()), "{runtime:?}: {} connections", both.accepted());
    }
}

#[test]
fn a_connection_that_is_not_given_back_leaves_its_place() {
    let both = Aggregated::new();
    for runtime in RUNTIMES {
        let server = both.start(runtime, &["--patience=200ms", "--upstream-most=1"]);
        let mut client = Client::of(&server);
        for _ in 0..3 {
            asks_until(&mut client, "slow A", "(slow) | B:slow A\n");
        }
        asks_until(&mut client, "one", "A:one | B:one\n");
        assert!(both.accepted() >= 4, "{runtime:?}: {} connections", both.accepted());
    }
}

#[test]
fn a_connection_that_its_server_has_ended_is_not_borrowed() {
    let both = Aggregated::new();
    for runtime in RUNTIMES {
        let server = both.start(runtime, &["--patience=1m"]);
        let mut client = Client::of(&server);
        for round in 1..=3 {
            assert_eq!(client.ask("last A"), "A:last A | B:last A\n", "{runtime:?}");
            both.wait_for_ends(&server);
            assert_eq!(both.accepted(), round, "{runtime:?}");
        }
    }
}

#[test]
fn who_waits_for_a_connection_waits_no_longer_than_the_limit() {
    let both = Aggregated::new();
    for runtime in RUNTIMES {
        let server = both.start(runtime, &["--patience=1m", "--upstream-most=1", "--upstream-wait=50ms"]);
        // Each of two loops may have one. Both of these may be on one loop, which the next avoid, so clients come and
        // stay until one is there, too.
        let slow = [(); 2].map(|()| Client::of(&server));
        slow.iter().for_each(|client| client.send("slow A\n"));
        support::wait_for("the slow requests", || (both.accepted() != 0).then_some(()));
        let mut others = vec![];
        support::wait_for("a refusal", || {
            let mut client = Client::of(&server);
            let answer = client.ask("two");
            others.push(client);
            (answer == "(dead) | B:two\n").then_some(())
        });
        support::wait_for("its reason", || server.said().contains("Device or resource busy").then_some(()));
    }
}

#[test]
fn few_connections_are_kept_and_not_for_long() {
    let both = Aggregated::new();
    for (arguments, expected) in
        [(["--upstream-most-idle=0", "--upstream-idle=1m"], 3), (["--upstream-most-idle=9", "--upstream-idle=10ms"], 3)]
    {
        for runtime in RUNTIMES {
            let server = both.start(runtime, &["--patience=1m", arguments[0], arguments[1]]);
            let mut client = Client::of(&server);
            for _ in 0..expected {
                assert_eq!(client.ask("one"), "A:one | B:one\n", "{runtime:?}");
                both.wait_for_ends(&server);
            }
            assert_eq!(both.accepted(), expected, "{runtime:?} {arguments:?}");
        }
    }
}

#[test]
fn slow_clients_of_the_aggregator_hold_up_nobody() {
    let [first, second] = ['A', 'B'].map(|name| upstream(name).0);
    for runtime in RUNTIMES {
        let [first, second] = [format!("--first={first}"), format!("--second={second}")];
        let own = [first.as_str(), second.as_str(), "--patience=1m", "--tcp-request=0s", "--tcp-first-byte=0s"];
        let server = start(aggregator(), runtime, &own);
        let halves = send_half_lines(&server);
        let mut client = Client::of(&server);
        assert_eq!(client.ask("one"), "A:one | B:one\n", "{runtime:?}");
        let readers = read_nothing(&server, &format!("{}\n", "x".repeat(60_000)));
        assert_eq!(client.ask("two"), "A:two | B:two\n", "{runtime:?}");
        for mut half in halves {
            assert_eq!(half.ask("T"), "A:GET | B:GET\n", "{runtime:?}");
        }
        drop(readers);
    }
}

#[test]
fn timings_are_summed_up_without_cpp() {
    for runtime in RUNTIMES {
        let server = start(timings(), runtime, &[]);
        let mut client = Client::of(&server);
        assert_eq!(client.ask("db=30 api=12 db=50"), "api 1 12 12, db 2 40 50\n", "{runtime:?}");
        assert_eq!(client.ask("  a=4294967295 a=4294967295 "), "a 2 4294967295 4294967295\n", "{runtime:?}");
        assert_eq!(client.ask(" "), "no timings\n", "{runtime:?}");
        for wrong in ["a", "a=x", "a=4294967296", "a=-1"] {
            assert_eq!(client.ask(wrong), "write name=milliseconds\n", "{runtime:?}: {wrong}");
        }
    }
}

#[test]
fn the_scores_are_in_a_database() {
    for (number, runtime) in RUNTIMES.into_iter().enumerate() {
        let folder = support::folder("line_servers", &format!("database{number}"));
        let database = format!("--database={}", folder.join("scores.db").display());
        let server = start(scores(), runtime, &[&database]);
        let add = |own: usize| {
            let mut client = Client::of(&server);
            for points in 1..=20 {
                assert!(client.ask("ADD all 1").starts_with("OK "), "{runtime:?}");
                assert_eq!(client.ask(&format!("ADD own{own} 1")), format!("OK {points}\n"), "{runtime:?}");
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|own| drop(scope.spawn(move || add(own)))));
        drop(server);
        let again = start(scores(), runtime, &[&database]);
        let mut client = Client::of(&again);
        client.send("TOP 2\n");
        assert_eq!([client.line(), client.line(), client.line()], ["all 80\n", "own0 20\n", ".\n"], "{runtime:?}");
        assert_eq!(client.ask("ADD o'neill 5"), "OK 5\n");
        for wrong in ["ADD x", "ADD x y", "TOP many", "HELP"] {
            assert!(client.ask(wrong).starts_with("ERROR"), "{runtime:?}: {wrong}");
        }
    }
}

#[test]
fn slow_clients_of_the_scores_hold_up_nobody() {
    let folder = support::folder("line_servers", "slow_scores");
    for runtime in RUNTIMES {
        let database = format!("--database={}", folder.join("scores.db").display());
        let server = start(scores(), runtime, &[&database, "--tcp-request=0s", "--tcp-idle=0s", "--tcp-first-byte=0s"]);
        let mut client = Client::of(&server);
        for number in 0..100 {
            assert_eq!(client.ask(&format!("ADD {number}{} 0", "x".repeat(60))), "OK 0\n", "{runtime:?}");
        }
        let halves = send_half_lines(&server);
        let readers = read_nothing(&server, "TOP 100\n");
        assert_eq!(client.ask("ADD one 0"), "OK 0\n", "{runtime:?}");
        for mut half in halves {
            assert!(half.ask("T").starts_with("ERROR"), "{runtime:?}");
        }
        drop(readers);
    }
}

#[test]
fn scores_that_cannot_be_kept_are_refused() {
    let refused = Command::new(scores()).args(["--listen=127.0.0.1:0", "--database=none/scores.db"]).output().unwrap();
    let said = "flux: scores does not start: none/scores.db: unable to open database file\n";
    assert!(support::text(&refused.stderr).ends_with(said), "{refused:?}");
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn the_line_servers_hold_in_simulated_worlds() {
    support::holds_in_simulated_worlds(store(), &[]);
    support::holds_in_simulated_worlds(aggregator(), &[]);
    support::holds_in_simulated_worlds(scores(), &["--database=:memory:"]);
}

#[test]
fn a_client_that_closes_is_no_failure() {
    let [first, second] = ['A', 'B'].map(|name| upstream(name).0);
    let [first, second] = [format!("--first={first}"), format!("--second={second}")];
    let servers: [(_, &[&str], _); 3] = [
        (store(), &[], "SET a b"),
        (aggregator(), &[&first, &second, "--patience=1m"], "one"),
        (scores(), &["--database=:memory:"], "ADD ada 1"),
    ];
    for (server, arguments, request) in servers {
        for runtime in RUNTIMES {
            let mut server = start(server, &[runtime, &["--flux-report"]].concat(), arguments);
            for _ in 0..3 {
                assert!(!Client::of(&server).ask(request).is_empty(), "{runtime:?}");
            }
            let mut last = Client::of(&server);
            assert!(!last.ask(request).is_empty() && !last.ask(request).is_empty(), "{runtime:?}");
            last.reader.get_ref().shutdown(Shutdown::Write).unwrap();
            assert_eq!(last.rest(), "", "{runtime:?}");
            server.terminate();
            server.wait();
            let said = support::wait_for("the report", || Some(server.said()).filter(|said| said.contains("flows: ")));
            assert!(said.contains(" 0 failed, 0 ended by an error handler, 0 cancelled"), "{runtime:?}: {said}");
            assert!(!said.contains("no handler takes") && !said.contains("closed at the end of a flow"), "{said}");
        }
    }
}
