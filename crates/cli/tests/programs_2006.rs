//! Programs as they were written for the compiler of 2006, which `flux build` builds as they are: each in the folder
//! `programs_2006`, built here, run under all strategies, and talked to.

use crate::support;
use crate::support::{Server, flux, free_port, text, wait_for};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const STRATEGIES: [&str; 3] = ["thread", "pool", "event"];

/// Copies a program into a folder of its own.
fn copy(name: &str, folder: &str) -> PathBuf {
    let folder = support::folder("programs_2006", folder);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs_2006").join(name);
    for entry in std::fs::read_dir(kept).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
    folder
}

/// Builds a copy of a program; gives the folder and what was said.
fn build(name: &str) -> (PathBuf, String) {
    let folder = copy(name, name);
    let said = flux_build(&folder, name);
    (folder, said)
}

fn flux_build(folder: &Path, name: &str) -> String {
    let (is_built, said) = try_flux_build(folder, name);
    assert!(is_built, "{said}");
    said
}

fn try_flux_build(folder: &Path, name: &str) -> (bool, String) {
    let output = flux(folder, &["build", "--debug", &format!("{name}.flux")]);
    (output.status.success(), text(&output.stderr))
}

/// A server of such a program.
fn run(folder: &Path, name: &str, strategy: &str) -> Server {
    let port = free_port();
    let mut command = Command::new(folder.join("build").join(name).join(name));
    command.args([port.to_string(), format!("--flux-runtime={strategy}")]);
    Server::start(command.current_dir(folder).stdout(Stdio::null()), port)
}

#[test]
fn a_web_server_that_selects_in_an_abstract_source() {
    let (folder, said) = build("web");
    let lacking = "`GetClients`, `Page`, `SendPage`, `Complete`, `Close` of web.cpp end without a return";
    assert!(said.contains(lacking), "{said}");
    std::fs::write(folder.join("motto"), "festina lente").unwrap();
    for strategy in STRATEGIES {
        let server = run(&folder, "web", strategy);
        let mut kept = server.connect();
        let hello = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nhello, 2006\n";
        for _ in 0..5 {
            kept.write_all(b"GET /hello HTTP/1.1\r\n\r\n").unwrap();
            let mut answer = vec![0; hello.len()];
            kept.read_exact(&mut answer).unwrap();
            assert_eq!(String::from_utf8_lossy(&answer), hello, "{strategy}");
            let other = server.ask("GET /motto HTTP/1.1\r\nConnection: close\r\n\r\n");
            assert_eq!(other, "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nfestina lente", "{strategy}");
        }
        let missing = server.ask("GET /nowhere HTTP/1.1\r\nConnection: close\r\n\r\n");
        assert_eq!(missing, "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno\n", "{strategy}");
        assert_eq!(server.ask("nonsense"), "", "{strategy}");
    }
}

/// Waits until a player hears these positions, sorted. The number of the turn stands before them.
fn wait_for_positions(player: &UdpSocket, wanted: &str) {
    let mut text = [0; 1024];
    wait_for(wanted, || {
        let size = player.recv(&mut text).ok()?;
        let heard = String::from_utf8_lossy(text.get(..size)?);
        let mut words: Vec<&str> = heard.split(' ').skip(1).collect();
        words.sort_unstable();
        (words.join(" ") == wanted).then_some(())
    });
}

#[test]
fn a_game_over_udp_with_a_heartbeat() {
    let (folder, _) = build("tag");
    for strategy in STRATEGIES {
        let server = run(&folder, "tag", strategy);
        let players = [0, 1].map(|_| {
            let player = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            player.connect((Ipv4Addr::LOCALHOST, server.port)).unwrap();
            player.set_nonblocking(true).unwrap();
            player
        });
        let send = |player: usize, text: &str| players[player].send(text.as_bytes()).unwrap();
        // Until the server has its socket, the kernel refuses datagrams. This one moves nobody before the player has
        // joined. A flow may handle it later than the next one: then the player stays where it is.
        wait_for("the server's socket", || {
            let _ = players[0].send(b"M 10 20");
            let refused = players[0].recv(&mut [0; 64]).err().map(|error| error.kind());
            (refused == Some(ErrorKind::WouldBlock)).then_some(())
        });
        send(0, "J 10 20");
        wait_for_positions(&players[0], "10,20*");
        send(1, "J 30 40");
        wait_for_positions(&players[1], "10,20* 30,40");
        send(1, "M 50 1000");
        wait_for_positions(&players[0], "10,20* 50,100");
        send(0, "M 50 100");
        wait_for_positions(&players[0], "50,100 50,100*");
        // The one who is it leaves.
        send(1, "L");
        wait_for_positions(&players[0], "50,100");
    }
}

#[test]
fn a_server_with_sessions_counts_for_each_user() {
    let (folder, _) = build("chat");
    for strategy in STRATEGIES {
        let server = run(&folder, "chat", strategy);
        assert_eq!(server.ask("7: one two three\n"), "words: 3\n", "{strategy}");
        assert_eq!(server.ask("8: one\n"), "words: 1\n", "{strategy}");
        let (server, line) = (&server, "7: a b c d e f g h i j\n");
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..9).map(|_| scope.spawn(move || server.ask(line))).collect();
            let mut answers: Vec<String> = clients.into_iter().map(|client| client.join().unwrap()).collect();
            let expected: Vec<_> = (1..10).map(|number| format!("words: {}\n", 3 + 10 * number)).collect();
            answers.sort();
            assert_eq!(answers, expected, "one after the other, as they are of one session; {strategy}");
        });
        assert_eq!(server.ask(line), "so many words: 103\n", "{strategy}");
        assert_eq!(server.ask("nobody"), "?\n", "{strategy}");
    }
}

#[test]
fn the_image_server_of_figure_2() {
    let (folder, _) = build("image");
    std::fs::write(folder.join("row.ppm"), "rgbrgb").unwrap();
    for strategy in STRATEGIES {
        let server = run(&folder, "image", strategy);
        std::fs::write(folder.join("row.ppm"), "rgbrgb").unwrap();
        assert_eq!(server.ask("GET /row HTTP/1.0\r\n\r\n"), "6 pixels", "{strategy}");
        std::fs::write(folder.join("row.ppm"), "changed").unwrap();
        assert_eq!(server.ask("GET /row HTTP/1.0\r\n\r\n"), "6 pixels", "from the cache, {strategy}");
        assert_eq!(server.ask("GET /none HTTP/1.0\r\n\r\n"), "404: error 2", "{strategy}");
    }
}

#[test]
fn a_store_whose_words_std_has_taken_since() {
    let (folder, _) = build("store");
    for strategy in STRATEGIES {
        let server = run(&folder, "store", strategy);
        let talk = [
            ("get a\n", "+none\n"),
            ("put a 1\n", "+ok\n"),
            ("put c 2\n", "+ok\n"),
            ("get a\n", "+1\n"),
            ("size\n", "+2\n"),
            ("rank b c\n", "+1 1\n"),
            ("forget a\n", "?\n"),
        ];
        for (question, answer) in talk {
            assert_eq!(server.ask(question), answer, "{question:?}, {strategy}");
        }
    }
}

#[test]
fn a_source_that_includes_nothing_and_c_of_before_1989() {
    let (folder, _) = build("status");
    for strategy in STRATEGIES {
        let server = run(&folder, "status", strategy);
        assert_eq!(server.ask("sort Banana cherry apple\n"), "apple\nbanana\ncherry\n", "{strategy}");
        assert_eq!(server.ask("144\n"), "12\n", "{strategy}");
        assert_eq!(server.ask("ls .\n"), "status.cpp\nstatus.flux\nword.c\nword.h\n", "{strategy}");
        assert_eq!(server.ask("how long\n"), "Linux up 1\n", "{strategy}");
    }
}

/// A message between peers: its length, its kind, and numbers and bytes.
fn message(kind: u8, numbers: &[u32], bytes: &[u8]) -> Vec<u8> {
    let rest: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).chain(bytes.iter().copied()).collect();
    let length = u32::try_from(rest.len() + 1).unwrap().to_be_bytes();
    [&length[..], &[kind], &rest].concat()
}

/// The next message of a peer that says anything.
fn next_message(stream: &mut TcpStream) -> Vec<u8> {
    loop {
        let mut length = [0; 4];
        stream.read_exact(&mut length).unwrap();
        let mut rest = vec![0; u32::from_be_bytes(length) as usize];
        stream.read_exact(&mut rest).unwrap();
        if !rest.is_empty() {
            return [&length[..], &rest].concat();
        }
    }
}

#[test]
fn a_peer_with_a_node_for_each_kind_of_message_and_three_timers() {
    let (folder, _) = build("peer");
    let [interested, have, bitfield, request, piece] = [2, 4, 5, 6, 7];
    for strategy in STRATEGIES {
        let server = run(&folder, "peer", strategy);
        let mut peer = server.connect();
        let hello = |name: &[u8]| [&[19][..], b"BitTorrent protocol", &[0; 28], name].concat();
        peer.write_all(&hello(&[7; 20])).unwrap();
        let mut answer = vec![0; 68];
        peer.read_exact(&mut answer).unwrap();
        assert_eq!(answer, hello(b"-FX0001-abcdefghijkl"), "{strategy}");
        assert_eq!(next_message(&mut peer), message(bitfield, &[], &[0x80]), "it has one piece of four, {strategy}");
        let mut ask = |question: &[u8], answer: &[u8]| {
            peer.write_all(question).unwrap();
            assert_eq!(next_message(&mut peer), answer, "{question:?}, {strategy}");
        };
        ask(&message(bitfield, &[], &[0x40]), &message(interested, &[], &[]));
        ask(&message(request, &[0, 2, 4], &[]), &message(piece, &[0, 2], b"aaaa"));
        // Half a piece, and the other half is asked for.
        ask(&message(piece, &[1, 0], b"bbbb"), &message(request, &[1, 4, 4], &[]));
        // The piece is whole and right, as all are told; nobody has said that he has another.
        ask(&message(piece, &[1, 4], b"bbbb"), &message(have, &[1], &[]));
        ask(&message(request, &[1, 0, 8], &[]), &message(piece, &[1, 0], b"bbbbbbbb"));
        support::wait_for("a word to the tracker", || {
            std::fs::read_to_string(folder.join("tracker.log")).ok().filter(|text| text.starts_with("checkin\n"))
        });
        drop(server); // it would write another
        std::fs::remove_file(folder.join("tracker.log")).unwrap();
    }
}

#[test]
fn what_is_right_in_2006_is_not_said_beside_a_mistake() {
    let folder = copy("store", "mistakes");
    let nodes = std::fs::read_to_string(folder.join("nodes.cpp")).unwrap();
    std::fs::write(folder.join("nodes.cpp"), nodes.replace("int Size(", "int Sise(")).unwrap();
    let (is_built, said) = try_flux_build(&folder, "store");
    assert!(
        !is_built && said.contains("error[missing-function]: the function `Size` is not defined in any source"),
        "{said}"
    );
    assert!(!said.contains("warning:") && !said.contains("In function"), "{said}");
    let program = std::fs::read_to_string(folder.join("store.flux")).unwrap();
    std::fs::write(folder.join("store.flux"), program.replace("list *args", "lisst *args")).unwrap();
    let (is_built, said) = try_flux_build(&folder, "store");
    assert!(!is_built && said.matches("error[").count() == 1, "{said}");
    assert!(
        said.contains("error[unknown-type]: the type `lisst` is not declared in any header of the program"),
        "{said}"
    );
}

#[test]
fn headers_that_an_earlier_compiler_left_are_refused() {
    let folder = copy("chat", "leftovers");
    std::fs::write(folder.join("mStructs.h"), "struct Listen_out { int socket; };\n").unwrap();
    let (is_built, said) = try_flux_build(&folder, "chat");
    assert!(!is_built && said.contains("mStructs.h would be read in the place of the one that flux writes"), "{said}");
}

#[test]
fn a_copy_with_returns_is_kept_while_its_source_is_what_it_was() {
    let (folder, first) = build("image");
    let again = flux_build(&folder, "image");
    assert!(first.contains("without a return") && !again.contains("without a return"), "{again}");
    assert!(!again.contains("Compiling"), "{again}");
    let source = folder.join("server.cpp");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, text.replace("\n    if (in->close)\n        close(in->socket);\n", "\n    return 0;\n"))
        .unwrap();
    let changed = flux_build(&folder, "image");
    assert!(changed.contains("`Listen`, `CheckCache`, `ReadInFromDisk`, `StoreInCache` of server.cpp"), "{changed}");
}

/// What is said of a mistake in a source.
fn said_of_a_mistake(folder: &Path, name: &str, source: &str) -> String {
    let source = folder.join(source);
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, text + "\nint mistake() { return undeclared; }\n").unwrap();
    let (is_built, said) = try_flux_build(folder, name);
    assert!(!is_built && said.contains("'undeclared' was not declared"), "{said}");
    said
}

#[test]
fn a_mistake_is_told_alone_whether_std_is_named_or_names_are_its_own() {
    let own_names = copy("tag", "own_names");
    let said = said_of_a_mistake(&own_names, "tag", "network.cpp");
    assert!(!said.contains("ambiguous") && !said.contains("'map'"), "{said}");
    let std_unnamed = copy("chat", "std_unnamed");
    let said = said_of_a_mistake(&std_unnamed, "chat", "nodes.cc");
    assert!(!said.contains("'cerr'") && !said.contains("'vector'") && !said.contains("'string'"), "{said}");
}
