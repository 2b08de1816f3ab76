//! The functions that C or C++ text defines, as far as their tokens show it.
//!
//! Flux does not read C++. But it asks for functions by name, and what a source defines under such a name decides how
//! it is declared and called: in C or C++, with which of a node's structs. So the text is read as tokens and braces: a
//! brace after a parameter list opens a function, one after `namespace` or `extern` more of the same, and any other
//! something that holds no functions of ours. Lines of the preprocessor are left out; of what they choose between, a
//! part is read and those after it are too, up to one that leaves braces open, which would else be counted twice; never
//! what stands under `#if 0`.

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

/// A word, `::` or a single character, and where it starts.
struct Token<'text> {
    text: &'text str,
    start: usize,
}

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

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Words, `::` and single characters of C text; comments, literals and what is the preprocessor's left out.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = vec![];
    let mut conditions = vec![];
    let mut open = 0;
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return found };
        let is_left_out = conditions.iter().any(|part| !matches!(part, Part::Read(_)));
        let end = if first == '#' {
            let end = line_end(rest);
            choose(rest.split_at(end).0, open, &mut conditions);
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
            open += match token {
                "{" => 1,
                "}" => -1,
                _ => 0,
            };
            found.push(Token { text: token, start: text.len() - rest.len() });
            rest = after;
            continue;
        };
        rest = rest.split_at(end).1;
    }
}

/// A part of what lies between `#if` and `#endif`.
enum Part {
    /// It is read; so many braces were open where it begins.
    Read(i32),
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
        "if" | "ifdef" | "ifndef" => conditions.push(Part::Read(open)),
        "else" | "elif" => {
            let next = match conditions.pop() {
                Some(Part::Before) => Part::Read(open),
                Some(Part::Read(begun)) if begun == open => Part::Read(open),
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
