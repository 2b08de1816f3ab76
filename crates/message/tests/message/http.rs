//! What HTTP/1.1 refuses: RFC 9112 and RFC 9110, rule by rule. What real clients and servers say is in `captures.rs`.

use crate::{module, read};
use flux_ir::program::Program;
use std::sync::LazyLock;

static HTTP: LazyLock<Program> = LazyLock::new(|| module("std.http_message"));

/// So many messages called `name` are in `text`, and nothing else.
#[track_caller]
fn are(name: &str, count: usize, text: &str) {
    let found = read(&HTTP, name, text.as_bytes()).into_iter().collect::<Result<Vec<_>, _>>();
    assert_eq!(found.map(|found| found.len()), Ok(count), "{}", text.escape_debug());
}

/// `text` is refused, in this field.
#[track_caller]
fn refused(name: &str, field: &str, text: &str) {
    let found = read(&HTTP, name, text.as_bytes());
    let why = found.into_iter().find_map(Result::err).unwrap_or_else(|| panic!("{} is read", text.escape_debug()));
    assert_eq!(why.field, format!("{name}.{field}"), "{}: {}", text.escape_debug(), why.message);
}

#[test]
fn requests_that_are_right() {
    are("request", 2, "GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET /x?y HTTP/1.1\r\nhOsT:\t\r\n\r\n");
    are("request", 1, "GET / HTTP/1.0\r\n\r\n");
    are("request", 1, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
    are("request", 1, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n");
    are("request", 1, "GET http://a.test/b HTTP/1.1\r\nHost: a.test\r\n\r\n");
    are("request", 2, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 003 \r\n\r\nabcGET / HTTP/1.0\r\n\r\n");
    are("request", 1, "POST / HTTP/1.1\r\nHost: a\r\nX: \u{e9}\r\nY:\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n");
}

#[test]
fn lines_of_requests() {
    for (field, line) in [
        ("head.method", " / HTTP/1.1\r\n"),
        ("head.method", "\n\nGET / HTTP/1.1\r\n"),
        ("head", "G@T / HTTP/1.1\r\n"),
        ("head.method", &format!("{} / HTTP/1.1\r\n", "G".repeat(33))),
        ("head.target", "GET  / HTTP/1.1\r\n"),
        ("head.target", "GET a.test HTTP/1.1\r\n"),
        ("head.target", "GET * HTTP/1.1\r\n"),
        ("head.target", "CONNECT / HTTP/1.1\r\n"),
        ("head.target", "CONNECT http://a.test/ HTTP/1.1\r\n"),
        ("head.target", &format!("GET /{} HTTP/1.1\r\n", "a".repeat(8192))),
        ("head", "GET / HTTP/2.0\r\n"),
        ("head", "GET / http/1.1\r\n"),
        ("head", "GET /\r\n"),
        ("head", "GET / HTTP/1.1\n"),
        ("head", "GET / HTTP/1.11\r\n"),
    ] {
        refused("request", field, &format!("{line}Host: a\r\n\r\n"));
    }
}

#[test]
fn fields() {
    for (field, fields) in [
        ("head.fields.[1]", "X : a\r\n"),
        ("head.fields.[1].name", ": a\r\n"),
        ("head.fields.[1].name", " folded\r\n"),
        ("head.fields.[1].name", "\tfolded\r\n"),
        ("head.fields.[1].name", "\nX: a\r\n"),
        ("head.fields.[1]", "X: a\nY: b\r\n"),
        ("head.fields.[1]", "X: a\rb\r\n"),
        ("head.fields.[1]", "X: a\0b\r\n"),
        ("head.fields.[1]", "X: a\x7fb\r\n"),
        ("head.fields.[1]", "X\r\n"),
        ("head.fields.[1]", "Host: b\r\n"),
        ("head.fields.[1].name", &format!("{}: a\r\n", "X".repeat(257))),
        ("head.fields.[1].value", &format!("X: {}\r\n", "a".repeat(16384))),
        ("head.fields", &"X: a\r\n".repeat(100)),
    ] {
        refused("request", field, &format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n"));
    }
    refused("request", "head.names_its_host", "GET / HTTP/1.1\r\n\r\n");
    let large = format!("X: {}\r\n", "a".repeat(16000)).repeat(5);
    refused("request_head", "fields.[5].value", &format!("GET / HTTP/1.1\r\nHost: a\r\n{large}\r\n"));
}

/// What two programs in a row could understand in two ways.
#[test]
fn lengths_that_could_smuggle() {
    for (field, fields) in [
        ("[2]", "Content-Length: 3\r\nContent-Length: 3\r\n"),
        ("[2]", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"),
        ("[2]", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"),
        ("[2]", "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"),
        ("[2]", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
        ("[1].given", "Content-Length: +3\r\n"),
        ("[1].given", "Content-Length: -3\r\n"),
        ("[1].given", "Content-Length: 3, 3\r\n"),
        ("[1].given", "Content-Length: 0x3\r\n"),
        ("[1].given", "Content-Length: 3 3\r\n"),
        ("[1].given", "Content-Length:\r\n"),
        ("[1].given", "Content-Length: 18446744073709551616\r\n"),
        ("[1].coding", "Transfer-Encoding: gzip, chunked\r\n"),
        ("[1].coding", "Transfer-Encoding: chunked, chunked\r\n"),
        ("[1].coding", "Transfer-Encoding: xchunked\r\n"),
    ] {
        let field = format!("head.fields.{field}");
        refused("request", &field, &format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\nabc"));
        let field = field.replace("[1]", "[0]").replace("[2]", "[1]");
        refused("response", &field, &format!("HTTP/1.1 200 OK\r\n{fields}\r\nabc"));
    }
    // "6.1": HTTP/1.0 has no codings.
    refused("request", "head.fields.[0]", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    refused("response", "head.fields.[0]", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
}

#[test]
fn chunks() {
    are("chunked_body", 1, "3 ; a ; b=c;d = \"e\\\"; f\" \r\nabc\r\n000\r\nX: y\r\n\r\n");
    // White space that belongs before an extension alone.
    are("chunked_body", 1, "3  \r\nabc\r\n0\t\r\n\r\n");
    are("chunked_body", 1, "A\r\n0123456789\r\nb\r\n0123456789a\r\n0\r\n\r\n");
    for (field, body) in [
        ("chunks.[0].size", "\r\n"),
        ("chunks.[0].size", "-1\r\n"),
        ("chunks.[0].size", "x3\r\n"),
        ("chunks.[0].size", "10000000000000000\r\n"),
        ("chunks.[0].extensions.[0]", "0x3\r\n"),
        ("chunks.[0].extensions.[0]", "3\nabc\r\n"),
        ("chunks.[0].extensions.[0].name", "3;\r\n"),
        ("chunks.[0].extensions.[1]", "3;a\nabc\r\n"),
        ("chunks.[0].extensions.[0].value", "3;a=\r\n"),
        ("chunks.[0].extensions.[0].value", "3;a=\"\n\"\r\n"),
        ("chunks.[0]", "3\r\nabcd\r\n"),
        ("chunks.[0]", "3\r\nabc\n"),
        ("trailers.[0]", "0\r\nContent-Length: 3\r\n\r\n"),
        ("trailers.[0]", "0\r\nTransfer-Encoding: chunked\r\n\r\n"),
        ("trailers.[0]", "0\r\nHost: a\r\n\r\n"),
        ("trailers.[0].name", "0\r\n\n"),
    ] {
        refused("chunked_body", field, body);
    }
}

#[test]
fn responses() {
    are("response", 3, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 \r\nX: y\r\n\r\nHTTP/1.0 200 OK\r\n\r\nrest\r\n\r\n");
    are(
        "response",
        2,
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
    );
    are("response", 2, "HTTP/1.1 304\r\n\r\nHTTP/1.1 999 Request denied\r\nContent-Length: 1\r\n\r\na");
    for (field, line) in [
        ("head.status", "HTTP/1.1  200 OK\r\n"),
        ("head.status", "HTTP/1.1 099 OK\r\n"),
        ("head", "HTTP/1.1 2000 OK\r\n"),
        ("head", "HTTP/1.1 200OK\r\n"),
        ("head", "HTTP/1.1 200 OK\n"),
        ("head", "HTTP/1.1 200 O\0K\r\n"),
        ("head", "ICY 200 OK\r\n"),
    ] {
        refused("response", field, &format!("{line}\r\n"));
    }
}
