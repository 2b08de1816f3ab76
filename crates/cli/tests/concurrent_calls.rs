//! Functions of standard modules that nodes call from C++, many flows at once: none relies on a constraint that only
//! its own node has, and one that belongs to sources refuses. Under the thread sanitizer, and everything that can run
//! flows.

use crate::support::{RUNTIMES, Server, flux, folder, free_port, is_asked_for, text, wait_for};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many clients ask at once, and how many get what is published.
const CLIENTS: usize = 4;
const JOINED: usize = 3;

/// As many threads as flows, because a flow asks its own server.
const POOL: &[&str] = &["--flux-runtime=pool", "--flux-workers=16"];

fn built() -> (PathBuf, PathBuf) {
    let home = folder("concurrent_calls", "server");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/concurrent_calls");
    for file in ["calls.flux", "calls.h", "calls.cpp"] {
        std::fs::copy(kept.join(file), home.join(file)).unwrap();
    }
    let said = flux(&home, &["build", "--sanitize", "thread", "--debug", "calls.flux", "calls.cpp", "-o", "server"]);
    assert!(said.status.success(), "{}", text(&said.stderr));
    (home.join("server"), home)
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n")
}

/// A client that gets what is published, from when it has read that it has joined.
fn joined(server: &Server) -> TcpStream {
    let mut client = server.connect();
    client.write_all(get("/join").as_bytes()).unwrap();
    let mut said = [0; 7];
    client.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"joined\n");
    client
}

fn hold(server: &Path, home: &Path, runtime: &[&str]) {
    let port = free_port();
    let lines = format!("127.0.0.1:{}", free_port());
    let mut command = Command::new(server);
    command.args(runtime).args([format!("--listen=127.0.0.1:{port}"), format!("--lines={lines}")]);
    command.env("LINES", &lines).current_dir(home);
    let mut server = Server::listening(&mut command);
    server.port = port;
    wait_for("a server that echoes lines", || TcpStream::connect(&lines).ok());
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let server = &server;
            scope.spawn(move || {
                let answer = server.ask_and_end(&get(if client % 2 == 0 { "/first" } else { "/second" }));
                assert!(answer.ends_with("0 calls were wrong"), "{runtime:?}: {answer}{}", server.said());
            });
        }
        for _ in 0..JOINED {
            scope.spawn(|| joined(&server));
        }
    });
    server.terminate();
    let ended = server.wait();
    assert!(ended.success(), "{runtime:?}: {ended}: {}", server.said());
}

#[test]
fn functions_of_standard_modules_are_safe_in_any_node() {
    if !is_asked_for("thread") {
        return;
    }
    let (server, home) = built();
    for runtime in RUNTIMES {
        hold(&server, &home, if runtime == RUNTIMES[1] { POOL } else { runtime });
    }
}
