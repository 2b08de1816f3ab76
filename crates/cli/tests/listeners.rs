//! Listeners of one server, each with settings of its own: limits, a log, proxies and certificates.

use crate::support::{self, RUNTIMES, Server, text};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

fn program() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::built::build(&support::built::tests().join("listeners/listeners.flux"), &[], &[]))
}

fn folder(test: &str) -> PathBuf {
    let folder = support::folder("listeners", test);
    let certificates = support::built::tests().join("tls/certificates.sh");
    let said = Command::new("sh").arg(certificates).current_dir(&folder).output().unwrap();
    assert!(said.status.success(), "{}", text(&said.stderr));
    folder
}

/// The names of the options with the addresses, in the order of the program.
const NAMES: [&str; 6] = ["small", "large", "secure", "other", "again", "silent"];

/// The command that starts the server on these ports.
fn server(folder: &Path, ports: [u16; 6], arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.current_dir(folder).args(arguments);
    command.args(NAMES.iter().zip(ports).map(|(name, port)| format!("--{name}={port}")));
    command
}

/// Starts the server on free ports, and waits until it listens on all of them.
fn start(folder: &Path, runtime: &[&str]) -> (Server, [u16; 6]) {
    let ports = NAMES.map(|_| support::free_port());
    let server = Server::start(&mut server(folder, ports, runtime), ports[0]);
    let listens = |port: &u16| server.said().contains(&format!("listening on [::]:{port}\n"));
    support::wait_for("all listeners", || ports.iter().all(listens).then_some(()));
    (server, ports)
}

/// The answer to the request, after which the connection is closed.
fn ask(port: u16, request: &str) -> String {
    let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    connection.set_read_timeout(Some(support::LIMIT)).unwrap();
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

const LONG: &str = "POST /long HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.7\r\nConnection: close\r\n\
                    Content-Length: 20\r\n\r\n0123456789abcdefghij";
const SHORT: &str = "POST /short HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.7\r\nConnection: close\r\n\
                     Content-Length: 2\r\n\r\nhi";

#[test]
fn each_listener_has_its_own_limits_log_and_proxies() {
    let folder = folder("limits");
    for runtime in RUNTIMES {
        let (server, [small, large, .., silent]) = start(&folder, runtime);
        assert!(ask(small, LONG).starts_with("HTTP/1.1 413 "), "{runtime:?}: {}", server.said());
        assert!(ask(small, SHORT).ends_with("\r\n\r\n127.0.0.1 hi"), "{runtime:?}: {}", server.said());
        let answer = ask(large, LONG);
        assert!(answer.ends_with("\r\n\r\n192.0.2.7 0123456789abcdefghij"), "{runtime:?}: {answer}");
        support::wait_for("both logs", || {
            let said = server.said();
            let common = said.contains("127.0.0.1 - - [") && said.contains("\"POST /short HTTP/1.1\" 200");
            (common && said.contains("\"client\":\"192.0.2.7\"") && !said.contains("\"POST /long HTTP/1.1\" 200"))
                .then_some(())
        });
        for (port, content, client) in [(small, "hi", "127.0.0.1"), (large, "0123456789abcdefghij", "192.0.2.7")] {
            let url = format!("http://127.0.0.1:{port}/stream");
            let mut curl = Command::new("curl");
            curl.args(["-s", "--http2-prior-knowledge", "-H", "X-Forwarded-For: 192.0.2.7", "-d", content, &url]);
            let said = text(&curl.output().unwrap().stdout);
            assert_eq!(said, format!("{client} {content}"), "{runtime:?}: {}", server.said());
        }
        support::wait_for("a line of HTTP/2", || {
            server.said().contains("\"target\":\"/stream\",\"version\":\"2.0\",\"status\":200").then_some(())
        });
        // A silent client is closed where its listener says so. It may stay for ever elsewhere.
        let mut stays = TcpStream::connect((Ipv4Addr::LOCALHOST, large)).unwrap();
        stays.set_read_timeout(Some(support::LIMIT)).unwrap();
        assert_eq!(ask(silent, ""), "", "{runtime:?}");
        stays.write_all(SHORT.as_bytes()).unwrap();
        let mut answer = String::new();
        stays.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with("\r\n\r\n192.0.2.7 hi"), "{runtime:?}: {answer}");
    }
}

#[test]
fn each_listener_has_its_own_certificate_or_none() {
    let folder = folder("certificates");
    for (runtime, own) in RUNTIMES.iter().flat_map(|runtime| [(runtime, false), (runtime, true)]) {
        // The options for all listeners change nothing for one with a certificate of its own.
        let of_process = ["--tls-certificate=rsa.pem", "--tls-key=rsa.key", "--tls-at=1"];
        let options = if own { vec![] } else { of_process.to_vec() };
        let (server, [small, _, secure, other, ..]) = start(&folder, &[runtime, &options[..]].concat());
        for (port, host) in [(secure, "localhost"), (other, "other.example")] {
            let to = format!("127.0.0.1:{port}");
            let client = Command::new("openssl").args(["s_client", "-connect", &to]).stdin(Stdio::null()).output();
            let said = text(&client.unwrap().stdout);
            assert!(said.contains(&format!("subject=CN = {host}\n")), "{runtime:?}: {said}{}", server.said());
        }
        assert!(ask(secure, SHORT).starts_with("HTTP/1.1 400 "), "{runtime:?}: TLS alone is spoken there");
        assert!(ask(small, SHORT).starts_with("HTTP/1.1 200 "), "{runtime:?}");
    }
}

/// What the server says that does not start with these arguments.
fn refused(folder: &Path, ports: [u16; 6], arguments: &[&str]) -> String {
    let mut server = Server::start(&mut server(folder, ports, arguments), ports[0]);
    assert_eq!(server.wait().code(), Some(1), "{arguments:?}: {}", server.said());
    server.said()
}

#[test]
fn settings_are_checked_when_the_server_starts() {
    let folder = folder("checked");
    let ports = NAMES.map(|_| support::free_port());
    let said = refused(&folder, ports, &["--word=nonsense"]);
    assert!(said.contains("can be `common`, `json` or `none`, but not `nonsense`"), "{said}");
    let said = refused(&folder, ports, &["--idle=-1"]);
    assert!(said.contains("each of its limits is to be a duration from 0 to 52560000m"), "{said}");
    // Port 0 is a port of its own for each listener with settings of its own.
    let server = Server::start(&mut server(&folder, [0; 6], &["--word=none"]), 0);
    support::wait_for("five listeners", || (server.said().matches("listening on").count() == 5).then_some(()));
}

#[test]
fn sources_on_one_address_state_the_same() {
    let folder = folder("address");
    for runtime in RUNTIMES {
        let ports = || {
            let [small, large, secure, other, silent] = [(); 5].map(|()| support::free_port());
            [small, large, secure, other, small, silent]
        };
        let different = ports();
        let said = refused(&folder, different, &[runtime, &["--again-body=11"][..]].concat());
        let names_both = said.contains("`body: 10` and `body: 11`") || said.contains("`body: 11` and `body: 10`");
        assert!(
            names_both && said.contains(&format!("cannot listen on port {}: ", different[0])),
            "{runtime:?}: {said}"
        );
        let equal = ports();
        let mut same = Server::start(&mut server(&folder, equal, runtime), equal[0]);
        support::wait_for("the server", || {
            assert!(same.try_wait().is_none(), "{runtime:?}: {}", same.said());
            same.said().contains(&format!(":{}\n", equal[0])).then_some(())
        });
        assert!(ask(equal[0], SHORT).ends_with("\r\n\r\n127.0.0.1 hi"), "{runtime:?}: {}", same.said());
    }
}
