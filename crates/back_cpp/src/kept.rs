//! What error handlers read of the inputs of a node that failed.
//!
//! A node whose handler is a node is given a copy of such a value and the handler the value itself. A function handler
//! is given what the node left, so a plain function that takes a value by moving is given a copy. Either way the type
//! must be one that can be copied. What the C++ compiler would say about that in its own words, far from the cause, is
//! said here in the words of the user.

use crate::Context;
use crate::plain::Passing;
use crate::structs::{Side, struct_name};
use crate::tree::{Declaration, Expression};
use crate::uses::Uses;
use flux_contract as contract;
use flux_ir::flow::Step;
use flux_ir::program::{Node, Parameter};
use std::collections::BTreeSet;

/// An assertion for each type of such inputs that is not evidently scalar, with a comment over them.
pub fn kept(context: &Context<'_>) -> Vec<Declaration> {
    let mut types = BTreeSet::new();
    let mut assertions = vec![];
    for (_, function) in context.flow.functions.iter() {
        let uses = Uses::of(function);
        for step in function.body.all_steps() {
            let Some(node) = context.flow.callee_node(&step.callee) else { continue };
            let node = &context.flow.program.nodes[node];
            let plain = context.options.visible.nodes.get(&node.name);
            let is_moved = |at: usize| plain.is_some_and(|plain| plain.passing.get(at) == Some(&Passing::Moved));
            let is_copied = |at| uses.is_kept(step.id, at) || uses.is_changed(step.id, at) && is_moved(at);
            let inputs = node.inputs().iter().enumerate().filter(|(index, _)| is_copied(*index));
            let objects = inputs.map(|(_, input)| input).filter(|input| !input.ty.is_scalar());
            let new = objects.filter(|input| types.insert(input.ty.cpp()));
            assertions.extend(new.map(|input| assertion(context, step, node, input)));
        }
    }
    if assertions.is_empty() {
        return vec![];
    }
    let comment = "What error handlers read of the inputs of a node, which is given a copy.";
    [Declaration::Blank, Declaration::Comment(comment.to_owned())].into_iter().chain(assertions).collect()
}

fn assertion(context: &Context<'_>, step: &Step, node: &Node, input: &Parameter) -> Declaration {
    let member = format!("{}::{}", struct_name(node, Side::In), input.name);
    let ty = Expression::name("decltype").call(vec![Expression::Name(member)]);
    let handler = step.failure.steps.first().map_or(step.span, |handler| handler.span);
    let place = context.sources.name_and_line(handler);
    let reads = format!("the handler of {} reads its input '{}'", node.name, input.name);
    let message = format!("{place}: {reads}, so its type must be one that can be copied");
    Declaration::Assert(Expression::Instance(contract::KEEPABLE.spelling.to_owned(), vec![ty]), message)
}
