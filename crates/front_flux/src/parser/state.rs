//! State that Flux keeps: `state hits (text path) => (uint64 count) for 30m at most 10k;`.

use super::{Parsed, Parser};
use crate::ids;
use crate::quantity::{Quantity, Unit};
use crate::syntax::{Parameter, State, Statement};
use crate::token::TokenKind;
use flux_diagnostic::Diagnostic;
use flux_source::Span;
use std::collections::HashSet;

/// How a state is written.
const WRITE: &str = "a state is written `state hits (text path) => (uint64 count) for 30m at most 10k;`";
/// How many values there are at most where the author does not say.
const USUAL_MOST: u64 = 1 << 20;

impl<'text> Parser<'text, '_> {
    /// Whether a state is declared here, and not a node of this name.
    pub(super) fn starts_state(&self) -> bool {
        self.second().kind == TokenKind::Word && self.token(self.position + 2).kind == TokenKind::OpenParenthesis
    }

    /// `state = "state" NAME "(" parameter ")" "=>" "(" parameter ")" [ "for" DURATION ] [ "at" "most" NUMBER ] ";"`
    pub(super) fn state(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let name = self.name("the name of a state", format_args!("after `state`"), format_args!("{WRITE}"))?;
        let keys = self.column("key", &name.text)?;
        self.expect_fat_arrow(format_args!("after the key of `{}`", name.text), format_args!("{WRITE}"))?;
        let values = self.column("value", &name.text)?;
        let (mut kept_ms, mut most) = (0, USUAL_MOST);
        if self.at_word("for") {
            self.bump();
            kept_ms = self.period()?;
        }
        if self.at_word("at") {
            self.bump();
            if !self.at_word("most") {
                return self.fail_expecting("`most`", format_args!("after `at`"), format_args!("{WRITE}"));
            }
            self.bump();
            most = self.most()?;
        }
        let span = self.end_statement(start, "`;`", format_args!("after the state `{}`", name.text), WRITE)?;
        Ok(Statement::State(State { name: name.into(), keys, values, kept_ms, most, used: HashSet::new(), span }))
    }

    /// One parameter in parentheses.
    fn column(&mut self, what: &str, state: &str) -> Parsed<Vec<Parameter<'text>>> {
        let open = self.peek().span;
        let lists = std::mem::take(&mut self.lists);
        let column = self.parameters(format_args!("the {what} of `{state}`"));
        self.lists = lists;
        let column = column?;
        if column.len() != 1 {
            let span = open.to(self.previous().span);
            let headline = format!("the state `{state}` has {} {what}s", column.len());
            let help = format!("give it one {what}, which may be a record: `record parts {{ … }};`");
            self.report(Diagnostic::error(ids::STATE_COLUMN, headline, span).help(help));
        }
        Ok(column)
    }

    /// How many values there may be.
    fn most(&mut self) -> Parsed<u64> {
        let start = self.position;
        let help = format_args!("{WRITE}");
        if !matches!(self.peek().kind, TokenKind::Number | TokenKind::Minus) {
            return self.fail_expecting("a number", format_args!("after `at most`"), help);
        }
        let Some(read) = self.quantity()? else { return Ok(1) };
        let span: Span = self.span_from(start);
        let headline = match read {
            Quantity { unit: Unit::Millisecond, .. } => "`at most` is followed by a duration".to_owned(),
            Quantity { value, .. } if value < 1 => format!("a state with at most {value} values keeps nothing"),
            Quantity { value, .. } => return Ok(value.unsigned_abs()),
        };
        let help = "write how many values there may be: `at most 10k`, which are 10,240";
        self.report(Diagnostic::error(ids::STATE_COLUMN, headline, span).help(help));
        Ok(1)
    }
}
