//! Constraints: names, modes, scopes and keys.

use super::{Parsed, Parser, advice};
use crate::ids;
use crate::syntax::{Atomic, Constraint, Name, QualifiedName, Scope, Statement};
use crate::token::TokenKind;
use flux_diagnostic::Diagnostic;
use flux_ir::program::Mode;

/// What a key can be.
const KEY: &str = "a key is made of the node's inputs, by their names alone: `account(from, to)`";

impl<'text> Parser<'text, '_> {
    /// `atomic = "atomic" qname ":" "{" constraint { "," constraint } "}" ";"`
    pub(super) fn atomic(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let help = format_args!("constraints are written `atomic Node:{{…}};`");
        let node = self.node_name(format_args!("after `atomic`"), help)?;
        if self.take(TokenKind::Colon).is_none() || !self.at(TokenKind::OpenBrace) {
            let place = format_args!("after `atomic {}`", node);
            let help = if self.at(TokenKind::Comma) { "each node has a statement of its own: " } else { "" };
            return self.fail_expecting("`:{`", place, format_args!("{help}write `atomic {}:{{…}};`", node));
        }
        let open = self.bump();
        let mut constraints = vec![];
        loop {
            constraints.push(self.constraint(&node)?);
            if self.take(TokenKind::Comma).is_none() {
                break;
            }
        }
        let help = "constraints are separated by `,`, and a reader is marked by `?`: `cache?, log`";
        self.expect_close(open, "`,`", format_args!("the constraints of `{}`", node), help)?;
        let place = format_args!("after the constraints of `{}`", node);
        let span = self.end_statement(start, "`;`", place, advice::END)?;
        Ok(Statement::Atomic(Atomic { node, constraints, span }))
    }

    /// `constraint = qname [ mark ] [ "(" ( "program" | "session" | NAME { "," NAME } ) ")" ] [ mark ]`, with one mark,
    /// `"?" | "!"`, at most.
    fn constraint(&mut self, node: &QualifiedName) -> Parsed<Constraint<'text>> {
        let start = self.position;
        let place = format_args!("in the constraints of `{}`", node);
        let help = match self.peek().kind {
            TokenKind::Question | TokenKind::Exclamation => "the mode comes after the name: `cache?`",
            TokenKind::CloseBrace if self.previous().kind == TokenKind::Comma => "remove the `,`, or write a name",
            _ => "a constraint is a name: write one, or remove the whole statement",
        };
        let name = self.qualified_name("a constraint", place, format_args!("{help}"))?;
        let mode = self.mode();
        let scope = if self.at(TokenKind::OpenParenthesis) { self.scope(&name)? } else { Scope::Program };
        let mode = mode.or_else(|| self.mode()).unwrap_or(Mode::Write);
        if matches!(self.peek().kind, TokenKind::Question | TokenKind::Exclamation) {
            let mark = self.spelling(self.peek());
            let help = format_args!("write `{mark}` only once: `{}{mark}`", name);
            return self.fail_expecting("`,` or `}`", format_args!("after the constraint `{}`", name), help);
        }
        Ok(Constraint { name, mode, scope, span: self.span_from(start) })
    }

    /// `?` or `!`, where there is one.
    fn mode(&mut self) -> Option<Mode> {
        if self.take(TokenKind::Question).is_some() {
            return Some(Mode::Read);
        }
        self.take(TokenKind::Exclamation).map(|_| Mode::Write)
    }

    /// `"(" ( "program" | "session" | NAME { "," NAME } ) ")"`
    fn scope(&mut self, constraint: &QualifiedName) -> Parsed<Scope<'text>> {
        let open = self.bump();
        let is_alone = self.second().kind == TokenKind::CloseParenthesis;
        let scope = match self.spelling(self.peek()) {
            "program" if is_alone => {
                self.bump();
                Scope::Program
            }
            "session" if is_alone => Scope::Session(self.bump().span),
            _ => Scope::Keyed(self.keys(constraint)?),
        };
        self.expect_close(open, "`,`", format_args!("the key of `{}`", constraint), KEY)?;
        Ok(scope)
    }

    /// `NAME { "," NAME }`; a scope among the names is reported and left out.
    fn keys(&mut self, constraint: &QualifiedName) -> Parsed<Vec<Name<'text>>> {
        let mut keys = vec![];
        loop {
            let token = self.peek();
            if self.at_word("session") || self.at_word("program") {
                self.bump();
                let word = self.spelling(token);
                let headline = format!("`{word}` is a scope and cannot be part of the key of `{}`", constraint);
                let help = format!("write `{}({word})` for the scope, or use other inputs as the key", constraint);
                self.report(Diagnostic::error(ids::RESERVED_KEY, headline, token.span).help(help));
            } else {
                let place = format_args!("in the key of `{}`", constraint);
                keys.push(self.name("an input of the node", place, format_args!("{KEY}"))?);
            }
            if self.take(TokenKind::Comma).is_none() {
                return Ok(keys);
            }
        }
    }
}
