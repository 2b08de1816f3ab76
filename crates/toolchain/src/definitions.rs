//! The functions that C or C++ text defines, as far as their tokens show it.
//!
//! Flux does not read C++. But it looks up functions by name, and the definition decides how a function is declared and
//! called: in C or C++, with which of a node's structs. So the text is read as tokens and braces: a brace after a
//! parameter list opens a function, one after `namespace` or `extern` is entered, and any other contains no function
//! that matters here.

use crate::cpp_tokens::{Token, is_word, tokens};
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
    /// The namespaces and classes that it is in: `cache`, `app::detail`; empty outside of all.
    pub namespace: String,
    /// From its opening brace to its closing brace, in bytes, both included.
    pub body: Range<usize>,
}

/// What a namespace without a name is called, as compilers call it.
const UNNAMED: &str = "(anonymous namespace)";

impl Definition {
    /// Whether it is outside of namespaces and classes.
    pub fn is_global(&self) -> bool {
        self.namespace.is_empty()
    }

    /// Its name with what it is in: `app::Find`.
    pub fn qualified_name(&self) -> String {
        if self.is_global() { self.name.clone() } else { format!("{}::{}", self.namespace, self.name) }
    }
}

/// Every function that `text` defines, in order. O(length).
pub fn definitions(text: &str) -> Vec<Definition> {
    let tokens = tokens(text);
    let mut found = vec![];
    // The name of what each pair of open braces outside of functions encloses; empty where it is no scope.
    let mut open: Vec<String> = vec![];
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
            "{" => match scope(statement) {
                Some(scope) => {
                    open.push(scope);
                    start = at + 1;
                }
                None => {
                    let end = closing(&tokens, at);
                    let last = tokens.get(end).map_or(text.len(), |token| token.start + 1);
                    found.extend(definition(statement, &open, token.start..last));
                    if is_function(statement) {
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

/// The name of the namespace or class that the braces after `statement` enclose, empty for `extern "C"`; none where
/// they enclose a function or a value.
fn scope(statement: &[Token<'_>]) -> Option<String> {
    let is_keyword = |token: &Token<'_>| ["namespace", "class", "struct", "union"].contains(&token.text);
    if statement.iter().any(|token| token.text == "(" || token.text == "=") {
        return None;
    }
    if let [only] = statement
        && only.text == "extern"
    {
        return Some(String::new());
    }
    let keyword = statement.iter().rposition(is_keyword)?;
    let (_, named) = statement.split_at(keyword + 1);
    // `namespace app::detail`, but `class Page : public Body`.
    let is_namespace = statement.get(keyword).is_some_and(|token| token.text == "namespace");
    let name: String = named.iter().take(if is_namespace { named.len() } else { 1 }).map(|token| token.text).collect();
    Some(if name.is_empty() { UNNAMED.to_owned() } else { name })
}

/// Whether the braces after `statement` are the body of a function: no value, which a `;` or `,` comes after.
fn is_function(statement: &[Token<'_>]) -> bool {
    let is_value = statement.last().is_none_or(|token| token.text == "=");
    let mut before = statement.iter().take_while(|token| token.text != "(");
    !is_value && (is_operator(statement) || before.all(|token| token.text != "="))
}

fn is_operator(statement: &[Token<'_>]) -> bool {
    statement.iter().any(|token| token.text == "operator")
}

/// The function whose body comes after `statement`, if that is what it declares.
fn definition(statement: &[Token<'_>], open: &[String], body: Range<usize>) -> Option<Definition> {
    let opening = statement.iter().position(|token| token.text == "(")?;
    let (before, after) = statement.split_at(opening);
    let (name, mut result) = before.split_last()?;
    let mut scopes: Vec<_> = open.iter().map(String::as_str).filter(|scope| !scope.is_empty()).collect();
    // `int cache::Find(…)`
    let inside = scopes.len();
    while let [rest @ .., scope, separator] = result
        && (is_word(scope.text) && separator.text == "::")
    {
        scopes.insert(inside, scope.text);
        result = rest;
    }
    if !is_word(name.text) || !is_function(statement) {
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
    Some(Definition { name: name.text.to_owned(), result, parameters, namespace: scopes.join("::"), body })
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
                    namespace n { namespace a::b { void inner() {} }\nint Page::show() {} }\n\
                    inline namespace { int hidden() {} } class Body : public Text { int size() {} };\n\
                    cache::Entry * cache :: detail::Find(int key) {} ::Entry make() {}";
        let found = definitions(text);
        let shown: Vec<_> = found
            .iter()
            .map(|one| format!("{} {}({}) {}", one.result, one.name, one.parameters.join(", "), one.namespace))
            .collect();
        let expected = [
            "static int helper() ",
            "int Echo(struct Echo_in * in, struct Echo_out * out) ",
            "int Last(int a [ ]) ",
            "bool in_c(std :: map < int , T > m) ",
            "int member() S",
            "void inner() n::a::b",
            "int show() n::Page",
            "int hidden() (anonymous namespace)",
            "int size() Body",
            "cache :: Entry * Find(int key) cache::detail",
            ":: Entry make() ",
        ];
        assert_eq!(shown, expected);
        assert_eq!(text.get(found[0].body.clone()), Some("{ return f(1) ? 2 : 3; }"));
    }

    #[test]
    fn an_operator_ends_where_its_body_does() {
        let text = "bool operator==(const A &a, const A &b) { return a.x == b.x; }\nint Read(Read_out *out) { }\n\
                    int table[] = {f(1)};\nint (*pointer)(int) = {0};\nint Done(Done_in *in) { }\n";
        let names: Vec<_> = definitions(text).into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["Read", "Done"]);
    }

    #[test]
    fn of_what_the_preprocessor_chooses_between_no_brace_is_counted_twice() {
        let text = "#if 0\nint Gone() { it's\n#ifdef A\n#else\n}\n#endif\n#else\nint First() {\n#ifdef A\n  if (a) {\n\
                    #elif defined B\n  if (b) {\n#else\n  if (c) {\n# endif\n  }\n}\n#endif\nint Second() { }\n";
        let names: Vec<_> = definitions(text).into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["First", "Second"]);
        let text = "#ifdef WIN32\nint helper() { }\n#else\nint First() {\n#ifdef A\n  if (a) {\n#else//B\n  if (b) {\n\
                    #endif/* A */\n  }\n}\n#endif/**/\n#if(0)\nint Gone() { }\n#endif\n\
                    #if !0\nint Second() { }\n#endif\n";
        let names: Vec<_> = definitions(text).into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["helper", "First", "Second"]);
    }
}
