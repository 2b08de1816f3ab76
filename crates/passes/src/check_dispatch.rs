//! Checks the lines of every dispatch. Requires: every signature is known. Establishes: as many patterns as inputs.

use crate::fit::{count, whole};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Body, Line, Node, Program};

/// Reports lines with too few or too many patterns, lines that cannot be reached, and dispatches without a catch-all.
pub fn check_dispatch(program: &Program, diagnostics: &mut Diagnostics) {
    for (_, node) in program.nodes.iter() {
        if let Body::Dispatch(lines) = &node.body {
            check_lines(node, lines, diagnostics);
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
            .help("write one pattern for each input, `_` where any value will do");
        diagnostics.push(match whole(node.inputs()) {
            Some(span) => error.mark(span, format!("what `{}` takes", node.name)),
            None => error,
        });
        return;
    }
    let mut rest = lines.iter().skip_while(|line| !line.patterns.iter().all(Option::is_none));
    let catch_all = rest.next();
    if let (Some(catch_all), Some(line)) = (catch_all, rest.next()) {
        let headline = format!("this line of `{}` is never reached", node.name);
        let warning = Diagnostic::warning(ids::UNREACHABLE_LINE, headline, line.span)
            .mark(catch_all.span, "this line takes whatever comes");
        diagnostics.push(warning.help("lines are tried in textual order: put the one that takes whatever comes last"));
    }
    if let (None, Some(last)) = (catch_all, lines.last()) {
        let headline = format!("a value that no line of `{}` matches fails there", node.name);
        let wildcards = vec!["_"; inputs].join(", ");
        let warning = Diagnostic::warning(ids::NO_CATCH_ALL, headline, last.span).label("the last line");
        diagnostics
            .push(warning.help(format!("add a line that takes whatever comes: `{}:[{wildcards}] = …;`", node.name)));
    }
}
