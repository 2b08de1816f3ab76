//! Types, channels and lists of parameters.

use super::{Parsed, Parser};
use crate::syntax::{Channel, Field, Parameter, Type, TypeForm};
use flux_diagnostic::Diagnostic;
use flux_front_flux::ids;
use flux_front_flux::quantity::{self, Unit};
use flux_front_flux::token::TokenKind;
use std::fmt;

/// How a type is written.
const TYPES: &str = "a type is `integer`, `string`, `bytes`, `bool`, a record or a message, a list `[kv]` or a \
                     dictionary `dict[string, kv]`, with the most it may hold after it: `string{64}`";

/// How parameters are written.
const PARAMETERS: &str = "a channel is written `gives/takes name`, with `-` for the way that it does not have: `cmd/- \
                          client`; an array `[-/cmd] backends`; a value `req : cmd`";

impl<'text> Parser<'text, '_> {
    /// `type = ( NAME | "[" type "]" | "dict" "[" type "," type "]" ) [ "{" INT "}" ]`
    pub(super) fn ty(&mut self, place: fmt::Arguments) -> Parsed<Type<'text>> {
        let start = self.position;
        let form = match self.peek().kind {
            TokenKind::OpenBracket => {
                let open = self.open();
                let element = self.nested(|parser| parser.ty(format_args!("in the list")))?;
                self.close(open, format_args!("the list"), "a list of values is written `[kv]`")?;
                TypeForm::List(Box::new(element))
            }
            TokenKind::Word if self.at_word("dict") && self.second().kind == TokenKind::OpenBracket => {
                self.bump();
                let open = self.open();
                let help = "a dictionary is written `dict[string, integer]`: what its keys are, and its values";
                let key = self.nested(|parser| parser.ty(format_args!("in the dictionary")))?;
                self.expect(TokenKind::Comma, format_args!("after the type of the keys"), help)?;
                let value = self.nested(|parser| parser.ty(format_args!("in the dictionary")))?;
                self.close(open, format_args!("the dictionary"), help)?;
                TypeForm::Dictionary(Box::new([key, value]))
            }
            _ => TypeForm::Named(self.qualified_name("a type", place, TYPES)?),
        };
        let most = self.most()?;
        Ok(Type { form, most, span: self.span_from(start) })
    }

    /// `[ "{" INT "}" ]`
    fn most(&mut self) -> Parsed<Option<u64>> {
        if !self.at(TokenKind::OpenBrace) {
            return Ok(None);
        }
        let open = self.open();
        let help = "the most that it may hold is a number of elements, or of bytes: `[kv]{16}`, `string{4k}`";
        let start = self.position;
        let token = self.expect(TokenKind::Number, format_args!("after `{{`"), help)?;
        let number = quantity::read(self.spelling(token), false);
        let number = number.ok().filter(|number| number.unit != Unit::Millisecond && number.value > 0);
        let Some(number) = number else {
            let headline = format!("`{}` is not a number of elements or bytes", self.spelling(token));
            let error = Diagnostic::error(ids::BAD_NUMBER, headline, self.span_from(start));
            return self.fail(error.help(help));
        };
        self.close(open, format_args!("the bound"), help)?;
        Ok(Some(number.value.unsigned_abs()))
    }

    /// `NAME ":" type`
    pub(super) fn field(&mut self, what: &str, place: fmt::Arguments) -> Parsed<Field<'text>> {
        let help = "write its name, and then its type: `key : string`";
        let name = self.any_name(what, place, help)?;
        self.expect(TokenKind::Colon, format_args!("after `{}`", name.text), help)?;
        let ty = self.ty(format_args!("after `{} :`", name.text))?;
        Ok(Field { name, ty })
    }

    /// `"(" [ parameter { "," parameter } ] ")"` of what is called so.
    pub(super) fn parameters(&mut self, of: &str) -> Parsed<Vec<Parameter<'text>>> {
        if !self.at(TokenKind::OpenParenthesis) {
            return self.fail_expecting("`(`", format_args!("after `{of}`"), PARAMETERS);
        }
        let open = self.open();
        let mut parameters = vec![];
        while !self.at(TokenKind::CloseParenthesis) {
            parameters.push(self.parameter()?);
            if self.take(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.close(open, format_args!("what `{of}` is given"), PARAMETERS)?;
        Ok(parameters)
    }

    /// `parameter = channel | NAME ":" type | "ref" NAME ":" type`
    fn parameter(&mut self) -> Parsed<Parameter<'text>> {
        if self.take_word("ref") {
            return self.field("the name of state", format_args!("after `ref`")).map(Parameter::State);
        }
        if self.at(TokenKind::Word) && self.second().kind == TokenKind::Colon {
            let name = self.name("a name", format_args!("here"), PARAMETERS)?;
            self.bump();
            let ty = self.ty(format_args!("after `{} :`", name.text))?;
            return Ok(Parameter::Value(Field { name, ty }));
        }
        self.channel().map(Parameter::Channel)
    }

    /// `channel = ( ways | "[" ways "]" [ "{" INT "}" ] ) NAME`; `ways = ( type | "-" ) "/" ( type | "-" )`
    fn channel(&mut self) -> Parsed<Channel<'text>> {
        let start = self.position;
        let mut array = None;
        let (gives, takes) = if self.is_array() {
            let open = self.open();
            let ways = self.ways()?;
            self.close(open, format_args!("the array of channels"), PARAMETERS)?;
            array = Some(self.most()?);
            ways
        } else {
            self.ways()?
        };
        let name = self.name("the name of a channel", format_args!("after what it carries"), PARAMETERS)?;
        Ok(Channel { name, gives, takes, array, span: self.span_from(start) })
    }

    /// Whether an array of channels comes, and no channel of lists: the `/` stands inside the brackets.
    fn is_array(&self) -> bool {
        if !self.at(TokenKind::OpenBracket) {
            return false;
        }
        let (mut depth, mut at) = (0_usize, self.position);
        loop {
            let token = self.token(at);
            match token.kind {
                TokenKind::OpenBracket => depth += 1,
                TokenKind::CloseBracket if depth <= 1 => return false,
                TokenKind::CloseBracket => depth -= 1,
                TokenKind::Other if depth == 1 && self.spelling(token) == "/" => return true,
                TokenKind::End | TokenKind::OpenParenthesis | TokenKind::CloseParenthesis => return false,
                _ => {}
            }
            at += 1;
        }
    }

    fn ways(&mut self) -> Parsed<(Option<Type<'text>>, Option<Type<'text>>)> {
        let gives = self.way("what a channel gives")?;
        if !(self.at(TokenKind::Other) && self.spelling(self.peek()) == "/") {
            return self.fail_expecting("`/`", format_args!("after what the channel gives"), PARAMETERS);
        }
        self.bump();
        Ok((gives, self.way("what a channel takes")?))
    }

    /// `type | "-"`
    fn way(&mut self, what: &str) -> Parsed<Option<Type<'text>>> {
        match self.take(TokenKind::Minus) {
            Some(_) => Ok(None),
            None if self.at(TokenKind::Word) || self.at(TokenKind::OpenBracket) => {
                self.ty(format_args!("as {what}")).map(Some)
            }
            None => self.fail_expecting("a type or `-`", format_args!("as {what}"), PARAMETERS),
        }
    }
}
