//! The work of the compiler is linear in the program, all the way from its text to what is written.
//!
//! What is measured is the thread's time on a processor, as the clock on the wall depends on who else is at work; and
//! what is held is a ratio, as machines differ.

#![expect(clippy::disallowed_methods, reason = "the time on a processor is in a file of the kernel's")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use flux_diagnostic::{Severity, render};
use flux_driver::{Compilation, compile};
use flux_source::{FileId, SourceMap};
use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

/// A statement, or some, for each of so many numbers.
fn repeat(count: usize, statement: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        writeln!(text, "{}", statement(number)).unwrap();
        text
    })
}

/// Pages that share constraints and a handler, each with a source.
fn server(pages: usize) -> String {
    repeat(pages, |number| {
        format!(
            "Read_{number} () => (int socket, std::map<int, char *> headers);\n\
             Parse_{number} (int socket, std::map<int, char *> headers) => (int socket, char *path);\n\
             Send_{number} (int socket, char *path) => ();\n\
             source Read_{number} => Page_{number};\n\
             Page_{number} = Parse_{number} -> Send_{number};\n\
             atomic Parse_{number}:{{headers_{number}?, cache}};\n\
             handle error Parse_{number} => BadRequest;"
        )
    })
}

/// Abstract nodes each of which applies the next twice: as many ways as two to the power of the nodes.
fn shared(nodes: usize) -> String {
    let flows = repeat(nodes, |number| format!("A{number} = A{} -> A{};", number + 1, number + 1));
    format!("Read () => (int a);\nsource Read => A0;\n{flows}A{nodes} (int a) => (int a);\n")
}

/// The same, where the way by which a node was reached decides who hears of its errors.
fn ways(nodes: usize) -> String {
    let path = |number: usize| format!("A{number} -> A{} -> A{}", number + 1, number + 2);
    shared(nodes) + &repeat(nodes - 1, |number| format!("handle error {} => Hear{number};", path(number)))
}

/// A flow in which every step reaches back to its beginning.
fn reaching(steps: usize) -> String {
    let names = repeat(steps, |number| format!("  -> Ask{number} -> Log"));
    let nodes = repeat(steps, |number| format!("Ask{number} (int client, long time) => (long time);"));
    format!(
        "Read () => (int client, long time);\nsource Read => Page;\nLog (long time) => ();\n{nodes}\
         Page (int client, long time) => ();\nPage = Log\n{names};\n"
    )
}

/// As many mistakes as nodes, each with marks far apart.
fn mistakes(nodes: usize) -> String {
    repeat(2 * nodes, |number| format!("A{} (int a, std::map<int, char *> headers) => (int a);", number % nodes))
}

/// From the text to all that the command says.
fn check(sources: &mut SourceMap) -> Compilation {
    let mut read = |path: &str| Err(format!("{path} is not there"));
    let compilation = compile(sources, FileId(0), &mut read);
    let options = render::Options::default();
    let shown = compilation.diagnostics.sorted().into_iter().map(|one| render::render(one, sources, options));
    assert!(shown.map(|text| text.len()).sum::<usize>() > 0 || compilation.flow.is_some());
    compilation
}

/// From the text to the C++ and the picture, too.
fn write(sources: &mut SourceMap) -> Compilation {
    let compilation = check(sources);
    let flow = compilation.flow.as_ref().unwrap();
    assert!(!flux_back_cpp::generate(flow, sources, &flux_back_cpp::Options::default()).is_empty());
    assert!(!flux_back_dot::write(&flux_picture::draw(flow, sources)).is_empty());
    compilation
}

/// What this thread has used of a processor. The kernel brings it up to date every few milliseconds.
fn processor_time() -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(statistics.split_whitespace().next().unwrap().parse().unwrap())
}

/// The time of one run, over as many as make the measurement exact.
fn time(run: fn(&mut SourceMap) -> Compilation, text: String) -> Duration {
    let mut sources = SourceMap::of("test.flux", text);
    let start = processor_time();
    for count in 1.. {
        run(&mut sources);
        let taken = processor_time() - start;
        if taken > Duration::from_millis(100) {
            return taken / count;
        }
    }
    unreachable!("time passes")
}

/// Holds that eight times the program takes less than 24 times as long: 8 is linear, 64 quadratic, and what fits no
/// cache is slower.
fn holds_linear(run: fn(&mut SourceMap) -> Compilation, program: fn(usize) -> String, small: usize) {
    let (one, eight) = (time(run, program(small)), time(run, program(8 * small)));
    assert!(eight < one * 24, "{one:?} for {small}, {eight:?} for eight times as many");
}

/// The instructions that a check of so many pages takes, in a process of its own. Valgrind counts the same on a busy
/// machine.
fn instructions(pages: usize) -> u64 {
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    command.arg(std::env::current_exe().unwrap()).args(["--ignored", "--exact", "checked"]);
    let output = command.env("FLUX_PAGES", pages.to_string()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let (_, count) = said.lines().find_map(|line| line.split_once("refs:")).unwrap();
    count.trim().replace(',', "").parse().unwrap()
}

#[test]
#[ignore = "what `instructions` counts"]
fn checked() {
    let pages = std::env::var("FLUX_PAGES").unwrap().parse().unwrap();
    assert!(!check(&mut SourceMap::of("test.flux", server(pages))).diagnostics.has_errors());
}

/// A page has three nodes, and a check says something of each page. It takes three quarters of this.
#[test]
fn a_page_is_checked_in_so_many_instructions() {
    let page = instructions(8) / 8;
    let limit = if cfg!(debug_assertions) { 6_000_000 } else { 800_000 };
    assert!(page < limit, "{page} instructions for a page");
}

#[test]
fn a_server_is_compiled_in_linear_time() {
    holds_linear(write, server, 50);
}

#[test]
fn nodes_that_share_each_other_take_linear_time() {
    holds_linear(write, shared, 100);
}

#[test]
fn steps_that_reach_far_back_take_linear_time() {
    let reached = check(&mut SourceMap::of("test.flux", reaching(3))).diagnostics.count(Severity::Note);
    assert_eq!(reached, 3);
    holds_linear(write, reaching, 50);
}

#[test]
fn handlers_on_paths_take_linear_time() {
    holds_linear(write, ways, 100);
}

#[test]
fn mistakes_are_shown_in_linear_time() {
    assert!(check(&mut SourceMap::of("test.flux", mistakes(3))).diagnostics.count(Severity::Error) == 3);
    holds_linear(check, mistakes, 500);
}
