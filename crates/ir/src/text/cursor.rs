//! Lines on their way in: what is left of one to read, and the spans at its end.

use super::ParseError;
use super::lexical;
use super::names::Labels;
use crate::arena::ArenaId;
use crate::name::Name;
use crate::program::{Constant, Mode, Parameter};
use crate::types::{Type, TypeNames};
use flux_source::{FileId, Span};

/// The lines of `text` that say something.
pub(super) fn lines(text: &str) -> Vec<Cursor<'_>> {
    let cursors = text.lines().zip(1..).map(|(line, number)| Cursor::new(line, number));
    cursors.filter(|cursor| !cursor.at_end() || cursor.spans.is_some()).collect()
}

/// The rest of a line.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    /// Without white space in front.
    rest: &'a str,
    line: usize,
    /// Those not yet taken; none where the line has no spans.
    spans: Option<&'a str>,
    /// The file of the span taken last.
    file: Option<FileId>,
}

impl<'a> Cursor<'a> {
    fn new(line: &'a str, number: usize) -> Self {
        let (rest, spans) = lexical::content_and_spans(line);
        Self { rest, line: number, spans, file: None }
    }

    /// The number of the line, from 1.
    pub(super) fn line(self) -> usize {
        self.line
    }

    /// An error on this line.
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError { line: self.line, message: message.into() }
    }

    /// The error that `wanted` is not what comes next.
    pub(super) fn expected(&self, wanted: &str) -> ParseError {
        let found: String = self.rest.chars().take(20).collect();
        let found = if found.is_empty() { "the end of the line".to_owned() } else { format!("`{found}`") };
        self.error(format!("expected {wanted}, found {found}"))
    }

    /// Whether the line ends in a `{`, that is, whether the lines after it are parts of what it declares.
    pub(super) fn opens(&self) -> bool {
        self.rest.ends_with('{')
    }

    /// Whether `token` comes next.
    pub(super) fn at(&self, token: &str) -> bool {
        self.rest.starts_with(token)
    }

    /// Whether a digit comes next.
    pub(super) fn at_digit(&self) -> bool {
        self.rest.starts_with(|first: char| first.is_ascii_digit())
    }

    /// Whether the word `word` comes next.
    pub(super) fn at_word(&self, word: &str) -> bool {
        lexical::word(self.rest) == word
    }

    /// Whether nothing is left.
    pub(super) fn at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes the next `length` bytes and the white space after them.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest.trim_start();
        taken
    }

    /// Takes `token` if it comes next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.at(token);
        if found {
            self.take(token.len());
        }
        found
    }

    /// Takes the word `word` if it comes next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.take(word.len());
        }
        found
    }

    /// Takes `token`.
    pub(super) fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// Takes the word `word`.
    pub(super) fn expect_word(&mut self, word: &str) -> Result<(), ParseError> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// The end of the line, all of its spans taken.
    pub(super) fn finish(self) -> Result<(), ParseError> {
        if !self.at_end() {
            return Err(self.expected("the end of the line"));
        }
        if self.spans.is_some_and(|spans| !spans.is_empty()) {
            return Err(self.error("more spans than things on the line"));
        }
        Ok(())
    }

    /// The span of what comes next.
    pub(super) fn span(&mut self) -> Result<Span, ParseError> {
        let Some(spans) = self.spans else { return Ok(Span::default()) };
        let mut spans = Self { rest: spans, ..*self };
        if spans.at_end() {
            return Err(self.error("fewer spans than things on the line"));
        }
        let mut start = spans.number("a span")?;
        if spans.eat(":") {
            self.file = Some(FileId(start));
            start = spans.number("the start of the span")?;
        }
        let Some(file) = self.file else { return Err(self.error("the first span of a line names its file")) };
        spans.expect("-")?;
        let end = spans.number("the end of the span")?;
        self.spans = Some(spans.rest);
        Ok(Span { file, start, end })
    }

    /// A number without a sign; `what` says of what.
    pub(super) fn number<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, ParseError> {
        let length = self.rest.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(self.rest.len());
        let digits = self.rest.get(..length).unwrap_or("");
        let number = digits.parse().map_err(|_| self.expected(what))?;
        self.take(length);
        Ok(number)
    }

    /// A word, where one comes next.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        let length = lexical::word(self.rest).len();
        (length > 0).then(|| self.take(length))
    }

    /// A name; `what` says of what.
    pub(super) fn name(&mut self, what: &str) -> Result<String, ParseError> {
        if self.at("\"") {
            return self.text();
        }
        let length = lexical::bare_name(self.rest).len();
        if length > 0 { Ok(self.take(length).to_owned()) } else { Err(self.expected(what)) }
    }

    /// The name of a declaration, its module before it; `what` says of what.
    pub(super) fn declared_name(&mut self, what: &str) -> Result<Name, ParseError> {
        let first = self.name(what)?;
        if self.eat(".") { Ok(Name::of(Some(first), self.name(what)?)) } else { Ok(Name::new(first)) }
    }

    /// The index of a thing that is mentioned by its name, or by its index; `what` says what it is.
    pub(super) fn mention(&mut self, labels: &Labels, what: &str) -> Result<usize, ParseError> {
        if self.eat("#") {
            return self.number::<u32>("an index").map(|index| index as usize);
        }
        let name = self.declared_name(what)?;
        labels.find(&name).ok_or_else(|| self.error(format!("nothing is called `{name}` here; expected {what}")))
    }

    /// Which of the parameters `labels` is meant.
    pub(super) fn position(&mut self, labels: Option<&Labels>) -> Result<usize, ParseError> {
        if self.at_digit() {
            return self.number::<u32>("a position").map(|index| index as usize);
        }
        let Some(name) = self.word() else { return Err(self.expected("a parameter's name or position")) };
        let found = labels.and_then(|labels| labels.find(&Name::new(name)));
        found.ok_or_else(|| self.error(format!("no parameter is called `{name}` there")))
    }

    /// A quoted text, unescaped.
    pub(super) fn text(&mut self) -> Result<String, ParseError> {
        let quote = *self;
        let unclosed = || quote.error("the quoted text is not closed, or has an unknown escape");
        let mut characters = self.rest.char_indices();
        if !matches!(characters.next(), Some((_, '"'))) {
            return Err(self.expected("a quoted text"));
        }
        let mut text = String::new();
        loop {
            match characters.next().ok_or_else(unclosed)? {
                (at, '"') => {
                    self.take(at + 1);
                    return Ok(text);
                }
                (_, '\\') => text.push(escape(&mut characters).ok_or_else(unclosed)?),
                (_, other) => text.push(other),
            }
        }
    }

    /// A constant; `options` are those that it may mention.
    pub(super) fn constant(&mut self, options: &Labels) -> Result<Constant, ParseError> {
        if self.eat_word("option") {
            return self.mention(options, "an option").map(|index| Constant::Option(ArenaId::new(index)));
        }
        if self.at("\"") {
            return self.text().map(Constant::Text);
        }
        if self.at_word("true") || self.at_word("false") {
            return Ok(Constant::Boolean(self.word() == Some("true")));
        }
        let minus = self.eat("-");
        let magnitude: u64 = self.number("a constant")?;
        let value = if minus { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() };
        value.map(Constant::Integer).ok_or_else(|| self.error("the integer does not fit 64 bits"))
    }

    pub(super) fn mode(&mut self) -> Result<Mode, ParseError> {
        if self.eat("?") {
            return Ok(Mode::Read);
        }
        if self.eat("~") {
            return Ok(Mode::Intent);
        }
        if self.eat("!") { Ok(Mode::Write) } else { Err(self.expected("`?`, `~` or `!`")) }
    }

    /// A parameter; `types` are those that the program declares.
    pub(super) fn parameter(&mut self, types: &TypeNames) -> Result<Parameter, ParseError> {
        let span = self.span()?;
        let (ty, name) = self.typed(types)?;
        Ok(Parameter { ty, name, span })
    }

    /// A type and a name.
    pub(super) fn typed(&mut self, types: &TypeNames) -> Result<(Type, String), ParseError> {
        if self.at("\"") {
            let (spelling, name, array) = (self.text()?, self.text()?, self.text()?);
            return Ok((types.read(&spelling, &array), name));
        }
        let declaration = lexical::declaration(self.rest);
        let Some((spelling, name, array)) = lexical::split_declaration(declaration) else {
            return Err(self.expected("a type and a name"));
        };
        self.take(declaration.len());
        Ok((types.read(spelling, array), name.to_owned()))
    }

    /// `open`, items separated by commas, `close`.
    pub(super) fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        self.expect(open)?;
        if self.eat(close) {
            return Ok(vec![]);
        }
        let items = self.separated(",", &mut item)?;
        self.expect(close)?;
        Ok(items)
    }

    /// One item or more, with `separator` between them.
    pub(super) fn separated<T>(
        &mut self,
        separator: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut items = vec![item(self)?];
        while self.eat(separator) {
            items.push(item(self)?);
        }
        Ok(items)
    }
}

/// The character that an escape stands for, its backslash already read.
fn escape(characters: &mut std::str::CharIndices<'_>) -> Option<char> {
    match characters.next()?.1 {
        same @ ('"' | '\\') => Some(same),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'u' => {
            let (_, '{') = characters.next()? else { return None };
            let mut code = 0_u32;
            loop {
                match characters.next()?.1 {
                    '}' => return char::from_u32(code),
                    digit => code = code.checked_mul(16)?.checked_add(digit.to_digit(16)?)?,
                }
            }
        }
        _ => None,
    }
}
