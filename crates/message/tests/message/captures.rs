//! What real clients and servers said, whole, byte by byte, and split at every offset; and what is nearly that. How it
//! was recorded is in `captures/record.py`.

use crate::{message, module, read, read_pieces};
use flux_ir::message::MessageId;
use flux_ir::program::Program;
use flux_message::{Grammar, Parsed, write};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A module, a message of it, and what was recorded of such.
struct Capture {
    program: &'static Program,
    grammar: Grammar<'static>,
    message: MessageId,
    bytes: &'static [u8],
    /// How many messages there are.
    count: usize,
    /// Where each begins.
    starts: Vec<usize>,
}

static CAPTURES: LazyLock<Vec<Capture>> = LazyLock::new(|| {
    let mut programs: HashMap<&str, &'static Program> = HashMap::new();
    let mut capture = |name, called, bytes: &'static [u8], count| {
        let program: &'static Program = programs.entry(name).or_insert_with(|| Box::leak(Box::new(module(name))));
        let (grammar, message) = (Grammar::new(program), message(program, called));
        let found = read_pieces(&grammar, message, [bytes]);
        let starts = found.iter().flatten().map(|parsed| usize::try_from(parsed.offset).unwrap()).collect();
        Capture { program, grammar, message, bytes, count, starts }
    };
    vec![
        capture("std.memcached", "command", include_bytes!("../captures/memcached.request"), 18),
        capture("std.memcached", "command", include_bytes!("../captures/memcached.response"), 18),
        capture("std.memcached_text", "request", include_bytes!("../captures/memcached_text.request"), 59),
        capture("std.memcached_text", "response", include_bytes!("../captures/memcached_text.response"), 46),
        capture("std.resp", "value", include_bytes!("../captures/redis.request"), 85),
        capture("std.resp", "value", include_bytes!("../captures/redis.response"), 88),
        capture("std.dns_message", "over_tcp", include_bytes!("../captures/dns.request"), 9),
        capture("std.dns_message", "over_tcp", include_bytes!("../captures/dns.response"), 9),
        capture("std.dns_message", "over_tcp", include_bytes!("../captures/dns_tcp.request"), 9),
        capture("std.dns_message", "over_tcp", include_bytes!("../captures/dns_tcp.response"), 9),
        capture("std.http_message", "request", include_bytes!("../captures/http.request"), 21),
        capture("std.http_message", "response", include_bytes!("../captures/http.response"), 24),
        capture("std.http_message", "request", include_bytes!("../captures/http_browser.request"), 7),
        capture("std.http_message", "response", include_bytes!("../captures/http_browser.response"), 7),
        capture("std.http_message", "request", include_bytes!("../captures/http_head.request"), 3),
        capture("std.http_message", "response_head", include_bytes!("../captures/http_head.response"), 3),
        capture("std.http_message", "response", include_bytes!("../captures/http_close.response"), 1),
        capture("std.fastcgi", "record", include_bytes!("../captures/fastcgi.request"), 21),
        capture("std.fastcgi", "record", include_bytes!("../captures/fastcgi.response"), 13),
        capture("std.bittorrent", "message", after_handshake(include_bytes!("../captures/bittorrent.request")), 8),
        capture("std.bittorrent", "message", after_handshake(include_bytes!("../captures/bittorrent.response")), 12),
        capture("std.ifile", "record", include_bytes!("../captures/records.ifile"), 12),
    ]
});

/// What peers of BitTorrent say after what a connection begins with.
fn after_handshake(said: &'static [u8]) -> &'static [u8] {
    let (program, size) = (module("std.bittorrent"), 68);
    let found = read(&program, "handshake", &said[..size]);
    let handshake = &found[0].as_ref().unwrap().tree;
    assert_eq!(write(&program, handshake).unwrap(), &said[..size]);
    &said[size..]
}

/// The messages, all of them right.
fn right(capture: &Capture) -> Vec<Parsed> {
    let found = read_pieces(&capture.grammar, capture.message, [capture.bytes]);
    found.into_iter().collect::<Result<Vec<_>, _>>().unwrap()
}

#[test]
fn everything_that_was_said_is_read_and_written_again() {
    for capture in &*CAPTURES {
        let found = right(capture);
        assert_eq!(found.len(), capture.count, "{}", capture.program.messages[capture.message].name);
        let written: Vec<u8> = found.iter().flat_map(|parsed| write(capture.program, &parsed.tree).unwrap()).collect();
        assert!(written == capture.bytes);
    }
}

#[test]
fn bytes_may_come_one_by_one() {
    for capture in &*CAPTURES {
        let found = read_pieces(&capture.grammar, capture.message, capture.bytes.chunks(1));
        assert_eq!(found.into_iter().collect::<Result<Vec<_>, _>>().unwrap(), right(capture));
    }
}

#[test]
fn messages_may_be_split_anywhere() {
    for capture in &*CAPTURES {
        for parsed in right(capture) {
            let start = usize::try_from(parsed.offset).unwrap();
            let bytes = &capture.bytes[start..start + usize::try_from(parsed.tree.end).unwrap()];
            // Of long ones the ends, where all is but the value.
            let (first, last) = if bytes.len() < 1024 { (1024, 0) } else { (60, 20) };
            for at in (0..=bytes.len()).filter(|at| *at < first || bytes.len() - at < last) {
                let (before, after) = bytes.split_at(at);
                let found = read_pieces(&capture.grammar, capture.message, [before, after]);
                assert_eq!(found.len(), 1);
                assert_eq!(found[0].as_ref().unwrap().tree, parsed.tree);
            }
        }
    }
}

#[test]
fn messages_of_dns_are_the_same_in_datagrams() {
    let program = module("std.dns_message");
    for capture in CAPTURES.iter().filter(|capture| capture.program.messages[capture.message].name == "over_tcp") {
        for parsed in right(capture) {
            let start = usize::try_from(parsed.offset).unwrap();
            let datagram = &capture.bytes[start + 2..start + usize::try_from(parsed.tree.end).unwrap()];
            let found = read(&program, "message", datagram);
            assert_eq!(found.len(), 1);
            let message = found[0].as_ref().unwrap();
            assert_eq!(write(&program, &message.tree).unwrap(), datagram);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    /// Whatever is read is written again as it was, and nothing that comes stops the reader.
    #[test]
    fn what_is_nearly_right_is_read_and_written_again_or_refused(
        which in 0..CAPTURES.len(),
        start in 0..200_usize,
        changes in prop::collection::vec((0..400_usize, any::<u8>(), 0..4_u8), 0..6),
        split in 1..50_usize,
    ) {
        let capture = &CAPTURES[which];
        let start = capture.starts[start % capture.starts.len()];
        let mut bytes = capture.bytes[start..capture.bytes.len().min(start + 400)].to_vec();
        for (at, byte, kind) in changes {
            let at = at % bytes.len();
            match kind {
                0 => bytes[at] = byte,
                1 => bytes[at] ^= 1 << (byte % 8),
                2 => bytes.insert(at, byte),
                _ => _ = bytes.remove(at),
            }
            if bytes.is_empty() {
                bytes.push(byte);
            }
        }
        let whole = read_pieces(&capture.grammar, capture.message, [bytes.as_slice()]);
        let pieces = read_pieces(&capture.grammar, capture.message, bytes.chunks(split));
        prop_assert_eq!(&whole, &pieces);
        for parsed in whole.into_iter().flatten() {
            let start = usize::try_from(parsed.offset).unwrap();
            let end = start + usize::try_from(parsed.tree.end).unwrap();
            prop_assert_eq!(write(capture.program, &parsed.tree).unwrap(), &bytes[start..end]);
        }
    }
}

/// How many changed messages are tried: `make fuzz` asks for more.
fn cases() -> u32 {
    std::env::var("FLUX_MESSAGES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100)
}
