//! Comments in a program that assert its diagnostics.
//!
//! `// error: [id]` after a statement says that an error of that kind is marked on that line, `// error: [id] "words"`
//! that its headline has those words in it; `warning` and `note` likewise. Several stand one after the other. A comment
//! alone on its line speaks of the next line that is none.

use flux_diagnostic::render::{Options, render};
use flux_diagnostic::{Diagnostic, Severity};
use flux_source::{FileId, SourceMap};
use std::fmt;

/// A diagnostic that the page says is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assertion {
    severity: Severity,
    id: String,
    /// What the headline must contain; empty where the page does not say.
    words: String,
    /// The line of the program that it speaks of, from 1.
    target: usize,
    /// The line of the program that it stands on, from 1.
    line: usize,
}

/// What is wrong, and on which line of the program, from 1.
pub type Problem = (usize, String);

/// The assertions in the comments of a program, and the comments that look like one and are not.
pub fn parse(program: &str) -> (Vec<Assertion>, Vec<Problem>) {
    let (mut assertions, mut problems) = (vec![], vec![]);
    // Assertions alone on their line wait for the line that they speak of.
    let mut first_waiting = 0;
    let mut line_count = 0;
    for (line, text) in (1..).zip(program.lines()) {
        let (before, comments) = split_comments(text);
        for (severity, body) in comments {
            match parse_body(body) {
                Some((id, words)) => assertions.push(Assertion { severity, id, words, target: line, line }),
                None => problems.push((line, format!("not an assertion: `{body}`; write `[id]` or `[id] \"words\"`"))),
            }
        }
        let is_alone = before.trim().is_empty() && first_waiting < assertions.len();
        if !is_alone {
            assertions.iter_mut().skip(first_waiting).for_each(|assertion| assertion.target = line);
            first_waiting = assertions.len();
        }
        line_count = line;
    }
    assertions.iter_mut().skip(first_waiting).for_each(|assertion| assertion.target = line_count + 1);
    (assertions, problems)
}

/// The text before the first comment that asserts, and what follows the colon in each of them.
fn split_comments(line: &str) -> (&str, Vec<(Severity, &str)>) {
    let mut parts = line.split("//");
    let mut before = parts.next().unwrap_or("").len();
    let mut comments: Vec<(Severity, &str)> = vec![];
    for part in parts {
        let found = [("error:", Severity::Error), ("warning:", Severity::Warning), ("note:", Severity::Note)]
            .into_iter()
            .find_map(|(word, severity)| Some((severity, part.trim_start().strip_prefix(word)?.trim())));
        match found {
            Some(comment) => comments.push(comment),
            None if comments.is_empty() => before += "//".len() + part.len(),
            None => {}
        }
    }
    (line.get(..before).unwrap_or(line), comments)
}

fn parse_body(body: &str) -> Option<(String, String)> {
    let (id, rest) = body.strip_prefix('[')?.split_once(']')?;
    let rest = rest.trim();
    let words = if rest.is_empty() { "" } else { rest.strip_prefix('"')?.strip_suffix('"')? };
    (!id.is_empty()).then(|| (id.to_owned(), words.to_owned()))
}

/// Holds the diagnostics against the assertions: each asserts exactly one, and each error and warning, and with
/// `notes` each note, is asserted.
pub fn check(assertions: &[Assertion], diagnostics: &[&Diagnostic], sources: &SourceMap, notes: bool) -> Vec<Problem> {
    // What is said of another file stands on no line of this one: a fence of `diagnostics` asserts it.
    let line = |diagnostic: &Diagnostic| match diagnostic.primary.span.file {
        FileId(0) => sources.place(diagnostic.primary.span).line as usize,
        _ => 0,
    };
    let mut open: Vec<&Diagnostic> = diagnostics.to_vec();
    let mut problems = vec![];
    // Those that say more choose first: `[id]` must not take what only `[id] "words"` would have to itself.
    let mut ordered: Vec<&Assertion> = assertions.iter().collect();
    ordered.sort_by_key(|assertion| std::cmp::Reverse(assertion.words.len()));
    for assertion in ordered {
        let found = open.iter().position(|one| line(one) == assertion.target && assertion.describes(one));
        match found {
            Some(index) => _ = open.remove(index),
            None => problems.push((assertion.line, format!("asserted, but not found: {assertion}"))),
        }
    }
    for diagnostic in open {
        if diagnostic.severity > Severity::Note || notes {
            let shown = render(diagnostic, sources, Options::default()).replace('\n', "\n    ");
            problems.push((line(diagnostic), format!("found, but not asserted:\n    {shown}")));
        }
    }
    problems.sort_by_key(|(line, _)| *line);
    problems
}

impl Assertion {
    fn describes(&self, diagnostic: &Diagnostic) -> bool {
        self.severity == diagnostic.severity && self.id == diagnostic.id.0 && diagnostic.headline.contains(&self.words)
    }
}

impl fmt::Display for Assertion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        write!(out, "{severity}: [{}]", self.id)?;
        if self.words.is_empty() { Ok(()) } else { write!(out, " \"{}\"", self.words) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_diagnostic::Id;
    use flux_source::{FileId, Span};

    const PROGRAM: &str = "A = B; // error: [one] \"first\" // warning: [two]\n// error: [three]\n\nC = D;\n";

    fn problems(program: &str, diagnostics: &[Diagnostic], notes: bool) -> Vec<Problem> {
        let sources = SourceMap::of("a.flux", program);
        let (assertions, malformed) = parse(program);
        assert_eq!(malformed, []);
        check(&assertions, &diagnostics.iter().collect::<Vec<_>>(), &sources, notes)
    }

    fn at(needle: &str) -> Span {
        let start = PROGRAM.find(needle).expect("the program has it");
        Span::new(FileId(0), start..start + needle.len())
    }

    fn all() -> [Diagnostic; 3] {
        [
            Diagnostic::error(Id("one"), "the first", at("A")),
            Diagnostic::warning(Id("two"), "the second", at("B")),
            Diagnostic::error(Id("three"), "the third", at("C = D")),
        ]
    }

    #[test]
    fn what_is_asserted_and_found_is_right() {
        assert_eq!(problems(PROGRAM, &all(), true), []);
    }

    #[test]
    fn each_way_of_being_another_diagnostic_is_noticed() {
        let [one, two, three] = all();
        let wrong = [
            Diagnostic { id: Id("other"), ..one.clone() },
            Diagnostic { severity: Severity::Warning, ..one.clone() },
            Diagnostic { headline: "the last".to_owned(), ..one.clone() },
            Diagnostic { primary: three.primary.clone(), ..one },
        ];
        for one in wrong {
            let lines: Vec<_> = problems(PROGRAM, &[one.clone(), two.clone(), three.clone()], false);
            assert_eq!(lines.len(), 2, "{one:?}");
            assert!(lines.iter().any(|(line, text)| *line == 1 && text.contains("not found: error: [one] \"first\"")));
            assert!(lines.iter().any(|(_, text)| text.contains("not asserted")));
        }
    }

    #[test]
    fn an_assertion_stands_for_one_diagnostic_alone() {
        let [one, two, three] = all();
        let found = problems(PROGRAM, &[one.clone(), one, two, three], false);
        assert!(matches!(&found[..], [(1, text)] if text.contains("not asserted")), "{found:?}");
    }

    #[test]
    fn an_assertion_with_words_chooses_first() {
        let program = "A // error: [one] // error: [one] \"first\"\n";
        let [one, ..] = all();
        let plain = Diagnostic { headline: "another".to_owned(), ..one.clone() };
        assert_eq!(problems(program, &[one, plain], false), []);
    }

    #[test]
    fn notes_must_be_asserted_only_where_the_page_says_so() {
        let note = Diagnostic::note(Id("four"), "by the way", Span::new(FileId(0), 0..1));
        assert_eq!(problems("A;\n", std::slice::from_ref(&note), false), []);
        assert_eq!(problems("A;\n", std::slice::from_ref(&note), true).len(), 1);
        assert_eq!(problems("A; // note: [four]\n", &[note], true), []);
        assert_eq!(problems("A; // note: [four]\n", &[], false).len(), 1);
    }

    #[test]
    fn a_comment_at_the_end_speaks_of_the_end() {
        let program = "A = B\n// error: [end]\n";
        let end = Diagnostic::error(Id("end"), "`;` expected", Span::new(FileId(0), program.len()..program.len()));
        assert_eq!(problems(program, &[end], false), []);
    }

    #[test]
    fn an_assertion_that_says_nothing_is_no_assertion() {
        for comment in ["// error: edge-mismatch", "// error: []", "// warning: [a] words", "// note: [a", "// error:"]
        {
            let (assertions, problems) = parse(comment);
            assert_eq!((assertions.len(), problems.len()), (0, 1), "{comment}");
        }
        let (assertions, problems) = parse("A = B; // an error: of mine, and https://example.org\n");
        assert_eq!((assertions.len(), problems.len()), (0, 0));
    }
}
