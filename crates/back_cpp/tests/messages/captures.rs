//! What real clients and servers said, message by message, and messages that none of them happened to send.

use crate::harness::program;
use flux_message::{Grammar, Parser, Streams};

/// A message of a standard module, and what was recorded of such, one after the other.
pub struct Capture {
    pub module: &'static str,
    pub message: &'static str,
    bytes: &'static [u8],
    /// What comes before the first one.
    before: usize,
}

macro_rules! captures {
    ($($module:literal $message:literal $file:literal $before:literal;)*) => {
        /// All of them.
        pub const CAPTURES: &[Capture] = &[$(Capture {
            module: $module,
            message: $message,
            bytes: include_bytes!(concat!("../../../message/tests/captures/", $file)),
            before: $before,
        }),*];
    };
}

captures! {
    "std.memcached" "command" "memcached.request" 0;
    "std.memcached" "command" "memcached.response" 0;
    "std.memcached_text" "request" "memcached_text.request" 0;
    "std.memcached_text" "response" "memcached_text.response" 0;
    "std.resp" "value" "redis.request" 0;
    "std.resp" "value" "redis.response" 0;
    "std.dns_message" "over_tcp" "dns.request" 0;
    "std.dns_message" "over_tcp" "dns.response" 0;
    "std.dns_message" "over_tcp" "dns_tcp.request" 0;
    "std.dns_message" "over_tcp" "dns_tcp.response" 0;
    "std.http_message" "request" "http.request" 0;
    "std.http_message" "response" "http.response" 0;
    "std.http_message" "request" "http_browser.request" 0;
    "std.http_message" "response" "http_browser.response" 0;
    "std.http_message" "request" "http_head.request" 0;
    "std.http_message" "response_head" "http_head.response" 0;
    "std.http_message" "response" "http_close.response" 0;
    "std.fastcgi" "record" "fastcgi.request" 0;
    "std.fastcgi" "record" "fastcgi.response" 0;
    "std.bittorrent" "message" "bittorrent.request" 68;
    "std.bittorrent" "message" "bittorrent.response" 68;
    "std.ifile" "record" "records.ifile" 0;
}

impl Capture {
    /// Each message by itself; of one as long as the connection all that there is.
    pub fn messages(&self) -> Vec<Vec<u8>> {
        let (program, _) = program("split", module(self.module));
        let grammar = Grammar::new(&program);
        let id = program.messages.iter().find(|(_, one)| one.name == self.message).unwrap().0;
        let mut parser = Parser::new(&grammar, id, Streams::Kept);
        let bytes = &self.bytes[self.before..];
        parser.feed(bytes);
        parser.close();
        let all: Vec<_> = std::iter::from_fn(|| parser.next_message()).map(Result::unwrap).collect();
        let range = |start: u64, size: u64| start as usize..(start + size) as usize;
        all.iter().map(|parsed| bytes[range(parsed.offset, parsed.tree.end)].to_vec()).collect()
    }
}

/// The text of a standard module.
pub fn module(name: &str) -> &'static str {
    flux_nodes::modules().find(|(known, _)| *known == name).unwrap().1
}

/// Messages of a module that are in no capture.
pub fn others(module: &str) -> &'static [(&'static str, &'static [u8])] {
    match module {
        "std.bittorrent" => &[
            ("handshake", b"\x13BitTorrent protocol0123456701234567890123456789abcdefghijabcdefghij"),
            ("message", b"\0\0\0\x03\x14\x00d"),
            ("message", b"\0\0\0\x05\x11\0\0\0\x01"),
        ],
        "std.dns_message" => &[(
            "message",
            b"\0\x07\x80\0\0\x01\0\x01\0\0\0\0\x03abc\0\0\x01\0\x01\
               \xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\x7f\0\0\x01",
        )],
        "std.http_message" => &[
            (
                "request",
                b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
               3;a=\"b c\" ; d\r\nabc\r\n0\r\nx: y\r\n\r\n",
            ),
            ("request_head", b"GET /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n"),
        ],
        "std.ifile" => &[
            ("file", b"\x01\x02kvv\x02\0ab\xff\xff\x12\x34\x56\x78"),
            ("count", b"\x04\x04\x03abc\0\0\0\x07"),
            ("count", b"\xff\xff\x12\x34\x56\x78"),
        ],
        "std.resp" => &[
            ("value", b"%2\r\n+a\r\n:1\r\n$1\r\nb\r\n~2\r\n#t\r\n,1.5\r\n"),
            ("value", b"|1\r\n+a\r\n_\r\n>2\r\n(123\r\n=5\r\ntxt:x\r\n"),
            ("value", b"*2\r\n*1\r\n*-1\r\n!3\r\nerr\r\n"),
        ],
        _ => &[],
    }
}
