//! Commands of many clients that go to redis-server over two connections, pipelined, under everything that can run
//! flows: each client has its own replies.

#![expect(clippy::disallowed_methods, reason = "a test is a shell: it builds servers and talks to them")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "a test that cannot go on fails")]

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use support::{RUNTIMES, Server, text};

const CLIENTS: usize = 24;
const COMMANDS: usize = 200;
/// Connections to redis-server at most, of each loop.
const MOST: usize = 2;

fn redis_server() -> Server {
    let port = support::free_port();
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
    let server = Server::start(command.stdout(Stdio::null()), port);
    server.connect();
    server
}

/// Sends a command, and gives what comes, of which so many bytes are expected.
fn ask(client: &mut TcpStream, command: &str, expected: &str) -> String {
    client.write_all(command.as_bytes()).unwrap();
    let mut came = vec![0; expected.len()];
    client.read_exact(&mut came).unwrap();
    text(&came)
}

/// A word as Redis takes it.
fn bulk(word: &str) -> String {
    format!("${}\r\n{word}\r\n", word.len())
}

/// Every word is sent by one client alone, so another's reply is none of its own.
fn ask_for_own_words(relay: &Server, client: usize) {
    let mut connection = relay.connect();
    for number in 0..COMMANDS {
        let word = format!("word {number} of {client} {}", "x".repeat(number * 7 % 300));
        let expected = bulk(&word);
        let command = format!("*2\r\n{}{}", bulk("ECHO"), bulk(&word));
        assert_eq!(ask(&mut connection, &command, &expected), expected);
    }
}

/// How many clients redis-server has had.
fn connections(redis: &Server) -> usize {
    let said = Command::new("redis-cli").args(["-p", &redis.port.to_string(), "info", "clients"]).output().unwrap();
    let said = text(&said.stdout);
    let count = said.lines().find_map(|line| line.strip_prefix("connected_clients:")).unwrap();
    count.trim().parse().unwrap()
}

#[test]
fn each_client_has_its_own_replies() {
    let folder = support::folder("pipelined_upstream", "relay");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pipelined_upstream/relay.flux");
    let built = folder.join("relay");
    let mut flux = Command::new(env!("CARGO_BIN_EXE_flux"));
    flux.arg("build").arg(program).arg("--build-dir").arg(folder.join("build")).arg("-o").arg(&built);
    let said = flux.output().unwrap();
    assert!(said.status.success(), "{}", text(&said.stderr));
    for runtime in RUNTIMES {
        let redis = redis_server();
        let mut relay = Command::new(&built);
        relay.arg(format!("--to=127.0.0.1:{}", redis.port)).args(["--upstream-pipeline=16"]);
        let relay = Server::listening(relay.arg(format!("--upstream-most={MOST}")).args(runtime));
        std::thread::scope(|scope| {
            for client in 0..CLIENTS {
                let relay = &relay;
                scope.spawn(move || ask_for_own_words(relay, client));
            }
        });
        let loops = std::thread::available_parallelism().unwrap().get();
        let most = MOST * loops + 1;
        assert!(connections(&redis) <= most, "{} connections under {runtime:?}", connections(&redis));
        // Where redis-server is gone, who asks is told so by the end of the connection.
        drop(redis);
        let mut last = relay.connect();
        last.write_all(b"PING\r\n").unwrap();
        let mut rest = vec![];
        last.read_to_end(&mut rest).unwrap();
        assert_eq!(text(&rest), "", "{runtime:?}");
    }
}
