//! The values that a node is given, as the runtime is told of them: flows that are timed show how large they are.
//!
//! Numbers and enumerators are no larger than a register, so nobody is told of them. A pointer is told, as an author
//! may say how large that is which it points to. Constants go along no edge.

use crate::Context;
use crate::compute::passed;
use crate::function::Writer;
use crate::tree::{Declaration, Declarator, Expression, Function, Statement};
use flux_contract as contract;
use flux_ir::flow::{Callee, Operand, Step};
use flux_ir::program::TypeBody;
use flux_ir::types::{Declared, Type, TypeKind, contained_first, contained_in};
use std::collections::BTreeSet;

impl Writer<'_> {
    /// The values of a step, before its call. `input` is the variable with its inputs, where it has some.
    pub(crate) fn given_values(&mut self, step: &Step, input: Option<&str>) -> Vec<Expression> {
        if input.is_none() && matches!(step.callee, Callee::External { .. } | Callee::Function(_)) {
            return vec![];
        }
        let parameters = self.context.flow.callee_inputs(&step.callee);
        let told = step.inputs.iter().zip(parameters).filter(|(operand, parameter)| {
            !matches!(operand, Operand::Constant(_) | Operand::Error(..)) && !is_small(&parameter.ty)
        });
        told.map(|(operand, parameter)| match input {
            Some(input) => Expression::name(input).member(&parameter.name),
            None => self.read(operand),
        })
        .collect()
    }
}

/// Whether a value is in a register, and no more.
fn is_small(ty: &Type) -> bool {
    ty.array().is_empty() && (ty.is_scalar() && !ty.is_pointer() || ty.is_connection())
}

/// How large records are that nodes are given, where that is not the same for all: `flux_size` of each, after those of
/// the records that it contains.
pub(crate) fn record_sizes(context: &Context<'_>) -> Vec<Declaration> {
    let program = &context.flow.program;
    let steps = context.flow.functions.iter().flat_map(|(_, function)| function.body.all_steps());
    let inputs = steps.flat_map(|step| context.flow.callee_inputs(&step.callee));
    let mut open: Vec<_> = inputs.flat_map(|input| input.ty.mentioned()).filter_map(Declared::declaration).collect();
    let mut given = BTreeSet::new();
    while let Some(id) = open.pop() {
        if given.insert(id) {
            open.extend(contained_in(&program.types, id));
        }
    }
    let mut sizes = vec![];
    // The records of which all values are equally large: each is looked at once, after those that it contains.
    let mut fixed = BTreeSet::new();
    for id in contained_first(&program.types).into_iter().filter(|id| given.contains(id)) {
        let declared = &program.types[id];
        let TypeBody::Record(fields) = &declared.body else { continue };
        let ty = Type::declared(program, declared.is(id));
        let is_fixed = |ty: &Type| match ty.kind() {
            TypeKind::Record(id) => fixed.contains(id),
            _ => ty.is_scalar(),
        };
        if fields.iter().all(|field| is_fixed(&field.ty)) {
            fixed.insert(id);
            continue;
        }
        let values = fields.iter().map(|field| Expression::name("of").member(&field.name)).collect();
        let size = Function {
            result: "inline std::size_t".to_owned(),
            name: "flux_size".to_owned(),
            parameters: vec![Declarator { ty: format!("const ::{} &", ty.cpp()), ..passed(&ty, "of") }],
            body: vec![Statement::Return(Expression::name(contract::SIZE_OF_FIELDS.spelling).call(values))],
            caught: vec![],
        };
        let comment = Declaration::Comment(context.statement(declared.span));
        let size = vec![Declaration::Blank, comment, Declaration::Function(size)];
        sizes.extend(match declared.name.module() {
            Some(module) => {
                let inner = size.into_iter().chain([Declaration::Blank]).collect();
                vec![Declaration::Blank, Declaration::Namespace(module.to_owned(), inner)]
            }
            None => size,
        });
    }
    sizes
}
