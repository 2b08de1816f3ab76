//! The functions that C or C++ text defines, as far as their tokens show it.
//!
//! Flux does not read C++. But it asks for functions by name, and what a source defines under such a name decides how
//! it is declared and called: in C or C++, with which of a node's structs. So the text is read as tokens and braces: a
//! brace after a parameter list opens a function, one after `namespace` or `extern` more of the same, and any other
//! something that holds no functions of ours. Lines of the preprocessor are left out.

use std::ops::Range;

/// A function, defined.
#[derive(PartialEq, Eq, Debug)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// What stands before the name: `int`, `static bool`.
    pub result: String,
    /// Its parameters, their tokens separated by spaces: `image_tag * request`.
    pub parameters: Vec<String>,
    /// Whether it is outside of namespaces and classes.
    pub is_global: bool,
    /// From its opening brace to its closing brace, in bytes, both included.
    pub body: Range<usize>,
}

/// A word or a single character, and where it starts.
struct Token<'text> {
    text: &'text str,
    start: usize,
}

/// What a pair of braces outside of functions encloses.
enum Braces {
    /// More of what is outside.
    Linkage,
    /// A namespace or a class.
    Named,
}

/// Every function that `text` defines, in order. O(length).
pub fn definitions(text: &str) -> Vec<Definition> {
    let tokens = tokens(text);
    let mut found = vec![];
    let mut open: Vec<Braces> = vec![];
    let mut start = 0;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let statement = tokens.get(start..at).unwrap_or_default();
        match token.text {
            ";" => start = at + 1,
            "}" => {
                open.pop();
                start = at + 1;
            }
            "{" => match kind(statement) {
                Some(braces) => {
                    open.push(braces);
                    start = at + 1;
                }
                None => {
                    let end = closing(&tokens, at);
                    let is_global = open.iter().all(|braces| matches!(braces, Braces::Linkage));
                    let last = tokens.get(end).map_or(text.len(), |token| token.start + 1);
                    if let Some(definition) = definition(statement, is_global, token.start..last) {
                        found.push(definition);
                        start = end + 1;
                    }
                    at = end;
                }
            },
            _ => {}
        }
        at += 1;
    }
    found
}

/// What the braces after `statement` enclose where that is more than a function or a value.
fn kind(statement: &[Token<'_>]) -> Option<Braces> {
    let says = |word: &str| statement.iter().any(|token| token.text == word);
    match statement.first()?.text {
        "extern" if statement.len() == 1 => Some(Braces::Linkage),
        _ if says("(") || says("=") => None,
        _ if says("namespace") || says("class") || says("struct") || says("union") => Some(Braces::Named),
        _ => None,
    }
}

/// The function whose body comes after `statement`, if that is what it declares.
fn definition(statement: &[Token<'_>], is_global: bool, body: Range<usize>) -> Option<Definition> {
    let opening = statement.iter().position(|token| token.text == "(")?;
    let (before, after) = statement.split_at(opening);
    let (name, result) = before.split_last()?;
    if !is_word(name.text) || result.iter().any(|token| token.text == "=") {
        return None;
    }
    let mut parameters = vec![String::new()];
    let mut depth = 0_i32;
    for token in after {
        depth += match token.text {
            "(" | "<" | "[" => 1,
            ")" | ">" | "]" => -1,
            _ => 0,
        };
        match token.text {
            "(" if depth == 1 => {}
            ")" if depth == 0 => break,
            "," if depth == 1 => parameters.push(String::new()),
            text => {
                let parameter = parameters.last_mut()?;
                *parameter += if parameter.is_empty() { "" } else { " " };
                *parameter += text;
            }
        }
    }
    parameters.retain(|parameter| !parameter.is_empty() && parameter != "void");
    let result = result.iter().map(|token| token.text).collect::<Vec<_>>().join(" ");
    Some(Definition { name: name.text.to_owned(), result, parameters, is_global, body })
}

/// The brace that closes the one at `opening`; the last token where none does.
fn closing(tokens: &[Token<'_>], opening: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(opening) {
        match token.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len().saturating_sub(1)
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Words and single characters of C text; comments, literals and preprocessor lines left out.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = vec![];
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return found };
        let end = if rest.starts_with("//") || first == '#' {
            line_end(rest)
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if first == '"' || first == '\'' {
            literal_end(rest, first)
        } else {
            let word = rest.find(|one: char| !one.is_alphanumeric() && one != '_').unwrap_or(rest.len());
            let (token, after) = rest.split_at(word.max(first.len_utf8()));
            found.push(Token { text: token, start: text.len() - rest.len() });
            rest = after;
            continue;
        };
        rest = rest.split_at(end).1;
    }
}

/// Where a line ends, those continued by a backslash included.
fn line_end(text: &str) -> usize {
    let continued = |at: &usize| !text.split_at(*at).0.ends_with('\\');
    text.match_indices('\n').map(|(at, _)| at).find(continued).unwrap_or(text.len())
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
    fn definitions_are_found_and_declarations_are_not() {
        let text = "#define F(x) \\\n x {\nint declared(int a);\nstatic int helper(void) { return f(1) ? 2 : 3; }\n\
                    int Echo(struct Echo_in *in,\n  struct Echo_out *out)\n{ char c = '{'; puts(\"} x(\"); \
                    if (c) { } return 0; }\n\
                    /* int Gone() { */ int (*pointer)(int) = 0; int table[] = {1, f(2)}; int Last(int a[]) {}\n\
                    extern \"C\" { bool in_c(std::map<int, T> m) {} }\nstruct S { int member() const {} };\n\
                    namespace n { void inner() {} }";
        let found = definitions(text);
        let shown: Vec<_> = found
            .iter()
            .map(|one| format!("{} {}({}) {}", one.result, one.name, one.parameters.join(", "), one.is_global))
            .collect();
        let expected = [
            "static int helper() true",
            "int Echo(struct Echo_in * in, struct Echo_out * out) true",
            "int Last(int a [ ]) true",
            "bool in_c(std : : map < int , T > m) true",
            "int member() false",
            "void inner() false",
        ];
        assert_eq!(shown, expected);
        assert_eq!(text.get(found[0].body.clone()), Some("{ return f(1) ? 2 : 3; }"));
    }
}
