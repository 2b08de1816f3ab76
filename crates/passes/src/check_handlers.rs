//! Checks the error handlers. Requires: every signature is known. Establishes: each handler is for one node, each node
//! has at most one, and a handler that is a node takes what the failing node takes (and last, if it wants it, an
//! `int error`).

use crate::fit::{Fit, dropped, fit, show, show_names};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Handler, HandlerTarget, NodeId, Parameter, Program};
use flux_source::Span;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Reports second handlers, handlers on paths and handler nodes that do not fit; as a note, what one leaves out.
pub fn check_handlers(program: &Program, diagnostics: &mut Diagnostics) {
    let mut first: HashMap<&[Option<NodeId>], Span> = HashMap::new();
    for handler in &program.handlers {
        match first.entry(&handler.path) {
            Entry::Vacant(place) => {
                place.insert(handler.span);
            }
            Entry::Occupied(first) => {
                let headline = format!("`{}` has two handlers", path_name(program, &handler.path));
                let error = Diagnostic::error(ids::HANDLER_TIE, headline, handler.span);
                diagnostics.push(
                    error.mark(*first.get(), "the first one").help("one failure has one handler: remove one of them"),
                );
            }
        }
        match (handler.path.as_slice(), &handler.target) {
            ([Some(failing)], HandlerTarget::Node(target)) => {
                check_fit(program, handler, *target, *failing, diagnostics);
            }
            ([Some(_)], HandlerTarget::Function(_)) => {}
            (path, _) => {
                let headline = format!("a handler on the path `{}` cannot be compiled yet", path_name(program, path));
                let error = Diagnostic::error(ids::UNSUPPORTED, headline, handler.span);
                diagnostics.push(error.help("handle the errors of one node: `handle error Node => …;`"));
            }
        }
    }
}

fn check_fit(program: &Program, handler: &Handler, target: NodeId, failing: NodeId, diagnostics: &mut Diagnostics) {
    let (target, failing) = (&program.nodes[target], &program.nodes[failing]);
    let given = handler_values(failing.inputs(), target.inputs());
    let found = match fit(&given, target.inputs()) {
        Fit::Position => return,
        Fit::Name(positions) => {
            let dropped = dropped(&given, &positions);
            if dropped.is_empty() {
                return;
            }
            let headline = format!(
                "the handler `{}` takes what `{}` takes by name, without {}",
                target.name,
                failing.name,
                show_names(&dropped)
            );
            Diagnostic::note(ids::EDGE_BY_NAME, headline, handler.span)
        }
        Fit::Permuted | Fit::Part(_) => {
            let headline = format!("the handler `{}` does not take what `{}` takes", target.name, failing.name);
            let help =
                format!("declare it with ({}), and last `int error` if it wants the code", show(failing.inputs()));
            Diagnostic::error(ids::HANDLER_MISMATCH, headline, handler.span).help(help)
        }
    };
    diagnostics.push(
        found
            .mark(target.span, format!("`{}` takes ({})", target.name, show(target.inputs())))
            .mark(failing.span, format!("`{}` takes ({})", failing.name, show(failing.inputs()))),
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

fn path_name(program: &Program, path: &[Option<NodeId>]) -> String {
    let name = |node: &Option<NodeId>| node.map_or("*", |node| program.nodes[node].name.as_str());
    path.iter().map(name).collect::<Vec<_>>().join(" -> ")
}
