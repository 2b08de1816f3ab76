//! Counts instructions, for tests that hold that work is linear: Valgrind counts the same on a busy machine.

use std::path::Path;
use std::process::Command;

/// Does some work, whose instructions are counted.
#[inline(never)]
pub fn counted_work(work: &mut dyn FnMut()) {
    work();
}

/// The instructions of each counted work of a test of this program, which is ignored but for this.
pub fn instructions(test: &str) -> Vec<u64> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("instructions {test}").replace("::", " "));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=counts"]);
    command.args(["--zero-before=*counted_work*", "--dump-after=*counted_work*"]);
    command.arg(std::env::current_exe().unwrap()).args(["--ignored", "--exact", test]).current_dir(&folder);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // One file for each, `counts.1` and so on, and then one without a number.
    let counts = (1..).map_while(|number| std::fs::read_to_string(folder.join(format!("counts.{number}"))).ok());
    let total = |counts: String| counts.lines().find_map(|line| line.strip_prefix("totals: ")?.parse().ok()).unwrap();
    counts.map(total).collect()
}

/// Holds that each second work, of eight times the size of the one before, takes less than 14 times its instructions:
/// 8 is linear, 64 quadratic.
pub fn hold_linear(test: &str, names: &[&str]) {
    let counts = instructions(test);
    assert_eq!(counts.len(), 2 * names.len(), "each has two sizes");
    for (name, pair) in names.iter().zip(counts.chunks(2)) {
        let [one, eight] = *pair else { unreachable!("chunks of two") };
        assert!(eight < 14 * one, "{name}: {one} instructions, and {eight} for eight times the size");
    }
}
