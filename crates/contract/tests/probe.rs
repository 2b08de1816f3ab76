//! The runtime's headers provide what the table says, for both compilers.
#![allow(clippy::disallowed_methods, reason = "a test harness runs compilers")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::Write;
use std::process::{Command, Stdio};

/// Compiles the C++ `text` against the runtime; gives what the compiler says.
fn compile(compiler: &str, text: &str) -> Result<(), String> {
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../../runtime/include");
    let flags = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "-I", include, "-"];
    let mut child = Command::new(compiler).args(flags).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

#[test]
fn the_runtime_provides_every_symbol() {
    for compiler in ["g++", "clang++-16"] {
        let result = compile(compiler, &flux_contract::probe());
        assert!(result.is_ok(), "{compiler}: {}", result.unwrap_err());
    }
}

#[test]
fn what_is_missing_or_different_is_found() {
    use flux_contract::{CALL, COPY, ERROR, KIND_JOIN, PATH_EDGE, Symbol};
    let finds = |symbol: Symbol, from: &str, to: &str| {
        let broken = symbol.expected.replace(from, to);
        assert_ne!(broken, symbol.expected);
        let text = flux_contract::probe().replace(symbol.expected, &broken);
        assert!(compile("g++", &text).is_err(), "{}: {broken}", symbol.spelling);
    };
    finds(CALL, "call", "no_such_member");
    finds(ERROR, "same_as<int>", "same_as<long>");
    finds(COPY, "copy", "no_such_function");
    finds(KIND_JOIN, "join", "no_such_kind");
    finds(PATH_EDGE, "{{0, ", "{{0, 0, ");
}

#[test]
fn spellings_are_unique_and_meanings_are_sentences() {
    let mut spellings: Vec<_> = flux_contract::ALL.iter().map(|symbol| symbol.spelling).collect();
    spellings.sort_unstable();
    spellings.dedup();
    assert_eq!(spellings.len(), flux_contract::ALL.len());
    for symbol in flux_contract::ALL {
        assert!(symbol.meaning.ends_with(['.', ')']) && !symbol.meaning.starts_with(' '), "{symbol:?}");
    }
}
