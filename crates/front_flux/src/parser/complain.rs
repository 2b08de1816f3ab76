//! What the parser says of mistakes: headline, mark and help of each.

use super::{Parsed, Parser, Reported, advice};
use crate::ids;
use crate::token::{Token, TokenKind};
use flux_diagnostic::Diagnostic;
use flux_source::Span;
use std::fmt;

impl<'text> Parser<'text, '_> {
    /// Reports a mistake, unless it is that the file ends, where an open comment has swallowed the rest.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.has_mistake = true;
        if !(self.syntax.truncated && self.at(TokenKind::End)) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports a mistake after which the rule cannot go on, unless an earlier one in the statement may be the reason.
    pub(super) fn fail<T>(&mut self, diagnostic: Diagnostic) -> Parsed<T> {
        if !self.has_mistake {
            self.report(diagnostic);
        }
        Err(Reported)
    }

    /// Fails because something else should be here; `place` says where: "after `source`", and `help` what to write,
    /// unless the token that was found is wrong by itself.
    pub(super) fn fail_expecting<T>(
        &mut self,
        expected: &str,
        place: fmt::Arguments,
        help: fmt::Arguments,
    ) -> Parsed<T> {
        let mut diagnostic = self.unexpected(expected, place);
        diagnostic.help.get_or_insert_with(|| help.to_string());
        self.fail(diagnostic)
    }

    /// Says what should be here. A token that is wrong by itself is the better explanation.
    pub(super) fn unexpected(&self, expected: &str, place: fmt::Arguments) -> Diagnostic {
        let found = self.peek();
        match found.kind {
            TokenKind::Other => self.stray(found).label(format!("{expected} is expected here")),
            TokenKind::Text { closed: false } => self.unterminated(found.span),
            _ => {
                let headline = format!("expected {expected} {place}, found {}", self.describe(found));
                // The end of a file is shown as the place after the last token, on a line that has text.
                let span = if found.kind == TokenKind::End { self.after_previous() } else { found.span };
                Diagnostic::error(ids::UNEXPECTED_TOKEN, headline, span)
            }
        }
    }

    /// A token as a message quotes it; long ones are cut.
    pub(super) fn describe(&self, token: Token) -> String {
        match token.kind {
            TokenKind::Word | TokenKind::Number | TokenKind::Other => format!("`{}`", self.cut(token)),
            kind => kind.name().to_owned(),
        }
    }

    /// The spelling of a token, cut where it is long.
    pub(super) fn cut(&self, token: Token) -> String {
        let spelling = self.spelling(token);
        match spelling.char_indices().nth(40) {
            Some((end, _)) => format!("{}…", spelling.get(..end).unwrap_or("")),
            None => spelling.to_owned(),
        }
    }

    /// The empty span after the last token taken: where something is missing.
    pub(super) fn after_previous(&self) -> Span {
        let previous = self.previous().span;
        Span { start: previous.end, ..previous }
    }

    fn stray(&self, token: Token) -> Diagnostic {
        let character = self.spelling(token);
        let headline = format!("the character `{character}` has no meaning in Flux");
        let diagnostic = Diagnostic::error(ids::STRAY_CHARACTER, headline, token.span);
        match character {
            "“" | "”" | "„" | "'" | "‘" | "’" => {
                diagnostic.help("strings are in straight double quotes: `\"`")
            }
            "–" | "—" | "−" => diagnostic.help("the arrow and the minus sign are written with a plain `-`"),
            "#" => diagnostic.help(advice::for_hash(self.spelling(self.second()))),
            "|" => diagnostic.help("steps are joined by `->`, and branches that run concurrently by `&`: `(A & B)`"),
            "⟹" | "⟶" | "⇨" | "➔" | "➜" | "➝" | "↦" | "⟼" | "⇢" | "➡" | "›" | "»" => {
                diagnostic.help("the arrows are `->` and `=>`")
            }
            "%" => diagnostic.help("comments start with `//`"),
            _ => diagnostic.help("remove it"),
        }
    }

    fn unterminated(&self, span: Span) -> Diagnostic {
        Diagnostic::error(ids::UNTERMINATED_STRING, "this string has no closing quote", span)
            .help("write `\"` where it ends; a string is on one line")
    }

    /// Fails because `open`, the bracket of `list`, is not closed.
    pub(super) fn fail_unclosed<T>(&mut self, open: Token, close: TokenKind, list: fmt::Arguments) -> Parsed<T> {
        let headline = format!("{} of {list} is never closed", open.kind.name());
        let close = close.name();
        let diagnostic = Diagnostic::error(ids::UNCLOSED_BRACKET, headline, self.after_previous())
            .label(format!("{close} is missing"))
            .mark(open.span, "opened here")
            .help(format!("write {close} there, or remove the {}", open.kind.name()));
        self.fail(diagnostic)
    }

    pub(super) fn report_missing_semicolon(&mut self, place: fmt::Arguments) {
        let headline = format!("missing `;` {place}");
        let span = self.after_previous();
        let diagnostic = Diagnostic::error(ids::MISSING_SEMICOLON, headline, span).label("`;` is missing");
        self.report(diagnostic.help("every statement ends with `;`"));
    }

    pub(super) fn report_wrong_arrow(&mut self, found: Token, right: &str, place: fmt::Arguments) {
        let wrong = self.spelling(found);
        let headline = format!("`{wrong}` {place} should be `{right}`");
        let help = match right {
            "->" => "`->` joins the steps of a flow",
            "=" => "a flow is `Name = …;`, a source is `source Name => …;`",
            _ => "`=>` leads from inputs to outputs, from a source to its target, from an error to its handler",
        };
        self.report(Diagnostic::error(ids::WRONG_ARROW, headline, found.span).help(help));
    }

    /// Fails because `word` is reserved, which is said of each such word once.
    pub(super) fn fail_reserved<T>(&mut self, word: &'text str, span: Span) -> Parsed<T> {
        if self.named_badly.insert(word) {
            let headline = format!("`{word}` is a reserved word and cannot be a name");
            self.report(Diagnostic::error(ids::RESERVED_WORD, headline, span).help("choose another name"));
        }
        Err(Reported)
    }

    /// Reports a word that cannot be a name, once; `why` completes "cannot be a name, as".
    pub(super) fn report_bad_name(&mut self, word: &'text str, span: Span, why: &str, help: fmt::Arguments) {
        if self.named_badly.insert(word) {
            let headline = format!("`{word}` cannot be a name, as {why}");
            self.report(Diagnostic::error(flux_front::ids::INVALID_NAME, headline, span).help(help.to_string()));
        }
        self.has_mistake = true;
    }
}
