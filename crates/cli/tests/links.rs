//! Libraries that programs and modules name: found, missing, and asked for by the doctor.

use crate::support;
use crate::support::{flux, text};
use std::path::Path;
use std::process::Command;

/// A program whose module links the library that the runtime needs, too: it is on every machine that builds servers.
/// pkg-config knows it as `liburing`. Of the C library there is a part that pkg-config does not know.
const PROGRAM: &str = "\
use \"kernel.flux\";
link \"m\";
include \"root.h\";
source kernel.Ask => Root;
Root (int number) => ();
";

const MODULE: &str = "link \"uring\";\nAsk () => (int number);\n";

fn project(test: &str) -> std::path::PathBuf {
    let folder = support::folder("links", test);
    let write = |name: &str, content: &str| std::fs::write(folder.join(name), content).unwrap();
    write("roots.flux", PROGRAM);
    write("kernel.flux", MODULE);
    write("root.h", "void Root(int number);\n");
    write(
        "root.cpp",
        "#include \"roots.flux.h\"\n#include <cmath>\n#include <csignal>\n#include <cstdio>\n\
         void Root(int number)\n{\n    std::printf(\"%.0f\\n\", std::sqrt(number));\n    std::fflush(stdout);\n\
         std::raise(SIGTERM);\n}\n",
    );
    write(
        "kernel.cpp",
        "#include \"kernel.flux.h\"\n#include <liburing.h>\n\nnamespace kernel {\n\nint Ask(Ask_out *out)\n{\n\
         io_uring_free_probe(io_uring_get_probe());\n    out->number = 49;\n    return 0;\n}\n\n\
         } // namespace kernel\n",
    );
    folder
}

fn makefile(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("build/roots/Makefile")).unwrap()
}

#[test]
fn a_server_is_linked_with_what_its_program_and_its_modules_name() {
    let folder = project("found");
    let built = flux(&folder, &["build", "--debug", "roots.flux", "root.cpp"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    assert!(makefile(&folder).contains("\nLINKS = uring m\n"), "{}", makefile(&folder));
    let server = Command::new(folder.join("build/roots/roots")).output().unwrap();
    assert!(text(&server.stdout).starts_with("7\n"), "{}", text(&server.stdout));
}

/// Also of a standard module, which is kept beside the folder of the build.
#[test]
fn another_library_is_linked_and_nothing_is_compiled() {
    let folder = project("another");
    let program = |more: &str| {
        let text = format!("use std.timer;\nsource every 1s => Tick;\nTick = timer.Wait(1);\n{PROGRAM}{more}");
        std::fs::write(folder.join("roots.flux"), text).unwrap();
    };
    let build = || {
        let built = flux(&folder, &["build", "--debug", "roots.flux", "root.cpp"]);
        assert!(built.status.success(), "{}", text(&built.stderr));
        text(&built.stderr)
    };
    program("");
    let first = build();
    assert_eq!(first.matches("Compiling ro").count(), 2, "{first}");
    program("link \"pthread\";\n");
    let second = build();
    assert!(!second.contains("Compiling") && second.contains("Linking"), "{second}");
    assert!(makefile(&folder).contains("\nLINKS = uring m pthread\n"), "{}", makefile(&folder));
}

#[test]
fn a_library_that_is_missing_is_named_before_anything_is_compiled() {
    let folder = project("missing");
    std::fs::write(folder.join("kernel.flux"), format!("link \"no_such_library\";\n{MODULE}")).unwrap();
    let built = flux(&folder, &["build", "--debug", "roots.flux", "root.cpp", "--quiet"]);
    assert_eq!(built.status.code(), Some(1));
    let said = text(&built.stderr);
    let wanted = "error[missing-library]: the library `no_such_library` is not installed\n --> kernel.flux:1:1\n";
    assert!(said.contains(wanted) && said.contains(" = help: "), "{said}");
    assert!(!folder.join("build/roots/roots.flux.o").exists());

    let asked = flux(&folder, &["doctor", "roots.flux", "--json"]);
    assert_eq!(asked.status.code(), Some(1));
    let findings = text(&asked.stdout);
    let state = |what: &str| findings.lines().find(|line| line.contains(&format!("\"what\":\"{what}\""))).unwrap();
    assert!(state("no_such_library").contains("\"state\":\"missing\""), "{findings}");
    assert!(state("uring").contains("\"state\":\"good\""), "{findings}");
}
