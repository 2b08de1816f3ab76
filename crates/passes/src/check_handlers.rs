//! Checks the error handlers. Requires: every signature is known. Establishes: at most one handler for a path, and each
//! handler that is a node takes what the failing node takes (and last, if it wants it, an `int error`).

use crate::fit::{Fit, fit, show};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Handler, HandlerTarget, NodeId, Parameter, Program};
use flux_source::Span;
use std::collections::HashMap;

/// Reports handlers for the same path, and handler nodes that do not fit.
pub fn check_handlers(program: &Program, diagnostics: &mut Diagnostics) {
    let mut seen: HashMap<&[Option<NodeId>], &Handler> = HashMap::new();
    for handler in &program.handlers {
        if let Some(earlier) = seen.insert(&handler.path, handler) {
            let headline = format!("{} has two handlers", path_name(program, handler));
            let error = Diagnostic::error(ids::HANDLER_TIE, headline, handler.span).mark(earlier.span, "the other one");
            diagnostics.push(error.help("one failure has one handler: remove one of the two"));
        }
        if let (HandlerTarget::Node(target), Some(Some(failing))) = (&handler.target, handler.path.last()) {
            check_fit(program, handler, *target, *failing, diagnostics);
        }
    }
}

fn check_fit(program: &Program, handler: &Handler, target: NodeId, failing: NodeId, diagnostics: &mut Diagnostics) {
    let (target, failing) = (&program.nodes[target], &program.nodes[failing]);
    let given = handler_values(failing.inputs(), target.inputs());
    if matches!(fit(&given, target.inputs()), Fit::Position | Fit::Name(_)) {
        return;
    }
    let headline = format!("the handler `{}` does not take what `{}` takes", target.name, failing.name);
    let error = Diagnostic::error(ids::HANDLER_MISMATCH, headline, handler.span)
        .mark(target.span, format!("`{}` takes ({})", target.name, show(target.inputs())))
        .mark(failing.span, format!("`{}` takes ({})", failing.name, show(failing.inputs())));
    diagnostics.push(
        error.help(format!("declare it with ({}), and last `int error` if it wants the code", show(failing.inputs()))),
    );
}

/// What a handler node is given: the failing node's inputs, and last the error code where it takes one more.
pub fn handler_values(inputs: &[Parameter], wanted: &[Parameter]) -> Vec<Parameter> {
    let mut values = inputs.to_vec();
    if wanted.last().is_some_and(|last| last.name == "error" && last.ty == "int") {
        values.push(Parameter { ty: "int".into(), name: "error".into(), array: String::new(), span: Span::default() });
    }
    values
}

fn path_name(program: &Program, handler: &Handler) -> String {
    let name = |node: &Option<NodeId>| node.map_or("*", |node| program.nodes[node].name.as_str());
    format!("`{}`", handler.path.iter().map(name).collect::<Vec<_>>().join(" -> "))
}
