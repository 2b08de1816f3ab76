//! What the parser says of mistakes: headline, mark and help of each.

use super::{Parsed, Parser, Reported, STARTERS};
use crate::ids as own_ids;
use flux_diagnostic::Diagnostic;
use flux_front_flux::ids;
use flux_front_flux::token::{Token, TokenKind};
use flux_source::Span;
use std::fmt;

impl<'text> Parser<'text, '_> {
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.has_mistake = true;
        self.diagnostics.push(diagnostic);
    }

    /// Reports a mistake after which the rule cannot go on, unless an earlier one in the statement may be the reason.
    pub(super) fn fail<T>(&mut self, diagnostic: Diagnostic) -> Parsed<T> {
        if !self.has_mistake {
            self.report(diagnostic);
        }
        Err(Reported)
    }

    /// Reports a declaration that does not begin in the first column; it is read nevertheless.
    pub(super) fn check_first_column(&mut self) {
        let next = self.next();
        if self.column == 0 || !STARTERS.contains(&self.spelling(next)) {
            return;
        }
        let headline = format!("`{}` is not in the first column", self.spelling(next));
        let error = Diagnostic::error(own_ids::INDENTATION, headline, next.span);
        self.report(error.help("declarations are not indented: begin the line with it"));
        self.has_mistake = false;
    }

    /// Fails because something else should be here; `place` says where: "after `let`", and `help` what to write, unless
    /// the token that was found is wrong by itself.
    pub(super) fn fail_expecting<T>(&mut self, expected: &str, place: fmt::Arguments, help: &str) -> Parsed<T> {
        let found = self.peek();
        let diagnostic = match found.kind {
            TokenKind::Other if self.is_stray(found) => self.stray(found).label(format!("{expected} is expected here")),
            TokenKind::Text { closed: false } => {
                Diagnostic::error(ids::UNTERMINATED_STRING, "this string has no closing quote", found.span)
                    .help("write `\"` where it ends; a string is on one line")
            }
            _ => {
                let headline = format!("expected {expected} {place}, found {}", self.describe(found));
                Diagnostic::error(ids::UNEXPECTED_TOKEN, headline, found.span).help(self.habit(found).unwrap_or(help))
            }
        };
        self.fail(diagnostic)
    }

    /// What to write in place of what other languages have here, or of a line that begins too far right.
    fn habit(&self, found: Token) -> Option<&'static str> {
        Some(match (self.spelling(self.previous()), self.spelling(found)) {
            ("return", _) => "a function gives the value of its last line, without a word for that",
            ("while", _) => "loops go through what is there, so that they end: `for x in xs:`",
            ("else", "if") => "write `elif` for `else if`",
            (_, "&") => "write `and` for `&&`",
            ("|", "|") => "write `or` for `||`",
            ("+" | "-" | "*", "=") => "write `x := x + 1`",
            _ if found.starts_line && found.kind != TokenKind::End => {
                "a line that is further right than the one above goes on with that: begin it in the same column"
            }
            _ => return None,
        })
    }

    /// Takes the `:` that a block stands below. Where it is missing at the end of a line that is said, and all is as if
    /// it were there.
    pub(super) fn colon(&mut self, place: fmt::Arguments, help: &str) -> Parsed<()> {
        if self.take(TokenKind::Colon).is_some() {
            return Ok(());
        }
        if self.at(TokenKind::Equals) {
            return self.fail_expecting("`:`", place, "two values are compared by `==`");
        }
        if self.brackets > 0 || !self.next().starts_line {
            return self.fail_expecting("`:`", place, help);
        }
        if !self.has_mistake {
            let headline = format!("expected `:` {place}, found the end of the line");
            let error = Diagnostic::error(ids::UNEXPECTED_TOKEN, headline, self.after_previous());
            self.report(error.label("here").help(help));
        }
        Ok(())
    }

    /// A token as a message quotes it; long ones are cut.
    fn describe(&self, token: Token) -> String {
        let spelling = self.spelling(token);
        match token.kind {
            TokenKind::End if self.next().kind == TokenKind::End => "the end of the file".to_owned(),
            TokenKind::End => "the end of the line".to_owned(),
            TokenKind::Word | TokenKind::Number | TokenKind::Other => match spelling.char_indices().nth(40) {
                Some((end, _)) => format!("`{}…`", spelling.get(..end).unwrap_or("")),
                None => format!("`{spelling}`"),
            },
            kind => kind.name().to_owned(),
        }
    }

    /// Where in the statement the next token stands.
    pub(super) fn place(&self) -> String {
        match self.position > self.first {
            true => format!("after {}", self.describe(self.previous())),
            false => "here".to_owned(),
        }
    }

    /// Whether a character means nothing in this language.
    fn is_stray(&self, token: Token) -> bool {
        !matches!(self.spelling(token), "|" | "+" | "/")
    }

    fn stray(&self, token: Token) -> Diagnostic {
        let character = self.spelling(token);
        let headline = format!("the character `{character}` has no meaning in FLICK");
        let diagnostic = Diagnostic::error(ids::STRAY_CHARACTER, headline, token.span);
        match character {
            "“" | "”" | "„" | "'" | "‘" | "’" => {
                diagnostic.help("strings are in straight double quotes: `\"`")
            }
            "–" | "—" | "−" => {
                diagnostic.help("the minus sign, and a way that a channel does not have, is a plain `-`")
            }
            "%" => diagnostic.help("the remainder is `a mod b`"),
            _ => diagnostic.help("remove it"),
        }
    }

    /// Fails because `open`, the bracket of `list`, is not closed.
    pub(super) fn fail_unclosed<T>(&mut self, open: Token, close: TokenKind, list: fmt::Arguments) -> Parsed<T> {
        let headline = format!("{} of {list} is never closed", open.kind.name());
        let close = close.name();
        let diagnostic = Diagnostic::error(ids::UNCLOSED_BRACKET, headline, self.after_previous())
            .label(format!("{close} is missing"))
            .mark(open.span, "opened here")
            .help(format!("write {close} there; lines that go on with a declaration are indented"));
        self.fail(diagnostic)
    }

    /// Fails because `word` is reserved.
    pub(super) fn fail_reserved<T>(&mut self, word: &'text str, span: Span) -> Parsed<T> {
        let headline = format!("`{word}` is a reserved word and cannot be a name");
        self.fail(Diagnostic::error(ids::RESERVED_WORD, headline, span).help("choose another name"))
    }

    /// Fails because `word`, which goes on with an `if`, begins a statement.
    pub(super) fn fail_without_if<T>(&mut self, word: &str) -> Parsed<T> {
        let headline = format!("no `if` is above this `{word}` in its column");
        let error = Diagnostic::error(ids::UNEXPECTED_TOKEN, headline, self.peek().span);
        self.fail(error.help("begin it in the column of its `if`, below what is done then; `else` comes last"))
    }

    /// Fails because a line stands in no column of the blocks that are open.
    pub(super) fn report_indentation(&mut self, span: Span, block: Span) {
        let headline = "this line is further left than its block, and further right than what is around it";
        let error = Diagnostic::error(own_ids::INDENTATION, headline, span).mark(block, "the block begins here");
        self.report(error.help("indent it as the other lines of the block, or as those around it"));
    }

    /// Reports the first line that a tab indents: how far that is depends on who looks.
    pub(super) fn check_tabs(&mut self) {
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
            let tab = line.get(..blank).and_then(|indentation| indentation.find('\t'));
            if let Some(tab) = tab.filter(|_| !line.trim().is_empty()) {
                let span = Span::new(self.next().span.file, at + tab..at + tab + 1);
                let error = Diagnostic::error(own_ids::INDENTATION, "this line is indented by a tab", span);
                self.report(error.help("indent by spaces: which lines belong together must not depend on an editor"));
                return;
            }
            at += line.len();
        }
    }
}
