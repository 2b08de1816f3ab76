//! C++ parameters: from a run of tokens to a type, a name and an array suffix.
//!
//! Flux does not know C++ types; it compares their spellings. So that `char *a` and `char*a` have one type, a type is
//! normalised: tokens are separated by one space where both are words, and as C++ is customarily written elsewhere:
//! `unsigned int`, `char **`, `std::map<int, T> *`, `char *const`. The last word of the run is the name.
//!
//! A parameter becomes a member of a struct that is copied from node to node, which decides what is refused here:
//! references, default values, functions, `void`, arrays without a size.

use crate::ids;
use crate::parser::too_deep;
use crate::syntax::{Name, Parameter, QualifiedName};
use crate::token::{Token, TokenKind};
use flux_diagnostic::{Diagnostic, Id};
use flux_ir::cpp_keyword::is_keyword;
use flux_source::{NESTING_LIMIT, Span};
use std::borrow::Cow;

/// Reads one parameter from `tokens`, those between two commas; linear in them. `text` is the whole file.
///
/// What is not a parameter is a diagnostic, of an empty run at `place`.
pub fn read_parameter<'text>(
    text: &'text str,
    tokens: &[Token],
    place: Span,
) -> Result<Parameter<'text>, Box<Diagnostic>> {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        let help = "write a type and a name, or remove the `,`";
        return Err(fault(ids::PARAMETER_NAME, "a parameter is missing here".into(), place, help));
    };
    let run = Run { text, tokens, span: first.span.to(last.span) };
    run.check_tokens()?;
    let (declarator, suffix) = tokens.split_at(array_suffix(tokens));
    let Some((name, type_tokens)) = declarator.split_last() else { return Err(run.unnamed()) };
    run.check_name(name, type_tokens)?;
    run.check_type(type_tokens)?;
    let word = spelling(text, name);
    let ty = normalise(text, type_tokens);
    if ty == "void" {
        let headline = format!("the parameter `{word}` is `void`, and which has no values");
        return Err(fault(ids::PARAMETER_TYPE, headline, run.span, "leave the list empty, or name another type"));
    }
    let name = Name { text: Cow::Borrowed(word), span: name.span };
    Ok(Parameter { ty, name, array: normalise(text, suffix), list: None, default: None, span: run.span })
}

/// Words of a type that are joined by points, as a name: what stands before the last point is a module there, too.
pub(crate) fn type_name(words: &str, span: Span) -> QualifiedName<'_> {
    let own = |own| QualifiedName { folder: None, module: None, own: Cow::Borrowed(own), span };
    let Some((before, last)) = words.rsplit_once('.').filter(|(before, _)| !before.is_empty()) else {
        return own(words);
    };
    let (folder, module) = before.rsplit_once('.').map_or((None, before), |(folder, module)| (Some(folder), module));
    QualifiedName { folder: folder.map(Cow::Borrowed), module: Some(Cow::Borrowed(module)), ..own(last) }
}

fn fault(id: Id, headline: String, span: Span, help: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(id, headline, span).help(help))
}

/// What is said of a type whose brackets are in each other too deep.
pub(crate) fn nested_too_deep(tokens: &[Token]) -> Option<Diagnostic> {
    use TokenKind::{CloseBracket, CloseParenthesis, Greater, Less, OpenBracket, OpenParenthesis};
    let mut depth = 0_usize;
    let innermost = tokens.iter().find(|token| {
        match token.kind {
            OpenParenthesis | OpenBracket | Less => depth += 1,
            CloseParenthesis | CloseBracket | Greater => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > NESTING_LIMIT
    })?;
    Some(too_deep(innermost.span).help("declare a record for the inner part, or a type in C++: `using name = …;`"))
}

/// The tokens of a parameter, and what is said of them where they are none.
struct Run<'text, 'tokens> {
    text: &'text str,
    tokens: &'tokens [Token],
    span: Span,
}

impl Run<'_, '_> {
    /// The whole of it, for messages.
    fn written(&self) -> String {
        normalise(self.text, self.tokens)
    }

    /// Refuses what no member of a struct can be.
    fn check_tokens(&self) -> Result<(), Box<Diagnostic>> {
        if let Some(error) = nested_too_deep(self.tokens) {
            return Err(Box::new(error));
        }
        let mut open: Vec<Token> = vec![];
        let mut before = TokenKind::End;
        for token in self.tokens {
            let at_top = open.is_empty();
            match token.kind {
                TokenKind::OpenParenthesis | TokenKind::OpenBracket | TokenKind::Less => open.push(*token),
                TokenKind::CloseParenthesis | TokenKind::CloseBracket | TokenKind::Greater => {
                    let opener = open.pop().unwrap_or(*token);
                    if !closes(opener.kind, token.kind) {
                        return Err(self.unbalanced(opener.span));
                    }
                    if before == TokenKind::OpenBracket {
                        return Err(self.unsized_array(token.span));
                    }
                }
                TokenKind::Ampersand if at_top => return Err(self.reference(token.span)),
                TokenKind::Word | TokenKind::DoubleColon | TokenKind::Dot | TokenKind::Asterisk => {}
                TokenKind::Text { .. } => return Err(self.foreign(token)),
                _ if at_top => return Err(self.foreign(token)),
                _ => {}
            }
            before = token.kind;
        }
        open.last().map_or(Ok(()), |opener| Err(self.unbalanced(opener.span)))
    }

    /// Refuses what has no name, `name` being the last token before an array suffix, or no type.
    fn check_name(&self, name: &Token, type_tokens: &[Token]) -> Result<(), Box<Diagnostic>> {
        let is_qualified =
            type_tokens.last().is_some_and(|before| matches!(before.kind, TokenKind::DoubleColon | TokenKind::Dot));
        match name.kind {
            TokenKind::Word if is_qualified || is_type_word(spelling(self.text, name)) => Err(self.unnamed()),
            TokenKind::Word if type_tokens.is_empty() => Err(self.untyped()),
            TokenKind::Word => Ok(()),
            TokenKind::CloseParenthesis => Err(self.function()),
            _ => Err(self.unnamed()),
        }
    }

    /// Refuses a type with two names in a row, between which a comma is missing: `int socket bool close`.
    fn check_type(&self, type_tokens: &[Token]) -> Result<(), Box<Diagnostic>> {
        let mut depth = 0_usize;
        for (left, right) in type_tokens.iter().zip(type_tokens.iter().skip(1)) {
            match left.kind {
                TokenKind::Less | TokenKind::OpenParenthesis => depth += 1,
                TokenKind::Greater | TokenKind::CloseParenthesis => depth = depth.saturating_sub(1),
                TokenKind::Word if depth == 0 && right.kind == TokenKind::Word => {
                    let (left, right) = (spelling(self.text, left), spelling(self.text, right));
                    let names = !is_keyword(right) && (!is_keyword(left) || is_built_in(left));
                    if names || !is_keyword(left) && is_built_in(right) {
                        return Err(self.uncommaed());
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn uncommaed(&self) -> Box<Diagnostic> {
        let headline = format!("a `,` is missing in the parameter `{}`", self.written());
        let help =
            "write a `,` after the first name; only types made of keywords have several words, as `unsigned int`";
        fault(ids::PARAMETER_TYPE, headline, self.span, help)
    }

    fn unnamed(&self) -> Box<Diagnostic> {
        let written = self.written();
        if written == "void" {
            let headline = "an empty list is written `()`, not `(void)`".into();
            return fault(ids::PARAMETER_NAME, headline, self.span, "leave out `void`");
        }
        if written == "..." {
            let headline = "`...` cannot be a parameter, as a node has a fixed number of values".into();
            return fault(ids::PARAMETER_TYPE, headline, self.span, "write each of them, or pass one `std::string`");
        }
        let gap = if written.ends_with('*') { "" } else { " " };
        let headline = format!("the parameter `{written}` has no name");
        fault(ids::PARAMETER_NAME, headline, self.span, format!("add one: `{written}{gap}value`"))
    }

    fn untyped(&self) -> Box<Diagnostic> {
        let word = self.written();
        let headline = format!("the parameter `{word}` is one word where a type and a name are needed");
        let help = format!("write its type before it, `int {word}`, or its name after it, `{word} value`");
        fault(ids::PARAMETER_NAME, headline, self.span, help)
    }

    fn function(&self) -> Box<Diagnostic> {
        let headline = format!("`{}` declares a function, which cannot be passed from node to node", self.written());
        fault(ids::PARAMETER_TYPE, headline, self.span, "name the type in a header: `using callback = …;`")
    }

    fn unbalanced(&self, bracket: Span) -> Box<Diagnostic> {
        let spelling = self.text.get(bracket.range()).unwrap_or("");
        let headline = format!("`{spelling}` in the parameter `{}` has no counterpart", self.written());
        let help = "write the other one, or remove this";
        Box::new(Diagnostic::error(ids::UNCLOSED_BRACKET, headline, bracket).label("this one").help(help))
    }

    fn unsized_array(&self, span: Span) -> Box<Diagnostic> {
        let headline = format!("the array `{}` has no size", self.written());
        fault(ids::PARAMETER_TYPE, headline, span, "write a size, or pass a pointer")
    }

    fn reference(&self, span: Span) -> Box<Diagnostic> {
        let headline = format!("the parameter `{}` is a reference", self.written());
        let help = "pass it by value or as a pointer: values are copied from node to node";
        fault(ids::PARAMETER_REFERENCE, headline, span, help)
    }

    fn foreign(&self, token: &Token) -> Box<Diagnostic> {
        let headline = format!("`{}` cannot be part of the parameter `{}`", spelling(self.text, token), self.written());
        let help = "a parameter is a C++ type and then a name: `image_tag *request`";
        fault(ids::PARAMETER_TYPE, headline, token.span, help)
    }
}

/// Whether `word` can end a type and never be a name. Other keywords may well be meant as names, which is reported
/// where names are checked.
fn is_type_word(word: &str) -> bool {
    const TYPE_WORDS: [&str; 18] = [
        "auto", "bool", "char", "char16_t", "char32_t", "char8_t", "const", "double", "float", "int", "long", "short",
        "signed", "struct", "unsigned", "void", "volatile", "wchar_t",
    ];
    TYPE_WORDS.contains(&word)
}

/// Whether `word` is, or is part of, the name of a type that C++ has by itself.
fn is_built_in(word: &str) -> bool {
    is_type_word(word) && !matches!(word, "const" | "volatile" | "struct")
}

fn closes(open: TokenKind, close: TokenKind) -> bool {
    matches!(
        (open, close),
        (TokenKind::OpenParenthesis, TokenKind::CloseParenthesis)
            | (TokenKind::OpenBracket, TokenKind::CloseBracket)
            | (TokenKind::Less, TokenKind::Greater)
    )
}

/// Where the array suffix of `tokens` starts: the brackets at its end, of which there may be several pairs.
fn array_suffix(tokens: &[Token]) -> usize {
    let mut start = tokens.len();
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().rev() {
        match token.kind {
            TokenKind::CloseBracket => depth += 1,
            TokenKind::OpenBracket => {
                depth = depth.saturating_sub(1);
                start = index;
            }
            _ if depth == 0 => break,
            _ => {}
        }
    }
    start
}

/// The spelling of `token`.
fn spelling<'text>(text: &'text str, token: &Token) -> &'text str {
    text.get(token.span.range()).unwrap_or("")
}

/// Writes `tokens` with the customary spaces.
pub(crate) fn normalise(text: &str, tokens: &[Token]) -> String {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return String::new() };
    let mut written = String::with_capacity(first.span.to(last.span).range().len());
    let mut before: Option<&Token> = None;
    for token in tokens {
        if before.is_some_and(|before| is_spaced(text, before, token)) {
            written.push(' ');
        }
        written.push_str(spelling(text, token));
        before = Some(token);
    }
    written
}

/// Whether a space goes between two neighbours.
fn is_spaced(text: &str, left: &Token, right: &Token) -> bool {
    use TokenKind::{
        Ampersand, Asterisk, CloseBracket, CloseParenthesis, Comma, DoubleColon, Equals, Greater, Less, Number,
        OpenBracket, OpenParenthesis, Word,
    };
    match (left.kind, right.kind) {
        (Comma | Equals, _) | (_, Equals) => true,
        (Word | Number | Greater | CloseParenthesis | CloseBracket, Word | Number) => true,
        (Asterisk | Ampersand | OpenParenthesis | OpenBracket | Less, Asterisk | Ampersand) => false,
        (_, Asterisk | Ampersand) => true,
        // `const ::image::Tag`, but `image::Tag`.
        (Word, DoubleColon) => is_keyword(spelling(text, left)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::lex;
    use flux_source::FileId;

    fn read(text: &str) -> Result<Parameter<'_>, Box<Diagnostic>> {
        let mut tokens = lex(FileId(0), text);
        tokens.retain(|token| !matches!(token.kind, TokenKind::End | TokenKind::Comment { .. }));
        read_parameter(text, &tokens, Span::default())
    }

    fn parts(text: &str) -> (String, String, String) {
        let parameter = read(text).unwrap();
        (parameter.ty, parameter.name.text.into_owned(), parameter.array)
    }

    fn id(text: &str) -> &'static str {
        read(text).unwrap_err().id.0
    }

    #[test]
    fn types_are_normalised() {
        for (text, ty, name, array) in [
            ("int socket", "int", "socket", ""),
            ("char*a", "char *", "a", ""),
            ("char **v", "char **", "v", ""),
            ("char * * v", "char **", "v", ""),
            ("unsigned   int\n n", "unsigned int", "n", ""),
            ("std::map<int,T> m", "std::map<int, T>", "m", ""),
            ("std :: map < int , T > * m", "std::map<int, T> *", "m", ""),
            ("std::vector<std::vector<char*>>v", "std::vector<std::vector<char *>>", "v", ""),
            ("std::vector<int>::iterator i", "std::vector<int>::iterator", "i", ""),
            ("memcached.Command *c", "memcached.Command *", "c", ""),
            ("int x[3]", "int", "x", "[3]"),
            ("char line [ MAX+1 ][2]", "char", "line", "[MAX+1][2]"),
            ("char *const p", "char *const", "p", ""),
            ("char const * p", "char const *", "p", ""),
            ("const ::image::Tag *t", "const ::image::Tag *", "t", ""),
            ("std::function<void(int&, char)> f", "std::function<void(int &, char)>", "f", ""),
            ("std::array<int, 4> /* four */ a", "std::array<int, 4>", "a", ""),
            ("struct image_tag *request", "struct image_tag *", "request", ""),
            ("__u8 *rgb_data", "__u8 *", "rgb_data", ""),
            ("T source", "T", "source", ""),
            ("Tag const *const t", "Tag const *const", "t", ""),
            ("long unsigned int volatile n", "long unsigned int volatile", "n", ""),
            ("std::map<const char *, unsigned long> m", "std::map<const char *, unsigned long>", "m", ""),
            ("enum color c", "enum color", "c", ""),
        ] {
            assert_eq!(parts(text), (ty.into(), name.into(), array.into()), "{text}");
        }
    }

    #[test]
    fn the_normal_form_is_a_fixed_point() {
        for text in ["std::map<int,std::vector<char*>>*const m", "unsigned long long n[2][N]", "A<B<C>,D(*)(int)>x"] {
            let (ty, name, array) = parts(text);
            let again = parts(&format!("{ty} {name}{array}"));
            assert_eq!(again, (ty, name, array));
        }
    }

    #[test]
    fn a_parameter_needs_a_type_and_a_name() {
        for text in ["int", "char *", "unsigned int", "std::string", "std::vector<int>", "socket", "void", "[3]"] {
            assert_eq!(id(text), "parameter-name", "{text}");
        }
        assert_eq!(read("").unwrap_err().id.0, "parameter-name");
    }

    #[test]
    fn references_are_refused_wherever_they_bind() {
        for text in ["int &x", "std::string&name", "T &&x", "const T & x"] {
            assert_eq!(id(text), "parameter-reference", "{text}");
        }
    }

    #[test]
    fn what_cannot_be_a_member_is_refused() {
        for text in [
            "int x = 3",
            "void (*f)(int)",
            "void x",
            "int x[]",
            "int flag : 1",
            "int \"x\"",
            "int 3",
            "int @x",
            "int x?",
            "int socket bool close",
            "image_tag *request int socket",
            "char *a char *b",
            "Tag a Tag b",
            "...",
        ] {
            assert_eq!(id(text), "parameter-type", "{text}");
        }
    }

    #[test]
    fn brackets_balance() {
        for text in ["std::map<int m", "int x[3", "T> x", "A<(B>) x"] {
            assert_eq!(id(text), "unclosed-bracket", "{text}");
        }
    }
}
