//! Rules of FLICK for what goes wrong with channels, in a server between real clients and servers that fail in each
//! way, on event loops with both kinds of I/O.

use crate::support;
use crate::support::{Server, flux, folder, sanitized, text};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

const LOOPS: [&str; 2] = ["--flux-io=reactor", "--flux-io=proactor"];

/// What a client sends says which server it is for; the first of them answers, and each of the others fails in its way.
const PROGRAM: &str = "\
type word : record
  text : string{16}

type line : record
  text : string

proc Faults : (word/line client, [word/word]{5} servers, [word/word]{1} others)
  local asked : integer = 0
  local words : dict[string{5}, integer]{7}
  local wrong : integer = 0
  | client => ask(asked, words, servers, others)
  | servers => answer(asked, client)
  | error malformed client => say(\"malformed\", wrong, client)
  | error failed client => say(\"failed\", wrong, client)
  | error broken servers => say(\"broken\", wrong, client)
  | error malformed servers => say(\"garbled\", wrong, client)
  | error unreachable servers => say(\"unreachable\", wrong, client)
  | others => answer(asked, client)
  | error broken others => ask_again(others)

fun ask : (ref asked : integer, ref words : dict[string, integer], [-/word] servers, [-/word] others, asks : word) -> ()
  asked := asked + 1
  words[asks.text] := asked
  if asks.text == \"other\": asks => others[0]
  else: asks => servers[integer(asks.text)]

fun ask_again : ([-/word] others, why : string) -> ()
  word(text: \"again\") => others[0]

fun answer : (ref asked : integer, -/line client, given : word) -> ()
  line(string(asked) + \" \" + given.text) => client

fun say : (what : string, ref wrong : integer, -/line client, why : string) -> ()
  wrong := wrong + 1
  line(string(wrong) + \" \" + what + \": \" + why) => client

global runs : integer = 0

// Once for each guest.
proc Greet : (-/line guest)
  runs := runs + 1
  if runs == 1: line(\"first\") => guest
  line(\"guest \" + string(runs)) => guest
";

/// The server of this program, built in a folder of its own.
fn built(name: &str, program: &str) -> std::path::PathBuf {
    let home = folder("flick_faults", name);
    std::fs::write(home.join("faults.flick"), program).unwrap();
    let mut build = vec!["build", "--debug", "faults.flick", "--build-dir", "build", "-o", "faults"];
    build.extend(sanitized::arguments());
    let said = flux(&home, &build);
    assert!(said.status.success(), "{}", text(&said.stderr));
    home.join("faults")
}

fn program() -> &'static Path {
    static ONCE: OnceLock<std::path::PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| built("server", PROGRAM))
}

/// The text behind its size.
fn sent(text: &str) -> Vec<u8> {
    [&u32::try_from(text.len()).unwrap().to_be_bytes()[..], text.as_bytes()].concat()
}

/// The next text; none at the end.
fn next(from: &mut TcpStream) -> Option<String> {
    let mut size = [0; 4];
    from.read_exact(&mut size).ok()?;
    let mut bytes = vec![0; usize::try_from(u32::from_be_bytes(size)).unwrap()];
    from.read_exact(&mut bytes).ok()?;
    Some(text(&bytes))
}

/// A server that does this with what each client says first, and then ends the connection; gives its address.
fn serving(answer: impl Fn(&mut TcpStream, &str) + Send + Sync + Clone + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            let answer = answer.clone();
            std::thread::spawn(move || {
                let said = next(&mut client);
                said.iter().for_each(|said| answer(&mut client, said));
            });
        }
    });
    address
}

/// Says what it is told, again and again.
fn echo(client: &mut TcpStream, first: &str) {
    let mut said = Some(first.to_owned());
    while let Some(one) = said {
        let _ = client.write_all(&sent(&one));
        said = next(client);
    }
}

/// Where guests come, from the folder of the program.
fn guests(io: &str) -> String {
    format!("{}.{:?}", io.trim_start_matches("--flux-io="), std::thread::current().id())
}

fn server(io: &str) -> Server {
    let servers = [
        serving(echo),
        serving(|_, _| {}),
        serving(|client, _| client.write_all(b"\0\0\0\x05ab").unwrap()),
        serving(|client, _| {
            client.write_all(&[&[0, 0, 1, 0][..], &[b'x'; 256]].concat()).unwrap();
            let _ = client.read(&mut [0]);
        }),
        "127.0.0.1:1".to_owned(),
    ];
    let mut command = Command::new(program());
    command.args(["--client=0", &format!("--others={}", serving(|_, _| {})), &format!("--guest=unix:{}", guests(io))]);
    command.arg(format!("--servers={}", servers.join(","))).args(["--flux-workers=2", io]);
    let mut server = Server::listening(command.current_dir(program().parent().unwrap()));
    // It listens for guests, too.
    server.port = support::wait_for("a port", || {
        let said = server.said();
        said.lines().find_map(|line| line.strip_prefix("flux: listening on [::]:")?.parse().ok())
    });
    server
}

#[test]
fn what_goes_wrong_with_a_server_is_answered_and_the_rest_goes_on() {
    for io in LOOPS {
        let server = server(io);
        let mut client = server.connect();
        let wrong = [
            ("1", "broken: ended before it answered"),
            ("2", "broken: error 104 (Connection reset by peer)"),
            ("3", "garbled: no word: byte 4, word.text: it has more bytes than it may have"),
            ("4", "unreachable: cannot be connected to 127.0.0.1:1: error 111 (Connection refused)"),
            ("5", "failed: no_element"),
            // What is not computed changes nothing.
            ("x", "failed: not_a_number"),
            // Each connects again.
            ("1", "broken: ended before it answered"),
        ];
        let mut asked = 0;
        for (at, (which, why)) in wrong.iter().enumerate() {
            for (said, answer) in [(*which, format!("{} {why}", at + 1)), ("0", String::new())] {
                asked += usize::from(said != "x");
                client.write_all(&sent(said)).unwrap();
                let wanted = if said == "0" { format!("{asked} 0") } else { answer };
                assert_eq!(next(&mut client), Some(wanted), "{io}");
            }
        }
        // The answers to what is asked at once are in order, and come after the end of that, too.
        client.write_all(&[sent("4"), sent("x"), sent("4"), sent("0")].concat()).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        for wanted in ["8 unreachable", "9 failed", "10 unreachable", "16 0"] {
            let answer = next(&mut client).unwrap_or_default();
            assert!(answer.starts_with(wanted), "{io}: {answer} and not {wanted}");
        }
        assert_eq!(next(&mut client), None, "{io}");
    }
}

/// State, and arrays of channels, have at most what the program says.
#[test]
fn what_is_to_hold_more_than_it_may_fails() {
    let server = server(LOOPS[0]);
    let mut client = server.connect();
    let mut says = |said: &str, wanted: &str| {
        client.write_all(&sent(said)).unwrap();
        assert_eq!(next(&mut client).as_deref(), Some(wanted), "{said}");
    };
    says("000000", "1 failed: too_large");
    for (at, said) in ["0", "00", "000", "0000", "00000"].iter().enumerate() {
        says(said, &format!("{} {said}", at + 1));
    }
    says("1", "2 broken: ended before it answered");
    says("5", "3 failed: no_element");
    says("2", "4 failed: too_large");
    says("0", "8 0");

    let mut command = Command::new(program());
    command.args([
        "--client=0",
        "--others=127.0.0.1:1",
        "--guest=127.0.0.1:0",
        &format!("--servers={}", ["127.0.0.1:1"; 6].join(",")),
    ]);
    let said = command.output().unwrap();
    let wanted = "the channel `servers` cannot be bound: the program has at most 5 of it, and there are 6: bind fewer";
    assert!(!said.status.success() && text(&said.stderr).contains(wanted), "{}", text(&said.stderr));
}

#[test]
fn statements_are_done_once_for_each_client() {
    for io in LOOPS {
        let server = server(io);
        let mut wanted = vec!["first", "guest 1"];
        for again in ["guest 2", ""] {
            let place = program().with_file_name(guests(io));
            let mut guest = support::wait_for("a guest", || std::os::unix::net::UnixStream::connect(&place).ok());
            let mut said = vec![];
            guest.read_to_end(&mut said).unwrap();
            assert_eq!(text(&said), text(&wanted.iter().flat_map(|one| sent(one)).collect::<Vec<_>>()), "{io}");
            wanted = vec![again];
        }
        drop(server);
    }
}

#[test]
fn a_client_that_sends_no_message_is_told_and_left() {
    for io in LOOPS {
        let server = server(io);
        let (mut good, garbage) = (server.connect(), [&[0, 0, 1, 0][..], &[b'y'; 5_000]].concat());
        for before in [false, true] {
            let mut bad = server.connect();
            if before {
                bad.write_all(&sent("0")).unwrap();
                assert_eq!(next(&mut bad).as_deref(), Some("1 0"), "{io}");
            }
            bad.write_all(&garbage).unwrap();
            let wanted = "1 malformed: no word: byte 4, word.text: it has more bytes than it may have";
            assert_eq!(next(&mut bad).as_deref(), Some(wanted), "{io}: {before}");
            assert_eq!(next(&mut bad), None, "{io}: {before}");
        }
        good.write_all(&sent("0")).unwrap();
        assert_eq!(next(&mut good).as_deref(), Some("1 0"), "{io}: the others go on");
    }
}

/// A rule that makes what it is for happen again does so as often as there are channels.
#[test]
fn a_rule_that_fails_by_itself_ends() {
    for io in LOOPS {
        let server = server(io);
        let mut client = server.connect();
        client.write_all(&sent("other")).unwrap();
        assert_eq!(next(&mut client), None, "{io}: the run has ended");
    }
}

#[test]
fn the_sanitizers_find_nothing() {
    sanitized::run_again("flick_faults", "the_sanitizers_find_nothing");
}

/// The proxy of the examples for memcached's text, with rules for what goes wrong with servers.
fn proxy() -> &'static Path {
    static ONCE: OnceLock<std::path::PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/memcached_proxy/text.flick");
        let rules = "  | error unreachable backends => leave(has_left)\n  | error broken backends => leave(has_left)\n";
        let program = std::fs::read_to_string(example).unwrap();
        let with_rules = program.replace("\nfun leave", &format!("{rules}\nfun leave"));
        assert_ne!(program, with_rules);
        built("proxy", &with_rules)
    })
}

/// A client of the proxy before servers that are bound so, which has sent this.
fn has_asked(asked: &str, servers: &str, io: &str) -> (Server, TcpStream) {
    let servers = format!("--backends={servers}");
    let proxy =
        Server::listening(Command::new(proxy()).args(["--client=127.0.0.1:0", &servers, "--flux-workers=1", io]));
    let mut client = proxy.connect();
    client.write_all(asked.as_bytes()).unwrap();
    (proxy, client)
}

/// What a server has been asked, when that is so many lines.
fn lines_of(server: &mut TcpStream, count: usize) -> usize {
    let mut all = vec![];
    let mut some = [0; 4096];
    while all.iter().filter(|byte| **byte == b'\n').count() < count {
        let size = server.read(&mut some).unwrap();
        assert_ne!(size, 0, "it is asked {count} lines");
        all.extend_from_slice(some.get(..size).unwrap());
    }
    all.iter().filter(|byte| **byte == b'\n').count()
}

#[test]
fn a_client_that_sends_no_more_is_left_behind_a_rule_for_its_server() {
    for io in LOOPS {
        for bound in ["", "; keep 4"] {
            let server = TcpListener::bind("127.0.0.1:0").unwrap();
            let at = format!("127.0.0.1:{}{bound}", server.local_addr().unwrap().port());
            let (_proxy, mut client) = has_asked("set a 0 0 1\r\nx\r\n", &at, io);
            client.shutdown(Shutdown::Write).unwrap();
            let (mut asked, _) = server.accept().unwrap();
            lines_of(&mut asked, 2);
            drop(asked);
            let mut all = vec![];
            client.read_to_end(&mut all).unwrap();
            assert_eq!(text(&all), "", "{io} {bound}");
        }
    }
}

#[test]
fn what_cannot_be_asked_again_holds_up_no_reply_of_another_server() {
    const KEYS: usize = 8;
    for io in LOOPS {
        let [fails, answers] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let port = |of: &TcpListener| of.local_addr().unwrap().port();
        let at = format!("127.0.0.1:{}, 127.0.0.1:{}; retry 1", port(&fails), port(&answers));
        let asked: String = ('a'..).take(KEYS).map(|key| format!("get {key}\r\n")).collect();
        let (proxy, mut client) = has_asked(&asked, &at, io);
        let (lost, _) = fails.accept().unwrap();
        let (mut other, _) = answers.accept().unwrap();
        drop((fails, answers));
        proxy.rest();
        let count = lines_of(&mut other, 1); // all of it has come
        drop(lost);
        proxy.rest();
        other.write_all("END\r\n".repeat(count).as_bytes()).unwrap();
        let mut all = vec![0; "END\r\n".len() * count];
        client.read_exact(&mut all).unwrap();
        assert_eq!(text(&all), "END\r\n".repeat(count), "{io}");
    }
}
