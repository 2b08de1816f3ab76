//! Time is linear in the program, right or wrong.
//!
//! What is measured is the thread's time on a processor, as the clock on the wall depends on who else is at work.

#![expect(clippy::disallowed_methods, reason = "the time on a processor is in a file of the kernel's")]

use flux_diagnostic::Diagnostics;
use flux_source::{FileId, SourceMap};
use std::fmt::Write;
use std::time::Duration;

/// What this thread has used of a processor. The kernel brings it up to date every few milliseconds.
fn processor_time() -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts time");
    let nanoseconds = statistics.split_whitespace().next().and_then(|field| field.parse().ok());
    Duration::from_nanos(nanoseconds.expect("its first field is a number"))
}

/// The time of one reading, over as many as make the measurement exact.
fn time(text: &str, expect_errors: bool) -> Duration {
    let sources = SourceMap::of("test.flux", text);
    let start = processor_time();
    for count in 1.. {
        let mut diagnostics = Diagnostics::new();
        flux_front_flux::read(&sources, FileId(0), &mut diagnostics);
        assert_eq!(diagnostics.has_errors(), expect_errors);
        let taken = processor_time() - start;
        if taken > Duration::from_millis(100) {
            return taken / count;
        }
    }
    unreachable!("time passes")
}

/// Holds that eight times the text takes less than 32 times as long: 8 is linear, 64 quadratic, and what fits no cache
/// is slower.
fn holds_linear(program: impl Fn(usize) -> String, expect_errors: bool) {
    let small = time(&program(625), expect_errors);
    let large = time(&program(5_000), expect_errors);
    assert!(large < small * 32, "{small:?} for 625, {large:?} for 5,000: {:.60}", program(2));
}

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

#[test]
fn a_program_is_read_in_linear_time() {
    holds_linear(server, false);
}

#[test]
fn mistakes_take_linear_time() {
    holds_linear(
        |count| repeat(count, |index| format!("N{index} (int &x) => ();\natomic M{index}:{{c{index}}};")),
        true,
    );
    holds_linear(|count| repeat(count, |index| format!("A{index}:[p{index}] = B{index}(o{index});")), true);
    holds_linear(|count| repeat(count, |index| format!("N{index} (int x")), true);
    holds_linear(|count| repeat(count, |_| "A (".into()), true);
    holds_linear(|count| repeat(count, |_| "A = B C".into()), true);
    holds_linear(|count| repeat(count, |_| "a.".into()), true);
    holds_linear(|count| format!("A = {};", "(".repeat(count)), true);
    holds_linear(|count| format!("A ({}", "vector<".repeat(count)), true);
    holds_linear(|count| format!("A (int x{}) => ();", "[".repeat(count)), true);
    holds_linear(|count| "\"".repeat(count), true);
    holds_linear(|count| "/*".repeat(count), true);
}

#[test]
fn long_lists_take_linear_time() {
    let list = |count: usize, each: &dyn Fn(usize) -> String| (0..count).map(each).collect::<Vec<_>>().join(", ");
    holds_linear(|count| format!("A ({}) => ();", list(count, &|index| format!("int x{index}"))), false);
    holds_linear(|count| format!("A:[{}] = ;", list(count, &|_| "_".into())), false);
    holds_linear(|count| format!("A = B({});", list(count, &|index| index.to_string())), false);
    holds_linear(|count| format!("A = ;\natomic A:{{{}}};", list(count, &|index| format!("c{index}"))), false);
    let keyed = |count| {
        let inputs = list(count, &|index| format!("int x{index}"));
        format!("A ({inputs}) => ();\natomic A:{{{}}};", list(count, &|index| format!("c(x{index}), s(session)")))
    };
    holds_linear(keyed, false);
    holds_linear(|count| format!("A = {}B;", "B -> ".repeat(count)), false);
    holds_linear(|count| format!("A = (B{});", " & B".repeat(count)), false);
}
