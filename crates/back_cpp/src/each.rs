//! Each steps: a struct for what the step gives, and a loop over the list.
//!
//! An instance is a branch: a function of its own, with structs for what it takes and gives. If several may run at
//! once, the loop makes what each takes, `flux::each` runs them, and their outputs are gathered. In a step of width 1
//! the loop calls the instance directly.

use crate::Context;
use crate::function::Writer;
use crate::header::declarators;
use crate::structs::function_structs;
use crate::tree::{Declaration, Declarator, Expression, Initial, Statement};
use crate::uses::UseOfValue;
use flux_contract as contract;
use flux_ir::flow::{Callee, Each, EachOrder, Function, FunctionId, Step};
use std::collections::BTreeMap;

/// What the struct is called of all that an each step gives.
pub fn lists_struct(function: &Function) -> String {
    format!("{}_lists", function.name)
}

/// The each steps, one for each function that is called for elements.
pub fn each_steps<'a>(context: &Context<'a>) -> BTreeMap<FunctionId, &'a Each> {
    let steps = context.flow.functions.iter().flat_map(|(_, function)| function.body.all_steps());
    let each = steps.filter_map(|step| match &step.callee {
        Callee::Each(each) => Some((each.function, each)),
        _ => None,
    });
    each.collect()
}

/// The structs of what each steps give, with a comment over them.
pub fn lists_structs(context: &Context<'_>) -> Vec<Declaration> {
    let mut structs = vec![];
    for (id, each) in each_steps(context).into_iter().filter(|(_, each)| !each.outputs.is_empty()) {
        let members = declarators(&each.outputs);
        let name = lists_struct(&context.flow.functions[id]);
        structs.extend([Declaration::Struct(name, members), Declaration::Blank]);
    }
    if !structs.is_empty() {
        let comment = "What the steps give that run a chain for each element of a list.";
        structs.insert(0, Declaration::Comment(comment.to_owned()));
    }
    structs
}

impl Writer<'_> {
    /// An each step: what it gives, the loop, and the ways on.
    pub(crate) fn each(&mut self, step: &Step, each: &Each, out: &mut Vec<Statement>) {
        let function = &self.context.flow.functions[each.function];
        if !each.outputs.is_empty() {
            self.declare_outputs(step, Some(lists_struct(function)), &function.name, out);
        }
        match &each.order {
            EachOrder::Loop(carried) => self.one_by_one(step, each, carried, out),
            EachOrder::AtOnce(width) => self.at_once(step, each, self.context.constant(width), out),
            EachOrder::InTurn => self.at_once(step, each, Expression::name(1), out),
        }
    }

    /// Instances that `flux::each` runs, so many at once.
    fn at_once(&mut self, step: &Step, each: &Each, width: Expression, out: &mut Vec<Statement>) {
        let function = &self.context.flow.functions[each.function];
        let (input, output) = function_structs(self.context.flow, function);
        let (Some(list), Some(input)) = (step.inputs.first(), input) else { return };
        let list = self.read(list);
        let inputs = self.locals.claim(&format!("{}_inputs", function.name));
        let count = Expression::name(&inputs).member("size").call(vec![]);
        out.push(Statement::Variable(Declarator::new(vector(&input), &inputs), Initial::Braces(vec![])));
        let reserved = list.clone().member("size").call(vec![]);
        out.push(Statement::Run(Expression::name(&inputs).member("reserve").call(vec![reserved])));
        let scope = self.locals.enter();
        let mut body = vec![];
        let (element, variable) = self.instance_input(step, each, &input, &[], &mut body);
        let moved = Expression::name("std::move").call(vec![Expression::name(variable)]);
        body.push(Statement::Run(Expression::name(&inputs).member("push_back").call(vec![moved])));
        self.locals.leave(scope);
        out.push(Statement::For(element, list, body));
        let mut arguments =
            [self.flow.as_str(), self.context.names.function(each.function)].map(Expression::name).to_vec();
        arguments.extend([width, Expression::name(&function.name), count.clone(), Expression::name(&inputs)]);
        let outputs = output.as_ref().map(|output| {
            let outputs = self.locals.claim(&format!("{}_outputs", function.name));
            out.push(Statement::Variable(Declarator::new(vector(output), &outputs), Initial::Arguments(vec![count])));
            outputs
        });
        arguments.extend(outputs.iter().map(Expression::name));
        let call = Expression::name(contract::EACH.spelling).call(arguments);
        let outcome = self.call_holding(step, "each", None, (vec![], call), out);
        self.unless_ended(step, &outcome, None, out);
        self.after_call(step, "each", &outcome, None, out);
        let (Some(outputs), Some(output)) = (outputs, output) else { return };
        for (index, one) in function.outputs.iter().enumerate() {
            let member = Expression::name(format!("{output}::{}", one.name)).address();
            let gathered = Expression::name(contract::GATHERED.spelling).call(vec![Expression::name(&outputs), member]);
            out.extend(self.given(step, each, index).map(|to| Statement::Assign(to, gathered)));
        }
    }

    /// Instances that run one after the other, each called here.
    fn one_by_one(&mut self, step: &Step, each: &Each, carried: &[(usize, usize)], out: &mut Vec<Statement>) {
        let function = &self.context.flow.functions[each.function];
        let (input, output) = function_structs(self.context.flow, function);
        let (Some(list), Some(input)) = (step.inputs.first(), input) else { return };
        for (index, at) in carried {
            let to = self.given(step, each, *index);
            if let (Some(to), Some(value), Some(parameter)) = (to, step.inputs.get(*at), each.outputs.get(*index)) {
                let last = self.uses.is_last(UseOfValue::Argument(step.id, *at));
                self.assign(to, value, parameter, last, out);
            }
        }
        let path = self.begin_path(step, "each", out);
        let outcome = self.locals.claim("each_outcome");
        let done = Initial::Value(Expression::name(contract::OUTCOME_DONE.spelling));
        out.push(Statement::Variable(Declarator::new(contract::OUTCOME.spelling, &outcome), done));
        let scope = self.locals.enter();
        let mut guarded = self.deadline(step);
        let list = self.read(list);
        let mut body = vec![];
        let (element, variable) = self.instance_input(step, each, &input, carried, &mut body);
        let mut arguments = vec![Expression::name(&self.flow), Expression::name(variable)];
        let made = output.map(|ty| {
            let made = self.locals.claim(&format!("{}_made", function.name));
            body.push(Statement::Variable(Declarator::new(ty, &made), Initial::Braces(vec![])));
            made
        });
        arguments.extend(made.iter().map(Expression::name));
        let call = Expression::name(&function.name).call(arguments);
        body.push(Statement::Assign(Expression::name(&outcome), call));
        let number = Expression::name(self.context.names.function(each.function));
        let arguments = vec![Expression::name(0), number, Expression::name(&outcome)];
        body.push(Statement::Run(self.on_flow(contract::CUT_PATH, arguments)));
        let not_done = Expression::name(&outcome).compare("!=", Expression::name(contract::OUTCOME_DONE.spelling));
        body.push(Statement::If(not_done, vec![Statement::Break], vec![]));
        for (index, one) in function.outputs.iter().enumerate() {
            let (Some(to), Some(made)) = (self.given(step, each, index), &made) else { continue };
            let value = Expression::name(made).member(&one.name);
            let value = if one.ty.is_scalar() { value } else { Expression::name("std::move").call(vec![value]) };
            body.push(match carried.iter().any(|one| one.0 == index) {
                true => Statement::Assign(to, value),
                false => Statement::Run(to.member("push_back").call(vec![value])),
            });
        }
        self.locals.leave(scope);
        guarded.push(Statement::For(element, list, body));
        match step.within {
            Some(_) => out.push(Statement::Scope(guarded)),
            None => out.extend(guarded),
        }
        self.unless_ended(step, &outcome, path.as_deref(), out);
        self.after_call(step, "each", &outcome, path.as_deref(), out);
    }

    /// Declares in the body of the loop what one instance takes; gives the variable of the loop, and that of the
    /// struct.
    fn instance_input(
        &mut self,
        step: &Step,
        each: &Each,
        ty: &str,
        carried: &[(usize, usize)],
        body: &mut Vec<Statement>,
    ) -> (Declarator, String) {
        let function = &self.context.flow.functions[each.function];
        let is_last = self.uses.is_last(UseOfValue::Argument(step.id, 0));
        let element = self.locals.claim("element");
        let variable = self.locals.claim(&format!("{}_input", function.name));
        let (mut values, mut copies) = (vec![], vec![]);
        for (index, (operand, parameter)) in step.inputs.iter().zip(&function.inputs).enumerate() {
            let handed_on = carried.iter().find(|one| one.1 == index);
            let handed_on = handed_on.and_then(|one| self.given(step, each, one.0));
            let moved = |value: Expression| Expression::name("std::move").call(vec![value]);
            match handed_on {
                _ if index == 0 && is_last && !parameter.ty.is_scalar() => {
                    values.push(moved(Expression::name(&element)))
                }
                _ if index == 0 => values.push(Expression::name(&element)),
                Some(value) if parameter.ty.is_scalar() => values.push(value),
                Some(value) => values.push(moved(value)),
                None if parameter.ty.is_array() => {
                    values.push(Expression::Braces(vec![]));
                    let to = Expression::name(&variable).member(&parameter.name);
                    self.assign(to, operand, parameter, false, &mut copies);
                }
                None => values.push(self.read(operand)),
            }
        }
        body.push(Statement::Variable(Declarator::new(ty, &variable), Initial::Braces(values)));
        body.extend(copies);
        let reference = if is_last { "auto &&" } else { "const auto &" };
        (Declarator::new(reference, element), variable)
    }

    /// An output of the step.
    fn given(&self, step: &Step, each: &Each, index: usize) -> Option<Expression> {
        let variable = self.outputs.get(&(step.id, index))?;
        Some(Expression::name(variable).member(&each.outputs.get(index)?.name))
    }
}

fn vector(element: &str) -> String {
    format!("std::vector<{element}>")
}
