//! Checks the constants of every step and the defaults of every input. Requires: every signature is known. Establishes:
//! no step binds more constants than its node has inputs, and no constant's kind is one that its input evidently cannot
//! take.

use crate::analyses::fit::{count, show_one};
use crate::analyses::mentions::applications;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Application, Constant, Node, OptionKind, Parameter, Program};
use flux_source::Span;
use std::collections::HashSet;

/// Reports constants that are too many, or of the wrong kind. O(applications · inputs).
pub fn check_constants(program: &Program, diagnostics: &mut Diagnostics) {
    for (_, node) in program.nodes.iter() {
        let with_defaults = node.inputs().get(node.required_inputs().len()..).unwrap_or_default();
        for (input, default) in with_defaults.iter().zip(node.defaults()) {
            check_kind(program, node, (input, default), input.span, diagnostics);
        }
    }
    for application in applications(program) {
        check(program, application, diagnostics);
    }
}

fn check(program: &Program, application: &Application, diagnostics: &mut Diagnostics) {
    let node = &program.nodes[application.node];
    let (bound, inputs) = (application.constants.len(), node.inputs().len());
    if bound > inputs {
        let given = match bound {
            1 => "1 constant is given".to_owned(),
            _ => format!("{bound} constants are given"),
        };
        let headline = format!("`{}` takes {}, but {given}", node.name, count(inputs, "input"));
        let error = Diagnostic::error(ids::TOO_MANY_CONSTANTS, headline, application.span);
        diagnostics
            .push(error.mark(node.span, "declared here").help("constants bind the first inputs of a node, in order"));
    }
    for (constant, input) in application.constants.iter().zip(node.inputs()) {
        check_kind(program, node, (input, constant), application.span, diagnostics);
    }
    for named in &application.named {
        let input = node.inputs().iter().find(|input| input.name == named.input);
        if let (Some(input), Some(constant)) = (input, named.value.constant()) {
            check_kind(program, node, (input, &constant), named.span, diagnostics);
        }
    }
}

/// Reports a constant that an input cannot take.
fn check_kind(
    program: &Program,
    node: &Node,
    (input, constant): (&Parameter, &Constant),
    span: Span,
    diagnostics: &mut Diagnostics,
) {
    let kind = kind(program, constant);
    if !clashes(kind, input) {
        return check_range(constant, input, span, diagnostics);
    }
    let (subject, help) = match constant {
        Constant::Option(option) => {
            (format!("the option `{}`", program.options[*option].name), "use an option of the input's type")
        }
        _ => ("the constant".to_owned(), "write a constant of the input's type"),
    };
    let headline = format!("`{}` takes `{}`, but {subject} is {}", node.name, show_one(input), kind.name());
    let error = Diagnostic::error(ids::CONSTANT_TYPE, headline, span);
    diagnostics.push(declared(error, input, span).help(help));
}

/// A number is one that its input's type has, where that is known.
fn check_range(constant: &Constant, input: &Parameter, span: Span, diagnostics: &mut Diagnostics) {
    let (Constant::Integer(number), Some(integer)) = (constant, input.ty.integer()) else { return };
    let (low, high) = integer.range();
    if !(low..=high).contains(&i128::from(*number)) {
        let headline = format!("`{}` has no {number}", show_one(input));
        let error = Diagnostic::error(ids::CONSTANT_TYPE, headline, span);
        let help = format!("{:#} is from {low} to {high}: write another constant, or a wider type", input.ty);
        diagnostics.push(declared(error, input, span).help(help));
    }
}

/// Marks the declaration of an input in an error that is at another place.
fn declared(error: Diagnostic, input: &Parameter, span: Span) -> Diagnostic {
    if span == input.span { error } else { error.mark(input.span, "declared here") }
}

/// The steps whose constants were reported: what else they are given would only be wrong for the same reason.
pub fn misbound(program: &Program) -> HashSet<Span> {
    let is_wrong = |application: &&Application| {
        let inputs = program.nodes[application.node].inputs();
        let clash =
            application.constants.iter().zip(inputs).any(|(constant, input)| clashes(kind(program, constant), input));
        clash || application.constants.len() > inputs.len()
    };
    applications(program).filter(is_wrong).map(|application| application.span).collect()
}

/// Whether the type of a parameter shows that it cannot take the constant. Flux does not read C++, so of a type that it
/// does not know it says nothing.
fn clashes(kind: ConstantKind, parameter: &Parameter) -> bool {
    let ty = &parameter.ty;
    match kind {
        _ if ty.is_own() && !ty.is_number() && !ty.is_text() => true,
        ConstantKind::Text => ty.is_number() && !ty.is_array(),
        ConstantKind::Number | ConstantKind::Truth => ty.is_pointer() || ty.is_array() || ty.is_text(),
    }
}

/// What a constant is in C++.
#[derive(Clone, Copy)]
enum ConstantKind {
    Number,
    Text,
    Truth,
}

impl ConstantKind {
    fn name(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Text => "a string",
            Self::Truth => "a truth value",
        }
    }
}

fn kind(program: &Program, constant: &Constant) -> ConstantKind {
    match constant {
        Constant::Integer(_) => ConstantKind::Number,
        Constant::Text(_) => ConstantKind::Text,
        Constant::Boolean(_) => ConstantKind::Truth,
        Constant::Option(option) => match program.options[*option].kind {
            OptionKind::Int | OptionKind::Duration | OptionKind::Size => ConstantKind::Number,
            OptionKind::Text | OptionKind::Path => ConstantKind::Text,
            OptionKind::Bool => ConstantKind::Truth,
        },
    }
}
