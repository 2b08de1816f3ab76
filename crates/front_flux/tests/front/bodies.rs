//! Bodies in braces whose names are words that start something elsewhere.

use crate::{mistakes, program};

#[test]
fn a_variable_may_be_called_as_what_starts_a_statement_of_the_program() {
    for word in ["include", "link", "use", "option", "record", "state", "type"] {
        let element = format!("let {word} = xs;\n{word}[0] = 1;\nys = {word};");
        program(&format!("F (list<int32> xs) => (list<int32> ys) {{ {element} }};"));
        program(&format!("typedef big (int32 {word}) {{\n{word} > 3 }};"));
        program(&format!("typedef {word} (int32 x) {{ x > 3 }};\ntypedef big (int32 x) {{\n{word}(x) }};"));
    }
}

#[test]
fn a_statement_of_the_program_shows_that_a_body_is_open() {
    let statements = [
        "include \"a.h\";",
        "link \"a\";",
        "use \"a.flux\";",
        "use std.http;",
        "option port : int = 80;",
        "using list = (int32 x);",
        "record Point { x : int32 };",
        "enum Colour { red };",
        "state Count (int32 x) => (int32 y);",
        "typedef a B;",
        "atomic F:{x};",
    ];
    for statement in statements {
        let text = format!("F (int32 x) => (int32 y) {{\ny = x;\n{statement}");
        assert!(mistakes(&text).contains(&"2 error [unclosed-bracket]".to_owned()), "{text}: {:?}", mistakes(&text));
    }
}

#[test]
fn a_predicate_may_begin_with_match_or_raise() {
    for word in ["match", "raise"] {
        for says in [format!("{word} > 3"), format!("{word} == 3;"), format!("let x = {word}; {word} * x > 3")] {
            program(&format!("typedef big (int32 {word}) {{ {says} }};"));
        }
        program(&format!("typedef big (bool {word}) {{ {word} }};"));
    }
}

#[test]
fn match_and_raise_of_other_languages_are_refused() {
    for says in ["match x { }", "match (x) { }", "raise Bad;", "raise (x);"] {
        let text = format!("typedef big (int32 x) {{ {says} x > 3 }};");
        assert_eq!(mistakes(&text), ["1 error [foreign-statement]"], "{text}");
    }
}
