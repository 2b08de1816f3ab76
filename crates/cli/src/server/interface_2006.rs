//! Whether a program's sources are written for the compiler of 2006: one of them, or a header beside one, includes
//! `mStructs.h` or `mImpl.h`. Then that interface is generated, and they are compiled as what they are.

use super::files::parent;
use crate::failure::{Failure, Result};
use flux_back_cpp::Definition;
use flux_back_cpp::interface_2006::{FUNCTIONS, STRUCTS};
use flux_toolchain::cpp_tokens::includes;
use flux_toolchain::definitions::definitions;
use flux_toolchain::node_source::NodeSource;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The script that compiles such a source in the first of several ways that takes it.
pub const SCRIPT: &str = include_str!("compile_2006.sh");
/// What that script is called in the folder of the build.
pub const SCRIPT_NAME: &str = "compile_2006.sh";

/// The variables of the Makefile for such sources. Their warnings are about what was right at the time, but for that of
/// a missing return. C++ is read as C++98, where std has no name that an author could not know; then as what it became,
/// for those who have written it since. Generated code is C++20, as the runtime is, and with an author's headers in it.
pub const VARIABLES: &str = "\
FLAGS_2006 = $(filter-out -Wall -Wextra,$(FLAGS)) $(COLOR) -Wreturn-type
CXXFLAGS_2006 = -x c++ -fpermissive $(FLAGS_2006) -Wno-write-strings -Wno-narrowing -Wno-deprecated \
    -Wno-deprecated-declarations -include flux/code_2006/interface_2006.hpp \
    -idirafter runtime/include/flux/code_2006/before_std
CFLAGS_2006 = $(FLAGS_2006) -include flux/code_2006/interface_2006.hpp
CPP98 = -std=gnu++98 -Wno-c++11-extensions
CXX_WAYS = $(CPP98)|$(CPP98) -DFLUX_USING_STD|$(CPP98) -DFLUX_MORE_HEADERS|\
$(CPP98) -DFLUX_MORE_HEADERS -DFLUX_USING_STD|-std=gnu++14 -DFLUX_MORE_HEADERS|\
-std=gnu++14 -DFLUX_MORE_HEADERS -DFLUX_USING_STD|-std=gnu++20 -DFLUX_MORE_HEADERS
C_WAYS = -std=gnu89|-std=gnu89 -DFLUX_MORE_HEADERS|-std=gnu99 -fgnu89-inline -DFLUX_MORE_HEADERS
FLOW_WAYS = -std=gnu++20|-std=gnu++20 -DFLUX_MORE_HEADERS -DFLUX_USING_STD|-std=gnu++20 -DFLUX_STD_2006|\
-std=gnu++20 -DFLUX_STD_2006 -DFLUX_USING_STD_2006|-std=gnu++20 -DFLUX_STD_2006 -DFLUX_MORE_HEADERS|\
-std=gnu++20 -DFLUX_STD_2006 -DFLUX_MORE_HEADERS -DFLUX_USING_STD_2006
";

/// The headers that the compiler of 2006 wrote.
const HEADERS: [&str; 2] = [STRUCTS, FUNCTIONS];

/// The functions that the sources define, by name, where they are of that time.
pub fn functions(sources: &[NodeSource]) -> Option<BTreeMap<String, Vec<Definition>>> {
    let headers = headers(sources);
    let includes_it = sources.iter().map(|source| &source.text).chain(&headers).any(|text| includes_interface(text));
    if !includes_it {
        return None;
    }
    let mut found: BTreeMap<String, Vec<Definition>> = BTreeMap::new();
    let in_headers: Vec<_> = headers.iter().flat_map(|text| definitions(text)).collect();
    let in_sources = sources.iter().flat_map(|source| &source.functions);
    for function in in_sources.chain(&in_headers).filter(|function| function.is_global()) {
        let definition = Definition { result: function.result.clone(), parameters: function.parameters.clone() };
        found.entry(function.name.clone()).or_default().push(definition);
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
