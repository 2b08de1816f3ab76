//! The keys of constraints: which types they have, and how a step takes them.
//!
//! A key is evaluated once, from the inputs of the step. Generated code asserts, in the words of the program's author,
//! that these values can be keys, before the C++ compiler would complain in its own. It also asserts that a key has the
//! same type wherever its constraint is taken, because only C++ knows which names stand for the same type.

use crate::Context;
use crate::structs::input_type;
use crate::tree::{Declaration, Expression};
use flux_contract as contract;
use flux_ir::program::{ConstraintId, Node, Parameter, Requirement};
use flux_ir::types::TypeKind;
use std::collections::{BTreeMap, BTreeSet};

/// An assertion for each type of a value in a key, with a comment over them.
pub fn keys(context: &Context<'_>) -> Vec<Declaration> {
    let mut types = BTreeSet::new();
    let mut assertions = vec![];
    for (_, node) in context.flow.program.nodes.iter() {
        for requirement in &node.requirements {
            let values = requirement.key.iter().filter_map(|index| node.inputs().get(*index));
            // A record is a key by its fields, which the model has looked at.
            let values = values.filter(|value| !matches!(value.ty.kind(), TypeKind::Record(_)));
            let new = values.filter(|value| types.insert(&value.ty));
            assertions.extend(new.map(|value| assertion(context, node, requirement, value)));
        }
    }
    assertions.extend(same_types(context));
    if assertions.is_empty() {
        return vec![];
    }
    let comment = "What keys are made of.";
    [Declaration::Blank, Declaration::Comment(comment.to_owned())].into_iter().chain(assertions).collect()
}

/// For each value of a key that is spelled otherwise than where its constraint is first taken, that it is of one type
/// with that.
fn same_types(context: &Context<'_>) -> Vec<Declaration> {
    let mut first: BTreeMap<(ConstraintId, usize), (&Node, &Parameter)> = BTreeMap::new();
    let mut spelled = BTreeSet::new();
    let mut assertions = vec![];
    for (_, node) in context.flow.program.nodes.iter() {
        for requirement in &node.requirements {
            let values = requirement.key.iter().filter_map(|index| node.inputs().get(*index)).enumerate();
            for (part, value) in values {
                let (other_node, other) = *first.entry((requirement.constraint, part)).or_insert((node, value));
                let is_new = spelled.insert((requirement.constraint, part, &value.ty));
                if is_new && value.ty != other.ty {
                    let constraint = &context.flow.program.constraints[requirement.constraint].name;
                    let place = context.sources.name_and_line(requirement.span);
                    let message = format!(
                        "{place}: the key '{}' of {constraint} must be of one type with '{}' of {}",
                        value.name, other.name, other_node.name
                    );
                    let types = vec![input_type(node, value), input_type(other_node, other)];
                    let same = Expression::Instance(contract::SAME_KEY.spelling.to_owned(), types);
                    assertions.push(Declaration::Assert(same, message));
                }
            }
        }
    }
    assertions
}

fn assertion(context: &Context<'_>, node: &Node, requirement: &Requirement, value: &Parameter) -> Declaration {
    let ty = input_type(node, value);
    let constraint = &context.flow.program.constraints[requirement.constraint].name;
    let place = context.sources.name_and_line(requirement.span);
    let key = format!("the key '{}' of {constraint}", value.name);
    let message = format!("{place}: {key} must be an integer, an enumerator, a string or a tuple of them");
    Declaration::Assert(Expression::Instance(contract::KEYABLE.spelling.to_owned(), vec![ty]), message)
}
