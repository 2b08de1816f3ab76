//! Servers that tests build. Tests that build the same server, of one file or of several, share one folder, and what is
//! up to date there is not compiled again.

use super::{sanitized, text};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The servers of these files are built as users build them, as they are under load; `spans` shares one with `web`. What
/// others are tested for does not depend on it, and to build them for a debugger takes less.
const OPTIMISED: [&str; 3] = ["restart", "spans", "web"];

/// The server of an example: of these sources, or without any of those beside the program.
pub fn build_example(file: &str, name: &str, sources: &[&str]) -> PathBuf {
    build_in(&examples().join(name), file, name, sources)
}

/// The same of a server that is there for the tests of this file alone, beside it.
pub fn build_own(file: &str, name: &str, sources: &[&str]) -> PathBuf {
    build_in(&tests().join(file), file, name, sources)
}

/// Where the examples are.
pub fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Where the tests are, with folders of what they use.
pub fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn build_in(home: &Path, file: &str, name: &str, sources: &[&str]) -> PathBuf {
    let sources: Vec<PathBuf> = sources.iter().map(|source| home.join(source)).collect();
    let options: &[&str] = if OPTIMISED.contains(&file) { &[] } else { &["--debug"] };
    build(&home.join(format!("{name}.flux")), &sources, options)
}

/// The server of this program and these sources, by `flux build` with these options, and with the sanitizer of tests
/// that run once more. No source may change while a test runs.
pub fn build(program: &Path, sources: &[PathBuf], options: &[&str]) -> PathBuf {
    let name = program.file_stem().unwrap();
    let mut flux = Command::new(env!("CARGO_BIN_EXE_flux"));
    flux.arg("build").args(options).args(sanitized::arguments()).arg(program).args(sources);
    // Those of one name are told apart by how they are built.
    let mut key = DefaultHasher::new();
    (format!("{flux:?}"), std::env::var_os("FLUX_CFLAGS")).hash(&mut key);
    let folder = format!("{}-{:016x}", name.display(), key.finish());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("built").join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join("lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let server = folder.join(name);
    let said = flux.arg("--build-dir").arg(folder.join("build")).arg("-o").arg(&server).output().unwrap();
    assert!(said.status.success(), "{}", text(&said.stderr));
    server
}
