//! Checks on the repository itself: the rules of `STYLE.md` and `ARCHITECTURE.md` that a machine can hold.
//!
//! A rule takes the whole [`Repository`] and gives a [`Finding`] for each place that breaks it, with what to do instead
//! in the message. `tests/repository.rs` runs every rule of [`RULES`] on this repository; the unit tests run each on
//! small ones that break it.

mod cpp;
mod markdown;
mod repository;
mod rules;
mod rust;

pub use repository::Repository;
pub use rules::calls::calls;
pub use rules::reference::reference;
use std::fmt;

/// A place that breaks a rule.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Finding {
    /// The file, from the root of the repository.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what to do instead.
    pub message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// One rule.
pub struct Rule {
    /// What it says, as the name of a test.
    pub name: &'static str,
    /// Finds what breaks it.
    pub check: fn(&Repository) -> Vec<Finding>,
}

/// Every rule.
pub const RULES: &[Rule] = &[
    Rule { name: "a_file_stays_under_800_lines", check: rules::size::files },
    Rule { name: "a_function_stays_under_70_lines", check: rules::size::functions },
    Rule { name: "crates_know_only_what_they_may", check: rules::dependencies::check },
    Rule { name: "the_core_does_no_io", check: rules::purity::check },
    Rule { name: "nobody_splits_a_name", check: rules::names::check },
    Rule { name: "no_module_is_known_by_its_name", check: rules::names::modules },
    Rule { name: "one_concept_has_one_stem", check: rules::stems::check },
    Rule { name: "rooms_include_downwards", check: rules::rooms::check },
    Rule { name: "the_glossary_names_files", check: rules::documents::glossary },
    Rule { name: "every_path_a_document_names_exists", check: rules::documents::paths },
    Rule { name: "the_reference_is_of_the_headers", check: rules::reference::check },
    Rule { name: "the_table_of_calls_is_the_runtimes", check: rules::calls::check },
    Rule { name: "a_standard_function_needs_no_constraint", check: rules::constraints::check },
    Rule { name: "every_diagnostic_has_a_page", check: rules::diagnostics::check },
    Rule { name: "an_include_is_a_path_on_disk", check: rules::includes::check },
    Rule { name: "every_file_opens_with_what_it_is", check: rules::essays::check },
    Rule { name: "every_test_asserts", check: rules::assertions::check },
    Rule { name: "no_test_depends_on_the_clock", check: rules::clocks::check },
    Rule { name: "the_licence_is_apache_2", check: rules::licence::check },
    Rule { name: "lines_are_clean", check: rules::lines::check },
    Rule { name: "words_are_ours", check: rules::words::check },
    Rule { name: "nothing_tells_of_one_machine", check: rules::machines::check },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_in_the_guide_that_gives_its_reason() {
        let guide = include_str!("../../../STYLE.md");
        for Rule { name, .. } in RULES {
            assert!(guide.contains(&format!("`{name}`")), "STYLE.md does not name `{name}`");
        }
    }
}
