//! Names in generated code: identifiers that C++ leaves to its users.

use crate::cpp_keyword::is_keyword;

/// Whether `name` may name a function in generated code.
pub(super) fn is_free_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let starts = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    starts && characters.all(|other| other.is_ascii_alphanumeric() || other == '_') && !is_keyword(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_and_other_tokens_are_not_free() {
        for name in ["Handler", "Listen_run", "_x1", "integer", "union_"] {
            assert!(is_free_identifier(name), "{name}");
        }
        for name in ["", "1st", "http.Send", "a b", "é", "int", "xor_eq", "alignas", "while", "char8_t"] {
            assert!(!is_free_identifier(name), "{name}");
        }
    }
}
