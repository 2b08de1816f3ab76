//! `examples/redis` beside redis-server, for the clients that there are: the same replies, byte for byte, under
//! everything that can run flows.

use crate::support;
use crate::support::{RUNTIMES, Server, text};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn example() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_example("redis", "redis", &["store.cpp"]))
}

fn start(runtime: &[&str]) -> Server {
    Server::listening(Command::new(example()).arg("--port=0").args(runtime))
}

/// What a client says of a server; one that fails ends the test.
fn said_by(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect(program);
    assert!(output.status.success(), "{program} {arguments:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn script(name: &str) -> String {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/redis/test");
    home.join(name).to_str().unwrap().to_owned()
}

#[test]
fn replies_are_those_of_redis_server() {
    let wanted = support::redis_server();
    for runtime in RUNTIMES {
        let given = start(runtime);
        let ports = [&wanted, &given].map(|server| server.port.to_string());
        said_by("python3", &[&script("same_replies.py"), &ports[0], &ports[1], "4", "40"]);
        said_by("redis-cli", &["-p", &ports[0], "flushall"]);
    }
}

#[test]
fn subscribers_hear_what_those_of_redis_server_hear() {
    let wanted = support::redis_server();
    for runtime in RUNTIMES {
        let given = start(runtime);
        let (ports, process) = (format!("{},{}", wanted.port, given.port), given.id().to_string());
        // That of the system, which has redis-py.
        said_by("/usr/bin/python3", &[&script("subscribers.py"), &ports, &process]);
    }
}

#[test]
fn redis_cli_and_redis_benchmark_are_content() {
    for runtime in RUNTIMES {
        let server = start(runtime);
        let port = server.port.to_string();
        for protocol in ["-2", "-3"] {
            let cli = |words: &[&str]| said_by("redis-cli", &[&["-p", &port, protocol, "--no-raw"], words].concat());
            assert_eq!(cli(&["set", "greeting", "hello"]), "OK\n");
            assert_eq!(cli(&["get", "greeting"]), "\"hello\"\n");
            assert_eq!(cli(&["get", "nothing"]), "(nil)\n");
            assert_eq!(cli(&["del", "count", "nothing"]).as_bytes().first(), Some(&b'('));
            assert_eq!(cli(&["incr", "count"]), "(integer) 1\n");
            assert_eq!(cli(&["mget", "greeting", "nothing"]), "1) \"hello\"\n2) (nil)\n");
            assert_eq!(cli(&["no"]), "(error) ERR unknown command 'no', with args beginning with: \n");
        }
        let load = ["-p", &port, "-t", "ping,set,get,incr,mset", "-n", "2000", "-c", "20", "-q"];
        for pipelined in ["1", "16"] {
            let said = said_by("redis-benchmark", &[&load[..], &["-P", pipelined]].concat());
            assert_eq!(said.matches("requests per second").count(), 6, "{said}");
        }
    }
}

/// Neither where a command begins a flow, nor where its line becomes an array: others are served, and what it would
/// have done is done when it comes again.
#[test]
fn a_lack_of_memory_for_a_command_ends_its_connection_alone() {
    let example = support::built::examples().join("redis");
    let sources = [example.join("store.cpp"), support::built::tests().join("support/lack.cpp")];
    let program = support::built::build(&example.join("redis.flux"), &sources, &["--debug"]);
    for runtime in RUNTIMES {
        let mut server =
            Server::listening(Command::new(&program).args(["--port=0", "--flux-report=text"]).args(runtime));
        let array = "*2\r\n$4\r\nINCR\r\n$1\r\na\r\n";
        for (signal, command) in [("-USR1", "INCR a\r\n"), ("-USR2", "INCR a\r\n"), ("-USR1", array)] {
            let mut client = server.connect();
            server.rest();
            server.signal(signal);
            server.rest();
            client.write_all(command.as_bytes()).unwrap();
            let mut came = String::new();
            let _ = client.read_to_string(&mut came);
            assert_eq!(came, "", "{runtime:?}: {signal} {command}");
        }
        let mut client = server.connect();
        client.write_all(b"INCR a\r\n").unwrap();
        let mut came = [0; 4];
        client.read_exact(&mut came).unwrap();
        assert_eq!(text(&came), ":1\r\n", "{runtime:?}");
        server.terminate();
        assert!(server.wait().success());
        let said = server.said();
        assert!(said.contains("2             0  tcp_Messages_command"), "{runtime:?}: {said}");
        assert!(said.contains("error 12 (Cannot allocate memory)"), "{runtime:?}: {said}");
        assert!(said.contains("resp.Split threw std::bad_alloc"), "{runtime:?}: {said}");
    }
}
