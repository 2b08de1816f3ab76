//! The table of calls that may block, in the book, is the one of the runtime.

use crate::{Finding, Repository};
use std::fmt::Write as _;

/// Where it is, in the book.
const PAGE: &str = "docs/calls.md";
/// Where it comes from: the table, and the headers that it takes rows from, in its order.
const TABLES: [&str; 9] = [
    "runtime/include/flux/calls/call_table.hpp",
    "runtime/include/flux/calls/lock_calls.hpp",
    "runtime/include/flux/calls/once_calls.hpp",
    "runtime/include/flux/calls/futex_calls.hpp",
    "runtime/include/flux/calls/file_calls.hpp",
    "runtime/include/flux/calls/name_calls.hpp",
    "runtime/include/flux/calls/process_calls.hpp",
    "runtime/include/flux/calls/stdio_calls.hpp",
    "runtime/include/flux/calls/uncaught_calls.hpp",
];

const INTRODUCTION: &str = "\
# Calls that may block

What becomes of each call of the C library that may block, in a node on an event loop. [Blocking
calls](blocking-calls.md) says how. What is in no table goes straight on. This page is made of
`runtime/include/flux/calls/call_table.hpp`: `cargo run -p flux_tidy --example calls > docs/calls.md`.
";

/// The fates, in the order of the page: as the table has them, the heading, and what it says.
const FATES: [(&str, &str, &str); 6] = [
    ("parks", "Park", "The flow waits, and its loop goes on."),
    ("handed_over", "Are handed over", "A thread beside the loop makes the call, and the flow waits for that."),
    ("fiber_owned", "Are the flow's own", "Locks and the like: the flow owns them, and waits where one is taken."),
    ("watched", "Are watched", "They go straight on, and the runtime does something besides."),
    ("straight", "Go straight on", "They are not caught, and need not be."),
    (
        "uncaught",
        "Cannot be caught",
        "They hold up the loop: such a node is to be `blocking`, and `flux doctor` says so.",
    ),
];

/// Whether the page is what the table says.
pub fn check(repository: &Repository) -> Vec<Finding> {
    let expected = calls(repository);
    let same = |text: &str| text.lines().zip(expected.lines()).take_while(|(one, other)| one == other).count();
    let advice = "is not what the runtime's table says: cargo run -p flux_tidy --example calls > docs/calls.md";
    match repository.text(PAGE) {
        Some(text) if text == expected => vec![],
        Some(text) => vec![Finding::new(PAGE, same(text) + 1, advice)],
        None => vec![Finding::new(PAGE, 1, advice)],
    }
}

/// The page, as it should be.
pub fn calls(repository: &Repository) -> String {
    let texts = TABLES.iter().filter_map(|table| repository.text(table));
    let rows: Vec<_> = texts.flat_map(str::lines).filter_map(row).collect();
    let mut page = INTRODUCTION.to_owned();
    for (fate, heading, about) in FATES {
        let mut own = rows.iter().filter(|row| row.fate == fate).peekable();
        if own.peek().is_none() {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = write!(page, "\n## {heading}\n\n{about}\n\n| call | |\n| --- | --- |\n");
        for row in own {
            let _ = writeln!(page, "| `{}` | {} |", row.name, row.note);
        }
    }
    page
}

struct Row<'a> {
    name: &'a str,
    fate: &'a str,
    note: &'a str,
}

/// A line `call(read, parks, "a note")`.
fn row(line: &str) -> Option<Row<'_>> {
    let (name, rest) = line.trim_start().strip_prefix("call(")?.split_once(", ")?;
    let (fate, note) = rest.split_once(", \"")?;
    Some(Row { name, fate, note: note.rsplit_once("\")")?.0 })
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    #[test]
    fn the_page_has_the_rows_by_what_becomes_of_them() {
        let table =
            "#define FLUX_CALLS(call) \\\n    call(close, watched, \"wakes\") \\\n    call(read, parks, \"\")\n";
        let files = [(TABLES[0], table)];
        let page = calls(&Repository::of(&files));
        assert!(
            page.contains("## Park\n\nThe flow waits, and its loop goes on.\n\n| call | |\n| --- | --- |\n| `read` |")
        );
        assert!(page.ends_with("| `close` | wakes |\n"), "{page}");
        assert_found(check, &[(TABLES[0], table), (PAGE, page.as_str())], &[]);
        assert_found(check, &files, &["docs/calls.md:1: is not what the runtime's table says"]);
    }
}
