//! What the rules need to know of C++ sources: where functions begin and end.
//!
//! This is no parser. Comments, literals and preprocessor lines are blanked; then braces are matched, and what stands
//! before an opening brace tells whether it begins a function, or a namespace or class whose functions are looked for
//! inside, or something else, as the initialiser of a variable. That is sound for code in which each branch of an `#if`
//! has balanced braces; where they do not balance, [`functions`] says so instead of guessing.

use std::ops::Range;

/// A function with a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name, or the name of the macro that makes it: `TEST`.
    pub name: String,
    /// The line on which it begins, from 1.
    pub line: usize,
    /// From there to its closing brace.
    pub line_count: usize,
    /// All of it, comments and literals blanked.
    pub text: String,
}

/// The functions of a source file: free ones and methods, but not lambdas by themselves.
///
/// # Errors
///
/// The line of a brace that has no other.
pub fn functions(text: &str) -> Result<Vec<Function>, usize> {
    let blanked = blank(text);
    let mut scan = Scan { text: &blanked, functions: vec![], header: None, scopes: vec![], parentheses: 0 };
    let mut open: Option<(Kind, usize)> = None;
    for (at, character) in blanked.char_indices() {
        // Inside a body or an initialiser braces are counted, and nothing else matters.
        open = match (open, character) {
            (Some((kind, depth)), '{') => Some((kind, depth + 1)),
            (Some((kind, 1)), '}') => {
                scan.close(kind, at);
                None
            }
            (Some((kind, depth)), '}') => Some((kind, depth - 1)),
            (Some(inside), _) => Some(inside),
            (None, _) => scan.step(at, character)?.map(|kind| (kind, 1)),
        };
    }
    match scan.scopes.last() {
        Some(at) => Err(scan.line(*at)),
        None if open.is_some() => Err(scan.line(blanked.len())),
        None => Ok(scan.functions),
    }
}

/// What an opening brace begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// The body of a function.
    Body,
    /// A namespace or a class: its contents are looked at.
    Scope,
    /// An initialiser, an enumeration.
    Other,
}

struct Scan<'a> {
    text: &'a str,
    functions: Vec<Function>,
    /// Where the declaration that is being read begins.
    header: Option<usize>,
    /// Where the scopes around it were opened.
    scopes: Vec<usize>,
    parentheses: usize,
}

impl Scan<'_> {
    /// Takes one character outside of any body; gives the kind of a brace whose inside is to be skipped.
    fn step(&mut self, at: usize, character: char) -> Result<Option<Kind>, usize> {
        match character {
            '(' | '[' => self.parentheses += 1,
            ')' | ']' => self.parentheses = self.parentheses.saturating_sub(1),
            '{' if self.parentheses > 0 => return Ok(Some(Kind::Other)),
            '{' => {
                let header = self.text.get(self.header.unwrap_or(at)..at).unwrap_or("");
                match classify(header) {
                    Kind::Scope => {
                        self.scopes.push(at);
                        self.header = None;
                        return Ok(None);
                    }
                    kind => return Ok(Some(kind)),
                }
            }
            '}' => {
                self.scopes.pop().ok_or_else(|| self.line(at))?;
                self.header = None;
                return Ok(None);
            }
            ';' if self.parentheses == 0 => {
                self.header = None;
                return Ok(None);
            }
            ':' if self.is_access_specifier(at) => {
                self.header = None;
                return Ok(None);
            }
            _ => {}
        }
        if !character.is_whitespace() {
            self.header.get_or_insert(at);
        }
        Ok(None)
    }

    /// Comes to the end of a body or an initialiser.
    fn close(&mut self, kind: Kind, at: usize) {
        let after = self.text.get(at + 1..).unwrap_or("").trim_start();
        // `A() : a{1}, b{2} {}` and `try {} catch (...) {}` are one function.
        let goes_on = after.starts_with([',', '{']) || after.starts_with("catch");
        if kind != Kind::Body || goes_on {
            return;
        }
        if let Some(start) = self.header.take() {
            let (line, text) = (self.line(start), self.text.get(start..=at).unwrap_or("").to_owned());
            let name = callee(&text).unwrap_or("function").to_owned();
            self.functions.push(Function { name, line, line_count: self.line(at) + 1 - line, text });
        }
    }

    fn is_access_specifier(&self, at: usize) -> bool {
        let header = self.text.get(self.header.unwrap_or(at)..at).unwrap_or("");
        matches!(header.trim(), "public" | "protected" | "private")
    }

    fn line(&self, at: usize) -> usize {
        1 + self.text.bytes().take(at).filter(|byte| *byte == b'\n').count()
    }
}

fn classify(header: &str) -> Kind {
    let header = without_template(header.trim());
    let outer = outside_parentheses(header);
    let words: Vec<&str> = outer.split(|it: char| !is_word(it)).filter(|word| !word.is_empty()).collect();
    let is_operator = words.contains(&"operator");
    if header == "extern" || words.contains(&"namespace") {
        Kind::Scope
    } else if (outer.contains('=') && !is_operator) || words.first() == Some(&"enum") {
        Kind::Other
    } else if callee(header).is_some() || is_operator {
        Kind::Body
    } else if words.iter().any(|word| matches!(*word, "class" | "struct" | "union")) {
        Kind::Scope
    } else {
        Kind::Other
    }
}

/// The name before the first parenthesis that is not an attribute's: that of a function, where there is one.
fn callee(header: &str) -> Option<&str> {
    const NOT_FUNCTIONS: [&str; 8] =
        ["alignas", "__attribute__", "__declspec", "decltype", "noexcept", "explicit", "requires", "catch"];
    let mut rest = without_template(header);
    loop {
        let (before, after) = rest.split_once('(')?;
        let name = before.trim_end_matches(|it| !is_word(it));
        let name = name.rsplit(|it: char| !is_word(it) && it != ':' && it != '~').next().unwrap_or("");
        if !name.is_empty() && !NOT_FUNCTIONS.contains(&name) {
            return Some(name);
        }
        rest = after.get(closing(after, '(', ')')..).unwrap_or("");
    }
}

/// The declaration after `template <…>`, as often as that stands there, and after `[[…]]`.
fn without_template(header: &str) -> &str {
    let mut rest = header.trim_start();
    loop {
        let parameters = rest.strip_prefix("template").and_then(|after| after.trim_start().strip_prefix('<'));
        let (inside, open, close) = match parameters {
            Some(inside) => (inside, '<', '>'),
            None => match rest.strip_prefix('[') {
                Some(inside) => (inside, '[', ']'),
                None => return rest,
            },
        };
        rest = inside.get(closing(inside, open, close)..).unwrap_or("").trim_start();
    }
}

/// Where the text goes on after the `close` that belongs to an `open` before it. A `>` in parentheses compares.
fn closing(text: &str, open: char, close: char) -> usize {
    let (mut depth, mut parentheses) = (1, 0);
    for (at, character) in text.char_indices() {
        match character {
            _ if character == open && parentheses == 0 => depth += 1,
            _ if character == close && parentheses == 0 => depth -= 1,
            '(' => parentheses += 1,
            ')' => parentheses -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

fn outside_parentheses(header: &str) -> String {
    let mut depth = 0_usize;
    let keep = |character: &char| {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    header.chars().filter(keep).collect()
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The text with spaces for comments, the insides of literals, and preprocessor lines; newlines stay where they are.
pub fn blank(text: &str) -> String {
    let mut blanked = text.as_bytes().to_vec();
    let mut at = 0;
    let mut is_line_start = true;
    while let Some(rest) = text.as_bytes().get(at..).filter(|rest| !rest.is_empty()) {
        let skipped = skip(text, at, rest, is_line_start);
        let end = at + skipped.as_ref().map_or(1, |range| range.end - at);
        for byte in blanked.get_mut(skipped.unwrap_or(at..at)).into_iter().flatten() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        is_line_start = match rest.first() {
            Some(b'\n') => true,
            Some(byte) => is_line_start && byte.is_ascii_whitespace() && end == at + 1,
            None => false,
        };
        at = end;
    }
    // Whole characters were replaced, so that the text is still UTF-8.
    String::from_utf8_lossy(&blanked).into_owned()
}

/// The bytes to blank from `at` on; none where they are code.
fn skip(text: &str, at: usize, rest: &[u8], is_line_start: bool) -> Option<Range<usize>> {
    let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before)).copied().unwrap_or(b' ');
    let length = match rest {
        [b'/', b'/', ..] => line_length(rest),
        [b'#', ..] if is_line_start => line_length(rest),
        [b'/', b'*', ..] => find(rest, b"*/", 2),
        [b'R', b'"', ..] if !is_word(char::from(before)) || b"8uUL".contains(&before) => raw_length(rest),
        [b'"', ..] => literal_length(rest, b'"'),
        // After a digit or a letter of a number it separates digits: 1'000.
        [b'\'', ..] if !is_digit_separator(text, at) => literal_length(rest, b'\''),
        _ => return None,
    };
    Some(at..at + length)
}

/// Up to the end of the line, and on where it ends with a backslash.
fn line_length(rest: &[u8]) -> usize {
    let mut before = b' ';
    for (length, byte) in rest.iter().enumerate() {
        if *byte == b'\n' && before != b'\\' {
            return length;
        }
        before = *byte;
    }
    rest.len()
}

fn literal_length(rest: &[u8], quote: u8) -> usize {
    let mut is_escaped = false;
    for (index, byte) in rest.iter().enumerate().skip(1) {
        match *byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'\n' => return index,
            byte if byte == quote => return index + 1,
            _ => {}
        }
    }
    rest.len()
}

/// R"delimiter( … )delimiter"
fn raw_length(rest: &[u8]) -> usize {
    let delimiter = rest.iter().skip(2).take_while(|byte| **byte != b'(').copied();
    let end: Vec<u8> = std::iter::once(b')').chain(delimiter).chain([b'"']).collect();
    find(rest, &end, 2)
}

fn find(rest: &[u8], end: &[u8], from: usize) -> usize {
    let found = rest.windows(end.len()).skip(from).position(|window| window == end);
    found.map_or(rest.len(), |at| from + at + end.len())
}

fn is_digit_separator(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or("");
    let number = before.rsplit(|it: char| !is_word(it) && it != '\'').next().unwrap_or("");
    number.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name line+count` of each function.
    fn found(text: &str) -> Vec<String> {
        let functions = functions(text).expect("the braces balance");
        functions.iter().map(|it| format!("{} {}+{}", it.name, it.line, it.line_count)).collect()
    }

    #[test]
    fn functions_are_found_in_namespaces_and_classes() {
        let text = "\
namespace flux {

int free(int n)
{
    if (n) { return 1; }
    return 0;
}

class Lock final : public Base {
public:
    Lock() : first_{1}, second_(2)
    {
    }
    ~Lock() { close(); }
    bool operator()(int) const noexcept(true) { return true; }
    bool operator==(const Lock &) const { return true; }
private:
    int first_{3}, second_ = 4;
};

} // namespace flux
";
        let expected = ["free 3+5", "Lock 11+3", "~Lock 14+1", "operator 15+1", "operator 16+1"];
        assert_eq!(found(text), expected);
    }

    #[test]
    fn a_function_that_is_a_try_block_is_one() {
        assert_eq!(found("int f(int n)\ntry {\n    g();\n} catch (...) {\n    h();\n}\n"), ["f 1+6"]);
    }

    #[test]
    fn templates_and_attributes_do_not_hide_functions() {
        let header = "template <typename T, std::size_t N = (4 > 3)>\nrequires (sizeof(T) > 4)\n[[nodiscard]]";
        assert_eq!(found(&format!("{header} auto f(T t) -> int {{\n}}\n")), ["f 1+4"]);
        assert_eq!(found("class alignas(64) [[maybe_unused]] Slot {\n    void run() {}\n};\n"), ["run 2+1"]);
        assert_eq!(found("struct Point at(int n)\n{\n}\n"), ["at 1+3"]);
        assert_eq!(found("TEST(Lock, IsFair)\n{\n}\n"), ["TEST 1+3"]);
        assert_eq!(found("extern \"C\" {\nvoid f() {}\n}\nextern \"C\" int g() {\n}\n"), ["f 2+1", "g 4+2"]);
    }

    #[test]
    fn other_braces_are_no_functions() {
        let text = "\
constexpr node_info nodes[] = {
    {\"Listen\", f({1}), 5},
};
std::atomic<int> count{0};
enum class mode : int { read, write };
auto square = [](int n) { return n * n; };
void declared(std::vector<int> v = {1, 2});
";
        assert_eq!(found(text), [""; 0]);
    }

    #[test]
    fn literals_comments_and_directives_have_no_braces() {
        let text = "\
#define OPEN {
#define TWO_LINES { \\
    {
// {
/* { */
const char *a = \"{\\\"{\", *b = R\"x({)\")x\";
int million = 1'000'000; char brace = '{', quote = '\\'';
void f() {} // }
";
        assert_eq!(found(text), ["f 8+1"]);
    }

    #[test]
    fn what_does_not_balance_is_an_error_at_its_line() {
        assert_eq!(functions("void f() {\n"), Err(2));
        assert_eq!(functions("namespace a {\nnamespace b {\n}\n"), Err(1));
        assert_eq!(functions("void f() {}\n}\n"), Err(2));
        assert_eq!(functions("#if A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}\n"), Err(7));
    }

    #[test]
    fn blanking_keeps_lines_and_code() {
        assert_eq!(blank("a \"é\"; // b\n#x\nc"), "a     ;     \n  \nc");
    }
}
