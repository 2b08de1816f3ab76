//! Messages: `type NAME = unit { … };`
//!
//! Their words are keywords by their place alone. A name after `&` is an attribute, and never an operator.

use super::{Parsed, Parser, advice};
use crate::body::{Form as ValueForm, Value};
use crate::ids;
use crate::message::{Attribute, AttributeValue, Case, Field, Form, Item, Label, Property, Unit};
use crate::syntax::{Name, Statement};
use crate::token::TokenKind;
use flux_diagnostic::Diagnostic;
use flux_ir::message as model;
use flux_source::{Span, deep};
use std::borrow::Cow;

/// How it is written.
const UNIT: &str = "a message is written `type command = unit { length : uint8; key : bytes &length = self.length; };`";
const ITEMS: &str =
    "in a message stand fields, `key : bytes …;`, `var x : uint32 …;`, `if (…) { … }` and `switch (…) { 1 -> { … } }`";
const LITERAL: &str = "bytes that are always the same have no name, and a `:` before them: `: \"GET \";`";
const NAME_FIRST: &str = "the name of a field comes before what it is: `length : uint16;`";
const CASE: &str = "a case is written `1, 2 -> { … }`, and the last resort `* -> { … }`";

impl<'text> Parser<'text, '_> {
    /// `unit = "type" NAME "=" "unit" [ "(" params ")" ] "{" { property | item } "}" ";"`
    pub(super) fn unit(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let help = format_args!("{UNIT}");
        let name = self.name("the name of a message", format_args!("after `type`"), help)?;
        self.expect(TokenKind::Equals, format_args!("after `type {}`", name.text), help)?;
        if !self.at_word("unit") {
            return self.fail_expecting("`unit`", format_args!("after `type {} =`", name.text), help);
        }
        self.bump();
        let mut parameters = vec![];
        if self.at(TokenKind::OpenParenthesis) {
            parameters = self.parameters(format_args!("the parameters of `{}`", name.text))?;
        }
        (self.in_body, self.in_message) = (true, true);
        let open = self.expect(TokenKind::OpenBrace, format_args!("after `type {} = unit`", name.text), help)?;
        let (mut properties, mut items) = (vec![], vec![]);
        while self.take(TokenKind::CloseBrace).is_none() {
            if self.at_end_of_items() {
                return self.fail_unclosed(open, TokenKind::CloseBrace, format_args!("the message `{}`", name.text));
            }
            match self.at_sign('%') {
                true => properties.push(self.property()?),
                false => items.push(self.item()?),
            }
        }
        (self.in_body, self.in_message) = (false, false);
        let place = format_args!("after the message `{}`", name.text);
        let span = self.end_statement(start, "`;`", place, advice::END)?;
        Ok(Statement::Unit(Unit { name: name.into(), parameters, properties, items, span }))
    }

    /// Whether a statement of the program comes, or the end of the file: then a brace is missing.
    fn at_end_of_items(&self) -> bool {
        let is_item = self.second().kind == TokenKind::Colon || self.at_word("if") || self.at_word("switch");
        self.at(TokenKind::End) || !is_item && self.starts_statement(self.position)
    }

    /// Whether this character, which no other statement has, comes next.
    fn at_sign(&self, sign: char) -> bool {
        self.at(TokenKind::Other) && self.spelling(self.peek()).starts_with(sign)
    }

    /// `"%" NAME "=" expression ";"`
    fn property(&mut self) -> Parsed<Property<'text>> {
        self.bump();
        let help = format_args!("write `%byteorder = big;`, `%max_size = 64k;` or `%origin = self;`");
        let name = self.name("a property", format_args!("after `%`"), help)?;
        self.expect(TokenKind::Equals, format_args!("after `%{}`", name.text), help)?;
        let value = self.value()?;
        self.expect(TokenKind::Semicolon, format_args!("after `%{}`", name.text), help)?;
        Ok(Property { name, value })
    }

    fn item(&mut self) -> Parsed<Item<'text>> {
        deep(|| {
            // That no field can be called so is told where names are.
            let is_field = self.second().kind == TokenKind::Colon;
            if self.at_word("if") && !is_field {
                return self.item_if();
            }
            if self.at_word("switch") && !is_field {
                return self.switch();
            }
            self.message_field().map(|field| Item::Field(Box::new(field)))
        })
    }

    /// `"if" "(" expression ")" block [ "else" ( if | block ) ]`
    fn item_if(&mut self) -> Parsed<Item<'text>> {
        self.nest()?;
        self.bump();
        let condition = self.condition("the condition")?;
        let then = self.items("what comes then")?;
        let mut otherwise = vec![];
        if self.at_word("else") {
            self.bump();
            otherwise = match self.at_word("if") {
                true => vec![self.item_if()?],
                false => self.items("what comes else")?,
            };
        }
        self.depth -= 1;
        Ok(Item::If(condition, then, otherwise))
    }

    /// `"(" expression ")"`
    fn condition(&mut self, what: &str) -> Parsed<Value<'text>> {
        let help = format_args!("write it in parentheses: `(self.kind == 1)`");
        let open = self.expect(TokenKind::OpenParenthesis, format_args!("before {what}"), help)?;
        let value = self.message_value()?;
        self.expect_close(open, "an operator", format_args!("{what}"), "write `)` after the value")?;
        Ok(value)
    }

    /// `"{" { item } "}"`
    fn items(&mut self, what: &str) -> Parsed<Vec<Item<'text>>> {
        let help = format_args!("write it in braces: `{{ … }}`");
        let open = self.expect(TokenKind::OpenBrace, format_args!("before {what}"), help)?;
        let mut items = vec![];
        while self.take(TokenKind::CloseBrace).is_none() {
            if self.at_end_of_items() {
                return self.fail_unclosed(open, TokenKind::CloseBrace, format_args!("{what}"));
            }
            items.push(self.item()?);
        }
        Ok(items)
    }

    /// `"switch" [ "(" expression ")" ] "{" { case } "}"`
    fn switch(&mut self) -> Parsed<Item<'text>> {
        self.nest()?;
        let start = self.position;
        self.bump();
        let on = if self.at(TokenKind::OpenBrace) { None } else { Some(self.condition("what decides")?) };
        let open = self.expect(TokenKind::OpenBrace, format_args!("after `switch`"), format_args!("{CASE}"))?;
        let mut cases = vec![];
        while self.take(TokenKind::CloseBrace).is_none() {
            if self.at(TokenKind::End) {
                return self.fail_unclosed(open, TokenKind::CloseBrace, format_args!("the `switch`"));
            }
            cases.push(self.case(on.is_some())?);
        }
        self.depth -= 1;
        let span = self.span_from(start);
        if cases.is_empty() {
            let error = Diagnostic::error(ids::UNEXPECTED_TOKEN, "this `switch` has no case", span);
            return self.fail(error.help(CASE));
        }
        Ok(Item::Switch(on, cases, span))
    }

    /// `[ label { "," label } | "*" ] "->" ( "{" { item } "}" | item )`; labels only where a value decides.
    fn case(&mut self, by_value: bool) -> Parsed<Case<'text>> {
        let start = self.position;
        let is_default = self.take(TokenKind::Asterisk).is_some();
        let mut labels = vec![];
        if by_value && !is_default {
            labels.push(self.label()?);
            while self.take(TokenKind::Comma).is_some() {
                labels.push(self.label()?);
            }
        }
        let help = match by_value {
            true => CASE,
            false => "the next byte decides here: a case has no values, `-> { … }`",
        };
        self.expect(TokenKind::Arrow, format_args!("in the `switch`"), format_args!("{help}"))?;
        let items = match self.at(TokenKind::OpenBrace) {
            true => self.items("what comes in this case")?,
            false => vec![self.item()?],
        };
        Ok(Case { labels, is_default, items, span: self.span_from(start) })
    }

    fn label(&mut self) -> Parsed<Label> {
        let start = self.position;
        let value = match self.peek().kind {
            TokenKind::Text { closed: true } => model::Label::Bytes(self.bytes()),
            TokenKind::Number | TokenKind::Minus => {
                let value = self.signed()?;
                match (&value.form, self.number_of(&value)) {
                    (_, Some(number)) => model::Label::Integer(number),
                    _ => return self.fail_expecting("a number", format_args!("in a case"), format_args!("{CASE}")),
                }
            }
            _ => return self.fail_expecting("a value", format_args!("in the `switch`"), format_args!("{CASE}")),
        };
        Ok(Label { value, span: self.span_from(start) })
    }

    fn number_of(&self, value: &Value) -> Option<i128> {
        deep(|| match &value.form {
            ValueForm::Number(number) => Some(i128::from(*number)),
            ValueForm::Negate(inner) => self.number_of(inner).map(|number| -number),
            _ => None,
        })
    }

    /// `[ "var" ] [ NAME ] ":" form [ "[" [ expression ] "]" ] { attribute } ";"`
    fn message_field(&mut self) -> Parsed<Field<'text>> {
        let start = self.position;
        let is_variable = self.at_word("var") && self.second().kind == TokenKind::Word;
        if is_variable {
            self.bump();
        }
        let mut name = None;
        if !self.at(TokenKind::Colon) {
            let help = if self.at(TokenKind::Text { closed: true }) { LITERAL } else { ITEMS };
            name = Some(self.name("a field", format_args!("in a message"), format_args!("{help}"))?);
        }
        let called = name.as_ref().map_or_else(|| "the field".to_owned(), |name| format!("`{}`", name.text));
        let help = if self.at(TokenKind::Word) { NAME_FIRST } else { ITEMS };
        self.expect(TokenKind::Colon, format_args!("after {called}"), format_args!("{help}"))?;
        let first = self.position;
        let form = self.form(&called)?;
        let form_span = self.span_from(first);
        let mut repeat = None;
        if let Some(open) = self.take(TokenKind::OpenBracket) {
            let count = if self.at(TokenKind::CloseBracket) { None } else { Some(self.message_value()?) };
            self.expect_close(open, "an operator", format_args!("the list"), "write `T[n]`, or `T[]` with an end")?;
            repeat = Some(count);
        }
        let mut attributes = vec![];
        while self.at(TokenKind::Ampersand) {
            attributes.push(self.message_attribute()?);
        }
        let help = match self.at(TokenKind::Equals) && !attributes.is_empty() {
            true => "two values are compared by `==`: `&requires = $$ == 1`",
            false => "every field ends with `;`, after its attributes: `key : bytes &length = 4;`",
        };
        self.expect(TokenKind::Semicolon, format_args!("after {called}"), format_args!("{help}"))?;
        Ok(Field { name, is_variable, form, form_span, repeat, attributes, span: self.span_from(start) })
    }

    /// `STRING | "token" "(" STRING ")" | "bits" "(" INT ")" | qname [ "(" expression { "," expression } ")" ]`
    fn form(&mut self, called: &str) -> Parsed<Form<'text>> {
        const FORMS: &str = "a field is a `uint8` … `uint64`, `bytes`, `string`, `bits(4)`, `token(\"[a-z]+\")`, a \
                             string that is just there, or another message";
        if self.at(TokenKind::Text { closed: true }) {
            return Ok(Form::Literal(self.bytes()));
        }
        let after = self.token(self.position + 2).kind;
        let has_parenthesis = self.second().kind == TokenKind::OpenParenthesis;
        if has_parenthesis && self.at_word("token") && matches!(after, TokenKind::Text { closed: true }) {
            self.bump();
            let open = self.bump();
            let expression = self.take_text().unwrap_or_default().replace("\\\"", "\"");
            self.expect_close(open, "nothing else", format_args!("the token"), "write `token(\"[a-z]+\")`")?;
            return Ok(Form::Token(expression));
        }
        if has_parenthesis && self.at_word("bits") && after == TokenKind::Number {
            self.bump();
            let open = self.bump();
            let Some(bits) = self.quantity()? else { return Ok(Form::Bits(1)) };
            self.expect_close(open, "nothing else", format_args!("the bits"), "write `bits(4)`")?;
            return Ok(Form::Bits(bits.value));
        }
        let name = self.qualified_name("a type", format_args!("after {called}"), format_args!("{FORMS}"))?;
        let mut arguments = vec![];
        if let Some(open) = self.take(TokenKind::OpenParenthesis) {
            loop {
                arguments.push(self.message_value()?);
                if self.take(TokenKind::Comma).is_none() {
                    break;
                }
            }
            let list = format_args!("what `{name}` is given");
            self.expect_close(open, "`,`", list, "values are separated by `,`")?;
        }
        Ok(Form::Named(name, arguments))
    }

    /// `"&" NAME [ "=" ( STRING | "self" "." NAME "=" expression | expression ) ]`
    fn message_attribute(&mut self) -> Parsed<Attribute<'text>> {
        let start = self.position;
        self.bump();
        let help = format_args!("attributes are written `&length = …`, `&eod`");
        let name = self.name("an attribute", format_args!("after `&`"), help)?;
        let mut value = None;
        if !matches!(self.peek().kind, TokenKind::Equals | TokenKind::Ampersand | TokenKind::Semicolon) {
            return self.fail_expecting("`=`, `&` or `;`", format_args!("after `&{}`", name.text), help);
        }
        if self.take(TokenKind::Equals).is_some() {
            let after = self.second().kind;
            let is_bytes = name.text == "until"
                && self.at(TokenKind::Text { closed: true })
                && matches!(after, TokenKind::Semicolon | TokenKind::Ampersand)
                && !self.is_and(self.position + 1);
            let assigns = self.at_word("self")
                && self.token(self.position + 1).kind == TokenKind::Dot
                && self.token(self.position + 3).kind == TokenKind::Equals
                && !self.is_equality(self.position + 3);
            value = Some(if is_bytes {
                AttributeValue::Bytes(self.bytes())
            } else if assigns {
                self.bump();
                self.bump();
                let field = self.name("a field", format_args!("after `self.`"), help)?;
                self.bump();
                AttributeValue::Assignment(field, self.message_value()?)
            } else {
                AttributeValue::Value(self.message_value()?)
            });
        }
        Ok(Attribute { name, value, span: self.span_from(start) })
    }

    /// Whether the `&` at `position` is the first of `&&`.
    fn is_and(&self, position: usize) -> bool {
        let (first, second) = (self.token(position), self.token(position + 1));
        second.kind == TokenKind::Ampersand && first.span.end == second.span.start
    }

    /// A value in a message, its `self.a.b` and `$$.a` one name each.
    fn message_value(&mut self) -> Parsed<Value<'text>> {
        let mut value = self.value()?;
        join_names(&mut value);
        Ok(value)
    }

    /// `$$`, as a name; none where something else comes.
    pub(super) fn value_sign(&mut self) -> Option<Name<'text>> {
        let (first, second) = (self.peek(), self.second());
        let is_twice = self.at_sign('$') && self.spelling(second) == "$";
        if !is_twice || !self.in_message {
            return None;
        }
        self.bump();
        self.bump();
        Some(Name { text: Cow::Borrowed("$$"), span: first.span.to(second.span) })
    }

    /// Takes a string, as the bytes that it stands for.
    fn bytes(&mut self) -> Vec<u8> {
        let token = self.bump();
        let written = self.spelling(token);
        let inside = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
        let mut bytes = vec![];
        let mut rest = inside.char_indices();
        while let Some((at, character)) = rest.next() {
            if character != '\\' {
                bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
                continue;
            }
            let Some((_, escaped)) = rest.next() else { break };
            match escaped {
                'n' => bytes.push(b'\n'),
                'r' => bytes.push(b'\r'),
                't' => bytes.push(b'\t'),
                '0' => bytes.push(0),
                '\\' | '"' => bytes.extend(u8::try_from(escaped)),
                'x' => {
                    let digits = inside.get(at + 2..at + 4).and_then(|digits| u8::from_str_radix(digits, 16).ok());
                    match digits {
                        Some(byte) => {
                            rest.next();
                            rest.next();
                            bytes.push(byte);
                        }
                        None => self.report_escape(token.span, at, escaped),
                    }
                }
                _ => self.report_escape(token.span, at, escaped),
            }
        }
        bytes
    }

    fn report_escape(&mut self, text: Span, at: usize, escaped: char) {
        let start = text.range().start + 1 + at;
        let place = Span::new(text.file, start..start + 1 + escaped.len_utf8());
        let headline = format!("`\\{escaped}` is not an escape that messages know");
        let help = "there are `\\n`, `\\r`, `\\t`, `\\0`, `\\x1f`, `\\\\` and `\\\"`";
        self.report(Diagnostic::error(ids::BAD_ESCAPE, headline, place).help(help));
    }
}

/// Makes `self.a.b` one name of `self`, its field, and the field of that. The recursion is as deep as the value, which
/// the parser bounds.
fn join_names(value: &mut Value<'_>) {
    deep(|| {
        if let Some(text) = joined(value) {
            value.form = ValueForm::Name(Name { text: Cow::Owned(text), span: value.span }.into());
        }
        value.parts_mut().into_iter().for_each(join_names);
    })
}

fn joined(value: &Value<'_>) -> Option<String> {
    let (mut names, mut at) = (vec![], value);
    while let ValueForm::Field(of, name) = &at.form {
        names.push(name.as_str());
        at = of;
    }
    let ValueForm::Name(root) = &at.form else { return None };
    if names.is_empty() || root.module.is_some() || !matches!(&*root.own, "self" | "$$") {
        return None;
    }
    names.push(&root.own);
    names.reverse();
    Some(names.join("."))
}
