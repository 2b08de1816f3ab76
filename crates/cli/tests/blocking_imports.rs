//! `flux doctor` on what was built: it names the functions that make calls which block and cannot be caught.

use crate::support;
use crate::support::{flux, text};
use std::path::{Path, PathBuf};
use std::process::Command;

const NODES: &str = "
#include <cstdio>
#include <unistd.h>

int Await(int number)
{
    pause();
    return number;
}

namespace web
{
int Fetch()
{
    char byte;
    return static_cast<int>(read(0, &byte, 1)) + Await(1) + std::printf(\"so it is\");
}
int Run()
{
    return vfork() == 0 ? 1 : 0;
}
}
";

fn compile(test: &str, source: &str, flags: &[&str], output: &str) -> (PathBuf, String) {
    let folder = support::folder("blocking_imports", test);
    std::fs::write(folder.join("nodes.cpp"), source).unwrap();
    let done = Command::new("g++").args(["-w", "nodes.cpp", "-o", output]).args(flags).current_dir(&folder).status();
    assert!(done.unwrap().success());
    (folder, output.to_owned())
}

fn doctor(folder: &Path, arguments: &[&str]) -> (String, Option<i32>) {
    let output = flux(folder, &[&["doctor"], arguments].concat());
    (text(&output.stdout) + &text(&output.stderr), output.status.code())
}

#[test]
fn an_object_is_told_which_function_calls_what() {
    let (folder, object) = compile("object", NODES, &["-c"], "nodes.o");
    let (said, status) = doctor(&folder, &[&object]);
    assert!(said.contains("nodes.o: `Await` calls `pause`: waits for a signal\n"), "{said}");
    assert!(said.contains("nodes.o: `web::Run` calls `vfork`: the thread stops"), "{said}");
    assert!(said.contains("should be `blocking`"), "{said}");
    assert!(!said.contains("read`") && !said.contains("printf"), "what is caught is not named: {said}");
    assert_eq!(status, Some(1));
    let (said, _) = doctor(&folder, &[&object, "--json"]);
    assert!(said.contains("\"call\":\"pause\"") && said.contains("\"function\":\"Await\""), "{said}");
}

#[test]
fn a_program_in_which_all_is_caught_is_well() {
    let (folder, object) = compile("well", "#include <unistd.h>\nint main() { return usleep(1); }\n", &[], "well");
    let (said, status) = doctor(&folder, &[&object]);
    assert!(said.starts_with("No call that would hold up an event loop, in 1 file.\n"), "{said}");
    assert!(said.contains("Not seen here: "), "{said}");
    assert_eq!(status, Some(0));
}

#[test]
fn of_a_server_that_is_linked_statically_nothing_is_caught() {
    let (folder, server) = compile("static", "int main() { return 0; }\n", &["-static"], "server");
    let (said, status) = doctor(&folder, &[&server]);
    assert!(said.contains("server is linked statically"), "{said}");
    assert_eq!(status, Some(1));
}

#[test]
fn a_library_that_a_program_links_is_looked_at() {
    let source = "#include <unistd.h>\nextern \"C\" int waits() { return pause(); }\n";
    let (folder, _) = compile("library", source, &["-shared", "-fPIC"], "libwaits.so");
    std::fs::write(folder.join("main.cpp"), "extern \"C\" int waits();\nint main() { return waits(); }\n").unwrap();
    let link = ["main.cpp", "-o", "server", "-L.", "-lwaits", "-Wl,-rpath,$ORIGIN"];
    assert!(Command::new("g++").args(link).current_dir(&folder).status().unwrap().success());
    let (said, status) = doctor(&folder, &["server"]);
    assert!(said.contains("libwaits.so: the library may call `pause`: waits for a signal"), "{said}");
    assert_eq!(status, Some(0), "it may never be called");
}
