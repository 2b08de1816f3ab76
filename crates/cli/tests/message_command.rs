//! `flux message`, through the command: what it prints of bytes, and what it says of bytes that are no message.

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
{"error":{"field":"value.text","message":"the data ends where `\\r\\n` is wanted","offset":6},"fields":[\
{"bytes":"78","name":"text","offset":5,"size":1}],"message":"value","offset":4,"size":2}
"#
    .replace("\\\n", "");
    assert_eq!((status, printed.as_str()), (Some(1), expected.trim_start()));
}

#[test]
fn what_was_read_of_a_message_that_breaks_off_is_shown() {
    let (status, printed, said) = message(&["std.resp", "value"], b"*3\r\n$3\r\nGET\r\n:-7\r\n$5\r\nab");
    let expected = "       0 value (not whole)
       1   array:
       1     count = 3
       4     elements: 3
       4       [0]:
       5         bulk:
       5           size = 3
       8           content = \"GET\"
      13       [1]:
      14         integer = -7
      18       [2]:
      19         bulk:
      19           size = 5
      22           content = \"ab\"
";
    assert_eq!((status, printed.as_str()), (Some(1), expected));
    let wanted = "byte 22: `value.array.elements.[2].bulk.content`: the data ends 3 bytes too early";
    assert!(said.contains(wanted), "{said}");
    // Of a list there are the elements that have begun, and of a stream the bytes that came.
    let (_, printed, said) = message(&["std.resp", "value"], b"*9\r\n:1\r\n?");
    let elements = "       4     elements: 2\n       4       [0]:\n       5         integer = 1\n       8       [1]:\n";
    assert!(printed.ends_with(elements), "{printed}");
    assert!(said.contains("byte 8: `value.array.elements.[1]`"), "{said}");
    let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n";
    let request = ["std.http_message", "request"];
    let (status, printed, said) = message(&request, format!("{head}abc").as_bytes());
    assert_eq!(status, Some(1));
    assert!(printed.ends_with("      48   body = \"abc\" (stream of 3 bytes)\n"), "{printed}");
    assert!(said.contains("byte 51: `request.body`: the data ends 17 bytes too early"), "{said}");
    // A head that breaks off, and one that is wrong.
    let (_, printed, said) = message(&request, b"GET /a HT");
    assert!(printed.ends_with("       0     method = \"GET\"\n       4     target = \"/a\"\n"), "{printed}");
    assert!(said.contains("byte 9: `request.head`: the data ends"), "{said}");
    let (_, printed, said) = message(&request, b"GET /a HTTP/2.0\r\n");
    assert!(printed.ends_with("       4     target = \"/a\"\n"), "{printed}");
    assert!(said.contains("byte 12: `request.head`: ` HTTP/1.` is wanted"), "{said}");
}

#[test]
fn what_was_read_is_in_the_object_beside_the_error() {
    let bytes = b"+OK\r\n*3\r\n:1\r\n$5\r\nab";
    let (status, printed, _) = message(&["std.resp", "value", "--json"], bytes);
    let all: Vec<serde_json::Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((status, all.len(), &all[0]["error"]), (Some(1), 2, &serde_json::Value::Null));
    let broken = &all[1];
    assert_eq!((&broken["message"], &broken["offset"], &broken["size"]), (&"value".into(), &5.into(), &14.into()));
    let error = &broken["error"];
    assert_eq!((&error["offset"], &error["field"]), (&17.into(), &"value.array.elements.[1].bulk.content".into()));
    assert_eq!(error["message"], "the data ends 3 bytes too early");
    let elements = &broken["fields"][0]["fields"][1]["elements"];
    assert_eq!(elements[0]["fields"][0]["value"], 1);
    let content = &elements[1]["fields"][0]["fields"][1];
    assert_eq!((&content["bytes"], &content["offset"], &content["size"]), (&"6162".into(), &17.into(), &2.into()));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let (status, printed, said) = message(&["std.resp", "value"], b"+OK\r\n$9x");
    assert_eq!(status, Some(1));
    assert!(printed.starts_with("       0 value (5 bytes)\n"));
    assert!(printed.ends_with("       5 value (not whole)\n       6   bulk:\n       6     size = 9\n"), "{printed}");
    assert!(said.contains("byte 7: `value.bulk`: `\\r\\n` is wanted, and `x` comes"), "{said}");
    let (status, _, said) = message(&["std.resp", "nosuch"], b"");
    assert_eq!(status, Some(2));
    assert!(said.contains("there is no message `nosuch`; there are value, blob, values, entries, pair"), "{said}");
    let (status, _, said) = message(&["std.bittorrent", "piece"], b"");
    assert_eq!(status, Some(2));
    assert!(said.contains("`piece` has parameters: name a message that contains it"), "{said}");
}
