//! Wild requests to the admin interface of a server, over its socket: changed, cut, too long, several at once, made for
//! other sites. Each answer is well formed or none, none is a server's fault, and the server goes on.

use crate::support;
use crate::support::{LIMIT, Server, text, wait_for};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGES: [&str; 11] = [
    "/graph",
    "/report",
    "/profile",
    "/flows",
    "/metrics",
    "/log",
    "/log?json",
    "/healthz",
    "/graph.json",
    "/",
    "/nowhere",
];

/// What browsers say of requests that a page of another site makes; the interface is this machine's alone.
const FOREIGN: [&str; 4] = [
    "Host: localhost\r\nOrigin: http://evil.example\r\n",
    "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n",
    "Host: localhost\r\nOrigin: null\r\n",
    "Host: evil.example\r\n",
];

/// Numbers by chance (Marsaglia, "Xorshift RNGs", 2003).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn of<'a>(&mut self, some: &[&'a str]) -> &'a str {
        some[self.below(some.len())]
    }

    /// A request, and whether it is made for another site, so that it may not be answered.
    fn request(&mut self) -> (Vec<u8>, bool) {
        let (method, page) = (self.of(&["GET", "GET", "HEAD", "POST", "OPTIONS"]), self.of(&PAGES));
        if self.below(4) == 0 {
            let fields = self.of(&FOREIGN);
            return (format!("{method} {page}?{} HTTP/1.1\r\n{fields}\r\n", self.below(1000)).into_bytes(), true);
        }
        let accept =
            self.of(&["", "Accept: */*\r\n", "Accept: application/openmetrics-text\r\n", "Content-Length: 0\r\n"]);
        let mut bytes = format!("{method} {page} HTTP/1.1\r\nHost: localhost:9100\r\n{accept}\r\n").into_bytes();
        match self.below(8) {
            0 => {}
            // Several at once.
            1 => bytes = bytes.repeat(1 + self.below(20)),
            // Longer than any may be.
            2 => {
                let field = format!("X: {}\r\n", "x".repeat(self.below(20_000)));
                let end = bytes.len() - 2;
                bytes.splice(end..end, field.into_bytes());
            }
            3 => bytes.truncate(self.below(bytes.len())),
            _ => {
                for _ in 0..=self.below(6) {
                    self.change(&mut bytes);
                }
            }
        }
        (bytes, false)
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
        match self.below(4) {
            0 => bytes.insert(at, self.below(256) as u8),
            1 => drop(bytes.drain(at..(at + self.below(9)).min(bytes.len()))),
            2 => {
                let some =
                    self.of(&["\r\n", "\n", ": ", "\0", "HTTP/1.1", "Host: a\r\n", "Transfer-Encoding: chunked\r\n"]);
                bytes.splice(at..at, some.bytes());
            }
            _ if bytes.is_empty() => {}
            _ => bytes[at] = self.below(256) as u8,
        }
    }
}

/// What comes of it, sent as it is or in two parts.
fn answer(address: &str, request: &[u8], cut: usize) -> Vec<u8> {
    let mut connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(LIMIT)).unwrap();
    // A server that has refused the beginning does not read the rest.
    let _ = connection.write_all(&request[..cut]).and_then(|()| connection.write_all(&request[cut..]));
    let _ = connection.shutdown(Shutdown::Write);
    let mut bytes = vec![];
    let _ = connection.read_to_end(&mut bytes);
    bytes
}

/// The status of a whole answer; none where there is none. What is wrong with it otherwise.
fn status(answer: &[u8], is_head: bool) -> Result<Option<u16>, &'static str> {
    if answer.is_empty() {
        return Ok(None);
    }
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").ok_or("no end of the head")?;
    let head = std::str::from_utf8(&answer[..end]).map_err(|_| "a head that is no text")?;
    let number = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<usize>().ok());
    let length = number("Content-Length:").ok_or("no length")?;
    let body = answer.len() - end - 4;
    if body != length && !(is_head && body == 0) {
        return Err("a body of another length");
    }
    let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    status.map(Some).ok_or("no status")
}

/// Asks once in each round.
fn ask_wildly(server: &Path, seed: u64, rounds: impl Iterator<Item = u64>) {
    let mut command = Command::new(server);
    let options = ["--listen=127.0.0.1:0", "--flux-admin=0", "--flux-runtime=event"];
    let mut server = Server::listening(command.args(options).env("UBSAN_OPTIONS", "halt_on_error=1"));
    let said = "flux: the admin interface listens at ";
    let address = wait_for("the admin interface", || {
        server.said().lines().find_map(|line| line.strip_prefix(said)).map(str::to_owned)
    });
    let mut chance = Chance(seed.max(1));
    for round in rounds {
        let (request, is_foreign) = chance.request();
        let given = answer(&address, &request, chance.below(request.len() + 1));
        let shown = || format!("FUZZ_SEED={seed}, round {round}: {:?}\n{:?}", text(&request), text(&given));
        // A reset by the server loses what it has said of what was too long.
        let status =
            status(&given, request.starts_with(b"HEAD ")).unwrap_or_else(|wrong| panic!("{wrong}: {}", shown()));
        assert!(!matches!(status, Some(500)), "{}", shown());
        assert!(!is_foreign || matches!(status, Some(403 | 405)), "{}", shown());
        assert!(server.try_wait().is_none(), "{}\n{}", shown(), server.said());
    }
    assert_eq!(status(&answer(&address, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 0), false), Ok(Some(200)));
    server.terminate();
    assert!(server.wait().success(), "{}", server.said());
}

fn build(options: &[&str]) -> PathBuf {
    let home = support::built::tests().join("admin");
    support::built::build(&home.join("words.flux"), &[home.join("words.cpp")], &[&["--debug"], options].concat())
}

#[test]
fn wild_requests_do_no_harm() {
    ask_wildly(&build(&[]), 1, 0..1000);
}

/// `FUZZ_MINUTES` long for each sanitizer, and with `FUZZ_SEED` the same requests again.
#[test]
#[ignore = "it takes minutes: make fuzz"]
fn fuzz_admin() {
    let setting = |name: &str| std::env::var(name).ok().and_then(|given| given.parse::<u64>().ok());
    let seed = setting("FUZZ_SEED").unwrap_or_else(|| u64::from(std::process::id()) + 1);
    for sanitizer in ["address", "thread"] {
        ask_wildly(&build(&["--sanitize", sanitizer]), seed, support::rounds_for_minutes());
    }
}
