//! The small servers of `examples/`, under everything that can run flows: the same answers, and the same paths counted.

use crate::support;
use crate::support::{Server, wait_for};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What runs the flows.
const RUNTIMES: [&[&str]; 6] = [
    &["--flux-runtime=thread"],
    &["--flux-runtime=pool", "--flux-workers=8"],
    &["--flux-runtime=event", "--flux-workers=1", "--flux-io=reactor"],
    &["--flux-runtime=event", "--flux-workers=2", "--flux-io=reactor"],
    &["--flux-runtime=event", "--flux-workers=1", "--flux-io=proactor"],
    &["--flux-runtime=event", "--flux-workers=2", "--flux-io=proactor"],
];

/// Servers of examples, each built once, with the peers that it has in simulated worlds.
fn echo() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_example("examples", "echo", &["test/peers.cpp"]))
}

fn relay() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_example("examples", "relay", &["relay.cpp", "test/peers.cpp"]))
}

fn chat() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_example("examples", "chat", &["chat.cpp", "test/peers.cpp"]))
}

/// A server of an example, and where its report goes.
struct Example {
    server: Server,
    report: PathBuf,
}

impl Example {
    fn start(server: &Path, runtime: &[&str], arguments: &[&str]) -> Self {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let report = server.with_file_name(format!("report-{number}.json"));
        let mut command = Command::new(server);
        command.arg("--port=0").args(runtime).args(arguments);
        command.arg(format!("--flux-report=json:{}", report.display()));
        Self { server: Server::listening(&mut command), report }
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
        paths_in(&std::fs::read_to_string(&self.report).unwrap())
    }
}

/// How often flows took each path, as a report says it.
fn paths_in(report: &str) -> BTreeMap<String, u64> {
    let report: Value = serde_json::from_str(report).unwrap();
    let label = |path: &Value| format!("{} {}", path["exit"], path["labels"]);
    report["paths"].as_array().unwrap().iter().map(|path| (label(path), path["count"].as_u64().unwrap())).collect()
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
    everywhere(|runtime| {
        let behind = Example::start(echo(), &["--flux-runtime=thread"], &[]);
        drop(behind.connect());
        let to = format!("127.0.0.1:{}", behind.server.port);
        let server = Example::start(relay(), runtime, &["--server", &to]);
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
struct Guest<'a> {
    socket: UdpSocket,
    server: &'a Server,
}

impl<'a> Guest<'a> {
    fn at(host: Ipv4Addr, server: &'a Server) -> Self {
        let socket = UdpSocket::bind(SocketAddr::new(IpAddr::V4(host), 0)).unwrap();
        socket.connect((Ipv4Addr::LOCALHOST, server.port)).unwrap();
        socket.set_nonblocking(true).unwrap();
        Self { socket, server }
    }

    fn say(&self, text: &str) {
        let _ = self.socket.send(text.as_bytes());
    }

    /// The next that comes of all that has been said.
    fn hear(&self) -> Option<String> {
        self.server.rest();
        let mut buffer = [0; 1000];
        let size = self.socket.recv(&mut buffer).ok()?;
        Some(String::from_utf8_lossy(&buffer[..size]).into_owned())
    }
}

/// Says it until it is heard: a message may be lost.
fn say_until_heard(speaker: &Guest<'_>, text: &str, listener: &Guest<'_>) {
    wait_for(text, || {
        speaker.say("join");
        listener.say("join");
        speaker.say(text);
        (listener.hear().as_deref() == Some(text)).then_some(())
    });
}

#[test]
fn the_chat_has_a_room_for_each_address() {
    for runtime in RUNTIMES {
        let server = Example::start(chat(), runtime, &[]);
        let here = Ipv4Addr::new(127, 0, 0, 1);
        let there = Ipv4Addr::new(127, 0, 0, 2);
        let [anna, bert, carl] = [here, here, there].map(|host| Guest::at(host, &server.server));
        carl.say("join");
        say_until_heard(&anna, "good morning", &bert);
        say_until_heard(&bert, "and to you", &anna);
        assert_eq!(carl.hear(), None, "{runtime:?}");
        bert.say("leave");
        server.server.rest();
        anna.say("nobody hears this");
        while let Some(heard) = bert.hear() {
            assert_ne!(heard, "nobody hears this", "{runtime:?}");
        }
        server.end();
    }
}

/// What a server does in the simulated world of a seed: whether all was well, how often its flows took each path, and
/// what it said.
fn simulate(server: &Path, seed: u64, arguments: &[&str]) -> (bool, BTreeMap<String, u64>, String) {
    let report = server.with_file_name(format!("simulated-{seed}.json"));
    let mut command = Command::new(server);
    command.arg(format!("--flux-io=simulation:{seed}")).arg(format!("--flux-report=json:{}", report.display()));
    let output = command.args(arguments).output().unwrap();
    let paths = paths_in(&std::fs::read_to_string(&report).unwrap());
    std::fs::remove_file(&report).unwrap();
    (output.status.success(), paths, support::text(&output.stderr))
}

/// Worlds in which nothing goes wrong: a server takes the same paths there as anywhere else.
fn takes_the_same_paths(server: &Path, paths: &BTreeMap<String, u64>) {
    for seed in [0, 8, 16, 24] {
        assert_eq!(simulate(server, seed, &[]).1, *paths, "{} --flux-io=simulation:{seed}", server.display());
    }
}

/// Clients that send so many bytes, each when the one before has come back, as the peers in simulated worlds do.
fn talk_by_bytes(server: &Example, bytes: u8) {
    let talk = |mut client: TcpStream| {
        (0..bytes).for_each(|byte| exchange(&mut client, &[b'a' + byte]));
        client.shutdown(Shutdown::Write).unwrap();
        assert_eq!(client.read(&mut [0; 1]).unwrap(), 0);
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| talk(server.connect())))));
}

#[test]
fn the_echo_holds_in_simulated_worlds() {
    support::holds_in_simulated_worlds(echo(), &[]);
    everywhere(|runtime| {
        let server = Example::start(echo(), runtime, &[]);
        talk_by_bytes(&server, 10);
        let paths = server.end();
        takes_the_same_paths(echo(), &paths);
        paths
    });
}

#[test]
fn the_relay_holds_in_simulated_worlds() {
    support::holds_in_simulated_worlds(relay(), &[]);
    everywhere(|runtime| {
        let behind = Example::start(echo(), &["--flux-runtime=thread"], &[]);
        drop(behind.connect());
        let to = format!("127.0.0.1:{}", behind.server.port);
        let server = Example::start(relay(), runtime, &["--server", &to]);
        talk_by_bytes(&server, 5);
        let paths = server.end();
        takes_the_same_paths(relay(), &paths);
        paths
    });
}

/// How many bytes wait in the sockets of a port for UDP; none where there is no such socket.
fn waiting_for_udp(port: u16) -> Option<u64> {
    let tables = ["/proc/net/udp", "/proc/net/udp6"].map(|table| std::fs::read_to_string(table).unwrap_or_default());
    let sockets = tables.iter().flat_map(|table| table.lines()).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_ours = fields.get(1)?.ends_with(&format!(":{port:04X}"));
        let waiting = fields.get(4)?.split(':').nth(1)?;
        is_ours.then(|| u64::from_str_radix(waiting, 16).unwrap())
    });
    sockets.fold(None, |sum, waiting| Some(sum.unwrap_or(0) + waiting))
}

#[test]
fn the_chat_holds_in_simulated_worlds() {
    support::holds_in_simulated_worlds(chat(), &[]);
    everywhere(|runtime| {
        let server = Example::start(chat(), runtime, &[]);
        let port = server.server.port;
        support::wait_for("the chat's socket", || waiting_for_udp(port));
        for host in [1, 2] {
            let guests = [(); 3].map(|()| Guest::at(Ipv4Addr::new(127, 0, 0, host), &server.server));
            guests.iter().for_each(|guest| guest.say("join"));
            guests.iter().take(2).for_each(|guest| guest.say("good morning"));
            guests.iter().take(2).for_each(|guest| guest.say("leave"));
        }
        support::wait_for("the chat's having heard all", || (waiting_for_udp(port) == Some(0)).then_some(()));
        let paths = server.end();
        takes_the_same_paths(chat(), &paths);
        paths
    });
}

#[test]
fn what_peers_expect_in_vain_is_a_fault() {
    let (is_well, paths, said) = simulate(echo(), 0, &["--port=7009"]);
    assert!(!is_well && paths.is_empty(), "{said}");
    assert!(said.contains("client1 expects in vain: who connects is served\n"), "{said}");
    assert!(said.contains("  client4 ends\n"), "the trace is missing: {said}");
}
