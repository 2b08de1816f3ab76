//! Every test asserts: one that passes with the feature broken is worse than none, since it is counted.
//!
//! Where what is tested is that something returns at all, GoogleTest's SUCCEED says so.
//!
//! A test asserts where an assertion stands in it or in a function of its crate (for C++, its folder; the tests of the
//! runtime are one) that it calls.

use super::CPP;
use crate::{Finding, Repository, cpp, rust};
use std::collections::{BTreeMap, BTreeSet};

/// A function as this rule sees it.
struct Function {
    path: String,
    line: usize,
    name: String,
    is_test: bool,
    words: BTreeSet<String>,
}

/// Tests that assert nothing.
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut groups: BTreeMap<String, Vec<Function>> = BTreeMap::new();
    for file in repository.with_extension(&["rs"]) {
        let group = file.path.split("/src/").next().and_then(|path| path.split("/tests/").next()).unwrap_or("");
        let found = rust::functions(file.text).unwrap_or_default().into_iter().map(|it| Function {
            path: file.path.to_owned(),
            line: it.line,
            name: it.name,
            is_test: it.is_test,
            words: it.words,
        });
        groups.entry(group.to_owned()).or_default().extend(found);
    }
    for file in repository.with_extension(CPP) {
        let found = cpp::functions(file.text).unwrap_or_default().into_iter().map(|it| Function {
            path: file.path.to_owned(),
            line: it.line,
            is_test: matches!(it.name.as_str(), "TEST" | "TEST_F" | "TEST_P" | "TYPED_TEST"),
            words: it.text.split(|it: char| !it.is_alphanumeric() && it != '_').map(str::to_owned).collect(),
            name: it.name,
        });
        let tests_of_runtime = file.path.starts_with("runtime/test/").then_some("runtime/test");
        let folder = tests_of_runtime.unwrap_or(file.folder());
        groups.entry(format!("{folder}/*.cpp")).or_default().extend(found);
    }
    groups.values().flat_map(|functions| silent(functions)).collect()
}

/// The tests among the functions that assert neither themselves nor by what they call.
fn silent(functions: &[Function]) -> Vec<Finding> {
    let mut asserting: BTreeSet<&str> = BTreeSet::new();
    let asserts = |function: &Function, asserting: &BTreeSet<&str>| {
        function.words.iter().any(|word| is_assertion(word) || asserting.contains(word.as_str()))
    };
    loop {
        let helpers = functions.iter().filter(|it| !it.is_test && asserts(it, &asserting));
        let found: BTreeSet<&str> = helpers.map(|it| it.name.as_str()).collect();
        if found == asserting {
            break;
        }
        asserting = found;
    }
    let silent = functions.iter().filter(|it| it.is_test && !asserts(it, &asserting));
    let message = |name: &str| format!("`{name}` asserts nothing: say what must hold, or remove it");
    silent.map(|it| Finding::new(&it.path, it.line, message(&it.name))).collect()
}

fn is_assertion(word: &str) -> bool {
    const STARTS: [&str; 5] = ["assert", "prop_assert", "EXPECT_", "ASSERT_", "static_assert"];
    STARTS.iter().any(|start| word.starts_with(start)) || matches!(word, "panic" | "should_panic" | "FAIL" | "SUCCEED")
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    #[test]
    fn a_test_without_an_assertion_is_found() {
        let text = "\
#[test]
fn good() { assert_eq!(1, 1); }
#[test]
fn bad() { let _ = run(); }
#[test]
#[should_panic(expected = \"x\")]
fn panics() { run(); }
fn run() {}
";
        assert_found(check, &[("crates/a/src/lib.rs", text)], &["crates/a/src/lib.rs:4: `bad` asserts nothing"]);
    }

    #[test]
    fn a_helper_of_the_same_crate_may_assert() {
        let helpers = "pub fn same(a: u8) { deeper(a); }\nfn deeper(a: u8) { assert!(a > 0); }\n";
        let test = "#[test]\nfn by_helper() { same(1); }\n";
        let files =
            [("crates/a/src/support.rs", helpers), ("crates/a/tests/a.rs", test), ("crates/b/src/lib.rs", test)];
        assert_found(check, &files, &["crates/b/src/lib.rs:2: `by_helper` asserts nothing"]);
    }

    #[test]
    fn properties_are_tests() {
        let text = "\
proptest! {
    #[test]
    fn holds(a: u8) { f(a); }
    #[test]
    fn fine(a: u8) { prop_assert!(f(a)); }
}
";
        assert_found(check, &[("crates/a/src/lib.rs", text)], &["crates/a/src/lib.rs:3: `holds` asserts nothing"]);
    }

    #[test]
    fn tests_in_cpp_assert_too() {
        let text = "\
void same(int a) { EXPECT_EQ(a, 1); }
TEST(Lock, Asserts) { ASSERT_TRUE(f()); }
TEST_F(Lock, ByHelper) { same(1); }
TEST(Lock, Silent) { f(\"EXPECT_EQ\"); /* EXPECT_EQ */ }
";
        assert_found(
            check,
            &[("runtime/test/a_test.cpp", text)],
            &["runtime/test/a_test.cpp:4: `TEST` asserts nothing"],
        );
    }
}
