//! Records and enumerations.

use super::{Parsed, Parser, advice};
use crate::cpp_type::{nested_too_deep, normalise};
use crate::syntax::{Name, Parameter, Statement, TypeBody, TypeDeclaration};
use crate::token::TokenKind;

/// How the statements are written.
const RECORD: &str = "a record is written `record hit { path : text; bytes : uint64; };`";
const ENUM: &str = "an enumeration is written `enum method { get, put };`";

impl<'text> Parser<'text, '_> {
    /// `record = "record" NAME "{" { NAME ":" type ";" } "}" ";"`, with one field at least.
    pub(super) fn record(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let name = self.name("the name of a record", format_args!("after `record`"), format_args!("{RECORD}"))?;
        let open =
            self.expect(TokenKind::OpenBrace, format_args!("after `record {}`", name.text), format_args!("{RECORD}"))?;
        let mut fields = vec![self.field(&name)?];
        while !self.at(TokenKind::CloseBrace) {
            if self.at(TokenKind::End) {
                return self.fail_unclosed(open, TokenKind::CloseBrace, format_args!("the record `{}`", name.text));
            }
            fields.push(self.field(&name)?);
        }
        self.bump();
        let place = format_args!("after the record `{}`", name.text);
        let span = self.end_statement(start, "`;`", place, advice::END)?;
        Ok(Statement::Type(TypeDeclaration { name: name.into(), body: TypeBody::Record(fields), span }))
    }

    /// `NAME ":" type ";"`
    fn field(&mut self, record: &Name<'text>) -> Parsed<Parameter<'text>> {
        let place = format_args!("in the record `{}`", record.text);
        let start = self.position;
        let name = self.name("a field", place, format_args!("{RECORD}"))?;
        let place = format_args!("after the field `{}`", name.text);
        self.expect(TokenKind::Colon, place, format_args!("{RECORD}"))?;
        let first = self.position;
        while !matches!(
            self.peek().kind,
            TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseBrace | TokenKind::Colon | TokenKind::End
        ) {
            self.bump();
        }
        let tokens = self.tokens.get(first..self.position).unwrap_or_default();
        if let Some(error) = nested_too_deep(tokens) {
            return self.fail(error);
        }
        let ty = normalise(self.text, tokens);
        if ty.is_empty() {
            return self.fail_expecting("a type", format_args!("after `{}:`", name.text), format_args!("{RECORD}"));
        }
        let place = format_args!("after the type `{ty}`");
        let help = format_args!("every field ends with `;`: {RECORD}");
        self.expect(TokenKind::Semicolon, place, help)?;
        Ok(Parameter { ty, name, array: String::new(), list: None, default: None, span: self.span_from(start) })
    }

    /// `enum = "enum" NAME "{" NAME { "," NAME } "}" ";"`
    pub(super) fn enumeration(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let name = self.name("the name of an enumeration", format_args!("after `enum`"), format_args!("{ENUM}"))?;
        let place = format_args!("after `enum {}`", name.text);
        let open = self.expect(TokenKind::OpenBrace, place, format_args!("{ENUM}"))?;
        let mut values = vec![];
        loop {
            let place = format_args!("in the enumeration `{}`", name.text);
            values.push(self.name("a value", place, format_args!("{ENUM}"))?);
            if self.take(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.expect_close(open, "`,`", format_args!("the enumeration `{}`", name.text), ENUM)?;
        let place = format_args!("after the enumeration `{}`", name.text);
        let span = self.end_statement(start, "`;`", place, advice::END)?;
        Ok(Statement::Type(TypeDeclaration { name: name.into(), body: TypeBody::Enum(values), span }))
    }
}
