//! Lines are clean: no tabs, no space at the end, at most 120 columns of code, and a newline at the end of the file.

use super::SOURCES;
use crate::repository::File;
use crate::{Finding, Repository};

const MAX_COLUMNS: usize = 120;

/// Lines that are not.
pub fn check(repository: &Repository) -> Vec<Finding> {
    // None of these is written by us.
    let is_ours = |file: &File| {
        !matches!(file.name(), "LICENSE" | "Cargo.lock") && !matches!(file.extension(), "request" | "response")
    };
    let files = repository.files().filter(is_ours);
    files.flat_map(judge).collect()
}

fn judge(file: File) -> Vec<Finding> {
    let is_makefile = file.name() == "Makefile" || file.extension() == "mk";
    let is_code = SOURCES.contains(&file.extension());
    let mut findings = vec![];
    for (number, line) in (1..).zip(file.text.split('\n')) {
        let mut find = |message: &str| findings.push(Finding::new(file.path, number, message));
        // Recipes of make begin with a tab.
        let text = if is_makefile { line.trim_start_matches('\t') } else { line };
        if text.contains('\t') {
            find("has a tab: indent with four spaces, write \\t in literals");
        }
        if line.ends_with('\r') {
            find("ends with a carriage return: end lines with a newline alone");
        } else if line.trim_end() != line {
            find("has space at its end: remove it");
        }
        if is_code && line.chars().count() > MAX_COLUMNS {
            find("has more than 120 columns: break it");
        }
    }
    if !file.text.is_empty() && (!file.text.ends_with('\n') || file.text.ends_with("\n\n")) {
        findings.push(Finding::new(file.path, file.lines().count(), "must end with one newline"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    #[test]
    fn lines_that_are_not_clean_are_found() {
        let long = format!("{}\n", "é".repeat(121));
        let files = [
            ("Makefile", "all:\n\tmake\ta\n\techo\n"),
            ("a.md", "a\tb\n"),
            ("b.md", "a\nb \n"),
            ("c.md", "a\r\n"),
            ("d.md", "a"),
            ("e.md", "a\n\n"),
            ("f.rs", long.as_str()),
            ("g.md", long.as_str()),
            ("h.rs", long.get(2..).unwrap_or("")),
            ("LICENSE", "a\tb "),
            ("i.md", ""),
        ];
        let expected = [
            "Makefile:2: has a tab",
            "a.md:1: has a tab",
            "b.md:2: has space",
            "c.md:1: ends with a carriage return",
            "d.md:1: must end with one newline",
            "e.md:2: must end with one newline",
            "f.rs:1: has more than 120 columns",
        ];
        assert_found(check, &files, &expected);
    }
}
