//! The built runtime, kept between builds: one for each version, compiler, set of flags and sanitizer. One that no
//! build has used for a month is removed when another is built.

use super::files::{create_directory, write_if_changed};
use super::makefile::{Plan, RUNTIME};
use crate::arguments::Build;
use crate::failure::{Failure, Result};
use crate::program::plain;
use crate::terminal::Terminal;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// How long a runtime is kept after the last build that used it.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

const LIBRARY: &str = "libflux.a";

/// Writes the runtime's sources and its Makefile into a folder.
pub fn write_sources(directory: &Path) -> Result {
    for (path, bytes) in flux_runtime::files() {
        let text = String::from_utf8_lossy(bytes);
        write_if_changed(&directory.join(path), &text)?;
    }
    write_if_changed(&directory.join("Makefile"), RUNTIME)
}

/// The library for this plan; built where it is not in the cache yet.
pub fn cached(arguments: &Build, plan: &Plan, terminal: &Terminal) -> Result<PathBuf> {
    let cache = cache_directory()?;
    let directory = cache.join(format!("runtime-{:016x}", key(&arguments.cxx, &plan.flags())?));
    let library = directory.join(LIBRARY);
    if let Ok(file) = File::open(&library) {
        // Where this is refused, the cache is somebody else's.
        let _ = file.set_modified(SystemTime::now());
        return Ok(library);
    }
    remove_unused(&cache, SystemTime::now());
    // Built beside its place and renamed into it, so that two builds at once do no harm.
    let building = cache.join(format!("building-{}", std::process::id()));
    write_sources(&building)?;
    terminal.progress("Compiling", "the Flux runtime (once for this compiler and these flags)");
    let jobs = std::thread::available_parallelism().map_or(1, |number| number.get());
    let made = Command::new("make")
        .arg("-C")
        .arg(&building)
        .args(["--no-print-directory", "--silent"])
        .args([format!("-j{jobs}"), format!("CXX={}", arguments.cxx), format!("FLAGS={}", plan.flags())])
        .arg(format!("HOME_OF_SOURCES={}", directory.display()))
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .stdout(Stdio::null())
        .status();
    let status = made.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::usage("make is not installed: apt-get install make g++"),
        _ => Failure::usage(format!("cannot start make: {}", plain(&error))),
    })?;
    if !status.success() {
        return Err(Failure::usage(format!(
            "the Flux runtime does not compile with {} {}",
            arguments.cxx,
            plan.flags()
        )));
    }
    if std::fs::rename(&building, &directory).is_err() {
        // Another build was first; its library is as good.
        let _ = std::fs::remove_dir_all(&building);
    }
    Ok(library)
}

/// Removes the runtimes that no build has used for long, and what is left of builds that were interrupted. What cannot
/// be removed stays.
fn remove_unused(cache: &Path, now: SystemTime) {
    for entry in std::fs::read_dir(cache).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let path = entry.path();
        let used = std::fs::metadata(path.join(LIBRARY)).or_else(|_| entry.metadata()).and_then(|one| one.modified());
        let is_unused = used.is_ok_and(|used| now.duration_since(used).is_ok_and(|unused| unused > KEPT));
        if is_unused && (name.starts_with("runtime-") || name.starts_with("building-")) {
            let _ = std::fs::remove_dir_all(path);
        }
    }
}

/// Where built runtimes are kept.
pub fn cache_directory() -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    let directory = base.unwrap_or_else(std::env::temp_dir).join("flux");
    create_directory(&directory)?;
    Ok(directory)
}

/// All that a built runtime depends on.
fn key(cxx: &str, flags: &str) -> Result<u64> {
    let version = Command::new(cxx).arg("--version").output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            Failure::usage(format!("the C++ compiler `{cxx}` is not installed: apt-get install g++"))
        }
        _ => Failure::usage(format!("cannot start {cxx}: {}", plain(&error))),
    })?;
    let mut hasher = DefaultHasher::new();
    (env!("CARGO_PKG_VERSION"), cxx, flags, RUNTIME, version.stdout).hash(&mut hasher);
    for (path, bytes) in flux_runtime::files() {
        (path, bytes).hash(&mut hasher);
    }
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_build_has_used_for_a_month_is_removed() {
        let cache = std::env::temp_dir().join(format!("flux_runtimes_{}", std::process::id()));
        for name in ["runtime-1", "runtime-2", "building-3", "cmake-0.1.0"] {
            std::fs::create_dir_all(cache.join(name)).unwrap();
        }
        let library = File::create(cache.join("runtime-2").join(LIBRARY)).unwrap();
        let later = SystemTime::now() + KEPT + Duration::from_secs(1);
        remove_unused(&cache, SystemTime::now());
        assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 4);
        library.set_modified(later).unwrap();
        remove_unused(&cache, later);
        let mut kept: Vec<_> = std::fs::read_dir(&cache).unwrap().map(|one| one.unwrap().file_name()).collect();
        kept.sort();
        std::fs::remove_dir_all(&cache).unwrap();
        assert_eq!(kept, ["cmake-0.1.0", "runtime-2"]);
    }
}
