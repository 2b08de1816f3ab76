//! Listing 2 of the FLICK paper, as printed, compiled: real traffic of memcached is read and made anew, byte for byte,
//! as it was recorded, and live between clients of libmemcached and memcached.

use crate::support;
use crate::support::{LIMIT, RUNTIMES, Server, text, wait_for};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

const CAPTURES: [&[u8]; 2] = [
    include_bytes!("../../message/tests/captures/memcached.request"),
    include_bytes!("../../message/tests/captures/memcached.response"),
];

fn proxy() -> PathBuf {
    support::build_own("listing_2", "proxy", &["proxy.cpp"])
}

/// A port for each of the two sources, which begin to listen in any order.
fn start(program: &Path, server: u16, runtime: &[&str]) -> (Server, u16, u16) {
    let ports = [support::free_port(), support::free_port()];
    let mut command = Command::new(program);
    command.arg(format!("--mirror=127.0.0.1:{}", ports[0])).arg(format!("--listen=127.0.0.1:{}", ports[1]));
    let started = Server::listening(command.arg(format!("--server=127.0.0.1:{server}")).args(runtime));
    wait_for("both listen", || (started.said().matches("listening on").count() == 2).then_some(()));
    (started, ports[0], ports[1])
}

fn mirrored(port: u16, said: &[u8], step: usize) -> Vec<u8> {
    let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    client.set_read_timeout(Some(LIMIT)).unwrap();
    client.set_nodelay(true).unwrap();
    said.chunks(step).for_each(|part| client.write_all(part).unwrap());
    let mut came = vec![0; said.len()];
    client.read_exact(&mut came).unwrap();
    came
}

/// What a client of libmemcached says, and whether it was content.
fn client(name: &str, port: u16, argument: &str) -> (bool, String) {
    let address = format!("--servers=127.0.0.1:{port}");
    let output = Command::new(name).args(["--binary", &address, argument]).output().unwrap();
    (output.status.success(), text(&output.stdout))
}

#[test]
fn listing_2_round_trips_real_traffic() {
    let program = proxy();
    let memcached = support::memcached::server();
    let file = support::folder("listing_2", "values").join("large");
    let value = "value ".repeat(20_000);
    std::fs::write(&file, &value).unwrap();
    for runtime in RUNTIMES {
        let (server, mirror, proxy) = start(&program, memcached.port, runtime);
        for capture in CAPTURES {
            assert!(mirrored(mirror, capture, capture.len()) == capture, "{runtime:?}");
            assert!(mirrored(mirror, capture, 1) == capture, "{runtime:?}, byte by byte");
        }
        assert!(client("memccp", proxy, file.to_str().unwrap()).0, "{runtime:?}");
        assert_eq!(client("memccat", proxy, "large"), (true, format!("{value}\n")), "{runtime:?}");
        assert!(client("memcrm", proxy, "large").0, "{runtime:?}");
        assert!(!client("memccat", proxy, "large").0, "{runtime:?}");
        wait_for("what it says of its messages", || server.said().contains("handed over 2 messages").then_some(()));
        assert!(!server.said().contains("is not what it was"), "{runtime:?}: {}", server.said());
    }
}
