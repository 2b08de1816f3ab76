//! `examples/dns` beside nsd, which has the same file of a zone: the same answers, as dnspython and `dig` read them.

use crate::support;
use crate::support::{RUNTIMES, Server, text, wait_for};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/dns").canonicalize().unwrap()
}

/// The server of the example, built once.
fn responder() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::built::build(&example(), &[], &["--debug"]))
}

/// Started with a zone, on a port that is free for both UDP and TCP.
fn start(server: &Path, runtime: &[&str]) -> Server {
    let port = support::free_port();
    let mut command = Command::new(server);
    command.arg(format!("--listen=127.0.0.1:{port}")).arg("--zone").arg(example().join("example.zone")).args(runtime);
    let started = Server::listening(&mut command);
    wait_for("both listen", || (started.said().matches("listening on").count() == 2).then_some(()));
    started
}

/// Without its limit of answers a second.
fn nsd() -> Server {
    let folder = support::folder("dns_responder", "nsd");
    let (port, at) = (support::free_port(), folder.display());
    let settings = format!(
        "server:\n ip-address: 127.0.0.1@{port}\n username: \"\"\n database: \"\"\n zonesdir: \"{}\"\n pidfile: \
         \"{at}/pid\"\n xfrdfile: \"{at}/xfrd\"\n zonelistfile: \"{at}/list\"\n logfile: \"{at}/log\"\n server-count: \
         1\n minimal-responses: yes\n rrl-ratelimit: 0\nremote-control:\n control-enable: no\nzone:\n name: \
         example.org\n zonefile: example.zone\n",
        example().display()
    );
    let file = folder.join("nsd.conf");
    std::fs::write(&file, settings).unwrap();
    let path = std::env::var("PATH").unwrap() + ":/usr/sbin";
    let mut command = Command::new("nsd");
    let server = Server::start(command.env("PATH", path).arg("-d").arg("-c").arg(file), port);
    drop(server.connect());
    server
}

#[test]
fn its_answers_are_those_of_nsd() {
    let (server, theirs) = (responder(), nsd());
    for runtime in RUNTIMES {
        let ours = start(server, runtime);
        let ports = [ours.port, theirs.port].map(|port| port.to_string());
        // The one that Debian's packages are for.
        let mut compare = Command::new("/usr/bin/python3");
        let said = compare.arg("tests/dns_responder/compare.py").args(ports).output().unwrap();
        assert!(said.status.success(), "{runtime:?}: {}{}", text(&said.stdout), text(&said.stderr));
        assert_eq!(text(&said.stdout), "690 answers are the same\n", "{runtime:?}");
        // What does not fit a datagram dig asks for again over TCP.
        let mut dig = Command::new("dig");
        dig.args(["@127.0.0.1", "-p", &ours.port.to_string(), "large.example.org", "TXT", "+noedns"]);
        let said = text(&dig.output().unwrap().stdout);
        assert!(said.contains("Truncated, retrying in TCP mode") && said.contains("ANSWER: 1"), "{runtime:?}: {said}");
    }
}

#[test]
fn a_zone_that_is_wrong_is_told() {
    let server = responder();
    let zone = support::folder("dns_responder", "zones").join("wrong.zone");
    for (content, wanted) in [
        ("example.org. IN A 192.0.2.1\n", "it has no SOA"),
        ("example.org. 60 IN SOA a. b. 1 2 3 4 5\nexample.org. 60 IN A 192.0.2.1.7\n", "wrong.zone:2: "),
        ("example.org. 60 IN SOA a. b. 1 2 3 4 5\nexample.com. 60 IN A 192.0.2.1\n", "outside of the zone"),
    ] {
        std::fs::write(&zone, content).unwrap();
        let said = Command::new(server).arg("--listen=127.0.0.1:0").arg("--zone").arg(&zone).output().unwrap();
        assert!(!said.status.success() && text(&said.stderr).contains(wanted), "{}", text(&said.stderr));
    }
    let said = Command::new(server).args(["--listen=127.0.0.1:0", "--zone=/no/such/file"]).output().unwrap();
    assert!(text(&said.stderr).contains("/no/such/file: No such file or directory"), "{}", text(&said.stderr));
}
