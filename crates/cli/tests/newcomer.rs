//! What a newcomer does first: asks whether all is there, makes a server, runs it, talks to it, adds a node, and has
//! the function written that is missing.

use crate::support;
use crate::support::{Server, flux};
use serde_json::Value;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    support::folder("newcomer", name)
}

fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = flux(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Has `flux run` become the server; built before, as that may take longer than a start.
fn run(folder: &Path, program: &str, strategy: &str) -> Server {
    succeed(folder, &["build", program]);
    let mut flux = Command::new(env!("CARGO_BIN_EXE_flux"));
    flux.args(["run", program, "--", "--port=0", &format!("--flux-runtime={strategy}")]);
    Server::listening(flux.current_dir(folder))
}

#[test]
fn a_new_echo_server_runs_at_once() {
    let folder = folder("echo");
    succeed(&folder, &["new", "hello", "--template=echo"]);
    succeed(&folder, &["fmt", "--check", "hello/hello.flux"]);
    for strategy in ["pool", "thread", "event"] {
        let server = run(&folder, "hello/hello.flux", strategy);
        assert_eq!(server.ask_and_end("one\ntwo\n"), "1: one\n2: two\n", "{strategy}");
        assert_eq!(server.ask_and_end("three\n"), "3: three\n", "{strategy}");
    }
}

#[test]
fn a_new_web_server_runs_at_once() {
    let folder = folder("http");
    succeed(&folder, &["new", "my-site"]);
    succeed(&folder, &["fmt", "--check", "my-site/my-site.flux"]);
    for strategy in ["pool", "thread", "event"] {
        let server = run(&folder, "my-site", strategy);
        assert!(server.ask("GET / HTTP/1.1\r\n\r\n").ends_with("\r\n\r\nVisit 1.\n"), "{strategy}");
        assert!(server.ask("GET / HTTP/1.1\r\n\r\n").ends_with("\r\n\r\nVisit 2.\n"), "{strategy}");
        assert!(server.ask("GET /x HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "), "{strategy}");
        assert!(server.ask("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "), "{strategy}");
    }
}

#[test]
fn a_new_timer_runs_at_once() {
    let folder = folder("timer");
    succeed(&folder, &["new", "watch", "--template", "timer"]);
    succeed(&folder, &["fmt", "--check", "watch/watch.flux"]);
    succeed(&folder, &["build", "watch"]);
    let mut command = Command::new(folder.join("watch/build/watch/watch"));
    let mut line = String::new();
    Server::start(command.stdout(Stdio::piped()), 0).output().read_line(&mut line).unwrap();
    assert!(line.starts_with("load ") && line.ends_with(" samples\n"), "{line}");
}

#[test]
fn a_folder_stands_for_its_only_program() {
    let folder = folder("only");
    let said = |arguments: &[&str]| {
        let output = flux(&folder, arguments);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let none = "error: no program in .: name one, or make one with `flux new NAME`\n";
    assert_eq!(said(&["check", "-q"]), (Some(2), none.to_owned()));
    succeed(&folder, &["new", "one"]);
    assert_eq!(said(&["check", "-q", "one"]), (Some(0), String::new()));
    std::fs::write(folder.join("one/two.flux"), "").unwrap();
    let several = "error: 2 programs in one: name one of them, one/one.flux say\n";
    assert_eq!(said(&["check", "-q", "one"]), (Some(2), several.to_owned()));
}

#[test]
fn a_folder_with_something_in_it_is_left_as_it_is() {
    let folder = folder("full");
    std::fs::create_dir(folder.join("empty")).unwrap();
    succeed(&folder, &["new", "empty"]);
    std::fs::write(folder.join("empty/nodes.cpp"), "mine").unwrap();
    let again = flux(&folder, &["new", "empty"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("empty exists and is not empty"), "{again:?}");
    assert_eq!(std::fs::read_to_string(folder.join("empty/nodes.cpp")).unwrap(), "mine");
    assert_eq!(flux(&folder, &["new", "no name"]).status.code(), Some(2));
}

#[test]
fn the_function_of_a_new_node_is_written() {
    let folder = folder("stubs");
    succeed(&folder, &["new", "hello", "--template", "echo"]);
    let program = folder.join("hello/hello.flux");
    let text = std::fs::read_to_string(&program).unwrap();
    let text = text.replace("Count -> tcp", "Count -> Shout -> tcp");
    std::fs::write(&program, text + "Shout (std::string line) => (std::string line);\n").unwrap();

    let stubs = succeed(&folder, &["stubs", "hello/hello.flux"]);
    assert!(stubs.starts_with("#include \"hello.flux.h\"\n"), "{stubs}");
    assert!(stubs.contains("int Shout(struct Shout_in *in, struct Shout_out *out)\n{"), "{stubs}");
    assert!(!stubs.contains("Count"), "{stubs}");
    let all = succeed(&folder, &["stubs", "hello/hello.flux", "--all"]);
    assert!(all.contains("int Count(") && all.contains("int Shout("), "{all}");
    succeed(&folder, &["new", "site"]);
    let all = succeed(&folder, &["stubs", "site/site.flux", "--all"]);
    assert!(all.contains("int Home(") && all.contains("void BadRequest("), "{all}");

    succeed(&folder, &["stubs", "hello/hello.flux", "-o", "hello/more.cpp"]);
    succeed(&folder, &["build", "hello/hello.flux"]);
    support::compile(&folder.join("hello/build/hello"), &["hello.flux.o", "more.cpp.o"], "-Wall -Wextra -Werror");
    assert_eq!(succeed(&folder, &["stubs", "hello/hello.flux"]), "");
    let again = flux(&folder, &["stubs", "hello/hello.flux", "--all", "-o", "hello/more.cpp"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("more.cpp exists and is left as it is"), "{again:?}");
}

#[test]
fn the_doctor_says_what_is_missing() {
    let folder = folder("doctor");
    let lines = succeed(&folder, &["doctor", "--json"]);
    let findings: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let state = |what: &str| findings.iter().find(|one| one["what"] == what).map(|one| one["state"].clone());
    for what in ["C++ compiler", "make", "headers", "Boost.Context", "liburing", "cache"] {
        assert_eq!(state(what), Some("good".into()), "{what}: {lines}");
    }
    let missing = flux(&folder, &["doctor", "--cxx", "no-such-compiler"]);
    assert_eq!(missing.status.code(), Some(1));
    let text = String::from_utf8_lossy(&missing.stdout);
    assert!(text.contains("missing   C++ compiler     `no-such-compiler` does not run\n"), "{text}");
    assert!(text.contains("\n    apt-get install g++"), "{text}");
}

#[test]
fn shells_know_the_subcommands() {
    let folder = folder("completions");
    for shell in ["bash", "zsh", "fish"] {
        let script = succeed(&folder, &["completions", shell]);
        for subcommand in ["check", "build", "stubs", "doctor"] {
            assert!(script.contains(subcommand), "{shell} does not know {subcommand}");
        }
    }
}

#[test]
fn every_subcommand_has_a_manual_page_and_a_chapter() {
    let folder = folder("manual");
    succeed(&folder, &["man", "pages"]);
    let entries = std::fs::read_dir(folder.join("pages")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut pages: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
    pages.sort();
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/command.md");
    let text = std::fs::read_to_string(book).unwrap();
    let chapters = text.lines().filter_map(|line| line.strip_prefix("## flux "));
    let mut chapters: Vec<_> = chapters.map(|name| format!("flux-{name}.1")).chain(["flux.1".to_owned()]).collect();
    chapters.sort();
    assert_eq!(pages, chapters);
    let page = std::fs::read_to_string(folder.join("pages/flux-build.1")).unwrap();
    assert!(page.contains("\\-\\-sanitize"), "{page}");
}
