//! Whether a program's sources are written for the compiler of 2006: one of them, or a header beside one, includes
//! `mStructs.h` or `mImpl.h`. Then that interface is generated, and they are compiled as what they are.

use super::files::parent;
use crate::failure::{Failure, Result};
use flux_back_cpp::interface_2006::{Definition, Definitions, FUNCTIONS, STRUCTS};
use flux_toolchain::cpp_tokens::includes;
use flux_toolchain::definitions::definitions;
use flux_toolchain::node_source::NodeSource;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The headers that the compiler of 2006 wrote.
const HEADERS: [&str; 2] = [STRUCTS, FUNCTIONS];

/// The functions that the sources define, by name, where they are of that time.
pub fn functions(sources: &[NodeSource]) -> Option<Definitions> {
    let headers = headers(sources);
    let includes_it = sources.iter().map(|source| &source.text).chain(&headers).any(|text| includes_interface(text));
    if !includes_it {
        return None;
    }
    let mut found = Definitions::default();
    let in_headers: Vec<_> = headers.iter().flat_map(|text| definitions(text)).collect();
    let in_sources = sources.iter().flat_map(|source| &source.functions);
    for function in in_sources.chain(&in_headers).filter(|function| function.is_global()) {
        let definition = Definition { result: function.result.clone(), parameters: function.parameters.clone() };
        found.add(function.name.clone(), definition);
    }
    Some(found)
}

/// Headers that an earlier compiler has left beside the sources would be read in the place of those that flux writes,
/// into `directory`.
pub fn refuse_leftovers(sources: &[NodeSource], directory: &Path) -> Result {
    let is_ours = |folder: &PathBuf| folder.canonicalize().ok() == directory.canonicalize().ok();
    let folders = sources.iter().map(|source| parent(&source.path)).filter(|folder| !is_ours(folder));
    let found = folders.flat_map(|folder| HEADERS.map(|header| folder.join(header))).find(|path| path.exists());
    found.map_or(Ok(()), |path| {
        let reason = "would be read in the place of the one that flux writes: move it away";
        Err(Failure::usage(format!("{} {reason}", path.display())))
    })
}

/// Has the `.c` of such a program read as C++ where they are. The compiler of 2006 wrote C++, so what includes its
/// headers is that, and so is all of a program that nowhere says `extern "C"`: its parts could not call each other.
pub fn read_c_as_cpp(sources: &mut [NodeSource]) {
    let says_it = |text: &str| text.contains("extern \"C\"");
    let mut texts = headers(sources).into_iter().chain(sources.iter().map(|source| source.text.clone()));
    let has_c = texts.any(|text| says_it(&text));
    let is_cpp = |source: &NodeSource| !has_c || includes_interface(&source.text);
    let cpp: BTreeSet<_> = sources.iter().filter(|one| is_cpp(one)).map(|one| one.path.clone()).collect();
    for source in sources.iter_mut() {
        source.is_c &= !cpp.contains(source.compiled_as());
    }
}

/// The headers beside the sources; one that cannot be read includes nothing.
pub fn headers(sources: &[NodeSource]) -> Vec<String> {
    let folders: BTreeSet<PathBuf> = sources.iter().map(|source| parent(&source.path)).collect();
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok()).map(|entry| entry.path()).collect();
    paths.retain(|path| is_header(path));
    paths.sort();
    let texts = paths.iter().filter_map(|path| std::fs::read(path).ok());
    texts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}

fn is_header(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ["h", "hh", "hpp", "hxx"].iter().any(|one| extension == *one))
}

fn includes_interface(text: &str) -> bool {
    includes(text).iter().any(|include| HEADERS.contains(&include.name.trim_matches(['"', '<', '>'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_of_that_time_where_it_includes_its_headers() {
        assert!(includes_interface("int a;\n # include \"mImpl.h\" // all of them\n"));
        assert!(includes_interface("#include <mStructs.h>"));
        assert!(!includes_interface("// #include \"mImpl.h\"\n#include \"notmImpl.h\"\nchar *s = \"mImpl.h\";"));
    }
}
