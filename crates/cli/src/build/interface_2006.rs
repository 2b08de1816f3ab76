//! Whether a program's sources are written for the compiler of 2006: one of them, or a header beside one, includes
//! `mStructs.h` or `mImpl.h`. Then that interface is generated, and they are compiled as what they are.

use super::definitions::definitions;
use super::files::parent;
use super::sources::NodeSource;
use flux_back_cpp::Definition;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How such a source is compiled, instead of `-std=c++20` and the warnings: C++14 still has what C++98 allowed. Its
/// warnings are about what was right at the time, but for that of a missing return.
pub const FLAGS: &str = "-std=gnu++14 -fpermissive -include flux/interface_2006.hpp \
    $(filter-out -Wall -Wextra,$(FLAGS)) -Wreturn-type -Wno-write-strings -Wno-narrowing $(COLOR)";

/// How the shell compiles what may leave `std::` out, given the compiler and its flags as the shell's arguments. Nobody
/// can tell any more who said `using namespace std` at the time. So it is said for a source that is wrong without it,
/// unless names of its own, a global `map` or `left`, are ambiguous then; and never for one that is right without it,
/// where an overload of std's could be called in the place of the author's.
pub const COMPILE: &str = r#"COMPILE_2006 = if "$$@" -fsyntax-only $< 2>/dev/null || \
    LC_ALL=C "$$@" -DFLUX_USING_STD -fsyntax-only $< 2>&1 | grep -q 'reference to .* is ambiguous'; \
    then using_std=; else using_std=-DFLUX_USING_STD; fi; \
    "$$@" $$using_std -MMD -MP -c -o $@ $<"#;

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
    text.lines().any(|line| {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let included = directive.and_then(|directive| directive.strip_prefix("include")).map(str::trim);
        included.is_some_and(|name| {
            ["mStructs.h", "mImpl.h"].iter().any(|header| {
                [format!("\"{header}\""), format!("<{header}>")].iter().any(|quoted| name.starts_with(quoted))
            })
        })
    })
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
