//! The C and C++ sources of a program's nodes.

use super::files::{absolute, parent};
use crate::failure::{Failure, Result};
use crate::program::plain;
use flux_source::SourceMap;
use flux_toolchain::cpp_tokens::includes;
use flux_toolchain::definitions::definitions;
use flux_toolchain::node_source::NodeSource;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The sources that were named, or those beside the program. Of the latter some may include others.
pub fn find(named: &[PathBuf], home: &Path) -> Result<Vec<NodeSource>> {
    if !named.is_empty() {
        return named.iter().map(|path| read(path)).collect();
    }
    let mut sources = beside(home)?.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    find_includers(&mut sources);
    Ok(sources)
}

/// Adds the texts of the sources to those that diagnostics can show, by what they are called from here.
pub fn show(sources: &mut [NodeSource], files: &mut SourceMap) {
    let here = std::env::current_dir().unwrap_or_default();
    for source in sources {
        let name = source.path.strip_prefix(&here).unwrap_or(&source.path).display().to_string();
        source.file = Some(files.add(name, source.text.clone()));
    }
}

/// Finds the sources that others include, which are in the language of those. Two that include each other are the
/// first one's.
fn find_includers(sources: &mut [NodeSource]) {
    for index in 0..sources.len() {
        let Some(source) = sources.get(index).filter(|source| source.includer.is_none()) else { continue };
        let (includer, is_c) = (source.path.clone(), source.is_c);
        let included = included_by(&source.path, &source.text);
        let is_included = |one: &&mut NodeSource| one.path != includer && included.contains(&one.path);
        for one in sources.iter_mut().filter(is_included) {
            one.includer = Some(includer.clone());
            one.is_c = is_c;
        }
    }
}

/// The files that a source includes whatever is defined, itself or through others, as far as they are found from where
/// they are included.
fn included_by(path: &Path, text: &str) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut unread = vec![(path.to_owned(), text.to_owned())];
    while let Some((path, text)) = unread.pop() {
        for include in includes(&text).iter().filter(|include| !include.is_conditional) {
            let Some(name) = include.name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) else { continue };
            let Ok(included) = parent(&path).join(name).canonicalize() else { continue };
            if found.insert(included.clone()) {
                unread.extend(std::fs::read_to_string(&included).map(|text| (included, text)));
            }
        }
    }
    found
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
    Ok(NodeSource { path, file: None, is_c, text, functions, includer: None })
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
