//! Parses computations.

use super::cursor::Cursor;
use super::parse_program::Parser;
use super::{NESTING_LIMIT, ParseError};
use crate::arena::ArenaId;
use crate::compute::{Computation, Expression, Function, Operator, Statement, Term, Variable, VariableId};

impl Parser<'_> {
    /// Reads a computation up to its `}`, the first of its variables being `known`.
    pub(super) fn computation(&mut self, known: Vec<Variable>) -> Result<Computation, ParseError> {
        let mut computation = Computation { variables: known, block: vec![], says: None };
        loop {
            let mut line = self.next_line()?;
            if line.eat("}") {
                line.finish()?;
                return Ok(computation);
            }
            if line.eat_word("variable") {
                let (ty, name) = line.typed(&self.types)?;
                computation.variables.push(Variable { name, ty });
                line.finish()?;
            } else if line.eat_word("says") {
                computation.says = Some(self.expression(&mut line, 0)?);
                line.finish()?;
            } else {
                computation.block.push(self.compute_statement(line, 0)?);
            }
        }
    }

    /// Reads statements up to their `}`.
    fn compute_block(&mut self, depth: usize) -> Result<Vec<Statement>, ParseError> {
        let mut block = vec![];
        loop {
            let mut line = self.next_line()?;
            if line.eat("}") {
                line.finish()?;
                return Ok(block);
            }
            block.push(self.compute_statement(line, depth)?);
        }
    }

    fn compute_statement(&mut self, mut line: Cursor<'_>, depth: usize) -> Result<Statement, ParseError> {
        if depth > NESTING_LIMIT {
            return Err(line.error("blocks are nested too deep"));
        }
        match line.word() {
            Some(word @ ("let" | "set")) => {
                let variable = variable(&mut line)?;
                line.expect("=")?;
                let value = self.expression(&mut line, 0)?;
                line.finish()?;
                Ok(Statement::Set { variable, is_new: word == "let", value })
            }
            Some("if") => {
                let condition = self.expression(&mut line, 0)?;
                line.expect("{")?;
                line.finish()?;
                let then = self.compute_block(depth + 1)?;
                let mut otherwise = self.next_line()?;
                otherwise.expect_word("else")?;
                otherwise.expect("{")?;
                otherwise.finish()?;
                Ok(Statement::If(condition, then, self.compute_block(depth + 1)?))
            }
            Some("for") => {
                let variable = variable(&mut line)?;
                line.expect_word("in")?;
                let list = self.expression(&mut line, 0)?;
                line.expect("{")?;
                line.finish()?;
                Ok(Statement::For(variable, list, self.compute_block(depth + 1)?))
            }
            Some("fail") => {
                let minus = line.eat("-");
                let magnitude: i64 = line.number("an error code")?;
                line.finish()?;
                let code = i32::try_from(if minus { -magnitude } else { magnitude });
                code.map(Statement::Fail).map_err(|_| line.error("the error code does not fit 32 bits"))
            }
            _ => Err(line.expected("a statement of a computation")),
        }
    }

    fn expression(&self, line: &mut Cursor<'_>, depth: usize) -> Result<Expression, ParseError> {
        if depth > NESTING_LIMIT {
            return Err(line.error("expressions are nested too deep"));
        }
        let span = line.span()?;
        let operator = Operator::ALL.into_iter().filter(|one| line.at(one.symbol()));
        let operator = operator.max_by_key(|one| one.symbol().len());
        let name = match operator {
            Some(operator) => {
                line.expect(operator.symbol())?;
                operator.symbol()
            }
            None => line.word().ok_or_else(|| line.expected("an expression"))?,
        };
        line.expect(":")?;
        let spelling = line.text()?;
        let array = if line.at("\"") { line.text()? } else { String::new() };
        let ty = self.types.read(&spelling, &array);
        let own = own_part(name, line)?;
        let parts = match line.at("(") {
            true => line.list("(", ")", |line| self.expression(line, depth + 1))?,
            false => vec![],
        };
        let unknown = line.error(format!("there is no expression `{name}` with {} parts", parts.len()));
        let term = match own {
            Ok(term) => parts.is_empty().then_some(term),
            Err(index) => of_parts(name, operator, index, parts),
        };
        term.map(|term| Expression { term, ty, span }).ok_or(unknown)
    }
}

fn variable(line: &mut Cursor<'_>) -> Result<VariableId, ParseError> {
    line.expect("#")?;
    line.number("a variable").map(VariableId)
}

/// The term, where it has no parts; else the number that stands before the parts of a field.
fn own_part(name: &str, line: &mut Cursor<'_>) -> Result<Result<Term, usize>, ParseError> {
    let index = |line: &mut Cursor<'_>| line.number::<u32>("an index").map(|index| index as usize);
    Ok(Ok(match name {
        "integer" => {
            let minus = line.eat("-");
            let magnitude: u64 = line.number("an integer")?;
            Term::Integer(if minus { -i128::from(magnitude) } else { i128::from(magnitude) })
        }
        "real" => Term::Real(line.number("the bits of a number")?),
        "truth" => Term::Truth(line.word() == Some("true")),
        "string" => {
            line.expect("=")?;
            Term::Text(line.text()?)
        }
        "variable" => Term::Variable(VariableId(line.number("a variable")?)),
        "option" => Term::Option(ArenaId::new(index(line)?)),
        "enumerator" => Term::Enumerator(index(line)?),
        "none" => Term::None,
        "field" => return index(line).map(Err),
        _ => return Ok(Err(0)),
    }))
}

/// The term of this name that has these parts; none where there is no such term.
fn of_parts(name: &str, operator: Option<Operator>, index: usize, parts: Vec<Expression>) -> Option<Term> {
    let function = Function::ALL.into_iter().find(|function| function.name() == name);
    match (name, operator, function) {
        ("record", ..) => return Some(Term::Record(parts)),
        ("list", ..) => return Some(Term::List(parts)),
        (_, _, Some(function)) => return Some(Term::Call(function, parts)),
        _ => {}
    }
    let count = parts.len();
    let mut parts = parts.into_iter();
    match (name, operator, count, parts.next(), parts.next(), parts.next()) {
        (_, Some(operator), 2, Some(left), Some(right), _) => Some(Term::Binary(operator, Box::new([left, right]))),
        ("element", _, 2, Some(of), Some(key), _) => Some(Term::Element(Box::new([of, key]))),
        ("slice", _, 2 | 3, Some(of), Some(from), to) => {
            Some(Term::Slice(Box::new(of), Box::new(from), to.map(Box::new)))
        }
        ("some", _, 1, Some(one), ..) => Some(Term::Some(Box::new(one))),
        ("field", _, 1, Some(of), ..) => Some(Term::Field(Box::new(of), index)),
        ("not", _, 1, Some(one), ..) => Some(Term::Not(Box::new(one))),
        ("negate", _, 1, Some(one), ..) => Some(Term::Negate(Box::new(one))),
        ("convert", _, 1, Some(one), ..) => Some(Term::Convert(Box::new(one))),
        _ => None,
    }
}
