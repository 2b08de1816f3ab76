//! What only a built server shows of calls that are caught: from libraries that would hide them, in the child of a
//! fork, and where the way of linking takes them away.

use crate::support;
use crate::support::text;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = "
include \"string\";
option library : string = \"\";
option crowd : int = 1;
Begin (std::string library, int crowd) => (std::string library, int crowd);
Sleep (std::string library, int crowd) => ();
source Begin(library, crowd) => Sleep;
";

/// Four flows sleep until some are there at once, which never is where the call is not caught: then the first has the
/// loop for itself. Each forks, too; the child has no loop.
const NODES: &str = "
#include \"caught.flux.h\"
#include <atomic>
#include <csignal>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

static int begun = 0;
static std::atomic<int> together = 0;
static std::atomic<int> ended = 0;

int Begin(Begin_in *in, Begin_out *out)
{
    if (begun++ == 4) {
        pause();
        return 1; // there is no fifth
    }
    out->library = in->library;
    out->crowd = in->crowd;
    return 0;
}

int Sleep(Sleep_in *in)
{
    const pid_t child = fork();
    if (child == 0) {
        usleep(1000);
        _exit(7);
    }
    int status = 0;
    const bool is_right = waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7;
    void *const deep = dlopen(in->library.c_str(), RTLD_NOW | RTLD_DEEPBIND);
    auto *const sleeps = reinterpret_cast<int (*)()>(deep != nullptr ? dlsym(deep, \"sleeps\") : nullptr);
    if (sleeps == nullptr || !is_right) {
        return 1;
    }
    ++together;
    for (int times = 0; together < in->crowd; ++times) {
        if (times == 6000 || sleeps() != 0) {
            return 1;
        }
    }
    if (++ended == 4) {
        kill(getpid(), SIGTERM);
    }
    return 0;
}
";

const LIBRARY: &str = "#include <unistd.h>\nint sleeps(void) { return usleep(10000); }\n";

/// The folder with the server, which is linked so, and what was said.
fn compile(test: &str, link: &str) -> (PathBuf, Output) {
    let folder = support::folder("caught_calls", test);
    for (name, content) in [("caught.flux", PROGRAM), ("nodes.cpp", NODES), ("deep.c", LIBRARY)] {
        std::fs::write(folder.join(name), content).unwrap();
    }
    let compile = ["-shared", "-fPIC", "deep.c", "-o", "libdeep.so"];
    assert!(Command::new("cc").args(compile).current_dir(&folder).status().unwrap().success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_flux"));
    let built =
        command.args(["build", "--debug", "caught.flux", "nodes.cpp"]).env("LDFLAGS", link).current_dir(&folder);
    let built = built.output().unwrap();
    (folder, built)
}

fn build(test: &str, link: &str) -> PathBuf {
    let (folder, built) = compile(test, link);
    assert!(built.status.success(), "{}", text(&built.stderr));
    folder.join("build/caught/caught")
}

fn run(server: &Path, flags: &[&str]) -> Output {
    let library = server.ancestors().nth(3).unwrap().join("libdeep.so");
    Command::new(server).args(flags).args(["--library", library.to_str().unwrap()]).output().unwrap()
}

#[test]
fn a_library_that_would_hide_them_and_a_child_of_a_fork() {
    let server = build("all", "");
    for io in ["reactor", "proactor"] {
        let io = format!("--flux-io={io}");
        let together = "--crowd=4";
        let ended = run(&server, &["--flux-runtime=event", "--flux-workers=1", "--flux-report=text", &io, together]);
        let said = text(&ended.stderr);
        assert!(said.contains("4 done"), "{said}");
    }
}

#[test]
fn loops_are_refused_where_the_calls_are_not_caught() {
    let server = build("hidden", "-Wl,--exclude-libs,ALL");
    let ended = run(&server, &["--flux-runtime=event"]);
    let said = text(&ended.stderr);
    assert!(!ended.status.success(), "{said}");
    assert!(said.contains("are not caught, so a node that blocks would hold up its event loop: link it"), "{said}");
    assert!(said.contains("or run it with --flux-runtime=pool"), "{said}");
    let ended = run(&server, &["--flux-runtime=pool", "--flux-report=text"]);
    assert!(text(&ended.stderr).contains("4 done"), "{}", text(&ended.stderr));
}

#[test]
fn a_server_cannot_be_linked_statically() {
    let built = compile("static", "-static");
    let said = text(&built.1.stderr);
    assert!(!built.1.status.success() && said.contains("multiple definition of `getaddrinfo'"), "{said}");
}
