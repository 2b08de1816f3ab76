//! The C++ that is generated, as it should read: two whole programs in `golden/`, and pages in `pages/`, each of a
//! program and of those functions and tables that it is about. All of it is compiled by both compilers at their
//! strictest, and by a C compiler where that can read the header.
//!
//! After a change that is meant, `FLUX_BLESS=1 cargo test -p flux_back_cpp` writes files and pages anew: read the
//! difference.
#![allow(clippy::disallowed_methods, reason = "a test harness reads files and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod support;

use flux_back_cpp::bind_externals::{Found, bind_externals};
use flux_back_cpp::plain::declarations;
use flux_back_cpp::probe::{Misfit, Probe};
use flux_back_cpp::{Options, generate};
use flux_ir::external::{ExternalId, PlainFunction};
use flux_source::SourceMap;
use std::path::{Path, PathBuf};
use support::{Page, compile, compile_generated, tests, without_version};

fn folder(name: &str) -> PathBuf {
    tests("golden").join(name)
}

/// Whether what is kept is to be written anew.
fn bless() -> bool {
    std::env::var_os("FLUX_BLESS").is_some()
}

/// Generates a whole program, compares with what is kept, and compiles that.
fn whole(name: &str, found: Found) {
    let folder = folder(name);
    let text = std::fs::read_to_string(folder.join(format!("{name}.flux"))).unwrap();
    let sources = SourceMap::of(format!("{name}.flux"), text);
    let mut flow = support::lower(&sources);
    let options = bind_externals(&mut flow.program, found);
    for file in generate(&flow, &sources, &options) {
        let text = without_version(&file.text);
        let path = folder.join(&file.name);
        if bless() {
            std::fs::write(&path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(text == kept, "{} is not what is kept; with FLUX_BLESS=1 this test writes it anew", file.name);
    }
    must_compile(name, &folder);
}

/// Holds the page `name` to what is generated, and compiles all of that.
fn page(name: &str) {
    let Page { report, folder, .. } = Page::read(name);
    match &report.updated {
        Some(text) if bless() => std::fs::write(&report.path, text).unwrap(),
        _ => assert!(report.failures.is_empty(), "{report}with FLUX_BLESS=1 this test writes the page anew"),
    }
    assert!(report.assertions > 1, "{} shows nothing that is generated", report.path);
    must_compile(name, folder.path());
}

/// The program in `folder` compiles, and reads well.
fn must_compile(name: &str, folder: &Path) {
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        for (number, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
            let place = format!("{}:{}", path.display(), number + 1);
            assert!(line.chars().count() <= 120, "{place} is longer than 120 columns");
            assert_eq!(line.trim_end(), line, "{place} ends in spaces");
        }
    }
    for compiler in ["g++", "clang++-16"] {
        let code = format!("#include \"{name}.flux.cpp\"\n");
        assert_eq!(compile_generated(compiler, &[folder], &code), Ok(()), "{compiler}");
    }
}

#[test]
fn the_image_server_of_the_paper() {
    whole("image", Found::default());
}

#[test]
fn state() {
    page("state");
}

#[test]
fn what_handlers_know_of_failures() {
    page("failures");
}

#[test]
fn steps_with_deadlines() {
    page("deadlines");
}

#[test]
fn objects_fallbacks_and_nested_dispatch() {
    page("mail");
}

#[test]
fn nodes_with_types() {
    page("type_arguments");
}

#[test]
fn readers_of_messages() {
    page("message_readers");
}

#[test]
fn messages_in_others_and_in_themselves() {
    page("message_kinds");
}

#[test]
fn messages_in_bodies() {
    page("message_values");
}

#[test]
fn calls_lists_and_maps_in_bodies() {
    page("computed_calls");
}

#[test]
fn names_arrays_and_empty_lists() {
    page("corners");
}

#[test]
fn constraints_moved_up_and_functions_for_what_is_held() {
    page("locks");
}

#[test]
fn chains_for_each_element_of_a_list() {
    page("each");
}

#[test]
fn saved_and_cut_paths() {
    page("paths");
}

#[test]
fn handlers_on_paths_and_functions_for_them() {
    page("ways");
}

#[test]
fn keys_sessions_and_timers() {
    page("keys");
}

#[test]
fn the_interface_of_2006_as_its_sources_use_it() {
    page("old");
}

#[test]
fn nodes_that_block() {
    page("blocking");
}

#[test]
fn options_of_every_kind() {
    page("options");
}

/// What a compiler says of the headers of a program that `golden/plain` has.
fn asked(compiler: &str, probe: &Probe<'_>) -> (Vec<(ExternalId, PlainFunction)>, Vec<Misfit>) {
    let said = compile_generated(compiler, &[&folder("plain")], &probe.text()).unwrap_err();
    probe.read(&said)
}

#[test]
fn plain_functions_are_called_as_they_are() {
    let text = std::fs::read_to_string(folder("plain").join("plain.flux")).unwrap();
    let sources = SourceMap::of("plain.flux", text);
    let mut flow = support::lower(&sources);
    let probe = Probe::new(&flow, |_| false);
    let (plain, misfits) = asked("g++", &probe);
    assert_eq!(misfits, []);
    assert_eq!(plain, asked("clang++-16", &probe).0);
    let found = Found { plain, ..Found::default() };
    bind_externals(&mut flow.program, found.clone());
    let names: Vec<_> = declarations(&flow.program, &sources).iter().map(|one| one.name.to_string()).collect();
    assert_eq!(names, ["Ask", "Check", "Find", "Label", "Lower", "Price", "Print", "IsDear", "Who"]);
    whole("plain", found);
}

#[test]
fn what_does_not_fit_is_shown_as_the_header_has_it() {
    let program = "include \"plain.h\"; Ask () => (int number); Price (item wanted) => (long cents); \
                   Print (item wanted, long cents) => (); Label () => (); source Ask => T; T (int number) => ();";
    let flow = support::lower(&SourceMap::of("a.flux", program));
    let probe = Probe::new(&flow, |function| function == "T");
    for compiler in ["g++", "clang++-16"] {
        let (plain, misfits) = asked(compiler, &probe);
        let shown: Vec<_> = misfits.iter().map(|one| (one.declared.as_str(), one.wanted.as_str())).collect();
        let expected = [
            ("void Price(const item &, item &, long &)", "int Price(const item &wanted, long &cents)"),
            ("void Print(std::string)", "int Print(const item &wanted, long cents)"),
            ("an overloaded function", "int Label()"),
        ];
        assert_eq!(shown, expected, "{compiler}");
        assert_eq!(plain.len(), 1, "{compiler}");
    }
}

#[test]
fn values_that_a_later_step_names() {
    page("named");
}

#[test]
fn values_that_a_later_step_reaches() {
    page("reached");
}

#[test]
fn parallel_steps() {
    page("branches");
}

#[test]
fn computed_nodes_and_predicates() {
    page("computed");
}

#[test]
fn inputs_that_a_body_hands_on() {
    page("handed_on");
}

#[test]
fn types_of_the_language() {
    page("types");
}

#[test]
fn values_of_a_type_known_at_run_time() {
    page("values");
}

#[test]
fn branches_whose_paths_are_counted_by_themselves() {
    page("cut_branches");
}

#[test]
fn a_key_of_another_type_is_an_error_in_our_words() {
    let program = "S () => (long double x); A (long double x) => (); source S => A; atomic A: {room(x)};";
    let code = in_one(program, "");
    for compiler in ["g++", "clang++-16"] {
        let said = compile_generated(compiler, &[], &code).unwrap_err();
        let first = said.lines().find(|line| line.contains("error: ")).unwrap();
        let ours = "a.flux:1: the key 'x' of room must be an integer, an enumerator, a string or a tuple";
        assert!(first.contains(ours), "{compiler}: {said}");
    }
}

#[test]
fn a_header_without_objects_is_c_too() {
    assert_eq!(compile("gcc", "c", &[&folder("image")], "#include \"image.flux.h\"\n"), Ok(()));
    for name in ["corners", "locks", "paths"] {
        let header = format!("#include \"{name}.flux.h\"\n");
        assert_eq!(compile("gcc", "c", &[Page::read(name).folder.path()], &header), Ok(()), "{name}");
    }
}

#[test]
fn every_symbol_of_the_contract_is_used() {
    let text = |folder: &Path| -> String {
        let files = std::fs::read_dir(folder).unwrap();
        files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    };
    let pages = Page::names().into_iter().map(|name| text(Page::read(&name).folder.path()));
    let all: String = pages.chain(["image", "plain"].map(|name| text(&folder(name)))).collect();
    for symbol in flux_contract::ALL {
        assert!(all.contains(symbol.spelling), "{} is in the contract and nothing names it", symbol.spelling);
    }
}

#[test]
fn the_runtime_is_named_only_through_the_contract() {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
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
        assert_eq!(compile_generated(compiler, &[], &code), Ok(()), "{compiler}\n{code}");
    }
}

#[test]
fn a_handler_that_reads_what_cannot_be_copied_is_an_error_in_our_words() {
    let code = in_one(&format!("{MOVES}handle error B => H;"), "#include <memory>");
    for compiler in ["g++", "clang++-16"] {
        let said = compile_generated(compiler, &[], &code).unwrap_err();
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
        let said = compile_generated(compiler, &[], &code).unwrap_err();
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
        let said = compile_generated(compiler, &[], &code).unwrap_err();
        let first = said.lines().find(|line| line.contains("error: ")).unwrap();
        let ours = "a.flux:5: parallel branches take copies of 'p', so its type must be one that can be copied";
        assert!(first.contains(ours), "{compiler}: {said}");
    }
    let one_branch = in_one(&program.replace("(B & B)", "(B)"), "#include <memory>");
    for compiler in ["g++", "clang++-16"] {
        assert_eq!(compile_generated(compiler, &[], &one_branch), Ok(()), "{compiler}: moved, not copied");
    }
}
