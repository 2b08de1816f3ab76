//! Which reply is whose where a server says more or less than one reply to each request: `std.upstream` under
//! everything that can run flows.

use crate::support::backend::{Backend, State};
use crate::support::{RUNTIMES, Server, built, text};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// One that forwards requests, built once.
fn relay() -> &'static Path {
    static ONCE: OnceLock<std::path::PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| built::build(&built::tests().join("streams/relay/relay.flux"), &[], &["--debug"]))
}

/// Answers each request with its path, in a way that the path chooses.
fn answer(mut client: &TcpStream, state: &State) {
    let mut lines = BufReader::new(client).lines().map_while(Result::ok);
    while let Some(first) = lines.next() {
        if lines.by_ref().find(String::is_empty).is_none() || !state.is_asked() {
            return;
        }
        let path = first.split(' ').nth(1).unwrap_or_default();
        let interim = if path.starts_with("/hints") { "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" } else { "" };
        let close = if path.starts_with("/close") { "Connection: close\r\n" } else { "" };
        let body = if first.starts_with("HEAD") { "" } else { path };
        let behind = if path.starts_with("/twice") { "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nnobody" } else { "" };
        let reply = format!("{interim}HTTP/1.1 200 OK\r\n{close}Content-Length: {}\r\n\r\n{body}{behind}", path.len());
        if client.write_all(reply.as_bytes()).is_err() || !close.is_empty() {
            return;
        }
    }
}

/// Asks for this, and has the reply that it should have.
fn ask(client: &mut TcpStream, method: &str, path: &str, why: &str) {
    write!(client, "{method} {path} HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let close = if path.starts_with("/close") { "Connection: close\r\n" } else { "" };
    let body = if method == "HEAD" { "" } else { path };
    let expected = format!("HTTP/1.1 200 OK\r\n{close}Content-Length: {}\r\n\r\n{body}", path.len());
    let mut all = vec![0; expected.len()];
    client.read_exact(&mut all).unwrap_or_else(|error| panic!("{why}: {method} {path}: {error}"));
    assert_eq!(text(&all), expected, "{why}: {method} {path}");
}

#[test]
fn each_reply_is_for_who_has_asked() {
    let backend = Backend::start("a", answer);
    for runtime in RUNTIMES {
        for pipeline in ["--upstream-pipeline=1", "--upstream-pipeline=16"] {
            let why = format!("{runtime:?} {pipeline}");
            let to = format!("--to=127.0.0.1:{}", backend.port);
            let server = Server::listening(Command::new(relay()).args(runtime).args([&to, pipeline]));
            let [mut one, mut other] = [server.connect(), server.connect()];
            for (number, kind) in ["plain", "hints", "close", "twice", "plain"].into_iter().enumerate() {
                ask(&mut one, "GET", &format!("/{kind}-{number}"), &why);
                ask(&mut other, "GET", &format!("/plain-behind-{number}"), &why);
                ask(&mut one, "HEAD", &format!("/{kind}-{number}-head"), &why);
                ask(&mut other, "HEAD", &format!("/hints-behind-{number}"), &why);
                ask(&mut other, "GET", &format!("/hints-again-{number}"), &why);
            }
        }
    }
}

/// As many as there are connections to the server: each goes back.
#[test]
fn replies_without_content_hold_no_connection() {
    let backend = Backend::start("a", answer);
    for runtime in RUNTIMES {
        let arguments = [format!("--to=127.0.0.1:{}", backend.port), "--upstream-most=2".to_owned()];
        let server = Server::listening(Command::new(relay()).args(runtime).args(arguments));
        let mut clients: Vec<_> = (0..6).map(|_| server.connect()).collect();
        for (number, client) in clients.iter_mut().enumerate() {
            ask(client, "HEAD", &format!("/{number}"), &format!("{runtime:?}"));
        }
        ask(&mut clients[0], "GET", "/last", &format!("{runtime:?}"));
    }
}

/// Answers each line as its first word says.
fn answer_lines(mut client: &TcpStream, state: &State) {
    for text in BufReader::new(client).lines().map_while(Result::ok) {
        if !state.is_asked() {
            return;
        }
        let more = if text.starts_with("brief") { "" } else { "more\n" };
        let kind = if text.contains("close") {
            "c"
        } else if text.contains("switch") {
            "m"
        } else {
            "o"
        };
        let interim = format!("i{text}\n{more}");
        let count = if text.contains("flood") { 40 } else { usize::from(text.contains("hint")) };
        let all = format!("{}{kind}{text}\n{more}", interim.repeat(count));
        if client.write_all(all.as_bytes()).is_err() || kind != "o" {
            return;
        }
    }
}

/// Clients whose calls share one connection: each gets the answer to its own question, or the end of its connection
/// where another client's answer has ended that of the server.
#[test]
fn calls_that_share_a_connection_have_their_own_replies() {
    let program = built::build(&built::tests().join("upstream_replies/lines.flux"), &[], &["--debug"]);
    let backend = Backend::start("a", answer_lines);
    for runtime in RUNTIMES {
        let arguments = ["--upstream-pipeline=16", "--upstream-most=1"].map(str::to_owned);
        let to = format!("--to=127.0.0.1:{}", backend.port);
        let server = Server::listening(Command::new(&program).args(runtime).args(arguments).arg(to));
        for kinds in [&["plain", "hint", "brief", "brief hint"][..], &["plain", "brief", "close", "switch", "flood"]] {
            let answered: usize = std::thread::scope(|scope| {
                let ask = |client: usize| {
                    let (server, kinds) = (&server, &kinds);
                    move || (0..30).filter(|round| asks(server, kinds[(client + round) % kinds.len()], client)).count()
                };
                let all: Vec<_> = (0..6).map(|client| scope.spawn(ask(client))).collect();
                all.into_iter().map(|one| one.join().unwrap()).sum()
            });
            let is_mean = kinds.contains(&"flood");
            assert!(if is_mean { answered > 30 } else { answered == 180 }, "{runtime:?} {kinds:?}: {answered}");
        }
    }
}

/// Whether a question of this kind is answered, and not the connection ended; the answer is the right one.
fn asks(server: &Server, kind: &str, client: usize) -> bool {
    let mut own = server.connect();
    let question = format!("{kind} {client} {}", own.local_addr().unwrap());
    writeln!(own, "{question}").unwrap();
    own.shutdown(std::net::Shutdown::Write).unwrap();
    let mut all = Vec::new();
    let _ = own.read_to_end(&mut all);
    let letter = match kind {
        "close" => "c",
        "switch" => "m",
        _ => "o",
    };
    let more = if kind.starts_with("brief") { "" } else { "more\n" };
    assert!(all.is_empty() || text(&all) == format!("{letter}{question}\n{more}"), "{question}: {}", text(&all));
    assert!(all.is_empty() || kind != "flood", "{question}");
    !all.is_empty()
}
