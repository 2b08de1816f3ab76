//! Checks that what is given fits what is taken, along every edge. Requires: every signature is known. Establishes:
//! each edge fits by position or by name, and no step binds more constants than its node has inputs.

use crate::edges::{Edge, Kind, Port, edges};
use crate::fit::{Fit, count, dropped, fit, show, show_names, show_one};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{NodeId, Origin};
use flux_ir::program::{Parameter, Program, Signature, Source};
use std::borrow::Cow;

/// Reports every edge that does not fit, and as a note what an edge drops. O(edges · parameters).
pub fn check_edges(program: &Program, diagnostics: &mut Diagnostics) {
    check_constants(program, diagnostics);
    for source in &program.sources {
        check_source(program, source, diagnostics);
    }
    for edge in edges(program) {
        let Some(given) = joined(program, &edge.from) else { continue };
        let Some(taken) = list(program, edge.to) else { continue };
        if let Some(diagnostic) = check(program, &edge, &given, taken) {
            diagnostics.push(diagnostic);
        }
    }
}

fn list(program: &Program, port: Port) -> Option<&[Parameter]> {
    program.nodes[port.node()].signature.as_ref().map(|signature: &Signature| port.of(signature))
}

fn joined<'a>(program: &'a Program, ports: &[Port]) -> Option<Cow<'a, [Parameter]>> {
    if let [port] = ports {
        return list(program, *port).map(Cow::Borrowed);
    }
    let lists: Option<Vec<_>> = ports.iter().map(|port| list(program, *port)).collect();
    lists.map(|lists| Cow::Owned(lists.concat()))
}

fn check(program: &Program, edge: &Edge, given: &[Parameter], taken: &[Parameter]) -> Option<Diagnostic> {
    let sides = Sides::of(program, edge);
    match fit(given, taken) {
        Fit::Position => None,
        Fit::Name(positions) => {
            let dropped = dropped(given, &positions);
            let lost = if dropped.is_empty() {
                "in another order".into()
            } else {
                format!("without {}", show_names(&dropped))
            };
            let headline = format!("what {} {} fits {} by name, {lost}", sides.giver, sides.gives, sides.taker);
            Some(sides.mark(Diagnostic::note(ids::EDGE_BY_NAME, headline, edge.to_span), edge, given, taken))
        }
        Fit::Permuted => {
            let headline = format!("{} and {} name the same values in another order", sides.giver, sides.taker);
            let error = Diagnostic::error(ids::EDGE_PERMUTED, headline, edge.to_span);
            Some(sides.mark(error, edge, given, taken).help("values go by position here; give both lists one order"))
        }
        Fit::Part(index) => {
            let headline = match edge.kind {
                Kind::Leave if edge.from == [Port::In(edge.to.node(), 0)] => {
                    format!("{} takes something else than it gives, so its flow cannot be empty", sides.giver)
                }
                _ => format!("{} does not {} what {} {}", sides.giver, sides.give, sides.taker, sides.takes),
            };
            let error = sides.mark(Diagnostic::error(ids::EDGE_MISMATCH, headline, edge.to_span), edge, given, taken);
            Some(explain(error, &sides, given.get(index), taken.get(index), index + 1))
        }
    }
}

/// Says where two lists part, at the values in the place `number`, and what to do about it.
fn explain(
    error: Diagnostic,
    sides: &Sides,
    given: Option<&Parameter>,
    taken: Option<&Parameter>,
    number: usize,
) -> Diagnostic {
    let place = ordinal(number);
    match (given.map(show_one), taken.map(show_one)) {
        (Some(given), Some(taken)) => error
            .fact(format!("they part at the {place} value: `{given}` against `{taken}`"))
            .help("change one of the two declarations, or put a node between that converts"),
        (None, Some(taken)) => {
            let other = if sides.takes == "gives" { "declare that it is not given" } else { "do not take it" };
            error.fact(format!("the {place} value, `{taken}`, is not given")).help(format!("give it too, or {other}"))
        }
        (Some(given), None) => error
            .fact(format!("the {place} value, `{given}`, is not taken"))
            .help("values may be left out where names and types agree: call the others alike on both sides"),
        (None, None) => error,
    }
}

fn ordinal(number: usize) -> String {
    let suffix = match (number % 10, number % 100) {
        (1, tens) if tens != 11 => "st",
        (2, tens) if tens != 12 => "nd",
        (3, tens) if tens != 13 => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}

/// The words for the two sides of an edge.
struct Sides {
    giver: String,
    give: &'static str,
    gives: &'static str,
    taker: String,
    takes: &'static str,
}

impl Sides {
    fn of(program: &Program, edge: &Edge) -> Self {
        let name = |node: NodeId| format!("`{}`", program.nodes[node].name);
        let giver = match edge.from.as_slice() {
            [port] => name(port.node()),
            _ => "the parallel step".to_owned(),
        };
        let taker = name(edge.to.node());
        let inside = matches!(edge.from.as_slice(), [Port::In(..)]);
        let (give, gives) = if inside { ("take", "takes") } else { ("give", "gives") };
        let takes = if edge.kind == Kind::Leave { "gives" } else { "takes" };
        Self { giver, give, gives, taker, takes }
    }

    /// Marks both sides with what passes there. The place to edit is where the values are taken; where that is a
    /// declaration far from the edge (of a source's target, of a flow's outputs) it is where they are given.
    fn mark(&self, mut diagnostic: Diagnostic, edge: &Edge, given: &[Parameter], taken: &[Parameter]) -> Diagnostic {
        let gives = (edge.from_span, format!("{} ({})", self.gives, show(given)));
        let takes = (edge.to_span, format!("{} ({})", self.takes, show(taken)));
        let (first, second) =
            if matches!(edge.kind, Kind::Start | Kind::Leave) { (gives, takes) } else { (takes, gives) };
        diagnostic.primary.span = first.0;
        diagnostic.label(first.1).mark(second.0, second.1)
    }
}

fn check_constants(program: &Program, diagnostics: &mut Diagnostics) {
    let in_chains = program.nodes.iter().flat_map(|(_, node)| node.chains()).flat_map(|chain| chain.applications());
    let in_sources = program.sources.iter().filter_map(|source| match &source.origin {
        Origin::Node(application) => Some(application),
        Origin::Timer(_) => None,
    });
    for application in in_chains.chain(in_sources) {
        let node = &program.nodes[application.node];
        let (bound, inputs) = (application.constants.len(), node.inputs().len());
        if node.signature.is_some() && bound > inputs {
            let headline = format!("`{}` takes {}, but {bound} constants are given", node.name, count(inputs, "input"));
            let error = Diagnostic::error(ids::TOO_MANY_CONSTANTS, headline, application.span);
            diagnostics.push(
                error.mark(node.span, "declared here").help("constants bind the first inputs of a node, in order"),
            );
        }
    }
}

fn check_source(program: &Program, source: &Source, diagnostics: &mut Diagnostics) {
    match &source.origin {
        Origin::Node(application) => {
            let node = &program.nodes[application.node];
            let (inputs, bound) = (node.inputs().len(), application.constants.len());
            if inputs > bound {
                let why = match bound {
                    0 => "nothing comes before a source".to_owned(),
                    1 => "only 1 constant is given".to_owned(),
                    _ => format!("only {bound} constants are given"),
                };
                let headline = format!("the source `{}` takes {}, but {why}", node.name, count(inputs, "input"));
                let error = Diagnostic::error(ids::SOURCE_INPUTS, headline, application.span)
                    .mark(node.span, format!("takes ({})", show(node.inputs())));
                diagnostics.push(error.help(format!(
                    "bind its inputs to constants, `source {}(…) => …`, or declare it `{} () => (…)`",
                    node.name, node.name
                )));
            }
        }
        Origin::Timer(_) => {
            let target = &program.nodes[source.target];
            if !target.inputs().is_empty() {
                let headline =
                    format!("a heartbeat gives no values, but `{}` takes ({})", target.name, show(target.inputs()));
                let error =
                    Diagnostic::error(ids::TIMER_INPUTS, headline, source.span).mark(target.span, "declared here");
                diagnostics
                    .push(error.help(format!("let `{}` take nothing: `{} () => (…);`", target.name, target.name)));
            }
        }
    }
}
