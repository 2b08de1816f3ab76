//! Functions that can end without a return statement: their result would be whatever is left in a register.
//!
//! Compilers warn of them, and an optimising compiler generates no code after such a function's last statement: the
//! server would run on into the next function. So flux makes the warning an error, except for sources of 2006, in whose
//! time it worked.

use crate::node_source::NodeSource;
use crate::{Build, NOWHERE, ids, without_colours};
use flux_diagnostic::{Diagnostic, Diagnostics};
use std::collections::BTreeSet;

/// Says which functions end without a return, as far as the compilers `said` so.
pub fn report(said: &str, build: &Build<'_>, diagnostics: &mut Diagnostics) {
    for (path, line) in warnings(said) {
        let place = build.node_line(&path, line);
        let function = place.and_then(|(source, _)| ends(source, &BTreeSet::from([line])).first().map(|one| one.1));
        let headline = match (function, place) {
            (Some(name), _) => format!("the function `{name}` can end without a return"),
            (None, Some(_)) => "a function can end without a return".to_owned(),
            (None, None) => format!("a function can end without a return: {path}, line {line}"),
        };
        let error = Diagnostic::error(ids::MISSING_RETURN, headline, place.map_or(NOWHERE, |(_, span)| span));
        diagnostics.push(error.help("a node returns 0 for success, and an error code otherwise"));
    }
}

/// The files and the lines of the compilers' warnings about missing returns.
pub fn warnings(said: &str) -> impl Iterator<Item = (String, u32)> {
    said.lines().filter_map(warning)
}

/// What the compilers `said` but for their words about missing returns, which are no mistake of an author of 2006, and
/// of today's are said otherwise: each is a line, with that of the function before it if nothing else is said of that,
/// and the text it means after it, indented.
pub fn without_warnings(said: &str) -> String {
    let mut kept = String::new();
    let file = |line: &str| line.split(':').next().map(str::to_owned);
    let mut function: Option<&str> = None;
    let mut is_warning = false;
    // Clang shows the text without indenting it: two lines.
    let mut shown_by_clang = 0;
    for line in said.split_inclusive('\n') {
        let plain = without_colours(line);
        if warning(line).is_some() || is_warning && (plain.starts_with(' ') || shown_by_clang > 0) {
            let is_of_clang = plain.contains("non-void function does not return a value");
            shown_by_clang = if is_of_clang { 2 } else { shown_by_clang - i32::from(shown_by_clang > 0) };
            is_warning = true;
            continue;
        }
        is_warning = false;
        let is_function = [": In ", ": At "].iter().any(|word| plain.contains(word)) && plain.trim_end().ends_with(':');
        kept.extend(function.take().filter(|one| !is_function && file(&without_colours(one)) == file(&plain)));
        if is_function {
            function = Some(line);
        } else {
            kept += line;
        }
    }
    kept
}

/// The file and the line of a warning about a missing return: `../../nodes.cpp:7:1: warning: no return statement in
/// function returning non-void [-Wreturn-type]`, whatever its colours.
fn warning(line: &str) -> Option<(String, u32)> {
    let plain = without_colours(line);
    if !["-Wreturn-type]", "-Werror=return-type]"].iter().any(|flag| plain.contains(flag)) {
        return None;
    }
    let mut parts = plain.split(':');
    Some((parts.next()?.to_owned(), parts.next()?.parse().ok()?))
}

/// The closing braces of the functions in these lines that return something, and their names.
pub fn ends<'source>(source: &'source NodeSource, lines: &BTreeSet<u32>) -> Vec<(usize, &'source str)> {
    let mut found = vec![];
    for function in &source.functions {
        let returns = !function.result.is_empty() && !function.result.split(' ').any(|word| word == "void");
        let last = function.body.end.saturating_sub(1);
        let (from, to) = (source.line_of(function.body.start), source.line_of(last));
        if (returns || function.result.contains('*')) && lines.range(from..=to).next().is_some() {
            found.push((last, function.name.as_str()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_read_in_colour_and_without() {
        let plain = "../../a.cpp:7:1: warning: no return statement in function returning non-void [-Wreturn-type]";
        let color = "\x1b[01m\x1b[K../a.cpp:12:39:\x1b[m\x1b[K \x1b[01;35m\x1b[Kwarning: \x1b[m\x1b[Kcontrol \
                     [\x1b[01;35m\x1b[K-Wreturn-type\x1b[m\x1b[K]";
        assert_eq!(warning(plain), Some(("../../a.cpp".to_owned(), 7)));
        assert_eq!(warning(color), Some(("../a.cpp".to_owned(), 12)));
        assert_eq!(warning("a.cpp:7:1: warning: unused variable [-Wunused-variable]"), None);
    }

    #[test]
    fn warnings_are_left_out_where_something_else_is_wrong() {
        let said = "a.cpp: In function 'int A()':\na.cpp:2:1: warning: no return [-Wreturn-type]\n    2 | }\n   | ^\n\
                    a.cpp: In function 'int B()':\na.cpp:4:3: error: no\n    4 |   b\n\
                    a.cpp:5:1: warning: no return [-Wreturn-type]\n    5 | }\na.cpp: In function 'int C()':\n\
                    a.cpp:7:1: warning: no return [-Wreturn-type]\nb.cpp:1:1: error: no\n";
        let expected = "a.cpp: In function 'int B()':\na.cpp:4:3: error: no\n    4 |   b\nb.cpp:1:1: error: no\n";
        assert_eq!(without_warnings(said), expected);
        let of_clang = "a.cpp:8:1: error: non-void function does not return a value [-Werror,-Wreturn-type]\n}\n^\n\
                        b.cpp:1:1: error: no\nb\n^\n";
        assert_eq!(without_warnings(of_clang), "b.cpp:1:1: error: no\nb\n^\n");
    }
}
