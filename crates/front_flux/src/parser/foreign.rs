//! What people write in bodies who know other languages: loops on a condition, `+=`, `return`, ranges. Each gets a
//! message that says what to write instead, and the rest of the body is read.

use super::{Parsed, Parser};
use crate::body::Statement;
use crate::ids;
use crate::token::TokenKind;
use flux_diagnostic::Diagnostic;
use flux_ir::compute::Operator;
use flux_source::Span;

/// What `for` can do.
const ITERATES: &str = "`for` iterates over a list; there are no ranges";

/// What to write in place of a range.
const LISTS: &str = "write a list, `for x in [1, 2, 3] { … }`, take one as an input, or write the loop in C++";

impl<'text> Parser<'text, '_> {
    /// Fails where a statement of another language is, and says what to write instead; none where there is no such
    /// statement. A loop's own statements are read.
    pub(super) fn foreign_statement(&mut self) -> Parsed<Option<Statement<'text>>> {
        let first = self.peek();
        if let Some((span, headline, help)) = self.foreign_assignment() {
            return self.fail_foreign(span, &headline, help);
        }
        let word = self.spelling(first);
        if word == "while" {
            self.report_foreign(
                first.span,
                "there is no `while`: every body ends",
                "iterate over a list, `for x in list { … }`, or write the loop in C++".to_owned(),
            );
            self.bump();
            let condition = self.value()?;
            return Ok(Some(Statement::If(condition, self.block("the loop")?, vec![])));
        }
        let (headline, help) = match word {
            "for" => (ITERATES.to_owned(), LISTS.to_owned()),
            "return" => {
                let help = match self.output {
                    Some(output) => format!("a body assigns its outputs: write `{output} = …;`"),
                    None => "remove it: a body ends at its `}`, and a predicate with its condition".to_owned(),
                };
                ("there is no `return`".to_owned(), help)
            }
            "break" | "continue" => {
                let help = "choose the elements: `for x in [for y in list if … : y] { … }`".to_owned();
                (format!("there is no `{word}`: a loop goes through its whole list"), help)
            }
            "elif" | "elsif" | "elseif" => (format!("there is no `{word}`"), "write `else if … { … }`".to_owned()),
            "switch" | "match" => {
                let help = "write `if … { … } else if … { … } else { … }`".to_owned();
                (format!("there is no `{word}`"), help)
            }
            "throw" | "raise" => (format!("there is no `{word}`"), "a body fails by `fail 404;`".to_owned()),
            _ if self.second().kind == TokenKind::Word && self.token(self.position + 2).kind == TokenKind::Equals => {
                let name = self.spelling(self.second());
                (format!("`{word} {name}` declares nothing"), format!("write `let {name} = …;`"))
            }
            _ if first.kind == TokenKind::Word && self.second().kind == TokenKind::OpenParenthesis => {
                let help =
                    format!("name what it gives, `let x = {word}(…);`, or make a node of it, and a step of the flow");
                (format!("`{word}(…)` alone does nothing: bodies have no side effects"), help)
            }
            _ => return Ok(None),
        };
        self.fail_foreign(first.span, &headline, help)
    }

    /// Whether a word comes that starts a statement in other languages. `match` and `raise` may also be names, as in
    /// `match > 3`.
    pub(super) fn at_foreign_word(&self) -> bool {
        let is_foreign = match self.spelling(self.peek()) {
            "while" | "return" | "break" | "continue" | "switch" | "throw" => true,
            "match" | "raise" => matches!(self.second().kind, TokenKind::OpenParenthesis | TokenKind::Word),
            _ => false,
        };
        is_foreign || self.foreign_assignment().is_some()
    }

    /// Whether a loop of C comes, `for (int i = 0; …)`.
    pub(super) fn at_foreign_for(&self) -> bool {
        self.at_word("for") && self.second().kind == TokenKind::OpenParenthesis
    }

    /// `x += …`, `x[0] -= …`, `x++`: where it is, what is wrong, and what to write.
    fn foreign_assignment(&self) -> Option<(Span, String, String)> {
        if !self.at(TokenKind::Word) {
            return None;
        }
        let has_key = self.second().kind == TokenKind::OpenBracket;
        let after = if has_key { self.after_bracket() } else { self.position + 1 };
        let (sign, second) = (self.token(after), self.token(after + 1));
        let (operator, end) = (self.spelling(sign), self.spelling(second));
        let is_operator = matches!(operator, "+" | "-" | "*" | "/" | "%");
        let is_step = matches!(operator, "+" | "-") && end == operator;
        if sign.span.end != second.span.start || !is_operator || !(is_step || second.kind == TokenKind::Equals) {
            return None;
        }
        let place = self.peek().span.to(self.token(after - 1).span);
        let place = self.text.get(place.range()).unwrap_or_default();
        let value = if is_step { "1" } else { self.short_value(after + 2) };
        let help = format!("write `{place} = {place} {operator} {value};`");
        Some((sign.span.to(second.span), format!("there is no `{operator}{end}`"), help))
    }

    /// The text from the token at `start` to the `;` of the statement, where that is short.
    fn short_value(&self, start: usize) -> &'text str {
        let end = (start..start + 16).find(|position| self.token(*position).kind == TokenKind::Semicolon);
        let span = end.filter(|end| *end > start).map(|end| self.token(start).span.to(self.token(end - 1).span));
        span.and_then(|span| self.text.get(span.range())).filter(|text| !text.contains('\n')).unwrap_or("…")
    }

    /// The operator that is meant by the one token that comes, and how it is written: `and`, `or`, and `=` in a value.
    pub(super) fn meant_operator(&self) -> Option<(Operator, &'static str)> {
        match self.spelling(self.peek()) {
            "=" => Some((Operator::Equal, "==")),
            "and" => Some((Operator::And, "&&")),
            "or" => Some((Operator::Or, "||")),
            _ => None,
        }
    }

    /// Reports the operator that comes, of so many tokens, where it is another that is meant.
    pub(super) fn refuse_meant_operator(&mut self, tokens: usize) {
        let Some((operator, sign)) = self.meant_operator().filter(|_| tokens == 1) else { return };
        let token = self.peek();
        let help = format!("write `{sign}`");
        let error = match operator {
            Operator::Equal => Diagnostic::error(ids::MISPLACED_EQUALS, "`=` assigns; compare with `==`", token.span),
            _ => {
                let headline = format!("`{}` is not an operator", self.spelling(token));
                Diagnostic::error(ids::FOREIGN_STATEMENT, headline, token.span)
            }
        };
        self.report(error.help(help));
    }

    /// Reports a range, `..n` after what a loop begins with, and takes it.
    pub(super) fn refuse_range(&mut self) -> Parsed<()> {
        if !self.at_range() {
            return Ok(());
        }
        let start = self.position;
        while matches!(self.peek().kind, TokenKind::Dot | TokenKind::Equals) {
            self.bump();
        }
        let span = self.span_from(start);
        self.report_foreign(span, ITERATES, LISTS.to_owned());
        if !matches!(self.peek().kind, TokenKind::OpenBrace | TokenKind::Colon | TokenKind::CloseBracket) {
            self.value()?;
        }
        Ok(())
    }

    fn report_foreign(&mut self, span: Span, headline: &str, help: String) {
        self.body_is_wrong = true;
        self.report(Diagnostic::error(ids::FOREIGN_STATEMENT, headline, span).help(help));
    }

    fn fail_foreign<T>(&mut self, span: Span, headline: &str, help: String) -> Parsed<T> {
        self.fail(Diagnostic::error(ids::FOREIGN_STATEMENT, headline, span).help(help))
    }
}
