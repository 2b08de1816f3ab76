//! `examples/memcached` beside memcached itself: the same requests, byte for byte the same replies; for the clients of
//! libmemcached, and for their test of what a memcached is to do.

use crate::support;
use crate::support::memcached::{self, NO_OPERATION, opaque_of, reply, request};
use crate::support::{RUNTIMES, Server, text};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The server of the example.
fn cache() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| support::built::build(&support::built::examples().join("memcached"), &[], &["--debug"]))
}

fn ours(runtime: &[&str], arguments: &[&str]) -> Server {
    Server::listening(Command::new(cache()).arg("--port=0").args(runtime).args(arguments))
}

/// What a client of libmemcached says and whether it was content.
fn client(name: &str, server: &Server, arguments: &[&str]) -> (bool, String) {
    let address = format!("--servers=127.0.0.1:{}", server.port);
    let output = Command::new(name).args(["--binary", &address]).args(arguments).output();
    let output = output.expect("the clients of memcached: apt-get install libmemcached-tools");
    (output.status.success(), text(&output.stdout))
}

#[test]
fn the_clients_of_memcached_are_content() {
    let greeting = support::folder("memcached", "values").join("greeting");
    std::fs::write(&greeting, "hello").unwrap();
    let file = greeting.to_str().unwrap();
    for runtime in RUNTIMES {
        let server = ours(runtime, &[]);
        assert!(!client("memccat", &server, &["greeting"]).0, "{runtime:?}: nothing is there yet");
        assert!(client("memccp", &server, &[file]).0, "{runtime:?}: it is set");
        assert_eq!(client("memccat", &server, &["greeting"]), (true, "hello\n".to_owned()), "{runtime:?}");
        assert!(client("memctouch", &server, &["--expire=60", "greeting"]).0, "{runtime:?}: it is touched");
        assert!(client("memcexist", &server, &["greeting"]).0, "{runtime:?}: it is still there");
        assert!(client("memcrm", &server, &["greeting"]).0, "{runtime:?}: it is removed");
        assert!(!client("memccat", &server, &["greeting"]).0, "{runtime:?}: it is gone");
        assert!(client("memccp", &server, &[file]).0, "{runtime:?}");
        assert!(client("memcstat", &server, &[]).1.contains("curr_items: 1"), "{runtime:?}");
        assert!(client("memcflush", &server, &[]).0, "{runtime:?}");
        assert!(!client("memcexist", &server, &["greeting"]).0, "{runtime:?}: all is gone");
    }
}

#[test]
fn it_is_what_libmemcached_says_a_memcached_is() {
    for runtime in RUNTIMES {
        let server = ours(runtime, &[]);
        let mut command = Command::new("memccapable");
        command.args(["-b", "-h", "127.0.0.1", "-p", &server.port.to_string()]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(output.status.success() && said.contains("All tests passed"), "{runtime:?}\n{said}");
    }
}

/// Numbers that look random, the same each time (Marsaglia, "Xorshift RNGs", 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

/// A request for one of few keys, so that they meet. The numbers of versions are what both servers count alike.
///
/// memcached fills up a number with spaces only if no reply with the item is still to be sent. So among requests that
/// are sent together numbers have a key of their own, which none of them gets or touches. In a number of 2^63 or more
/// memcached (1.6.18, `safe_strtoull`) looks for a minus sign, and goes on beyond the value, into what its memory
/// held before: so there is no such number here but in [`a_number_goes_around_after_the_greatest`].
fn any_request(random: &mut Random, opaque: u32, together: bool) -> Vec<u8> {
    let kind = random.below(24);
    let (is_number, is_get) = ((13..17).contains(&kind), kind < 4 || (19..22).contains(&kind));
    let mut key = random.one(&["a", "b", "c", "a key of thirty-two bytes or more", "number"]).as_bytes();
    if together && (is_number || is_get && key == b"number") {
        key = if is_number { b"number" } else { b"a" };
    }
    let values = ["", "0", "7", "99", "9000000000000000000", " 12", "3 dogs", "-1", "text", "100000000000000000000"];
    let value = random.one(&values).as_bytes();
    let cas = if random.below(8) == 0 { random.below(u64::from(opaque % 1000) + 2) } else { 0 };
    // None, soon, never, and the past: as seconds from 1970.
    let expiration = [0_u32, 0, 1000, 0xffff_ffff, 2_592_001][usize::try_from(random.below(5)).unwrap()].to_be_bytes();
    let quiet = random.below(2) == 0;
    let of = |plain: u8, silent: u8| if quiet { silent } else { plain };
    let flags = u32::try_from(random.below(1 << 32)).unwrap().to_be_bytes();
    let store = [flags, expiration].concat();
    let (amount, initial) = (random.below(20).to_be_bytes(), random.below(100).to_be_bytes());
    let change = [&amount[..], &initial, &expiration].concat();
    let with = |opcode, extras: &[u8], value: &[u8]| request(opcode, opaque, cas, [extras, key, value]);
    match kind {
        0 | 1 => with(of(0x00, 0x09), b"", b""),
        2 | 3 => with(of(0x0c, 0x0d), b"", b""),
        4..=6 => with(of(0x01, 0x11), &store, value),
        7 | 8 => with(of(0x02, 0x12), &store, value),
        9 | 10 => with(of(0x03, 0x13), &store, value),
        11 | 12 => with(of(0x04, 0x14), b"", b""),
        13 | 14 => with(of(0x05, 0x15), &change, b""),
        15 | 16 => with(of(0x06, 0x16), &change, b""),
        17 => with(of(0x0e, 0x19), b"", b"7"),
        18 => with(of(0x0f, 0x1a), b"", b"3"),
        19 => with(0x1c, &expiration, b""),
        20 => with(of(0x1d, 0x1e), &expiration, b""),
        21 => with(of(0x23, 0x24), &expiration, b""),
        22 if random.below(10) == 0 => request(of(0x08, 0x18), opaque, 0, [b"", b"", b""]),
        22 => request(0x55, opaque, 0, [b"", b"", b""]),
        _ => request(NO_OPERATION, opaque, 0, [b"", b"", b""]),
    }
}

/// The replies up to that to this request, each by itself.
fn replies(from: &mut TcpStream, last: u32) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = vec![];
    while all.last().is_none_or(|reply| opaque_of(reply) != last) {
        all.push(reply(from));
    }
    all
}

#[test]
fn it_replies_as_memcached_does_byte_for_byte() {
    for (seed, runtime) in (1..).zip(RUNTIMES) {
        let (theirs, ours) = (memcached::server(), ours(runtime, &[]));
        let mut connections = [theirs.connect(), ours.connect()];
        let mut random = Random(0x9e37_79b9_7f4a_7c15 - seed);
        let mut opaque = 0;
        for batch in 0..400 {
            let mut requests = vec![];
            let count = if batch % 2 == 0 { 1 } else { random.below(60) };
            for _ in 0..count {
                opaque += 1;
                requests.push(any_request(&mut random, opaque, count != 1));
            }
            opaque += 1;
            requests.push(request(NO_OPERATION, opaque, 0, [b"", b"", b""]));
            let all = requests.concat();
            let parts = if batch % 9 == 0 { 7 } else { all.len() };
            let [wanted, given] = connections.each_mut().map(|connection| {
                all.chunks(parts).for_each(|part| connection.write_all(part).unwrap());
                replies(connection, opaque)
            });
            for (wanted, given) in wanted.iter().zip(&given) {
                let number = u32::from_be_bytes(wanted[12..16].try_into().unwrap());
                let asked = requests.iter().find(|one| one[12..16] == number.to_be_bytes());
                assert!(
                    wanted == given,
                    "seed {seed}, {runtime:?}, asked\n{:?}\nwanted\n{}\ngiven\n{}",
                    asked.map(|asked| asked.escape_ascii().to_string()),
                    wanted.escape_ascii(),
                    given.escape_ascii()
                );
            }
            assert_eq!(wanted.len(), given.len(), "seed {seed}, batch {batch}, {runtime:?}");
        }
    }
}

/// What a server replies to a request and a quit until it closes the connection.
fn said_to(server: &Server, asked: &[u8], part: usize) -> Vec<u8> {
    let mut client = server.connect();
    // A server that has closed the connection does not read the rest.
    let _ =
        [asked, &request(0x07, 9, 0, [b"", b"", b""])].concat().chunks(part).try_for_each(|one| client.write_all(one));
    let mut said = vec![];
    let _ = client.read_to_end(&mut said);
    said
}

#[test]
fn wrong_arguments_are_refused_as_memcached_refuses_them() {
    let (long, longer) = ([b'k'; 251], [b'k'; 300]);
    let cases: [(&[u8], [&[u8]; 3]); 17] = [
        (b"\x00\x09\x01\x11\x04\x05\x0e\x1c\x55", [b"", &long, b""]),
        (b"\x04\x01", [&[0; 8], &longer, b""]),
        (b"\x00\x09\x0c\x0d\x04\x0e\x0f\x19", [b"", b"", b""]),
        (b"\x01\x11\x02\x03", [&[0; 8], b"", b"x"]),
        (b"\x05\x06\x15", [&[0; 20], b"", b""]),
        (b"\x1c\x1d\x1e\x23\x24", [&[0; 4], b"", b""]),
        (b"\x01\x02\x03\x11\x05\x06\x16\x1c\x1d\x1e\x23\x24", [b"", b"a", b""]),
        (b"\x01\x05\x00\x04\x0e\x0f\x10\x0a\x0b\x07\x17", [&[0; 4], b"a", b"x"]),
        (b"\x05\x1c\x1d\x00\x08\x18", [&[0; 8], b"", b""]),
        (b"\x01\x02\x05\x1c", [&[0; 9], b"a", b"x"]),
        (b"\x00\x09\x0c\x04\x14", [b"", b"a", b"x"]),
        (b"\x05\x06", [&[0; 20], b"a", b"x"]),
        (b"\x0a\x0b\x07\x17\x08\x18", [b"", b"a", b""]),
        (b"\x0a\x0b\x07\x17\x08\x18", [b"", b"", b"x"]),
        (b"\x0a\x0b\x07\x17\x10", [&[0; 4], b"", b""]),
        // These are right.
        (b"\x00\x09\x0c\x04", [b"", &long[1..], b""]),
        (b"\x08\x18", [&[0; 4], b"", b""]),
    ];
    let all = cases.iter().flat_map(|(opcodes, parts)| opcodes.iter().map(|opcode| request(*opcode, 7, 0, *parts)));
    let all: Vec<_> = all.collect();
    let theirs = memcached::server();
    let wanted: Vec<_> = all.iter().map(|asked| said_to(&theirs, asked, 1000)).collect();
    for runtime in RUNTIMES {
        let ours = ours(runtime, &[]);
        for (asked, wanted) in all.iter().zip(&wanted) {
            for part in [1000, 7] {
                let given = said_to(&ours, asked, part);
                let shown = [asked, &given, wanted].map(|bytes| bytes.escape_ascii().to_string());
                assert!(given == *wanted, "{runtime:?}: asked, given, wanted: {shown:#?}");
            }
        }
    }
}

#[test]
fn a_number_goes_around_after_the_greatest() {
    let greatest = request(0x01, 1, 0, [&[0; 8], b"n", b"18446744073709551615"]);
    let change = [3_u64.to_be_bytes(), 0_u64.to_be_bytes()].concat();
    let both = [greatest, request(0x05, 2, 0, [&[change, vec![0; 4]].concat(), b"n", b""])].concat();
    let answers = |server: &Server| {
        let mut connection = server.connect();
        connection.write_all(&both).unwrap();
        replies(&mut connection, 2)
    };
    let wanted = answers(&memcached::server());
    assert!(wanted[1].ends_with(&2_u64.to_be_bytes()), "{}", wanted[1].escape_ascii());
    for runtime in RUNTIMES {
        assert_eq!(answers(&ours(runtime, &[])), wanted, "{runtime:?}");
    }
}

/// The value of what is gotten, if there is one.
fn get(connection: &mut TcpStream, key: &[u8]) -> Option<Vec<u8>> {
    connection.write_all(&request(0x00, 1, 0, [b"", key, b""])).unwrap();
    let reply = replies(connection, 1).remove(0);
    (reply[6..8] == [0, 0]).then(|| reply[28..].to_vec())
}

#[test]
fn no_increment_is_lost() {
    for runtime in RUNTIMES {
        let server = ours(runtime, &[]);
        let change = [1_u64.to_be_bytes(), 1_u64.to_be_bytes()].concat();
        let one = request(0x15, 0, 0, [&[change, vec![0; 4]].concat(), b"count", b""]);
        let all = [one.repeat(2_000), request(NO_OPERATION, 7, 0, [b"", b"", b""])].concat();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut client = server.connect();
                    client.write_all(&all).unwrap();
                    assert_eq!(replies(&mut client, 7).len(), 1, "quiet ones are not answered");
                });
            }
        });
        assert_eq!(get(&mut server.connect(), b"count").unwrap(), b"8000", "{runtime:?}");
    }
}

#[test]
fn what_nobody_uses_is_forgotten_when_there_is_no_room() {
    for runtime in RUNTIMES {
        let server = ours(runtime, &["--memory=1M"]);
        let mut client = server.connect();
        let key = |number: u32| format!("key {number}").into_bytes();
        for number in 0..4_000 {
            client.write_all(&request(0x11, 0, 0, [&[0; 8], &key(number), &[b'v'; 1024]])).unwrap();
        }
        assert!(get(&mut client, &key(3_999)).is_some(), "{runtime:?}");
        let left = (0..4_000).filter(|number| get(&mut client, &key(*number)).is_some()).count();
        assert!((400..1024).contains(&left), "{runtime:?}: {left} of 4,000 values of 1 KiB are in 1 MiB");
    }
}
