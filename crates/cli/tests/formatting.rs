//! `flux fmt`, through the command: what it changes, what it leaves alone, and what it says.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const CROOKED: &str = "// why\nsource Listen=>Page;\n\n\nListen()=>(int socket);Page(int socket)=>();";
const STRAIGHT: &str = "// why\nsource Listen => Page;\n\nListen () => (int socket);\nPage (int socket) => ();\n";
const BROKEN: &str = "source Listen=>;\n";

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("formatting").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("build")).unwrap();
    folder
}

fn fmt(folder: &Path, arguments: &[&str]) -> Output {
    let mut flux = Command::new(env!("CARGO_BIN_EXE_flux"));
    flux.arg("fmt").args(arguments).current_dir(folder).output().unwrap()
}

fn text(path: PathBuf) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn programs_below_a_folder_are_laid_out_and_what_was_built_is_not() {
    let folder = folder("below");
    std::fs::create_dir(folder.join("sub")).unwrap();
    for name in ["a.flux", "sub/b.flux", "build/c.flux", "d.txt"] {
        std::fs::write(folder.join(name), CROOKED).unwrap();
    }
    let checked = fmt(&folder, &["--check"]);
    assert_eq!(checked.status.code(), Some(1));
    let named = "a.flux: not laid out (run `flux fmt a.flux`)\nsub/b.flux: not laid out (run `flux fmt sub/b.flux`)\n";
    assert_eq!(String::from_utf8_lossy(&checked.stdout), named);
    assert_eq!(text(folder.join("a.flux")), CROOKED);
    let checked = fmt(&folder, &["--check", "sub"]);
    assert_eq!(String::from_utf8_lossy(&checked.stdout), "sub/b.flux: not laid out (run `flux fmt sub/b.flux`)\n");

    assert!(fmt(&folder, &[]).status.success());
    for (name, expected) in
        [("a.flux", STRAIGHT), ("sub/b.flux", STRAIGHT), ("build/c.flux", CROOKED), ("d.txt", CROOKED)]
    {
        assert_eq!(text(folder.join(name)), expected, "{name}");
    }
    let checked = fmt(&folder, &["--check"]);
    assert!(checked.status.success() && checked.stdout.is_empty() && checked.stderr.is_empty());
}

#[test]
fn a_file_with_a_mistake_stays_and_the_others_are_laid_out() {
    let folder = folder("mistake");
    std::fs::write(folder.join("a.flux"), BROKEN).unwrap();
    std::fs::write(folder.join("b.flux"), CROOKED).unwrap();
    let output = fmt(&folder, &["a.flux", "b.flux"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--> a.flux:1:16"), "{output:?}");
    assert_eq!(text(folder.join("a.flux")), BROKEN);
    assert_eq!(text(folder.join("b.flux")), STRAIGHT);
    assert_eq!(fmt(&folder, &["missing.flux"]).status.code(), Some(2));
}

#[test]
fn standard_input_goes_to_standard_output() {
    let mut flux = Command::new(env!("CARGO_BIN_EXE_flux"));
    let mut child = flux.args(["fmt", "--stdin"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(CROOKED.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), STRAIGHT);
}

/// What stays as others have laid it out: programs of 2006, and the listing of a paper.
const OF_OTHERS: [&str; 2] = ["tests/programs_2006/", "tests/listing_2.flux"];

#[test]
fn the_programs_of_this_repository_are_laid_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert!(root.join("examples/image/image.flux").exists());
    for part in ["bench", "crates", "examples"] {
        let output = fmt(&root.join(part), &["--check"]);
        let said = String::from_utf8_lossy(&output.stdout);
        let ours: Vec<_> = said.lines().filter(|line| !OF_OTHERS.iter().any(|one| line.contains(one))).collect();
        assert!(ours.is_empty() && output.stderr.is_empty(), "{part}: {output:?}");
    }
}
