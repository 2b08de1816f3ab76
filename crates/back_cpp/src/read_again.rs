//! Values that a node takes and that a later step takes again: the node is given a copy.
//!
//! So their types must be ones that can be copied. What the C++ compiler would say about that in its own words, far
//! from the cause, is said here in the words of the user.

use crate::Context;
use crate::structs::{Side, struct_name};
use crate::tree::{Declaration, Expression};
use crate::uses::{UseOfValue, Uses};
use flux_contract as contract;
use flux_ir::flow::{Operand, Step};
use flux_ir::program::{Node, Parameter};
use std::collections::BTreeSet;

/// An assertion for each type of such values that is not evidently scalar, with a comment over them.
pub fn read_again(context: &Context<'_>) -> Vec<Declaration> {
    let mut types = BTreeSet::new();
    let mut assertions = vec![];
    for (_, function) in context.flow.functions.iter() {
        let uses = Uses::of(function);
        for step in function.body.all_steps() {
            let Some(node) = context.flow.callee_node(&step.callee) else { continue };
            let node = &context.flow.program.nodes[node];
            for (index, (input, operand)) in node.inputs().iter().zip(&step.inputs).enumerate() {
                let is_value = matches!(operand, Operand::Input(_) | Operand::Output(..));
                // What a handler reads is said with the handler.
                let is_copied = !uses.is_last(UseOfValue::Argument(step.id, index)) && !uses.is_kept(step.id, index);
                if is_value && is_copied && !input.ty.is_scalar() && types.insert(input.ty.cpp()) {
                    assertions.push(assertion(context, step, node, input));
                }
            }
        }
    }
    if assertions.is_empty() {
        return vec![];
    }
    let comment = "What nodes are given copies of, as later steps take it too.";
    [Declaration::Blank, Declaration::Comment(comment.to_owned())].into_iter().chain(assertions).collect()
}

fn assertion(context: &Context<'_>, step: &Step, node: &Node, input: &Parameter) -> Declaration {
    let member = format!("{}::{}", struct_name(node, Side::In), input.name);
    let ty = Expression::name("decltype").call(vec![Expression::Name(member)]);
    let place = context.sources.name_and_line(step.span);
    let message = format!(
        "{place}: {} takes '{}', and a later step takes it too, so its type must be one that can be copied",
        node.name, input.name
    );
    Declaration::Assert(Expression::Instance(contract::KEEPABLE.spelling.to_owned(), vec![ty]), message)
}
