//! Plain functions as nodes: `int Find(const std::string &path, page &found)`, called as they are.
//!
//! A function that an included header declares may take a node's inputs one by one and give its outputs by reference,
//! or as its result. How each is passed is known from [`crate::probe`], so that the call is as one would write it.

use crate::function::Writer;
use crate::names::cpp_name;
use crate::structs::{Side, members};
use crate::tree::{Expression, Statement};
use flux_contract as contract;
use flux_ir::flow::StepId;
use flux_ir::name::Name;
use flux_ir::program::{Node, Parameter};
use flux_source::Span;
use std::collections::BTreeMap;

/// How a value is passed to a plain function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passing {
    /// As it is, by value or by reference.
    Value,
    /// Moved.
    Moved,
    /// By its address.
    Address,
}

/// What the result of a plain function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// There is none: it fails only by throwing.
    Nothing,
    /// An error code.
    Error,
    /// The node's only output.
    Output,
    /// The node's only output, or an error code.
    ExpectedOutput,
    /// Success, or an error code.
    ExpectedSuccess,
}

/// A plain function, as a program asks for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlainDeclaration {
    /// Its name.
    pub name: Name,
    /// Result, name in its namespace and parameters, these named as the program names them.
    pub text: String,
    /// Where the program asks for it.
    pub span: Span,
}

/// A plain function that fits its node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlainFunction {
    /// How it is declared.
    pub declaration: PlainDeclaration,
    /// What its result is.
    pub outcome: Outcome,
    /// How each input is passed, then each output that is not in the result.
    pub passing: Vec<Passing>,
}

/// The functions that the headers of a program declare, as far as it asks for them.
#[derive(Clone, Default, Debug)]
pub struct Visible {
    /// Those of nodes, by name.
    pub nodes: BTreeMap<Name, PlainFunction>,
    /// The predicates and session functions that take plain values, by name.
    pub others: BTreeMap<Name, PlainDeclaration>,
}

impl Visible {
    /// All of them.
    pub fn declarations(&self) -> impl Iterator<Item = &PlainDeclaration> {
        self.nodes.values().map(|function| &function.declaration).chain(self.others.values())
    }
}

impl Writer<'_> {
    /// The call of a plain function: with the members of the structs `input` and `output`, its error in `error`. What a
    /// handler sees afterwards is copied and not moved.
    pub(crate) fn call_plain(
        &self,
        (step, node): (StepId, &Node),
        function: &PlainFunction,
        (input, output): (Option<&str>, Option<&str>),
        error: &str,
    ) -> Statement {
        let member =
            |of: Option<&str>, parameter: &Parameter| Expression::name(of.unwrap_or_default()).member(&parameter.name);
        let values = members(node, Side::In).iter().map(|parameter| member(input, parameter));
        let outputs: Vec<_> = members(node, Side::Out).iter().map(|parameter| member(output, parameter)).collect();
        let given = values.chain(outputs.iter().cloned());
        let arguments = given.zip(&function.passing).enumerate().map(|(at, (value, passing))| match passing {
            Passing::Value => value,
            Passing::Moved if self.uses.is_changed(step, at) => {
                let copy = Expression::name("decltype").call(vec![value.clone()]);
                copy.call(vec![value])
            }
            Passing::Moved => Expression::name("std::move").call(vec![value]),
            Passing::Address => value.address(),
        });
        let call = Expression::name(format!("::{}", cpp_name(&node.name))).call(arguments.collect());
        match function.outcome {
            Outcome::Nothing => Statement::Run(call),
            Outcome::Error => Statement::Assign(Expression::name(error), call),
            Outcome::Output => match outputs.into_iter().next() {
                Some(output) => Statement::Assign(output, call),
                None => Statement::Run(call),
            },
            Outcome::ExpectedOutput | Outcome::ExpectedSuccess => {
                let taken = outputs.into_iter().filter(|_| function.outcome == Outcome::ExpectedOutput);
                let arguments = std::iter::once(call).chain(taken).collect();
                let take = Expression::name(contract::TAKE.spelling).call(arguments);
                Statement::Assign(Expression::name(error), take)
            }
        }
    }
}
