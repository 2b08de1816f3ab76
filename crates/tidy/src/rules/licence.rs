//! The licence is Apache-2.0, everywhere.

use crate::{Finding, Repository};

const NAME: &str = "Apache-2.0";

/// Places that have another licence or none.
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = vec![];
    let is_apache = |text: &str| text.contains("Apache License") && text.contains("Version 2.0");
    if !repository.text("LICENSE").is_some_and(is_apache) {
        findings.push(Finding::new("LICENSE", 1, "is not the text of the Apache License, Version 2.0"));
    }
    for file in repository.files().filter(|file| file.name() == "Cargo.toml") {
        let fits = |line: &str| line == "license.workspace = true" || line == format!("license = \"{NAME}\"");
        if !file.text.lines().any(fits) {
            findings.push(Finding::new(file.path, 1, "says no licence: write `license.workspace = true`"));
        }
    }
    for file in repository.files() {
        for (line, text) in file.lines() {
            let stated = text.split_once("SPDX-License-Identifier:").map(|(_, name)| name.trim());
            if stated.is_some_and(|name| name.starts_with(char::is_alphanumeric) && !name.starts_with(NAME)) {
                findings.push(Finding::new(file.path, line, format!("is under another licence: ours is {NAME}")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    const LICENSE: (&str, &str) = ("LICENSE", "Apache License\nVersion 2.0, January 2004\n");

    #[test]
    fn the_text_is_there() {
        assert_found(check, &[LICENSE], &[]);
        assert_found(check, &[("LICENSE", "MIT License\n")], &["LICENSE:1: is not the text"]);
        assert_found(check, &[], &["LICENSE:1: is not the text"]);
    }

    #[test]
    fn every_crate_says_it() {
        let files = [
            LICENSE,
            ("Cargo.toml", "[workspace.package]\nlicense = \"Apache-2.0\"\n"),
            ("a/Cargo.toml", "[package]\nlicense.workspace = true\n"),
            ("b/Cargo.toml", "[package]\n"),
            ("c/Cargo.toml", "[package]\nlicense = \"MIT\"\n"),
        ];
        assert_found(check, &files, &["b/Cargo.toml:1: says no licence", "c/Cargo.toml:1: says no licence"]);
    }

    #[test]
    fn no_file_says_another() {
        let mark = "// SPDX-License-Identifier:";
        let (ours, other) = (format!("{mark} {NAME}\n"), format!("int a;\n{mark} MIT\n"));
        let files = [LICENSE, ("a.cpp", ours.as_str()), ("b.cpp", &other)];
        assert_found(check, &files, &["b.cpp:2: is under another licence"]);
    }
}
