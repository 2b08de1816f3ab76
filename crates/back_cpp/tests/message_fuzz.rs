//! The generated readers of the standard grammars under libFuzzer, with the sanitizers of addresses and of undefined
//! behaviour: what `messages/harness.hpp` holds of each class, over bytes that the fuzzer finds. It begins with what
//! real clients and servers said, and knows the strings of the grammar.
//!
//! The ordinary test gives the grammar of its slice 4,000 inputs; `make fuzz` runs `fuzz_messages` for `FUZZ_MINUTES`,
//! from `FUZZ_SEED` on. What the fuzzer fails with is beside the binary that it names.

#![allow(clippy::disallowed_methods, reason = "it compiles and runs what is generated")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test that cannot go on fails"
)]

#[path = "messages/captures.rs"]
mod captures;
#[path = "messages/harness.rs"]
mod harness;
#[path = "messages/shown.rs"]
mod shown;

use captures::{CAPTURES, module, others};
use flux_ir::message::{Extent, Form, Item, Label, all_lists};
use flux_ir::program::Program;
use flux_random_program::is_in_slice;
use harness::{Harness, program};
use std::fmt::Write as _;
use std::hash::BuildHasher as _;
use std::path::Path;
use std::process::Command;

macro_rules! grammars {
    ($($test:ident $name:literal;)*) => {
        const GRAMMARS: &[&str] = &[$($name),*];

        $(#[test]
        fn $test() {
            if is_in_slice(place($name), GRAMMARS.len() as u64) {
                fuzz($name, "-runs=4000", 1, "-O0");
            }
        })*
    };
}

grammars! {
    bittorrent_holds_for_some_seconds "std.bittorrent";
    dns_holds_for_some_seconds "std.dns_message";
    fastcgi_holds_for_some_seconds "std.fastcgi";
    http_holds_for_some_seconds "std.http_message";
    ifile_holds_for_some_seconds "std.ifile";
    memcached_holds_for_some_seconds "std.memcached";
    memcached_text_holds_for_some_seconds "std.memcached_text";
    resp_holds_for_some_seconds "std.resp";
}

/// Its place among the grammars.
fn place(name: &str) -> u64 {
    GRAMMARS.iter().position(|one| *one == name).unwrap() as u64
}

/// The strings that the messages of a program name, as a dictionary of libFuzzer.
fn dictionary(program: &Program) -> String {
    let mut found: Vec<&[u8]> = vec![];
    for (_, message) in program.messages.iter() {
        for field in &message.fields {
            found.extend(match (&field.form, &field.extent) {
                (Form::Literal(bytes), _) | (_, Some(Extent::Until(bytes))) => Some(bytes.as_slice()),
                _ => None,
            });
        }
        for item in all_lists(&message.items).into_iter().flatten() {
            let Item::Switch(switch) = item else { continue };
            found.extend(switch.cases.iter().flat_map(|case| &case.labels).filter_map(|label| match label {
                Label::Bytes(bytes) => Some(bytes.as_slice()),
                Label::Integer(_) => None,
            }));
        }
    }
    found.sort_unstable();
    found.dedup();
    let mut text = String::new();
    for bytes in found {
        let escaped: String = bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect();
        writeln!(text, "\"{escaped}\"").unwrap();
    }
    text
}

/// Writes the messages that the fuzzer begins with, each after the byte that says which it is.
fn write_corpus(name: &str, readable: &[String], folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let number = |message: &str| u8::try_from(readable.iter().position(|one| one == message).unwrap()).unwrap();
    let captured = CAPTURES.iter().filter(|one| one.module == name);
    let captured = captured.flat_map(|one| one.messages().into_iter().map(|bytes| (one.message, bytes)));
    let others = others(name).iter().map(|(message, bytes)| (*message, bytes.to_vec()));
    for (index, (message, bytes)) in captured.chain(others).filter(|(_, bytes)| bytes.len() < 4096).enumerate() {
        let all = [vec![number(message)], bytes].concat();
        std::fs::write(folder.join(format!("{index:04}")), all).unwrap();
    }
}

/// Fuzzes a grammar up to a limit, which is an option of libFuzzer. Without optimisation the harness compiles in half
/// the time, and tries a fifth of the inputs.
fn fuzz(name: &str, limit: &str, seed: u64, optimised: &str) {
    let (program, sources) = program(&format!("fuzz_{}", name.replace("std.", "")), module(name));
    let harness = Harness::new(&program, &sources);
    let binary = harness.build("fuzz.cpp", "clang++-16", &[optimised, "-fsanitize=fuzzer,address,undefined"]);
    let folder = binary.parent().unwrap();
    write_corpus(name, &shown::readable(&program), &folder.join("begins"));
    std::fs::create_dir_all(folder.join("found")).unwrap();
    let strings = dictionary(&program);
    std::fs::write(folder.join("dictionary"), &strings).unwrap();
    let mut command = Command::new(&binary);
    command.arg(limit).arg(format!("-seed={seed}"));
    command.args(["-max_len=4096", "-timeout=60", "-rss_limit_mb=1024", "-print_final_stats=1"]);
    command.args((!strings.is_empty()).then_some("-dict=dictionary"));
    let output = command.args(["found", "begins"]).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let end = said.lines().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n");
    assert!(output.status.success(), "{name}, in {}, FUZZ_SEED={seed}:\n{end}", folder.display());
    let runs = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    eprintln!("{name}: {} inputs from FUZZ_SEED={seed}", runs.unwrap_or_default().trim());
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
#[ignore = "runs for FUZZ_MINUTES"]
fn fuzz_messages() {
    let any = std::hash::RandomState::new().hash_one(0) % (1 << 31);
    let seed = number("FUZZ_SEED").unwrap_or(any);
    let share = number("FUZZ_MINUTES").unwrap_or(10) * 60 / GRAMMARS.len() as u64;
    GRAMMARS.iter().for_each(|name| fuzz(name, &format!("-max_total_time={}", share.max(1)), seed, "-O1"));
}
