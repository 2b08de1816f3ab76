//! Expressions in bodies: operators by how tightly they bind, then what has a value by itself.

use super::{Parsed, Parser};
use crate::body::{Argument, Comprehension, Form, Value};
use crate::ids;
use crate::syntax::Name;
use crate::token::TokenKind;
use flux_diagnostic::Diagnostic;
use flux_ir::compute::Operator;
use flux_source::{Deep, deep};
use std::borrow::Cow;

/// What can have a value.
const VALUES: &str =
    "a value is a name, a number, a string, `true`, `false`, `[…]`, or a function of values, `length(…)`";

impl<'text> Parser<'text, '_> {
    /// A value: what `=` gives, `if` asks, or a predicate says. `… "?" … ":" …` binds less tightly than any operator.
    pub(super) fn value(&mut self) -> Parsed<Value<'text>> {
        deep(|| {
            let start = self.position;
            self.nest()?;
            let first = self.joined(1)?;
            if self.take(TokenKind::Question).is_none() {
                self.depth -= 1;
                return Ok(first);
            }
            let one = self.value()?;
            let help = format_args!("write what it is if not: `is_old ? 1 : 2`");
            self.expect(TokenKind::Colon, format_args!("after what the value is if so"), help)?;
            let other = self.value()?;
            self.depth -= 1;
            Ok(Value { form: Form::Choose(Deep::new([first, one, other])), span: self.span_from(start) })
        })
    }

    /// Values joined by operators that bind at least as tightly as `strength`.
    fn joined(&mut self, strength: u8) -> Parsed<Value<'text>> {
        deep(|| {
            let others = std::mem::take(&mut self.chain);
            let mut left = self.signed()?;
            while let Some((operator, tokens)) = self.operator()? {
                if operator.strength() < strength {
                    break;
                }
                self.refuse_meant_operator(tokens);
                for _ in 0..tokens {
                    self.bump();
                }
                let right = self.joined(operator.strength() + 1)?;
                self.extend_chain()?;
                if let (true, Form::Binary(before, _)) = (operator.is_comparison(), &left.form)
                    && before.is_comparison()
                    && self.is_bare(&left)
                {
                    let span = left.span.to(right.span);
                    let error = Diagnostic::error(ids::UNEXPECTED_TOKEN, "comparisons cannot be chained", span);
                    return self.fail(error.help("join them: `a < b && b < c`"));
                }
                let span = left.span.to(right.span);
                left = Value { form: Form::Binary(operator, Deep::new([left, right])), span };
            }
            self.chain = self.chain.max(others);
            Ok(left)
        })
    }

    /// Whether a value is not in parentheses of its own.
    fn is_bare(&self, value: &Value) -> bool {
        self.text.get(value.span.range()).is_some_and(|text| !text.starts_with('('))
    }

    /// The operator that comes, and of how many tokens it is.
    fn operator(&mut self) -> Parsed<Option<(Operator, usize)>> {
        let (first, second) = (self.peek(), self.second());
        let adjoins = first.span.end == second.span.start;
        let is_twice = adjoins && self.spelling(first) == self.spelling(second);
        let has_equals = adjoins && second.kind == TokenKind::Equals;
        let found = match first.kind {
            TokenKind::Equals if has_equals => (Operator::Equal, 2),
            TokenKind::Equals | TokenKind::Word if self.in_body => match self.meant_operator() {
                Some((operator, _)) => (operator, 1),
                None => return Ok(None),
            },
            TokenKind::Exclamation if has_equals => (Operator::Unequal, 2),
            TokenKind::Less if has_equals => (Operator::LessOrEqual, 2),
            TokenKind::Less => (Operator::Less, 1),
            TokenKind::Greater if has_equals => (Operator::GreaterOrEqual, 2),
            TokenKind::Greater => (Operator::Greater, 1),
            TokenKind::Ampersand if is_twice => (Operator::And, 2),
            TokenKind::Ampersand if self.in_message => return Ok(None),
            TokenKind::Minus => (Operator::Subtract, 1),
            TokenKind::Asterisk => (Operator::Multiply, 1),
            TokenKind::Other => match self.spelling(first) {
                "|" if is_twice => (Operator::Or, 2),
                "+" => (Operator::Add, 1),
                "/" => (Operator::Divide, 1),
                "%" => (Operator::Remainder, 1),
                _ => return Ok(None),
            },
            TokenKind::FatArrow | TokenKind::Arrow | TokenKind::Ampersand => {
                let (wrong, help) = match first.kind {
                    TokenKind::FatArrow => ("=>", "greater or equal is written `>=`"),
                    TokenKind::Arrow => ("->", "fields are written with a point: `h.bytes`"),
                    _ => ("&", "the logical and is `&&`"),
                };
                let headline = format!("`{wrong}` is not an operator");
                return self.fail(Diagnostic::error(ids::UNEXPECTED_TOKEN, headline, first.span).help(help));
            }
            _ => return Ok(None),
        };
        Ok(Some(found))
    }

    /// `[ "-" | "!" ] …`
    pub(super) fn signed(&mut self) -> Parsed<Value<'text>> {
        deep(|| {
            let start = self.position;
            let form = match self.peek().kind {
                TokenKind::Minus | TokenKind::Exclamation => {
                    self.nest()?;
                    let sign = self.bump().kind;
                    let inner = Deep::new(self.signed()?);
                    self.depth -= 1;
                    if sign == TokenKind::Minus { Form::Negate(inner) } else { Form::Not(inner) }
                }
                _ => return self.postfixed(),
            };
            Ok(Value { form, span: self.span_from(start) })
        })
    }

    /// A value with fields, elements, parts and calls after it.
    fn postfixed(&mut self) -> Parsed<Value<'text>> {
        let start = self.position;
        let mut value = self.primary()?;
        loop {
            let form = match self.peek().kind {
                TokenKind::Dot if self.second().kind == TokenKind::Word => {
                    self.bump();
                    let name =
                        self.name("a field", format_args!("after `.`"), format_args!("write the field's name"))?;
                    Form::Field(Deep::new(value), name)
                }
                TokenKind::OpenBracket => self.bracketed(value)?,
                TokenKind::OpenParenthesis if matches!(value.form, Form::Name(_) | Form::Field(..)) => {
                    Form::Call(Deep::new(value), self.arguments()?)
                }
                _ => return Ok(value),
            };
            self.extend_chain()?;
            value = Value { form, span: self.span_from(start) };
        }
    }

    /// `"[" expression "]"` or `"[" [ expression ] ".." [ expression ] "]"`
    fn bracketed(&mut self, of: Value<'text>) -> Parsed<Form<'text>> {
        let open = self.bump();
        let from = if self.at_range() { None } else { Some(self.value()?) };
        let form = if self.at_range() {
            self.bump();
            self.bump();
            let to = if self.at(TokenKind::CloseBracket) { None } else { Some(Deep::new(self.value()?)) };
            Form::Slice(Deep::new(of), from.map(Deep::new), to)
        } else {
            match from {
                Some(key) => Form::Element(Deep::new([of, key])),
                None => return self.fail_expecting("a value", format_args!("after `[`"), format_args!("{VALUES}")),
            }
        };
        self.expect_close(open, "`..`", format_args!("the element"), "an element is `list[0]`, a part `line[2..5]`")?;
        Ok(form)
    }

    pub(super) fn at_range(&self) -> bool {
        (self.peek().kind, self.second().kind) == (TokenKind::Dot, TokenKind::Dot)
    }

    /// `"(" [ [ NAME ":" ] expression { "," [ NAME ":" ] expression } ] ")"`
    fn arguments(&mut self) -> Parsed<Vec<Argument<'text>>> {
        let open = self.bump();
        let mut arguments = vec![];
        if self.take(TokenKind::CloseParenthesis).is_some() {
            return Ok(arguments);
        }
        loop {
            let mut field = None;
            if (self.peek().kind, self.second().kind) == (TokenKind::Word, TokenKind::Colon) {
                field = Some(self.name("a field", format_args!("here"), format_args!("write the field's name"))?);
                self.bump();
            }
            arguments.push(Argument { field, value: self.value()? });
            if self.take(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.expect_close(open, "`,`", format_args!("the values"), "values are separated by `,`")?;
        Ok(arguments)
    }

    fn primary(&mut self) -> Parsed<Value<'text>> {
        let start = self.position;
        let token = self.peek();
        if let Some(name) = self.value_sign() {
            return Ok(Value { span: name.span, form: Form::Name(name.into()) });
        }
        let form = match token.kind {
            TokenKind::Number if self.spelling(token).starts_with("0x") => self.hexadecimal()?,
            TokenKind::Number if self.spelling(token).contains('.') => self.real()?,
            TokenKind::Number => match self.quantity()? {
                Some(quantity) => Form::Number(quantity.value),
                None => return Err(super::Reported),
            },
            TokenKind::Text { closed: true } => {
                self.bump();
                Form::Text(self.unescape(token.span))
            }
            TokenKind::Word => match self.spelling(token) {
                word @ ("true" | "false") => {
                    self.bump();
                    Form::Truth(word == "true")
                }
                // Reserved elsewhere: here they are names like others.
                word @ ("error" | "source" | "session" | "program" | "handle") => {
                    self.bump();
                    Form::Name(Name { text: Cow::Borrowed(word), span: token.span }.into())
                }
                _ => Form::Name(self.name("a value", format_args!("here"), format_args!("{VALUES}"))?.into()),
            },
            TokenKind::OpenParenthesis => {
                self.bump();
                let inner = self.value()?;
                self.expect_close(token, "an operator", format_args!("the parentheses"), "write `)` after the value")?;
                return Ok(Value { span: self.span_from(start), ..inner });
            }
            TokenKind::OpenBracket => self.list()?,
            _ => return self.fail_expecting("a value", format_args!("here"), format_args!("{VALUES}")),
        };
        Ok(Value { form, span: self.span_from(start) })
    }

    /// `"[" [ expression { "," expression } ] "]"`, the same of `expression ":" expression`, or a comprehension.
    fn list(&mut self) -> Parsed<Form<'text>> {
        let open = self.bump();
        if self.at_word("for") && self.second().kind == TokenKind::Word {
            let comprehension = self.comprehension()?;
            let help = "write `[for x in list if … : …]`: which of its elements, and what is made of each";
            self.expect_close(open, "`if` or `:`", format_args!("the list"), help)?;
            return Ok(Form::Comprehension(Deep::new(comprehension)));
        }
        let (mut elements, mut entries) = (vec![], vec![]);
        let mut is_map = false;
        while !self.at(TokenKind::CloseBracket) {
            let value = self.value()?;
            is_map |= elements.is_empty() && self.at(TokenKind::Colon);
            if is_map {
                let help = format_args!("an entry of a map is a key and a value, `\"a\": 1`");
                self.expect(TokenKind::Colon, format_args!("after the key"), help)?;
                entries.push([value, self.value()?]);
            } else {
                elements.push(value);
            }
            if self.take(TokenKind::Comma).is_none() {
                break;
            }
        }
        let what = if is_map { "the map" } else { "the list" };
        self.expect_close(open, "`,`", format_args!("{what}"), "elements are separated by `,`")?;
        Ok(if is_map { Form::Map(entries) } else { Form::List(elements) })
    }

    /// `"for" NAME [ "," NAME ] "in" expression [ "if" expression ] [ ":" expression ]`
    fn comprehension(&mut self) -> Parsed<Comprehension<'text>> {
        let (names, over) = self.walk()?;
        let mut condition = None;
        if self.at_word("if") {
            self.bump();
            condition = Some(self.value()?);
        }
        let value = if self.take(TokenKind::Colon).is_some() { Some(self.value()?) } else { None };
        Ok(Comprehension { names, over, condition, value })
    }

    /// `0x1f`
    fn hexadecimal(&mut self) -> Parsed<Form<'text>> {
        let token = self.bump();
        let spelling = self.spelling(token);
        match i64::from_str_radix(spelling.trim_start_matches("0x"), 16) {
            Ok(value) => Ok(Form::Number(value)),
            Err(_) => {
                let headline = format!("`{spelling}` is not a number that Flux knows");
                let help = "write hexadecimal digits, `0x1f`, at most `0x7fffffffffffffff`";
                self.fail(Diagnostic::error(ids::BAD_NUMBER, headline, token.span).help(help))
            }
        }
    }

    /// `1.5`
    fn real(&mut self) -> Parsed<Form<'text>> {
        let token = self.bump();
        let spelling = self.spelling(token);
        match spelling.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Form::Real(value)),
            _ => {
                let headline = format!("`{spelling}` is not a number that Flux knows");
                self.fail(Diagnostic::error(ids::BAD_NUMBER, headline, token.span).help("write digits: `1.5`"))
            }
        }
    }
}
