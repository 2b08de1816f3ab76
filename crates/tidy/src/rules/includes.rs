//! An `#include` is a path on disk: `flux/…` below `runtime/include`, anything else in quotation marks as seen from the
//! including file. What is found by a search path alone cannot be followed by a reader; but the headers of standard
//! modules, which their users find so, are in one folder.

use super::CPP;
use crate::repository::{File, resolve};
use crate::{Finding, Repository};

/// What builds generate, or a program of 2006 may bring along.
const GENERATED: [&str; 6] = [".flux.h", ".flux.messages.h", ".flux.cpp", "mStructs.h", "mImpl.h", "localStructs.h"];

/// Includes that lead nowhere.
pub fn check(repository: &Repository) -> Vec<Finding> {
    // Generated files include the headers of the user, wherever those are.
    let is_generated = |file: &File| GENERATED.iter().any(|ending| file.path.ends_with(ending));
    let written = repository.with_extension(CPP).filter(|file| !is_generated(file));
    let lines = written.flat_map(|file| file.lines().map(move |line| (file, line)));
    lines.filter_map(|(file, (line, text))| judge(repository, file, line, text)).collect()
}

fn judge(repository: &Repository, file: File, line: usize, text: &str) -> Option<Finding> {
    let directive = text.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim();
    let (name, is_quoted) = match directive.strip_prefix('"') {
        Some(rest) => (rest.split('"').next()?, true),
        None => (directive.strip_prefix('<')?.split('>').next()?, false),
    };
    let (path, place) = match is_quoted {
        _ if name.starts_with("flux/") => (Some(format!("runtime/include/{name}")), "in runtime/include"),
        true => (resolve(file.folder(), name), "beside this file: name it as seen from here"),
        false => return None,
    };
    let is_there = path
        .is_some_and(|path| repository.text(&path).is_some() || GENERATED.iter().any(|ending| path.ends_with(ending)));
    let is_of_module = repository.text(&format!("nodes/std/{name}")).is_some();
    (!is_there && !is_of_module)
        .then(|| Finding::new(file.path, line, format!("includes {name}, which is not {place}")))
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    #[test]
    fn includes_are_paths_on_disk() {
        let text = "\
#include \"cache.h\"
#include \"../runtime/include/flux/constraint/lock.hpp\"
#include \"image.flux.h\"
#include <flux/constraint/lock.hpp>
#include <vector>
#include \"flux/constraint/lock.hpp\"
# include <flux/locks.hpp>
#include \"flux/strategy/queue.hpp\"
#include \"image.h\"
#include \"udp.h\"
";
        let files = [
            ("examples/a.cpp", text),
            ("examples/cache.h", ""),
            ("examples/b.flux.h", "#include \"b.h\"\n"),
            ("runtime/include/flux/constraint/lock.hpp", ""),
            ("nodes/std/udp.h", ""),
        ];
        let expected = [
            "examples/a.cpp:7: includes flux/locks.hpp, which is not in runtime/include",
            "examples/a.cpp:8: includes flux/strategy/queue.hpp, which is not in runtime/include",
            "examples/a.cpp:9: includes image.h, which is not beside this file",
        ];
        assert_found(check, &files, &expected);
    }
}
