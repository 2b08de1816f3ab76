//! What generated code does, on a runtime that only writes down what is asked of it.
#![allow(clippy::disallowed_methods, reason = "a test harness reads files and runs compilers")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod support;

use flux_ir::flow::Exit;
use flux_ir::paths::graph;
use flux_source::SourceMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use support::tests;

/// Every run's path number leads back to what was called and what failed, and nothing is lost on the way.
#[test]
fn what_runs_is_what_the_program_says_and_the_path_tells_it() {
    let golden = tests("golden/mail");
    let sources = SourceMap::of("mail.flux", std::fs::read_to_string(golden.join("mail.flux")).unwrap());
    let flow = support::lower(&sources);
    let graph = graph(&flow);
    let concrete: BTreeSet<&str> = graph.vertices.iter().filter_map(label).collect();
    let mut seen = BTreeSet::new();
    let output = run(&golden, &tests("behaviour/mail.cpp"));
    for line in output.lines() {
        assert!(!line.starts_with("WRONG"), "{line}");
        let words: Vec<&str> = line.split(' ').collect();
        let exit = Exit::ALL[words[0].parse::<usize>().unwrap()];
        let number = words[1].parse().unwrap();
        let path = graph.decode(flow.entries[0].run, exit, number);
        let path: Vec<_> = path.unwrap().into_iter().filter(|label| !label.contains(":[")).collect();
        // Calls of abstract nodes are not on paths: what is inside them is.
        let called: Vec<_> = words[2..].iter().copied().filter(|word| concrete.contains(word)).collect();
        assert_eq!(path, called, "{line}");
        seen.insert((exit, number));
    }
    assert_eq!(output.lines().count(), 5 * 2 * 1024);
    // Close cannot fail where Bounce ended the flow, and so on: far fewer paths than runs, and all exits.
    assert!(seen.len() > 50, "{}", seen.len());
    assert!(Exit::ALL.iter().all(|exit| seen.iter().any(|(one, _)| one == exit)));
}

fn label(vertex: &flux_ir::paths::Vertex) -> Option<&str> {
    match &vertex.kind {
        flux_ir::paths::VertexKind::Label(label) => Some(label),
        _ => None,
    }
}

/// Compiles a program under the address and undefined-behaviour sanitizers, runs it, gives what it printed.
fn run(golden: &Path, file: &Path) -> String {
    let program = std::env::temp_dir().join(format!("flux_behaviour_{}", std::process::id()));
    let mut command = Command::new("g++");
    command.args(["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]);
    command.arg("-I").arg(tests("behaviour")).arg("-I").arg(golden).arg(file).arg("-o").arg(&program);
    let built = command.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let output = Command::new(&program).output().unwrap();
    std::fs::remove_file(&program).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_runtime_that_writes_down_keeps_the_contract() {
    let probe = support::compile("g++", "c++", &[&tests("behaviour")], &flux_contract::probe());
    assert_eq!(probe, Ok(()));
}
