//! `examples/redis` beside redis-server, for the clients that there are: the same replies, byte for byte, under
//! everything that can run flows.

#![expect(clippy::disallowed_methods, reason = "a test is a shell: it builds servers and talks to them")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "a test that cannot go on fails")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use support::{RUNTIMES, Server, text};

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
