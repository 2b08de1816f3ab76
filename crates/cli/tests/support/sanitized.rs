//! The tests of a file once more, with its servers built with a sanitizer: the file has a test that starts this
//! program again, once for each. What the sanitizers say goes to files, so no server that a test ends takes it along.

use super::{folder, is_asked_for, text};
use flux_random_program::is_in_slice;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// Names the sanitizer to the tests that run once more.
pub const WHICH: &str = "FLUX_TESTED_WITH";

/// What the servers of these tests are built with, if they run once more.
pub fn which() -> Option<&'static str> {
    static ONCE: OnceLock<Option<String>> = OnceLock::new();
    ONCE.get_or_init(|| std::env::var(WHICH).ok()).as_deref()
}

/// What `flux build` is told of it.
pub fn arguments() -> impl Iterator<Item = &'static str> {
    which().into_iter().flat_map(|which| ["--sanitize", which])
}

/// The files with such a test. A slice has one of them.
const FILES: [&str; 4] = ["flick_backends", "flick_faults", "flick_services", "flick_worlds"];

/// Runs all other tests of the file with each sanitizer that is asked for; `this` is the test that does so.
pub fn run_again(file: &str, this: &str) {
    let place = FILES.iter().position(|one| *one == file).unwrap() as u64;
    if !is_in_slice(place, FILES.len() as u64) {
        return;
    }
    for sanitizer in ["address", "thread"].into_iter().filter(|each| is_asked_for(each)) {
        let said = folder(file, &format!("said by {sanitizer}"));
        let options = format!("print_stacktrace=1:log_path='{}'", said.join("of").display());
        let mut tests = Command::new(std::env::current_exe().unwrap());
        tests.args([&format!("{file}::"), "--skip", this]).env(WHICH, sanitizer);
        for each in ["TSAN_OPTIONS", "ASAN_OPTIONS", "UBSAN_OPTIONS"] {
            tests.env(each, &options);
        }
        let output = tests.output().unwrap();
        let found = all_of(&said);
        assert!(found.is_empty(), "{sanitizer}: {found}");
        assert!(output.status.success(), "{sanitizer}: {}{}", text(&output.stdout), text(&output.stderr));
    }
}

/// What is in the files of a folder.
fn all_of(folder: &Path) -> String {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.map(|file| text(&std::fs::read(file).unwrap())).collect()
}
