//! The built runtime, kept between builds: one for each version, compiler, set of flags and sanitizer. A compiler that
//! has several names (`c++` for CMake, `g++`) is one.

use super::cache;
use super::compilers;
use super::files::write_if_changed;
use super::makefile::RUNTIME;
use crate::arguments::Build;
use crate::failure::{Failure, Result};
use crate::program::plain;
use crate::terminal::Terminal;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const LIBRARY: &str = "libflux.a";

/// Writes the runtime's sources and its Makefile into a folder.
pub fn write_sources(directory: &Path) -> Result {
    for (path, bytes) in flux_runtime::files() {
        let text = String::from_utf8_lossy(bytes);
        write_if_changed(&directory.join(path), &text)?;
    }
    write_if_changed(&directory.join("Makefile"), RUNTIME)
}

/// The library for these flags; built where it is not in the cache yet.
pub fn cached(arguments: &Build, flags: &str, terminal: &Terminal) -> Result<PathBuf> {
    let cache = cache::directory()?;
    let name = format!("{}{:016x}", cache::RUNTIME, key(&arguments.cxx, flags)?);
    let directory = cache.join(&name);
    let library = directory.join(LIBRARY);
    if cache::has(&library) {
        return Ok(library);
    }
    let wait = || terminal.progress("Waiting", "for another build, which compiles the Flux runtime");
    let _making = cache::making(&cache, &name, wait);
    if cache::has(&library) {
        return Ok(library);
    }
    cache::remove_unused(&cache);
    // Built beside its place and renamed into it, so that nobody links half of one.
    let building = cache.join(format!("{}{}", cache::BUILDING, std::process::id()));
    write_sources(&building)?;
    terminal.progress("Compiling", "the Flux runtime (once for this compiler and these flags)");
    let jobs = std::thread::available_parallelism().map_or(1, |number| number.get());
    let made = Command::new("make")
        .arg("-C")
        .arg(&building)
        .args(["--no-print-directory", "--silent"])
        .args([format!("-j{jobs}"), format!("CXX={}", arguments.cxx), format!("FLAGS={flags}")])
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
        return Err(Failure::usage(format!("the Flux runtime does not compile with {} {}", arguments.cxx, flags)));
    }
    if std::fs::rename(&building, &directory).is_err() {
        // Another build was first; its library is as good.
        let _ = std::fs::remove_dir_all(&building);
    }
    Ok(library)
}

/// All that a built runtime depends on.
pub fn key(cxx: &str, flags: &str) -> Result<u64> {
    compilers::require_cpp(cxx)?;
    let version = Command::new(cxx).arg("--version").output();
    let version = version.map_err(|error| Failure::usage(format!("cannot start {cxx}: {}", plain(&error))))?;
    let version = String::from_utf8_lossy(&version.stdout);
    let mut hasher = DefaultHasher::new();
    (env!("CARGO_PKG_VERSION"), compilers::file_of(cxx), flags, RUNTIME, without_name(&version, cxx)).hash(&mut hasher);
    for (path, bytes) in flux_runtime::files() {
        (path, bytes).hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// What a compiler says of its version, without the name that it was called by.
fn without_name<'a>(version: &'a str, program: &str) -> &'a str {
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program);
    version.strip_prefix(name).unwrap_or(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_of_several_names_is_one() {
        let of = |name: &str, flags: &str| key(name, flags).unwrap();
        assert_eq!(of("c++", "-O2"), of("g++", "-O2"));
        assert_ne!(of("g++", "-O2"), of("g++", "-O1"));
        assert_ne!(of("g++", "-O2"), of("clang++-16", "-O2"));
        assert!(key("no-such-compiler", "-O2").is_err());
    }
}
