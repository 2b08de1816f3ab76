//! The C++ of whole programs, kept in `golden/` as it should read, compiled by both compilers at their strictest, and
//! by a C compiler where that can read the header.
//!
//! After a change that is meant, `FLUX_BLESS=1 cargo test -p flux_back_cpp` writes the files anew: read the difference.
#![allow(clippy::disallowed_methods, reason = "a test harness reads files and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod support;

use flux_back_cpp::plain::Visible;
use flux_back_cpp::probe::{Misfit, Probe};
use flux_back_cpp::{Definition, Options, generate};
use flux_source::SourceMap;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use support::{compile, tests};

fn folder(name: &str) -> PathBuf {
    tests("golden").join(name)
}

/// Generates the program `name` twice, compares with what is kept, and compiles that.
fn golden(name: &str, c_functions: &[&str]) {
    let c_functions = c_functions.iter().map(ToString::to_string).collect();
    golden_with(name, &Options { c_functions, ..Options::default() });
}

fn golden_with(name: &str, options: &Options) {
    let folder = folder(name);
    let text = std::fs::read_to_string(folder.join(format!("{name}.flux"))).unwrap();
    let sources = SourceMap::of(format!("{name}.flux"), text);
    let flow = support::lower(&sources);
    let files = generate(&flow, &sources, options);
    assert_eq!(generate(&flow, &sources, options), files, "generated code must be deterministic");
    for file in files {
        // What is kept does not change with the version.
        let text = file.text.replace(concat!("flux ", env!("CARGO_PKG_VERSION")), "flux VERSION");
        let path = folder.join(&file.name);
        if std::env::var_os("FLUX_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(text == kept, "{} is not what is kept; with FLUX_BLESS=1 this test writes it anew", file.name);
        for (number, line) in text.lines().enumerate() {
            assert!(line.chars().count() <= 120, "{}:{} is longer than 120 columns", file.name, number + 1);
            assert_eq!(line.trim_end(), line, "{}:{} ends in spaces", file.name, number + 1);
        }
    }
    for compiler in ["g++", "clang++-16"] {
        let code = format!("#include \"{name}.flux.cpp\"\n");
        assert_eq!(compile(compiler, "c++", &[&folder], &code), Ok(()), "{compiler}");
    }
}

#[test]
fn steps_with_deadlines() {
    golden("deadlines", &[]);
}

#[test]
fn the_image_server_of_the_paper() {
    golden("image", &[]);
}

#[test]
fn objects_fallbacks_and_nested_dispatch() {
    golden("mail", &[]);
}

#[test]
fn names_arrays_and_empty_lists() {
    golden("corners", &["nothing", "Turn", "nodes"]);
}

#[test]
fn constraints_moved_up_and_functions_for_what_is_held() {
    golden("locks", &[]);
}

#[test]
fn saved_and_cut_paths() {
    golden("paths", &[]);
}

#[test]
fn handlers_on_paths_and_functions_for_them() {
    golden("ways", &[]);
}

#[test]
fn keys_sessions_and_timers() {
    golden("keys", &[]);
}

/// What a source of 2006 defines: the result, the name, and the parameters.
const DEFINED_IN_2006: [(&str, &str, &str); 8] = [
    ("int", "Listen", "Listen_in * in, Listen_out * out"),
    ("int", "Parse", "Parse_in * in, Parse_out * out"),
    ("int", "Count", "Count_in * in, Count_out * out"),
    ("int", "Count", "const char * path"),
    ("static int", "Done", "Done_in * in"),
    ("void", "Done", "struct Done_in * in, struct Done_out * out"),
    ("int", "Failed", "Parse_in * in"),
    ("int", "User", "Listen_out * out"),
];

#[test]
fn the_interface_of_2006_as_its_sources_use_it() {
    let mut functions: BTreeMap<String, Vec<Definition>> = BTreeMap::new();
    for (result, name, parameters) in DEFINED_IN_2006 {
        let parameters = parameters.split(", ").map(str::to_owned).collect();
        functions.entry(name.to_owned()).or_default().push(Definition { result: result.to_owned(), parameters });
    }
    golden_with("old", &Options { interface_2006: Some(functions), ..Options::default() });
}

#[test]
fn nodes_that_block() {
    golden("blocking", &[]);
}

#[test]
fn options_of_every_kind() {
    golden("options", &[]);
}

/// What a compiler says of the headers of a program that `golden/plain` has.
fn asked(compiler: &str, probe: &Probe<'_>) -> (Visible, Vec<Misfit>) {
    let said = compile(compiler, "c++", &[&folder("plain")], &probe.text()).unwrap_err();
    probe.read(&said)
}

#[test]
fn plain_functions_are_called_as_they_are() {
    let text = std::fs::read_to_string(folder("plain").join("plain.flux")).unwrap();
    let flow = support::lower(&SourceMap::of("plain.flux", text));
    let probe = Probe::new(&flow, |_| false);
    let (visible, misfits) = asked("g++", &probe);
    assert_eq!(misfits, []);
    assert_eq!(visible.nodes, asked("clang++-16", &probe).0.nodes);
    let names: Vec<_> = visible.declarations().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["Ask", "Check", "Find", "Label", "Lower", "Price", "Print", "IsDear", "Who"]);
    golden_with("plain", &Options { visible, ..Options::default() });
}

#[test]
fn what_does_not_fit_is_shown_as_the_header_has_it() {
    let program = "include \"plain.h\"; Ask () => (int number); Price (item wanted) => (long cents); \
                   Print (item wanted, long cents) => (); Label () => (); source Ask => T; T (int number) => ();";
    let flow = support::lower(&SourceMap::of("a.flux", program));
    let probe = Probe::new(&flow, |function| function == "T");
    for compiler in ["g++", "clang++-16"] {
        let (visible, misfits) = asked(compiler, &probe);
        let shown: Vec<_> = misfits.iter().map(|one| (one.declared.as_str(), one.wanted.as_str())).collect();
        let expected = [
            ("void Price(const item &, item &, long &)", "int Price(const item &wanted, long &cents)"),
            ("void Print(std::string)", "int Print(const item &wanted, long cents)"),
            ("an overloaded function", "int Label()"),
        ];
        assert_eq!(shown, expected, "{compiler}");
        assert_eq!(visible.nodes.len(), 1, "{compiler}");
    }
}

#[test]
fn values_that_a_later_step_names() {
    golden("named", &[]);
}

#[test]
fn values_that_a_later_step_reaches() {
    golden("reached", &[]);
}

#[test]
fn parallel_steps() {
    golden("branches", &[]);
}

#[test]
fn computed_nodes_and_predicates() {
    golden("computed", &[]);
}

#[test]
fn types_of_the_language() {
    golden("types", &[]);
}

#[test]
fn branches_whose_paths_are_counted_by_themselves() {
    golden("cut_branches", &[]);
}

#[test]
fn a_key_of_another_type_is_an_error_in_our_words() {
    let program = "S () => (long double x); A (long double x) => (); source S => A; atomic A: {room(x)};";
    let code = in_one(program, "");
    for compiler in ["g++", "clang++-16"] {
        let said = compile(compiler, "c++", &[], &code).unwrap_err();
        let first = said.lines().find(|line| line.contains("error: ")).unwrap();
        let ours = "a.flux:1: the key 'x' of room must be an integer, an enumerator, a string or a tuple";
        assert!(first.contains(ours), "{compiler}: {said}");
    }
}

#[test]
fn a_header_without_objects_is_c_too() {
    for name in ["image", "corners", "locks", "paths"] {
        let header = format!("#include \"{name}.flux.h\"\n");
        assert_eq!(compile("gcc", "c", &[&folder(name)], &header), Ok(()), "{name}");
    }
}

#[test]
fn every_symbol_of_the_contract_is_used() {
    let code = [
        "image",
        "mail",
        "corners",
        "locks",
        "paths",
        "keys",
        "options",
        "branches",
        "cut_branches",
        "plain",
        "deadlines",
        "blocking",
        "computed",
    ];
    let code = code.map(|name| folder(name).join(format!("{name}.flux.cpp")));
    let of_2006 = ["mStructs.h", "old.flux.cpp"].map(|name| folder("old").join(name));
    let files = code.into_iter().chain(of_2006).chain([folder("plain").join("plain.h")]);
    let all: String = files.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    for symbol in flux_contract::ALL {
        assert!(all.contains(symbol.spelling), "{} is in the contract and nothing names it", symbol.spelling);
    }
}

#[test]
fn the_runtime_is_named_only_through_the_contract() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in std::fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            assert!(!line.contains("flux::"), "{}: `{}` names the runtime itself", path.display(), line.trim());
        }
    }
}

/// Generates a program that is given as text and puts both files into one; the structs come with it.
fn in_one(program: &str, types: &str) -> String {
    let sources = SourceMap::of("a.flux", program);
    let files = generate(&support::lower(&sources), &sources, &Options::default());
    let [header, code] = files.as_slice() else { panic!("two files") };
    let code = code.text.replace("#include \"a.flux.h\"\n", "");
    format!("{types}\n{}\n{code}", header.text.replace("#pragma once\n", ""))
}

const MOVES: &str = "
    S () => (std::unique_ptr<int> p, std::unique_ptr<int> q[2]);
    A (std::unique_ptr<int> p, std::unique_ptr<int> q[2]) => (std::unique_ptr<int> p, std::unique_ptr<int> q[2]);
    T (std::unique_ptr<int> p, std::unique_ptr<int> q[2]) => ();
    B (std::unique_ptr<int> p, std::unique_ptr<int> q[2]) => (std::unique_ptr<int> p, std::unique_ptr<int> q[2]);
    B = A;
    T = A -> B -> A -> End;
    End (std::unique_ptr<int> p, std::unique_ptr<int> q[2]) => ();
    source S => T;
";

#[test]
fn what_cannot_be_copied_is_moved_from_node_to_node() {
    let code = in_one(MOVES, "#include <memory>");
    for compiler in ["g++", "clang++-16"] {
        assert_eq!(compile(compiler, "c++", &[], &code), Ok(()), "{compiler}\n{code}");
    }
}

#[test]
fn a_handler_that_reads_what_cannot_be_copied_is_an_error_in_our_words() {
    let code = in_one(&format!("{MOVES}handle error B => H;"), "#include <memory>");
    for compiler in ["g++", "clang++-16"] {
        let said = compile(compiler, "c++", &[], &code).unwrap_err();
        let first = said.lines().find(|line| line.contains("error: ")).unwrap();
        let ours = "a.flux:10: the handler of B reads its input 'p', so its type must be one that can be copied";
        assert!(first.contains(ours), "{compiler}: {said}");
    }
}

#[test]
fn a_step_that_reaches_what_cannot_be_copied_after_another_took_it_is_an_error_in_our_words() {
    let program = "
        S () => (row p);
        A (row p) => ();
        B (row p) => ();
        T (row p) => ();
        T = A -> B;
        source S => T;
    ";
    let code = in_one(program, "#include <memory>\nstruct row { std::unique_ptr<int> of; };");
    for compiler in ["g++", "clang++-16"] {
        let said = compile(compiler, "c++", &[], &code).unwrap_err();
        let first = said.lines().find(|line| line.contains("error: ")).unwrap();
        let ours = "a.flux:6: A takes 'p', and a later step takes it too, so its type must be one that can be copied";
        assert!(first.contains(ours), "{compiler}: {said}");
    }
}

#[test]
fn branches_that_would_take_copies_of_what_cannot_be_copied_are_an_error_in_our_words() {
    let program = "
        S () => (std::unique_ptr<int> p);
        T (std::unique_ptr<int> p) => ();
        B (std::unique_ptr<int> p) => ();
        T = (B & B);
        source S => T;
    ";
    let code = in_one(program, "#include <memory>");
    for compiler in ["g++", "clang++-16"] {
        let said = compile(compiler, "c++", &[], &code).unwrap_err();
        let first = said.lines().find(|line| line.contains("error: ")).unwrap();
        let ours = "a.flux:5: parallel branches take copies of 'p', so its type must be one that can be copied";
        assert!(first.contains(ours), "{compiler}: {said}");
    }
    let one_branch = in_one(&program.replace("(B & B)", "(B)"), "#include <memory>");
    for compiler in ["g++", "clang++-16"] {
        assert_eq!(compile(compiler, "c++", &[], &one_branch), Ok(()), "{compiler}: moved, not copied");
    }
}
