//! `flux doctor`: checks whether this machine has what building and running a server needs, and says what to do if not;
//! and whether what was built makes calls that would hold up an event loop.

use crate::arguments::Doctor;
use crate::blocking_imports::{self, BlockingCall, Calls, is_elf};
use crate::failure::{Failure, Result};
use crate::program::compile;
use crate::server::{RUNTIME_LIBRARIES, cache_directory, links};
use crate::terminal::print;
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest compilers that generated code is tested with.
const OLDEST_GCC: u32 = 12;
const OLDEST_CLANG: u32 = 16;

/// A server has a file for each connection, and a few.
const FEW_FILES: u64 = 1024;

/// What the runtime asks of the system.
const HEADERS: &str = "#include <sys/epoll.h>\n#include <sys/eventfd.h>\n#include <pthread.h>\n#include <string>\n\
                       #include <atomic>\nint main() { std::atomic<int> one{1}; one.wait(0); }\n";

/// What the runtime links.
const SWITCH: &str = "#include <boost/context/detail/fcontext.hpp>\nusing namespace boost::context::detail;\n\
                      int main() { return !jump_fcontext(make_fcontext(nullptr, 0, nullptr), nullptr).data; }\n";
const RING: &str = "#include <liburing.h>\n\
                    int main() { io_uring_buf_reg none{}; return io_uring_register_buf_ring(nullptr, &none, 0); }\n";

/// How a check went.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    /// Something is better with it.
    Optional,
    /// No server can be built without it.
    Missing,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Optional => "optional",
            Self::Missing => "missing",
        }
    }
}

/// One check.
struct Finding {
    what: String,
    state: State,
    /// What there is.
    found: String,
    /// What to do, where something is.
    fix: Option<String>,
    /// The Debian packages that are the fix.
    packages: Vec<String>,
}

impl Finding {
    fn good(what: &str, found: impl Into<String>) -> Self {
        Self { what: what.to_owned(), state: State::Good, found: found.into(), fix: None, packages: vec![] }
    }

    fn bad(what: &str, state: State, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.to_owned(), state, found: found.into(), fix: Some(fix.into()), packages: vec![] }
    }

    fn in_packages(self, packages: &[&str]) -> Self {
        Self { packages: packages.iter().map(ToString::to_string).collect(), ..self }
    }
}

/// Checks this machine and prints what was found. Fails where something is missing.
pub fn doctor(arguments: &Doctor) -> Result {
    if let [first, ..] = &*arguments.files
        && is_elf(first)
    {
        return report_calls(&arguments.files, arguments.json);
    }
    let [boost, liburing] = libraries(&arguments.cxx);
    let mut findings = vec![compiler(&arguments.cxx), make(), headers(&arguments.cxx), boost, liburing];
    findings.extend([cache(), files(), graphviz(), pkg_config()]);
    let mut objects = vec![];
    for program in &arguments.files {
        let program = compile(program)?;
        findings.extend(links::of(&program).iter().map(|link| linked(&link.library, &arguments.cxx)));
        objects.extend(built_objects(&program.path));
    }
    match arguments.json {
        true => findings.iter().for_each(|finding| print(&format!("{}\n", object(finding)))),
        false => print(&table(&findings)),
    }
    if !objects.is_empty() {
        report_calls(&objects, arguments.json)?;
    }
    match findings.iter().any(|finding| finding.state == State::Missing) {
        true => Err(Failure::Build),
        false => Ok(()),
    }
}

fn object(finding: &Finding) -> serde_json::Value {
    json!({
        "what": finding.what,
        "state": finding.state.name(),
        "found": finding.found,
        "fix": finding.fix,
        "packages": finding.packages,
    })
}

fn table(findings: &[Finding]) -> String {
    let mut text = String::new();
    let mut packages: Vec<_> =
        findings.iter().flat_map(|finding| finding.packages.iter().map(String::as_str)).collect();
    packages.sort_unstable();
    packages.dedup();
    // Writing to a string cannot fail.
    for Finding { what, state, found, fix, .. } in findings {
        let _ = writeln!(text, "{:<9} {what:<16} {found}", state.name());
        if let Some(fix) = fix {
            let _ = writeln!(text, "{:<9} {:<16} {fix}", "", "");
        }
    }
    if !packages.is_empty() {
        let _ = writeln!(text, "\nOn Debian:\n\n    apt-get install {}", packages.join(" "));
    }
    text
}

fn compiler(cxx: &str) -> Finding {
    const WHAT: &str = "C++ compiler";
    let fix = format!("g++ {OLDEST_GCC} or clang++ {OLDEST_CLANG} and up; --cxx or CXX names another");
    let Some(version) = output(cxx, "--version") else {
        return Finding::bad(WHAT, State::Missing, format!("`{cxx}` does not run"), fix).in_packages(&["g++"]);
    };
    let line = version.lines().next().unwrap_or_default();
    let oldest = if line.contains("clang") { OLDEST_CLANG } else { OLDEST_GCC };
    // Of g++ this is the whole version or its first number, of clang++ a version of g++ that it stands in for.
    let number = match line.contains("clang") {
        true => line.split_once("version ").and_then(|(_, rest)| first_number(rest)),
        false => output(cxx, "-dumpversion").as_deref().and_then(first_number),
    };
    match number {
        Some(number) if number >= oldest => Finding::good(WHAT, line),
        _ => Finding::bad(WHAT, State::Missing, line, fix).in_packages(&["g++"]),
    }
}

fn first_number(text: &str) -> Option<u32> {
    text.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

fn make() -> Finding {
    match output("make", "--version") {
        Some(version) => Finding::good("make", version.lines().next().unwrap_or_default()),
        None => Finding::bad("make", State::Missing, "`make` does not run", "it builds servers").in_packages(&["make"]),
    }
}

/// Has the compiler read the headers that the runtime includes.
fn headers(cxx: &str) -> Finding {
    match compiles(cxx, HEADERS, &["-fsyntax-only"]) {
        true => Finding::good("headers", "C++20 and Linux"),
        false => Finding::bad("headers", State::Missing, "the compiler does not find them all", "C++20 and Linux")
            .in_packages(&["g++", "libc6-dev"]),
    }
}

/// Has the compiler link what the runtime does.
fn libraries(cxx: &str) -> [Finding; 2] {
    let [boost, liburing] = RUNTIME_LIBRARIES;
    let switch = "the runtime's fibers switch stacks with it";
    let ring = "the runtime hands operations to the kernel with it";
    [
        library(cxx, "Boost.Context", (SWITCH, boost), switch, &["libboost-context-dev"]),
        library(cxx, "liburing", (RING, liburing), ring, &["liburing-dev"]),
    ]
}

fn library(cxx: &str, what: &str, (text, library): (&str, &'static str), fix: &str, packages: &[&str]) -> Finding {
    match compiles(cxx, text, &[library, "-o", "/dev/null"]) {
        true => Finding::good(what, library),
        false => Finding::bad(what, State::Missing, "it cannot be linked", fix).in_packages(packages),
    }
}

/// Whether the compiler takes this text with these arguments.
fn compiles(cxx: &str, text: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(cxx);
    command.args(["-std=c++20", "-x", "c++", "-", "-x", "none"]).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok_and(|mut child| {
        // A compiler that does not read its input fails, which is seen below.
        if let Some(mut input) = child.stdin.take() {
            let _ = input.write_all(text.as_bytes());
        }
        child.wait().is_ok_and(|status| status.success())
    })
}

/// Where the built runtime is kept.
fn cache() -> Finding {
    const WHAT: &str = "cache";
    let directory = match cache_directory() {
        Ok(directory) => directory,
        Err(failure) => {
            let why = failure.message().unwrap_or_default();
            return Finding::bad(WHAT, State::Missing, why, "set XDG_CACHE_HOME to a folder that can be written");
        }
    };
    let probe = directory.join(format!("probe-{}", std::process::id()));
    let is_written = std::fs::write(&probe, "").is_ok();
    let _ = std::fs::remove_file(&probe);
    let found = directory.display().to_string();
    match is_written {
        true => Finding::good(WHAT, found),
        false => {
            let fix = "it cannot be written: set XDG_CACHE_HOME to a folder that can";
            Finding::bad(WHAT, State::Missing, found, fix)
        }
    }
}

/// How many files, and so connections, a server may have open.
fn files() -> Finding {
    const WHAT: &str = "open files";
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let Some(limit) = line.and_then(|line| line.split_whitespace().next()) else {
        return Finding::bad(WHAT, State::Optional, "the limit is not known", "see `ulimit -n`");
    };
    // No number means no limit.
    match limit.parse::<u64>() {
        Ok(number) if number <= FEW_FILES => {
            let fix = "a server with more connections needs more: `ulimit -n 65536` before it starts";
            Finding::bad(WHAT, State::Optional, format!("at most {limit}"), fix)
        }
        _ => Finding::good(WHAT, format!("at most {limit}")),
    }
}

fn graphviz() -> Finding {
    // Its version goes to standard error.
    match output("dot", "-V") {
        Some(version) => Finding::good("Graphviz", version.trim()),
        None => Finding::bad("Graphviz", State::Optional, "`dot` does not run", "`flux graph` draws svg with it")
            .in_packages(&["graphviz"]),
    }
}

fn pkg_config() -> Finding {
    match output("pkg-config", "--version") {
        Some(version) => Finding::good("pkg-config", version.trim()),
        None => {
            let fix = "it says how the libraries are compiled with that programs link";
            Finding::bad("pkg-config", State::Optional, "`pkg-config` does not run", fix).in_packages(&["pkgconf"])
        }
    }
}

/// A library that a program names.
fn linked(library: &str, cxx: &str) -> Finding {
    match links::is_installed(library, cxx, &[]) {
        true => Finding::good(library, "the program links it"),
        false => {
            let packages: Vec<_> = links::debian_package(library).into_iter().collect();
            let bad = Finding::bad(library, State::Missing, "it cannot be linked", "the program links it");
            Finding { packages, ..bad }
        }
    }
}

/// What a command prints; none where it does not run or fails.
fn output(command: &str, argument: &str) -> Option<String> {
    let output = Command::new(command).arg(argument).stdin(Stdio::null()).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    output.status.success().then(|| String::from_utf8_lossy(&text).into_owned())
}

/// What was built of a program beside it: the objects of its sources, and the server.
fn built_objects(program: &Path) -> Vec<PathBuf> {
    let Some(name) = program.file_stem() else { return vec![] };
    let mut found = vec![];
    let mut open = vec![program.with_file_name("build").join(name)];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        open.extend(folders);
        found.extend(files.into_iter().filter(|path| is_elf(path)));
    }
    found.sort();
    found
}

/// Prints what these files call that would hold up an event loop. Fails where one of them does so itself.
fn report_calls(files: &[PathBuf], as_json: bool) -> Result {
    let calls = blocking_imports::of(files)
        .map_err(|path| Failure::usage(format!("`{}` is no object file, server or library", path.display())))?;
    match as_json {
        true => calls.found.iter().for_each(|call| print(&format!("{}\n", call_object(call)))),
        false => print(&calls_text(&calls)),
    }
    match calls.found.iter().any(|call| !call.is_library) || !calls.static_servers.is_empty() {
        true => Err(Failure::Build),
        false => Ok(()),
    }
}

fn call_object(call: &BlockingCall) -> serde_json::Value {
    json!({
        "file": call.file.display().to_string(),
        "function": call.function,
        "call": call.called,
        "why": call.why,
        "library": call.is_library,
    })
}

fn calls_text(calls: &Calls) -> String {
    let mut text = String::new();
    for file in &calls.static_servers {
        let file = file.display();
        let _ = writeln!(text, "{file} is linked statically: its calls cannot be caught, so it refuses event loops");
    }
    for BlockingCall { file, function, called, why, is_library } in &calls.found {
        let file = file.display();
        let _ = match (function, is_library) {
            (Some(function), _) => writeln!(text, "{file}: `{function}` calls `{called}`: {why}"),
            (None, false) => writeln!(text, "{file}: calls `{called}`: {why}"),
            (None, true) => writeln!(text, "{file}: the library may call `{called}`: {why}"),
        };
    }
    if calls.found.is_empty() && calls.static_servers.is_empty() {
        let _ = writeln!(text, "No call that would hold up an event loop, in {}.", counted(calls.files.len()));
    } else {
        let _ = writeln!(text, "\nA node that makes such a call should be `blocking`: it then runs beside the loops.");
    }
    let _ = writeln!(
        text,
        "Not seen here: system calls in assembly, loops that wait for a variable, pages of files in memory. The \
         server's watchdog names a node that holds up its loop."
    );
    text
}

fn counted(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}
