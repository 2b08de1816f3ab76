//! Reports edges whose values do not fit, and values that are dropped by an edge that fits by name.
//!
//! One wrong declaration breaks every edge at it, and by inference edges far from it. So edges that do not fit are
//! grouped by the parameter at which they differ, the one that most of them have in common, and each such parameter
//! gets one message.

use crate::analyses::edges::{Edge, EdgeKind, Passed, Port};
use crate::analyses::fit::{Misfit, show, show_names, show_one};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics, Mark, nearest};
use flux_ir::program::{NodeId, Parameter, Program};
use flux_ir::types::Type;
use flux_source::Span;
use std::collections::HashMap;

/// The note for an edge that fits by name, where nothing takes the values `lost`.
pub fn by_name(
    program: &Program,
    edge: &Edge,
    given: &[Parameter],
    taken: &[Parameter],
    lost: &[&Parameter],
) -> Diagnostic {
    Sides::of(program, edge).by_name(edge, given, taken, lost)
}

/// Who gives along an edge, and who takes: `` `Find` ``, or "the parallel step".
pub fn ends(program: &Program, edge: &Edge) -> (String, String) {
    let sides = Sides::of(program, edge);
    (sides.giver, sides.taker)
}

/// An edge that does not fit, for [`report`].
pub fn spoiled(
    program: &Program,
    edge: &Edge,
    given: &[Parameter],
    taken: &[Parameter],
    misfit: Misfit,
) -> SpoiledEdge {
    let sides = Sides::of(program, edge);
    let (error, place) = match misfit {
        Misfit::Permuted => {
            let differs = given.iter().zip(taken).position(|(one, other)| one.name != other.name);
            (sides.permuted(edge, given, taken), differs.unwrap_or(0))
        }
        Misfit::Part(_) if is_renamed(edge, given, taken) => (sides.lack(edge, given, taken, 0), given.len()),
        Misfit::Part(place) => (sides.mismatch(edge, given, taken, place), place),
        Misfit::Lacks(place) => (sides.lack(edge, given, taken, place), given.len().max(place)),
    };
    sides.spoiled(error, edge, given, taken, place)
}

/// Whether the one value that a step takes is among several that are given, under another name.
fn is_renamed(edge: &Edge, given: &[Parameter], taken: &[Parameter]) -> bool {
    let [taken] = taken else { return false };
    let is_step = matches!(edge.kind, EdgeKind::Enter | EdgeKind::Pass);
    is_step && given.len() > 1 && given.iter().filter(|value| value.ty == taken.ty).count() == 1
}

/// What may be wrong about an edge that does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Suspect {
    /// The parameter that is declared here.
    Parameter(Span),
    /// That this side has not one more.
    End(Port),
}

/// An edge that does not fit.
pub struct SpoiledEdge {
    diagnostic: Diagnostic,
    /// What may be wrong on the side that gives and on the side that takes, each with what the other side has.
    suspects: [(Suspect, String); 2],
}

/// Reports the first edge of each that are spoiled by one parameter, with marks at the others.
pub fn report(spoiled: Vec<SpoiledEdge>, diagnostics: &mut Diagnostics) {
    let mut edges_at: HashMap<Suspect, usize> = HashMap::new();
    for (suspect, _) in spoiled.iter().flat_map(|edge| &edge.suspects) {
        *edges_at.entry(*suspect).or_default() += 1;
    }
    let mut found: Vec<Diagnostic> = vec![];
    let mut of: HashMap<Suspect, usize> = HashMap::new();
    for SpoiledEdge { diagnostic, suspects: [giver, taker] } in spoiled {
        let (culprit, other) = if edges_at.get(&giver.0) > edges_at.get(&taker.0) { giver } else { taker };
        match of.get(&culprit).and_then(|index| found.get_mut(*index)) {
            Some(earlier) => {
                let mark = Mark { span: diagnostic.primary.span, label: format!("nor does it fit here: {other}") };
                earlier.secondary.push(mark);
            }
            None => {
                of.insert(culprit, found.len());
                found.push(match culprit {
                    Suspect::Parameter(span) if edges_at.get(&culprit) > Some(&1) => {
                        diagnostic.mark(span, "what does not fit is declared here")
                    }
                    _ => diagnostic,
                });
            }
        }
    }
    found.into_iter().for_each(|diagnostic| diagnostics.push(diagnostic));
}

/// The one name among the taken values that is not given, and the given one that it was probably meant to be. Where
/// both lists are as long, they were meant to fit by position.
fn slip<'a>(given: &'a [Parameter], taken: &'a [Parameter]) -> Option<(&'a str, &'a str)> {
    let is_given = |one: &&Parameter| given.iter().any(|other| one.takes(other));
    let mut missing = taken.iter().filter(|one| !is_given(one));
    let (missing, None) = (missing.next()?, missing.next()) else { return None };
    let alike = given.iter().filter(|other| other.ty == missing.ty).map(|other| other.name.as_str());
    let meant = nearest(&missing.name, alike.filter(|_| given.len() != taken.len()))?;
    Some((meant, &missing.name))
}

/// Says where two lists part, at the values in `place`, and what to do about it.
fn explain(error: Diagnostic, sides: &Sides, given: &[Parameter], taken: &[Parameter], place: usize) -> Diagnostic {
    let (number, gives_nothing) = (ordinal(place + 1), given.is_empty() && sides.gives == "gives");
    match (given.get(place).map(show_one), taken.get(place).map(show_one)) {
        (None, Some(_)) if gives_nothing && sides.takes == "takes" => error
            .fact(format!("{} gives nothing", sides.giver))
            .help(format!("to pass values on, declare {} with the outputs ({})", sides.giver, show(taken))),
        (Some(given), Some(taken)) => error
            .fact(format!("they differ at the {number} value: `{given}` against `{taken}`"))
            .help("change one of the two declarations, or convert the value in a node between them"),
        (None, Some(taken)) => {
            let other = if sides.takes == "gives" { "declare that it is not given" } else { "do not take it" };
            error.fact(format!("the {number} value, `{taken}`, is not given")).help(format!("give it too, or {other}"))
        }
        (Some(given), None) => error
            .fact(format!("the {number} value, `{given}`, is not taken"))
            .help("values may be left out if names and types match: use the same names on both sides"),
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
        let giver = match &edge.from {
            Passed::Of(port) => name(port.node()),
            Passed::Joined(_) => "the parallel step".to_owned(),
            Passed::Gathered(..) => "the each step".to_owned(),
            Passed::Spread(..) => "an instance".to_owned(),
        };
        let taker = name(edge.to.node());
        let inside = matches!(edge.from, Passed::Of(Port::In(..) | Port::All(_)) | Passed::Spread(..));
        let (give, gives) = if inside { ("take", "takes") } else { ("give", "gives") };
        let takes = if edge.kind == EdgeKind::Leave { "gives" } else { "takes" };
        Self { giver, give, gives, taker, takes }
    }

    fn by_name(&self, edge: &Edge, given: &[Parameter], taken: &[Parameter], lost: &[&Parameter]) -> Diagnostic {
        let lost = match lost {
            [] => "in another order".to_owned(),
            some => format!("without {}", show_names(some)),
        };
        let headline = format!("what {} {} fits {} by name, {lost}", self.giver, self.gives, self.taker);
        self.mark(Diagnostic::note(ids::EDGE_BY_NAME, headline, edge.to_span), edge, given, taken)
    }

    fn permuted(&self, edge: &Edge, given: &[Parameter], taken: &[Parameter]) -> Diagnostic {
        let headline = format!("{} and {} have the same values in a different order", self.giver, self.taker);
        let error = Diagnostic::error(ids::EDGE_PERMUTED, headline, edge.to_span);
        self.mark(error, edge, given, taken)
            .help("values are passed by position here: use the same order in both lists")
    }

    /// The error for a value that nothing before gives, where others are there.
    fn lack(&self, edge: &Edge, given: &[Parameter], taken: &[Parameter], place: usize) -> Diagnostic {
        let error = self.misfit(edge, given, taken);
        let Some(lacking) = taken.get(place) else { return error };
        let error = error.fact(format!("nothing before it gives `{}`", show_one(lacking)));
        let mut alike = given.iter().filter(|value| value.ty == lacking.ty);
        error.help(match (slip(given, taken), alike.next(), alike.next()) {
            (Some((meant, name)), ..) => format!("did you mean `{meant}` where {} has `{name}`?", self.taker),
            (None, Some(one), None) if edge.kind != EdgeKind::Leave => {
                let (node, input, value) = (self.taker.trim_matches('`'), &lacking.name, &one.name);
                format!("if `{value}` is meant, rename it to `{input}`, or write `{node}({input}: {value})`")
            }
            // The last input of a handler is the code of the error.
            _ if place + 1 == taken.len() && lacking.ty == Type::error_code() && lacking.name == "error" => format!(
                "let an earlier step give it, or handle an error: `handle error Node => {};`",
                self.taker.trim_matches('`')
            ),
            _ => format!("let an earlier step give `{}`, or make it an input of the flow", show_one(lacking)),
        })
    }

    /// The error for lists that part at `place`.
    fn mismatch(&self, edge: &Edge, given: &[Parameter], taken: &[Parameter], place: usize) -> Diagnostic {
        let error = self.misfit(edge, given, taken);
        if let Some((meant, name)) = slip(given, taken) {
            return error.help(format!(
                "values that do not fit by position fit by name: did you mean `{meant}` where {} has `{name}`?",
                self.taker
            ));
        }
        explain(error, self, given, taken, place)
    }

    /// The error for lists that do not fit.
    fn misfit(&self, edge: &Edge, given: &[Parameter], taken: &[Parameter]) -> Diagnostic {
        let headline = match edge.kind {
            EdgeKind::Leave if matches!(edge.from, Passed::Of(Port::In(..) | Port::All(_))) => {
                format!("{} has other outputs than inputs, so its flow cannot be empty", self.giver)
            }
            _ => format!("{} does not {} what {} {}", self.giver, self.give, self.taker, self.takes),
        };
        self.mark(Diagnostic::error(ids::EDGE_MISMATCH, headline, edge.to_span), edge, given, taken)
    }

    /// An edge whose lists part at `place`.
    fn spoiled(
        &self,
        diagnostic: Diagnostic,
        edge: &Edge,
        given: &[Parameter],
        taken: &[Parameter],
        place: usize,
    ) -> SpoiledEdge {
        let suspect = |list: &[Parameter], end: Port| match list.get(place) {
            Some(parameter) => Suspect::Parameter(parameter.span),
            None => Suspect::End(end),
        };
        let giver = suspect(given, edge.from.last_port().unwrap_or(edge.to));
        let taker = suspect(taken, edge.to);
        let has_taker = format!("{} {} ({})", self.taker, self.takes, show(taken));
        let has_giver = format!("{} {} ({})", self.giver, self.gives, show(given));
        SpoiledEdge { diagnostic, suspects: [(giver, has_taker), (taker, has_giver)] }
    }

    /// Marks both sides with what passes there. The place to edit is where the values are taken; where that is a
    /// declaration far from the edge (of a source's target, of a flow's outputs) it is where they are given.
    fn mark(&self, mut diagnostic: Diagnostic, edge: &Edge, given: &[Parameter], taken: &[Parameter]) -> Diagnostic {
        let gives = (edge.from_span, format!("{} ({})", self.gives, show(given)));
        let takes = (edge.to_span, format!("{} ({})", self.takes, show(taken)));
        let (first, second) =
            if matches!(edge.kind, EdgeKind::Start | EdgeKind::Leave) { (gives, takes) } else { (takes, gives) };
        diagnostic.primary.span = first.0;
        diagnostic.label(first.1).mark(second.0, second.1)
    }
}

#[cfg(test)]
mod tests {
    use crate::rewrites::bind_edges::bind_edges;
    use flux_diagnostic::Diagnostics;
    use flux_ir::text::parse_program;

    /// The help for a step that takes these inputs after one that gives others.
    fn help(gives: &str, takes: &str) -> String {
        let nodes = format!("node A () => ({gives})\nnode B ({takes}) => ()");
        let mut program =
            parse_program(&format!("program p\n{nodes}\nnode S () => () {{\nflow = A -> B\n}}\n")).unwrap();
        let mut diagnostics = Diagnostics::new();
        bind_edges(&mut program, &mut diagnostics);
        let said = diagnostics.sorted();
        assert_eq!(said.len(), 1, "{said:?}");
        said[0].help.clone().unwrap_or_default()
    }

    #[test]
    fn help_for_a_value_that_nothing_gives_says_what_may_be_meant() {
        let error = "let an earlier step give it, or handle an error: `handle error Node => B;`";
        assert_eq!(help("bool b", "bool b, int error"), error);
        let other = |value: &str| format!("let an earlier step give `{value}`, or make it an input of the flow");
        assert_eq!(help("bool b", "bool b, T *error"), other("T *error"), "a code is an int");
        assert_eq!(help("bool b", "bool b, int code"), other("int code"), "a code is called so");
        assert_eq!(help("bool b", "int error, bool b"), other("int error"), "a code comes last");
        let renamed = "if `x` is meant, rename it to `error`, or write `B(error: x)`";
        assert_eq!(help("bool b, int x, T *t", "T *t, int error"), renamed);
    }
}
