//! The executable of `flux host`: the whole runtime, whose symbols it shows to the programs that it loads. It is kept
//! beside the runtime that it is made of.

use super::files::{parent, write_if_changed};
use super::makefile::{RUNTIME_LIBRARIES, flags};
use super::{cache, runtime_library};
use crate::arguments::Build;
use crate::failure::{Failure, Result};
use crate::program::plain;
use crate::terminal::Terminal;
use std::path::PathBuf;
use std::process::Command;

const MAIN: &str = "\
#include \"flux/host/counted_memory.hpp\"
#include \"flux/host/host.hpp\"

int main(int argc, char **argv)
{
    return flux::host(argc, argv, RUNTIME_NAME);
}
";

/// The executable for these arguments; built where it is not in the cache yet.
pub fn cached(arguments: &Build, terminal: &Terminal) -> Result<PathBuf> {
    let flags = flags(arguments).join(" ");
    let library = runtime_library::cached(arguments, &flags, terminal)?;
    let directory = parent(&library);
    let executable = directory.join("flux-host");
    if cache::has(&executable) {
        return Ok(executable);
    }
    terminal.progress("Linking", "the host (once for this runtime)");
    let source = directory.join("host.cpp");
    write_if_changed(&source, MAIN)?;
    let building = directory.join(format!("flux-host-{}", std::process::id()));
    let name = format!("-DRUNTIME_NAME=\"{:016x}\"", runtime_library::key(&arguments.cxx, &flags)?);
    let made = Command::new(&arguments.cxx)
        .args(flags.split(' '))
        .args(["-std=c++20", "-rdynamic"])
        .arg(name)
        .arg("-I")
        .arg(directory.join("include"))
        .arg("-o")
        .arg(&building)
        .arg(&source)
        .arg("-Wl,--whole-archive")
        .arg(&library)
        .arg("-Wl,--no-whole-archive")
        .args(RUNTIME_LIBRARIES)
        .status();
    let status = made.map_err(|error| Failure::usage(format!("cannot start {}: {}", arguments.cxx, plain(&error))))?;
    if !status.success() {
        return Err(Failure::usage(format!("the host cannot be linked with {} {flags}", arguments.cxx)));
    }
    // Renamed into its place, so that nobody runs half of one.
    std::fs::rename(&building, &executable)
        .map_err(|error| Failure::usage(format!("cannot write {}: {}", executable.display(), plain(&error))))?;
    Ok(executable)
}
