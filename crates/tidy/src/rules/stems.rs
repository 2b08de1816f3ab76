//! One concept, one name, one file stem on both sides.
//!
//! A concept `X` of the runtime is declared in `runtime/include/flux/X.hpp`, which is its reference, or in `X.h` where
//! C reads it too; `runtime/src/X.cpp` and `runtime/test/X_test.cpp` belong to it.

use crate::repository::File;
use crate::{Finding, Repository};

/// Sources and tests of the runtime that have no header of their stem.
pub fn check(repository: &Repository) -> Vec<Finding> {
    let cpp = repository.with_extension(&["cpp"]);
    cpp.filter_map(|file| judge(repository, file)).collect()
}

fn judge(repository: &Repository, file: File) -> Option<Finding> {
    let source = file.path.strip_prefix("runtime/src/").and_then(|path| path.strip_suffix(".cpp"));
    let test = file.path.strip_prefix("runtime/test/").and_then(|path| path.strip_suffix(".cpp"));
    let stem = match (source, test) {
        (Some(stem), _) => stem,
        (None, Some(test)) => match test.strip_suffix("_test") {
            Some(stem) => stem,
            None => return Some(Finding::new(file.path, 1, "is no `X_test.cpp`: name it after the concept it tests")),
        },
        (None, None) => return None,
    };
    let header = format!("runtime/include/flux/{stem}.hpp");
    let of_c = format!("runtime/include/flux/{stem}.h");
    if [&header, &of_c].into_iter().any(|path| repository.text(path).is_some()) {
        return None;
    }
    let message = format!("has no `{header}`: a concept has one stem for its header, its source and its test");
    Some(Finding::new(file.path, 1, message))
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    #[test]
    fn a_source_and_a_test_have_the_stem_of_a_header() {
        let files = [
            ("runtime/include/flux/constraint/lock.hpp", ""),
            ("runtime/src/constraint/lock.cpp", ""),
            ("runtime/src/locks.cpp", ""),
            ("runtime/include/flux/c_interface.h", ""),
            ("runtime/src/c_interface.cpp", ""),
            ("runtime/test/constraint/lock_test.cpp", ""),
            ("runtime/test/strategy/queue_test.cpp", ""),
            ("runtime/test/check.cpp", ""),
            ("runtime/test/support.hpp", ""),
            ("examples/image/nodes.cpp", ""),
        ];
        let expected = [
            "runtime/src/locks.cpp:1: has no `runtime/include/flux/locks.hpp`",
            "runtime/test/check.cpp:1: is no `X_test.cpp`",
            "runtime/test/strategy/queue_test.cpp:1: has no `runtime/include/flux/strategy/queue.hpp`",
        ];
        assert_found(check, &files, &expected);
    }
}
