//! Parses a program: first what is declared, so that mentions may come before; then what it does.

use super::ParseError;
use super::cursor::{Cursor, lines};
use super::externals::{self, Functions};
use super::names::{Labels, Names, Ports, Scope};
use super::parse_compute::error_number;
use super::parse_message::{declare_message, message_line};
use crate::arena::ArenaId;
use crate::compute::{Computation, ComputedPredicate, Variable};
use crate::error_code::ErrorCode;
use crate::external::ExternalRole;
use crate::message::MessageId;
use crate::program::{
    self, Application, Body, Constant, Constraint, ConstraintId, Handler, HandlerStep, HandlerTarget, Include, Line,
    Link, Module, ModuleId, NamedInput, NamedValue, Node, NodeId, OptionKind, Origin, Parameter, Predicate,
    PredicateId, Program, Replacement, Requirement, ServerOption, Signature, Source, TestedBy, TypeBody,
    TypeDeclaration, TypeId,
};
use crate::types::TypeNames;

/// The body of a node that has no flow, or none yet.
const NO_FLOW: Body = Body::Dispatch(vec![]);

/// The program that `text` says.
pub(super) fn parse(text: &str) -> Result<Program, ParseError> {
    let mut parser = Parser::new(text)?;
    while let Some(line) = parser.lines.next() {
        let error = line.expected("a statement of a program");
        if !parser.statement(line)? {
            return Err(error);
        }
    }
    Ok(parser.finish())
}

/// Reads line after line into a program.
pub(super) struct Parser<'a> {
    pub(super) lines: std::vec::IntoIter<Cursor<'a>>,
    pub(super) names: Names,
    pub(super) program: Program,
    /// The types that it declares.
    pub(super) types: TypeNames,
    /// The functions that lines have named so far.
    pub(super) functions: Functions,
    last_line: usize,
    /// The records whose lines have not come yet.
    records: std::vec::IntoIter<TypeId>,
    /// The messages whose lines have not come yet.
    pub(super) messages: std::vec::IntoIter<MessageId>,
    /// The predicates whose lines have not come yet.
    predicates: std::vec::IntoIter<PredicateId>,
    /// The modules whose lines have not come yet.
    modules: std::vec::IntoIter<ModuleId>,
    /// The nodes whose lines have not come yet.
    nodes: std::vec::IntoIter<NodeId>,
}

impl<'a> Parser<'a> {
    /// A parser that has read the first line, and the declarations on all others.
    pub(super) fn new(text: &'a str) -> Result<Self, ParseError> {
        let mut lines = lines(text).into_iter();
        let last_line = lines.as_slice().last().map_or(1, |line| line.line());
        let mut program = Program::default();
        let Some(mut first) = lines.next() else {
            return Err(ParseError { line: 1, message: "the text is empty".to_owned() });
        };
        first.expect_word("program")?;
        program.name = first.name("the program's name")?;
        first.finish()?;
        for line in lines.as_slice() {
            declare_type(*line, &mut program)?;
            declare_message(*line, &mut program)?;
        }
        let types = TypeNames::of(&program);
        for line in lines.as_slice() {
            externals::declare(*line, &types, &mut program)?;
        }
        let mut functions = Functions::of(&program);
        let mut messages = program.messages.ids().collect::<Vec<_>>().into_iter().peekable();
        for line in lines.as_slice() {
            match messages.next_if(|_| line.at_word("message")) {
                Some(id) => message_line(*line, &types, id, &mut program)?,
                None => declare(*line, &types, &mut functions, &mut program)?,
            }
        }
        let names = Names::of_program(&program);
        let records: Vec<_> = program.types.ids().filter(|id| is_record(&program, *id)).collect();
        let messages = program.messages.ids().collect::<Vec<_>>().into_iter();
        let predicates = program.predicates.ids().collect::<Vec<_>>().into_iter();
        let modules = program.modules.ids().collect::<Vec<_>>().into_iter();
        let nodes = program.nodes.ids().collect::<Vec<_>>().into_iter();
        Ok(Self {
            lines,
            names,
            types,
            program,
            functions,
            last_line,
            records: records.into_iter(),
            messages,
            predicates,
            modules,
            nodes,
        })
    }

    /// The next line of something that is not closed yet.
    pub(super) fn next_line(&mut self) -> Result<Cursor<'a>, ParseError> {
        let missing = ParseError { line: self.last_line, message: "the text ends before a `}`".to_owned() };
        self.lines.next().ok_or(missing)
    }

    /// Reads a statement; false where `line` does not begin one.
    pub(super) fn statement(&mut self, line: Cursor<'a>) -> Result<bool, ParseError> {
        match { line }.word() {
            Some("option" | "code" | "constraint" | "enum" | "external") => {}
            Some("predicate") => self.predicate_parts(line.opens())?,
            Some("record") => self.record()?,
            Some("message") => self.message()?,
            Some("module") => self.module(line.opens())?,
            Some("use") => {
                let module = self.used(line)?;
                self.program.uses.push(module);
            }
            Some("include") => self.program.includes.push(included(line)?),
            Some("link") => self.program.links.push(linked(line)?),
            Some("node") => self.node(line.opens())?,
            Some("source") => self.source(line)?,
            Some("handle") => self.handler(line)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads the parts of the module declared on the line before, where it `opens`.
    fn module(&mut self, opens: bool) -> Result<(), ParseError> {
        let (Some(id), true) = (self.modules.next(), opens) else { return Ok(()) };
        loop {
            let mut line = self.next_line()?;
            if line.eat("}") {
                return line.finish();
            }
            if line.at_word("use") {
                let used = self.used(line)?;
                self.program.modules[id].uses.push(used);
            } else {
                self.program.modules[id].includes.push(included(line)?);
            }
        }
    }

    /// Reads the computation of the predicate declared on the line before, where it `opens`.
    fn predicate_parts(&mut self, opens: bool) -> Result<(), ParseError> {
        let (Some(id), true) = (self.predicates.next(), opens) else { return Ok(()) };
        let known = self.program.predicates[id].computed().map(|computed| variable(&computed.input)).into_iter();
        let computation = self.computation(known.collect())?;
        if let TestedBy::Computed(computed) = &mut self.program.predicates[id].tested_by {
            computed.computation = computation;
        }
        Ok(())
    }

    /// Reads the fields of the record declared on the line before.
    fn record(&mut self) -> Result<(), ParseError> {
        let Some(id) = self.records.next() else { return Ok(()) };
        let mut fields = vec![];
        loop {
            let mut line = self.next_line()?;
            if line.eat("}") {
                line.finish()?;
                self.program.types[id].body = TypeBody::Record(fields);
                return Ok(());
            }
            line.expect_word("field")?;
            fields.push(line.parameter(&self.types)?);
            line.finish()?;
        }
    }

    /// `use module`
    fn used(&self, mut line: Cursor<'_>) -> Result<ModuleId, ParseError> {
        line.expect_word("use")?;
        let module = line.mention(&self.names.modules, "a module").map(ArenaId::new)?;
        line.finish()?;
        Ok(module)
    }

    /// Reads the parts of the node declared on the line before, where it `opens`.
    fn node(&mut self, opens: bool) -> Result<(), ParseError> {
        let (Some(id), true) = (self.nodes.next(), opens) else { return Ok(()) };
        let mut requirements = vec![];
        let mut body = None;
        loop {
            let mut line = self.next_line()?;
            if line.eat("}") {
                if body.is_some() && self.functions.says_of_node(id) {
                    return Err(line.error("only a function in C or C++ is called, or promises something"));
                }
                line.finish()?;
                break;
            }
            if line.eat_word("compute") {
                line.expect("{")?;
                line.finish()?;
                let node = &self.program.nodes[id];
                let known = node.inputs().iter().chain(node.outputs()).map(variable).collect();
                body = Some(Body::Computed(self.computation(known)?));
                continue;
            }
            if line.eat_word("holds") {
                requirements.extend(line.separated(",", |line| self.requirement(line, id))?);
            } else {
                line.expect_word("flow")?;
                self.flow(&mut line, id, &mut body)?;
            }
            line.finish()?;
        }
        let node = &mut self.program.nodes[id];
        node.requirements = requirements;
        node.body = body.unwrap_or(NO_FLOW);
        Ok(())
    }

    /// The program that has been read, in which a node without a flow is a function.
    pub(super) fn finish(mut self) -> Program {
        for (id, node) in self.program.nodes.iter_mut().filter(|(_, node)| node.body == NO_FLOW) {
            let external = self.functions.node(id, &node.name, &mut self.program.externals);
            node.body = Body::External(external);
        }
        self.program
    }

    /// Reads one flow of a node, or one of several, into what its body is so far.
    fn flow(&self, line: &mut Cursor<'_>, node: NodeId, body: &mut Option<Body>) -> Result<(), ParseError> {
        match body {
            Some(Body::Dispatch(lines)) if line.at("[") => lines.push(self.line(line, node)?),
            None if line.at("[") => *body = Some(Body::Dispatch(vec![self.line(line, node)?])),
            None => {
                line.expect("=")?;
                *body = Some(Body::Chain(self.chain(line, &mut Scope::of(Ports::NodeInputs(node)), 0)?));
            }
            Some(_) => return Err(line.error("a node with several flows has patterns on each")),
        }
        Ok(())
    }

    fn requirement(&self, line: &mut Cursor<'_>, node: NodeId) -> Result<Requirement, ParseError> {
        let span = line.span()?;
        let constraint = self.constraint(line)?;
        let mode = line.mode()?;
        let key = self.input_key(line, Ports::NodeInputs(node))?;
        Ok(Requirement { constraint, mode, key, span })
    }

    /// A mention of a constraint.
    pub(super) fn constraint(&self, line: &mut Cursor<'_>) -> Result<ConstraintId, ParseError> {
        line.mention(&self.names.constraints, "a constraint").map(ArenaId::new)
    }

    /// A mention of a node.
    pub(super) fn node_id(&self, line: &mut Cursor<'_>) -> Result<NodeId, ParseError> {
        line.mention(&self.names.nodes, "a node").map(ArenaId::new)
    }

    /// A mention of a predicate.
    pub(super) fn predicate(&self, line: &mut Cursor<'_>) -> Result<PredicateId, ParseError> {
        line.mention(&self.names.predicates, "a predicate").map(ArenaId::new)
    }

    /// A key made of inputs, where there is one.
    pub(super) fn input_key(&self, line: &mut Cursor<'_>, ports: Ports) -> Result<Vec<usize>, ParseError> {
        if !line.at("(") {
            return Ok(vec![]);
        }
        line.list("(", ")", |line| {
            line.expect_word("in")?;
            line.expect(".")?;
            line.position(self.names.ports(Some(ports)))
        })
    }

    fn line(&self, line: &mut Cursor<'_>, node: NodeId) -> Result<Line, ParseError> {
        let span = line.span()?;
        let pattern = |line: &mut Cursor<'_>| {
            if line.eat_word("_") { Ok(None) } else { self.predicate(line).map(Some) }
        };
        let patterns = line.list("[", "]", pattern)?;
        line.expect("=")?;
        let chain = self.chain(line, &mut Scope::of(Ports::NodeInputs(node)), 0)?;
        Ok(Line { patterns, chain, span })
    }

    /// `within 300`, where it comes next.
    pub(super) fn within(&self, line: &mut Cursor<'_>) -> Result<Option<Constant>, ParseError> {
        if line.eat_word("within") { line.constant(&self.names.options).map(Some) } else { Ok(None) }
    }

    /// A node with its constants, without the values that come after them.
    pub(super) fn application(&self, line: &mut Cursor<'_>) -> Result<Application, ParseError> {
        let span = line.span()?;
        let node = self.node_id(line)?;
        let (mut constants, mut named) = (vec![], vec![]);
        if line.at("(") {
            line.list("(", ")", |line| {
                match self.named_input(line)? {
                    Some(one) => named.push(one),
                    None if named.is_empty() => constants.push(line.constant(&self.names.options)?),
                    None => return Err(line.error("constants come before what takes a value by its name")),
                }
                Ok(())
            })?;
        }
        Ok(Application { node, constants, named, arguments: None, kept: vec![], span })
    }

    /// `input: value`, `input: = 5` or `input: ?limit`, where it comes next.
    fn named_input(&self, line: &mut Cursor<'_>) -> Result<Option<NamedInput>, ParseError> {
        let mut ahead = *line;
        let Ok(input) = ahead.name("an input") else { return Ok(None) };
        if !ahead.eat(":") {
            return Ok(None);
        }
        let span = ahead.span()?;
        let value = if ahead.eat("=") {
            NamedValue::Constant(ahead.constant(&self.names.options)?)
        } else if ahead.eat("?") {
            NamedValue::Option(ahead.mention(&self.names.options, "an option").map(ArenaId::new)?)
        } else {
            NamedValue::Value(ahead.name("a value")?)
        };
        *line = ahead;
        Ok(Some(NamedInput { input, value, span }))
    }

    fn source(&mut self, mut line: Cursor<'_>) -> Result<(), ParseError> {
        line.eat_word("source");
        let span = line.span()?;
        let mut every = line;
        let origin = if every.eat_word("every") && every.at_digit() {
            line = every;
            let milliseconds = line.number("milliseconds")?;
            line.expect_word("ms")?;
            Origin::Timer(milliseconds)
        } else {
            let mut application = self.application(&mut line)?;
            application.arguments = self.values("with", &mut line, &Scope::default())?;
            Origin::Node(application)
        };
        line.expect("=>")?;
        let target = self.node_id(&mut line)?;
        let given = match &origin {
            Origin::Node(application) => Scope::of(Ports::NodeOutputs(application.node)),
            Origin::Timer(_) => Scope::default(),
        };
        let arguments = self.values("takes", &mut line, &given)?;
        let has_session = line.eat_word("session");
        let session = if has_session {
            Some(self.functions.mention(&mut line, ExternalRole::Session, &mut self.program.externals)?)
        } else {
            None
        };
        let on_loops = line.eat_word("on_loops");
        line.finish()?;
        self.program.sources.push(Source { origin, session, target, arguments, on_loops, span });
        Ok(())
    }

    fn handler(&mut self, mut line: Cursor<'_>) -> Result<(), ParseError> {
        line.eat_word("handle");
        line.expect_word("error")?;
        let span = line.span()?;
        let path = line.separated("->", |line| if line.eat("*") { Ok(None) } else { self.node_id(line).map(Some) })?;
        line.expect("=>")?;
        let target = self.handler_target(&mut line)?;
        let replacements = match target.node() {
            Some(node) if line.eat("{") => {
                line.finish()?;
                self.replacements(node)?
            }
            _ => {
                line.finish()?;
                vec![]
            }
        };
        self.program.handlers.push(Handler { path, target, replacements, span });
        Ok(())
    }

    fn handler_target(&mut self, line: &mut Cursor<'_>) -> Result<HandlerTarget, ParseError> {
        if line.eat_word("_") {
            return Ok(HandlerTarget::GoOn(None));
        }
        let step = if line.eat_word("node") {
            HandlerStep::Node(self.node_id(line)?)
        } else {
            line.expect_word("function")?;
            let externals = &mut self.program.externals;
            HandlerStep::External(self.functions.mention(line, ExternalRole::Handler, externals)?)
        };
        if !line.eat("->") {
            return Ok(HandlerTarget::Run(step));
        }
        line.expect_word("_")?;
        Ok(HandlerTarget::GoOn(Some(step)))
    }

    /// Reads how the handler declared on the line before takes the place of nodes.
    fn replacements(&mut self, handler: NodeId) -> Result<Vec<Replacement>, ParseError> {
        let mut replacements = vec![];
        loop {
            let mut line = self.next_line()?;
            if line.eat("}") {
                line.finish()?;
                return Ok(replacements);
            }
            line.expect_word("for")?;
            let failing = self.node_id(&mut line)?;
            let scope = Scope::of(Ports::NodeInputs(failing));
            let taken = self.values("takes", &mut line, &scope)?;
            let arguments = taken.ok_or_else(|| line.expected("`takes`"))?;
            let kept = self.values("keeps", &mut line, &scope)?.unwrap_or_default();
            let output = |line: &mut Cursor<'_>| {
                line.expect_word("out")?;
                line.expect(".")?;
                line.position(self.names.ports(Some(Ports::NodeOutputs(handler))))
            };
            let resume = if line.eat_word("gives") { Some(line.list("(", ")", output)?) } else { None };
            line.finish()?;
            replacements.push(Replacement { failing, arguments, kept, resume });
        }
    }
}

/// A parameter as a variable of a computation.
fn variable(parameter: &Parameter) -> Variable {
    Variable { name: parameter.name.clone(), ty: parameter.ty.clone() }
}

/// `link "sqlite3"`
fn linked(mut line: Cursor<'_>) -> Result<Link, ParseError> {
    line.expect_word("link")?;
    let link = Link { span: line.span()?, library: line.text()? };
    line.finish()?;
    Ok(link)
}

/// `include "image.h"`
fn included(mut line: Cursor<'_>) -> Result<Include, ParseError> {
    line.expect_word("include")?;
    let include = Include { span: line.span()?, path: line.text()? };
    line.finish()?;
    Ok(include)
}

/// `option port int = 8080`, its first word taken.
fn option(line: &mut Cursor<'_>) -> Result<ServerOption, ParseError> {
    let span = line.span()?;
    let name = line.declared_name("the option's name")?;
    let kind = line.word().and_then(OptionKind::of_name);
    let kind = kind.ok_or_else(|| line.error("an option is an int, a string, a path, a bool, a duration or a size"))?;
    let default = if line.eat("=") { Some(line.constant(&Labels::default())?) } else { None };
    let about = if line.eat_word("about") { line.text()? } else { String::new() };
    Ok(ServerOption { name, kind, default, about, span })
}

/// Adds the type that `line` declares, a record without its fields: any line may name it.
fn declare_type(mut line: Cursor<'_>, program: &mut Program) -> Result<(), ParseError> {
    let is_record = line.at_word("record");
    if !is_record && !line.at_word("enum") {
        return Ok(());
    }
    line.word();
    let span = line.span()?;
    let name = line.declared_name("the type's name")?;
    let body = match is_record {
        true => TypeBody::Record(vec![]),
        false => TypeBody::Enum(line.list("(", ")", |line| line.name("a value"))?),
    };
    if is_record {
        line.expect("{")?;
    }
    program.types.add(TypeDeclaration { name, body, span });
    line.finish()
}

fn is_record(program: &Program, id: TypeId) -> bool {
    matches!(program.types[id].body, TypeBody::Record(_))
}

/// A constraint that is declared before, by its index.
fn declared_before(line: &mut Cursor<'_>) -> Result<ConstraintId, ParseError> {
    line.mention(&Labels::default(), "the index of a constraint").map(ArenaId::new)
}

/// Adds what `line` declares and others may mention: an option, an error code, a predicate, a constraint; a module or a
/// node without its parts.
fn declare(
    mut line: Cursor<'_>,
    types: &TypeNames,
    functions: &mut Functions,
    program: &mut Program,
) -> Result<(), ParseError> {
    if line.eat_word("module") {
        let span = line.span()?;
        let name = line.name("the module's name")?;
        line.eat("{");
        program.modules.add(Module { name, uses: vec![], includes: vec![], span });
    } else if line.eat_word("option") {
        program.options.add(option(&mut line)?);
    } else if line.eat_word("code") {
        let span = line.span()?;
        let name = line.declared_name("the name of an error code")?;
        line.expect("=")?;
        program.codes.add(ErrorCode { name, number: error_number(&mut line)?, span });
    } else if line.eat_word("predicate") {
        let span = line.span()?;
        let name = line.declared_name("the predicate's name")?;
        let tested_by = if line.eat("(") {
            let (input, computation) = (line.parameter(types)?, Computation::default());
            line.expect(")")?;
            line.expect("{")?;
            TestedBy::Computed(ComputedPredicate { input, computation })
        } else {
            line.expect("=")?;
            TestedBy::External(functions.predicate(&mut line, &mut program.externals)?)
        };
        program.predicates.add(Predicate { name, tested_by, span });
    } else if line.eat_word("constraint") {
        let span = line.span()?;
        let name = line.declared_name("the constraint's name")?;
        let scope = match line.word() {
            Some("program") => program::Scope::Program,
            Some("session") => program::Scope::Session,
            Some("keyed") => program::Scope::Keyed,
            _ => return Err(line.error("a constraint's scope is `program`, `session` or `keyed`")),
        };
        let table = if line.eat_word("of") { Some(declared_before(&mut line)?) } else { None };
        program.constraints.add(Constraint { name, scope, table, span });
    } else if line.eat_word("node") {
        let span = line.span()?;
        let name = line.declared_name("the node's name")?;
        let mut signature = None;
        if line.at("(") {
            let (inputs, outputs) = signature_of(&mut line, types)?;
            let defaults = if line.eat_word("defaults") { defaults(&mut line, program)? } else { vec![] };
            signature = Some(Signature { inputs, outputs, defaults, inferred: line.eat_word("inferred") });
        }
        let blocking = line.eat_word("blocking");
        let replicable = line.eat_word("replicable");
        let stack = match line.eat_word("stack") {
            true => Some(line.number("the bytes of its stack")?),
            false => None,
        };
        functions.node_line(&mut line)?;
        line.eat("{");
        let (body, requirements) = (NO_FLOW, vec![]);
        program.nodes.add(Node { name, signature, body, requirements, blocking, replicable, stack, span });
    } else {
        return Ok(());
    }
    line.finish()
}

/// `(60000, option idle)`: the defaults of the last inputs. Options come before nodes.
fn defaults(line: &mut Cursor<'_>, program: &Program) -> Result<Vec<Constant>, ParseError> {
    let options = Labels::of(program.options.iter().map(|(_, option)| &option.name));
    line.list("(", ")", |line| line.constant(&options))
}

/// `(inputs) => (outputs)`
pub(super) fn signature_of(
    line: &mut Cursor<'_>,
    types: &TypeNames,
) -> Result<(Vec<Parameter>, Vec<Parameter>), ParseError> {
    let inputs = line.list("(", ")", |line| line.parameter(types))?;
    line.expect("=>")?;
    Ok((inputs, line.list("(", ")", |line| line.parameter(types))?))
}
