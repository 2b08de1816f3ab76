//! No result of a test depends on the clock: a test waits for a condition, in virtual time or until a limit that only a
//! hang reaches. So tests neither pause nor read a clock, except in the harness, which does it for all of them.
//!
//! The timers of the runtime (`flux::sleep_for`, deadlines of parks) are not refused: tests are about them, and a late
//! one changes nothing. What takes how long is measured by benchmarks.

use crate::repository::File;
use crate::{Finding, Repository, cpp, rust};
use proc_macro2::TokenStream;

/// A language, where its tests are, and what they may not name.
struct Language {
    extensions: &'static [&'static str],
    /// The folders of its tests, with `*` for one part of a path.
    tests: &'static [&'static str],
    /// The harness: where it may pause and read clocks.
    harness: &'static [&'static str],
    /// How to wait instead.
    instead: &'static str,
    /// The calls, as they are written.
    calls: &'static [&'static str],
    /// The lines of code, without comments and literals.
    code: fn(File) -> Vec<(usize, String)>,
}

const LANGUAGES: [Language; 3] = [
    Language {
        extensions: &["cpp", "hpp"],
        tests: &["runtime/test", "runtime/test_kernel", "runtime/test_servers"],
        harness: &["runtime/test/support/"],
        instead: "wait by `runtime/test/support/patience.hpp`",
        calls: &[
            "this_thread::sleep",
            "usleep(",
            "nanosleep",
            "thrd_sleep",
            "clock::now",
            "clock_gettime",
            "gettimeofday",
            ".wait_for(",
        ],
        code: code_of_cpp,
    },
    Language {
        extensions: &["rs"],
        tests: &["crates/*/tests"],
        harness: &["crates/cli/tests/support/", "crates/fuzz/tests/support/"],
        instead: "wait by `crates/cli/tests/support`",
        calls: &["thread::sleep", "time::sleep", "Instant::now", "SystemTime::now", ".elapsed", ".duration_since"],
        code: code_of_rust,
    },
    Language {
        extensions: &["py"],
        tests: &["crates/*/tests", "examples/*/test", "bench/blocking"],
        // The second file is no test: it records the traffic of servers and clients.
        harness: &["crates/cli/tests/support/patience.py", "crates/message/tests/captures/record.py"],
        instead: "wait by `crates/cli/tests/support/patience.py`",
        calls: &[
            "time.sleep",
            "asyncio.sleep",
            "time.time(",
            "time.monotonic",
            "time.perf_counter",
            "from time import",
            "datetime.now",
        ],
        code: code_of_python,
    },
];

/// Tests whose subject is the call itself; the kernel of tests, which has it; and a table for people, which judges
/// nothing.
const SUBJECTS: [(&str, &str); 7] = [
    ("bench/blocking/blocking.py", "time.perf_counter"),
    ("runtime/test/calls/fiber_locks_test.cpp", ".wait_for("),
    ("runtime/test/calls/sleeps_test.cpp", "this_thread::sleep"),
    ("runtime/test/calls/sleeps_test.cpp", "usleep("),
    ("runtime/test/calls/uncaught_calls_test.cpp", "thrd_sleep"),
    ("runtime/test/waiting/cycle_clock_test.cpp", "clock::now"),
    ("runtime/test_kernel/system_calls.cpp", "clock_gettime"),
];

/// Tests that pause or read a clock.
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = vec![];
    for language in &LANGUAGES {
        for file in repository.with_extension(language.extensions).filter(|file| language.is_test(file.path)) {
            let uses = language.uses(file);
            findings.extend(superfluous(file.path, &uses));
            let refused = |call: &str| !SUBJECTS.contains(&(file.path, call));
            findings.extend(uses.into_iter().filter(|(_, call)| refused(call)).map(|(line, call)| {
                let call = call.trim_end_matches('(').trim_start_matches('.');
                let message = format!("uses `{call}`, so the test depends on the clock: {}", language.instead);
                Finding::new(file.path, line, message)
            }));
        }
    }
    findings
}

impl Language {
    fn is_test(&self, path: &str) -> bool {
        let is_in = |folder: &str| {
            let mut parts = path.split('/');
            folder.split('/').all(|pattern| parts.next().is_some_and(|part| pattern == "*" || pattern == part))
        };
        self.tests.iter().any(|folder| is_in(folder)) && !self.harness.iter().any(|folder| path.starts_with(folder))
    }

    /// The lines that name a call, and which.
    fn uses(&self, file: File) -> Vec<(usize, &'static str)> {
        let named = |(line, text): (usize, String)| {
            let found = self.calls.iter().find(|call| text.contains(**call));
            found.map(|call| (line, *call))
        };
        (self.code)(file).into_iter().filter_map(named).collect()
    }
}

/// Exceptions of this file that it does not need.
fn superfluous(path: &str, uses: &[(usize, &str)]) -> Vec<Finding> {
    let is_needed = |call: &str| uses.iter().any(|(_, used)| *used == call);
    let subjects = SUBJECTS.iter().filter(|(of, call)| *of == path && !is_needed(call));
    let message = "is an exception of `crates/tidy/src/rules/clocks.rs` that it does not need: remove it there";
    subjects.map(|_| Finding::new(path, 1, message)).collect()
}

fn code_of_cpp(file: File) -> Vec<(usize, String)> {
    (1..).zip(cpp::blank(file.text).lines().map(str::to_owned)).collect()
}

fn code_of_python(file: File) -> Vec<(usize, String)> {
    let code = |text: &str| text.split('#').next().unwrap_or("").to_owned();
    file.lines().map(|(line, text)| (line, code(text))).collect()
}

fn code_of_rust(file: File) -> Vec<(usize, String)> {
    // What does not parse is the business of the rule on the size of functions.
    file.text.parse::<TokenStream>().map(rust::names).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    #[test]
    fn pauses_and_readings_are_found_in_the_tests_of_each_language() {
        let cpp = "auto a = std::chrono::steady_clock::now();\nstd::this_thread::sleep_for(1ms);\nusleep(1);\n";
        let rust =
            "use std::time::Instant;\nfn f() {\n    let a = Instant::now();\n    assert!(a\n.elapsed() < b);\n}\n";
        let python = "import time\ntime.sleep(1)\n";
        let files = [
            ("bench/blocking/a.py", python),
            ("crates/cli/tests/a/b.rs", rust),
            ("examples/web/test/a.py", python),
            ("runtime/test/io/a_test.cpp", cpp),
        ];
        let expected = [
            "runtime/test/io/a_test.cpp:1: uses `clock::now`",
            "runtime/test/io/a_test.cpp:2: uses `this_thread::sleep`",
            "runtime/test/io/a_test.cpp:3: uses `usleep`",
            "crates/cli/tests/a/b.rs:3: uses `Instant::now`",
            "crates/cli/tests/a/b.rs:5: uses `elapsed`",
            "bench/blocking/a.py:2: uses `time.sleep`",
            "examples/web/test/a.py:2: uses `time.sleep`",
        ];
        assert_found(check, &files, &expected);
    }

    #[test]
    fn the_harness_the_sources_and_what_is_only_said_are_left_alone() {
        let cpp = "// usleep(1)\nconst char *a = \"clock::now\";\nflux::sleep_for(1ms);\n";
        let rust = "// thread::sleep\nconst A: &str = \"std::this_thread::sleep_for(1ms); Instant::now()\";\n";
        let files = [
            ("runtime/test/a_test.cpp", cpp),
            ("crates/cli/tests/a.rs", rust),
            ("crates/ir/tests/a.py", "# time.sleep(1)\n"),
            ("runtime/test/support/a.hpp", "usleep(1);\n"),
            ("crates/cli/tests/support/a.rs", "fn f() { std::thread::sleep(a); }\n"),
            ("crates/cli/src/a.rs", "fn f() { std::thread::sleep(a); }\n"),
            ("bench/web/web.py", "time.sleep(1)\n"),
        ];
        assert_found(check, &files, &[]);
    }

    #[test]
    fn an_exception_is_for_its_call_and_needed() {
        let path = "runtime/test/waiting/cycle_clock_test.cpp";
        assert_found(check, &[(path, "cycle_clock::now();\n")], &[]);
        let expected = [format!("{path}:1: is an exception"), format!("{path}:1: uses `usleep`")];
        assert_found(check, &[(path, "usleep(1);\n")], &expected.each_ref().map(String::as_str));
    }
}
