//! What the C++ compiler and the linker find, told in the program's terms.

use crate::support;
use crate::support::{flux, text};
use std::path::{Path, PathBuf};

const PROGRAM: &str = "Make () => (int number);\nsource Make => Use;\nUse (int number) => ();\n";
const MAKE: &str = "int Make(Make_out *out)\n{\n    out->number = 42;\n    return 0;\n}\n";
const USE: &str = "int Use(Use_in *)\n{\n    return 0;\n}\n";

fn folder(test: &str, program: &str, nodes: &str) -> PathBuf {
    let folder = support::folder("messages", test);
    std::fs::write(folder.join("sums.flux"), program).unwrap();
    std::fs::write(folder.join("nodes.cpp"), format!("#include \"sums.flux.h\"\n{nodes}")).unwrap();
    folder
}

/// What is said of a program that cannot be built.
fn said(folder: &Path, arguments: &[&str]) -> String {
    let built = flux(folder, &[&["build", "sums.flux"], arguments].concat());
    let said = text(&built.stderr);
    assert_eq!(built.status.code(), Some(1), "{said}");
    said
}

#[test]
fn a_header_that_is_missing_is_an_error_at_its_statement() {
    let program = format!("include \"sums.h\";\n{PROGRAM}");
    for compiler in ["--cxx=g++", "--cxx=clang++-16"] {
        let folder = folder("header", &program, "");
        let said = said(&folder, &[compiler]);
        assert!(
            said.contains("error[missing-header]: the header `sums.h` does not exist\n --> sums.flux:1:1"),
            "{said}"
        );
        assert_eq!(said.matches("error").count(), 1, "{said}");
    }
    // Where the compiler need not be asked before, it says so in the end.
    let folder = folder("header_later", &program, &format!("{MAKE}{USE}"));
    let said = said(&folder, &[]);
    assert!(said.contains("error[missing-header]: the header `sums.h` does not exist\n --> sums.flux:1:1"), "{said}");
    assert_eq!(said.matches("error").count(), 1, "{said}");
}

/// What the compiler of the program has found, and what that of C++ has.
#[test]
fn programs_read_what_a_build_says() {
    for (name, program, id, line) in [
        ("json", PROGRAM.replace("=> Use", "=> Us"), "signature-unknown", 2),
        ("json_cpp", format!("include \"sums.h\";\n{PROGRAM}"), "missing-header", 1),
    ] {
        let folder = folder(name, &program, "");
        let built = flux(&folder, &["build", "sums.flux", "--quiet", "--format", "json"]);
        let said = text(&built.stdout);
        assert_eq!(built.status.code(), Some(1), "{said}");
        let read: Vec<serde_json::Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let ids: Vec<_> = read.iter().map(|one| (one["id"].as_str(), one["line"].as_u64())).collect();
        assert!(ids.contains(&(Some(id), Some(line))), "{said}");
        assert_eq!(text(&built.stderr), "", "what is said to programs is said once");
    }
}

#[test]
fn a_library_that_is_missing_is_named_with_its_function() {
    let calls = MAKE.replace("42", "cos_of_flux(1)");
    let nodes = format!("extern \"C\" int cos_of_flux(int);\n{calls}{USE}");
    let folder = folder("library", PROGRAM, &nodes);
    let said_of_call = said(&folder, &[]);
    let wanted = "error[undefined-function]: `cos_of_flux` is used, but no source and no library defines it\n\
                  \x20--> nodes.cpp:5:5\n";
    assert!(said_of_call.contains("= help: add the source that defines it, or link the library"), "{said_of_call}");
    assert!(said_of_call.contains(wanted), "{said_of_call}");
    assert!(!said_of_call.contains("ld: ") && !said_of_call.contains("collect2"), "{said_of_call}");
    let said_of_library = said(&folder, &["-l", "none_of_flux"]);
    assert!(
        said_of_library.contains("error[missing-library]: the library `none_of_flux` is not installed\n |\n = help: "),
        "{said_of_library}"
    );
    assert!(!said_of_library.contains("ld: "), "{said_of_library}");
}

#[test]
fn references_are_told_from_pointers() {
    let nodes = MAKE.replace("Make_out *out", "Make_out &out").replace("->", ".") + USE;
    let said = said(&folder("references", PROGRAM, &nodes), &[]);
    let wanted =
        "error[struct-reference]: the function `Make` takes references to its structs, but is called with pointers\n";
    assert!(said.contains(wanted) && said.contains("    int Make(struct Make_out *out)\n"), "{said}");
}

#[test]
fn a_function_that_can_end_without_a_return_is_an_error() {
    for compiler in ["--cxx=g++", "--cxx=clang++-16"] {
        let nodes = MAKE.replace("    return 0;", "    if (out->number > 0) {\n        return 0;\n    }") + USE;
        let folder = folder("returns", PROGRAM, &nodes);
        for _ in 0..2 {
            let said = said(&folder, &[compiler]);
            assert!(
                said.contains(
                    "error[missing-return]: the function `Make` can end without a return\n --> nodes.cpp:8:1\n"
                ),
                "{said}"
            );
            assert_eq!(said.matches("error[").count(), 1, "{said}");
        }
    }
}

#[test]
fn the_author_s_mistakes_are_said_before_the_runtime_is_compiled() {
    let folder = folder("early", PROGRAM, &(MAKE.replace("return", "retrn") + USE));
    let cache = folder.join("cache");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_flux"));
    let built =
        command.args(["build", "sums.flux"]).current_dir(&folder).env("XDG_CACHE_HOME", &cache).output().unwrap();
    let said = text(&built.stderr);
    assert!(said.contains("Compiling nodes.cpp") && said.contains("retrn"), "{said}");
    assert!(!said.contains("missing-return"), "it does not compile, which is one mistake: {said}");
    assert!(!said.contains("runtime") && !cache.join("flux").exists(), "{said}");
}
