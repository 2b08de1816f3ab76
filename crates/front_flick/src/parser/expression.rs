//! Expressions: what has a value.

use super::{Parsed, Parser, Reported};
use crate::syntax::{Argument, Expression, Foldt, Form, Over, OverKind};
use flux_diagnostic::Diagnostic;
use flux_front_flux::ids;
use flux_front_flux::quantity::{self, Fault, Unit};
use flux_front_flux::syntax::QualifiedName;
use flux_front_flux::token::{Token, TokenKind};
use flux_ir::compute::Operator;
use flux_source::{Deep, Span, deep};

const VALUES: &str = "a value is a number, a string, a name, a call `hash(req.key)`, a field `req.key`, an element \
                      `backends[0]`, a list `[a, b]`, or several of them joined by operators";
const FOLDT: &str = "write `foldt on mappers ordering elem e1, e2 by elem.key as key: …`";

/// What joins two values.
#[derive(Clone, Copy)]
enum Joint {
    Operator(Operator),
    In,
}

/// The signs of several characters first, so that none is taken for its beginning.
const SIGNS: [(&str, Operator); 10] = [
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("+", Operator::Add),
    ("-", Operator::Subtract),
    ("*", Operator::Multiply),
    ("/", Operator::Divide),
];

impl<'text> Parser<'text, '_> {
    pub(super) fn expression(&mut self) -> Parsed<Expression<'text>> {
        self.nested(|parser| parser.joined(1))
    }

    /// Values joined by operators that bind at least so tightly.
    fn joined(&mut self, least: u8) -> Parsed<Expression<'text>> {
        let start = self.position;
        let others = std::mem::take(&mut self.chain);
        let mut left = self.signed()?;
        while let Some((joint, sign)) = self.joint() {
            let strength = match joint {
                Joint::Operator(operator) => operator.strength(),
                Joint::In => Operator::Equal.strength(),
            };
            if strength < least {
                break;
            }
            self.take_sign(sign);
            let right = deep(|| self.joined(strength + 1))?;
            self.extend_chain()?;
            let two = Deep::new([left, right]);
            let form = match joint {
                Joint::Operator(operator) => Form::Binary(operator, two),
                Joint::In => Form::In(two),
            };
            left = Expression { form, span: self.span_from(start) };
        }
        self.chain = self.chain.max(others);
        Ok(left)
    }

    /// The operator that comes next, and how it is spelled.
    fn joint(&self) -> Option<(Joint, &'static str)> {
        let token = self.peek();
        if token.kind == TokenKind::Word {
            return match self.spelling(token) {
                "or" => Some((Joint::Operator(Operator::Or), "or")),
                "and" => Some((Joint::Operator(Operator::And), "and")),
                "mod" => Some((Joint::Operator(Operator::Remainder), "mod")),
                "in" => Some((Joint::In, "in")),
                _ => None,
            };
        }
        let is_sign = !matches!(token.kind, TokenKind::FatArrow | TokenKind::Arrow | TokenKind::Text { .. });
        let (sign, operator) = SIGNS.into_iter().find(|(sign, _)| is_sign && self.at_sign(sign))?;
        Some((Joint::Operator(operator), sign))
    }

    /// `[ "not" | "-" ] value`
    fn signed(&mut self) -> Parsed<Expression<'text>> {
        let start = self.position;
        let form = if self.take_word("not") {
            // It is of the comparison that follows.
            Form::Not(Deep::new(self.nested(|parser| parser.joined(Operator::Equal.strength()))?))
        } else if self.take(TokenKind::Minus).is_some() {
            Form::Negate(Deep::new(self.nested(Self::signed)?))
        } else {
            return self.value();
        };
        Ok(Expression { form, span: self.span_from(start) })
    }

    /// A value with its fields and elements.
    fn value(&mut self) -> Parsed<Expression<'text>> {
        let start = self.position;
        let mut value = self.primary()?;
        loop {
            let form = match self.peek().kind {
                TokenKind::Dot => {
                    self.bump();
                    let name = self.any_name("a field", format_args!("after `.`"), "write the name of a field")?;
                    Form::Field(Deep::new(value), name)
                }
                TokenKind::OpenBracket => {
                    let open = self.open();
                    let key = self.expression()?;
                    self.close(open, format_args!("the element"), "an element is written `backends[0]`")?;
                    Form::Element(Deep::new([value, key]))
                }
                TokenKind::OpenParenthesis => {
                    let Some(name) = qualified(&value) else { return Ok(value) };
                    let arguments = self.arguments(&name)?;
                    Form::Call(name, arguments)
                }
                _ => return Ok(value),
            };
            self.extend_chain()?;
            value = Expression { form, span: self.span_from(start) };
        }
    }

    /// `"(" [ [ NAME ":" ] expression { "," [ NAME ":" ] expression } ] ")"`
    fn arguments(&mut self, of: &QualifiedName<'text>) -> Parsed<Vec<Argument<'text>>> {
        let open = self.open();
        let mut arguments = vec![];
        while !self.at(TokenKind::CloseParenthesis) {
            let mut field = None;
            if self.at(TokenKind::Word) && self.second().kind == TokenKind::Colon {
                field = Some(self.any_name("a field", format_args!("here"), VALUES)?);
                self.bump();
            }
            arguments.push(Argument { field, value: self.expression()? });
            if self.take(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.close(open, format_args!("what `{of}` is given"), "values are separated by `,`")?;
        Ok(arguments)
    }

    fn primary(&mut self) -> Parsed<Expression<'text>> {
        let start = self.position;
        let token = self.peek();
        let form = match (token.kind, self.spelling(token)) {
            (TokenKind::Number, _) => self.number()?,
            (TokenKind::Text { closed: true }, _) => {
                self.bump();
                Form::Text(self.unescape(token.span))
            }
            (TokenKind::Word, word @ ("true" | "false")) => {
                self.bump();
                Form::Truth(word == "true")
            }
            (TokenKind::Word, "foldt") => self.foldt()?,
            (TokenKind::Word, word) if OverKind::ALL.iter().any(|kind| kind.name() == word) => self.over()?,
            (TokenKind::Word, _) => Form::Name(self.name("a value", format_args!("here"), VALUES)?.into()),
            (TokenKind::OpenParenthesis, _) => {
                let open = self.open();
                let inner = self.expression()?;
                self.close(open, format_args!("the parentheses"), "write `)` after the value")?;
                return Ok(Expression { span: self.span_from(start), ..inner });
            }
            (TokenKind::OpenBracket, _) => {
                let open = self.open();
                let mut elements = vec![];
                while !self.at(TokenKind::CloseBracket) {
                    elements.push(self.expression()?);
                    if self.take(TokenKind::Comma).is_none() {
                        break;
                    }
                }
                self.close(open, format_args!("the list"), "elements are separated by `,`")?;
                Form::List(elements)
            }
            _ => {
                let place = self.place();
                return self.fail_expecting("a value", format_args!("{place}"), VALUES);
            }
        };
        Ok(Expression { form, span: self.span_from(start) })
    }

    /// `"map" "on" e "as" NAME ":" block`, the same of `filter`, or
    /// `"fold" "on" e "from" e "as" NAME "," NAME ":" block`
    fn over(&mut self) -> Parsed<Form<'text>> {
        let token = self.bump();
        let word = self.spelling(token);
        let Some(kind) = OverKind::ALL.into_iter().find(|kind| kind.name() == word) else { return Err(Reported) };
        let help = match kind {
            OverKind::Map => "write `map on list as x: …`: what is made of each element",
            OverKind::Filter => "write `filter on list as x: …`: which elements stay",
            OverKind::Fold => "write `fold on list from 0 as sum, x: …`: what is made of the sum and the next element",
        };
        self.expect_word("on", format_args!("after `{word}`"), help)?;
        let list = self.expression()?;
        let (mut from, mut sum) = (None, None);
        if kind == OverKind::Fold {
            self.expect_word("from", format_args!("after the list"), help)?;
            from = Some(self.expression()?);
        }
        self.expect_word("as", format_args!("in the `{word}`"), help)?;
        if kind == OverKind::Fold {
            sum = Some(self.name("a name", format_args!("after `as`"), help)?);
            self.expect(TokenKind::Comma, format_args!("after the name of the sum"), help)?;
        }
        let element = self.name("a name", format_args!("for the element"), help)?;
        self.expect(TokenKind::Colon, format_args!("after the name of the element"), help)?;
        let block = self.block("what is made of each element", help)?;
        Ok(Form::Over(Deep::new(Over { kind, list, from, sum, element, block })))
    }

    /// `"foldt" "on" e "ordering" NAME NAME "," NAME "by" e [ "as" NAME ] ":" block`
    fn foldt(&mut self) -> Parsed<Form<'text>> {
        self.bump();
        self.expect_word("on", format_args!("after `foldt`"), FOLDT)?;
        let channels = self.expression()?;
        self.expect_word("ordering", format_args!("after the channels"), FOLDT)?;
        let element = self.name("the name of an element", format_args!("after `ordering`"), FOLDT)?;
        let first = self.name("the name of the first of two elements", format_args!("here"), FOLDT)?;
        self.expect(TokenKind::Comma, format_args!("after `{}`", first.text), FOLDT)?;
        let second = self.name("the name of the second of two elements", format_args!("here"), FOLDT)?;
        self.expect_word("by", format_args!("after the two elements"), FOLDT)?;
        let key = self.expression()?;
        let key_name = match self.take_word("as") {
            true => Some(self.name("the name of the key", format_args!("after `as`"), FOLDT)?),
            false => None,
        };
        self.expect(TokenKind::Colon, format_args!("after what the elements are ordered by"), FOLDT)?;
        let block = self.block("the element that is made of two", FOLDT)?;
        Ok(Form::Foldt(Deep::new(Foldt { channels, element, two: [first, second], key, key_name, block })))
    }

    /// `80`, `64k`, `0x1f`
    fn number(&mut self) -> Parsed<Form<'text>> {
        let token: Token = self.bump();
        let spelling = self.spelling(token);
        if let Some(digits) = spelling.strip_prefix("0x")
            && let Ok(value) = i64::from_str_radix(digits, 16)
        {
            return Ok(Form::Number(value));
        }
        let (headline, help) = match quantity::read(spelling, false) {
            Ok(quantity) if quantity.unit != Unit::Millisecond => return Ok(Form::Number(quantity.value)),
            Err(Fault::TooLarge) => {
                (format!("`{spelling}` does not fit 64 bits"), "the largest is 9223372036854775807")
            }
            _ => (
                format!("`{spelling}` is not a number that FLICK knows"),
                "numbers are whole: `80`, `64k`, `2M`, `0x1f`",
            ),
        };
        self.fail(Diagnostic::error(ids::BAD_NUMBER, headline, token.span).help(help))
    }

    /// The text of the string at `span`, its escapes resolved.
    fn unescape(&mut self, span: Span) -> String {
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

/// The name that a value is, with its module before it: `hash`, `memcached.cmd`.
fn qualified<'text>(value: &Expression<'text>) -> Option<QualifiedName<'text>> {
    match &value.form {
        Form::Name(name) => Some(name.clone()),
        Form::Field(of, own) => match &of.form {
            Form::Name(QualifiedName { module: None, own: module, .. }) => Some(QualifiedName {
                folder: None,
                module: Some(module.clone()),
                own: own.text.clone(),
                span: value.span,
            }),
            _ => None,
        },
        _ => None,
    }
}
