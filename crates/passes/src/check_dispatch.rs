//! Checks the lines of every dispatch. Requires: every signature is known. Establishes: as many patterns as inputs.

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
    let mut catch_all: Option<&Line> = None;
    for line in lines {
        if !line.patterns.is_empty() && line.patterns.len() != inputs {
            let headline =
                format!("`{}` takes {inputs} values, but this line has {} patterns", node.name, line.patterns.len());
            let error =
                Diagnostic::error(ids::PATTERN_COUNT, headline, line.span).mark(node.span, "its inputs are given here");
            diagnostics.push(error.help("write one pattern for each input, `_` where any value will do"));
            return;
        }
        if let Some(earlier) = catch_all {
            let headline = format!("this line of `{}` is never reached", node.name);
            let warning = Diagnostic::warning(ids::UNREACHABLE_LINE, headline, line.span);
            diagnostics.push(
                warning
                    .mark(earlier.span, "this line takes whatever comes")
                    .help("lines are tried in textual order: put the catch-all last"),
            );
        } else if line.patterns.iter().all(Option::is_none) {
            catch_all = Some(line);
        }
    }
    if let (None, Some(last)) = (catch_all, lines.last()) {
        let headline = format!("a value that no line of `{}` matches fails there", node.name);
        let wildcards = vec!["_"; inputs].join(", ");
        let warning = Diagnostic::warning(ids::NO_CATCH_ALL, headline, last.span).label("the last line");
        diagnostics
            .push(warning.help(format!("add a line that takes whatever comes: `{}:[{wildcards}] = …;`", node.name)));
    }
}
