//! Parses the chains of a program, and which values pass along them.

use super::cursor::Cursor;
use super::names::{Ports, Scope};
use super::parse_program::Parser;
use super::{NESTING_LIMIT, ParseError};
use crate::error_code::ErrorPart;
use crate::program::{Action, Argument, Chain, Each, EachValues, Parallel, Step, StepNumber};
use flux_source::deep;

impl Parser<'_> {
    /// A chain inside of `depth` others; `scope` is what its arguments may name.
    pub(super) fn chain(&self, line: &mut Cursor<'_>, scope: &mut Scope, depth: usize) -> Result<Chain, ParseError> {
        deep(|| {
            if depth > NESTING_LIMIT {
                return Err(line.error("chains are nested too deep"));
            }
            let span = line.span()?;
            let empty = line.at_end() || line.at("&") || line.at(")") || line.at("]") || line.at_word("gives");
            let steps = if empty { vec![] } else { line.separated("->", |line| self.step(line, scope, depth))? };
            Ok(Chain { steps, results: self.values("gives", line, scope)?, span })
        })
    }

    fn step(&self, line: &mut Cursor<'_>, scope: &mut Scope, depth: usize) -> Result<Step, ParseError> {
        let number = match line.at("%") {
            true => step_number(line)?,
            false => StepNumber(scope.last.saturating_add(1)),
        };
        // Steps inside of this one are numbered after it.
        scope.last = scope.last.max(number.0);
        let (action, outputs) = if line.at("(") {
            let span = line.span()?;
            line.expect("(")?;
            let branches = line.separated("&", |line| self.chain(line, scope, depth + 1))?;
            line.expect(")")?;
            let arguments = self.values("takes", line, scope)?;
            (Action::Parallel(Parallel { branches, arguments, span }), None)
        } else if line.at("[") {
            (Action::Each(self.each(line, scope, depth)?), None)
        } else {
            let mut application = self.application(line)?;
            application.arguments = self.values("takes", line, scope)?;
            application.kept = self.values("keeps", line, scope)?.unwrap_or_default();
            let outputs = Ports::NodeOutputs(application.node);
            (Action::Apply(application), Some(outputs))
        };
        scope.add(number, outputs);
        Ok(Step { number, action, within: self.within(line)? })
    }

    fn each(&self, line: &mut Cursor<'_>, scope: &mut Scope, depth: usize) -> Result<Each, ParseError> {
        let span = line.span()?;
        line.expect("[")?;
        let chain = self.chain(line, scope, depth + 1)?;
        line.expect("]")?;
        let mut width = None;
        if line.eat("(") {
            width = Some(line.constant(&self.names.options)?);
            line.expect(")")?;
        }
        if !line.eat_word("each") {
            return Ok(Each { chain, width, values: None, span });
        }
        line.expect("(")?;
        let element = line.parameter(&self.types)?;
        line.expect(")")?;
        line.expect_word("of")?;
        let list = self.argument(line, scope)?;
        let copied = self.values("takes", line, scope)?.unwrap_or_default();
        let carried = if line.eat_word("carries") { line.list("(", ")", carried)? } else { vec![] };
        Ok(Each { chain, width, values: Some(EachValues { list, element, copied, carried }), span })
    }

    /// `takes (in.x, %1.y)`, where it comes next.
    pub(super) fn values(
        &self,
        verb: &str,
        line: &mut Cursor<'_>,
        scope: &Scope,
    ) -> Result<Option<Vec<Argument>>, ParseError> {
        if !line.eat_word(verb) {
            return Ok(None);
        }
        line.list("(", ")", |line| self.argument(line, scope)).map(Some)
    }

    fn argument(&self, line: &mut Cursor<'_>, scope: &Scope) -> Result<Argument, ParseError> {
        if let Some(part) = error_part(line) {
            return Ok(Argument::Error(part));
        }
        if line.eat("=") {
            return line.constant(&self.names.options).map(Argument::Constant);
        }
        if line.eat_word("element") {
            line.expect_word("of")?;
            return step_number(line).map(Argument::Element);
        }
        if line.eat_word("kept") {
            line.expect(".")?;
            return line.number("the number of a value that is kept").map(Argument::Kept);
        }
        if line.eat_word("in") {
            line.expect(".")?;
            return line.position(self.names.ports(scope.inputs())).map(Argument::Input);
        }
        let step = step_number(line)?;
        line.expect(".")?;
        line.position(self.names.ports(scope.outputs(step))).map(|index| Argument::Output(step, index))
    }
}

/// `error`, `error_text`: a part of a failure, where one comes next.
pub(super) fn error_part(line: &mut Cursor<'_>) -> Option<ErrorPart> {
    ErrorPart::ALL.into_iter().find(|part| line.eat_word(part.name()))
}

/// `0 as 1`: an output of an instance, and the input that it is in the next.
pub(super) fn carried(line: &mut Cursor<'_>) -> Result<(usize, usize), ParseError> {
    let output = line.number("the position of an output")?;
    line.expect_word("as")?;
    Ok((output, line.number("the position of an input")?))
}

/// `%1`
fn step_number(line: &mut Cursor<'_>) -> Result<StepNumber, ParseError> {
    line.expect("%")?;
    line.number("the number of a step").map(StepNumber)
}
