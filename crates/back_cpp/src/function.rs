//! One function of the flow as a C++ function.
//!
//! `flux::outcome Handler(flux::flow &flow, Handler_in &in, Handler_out &out)`: it takes its inputs in a struct that it
//! may change, because its caller does not read that struct again, and gives its outputs in another. A parameter that
//! would be empty is left out, and one that is not used has no name.

use crate::Context;
use crate::comments::quote;
use crate::names::Locals;
use crate::structs::function_structs;
use crate::tree::{Declaration, Declarator, Expression, Function, Initial, Statement};
use crate::uses::{UseOfValue, Uses};
use flux_contract as contract;
use flux_ir::error_code::ErrorPart;
use flux_ir::flow::{self, Block, Callee, End, Held, HeldKey, Operand, Role, StepId};
use flux_ir::program::{NodeId, Origin, Parameter};
use std::collections::HashMap;

/// What is known while a function is written.
pub struct Writer<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) function: &'a flow::Function,
    pub(crate) uses: Uses<'a>,
    pub(crate) locals: Locals<'a>,
    /// The names of the parameters.
    pub(crate) flow: String,
    pub(crate) input: String,
    pub(crate) output: String,
    /// Whether the body reads the inputs, and writes the outputs.
    pub(crate) reads_input: bool,
    pub(crate) writes_output: bool,
    /// The variable that holds what the nodes of the current block returned.
    pub(crate) error: String,
    /// Whether it may hold the error of a step that a fallback has taken over from.
    pub(crate) keeps_error: bool,
    /// The variable with the inputs of each step so far that has some.
    pub(crate) inputs: HashMap<StepId, String>,
    /// The variable with each output of the steps so far.
    pub(crate) outputs: HashMap<(StepId, usize), String>,
    /// The variable with the error of each step that has one.
    pub(crate) errors: HashMap<StepId, String>,
    /// The variables with the other parts of failures that handlers read.
    pub(crate) error_texts: HashMap<(StepId, ErrorPart), String>,
}

/// The comments over a function, and the function.
pub fn function(context: &Context<'_>, function: &flow::Function) -> Vec<Declaration> {
    let mut locals = Locals::new(&context.names);
    let [flow, input, output] = ["flow", "in", "out"].map(|name| locals.claim(name));
    let mut writer = Writer {
        context,
        function,
        uses: Uses::of(function),
        locals,
        flow,
        input,
        output,
        reads_input: false,
        writes_output: false,
        error: String::new(),
        keeps_error: false,
        inputs: HashMap::new(),
        outputs: HashMap::new(),
        errors: HashMap::new(),
        error_texts: HashMap::new(),
    };
    let body = writer.body();
    let caught = writer.caught();
    let (name, parameters) = (function.name.clone(), writer.parameters());
    let result = contract::OUTCOME.spelling.to_owned();
    let mut written: Vec<_> = writer.comments().into_iter().map(Declaration::Comment).collect();
    written.push(Declaration::Function(Function { result, name, parameters, body, caught }));
    written
}

impl Writer<'_> {
    fn comments(&self) -> Vec<String> {
        let mut comments = self.statements();
        let held: Vec<_> = self.function.held.iter().map(|held| self.held(held)).collect();
        if !held.is_empty() {
            comments.push(format!("Its callers hold {}.", held.join(", ")));
        }
        comments
    }

    /// The statements that the function stands for.
    fn statements(&self) -> Vec<String> {
        if let End::Dispatch { lines, .. } = &self.function.body.end {
            return lines.iter().map(|line| self.context.statement(line.span)).collect();
        }
        if let Role::Abstract(node) = self.function.role {
            let node = &self.context.flow.program.nodes[node];
            if let Some(chain) = node.chains().next().filter(|chain| !chain.steps.is_empty()) {
                let before = format!("{} = ", node.name);
                return vec![quote(self.context.sources, chain.span, &before, ";")];
            }
        }
        vec![self.context.statement(self.function.span)]
    }

    fn parameters(&self) -> Vec<Declarator> {
        let (input, output) = function_structs(self.context.flow, self.function);
        let named = |name: &String, used: bool| if used { name.clone() } else { String::new() };
        let reference = |ty: String, name| Declarator::new(format!("{ty} &"), name);
        let flow = Some(reference(contract::FLOW.spelling.to_owned(), self.flow.clone()));
        let input = input.map(|ty| reference(ty, named(&self.input, self.reads_input)));
        let output = output.map(|ty| reference(ty, named(&self.output, self.writes_output)));
        [flow, input, output].into_iter().flatten().collect()
    }

    fn body(&mut self) -> Vec<Statement> {
        let mut statements = vec![];
        let function = self.function;
        self.block(&function.body, None, &mut statements);
        statements
    }

    /// What is done where something outside a node throws.
    fn caught(&self) -> Vec<Statement> {
        let Some(offset) = self.function.fault else { return vec![] };
        let number = Expression::name(self.context.names.node(self.node()));
        let code = self.exception();
        vec![
            Statement::Comment("A predicate, or the copy of a value, threw: this node fails.".to_owned()),
            Statement::Run(self.on_flow(contract::FAILED_IN, vec![number, code])),
            Statement::Return(self.on_flow(contract::FAULT, vec![Expression::name(offset)])),
        ]
    }

    /// The node that the function stands for.
    pub(crate) fn node(&self) -> NodeId {
        let program = &self.context.flow.program;
        let source = |index: usize| program.sources.get(index);
        let stands_for = match self.function.role {
            Role::Abstract(node) | Role::Branch(node) => Some(node),
            Role::Run(index) => source(index).map(|source| source.target),
            Role::Produce(index) => source(index).map(|source| match &source.origin {
                Origin::Node(application) => application.node,
                Origin::Timer(_) => source.target,
            }),
        };
        stands_for.unwrap_or(NodeId::new(0))
    }

    /// In a `catch` block: the code of the exception, whose text is kept if some handler reads it.
    pub(crate) fn exception(&self) -> Expression {
        let caught = if self.context.reads_error_text { contract::CAUGHT_WITH_TEXT } else { contract::CAUGHT };
        self.on_flow(caught, vec![])
    }

    /// A member of the flow, called.
    pub(crate) fn on_flow(&self, member: contract::Symbol, arguments: Vec<Expression>) -> Expression {
        Expression::name(&self.flow).member(member.spelling).call(arguments)
    }

    /// A constraint that the callers hold, the values of its key by the names that they have here.
    fn held(&self, held: &Held) -> String {
        let program = &self.context.flow.program;
        let part = |part: &HeldKey| match part {
            HeldKey::Inputs(inputs) => {
                let input = inputs.first().and_then(|input| self.function.inputs.get(*input));
                input.map(|input| input.name.clone())
            }
            HeldKey::Constant(constant) => Some(program.constant_text(constant)),
            HeldKey::Lost => None,
        };
        let key: Vec<_> = held.key.iter().map(|one| part(one).unwrap_or_else(|| "...".to_owned())).collect();
        program.constraint_text(held.constraint, held.mode, &key)
    }

    /// The statements of a block; `failed` is the step whose failure block it is in.
    pub(crate) fn block(&mut self, block: &Block, failed: Option<StepId>, out: &mut Vec<Statement>) {
        let calls_nodes = block.steps.iter().any(|step| matches!(step.callee, Callee::Node(_)));
        if failed.is_none() && calls_nodes {
            self.error = self.locals.claim("error");
            out.push(declare_error(&self.error));
            self.keeps_error = false;
        }
        for step in &block.steps {
            separate(out);
            self.step(step, failed, out);
        }
        self.end(&block.end, failed, out);
    }

    fn end(&mut self, end: &End, failed: Option<StepId>, out: &mut Vec<Statement>) {
        let (symbol, offset) = match end {
            End::Dispatch { lines, unmatched } => return self.dispatch(lines, *unmatched, out),
            End::Resume { values, offset } => return self.resume(values, *offset, failed, out),
            End::GoOn { offset } => return self.resume(&[], *offset, failed, out),
            End::Done { values, offset } => {
                separate(out);
                self.done(values, out);
                (contract::DONE, *offset)
            }
            End::Failed { offset } => (contract::FAILED, *offset),
            End::Ended { offset } => (contract::ENDED, *offset),
        };
        out.push(self.leave(symbol, offset));
    }

    /// `return flow.failed(2);`, a 0 left out.
    pub(crate) fn leave(&self, symbol: contract::Symbol, offset: u64) -> Statement {
        let offset = (offset > 0).then(|| Expression::name(offset));
        Statement::Return(self.on_flow(symbol, offset.into_iter().collect()))
    }

    /// Gives the outputs of the function.
    fn done(&mut self, values: &[Operand], out: &mut Vec<Statement>) {
        let function = self.function;
        self.writes_output |= !values.is_empty();
        let is_there = |value: &Operand| match value {
            Operand::Output(step, index) => self.outputs.get(&(*step, *index)) == Some(&self.output),
            _ => false,
        };
        if values.iter().all(is_there) {
            return;
        }
        for (index, (operand, parameter)) in values.iter().zip(&function.outputs).enumerate() {
            let again = values.iter().skip(index + 1).any(|later| later == operand);
            let to = Expression::name(&self.output).member(&parameter.name);
            self.assign(to, operand, parameter, !again, out);
        }
    }

    /// Gives the outputs of the step that failed, after which the flow goes on.
    fn resume(&mut self, values: &[Operand], offset: u64, failed: Option<StepId>, out: &mut Vec<Statement>) {
        let step = failed.and_then(|failed| self.uses.step(failed));
        let flow = self.context.flow;
        let parameters: Vec<&Parameter> = step.map_or(vec![], |step| flow.callee_outputs(&step.callee));
        for (index, (operand, parameter)) in values.iter().zip(parameters).enumerate() {
            let last = failed.is_some_and(|failed| self.uses.is_last(UseOfValue::Resumed(failed, index)));
            let output = failed.and_then(|failed| self.outputs.get(&(failed, index))).cloned().unwrap_or_default();
            self.assign(Expression::name(&output).member(&parameter.name), operand, parameter, last, out);
        }
        self.keeps_error |= failed.is_some_and(|failed| self.errors.get(&failed) == Some(&self.error));
        if offset > 0 {
            out.push(Statement::Run(self.on_flow(contract::ADD_PATH, vec![Expression::name(offset)])));
        }
    }
}

/// `int error = 0;`
pub(crate) fn declare_error(name: &str) -> Statement {
    Statement::Variable(Declarator::new("int", name), Initial::Value(Expression::name(0)))
}

/// An empty line, unless it would be the first.
pub(crate) fn separate(out: &mut Vec<Statement>) {
    if !out.is_empty() {
        out.push(Statement::Blank);
    }
}
