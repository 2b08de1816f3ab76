//! Messages of every kind of item, read as they should be.

use crate::{failure, program, read};
use flux_message::{Content, Tree, Value, write};

/// The values of a message, in order, those inside too.
fn values(tree: &Tree, found: &mut Vec<String>) {
    for read in tree.fields.iter().flatten() {
        content(&read.content, found);
    }
}

fn content(one: &Content, found: &mut Vec<String>) {
    match one {
        Content::Value { read, converted, .. } => found.push(match converted.as_ref().unwrap_or(read) {
            Value::Integer(value) => value.to_string(),
            Value::Truth(value) => value.to_string(),
            Value::Bytes(bytes) => bytes.escape_ascii().to_string(),
        }),
        Content::Literal => {}
        Content::Unit(inner) => values(inner, found),
        Content::List(all) => all.iter().for_each(|element| content(&element.content, found)),
        Content::Stream { size, .. } => found.push(format!("{size} bytes")),
    }
}

/// The first message of `text` reads these bytes as these values, and writes them again.
#[track_caller]
fn reads(text: &str, bytes: &[u8], expected: &[&str]) {
    let program = program(text);
    let (_, first) = program.messages.iter().next().unwrap();
    let parsed = read(&program, &first.name.to_string(), bytes).into_iter().collect::<Result<Vec<_>, _>>().unwrap();
    let mut found = vec![];
    parsed.iter().for_each(|parsed| values(&parsed.tree, &mut found));
    assert_eq!(found, expected);
    let written: Vec<u8> = parsed.iter().flat_map(|parsed| write(&program, &parsed.tree).unwrap()).collect();
    assert_eq!(written.escape_ascii().to_string(), bytes.escape_ascii().to_string());
}

#[test]
fn integers_of_every_size() {
    let text = "type all = unit { a : uint8; b : int8; c : uint16; d : uint24; e : int32; f : uint48; g : uint64; };";
    let bytes = b"\xff\xff\x01\x02\x01\x02\x03\xff\xff\xff\xfe\0\0\0\0\x01\0\xff\xff\xff\xff\xff\xff\xff\xff";
    reads(text, bytes, &["255", "-1", "258", "66051", "-2", "256", "18446744073709551615"]);
    reads(
        "type all = unit { %byteorder = little; a : uint24; b : int16; };",
        b"\x01\x02\x03\xfe\xff",
        &["197121", "-2"],
    );
}

#[test]
fn bits_and_digits() {
    reads("type all = unit { a : bits(1); b : bits(4); c : bits(11); };", b"\xc1\x03", &["1", "8", "259"]);
    reads(
        "type all = unit { a : uint32 &digits = 16; : \" \"; b : int8 &digits = 10; : \";\"; };",
        b"00fF -12;",
        &["255", "-12"],
    );
}

#[test]
fn choices() {
    let text =
        "type all = unit { kind : uint8; if (self.kind > 100) { a : uint8; } else if (self.kind == 5) { b : uint16; }
        switch (self.kind) { 1, 2 -> c : uint8; 5 -> { d : uint8; e : uint8; } * -> { } } };";
    reads(text, b"\x01\x09\x05\x00\x01\x02\x03\xc8\x07\x06", &["1", "9", "5", "1", "2", "3", "200", "7", "6"]);
    let text = "type all = unit { switch { -> { : \"+\"; a : uint8; } -> word : token(\"[a-z]+\") &max_size = 9; }
        : \";\"; };";
    reads(text, b"+1;get;", &["49", "get"]);
    let text =
        "type all = unit { word : token(\"GET|PUT\"); switch (self.word) { \"GET\" -> : \";\"; * -> a : uint8; } };";
    reads(text, b"GET;PUT1", &["GET", "PUT", "49"]);
}

#[test]
fn lists() {
    reads("type all = unit { a : uint8; b : uint16[self.a]; };", b"\x02\0\x01\0\x02\x00", &["2", "1", "2", "0"]);
    reads(
        "type all = unit { a : uint8[] &until = $$.length == 0 &max_size = 9; };".replace("$$.length", "$$").as_str(),
        b"\x02\x01\x00",
        &["2", "1", "0"],
    );
    let text = "type all = unit { a : one[] &until = \"\\r\\n\" &max_size = 9; };
        type one = unit { a : token(\"[a-z]+\") &max_size = 9; : \",\"; };";
    reads(text, b"ab,c,\r\n\r\n", &["ab", "c"]);
    reads(
        "type all = unit { a : uint8; b : uint16[] &length = self.a * 2; c : uint8; };",
        b"\x01\0\x02\x03",
        &["1", "2", "3"],
    );
    reads("type all = unit { a : uint16[] &eod &max_size = 9; };", b"\0\x02\0\x03", &["2", "3"]);
}

#[test]
fn messages_inside_with_parameters() {
    let text = "type all = unit { a : uint8; b : inner(self.a, true); c : string &eod &max_size = 9; };
        type inner = unit (uint8 size, bool more) { a : string &length = size; if (more) { b : uint8; } };";
    reads(text, b"\x02abc!", &["2", "ab", "99", "!"]);
}

#[test]
fn values_are_converted_and_computed() {
    let text = "type all = unit { a : token(\"[A-Z]+\") &max_size = 9 &convert = lower($$); : \" \";
        var b : bool &parse = self.a == \"get\"; if (self.b) { c : uint8; } };";
    reads(text, b"GET 1PUT ", &["get", "true", "49", "put", "false"]);
}

#[test]
fn a_list_updates_variables_as_it_is_read() {
    let text = "type all = unit { var sum : uint16 &parse = 100; var last : uint8 &parse = 0;
        list : item[] &until = \".\" &max_size = 9 &requires = $$.size > self.last
            &update = self.sum = self.sum + $$.size &update = self.last = $$.size;
        rest : string &length = self.sum - 100; };
        type item = unit { size : uint8 &digits = 10; : \",\"; };";
    reads(text, b"1,2,3,.abcdef.", &["106", "3", "1", "2", "3", "abcdef", "100", "0", ""]);
    let program = program(text);
    assert_eq!(failure(&program, "all", b"2,1,."), "at byte 2, all.list.[1]: this is not what is required");
}

#[test]
fn what_is_in_a_choice_updates_what_is_outside_of_it() {
    let text = "type all = unit { size : size; rest : string &length = self.size.value; };
        type size = unit { first : uint8; var value : uint32 &parse = self.first; var is_long : bool &parse = false;
            if (self.first >= 128) { : uint24 &update = self.value = (self.first - 128) * 0x1000000 + $$; }
            switch { -> : \"!\" &update = self.is_long = true; -> : \":\"; } };";
    reads(text, b"\x02:ab\x80\0\0\x03!abc", &["2", "2", "false", "ab", "128", "3", "true", "3", "abc"]);
}

#[test]
fn a_variable_refuses_what_it_cannot_be() {
    let program = program(
        "type all = unit { var n : uint8 &parse = 0; text : string &length = 2 &update = self.n = uint8($$); };",
    );
    assert!(read(&program, "all", b"12").iter().all(Result::is_ok));
    for wrong in [b"+1", b"-1", b"1 ", b"0x"] {
        let said = failure(&program, "all", wrong);
        assert!(said.ends_with("is no number"), "{said}");
    }
}

#[test]
fn what_is_further_back_counts_from_the_nearest_origin() {
    let text = "type all = unit { size : uint8; inner : inner &length = self.size; };
        type inner = unit { %origin = self; a : uint8; b : back; };
        type back = unit { at : uint8; rest : letter &parse_at = self.at; };
        type letter = unit { a : uint8; };";
    reads(text, b"\x02\x07\x00\x02\x08\x00", &["2", "7", "0", "7", "2", "8", "0", "8"]);
    let program = program(text);
    let said = failure(&program, "all", b"\x02\x07\x01");
    assert_eq!(said, "at byte 3, all.inner.b.rest: byte 2 is not before byte 2, where what looks back begins");
}

#[test]
fn what_is_further_back() {
    let text = "type all = unit { a : uint8; b : uint8; c : back; };
        type back = unit { at : uint8; rest : inner &parse_at = self.at; }; type inner = unit { a : uint8; };";
    reads(text, b"\x07\x08\x01", &["7", "8", "1", "8"]);
}

#[test]
fn streams_go_along() {
    reads(
        "type all = unit { a : uint8; b : bytes &length = self.a &stream; c : uint8; };",
        b"\x02abc",
        &["2", "2 bytes", "99"],
    );
    reads("type all = unit { a : uint8; b : bytes &eod &stream; };", b"\x02abc", &["2", "3 bytes"]);
}
