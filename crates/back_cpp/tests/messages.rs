//! The generated readers of messages, over what the reference reads: the standard grammars, and small ones for each
//! part of the notation. Whole, split anywhere, and changed.

#![allow(clippy::disallowed_methods, reason = "it compiles and runs what is generated")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

#[path = "messages/programs.rs"]
mod programs;
#[path = "messages/shown.rs"]
mod shown;
#[path = "support/mod.rs"]
mod support;

use flux_back_cpp::generate_messages;
use flux_ir::flow::Flow;
use flux_ir::program::Program;
use flux_message::{Grammar, Parser, Streams};
use flux_source::SourceMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program of this text, and its sources.
fn program(name: &str, text: &str) -> (Program, SourceMap) {
    let mut sources = SourceMap::new();
    let file = sources.add(format!("{name}.flux"), text.to_owned());
    let compilation = flux_driver::compile(&mut sources, file, &mut |_: &str| Err("no modules".to_owned()));
    let wrong: Vec<_> = compilation.diagnostics.sorted().iter().map(|one| one.headline.clone()).collect();
    assert_eq!(wrong, Vec::<String>::new(), "{name}");
    (compilation.program().unwrap().clone(), sources)
}

/// The reader of a program's messages, with a `main` that says what it reads.
fn build(program: &Program, sources: &SourceMap, flags: &[&str]) -> PathBuf {
    let flow = Flow { program: program.clone(), functions: Default::default(), entries: vec![] };
    let name = &program.name;
    let folder = std::env::temp_dir().join(format!("flux_messages_{name}_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for file in generate_messages(&flow, sources) {
        std::fs::write(folder.join(file.name), file.text).unwrap();
    }
    std::fs::write(folder.join("shown.hpp"), shown::dumpers(program)).unwrap();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    let runtime = crates.join("../../runtime");
    let binary = folder.join("reader");
    let output = Command::new("g++")
        .args(["-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wconversion", "-g1"])
        .args(flags)
        .arg(format!("-I{}", runtime.join("include").display()))
        .arg(format!("-I{}", folder.display()))
        .arg(folder.join(format!("{name}.flux.messages.cpp")))
        .arg("-include")
        .arg(folder.join("shown.hpp"))
        .arg(crates.join("tests/messages/main.cpp"))
        .args(["reader", "bytes"].map(|name| runtime.join(format!("src/message/{name}.cpp"))))
        .arg(runtime.join("src/flow/compute.cpp"))
        .arg("-o")
        .arg(&binary)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    binary
}

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
        Some(Ok(parsed)) => format!("whole {} {}", parsed.tree.end, shown::tree(program, &parsed.tree)),
        // One without bytes is refused by who reads several.
        Some(Err(failure)) if failure.message == "the message has no bytes" => "whole 0".to_owned(),
        Some(Err(failure)) if failure.message.starts_with("the data ends") && !failure.message.contains("no case") => {
            "early end".to_owned()
        }
        Some(Err(failure)) => format!("wrong {} {}", failure.offset, failure.field),
    }
}

/// Compares the generated reader with the reference.
fn agree(name: &str, text: &str, message: &str, all: &[Vec<u8>]) {
    let (program, sources) = program(name, text);
    let binary = build(&program, &sources, &["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    let grammar = Grammar::new(&program);
    let mut input = String::new();
    for bytes in all {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(input, "{message} {hex}").unwrap();
    }
    let file = binary.with_file_name("input");
    std::fs::write(&file, input).unwrap();
    let output = Command::new(&binary).arg(&file).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    let mut lines = said.lines();
    for bytes in all {
        for is_end in [false, true] {
            let wanted = reference(&program, &grammar, message, bytes, is_end);
            let got = lines.next().unwrap();
            let got = if wanted == "whole 0" && got.starts_with("whole 0 ") { "whole 0" } else { got };
            assert_eq!(got, wanted, "{name} {message}, ends: {is_end}: {}", bytes.escape_ascii());
        }
    }
    std::fs::remove_dir_all(binary.parent().unwrap()).unwrap();
}

fn module(name: &str) -> &'static str {
    flux_nodes::modules().find(|(known, _)| *known == name).unwrap().1
}

/// Each message of these bytes by itself.
fn messages_of(name: &str, message: &str, bytes: &[u8]) -> Vec<Vec<u8>> {
    let (program, _) = program("split", module(name));
    let grammar = Grammar::new(&program);
    let id = program.messages.iter().find(|(_, one)| one.name == message).unwrap().0;
    let mut parser = Parser::new(&grammar, id, Streams::Kept);
    parser.feed(bytes);
    let all: Vec<_> = std::iter::from_fn(|| parser.next_message()).map(Result::unwrap).collect();
    let range = |start: u64, size: u64| start as usize..(start + size) as usize;
    all.iter().map(|parsed| bytes[range(parsed.offset, parsed.tree.end)].to_vec()).collect()
}

/// As they are, with bytes after them, cut off, and with each of some bytes changed.
fn with_changes(right: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut all = vec![];
    for (index, bytes) in right.into_iter().enumerate() {
        let most = bytes.len().min(300);
        for at in (index % 3..most).step_by(1 + most / 25) {
            let mut changed = bytes[..most].to_vec();
            let other = [0, 0xff, b'\r', b'9', 0xc0, b'-', 1][(index + at) % 7];
            changed[at] = other;
            all.push(changed);
        }
        for cut in [1, bytes.len() / 2, bytes.len() - 1] {
            all.push(bytes[..cut.min(bytes.len())].to_vec());
        }
        all.push([bytes.as_slice(), b"more"].concat());
        all.push(bytes);
    }
    all
}

macro_rules! capture {
    ($name:literal) => {
        include_bytes!(concat!("../../message/tests/captures/", $name))
    };
}

#[test]
fn memcached_is_read_as_the_reference_reads_it() {
    let captures = [&capture!("memcached.request")[..], &capture!("memcached.response")[..]];
    let mut right: Vec<_> = captures.iter().flat_map(|bytes| messages_of("std.memcached", "command", bytes)).collect();
    right.sort_by_key(Vec::len);
    right.dedup_by_key(|bytes| bytes.len());
    agree("memcached", module("std.memcached"), "command", &with_changes(right));
}

#[test]
fn resp_is_read_as_the_reference_reads_it() {
    let captures = [&capture!("redis.request")[..], &capture!("redis.response")[..]];
    let mut right: Vec<_> = captures.iter().flat_map(|bytes| messages_of("std.resp", "value", bytes)).collect();
    right.sort_by_key(Vec::len);
    right.dedup_by_key(|bytes| bytes.len());
    agree("resp", module("std.resp"), "value", &with_changes(right));
}

#[test]
fn dns_is_read_as_the_reference_reads_it() {
    let captures = [&capture!("dns.request")[..], &capture!("dns.response")[..]];
    let right: Vec<_> = captures.iter().flat_map(|bytes| messages_of("std.dns_message", "over_tcp", bytes)).collect();
    agree("dns", module("std.dns_message"), "over_tcp", &with_changes(right.clone()));
    let bare = right.into_iter().map(|bytes| bytes[2..].to_vec()).collect();
    agree("dns_bare", module("std.dns_message"), "message", &with_changes(bare));
}

#[test]
fn bittorrent_is_read_as_the_reference_reads_it() {
    let right: Vec<Vec<u8>> = vec![
        b"\0\0\0\0".to_vec(),
        b"\0\0\0\x01\x00".to_vec(),
        b"\0\0\0\x05\x04\0\0\0\x07".to_vec(),
        b"\0\0\0\x04\x05abc".to_vec(),
        b"\0\0\0\x0d\x06\0\0\0\x01\0\0\0\x02\0\0\0\x03".to_vec(),
        b"\0\0\0\x0d\x07\0\0\0\x01\0\0\0\x02data".to_vec(),
        b"\0\0\0\x03\x14\x00d".to_vec(),
    ];
    agree("bittorrent", module("std.bittorrent"), "message", &with_changes(right));
    let handshake = [b"\x13BitTorrent protocol".as_slice(), &[7; 48]].concat();
    agree("bittorrent_hand", module("std.bittorrent"), "handshake", &with_changes(vec![handshake]));
}

#[test]
fn fastcgi_is_read_as_the_reference_reads_it() {
    let right: Vec<Vec<u8>> = vec![
        b"\x01\x05\0\x01\0\x04\x02\0dataxx".to_vec(),
        b"\x01\x04\0\x01\0\x07\0\0\x03\x02abcde".to_vec(),
        b"\x01\x01\0\x01\0\x08\0\0\0\x01\x01\0\0\0\0\0".to_vec(),
    ];
    agree("fastcgi", module("std.fastcgi"), "record", &with_changes(right));
}

#[test]
fn http_is_read_as_the_reference_reads_it() {
    let right = b"GET /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n".to_vec();
    agree("http", module("std.http_message"), "request_head", &with_changes(vec![right]));
}

#[test]
fn small_messages_are_read_as_the_reference_reads_them() {
    for (name, text, message, all) in programs::ALL {
        let right = all.iter().map(|bytes| bytes.to_vec()).collect();
        agree(name, text, message, &with_changes(right));
    }
}
