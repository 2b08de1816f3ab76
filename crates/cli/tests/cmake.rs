//! The CMake package: a project finds it, builds servers with and without a sanitizer, builds again what has changed
//! and nothing else, and is told what is wrong with a program.

use crate::support;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program whose server ends by itself.
const PROGRAM: &str = "\
link \"uring\";
link \"m\";
One () => (int number);
Twice (int number) => (int number);
Print (int number) => ();
source One => Show;
Show = Twice -> Print;
";

/// C++ for the source and C for a node, so that linkage is right in both.
const NODES: &str = "\
#include \"numbers.flux.h\"
#include <csignal>
#include <cstdio>

int One(One_out *out)
{
    static bool done = false;
    out->number = 21;
    const int code = done ? 1 : 0;
    done = true;
    return code;
}

int Print(Print_in *in)
{
    printf(\"%d\\n\", in->number);
    fflush(stdout);
    raise(SIGTERM);
    return 0;
}
";

const TWICE: &str = "\
#include \"numbers.flux.h\"

int Twice(struct Twice_in *in, struct Twice_out *out)
{
    out->number = 2 * in->number;
    return 0;
}
";

const PROJECT: &str = "\
cmake_minimum_required(VERSION 3.16)
project(numbers LANGUAGES C CXX)
set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
find_package(Flux 0.1 REQUIRED)
flux_add_server(numbers numbers.flux SOURCES nodes.cpp twice.c LINK_LIBRARIES m)
flux_add_server(numbers_checked numbers.flux SOURCES nodes.cpp twice.c SANITIZE thread)
flux_add_server(old old.flux SOURCES old.cpp)
";

/// A program whose source is written for the compiler of 2006.
const OLD_PROGRAM: &str = "Ask () => (int number);\nsource Ask => Print;\nPrint (int number) => ();\n";
const OLD_NODES: &str = "\
#include \"mStructs.h\"
int Ask(Ask_in *in, Ask_out *out) {}
int Print(Print_in *in, Print_out *out) {}
";

/// A project in a folder of its own.
struct Project {
    folder: PathBuf,
}

impl Project {
    fn new() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cmake");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let project = Self { folder };
        let files = [("numbers.flux", PROGRAM), ("nodes.cpp", NODES), ("twice.c", TWICE), ("CMakeLists.txt", PROJECT)];
        let old = [("old.flux", OLD_PROGRAM), ("old.cpp", OLD_NODES)];
        files.iter().chain(&old).for_each(|(name, text)| project.write(name, text));
        project
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.join(name), text).unwrap();
    }

    fn run(&self, command: &str, arguments: &[&str]) -> Output {
        Command::new(command).args(arguments).current_dir(&self.folder).output().expect(command)
    }

    /// Builds a target; what CMake says.
    fn build(&self, target: &str) -> String {
        let output = self.run("cmake", &["--build", "out", "--parallel", "2", "--target", target]);
        let said = text(&output);
        assert!(output.status.success(), "{said}");
        said
    }

    /// What a server prints before it ends.
    fn answer(&self, server: &str) -> String {
        let output = self.run(&format!("out/{server}"), &[]);
        assert!(output.status.success(), "{}", text(&output));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[test]
fn a_project_builds_servers_and_builds_again_what_has_changed() {
    let flux = env!("CARGO_BIN_EXE_flux");
    let project = Project::new();
    let printed = project.run(flux, &["cmake", "prefix/lib/cmake/Flux"]);
    let package = project.folder.canonicalize().unwrap().join("prefix/lib/cmake/Flux");
    assert_eq!(text(&printed), format!("{}\n", package.display()));

    let configure = ["-S", ".", "-B", "out", "-DCMAKE_PREFIX_PATH=prefix"];
    let found = project.run("cmake", &[&configure, [format!("-DFlux_EXECUTABLE={flux}").as_str()].as_slice()].concat());
    assert!(found.status.success(), "{}", text(&found));
    // A function without a return is an error, but in sources of 2006.
    let flags = |target: &str| {
        let path = project.folder.join(format!("out/CMakeFiles/{target}.dir/flags.make"));
        std::fs::read_to_string(path).unwrap()
    };
    assert!(flags("numbers").contains("-Werror=return-type"), "{}", flags("numbers"));
    assert!(!flags("old").contains("-Werror=return-type"), "{}", flags("old"));
    project.build("numbers");
    assert_eq!(project.answer("numbers"), "42\n");

    // Nothing has changed: flux is not asked, and nothing is compiled.
    let again = project.build("numbers");
    assert!(!again.contains("Generating") && !again.contains("Building"), "{again}");

    // The program has changed: it alone is compiled again, with what includes its header.
    project.write("numbers.flux", &PROGRAM.replace("Twice -> Print", "Twice -> Twice -> Print"));
    let changed = project.build("numbers");
    assert!(changed.contains("Generating numbers.flux.cpp") && changed.contains("numbers.flux.cpp.o"), "{changed}");
    assert!(!changed.contains("flux_runtime.dir") && !changed.contains("nodes.cpp.o"), "{changed}");
    assert_eq!(project.answer("numbers"), "84\n");

    if support::is_asked_for("thread") {
        project.build("numbers_checked");
        assert_eq!(project.answer("numbers_checked"), "84\n");
        let symbols = text(&project.run("nm", &["out/numbers_checked"]));
        assert!(symbols.contains("__tsan_func_entry"), "not compiled with the thread sanitizer");
    }

    // What is wrong with a program is said in its own terms, and the build fails.
    project.write("numbers.flux", &PROGRAM.replace("Twice -> Print", "Twice -> Prnt"));
    let wrong = project.run("cmake", &["--build", "out", "--target", "numbers"]);
    assert!(!wrong.status.success() && text(&wrong).contains("Prnt"), "{}", text(&wrong));
}

#[test]
fn a_project_that_asks_for_another_version_is_refused() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cmake_version");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let project = Project { folder };
    project.run(env!("CARGO_BIN_EXE_flux"), &["cmake", "prefix/lib/cmake/Flux"]);
    for version in ["0.2", "1.0"] {
        project.write("CMakeLists.txt", &PROJECT.replace("Flux 0.1", &format!("Flux {version}")));
        let refused = project.run("cmake", &["-S", ".", "-B", "out", "-DCMAKE_PREFIX_PATH=prefix"]);
        assert!(!refused.status.success());
        assert!(text(&refused).contains("version: 0.1.0"), "{version}: {}", text(&refused));
    }
}
