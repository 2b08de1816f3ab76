//! Counts instructions, for tests that hold that work is linear: Valgrind counts the same on a busy machine.

#![allow(clippy::unwrap_used, clippy::unreachable, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::process::Command;

/// Does some work. Callgrind counts its instructions.
#[inline(never)]
pub fn counted_work(work: &mut dyn FnMut()) {
    work();
}

/// Runs an ignored test of this program, and returns the instructions of each work in it.
pub fn instructions(test: &str) -> Vec<u64> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("instructions {test}").replace("::", " "));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=counts"]);
    let counted = concat!(module_path!(), "::counted_work");
    command.args([format!("--toggle-collect={counted}"), format!("--dump-after={counted}")]);
    command.arg(std::env::current_exe().unwrap()).args(["--ignored", "--exact", test]).current_dir(&folder);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Callgrind writes a file for each work, `counts.1` and so on, and then one without a number.
    let counts = (1..).map_while(|number| std::fs::read_to_string(folder.join(format!("counts.{number}"))).ok());
    let total = |counts: String| counts.lines().find_map(|line| line.strip_prefix("totals: ")?.parse().ok()).unwrap();
    counts.map(total).collect()
}

/// Each name has two works in the test, of which the second has eight times the size. The second must take less than 12
/// times the instructions of the first: 8 is linear, 64 quadratic.
pub fn hold_linear(test: &str, names: &[&str]) {
    let counts = instructions(test);
    assert_eq!(counts.len(), 2 * names.len(), "each has two sizes");
    for (name, pair) in names.iter().zip(counts.chunks(2)) {
        let [one, eight] = *pair else { unreachable!("chunks of two") };
        assert!(eight < 12 * one, "{name}: {one} instructions, and {eight} for eight times the size");
    }
}
