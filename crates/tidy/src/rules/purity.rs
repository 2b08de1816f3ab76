//! The core does no I/O: sources come in, models and texts go out, so that every stage can run in a test, an editor or
//! a browser. Only the shells touch files, processes, clocks and standard output.
//!
//! `clippy.toml` forbids the calls one by one; this rule forbids naming their modules at all, and switching the lints
//! off.

use crate::{Finding, Repository, rust};
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, UseTree};

/// The crates that touch the world, and the file that asks it which slice of the tests is run.
const SHELLS: [&str; 5] =
    ["crates/cli/", "crates/lsp/", "crates/mdtest/", "crates/tidy/", "crates/random_program/src/slice.rs"];

/// What the core may not name.
const WORLD: [&str; 9] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "std::thread",
    "std::time",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
];

/// The lints that may not be switched off.
const LINTS: [&str; 9] = [
    "disallowed_methods",
    "unwrap_used",
    "expect_used",
    "panic",
    "indexing_slicing",
    "string_slice",
    "print_stdout",
    "print_stderr",
    "unsafe_code",
];

/// Where a lint is off all the same: an id of another arena or graph is a bug of ours, and a bug asserts.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("crates/ir/src/arena.rs", "indexing_slicing"),
    ("crates/explore/src/lib.rs", "indexing_slicing"),
    ("crates/sim/src/lib.rs", "indexing_slicing"),
];

/// Places in the core that touch the world.
pub fn check(repository: &Repository) -> Vec<Finding> {
    let is_core = |path: &str| {
        let is_source = ["/src/", "/rust/"].iter().any(|folder| path.contains(folder));
        is_source && !path.ends_with("/tests.rs") && !SHELLS.iter().any(|shell| path.starts_with(shell))
    };
    let mut findings = vec![];
    for file in repository.with_extension(&["rs"]).filter(|file| is_core(file.path)) {
        // What does not parse is the business of the rule on the size of functions.
        if let Ok(tree) = rust::parse(file.text) {
            let mut finder = Finder { path: file.path, found: vec![] };
            finder.visit_file(&tree);
            findings.extend(finder.found.into_iter().map(|(line, message)| Finding::new(file.path, line, message)));
        }
    }
    findings
}

struct Finder<'f> {
    /// Of the file.
    path: &'f str,
    found: Vec<(usize, String)>,
}

impl Finder<'_> {
    fn name(&mut self, line: usize, path: &str) {
        let is_in =
            |module: &str| path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
        if let Some(module) = WORLD.into_iter().find(|module| is_in(module)) {
            let message = format!("names `{module}`, but the core does no I/O: let the shell hand in what is needed");
            self.found.push((line, message));
        }
    }

    fn tree(&mut self, prefix: &str, tree: &UseTree) {
        let join = |name: &dyn ToString| format!("{prefix}{}", name.to_string());
        match tree {
            UseTree::Path(path) => self.tree(&format!("{}::", join(&path.ident)), &path.tree),
            UseTree::Name(name) => self.name(name.span().start().line, &join(&name.ident)),
            UseTree::Rename(rename) => self.name(rename.span().start().line, &join(&rename.ident)),
            UseTree::Glob(glob) => self.name(glob.span().start().line, prefix.trim_end_matches(':')),
            UseTree::Group(group) => group.items.iter().for_each(|item| self.tree(prefix, item)),
        }
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_item(&mut self, item: &'a syn::Item) {
        let attributes = match item {
            syn::Item::Fn(item) => item.attrs.as_slice(),
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            _ => &[],
        };
        if !rust::is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        self.tree("", &item.tree);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.name(path.span().start().line, &names.join("::"));
        visit::visit_path(self, path);
    }

    fn visit_attribute(&mut self, attribute: &'a Attribute) {
        if ["allow", "expect"].iter().any(|name| attribute.path().is_ident(name)) {
            let words = rust::words(attribute.to_token_stream());
            let is_wrong = |lint: &str| words.contains(lint) && !EXCEPTIONS.contains(&(self.path, lint));
            for lint in LINTS.into_iter().filter(|lint| is_wrong(lint)) {
                let message = format!("switches `{lint}` off: in the core, say in the type what can fail");
                self.found.push((attribute.span().start().line, message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    fn found(text: &str, expected: &[&str]) {
        let expected: Vec<_> = expected.iter().map(|it| format!("crates/ir/src/a.rs:{it}")).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        assert_found(check, &[("crates/ir/src/a.rs", text)], &expected);
    }

    #[test]
    fn naming_the_world_is_found_in_every_way_to_name_it() {
        found("use std::fs;\n", &["1: names `std::fs`"]);
        found("use std::{fmt, io::{self, stdout}};\n", &["1: names `std::io::stdout`"]);
        found("use std::time::Instant as I;\nuse std::env::*;\n", &["1: names `std::time`", "2: names `std::env`"]);
        found("fn f() {\n    std::thread::sleep(d);\n}\n", &["2: names `std::thread`"]);
        found("fn f(_: std::process::Child) {}\n", &["1: names `std::process`"]);
    }

    #[test]
    fn switching_a_lint_off_is_found() {
        found("#![allow(clippy::unwrap_used)]\n", &["1: switches `unwrap_used` off"]);
        let exception = "#[expect(clippy::indexing_slicing)]\nfn f() {}\n";
        found(exception, &["1: switches `indexing_slicing` off"]);
        assert_found(check, &[("crates/ir/src/arena.rs", exception)], &[]);
        found("#[expect(clippy::panic, reason = \"why not\")]\nfn f() {}\n", &["1: switches `panic` off"]);
    }

    #[test]
    fn tests_and_shells_may() {
        found("use std::fmt;\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n", &[]);
        found("#[allow(clippy::too_many_lines)]\nfn f() {}\n", &[]);
        let text = "use std::fs;\n";
        let files = [("crates/cli/src/a.rs", text), ("crates/ir/tests/a.rs", text), ("crates/ir/build.rs", text)];
        assert_found(check, &files, &[]);
    }
}
