//! Nobody takes the name of a declaration apart at a point: it has its module apart, from the front that reads it to
//! whatever prints it (`crates/ir/src/name.rs`). Only fronts look for points, in the text of their notation.
//!
//! No pass and no back end treats a module of some name differently: a user's module may have that name, too. A fact
//! that they need of a module is in the model.

use crate::{Finding, Repository};

/// What looks for a character in a text.
const SEARCHES: [&str; 8] =
    ["split(", "rsplit(", "split_once(", "rsplit_once(", "contains(", "find(", "rfind(", "replace("];

/// Places outside of fronts that look for a point.
pub fn check(repository: &Repository) -> Vec<Finding> {
    let is_bound =
        |path: &str| path.starts_with("crates/") && path.contains("/src/") && !path.starts_with("crates/front_");
    let sources =
        repository.with_extension(&["rs"]).filter(|file| is_bound(file.path) && !file.path.contains("/tidy/"));
    let lines = sources.flat_map(|file| file.lines().map(move |(line, text)| (file.path, line, text)));
    let looks = |text: &str| SEARCHES.iter().any(|search| text.contains(&format!("{search}'.'")));
    let found = lines.filter(|(.., text)| looks(text));
    let message = "looks for a point in a text: a name has its module apart, and a path its ending";
    found.map(|(path, line, _)| Finding::new(path, line, message)).collect()
}

/// The crates between the fronts and the shells.
const BEHIND_FRONTS: [&str; 9] =
    ["passes/", "back_", "picture/", "explore/", "sim/", "message/", "toolchain/", "driver/", "ir/"];

/// The name of a module, as the model has it.
const MODULE_NAMES: [&str; 2] = ["module.name", ".module()"];

/// Places behind the fronts that compare the name of a module with a certain one.
pub fn modules(repository: &Repository) -> Vec<Finding> {
    let is_behind = |path: &str| {
        let inside =
            path.strip_prefix("crates/").is_some_and(|path| BEHIND_FRONTS.iter().any(|one| path.starts_with(one)));
        inside && path.contains("/src/")
    };
    let mut found = vec![];
    for file in repository.with_extension(&["rs"]).filter(|file| is_behind(file.path)) {
        for (line, text) in file.lines() {
            let names = MODULE_NAMES.iter().any(|name| text.contains(name));
            let compares = ["==", "!=", "matches!", "match "].iter().any(|sign| text.contains(sign));
            if names && compares && names_one(text) {
                let message = "compares the name of a module with a certain one: put the fact into the model";
                found.push(Finding::new(file.path, line, message));
            }
        }
    }
    found
}

/// Whether a line has a string, or a constant, as its capitals say.
fn names_one(text: &str) -> bool {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let is_constant =
        |word: &str| word.len() > 1 && word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
    text.contains('"') || words.into_iter().any(is_constant)
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    #[test]
    fn names_are_split_by_nobody_but_fronts() {
        let (splits, other) = ("fn f() {\n    name.rsplit_once('.');\n}\n", "fn f() {\n    name.module();\n}\n");
        let found = "crates/passes/src/a.rs:2: looks for a point in a text";
        assert_found(check, &[("crates/passes/src/a.rs", splits)], &[found]);
        assert_found(check, &[("crates/passes/src/a.rs", other), ("crates/front_x/src/a.rs", splits)], &[]);
    }

    #[test]
    fn no_back_end_knows_a_module_by_its_name() {
        let by_constant = "fn f() {\n    all.any(|(_, module)| module.name == PROCESSES);\n}\n";
        let by_text = "fn f() {\n    matches!(one.name.module(), Some(\"flick\"));\n}\n";
        let by_variable = "fn f() {\n    one.name.module() == Some(namespace);\n}\n";
        let found = |path: &str| format!("{path}:2: compares the name of a module");
        for path in ["crates/back_cpp/src/a.rs", "crates/passes/src/checks/a.rs"] {
            assert_found(modules, &[(path, by_constant)], &[&found(path)]);
            assert_found(modules, &[(path, by_text)], &[&found(path)]);
            assert_found(modules, &[(path, by_variable)], &[]);
        }
        assert_found(modules, &[("crates/front_x/src/a.rs", by_text)], &[]);
    }
}
