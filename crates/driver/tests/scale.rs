//! The work of the compiler is linear in the program, all the way from its text to what is written.
//!
//! Instructions are counted, because no clock says the same twice.

#![expect(clippy::disallowed_methods, reason = "a test is a shell: it starts Valgrind")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/instructions.rs"]
mod support;

use flux_diagnostic::{Severity, render};
use flux_driver::{Compilation, compile};
use flux_random_program::is_in_slice;
use flux_source::{FileId, SourceMap};
use std::fmt::Write as _;
use support::counted_work;

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

/// Branches of one step, all of which rely on a hold that only one of them may have.
fn branches(count: usize) -> String {
    let all = vec!["A"; count].join(" & ");
    format!(
        "Read () => (int a);\nA (int a) => ();\nsource Read => P;\nP (int a) => ();\nP = ({all});\n\
         atomic P:{{y}};\natomic A:{{x, y}};\n"
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

/// Some work on a program of a size.
type Work = (&'static str, fn(&mut SourceMap) -> Compilation, fn(usize) -> String, usize);

const LINEAR: [Work; 6] = [
    ("a server", write, server, 6),
    ("nodes that share each other", write, shared, 12),
    ("steps that reach far back", write, reaching, 6),
    ("handlers on paths", write, ways, 12),
    ("branches that share a hold", check, branches, 50),
    ("mistakes", check, mistakes, 25),
];

/// The works of this slice.
fn in_slice() -> impl Iterator<Item = Work> {
    (0..).zip(LINEAR).filter(|(place, _)| is_in_slice(*place, 2)).map(|(_, work)| work)
}

#[test]
#[ignore = "what the next test counts"]
fn pages_are_checked() {
    for pages in [1, 8] {
        let mut sources = SourceMap::of("test.flux", server(pages));
        counted_work(&mut || assert!(!check(&mut sources).diagnostics.has_errors()));
    }
}

/// A page has three nodes, and a check says something of each page. It takes three quarters of this.
#[test]
fn a_page_is_checked_in_so_many_instructions() {
    let pages = support::instructions("pages_are_checked");
    let [_, eight] = *pages.as_slice() else { unreachable!("it counts twice") };
    let page = eight / 8;
    let limit = if cfg!(debug_assertions) { 6_000_000 } else { 800_000 };
    assert!(page < limit, "{page} instructions for a page");
}

#[test]
#[ignore = "what the next test counts"]
fn all_of_both_sizes() {
    for (_, run, program, small) in in_slice() {
        for size in [small, 8 * small] {
            let mut sources = SourceMap::of("test.flux", program(size));
            counted_work(&mut || drop(run(&mut sources)));
        }
    }
}

#[test]
fn the_work_is_linear() {
    let found = |program: String, severity| check(&mut SourceMap::of("test.flux", program)).diagnostics.count(severity);
    assert_eq!((found(reaching(3), Severity::Note), found(mistakes(3), Severity::Error)), (3, 3));
    let names: Vec<_> = in_slice().map(|(name, ..)| name).collect();
    support::hold_linear("all_of_both_sizes", &names);
}
