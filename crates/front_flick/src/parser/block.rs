//! Statements, and the blocks that they stand in.

use super::{Parsed, Parser};
use crate::syntax::{Expression, Statement};
use flux_diagnostic::Diagnostic;
use flux_front_flux::ids;
use flux_front_flux::token::TokenKind;
use std::fmt;

const LET: &str = "a value gets a name by `let target = hash(req.key)`";
const IF: &str = "write `if len(kv.key) > 0:`, and what is done then on the lines below, indented";
const FOR: &str = "write `for backend in backends:`, and what is done with each on the lines below, indented";
const SEND: &str = "a value is sent by `req => backends[0]`, through a function by `req => rewrite => client`";

impl<'text> Parser<'text, '_> {
    /// A block: the lines below, which are indented, or one statement on the same line.
    pub(super) fn block(&mut self, what: &str, help: &str) -> Parsed<Vec<Statement<'text>>> {
        let is_inline = self.brackets > 0 || !self.next().starts_line;
        match is_inline {
            true if !self.at(TokenKind::End) => Ok(vec![self.nested(Self::statement)?]),
            _ => self.nested(|parser| parser.indented(what, help, Self::statement)),
        }
    }

    pub(super) fn statement(&mut self) -> Parsed<Statement<'text>> {
        match self.spelling(self.peek()) {
            "let" => self.assignment(),
            "if" => self.condition(),
            "for" => self.walk(),
            "local" => {
                let error = Diagnostic::error(ids::UNEXPECTED_TOKEN, "state stands in a `proc`", self.peek().span);
                self.fail(error.help("declare it above the rules of the `proc`; inside of functions use `let`"))
            }
            "|" => {
                let error = Diagnostic::error(ids::UNEXPECTED_TOKEN, "rules stand in a `proc`", self.peek().span);
                self.fail(error.help("a function sends without `|`: `req => backends[0]`"))
            }
            word @ ("elif" | "else") => self.fail_without_if(word),
            _ => self.plain_statement(),
        }
    }

    /// `"let" NAME [ ":" type ] "=" expression`
    fn assignment(&mut self) -> Parsed<Statement<'text>> {
        self.bump();
        let name = self.name("a name", format_args!("after `let`"), LET)?;
        let ty = match self.take(TokenKind::Colon) {
            Some(_) => Some(self.ty(format_args!("after `let {} :`", name.text))?),
            None => None,
        };
        self.expect(TokenKind::Equals, format_args!("after `let {}`", name.text), LET)?;
        Ok(Statement::Let(name, ty, self.expression()?))
    }

    /// `expression`, `expression ":=" expression`, or `expression "=>" step { "=>" step }`
    fn plain_statement(&mut self) -> Parsed<Statement<'text>> {
        let value = self.expression()?;
        if self.take_sign(":=") {
            return Ok(Statement::Set(value, self.expression()?));
        }
        if self.at(TokenKind::FatArrow) {
            return Ok(Statement::Send(value, self.steps(format_args!("after the value"), SEND)?));
        }
        let help = match self.peek().kind {
            TokenKind::Equals => "a value gets a name by `let x = …`, state is changed by `x := …`",
            TokenKind::Arrow => SEND,
            _ => return Ok(Statement::Value(value)),
        };
        self.fail_expecting("the end of the line", format_args!("after the value"), help)
    }

    /// `"=>" step { "=>" step }`
    pub(super) fn steps(&mut self, place: fmt::Arguments, help: &str) -> Parsed<Vec<Expression<'text>>> {
        self.expect(TokenKind::FatArrow, place, help)?;
        let mut steps = vec![self.expression()?];
        while self.take(TokenKind::FatArrow).is_some() {
            steps.push(self.expression()?);
        }
        Ok(steps)
    }

    /// `"if" expression ":" block { "elif" expression ":" block } [ "else" ":" block ]`
    fn condition(&mut self) -> Parsed<Statement<'text>> {
        let depth = self.depth;
        let statement = self.branches();
        self.depth = depth;
        statement
    }

    fn branches(&mut self) -> Parsed<Statement<'text>> {
        let span = self.bump().span;
        let (mut branches, mut otherwise) = (vec![], None);
        loop {
            let condition = self.expression()?;
            self.colon(format_args!("after the condition"), IF)?;
            branches.push((condition, self.block("what is done then", IF)?));
            if self.goes_on("elif") {
                // It is an `if` in an `else`.
                self.nest()?;
                continue;
            }
            if self.goes_on("else") {
                self.colon(format_args!("after `else`"), IF)?;
                otherwise = Some(self.block("what is done else", IF)?);
            }
            return Ok(Statement::If(branches, otherwise, span));
        }
    }

    /// Takes a word that goes on with an `if`: on its line, or in its column on the next.
    fn goes_on(&mut self, word: &str) -> bool {
        let next = self.next();
        let is_below = next.starts_line && self.brackets == 0 && self.next_column() == self.column;
        if next.kind != TokenKind::Word || self.spelling(next) != word || next.starts_line && !is_below {
            return false;
        }
        if is_below {
            self.first = self.position;
        }
        self.bump();
        true
    }

    /// `"for" NAME "in" expression ":" block`
    fn walk(&mut self) -> Parsed<Statement<'text>> {
        self.bump();
        let name = self.name("a name", format_args!("after `for`"), FOR)?;
        self.expect_word("in", format_args!("after `for {}`", name.text), FOR)?;
        let list = self.expression()?;
        self.colon(format_args!("after what `for` goes through"), FOR)?;
        let block = self.block("what is done with each", FOR)?;
        Ok(Statement::For(name, list, block))
    }
}
