//! Looks for misspelt names. Requires: resolved. Establishes: if a node is named only once, without a declaration or a
//! flow, its name is not close to one that has either; the same holds for functions that handle errors. Without this
//! check a signature could be inferred for the misspelt name, and only the linker would complain. Warns of constraints
//! that are named once and close to another name.

use crate::analyses::mentions::named_nodes;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics, nearest, nearest_within};
use flux_ir::name::Name;
use flux_ir::program::{ConstraintId, Handler, Node, NodeId, Program};
use flux_source::Span;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Names shorter than this are too alike to tell a slip from intention.
const COMPARED_LENGTH: usize = 4;

/// Among more nodes than this none is looked for, as each is compared with each.
const NODES_LIMIT: usize = 2000;

/// Among more constraints than this none is looked for, as each is compared with each.
const CONSTRAINTS_LIMIT: usize = 500;

/// Reports such names. O(names that are named once · names).
pub fn check_slips(program: &Program, diagnostics: &mut Diagnostics) {
    if program.nodes.len() <= NODES_LIMIT {
        check_nodes(program, diagnostics);
        check_handlers(program, diagnostics);
    }
    for (id, meant) in similar_constraints(program) {
        let (constraint, other) = (&program.constraints[id], &program.constraints[meant]);
        let headline = format!("the constraint `{}` is used only here", constraint.name);
        let warning = Diagnostic::warning(ids::SIMILAR_CONSTRAINT, headline, constraint.span);
        let warning = warning.mark(other.span, "a similar name");
        diagnostics.push(warning.help(format!("did you mean `{}`?", other.name)));
    }
}

fn check_nodes(program: &Program, diagnostics: &mut Diagnostics) {
    let held = program.nodes.iter().filter(|(_, node)| !node.requirements.is_empty()).map(|(id, _)| id);
    let counts = counts(named_nodes(program).chain(held));
    for (id, node) in program.nodes.iter() {
        if !is_defined(node) && counts.get(&id) == Some(&1) {
            check(program, &node.name, node.span, &[], None, diagnostics);
        }
    }
}

/// A handler that is no node is a function in C++, and nobody need declare it. So only what is one slip away from a
/// node is meant to be that, and not the node whose errors it handles: `NoImage` and `Image` are two.
fn check_handlers(program: &Program, diagnostics: &mut Diagnostics) {
    let function = |handler: &Handler| handler.target.external();
    let counts = counts(program.handlers.iter().filter_map(function));
    for handler in &program.handlers {
        let Some(function) = function(handler).filter(|function| counts.get(function) == Some(&1)) else { continue };
        let name = &program.externals[function].name;
        check(program, name, handler.span, &handler.path, Some(1), diagnostics);
    }
}

/// Reports `name`, which stands only at `span`, if it is nearly that of a defined node that is not one of `others`: by
/// at most so many slips, or as [`nearest`] has it.
fn check(
    program: &Program,
    name: &Name,
    span: Span,
    others: &[Option<NodeId>],
    slips: Option<usize>,
    diagnostics: &mut Diagnostics,
) {
    if name.own().len() < COMPARED_LENGTH {
        return;
    }
    // `Step1` and `Step2` are meant to be two.
    let letters = |name: &Name| name.own().chars().filter(|one| !one.is_ascii_digit()).collect::<String>();
    let is_candidate = |(id, node): &(NodeId, &Node)| {
        let is_meant = others.contains(&Some(*id)) || letters(&node.name) == letters(name);
        is_defined(node) && !is_meant && node.name.module() == name.module()
    };
    let candidates: Vec<_> = program.nodes.iter().filter(is_candidate).map(|(_, node)| node).collect();
    let words = candidates.iter().map(|node| node.name.own());
    let found = match slips {
        Some(limit) => nearest_within(limit, name.own(), words),
        None => nearest(name.own(), words),
    };
    let Some(meant) = found.and_then(|own| candidates.iter().find(|node| node.name.own() == own)) else { return };
    let headline = format!("`{name}` is used only here, and is not declared");
    let error = Diagnostic::error(ids::SIMILAR_NODE, headline, span);
    let error = error.mark(meant.span, "a similar name");
    diagnostics.push(error.help(format!("did you mean `{}`? Otherwise declare it: `{name} (…) => (…);`", meant.name)));
}

fn is_defined(node: &Node) -> bool {
    node.signature.is_some() || !node.body.is_external()
}

fn counts<T: Eq + Hash>(names: impl Iterator<Item = T>) -> HashMap<T, usize> {
    let mut counts = HashMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    counts
}

/// The constraints that are named once and nearly like another, each with that: two names are two things, and a
/// misspelt one excludes nobody. Of two that are both named once, only the later is there.
pub(crate) fn similar_constraints(program: &Program) -> Vec<(ConstraintId, ConstraintId)> {
    if program.constraints.len() > CONSTRAINTS_LIMIT {
        return vec![];
    }
    let requirements = program.nodes.iter().flat_map(|(_, node)| &node.requirements);
    let counts = counts(requirements.map(|requirement| requirement.constraint));
    let single: HashSet<_> = counts.into_iter().filter(|(_, count)| *count == 1).map(|(id, _)| id).collect();
    let mut found = vec![];
    for (id, constraint) in program.constraints.iter().filter(|(id, _)| single.contains(id)) {
        let name = &constraint.name;
        let mut alike = program.constraints.iter().filter(|(other, constraint)| {
            let is_of_it = name.module() == constraint.name.module();
            *other != id && is_of_it && is_slip(name.own(), constraint.name.own())
        });
        let meant = alike.find(|(other, _)| *other < id || !single.contains(other));
        found.extend(meant.map(|(meant, _)| (id, meant)));
    }
    found
}

/// Whether the names differ by one slip of the hand: in case, by a letter too many, too few or wrong, or by two
/// neighbours exchanged. `table_a` and `table_b`, or `lock1` and `lock2`, do not: a last letter alone, and any digit,
/// is changed on purpose. Linear in the shorter name.
fn is_slip(left: &str, right: &str) -> bool {
    let (left, right) = if left.len() <= right.len() {
        (left.as_bytes(), right.as_bytes())
    } else {
        (right.as_bytes(), left.as_bytes())
    };
    if left.len() < COMPARED_LENGTH {
        return false;
    }
    // One of them is the plural of the other: `entry`, `entries`; `class`, `classes`.
    let is_plural = |ending: &[u8], of: &[u8]| {
        right.strip_suffix(ending).is_some_and(|stem| left.strip_suffix(of).is_some_and(|own| own == stem))
    };
    if is_plural(b"ies", b"y") || is_plural(b"es", b"") {
        return true;
    }
    if right.len() - left.len() > 1 {
        return false;
    }
    let same = |(a, b): &(&u8, &u8)| a.eq_ignore_ascii_case(b);
    let prefix = left.iter().zip(right).take_while(same).count();
    let suffix = left.iter().rev().zip(right.iter().rev()).take_while(same).count();
    let (left_rest, right_rest) = (left.get(prefix..).unwrap_or(&[]), right.get(prefix..).unwrap_or(&[]));
    match (left_rest, right_rest) {
        ([], []) => true,
        ([a, b, ..], [c, d, ..]) if a.eq_ignore_ascii_case(d) && b.eq_ignore_ascii_case(c) => {
            prefix + 2 + suffix >= left.len()
        }
        ([_], [_]) => false,
        (_, [added, ..]) if left.len() < right.len() => prefix + suffix >= left.len() && !added.is_ascii_digit(),
        ([a, ..], [b, ..]) => prefix + suffix + 1 >= left.len() && !a.is_ascii_digit() && !b.is_ascii_digit(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_ir::text::parse_program;

    /// What is said of a program with these lines: the name that is meant, where one is.
    fn meant(lines: &str) -> Vec<String> {
        let program =
            parse_program(&format!("program p\nnode Image () => ()\nnode Step1 () => ()\n{lines}\n")).unwrap();
        let mut diagnostics = Diagnostics::new();
        check_slips(&program, &mut diagnostics);
        let name =
            |one: &Diagnostic| one.help.clone().unwrap_or_default().split('`').nth(1).unwrap_or_default().to_owned();
        diagnostics.sorted().into_iter().map(name).collect()
    }

    #[test]
    fn a_name_that_is_used_once_is_a_slip_where_another_is_near() {
        let flow = |steps: &str, node: &str| meant(&format!("node F () => () {{\nflow = {steps}\n}}\nnode {node}"));
        let applied = |node: &str| flow(node, node);
        assert_eq!(applied("Imaeg"), ["Image"]);
        assert_eq!(applied("Step"), [""; 0], "it differs only in digits");
        assert_eq!(applied("Step2"), [""; 0], "it differs only in digits");
        assert_eq!(applied("Stop1"), ["Step1"]);
        assert_eq!(flow("Imaeg -> Imaeg", "Imaeg"), [""; 0], "it is used twice");
    }

    #[test]
    fn a_function_that_handles_errors_is_not_the_node_whose_errors_it_handles() {
        let handled = |path: &str, function: &str| meant(&format!("handle error {path} => function {function}"));
        assert_eq!(handled("Step1", "Images"), ["Image"]);
        assert_eq!(handled("Image", "Images"), [""; 0]);
        assert_eq!(handled("Image -> Step1", "Images"), [""; 0]);
        assert_eq!(handled("Image -> Step1", "Stop1"), [""; 0]);
        assert_eq!(handled("Image", "Stop1"), ["Step1"]);
        assert_eq!(handled("Image", "Step2"), [""; 0], "it differs only in digits");
        assert_eq!(handled("Step1", "NoImage"), [""; 0], "it is two slips away");
    }

    #[test]
    fn slips_are_told_from_intention() {
        for (left, right) in [
            ("cache", "cahce"),
            ("cache", "Cache"),
            ("cache", "caches"),
            ("account", "acount"),
            ("cache", "cacge"),
            ("cache", "ccache"),
            ("index", "indxe"),
            ("entry", "entries"),
            ("class", "classes"),
        ] {
            assert!(is_slip(left, right) && is_slip(right, left), "{left} {right}");
        }
        for (left, right) in [
            ("x", "y"),
            ("lock1", "lock2"),
            ("table_a", "table_b"),
            ("cache", "cache2"),
            ("cache", "state"),
            ("users", "groups"),
            ("abc", "abd"),
            ("shard10", "shard1"),
            ("in_queue", "queue"),
        ] {
            assert!(!is_slip(left, right) && !is_slip(right, left), "{left} {right}");
        }
    }
}
