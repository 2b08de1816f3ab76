//! Says which values a handler that is a node takes from the node whose place it takes, and with which of its own the
//! flow goes on. Requires: acyclic, every signature is known. Establishes: each handler says so for every node that it
//! may be asked for, or there is an error.
//!
//! A handler takes what the failing node took, and last, if it wants it, an `int error`. Where it gives what that node
//! gives, the flow goes on; where it gives nothing, the flow ends.

use crate::analyses::fit::{Fit, dropped, fit, show, show_names};
use crate::analyses::walks::Walks;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Argument, Handler, HandlerTarget, Node, NodeId, Parameter, Program, Replacement};
use flux_ir::types::Type;
use flux_source::Span;
use std::collections::BTreeSet;

/// Binds what fits, and reports handlers that do not; as a note, what one leaves out.
pub fn bind_handlers(program: &mut Program, diagnostics: &mut Diagnostics) {
    let mut bound = vec![vec![]; program.handlers.len()];
    for (index, failing) in failing(program) {
        if let (Some(handler), Some(bound)) = (program.handlers.get(index), bound.get_mut(index))
            && let HandlerTarget::Node(target) = handler.target
        {
            let (target, failed) = (&program.nodes[target], &program.nodes[failing]);
            let arguments = bind_inputs(handler, target, failed, diagnostics);
            let resume = bind_outputs(handler, target, failed, diagnostics);
            bound.extend(arguments.map(|arguments| Replacement { failing, arguments, resume }));
        }
    }
    for (handler, bound) in program.handlers.iter_mut().zip(bound) {
        handler.replacements = bound;
    }
}

/// The nodes for whose failures each handler is asked; also the last of its path, whether or not anything comes that
/// way: what it cannot take the place of is wrong.
fn failing(program: &Program) -> BTreeSet<(usize, NodeId)> {
    if program.handlers.is_empty() {
        return BTreeSet::new();
    }
    let walks = Walks::of(program);
    if walks.paths.overflowed {
        return BTreeSet::new();
    }
    let asked = walks.meetings.iter().filter_map(|meeting| {
        let matching = walks.paths.matching(meeting.before, meeting.node);
        matching.first().map(|handler| (*handler, meeting.node))
    });
    let last = program.handlers.iter().enumerate();
    asked.chain(last.filter_map(|(index, handler)| Some((index, (*handler.path.last()?)?)))).collect()
}

/// The values of the handler's inputs, where they fit.
fn bind_inputs(
    handler: &Handler,
    target: &Node,
    failing: &Node,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Argument>> {
    let given = handler_values(failing.inputs(), target.inputs());
    let fit = fit(&given, target.inputs());
    if let Some(found) = describe_inputs(handler, target, failing, &given, fit.as_ref().ok()) {
        diagnostics.push(
            found
                .mark(target.span, format!("`{}` takes ({})", target.name, show(target.inputs())))
                .mark(failing.span, format!("`{}` takes ({})", failing.name, show(failing.inputs()))),
        );
    }
    let value = |position| if position < failing.inputs().len() { Argument::Input(position) } else { Argument::Error };
    Some(fit.ok()?.positions(target.inputs().len()).into_iter().map(value).collect())
}

/// What there is to say of how a handler takes the values that it is `given`.
fn describe_inputs(
    handler: &Handler,
    target: &Node,
    failing: &Node,
    given: &[Parameter],
    fit: Option<&Fit>,
) -> Option<Diagnostic> {
    match fit {
        Some(Fit::Position) => None,
        Some(Fit::Name(positions)) => {
            let dropped = dropped(given, positions);
            let headline = format!(
                "the handler `{}` takes what `{}` takes by name, without {}",
                target.name,
                failing.name,
                show_names(&dropped)
            );
            (!dropped.is_empty()).then(|| Diagnostic::note(ids::EDGE_BY_NAME, headline, handler.span))
        }
        None => {
            let headline = format!("the handler `{}` does not take what `{}` takes", target.name, failing.name);
            let help =
                format!("declare it with ({}), and last `int error` if it wants the code", show(failing.inputs()));
            Some(Diagnostic::error(ids::HANDLER_MISMATCH, headline, handler.span).help(help))
        }
    }
}

/// The outputs of the handler with which the flow goes on; none where it ends, as the handler gives nothing that is
/// wanted. With what others give it goes on, so that must fit.
fn bind_outputs(handler: &Handler, target: &Node, failing: &Node, diagnostics: &mut Diagnostics) -> Option<Vec<usize>> {
    if let Ok(fit) = fit(target.outputs(), failing.outputs()) {
        return Some(fit.positions(failing.outputs().len()));
    }
    if !target.outputs().is_empty() {
        let headline = format!("the handler `{}` does not give what `{}` gives", target.name, failing.name);
        let error = Diagnostic::error(ids::FALLBACK_MISMATCH, headline, handler.span)
            .mark(target.span, format!("`{}` gives ({})", target.name, show(target.outputs())))
            .mark(failing.span, format!("`{}` gives ({})", failing.name, show(failing.outputs())));
        let goes_on = show(failing.outputs());
        diagnostics
            .push(error.help(format!("declare it with `=> ({goes_on})` for the flow to go on, or `=> ()` to end it")));
    }
    None
}

/// What a handler node is given: the failing node's inputs, and last the error code where it takes one more.
fn handler_values(inputs: &[Parameter], wanted: &[Parameter]) -> Vec<Parameter> {
    let mut values = inputs.to_vec();
    let error = Type::error_code();
    if wanted.last().is_some_and(|last| last.name == "error" && last.ty == error) {
        values.push(Parameter { ty: error, name: "error".into(), span: Span::default() });
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_diagnostic::Severity;
    use flux_ir::text::{parse_program, print_program};
    use flux_ir::verify::{self, Stage};

    /// What is said after `handle` in a program whose node `A` fails in a flow, and how many errors there were.
    fn bind(handler: &str, path: &str) -> (String, usize) {
        let text = format!(
            "program p\nnode A (int x, T *t) => (int to, bool b)\nnode H {handler}\nnode S (int x, T *t) => () {{\n\
             flow = %1 A takes (in.x, in.t) gives ()\n}}\nhandle error {path} => node H\n"
        );
        let mut program = parse_program(&text).unwrap();
        let mut diagnostics = Diagnostics::new();
        bind_handlers(&mut program, &mut diagnostics);
        let errors = diagnostics.sorted().iter().filter(|one| one.severity == Severity::Error).count();
        if errors == 0 {
            assert_eq!(verify::program(&program, Stage::Bound), []);
        }
        let printed = print_program(&program);
        let bound = printed.split_once("handle error ").unwrap().1;
        (bound.split_once('\n').unwrap().1.trim_end_matches("}\n").trim().to_owned(), errors)
    }

    #[test]
    fn a_handler_takes_what_failed_took_and_ends_the_flow_where_it_gives_nothing() {
        assert_eq!(bind("(int x, T *t) => ()", "A"), ("for A takes (in.x, in.t)".to_owned(), 0));
        assert_eq!(bind("(T *t) => ()", "A"), ("for A takes (in.t)".to_owned(), 0));
        assert_eq!(bind("(int y, T *t, int error) => ()", "A"), ("for A takes (in.x, in.t, error)".to_owned(), 0));
        assert_eq!(bind("(T *t, int error) => ()", "A"), ("for A takes (in.t, error)".to_owned(), 0));
    }

    #[test]
    fn a_handler_that_gives_what_failed_would_have_given_lets_the_flow_go_on() {
        let given = "for A takes () gives (out.b, out.y)".to_owned();
        assert_eq!(bind("() => (bool b, int to)", "A").0, "for A takes () gives (out.to, out.b)");
        assert_eq!(bind("() => (int y, bool b)", "A").0, given.replace("(out.b, out.y)", "(out.y, out.b)"));
    }

    #[test]
    fn a_handler_for_any_node_says_so_for_each_that_it_is_asked_for() {
        let (bound, errors) = bind("(int x, T *t) => ()", "*");
        assert_eq!(bound, "for A takes (in.x, in.t)\n  for S takes (in.x, in.t) gives ()");
        assert_eq!(errors, 0);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        assert_eq!(bind("(int x, bool t) => ()", "A"), (String::new(), 1));
        assert_eq!(bind("(T *t) => (int to)", "A"), ("for A takes (in.t)".to_owned(), 1));
        assert_eq!(bind("(bool t) => (int to)", "A"), (String::new(), 2));
    }
}
