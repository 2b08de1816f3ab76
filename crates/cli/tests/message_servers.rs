//! Servers whose flows begin with messages, under everything that can run flows: what they answer, what clients cost
//! that are slow, and what becomes of those who send what is no message.

use crate::support;
use crate::support::{LIMIT, RUNTIMES, Server, text, wait_for};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The server, built once.
fn notes() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::build_own("message_servers", "notes", &["notes.cpp"]))
}

fn start(runtime: &[&str], arguments: &[&str]) -> Server {
    let mut command = Command::new(notes());
    let server = Server::listening(command.args(runtime).args(arguments).arg("--flux-report=text"));
    wait_for("the port of the datagrams", || server.said().contains("listening on udp").then_some(()));
    wait_for("the port of the connections", || tcp_port(&server.said()));
    server
}

/// The two sources begin to listen in any order.
fn tcp_port(said: &str) -> Option<u16> {
    let address = said.lines().find_map(|line| line.strip_prefix("flux: listening on 127.0.0.1:"))?;
    address.parse().ok()
}

fn udp_port(said: &str) -> Option<u16> {
    let address = said.lines().find_map(|line| line.strip_prefix("flux: listening on udp 127.0.0.1:"))?;
    address.parse().ok()
}

fn connect(server: &Server) -> TcpStream {
    let connection = TcpStream::connect((Ipv4Addr::LOCALHOST, tcp_port(&server.said()).unwrap())).unwrap();
    connection.set_read_timeout(Some(LIMIT)).unwrap();
    connection.set_nodelay(true).unwrap();
    connection
}

fn note(said: &str) -> Vec<u8> {
    let size = u32::try_from(said.len()).unwrap().to_be_bytes();
    [b"!".as_slice(), &size, said.as_bytes()].concat()
}

/// The next note of the server.
fn answer(from: &mut TcpStream) -> String {
    let mut head = [0; 5];
    from.read_exact(&mut head).unwrap();
    let mut said = vec![0; u32::from_be_bytes(head[1..].try_into().unwrap()) as usize];
    from.read_exact(&mut said).unwrap();
    text(&said)
}

/// What comes until the server ends the connection, in good order or not.
fn rest(mut of: TcpStream) -> Vec<u8> {
    let mut all = vec![];
    let _ = of.read_to_end(&mut all);
    all
}

/// Ends the server, which says these things of this node in its log and its report.
fn expect_failures(mut server: Server, node: &str, expected: &[&str]) {
    server.terminate();
    assert!(server.wait().success());
    for one in expected {
        wait_for(one, || server.said().lines().any(|line| line.contains(node) && line.contains(one)).then_some(()));
    }
}

#[test]
fn notes_are_answered_in_order_however_they_come() {
    for runtime in RUNTIMES {
        let server = start(runtime, &[]);
        let mut byte_by_byte = connect(&server);
        for byte in note("slow") {
            byte_by_byte.write_all(&[byte]).unwrap();
        }
        assert_eq!(answer(&mut byte_by_byte), "SLOW");
        let mut at_once = connect(&server);
        let many: Vec<String> = (0..500).map(|number| format!("note {number}")).collect();
        at_once.write_all(&many.iter().flat_map(|one| note(one)).collect::<Vec<u8>>()).unwrap();
        for one in &many {
            assert_eq!(answer(&mut at_once), one.to_uppercase(), "{runtime:?}");
        }
        let large = "x".repeat(1_000_000);
        at_once.write_all(&note(&large)).unwrap();
        assert_eq!(answer(&mut at_once), large.to_uppercase());
        at_once.write_all(&[note("more"), note("second"), note("third")].concat()).unwrap();
        assert_eq!((answer(&mut at_once), answer(&mut at_once)), ("SECOND".to_owned(), "THIRD".to_owned()));
    }
}

#[test]
fn a_datagram_is_one_note() {
    for runtime in RUNTIMES {
        let server = start(runtime, &[]);
        let own = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        own.set_read_timeout(Some(LIMIT)).unwrap();
        own.connect((Ipv4Addr::LOCALHOST, udp_port(&server.said()).unwrap())).unwrap();
        for garbage in [b"?".to_vec(), note("cut")[..6].to_vec(), [note("one"), b"more".to_vec()].concat(), vec![]] {
            own.send(&garbage).unwrap();
        }
        own.send(&note("hello")).unwrap();
        let mut came = [0; 100];
        let size = own.recv(&mut came).unwrap();
        assert_eq!(came[..size], note("HELLO"), "{runtime:?}");
        expect_failures(server, "NextDatagram", &["sent is no notes.note", "error 74 (Bad message)"]);
    }
}

/// The next one is read, and none is taken for another.
#[test]
fn a_datagram_for_which_there_is_no_memory_is_dropped_and_counted() {
    for runtime in RUNTIMES {
        let server = start(runtime, &[]);
        let own = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        own.set_read_timeout(Some(LIMIT)).unwrap();
        own.connect((Ipv4Addr::LOCALHOST, udp_port(&server.said()).unwrap())).unwrap();
        let mut came = [0; 100];
        // There is no memory to read the first; for the bytes of the other, when `lack` has been answered.
        for (sent, wanted) in [(["costly", "lack"], "LACK"), (["lost", "hello"], "HELLO")] {
            for one in sent {
                own.send(&note(one)).unwrap();
            }
            let size = own.recv(&mut came).unwrap();
            assert_eq!(text(&came[..size]), text(&note(wanted)), "{runtime:?}");
        }
        assert!(!server.said().contains("sent is no notes.note"), "{runtime:?}: {}", server.said());
        let both = "2             0  NextDatagram";
        expect_failures(server, "NextDatagram", &[both, "error 12 (Cannot allocate memory)"]);
    }
}

/// Neither where a note begins a flow, nor where a flow reads it; others are answered.
#[test]
fn a_note_for_which_there_is_no_memory_ends_its_connection_alone() {
    for runtime in RUNTIMES {
        let server = start(runtime, &[]);
        let mut other = connect(&server);
        for before in ["one", "more"] {
            let mut client = connect(&server);
            client.write_all(&[note(before), note("costly")].concat()).unwrap();
            let answered = if before == "one" { note("ONE") } else { vec![] };
            assert_eq!(text(&rest(client)), text(&answered), "{runtime:?}");
            other.write_all(&note(before).repeat(2)).unwrap();
            assert_eq!(answer(&mut other), before.to_uppercase(), "{runtime:?}");
            if before == "one" {
                assert_eq!(answer(&mut other), "ONE");
            }
        }
        expect_failures(server, "Next", &["error 12 (Cannot allocate memory)"]);
    }
}

#[test]
fn garbage_ends_its_connection_and_is_counted() {
    for runtime in RUNTIMES {
        let server = start(runtime, &[]);
        let mut client = connect(&server);
        client.write_all(&[note("one"), b"garbage".to_vec()].concat()).unwrap();
        assert_eq!(rest(client), note("ONE"), "{runtime:?}");
        let mut too_long = connect(&server);
        too_long.write_all(b"!\x7f\xff\xff\xff").unwrap();
        assert_eq!(rest(too_long), b"");
        let mut cut = connect(&server);
        cut.write_all(b"!\0").unwrap();
        drop(cut);
        let mut good = connect(&server);
        good.write_all(&note("two")).unwrap();
        assert_eq!(answer(&mut good), "TWO");
        let garbage = "sent is no notes.note: byte 0, notes.note.mark";
        expect_failures(server, "Next", &[garbage, "error 74 (Bad message)", "error 104 (Connection reset by peer)"]);
    }
}

#[test]
fn a_note_that_takes_too_long_ends_its_connection() {
    for runtime in RUNTIMES {
        let server = start(runtime, &["--message-ms=200"]);
        let mut slow = connect(&server);
        let mut bytes = note(&"x".repeat(100_000)).into_iter();
        // Byte by byte, which does not give it more time.
        wait_for("the end of a slow note", || slow.write_all(&[bytes.next().unwrap()]).err());
        assert_eq!(rest(slow), b"");
        expect_failures(server, "Next", &["error 110 (Connection timed out)"]);
    }
}

#[test]
fn a_server_asks_another_over_connections_that_it_keeps() {
    for runtime in RUNTIMES {
        let behind = start(runtime, &[]);
        let address = format!("--upstream=127.0.0.1:{}", tcp_port(&behind.said()).unwrap());
        let server = start(runtime, &[&address]);
        let mut clients: Vec<TcpStream> = (0..8).map(|_| connect(&server)).collect();
        for round in 0..10 {
            for (number, client) in clients.iter_mut().enumerate() {
                client.write_all(&note(&format!("question {round} of {number}?"))).unwrap();
            }
            for (number, client) in clients.iter_mut().enumerate() {
                assert_eq!(answer(client), format!("QUESTION {round} OF {number}"), "{runtime:?}");
            }
        }
        // Nobody is behind any more: whoever asks is told, by the end of the connection.
        drop(behind);
        clients[0].write_all(&note("anybody?")).unwrap();
        assert_eq!(rest(clients.remove(0)), b"");
        clients[0].write_all(&note("alone")).unwrap();
        assert_eq!(answer(&mut clients[0]), "ALONE");
    }
}

/// How much memory the process of the server has, in bytes.
fn memory(of: &Server) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", of.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

#[test]
fn a_thousand_half_notes_cost_no_flow_and_little_memory() {
    for runtime in RUNTIMES {
        let server = start(runtime, &["--flux-max-flows=4"]);
        let mut client = connect(&server);
        client.write_all(&note("first")).unwrap();
        assert_eq!(answer(&mut client), "FIRST");
        let before = memory(&server);
        let claim = &note(&"x".repeat(1_000_000))[..100];
        let mut half: Vec<TcpStream> = (0..1_000).map(|_| connect(&server)).collect();
        for each in &mut half {
            each.write_all(claim).unwrap();
        }
        // They all have been looked at when those are served who came after them.
        for _ in 0..2 {
            let mut last = connect(&server);
            last.write_all(&note("last")).unwrap();
            assert_eq!(answer(&mut last), "LAST", "{runtime:?}");
        }
        let each = memory(&server).saturating_sub(before) / half.len();
        assert!(each < 10 * 1024, "{each} bytes for each of them, under {runtime:?}");
    }
}

#[test]
fn a_note_that_has_begun_when_the_server_ends_is_answered() {
    for runtime in RUNTIMES {
        let mut server = start(runtime, &[]);
        let mut client = connect(&server);
        client.write_all(&note("before")).unwrap();
        assert_eq!(answer(&mut client), "BEFORE");
        client.write_all(&note("in the middle")[..8]).unwrap();
        let mut other = connect(&server);
        other.write_all(&note("other")).unwrap();
        assert_eq!(answer(&mut other), "OTHER");
        server.rest();
        server.terminate();
        server.rest();
        client.write_all(&note("in the middle")[8..]).unwrap();
        assert_eq!(answer(&mut client), "IN THE MIDDLE", "{runtime:?}");
        assert!(server.wait().success());
    }
}
