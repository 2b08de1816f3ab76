//! Shows diagnostics to programs: one JSON object a line, for editors and scripts.
//!
//! The members of an object are the fields of [`Object`], in that order; all are always there. Lines and columns count
//! from 1, columns in characters; an end is one past the last character.
//!
//! ```json
//! {"id":"edge-mismatch","severity":"error","headline":"`Write` does not take what `Read` gives",
//!  "file":"a.flux","line":6,"column":16,"end_line":6,"end_column":21,"label":"takes a `char *`",
//!  "marks":[{"file":"a.flux","line":1,"column":12,"end_line":1,"end_column":19,"label":"gives an `int`"}],
//!  "notes":["given: (int n)"],"help":"declare `Write (int n) => ();`"}
//! ```

use crate::{Diagnostic, Mark, Severity, Shown};
use flux_source::{LineAndColumn, SourceMap};
use serde::Serialize;
use std::fmt;

/// A diagnostic as programs see it; [`fmt::Display`] writes it as one line.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Object<'a> {
    /// The id, which names the page.
    pub id: &'a str,
    /// `error`, `warning` or `note`.
    pub severity: &'static str,
    /// One sentence that makes sense alone.
    pub headline: &'a str,
    /// Where to edit.
    #[serde(flatten)]
    pub place: Marked<'a>,
    /// Other places that matter, in the order to read them.
    pub marks: Vec<Marked<'a>>,
    /// Facts that have no place.
    pub notes: &'a [String],
    /// One line that says what to do; `null` where there is none.
    pub help: Option<&'a str>,
}

/// A range in a file and what is said of it.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Marked<'a> {
    /// The file's name as the user gave it; empty where the place is in none.
    pub file: &'a str,
    /// The line it starts on.
    pub line: u32,
    /// The column it starts in.
    pub column: u32,
    /// The line it ends on.
    pub end_line: u32,
    /// The column after its last character.
    pub end_column: u32,
    /// What is there, in a few words; may be empty.
    pub label: &'a str,
}

/// The last line, where some diagnostics are not shown: how many.
///
/// ```json
/// {"not_shown":{"errors":9900,"warnings":1}}
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
pub struct Hidden {
    /// Of each severity.
    not_shown: Counts,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
struct Counts {
    errors: usize,
    warnings: usize,
}

/// The last line for these diagnostics; none where all are shown.
pub fn hidden(shown: &Shown<'_>) -> Option<Hidden> {
    let counts = Counts { errors: shown.hidden_errors, warnings: shown.hidden_warnings };
    (counts.errors + counts.warnings > 0).then_some(Hidden { not_shown: counts })
}

impl fmt::Display for Hidden {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// The object for a diagnostic whose spans are in `sources`.
pub fn object<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Object<'a> {
    Object {
        id: diagnostic.id.0,
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        },
        headline: &diagnostic.headline,
        place: marked(&diagnostic.primary, sources),
        marks: diagnostic.secondary.iter().map(|mark| marked(mark, sources)).collect(),
        notes: &diagnostic.notes,
        help: diagnostic.help.as_deref(),
    }
}

fn marked<'a>(mark: &'a Mark, sources: &'a SourceMap) -> Marked<'a> {
    let file = sources.file(mark.span.file);
    let place = |offset| file.map_or(LineAndColumn { line: 1, column: 1 }, |file| file.place(offset));
    let (start, end) = (place(mark.span.start), place(mark.span.end));
    Marked {
        file: file.map_or("", |file| file.name.as_str()),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        label: &mark.label,
    }
}

impl fmt::Display for Object<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Strings and numbers always serialise, so that the only error is the formatter's own.
        out.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Id;
    use flux_source::{FileId, Span};

    #[test]
    fn an_object_is_one_line_with_every_member() {
        let sources = SourceMap::of("a.flux", "A => B;\nC = \"é\" D;\n");
        let diagnostic = Diagnostic::error(Id("some-id"), "a \"quoted\"\nheadline", Span::new(FileId(0), 12..16))
            .label("here")
            .mark(Span::new(FileId(0), 0..1), "there")
            .fact("one")
            .fact("two")
            .help("mend it");
        let expected = concat!(
            r#"{"id":"some-id","severity":"error","headline":"a \"quoted\"\nheadline","#,
            r#""file":"a.flux","line":2,"column":5,"end_line":2,"end_column":8,"label":"here","#,
            r#""marks":[{"file":"a.flux","line":1,"column":1,"end_line":1,"end_column":2,"label":"there"}],"#,
            r#""notes":["one","two"],"help":"mend it"}"#,
        );
        assert_eq!(object(&diagnostic, &sources).to_string(), expected);
    }

    #[test]
    fn the_last_line_says_what_is_not_shown() {
        let some = Shown { diagnostics: vec![], hidden_errors: 2, hidden_warnings: 0 };
        let line = hidden(&some).map(|line| line.to_string());
        assert_eq!(line.as_deref(), Some(r#"{"not_shown":{"errors":2,"warnings":0}}"#));
        assert_eq!(hidden(&Shown::default()), None);
    }

    #[test]
    fn what_is_absent_is_empty_or_null() {
        let diagnostic = Diagnostic::note(Id("bare"), "nothing more", Span::new(FileId(9), 4..7));
        let expected = concat!(
            r#"{"id":"bare","severity":"note","headline":"nothing more","#,
            r#""file":"","line":1,"column":1,"end_line":1,"end_column":1,"label":"","#,
            r#""marks":[],"notes":[],"help":null}"#,
        );
        assert_eq!(object(&diagnostic, &SourceMap::new()).to_string(), expected);
    }
}
