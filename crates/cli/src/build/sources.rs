//! The C and C++ sources of a program's nodes.

use super::definitions::{Definition, definitions};
use super::files::absolute;
use crate::failure::{Failure, Result};
use crate::program::plain;
use std::path::{Path, PathBuf};

/// A source file of nodes.
pub struct NodeSource {
    /// Its absolute path.
    pub path: PathBuf,
    /// Whether it is C; else C++.
    pub is_c: bool,
    /// Its text.
    pub text: String,
    /// The functions that it defines.
    pub functions: Vec<Definition>,
}

impl NodeSource {
    /// The functions that it defines outside of namespaces; the generated header declares those of C with C linkage.
    pub fn global_functions(&self) -> impl Iterator<Item = &Definition> {
        self.functions.iter().filter(|function| function.is_global())
    }
}

/// The sources that were named, or those beside the program.
pub fn find(named: &[PathBuf], home: &Path) -> Result<Vec<NodeSource>> {
    let paths = if named.is_empty() { beside(home)? } else { named.to_vec() };
    paths.iter().map(|path| read(path)).collect()
}

fn beside(home: &Path) -> Result<Vec<PathBuf>> {
    let listing = std::fs::read_dir(home)
        .map_err(|error| Failure::usage(format!("cannot list {}: {}", home.display(), plain(&error))))?;
    let files = listing.filter_map(|entry| entry.ok()).map(|entry| entry.path());
    let mut found: Vec<_> = files.filter(|path| language(path).is_some()).collect();
    found.sort();
    Ok(found)
}

/// Reads a source file.
pub fn read(path: &Path) -> Result<NodeSource> {
    let Some(language) = language(path) else {
        let wanted = "a node's source ends in .c, .cc, .cpp or .cxx";
        return Err(Failure::usage(format!("{} is not C or C++: {wanted}", path.display())));
    };
    let is_c = language == Language::C;
    let path = absolute(path)?;
    let text = std::fs::read(&path)
        .map_err(|error| Failure::usage(format!("cannot read {}: {}", path.display(), plain(&error))))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let functions = definitions(&text);
    Ok(NodeSource { path, is_c, text, functions })
}

#[derive(PartialEq)]
enum Language {
    C,
    Cpp,
}

fn language(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()? {
        "c" => Some(Language::C),
        "cc" | "cpp" | "cxx" => Some(Language::Cpp),
        _ => None,
    }
}
