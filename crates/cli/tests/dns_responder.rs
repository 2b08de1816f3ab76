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
        assert_eq!(text(&said.stdout), "1056 answers are the same\n", "{runtime:?}");
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
    let told = |content: &str| {
        std::fs::write(&zone, content).unwrap();
        let said = Command::new(server).arg("--listen=127.0.0.1:0").arg("--zone").arg(&zone).output().unwrap();
        assert!(!said.status.success(), "{content}");
        text(&said.stderr)
    };
    assert!(told("example.org. IN A 192.0.2.1\n").contains("wrong.zone: it has no SOA"));
    let start = "$ORIGIN example.org.\n@ 60 IN SOA a b (\n 1 2 3 4 5 )\n; four\n";
    for (records, wanted) in [
        ("x A 192.0.2.1.7\n", "5: Syntax error, could not parse the RR's rdata"),
        ("x A 192.0.2.1.7", "5: Syntax error, could not parse the RR's rdata"),
        ("$INCLUDE other\n", "5: Syntax error, $INCLUDE"),
        ("example.com. A 192.0.2.1\n", "5: the record is outside of the zone"),
        ("@ SOA a b 7 2 3 4 5\n", "5: the zone has another SOA"),
        ("x SOA a b 1 2 3 4 5\n", "5: the zone has another SOA"),
        ("x CH A 192.0.2.1\n", "5: the class of the record is not IN"),
        ("x TYPE41 \\# 0\n", "5: a zone has no records of the type OPT"),
        ("x TYPE255 \\# 0\n", "5: a zone has no records of the type ANY"),
        ("x CNAME y\nX A 192.0.2.1\n", "6: the name has a CNAME, and so no other records"),
        ("x A 192.0.2.1\n\nX CNAME y\n", "7: the name has a CNAME, and so no other records"),
        ("x CNAME y\nx CNAME z\n", "6: the name has a CNAME, and so no other records"),
        ("x DNAME y\nx DNAME z\n", "6: the name has a DNAME already"),
        ("a.x A 192.0.2.1\nx DNAME y\n", "5: the record is below a DNAME"),
        ("x MX 1 y\nX 7 MX 1 Y\n", "6: the record is a duplicate"),
    ] {
        let said = told(&format!("{start}{records}"));
        assert!(said.contains(&format!("wrong.zone:{wanted}")), "{records}{said}");
    }
    let said = Command::new(server).args(["--listen=127.0.0.1:0", "--zone=/no/such/file"]).output().unwrap();
    assert!(text(&said.stderr).contains("/no/such/file: No such file or directory"), "{}", text(&said.stderr));
}
