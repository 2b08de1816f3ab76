//! Parallel steps: a struct for what each branch takes and gives, a `flux::branch` for each, and `flux::join`.
//!
//! Every branch is a function of its own, called with copies of the same values; the last may have the values
//! themselves where nothing reads them afterwards. So what is copied must be of a type that can be, which is said here
//! in the user's words before the C++ compiler would say it in its own.

use crate::Context;
use crate::function::Writer;
use crate::header::declarator;
use crate::structs::function_structs;
use crate::tree::{Declaration, Declarator, Expression, Initial, Statement};
use flux_contract as contract;
use flux_ir::flow::{Branch, Callee, Function, Step};
use flux_ir::program::Parameter;
use std::collections::BTreeSet;

/// The structs of all branches, with a comment over them. They are no business of the user's, and not in the header.
pub fn branch_structs(context: &Context<'_>) -> Vec<Declaration> {
    let mut structs = vec![];
    for (_, function) in context.flow.functions.iter().filter(|(_, function)| function.is_branch()) {
        let (input, output) = function_structs(context.flow, function);
        for (name, members) in [(input, &function.inputs), (output, &function.outputs)] {
            if let Some(name) = name {
                let members = members.iter().map(declarator).collect();
                structs.extend([Declaration::Struct(name, members), Declaration::Blank]);
            }
        }
    }
    if !structs.is_empty() {
        let comment = "What the branches of parallel steps take and give.";
        structs.insert(0, Declaration::Comment(comment.to_owned()));
    }
    structs
}

/// An assertion for each type that is copied for branches and not evidently scalar, with a comment over them.
pub fn copied(context: &Context<'_>) -> Vec<Declaration> {
    let flow = context.flow;
    let mut types = BTreeSet::new();
    let mut assertions = vec![];
    for step in flow.functions.iter().flat_map(|(_, function)| function.body.all_steps()) {
        let Callee::Fork(branches) = &step.callee else { continue };
        let Some(first) = branches.first().filter(|_| branches.len() > 1) else { continue };
        let function = &flow.functions[first.function];
        let objects = function.inputs.iter().filter(|input| !input.ty.is_scalar());
        let new = objects.filter(|input| types.insert(input.ty.cpp()));
        assertions.extend(new.map(|input| assertion(context, step, function, input)));
    }
    if assertions.is_empty() {
        return vec![];
    }
    let comment = "What the branches of parallel steps are given copies of.";
    [Declaration::Blank, Declaration::Comment(comment.to_owned())].into_iter().chain(assertions).collect()
}

fn assertion(context: &Context<'_>, step: &Step, function: &Function, input: &Parameter) -> Declaration {
    let (name, _) = function_structs(context.flow, function);
    let member = format!("{}::{}", name.unwrap_or_default(), input.name);
    let ty = Expression::name("decltype").call(vec![Expression::Name(member)]);
    let place = context.sources.name_and_line(step.span);
    let message = format!(
        "{place}: parallel branches take copies of '{}', so its type must be one that can be copied",
        input.name
    );
    Declaration::Assert(Expression::Instance(contract::KEEPABLE.spelling.to_owned(), vec![ty]), message)
}

impl Writer<'_> {
    /// A parallel step: what each branch takes and gives, the branches, the join, and the ways on.
    pub(crate) fn fork(&mut self, step: &Step, branches: &[Branch], out: &mut Vec<Statement>) {
        let values = self.branch_values(step, branches, out);
        let path = self.begin_path(step, "join", out);
        let mut before = vec![];
        let variables: Vec<_> =
            branches.iter().zip(&values).map(|(branch, values)| self.branch(branch, values, &mut before)).collect();
        for (branch, variable) in branches.iter().zip(&variables) {
            if let Some(earlier) = branch.after.and_then(|after| variables.get(after)) {
                let arguments = [variable, earlier].map(Expression::name).to_vec();
                before.push(Statement::Run(Expression::name(contract::START_AFTER.spelling).call(arguments)));
            }
        }
        let join = if step.paths.cut { contract::JOIN_CUT } else { contract::JOIN };
        let arguments = std::iter::once(&self.flow).chain(&variables).map(Expression::name).collect();
        let call = Expression::name(join.spelling).call(arguments);
        let outcome = self.call_holding(step, "join", None, (before, call), out);
        self.unless_ended(step, &outcome, path.as_deref(), out);
        self.after_call(step, "join", &outcome, path.as_deref(), out)
    }

    /// Declares the structs of all branches; gives those of each.
    fn branch_values(&mut self, step: &Step, branches: &[Branch], out: &mut Vec<Statement>) -> Vec<Vec<String>> {
        let mut values = vec![];
        let mut first_output = 0;
        for (index, branch) in branches.iter().enumerate() {
            let function = &self.context.flow.functions[branch.function];
            let (input, output) = function_structs(self.context.flow, function);
            let is_last = index + 1 == branches.len();
            let input = self.declare_inputs_from(step, input, &function.name, is_last, out);
            let outputs = first_output..first_output + function.outputs.len();
            first_output = outputs.end;
            let output = output.and_then(|ty| self.declare_outputs_at(step, ty, &function.name, outputs, out));
            values.push(input.into_iter().chain(output).collect());
        }
        values
    }

    /// Declares a branch that takes and gives `values`; gives its name.
    fn branch(&mut self, branch: &Branch, values: &[String], out: &mut Vec<Statement>) -> String {
        let function = &self.context.flow.functions[branch.function].name;
        let variable = self.locals.claim(&format!("{function}_run"));
        let number = self.context.names.function(branch.function);
        let known = [self.flow.as_str(), number, function].map(Expression::name);
        let arguments = known.into_iter().chain(values.iter().map(Expression::name)).collect();
        let declarator = Declarator::new(contract::BRANCH.spelling, &variable);
        out.push(Statement::Variable(declarator, Initial::Arguments(arguments)));
        variable
    }
}
