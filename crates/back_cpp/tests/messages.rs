//! The generated readers of messages, over what the reference reads: the standard grammars, and small ones for each
//! part of the notation. Whole, byte by byte, split at every offset, and changed: the same comes of it, with the same
//! values. What the harness holds of every class besides is in `messages/harness.hpp`. And what the classes make of
//! random values: just the bytes that the reference makes of them, which are read as these values; or nothing, where
//! the reference refuses them. Of some of both each allocation fails in turn (`messages/allocation.hpp`).
//!
//! `FLUX_MESSAGES=100000 cargo test -p flux_back_cpp --test messages` tries so many changes of each grammar and values
//! of each message, and not the few hundred of an ordinary run; `FLUX_MESSAGES_SEED` begins with others.

#![allow(clippy::disallowed_methods, reason = "it compiles and runs what is generated")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

#[path = "messages/captures.rs"]
mod captures;
#[path = "messages/given.rs"]
mod given;
#[path = "messages/grammar.rs"]
mod grammar;
#[path = "messages/harness.rs"]
mod harness;
#[path = "messages/programs.rs"]
mod programs;
#[path = "messages/read.rs"]
mod read;
#[path = "messages/shown.rs"]
mod shown;

use captures::{CAPTURES, module, others};
use flux_ir::program::Program;
use flux_message::{GivenMessage, Grammar, Parser, Streams, make};
use flux_random_program::{Random, is_in_slice};
use given::{Values, words};
use harness::{Harness, program};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

/// What the reference says of the first message in bytes.
fn reference(program: &Program, grammar: &Grammar<'_>, message: &str, bytes: &[u8], is_end: bool) -> String {
    let id = program.messages.iter().find(|(_, one)| one.name == message).unwrap().0;
    let mut parser = Parser::new(grammar, id, Streams::Kept);
    parser.feed(bytes);
    if is_end {
        parser.close();
    }
    match parser.next_message() {
        None => "unfinished".to_owned(),
        Some(Ok(parsed)) => format!("whole {} {}", parsed.tree.end, read::tree(program, &parsed.tree)),
        // One without bytes is refused by who reads several.
        Some(Err(failure)) if failure.message == "the message has no bytes" => "whole 0".to_owned(),
        Some(Err(failure)) if failure.message.starts_with("the data ends") && !failure.message.contains("no case") => {
            "early end".to_owned()
        }
        Some(Err(failure)) => format!("wrong {} {}", failure.offset, failure.field),
    }
}

/// Bytes, and in how many places they are split.
type Input = (Vec<u8>, usize);

/// A message, and what is read as it.
type Case<'a> = (&'a str, Vec<Input>);

/// Values of a message, and what the reference says is made of them, in the words of the harness.
type Making = (GivenMessage, String);

/// Random values of each message of a program, and what the reference makes of them. What it has made is what further
/// ones are like, as are messages that were read.
fn makings(program: &Program, grammar: &Grammar<'_>, cases: &[Case<'_>], count: u64) -> Vec<Making> {
    const LONGEST: usize = 2048;
    const MOST_LEARNED: usize = 60;
    let mut values = Values::new(program);
    for (message, inputs) in cases {
        let id = program.messages.iter().find(|(_, one)| one.name == *message).unwrap().0;
        let short = inputs.iter().filter(|(bytes, _)| bytes.len() < LONGEST);
        for tree in short.filter_map(|(bytes, _)| grammar.read_all(id, vec![], bytes).ok()).take(MOST_LEARNED) {
            values.learn(&tree);
        }
    }
    let first = number("FLUX_MESSAGES_SEED").unwrap_or(0);
    let count = number("FLUX_MESSAGES").unwrap_or(count);
    let mut all = vec![];
    // Those that are in others come later.
    let ids: Vec<_> = program.messages.ids().collect();
    for id in ids.into_iter().rev() {
        let mut learned = 0;
        for seed in first..first + count {
            let given = values.message(&mut Random::new(seed), id, 0);
            let said = match make(grammar, &given) {
                Err(_) => "refused".to_owned(),
                Ok(made) => {
                    if learned < MOST_LEARNED && made.bytes.len() < LONGEST {
                        learned += 1;
                        values.learn(&made.tree);
                    }
                    let hex: String = made.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                    format!("made x{hex} {}", read::tree(program, &made.tree))
                }
            };
            all.push((given, said));
        }
    }
    all
}

/// Compares the generated classes of a program with the reference: what they read, and what they make.
fn agree(name: &str, text: &str, cases: &[Case<'_>]) {
    let (program, sources) = program(name, text);
    let harness = Harness::new(&program, &sources);
    let binary = harness.build("main.cpp", "clang++-16", &["-O0", "-fsanitize=address,undefined"]);
    let grammar = Grammar::new(&program);
    let mut input = String::new();
    let inputs = || cases.iter().flat_map(|(message, all)| all.iter().map(move |one| (*message, one)));
    for (message, (bytes, splits)) in inputs() {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(input, "read {message} {splits} {hex}").unwrap();
    }
    let makings = makings(&program, &grammar, cases, 150);
    for (given, _) in &makings {
        let class = program.messages[given.message].name.to_string().replace('.', "::");
        write!(input, "make {class}").unwrap();
        words(&program, given, &mut input);
        input.push('\n');
    }
    let failing = with_failing_allocations(&input);
    input.push_str(&failing);
    let file = binary.with_file_name("input");
    std::fs::write(&file, input).unwrap();
    let output = Command::new(&binary).arg(&file).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let mut lines = said.lines();
    for (message, (bytes, _)) in inputs() {
        for is_end in [false, true] {
            let what = || format!("{name} {message}, ends: {is_end}: {}", bytes.escape_ascii());
            let wanted = reference(&program, &grammar, message, bytes, is_end);
            let got = lines.next();
            let got = got.unwrap_or_else(|| panic!("{}: {errors}", what()));
            let got = if wanted == "whole 0" && got.starts_with("whole 0 ") { "whole 0" } else { got };
            assert_eq!(got, wanted, "{}: {errors}", what());
        }
    }
    for (given, wanted) in &makings {
        let what = || {
            let mut line = format!("{name}: make {}", program.messages[given.message].name);
            words(&program, given, &mut line);
            line
        };
        let got = lines.next().unwrap_or_else(|| panic!("{}: {errors}", what()));
        let reference = make(&grammar, given).map(|made| made.bytes);
        assert_eq!(got, wanted, "{}: the reference says: {reference:?}: {errors}", what());
    }
    for line in failing.lines() {
        let allocations = lines.next().unwrap_or_else(|| panic!("{name}: {line}: {errors}"));
        assert_ne!(allocations.parse(), Ok(0), "{name}: {line}");
    }
    // Whatever was allocated has been freed.
    assert!(output.status.success(), "{name}: {errors}");
    let made = makings.iter().filter(|(_, wanted)| wanted != "refused").count();
    assert!(made > 0 && made < makings.len(), "{name}: {made} of {} can be made", makings.len());
}

/// The lines that let allocations fail: some of those that read or make, not the longest.
fn with_failing_allocations(input: &str) -> String {
    const LONGEST: usize = 700;
    const EACH: usize = 12;
    let mut seen = BTreeMap::new();
    let mut found = String::new();
    for line in input.lines().filter(|line| line.len() < LONGEST) {
        let what: Vec<_> = line.splitn(3, ' ').take(2).collect();
        let count = seen.entry(what).or_insert(0);
        if *count < EACH {
            *count += 1;
            writeln!(found, "fail_{line}").unwrap();
        }
    }
    found
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// They themselves, split at every offset, cut, and with more after them; and changes of them.
fn with_changes(right: &[Vec<u8>], count: u64) -> Vec<Input> {
    const EVERY: usize = 100_000;
    const SOME: usize = 12;
    let mut all = vec![];
    for bytes in right {
        let splits = if bytes.len() < 2048 { EVERY } else { 64 };
        all.push((bytes.clone(), splits));
        all.push(([bytes.as_slice(), b"more"].concat(), SOME));
        for cut in [1, bytes.len() / 2, bytes.len() - 1] {
            all.push((bytes[..cut.min(bytes.len())].to_vec(), SOME));
        }
    }
    let first = number("FLUX_MESSAGES_SEED").unwrap_or(0);
    let count = number("FLUX_MESSAGES").unwrap_or(count);
    all.extend((first..first + count).map(|seed| (changed(&mut Random::new(seed), right), SOME)));
    // Before the first byte there is no message yet.
    all.retain(|(bytes, _)| !bytes.is_empty());
    all
}

/// One of them with some changes.
fn changed(random: &mut Random, right: &[Vec<u8>]) -> Vec<u8> {
    const MOST: usize = 1500;
    const BYTES: [u8; 12] = [0, 0xff, b'\r', b'\n', b'9', b'0', 0xc0, b'-', 1, 0x80, b' ', 0x7f];
    let any = |random: &mut Random| {
        let bytes = &right[random.below(right.len())];
        let begin = if bytes.len() > MOST { random.below(bytes.len() - MOST) * random.below(2) } else { 0 };
        bytes[begin..bytes.len().min(begin + MOST)].to_vec()
    };
    let mut bytes = any(random);
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(12)).min(bytes.len());
        match random.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = BYTES[random.below(BYTES.len())],
            2 => bytes.insert(at, BYTES[random.below(BYTES.len())]),
            3 => _ = bytes.drain(at..end),
            4 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            5 => bytes.truncate(at),
            _ => {
                let other = any(random);
                let from = random.below(other.len() + 1);
                bytes.splice(at.., other[from..].iter().copied());
            }
        }
    }
    bytes
}

/// What is read of a standard grammar as the reference reads it.
fn grammar_agrees(name: &str) {
    let mut messages: Vec<&str> = CAPTURES.iter().filter(|one| one.module == name).map(|one| one.message).collect();
    messages.extend(others(name).iter().map(|(message, _)| *message));
    messages.sort_unstable();
    messages.dedup();
    let with_message = |message: &'static str| {
        let captured = CAPTURES.iter().filter(|one| one.module == name && one.message == message);
        let mut right: Vec<_> = captured.flat_map(captures::Capture::messages).collect();
        right.sort_by_key(|bytes| (bytes.len(), bytes.clone()));
        right.dedup();
        right.extend(others(name).iter().filter(|(of, _)| *of == message).map(|(_, bytes)| bytes.to_vec()));
        assert!(!right.is_empty(), "{name} {message}");
        (message, with_changes(&right, 150))
    };
    let cases: Vec<_> = messages.into_iter().map(with_message).collect();
    agree(&name.replace("std.", ""), module(name), &cases);
}

/// Each with the slice that it is in.
macro_rules! grammars {
    ($($test:ident $name:literal $place:literal;)*) => {$(
        #[test]
        fn $test() {
            if is_in_slice($place, 8) {
                grammar_agrees($name);
            }
        }
    )*};
}

grammars! {
    bittorrent_is_read_as_the_reference_reads_it "std.bittorrent" 0;
    dns_is_read_as_the_reference_reads_it "std.dns_message" 1;
    fastcgi_is_read_as_the_reference_reads_it "std.fastcgi" 2;
    http_is_read_as_the_reference_reads_it "std.http_message" 3;
    ifile_is_read_as_the_reference_reads_it "std.ifile" 4;
    memcached_is_read_as_the_reference_reads_it "std.memcached" 5;
    memcached_text_is_read_as_the_reference_reads_it "std.memcached_text" 6;
    resp_is_read_as_the_reference_reads_it "std.resp" 7;
}

#[test]
fn small_messages_are_read_as_the_reference_reads_them() {
    let numbered = (0..).zip(programs::ALL).filter(|(place, _)| is_in_slice(*place, 3));
    for (_, (name, text, message, all)) in numbered {
        let right: Vec<_> = all.iter().map(|bytes| bytes.to_vec()).collect();
        agree(name, text, &[(*message, with_changes(&right, 60))]);
    }
}

#[test]
fn streams_are_read_as_the_reference_reads_them() {
    let text = "type all = unit {
          kind : uint8;
          if (self.kind < 2) { first : bytes &length = self.kind &stream; }
          pairs : pair[] &until = $$.size == 0 &max_size = 4;
          var sum : uint64 &parse = 0;
          more : pair[2] &update = self.sum = self.sum + $$.size;
          check : uint8 &requires = $$ == self.sum;
          rest : bytes &eod &stream &max_size = 6;
        };
        type pair = unit {
          size : uint8; : \"<\"; names : name[] &until = \"|\" &max_size = 3;
          content : bytes &length = self.size &stream &max_size = 9; : \">\";
        };
        type name = unit { text : token(\"[a-z]+\") &max_size = 4; : \",\"; };";
    let right: [&[u8]; 3] = [
        b"\x01x\x03<a,bc,|abc>\x01<|x>\0<d,|>\x02<|yz>\x01<z,|y>\x03",
        b"\0\0<|>\0<|>\0<|>\0end",
        b"\x05\0<|>\x09<a,b,c,|123456789>\0<|>\x09",
    ];
    agree("streams", text, &[("all", with_changes(&right.map(<[u8]>::to_vec), 150))]);
}

/// Random grammars, with messages that the reference makes of random values. `FLUX_GRAMMARS` is how many.
#[test]
fn random_grammars_are_read_and_made_as_the_reference_does() {
    let count = number("FLUX_GRAMMARS").unwrap_or(2);
    let first = number("FLUX_MESSAGES_SEED").unwrap_or(0) * 1000;
    let mut tried = 0;
    for seed in (first..).filter(|seed| harness::is_program(&grammar::grammar(*seed))).take(count as usize) {
        tried += 1;
        let (name, text) = (format!("random{}", seed % 4), grammar::grammar(seed));
        let (program, _) = program(&name, &text);
        let makings = makings(&program, &Grammar::new(&program), &[], 100);
        let mut cases = vec![];
        for (id, message) in program.messages.iter().filter(|(_, message)| message.stands_alone()) {
            let made = makings.iter().filter(|(given, _)| given.message == id);
            let made = made.filter_map(|(_, said)| said.strip_prefix("made x")?.split(' ').next());
            let mut right: Vec<_> = made.filter(|hex| !hex.is_empty()).map(of_hexadecimal).collect();
            right.sort_by_key(|bytes| (bytes.len(), bytes.clone()));
            right.dedup();
            right.truncate(20);
            if !right.is_empty() {
                cases.push((message.name.own(), with_changes(&right, 60)));
            }
        }
        println!("the grammar of seed {seed}:\n{text}"); // shown where the test fails
        agree(&name, &text, &cases);
    }
    assert_eq!(tried, count);
}

fn of_hexadecimal(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}
