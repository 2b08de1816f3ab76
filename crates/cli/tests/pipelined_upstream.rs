//! Commands of many clients that go to redis-server over two connections, pipelined, under everything that can run
//! flows: each client has its own replies.

use crate::support;
use crate::support::{RUNTIMES, Server, text};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};

const CLIENTS: usize = 24;
const COMMANDS: usize = 200;
/// Connections to redis-server at most, of each loop.
const MOST: usize = 2;

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

/// The relay, built once.
fn built() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_own("pipelined_upstream", "relay", &[]))
}

/// A relay to this port, with so many commands on a connection.
fn relay(runtime: &[&str], to: u16, pipeline: usize) -> Server {
    let mut command = Command::new(built());
    command.arg(format!("--to=127.0.0.1:{to}")).arg(format!("--upstream-pipeline={pipeline}"));
    Server::listening(command.arg(format!("--upstream-most={MOST}")).args(runtime))
}

/// A server that ends its first connection when a command has come, and answers all others.
fn breaks_off_once() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for (number, connection) in listener.incoming().enumerate() {
            let mut connection = connection.unwrap();
            let mut command = [0; 1000];
            while connection.read(&mut command).is_ok_and(|size| size > 0) && number > 0 {
                connection.write_all(b"+here\r\n").unwrap();
            }
        }
    });
    port
}

#[test]
fn what_only_reads_is_sent_once_more() {
    for (runtime, pipeline) in RUNTIMES.into_iter().flat_map(|runtime| [(runtime, 1), (runtime, 16)]) {
        let get = format!("*2\r\n{}{}", bulk("GET"), bulk("key"));
        let server = relay(runtime, breaks_off_once(), pipeline);
        assert_eq!(ask(&mut server.connect(), &get, "+here\r\n"), "+here\r\n", "{runtime:?}, {pipeline}");
        let server = relay(runtime, breaks_off_once(), pipeline);
        let mut client = server.connect();
        client.write_all(format!("*2\r\n{}{}", bulk("INCR"), bulk("key")).as_bytes()).unwrap();
        let mut rest = vec![];
        client.read_to_end(&mut rest).unwrap();
        assert_eq!(text(&rest), "", "what may have been done is not done again: {runtime:?}, {pipeline}");
    }
}

/// A server that says more than it was asked on its first connection.
fn says_more_once() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for (number, connection) in listener.incoming().enumerate() {
            let answer: &[u8] = if number == 0 { b"+first\r\n+more\r\n" } else { b"+here\r\n" };
            let mut connection = connection.unwrap();
            let mut command = [0; 1000];
            while connection.read(&mut command).is_ok_and(|size| size > 0) {
                connection.write_all(answer).unwrap();
            }
        }
    });
    port
}

#[test]
fn what_nobody_asked_for_is_no_reply() {
    for (runtime, pipeline) in RUNTIMES.into_iter().flat_map(|runtime| [(runtime, 1), (runtime, 16)]) {
        let server = relay(runtime, says_more_once(), pipeline);
        let mut client = server.connect();
        for expected in ["+first\r\n", "+here\r\n"] {
            assert_eq!(ask(&mut client, "*1\r\n$4\r\nPING\r\n", expected), expected, "{runtime:?}, {pipeline}");
        }
    }
}

/// A server that has its first connection, reads nothing from it, and ends it when it is told to; it answers all
/// others.
fn reads_nothing_once(accepted: Sender<()>, end: Receiver<()>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let first = listener.accept().unwrap();
        accepted.send(()).unwrap();
        let ends = std::thread::spawn(move || {
            end.recv().unwrap();
            drop(first);
        });
        for connection in listener.incoming() {
            std::thread::spawn(move || {
                let mut connection = connection.unwrap();
                let mut command = [0; 1000];
                while connection.read(&mut command).is_ok_and(|size| size > 0) {
                    connection.write_all(b"+here\r\n").unwrap();
                }
            });
        }
        ends.join().unwrap();
    });
    port
}

#[test]
fn what_was_not_sent_yet_is_sent_on_another_connection() {
    for runtime in RUNTIMES {
        let ((accepted, has_accepted), (end, ends)) = (channel(), channel());
        let server = relay(runtime, reads_nothing_once(accepted, ends), 16);
        // More than the kernel takes for a peer that does not read.
        let mut large = server.connect();
        let command = format!("*2\r\n{}{}", bulk("INCR"), bulk(&"x".repeat(12 << 20)));
        let sends = std::thread::spawn(move || {
            let _ = large.write_all(command.as_bytes());
            let mut rest = vec![];
            let _ = large.read_to_end(&mut rest);
            text(&rest)
        });
        has_accepted.recv().unwrap();
        let mut small = server.connect();
        small.write_all(format!("*2\r\n{}{}", bulk("INCR"), bulk("key")).as_bytes()).unwrap();
        // It is in the line behind the other one by then, or comes later, and nothing was sent of it.
        server.rest();
        end.send(()).unwrap();
        let mut came = [0; 7];
        small.read_exact(&mut came).unwrap();
        assert_eq!(text(&came), "+here\r\n", "{runtime:?}");
        assert_eq!(sends.join().unwrap(), "", "of this one something was sent: {runtime:?}");
    }
}

#[test]
fn each_client_has_its_own_replies() {
    for runtime in RUNTIMES {
        let redis = support::redis_server();
        let relay = relay(runtime, redis.port, 16);
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
