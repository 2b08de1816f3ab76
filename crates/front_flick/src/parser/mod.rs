//! From tokens to the syntax tree, by the offside rule.
//!
//! A hand-written descent through the grammar of `docs/flick.md`. Each block of lines has a column. A line that starts
//! there starts the next statement, one that starts further right goes on with the statement, and one that starts
//! further left ends the block. The parser sees the end of a statement as the end of its tokens ([`Parser::peek`]), so
//! no rule can run into the next one, and a mistake costs one statement. Time is linear in the text.
//!
//! Inside brackets lines may be longer: a bracket that closes may stand in any column.

mod block;
mod complain;
mod declaration;
mod expression;
mod types;

use crate::syntax::Syntax;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_front::taken::foreign_letters;
use flux_front_flux::ids;
use flux_front_flux::lexer::lex_with_hash_comments;
use flux_front_flux::parser::{too_deep, too_long};
use flux_front_flux::syntax::{Name, QualifiedName};
use flux_front_flux::token::{Token, TokenKind};
use flux_source::{CHAIN_LIMIT, FileId, NESTING_LIMIT, Span, deep};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

/// The words that cannot name anything.
pub const RESERVED: [&str; 20] = [
    "and", "elif", "else", "false", "filter", "fold", "foldt", "for", "fun", "if", "in", "let", "local", "map", "mod",
    "not", "or", "proc", "ref", "true",
];

/// The words that start a declaration.
pub const STARTERS: [&str; 5] = ["use", "type", "global", "proc", "fun"];

/// Reads `text`; what is wrong goes to `diagnostics`.
pub fn parse<'text>(file: FileId, text: &'text str, diagnostics: &mut Diagnostics) -> Syntax<'text> {
    let mut tokens = lex_with_hash_comments(file, text);
    if let Some(comment) = tokens.iter().find(|token| token.kind == TokenKind::Comment { closed: false }) {
        let opening = Span { end: comment.span.end.min(comment.span.start + 2), ..comment.span };
        let error = Diagnostic::error(ids::UNTERMINATED_COMMENT, "this comment is never closed", opening);
        diagnostics.push(error.label("opened here").help("write `*/` where it ends"));
    }
    tokens.retain(|token| !matches!(token.kind, TokenKind::Comment { .. }));
    let columns = columns(text, &tokens);
    let mut parser = Parser {
        text,
        tokens,
        columns,
        position: 0,
        column: 0,
        first: 0,
        brackets: 0,
        depth: 0,
        chain: 0,
        has_mistake: false,
        named_badly: HashSet::new(),
        diagnostics,
    };
    let mut syntax = Syntax::default();
    parser.check_tabs();
    while parser.next().kind != TokenKind::End {
        parser.begin(parser.next_column());
        parser.check_first_column();
        match parser.declaration() {
            Ok(declaration) => syntax.declarations.push(declaration),
            Err(Reported) => parser.skip_declaration(),
        }
    }
    syntax
}

/// The column of each token, in characters from 0; a tab goes to the next multiple of 8. O(text).
fn columns(text: &str, tokens: &[Token]) -> Vec<usize> {
    let (mut column, mut at) = (0_usize, 0_usize);
    let column_of = |token: &Token| {
        let start = token.span.range().start;
        for character in text.get(at..start).unwrap_or_default().chars() {
            column = match character {
                '\n' => 0,
                '\t' => (column / 8 + 1) * 8,
                '\u{feff}' => column,
                _ => column + 1,
            };
        }
        at = start;
        column
    };
    tokens.iter().map(column_of).collect()
}

/// A mistake was reported, and the rest of the statement is to be skipped.
struct Reported;

/// What a rule gives.
type Parsed<T> = Result<T, Reported>;

struct Parser<'text, 'run> {
    text: &'text str,
    /// Without comments.
    tokens: Vec<Token>,
    /// Of each token.
    columns: Vec<usize>,
    /// The next token.
    position: usize,
    /// That of the block.
    column: usize,
    /// Where the statement begins.
    first: usize,
    /// How many brackets are open.
    brackets: usize,
    /// How deep expressions and blocks are in each other.
    depth: usize,
    /// How many operators follow each other in the value that is being read, where that is most.
    chain: usize,
    /// Whether something was reported in the statement.
    has_mistake: bool,
    /// The names that were reported as none.
    named_badly: HashSet<&'text str>,
    diagnostics: &'run mut Diagnostics,
}

/// Tokens and the ends of statements.
impl<'text> Parser<'text, '_> {
    /// A statement begins, in this column.
    fn begin(&mut self, column: usize) {
        (self.column, self.first, self.brackets, self.has_mistake) = (column, self.position, 0, false);
    }

    /// The next token, whatever statement it is of.
    fn next(&self) -> Token {
        self.token(self.position)
    }

    /// The column of the next token.
    fn next_column(&self) -> usize {
        self.columns.get(self.position).copied().unwrap_or(0)
    }

    /// The token at `position`; beyond the last one, and it is the end, the end again.
    fn token(&self, position: usize) -> Token {
        let end = Token { kind: TokenKind::End, span: Span::default(), starts_line: true };
        self.tokens.get(position).or(self.tokens.last()).copied().unwrap_or(end)
    }

    /// Whether the statement ends before the token at `position`: that starts a line no further right than the
    /// statement.
    fn ends_before(&self, position: usize) -> bool {
        let token = self.token(position);
        if token.kind == TokenKind::End {
            return true;
        }
        let closes =
            matches!(token.kind, TokenKind::CloseParenthesis | TokenKind::CloseBracket | TokenKind::CloseBrace);
        let column = self.columns.get(position).copied().unwrap_or(0);
        position > self.first && token.starts_line && column <= self.column && !(closes && self.brackets > 0)
    }

    /// The token at `position` of the statement; the end where the statement ends before it.
    fn look(&self, position: usize) -> Token {
        let token = self.token(position);
        match (self.position..=position).any(|position| self.ends_before(position)) {
            true => Token { kind: TokenKind::End, span: self.after_previous(), starts_line: true },
            false => token,
        }
    }

    /// The next token of the statement; the end where the statement ends.
    fn peek(&self) -> Token {
        self.look(self.position)
    }

    fn second(&self) -> Token {
        self.look(self.position + 1)
    }

    /// The last token taken.
    fn previous(&self) -> Token {
        self.token(self.position.saturating_sub(1))
    }

    fn bump(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.position += 1;
        }
        token
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.peek().kind == kind
    }

    /// Takes the next token if it is of `kind`.
    fn take(&mut self, kind: TokenKind) -> Option<Token> {
        self.at(kind).then(|| self.bump())
    }

    fn spelling(&self, token: Token) -> &'text str {
        match token.kind {
            TokenKind::End => "",
            _ => self.text.get(token.span.range()).unwrap_or(""),
        }
    }

    fn at_word(&self, word: &str) -> bool {
        self.at(TokenKind::Word) && self.spelling(self.peek()) == word
    }

    /// Takes this word.
    fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Whether the next tokens, without space between them, are spelled so: `:=`, `...`.
    fn at_sign(&self, sign: &str) -> bool {
        let token = self.peek();
        let start = token.span.range().start;
        token.kind != TokenKind::End && self.text.get(start..).is_some_and(|rest| rest.starts_with(sign))
    }

    /// Takes a sign of several tokens.
    fn take_sign(&mut self, sign: &str) -> bool {
        let found = self.at_sign(sign);
        let end = self.peek().span.range().start + sign.len();
        while found && self.peek().kind != TokenKind::End && self.peek().span.range().start < end {
            self.bump();
        }
        found
    }

    /// From the token at `start` to the last one taken.
    fn span_from(&self, start: usize) -> Span {
        self.token(start).span.to(self.previous().span)
    }

    /// The empty span after the last token taken: where something is missing.
    fn after_previous(&self) -> Span {
        let previous = self.previous().span;
        Span { start: previous.end, ..previous }
    }

    /// Takes a token of `kind`; `place` says where it belongs: "after `let`", and `help` what to write.
    fn expect(&mut self, kind: TokenKind, place: fmt::Arguments, help: &str) -> Parsed<Token> {
        match self.take(kind) {
            Some(token) => Ok(token),
            None => self.fail_expecting(kind.name(), place, help),
        }
    }

    /// Takes a word; `place` says where it belongs.
    fn expect_word(&mut self, word: &str, place: fmt::Arguments, help: &str) -> Parsed<()> {
        match self.take_word(word) {
            true => Ok(()),
            false => self.fail_expecting(&format!("`{word}`"), place, help),
        }
    }

    /// Takes the bracket that opens a list.
    fn open(&mut self) -> Token {
        let token = self.bump();
        self.brackets += 1;
        token
    }

    /// Takes the bracket that closes `open`. `list` says what of: "the channels of `Memcached`".
    fn close(&mut self, open: Token, list: fmt::Arguments, help: &str) -> Parsed<()> {
        let kind = match open.kind {
            TokenKind::OpenBracket => TokenKind::CloseBracket,
            TokenKind::OpenBrace => TokenKind::CloseBrace,
            _ => TokenKind::CloseParenthesis,
        };
        if self.take(kind).is_none() {
            return match self.peek().kind {
                TokenKind::End => self.fail_unclosed(open, kind, list),
                _ => self.fail_expecting(&format!("`,` or {}", kind.name()), format_args!("in {list}"), help),
            };
        }
        self.brackets = self.brackets.saturating_sub(1);
        Ok(())
    }

    /// The statement ends here, or something is too much.
    fn end(&mut self, after: fmt::Arguments, help: &str) -> Parsed<()> {
        match self.at(TokenKind::End) {
            true => Ok(()),
            false => self.fail_expecting("the end of the line", after, help),
        }
    }

    /// Goes on to the line after that of the statement.
    fn skip_line(&mut self) {
        self.brackets = 0;
        self.position += usize::from(self.position == self.first && self.next().kind != TokenKind::End);
        while !self.ends_before(self.position) {
            self.position += 1;
        }
    }

    /// Goes on to the next line that starts a declaration: what is before it may belong to the one that is wrong.
    fn skip_declaration(&mut self) {
        loop {
            self.skip_line();
            let next = self.next();
            if next.kind == TokenKind::End || STARTERS.contains(&self.spelling(next)) {
                return;
            }
            self.first = self.position;
        }
    }

    /// One level deeper; whoever calls it goes back.
    fn nest(&mut self) -> Parsed<()> {
        self.depth += 1;
        match self.depth <= NESTING_LIMIT {
            true => Ok(()),
            false => {
                let error = too_deep(self.peek().span);
                let failed = self.fail(error.help("give parts of it names, by `let`, or make functions of them"));
                // The lines that follow belong to what is too deep.
                self.position = self.tokens.len().saturating_sub(1);
                failed
            }
        }
    }

    /// Goes on after an operator, unless too many follow each other. `chain` bounds how deep the tree of a value is.
    fn extend_chain(&mut self) -> Parsed<()> {
        self.chain += 1;
        match self.chain <= CHAIN_LIMIT {
            true => Ok(()),
            false => {
                let error = too_long(self.peek().span);
                self.fail(error.help("give parts of it names, by `let`"))
            }
        }
    }

    /// Runs a rule one level deeper.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let depth = self.depth;
        let result = deep(|| self.nest().and_then(|()| rule(self)));
        self.depth = depth;
        result
    }
}

/// Names.
impl<'text> Parser<'text, '_> {
    /// A name; `what` says of what: "a field", and `place` where.
    fn name(&mut self, what: &str, place: fmt::Arguments, help: &str) -> Parsed<Name<'text>> {
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return self.fail_expecting(what, place, help);
        }
        let word = self.spelling(token);
        if RESERVED.contains(&word) {
            return self.fail_reserved(word, token.span);
        }
        self.bump();
        self.check_letters(word, token.span);
        Ok(Name { text: Cow::Borrowed(word), span: token.span })
    }

    /// Reports a name whose letters are not those of a C++ name, once.
    fn check_letters(&mut self, word: &'text str, span: Span) {
        if !word.is_ascii() && self.named_badly.insert(word) {
            self.report(foreign_letters(word, span));
        }
    }

    /// A name that follows a point or is listed among its like: no word is reserved there.
    fn any_name(&mut self, what: &str, place: fmt::Arguments, help: &str) -> Parsed<Name<'text>> {
        let token = self.peek();
        match token.kind {
            TokenKind::Word => {
                self.bump();
                self.check_letters(self.spelling(token), token.span);
                Ok(Name { text: Cow::Borrowed(self.spelling(token)), span: token.span })
            }
            _ => self.fail_expecting(what, place, help),
        }
    }

    /// A name with its module before it, where it has one: `memcached.cmd`.
    fn qualified_name(&mut self, what: &str, place: fmt::Arguments, help: &str) -> Parsed<QualifiedName<'text>> {
        let mut parts = vec![self.name(what, place, help)?];
        while self.at(TokenKind::Dot) && self.second().kind == TokenKind::Word {
            self.bump();
            parts.push(self.any_name(what, format_args!("after `.`"), help)?);
        }
        let Some(own) = parts.pop() else { return Err(Reported) };
        let span = parts.first().map_or(own.span, |first| first.span.to(own.span));
        let module = parts.pop().map(|module| module.text);
        let before: Vec<_> = parts.iter().map(Name::as_str).collect();
        let folder = (!before.is_empty()).then(|| Cow::Owned(before.join(".")));
        Ok(QualifiedName { folder, module, own: own.text, span })
    }
}
