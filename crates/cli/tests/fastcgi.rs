//! `std.fastcgi` through `flux message`: records, and the pairs of FCGI_PARAMS, which is a stream over records.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// What `flux message` prints of these bytes as this message of the module.
fn printed(message: &str, bytes: &[u8]) -> String {
    let mut flux = Command::new(env!("CARGO_BIN_EXE_flux"));
    let piped = flux.args(["message", "std.fastcgi", message]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{message}: {}", bytes.escape_ascii());
    String::from_utf8(output.stdout).unwrap()
}

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(content.len()).unwrap().to_be_bytes();
    [&[1, kind, 0, 1, high, low, 0, 0], content].concat()
}

/// "3.4 Name-value pairs", with sizes of one byte and of four.
fn pair(name: &str, value: &str) -> Vec<u8> {
    let size = |text: &str| match u8::try_from(text.len()) {
        Ok(size @ 0..128) => vec![size],
        _ => (u32::try_from(text.len()).unwrap() | 1 << 31).to_be_bytes().to_vec(),
    };
    [size(name), size(value), name.into(), value.into()].concat()
}

#[test]
fn a_pair_goes_on_in_the_next_record() {
    let params = [pair("SCRIPT_NAME", "/a"), pair("QUERY_STRING", "x=1"), pair("COOKIE", &"c".repeat(70_000))].concat();
    // Between two sizes, in a name, in a value, between two pairs, in a size of four bytes, in a long value.
    for cut in [1, 5, 14, 15, 35, 65_000] {
        let (begin, rest) = params.split_at(cut);
        let parts = [begin, &rest[..rest.len() / 2], &rest[rest.len() / 2..], b""];
        let records: Vec<_> = parts.iter().flat_map(|part| record(4, part)).collect();
        assert_eq!(printed("record", &records).matches(" stream = ").count(), 4, "cut at {cut}");
    }
    let shown = printed("params", &params);
    for text in ["name = \"SCRIPT_NAME\"", "value = \"/a\"", "value = \"x=1\"", "(70000 bytes)"] {
        assert!(shown.contains(text), "{shown}");
    }
}

#[test]
fn pairs_of_management_are_read_in_each_record() {
    let shown = printed("record", &[record(9, &pair("FCGI_MAX_CONNS", "")), record(10, &pair("A", "1"))].concat());
    assert_eq!(shown.matches("pairs: 1").count(), 2, "{shown}");
}
