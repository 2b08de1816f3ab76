//! Decides which values a handler node takes from the node that it replaces, and with which of its own outputs the flow
//! continues. Requires: acyclic, every signature is known, every edge is bound. Establishes: each handler has a
//! replacement for every node whose failure it may handle, or there is an error.
//!
//! A handler takes the inputs of the failed node, and facts of the failure ([`ErrorPart`]). Inputs for the text and the
//! node of the failure may stand anywhere. An `int error` takes the code only if it is the last of the other inputs.
//! The handler can also reach any value that the failed node could reach: every application of that node keeps the
//! wanted values ([`crate::rewrites::kept_values`]). If the handler gives the outputs of the failed node, the flow
//! continues. If it gives nothing, the flow ends. After a node without outputs the flow continues only if the author
//! wrote `_`.

use crate::analyses::containment::callees_first;
use crate::analyses::fit::{Fit, Misfit, dropped, fit, show, show_names};
use crate::analyses::walks::Walks;
use crate::ids;
use crate::rewrites::kept_values::{Wanted, keep};
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::error_code::ErrorPart;
use flux_ir::program::{Argument, Handler, Node, NodeId, Origin, Parameter, Program, Replacement};
use flux_source::NESTING_LIMIT;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Binds handlers whose values fit or can be reached, and reports the others as errors. Notes report the values that a
/// handler drops or reaches.
pub fn bind_handlers(program: &mut Program, diagnostics: &mut Diagnostics) {
    program.handlers.iter().for_each(|handler| check_going_on(program, handler, diagnostics));
    let asked = failing(program);
    if asked.is_empty() {
        return;
    }
    let mut bound = vec![vec![]; program.handlers.len()];
    let mut wanted = Wanted::new();
    let mut unfit = BTreeSet::new();
    // A handler comes before the nodes that it replaces, so the values that its own handlers reach are already known.
    let order = callees_first(program);
    check_depth(program, &order, &asked, diagnostics);
    for failing in order {
        for index in asked.get(&failing).into_iter().flatten() {
            if let (Some(handler), Some(bound)) = (program.handlers.get(*index), bound.get_mut(*index))
                && let Some(target) = handler.target.node()
            {
                let (node, failed) = (&program.nodes[target], &program.nodes[failing]);
                let for_target = wanted.get(&target).cloned().unwrap_or_default();
                let reached = wanted.entry(failing).or_default();
                let arguments = bind_inputs(handler, node, failed, reached, diagnostics);
                let kept = for_target.iter().map(|one| value_of(one, failed.inputs(), reached)).collect();
                let resume = match bind_outputs(handler, node, failed) {
                    Ok(resume) => resume,
                    Err(error) => {
                        // A mistake that recurs for every replaced node is reported once.
                        if unfit.insert(*index) {
                            diagnostics.push(*error);
                        }
                        None
                    }
                };
                bound.extend(arguments.map(|arguments| Replacement { failing, arguments, kept, resume }));
            }
        }
    }
    for (handler, mut bound) in program.handlers.iter_mut().zip(bound) {
        bound.sort_by_key(|one| one.failing);
        handler.replacements = bound;
    }
    report_reached(program, &mut wanted, diagnostics);
}

/// Binds the values that each application keeps for handlers. A note names the values that a handler reaches. An error
/// names a handler for which an application cannot keep a value.
fn report_reached(program: &mut Program, wanted: &mut Wanted, diagnostics: &mut Diagnostics) {
    let mut lacking = HashMap::new();
    let unkept = keep(program, wanted);
    for one in &unkept {
        for place in takers(program, one.node, one.index) {
            lacking.entry(place).or_insert(one);
        }
    }
    for (place, handler) in program.handlers.iter().enumerate() {
        let Some(target) = handler.target.node() else { continue };
        let target = &program.nodes[target];
        for Replacement { failing, arguments, .. } in &handler.replacements {
            let is_wanted = |index: usize| arguments.contains(&Argument::Kept(index));
            let failed = &program.nodes[*failing];
            if let Some(one) = lacking.get(&(place, *failing)) {
                let error =
                    does_not_take(handler, target, failed).fact(format!("it cannot be reached either: {}", one.why));
                diagnostics.push(error.mark(one.span, format!("`{}` is applied here", program.nodes[one.node].name)));
            } else if let Some(list) = wanted.get(failing) {
                let names: Vec<_> =
                    list.iter().enumerate().filter(|(at, _)| is_wanted(*at)).map(|(_, one)| one).collect();
                if !names.is_empty() {
                    let headline = format!(
                        "the handler `{}` reaches back for {}, which comes before `{}`",
                        target.name,
                        show_names(&names),
                        failed.name
                    );
                    diagnostics.push(Diagnostic::note(ids::REACHED, headline, handler.span));
                }
            }
        }
    }
}

/// Returns the handlers that take this kept value of a node: the index of each, and the node that it replaces. They
/// handle failures of the node itself, or of a handler that keeps the value in turn.
fn takers(program: &Program, node: NodeId, index: usize) -> Vec<(usize, NodeId)> {
    let (mut open, mut seen, mut found) = (vec![(node, index)], HashSet::new(), vec![]);
    while let Some((node, index)) = open.pop() {
        if !seen.insert((node, index)) {
            continue;
        }
        let value = Argument::Kept(index);
        for (place, handler) in program.handlers.iter().enumerate() {
            for replacement in handler.replacements.iter().filter(|one| one.failing == node) {
                if replacement.arguments.contains(&value) {
                    found.push((place, node));
                }
                let kept = replacement.kept.iter().enumerate().filter(|(_, kept)| **kept == value);
                open.extend(kept.filter_map(|(at, _)| Some((handler.target.node()?, at))));
            }
        }
    }
    found
}

/// Names a value of a failing node with these inputs, or a value that the node could reach. Adds a reached value to
/// `reached`.
fn value_of(wanted: &Parameter, inputs: &[Parameter], reached: &mut Vec<Parameter>) -> Argument {
    if let Some(index) = inputs.iter().position(|input| wanted.takes(input)) {
        return Argument::Input(index);
    }
    let known = reached.iter().position(|one| one.is_like(wanted));
    Argument::Kept(known.unwrap_or_else(|| {
        reached.push(wanted.clone());
        reached.len() - 1
    }))
}

/// Returns the nodes, each with the handlers of its failures. The last node of a handler's path is included even if no
/// flow takes that path: a handler that cannot replace it is an error.
fn failing(program: &Program) -> BTreeMap<NodeId, BTreeSet<usize>> {
    let mut failing: BTreeMap<NodeId, BTreeSet<usize>> = BTreeMap::new();
    if program.handlers.is_empty() {
        return failing;
    }
    let walks = Walks::of(program);
    if walks.paths.overflowed {
        return failing;
    }
    let asked = walks.meetings.iter().filter_map(|meeting| {
        let matching = walks.paths.matching(meeting.before, meeting.node);
        matching.first().map(|handler| (meeting.node, *handler))
    });
    let last = program.handlers.iter().enumerate();
    for (node, handler) in asked.chain(last.filter_map(|(index, handler)| Some(((*handler.path.last()?)?, index)))) {
        failing.entry(node).or_default().insert(handler);
    }
    failing
}

/// Reports handlers that handle each other's failures deeper than the nesting limit. The code of each handler is nested
/// in the code of the one before.
fn check_depth(
    program: &Program,
    order: &[NodeId],
    asked: &BTreeMap<NodeId, BTreeSet<usize>>,
    diagnostics: &mut Diagnostics,
) {
    let mut depths: BTreeMap<NodeId, usize> = BTreeMap::new();
    for failing in order {
        let handlers = asked.get(failing).into_iter().flatten().filter_map(|index| program.handlers.get(*index));
        let depth = |handler: &Handler| 1 + handler.target.node().and_then(|node| depths.get(&node)).unwrap_or(&0);
        let Some((depth, handler)) = handlers.map(|handler| (depth(handler), handler)).max_by_key(|one| one.0) else {
            continue;
        };
        depths.insert(*failing, depth);
        if depth == NESTING_LIMIT + 1 {
            let headline = format!("more than {NESTING_LIMIT} handlers handle the failures of each other");
            let error = Diagnostic::error(ids::HANDLERS_TOO_DEEP, headline, handler.span);
            diagnostics.push(error.help("let one handler take care of the failures of several"));
        }
    }
}

/// Binds the handler's inputs if they fit, or if they can be reached as far as is known here.
fn bind_inputs(
    handler: &Handler,
    target: &Node,
    failing: &Node,
    reached: &mut Vec<Parameter>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Argument>> {
    let (parts, wanted) = split_inputs(target.required_inputs());
    let given = failing.inputs();
    let bound: Vec<_> = match fit(given, &wanted) {
        Ok(fit) => {
            if let Fit::Name(positions) = &fit {
                let dropped = dropped(given, positions);
                if !dropped.is_empty() {
                    diagnostics.push(by_name(handler, target, failing, &dropped));
                }
            }
            fit.positions(wanted.len()).into_iter().map(Argument::Input).collect()
        }
        Err(Misfit::Permuted) => {
            diagnostics.push(does_not_take(handler, target, failing));
            return None;
        }
        Err(Misfit::Part(_) | Misfit::Lacks(_)) => {
            wanted.iter().map(|wanted| value_of(wanted, given, reached)).collect()
        }
    };
    let mut bound = bound.into_iter();
    let mut bound: Vec<_> =
        parts.into_iter().filter_map(|part| part.map(Argument::Error).or_else(|| bound.next())).collect();
    // A fact of the failure takes precedence over a default.
    let with_defaults = target.inputs().iter().skip(target.required_inputs().len()).zip(target.defaults());
    bound.extend(with_defaults.map(|(input, default)| match ErrorPart::of(input) {
        Some(part) => Argument::Error(part),
        None => Argument::Constant(default.clone()),
    }));
    Some(bound)
}

/// Returns the part of the failure that each input of a handler takes, and the other inputs. The code is the last input
/// beside the text and the node. An `int error` before other inputs is an input of the failed node.
fn split_inputs(inputs: &[Parameter]) -> (Vec<Option<ErrorPart>>, Vec<Parameter>) {
    let mut parts: Vec<_> = inputs.iter().map(ErrorPart::of).collect();
    let is_told = |part: &Option<ErrorPart>| matches!(part, Some(ErrorPart::Text | ErrorPart::Node));
    let last = parts.iter().rposition(|part| !is_told(part));
    for (at, part) in parts.iter_mut().enumerate() {
        if *part == Some(ErrorPart::Code) && Some(at) != last {
            *part = None;
        }
    }
    let others = inputs.iter().zip(&parts).filter(|(_, part)| part.is_none());
    let others = others.map(|(input, _)| input.clone()).collect();
    (parts, others)
}

fn by_name(handler: &Handler, target: &Node, failing: &Node, dropped: &[&Parameter]) -> Diagnostic {
    let (name, failed, dropped) = (&target.name, &failing.name, show_names(dropped));
    let headline = format!("the handler `{name}` takes the inputs of `{failed}` by name, without {dropped}");
    mark_inputs(Diagnostic::note(ids::EDGE_BY_NAME, headline, handler.span), target, failing)
}

fn does_not_take(handler: &Handler, target: &Node, failing: &Node) -> Diagnostic {
    let headline = format!("the inputs of the handler `{}` do not fit those of `{}`", target.name, failing.name);
    let help = format!("declare it with ({}), and `int error` last if it needs the error code", show(failing.inputs()));
    mark_inputs(Diagnostic::error(ids::HANDLER_MISMATCH, headline, handler.span).help(help), target, failing)
}

fn mark_inputs(diagnostic: Diagnostic, target: &Node, failing: &Node) -> Diagnostic {
    diagnostic
        .mark(target.span, format!("`{}` takes ({})", target.name, show(target.inputs())))
        .mark(failing.span, format!("`{}` takes ({})", failing.name, show(failing.inputs())))
}

/// Returns the outputs of the handler with which the flow resumes. Returns none if the handler gives nothing, or if it
/// says itself that the flow continues. Other outputs must fit, or there is an error.
fn bind_outputs(handler: &Handler, target: &Node, failing: &Node) -> Result<Option<Vec<usize>>, Box<Diagnostic>> {
    if handler.target.goes_on() || target.outputs().is_empty() {
        return Ok(None);
    }
    let wanted = failing.outputs();
    match fit(target.outputs(), wanted) {
        Ok(fit) if !wanted.is_empty() => return Ok(Some(fit.positions(wanted.len()))),
        Ok(_) | Err(_) => {}
    }
    let (name, failed) = (&target.name, &failing.name);
    let (headline, help) = match wanted {
        [] => (
            format!("the handler `{name}` has outputs, and `{failed}` has none"),
            format!("declare it with `=> ()` to end the flow, or write `=> {name} -> _` to let it go on"),
        ),
        _ => (
            format!("the outputs of the handler `{name}` do not fit those of `{failed}`"),
            format!("declare it with `=> ({})` to let the flow go on, or `=> ()` to end it", show(wanted)),
        ),
    };
    let error = Diagnostic::error(ids::FALLBACK_MISMATCH, headline, handler.span)
        .mark(target.span, format!("`{name}` gives ({})", show(target.outputs())));
    Err(Box::new(mark_outputs(error, failing).help(help)))
}

fn mark_outputs(diagnostic: Diagnostic, failing: &Node) -> Diagnostic {
    diagnostic.mark(failing.span, format!("`{}` gives ({})", failing.name, show(failing.outputs())))
}

/// Reports a handler after which the flow would continue without the outputs of the failed node.
fn check_going_on(program: &Program, handler: &Handler, diagnostics: &mut Diagnostics) {
    if !handler.target.goes_on() {
        return;
    }
    let Some(failing) = handler.path.last().copied().flatten() else {
        let headline = "`_` needs the name of the node after which the flow goes on, and `*` is any node";
        let error = Diagnostic::error(ids::FALLBACK_MISMATCH, headline, handler.span);
        return diagnostics.push(error.help("write a handler for each node without outputs: `handle error Log => _;`"));
    };
    let starts_flows = |origin: &Origin| matches!(origin, Origin::Node(application) if application.node == failing);
    let source = program.sources.iter().find(|source| starts_flows(&source.origin));
    let failing = &program.nodes[failing];
    if let Some(source) = source {
        let headline = format!("`{}` is a source, and no flow has begun that could go on when it fails", failing.name);
        let error = Diagnostic::error(ids::FALLBACK_MISMATCH, headline, handler.span);
        let error = error.mark(source.span, "it starts flows here".to_owned());
        diagnostics.push(error.help("write `=> H` without `-> _`: the source is asked for the next flow"));
    } else if !failing.outputs().is_empty() {
        let headline = format!("`_` gives no values, and `{}` has outputs", failing.name);
        let error = Diagnostic::error(ids::FALLBACK_MISMATCH, headline, handler.span);
        let help = format!("write a handler that gives ({}) to let the flow go on", show(failing.outputs()));
        diagnostics.push(mark_outputs(error, failing).help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_diagnostic::Severity;
    use flux_ir::text::{parse_program, print_program};
    use flux_ir::verify::{self, Stage};

    /// Returns the text after the `handle` line of a program whose node `A` fails in a flow, and the number of errors.
    fn bind(handler: &str, path: &str) -> (String, usize) {
        bind_to(handler, path, "node H")
    }

    /// Like [`bind`], but `target` handles the failure.
    fn bind_to(handler: &str, path: &str, target: &str) -> (String, usize) {
        let text = format!(
            "program p\nnode A (int x, T *t) => (int to, bool b)\nnode H {handler}\nnode S (int x, T *t) => () {{\n\
             flow = %1 A takes (in.x, in.t) gives ()\n}}\nhandle error {path} => {target}\n"
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
        (bound.split_once('\n').unwrap_or_default().1.trim_end_matches("}\n").trim().to_owned(), errors)
    }

    #[test]
    fn a_handler_takes_what_failed_took_and_ends_the_flow_where_it_gives_nothing() {
        assert_eq!(bind("(int x, T *t) => ()", "A"), ("for A takes (in.x, in.t)".to_owned(), 0));
        assert_eq!(bind("(T *t) => ()", "A"), ("for A takes (in.t)".to_owned(), 0));
        assert_eq!(bind("(int y, T *t, int error) => ()", "A"), ("for A takes (in.x, in.t, error)".to_owned(), 0));
        assert_eq!(bind("(T *t, int error) => ()", "A"), ("for A takes (in.t, error)".to_owned(), 0));
    }

    #[test]
    fn a_handler_takes_the_text_and_the_node_of_a_failure_by_their_names() {
        let bound = |handler, takes: &str| assert_eq!(bind(handler, "A"), (format!("for A takes ({takes})"), 0));
        bound("(int x, T *t, int error, text error_text) => ()", "in.x, in.t, error, error_text");
        bound("(text error_node, int y, T *t) => ()", "error_node, in.x, in.t");
        bound("(T *t, text error_text, int error) => ()", "in.t, error_text, error");
        bound("(text error_text, text error_node) => ()", "error_text, error_node");
    }

    #[test]
    fn a_handler_of_a_handler_takes_the_code_of_its_own_failure() {
        let text = "program p\nnode A (int x) => ()\nnode H (int x, int error) => ()\n\
                    node G (int x, int error, text error_text) => ()\n\
                    node S (int x) => () {\nflow = %1 A takes (in.x) gives ()\n}\n\
                    handle error A => node H\nhandle error H => node G\n";
        let mut program = parse_program(text).unwrap();
        let mut diagnostics = Diagnostics::new();
        bind_handlers(&mut program, &mut diagnostics);
        let printed = print_program(&program);
        assert!(printed.contains("for H takes (in.x, error, error_text)"), "{printed}");
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
        assert_eq!(bound, "for A takes (in.x, in.t)\n  for S takes (in.x, in.t)");
        assert_eq!(errors, 0);
    }

    #[test]
    fn a_flow_goes_on_without_values_only_where_the_handler_says_so() {
        assert_eq!(bind_to("(int x) => ()", "S", "node H"), ("for S takes (in.x)".to_owned(), 0));
        assert_eq!(bind_to("(int x) => ()", "S", "node H -> _"), ("for S takes (in.x)".to_owned(), 0));
        assert_eq!(bind_to("(int x) => (int y)", "S", "node H -> _"), ("for S takes (in.x)".to_owned(), 0));
        assert_eq!(bind_to("(int x) => ()", "S", "_"), (String::new(), 0));
        let unfit = ("for S takes (in.x)".to_owned(), 1);
        assert_eq!(bind_to("(int x) => (int y)", "S", "node H"), unfit, "it has outputs, and S has none");
        assert_eq!(bind_to("(int x) => ()", "A", "_").1, 1, "A has outputs");
        assert_eq!(bind_to("(int x) => (int to, bool b)", "A", "node H -> _").1, 1, "A has outputs");
        assert_eq!(bind_to("(int x) => ()", "S -> *", "_").1, 1, "any node may have outputs");
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        assert_eq!(bind("(int x, bool t) => ()", "A"), ("for A takes (in.x, kept.0)".to_owned(), 1));
        assert_eq!(bind("(T *t) => (int to)", "A"), ("for A takes (in.t)".to_owned(), 1));
        assert_eq!(bind("(bool t) => (int to)", "A"), ("for A takes (kept.0)".to_owned(), 2));
    }
}
