//! Values: how they are named, copied and moved from one struct to the next.
//!
//! A value is copied if something reads it again, and moved if not; for scalars both are the same. Arrays are copied
//! element by element, because C++ cannot initialise or assign them from each other.

use crate::Context;
use crate::function::Writer;
use crate::names::cpp_name;
use crate::options::is_number;
use crate::tree::{Declarator, Expression, Initial, Statement};
use crate::uses::UseOfValue;
use flux_contract as contract;
use flux_ir::error_code::ErrorPart;
use flux_ir::error_code::{Code, CodeName};
use flux_ir::flow::{Callee, End, Operand, Role, Step, StepId};
use flux_ir::program::{Constant, Parameter};
use std::ops::Range;

impl Writer<'_> {
    /// The value as it is, neither copied nor moved.
    pub(crate) fn read(&mut self, value: &Operand) -> Expression {
        match value {
            Operand::Input(index) => {
                self.reads_input = true;
                let name = self.function.inputs.get(*index).map_or("", |parameter| &parameter.name);
                Expression::name(&self.input).member(name)
            }
            Operand::Output(step, index) => {
                let name = self.parameter(value).map_or("", |parameter| &parameter.name);
                let output = self.outputs.get(&(*step, *index)).map_or("", String::as_str);
                Expression::name(output).member(name)
            }
            Operand::Changed(step, index) => match self.inputs.get(step) {
                Some(input) => {
                    let name = self.parameter(value).map_or("", |parameter| &parameter.name);
                    Expression::name(input).member(name)
                }
                // A node that looked at its inputs where they are.
                None => match self.uses.step(*step).and_then(|step| step.inputs.get(*index)) {
                    Some(given) => self.read(given),
                    None => Expression::name(""),
                },
            },
            Operand::Error(step, ErrorPart::Code) => self.error_of(Some(*step)),
            Operand::Error(step, part) => {
                Expression::name(self.error_texts.get(&(*step, *part)).map_or("", String::as_str))
            }
            Operand::Constant(constant) => self.context.constant(constant),
        }
    }

    /// The error of a step, or the one in hand.
    pub(crate) fn error_of(&self, step: Option<StepId>) -> Expression {
        match step.and_then(|step| self.errors.get(&step)) {
            Some(variable) => Expression::name(variable),
            None => self.on_flow(contract::ERROR, vec![]),
        }
    }

    /// The parameter that the value came in by; none for errors and constants.
    fn parameter(&self, value: &Operand) -> Option<&Parameter> {
        match value {
            Operand::Input(index) => self.function.inputs.get(*index),
            Operand::Output(step, index) => {
                let callee = &self.uses.step(*step)?.callee;
                self.context.flow.callee_outputs(callee).get(*index).copied()
            }
            Operand::Changed(step, index) => {
                self.context.flow.callee_inputs(&self.uses.step(*step)?.callee).get(*index)
            }
            Operand::Error(..) | Operand::Constant(_) => None,
        }
    }

    /// The value to initialise or assign from: moved where it is used last and a move may be less than a copy.
    /// An option that is a number becomes the type of `wanted`, which can hold it: the runtime has seen to that.
    pub(crate) fn take(&mut self, value: &Operand, wanted: &Parameter, last: bool) -> Expression {
        if let Operand::Constant(Constant::Option(option)) = value
            && is_number(self.context.flow.program.options[*option].kind)
        {
            let cast = Expression::Instance("static_cast".to_owned(), vec![Expression::name(wanted.ty.cpp())]);
            return cast.call(vec![self.read(value)]);
        }
        // What a node only looked at is not a handler's, to be moved.
        let is_own = !matches!(value, Operand::Changed(step, _) if !self.inputs.contains_key(step));
        let is_scalar = match value {
            Operand::Error(_, part) => *part == ErrorPart::Code,
            other => self.parameter(other).is_none_or(|parameter| parameter.ty.is_scalar()),
        };
        let moves = last && is_own && !is_scalar;
        let read = self.read(value);
        if moves { Expression::name("std::move").call(vec![read]) } else { read }
    }

    /// `to = value;`
    pub(crate) fn assign(
        &mut self,
        to: Expression,
        value: &Operand,
        parameter: &Parameter,
        last: bool,
        out: &mut Vec<Statement>,
    ) {
        let statement = if parameter.ty.is_array() {
            self.copy_array(to, value, parameter, last)
        } else {
            Statement::Assign(to, self.take(value, parameter, last))
        };
        out.push(statement);
    }

    fn copy_array(&mut self, to: Expression, value: &Operand, parameter: &Parameter, last: bool) -> Statement {
        let from = self.take(value, parameter, last);
        Statement::Run(Expression::name(contract::COPY.spelling).call(vec![to, from]))
    }

    /// Declares the struct with the inputs of a step; gives its name, none where there are no inputs.
    pub(crate) fn declare_inputs(
        &mut self,
        step: &Step,
        ty: Option<String>,
        stem: &str,
        out: &mut Vec<Statement>,
    ) -> Option<String> {
        self.declare_inputs_from(step, ty, stem, true, out)
    }

    /// As `declare_inputs`, where values that are used last are moved only if it `moves` them.
    pub(crate) fn declare_inputs_from(
        &mut self,
        step: &Step,
        ty: Option<String>,
        stem: &str,
        moves: bool,
        out: &mut Vec<Statement>,
    ) -> Option<String> {
        let ty = ty?;
        let flow = self.context.flow;
        let parameters = flow.callee_inputs(&step.callee);
        let name = self.locals.claim(&format!("{stem}_input"));
        let mut values = vec![];
        if self.context.options.interface_2006.is_some() {
            // The session, which comes first.
            values.push(Expression::name("nullptr"));
        }
        let mut copies = vec![];
        for (index, (operand, parameter)) in step.inputs.iter().zip(parameters).enumerate() {
            let last = moves && self.uses.is_last(UseOfValue::Argument(step.id, index));
            if parameter.ty.is_array() {
                values.push(Expression::Braces(vec![]));
                let to = Expression::name(&name).member(&parameter.name);
                copies.push(self.copy_array(to, operand, parameter, last));
            } else {
                values.push(self.take(operand, parameter, last));
            }
        }
        out.push(Statement::Variable(Declarator::new(ty, &name), Initial::Braces(values)));
        out.extend(copies);
        self.inputs.insert(step.id, name.clone());
        Some(name)
    }

    /// Declares the struct with the outputs of a step; gives its name, none where there are no outputs.
    pub(crate) fn declare_outputs(
        &mut self,
        step: &Step,
        ty: Option<String>,
        stem: &str,
        out: &mut Vec<Statement>,
    ) -> Option<String> {
        let ty = ty?;
        let count = self.context.flow.callee_outputs(&step.callee).len();
        self.declare_outputs_at(step, ty, stem, 0..count, out)
    }

    /// Whether the outputs of a step are those of the function, in the same struct: so a source's flow begins with what
    /// its node gives.
    pub(crate) fn gives_outputs_of(&self, step: &Step) -> bool {
        let End::Done { values, .. } = &self.function.body.end else { return false };
        let gives = |(index, value): (usize, &Operand)| *value == Operand::Output(step.id, index);
        // One of 2006 gives a struct also where it gives nothing; of the function there is none then.
        !values.is_empty()
            && matches!(self.function.role, Role::Produce(_))
            && matches!(step.callee, Callee::Node(_))
            && self.function.body.steps.iter().map(|one| one.id).eq([step.id])
            && values.iter().enumerate().all(gives)
    }

    /// As `declare_outputs`, for those outputs of the step whose positions are `at`.
    pub(crate) fn declare_outputs_at(
        &mut self,
        step: &Step,
        ty: String,
        stem: &str,
        at: Range<usize>,
        out: &mut Vec<Statement>,
    ) -> Option<String> {
        if self.gives_outputs_of(step) {
            self.writes_output = true;
            let name = self.output.clone();
            self.outputs.extend(at.map(|index| ((step.id, index), name.clone())));
            return Some(name);
        }
        let name = self.locals.claim(&format!("{stem}_output"));
        self.outputs.extend(at.map(|index| ((step.id, index), name.clone())));
        out.push(Statement::Variable(Declarator::new(ty, &name), Initial::Braces(vec![])));
        Some(name)
    }
}

impl Context<'_> {
    /// An error code: its number, or its name in C++.
    pub(crate) fn code(&self, code: Code) -> Expression {
        match code.name {
            None => Expression::name(code.number),
            Some(CodeName::Errno(errno)) => Expression::name(errno.name()),
            Some(CodeName::Declared(id)) => {
                Expression::name(format!("::{}", cpp_name(&self.flow.program.codes[id].name)))
            }
        }
    }

    /// A constant: a literal, or the variable of an option.
    pub(crate) fn constant(&self, constant: &Constant) -> Expression {
        match constant {
            // The literal of the smallest would be that of a number which no type holds, negated.
            Constant::Integer(i64::MIN) => Expression::name(format!("(-{} - 1)", i64::MAX)),
            Constant::Integer(number) => Expression::name(number),
            Constant::Text(text) => Expression::Text(text.clone()),
            Constant::Boolean(truth) => Expression::name(truth),
            Constant::Option(option) => Expression::name(self.names.option(*option)),
        }
    }
}
