//! The built runtime, kept between builds: one for each version, compiler, set of flags and sanitizer. A compiler that
//! has several names (`c++` for CMake, `g++`) is one. For GCC the header of generated code is precompiled, too: this
//! halves the time to compile a server.

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
use std::sync::OnceLock;

const LIBRARY: &str = "libflux.a";

/// The header that generated code includes first, precompiled by GCC.
const PRECOMPILED: &str = "include/flux/generated_support.hpp.gch";

/// Writes the runtime's sources and its Makefile into a folder.
pub fn write_sources(directory: &Path) -> Result {
    for (path, bytes) in flux_runtime::files() {
        let text = String::from_utf8_lossy(bytes);
        write_if_changed(&directory.join(path), &text)?;
    }
    write_if_changed(&directory.join("Makefile"), RUNTIME)
}

/// The library for these flags, if it is in the cache.
pub fn found(arguments: &Build, flags: &str) -> Result<Option<PathBuf>> {
    let kept = Kept::new(arguments, flags)?;
    Ok(kept.is_whole().then(|| kept.library()))
}

/// The folder to include from so that the precompiled header for these flags is found, if it is in the cache.
pub fn precompiled(arguments: &Build, flags: &str) -> Option<PathBuf> {
    let header = Kept::new(arguments, flags).ok()?.directory().join(PRECOMPILED);
    header.is_file().then(|| header.ancestors().nth(2).map(Path::to_path_buf))?
}

/// The library for these flags; built where it is not in the cache yet.
pub fn cached(arguments: &Build, flags: &str, terminal: &Terminal) -> Result<PathBuf> {
    let kept = Kept::new(arguments, flags)?;
    if kept.is_whole() {
        return Ok(kept.library());
    }
    cache::directory()?;
    let wait = || terminal.progress("Waiting", "for another build, which compiles the Flux runtime");
    let _making = cache::making(&kept.cache, &kept.name, wait);
    if !cache::has(&kept.library()) {
        cache::remove_unused(&kept.cache);
        terminal.progress("Compiling", "the Flux runtime (once for this compiler and these flags)");
        kept.build()?;
    }
    if !kept.is_whole() {
        // In its own place, as all that includes it notes the paths of the headers in it. Without it builds only take
        // longer.
        let _ = kept.make(&kept.directory(), PRECOMPILED);
    }
    Ok(kept.library())
}

/// A runtime in the cache, built or still to be built.
struct Kept<'build> {
    cache: PathBuf,
    /// The name of its folder.
    name: String,
    cxx: &'build str,
    flags: &'build str,
}

impl<'build> Kept<'build> {
    fn new(arguments: &'build Build, flags: &'build str) -> Result<Self> {
        let name = format!("{}{:016x}", cache::RUNTIME, key(&arguments.cxx, flags)?);
        Ok(Self { cache: cache::place(), name, cxx: &arguments.cxx, flags })
    }

    fn directory(&self) -> PathBuf {
        self.cache.join(&self.name)
    }

    fn library(&self) -> PathBuf {
        self.directory().join(LIBRARY)
    }

    /// Whether the library is there, and for GCC the precompiled header. Clang would use one only if its command line
    /// named it.
    fn is_whole(&self) -> bool {
        cache::has(&self.library()) && (self.cxx.contains("clang") || self.directory().join(PRECOMPILED).is_file())
    }

    /// Builds the library in a folder of its own and then renames this folder. No build can link an incomplete library.
    fn build(&self) -> Result {
        let building = self.cache.join(format!("{}{}", cache::BUILDING, std::process::id()));
        // Whoever had this number was killed: a file may be half of one.
        let _ = std::fs::remove_dir_all(&building);
        write_sources(&building)?;
        self.make(&building, LIBRARY)?;
        if std::fs::rename(&building, self.directory()).is_err() {
            // Another build was first; its library is as good.
            let _ = std::fs::remove_dir_all(&building);
        }
        Ok(())
    }

    /// Runs make for one file of the runtime's folder.
    fn make(&self, folder: &Path, file: &str) -> Result {
        let Self { cxx, flags, .. } = self;
        let jobs = std::thread::available_parallelism().map_or(1, |number| number.get());
        let made = Command::new("make")
            .arg("-C")
            .arg(folder)
            .args(["--no-print-directory", "--silent", file])
            .args([format!("-j{jobs}"), format!("CXX={cxx}"), format!("FLAGS={flags}")])
            .arg(format!("HOME_OF_SOURCES={}", self.directory().display()))
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            .stdout(Stdio::null())
            .status();
        let status = made.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Failure::usage("make is not installed: apt-get install make g++"),
            _ => Failure::usage(format!("cannot start make: {}", plain(&error))),
        })?;
        match status.success() {
            true => Ok(()),
            false => Err(Failure::usage(format!("the Flux runtime does not compile with {cxx} {flags}"))),
        }
    }
}

/// All that a built runtime depends on.
pub fn key(cxx: &str, flags: &str) -> Result<u64> {
    compilers::require_cpp(cxx)?;
    let version = Command::new(cxx).arg("--version").output();
    let version = version.map_err(|error| Failure::usage(format!("cannot start {cxx}: {}", plain(&error))))?;
    let version = String::from_utf8_lossy(&version.stdout);
    let mut hasher = DefaultHasher::new();
    (env!("CARGO_PKG_VERSION"), compilers::file_of(cxx), flags, without_name(&version, cxx)).hash(&mut hasher);
    sources_hash().hash(&mut hasher);
    Ok(hasher.finish())
}

/// A hash of all sources and headers of the runtime, and of the Makefile that compiles them.
pub fn sources_hash() -> u64 {
    static ONCE: OnceLock<u64> = OnceLock::new();
    *ONCE.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        RUNTIME.hash(&mut hasher);
        for (path, bytes) in flux_runtime::files() {
            (path, bytes).hash(&mut hasher);
        }
        hasher.finish()
    })
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
