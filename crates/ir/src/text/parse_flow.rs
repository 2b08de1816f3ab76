//! Parses a flow, with the help of the parser of programs.

use super::cursor::Cursor;
use super::names::{Names, Ports};
use super::parse_chain::{carried, error_part};
use super::parse_program::{Parser, signature_of};
use super::{NESTING_LIMIT, ParseError};
use crate::arena::{Arena, ArenaId};
use crate::external::ExternalRole;
use crate::flow::{
    Acquisition, Block, Branch, Callee, Each, EachOrder, End, Entry, Exits, Flow, Function, FunctionId, Held, HeldKey,
    Line, Operand, Role, Step, StepId, StepPaths, Test,
};
use crate::provenance::{Provenance, Rewrite};
use crate::types::TypeNames;
use flux_source::deep;
use std::collections::HashMap;

/// The flow that `text` says.
pub(super) fn parse(text: &str) -> Result<Flow, ParseError> {
    let mut parser = Parser::new(text)?;
    let mut functions = Arena::default();
    for line in parser.lines.as_slice() {
        declare(*line, &parser.types, &mut functions)?;
    }
    parser.names = Names::of_flow(&parser.program, &functions);
    let mut ids = functions.ids();
    let mut entries = vec![];
    while let Some(line) = parser.lines.next() {
        if parser.statement(line)? {
            continue;
        }
        if line.at_word("entry") {
            entries.push(parser.entry(line)?);
        } else if let (true, Some(id)) = (line.at_word("function"), ids.next()) {
            FunctionParser { parser: &mut parser, id, steps: HashMap::new() }.function(&mut functions[id])?;
        } else {
            return Err(line.expected("a statement, a function or an entry"));
        }
    }
    Ok(Flow { program: parser.finish(), functions, entries })
}

/// Adds the function that `line` declares, without its body, if it does.
fn declare(mut line: Cursor<'_>, types: &TypeNames, functions: &mut Arena<Function>) -> Result<(), ParseError> {
    if !line.eat_word("function") {
        return Ok(());
    }
    let span = line.span()?;
    let name = line.name("the function's name")?;
    let (inputs, outputs) = signature_of(&mut line, types)?;
    line.expect("{")?;
    line.finish()?;
    functions.add(Function {
        name,
        role: Role::Run(0),
        inputs,
        outputs,
        held: vec![],
        body: Block { steps: vec![], end: End::Failed { offset: 0 } },
        fault: None,
        paths: Exits::default(),
        span,
    });
    Ok(())
}

impl Parser<'_> {
    fn function_id(&self, line: &mut Cursor<'_>) -> Result<FunctionId, ParseError> {
        line.mention(&self.names.functions, "a function").map(ArenaId::new)
    }

    fn entry(&self, mut line: Cursor<'_>) -> Result<Entry, ParseError> {
        line.eat_word("entry");
        let produce = if line.eat_word("produce") { Some(self.function_id(&mut line)?) } else { None };
        line.expect_word("run")?;
        let run = self.function_id(&mut line)?;
        line.finish()?;
        Ok(Entry { produce, run })
    }
}

/// Parses one function, knowing what each step so far has called.
struct FunctionParser<'a, 'text> {
    parser: &'a mut Parser<'text>,
    id: FunctionId,
    steps: HashMap<StepId, (Option<Ports>, Option<Ports>)>,
}

impl<'text> FunctionParser<'_, 'text> {
    /// Reads the parts of `function`.
    fn function(&mut self, function: &mut Function) -> Result<(), ParseError> {
        let mut line = self.parser.next_line()?;
        function.role = self.role(&mut line)?;
        if line.eat_word("held") {
            function.held = line.separated(",", |line| self.held(line))?;
        }
        if line.eat_word("paths") {
            function.paths = exits(&mut line)?;
        }
        if line.eat_word("fault") {
            line.expect("+")?;
            function.fault = Some(line.number("an offset")?);
        }
        line.finish()?;
        function.body = self.block_lines(0)?;
        Ok(())
    }

    fn role(&self, line: &mut Cursor<'_>) -> Result<Role, ParseError> {
        match line.word() {
            Some("abstract") => self.parser.node_id(line).map(Role::Abstract),
            Some("branch") => self.parser.node_id(line).map(Role::Branch),
            Some("produce") => line.number::<u32>("the index of a source").map(|source| Role::Produce(source as usize)),
            Some("run") => line.number::<u32>("the index of a source").map(|source| Role::Run(source as usize)),
            _ => Err(line.error("a function is `abstract`, `branch`, `produce` or `run`")),
        }
    }

    fn held(&self, line: &mut Cursor<'_>) -> Result<Held, ParseError> {
        let constraint = self.parser.constraint(line)?;
        let mode = line.mode()?;
        let key = if line.at("(") { line.list("(", ")", |line| self.held_key(line))? } else { vec![] };
        Ok(Held { constraint, mode, key, moved_by: pass(line)? })
    }

    fn held_key(&self, line: &mut Cursor<'_>) -> Result<HeldKey, ParseError> {
        if line.eat_word("lost") {
            return Ok(HeldKey::Lost);
        }
        if !line.at("in") {
            return line.constant(&self.parser.names.options).map(HeldKey::Constant);
        }
        let ports = self.parser.names.ports(Some(Ports::FunctionInputs(self.id)));
        let input = |line: &mut Cursor<'_>| {
            line.expect_word("in")?;
            line.expect(".")?;
            line.position(ports)
        };
        line.separated("|", input).map(HeldKey::Inputs)
    }

    /// A block inside of `depth` others: the rest of the line, or the lines after it up to `}`.
    fn block(&mut self, mut line: Cursor<'text>, depth: usize) -> Result<Block, ParseError> {
        if line.eat("{") {
            line.finish()?;
            return self.block_lines(depth);
        }
        match self.plain_end(&mut line)? {
            Some(end) => line.finish().map(|()| Block { steps: vec![], end }),
            None => Err(line.expected("`{`, `done`, `failed`, `ended` or `resume`")),
        }
    }

    /// The lines of a block inside of `depth` others, and its `}`.
    fn block_lines(&mut self, depth: usize) -> Result<Block, ParseError> {
        deep(|| {
            let mut steps = vec![];
            loop {
                let mut line = self.parser.next_line()?;
                if depth > NESTING_LIMIT {
                    return Err(line.error("blocks are nested too deep"));
                }
                if line.at("%") {
                    steps.push(self.step(line, depth)?);
                    continue;
                }
                let end = if line.eat_word("dispatch") {
                    line.expect("{")?;
                    line.finish()?;
                    self.dispatch(depth)?
                } else {
                    let Some(end) = self.plain_end(&mut line)? else {
                        return Err(line.expected("a step or the end of the block"));
                    };
                    line.finish()?;
                    end
                };
                let mut close = self.parser.next_line()?;
                close.expect("}")?;
                close.finish()?;
                return Ok(Block { steps, end });
            }
        })
    }

    /// An end that is not a dispatch, where one comes next.
    fn plain_end(&self, line: &mut Cursor<'_>) -> Result<Option<End>, ParseError> {
        let mut rest = *line;
        let end = match rest.word() {
            Some("done") => End::Done { values: self.values(&mut rest)?, offset: offset(&mut rest)? },
            Some("resume") => End::Resume { values: self.values(&mut rest)?, offset: offset(&mut rest)? },
            Some("failed") => End::Failed { offset: offset(&mut rest)? },
            Some("ended") => End::Ended { offset: offset(&mut rest)? },
            Some("go_on") => End::GoOn { offset: offset(&mut rest)? },
            _ => return Ok(None),
        };
        *line = rest;
        Ok(Some(end))
    }

    fn values(&self, line: &mut Cursor<'_>) -> Result<Vec<Operand>, ParseError> {
        if line.at_end() || line.at("+") {
            return Ok(vec![]);
        }
        line.separated(",", |line| self.operand(line))
    }

    /// The lines of a dispatch up to its `}`.
    fn dispatch(&mut self, depth: usize) -> Result<End, ParseError> {
        let mut lines = vec![];
        let mut unmatched = None;
        loop {
            let mut line = self.parser.next_line()?;
            if line.eat("}") {
                line.finish()?;
                return Ok(End::Dispatch { lines, unmatched });
            }
            if unmatched.is_none() && line.eat_word("unmatched") {
                unmatched = Some(offset(&mut line)?);
                line.finish()?;
                continue;
            }
            if unmatched.is_some() {
                return Err(line.expected("`}` after `unmatched`"));
            }
            line.expect_word("line")?;
            let span = line.span()?;
            let tests = if line.at("=>") { vec![] } else { line.separated(",", |line| self.test(line))? };
            line.expect("=>")?;
            lines.push(Line { tests, block: self.block(line, depth + 1)?, span });
        }
    }

    fn test(&self, line: &mut Cursor<'_>) -> Result<Test, ParseError> {
        let predicate = self.parser.predicate(line)?;
        line.expect("(")?;
        let value = self.operand(line)?;
        line.expect(")")?;
        Ok(Test { predicate, value })
    }

    fn step(&mut self, mut line: Cursor<'text>, depth: usize) -> Result<Step, ParseError> {
        let span = line.span()?;
        let id = step_id(&mut line)?;
        line.expect("=")?;
        let callee = self.callee(&mut line)?;
        self.steps.insert(id, (Ports::inputs_of(&callee), Ports::outputs_of(&callee)));
        let inputs = line.list("(", ")", |line| self.operand(line))?;
        let within = self.parser.within(&mut line)?;
        let holding = line.eat_word("holding");
        let acquire = if holding { line.separated(",", |line| self.acquisition(line))? } else { vec![] };
        let paths = if line.eat_word("paths") { step_paths(&mut line)? } else { StepPaths::default() };
        line.expect_word("else")?;
        let failure = self.block(line, depth + 1)?;
        Ok(Step { id, callee, inputs, within, acquire, failure, paths, span })
    }

    fn callee(&mut self, line: &mut Cursor<'_>) -> Result<Callee, ParseError> {
        let parser = &mut *self.parser;
        match line.word() {
            Some("node") => parser.node_id(line).map(Callee::Node),
            Some("function") => parser.function_id(line).map(Callee::Function),
            Some("each") => self.each(line).map(Callee::Each),
            Some("fork") if line.at("(") => Ok(Callee::Fork(vec![])),
            Some("fork") => line.separated("&", |line| self.branch(line)).map(Callee::Fork),
            Some(kind @ ("handler" | "session")) => {
                let role = if kind == "handler" { ExternalRole::Handler } else { ExternalRole::Session };
                let external = parser.functions.mention(line, role, &mut parser.program.externals)?;
                line.expect_word("for")?;
                Ok(Callee::External { external, node: parser.node_id(line)? })
            }
            _ => Err(line.error("a step calls a `node`, `function`, `fork`, `each`, `handler` or `session`")),
        }
    }

    fn each(&self, line: &mut Cursor<'_>) -> Result<Each, ParseError> {
        let function = self.parser.function_id(line)?;
        let (inputs, outputs) = signature_of(line, &self.parser.types)?;
        let order = match line.word() {
            Some("loop") if line.eat_word("carrying") => EachOrder::Loop(line.separated(",", carried)?),
            Some("loop") => EachOrder::Loop(vec![]),
            Some("at") => {
                line.expect_word("once")?;
                EachOrder::AtOnce(line.constant(&self.parser.names.options)?)
            }
            Some("in") => {
                line.expect_word("turn")?;
                EachOrder::InTurn
            }
            _ => return Err(line.error("instances run as a `loop`, `at once` or `in turn`")),
        };
        Ok(Each { function, inputs, outputs, order })
    }

    fn branch(&self, line: &mut Cursor<'_>) -> Result<Branch, ParseError> {
        let function = self.parser.function_id(line)?;
        let waits = line.eat_word("after");
        let after = if waits { Some(line.number::<u32>("the index of a branch")? as usize) } else { None };
        Ok(Branch { function, after })
    }

    fn acquisition(&self, line: &mut Cursor<'_>) -> Result<Acquisition, ParseError> {
        let span = line.span()?;
        let constraint = self.parser.constraint(line)?;
        let mode = line.mode()?;
        let key = if line.at("(") { line.list("(", ")", |line| self.operand(line))? } else { vec![] };
        let provenance = match pass(line)? {
            Some(pass) => {
                line.expect_word("for")?;
                Provenance::Pass(pass, self.parser.node_id(line)?)
            }
            None => Provenance::Author,
        };
        Ok(Acquisition { constraint, mode, key, provenance, span })
    }

    fn operand(&self, line: &mut Cursor<'_>) -> Result<Operand, ParseError> {
        let names = &self.parser.names;
        if line.eat_word("in") {
            line.expect(".")?;
            return line.position(names.ports(Some(Ports::FunctionInputs(self.id)))).map(Operand::Input);
        }
        if let Some(part) = error_part(line) {
            line.expect_word("of")?;
            return step_id(line).map(|step| Operand::Error(step, part));
        }
        if !line.at("%") {
            return line.constant(&names.options).map(Operand::Constant);
        }
        let step = step_id(line)?;
        let (inputs, outputs) = self.steps.get(&step).copied().unwrap_or_default();
        line.expect(".")?;
        // An output may have this name.
        let mut changed = *line;
        if changed.eat_word("changed") && changed.eat(".") {
            *line = changed;
            return line.position(names.ports(inputs)).map(|index| Operand::Changed(step, index));
        }
        line.position(names.ports(outputs)).map(|index| Operand::Output(step, index))
    }
}

/// `%1`
fn step_id(line: &mut Cursor<'_>) -> Result<StepId, ParseError> {
    line.expect("%")?;
    line.number("the number of a step").map(StepId)
}

/// `2/1/0`: done, failed, ended.
fn exits(line: &mut Cursor<'_>) -> Result<Exits, ParseError> {
    let done = line.number("a number of paths")?;
    line.expect("/")?;
    let failed = line.number("a number of paths")?;
    line.expect("/")?;
    Ok(Exits { done, failed, ended: line.number("a number of paths")? })
}

/// `+3`, where it is not 0.
fn offset(line: &mut Cursor<'_>) -> Result<u64, ParseError> {
    if line.eat("+") { line.number("an offset") } else { Ok(0) }
}

fn step_paths(line: &mut Cursor<'_>) -> Result<StepPaths, ParseError> {
    let save = line.eat_word("save");
    let cut = line.eat_word("cut");
    let radix = exits(line)?;
    let ended_offset = if line.eat_word("ended") { offset(line)? } else { 0 };
    Ok(StepPaths { save, cut, radix, ended_offset })
}

/// The pass that made what stands before; none where it does not say so.
fn pass(line: &mut Cursor<'_>) -> Result<Option<Rewrite>, ParseError> {
    if !line.eat_word("by") {
        return Ok(None);
    }
    let name = line.word();
    let found = Rewrite::ALL.into_iter().find(|pass| name == Some(pass.name()));
    found.map(Some).ok_or_else(|| line.error(format!("no pass `{}` makes that", name.unwrap_or_default())))
}
