//! The rules, one concept a file; `crate::RULES` lists them.

pub mod assertions;
pub mod calls;
pub mod clocks;
pub mod constraints;
pub mod dependencies;
pub mod diagnostics;
pub mod documents;
pub mod essays;
pub mod includes;
pub mod licence;
pub mod lines;
pub mod machines;
pub mod names;
pub mod purity;
pub mod reference;
pub mod rooms;
pub mod size;
pub mod stems;
pub mod words;

/// The endings of sources that people write.
const SOURCES: &[&str] = &["rs", "cpp", "hpp", "h", "c", "py", "sh"];
/// The endings of C and C++ sources.
const CPP: &[&str] = &["cpp", "hpp", "h", "c"];

/// Asserts that a rule finds something on exactly these lines, in this order, of a repository.
#[cfg(test)]
fn assert_found(check: fn(&crate::Repository) -> Vec<crate::Finding>, files: &[(&str, &str)], expected: &[&str]) {
    let found: Vec<_> = check(&crate::Repository::of(files)).iter().map(ToString::to_string).collect();
    let agrees = found.len() == expected.len() && found.iter().zip(expected).all(|(one, start)| one.starts_with(start));
    assert!(agrees, "found {found:#?}, expected {expected:#?}");
}
