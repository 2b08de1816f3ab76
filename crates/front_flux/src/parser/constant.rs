//! Constants: numbers with units, strings, truth values, options.

use super::{Parsed, Parser, advice};
use crate::ids;
use crate::quantity::{self, Fault, Quantity, Unit};
use crate::syntax::{Constant, ConstantValue};
use crate::token::TokenKind;
use flux_diagnostic::Diagnostic;
use flux_source::Span;
use std::fmt;

/// What a constant can be.
const CONSTANT: &str = "a constant is a number, a string, `true`, `false` or the name of an option";

impl<'text> Parser<'text, '_> {
    /// `constant = ["-"] INT | SIZE | DURATION | STRING | "true" | "false" | qname`
    pub(super) fn constant(&mut self, place: fmt::Arguments) -> Parsed<Constant<'text>> {
        let start = self.position;
        let first = self.peek();
        let value = match first.kind {
            TokenKind::Number | TokenKind::Minus => {
                self.quantity()?.map_or(ConstantValue::Wrong, ConstantValue::Number)
            }
            TokenKind::Text { closed: true } => {
                self.bump();
                ConstantValue::Text(self.unescape(first.span))
            }
            TokenKind::Word => match self.spelling(first) {
                word @ ("true" | "false") => {
                    self.bump();
                    ConstantValue::Boolean(word == "true")
                }
                _ => ConstantValue::Option(self.qualified_name("a constant", place, format_args!("{CONSTANT}"))?),
            },
            _ => return self.fail_expecting("a constant", place, format_args!("{CONSTANT}")),
        };
        Ok(Constant { value, span: self.span_from(start) })
    }

    /// The period of a timer, in milliseconds.
    pub(super) fn period(&mut self) -> Parsed<u64> {
        let start = self.position;
        let Some(quantity) = self.quantity()? else { return Ok(1) };
        let span = self.span_from(start);
        let spelling = self.text.get(span.range()).unwrap_or("");
        let headline = match quantity {
            Quantity { value, unit: Unit::Millisecond } if value > 0 => return Ok(value.unsigned_abs()),
            Quantity { unit: Unit::Millisecond, .. } => format!("a period of `{spelling}` never ends"),
            Quantity { unit: Unit::Byte, .. } => format!("the period `{spelling}` is a size, not a duration"),
            Quantity { unit: Unit::One, .. } => format!("the period `{spelling}` has no unit"),
        };
        let help = "a period is a duration of at least a millisecond: `100ms`, `2s`, `5m`";
        self.report(Diagnostic::error(ids::TIMER_PERIOD, headline, span).help(help));
        Ok(1)
    }

    /// The size after the attribute `stack`; none where it was wrong, which has been reported.
    pub(super) fn stack_size(&mut self) -> Parsed<Option<u64>> {
        const SMALLEST: i64 = 64 << 10;
        const LARGEST: i64 = 1 << 30;
        let start = self.position;
        let help = "a stack has a size from `64k` to `1G`: `stack 8M`";
        let (headline, span) = match self.peek().kind {
            TokenKind::Number | TokenKind::Minus => {
                let Some(read) = self.quantity()? else { return Ok(None) };
                let span = self.span_from(start);
                let spelling = self.text.get(span.range()).unwrap_or("");
                let headline = match read {
                    Quantity { unit: Unit::Millisecond, .. } => format!("`{spelling}` is a duration, not a size"),
                    Quantity { value, .. } if value < SMALLEST => format!("a stack of `{spelling}` is too small"),
                    Quantity { value, .. } if value > LARGEST => format!("a stack of `{spelling}` is too large"),
                    Quantity { value, .. } => return Ok(Some(value.unsigned_abs())),
                };
                (headline, span)
            }
            _ => ("`stack` has no size".to_owned(), self.previous().span),
        };
        self.report(Diagnostic::error(ids::NODE_STACK, headline, span).help(help));
        Ok(None)
    }

    /// A number with its sign and unit; none where it was wrong, which has been reported.
    pub(super) fn quantity(&mut self) -> Parsed<Option<Quantity>> {
        let start = self.position;
        let negative = self.take(TokenKind::Minus).is_some();
        let help = format_args!("write the number right after its sign");
        let token = self.expect(TokenKind::Number, format_args!("after `-`"), help)?;
        let spelling = self.spelling(token);
        let (headline, help) = match quantity::read(spelling, negative) {
            Ok(quantity) => return Ok(Some(self.unit_apart(spelling, negative).unwrap_or(quantity))),
            Err(Fault::UnknownUnit) => {
                (format!("`{spelling}` is not a number that Flux knows"), advice::for_number(spelling))
            }
            Err(Fault::TooLarge) => {
                (format!("`{spelling}` does not fit 64 bits"), "the largest is 9223372036854775807".to_owned())
            }
            Err(Fault::TooLong) => (
                format!("`{spelling}` is too long"),
                "the longest duration is `52560000m`, which is 36,500 days".to_owned(),
            ),
            Err(Fault::Negative) => {
                (format!("`-{spelling}` is below zero"), "sizes and durations cannot be negative".to_owned())
            }
        };
        let span = self.span_from(start);
        self.report(Diagnostic::error(ids::BAD_NUMBER, headline, span).help(help));
        Ok(None)
    }

    /// The number, after which a unit stands apart, in a word of English: `30 minutes`, which is reported.
    fn unit_apart(&mut self, digits: &str, negative: bool) -> Option<Quantity> {
        let (number, word) = (self.previous().span, self.peek());
        if word.kind != TokenKind::Word || word.starts_line {
            return None;
        }
        let (meant, _) = advice::in_units(digits, self.spelling(word))?;
        self.bump();
        let span = number.to(word.span);
        let written = self.text.get(span.range()).unwrap_or_default();
        let headline = format!("`{written}` is written `{meant}`");
        self.report(Diagnostic::error(ids::BAD_NUMBER, headline, span).help(advice::UNITS));
        quantity::read(&meant, negative).ok()
    }

    /// The text of the string at `span`, its escapes resolved.
    pub(super) fn unescape(&mut self, span: Span) -> String {
        let written = self.text.get(span.range()).unwrap_or("");
        let inside = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or("");
        let mut unescaped = String::with_capacity(inside.len());
        let mut rest = inside.char_indices();
        while let Some((at, character)) = rest.next() {
            if character != '\\' {
                unescaped.push(character);
                continue;
            }
            let Some((_, escaped)) = rest.next() else { break };
            match escaped {
                'n' => unescaped.push('\n'),
                'r' => unescaped.push('\r'),
                't' => unescaped.push('\t'),
                '\\' | '"' => unescaped.push(escaped),
                _ => {
                    let start = span.range().start + 1 + at;
                    let place = Span::new(span.file, start..start + 1 + escaped.len_utf8());
                    let headline = format!("`\\{escaped}` is not an escape that Flux knows");
                    let help = "there are `\\n`, `\\r`, `\\t`, `\\\\` and `\\\"`; for a backslash write `\\\\`";
                    self.report(Diagnostic::error(ids::BAD_ESCAPE, headline, place).help(help));
                }
            }
        }
        unescaped
    }
}
