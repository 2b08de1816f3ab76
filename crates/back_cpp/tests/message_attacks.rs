//! What attackers send costs as many steps as it has bytes, times a number that does not grow: bytes that come one by
//! one, long heads, many fields, small chunks, deep arrays, sizes that are only claimed. A step is a basic block that
//! runs, so the numbers are the same on each machine.

#![allow(clippy::disallowed_methods, reason = "it compiles and runs what is generated")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

#[path = "messages/harness.rs"]
mod harness;
#[path = "messages/shown.rs"]
mod shown;

use flux_random_program::is_in_slice;
use harness::{Harness, program};
use std::fmt::Write as _;
use std::process::Command;

/// The most steps that a byte may take which comes alone.
const MOST_STEPS: u64 = 1000;

/// A name, a message, and bytes of about so many thousands.
type Attack = (&'static str, &'static str, fn(usize) -> Vec<u8>);

/// Runs attacks on a standard grammar, each of some size and of twice that. The grammar is in this half of the slices.
fn attack(half: u64, name: &str, attacks: &[Attack]) {
    if !is_in_slice(half, 2) {
        return;
    }
    let text = flux_nodes::modules().find(|(known, _)| *known == name).unwrap().1;
    let (program, sources) = program(&format!("steps_{}", name.replace("std.", "")), text);
    let harness = Harness::new(&program, &sources);
    let binary = harness.build(
        "steps.cpp",
        "g++",
        &["-O1", "-Wconversion", "-Wsign-conversion", "-fsanitize-coverage=trace-pc"],
    );
    let mut input = String::new();
    let sizes = [4, 8];
    for (_, message, bytes) in attacks {
        for size in sizes {
            let hex: String = bytes(size).iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(input, "{message} {hex}").unwrap();
        }
    }
    let file = binary.with_file_name("input");
    std::fs::write(&file, input).unwrap();
    let output = Command::new(&binary).arg(&file).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let steps: Vec<u64> = said.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(steps.len(), 2 * attacks.len(), "{}", String::from_utf8_lossy(&output.stderr));
    for ((what, _, bytes), steps) in attacks.iter().zip(steps.chunks(2)) {
        let per_byte: Vec<u64> =
            sizes.iter().zip(steps).map(|(size, steps)| steps / bytes(*size).len() as u64).collect();
        assert!(per_byte[1] < MOST_STEPS, "{name}, {what}: {per_byte:?} steps a byte");
        assert!(per_byte[1] <= per_byte[0] + per_byte[0] / 4 + 2, "{name}, {what}: {per_byte:?} steps a byte");
    }
}

#[test]
fn attacks_on_http_cost_nothing() {
    attack(
        0,
        "std.http_message",
        &[
            ("a long field", "request_head", |size| {
                format!("GET / HTTP/1.1\r\nHost: x\r\na: {}", "v".repeat(size << 10)).into_bytes()
            }),
            ("many fields", "request_head", |size| {
                format!("GET / HTTP/1.1\r\n{}", "a: b\r\n".repeat(size * 12)).into_bytes()
            }),
            ("a head of 64 KiB", "request_head", |size| {
                let field = format!("a: {}\r\n", "v".repeat(15 << 10));
                format!("GET / HTTP/1.1\r\nHost: x\r\n{}", field.repeat(size / 2)).into_bytes()
            }),
            ("small chunks", "chunked_body", |size| "1\r\nx\r\n".repeat(size * 170).into_bytes()),
            ("long extensions", "chunked_body", |size| format!("1{}", ";a=b".repeat(size * 2)).into_bytes()),
        ],
    );
}

#[test]
fn attacks_on_redis_cost_nothing() {
    attack(
        1,
        "std.resp",
        &[
            ("many elements", "value", |size| format!("*100000\r\n{}", ":1\r\n".repeat(size << 8)).into_bytes()),
            ("arrays in arrays", "value", |size| {
                format!("{}{}", "*9\r\n".repeat(30), "*1\r\n:1\r\n".repeat(size << 7)).into_bytes()
            }),
            ("a size that is claimed", "value", |size| format!("$60000000\r\n{}", "x".repeat(size << 10)).into_bytes()),
            ("a long line", "value", |size| format!("+{}", "x".repeat(size << 10)).into_bytes()),
        ],
    );
}

/// A message of DNS with so many questions.
fn questions(questions: &[Vec<u8>]) -> Vec<u8> {
    let header = [0, 1, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0];
    let each = questions.iter().map(|name| [name.as_slice(), &[0, 1, 0, 1]].concat());
    [header.to_vec(), each.collect::<Vec<_>>().concat()].concat()
}

#[test]
fn attacks_on_dns_cost_nothing() {
    attack(
        1,
        "std.dns_message",
        &[
            ("names that lead to names", "message", |size| {
                // Each leads to the one before it, up to the deepest that is allowed, to which all others lead.
                let first = b"\x01a\0".to_vec();
                let pointer = |to: usize| vec![0xc0, u8::try_from(to).unwrap()];
                let place = |index: usize| if index == 0 { 12 } else { 19 + 6 * (index - 1) };
                let chain = (1..15).map(|index| pointer(place(index - 1)));
                let others = std::iter::repeat_n(pointer(place(14)), size * 170);
                questions(&std::iter::once(first).chain(chain).chain(others).collect::<Vec<_>>())
            }),
            ("long names", "message", |size| {
                let label = [&[63], [b'a'; 63].as_slice()].concat();
                let name = [label.repeat(3), vec![0]].concat();
                questions(&vec![name; size * 5])
            }),
            ("many small names", "message", |size| questions(&vec![vec![0]; size * 200])),
        ],
    );
}

#[test]
fn attacks_on_bittorrent_cost_nothing() {
    attack(
        0,
        "std.bittorrent",
        &[
            ("a length that is claimed", "message", |size| {
                [&[0, 0x1f, 0, 0, 5], vec![0xff; size << 10].as_slice()].concat()
            }),
            ("an unknown kind", "message", |size| [&[0, 0x1f, 0, 0, 99], vec![0; size << 10].as_slice()].concat()),
            ("a piece", "message", |size| [&[0, 0x1f, 0, 0, 7], vec![1; size << 10].as_slice()].concat()),
        ],
    );
}
