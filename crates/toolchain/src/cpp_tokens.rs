//! The tokens of C and C++ text, and the files that it includes: as much of a lexer and a preprocessor as finding
//! functions takes.
//!
//! Nothing is expanded and no condition is evaluated but `#if 0`. Of the parts between `#if` and `#endif` the first is
//! read, and so are those after it, up to one that leaves braces open: read as well, its braces would count twice.

/// A word, `::` or a single character, and where it starts.
pub struct Token<'text> {
    /// The word or sign.
    pub text: &'text str,
    /// Where it starts, in bytes.
    pub start: usize,
}

/// A file that a text includes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Include<'text> {
    /// As the text writes it, with its quotes or brackets: `"util.c"`, `<list>`.
    pub name: &'text str,
    /// Whether that is under a condition, other than the `#ifndef` of a header that is read once.
    pub is_conditional: bool,
}

/// What was read of a text.
#[derive(Default)]
struct Read<'text> {
    tokens: Vec<Token<'text>>,
    includes: Vec<Include<'text>>,
}

/// Whether a token is a word.
pub fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Words, `::` and single characters of C text, without comments, literals and lines of the preprocessor.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    read(text).tokens
}

/// The files that a text includes, in their order.
pub fn includes(text: &str) -> Vec<Include<'_>> {
    read(text).includes
}

fn read(text: &str) -> Read<'_> {
    let mut found = Read::default();
    let mut conditions = vec![];
    let mut open = 0;
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return found };
        let is_left_out = conditions.iter().any(|part| !matches!(part, Part::Read { .. }));
        let end = if first == '#' {
            let end = line_end(rest);
            let line = rest.split_at(end).0;
            let is_conditional = conditions.iter().any(|part| !matches!(part, Part::Read { is_guard: true, .. }));
            let include = included(line).map(|name| Include { name, is_conditional });
            found.includes.extend(include.filter(|_| !is_left_out));
            choose(line, open, &mut conditions);
            end
        } else if is_left_out || rest.starts_with("//") {
            line_end(rest)
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if first == '"' || first == '\'' {
            literal_end(rest, first)
        } else {
            let word = rest.find(|one: char| !one.is_alphanumeric() && one != '_').unwrap_or(rest.len());
            let sign = if rest.starts_with("::") { 2 } else { first.len_utf8() };
            let (token, after) = rest.split_at(word.max(sign));
            if token.ends_with('R') && after.starts_with('"') {
                rest = after.split_at(raw_string_end(after)).1;
                continue;
            }
            open += match token {
                "{" => 1,
                "}" => -1,
                _ => 0,
            };
            found.tokens.push(Token { text: token, start: text.len() - rest.len() });
            rest = after;
            continue;
        };
        rest = rest.split_at(end).1;
    }
}

/// The file that a line of the preprocessor includes, in its quotes or brackets.
fn included(line: &str) -> Option<&str> {
    let named = line.strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let closing = match named.chars().next()? {
        '"' => '"',
        '<' => '>',
        _ => return None,
    };
    let end = named.match_indices(closing).map(|(at, _)| at + 1).find(|at| *at > 1)?;
    Some(named.split_at(end).0)
}

/// A part of what lies between `#if` and `#endif`.
enum Part {
    /// It is read; so many braces were open where it begins. Whether `#ifndef` begins it, as in most headers.
    Read { begun: i32, is_guard: bool },
    /// It is left out; the next one is read.
    Before,
    /// It is left out, as one before it was read and ends inside of what it has begun.
    After,
}

/// What a line of the preprocessor, where so many braces are open, says of those after it.
fn choose(line: &str, open: i32, conditions: &mut Vec<Part>) {
    let directive = line.trim_start_matches(|one: char| one == '#' || one.is_whitespace());
    let word_end = directive.find(|one: char| !one.is_alphabetic()).unwrap_or(directive.len());
    let (word, condition) = directive.split_at(word_end);
    let condition = condition.trim_start_matches([' ', '\t', '(']);
    let is_none = condition.split(|one: char| !one.is_alphanumeric()).next() == Some("0");
    match word {
        "if" if is_none => conditions.push(Part::Before),
        "if" | "ifdef" | "ifndef" => conditions.push(Part::Read { begun: open, is_guard: word == "ifndef" }),
        "else" | "elif" => {
            let next = match conditions.pop() {
                Some(Part::Before) => Part::Read { begun: open, is_guard: false },
                Some(Part::Read { begun, .. }) if begun == open => Part::Read { begun, is_guard: false },
                _ => Part::After,
            };
            conditions.push(next);
        }
        "endif" => _ = conditions.pop(),
        _ => {}
    }
}

/// Where a line ends, those continued by a backslash included.
fn line_end(text: &str) -> usize {
    let continued = |at: &usize| !text.split_at(*at).0.ends_with('\\');
    text.match_indices('\n').map(|(at, _)| at).find(continued).unwrap_or(text.len())
}

/// Where a string such as `R"x(...)x"` ends, of which `text` is what follows the `R`.
fn raw_string_end(text: &str) -> usize {
    let delimiter = text.split('(').next().unwrap_or_default().trim_start_matches('"');
    let closing = format!("){delimiter}\"");
    text.find(&closing).map_or(text.len(), |at| at + closing.len())
}

fn literal_end(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, one) in text.char_indices().skip(1) {
        match one {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if one == quote || one == '\n' => return at + one.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_literals_is_no_token() {
        let text = "a(\"{\\\"\"); b('\"', R\"x( { \")\" #if 0\n)x\", u8R\"({)\"); /* } */ c // }\n d";
        let words: String = tokens(text).iter().map(|token| token.text).filter(|word| *word != ",").collect();
        assert_eq!(words, "a();b();cd");
    }

    #[test]
    fn includes_are_found_where_they_count() {
        let text = "#ifndef A_H\n#include \"a.c\"\n # include<list> // and more\n#ifdef A\n#include \"b.h\"\n#else\n\
                    #include \"c.h\"\n#endif\n#if 0\n#include \"d.c\"\n#endif\n// #include \"e.c\"\n/*\n\
                    #include \"f.c\"\n*/\n#include MACRO\n#include \"\nchar *s = \"#include <g>\";\n";
        let found = includes(text);
        let names: Vec<_> = found.iter().map(|include| include.name).collect();
        assert_eq!(names, ["\"a.c\"", "<list>", "\"b.h\"", "\"c.h\""]);
        let conditional: Vec<_> = found.iter().map(|include| include.is_conditional).collect();
        assert_eq!(conditional, [false, false, true, true]);
    }
}
