//! A message whose values are changed is written as one that has them: what says how long something is follows.

use crate::{program, read};
use flux_ir::program::Program;
use flux_message::{Content, Tree, Value, write};

const LISTING_2: &str = include_str!("../listing_2.flux");

/// A request of 24 bytes and what comes after them.
const REQUEST: &[u8] = b"\x80\x01\x00\x03\x02\x00\x00\x00\x00\x00\x00\x0a\x00\x00\x00\x07\0\0\0\0\0\0\0\0XYkeyvalue";

fn tree(program: &Program, name: &str, bytes: &[u8]) -> Tree {
    read(program, name, bytes).remove(0).unwrap().tree
}

fn set(program: &Program, tree: &mut Tree, name: &str, value: Value) {
    let field = program.messages[tree.message].field_named(name).unwrap();
    tree.fields[field.index()].as_mut().unwrap().content = Content::value(value);
}

#[test]
fn listing_2_of_the_paper_reads_and_writes() {
    let program = program(LISTING_2);
    let mut tree = tree(&program, "cmd", REQUEST);
    assert_eq!(write(&program, &tree).unwrap(), REQUEST);
    set(&program, &mut tree, "key", Value::Bytes(b"longer key".to_vec()));
    set(&program, &mut tree, "value", Value::Bytes(vec![]));
    let expected = b"\x80\x01\x00\x0a\x02\x00\x00\x00\x00\x00\x00\x0c\x00\x00\x00\x07\0\0\0\0\0\0\0\0XYlonger key";
    assert_eq!(write(&program, &tree).unwrap(), expected);
}

#[test]
fn digits_are_written_anew_where_they_change_alone() {
    let program =
        program("type text = unit { size : uint32 &digits = 10; : \":\"; of : string &length = self.size; };");
    let mut tree = tree(&program, "text", b"003:abc");
    assert_eq!(write(&program, &tree).unwrap(), b"003:abc");
    set(&program, &mut tree, "of", Value::Bytes(b"ten letter".to_vec()));
    assert_eq!(write(&program, &tree).unwrap(), b"10:ten letter");
}

#[test]
fn a_length_may_count_more_than_what_it_is_for() {
    let program = program(
        "type frame = unit { %byteorder = little; size : uint16; count : uint8;
            all : uint16[self.count]; text : string &length = self.size - 4; };",
    );
    let mut tree = tree(&program, "frame", b"\x06\x00\x02\x01\x00\x02\x00ab");
    set(&program, &mut tree, "text", Value::Bytes(b"abcdef".to_vec()));
    let Some(Content::List(all)) = tree.fields[2].as_mut().map(|read| &mut read.content) else { panic!("a list") };
    all.truncate(1);
    assert_eq!(write(&program, &tree).unwrap(), b"\x0a\x00\x01\x01\x00abcdef");
}

/// What says it is in an element of a list: the writer cannot change that, and refuses what would not fit.
#[test]
fn a_size_that_comes_of_a_list_is_checked() {
    let program = program(
        "type all = unit { var size : uint16 &parse = 0;
            list : uint8[] &until = $$ == 0 &max_size = 9 &update = self.size = self.size + $$;
            text : string &length = self.size; };",
    );
    let mut tree = tree(&program, "all", b"\x02\x01\0abc");
    set(&program, &mut tree, "text", Value::Bytes(b"abcd".to_vec()));
    let refused = write(&program, &tree).unwrap_err().to_string();
    assert_eq!(refused, "at byte 3, all.text: it has 4, and the message says otherwise");
    let Some(Content::List(list)) = tree.fields[1].as_mut().map(|read| &mut read.content) else { panic!("a list") };
    list[1].content = Content::value(Value::Integer(2));
    assert_eq!(write(&program, &tree).unwrap(), b"\x02\x02\0abcd");
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let program = program(
        "type text = unit { high : bits(3) &requires = $$ != 7; low : bits(5); size : uint8 &requires = $$ < 5;
            of : string &length = self.size; word : token(\"[a-z]{2}\");
            line : string &until = \";\" &max_size = 9; };",
    );
    let whole = tree(&program, "text", b"\x21\x02abcdx;");
    let refused = |name: &str, value| {
        let mut tree = whole.clone();
        set(&program, &mut tree, name, value);
        write(&program, &tree).unwrap_err().to_string()
    };
    let bytes = |text: &str| Value::Bytes(text.into());
    assert_eq!(refused("high", Value::Integer(8)), "at byte 0, text.high: this does not fit 3 bits");
    assert_eq!(refused("high", Value::Integer(7)), "at byte 0, text.high: this is not what is required");
    assert_eq!(refused("of", bytes("12345")), "at byte 1, text.size: this is not what is required");
    assert_eq!(refused("word", bytes("A")), "at byte 4, text.word: `A` cannot be here");
    assert_eq!(refused("line", bytes("a;b")), "at byte 6, text.line: `;` is in it, which ends it");
}
