//! Lists of parameters. The parser finds the tokens of each parameter; [`crate::cpp_type`] reads its type and name.

use super::{Parsed, Parser};
use crate::cpp_type::read_parameter;
use crate::ids;
use crate::syntax::{Constant, Name, Parameter, QualifiedName};
use crate::token::{RESERVED, TokenKind};
use flux_diagnostic::Diagnostic;
use std::borrow::Cow;
use std::fmt;

impl<'text> Parser<'text, '_> {
    /// `"(" [ params ] ")"`. A parameter may be the name of a list. The parser reports a wrong parameter and leaves it
    /// out.
    pub(super) fn parameters(&mut self, list: fmt::Arguments) -> Parsed<Vec<Parameter<'text>>> {
        let parameters = self.inputs(list)?;
        for default in parameters.iter().filter_map(|parameter| parameter.default.as_ref()) {
            let error = Diagnostic::error(ids::INPUT_DEFAULT, "a default is for an input of a node", default.span);
            self.report(error.help("leave it out"));
        }
        Ok(parameters)
    }

    /// `"(" [ param [ "=" constant ] { "," param [ "=" constant ] } ")"`
    pub(super) fn inputs(&mut self, list: fmt::Arguments) -> Parsed<Vec<Parameter<'text>>> {
        let Some(open) = self.take(TokenKind::OpenParenthesis) else {
            let help = format_args!("inputs and outputs are in parentheses, empty lists too: `()`");
            return self.fail_expecting("`(`", format_args!("before {list}"), help);
        };
        let mut parameters = vec![];
        if self.take(TokenKind::CloseParenthesis).is_some() {
            return Ok(parameters);
        }
        loop {
            let parameter = self.list_name().or_else(|| self.parameter());
            let default = if self.take(TokenKind::Equals).is_some() { Some(self.default()?) } else { None };
            parameters.extend(parameter.map(|parameter| Parameter { default, ..parameter }));
            if self.take(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.expect_close(open, "`,`", list, "parameters are separated by `,`")?;
        Ok(parameters)
    }

    /// The default after the `=` of an input.
    fn default(&mut self) -> Parsed<Box<Constant<'text>>> {
        self.constant(format_args!("as the default of an input")).map(Box::new)
    }

    /// The name of a list of parameters that stands alone. This file has the list, or a module may have it.
    fn list_name(&mut self) -> Option<Parameter<'text>> {
        let (word, second) = (self.peek(), self.second());
        let ends = |position| matches!(self.token(position).kind, TokenKind::Comma | TokenKind::CloseParenthesis);
        let is_own = ends(self.position + 1) && self.lists.contains(self.spelling(word));
        let is_foreign = second.kind == TokenKind::Dot && ends(self.position + 3);
        let last = self.position + if is_own { 0 } else { 2 };
        let are_words = word.kind == TokenKind::Word && self.token(last).kind == TokenKind::Word;
        if !are_words || !(is_own || is_foreign) || RESERVED.contains(&self.spelling(word)) {
            return None;
        }
        let span = word.span.to(self.token(last).span);
        self.position = last + 1;
        let module = (!is_own).then(|| Cow::Borrowed(self.spelling(word)));
        let own = Cow::Borrowed(self.spelling(self.token(last)));
        let (ty, array, name) = (String::new(), String::new(), Name { text: own.clone(), span });
        let list = Some(QualifiedName { folder: None, module, own, span });
        Some(Parameter { ty, name, array, list, default: None, span })
    }

    /// One parameter. None if it is wrong, which this function reports, or if the list is not closed, which the caller
    /// reports.
    fn parameter(&mut self) -> Option<Parameter<'text>> {
        let start = self.position;
        self.skip_parameter();
        if self.ends_statement() {
            return None;
        }
        let run = self.tokens.get(start..self.position).unwrap_or(&[]);
        match read_parameter(self.text, run, self.peek().span) {
            Ok(parameter) => {
                self.check_letters(&parameter.name);
                Some(parameter)
            }
            Err(diagnostic) => {
                let words = run.iter().filter(|token| token.kind == TokenKind::Word);
                let words = words.filter_map(|word| self.text.get(word.span.range()));
                self.syntax.skipped_words.extend(words.map(Cow::Borrowed));
                self.report(*diagnostic);
                None
            }
        }
    }

    /// Takes the tokens up to a `,` or `=` outside brackets, or to the `)` that closes the list.
    fn skip_parameter(&mut self) {
        let mut round = 0_usize;
        let mut others = 0_usize;
        while !self.ends_statement() {
            match self.peek().kind {
                TokenKind::Comma | TokenKind::Equals if round == 0 && others == 0 => return,
                TokenKind::CloseParenthesis if round == 0 => return,
                TokenKind::OpenParenthesis => round += 1,
                TokenKind::CloseParenthesis => round -= 1,
                TokenKind::OpenBracket | TokenKind::Less => others += 1,
                TokenKind::CloseBracket | TokenKind::Greater => others = others.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
    }

    /// True if no parameter can contain the next token: the list is not closed.
    fn ends_statement(&self) -> bool {
        matches!(
            self.peek().kind,
            TokenKind::Semicolon | TokenKind::FatArrow | TokenKind::OpenBrace | TokenKind::CloseBrace | TokenKind::End
        )
    }
}
