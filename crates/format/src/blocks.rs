//! What is in the braces of a record, an enumeration, a message, or a computed node.
//!
//! If the author ended the line after the `{`, each statement in it has its own line, indented by two more columns, and
//! so has the `}`. Otherwise all of it stays on one line.

use crate::pieces::{Piece, StatementKind, closes, is_comment, is_spaced_in_type, merge, opens};
use flux_front_flux::token::{Token, TokenKind};

/// The braces that are open.
pub struct Blocks<'text> {
    text: &'text str,
    kind: StatementKind,
    breaks_all: bool,
    /// Each with whether it is broken into lines, and in how many brackets its statements are.
    open: Vec<(bool, usize)>,
    depth: usize,
    /// The brackets that are open, each with whether a comprehension is in it.
    brackets: Vec<bool>,
    /// Each `?` whose `:` comes, in so many brackets.
    choices: Vec<usize>,
    /// The two tokens before: spelled so.
    last: [&'text str; 2],
    /// Whether what comes is the type of a variable.
    in_type: bool,
}

/// The words of bodies after which an expression starts.
const WORDS: [&str; 8] = ["if", "else", "let", "fail", "in", "for", "return", "switch"];

impl<'text> Blocks<'text> {
    /// None open.
    pub fn new(text: &'text str, kind: StatementKind, breaks_all: bool) -> Self {
        Self {
            text,
            kind,
            breaks_all,
            open: vec![],
            depth: 0,
            brackets: vec![],
            choices: vec![],
            last: [""; 2],
            in_type: false,
        }
    }

    /// Whether what comes is in braces, or closes them.
    pub fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Goes on after `token`; `next` is what comes then that is no comment.
    pub fn pass(&mut self, token: &Token, next: Option<&Token>) {
        self.depth += usize::from(opens(token.kind));
        self.depth = self.depth.saturating_sub(usize::from(closes(token.kind)));
        if opens(token.kind) {
            self.brackets.push(next.is_some_and(|next| self.spelling(next) == "for"));
        } else if closes(token.kind) {
            self.brackets.pop();
        }
        match token.kind {
            TokenKind::Question if !self.in_type && self.kind != StatementKind::Type => self.choices.push(self.depth),
            TokenKind::Colon if self.choices.last() == Some(&self.depth) => _ = self.choices.pop(),
            TokenKind::Semicolon => self.choices.clear(),
            _ => {}
        }
        self.in_type = match token.kind {
            TokenKind::Colon => self.after_variable(),
            TokenKind::Equals | TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseBrace => false,
            _ => self.in_type,
        };
        if !is_comment(token.kind) {
            self.last = [self.last[1], self.spelling(token)];
        }
        let has_blocks = matches!(self.kind, StatementKind::Declaration | StatementKind::Type | StatementKind::Unit);
        match token.kind {
            TokenKind::OpenBrace if has_blocks => {
                let is_broken = next.is_some_and(|next| self.are_apart(token, next));
                self.open.push((is_broken || self.breaks_all, self.depth));
            }
            TokenKind::CloseBrace => _ = self.open.pop(),
            _ => {}
        }
    }

    /// Whether `let` and a name come before.
    fn after_variable(&self) -> bool {
        self.kind == StatementKind::Declaration && self.last[0] == "let"
    }

    /// Says how `token` stands to those `before` it, itself in `depth` brackets.
    pub fn place(&self, piece: &mut Piece, before: &[Token], token: &Token, depth: usize) {
        let (Some((is_broken, inside)), Some(last)) = (self.open.last().copied(), before.last()) else { return };
        let level = self.open.len();
        let was_broken = self.are_apart(last, token);
        let is_end = token.kind == TokenKind::CloseBrace;
        let is_else = self.spelling(token) == "else";
        let code = before.iter().rev().find(|token| !is_comment(token.kind)).map_or(TokenKind::End, |token| token.kind);
        let starts_statement = matches!(code, TokenKind::OpenBrace | TokenKind::Semicolon) && depth <= inside
            || code == TokenKind::CloseBrace && !is_else && token.kind != TokenKind::Semicolon
            || self.kind == StatementKind::Type && code == TokenKind::Comma && depth <= inside;
        let (is_comment_here, after_comment) = (is_comment(token.kind), is_comment(last.kind));
        let breaks_here = is_broken && (starts_statement && code != TokenKind::Comma || is_end);
        let is_first = is_broken && code == TokenKind::OpenBrace && !is_comment_here;
        piece.starts_line = is_first
            || match is_comment_here || after_comment || code == TokenKind::Comma && starts_statement {
                true => was_broken,
                false => breaks_here,
            };
        let is_attribute = self.kind == StatementKind::Unit && self.is_attribute(token);
        piece.starts_line |= is_attribute && was_broken;
        piece.may_start_line = (last.kind == TokenKind::Comma || is_attribute) && !is_comment_here;
        piece.levels = match (is_end, starts_statement) {
            (true, _) => level - 1,
            (false, true) => level,
            (false, false) => level + 1 + depth.saturating_sub(inside),
        };
        let gap = self.between(last, token).matches('\n').count() > 1;
        piece.after_gap = piece.starts_line && gap && !is_end && last.kind != TokenKind::OpenBrace;
        piece.spaced = self.is_spaced(before, last, token) || merge(self.spelling(last), self.spelling(token));
    }

    fn is_spaced(&self, before: &[Token], first: &Token, second: &Token) -> bool {
        use TokenKind as T;
        let is_word = |token: &Token| WORDS.contains(&self.spelling(token));
        let adjoins = self.between(first, second).is_empty();
        if let (StatementKind::Unit, Some(spaced)) = (self.kind, self.is_spaced_in_unit(before, first, second)) {
            return spaced;
        }
        match (first.kind, second.kind) {
            _ if is_comment(first.kind) || is_comment(second.kind) => true,
            (_, T::Comma | T::Semicolon) | (T::Dot, _) | (_, T::Dot) => false,
            (T::OpenBrace | T::Comma | T::Semicolon, _) | (_, T::OpenBrace | T::CloseBrace) => true,
            _ if opens(first.kind) || closes(second.kind) => false,
            (_, T::Colon) if self.choices.last() == Some(&self.depth) => true,
            (_, T::Colon) => {
                let in_comprehension = self.brackets.last().is_some_and(|comprehension| *comprehension);
                self.kind == StatementKind::Type || in_comprehension || self.after_variable()
            }
            _ if self.in_type && first.kind != T::Colon && second.kind != T::Equals => {
                is_spaced_in_type(first.kind, second.kind)
            }
            _ if self.kind == StatementKind::Type && first.kind != T::Colon => {
                is_spaced_in_type(first.kind, second.kind)
            }
            (T::Equals | T::Less | T::Greater | T::Exclamation, T::Equals) => !adjoins,
            (T::Ampersand, T::Ampersand) => !adjoins,
            (T::Other, T::Other) => !adjoins,
            (T::Minus | T::Exclamation, _) if self.is_sign(before) => false,
            (T::Word | T::CloseBracket | T::CloseParenthesis, T::OpenParenthesis | T::OpenBracket) => is_word(first),
            _ => true,
        }
    }

    /// As [`Self::is_spaced`], of what only messages have: properties, attributes, `$$`, and fields without a name.
    fn is_spaced_in_unit(&self, before: &[Token], first: &Token, second: &Token) -> Option<bool> {
        use TokenKind as T;
        let mut code = before.iter().rev().filter(|token| !is_comment(token.kind)).skip(1);
        let begins = code.next().is_none_or(|token| matches!(token.kind, T::OpenBrace | T::CloseBrace | T::Semicolon));
        match (self.spelling(first), self.spelling(second)) {
            ("%", _) if begins => Some(false),
            ("&", "&") => Some(!self.between(first, second).is_empty()),
            ("&", _) if self.is_attribute(first) => Some(false),
            ("$", "$") => Some(false),
            ("$", "-") => Some(true),
            ("-", _)
                if before.len() > 1 && before.iter().rev().nth(1).is_some_and(|token| self.spelling(token) == "$") =>
            {
                Some(true)
            }
            (_, ":") | (":", _) => Some(true),
            _ if first.kind == T::Other && second.kind == T::Other && self.spelling(first) != self.spelling(second) => {
                Some(true)
            }
            _ => None,
        }
    }

    /// Whether a `&` is that of an attribute, and no half of `&&`.
    fn is_attribute(&self, token: &Token) -> bool {
        let range = token.span.range();
        let before = self.text.get(..range.start).unwrap_or_default();
        let after = self.text.get(range.end..).unwrap_or_default();
        token.kind == TokenKind::Ampersand && !before.ends_with('&') && !after.starts_with('&')
    }

    /// Whether the last of `tokens` is the sign of what follows, and does not join two values.
    fn is_sign(&self, tokens: &[Token]) -> bool {
        use TokenKind as T;
        let before = tokens.len().checked_sub(2).and_then(|index| tokens.get(index));
        before.is_none_or(|token| match token.kind {
            T::Word => WORDS.contains(&self.spelling(token)),
            T::Number | T::CloseParenthesis | T::CloseBracket | T::Text { .. } => false,
            _ => true,
        })
    }

    fn spelling(&self, token: &Token) -> &'text str {
        self.text.get(token.span.range()).unwrap_or_default()
    }

    fn between(&self, first: &Token, second: &Token) -> &'text str {
        self.text.get(first.span.range().end..second.span.range().start).unwrap_or_default()
    }

    fn are_apart(&self, first: &Token, second: &Token) -> bool {
        self.between(first, second).contains('\n')
    }
}
