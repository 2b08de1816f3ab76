//! No node of a standard module has a constraint: its function is in a header, so nodes of any program may call it from
//! C++, where nobody takes the constraint. What its functions share they guard themselves.

use crate::{Finding, Repository};

/// Constraints in standard modules.
pub fn check(repository: &Repository) -> Vec<Finding> {
    let modules = repository.with_extension(&["flux"]).filter(|file| file.path.starts_with("nodes/std/"));
    let lines = modules.flat_map(|file| file.lines().map(move |(line, text)| (file.path, line, text)));
    let found = lines.filter(|(.., text)| text.split_whitespace().next() == Some("atomic"));
    let message = "a function of a standard module has a constraint, which calls from C++ skip: guard what it shares \
                   by a lock of its own";
    found.map(|(path, line, _)| Finding::new(path, line, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    #[test]
    fn standard_modules_have_no_constraints() {
        let (guarded, plain) = ("Join () => ();\natomic Join:{all};\n", "Join () => ();\n");
        let found = "nodes/std/a.flux:2: a function of a standard module has a constraint";
        assert_found(check, &[("nodes/std/a.flux", guarded)], &[found]);
        assert_found(check, &[("nodes/std/a.flux", plain), ("examples/a/a.flux", guarded)], &[]);
    }
}
