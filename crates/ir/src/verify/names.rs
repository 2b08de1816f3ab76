//! Names in generated code: identifiers that C++ leaves to its users.

/// Whether `name` may name a function in generated code.
pub(super) fn is_free_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let starts = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    starts && characters.all(|other| other.is_ascii_alphanumeric() || other == '_') && !is_keyword(name)
}

/// ISO/IEC 14882:2020, tables 5 (keywords) and 6 (alternative tokens), in alphabetical order.
const KEYWORDS: [&str; 92] = [
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

fn is_keyword(name: &str) -> bool {
    KEYWORDS.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_and_other_tokens_are_not_free() {
        for name in ["Handler", "Listen_run", "_x1", "integer", "union_"] {
            assert!(is_free_identifier(name), "{name}");
        }
        assert!(KEYWORDS.is_sorted(), "they are searched by halves");
        for name in ["", "1st", "http.Send", "a b", "é", "int", "xor_eq", "alignas", "while", "char8_t"] {
            assert!(!is_free_identifier(name), "{name}");
        }
    }
}
