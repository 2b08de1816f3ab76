//! Bodies in braces: of computed nodes, and of computed predicates.

use super::{DEPTH_LIMIT, Parsed, Parser};
use crate::body::{Body, Statement, Value};
use crate::ids;
use crate::syntax::QualifiedName;
use crate::token::TokenKind;
use flux_diagnostic::Diagnostic;

/// What may stand in a body.
const STATEMENTS: &str =
    "in a body stand `let x = …;`, `x = …;`, `if … { … } else { … }`, `for x in … { … }` and `fail 404;`";

impl<'text> Parser<'text, '_> {
    /// `body = "{" { statement } [ expression [ ";" ] ] "}"`; the last only where it `says` something, as a predicate.
    pub(super) fn body(&mut self, of: &QualifiedName<'text>, says: bool) -> Parsed<Body<'text>> {
        self.in_body = true;
        let start = self.position;
        let open = self.bump();
        let mut body = Body { block: vec![], says: None, span: open.span };
        while self.take(TokenKind::CloseBrace).is_none() {
            if self.at(TokenKind::End) {
                return self.fail_unclosed(open, TokenKind::CloseBrace, format_args!("the body of `{}`", of));
            }
            if says && !self.at_body_statement() {
                body.says = Some(self.value()?);
                self.take(TokenKind::Semicolon);
                if self.take(TokenKind::CloseBrace).is_none() {
                    let place = format_args!("after what `{}` says", of);
                    return self.fail_expecting("`}`", place, format_args!("what a predicate says comes last"));
                }
                break;
            }
            body.block.push(self.body_statement()?);
        }
        body.span = self.span_from(start);
        self.in_body = false;
        Ok(body)
    }

    /// Whether a statement comes, and not a value.
    fn at_body_statement(&self) -> bool {
        let (word, second) = (self.spelling(self.peek()), self.second());
        if !self.at(TokenKind::Word) {
            return false;
        }
        let starts = match word {
            "let" | "for" => second.kind == TokenKind::Word,
            "if" => true,
            "fail" => matches!(second.kind, TokenKind::Number | TokenKind::Minus),
            _ => false,
        };
        starts || second.kind == TokenKind::Equals && !self.is_equality(self.position + 1)
    }

    /// Whether the `=` at `position` is the first of `==`.
    pub(super) fn is_equality(&self, position: usize) -> bool {
        let (first, second) = (self.token(position), self.token(position + 1));
        (first.kind, second.kind) == (TokenKind::Equals, TokenKind::Equals) && first.span.end == second.span.start
    }

    fn body_statement(&mut self) -> Parsed<Statement<'text>> {
        if !self.at_body_statement() {
            let help = match self.at_word("return") {
                true => {
                    "a body gives its outputs by their names, `x = …;`, and fails by `fail 404;`: C++ is a function \
                     elsewhere"
                }
                false => STATEMENTS,
            };
            return self.fail_expecting("a statement", format_args!("in a body"), format_args!("{help}"));
        }
        let is_assignment = self.second().kind == TokenKind::Equals;
        match self.spelling(self.peek()) {
            "if" if !is_assignment => return self.body_if(),
            "for" if !is_assignment => {
                self.bump();
                let help = format_args!("a loop goes through a list: `for x in … {{ … }}`");
                let name = self.name("a name", format_args!("after `for`"), help)?;
                if !self.at_word("in") {
                    return self.fail_expecting("`in`", format_args!("after `for {}`", name.text), help);
                }
                self.bump();
                let list = self.value()?;
                return Ok(Statement::For(name, list, self.block("the loop")?));
            }
            _ => {}
        }
        let statement = match self.spelling(self.peek()) {
            "fail" if !is_assignment => self.fail_statement()?,
            "let" if !is_assignment => {
                self.bump();
                let help = format_args!("write `let x = …;`");
                let name = self.name("a name", format_args!("after `let`"), help)?;
                self.expect(TokenKind::Equals, format_args!("after `let {}`", name.text), help)?;
                Statement::Let(name, self.value()?)
            }
            _ => {
                let name = self.name("a name", format_args!("here"), format_args!("{STATEMENTS}"))?;
                self.bump();
                Statement::Assign(name, self.value()?)
            }
        };
        if self.take(TokenKind::Semicolon).is_none() {
            let help = match self.at(TokenKind::Equals) {
                true => "a value is compared with `==`, and only a statement has a `=`",
                false => {
                    "every statement ends with `;`, and values are joined by `+`, `-`, `*`, `/`, `==`, `&&` and so on"
                }
            };
            return self.fail_expecting("`;`", format_args!("after the value"), format_args!("{help}"));
        }
        Ok(statement)
    }

    /// `"fail" INT`
    fn fail_statement(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let value = self.value()?;
        let span = self.span_from(start);
        match value.form {
            crate::body::Form::Number(code) => Ok(Statement::Fail(code, span)),
            crate::body::Form::Negate(inner) if matches!(inner.form, crate::body::Form::Number(_)) => {
                let crate::body::Form::Number(code) = inner.form else { return Ok(Statement::Fail(1, span)) };
                Ok(Statement::Fail(-code, span))
            }
            _ => {
                let error = Diagnostic::error(ids::FAIL_CODE, "the code of a failure is a number", value.span);
                self.fail(error.help("write the number itself: `fail 404;`"))
            }
        }
    }

    /// `"if" expression block [ "else" ( if | block ) ]`
    fn body_if(&mut self) -> Parsed<Statement<'text>> {
        self.nest()?;
        self.bump();
        let condition = self.value()?;
        let then = self.block("what is done if it holds")?;
        let mut otherwise = vec![];
        if self.at_word("else") {
            self.bump();
            otherwise = match self.at_word("if") {
                true => vec![self.body_if()?],
                false => self.block("what is done else")?,
            };
        }
        self.depth -= 1;
        Ok(Statement::If(condition, then, otherwise))
    }

    /// `"{" { statement } "}"`
    fn block(&mut self, what: &str) -> Parsed<Vec<Statement<'text>>> {
        self.nest()?;
        let help = format_args!("write it in braces: `{{ … }}`");
        let open = self.expect(TokenKind::OpenBrace, format_args!("before {what}"), help)?;
        let mut block = vec![];
        while self.take(TokenKind::CloseBrace).is_none() {
            if self.at(TokenKind::End) {
                return self.fail_unclosed(open, TokenKind::CloseBrace, format_args!("{what}"));
            }
            block.push(self.body_statement()?);
        }
        self.depth -= 1;
        Ok(block)
    }

    /// Goes one level in, unless that is too deep.
    pub(super) fn nest(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth <= DEPTH_LIMIT {
            return Ok(());
        }
        let headline = format!("this is more than {DEPTH_LIMIT} levels deep");
        let error = Diagnostic::error(ids::NESTING_TOO_DEEP, headline, self.peek().span);
        self.fail(error.help("give parts of it names: `let x = …;`, or make a node of them"))
    }

    /// A value: what `=` gives, `if` asks, or a predicate says.
    pub(super) fn value(&mut self) -> Parsed<Value<'text>> {
        self.joined(1)
    }
}
