//! The words of C++ that cannot name anything (ISO C++20, [lex.key] and the alternative tokens of [lex.digraph]).

use crate::error_code::Errno;

/// In alphabetical order, for binary search.
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

/// Macros that every program has, as the headers of the standard library that all include define them, but for the
/// numbers of errors.
const MACROS: [&str; 12] = [
    "BUFSIZ",
    "EOF",
    "EXIT_FAILURE",
    "EXIT_SUCCESS",
    "FILENAME_MAX",
    "NULL",
    "RAND_MAX",
    "assert",
    "errno",
    "stderr",
    "stdin",
    "stdout",
];

/// Whether `word` is a macro that the headers of every program define, so that nothing can be called so.
pub fn is_macro(word: &str) -> bool {
    MACROS.binary_search(&word).is_ok() || Errno::of_name(word).is_some()
}

/// Words that one would call a type, which the headers of the C library that every program has declare, and not as
/// types alone: a function hides a type of its name.
const OF_C: &str = "\
    abort abs accept access acct alarm atan basename bind brk ceil clock clone close connect cos \
    daemon daylight div dup environ execl exit exp floor fork free gamma hypot index iovec linger \
    link listen log malloc msghdr nan nice pause pipe pow printf profil puts rand random read \
    readlink recv remainder remove rename revoke rewind rindex rint round scalb select send \
    shutdown sin sleep sockaddr socket sqrt swab symlink sync syscall system tan time timespec \
    timeval timezone tm trunc truncate ucred uint ulong unlink unshare ushort vfork write";

/// Whether `word` is a function, a variable or a type of C in every program, so that no type outside of modules, which
/// are namespaces, can be called so.
pub fn is_of_c(word: &str) -> bool {
    OF_C.split_ascii_whitespace().any(|name| name == word)
}

/// Whether `word` is a keyword of C++20.
pub fn is_keyword(word: &str) -> bool {
    // Most names are spared the search by their first letter.
    word.starts_with(|first: char| first.is_ascii_lowercase()) && KEYWORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(KEYWORDS.is_sorted());
        assert!(is_keyword("alignas") && is_keyword("delete") && is_keyword("xor_eq"));
        assert!(!is_keyword("socket") && !is_keyword("override") && !is_keyword("__u8"));
    }
}
