//! What generated code does, on a runtime that only writes down what is asked of it.
#![allow(clippy::disallowed_methods, reason = "a test harness reads files and runs compilers")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod support;

use flux_ir::flow::{Exit, Flow};
use flux_ir::paths::{Event, Vertex, VertexKind, graph};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Page, tests};

/// A failure goes to the handler of the longest path by which its node was reached, through functions that are shared
/// and functions that are made for one way.
#[test]
fn failures_go_to_the_handlers_of_their_paths() {
    let Page { flow, folder, .. } = Page::read("ways");
    let graph = graph(&flow);
    let program = build(folder.path(), &tests("behaviour/ways.cpp"));
    let all = "Cache Seek Read Disk Seek Read Send";
    let ways = [
        ("", all.to_owned()),
        ("Cache 1", "Cache ERROR Apologise".to_owned()),
        ("Seek 1", "Cache Seek ERROR Miss".to_owned()),
        ("Seek 2", "Cache Seek Read Disk Seek ERROR NotFound".to_owned()),
        ("Seek 1 Miss 1", "Cache Seek ERROR Miss ERROR Apologise".to_owned()),
        ("Seek 2 NotFound 1", "Cache Seek Read Disk Seek ERROR NotFound ERROR Never".to_owned()),
        ("Read 1", "Cache Seek Read ERROR Apologise".to_owned()),
        ("Read 2", "Cache Seek Read Disk Seek Read ERROR Again Send".to_owned()),
        ("Read 2 Again 1", "Cache Seek Read Disk Seek Read ERROR Again ERROR GiveUp".to_owned()),
        ("Read 2 Again 1 GiveUp 1", "Cache Seek Read Disk Seek Read ERROR Again ERROR GiveUp ERROR Never".to_owned()),
        ("Disk 1", "Cache Seek Read Disk ERROR Replace".to_owned()),
        ("Disk 1 Replace 1", "Cache Seek Read Disk ERROR Replace ERROR Apologise".to_owned()),
        ("Send 1", format!("{all} ERROR Apologise")),
        ("Send 1 Apologise 1", format!("{all} ERROR Apologise ERROR")),
    ];
    for (failing, expected) in ways {
        let output = output(Command::new(&program).args(failing.split_whitespace()));
        let words: Vec<&str> = output.split_whitespace().collect();
        assert_ne!(words[0], "WRONG:", "{failing}: {output}");
        let called: Vec<_> = words[2..].iter().copied().filter(|word| is_called(&flow, word)).collect();
        assert_eq!(called.join(" "), expected, "{failing}");
        let exit = Exit::ALL[words[0].parse::<usize>().unwrap()];
        let path = graph.decode(flow.entries[0].run, exit, words[1].parse().unwrap()).unwrap();
        let path: Vec<_> = path.into_iter().map(|event| event.text(&flow)).collect();
        assert_eq!(path.join(" "), expected, "{failing}");
    }
    std::fs::remove_file(&program).unwrap();
}

/// Whether a word of the output is a call of a function of the user's, or the mark of a failure that it returned.
fn is_called(flow: &Flow, word: &str) -> bool {
    let node = flow.program.nodes.iter().find(|(_, node)| node.name == word);
    node.is_none_or(|(_, node)| node.body.is_external())
}

/// A reached value is copied for each step that takes it except the last, to which it is moved: no more copies than in
/// the same program with the values passed on by hand. The key is copied for Log and both Loads, because the handlers
/// of their failures take it, too. The client is copied for Send, because the flow also gives it, and for the fallback
/// of a failed Load.
#[test]
fn what_is_reached_is_copied_only_for_those_who_do_not_take_it_last() {
    let program = build(Page::read("reached").folder.path(), &tests("behaviour/reached.cpp"));
    assert_eq!(
        output(&mut Command::new(&program)),
        "1 21 exit 0 copies 4\n1 21 by hand copies 4\n1 101 exit 0 copies 5\n1 101 by hand copies 5\n"
    );
    std::fs::remove_file(&program).unwrap();
}

/// Every run's path number leads back to what was called and what failed, and nothing is lost on the way.
#[test]
fn what_runs_is_what_the_program_says_and_the_path_tells_it() {
    let Page { flow, folder, .. } = Page::read("mail");
    let graph = graph(&flow);
    let concrete: BTreeSet<String> = graph.vertices.iter().filter_map(|vertex| label(&flow, vertex)).collect();
    let mut seen = BTreeSet::new();
    let program = build(folder.path(), &tests("behaviour/mail.cpp"));
    let output = output(&mut Command::new(&program));
    std::fs::remove_file(&program).unwrap();
    for line in output.lines() {
        assert!(!line.starts_with("WRONG"), "{line}");
        let words: Vec<&str> = line.split(' ').collect();
        let exit = Exit::ALL[words[0].parse::<usize>().unwrap()];
        let number = words[1].parse().unwrap();
        let path = graph.decode(flow.entries[0].run, exit, number);
        let events = path.unwrap().into_iter().filter(|event| !matches!(event, Event::Line(..)));
        let path: Vec<_> = events.map(|event| event.text(&flow)).collect();
        // Calls of abstract nodes are not on paths: what is inside them is.
        let called: Vec<_> = words[2..].iter().copied().filter(|word| concrete.contains(*word)).collect();
        assert_eq!(path, called, "{line}");
        seen.insert((exit, number));
    }
    assert_eq!(output.lines().count(), 5 * 2 * 1024);
    // Close cannot fail where Bounce ended the flow, and so on: far fewer paths than runs, and all exits.
    assert!(seen.len() > 50, "{}", seen.len());
    assert!(Exit::ALL.iter().all(|exit| seen.iter().any(|(one, _)| one == exit)));
}

fn label(flow: &Flow, vertex: &Vertex) -> Option<String> {
    match vertex.kind {
        VertexKind::Event(event) => Some(event.text(flow)),
        _ => None,
    }
}

/// Compiles a program under the address and undefined-behaviour sanitizers; gives the file.
fn build(generated: &Path, file: &Path) -> PathBuf {
    let name = file.file_stem().unwrap().display();
    let program = std::env::temp_dir().join(format!("flux_behaviour_{name}_{}", std::process::id()));
    let mut command = Command::new("g++");
    command.args(["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]);
    for folder in [tests("behaviour").as_path(), &support::runtime(), generated] {
        command.arg("-I").arg(folder);
    }
    command.arg(file).arg("-o").arg(&program);
    output(&mut command);
    program
}

/// Runs a command; gives what it printed.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_runtime_that_writes_down_keeps_the_contract() {
    let probe = support::compile("g++", "c++", &[&tests("behaviour")], &flux_contract::probe());
    assert_eq!(probe, Ok(()));
}
