//! Shows diagnostics to a person at a terminal, in the form that `rustc` made familiar:
//!
//! ```text
//! error[edge-mismatch]: `Compress` does not take what `ReadRequest` gives
//!   --> image.flux:22:9
//!    |
//!  3 | Compress (int socket) => ();
//!    | -------- it is declared here
//! ...
//! 22 | Image = ReadRequest -> Compress;
//!    |                        ^^^^^^^^ takes 1 value, is given 3
//!    |
//!    = note: it is given (int socket, bool close, image_tag *request)
//!    = help: declare the missing inputs of `Compress`
//! ```
//!
//! Any span may be asked for: one that is empty, lies outside its file or splits a character is moved to the nearest
//! place that can be shown, and a line wider than the terminal is cut around its marks.

use crate::{Diagnostic, Diagnostics, Mark, Severity, Shown};
use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Padding, Renderer, Snippet, normalize_untrusted_str as clean,
};
use flux_source::{SourceFile, SourceMap};
use std::ops::Range;

/// How to show diagnostics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// With ANSI colours.
    pub color: bool,
    /// The columns of the terminal; wider source lines are cut.
    pub width: usize,
}

impl Default for Options {
    /// Without colours, 120 columns: for files and tests.
    fn default() -> Self {
        Self { color: false, width: 120 }
    }
}

/// One diagnostic, without a newline at its end.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, options: Options) -> String {
    let title = level(diagnostic.severity).primary_title(&diagnostic.headline).id(diagnostic.id.0);
    let mut group = Group::with_title(title).elements(snippets(diagnostic, sources));
    if !diagnostic.notes.is_empty() || diagnostic.help.is_some() {
        group = group.element(Padding);
    }
    let group = group
        .elements(diagnostic.notes.iter().map(|note| Level::NOTE.message(clean(note))))
        .elements(diagnostic.help.iter().map(|help| Level::HELP.message(clean(help))));
    let renderer = if options.color { Renderer::styled() } else { Renderer::plain() };
    // Links in a terminal would need absolute paths, and the names here are as the user gave them.
    let shown = renderer.hyperlink(false).term_width(options.width).render(&[group]);
    // An empty line of a help would else be spaces.
    shown.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// How many diagnostics are not shown: `9900 more errors and 1 more warning are not shown`; none where all are.
pub fn hidden(shown: &Shown<'_>) -> Option<String> {
    let part = |count: usize, word: &str| match count {
        0 => None,
        1 => Some(format!("1 more {word}")),
        many => Some(format!("{many} more {word}s")),
    };
    let parts = [part(shown.hidden_errors, "error"), part(shown.hidden_warnings, "warning")];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let is_one = shown.hidden_errors + shown.hidden_warnings == 1;
    (!parts.is_empty()).then(|| format!("{} {} not shown", parts.join(" and "), if is_one { "is" } else { "are" }))
}

/// How many errors and warnings there are: `2 errors, 1 warning`; none where there is neither.
pub fn summary(diagnostics: &Diagnostics) -> Option<String> {
    let part = |severity, word: &str| match diagnostics.count(severity) {
        0 => None,
        1 => Some(format!("1 {word}")),
        many => Some(format!("{many} {word}s")),
    };
    let parts: Vec<_> =
        [part(Severity::Error, "error"), part(Severity::Warning, "warning")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// How many remarks there are, of which kinds: `3 notes (1 edge-by-name, 2 signature-inferred)`; none where there is
/// none.
pub fn remarks(diagnostics: &Diagnostics) -> Option<String> {
    let counts = diagnostics.remarks();
    let kinds: Vec<_> = match counts.len() {
        1 => counts.keys().map(|id| id.0.to_owned()).collect(),
        _ => counts.iter().map(|(id, count)| format!("{count} {}", id.0)).collect(),
    };
    let notes = match counts.values().sum() {
        0 => return None,
        1 => "1 note".to_owned(),
        many => format!("{many} notes"),
    };
    Some(format!("{notes} ({})", kinds.join(", ")))
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}

/// Marks in one file that are further apart than so many bytes have snippets of their own: what lies between costs time
/// and shows nothing.
const APART: u32 = 20_000;

/// One snippet for each file that has a mark, or for each part of it; that of the first mark first.
fn snippets<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Vec<Snippet<'a, Annotation<'a>>> {
    let context = diagnostic.secondary.iter().map(|mark| (mark, AnnotationKind::Context));
    let marks = std::iter::once((&diagnostic.primary, AnnotationKind::Primary)).chain(context);
    let mut in_order: Vec<_> = marks.enumerate().collect();
    in_order.sort_by_key(|(_, (mark, _))| mark.span);
    let near = |(_, (one, _)): &(usize, (&Mark, _)), (_, (next, _)): &(usize, (&Mark, _))| {
        one.span.file == next.span.file && next.span.start.saturating_sub(one.span.end) <= APART
    };
    let mut parts: Vec<Vec<_>> = in_order.chunk_by(near).map(<[_]>::to_vec).collect();
    parts.sort_by_key(|part| part.iter().map(|(at, _)| *at).min());
    let shown = parts.into_iter().filter_map(|mut part| {
        part.sort_by_key(|(at, _)| *at);
        let marks: Vec<_> = part.into_iter().map(|(_, mark)| mark).collect();
        Some(snippet(sources.file(marks.first()?.0.span.file)?, &marks))
    });
    shown.collect()
}

/// The lines from the first mark to the last, so that showing one diagnostic does not cost the whole file.
fn snippet<'a>(file: &'a SourceFile, marks: &[(&Mark, AnnotationKind)]) -> Snippet<'a, Annotation<'a>> {
    let ranges: Vec<_> = marks.iter().map(|(mark, _)| shown_range(&file.text, mark.span.range())).collect();
    let first = ranges.iter().map(|range| range.start).min().unwrap_or(0);
    let last = ranges.iter().map(|range| range.end).max().unwrap_or(0);
    let before = file.text.get(..first).unwrap_or("");
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let end =
        file.text.get(last..).and_then(|after| after.find('\n')).map_or(file.text.len(), |newline| last + newline + 1);
    let annotations = ranges.into_iter().zip(marks).map(|(range, (mark, kind))| {
        let label = (!mark.label.is_empty()).then(|| clean(&mark.label));
        kind.span(range.start - start..range.end - start).label(label)
    });
    let line = file.place(u32::try_from(start).unwrap_or(u32::MAX)).line;
    Snippet::source(file.text.get(start..end).unwrap_or(""))
        .line_start(line as usize)
        .path(clean(&file.name))
        .annotations(annotations.collect::<Vec<_>>())
}

/// The bytes of `text` nearest to `range` that can be marked: inside the text, whole characters, forwards. Behind the
/// last newline there is nothing to show: the end of the line before stands for it.
fn shown_range(text: &str, range: Range<usize>) -> Range<usize> {
    let is_shown = |at: &usize| text.is_char_boundary(*at);
    let length = text.strip_suffix('\n').unwrap_or(text).len();
    let start = (0..=range.start.min(length)).rev().find(is_shown).unwrap_or(0);
    let end = (range.end.clamp(start, length)..length).find(is_shown).unwrap_or(length);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Id;
    use flux_source::{FileId, Span};
    use proptest::prelude::*;

    const PROGRAM: &str = "Read () => (int n);\nWrite (char *text) => ();\n\n\n\nsource Read => Write;\n";

    fn at(needle: &str) -> Span {
        let start = PROGRAM.rfind(needle).expect("the program has it");
        span(start, start + needle.len())
    }

    fn span(start: usize, end: usize) -> Span {
        Span::new(FileId(0), start..end)
    }

    fn plain(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
        render(diagnostic, sources, Options::default())
    }

    #[test]
    fn an_error_shows_its_marks_notes_and_help() {
        let sources = SourceMap::of("a.flux", PROGRAM);
        let diagnostic =
            Diagnostic::error(Id("edge-mismatch"), "`Write` does not take what `Read` gives", at("Write;"))
                .label("takes a `char *`")
                .mark(at("(int n)"), "gives an `int`")
                .fact("given: (int n)")
                .fact("taken: (char *text)")
                .help("declare `Write (int n) => ();`");
        let expected = "\
error[edge-mismatch]: `Write` does not take what `Read` gives
 --> a.flux:6:16
  |
1 | Read () => (int n);
  |            ------- gives an `int`
...
6 | source Read => Write;
  |                ^^^^^^ takes a `char *`
  |
  = note: given: (int n)
  = note: taken: (char *text)
  = help: declare `Write (int n) => ();`";
        assert_eq!(plain(&diagnostic, &sources), expected);
    }

    #[test]
    fn a_mark_in_another_file_has_a_snippet_of_its_own() {
        let mut sources = SourceMap::of("a.flux", PROGRAM);
        let other = sources.add("b.flux", "atomic Read:{x};\n");
        let diagnostic =
            Diagnostic::warning(Id("twice"), "said twice", at("Write;")).mark(Span::new(other, 7..11), "here too");
        let expected = "\
warning[twice]: said twice
 --> a.flux:6:16
  |
6 | source Read => Write;
  |                ^^^^^^
  |
 ::: b.flux:1:8
  |
1 | atomic Read:{x};
  |        ---- here too";
        assert_eq!(plain(&diagnostic, &sources), expected);
    }

    #[test]
    fn marks_far_apart_in_a_file_have_snippets_of_their_own() {
        let text = format!("A = B;\n{}C = D;\n", "\n".repeat(APART as usize));
        let last = text.len() - 7;
        let sources = SourceMap::of("a.flux", text);
        let near = Diagnostic::error(Id("near"), "near", span(last, last + 1)).mark(span(10_000, 10_001), "here too");
        assert!(plain(&near, &sources).contains("\n...\n"), "{}", plain(&near, &sources));
        let far = Diagnostic::error(Id("far"), "far", span(last, last + 1)).mark(span(0, 1), "here too");
        let expected = "\
error[far]: far
     --> a.flux:20002:1
      |
20002 | C = D;
      | ^
      |
     ::: a.flux:1:1
      |
    1 | A = B;
      | - here too";
        assert_eq!(plain(&far, &sources), expected);
    }

    #[test]
    fn a_note_about_a_span_over_lines_shows_its_first_and_last() {
        let sources = SourceMap::of("a.flux", "A (int n)\n  => (int n);\n");
        let diagnostic = Diagnostic::note(Id("inferred"), "inferred", span(0, 23)).label("this");
        let expected = "\
note[inferred]: inferred
 --> a.flux:1:1
  |
1 | / A (int n)
2 | |   => (int n);
  | |_____________^ this";
        assert_eq!(plain(&diagnostic, &sources), expected);
    }

    #[test]
    fn without_a_file_only_the_words_are_shown() {
        let diagnostic = Diagnostic::error(Id("no-file"), "nothing to show", Span::new(FileId(7), 3..9)).help("go on");
        assert_eq!(plain(&diagnostic, &SourceMap::new()), "error[no-file]: nothing to show\n |\n = help: go on");
    }

    #[test]
    fn a_span_outside_the_text_is_moved_to_its_end() {
        let sources = SourceMap::of("a.flux", "A = B");
        let diagnostic = Diagnostic::error(Id("end"), "`;` expected", span(90, 80));
        assert!(plain(&diagnostic, &sources).ends_with("1 | A = B\n  |      ^"), "{}", plain(&diagnostic, &sources));
    }

    #[test]
    fn a_mark_behind_the_last_newline_is_at_the_end_of_the_last_line() {
        let sources = SourceMap::of("a.flux", "A = B;\nC = D\n");
        let diagnostic = Diagnostic::error(Id("end"), "`;` expected", span(13, 13));
        let shown = plain(&diagnostic, &sources);
        assert!(shown.ends_with("--> a.flux:2:6\n  |\n2 | C = D\n  |      ^"), "{shown}");
    }

    #[test]
    fn a_long_file_costs_no_more_than_a_short_one() {
        // Were the whole file read for each, this would take minutes.
        let lines = 200_000;
        let sources = SourceMap::of("a.flux", "A = B;\n".repeat(lines));
        for line in 0..1_000 {
            let at = (lines - 1_000 + line) * 7;
            let shown = plain(&Diagnostic::error(Id("late"), "late", span(at, at + 1)), &sources);
            assert!(shown.contains(&format!("{} | A = B;", lines - 999 + line)), "{shown}");
        }
    }

    #[test]
    fn a_long_line_is_cut_around_its_mark() {
        let text = format!("{} here {}", "a".repeat(5_000), "b".repeat(5_000));
        let sources = SourceMap::of("a.flux", text);
        let diagnostic = Diagnostic::error(Id("long"), "a long line", span(5_001, 5_005)).label("look");
        let shown = render(&diagnostic, &sources, Options { color: false, width: 80 });
        assert!(shown.contains(" here "), "{shown}");
        assert!(shown.contains("^^^^ look"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 90), "{shown}");
    }

    #[test]
    fn colour_is_there_when_asked_for_alone() {
        let sources = SourceMap::of("a.flux", PROGRAM);
        let diagnostic = Diagnostic::error(Id("red"), "a matter of taste", at("Write;"));
        assert!(render(&diagnostic, &sources, Options { color: true, width: 80 }).contains("\u{1b}["));
        assert!(!plain(&diagnostic, &sources).contains('\u{1b}'));
    }

    #[test]
    fn control_characters_of_a_program_never_reach_the_terminal() {
        let sources = SourceMap::of("\u{1b}[2J.flux", "A\u{1b}[2J = B;");
        let diagnostic = Diagnostic::error(Id("escape"), "bad \u{1b}[2J", span(0, 1))
            .label("\u{1b}[2J")
            .fact("\u{1b}[2J")
            .help("\u{1b}[2J");
        let shown = plain(&diagnostic, &sources);
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }

    #[test]
    fn the_summary_counts_errors_and_warnings() {
        let mut all = Diagnostics::new();
        assert_eq!(summary(&all), None);
        all.push(Diagnostic::note(Id("c"), "c", Span::default()));
        assert_eq!(summary(&all), None);
        all.push(Diagnostic::error(Id("a"), "a", Span::default()));
        assert_eq!(summary(&all).as_deref(), Some("1 error"));
        all.push(Diagnostic::error(Id("a"), "a", Span::default()));
        all.push(Diagnostic::warning(Id("b"), "b", Span::default()));
        assert_eq!(summary(&all).as_deref(), Some("2 errors, 1 warning"));
    }

    #[test]
    fn what_is_not_shown_is_counted() {
        let said = |hidden_errors, hidden_warnings| {
            hidden(&Shown { diagnostics: vec![], hidden_errors, hidden_warnings }).unwrap_or_default()
        };
        assert_eq!(said(0, 0), "");
        assert_eq!(said(1, 0), "1 more error is not shown");
        assert_eq!(said(9900, 1), "9900 more errors and 1 more warning are not shown");
    }

    #[test]
    fn remarks_are_counted_by_their_kind_and_advice_is_none() {
        let mut all = Diagnostics::new();
        assert_eq!(remarks(&all), None);
        all.push(Diagnostic::note(Id("b"), "b", Span::default()));
        all.push(Diagnostic::note(Id("c"), "advice", Span::default()).help("do it"));
        all.push(Diagnostic::warning(Id("d"), "d", Span::default()));
        assert_eq!(remarks(&all).as_deref(), Some("1 note (b)"));
        all.push(Diagnostic::note(Id("a"), "a", Span::default()));
        all.push(Diagnostic::note(Id("b"), "b", Span::default()));
        assert_eq!(remarks(&all).as_deref(), Some("3 notes (1 a, 2 b)"));
    }

    proptest! {
        #[test]
        fn no_text_and_no_span_is_too_strange(
            text in "[a-c\t\r\n é漢\u{301}\u{0}]{0,40}",
            spans in prop::collection::vec((0usize..60, 0usize..60), 1..5),
            width in 0usize..200,
            color: bool,
        ) {
            let sources = SourceMap::of("a.flux", text);
            let mut spans = spans.into_iter().map(|(start, end)| span(start, end));
            let diagnostic = Diagnostic::error(Id("any"), "any", spans.next().unwrap_or_default()).label("label");
            let diagnostic = spans.fold(diagnostic, |diagnostic, span| diagnostic.mark(span, "mark"));
            let shown = render(&diagnostic, &sources, Options { color, width });
            prop_assert!(shown.contains("any"));
        }
    }
}
