//! Checks the lines of every dispatch. Requires: every signature is known. Establishes: as many patterns as inputs, and
//! computed ones for values of their types.

use crate::analyses::fit::{count, whole};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Body, Line, Node, Program};
use std::collections::HashSet;

/// Of a dispatch with more lines than this only those after a catch-all are found to be never reached.
const COMPARISON_LIMIT: usize = 500;

/// Reports lines with too few or too many patterns, lines that cannot be reached, and dispatches without a catch-all.
pub fn check_dispatch(program: &Program, diagnostics: &mut Diagnostics) {
    for (_, node) in program.nodes.iter() {
        if let Body::Dispatch(lines) = &node.body {
            check_lines(node, lines, diagnostics);
            lines.iter().for_each(|line| check_types(program, node, line, diagnostics));
        }
    }
}

fn check_lines(node: &Node, lines: &[Line], diagnostics: &mut Diagnostics) {
    let inputs = node.inputs().len();
    let is_wrong = |line: &&Line| !line.patterns.is_empty() && line.patterns.len() != inputs;
    if let Some(line) = lines.iter().find(is_wrong) {
        // Where the declaration is what is wrong, every line is: one message will do.
        let (takes, has) = (count(inputs, "value"), count(line.patterns.len(), "pattern"));
        let headline = format!("`{}` takes {takes}, but this line has {has}", node.name);
        let error = Diagnostic::error(ids::PATTERN_COUNT, headline, line.span)
            .help("write one pattern for each input, `_` to match any value");
        diagnostics.push(match whole(node.inputs()) {
            Some(span) => error.mark(span, format!("what `{}` takes", node.name)),
            None => error,
        });
        return;
    }
    check_reached(node, lines, diagnostics);
    let has_catch_all = lines.iter().any(is_catch_all);
    if let (false, Some(last)) = (has_catch_all, lines.last()) {
        let headline = format!("`{}` fails for values that no line matches", node.name);
        let wildcards = vec!["_"; inputs].join(", ");
        let warning = Diagnostic::warning(ids::NO_CATCH_ALL, headline, last.span).label("the last line");
        diagnostics
            .push(warning.help(format!("add a line that matches everything: `{}:[{wildcards}] = …;`", node.name)));
    }
}

/// Reports patterns that are computed of a value of another type. What a function in C++ takes, C++ knows.
fn check_types(program: &Program, node: &Node, line: &Line, diagnostics: &mut Diagnostics) {
    for (pattern, input) in line.patterns.iter().zip(node.inputs()) {
        let Some(predicate) = pattern.map(|pattern| &program.predicates[pattern]) else { continue };
        let Some(computed) = predicate.computed().filter(|computed| computed.input.ty != input.ty) else {
            continue;
        };
        let (asked, given) = (&computed.input.ty, &input.ty);
        let headline = format!("`{}` tests {asked:#}, but `{}` is {given:#}", predicate.name, input.name);
        let error = Diagnostic::error(ids::PATTERN_TYPE, headline, line.span);
        let error = error.mark(computed.input.span, "the value that it tests");
        diagnostics.push(error.help("move the pattern to another input, or declare a predicate type for this type"));
    }
}

/// Reports lines that are never taken, as an earlier one takes all that they would. Of several that the same line
/// covers, the first is reported: that line is what is in the wrong place.
fn check_reached(node: &Node, lines: &[Line], diagnostics: &mut Diagnostics) {
    let mut told = HashSet::new();
    let compared = lines.len() <= COMPARISON_LIMIT;
    let covering: Vec<_> = lines.iter().enumerate().filter(|(_, line)| compared || is_catch_all(line)).collect();
    for (index, line) in lines.iter().enumerate() {
        let earlier = covering.iter().take_while(|(other, _)| *other < index);
        let Some((place, cover)) = earlier.copied().find(|(_, other)| covers(other, line)) else { continue };
        if !told.insert(place) {
            continue;
        }
        let headline = format!("this line of `{}` is never reached", node.name);
        let (label, help) = match is_catch_all(cover) {
            true => ("this line matches everything", "put the line that matches everything last"),
            false => (
                "this line matches all that it could match",
                "put the line with fewer types after the other, or remove one",
            ),
        };
        let warning = Diagnostic::warning(ids::UNREACHABLE_LINE, headline, line.span).mark(cover.span, label);
        diagnostics.push(warning.help(format!("lines are tried in textual order: {help}")));
    }
}

fn is_catch_all(line: &Line) -> bool {
    line.patterns.iter().all(Option::is_none)
}

/// Whether whatever matches `line` matches `earlier`.
fn covers(earlier: &Line, line: &Line) -> bool {
    is_catch_all(earlier)
        || earlier.patterns.len() == line.patterns.len()
            && earlier.patterns.iter().zip(&line.patterns).all(|(one, other)| one.is_none() || one == other)
}
