//! Bounds hold, and what claims to be large costs nothing.

use crate::{failure, message, module, program, read, read_pieces};
use flux_message::{Content, Grammar, Parser, Streams, Value};

#[test]
fn what_is_too_large_is_refused_at_its_length() {
    let memcached = module("std.memcached");
    let mut header = [0; 24];
    header[0] = 0x80;
    header[8..12].fill(0xff);
    let grammar = Grammar::new(&memcached);
    let mut waiting = Parser::new(&grammar, message(&memcached, "command"), Streams::Kept);
    waiting.feed(&header);
    let refused = waiting.next_message().expect("nothing more has to come").unwrap_err();
    assert_eq!((refused.offset, refused.field.as_str()), (24, "command.value"));
    assert_eq!(refused.message, "the message would be larger than 2097152 bytes");
    assert_eq!(waiting.next_message(), None);
}

#[test]
fn lists_texts_and_tokens_have_bounds() {
    let text = "type line = unit { text : string &until = \"\\r\\n\" &max_size = 4; };
        type words = unit { all : word[] &until = \";\" &max_size = 2; };
        type word = unit { text : token(\"[a-z]+\") &max_size = 3; : \" \"; };";
    let program = program(text);
    assert!(read(&program, "line", b"four\r\n\r\n").iter().all(Result::is_ok));
    assert_eq!(failure(&program, "line", b"fives\r\n"), "at byte 0, line.text: it has more than 4 bytes");
    assert_eq!(failure(&program, "line", b"fives\r"), "at byte 0, line.text: it has more than 4 bytes");
    assert_eq!(failure(&program, "words", b"a b c ;"), "at byte 4, words.all: there are more than 2 elements");
    assert_eq!(failure(&program, "words", b"abcd "), "at byte 0, words.all.[0].text: it has more than 3 bytes");
    assert_eq!(failure(&program, "words", b"a B"), "at byte 2, words.all.[1].text: `B` cannot come here");
}

#[test]
fn what_is_inside_of_itself_has_a_bound() {
    let resp = module("std.resp");
    let nested = |depth: usize| [b"*1\r\n".repeat(depth), b":1\r\n".to_vec()].concat();
    assert!(read(&resp, "value", &nested(32))[0].is_ok());
    let refused = failure(&resp, "value", &nested(33));
    assert!(refused.ends_with("it is in itself more than 32 times"), "{refused}");
    assert!(failure(&resp, "value", &nested(100_000)).ends_with("more than 32 times"));
}

#[test]
fn names_of_dns_end() {
    let dns = module("std.dns_message");
    let with_name = |name: &[u8]| {
        let mut bytes = vec![0; 12];
        bytes[5] = 1;
        bytes.extend(name);
        bytes.extend([0, 1, 0, 1]);
        bytes
    };
    assert!(read(&dns, "message", &with_name(b"\x03www\x00"))[0].is_ok());
    for (name, why) in [
        (&b"\xc0\x0c"[..], "byte 12 is not before byte 12"),
        (b"\x01a\xc0\x0c", "byte 12 is not before byte 12"),
        (b"\xc0\xff", "byte 255 is not before byte 12"),
        (b"\x40", "64 is not what is required"),
    ] {
        let refused = failure(&dns, "message", &with_name(name));
        assert!(refused.contains(why), "{refused}");
    }
    // A way back into the header: it leads to nothing, or strictly backwards.
    assert!(read(&dns, "message", &with_name(b"\xc0\x00"))[0].is_ok());
}

#[test]
fn data_that_ends_too_early_is_told_of() {
    let program = program("type pair = unit { a : uint16; size : uint8; b : bytes &length = self.size; };");
    assert_eq!(failure(&program, "pair", b"\0"), "at byte 0, pair.a: the data ends 1 byte too early");
    assert_eq!(failure(&program, "pair", b"\0\0\x05abc"), "at byte 3, pair.b: the data ends 2 bytes too early");
    assert_eq!(read(&program, "pair", b""), []);
}

#[test]
fn what_has_a_length_uses_all_of_it() {
    let program = program(
        "type frame = unit { size : uint8; inner : inner &length = self.size; };
         type inner = unit { a : uint8; b : uint8; };",
    );
    assert!(read(&program, "frame", b"\x02ab")[0].is_ok());
    assert_eq!(failure(&program, "frame", b"\x03abc"), "at byte 3, frame.inner: 1 bytes are left over");
    let short = "at byte 2, frame.inner.b: 1 bytes are wanted, and only 0 belong to what it is in";
    assert_eq!(failure(&program, "frame", b"\x01abc"), short);
}

/// If reading looked at each byte as often as bytes come, this would not end.
#[test]
fn a_large_message_may_come_byte_by_byte() {
    let program = program("type line = unit { text : string &until = \"\\r\\n\" &max_size = 1M; };");
    let line = [vec![b'\r'; 500_000], b"\r\n".to_vec()].concat();
    let found = read_pieces(&Grammar::new(&program), message(&program, "line"), line.chunks(1));
    assert_eq!(found.len(), 1);
    let lines = b"a\r\n".repeat(100_000);
    assert_eq!(read(&program, "line", &lines).len(), 100_000);
}

#[test]
fn streams_do_not_count_and_are_not_kept() {
    let program =
        program("type file = unit { %max_size = 16; size : uint32; content : bytes &length = self.size &stream; };");
    let grammar = Grammar::new(&program);
    let mut parser = Parser::new(&grammar, message(&program, "file"), Streams::Begun(0));
    parser.feed(&1_000_000_u32.to_be_bytes());
    for _ in 0..1000 {
        assert_eq!(parser.next_message(), None);
        parser.feed(&[7; 1000]);
    }
    let parsed = parser.next_message().unwrap().unwrap();
    assert_eq!(parsed.tree.end, 1_000_004);
}

#[test]
fn commands_of_memcached_have_bounds() {
    let memcached = module("std.memcached_text");
    let key = "k".repeat(250);
    for right in
        [format!("get {key}\r\n"), format!("set {key} 0 -1 3\r\na\r\n\r\n"), "set k 0 0 0 noreply\r\n\r\n".into()]
    {
        assert!(read(&memcached, "request", right.as_bytes()).iter().all(Result::is_ok), "{right}");
    }
    for (wrong, field) in [
        (format!("get {key}k\r\n"), "get.[0].text"),
        ("get a\nb\r\n".to_owned(), "get.[1]"),
        ("get a  b\r\n".to_owned(), "get.[1].text"),
        ("get a\tb\r\n".to_owned(), "get.[1]"),
        ("set k 0 0 3\r\nabcd\r\n".to_owned(), "store"),
        ("set k 0 0 -3\r\nabc\r\n".to_owned(), "store.size"),
        ("set k 0 0 4294967296\r\n".to_owned(), "store.size"),
        ("set k 0 0 2000000000\r\n".to_owned(), "store.content"),
        ("set k 0 0 3 noreplay\r\nabc\r\n".to_owned(), "store.ending"),
        ("cas k 0 0 3\r\nabc\r\n".to_owned(), "compare"),
        ("incr k\r\n".to_owned(), "change"),
    ] {
        let refused = read(&memcached, "request", wrong.as_bytes()).into_iter().find_map(Result::err).unwrap();
        assert!(refused.field.starts_with(&format!("request.{field}")), "{wrong} {refused}");
    }
}

/// The sizes that `WritableUtils.writeVLong` writes; a `long` has no more than 63 bits and a sign.
#[test]
fn sizes_of_hadoop() {
    let ifile = module("std.ifile");
    for (bytes, value) in [
        (&b"\x7f"[..], 127),
        (b"\x90", -112),
        (b"\x8f\x80", 128),
        (b"\x87\x70", -113),
        (b"\x8e\x01\x00", 256),
        (b"\x8d\x01\x00\x00", 1 << 16),
        (b"\x85\xff\xff\xff", -(1 << 24)),
        (b"\x88\x7f\xff\xff\xff\xff\xff\xff\xff", i64::MAX),
        (b"\x80\x7f\xff\xff\xff\xff\xff\xff\xff", i64::MIN),
    ] {
        let tree = read(&ifile, "size", bytes).remove(0).unwrap().tree;
        assert_eq!(tree.end, bytes.len() as u64);
        let found = tree.fields[1].as_ref().map(|read| &read.content);
        assert_eq!(found, Some(&Content::value(Value::Integer(i128::from(value)))), "{value}");
    }
    assert!(failure(&ifile, "size", b"\x88\x80\0\0\0\0\0\0\0").contains("size.positive"));
    for (wrong, field) in [
        (&b"\xff\x05"[..], "value_size"),
        (b"\x05\xff", "value_size"),
        (b"\xfe\xfe", "key_size"),
        (b"\x8c\x7f\xff\xff\xff\x00", "key"),
    ] {
        let refused = failure(&ifile, "record", wrong);
        assert!(refused.contains(&format!("record.{field}:")), "{refused}");
    }
}
