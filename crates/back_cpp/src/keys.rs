//! The keys of constraints: of which types they are, and how a step takes them.
//!
//! A key is evaluated once, from what its step is given. That the values can be keys at all is asserted in the words of
//! the program's author, before the C++ compiler would say so in its own.

use crate::Context;
use crate::structs::{Side, struct_name};
use crate::tree::{Declaration, Expression};
use flux_contract as contract;
use flux_ir::program::{Node, Parameter, Requirement};
use std::collections::BTreeSet;

/// An assertion for each type of a value in a key, with a comment over them.
pub fn keys(context: &Context<'_>) -> Vec<Declaration> {
    let mut types = BTreeSet::new();
    let mut assertions = vec![];
    for (_, node) in context.flow.program.nodes.iter() {
        for requirement in &node.requirements {
            let values = requirement.key.iter().filter_map(|index| node.inputs().get(*index));
            let new = values.filter(|value| types.insert((&value.ty, &value.array)));
            assertions.extend(new.map(|value| assertion(context, node, requirement, value)));
        }
    }
    if assertions.is_empty() {
        return vec![];
    }
    let comment = "What keys are made of.";
    [Declaration::Blank, Declaration::Comment(comment.to_owned())].into_iter().chain(assertions).collect()
}

fn assertion(context: &Context<'_>, node: &Node, requirement: &Requirement, value: &Parameter) -> Declaration {
    let member = format!("{}::{}", struct_name(node, Side::In), value.name);
    let ty = Expression::name("decltype").call(vec![Expression::Name(member)]);
    let constraint = &context.flow.program.constraints[requirement.constraint].name;
    let place = context.sources.name_and_line(requirement.span);
    let key = format!("the key '{}' of {constraint}", value.name);
    let message = format!("{place}: {key} must be an integer, an enumerator, a string or a tuple of them");
    Declaration::Assert(Expression::Instance(contract::KEYABLE.spelling.to_owned(), vec![ty]), message)
}
