//! The header: what every node takes and gives, and every function that the user writes.
//!
//! It is C as well as C++, so that nodes can be written in either.

use crate::Context;
use crate::structs::{Side, members, node_struct};
use crate::tree::{Declaration, Declarator};
use crate::uses::{Uses, Value};
use flux_ir::flow::{End, Function};
use flux_ir::program::{Body, Node, Parameter, PredicateId};
use std::collections::BTreeSet;

/// A function of the user's: its name, and the comment and declaration for it.
struct UserFunction {
    name: String,
    comment: String,
    declaration: Declaration,
}

/// The whole header.
pub fn header(context: &Context<'_>) -> Vec<Declaration> {
    let mut header = vec![
        Declaration::Comment(context.banner()),
        Declaration::Comment(String::new()),
        Declaration::Comment("What the nodes take and give. Include this in the files that define them.".to_owned()),
        Declaration::Directive("pragma once".to_owned()),
    ];
    includes(context, &mut header);
    for (_, node) in context.flow.program.nodes.iter() {
        for side in [Side::In, Side::Out] {
            if let Some(name) = node_struct(node, side) {
                let members = members(node, side).iter().map(declarator).collect();
                header.extend([Declaration::Blank, Declaration::Struct(name, members)]);
            }
        }
    }
    let functions = nodes(context).chain(predicates(context)).chain(sessions(context)).chain(handlers(context));
    let is_c = |function: &UserFunction| context.options.c_functions.contains(&function.name);
    let (c, cpp): (Vec<_>, Vec<_>) = functions.partition(is_c);
    header.extend(cpp.into_iter().flat_map(UserFunction::lines));
    if !c.is_empty() {
        let mut inner: Vec<_> = c.into_iter().flat_map(UserFunction::lines).collect();
        inner.push(Declaration::Blank);
        header.extend([Declaration::Blank, Declaration::ExternC(inner)]);
    }
    header
}

fn includes(context: &Context<'_>, header: &mut Vec<Declaration>) {
    let program = &context.flow.program;
    let parameters = || program.nodes.iter().flat_map(|(_, node)| node.inputs().iter().chain(node.outputs()));
    let says_bool = |ty: &str| ty.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "bool");
    if !program.predicates.is_empty() || parameters().any(|parameter| says_bool(&parameter.ty)) {
        // C has the word from there.
        header.extend([Declaration::Blank, Declaration::SystemInclude("stdbool.h".to_owned())]);
    }
    if !program.includes.is_empty() {
        header.push(Declaration::Blank);
        header.extend(program.includes.iter().map(|include| Declaration::Include(include.path.clone())));
    }
}

impl UserFunction {
    fn lines(self) -> [Declaration; 3] {
        [Declaration::Blank, Declaration::Comment(self.comment), self.declaration]
    }
}

fn declarator(parameter: &Parameter) -> Declarator {
    Declarator { ty: parameter.ty.clone(), name: parameter.name.clone(), array: parameter.array.clone() }
}

/// A pointer to one of the structs of `node`, where it has members. C wants the word `struct`.
fn pointer(node: &Node, side: Side) -> Option<Declarator> {
    let name = match side {
        Side::In => "in",
        Side::Out => "out",
    };
    node_struct(node, side).map(|ty| Declarator::new(format!("struct {ty} *"), name))
}

/// `int X(struct X_in *in, struct X_out *out);` for every concrete node.
fn nodes<'a>(context: &'a Context<'_>) -> impl Iterator<Item = UserFunction> + 'a {
    let concrete = context.flow.program.nodes.iter().filter(|(_, node)| matches!(node.body, Body::Concrete));
    concrete.map(|(_, node)| {
        let parameters = [Side::In, Side::Out].into_iter().filter_map(|side| pointer(node, side)).collect();
        UserFunction {
            name: node.name.clone(),
            comment: context.sources.name_and_line(node.span),
            declaration: Declaration::Prototype("int".to_owned(), node.name.clone(), parameters),
        }
    })
}

/// `bool P(T value);` for every predicate and every type that it is asked about, in the order of the predicates.
fn predicates<'a>(context: &'a Context<'_>) -> impl Iterator<Item = UserFunction> + 'a {
    let program = &context.flow.program;
    let mut asked: BTreeSet<(PredicateId, &str, &str)> = BTreeSet::new();
    for (_, function) in context.flow.functions.iter() {
        for (predicate, parameter) in tests(context, function) {
            asked.insert((predicate, &parameter.ty, &parameter.array));
        }
    }
    asked.into_iter().map(|(id, ty, array)| {
        let predicate = &program.predicates[id];
        let value = Declarator { ty: ty.to_owned(), name: "value".to_owned(), array: array.to_owned() };
        UserFunction {
            name: predicate.function.clone(),
            comment: context.statement(predicate.span),
            declaration: Declaration::Prototype("bool".to_owned(), predicate.function.clone(), vec![value]),
        }
    })
}

/// The predicates that a function asks, with what they are asked about.
fn tests<'a>(context: &'a Context<'_>, function: &'a Function) -> Vec<(PredicateId, &'a Parameter)> {
    let End::Dispatch { lines, .. } = &function.body.end else { return vec![] };
    let uses = Uses::of(function);
    let parameter = |value| match value {
        Value::Input(index) => function.inputs.get(index),
        Value::Output(step, index) => context.flow.callee_outputs(&uses.step(step)?.callee).get(index).copied(),
        Value::Error(_) | Value::Constant(_) => None,
    };
    let tests = lines.iter().flat_map(|line| &line.tests);
    tests.filter_map(|test| Some((test.predicate, parameter(uses.value(&test.value, None))?))).collect()
}

/// `int F(struct X_in *in);` for every session function, and every target it is asked about.
fn sessions<'a>(context: &'a Context<'_>) -> impl Iterator<Item = UserFunction> + 'a {
    let program = &context.flow.program;
    let mut asked = BTreeSet::new();
    let sources = program.sources.iter().filter_map(|source| Some((source, source.session.as_ref()?)));
    let new = sources.filter(move |(source, function)| asked.insert((*function, source.target)));
    new.map(|(source, function)| UserFunction {
        name: function.clone(),
        comment: context.statement(source.span),
        declaration: Declaration::Prototype(
            "int".to_owned(),
            function.clone(),
            pointer(&program.nodes[source.target], Side::In).into_iter().collect(),
        ),
    })
}

/// `void H(struct X_in *in, int error);` for every handler that is a plain function, and every node it is one for.
fn handlers<'a>(context: &'a Context<'_>) -> impl Iterator<Item = UserFunction> + 'a {
    context.handlers.iter().map(|handler| {
        let input = pointer(&context.flow.program.nodes[handler.node], Side::In);
        let parameters = input.into_iter().chain([Declarator::new("int", "error")]).collect();
        UserFunction {
            name: handler.function.clone(),
            comment: context.statement(handler.span),
            declaration: Declaration::Prototype("void".to_owned(), handler.function.clone(), parameters),
        }
    })
}
