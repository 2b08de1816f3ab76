//! The work of a reading is linear in the program, right or wrong. Instructions are counted, because no clock says the
//! same twice.

#![expect(clippy::disallowed_methods, reason = "a test is a shell: it starts Valgrind")]

#[path = "../../../driver/tests/support/instructions.rs"]
mod support;

use flux_diagnostic::Diagnostics;
use flux_source::{FileId, SourceMap};
use std::fmt::Write;

fn repeat(count: usize, statement: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, index| {
        writeln!(text, "{}", statement(index)).expect("a string takes all");
        text
    })
}

/// Declared nodes with flows, constraints and handlers.
fn server(nodes: usize) -> String {
    repeat(nodes / 2, |index| {
        format!(
            "Parse_{index} (int socket, std::map<int, char *> headers) => (int socket, image_tag *request);\n\
             Page_{index} = Parse_{index} -> Page_{};\natomic Parse_{index}:{{lock_{index}?, cache}};\n\
             handle error Parse_{index} => Oops;",
            index + 1
        )
    })
}

/// A program of a size, and whether it is wrong.
type Case = (&'static str, fn(usize) -> String, bool);

fn list(count: usize, each: impl Fn(usize) -> String) -> String {
    (0..count).map(each).collect::<Vec<_>>().join(", ")
}

const CASES: [Case; 19] = [
    ("a server", server, false),
    ("types", |count| repeat(count, |index| format!("N{index} (int &x) => ();\natomic M{index}:{{c{index}}};")), true),
    ("patterns", |count| repeat(count, |index| format!("A{index}:[p{index}] = B{index}(o{index});")), true),
    ("inputs without an end", |count| repeat(count, |index| format!("N{index} (int x")), true),
    ("parentheses that stay open", |count| repeat(count, |_| "A (".into()), true),
    ("flows without arrows", |count| repeat(count, |_| "A = B C".into()), true),
    ("points", |count| repeat(count, |_| "a.".into()), true),
    ("a nest of parentheses", |count| format!("A = {};", "(".repeat(count)), true),
    ("a nest of types", |count| format!("A ({}", "vector<".repeat(count)), true),
    ("a nest of brackets", |count| format!("A (int x{}) => ();", "[".repeat(count)), true),
    ("quotes", |count| "\"".repeat(count), true),
    ("comments", |count| "/*".repeat(count), true),
    ("inputs", |count| format!("A ({}) => ();", list(count, |index| format!("int x{index}"))), false),
    ("a pattern", |count| format!("A:[{}] = ;", list(count, |_| "_".into())), false),
    ("arguments", |count| format!("A = B({});", list(count, |index| index.to_string())), false),
    ("constraints", |count| format!("A = ;\natomic A:{{{}}};", list(count, |index| format!("c{index}"))), false),
    ("keys", keyed, false),
    ("steps", |count| format!("A = {}B;", "B -> ".repeat(count)), false),
    ("parallel steps", |count| format!("A = (B{});", " & B".repeat(count)), false),
];

fn keyed(count: usize) -> String {
    let inputs = list(count, |index| format!("int x{index}"));
    format!("A ({inputs}) => ();\natomic A:{{{}}};", list(count, |index| format!("c(x{index}), s(session)")))
}

#[test]
#[ignore = "what the next test counts"]
fn all_of_both_sizes() {
    for (name, program, is_wrong) in CASES {
        for size in [50, 400] {
            let sources = SourceMap::of("test.flux", program(size));
            let mut diagnostics = Diagnostics::new();
            support::counted_work(&mut || drop(flux_front_flux::read(&sources, FileId(0), &mut diagnostics)));
            assert_eq!(diagnostics.has_errors(), is_wrong, "{name}");
        }
    }
}

#[test]
fn a_reading_is_linear() {
    support::hold_linear("scale::all_of_both_sizes", &CASES.map(|(name, ..)| name));
}
