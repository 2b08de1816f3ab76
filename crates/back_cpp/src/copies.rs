//! Values that generated code copies, so that their types must be copyable.
//!
//! There are three cases. First, inputs that an error handler reads: a node that fails gets copies if its handler is a
//! node, and a handler that is a plain function gets one if it takes a value by moving. Second, what the branches of a
//! parallel step take. Third, what a node takes and a later step takes again. For a type without copies the C++
//! compiler would complain in its own words and far from the cause; here it is said in the words of the user.

use crate::Context;
use crate::compute::moved_inputs;
use crate::structs::{function_structs, input_type, member_type};
use crate::tree::{Declaration, Expression};
use crate::uses::{UseOfValue, Uses};
use flux_contract as contract;
use flux_ir::external::Passing;
use flux_ir::flow::{Callee, Operand, Step};
use flux_ir::program::{Body, Node, Parameter};
use flux_source::Span;
use std::collections::BTreeSet;

/// For each place an assertion for every type that is not evidently scalar, with a comment over them.
pub fn copies(context: &Context<'_>) -> Vec<Declaration> {
    let places = [
        ("What error handlers read of the inputs of a node, which is given a copy.", kept(context)),
        ("What the branches of parallel steps are given copies of.", given_to_branches(context)),
        ("What nodes are given copies of, as later steps take it too.", read_again(context)),
    ];
    places.into_iter().flat_map(|(comment, copies)| assertions(context, comment, copies)).collect()
}

/// A value that is copied.
struct Copied<'a> {
    /// Its type, as C++ is asked about it: `decltype(Move_in::from)`, or its name where it is in no struct.
    ty: Expression,
    /// What takes it.
    input: &'a Parameter,
    /// Where in the program that is so.
    span: Span,
    /// Why, as the beginning of a sentence.
    reason: String,
}

fn assertions(context: &Context<'_>, comment: &str, copies: Vec<Copied<'_>>) -> Vec<Declaration> {
    let mut types = BTreeSet::new();
    let objects = copies.into_iter().filter(|copied| !copied.input.ty.is_scalar());
    let mut assertions = objects
        .filter(|copied| types.insert(copied.input.ty.cpp()))
        .map(|copied| assertion(context, &copied))
        .peekable();
    if assertions.peek().is_none() {
        return vec![];
    }
    [Declaration::Blank, Declaration::Comment(comment.to_owned())].into_iter().chain(assertions).collect()
}

fn assertion(context: &Context<'_>, copied: &Copied<'_>) -> Declaration {
    let place = context.sources.name_and_line(copied.span);
    let message = format!("{place}: {}, so its type must be one that can be copied", copied.reason);
    Declaration::Assert(Expression::Instance(contract::KEEPABLE.spelling.to_owned(), vec![copied.ty.clone()]), message)
}

/// Every step that calls a node, with what its function uses.
fn for_each_call<'c>(context: &Context<'c>, mut found: impl FnMut(&Uses<'c>, &'c Step, &'c Node)) {
    for (_, function) in context.flow.functions.iter() {
        let uses = Uses::of(function);
        for step in function.body.all_steps() {
            if let Some(node) = context.flow.callee_node(&step.callee) {
                found(&uses, step, &context.flow.program.nodes[node]);
            }
        }
    }
}

/// Whether a node is a plain function that looks at its inputs where they are.
fn looks(context: &Context<'_>, node: &Node) -> bool {
    context.plain(node).is_some_and(|plain| plain.looks(node.inputs().len()))
}

fn kept<'c>(context: &Context<'c>) -> Vec<Copied<'c>> {
    let mut copies = vec![];
    for_each_call(context, |uses, step, node| {
        let plain = context.plain(node);
        if matches!(node.body, Body::Computed(_)) || looks(context, node) {
            return; // looks at its inputs where they are
        }
        let is_moved = |at: usize| plain.is_some_and(|plain| plain.passing.get(at) == Some(&Passing::Moved));
        let is_copied = |at| uses.is_kept(step.id, at) || uses.is_changed(step.id, at) && is_moved(at);
        let inputs = node.inputs().iter().enumerate().filter(|(index, _)| is_copied(*index));
        copies.extend(inputs.map(|(_, input)| Copied {
            ty: input_type(node, input),
            input,
            span: step.failure.steps.first().map_or(step.span, |handler| handler.span),
            reason: format!("the handler of {} reads its input '{}'", node.name, input.name),
        }));
    });
    copies
}

fn given_to_branches<'c>(context: &Context<'c>) -> Vec<Copied<'c>> {
    let flow = context.flow;
    let mut copies = vec![];
    for step in flow.functions.iter().flat_map(|(_, function)| function.body.all_steps()) {
        let (function, who) = match &step.callee {
            Callee::Fork(branches) if branches.len() > 1 => {
                (branches.first().map(|one| one.function), "parallel branches")
            }
            Callee::Each(each) => (Some(each.function), "instances"),
            _ => continue,
        };
        let Some(function) = function.map(|function| &flow.functions[function]) else { continue };
        let (owner, _) = function_structs(flow, function);
        // Elements, and what instances hand on, are moved.
        let inputs = function.inputs.iter().enumerate().filter(|(at, _)| step.passed(*at).is_some());
        copies.extend(inputs.map(|(_, input)| Copied {
            ty: member_type(owner.as_deref().unwrap_or_default(), input),
            input,
            span: step.span,
            reason: format!("{who} take copies of '{}'", input.name),
        }));
    }
    copies
}

fn read_again<'c>(context: &Context<'c>) -> Vec<Copied<'c>> {
    let mut copies = vec![];
    for_each_call(context, |uses, step, node| {
        for (index, (input, operand)) in node.inputs().iter().zip(&step.inputs).enumerate() {
            // What a handler reads is said with the handler.
            let is_taken = match &node.body {
                Body::Computed(computation) => moved_inputs(computation, node.inputs().len()).contains(&index),
                _ => !looks(context, node),
            };
            let is_value = is_taken && matches!(operand, Operand::Input(_) | Operand::Output(..));
            if is_value && !uses.is_last(UseOfValue::Argument(step.id, index)) && !uses.is_kept(step.id, index) {
                copies.push(Copied {
                    ty: input_type(node, input),
                    input,
                    span: step.span,
                    reason: format!("{} takes '{}', and a later step takes it too", node.name, input.name),
                });
            }
        }
    });
    copies
}
