//! Programs at the limits of what a register or a stack holds.

use flux_source::{FileId, SourceMap};
use std::fmt::Write as _;

fn errors(text: &str) -> Vec<String> {
    let mut sources = SourceMap::of("limits.flux", text);
    let mut read = |path: &str| Err(format!("{path} is not there"));
    let compilation = flux_driver::compile(&mut sources, FileId(0), &mut read);
    let all = compilation.diagnostics.sorted();
    all.iter().filter(|one| one.severity == flux_diagnostic::Severity::Error).map(|one| one.headline.clone()).collect()
}

/// Each fallback doubles the paths: 120 of them are more than a number holds.
#[test]
fn paths_that_are_too_many_to_tell_apart_compile() {
    let mut text = String::from("S () => (int v);\nsource S => C;\nF (int v) => (int v);\n");
    let mut steps = vec![];
    for index in 0..120 {
        let _ = writeln!(text, "N{index} (int v) => (int v);\nhandle error N{index} => F;");
        steps.push(format!("N{index}"));
    }
    let _ = writeln!(text, "C = {};", steps.join(" -> "));
    assert_eq!(errors(&text), Vec::<String>::new());
}

/// Each constraint that may or may not be held doubles the functions: 40 of them are refused, not waited for.
#[test]
fn held_sets_that_are_too_many_are_refused() {
    let mut text = String::from("S () => (int v);\nsource S => N0;\nE (int v) => (int v);\natomic E:{all};\n");
    for index in 0..40 {
        let next = index + 1;
        let _ = writeln!(text, "N{index} = A{index} -> N{next};\nA{index} = N{next};\natomic A{index}:{{c{index}}};");
    }
    text += "N40 = E;";
    let told = errors(&text);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("more than 256 different sets of constraints held"), "{told:?}");
}

/// Two thousand abstract nodes, each called twice by the one above it: linear, though the graph has 2^2000 paths.
#[test]
fn shared_nodes_stay_linear() {
    let mut text = String::from("S () => (int v);\nsource S => N0;\nE (int v) => (int v);\n");
    text += "atomic E:{x};\natomic N1000:{y};\n";
    for index in 0..2000 {
        let next = index + 1;
        let _ = writeln!(text, "N{index} (int v) => (int v);\nN{index} = N{next} -> N{next};");
    }
    let _ = writeln!(text, "N2000 (int v) => (int v);\nN2000 = E;");
    assert_eq!(errors(&text), Vec::<String>::new());
}
