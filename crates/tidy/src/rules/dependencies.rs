//! Crates know only what they may: the table of `ARCHITECTURE.md` as a check.
//!
//! Fronts and passes share the model and nothing else, so that a new front or back needs no word from the others. What
//! the tests of a crate use (`dev-dependencies`) is free.

use crate::repository::resolve;
use crate::{Finding, Repository};
use std::collections::BTreeMap;
use toml::{Table, Value};

/// The crates of this repository that the crate in `folder` may depend on, by their folders; none where all.
fn allowed(folder: &str) -> Option<&'static [&'static str]> {
    match folder.strip_prefix("crates/").unwrap_or(folder) {
        "source" | "contract" | "tidy" | "runtime" | "nodes" => Some(&[]),
        "diagnostic" | "ir" => Some(&["source"]),
        "random_program" | "explore" | "picture" | "message" => Some(&["source", "ir"]),
        "passes" | "front" => Some(&["source", "diagnostic", "ir"]),
        // Messages have one notation in both languages, and one reader.
        "front_flick" => Some(&["source", "diagnostic", "ir", "front", "front_flux"]),
        name if name.starts_with("front_") => Some(&["source", "diagnostic", "ir", "front"]),
        name if name.starts_with("back_") => Some(&["source", "diagnostic", "ir", "contract", "picture"]),
        "toolchain" => Some(&["source", "diagnostic", "ir", "back_cpp"]),
        "profile" => Some(&[]),
        "sim" => Some(&["source", "diagnostic", "ir", "profile"]),
        // The harness takes the compiler as a trait; only its tests know the real one.
        "mdtest" => Some(&["source", "diagnostic"]),
        _ => None,
    }
}

/// Crates that only shells may stand above.
const SHELLS: [&str; 4] = ["cli", "lsp", "mdtest", "tidy"];

/// Dependencies that the architecture forbids.
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = vec![];
    let mut manifests = vec![];
    for file in repository.files().filter(|file| file.name() == "Cargo.toml" && !file.folder().is_empty()) {
        match file.text.parse::<Table>() {
            Ok(table) => manifests.push((file, table)),
            Err(error) => findings.push(Finding::new(file.path, 1, format!("is not TOML: {}", error.message()))),
        }
    }
    let folders: BTreeMap<&str, &str> =
        manifests.iter().filter_map(|(file, table)| Some((package_name(table)?, file.folder()))).collect();
    for (file, table) in &manifests {
        for (name, dependency) in dependencies(table) {
            let by_path = dependency.get("path").and_then(Value::as_str).and_then(|path| resolve(file.folder(), path));
            let target = by_path.as_deref().or_else(|| folders.get(name).copied());
            if let Some(message) = target.and_then(|target| objection(file.folder(), target)) {
                let line = file.lines().find(|(_, text)| text.starts_with(name)).map_or(1, |(line, _)| line);
                findings.push(Finding::new(file.path, line, message));
            }
        }
    }
    findings
}

fn package_name(manifest: &Table) -> Option<&str> {
    manifest.get("package")?.get("name")?.as_str()
}

/// What the crate is built with and what runs when it is built.
fn dependencies(manifest: &Table) -> impl Iterator<Item = (&str, &Value)> {
    let sections = ["dependencies", "build-dependencies"].into_iter();
    let tables = sections.filter_map(|section| manifest.get(section)?.as_table());
    tables.flatten().map(|(name, dependency)| (name.as_str(), dependency))
}

fn objection(folder: &str, target: &str) -> Option<String> {
    let target = target.strip_prefix("crates/").unwrap_or(target);
    let name = folder.strip_prefix("crates/").unwrap_or(folder);
    if SHELLS.contains(&target) && !SHELLS.contains(&name) {
        return Some(format!("`{name}` may not depend on `{target}`, a shell: move what it needs into a crate below"));
    }
    let allowed = allowed(folder)?;
    (!allowed.contains(&target)).then(|| match allowed {
        [] => format!("`{name}` may not depend on `{target}`: it knows no crate of ours"),
        _ => {
            format!("`{name}` may not depend on `{target}`, only on {}: pass it through the model", allowed.join(", "))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    const BACK: (&str, &str) = ("crates/back_cpp/Cargo.toml", "[package]\nname = \"flux_back_cpp\"\n[dependencies]\n");
    const IR: (&str, &str) = ("crates/ir/Cargo.toml", "[package]\nname = \"flux_ir\"\n");
    const CLI: (&str, &str) = ("crates/cli/Cargo.toml", "[package]\nname = \"flux-lang\"\n");

    #[test]
    fn a_front_knows_no_back() {
        let front = "[dependencies]\nflux_ir.workspace = true\nflux_back_cpp.workspace = true\n";
        let files = [BACK, IR, ("crates/front_flux/Cargo.toml", front)];
        assert_found(check, &files, &["crates/front_flux/Cargo.toml:3: `front_flux` may not depend on `back_cpp`"]);
    }

    #[test]
    fn a_path_says_the_same_as_a_name() {
        let front = "[dependencies]\nother = { path = \"../back_cpp\", package = \"flux_back_cpp\" }\n";
        let files = [BACK, ("crates/front_flick/Cargo.toml", front)];
        assert_found(check, &files, &["crates/front_flick/Cargo.toml:2: `front_flick` may not depend on `back_cpp`"]);
    }

    #[test]
    fn nothing_stands_above_a_shell_but_shells() {
        let driver = "[dependencies]\nflux-lang = { path = \"../cli\" }\n";
        let files = [CLI, ("crates/driver/Cargo.toml", driver), ("crates/lsp/Cargo.toml", driver)];
        assert_found(check, &files, &["crates/driver/Cargo.toml:2: `driver` may not depend on `cli`, a shell"]);
    }

    #[test]
    fn tests_may_use_what_they_like_and_builds_may_not() {
        let source = "[dev-dependencies]\nflux_ir.workspace = true\n";
        assert_found(check, &[IR, ("crates/source/Cargo.toml", source)], &[]);
        let source = "[build-dependencies]\nflux_ir.workspace = true\n";
        assert_found(check, &[IR, ("crates/source/Cargo.toml", source)], &["crates/source/Cargo.toml:2: `source`"]);
    }

    #[test]
    fn a_manifest_that_cannot_be_read_is_not_passed_over() {
        assert_found(check, &[("crates/ir/Cargo.toml", "[package\n")], &["crates/ir/Cargo.toml:1: is not TOML"]);
    }
}
