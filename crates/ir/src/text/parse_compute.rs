//! Parses computations.

use super::cursor::Cursor;
use super::parse_program::Parser;
use super::{EXPRESSION_LIMIT, NESTING_LIMIT, ParseError};
use crate::arena::ArenaId;
use crate::compute::{
    Callable, Comprehension, Computation, Expression, Function, Operator, Statement, Term, Variable, VariableId, Walk,
};
use crate::error_code::{Code, CodeName, Errno};
use crate::message::{FieldId, Given};
use flux_source::{Deep, deep};

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
        deep(|| {
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
                    let (element, value) = walked(&mut line)?;
                    line.expect_word("in")?;
                    let over = self.expression(&mut line, 0)?;
                    line.expect("{")?;
                    line.finish()?;
                    Ok(Statement::For(Walk { element, value, over }, self.compute_block(depth + 1)?))
                }
                Some("take") => {
                    let span = line.span()?;
                    let variables = line.separated(",", variable)?;
                    line.expect("=")?;
                    let node = self.node_id(&mut line)?;
                    let arguments = line.list("(", ")", |line| self.expression(line, 0))?;
                    line.finish()?;
                    Ok(Statement::Take { variables, node, arguments, span })
                }
                Some("put") => {
                    let variable = variable(&mut line)?;
                    line.expect("[")?;
                    let key = self.expression(&mut line, 0)?;
                    line.expect("]")?;
                    line.expect("=")?;
                    let value = self.expression(&mut line, 0)?;
                    line.finish()?;
                    Ok(Statement::Put { variable, key, value })
                }
                Some("fail") => {
                    let code = self.code(&mut line)?;
                    line.finish()?;
                    Ok(Statement::Fail(code))
                }
                _ => Err(line.expected("a statement of a computation")),
            }
        })
    }

    pub(super) fn expression(&self, line: &mut Cursor<'_>, depth: usize) -> Result<Expression, ParseError> {
        deep(|| {
            if depth > EXPRESSION_LIMIT {
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
            let own = self.own_part(name, line)?;
            let parts = match line.at("(") {
                true => line.list("(", ")", |line| self.expression(line, depth + 1))?,
                false => vec![],
            };
            let unknown = line.error(format!("there is no expression `{name}` with {} parts", parts.len()));
            let term = match own {
                Own::Term(term) => parts.is_empty().then_some(term),
                Own::Callable(callee) => Some(Term::Apply(callee, parts)),
                Own::Walk(function, element, value) => comprehension(function, (element, value), parts),
                Own::Given(given) if given.len() != parts.len() => None,
                Own::Given(given) => Some(Term::Message(given.into_iter().zip(parts).collect())),
                Own::Index(index) => of_parts(name, operator, index, parts),
            };
            term.map(|term| Expression { term, ty, span }).ok_or(unknown)
        })
    }

    fn code(&self, line: &mut Cursor<'_>) -> Result<Code, ParseError> {
        if line.eat_word("errno") {
            let errno = line.word().and_then(Errno::of_name);
            return errno.map(Code::from).ok_or_else(|| line.expected("a name of `<errno.h>`"));
        }
        let number = error_number(line)?;
        let name = match line.eat_word("as") {
            true => {
                let index = line.mention(&self.names.codes, "an error code")?;
                Some(CodeName::Declared(ArenaId::new(index)))
            }
            false => None,
        };
        Ok(Code { number, name })
    }

    /// What stands before the parts of a term.
    fn own_part(&self, name: &str, line: &mut Cursor<'_>) -> Result<Own, ParseError> {
        let index = |line: &mut Cursor<'_>| line.number::<u32>("an index").map(|index| index as usize);
        Ok(Own::Term(match name {
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
            "code" => Term::Code(self.code(line)?),
            "none" => Term::None,
            "field" => return index(line).map(Own::Index),
            "message" => {
                let given = |line: &mut Cursor<'_>| match line.eat("parameter") {
                    true => index(line).map(Given::Parameter),
                    false => line.number("a field").map(|field| Given::Field(FieldId(field))),
                };
                return Ok(Own::Given(line.list("[", "]", given)?));
            }
            "apply" => {
                line.expect("=")?;
                return Ok(Own::Callable(Callable::Node(self.node_id(line)?)));
            }
            "ask" => {
                line.expect("=")?;
                return Ok(Own::Callable(Callable::Predicate(self.predicate(line)?)));
            }
            "comprehension" => {
                let word = line.word().unwrap_or_default();
                let function = Function::ALL.into_iter().find(|function| function.name() == word);
                if function.is_none() && word != "list" {
                    return Err(line.expected("`list`, or a function"));
                }
                let (element, value) = walked(line)?;
                return Ok(Own::Walk(function, element, value));
            }
            _ => return Ok(Own::Index(0)),
        }))
    }
}

/// What stands between the type of a term and its parts.
enum Own {
    /// The whole term, which has no parts.
    Term(Term),
    /// The number of a field, or nothing.
    Index(usize),
    /// What is given of a message.
    Given(Vec<Given>),
    /// What is called.
    Callable(Callable),
    /// What is made of the list, and what its variables are.
    Walk(Option<Function>, VariableId, Option<VariableId>),
}

fn variable(line: &mut Cursor<'_>) -> Result<VariableId, ParseError> {
    line.expect("#")?;
    line.number("a variable").map(VariableId)
}

/// The variables of what is gone through.
fn walked(line: &mut Cursor<'_>) -> Result<(VariableId, Option<VariableId>), ParseError> {
    let element = variable(line)?;
    let value = if line.eat(",") { Some(variable(line)?) } else { None };
    Ok((element, value))
}

/// A comprehension of these parts; none where there are too few or too many.
fn comprehension(
    function: Option<Function>,
    (element, value): (VariableId, Option<VariableId>),
    parts: Vec<Expression>,
) -> Option<Term> {
    let mut parts = parts.into_iter();
    let (over, made, condition) = (parts.next()?, parts.next()?, parts.next());
    let walk = Walk { element, value, over };
    let whole = Comprehension { walk, value: made, condition };
    parts.next().is_none().then(|| Term::Comprehension(function, Deep::new(whole)))
}

/// The term of this name that has these parts; none where there is no such term.
fn of_parts(name: &str, operator: Option<Operator>, index: usize, parts: Vec<Expression>) -> Option<Term> {
    let function = Function::ALL.into_iter().find(|function| function.name() == name);
    match (name, operator, function) {
        ("record", ..) => return Some(Term::Record(parts)),
        ("list", ..) => return Some(Term::List(parts)),
        ("map", ..) => return entries(parts).map(Term::Map),
        (_, _, Some(function)) => return Some(Term::Call(function, parts)),
        _ => {}
    }
    let count = parts.len();
    let mut parts = parts.into_iter();
    match (name, operator, count, parts.next(), parts.next(), parts.next()) {
        (_, Some(operator), 2, Some(left), Some(right), _) => Some(Term::Binary(operator, Deep::new([left, right]))),
        ("element", _, 2, Some(of), Some(key), _) => Some(Term::Element(Deep::new([of, key]))),
        ("choose", _, 3, Some(condition), Some(one), Some(other)) => {
            Some(Term::Choose(Deep::new([condition, one, other])))
        }
        ("slice", _, 2 | 3, Some(of), Some(from), to) => {
            Some(Term::Slice(Deep::new(of), Deep::new(from), to.map(Deep::new)))
        }
        ("some", _, 1, Some(one), ..) => Some(Term::Some(Deep::new(one))),
        ("field", _, 1, Some(of), ..) => Some(Term::Field(Deep::new(of), index)),
        ("not", _, 1, Some(one), ..) => Some(Term::Not(Deep::new(one))),
        ("negate", _, 1, Some(one), ..) => Some(Term::Negate(Deep::new(one))),
        ("convert", _, 1, Some(one), ..) => Some(Term::Convert(Deep::new(one))),
        _ => None,
    }
}

/// Keys with their values; none where one has none.
fn entries(parts: Vec<Expression>) -> Option<Vec<[Expression; 2]>> {
    let mut parts = parts.into_iter();
    let mut entries = vec![];
    while let Some(key) = parts.next() {
        entries.push([key, parts.next()?]);
    }
    Some(entries)
}

/// A number that a failure may have.
pub(super) fn error_number(line: &mut Cursor<'_>) -> Result<i32, ParseError> {
    let minus = line.eat("-");
    let magnitude: i64 = line.number("an error code")?;
    let code = i32::try_from(if minus { -magnitude } else { magnitude });
    code.map_err(|_| line.error("the error code does not fit 32 bits"))
}
