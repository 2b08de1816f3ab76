//! What `flux build` takes for the program and for its sources: a source that another one includes is compiled with
//! that one alone, a program may lack the suffix, and what there is to say of it is said once.

use crate::support;
use crate::support::{flux, text};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The source makes one number, which `Use` prints, and the server ends.
const PROGRAM: &str = "Make () => (int number);\nsource Make => Use;\nUse (int number) => ();\n";

fn folder(test: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = support::folder("sources", test);
    for (name, text) in files {
        std::fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.join(name), text).unwrap();
    }
    folder
}

/// Builds the program in a folder, and gives what was said.
fn build(folder: &Path) -> String {
    let built = flux(folder, &["build", "--debug"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    text(&built.stderr)
}

/// What a server prints that ends by itself.
fn output(folder: &Path, name: &str) -> String {
    let server = folder.join("build").join(name).join(name);
    text(&Command::new("timeout").arg(support::LIMIT.as_secs().to_string()).arg(server).output().unwrap().stdout)
}

const USE: &str = "int Use(struct Use_in *in)\n{\n    printf(\"%d\\n\", in->number);\n    fflush(stdout);\n\
                   _exit(0);\n}\n";

#[test]
fn a_source_that_another_one_includes_is_compiled_with_it_alone() {
    let make = "int count(void);\nint count(void) { return 6; }\n";
    let nodes = format!(
        "#include \"numbers.flux.h\"\n#include <stdio.h>\n#include <unistd.h>\n#include \"util.c\"\n\
         int Make(struct Make_out *out) {{ out->number = factor() * count(); return 0; }}\n{USE}"
    );
    // Through a header, and in the language of who includes it: `new` is no name in C++.
    let c = folder(
        "in_c",
        &[
            ("numbers.flux", PROGRAM),
            ("nodes.c", &nodes),
            ("util.c", "#include \"count.h\"\nint factor(void);\nint factor(void) { int new = 7; return new; }\n"),
            ("count.h", "#ifndef COUNT_H\n#define COUNT_H\n#include \"count.c\"\n#endif\n"),
            ("count.c", make),
        ],
    );
    build(&c);
    assert!(output(&c, "numbers").starts_with("42\n"));
    let cpp = folder(
        "in_cpp",
        &[
            ("numbers.flux", PROGRAM),
            ("nodes.cpp", &nodes),
            ("util.c", "#include \"count.c\"\nint factor() { return bool(count()) ? 7 : 0; }\n"),
            ("count.c", make),
        ],
    );
    build(&cpp);
    assert!(output(&cpp, "numbers").starts_with("42\n"));
}

#[test]
fn a_source_that_may_be_included_is_compiled_by_itself() {
    let folder = folder(
        "perhaps",
        &[
            ("numbers.flux", PROGRAM),
            (
                "nodes.c",
                &format!(
                    "#include \"numbers.flux.h\"\n#include <stdio.h>\n#include <unistd.h>\n#include \"count.h\"\n\
              int Make(struct Make_out *out) {{ out->number = count(); return 0; }}\n{USE}"
                ),
            ),
            ("count.h", "int count(void);\n#ifdef COUNT_IN_HEADER\n#include \"count.c\"\n#endif\n"),
            ("count.c", "#include \"count.h\"\nint count(void) { return 42; }\n"),
        ],
    );
    build(&folder);
    assert!(output(&folder, "numbers").starts_with("42\n"));
}

#[test]
fn what_is_included_in_a_program_of_2006_gets_the_returns_that_it_lacks() {
    let folder = folder(
        "returns",
        &[
            ("numbers.flux", PROGRAM),
            ("nodes.c", &format!("#include \"mImpl.h\"\n#include \"util.c\"\n{USE}")),
            ("util.c", "#include \"other.c\"\nint Make(Make_out *out) { out->number = half() ? 1 : 42;}\n"),
            ("other.c", "int half() { if (getpid() < 0) return 1; }\n"),
        ],
    );
    let said = build(&folder);
    assert!(said.contains("`Make` of util.c ends without a return"), "{said}");
    assert!(said.contains("`half` of other.c ends without a return"), "{said}");
    assert!(!said.contains("warning: "), "{said}");
    assert!(output(&folder, "numbers").starts_with("42\n"));
    assert!(!build(&folder).contains("Compiling"), "nothing has changed");

    // One of them is changed, and all are looked at again.
    std::fs::write(folder.join("other.c"), "int half() { if (getpid() == 0) return 3; }\n").unwrap();
    let made = Command::new("make").arg("-C").arg(folder.join("build/numbers")).output().unwrap();
    assert!(!made.status.success() && text(&made.stderr).contains("run flux build again"), "{}", text(&made.stderr));
    let said = build(&folder);
    assert!(said.contains("`half` of other.c ends without a return"), "{said}");
    assert!(said.contains("`Make` of util.c ends without a return") && !said.contains("warning: "), "{said}");
    assert!(output(&folder, "numbers").starts_with("42\n"));
}

#[test]
fn a_source_is_compiled_again_when_a_generated_header_changes() {
    let nodes = format!(
        "#include \"numbers.flux.h\"\n#include <stdio.h>\n#include <unistd.h>\n\
         int Make(struct Make_out *out) {{ out->number = 42; return 0; }}\n{USE}"
    );
    let folder = folder("headers", &[("numbers.flux", PROGRAM), ("nodes.cpp", &nodes)]);
    build(&folder);
    let read = std::fs::read_to_string(folder.join("build/numbers/nodes.cpp.d")).unwrap();
    assert!(read.contains("numbers.flux.h"), "{read}");
}

#[test]
fn a_program_without_a_suffix_is_found_in_its_folder() {
    let readme = "The source of the numbers => in the program.\n";
    let files = [("numbers", PROGRAM), ("README", readme), ("Makefile", "all:\n\tflux build numbers\n")];
    let plain = folder("no_suffix", &files);
    let checked = flux(&plain, &["check", "--quiet"]);
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    let built = flux(plain.parent().unwrap(), &["build", "no_suffix", "--generate-only"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    assert!(plain.join("build/numbers/numbers.flux.cpp").is_file());
    // One that has the suffix is the program.
    std::fs::write(plain.join("sums.flux"), PROGRAM).unwrap();
    assert!(flux(&plain, &["build", "--generate-only"]).status.success());
    assert!(plain.join("build/sums/sums.flux.cpp").is_file());
    std::fs::remove_file(plain.join("sums.flux")).unwrap();
    std::fs::write(plain.join("more"), PROGRAM).unwrap();
    let two = flux(&plain, &["check"]);
    assert!(text(&two.stderr).contains("2 programs in ."), "{}", text(&two.stderr));
}

#[test]
fn a_warning_is_said_once() {
    let program = format!("Other (int n) => ();\nhandle error Other => Never;\n{PROGRAM}");
    let folder = folder("once", &[("numbers.flux", &program), ("nodes.cpp", "int other() { return 0; }\n")]);
    for arguments in [&["build", "--generate-only"][..], &["stubs"], &["stubs", "--convention=plain"], &["graph"]] {
        let said = text(&flux(&folder, arguments).stderr);
        assert_eq!(said.matches("warning[handler-unreached]").count(), 1, "{arguments:?}: {said}");
    }
}
