//! Nobody takes the name of a declaration apart at a point: it has its module apart, from the front that reads it to
//! whatever prints it (`crates/ir/src/name.rs`). Only fronts look for points, in the text of their notation.

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
}
