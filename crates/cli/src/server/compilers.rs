//! The compilers that build servers: whether there are such.

use crate::failure::{Failure, Result};
use std::path::PathBuf;

/// Fails where there is no C++ compiler of this name, with what to do about it.
pub fn require_cpp(command: &str) -> Result {
    require(command, "C++", "g++", ("--cxx", "CXX"))
}

/// As [`require_cpp`], of the C compiler.
pub fn require_c(command: &str) -> Result {
    require(command, "C", "gcc", ("--cc", "CC"))
}

fn require(command: &str, language: &str, usual: &str, (flag, variable): (&str, &str)) -> Result {
    if file_of(command).is_some() {
        return Ok(());
    }
    Err(Failure::usage(match command == usual {
        true => format!("the {language} compiler `{usual}` is not installed: apt-get install g++"),
        false => format!(
            "there is no {language} compiler `{command}`: install it, or leave out {flag} and the variable {variable}, \
             which means {usual}"
        ),
    }))
}

/// The file that is run by this name, if there is one.
pub fn file_of(command: &str) -> Option<PathBuf> {
    let named = match command.contains('/') {
        true => Some(PathBuf::from(command)).filter(|path| path.is_file()),
        false => {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&folders).map(|folder| folder.join(command)).find(|path| path.is_file())
        }
    };
    named.map(|path| path.canonicalize().unwrap_or(path))
}
