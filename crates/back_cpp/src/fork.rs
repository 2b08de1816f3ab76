//! Parallel steps: a struct for what each branch takes and gives, a `flux::branch` for each, and `flux::join`.
//!
//! Every branch is a function of its own, called with copies of the same values; the last may have the values
//! themselves where nothing reads them afterwards.

use crate::Context;
use crate::each::each_steps;
use crate::function::Writer;
use crate::header::declarators;
use crate::structs::function_structs;
use crate::tree::{Declaration, Declarator, Expression, Initial, Statement};
use flux_contract as contract;
use flux_ir::flow::{Branch, Step};

/// The structs of all branches, with a comment over them. They are no business of the user's, and not in the header.
pub fn branch_structs(context: &Context<'_>) -> Vec<Declaration> {
    let mut structs = vec![];
    for (_, function) in context.flow.functions.iter().filter(|(_, function)| function.is_branch()) {
        let (input, output) = function_structs(context.flow, function);
        for (name, members) in [(input, &function.inputs), (output, &function.outputs)] {
            if let Some(name) = name {
                let members = declarators(members);
                structs.extend([Declaration::Struct(name, members), Declaration::Blank]);
            }
        }
    }
    if !structs.is_empty() {
        let comment = match each_steps(context).is_empty() {
            true => "What the branches of parallel steps take and give.",
            false => "What branches of parallel steps, and instances of each steps, take and give.",
        };
        structs.insert(0, Declaration::Comment(comment.to_owned()));
    }
    structs
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
