//! Looks for what is declared and has no effect. Requires: all that other passes establish, because a misspelt name
//! leaves the right one without a use. Establishes: nothing; warns of nodes that nothing names, of flows that no source
//! reaches, and of constraints that only have readers. Declarations of a module are there for other programs too.

use crate::analyses::mentions::named_nodes;
use crate::checks::check_slips::similar_constraints;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Mode, Node, Program};
use flux_source::Span;
use std::collections::HashSet;

/// How many names one warning lists. Programs of 2006 have dozens of such nodes; nobody reads a message for each.
const LISTED: usize = 4;

/// Warns of them. O(size of the program).
pub fn check_uses(program: &Program, diagnostics: &mut Diagnostics) {
    warn_of_readers(program, diagnostics);
    // A program without a source is a module, or not finished.
    if !program.sources.is_empty() {
        warn_of_nodes(program, diagnostics);
    }
}

/// Nothing applies, starts or falls back to such nodes. What only they reach is not said: it comes of them.
fn warn_of_nodes(program: &Program, diagnostics: &mut Diagnostics) {
    // A handler for a node that no flow comes to has a message of its own.
    let used: HashSet<_> = named_nodes(program).collect();
    let unused = program.nodes.iter().filter(|(id, node)| !used.contains(id) && !node.name.is_of_module());
    let (nodes, flows): (Vec<_>, Vec<_>) = unused.map(|(_, node)| node).partition(|node| node.body.is_leaf());
    if let Some((first, names)) = listed(&nodes, "node") {
        let headline = format!("{names} declared and never used");
        let warning = Diagnostic::warning(ids::UNUSED_NODE, headline, first);
        let help = "use it in a flow, or remove the declaration";
        diagnostics.push(warning.help(if nodes.len() == 1 { help } else { "use them in flows, or remove them" }));
    }
    if let Some((first, names)) = listed(&flows, "flow") {
        let headline = format!("{names} reached from no source");
        let warning = Diagnostic::warning(ids::UNREACHED_FLOW, headline, first);
        let name = flows.first().map_or(String::new(), |node| node.name.to_string());
        diagnostics
            .push(warning.help(format!(
                "use it in a flow, make it the target of a source, `source … => {name};`, or remove it"
            )));
    }
}

/// Where the first of `nodes` stands, and a subject for a sentence about all of them: "the node `A` is", "7 nodes,
/// `A`, `B`, `C`, `D` and 3 more, are"; none where there are none.
fn listed(nodes: &[&Node], kind: &str) -> Option<(Span, String)> {
    let first = nodes.iter().min_by_key(|node| node.span)?;
    if nodes.len() == 1 {
        return Some((first.span, format!("the {kind} `{}` is", first.name)));
    }
    let names: Vec<_> = nodes.iter().take(LISTED).map(|node| format!("`{}`", node.name)).collect();
    let (last, before) = names.split_last()?;
    let list = match nodes.len() - names.len() {
        0 => format!("{} and {last}", before.join(", ")),
        more => format!("{} and {more} more", names.join(", ")),
    };
    Some((first.span, format!("{} {kind}s, {list}, are", nodes.len())))
}

/// Readers exclude writers alone, so without a writer the constraint excludes nobody.
fn warn_of_readers(program: &Program, diagnostics: &mut Diagnostics) {
    let requirements = program.nodes.iter().flat_map(|(_, node)| &node.requirements);
    let written: HashSet<_> =
        requirements.filter(|one| one.mode == Mode::Write).map(|requirement| requirement.constraint).collect();
    // A misspelt one has a message of its own, and so has the other that lacks it.
    let misspelt: HashSet<_> = similar_constraints(program).into_iter().flat_map(|(one, other)| [one, other]).collect();
    // A table has its rows to change, and who only reads it waits for those that a node in C++ may change.
    let tables: HashSet<_> = program.constraints.iter().filter_map(|(_, one)| one.table).collect();
    for (id, constraint) in program.constraints.iter() {
        let is_of_state = constraint.table.is_some() || tables.contains(&id);
        if written.contains(&id) || misspelt.contains(&id) || constraint.name.is_of_module() || is_of_state {
            continue;
        }
        let name = &constraint.name;
        let headline = format!("`{name}` has only readers, so it has no effect");
        let warning = Diagnostic::warning(ids::ONLY_READERS, headline, constraint.span);
        diagnostics.push(
            warning.help(format!("make the node that changes it a writer, `atomic Node:{{{name}}};`, or remove it")),
        );
    }
}
