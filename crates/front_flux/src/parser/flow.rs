//! Flows: patterns, chains, steps.

use super::{Parsed, Parser};
use crate::syntax::{
    Action, Application, Chain, Constant, Flow, NameOrAny, NamedInput, Patterns, QualifiedName, Statement, Step,
};
use crate::token::TokenKind;
use flux_source::deep;
use std::fmt;

impl<'text> Parser<'text, '_> {
    /// `flow = qname [ [ ":" ] "[" pattern { "," pattern } "]" ] "=" [ chain ] ";"`, from after the name.
    pub(super) fn flow(&mut self, start: usize, node: QualifiedName<'text>) -> Parsed<Statement<'text>> {
        let patterns = self.patterns(&node)?;
        let place = match &patterns {
            Some(_) => format!("after the patterns of `{}`", node),
            None => format!("after `{}`", node),
        };
        match self.peek().kind {
            TokenKind::Equals => {
                self.bump();
            }
            TokenKind::FatArrow | TokenKind::Arrow => {
                let found = self.bump();
                self.report_wrong_arrow(found, "=", format_args!("{place}"));
            }
            _ => {
                let help = format_args!("the flow of a node is written `{}… = …;`", node);
                return self.fail_expecting("`=`", format_args!("{place}"), help);
            }
        }
        let mut chain = Chain { steps: vec![], span: self.after_previous() };
        if !self.ends_empty_flow() {
            chain = self.chain(format_args!("in the flow of `{}`", node))?;
        }
        let help = self.advice_after_step();
        let (expected, place) = match chain.steps.last() {
            None => ("a node or `;`", format!("after the empty flow of `{}`", node)),
            Some(Step { action: Action::Apply(last), within: None }) => {
                ("`->` or `;`", format!("after the step `{}`", last.node))
            }
            Some(Step { within: Some(_), .. }) => ("`->` or `;`", "after the deadline of a step".to_owned()),
            Some(Step { action: Action::Each(..), .. }) => ("`->` or `;`", "after an each step".to_owned()),
            Some(_) => ("`->` or `;`", "after a parallel step".to_owned()),
        };
        let span = self.end_statement(start, expected, format_args!("{place}"), help)?;
        if chain.steps.is_empty() {
            chain.span = span;
        }
        Ok(Statement::Flow(Flow { node, patterns, chain, span }))
    }

    /// True if the flow that `=` has just opened has no steps. If its `;` is missing, the next line shows this: it
    /// starts with tokens that cannot start a step.
    fn ends_empty_flow(&self) -> bool {
        let is_flow = matches!(self.second().kind, TokenKind::Equals | TokenKind::Colon | TokenKind::OpenBracket);
        let is_keyword_line = matches!(self.spelling(self.peek()), "typedef" | "source" | "handle" | "atomic");
        self.at(TokenKind::Semicolon)
            || self.at(TokenKind::End)
            || (is_flow || is_keyword_line) && self.starts_statement(self.position)
    }

    /// `[ ":" ] "[" pattern { "," pattern } "]"`, if there is one.
    fn patterns(&mut self, node: &QualifiedName) -> Parsed<Option<Patterns<'text>>> {
        let colon = self.take(TokenKind::Colon);
        if colon.is_some() && self.at(TokenKind::OpenBrace) {
            let help = format_args!("constraints are written `atomic {}:{{…}};`", node);
            return self.fail_expecting("`[`", format_args!("after `{}:`", node), help);
        }
        if colon.is_none() && !self.at(TokenKind::OpenBracket) {
            return Ok(None);
        }
        let help = format_args!("a flow is written `{0} = …;`, or with patterns `{0}:[…] = …;`", node);
        let open = self.expect(TokenKind::OpenBracket, format_args!("after `{}:`", node), help)?;
        let start = self.position - 1;
        let (mut list, mut inputs) = (vec![], vec![]);
        loop {
            let mut input = None;
            if (self.peek().kind, self.second().kind) == (TokenKind::Word, TokenKind::Colon) {
                let place = format_args!("in the patterns of `{}`", node);
                input = Some(self.name("an input", place, format_args!("write `[input: type]`"))?);
                self.bump();
            }
            inputs.push(input);
            list.push(if self.at_any() {
                NameOrAny::Any(self.bump().span)
            } else {
                let place = format_args!("in the patterns of `{}`", node);
                let help = self.advice_for_pattern();
                NameOrAny::Name(self.qualified_name("a predicate type or `_`", place, format_args!("{help}"))?)
            });
            if self.take(TokenKind::Comma).is_none() {
                break;
            }
        }
        let help = "write one pattern for each input, and a `,` between two";
        self.expect_close(open, "`,`", format_args!("the patterns of `{}`", node), help)?;
        Ok(Some(Patterns { list, inputs, span: self.span_from(start) }))
    }

    /// `chain = step { "->" step }`
    fn chain(&mut self, place: fmt::Arguments) -> Parsed<Chain<'text>> {
        deep(|| {
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
        })
    }

    /// `step = ( step1 | "(" [ chain ] { "&" [ chain ] } ")" | "[" chain "]" [ "(" constant ")" ] ) [ "within" constant
    /// ]`
    fn step(&mut self, place: fmt::Arguments) -> Parsed<Step<'text>> {
        let action = if self.at(TokenKind::OpenParenthesis) {
            self.parallel()?
        } else if self.at(TokenKind::OpenBracket) {
            self.each()?
        } else {
            let help = self.advice_for_step();
            Action::Apply(self.application(place, format_args!("{help}"))?)
        };
        Ok(Step { action, within: self.within()? })
    }

    /// `[ "within" constant ]`. Any other word after a step is the first word of the next line.
    fn within(&mut self) -> Parsed<Option<Constant<'text>>> {
        if !self.at_word("within") || self.starts_statement(self.position) {
            return Ok(None);
        }
        self.bump();
        self.constant(format_args!("after `within`")).map(Some)
    }

    /// `"(" [ chain ] { "&" [ chain ] } ")"`
    fn parallel(&mut self) -> Parsed<Action<'text>> {
        let (start, open) = (self.position, self.bump());
        self.nest_in(open.span, "give the inner steps names: a node with a flow of its own")?;
        let mut branches = vec![];
        loop {
            branches.push(if matches!(self.peek().kind, TokenKind::Ampersand | TokenKind::CloseParenthesis) {
                Chain { steps: vec![], span: open.span }
            } else {
                self.chain(format_args!("in a parallel step"))?
            });
            let Some(joint) = self.take(TokenKind::Ampersand) else { break };
            if self.at(TokenKind::Ampersand) && self.peek().span.start == joint.span.end {
                let help = format_args!("`&` joins two branches; one that does nothing is left empty: `(A & & B)`");
                return self.fail_expecting("a branch", format_args!("after `&`"), help);
            }
        }
        self.depth -= 1;
        let help = "branches that run concurrently are joined by `&`, and the steps of one by `->`";
        self.expect_close(open, "`->`, `&`", format_args!("a parallel step"), help)?;
        let span = self.span_from(start);
        for branch in branches.iter_mut().filter(|branch| branch.steps.is_empty()) {
            branch.span = span;
        }
        Ok(Action::Parallel(branches, span))
    }

    /// `"[" chain "]" [ "(" constant ")" ]`
    fn each(&mut self) -> Parsed<Action<'text>> {
        let (start, open) = (self.position, self.bump());
        if self.at(TokenKind::CloseBracket) {
            let help = format_args!("in the brackets stands what is done with each element of a list: `[Node](4)`");
            return self.fail_expecting("a node", format_args!("after `[`"), help);
        }
        self.nest_in(open.span, "give the inner steps names: a node with a flow of its own")?;
        let chain = self.chain(format_args!("in an each step"))?;
        self.depth -= 1;
        let help = "steps are joined by `->`; how many run at once stands after the `]`: `[Node](4)`";
        self.expect_close(open, "`->`", format_args!("an each step"), help)?;
        let mut width = None;
        if self.take(TokenKind::OpenParenthesis).is_some() {
            width = Some(self.constant(format_args!("after the `]` of an each step"))?);
            let help = format_args!("how many run at once is one number, or one option");
            self.expect(TokenKind::CloseParenthesis, format_args!("after the width of an each step"), help)?;
        }
        Ok(Action::Each(chain, width, self.span_from(start)))
    }

    /// `step1 = qname [ "(" binding { "," binding } ")" ]`. Constants come first.
    pub(super) fn application(&mut self, place: fmt::Arguments, help: fmt::Arguments) -> Parsed<Application<'text>> {
        let node = self.node_name(place, help)?;
        let (mut constants, mut named) = (vec![], vec![]);
        if let Some(open) = self.take(TokenKind::OpenParenthesis) {
            if self.at(TokenKind::CloseParenthesis) {
                let help = format_args!("without constants a step is its name: `{}`", node);
                return self.fail_expecting("a constant", format_args!("after `{}(`", node), help);
            }
            if self.at_word("session") {
                let help = format_args!("the session of a source is in braces: `{} {{session: Function}}`", node);
                return self.fail_expecting("a constant", format_args!("after `{}(`", node), help);
            }
            loop {
                if self.at(TokenKind::Word) && self.second().kind == TokenKind::Colon {
                    named.push(self.named_input(&node)?);
                } else if named.is_empty() {
                    constants.push(self.constant(format_args!("in the constants of `{}`", node))?);
                } else {
                    let help = format_args!("constants bind the first inputs: they come before `input: value`");
                    return self.fail_expecting("`input: value`", format_args!("in `{}(…)`", node), help);
                }
                if self.take(TokenKind::Comma).is_none() {
                    break;
                }
            }
            let place = format_args!("in the constants of `{}`", node);
            if self.at(TokenKind::Ampersand) {
                let help = format_args!("a parallel step comes after an arrow: `{} -> (…)`", node);
                return self.fail_expecting("`,` or `)`", place, help);
            }
            if self.at(TokenKind::Equals) {
                let help = format_args!(
                    "constants bind the first inputs, in order; an input takes a value by its name so: `input: value`"
                );
                return self.fail_expecting("`,` or `)`", place, help);
            }
            let help = "constants are separated by `,`; they are neither computed nor called";
            self.expect_close(open, "`,`", format_args!("the constants of `{}`", node), help)?;
        }
        Ok(Application { node, constants, named })
    }

    /// `NAME ":" ( NAME | constant )`: an input and its value.
    fn named_input(&mut self, node: &QualifiedName) -> Parsed<NamedInput<'text>> {
        let start = self.position;
        let input = self.bump();
        self.bump();
        let starts_constant = matches!(
            self.peek().kind,
            TokenKind::Word | TokenKind::Number | TokenKind::Minus | TokenKind::Text { closed: true }
        );
        if !starts_constant {
            let help = format_args!("name a value that the flow has, or write a constant: `{}(input: value)`", node);
            return self.fail_expecting("a name or a constant", format_args!("in `{}(…)`", node), help);
        }
        let value = self.constant(format_args!("in `{}(…)`", node))?;
        Ok(NamedInput { input: self.spelling(input), value, span: self.span_from(start) })
    }
}
