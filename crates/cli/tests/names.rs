//! Servers that find others by their names, `std.dns`, under everything that can run flows: against a name server of
//! the test's own.

use crate::support;
use crate::support::{RUNTIMES, Server, flux, text};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The server, built once.
fn names() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| {
        let folder = support::folder("names", "server");
        for file in ["names.flux", "names.cpp"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/names").join(file);
            std::fs::copy(from, folder.join(file)).unwrap();
        }
        let built = flux(&folder, &["build", "--debug", "names.flux"]);
        assert!(built.status.success(), "{}", text(&built.stderr));
        folder.join("build/names/names")
    })
}

/// The name that a query (RFC 1035, section 4) is for, and where its question ends.
fn question(query: &[u8]) -> (String, usize) {
    let (mut name, mut at) = (String::new(), 12);
    while query[at] != 0 {
        let end = at + 1 + usize::from(query[at]);
        name += &text(&query[at + 1..end]);
        name.push('.');
        at = end;
    }
    (name, at + 5)
}

/// A name server: `here.test` is this machine, there is no `none.test`, and to all else it says nothing.
fn name_server() -> String {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = socket.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut query = [0; 512];
        while let Ok((size, from)) = socket.recv_from(&mut query) {
            let (name, end) = question(&query[..size]);
            let is_of_ipv4 = query[end - 3] == 1;
            let (code, answers) = match name.as_str() {
                "here.test." => (0, u8::from(is_of_ipv4)),
                "none.test." => (3, 0),
                _ => continue,
            };
            let mut answer = vec![query[0], query[1], 0x81, 0x80 | code, 0, 1, 0, answers, 0, 0, 0, 0];
            answer.extend(&query[12..end]);
            if answers != 0 {
                answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
            }
            socket.send_to(&answer, from).unwrap();
        }
    });
    address
}

/// A server that says of each line that it has heard it; its port.
fn upstream() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut reader = BufReader::new(client.unwrap());
            let mut line = String::new();
            let _ = reader.read_line(&mut line);
            let _ = reader.get_ref().write_all(format!("heard {line}").as_bytes());
        }
    });
    port
}

/// What a server answers that asks this one, and what it has said.
fn ask(server: &str, dns: &str, runtime: &[&str], more: &[&str]) -> (String, String) {
    let mut command = Command::new(names());
    command.args(["--listen=127.0.0.1:0", &format!("--server={server}"), &format!("--dns-servers={dns}")]);
    let started = Server::listening(command.args(runtime).args(more));
    let mut client = BufReader::new(started.connect());
    client.get_ref().write_all(b"hello\n").unwrap();
    let mut answer = String::new();
    client.read_line(&mut answer).unwrap();
    started.terminate();
    let mut started = started;
    started.wait();
    (answer, started.said())
}

#[test]
fn a_server_is_found_by_its_name() {
    let (dns, port) = (name_server(), upstream());
    for runtime in RUNTIMES {
        for host in ["here.test", "localhost", "127.0.0.1"] {
            let (answer, said) = ask(&format!("{host}:{port}"), &dns, runtime, &[]);
            assert_eq!(answer, "heard hello\n", "{host} {runtime:?}: {said}");
        }
    }
}

#[test]
fn a_name_that_leads_nowhere_is_an_error_in_time() {
    let dns = name_server();
    for runtime in RUNTIMES {
        for (server, error, limit) in [
            ("none.test:80", "ENOENT", "60s"),
            ("silent.test:80", "ETIMEDOUT", "300ms"),
            ("here.test:1", "ECONNREFUSED", "60s"),
            ("here.test", "EINVAL", "60s"),
        ] {
            let (answer, said) = ask(server, &dns, runtime, &[&format!("--dns-connect={limit}")]);
            assert_eq!(answer, "none\n", "{server} {runtime:?}: {said}");
            assert!(said.contains(&format!("Say: {error}\n")), "{server} {runtime:?}: {said}");
        }
    }
}
