//! `flux message`, through the command: what it prints of bytes, and what it says of bytes that are no message.

#![expect(clippy::disallowed_methods, reason = "a test is a shell: it starts the command")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::Write as _;
use std::process::{Command, Stdio};

/// The exit status, standard output and standard error of a call that is given these bytes.
fn message(arguments: &[&str], bytes: &[u8]) -> (Option<i32>, String, String) {
    let mut flux = Command::new(env!("CARGO_BIN_EXE_flux"));
    let piped = flux.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.arg("message").args(arguments).spawn().unwrap();
    // A call that is wrong reads nothing, and may have ended.
    let _ = child.stdin.take().unwrap().write_all(bytes);
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn messages_are_printed_with_their_offsets() {
    let (status, printed, said) = message(&["std.resp", "value"], b"*2\r\n$3\r\nGET\r\n:-7\r\n+OK\r\n");
    let expected = "       0 value (18 bytes)
       1   array:
       1     count = 2
       4     elements: 2
       4       [0]:
       5         bulk:
       5           size = 3
       8           content = \"GET\"
      13       [1]:
      14         integer = -7
      18 value (5 bytes)
      19   text = \"OK\"
";
    assert_eq!((status, printed.as_str(), said.as_str()), (Some(0), expected, ""));
}

#[test]
fn streams_are_shown_by_their_beginnings_and_sizes() {
    let head = "POST / HTTP/1.1\r\nHost: a\r\n";
    let body = "0123456789".repeat(20_000);
    let whole = format!("{head}Content-Length: 200000\r\n\r\n{body}");
    let (status, printed, _) = message(&["std.http_message", "request"], whole.as_bytes());
    let offset = whole.len() - body.len();
    let expected = format!("{offset:>8}   body = \"{}\"… (stream of 200000 bytes)\n", "0123456789".repeat(6));
    assert!(status == Some(0) && printed.ends_with(&expected), "{printed}");
    let first = format!("       0 request ({} bytes, 200000 of them in streams)\n", whole.len());
    assert!(printed.starts_with(&first), "{printed}");
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nDigest: x\r\n\r\n");
    let (status, printed, _) = message(&["std.http_message", "request"], chunked.as_bytes());
    assert_eq!(status, Some(0));
    let lines = ["      59         content = \"abc\" (stream of 3 bytes)", "content = \"de\" (stream of 2 bytes)"];
    for shown in [lines[0], lines[1], "request (87 bytes, 5 of them in streams)", "name = \"Digest\""] {
        assert!(printed.contains(shown), "{printed}");
    }
    let (_, printed, _) = message(&["std.http_message", "request", "--json"], chunked.as_bytes());
    let stream = r#"{"name":"content","offset":59,"size":3,"stream":{"begins":"616263","size":3}}"#;
    assert!(printed.contains(stream) && printed.ends_with("\"size\":87,\"streamed\":5}\n"), "{printed}");
    // Of one without a body the stream has no bytes.
    let (_, printed, _) = message(&["std.http_message", "request"], b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(printed.starts_with("       0 request (27 bytes)\n"), "{printed}");
    assert!(printed.ends_with("      27   body = \"\" (stream of 0 bytes)\n"), "{printed}");
}

#[test]
fn messages_are_objects_for_programs() {
    let (status, printed, _) = message(&["std.resp", "value", "--json"], b":1\r\n+x");
    let expected = r#"
{"fields":[{"name":"integer","offset":1,"size":1,"value":1}],"message":"value","offset":0,"size":4}
{"error":"the data ends where `\\r\\n` is wanted","field":"value.text","offset":6}
"#;
    assert_eq!((status, printed.as_str()), (Some(1), expected.trim_start()));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let (status, printed, said) = message(&["std.resp", "value"], b"+OK\r\n$9x");
    assert_eq!(status, Some(1));
    assert!(printed.starts_with("       0 value (5 bytes)\n"));
    assert!(said.contains("byte 7: `value.bulk`: `\\r\\n` is wanted, and `x` comes"), "{said}");
    let (status, _, said) = message(&["std.resp", "nosuch"], b"");
    assert_eq!(status, Some(2));
    assert!(said.contains("there is no message `nosuch`; there are value, blob, values, entries, pair"), "{said}");
    let (status, _, said) = message(&["std.bittorrent", "piece"], b"");
    assert_eq!(status, Some(2));
    assert!(said.contains("`piece` has parameters: name a message that contains it"), "{said}");
}
