//! The diagnostics of [`crate::rewrites::order_constraints`]: both orders, and the line to change.

use crate::ids;
use crate::rewrites::order_constraints::Escape;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::flow::{Acquisition, Callee, Flow, FunctionId, Step};
use flux_ir::name::Name;
use flux_ir::program::{ConstraintId, Mode, NodeId};
use flux_ir::provenance::Provenance;
use flux_source::Span;

/// A constraint was moved up to a step, whose node takes `own` itself, which does not come before it. It is right for
/// the author to write all that the step takes where that `may_be_written`.
pub fn moved_up(
    flow: &Flow,
    step: &Step,
    (moved, own): (&Acquisition, &Acquisition),
    may_be_written: bool,
    diagnostics: &mut Diagnostics,
) {
    let holder = callee_name(flow, step);
    let taker = node_name(flow, moved.provenance.whom());
    let (name, held) = (constraint(flow, moved.constraint), constraint(flow, own.constraint));
    let headline = format!("`{holder}` takes `{name}`, too, because `{taker}` inside it needs it");
    let mut warning = Diagnostic::warning(ids::CONSTRAINT_MOVED, headline, own.span)
        .label(format!("`{holder}` takes `{held}` here"))
        .mark(moved.span, format!("`{taker}` takes `{name}` inside it"));
    warning = match held == name {
        true => warning.fact(format!("the order of two keys of `{name}` is not known, so both are taken at once")),
        false => warning
            .fact(format!("as written, a flow through `{holder}` takes `{held}` before `{name}`"))
            .fact(format!("constraints are taken in the order of scope and name, which has `{name}` before `{held}`")),
    };
    let instead = match requirements(flow, step).filter(|_| may_be_written) {
        Some(all) => format!("write it yourself: `atomic {holder}: {{{all}}};`"),
        None => format!("if that is not intended, take `{held}` further in, not around `{taker}`"),
    };
    diagnostics.push(warning.help(format!("fewer flows run at once now; {instead}")));
}

/// A function would have to be compiled for more held sets than the `limit`.
pub fn too_many_contexts(flow: &Flow, function: FunctionId, limit: usize, diagnostics: &mut Diagnostics) {
    let node = flow.functions[function].node();
    let name = node_name(flow, node);
    let headline = format!("`{name}` runs with more than {limit} different sets of constraints held");
    let span = node.map_or(Span::default(), |node| flow.program.nodes[node].span);
    let error = Diagnostic::error(ids::TOO_MANY_CONTEXTS, headline, span);
    let fact = "a node is compiled once for each set, because a constraint that is held is not taken again";
    diagnostics.push(error.fact(fact).help(
        "take the constraints in the order of their names, or around the whole flow: then fewer sets make a difference",
    ));
}

/// A key cannot be taken further out, as its value is made in between.
pub fn unreachable_key(flow: &Flow, step: &Step, escape: &Escape, diagnostics: &mut Diagnostics) {
    let wanted = &escape.acquisition;
    let (name, taker) = (constraint(flow, wanted.constraint), node_name(flow, wanted.provenance.whom()));
    let holder = callee_name(flow, step);
    if let Callee::Each(_) = &step.callee {
        let headline =
            format!("`{taker}` needs `{name}` before {holder} begins, but its key is another in each instance");
        let error = Diagnostic::error(ids::KEY_UNREACHABLE, headline, wanted.span)
            .label(format!("taken here by `{taker}`"))
            .mark(step.span, "would have to be taken here, around all instances");
        return diagnostics.push(error.help("take what is held around the step further in, in each instance"));
    }
    let headline = format!("`{taker}` needs `{name}` before `{holder}` begins, but its key is made inside `{holder}`");
    let error = Diagnostic::error(ids::KEY_UNREACHABLE, headline, wanted.span)
        .label(format!("taken here by `{taker}`"))
        .mark(step.span, format!("would have to be taken here, around `{holder}`"));
    diagnostics.push(error.help(format!(
        "make the key before `{holder}` and declare it as an input of `{holder}` and of all nodes between"
    )));
}

/// A row cannot be taken further out, as its key is made in between, so its whole table is.
pub fn whole_table(
    flow: &Flow,
    step: &Step,
    (row, table): (&Acquisition, ConstraintId),
    diagnostics: &mut Diagnostics,
) {
    let (name, taker) = (constraint(flow, table), node_name(flow, row.provenance.whom()));
    let holder = callee_name(flow, step);
    let headline =
        format!("`{holder}` takes all of `{name}`, because the key of `{taker}` inside it is not known before");
    let warning = Diagnostic::warning(ids::WHOLE_TABLE, headline, row.span)
        .label(format!("`{taker}` needs a row of `{name}`"))
        .mark(step.span, format!("has to be taken here, around `{holder}`"));
    diagnostics.push(warning.help(format!(
        "flows that use `{name}` do not run at once now; make the key before `{holder}` and declare it as an input of \
         `{holder}` and of all nodes between"
    )));
}

/// Branches of a parallel step, or instances of an each step, share a hold that only one of them may have.
pub fn serialised(flow: &Flow, step: &Step, shared: ConstraintId, authored: bool, diagnostics: &mut Diagnostics) {
    let name = constraint(flow, shared);
    let (branches, instead) = match step.callee {
        Callee::Each(_) => ("instances", "make it a loop, without a number after the brackets"),
        _ => ("branches", "write `->` instead of `&`"),
    };
    if authored {
        let headline = format!("two {branches} take `{name}`, which is held around the whole step");
        let error = Diagnostic::error(ids::BRANCHES_CONFLICT, headline, step.span);
        diagnostics.push(error.help(format!("let only the {branches} take `{name}`, or {instead}")));
    } else {
        let headline = format!("these {branches} run one after the other, because they share `{name}`");
        let warning = Diagnostic::warning(ids::BRANCHES_SERIALISED, headline, step.span);
        let warning = warning.fact(format!("`{name}` was moved out of the step to prevent a deadlock"));
        diagnostics.push(warning.help(format!("{instead}, or let the {branches} share no constraint")));
    }
}

fn constraint(flow: &Flow, id: ConstraintId) -> &Name {
    &flow.program.constraints[id].name
}

fn node_name(flow: &Flow, node: Option<NodeId>) -> String {
    node.map_or("a branch".to_owned(), |node| flow.program.nodes[node].name.to_string())
}

fn callee_name(flow: &Flow, step: &Step) -> String {
    match &step.callee {
        Callee::Node(node) => flow.program.nodes[*node].name.to_string(),
        Callee::Function(function) => node_name(flow, flow.functions[*function].node()),
        Callee::Fork(_) => "the parallel step".to_owned(),
        Callee::External { external, .. } => flow.program.externals[*external].name.to_string(),
        Callee::Each(_) => "the each step".to_owned(),
    }
}

/// `log, account(from), x?`: what the author would write for the step's node to take all that it takes, in the order of
/// the text, its own before the rest. None where a key has no name there, or a table is held for rows of it that are
/// taken further in: that cannot be written.
fn requirements(flow: &Flow, step: &Step) -> Option<String> {
    let node = &flow.program.nodes[flow.callee_node(&step.callee)?];
    let mut taken: Vec<_> = step.acquire.iter().collect();
    taken.sort_by_key(|one| (one.provenance != Provenance::Author, one.span));
    let requirement = |one: &Acquisition| {
        let written = node.requirements.iter().find(|written| written.span == one.span);
        let passed = || one.key.iter().map(|part| step.inputs.iter().position(|input| input == part)).collect();
        let key: Vec<_> = written.map_or_else(passed, |written| Some(written.key.clone()))?;
        let key: Vec<_> = key.iter().filter_map(|at| node.inputs().get(*at)).map(|it| it.name.clone()).collect();
        let text = flow.program.constraint_text(one.constraint, one.mode, &key);
        let table = flow.program.constraints[one.constraint].table;
        let written = table.map(|table| {
            text.replacen(&*constraint(flow, one.constraint).to_string(), &constraint(flow, table).to_string(), 1)
        });
        Some(written.unwrap_or(text))
    };
    // A row is written by the name of its table, which is held for it.
    let is_row_of = |table: &Acquisition| {
        let rows =
            step.acquire.iter().filter(|one| flow.program.constraints[one.constraint].table == Some(table.constraint));
        rows.count() > 0
    };
    let (for_rows, taken): (Vec<_>, Vec<_>) = taken.into_iter().partition(|one| one.mode == Mode::Intent);
    let all = for_rows.into_iter().all(is_row_of).then_some(taken)?;
    Some(all.into_iter().map(requirement).collect::<Option<Vec<_>>>()?.join(", "))
}
