//! Flows: patterns, chains, steps.

use super::{DEPTH_LIMIT, Parsed, Parser};
use crate::ids;
use crate::syntax::{Application, Chain, Flow, Name, NameOrAny, Patterns, Statement, Step};
use crate::token::TokenKind;
use flux_diagnostic::Diagnostic;
use std::fmt;

impl<'text> Parser<'text, '_> {
    /// `flow = qname [ [ ":" ] "[" pattern { "," pattern } "]" ] "=" [ chain ] ";"`, from after the name.
    pub(super) fn flow(&mut self, start: usize, node: Name<'text>) -> Parsed<Statement<'text>> {
        let patterns = self.patterns(&node)?;
        let place = match &patterns {
            Some(_) => format!("after the patterns of `{}`", node.text),
            None => format!("after `{}`", node.text),
        };
        match self.peek().kind {
            TokenKind::Equals => {
                self.bump();
            }
            TokenKind::FatArrow | TokenKind::Arrow => {
                let found = self.bump();
                self.report_wrong_arrow(found, "=", format_args!("{place}"));
            }
            _ => return self.fail_expecting("`=`", format_args!("{place}")),
        }
        let mut chain = Chain { steps: vec![], span: self.after_previous() };
        if !self.ends_empty_flow() {
            chain = self.chain(format_args!("in the flow of `{}`", node.text))?;
        }
        let span = match chain.steps.last() {
            None => self.end_statement(start, "a node or `;`", format_args!("after the empty flow of `{}`", node.text)),
            Some(Step::Apply(last)) => {
                self.end_statement(start, "`->` or `;`", format_args!("after the step `{}`", last.node.text))
            }
            Some(Step::Parallel(..)) => self.end_statement(start, "`->` or `;`", format_args!("after a parallel step")),
        }?;
        if chain.steps.is_empty() {
            chain.span = span;
        }
        Ok(Statement::Flow(Flow { node, patterns, chain, span }))
    }

    /// Whether the flow that has just been opened by `=` has no steps. Where its `;` is missing, the next line shows
    /// it by what no step can start with.
    fn ends_empty_flow(&self) -> bool {
        let is_flow = matches!(self.second().kind, TokenKind::Equals | TokenKind::Colon | TokenKind::OpenBracket);
        let is_keyword_line = matches!(self.spelling(self.peek()), "typedef" | "source" | "handle" | "atomic");
        self.at(TokenKind::Semicolon)
            || self.at(TokenKind::End)
            || (is_flow || is_keyword_line) && self.starts_statement(self.position)
    }

    /// `[ ":" ] "[" pattern { "," pattern } "]"`, where there is one.
    fn patterns(&mut self, node: &Name) -> Parsed<Option<Patterns<'text>>> {
        let colon = self.take(TokenKind::Colon);
        if colon.is_some() && self.at(TokenKind::OpenBrace) {
            let help = format!("constraints are written `atomic {}:{{…}};`", node.text);
            return self.fail_helping("`[`", format_args!("after `{}:`", node.text), help);
        }
        if colon.is_none() && !self.at(TokenKind::OpenBracket) {
            return Ok(None);
        }
        let open = self.expect(TokenKind::OpenBracket, format_args!("after `{}:`", node.text))?;
        let start = self.position - 1;
        let mut list = vec![];
        loop {
            let is_any = self.at(TokenKind::Asterisk) || self.at_word("_");
            list.push(if is_any {
                NameOrAny::Any(self.bump().span)
            } else {
                let place = format_args!("in the patterns of `{}`", node.text);
                NameOrAny::Name(self.qualified_name("a predicate type or `_`", place)?)
            });
            if self.take(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.expect_close(open, "`,`", format_args!("the patterns of `{}`", node.text))?;
        Ok(Some(Patterns { list, span: self.span_from(start) }))
    }

    /// `chain = step { "->" step }`
    fn chain(&mut self, place: fmt::Arguments) -> Parsed<Chain<'text>> {
        let start = self.position;
        let mut steps = vec![self.step(place)?];
        loop {
            match self.peek().kind {
                TokenKind::Arrow => {
                    self.bump();
                }
                TokenKind::FatArrow => {
                    let found = self.bump();
                    self.report_wrong_arrow(found, "->", format_args!("between two steps"));
                }
                _ => return Ok(Chain { steps, span: self.span_from(start) }),
            }
            steps.push(self.step(format_args!("after `->`"))?);
        }
    }

    /// `step = step1 | "(" [ chain ] { "&" [ chain ] } ")"`
    fn step(&mut self, place: fmt::Arguments) -> Parsed<Step<'text>> {
        if !self.at(TokenKind::OpenParenthesis) {
            return Ok(Step::Apply(self.application("a node", place)?));
        }
        let (start, open) = (self.position, self.bump());
        if self.depth == DEPTH_LIMIT {
            let headline = format!("more than {DEPTH_LIMIT} parallel steps in each other");
            let diagnostic = Diagnostic::error(ids::NESTING_TOO_DEEP, headline, open.span);
            return self.fail(diagnostic.help("give the inner ones names: a node with a flow of its own"));
        }
        self.depth += 1;
        let mut branches = vec![];
        loop {
            branches.push(if matches!(self.peek().kind, TokenKind::Ampersand | TokenKind::CloseParenthesis) {
                Chain { steps: vec![], span: open.span }
            } else {
                self.chain(format_args!("in a parallel step"))?
            });
            if self.take(TokenKind::Ampersand).is_none() {
                break;
            }
        }
        self.depth -= 1;
        self.expect_close(open, "`->`, `&`", format_args!("a parallel step"))?;
        let span = self.span_from(start);
        for branch in branches.iter_mut().filter(|branch| branch.steps.is_empty()) {
            branch.span = span;
        }
        Ok(Step::Parallel(branches, span))
    }

    /// `step1 = qname [ "(" constant { "," constant } ")" ]`
    pub(super) fn application(&mut self, what: &str, place: fmt::Arguments) -> Parsed<Application<'text>> {
        let node = self.qualified_name(what, place)?;
        let mut constants = vec![];
        if let Some(open) = self.take(TokenKind::OpenParenthesis) {
            if self.at(TokenKind::CloseParenthesis) {
                let help = format!("without constants a step is its name: `{}`", node.text);
                return self.fail_helping("a constant", format_args!("after `{}(`", node.text), help);
            }
            loop {
                constants.push(self.constant(format_args!("as a constant of `{}`", node.text))?);
                if self.take(TokenKind::Comma).is_none() {
                    break;
                }
            }
            if self.at(TokenKind::Ampersand) {
                let help = format!("a parallel step comes after an arrow: `{} -> (…)`", node.text);
                return self.fail_helping("`,` or `)`", format_args!("in the constants of `{}`", node.text), help);
            }
            self.expect_close(open, "`,`", format_args!("the constants of `{}`", node.text))?;
        }
        Ok(Application { node, constants })
    }
}
