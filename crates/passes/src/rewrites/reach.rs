//! Reach: if the step before has no value of an input's name and type, the input takes the latest value of that name
//! and type in the same flow.
//!
//! This applies only if neither position nor name fits. A value found so is reported as a note. There are two errors,
//! for cases in which the value found is hardly what was meant: the step before gives a value of the same type under
//! another name, or of the same name with another type, and nothing takes that; or there are two values of the name,
//! and the later one was not made from the earlier ([`VisibleValues::reach`]). Whether something takes a value is known
//! only when the whole flow is bound. So the messages wait in [`Findings`] until then; so do those about what an edge
//! drops that fits by name.

use crate::analyses::edges::{Edge, EdgeKind};
use crate::analyses::fit::{Misfit, show_names, show_one};
use crate::analyses::visible_values::{Made, Missing, VisibleValues};
use crate::ids;
use crate::rewrites::edge_diagnostics::{SpoiledEdge, by_name, ends, spoiled};
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Action, Argument, Chain, Parameter, Program};
use flux_source::{Span, deep};
use std::collections::HashSet;

/// What there is to say of the edges of one flow, once it is known which values its steps take.
#[derive(Default)]
pub struct Findings<'a> {
    all: Vec<Finding<'a>>,
}

/// What the step before gives, each value with what names it.
#[derive(Clone, Copy)]
pub struct Before<'b> {
    /// The values.
    pub values: &'b [Parameter],
    /// Their names, one for each.
    pub arguments: &'b [Argument],
}

/// An edge that drops values, or whose end reaches some.
struct Finding<'a> {
    edge: Edge,
    /// What the step before gives.
    given: Vec<Parameter>,
    arguments: Vec<Argument>,
    /// What is taken.
    taken: Vec<Parameter>,
    found: Found<'a>,
}

enum Found<'a> {
    /// By name; whether some of the given are not taken there.
    ByName(bool),
    /// These are reached; and why the edge does not fit without.
    Reached(Vec<Made<'a>>, Misfit),
}

/// What is said of an edge.
enum Said {
    Diagnostic(Diagnostic),
    /// That it does not fit.
    Spoiled(SpoiledEdge),
}

/// Why a list of values is not reached.
pub enum Unreached {
    /// As this says.
    Because(Box<Diagnostic>),
    /// The edge does not fit.
    Misfit(Misfit),
}

/// The values that are `taken`, some of which the step before gives and others are reached.
///
/// # Errors
///
/// One of them cannot be had.
pub fn reach<'a>(
    program: &Program,
    (edge, misfit): (&Edge, Misfit),
    before: Before<'_>,
    taken: &[Parameter],
    visible: &mut VisibleValues<'a>,
    findings: &mut Findings<'a>,
) -> Result<Vec<Argument>, Unreached> {
    let (mut bound, mut reached, mut error, mut lacks) = (vec![], vec![], None, None);
    for (position, wanted) in taken.iter().enumerate() {
        let mut given = before.values.iter().zip(before.arguments);
        if let Some((_, argument)) = given.find(|(value, _)| wanted.takes(value)) {
            bound.push(argument.clone());
            continue;
        }
        match visible.reach(wanted) {
            Ok(made) => {
                bound.push(made.argument.clone());
                reached.push(made);
            }
            Err(Missing::Unknown | Missing::Type(_)) => lacks = lacks.or(Some(position)),
            Err(missing) => error = error.or_else(|| describe_missing(program, edge, wanted, missing)),
        }
    }
    if let Some(position) = lacks {
        // As many as are taken were meant to fit by position.
        let is_by_name = !bound.is_empty() && before.values.len() != taken.len();
        return Err(Unreached::Misfit(if is_by_name { Misfit::Lacks(position) } else { misfit }));
    }
    if let Some(error) = error {
        return Err(Unreached::Because(Box::new(error)));
    }
    findings.add(edge, before, taken, Found::Reached(reached, misfit));
    Ok(bound)
}

impl<'a> Findings<'a> {
    /// Notes an edge that fits by name, and whether it drops something.
    pub fn fits_by_name(&mut self, edge: &Edge, before: Before<'_>, taken: &[Parameter], drops: bool) {
        self.add(edge, before, taken, Found::ByName(drops));
    }

    fn add(&mut self, edge: &Edge, before: Before<'_>, taken: &[Parameter], found: Found<'a>) {
        let (given, arguments, taken) = (before.values.to_vec(), before.arguments.to_vec(), taken.to_vec());
        self.all.push(Finding { edge: edge.clone(), given, arguments, taken, found });
    }

    /// Says it all, of the flow whose chain is bound.
    pub fn report(
        self,
        program: &Program,
        chain: &Chain,
        diagnostics: &mut Diagnostics,
        spoiled: &mut Vec<SpoiledEdge>,
    ) {
        if self.all.is_empty() {
            return;
        }
        let used = Used::of(chain);
        for said in self.all.iter().filter_map(|finding| finding.describe(program, &used)) {
            match said {
                Said::Diagnostic(diagnostic) => diagnostics.push(diagnostic),
                Said::Spoiled(edge) => spoiled.push(edge),
            }
        }
    }
}

/// The values that a flow takes.
struct Used {
    values: HashSet<Argument>,
    /// Whether all of the flow is bound. If not, something else may be meant to take a value.
    is_known: bool,
}

impl Used {
    fn of(chain: &Chain) -> Self {
        let mut used = Self { values: HashSet::new(), is_known: true };
        used.add(chain.results.as_deref());
        used.chain(chain);
        used
    }

    fn add(&mut self, arguments: Option<&[Argument]>) {
        self.is_known &= arguments.is_some();
        self.values.extend(arguments.unwrap_or_default().iter().cloned());
    }

    /// Goes back along a chain: what a branch gives is used if the parallel step's is, which is seen by then.
    fn chain(&mut self, chain: &Chain) {
        deep(|| {
            for step in chain.steps.iter().rev() {
                match &step.action {
                    Action::Apply(application) => self.add(application.arguments.as_deref()),
                    Action::Parallel(parallel) => {
                        let results = parallel.branches.iter().flat_map(|branch| branch.results.iter().flatten());
                        for (index, result) in results.enumerate() {
                            if self.values.contains(&Argument::Output(step.number, index)) {
                                self.values.insert(result.clone());
                            }
                        }
                        parallel.branches.iter().for_each(|branch| self.chain(branch));
                    }
                    Action::Each(each) => {
                        let Some(values) = &each.values else {
                            self.is_known = false;
                            continue;
                        };
                        self.values.insert(values.list.clone());
                        for (index, result) in each.chain.results.iter().flatten().enumerate() {
                            let is_handed_on = values.carried.iter().any(|one| one.0 == index);
                            if is_handed_on || self.values.contains(&Argument::Output(step.number, index)) {
                                self.values.insert(result.clone());
                            }
                        }
                        self.chain(&each.chain);
                    }
                }
            }
        })
    }
}

impl Finding<'_> {
    fn describe(&self, program: &Program, used: &Used) -> Option<Said> {
        let given = self.given.iter().zip(&self.arguments);
        // What a later step takes is not lost.
        let lost: Vec<_> = given.filter(|(_, argument)| !used.values.contains(argument)).map(|(one, _)| one).collect();
        match &self.found {
            // Nor is it known what is, before all is bound.
            Found::ByName(true) if lost.is_empty() || !used.is_known => None,
            Found::ByName(_) => Some(Said::Diagnostic(by_name(program, &self.edge, &self.given, &self.taken, &lost))),
            Found::Reached(reached, misfit) => {
                let is_called = |made: &Made<'_>| lost.iter().any(|value| value.name == made.parameter.name);
                if used.is_known && reached.iter().any(is_called) {
                    return Some(Said::Spoiled(spoiled(program, &self.edge, &self.given, &self.taken, *misfit)));
                }
                let of_type = |made: &Made<'_>| lost.iter().copied().find(|value| value.ty == made.parameter.ty);
                let slip = reached.iter().find_map(|made| Some((made, of_type(made).filter(|_| used.is_known)?)));
                Some(Said::Diagnostic(match slip {
                    Some((made, other)) => self.describe_slip(program, made, other),
                    None => self.describe_reached(program, reached, &lost),
                }))
            }
        }
    }

    fn describe_reached(&self, program: &Program, reached: &[Made<'_>], lost: &[&Parameter]) -> Diagnostic {
        let values: Vec<_> =
            reached.iter().map(|made| format!("`{}` of `{}`", made.parameter.name, made.maker)).collect();
        let without = match lost {
            [] => String::new(),
            some => format!(", without {}", show_names(some)),
        };
        let headline = format!("{} reaches back for {}{without}", taker(program, &self.edge), values.join(", "));
        let mut note = Diagnostic::note(ids::REACHED, headline, taken_at(&self.edge));
        let mut seen = HashSet::new();
        for made in reached.iter().filter(|made| seen.insert(made.span)) {
            note = note.mark(made.span, "made here");
        }
        note
    }

    fn describe_slip(&self, program: &Program, made: &Made<'_>, other: &Parameter) -> Diagnostic {
        let (taker, wanted) = (taker(program, &self.edge), made.parameter);
        let (giver, _) = ends(program, &self.edge);
        let headline =
            format!("{taker} reaches back for `{}`, but nothing takes `{}` of {giver}", wanted.name, show_one(other));
        let error = Diagnostic::error(ids::REACH_SLIP, headline, taken_at(&self.edge));
        let error = error.mark(made.span, format!("`{}` is made here", wanted.name));
        let error = error.mark(other.span, format!("`{}` is given here", other.name));
        error.help(match self.edge.kind {
            EdgeKind::Leave => format!(
                "if `{other}` is meant, rename it to `{wanted}` where it is given; otherwise do not give it",
                other = other.name,
                wanted = wanted.name
            ),
            _ => format!(
                "write which one is meant: {}, or {}",
                explicit(program, &self.edge, wanted, &wanted.name),
                explicit(program, &self.edge, wanted, &other.name)
            ),
        })
    }
}

/// What is wrong about a value that is there and cannot be had.
fn describe_missing(program: &Program, edge: &Edge, wanted: &Parameter, missing: Missing<'_>) -> Option<Diagnostic> {
    let (taker, name) = (taker(program, edge), &wanted.name);
    let gone = |headline: String| Diagnostic::error(ids::REACH_GONE, headline, taken_at(edge));
    Some(match missing {
        Missing::Unknown | Missing::Type(_) => return None,
        Missing::Taken(by) => {
            let error = gone(format!("`{by}` took `{name}` and did not give it back, so {taker} cannot reach it"));
            let why = match wanted.ty.is_move_only() {
                true => format!("{:#} cannot be copied", wanted.ty),
                false => "a step that takes a pointer may destroy what it points to".to_owned(),
            };
            error.fact(why).help(format!("let `{by}` give it back: `=> ({})`", show_one(wanted)))
        }
        Missing::Uncopied(_) => {
            let error =
                gone(format!("a branch gets copies, and `{name}` cannot be copied, so {taker} cannot reach it"));
            error
                .fact(format!("{:#} cannot be copied", wanted.ty))
                .help("take it before the parallel step, or after it")
        }
        Missing::Two(earlier, later) => {
            let headline = format!("{taker} could reach back for two values called `{name}`");
            let error = Diagnostic::error(ids::REACH_AMBIGUOUS, headline, taken_at(edge));
            let error = error.mark(earlier.span, "one is made here");
            let error = error.mark(later.span, "the other here, and not from it");
            error.help(match edge.kind {
                EdgeKind::Leave => "give one of them another name".to_owned(),
                _ => format!(
                    "give one of them another name, or, if the later one is meant, write {}",
                    explicit(program, edge, wanted, name)
                ),
            })
        }
    })
}

/// "`Send`", or "the end of `Page`", whose outputs are taken there.
fn taker(program: &Program, edge: &Edge) -> String {
    let (_, taker) = ends(program, edge);
    if edge.kind == EdgeKind::Leave { format!("the end of {taker}") } else { taker }
}

/// Where the values are taken; those that a flow gives are taken from its last step.
fn taken_at(edge: &Edge) -> Span {
    if edge.kind == EdgeKind::Leave { edge.from_span } else { edge.to_span }
}

/// `` `Send(socket: backend)` ``
fn explicit(program: &Program, edge: &Edge, wanted: &Parameter, value: &str) -> String {
    format!("`{}({}: {value})`", program.nodes[edge.to.node()].name, wanted.name)
}
