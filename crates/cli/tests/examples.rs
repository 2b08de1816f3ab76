//! The small servers of `examples/`, under everything that can run flows: the same answers, and the same paths counted.

#![expect(clippy::disallowed_methods, reason = "a test is a shell: it builds servers and talks to them")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod support;

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use support::{LIMIT, Server, free_port};

/// What runs the flows.
const RUNTIMES: [&[&str]; 6] = [
    &["--flux-runtime=thread"],
    &["--flux-runtime=pool", "--flux-workers=8"],
    &["--flux-runtime=event", "--flux-workers=1", "--flux-io=reactor"],
    &["--flux-runtime=event", "--flux-workers=2", "--flux-io=reactor"],
    &["--flux-runtime=event", "--flux-workers=1", "--flux-io=proactor"],
    &["--flux-runtime=event", "--flux-workers=2", "--flux-io=proactor"],
];

/// The server of an example, built once.
fn built(name: &str, once: &'static OnceLock<PathBuf>) -> &'static Path {
    once.get_or_init(|| support::build_example("examples", name))
}

fn echo() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    built("echo", &ONCE)
}

/// A server of an example, and where its report goes.
struct Example {
    server: Server,
    report: PathBuf,
}

impl Example {
    fn start(server: &Path, runtime: &[&str], arguments: &[&str]) -> Self {
        let port = free_port();
        let report = server.with_file_name(format!("report-{port}.json"));
        let mut command = Command::new(server);
        command.arg(format!("--port={port}")).args(runtime).args(arguments).stderr(Stdio::null());
        command.arg(format!("--flux-report=json:{}", report.display()));
        Self { server: Server::start(&mut command, port), report }
    }

    /// A connection, as soon as the server has started.
    fn connect(&self) -> TcpStream {
        self.server.connect()
    }

    /// Ends the server in good order: how often its flows took each path.
    fn end(mut self) -> BTreeMap<String, u64> {
        self.server.terminate();
        let status = self.server.wait();
        assert!(status.success(), "{status}");
        let report: Value = serde_json::from_str(&std::fs::read_to_string(&self.report).unwrap()).unwrap();
        let label = |path: &Value| format!("{} {}", path["exit"], path["labels"]);
        report["paths"].as_array().unwrap().iter().map(|path| (label(path), path["count"].as_u64().unwrap())).collect()
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.report);
    }
}

/// Runs the same dialogue under everything; its flows take the same paths.
fn everywhere(dialogue: impl Fn(&'static [&'static str]) -> BTreeMap<String, u64>) {
    let mut known = None;
    for runtime in RUNTIMES {
        let paths = dialogue(runtime);
        assert_eq!(*known.get_or_insert(paths.clone()), paths, "{runtime:?}");
    }
}

/// Sends something and waits until it has come back.
fn exchange(connection: &mut TcpStream, bytes: &[u8]) {
    connection.write_all(bytes).unwrap();
    let mut back = vec![0; bytes.len()];
    connection.read_exact(&mut back).unwrap();
    assert!(back == bytes, "{} bytes came back otherwise", bytes.len());
}

#[test]
fn the_echo_sends_back_what_it_is_sent() {
    everywhere(|runtime| {
        let server = Example::start(echo(), runtime, &[]);
        let mut clients: Vec<TcpStream> = (0..20).map(|_| server.connect()).collect();
        for round in 0..10 {
            for (number, client) in clients.iter_mut().enumerate() {
                exchange(client, format!("{round} of {number}").as_bytes());
            }
        }
        for client in &mut clients {
            client.shutdown(Shutdown::Write).unwrap();
            assert_eq!(client.read(&mut [0; 1]).unwrap(), 0);
        }
        let paths = server.end();
        assert_eq!(paths.values().sum::<u64>(), 220, "{runtime:?}: {paths:?}");
        paths
    });
}

#[test]
fn the_relay_carries_both_directions_at_once() {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    everywhere(|runtime| {
        let behind = Example::start(echo(), &["--flux-runtime=thread"], &[]);
        drop(behind.connect());
        let to = format!("127.0.0.1:{}", behind.server.port);
        let server = Example::start(built("relay", &ONCE), runtime, &["--server", &to]);
        let clients: Vec<_> = (0..4u8)
            .map(|number| {
                let mut client = server.connect();
                std::thread::spawn(move || {
                    exchange(&mut client, &[number; 10]);
                    let large: Vec<u8> = (0..3_000_000u32).map(|byte| byte.to_le_bytes()[0] ^ number).collect();
                    let mut sender = client.try_clone().unwrap();
                    let sent = large.clone();
                    let sending = std::thread::spawn(move || {
                        sender.write_all(&sent).unwrap();
                        sender.shutdown(Shutdown::Write).unwrap();
                    });
                    let mut back = Vec::new();
                    client.read_to_end(&mut back).unwrap();
                    sending.join().unwrap();
                    assert!(back == large, "{} bytes came back otherwise", back.len());
                })
            })
            .collect();
        for client in clients {
            client.join().unwrap();
        }
        server.end()
    });
}

/// Somebody at this address, who talks with the chat.
struct Guest {
    socket: UdpSocket,
}

impl Guest {
    fn at(host: Ipv4Addr, server: &Example) -> Self {
        let socket = UdpSocket::bind(SocketAddr::new(IpAddr::V4(host), 0)).unwrap();
        socket.connect((Ipv4Addr::LOCALHOST, server.server.port)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        Self { socket }
    }

    fn say(&self, text: &str) {
        let _ = self.socket.send(text.as_bytes());
    }

    fn hear(&self) -> Option<String> {
        let mut buffer = [0; 1000];
        let size = self.socket.recv(&mut buffer).ok()?;
        Some(String::from_utf8_lossy(&buffer[..size]).into_owned())
    }
}

/// Says it until it is heard: a message may be lost, and the server may not have started.
fn say_until_heard(speaker: &Guest, text: &str, listener: &Guest) {
    let start = Instant::now();
    loop {
        speaker.say("join");
        listener.say("join");
        speaker.say(text);
        if listener.hear().as_deref() == Some(text) {
            return;
        }
        assert!(start.elapsed() < LIMIT, "`{text}` is not heard");
    }
}

#[test]
fn the_chat_has_a_room_for_each_address() {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    for runtime in RUNTIMES {
        let server = Example::start(built("chat", &ONCE), runtime, &[]);
        let here = Ipv4Addr::new(127, 0, 0, 1);
        let there = Ipv4Addr::new(127, 0, 0, 2);
        let [anna, bert, carl] = [here, here, there].map(|host| Guest::at(host, &server));
        carl.say("join");
        say_until_heard(&anna, "good morning", &bert);
        say_until_heard(&bert, "and to you", &anna);
        assert_eq!(carl.hear(), None, "{runtime:?}");
        while bert.hear().is_some() {}
        bert.say("leave");
        std::thread::sleep(Duration::from_millis(100));
        anna.say("nobody hears this");
        assert_eq!(bert.hear(), None, "{runtime:?}");
        server.end();
    }
}
