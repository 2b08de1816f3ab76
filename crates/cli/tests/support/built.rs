//! Servers that tests build. Tests that need the same server share one folder, also across test files. `flux build`
//! compiles nothing there if the server is up to date.

use super::{sanitized, text};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// These test files build their servers with optimisation, because they put them under load. `spans` shares a server
/// with `web`. All others build for a debugger, which takes less time.
const OPTIMISED: [&str; 3] = ["restart", "spans", "web"];

/// Builds an example with these sources. Without any, `flux build` takes the sources beside the program.
pub fn build_example(file: &str, name: &str, sources: &[&str]) -> PathBuf {
    build_in(&examples().join(name), file, name, sources)
}

/// Builds a server whose sources are in the folder of this test file.
pub fn build_own(file: &str, name: &str, sources: &[&str]) -> PathBuf {
    build_in(&tests().join(file), file, name, sources)
}

/// The folder of the examples.
pub fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// The folder of the test files and of their sources.
pub fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn build_in(home: &Path, file: &str, name: &str, sources: &[&str]) -> PathBuf {
    let sources: Vec<PathBuf> = sources.iter().map(|source| home.join(source)).collect();
    let options: &[&str] = if OPTIMISED.contains(&file) { &[] } else { &["--debug"] };
    build(&home.join(format!("{name}.flux")), &sources, options)
}

/// Builds a server of this program and these sources with these options. A run under a sanitizer adds its option. The
/// sources must not change while tests run.
pub fn build(program: &Path, sources: &[PathBuf], options: &[&str]) -> PathBuf {
    let name = program.file_stem().unwrap();
    let mut flux = Command::new(env!("CARGO_BIN_EXE_flux"));
    flux.arg("build").args(options).args(sanitized::arguments()).arg(program).args(sources);
    // The key tells servers of one name apart.
    let mut key = DefaultHasher::new();
    (format!("{flux:?}"), std::env::var_os("FLUX_CFLAGS")).hash(&mut key);
    let folder = format!("{}-{:016x}", name.display(), key.finish());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("built").join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join("lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let server = folder.join(name);
    // Another test may run the server that is there: nobody can write to that file, but it can be replaced.
    let made = folder.join("made");
    let said = flux.arg("--build-dir").arg(folder.join("build")).arg("-o").arg(&made).output().unwrap();
    assert!(said.status.success(), "{}", text(&said.stderr));
    std::fs::rename(&made, &server).unwrap();
    server
}
