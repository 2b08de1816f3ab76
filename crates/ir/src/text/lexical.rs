//! The smallest things of the text form, as both sides know them: words, names, quoted texts, parameters, and where
//! the content of a line ends.

use crate::name::Name;
use crate::program::Parameter;
use crate::types::Type;
use flux_source::Span;
use std::fmt::Write;

/// Whether `character` may stand in a word.
pub(super) fn is_word_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// The word that `text` begins with; empty where it begins with none.
pub(super) fn word(text: &str) -> &str {
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return "";
    }
    let end = text.find(|character| !is_word_character(character)).unwrap_or(text.len());
    text.get(..end).unwrap_or("")
}

/// The name that `text` begins with, words joined by `::`; empty where it begins with none.
pub(super) fn bare_name(text: &str) -> &str {
    let mut end = word(text).len();
    while end > 0 {
        let Some(rest) = text.get(end..).and_then(|rest| rest.strip_prefix("::")) else { break };
        let next = word(rest);
        if next.is_empty() {
            break;
        }
        end += "::".len() + next.len();
    }
    text.get(..end).unwrap_or("")
}

/// `name` as the text form writes it: bare where that reads as a name, else quoted.
pub(super) fn name(name: &str) -> String {
    let bare = !name.is_empty() && name != "_" && bare_name(name) == name;
    if bare { name.to_owned() } else { quoted(name) }
}

/// The name of a declaration, its module before it: `tcp.Listen`.
pub(super) fn declared(declared: &Name) -> String {
    let module = declared.module().map(|module| format!("{}.", name(module)));
    format!("{}{}", module.unwrap_or_default(), name(declared.own()))
}

/// `text` in quotes, without line ends or other control characters.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// The content of a line and, where it has them, its spans; comments are in neither.
pub(super) fn content_and_spans(line: &str) -> (&str, Option<&str>) {
    let mut quoted = false;
    let mut escaped = false;
    let mut at_sign = None;
    let mut end = line.len();
    for (at, character) in line.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '@' if !quoted && at_sign.is_none() => at_sign = Some(at),
            '/' if !quoted && line.get(at..).is_some_and(|rest| rest.starts_with("//")) => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    let slice = |from: usize, to: usize| line.get(from..to).unwrap_or("").trim();
    (slice(0, at_sign.unwrap_or(end)), at_sign.map(|at| slice(at + 1, end)))
}

/// The C++ declaration that `text` begins with: all up to a `,` or `)` outside of brackets.
pub(super) fn declaration(text: &str) -> &str {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        match character {
            ',' | ')' if depth == 0 => return text.get(..at).unwrap_or(""),
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if before == '-' => {}
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = character;
    }
    text
}

/// Type, name and array suffix of a declaration; `None` where it has no type or no name.
pub(super) fn split_declaration(declaration: &str) -> Option<(&str, &str, &str)> {
    let (front, array) = declaration.trim().split_at_checked(array_start(declaration.trim()))?;
    let front = front.trim_end();
    let start = front.rfind(|character| !is_word_character(character)).map_or(0, |last| last + 1);
    let (ty, name) = front.split_at_checked(start)?;
    let ty = ty.trim_end();
    (!ty.is_empty() && !name.is_empty() && word(name) == name).then_some((ty, name, array))
}

/// Where the array suffix begins that `text` ends in; its length where there is none.
fn array_start(text: &str) -> usize {
    let mut start = text.len();
    let mut depth = 0_usize;
    for (at, character) in text.char_indices().rev() {
        match character {
            ']' => depth += 1,
            '[' if depth == 1 => {
                depth = 0;
                start = at;
            }
            '[' if depth > 1 => depth -= 1,
            _ if depth == 0 => break,
            _ => {}
        }
    }
    start
}

/// A type and a name, as of a parameter.
pub(super) fn typed(ty: &Type, name: &str) -> String {
    parameter(&Parameter { ty: ty.clone(), name: name.to_owned(), span: Span::default() })
}

/// A parameter as its author declares it, or in three quoted texts where that would not read back.
pub(super) fn parameter(parameter: &Parameter) -> String {
    let Parameter { ty, name, .. } = parameter;
    let plain = ty.declare(name);
    let (spelling, array) = (ty.written(), ty.array());
    let reads_back = declaration(&format!("{plain})")) == plain
        && content_and_spans(&plain) == (plain.as_str(), None)
        && !plain.contains(|character: char| character == '"' || character.is_control())
        && split_declaration(&plain) == Some((spelling, name.as_str(), array));
    if reads_back { plain } else { format!("{} {} {}", quoted(spelling), quoted(name), quoted(array)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(ty: &str, called: &str, array: &str) -> String {
        let (ty, name) = (Type::with_array(ty, array), called.to_owned());
        parameter(&Parameter { ty, name, span: Span::default() })
    }

    #[test]
    fn names_are_bare_where_they_read_back() {
        assert_eq!(name("ns::Test"), "ns::Test");
        for odd in ["", "_", "a b", "1st", "a.b", "a::", "::a", "é"] {
            assert_eq!(name(odd), format!("\"{odd}\""));
        }
        assert_eq!(name("a\"\n\u{1}"), r#""a\"\n\u{1}""#);
    }

    #[test]
    fn the_module_of_a_declaration_stands_before_it() {
        assert_eq!(declared(&Name::of(Some("http"), "Send")), "http.Send");
        assert_eq!(declared(&Name::of(Some("a b"), "_")), "\"a b\".\"_\"");
        assert_eq!(declared(&Name::new("http.Send")), "\"http.Send\"");
    }

    #[test]
    fn declarations_end_outside_of_brackets() {
        assert_eq!(declaration("std::map<int, T> m, int b)"), "std::map<int, T> m");
        assert_eq!(declaration("auto (*)(int, int) -> int f) => ()"), "auto (*)(int, int) -> int f");
        assert_eq!(split_declaration("image_tag *request"), Some(("image_tag *", "request", "")));
        assert_eq!(split_declaration("int grid[3][f(x[1])]"), Some(("int", "grid", "[3][f(x[1])]")));
        assert_eq!(split_declaration("int"), None);
        assert_eq!(split_declaration("int 3"), None);
    }

    #[test]
    fn parameters_that_would_not_read_back_are_quoted() {
        assert_eq!(printed("__u8 *", "rgb_data", ""), "__u8 *rgb_data");
        assert_eq!(printed("int", "x", "[3]"), "int x[3]");
        assert_eq!(printed("int *const", "x", ""), "int *const x");
        assert_eq!(printed("a // b", "x", ""), r#""a // b" "x" """#);
        assert_eq!(printed("a < b", "x", ""), r#""a < b" "x" """#);
        assert_eq!(printed("a)", "x", ""), r#""a)" "x" """#);
        assert_eq!(printed("", "x", ""), r#""" "x" """#);
        assert_eq!(printed("int", "x", "3"), r#""int" "x" "3""#);
    }

    #[test]
    fn spans_and_comments_leave_a_line() {
        assert_eq!(content_and_spans("  a \"@ // \\\" \" b  @0:1-2 // c"), ("a \"@ // \\\" \" b", Some("0:1-2")));
        assert_eq!(content_and_spans("a // @0:1-2"), ("a", None));
    }
}
