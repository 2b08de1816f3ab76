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
    ONCE.get_or_init(|| support::build_example("redis", "redis", &["store.cpp", "commands.cpp"]))
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

/// What a server says to these bytes and a QUIT until it closes the connection. The version of the server and the
/// number of the client are left out.
fn said_to(server: &Server, bytes: &[u8], part: usize) -> String {
    let mut client = server.connect();
    // A server that has closed the connection does not read the rest.
    let _ = [bytes, b"QUIT\r\n"].concat().chunks(part).try_for_each(|part| client.write_all(part));
    let mut said = vec![];
    let _ = client.read_to_end(&mut said);
    let mut said = text(&said);
    for (begin, end) in [("version\r\n", "$5\r\nproto"), ("id\r\n", "$4\r\nmode")] {
        let parts = said.split(begin).map(|part| part.find(end).and_then(|at| part.get(at..)).unwrap_or(part));
        said = parts.collect::<Vec<_>>().join(begin);
    }
    said
}

fn are_answered_as_by_redis_server(cases: &[&[u8]]) {
    let theirs = support::redis_server();
    let wanted: Vec<_> = cases.iter().map(|bytes| said_to(&theirs, bytes, bytes.len() + 6)).collect();
    for runtime in RUNTIMES {
        let ours = start(runtime);
        for (bytes, wanted) in cases.iter().zip(&wanted) {
            let (whole, in_bytes) = (said_to(&ours, bytes, bytes.len() + 6), said_to(&ours, bytes, 1));
            assert_eq!((&whole, &in_bytes), (wanted, wanted), "{runtime:?}: {}", bytes.escape_ascii());
        }
    }
}

#[test]
fn protocol_errors_are_answered_as_by_redis_server() {
    are_answered_as_by_redis_server(&[
        b"*x\r\n",
        b"*\r\n",
        b"*1x\r\n$4\r\nPING\r\n",
        b"*2147483648\r\n",
        b"*99999999999999999999\r\n",
        b"*-10\r\nPING\r\n",
        b"*1\r\nPING\r\n",
        b"*1\r\n\r\nPING\r\n",
        b"*1\r\n\xff\r\n",
        b"*1\r\n$blabla\r\n",
        b"*1\r\n$-1\r\n",
        b"*1\r\n$4x\r\nPING\r\n",
        b"*1\r\n$600000000\r\nPING\r\n",
        b"*2\r\n$4\r\nECHO\r\n:1\r\n",
        b"*4\r\n$4\r\nMGET\r\n$1\r\na\r\n$1\r\nb\r\n+x\r\n",
        b"*4\r\n$4\r\nMGET\r\n$1\r\na\r\n$1\r\nb\r\n$x\r\n",
        b"*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n*x\r\n*1\r\n$4\r\nPING\r\n",
        b"set \"\"\"a\"\"\" b\r\n",
        b"get 'a\r\n*1\r\n$4\r\nPING\r\n",
        &[b'x'; 200_000],
    ]);
    // redis-server waits for more here.
    let said = said_to(&start(RUNTIMES[0]), b"*1\r\n\0", 100);
    assert_eq!(said, "-ERR Protocol error: expected '$', got '\0'\r\n");
}

/// A web page can make a browser send commands in a request (redis#3500).
#[test]
fn a_request_of_http_ends_its_connection() {
    are_answered_as_by_redis_server(&[
        b"POST / HTTP/1.1\r\nHost: a\r\n\r\nSET pwned 1\r\n",
        b"Host: a\r\n\r\nSET pwned 1\r\n",
        b"*1\r\n$4\r\nPost\r\n",
        b"*2\r\n$5\r\nhost:\r\n$1\r\na\r\n",
        b"GET pwned\r\n",
        b"POSTS\r\nhost\r\n",
    ]);
}

#[test]
fn hello_is_answered_as_by_redis_server() {
    are_answered_as_by_redis_server(&[
        b"HELLO\r\n",
        b"HELLO 2\r\nGET none\r\n",
        b"HELLO 3\r\nGET none\r\nHELLO\r\nHELLO 2\r\nGET none\r\n",
        b"HELLO 1\r\n",
        b"HELLO 4 AUTH\r\nGET none\r\n",
        b"HELLO -3\r\n",
        b"HELLO x\r\n",
        b"HELLO 03\r\n",
        b"HELLO 99999999999999999999\r\n",
        b"HELLO 3 FOO\r\nGET none\r\n",
        b"HELLO 3 \"F\\r\\nO\" x\r\n",
        b"HELLO 3 SETNAME\r\n",
        b"HELLO 3 setname a\r\n",
        b"HELLO 3 SETNAME 'a b'\r\nGET none\r\n",
        b"HELLO 2 AUTH a\r\n",
        b"HELLO 3 AUTH nobody secret\r\nGET none\r\n",
        b"HELLO 2 AUTH default secret SETNAME b\r\n",
        b"HELLO 2 SETNAME b AUTH default\r\n",
    ]);
}

#[test]
fn numbers_out_of_range_are_answered_as_by_redis_server() {
    are_answered_as_by_redis_server(&[
        b"SET f b\r\nEXPIRE f 9223370399119966\r\nTTL f\r\n",
        b"EXPIRE none 9223370399119966\r\n",
        b"SET f b\r\nPEXPIRE f 9223370399119966000\r\nPEXPIRE f -9223372036854775808\r\nGET f\r\n",
        b"SET f b\r\nEXPIRE f -9223372036854776\r\nEXPIRE f -9223372036854775\r\nGET f\r\n",
        b"SET f b EX 9223370399119966\r\nGET f\r\n",
        b"SET f b PX 9223372036854775807\r\nGET f\r\n",
    ]);
    let counted = said_to(&start(RUNTIMES[0]), b"COMMAND COUNT\r\n", 100);
    assert_eq!(counted, ":25\r\n+OK\r\n");
}

/// Neither where a command begins a flow, nor where its line becomes an array: others are served, and what it would
/// have done is done when it comes again.
#[test]
fn a_lack_of_memory_for_a_command_ends_its_connection_alone() {
    let example = support::built::examples().join("redis");
    let lack = support::built::tests().join("support/lack.cpp");
    let sources = [example.join("store.cpp"), example.join("commands.cpp"), lack];
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
        assert!(said.contains("2             0  NextCommand"), "{runtime:?}: {said}");
        assert!(said.contains("error 12 (Cannot allocate memory)"), "{runtime:?}: {said}");
        assert!(said.contains("resp.Split threw std::bad_alloc"), "{runtime:?}: {said}");
    }
}
