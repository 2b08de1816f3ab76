//! Programs at the limits of what a register or a stack holds.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

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

/// Each handler's failure is handled by the next one: their code is in each other.
#[test]
fn handlers_that_handle_each_other_too_deep_are_refused() {
    let chain = |count: usize| {
        let mut text = String::from("S () => (int v);\nsource S => N;\nN (int v) => ();\nN = H0;\nH0 (int v) => ();\n");
        for index in 1..=count {
            let _ = writeln!(text, "H{index} (int v) => ();\nhandle error H{} => H{index};", index - 1);
        }
        errors(&text)
    };
    assert_eq!(chain(256), Vec::<String>::new());
    assert_eq!(chain(5000), ["more than 256 handlers handle the failures of each other"]);
}

/// A type that is twice in the next one, sixty times over, has more parts than could be counted one by one.
fn records(uses: &str) -> String {
    let mut text = String::from("record r0 { x : uint64; };\n");
    for level in 1..=60 {
        let inner = level - 1;
        let _ = writeln!(text, "record r{level} {{ a : r{inner}; b : r{inner}; }};");
    }
    text + uses
}

/// The C++ of a program without errors, and its bounds.
fn generated(text: &str) -> usize {
    let mut sources = SourceMap::of("limits.flux", text);
    let compilation = flux_driver::compile(&mut sources, FileId(0), &mut |path| Err(format!("{path} is not there")));
    let flow = compilation.flow.unwrap();
    let bounds = flux_driver::bounds::table(&flux_driver::bounds::bounds(&sources, &flow.program));
    let files = flux_back_cpp::generate(&flow, &sources, &flux_back_cpp::Options::default());
    files.iter().map(|file| file.text.len()).sum::<usize>() + bounds.len()
}

#[test]
fn records_in_records_stay_linear() {
    let uses = "L () => (r60 x);\nP (value v) => ();\nC (r60 x) => (value v) { v = value(x); };\n\
                source L => F;\nF = C -> P;\n";
    let size = generated(&records(uses));
    assert!(size < 100_000, "{size}");
}

#[test]
fn a_key_of_too_many_values_is_refused() {
    let told = errors(&records("L () => (r60 x);\nP (r60 x) => ();\nsource L => P;\natomic P:{k(x)};\n"));
    assert_eq!(told, ["the key of `k` has more than 256 values"]);
}

#[test]
fn calls_of_calls_stay_linear() {
    let mut text = String::from("L () => (uint64 n);\nC0 (uint64 n) => (uint64 m) { m = n; };\n");
    for level in 1..=60 {
        let inner = level - 1;
        let _ = writeln!(text, "C{level} (uint64 n) => (uint64 m) {{ m = C{inner}(n) + C{inner}(n); }};");
    }
    text += "P (uint64 m) => ();\nsource L => F;\nF = C60 -> P;\n";
    let size = generated(&text);
    assert!(size < 100_000, "{size}");
}

/// Whether the server of a program runs on loops alone, as its tables say.
fn runs_on_loops(name: &str, text: &str, module: &str) -> bool {
    let mut sources = SourceMap::of(name, text);
    let mut read = |path: &str| if path == "flick.flux" { Ok(module.to_owned()) } else { Err("none".to_owned()) };
    let compilation = flux_driver::compile(&mut sources, FileId(0), &mut read);
    let flow = compilation.flow.unwrap();
    let files = flux_back_cpp::generate(&flow, &sources, &flux_back_cpp::Options::default());
    let tables = files.iter().find(|file| file.text.contains("constexpr flux::program ")).unwrap();
    let (_, program) = tables.text.split_once("constexpr flux::program ").unwrap();
    program.split(';').next().unwrap().ends_with(", true}")
}

#[test]
fn a_module_of_the_user_may_be_called_as_one_of_ours() {
    let text =
        "use \"flick.flux\";\nTick () => (int n);\nOut (int n) => ();\nsource Tick => Go;\nGo = flick.Twice -> Out;\n";
    assert!(!runs_on_loops("app.flux", text, "Twice (int n) => (int n) { n = n * 2; };\n"));
    let text = "type c = unit {\n  : \"GET \";\n  key : string &until = \"\\n\" &max_size = 1k;\n};\n\
                proc P: (c/c client)\n  | client => client\n";
    assert!(runs_on_loops("app.flick", text, ""));
}
