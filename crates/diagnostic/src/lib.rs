//! Diagnostics as data, and the ways to show them.
//!
//! A [`Diagnostic`] says one thing: an [`Id`] that has a page (`flux explain ID`), a headline that stands alone, a mark
//! where to edit, marks at the other places concerned, notes, and one line of help. What it looks like is the business
//! of [`render`] and [`json`]; nothing else in the compiler formats a message.

pub mod json;
pub mod page;
pub mod render;

use flux_source::Span;
use std::collections::BTreeMap;

/// How grave it is. Errors stop the compiler after the stage that found them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Something the author may want to know: an inferred signature, a dropped value.
    Note,
    /// Legal, and probably not what was meant.
    Warning,
    /// The program cannot be compiled.
    Error,
}

/// The name of a kind of diagnostic, in kebab case: `edge-mismatch`. Every id has a page in `pages/`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id(pub &'static str);

/// A place in the source with a short label.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// Where.
    pub span: Span,
    /// What is there, in a few words; may be empty for the first mark.
    pub label: String,
}

/// One thing the compiler has to say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How grave.
    pub severity: Severity,
    /// Which kind; names the page.
    pub id: Id,
    /// One sentence without a full stop that makes sense alone.
    pub headline: String,
    /// Where to edit.
    pub primary: Mark,
    /// Other places that matter, in the order to read them.
    pub secondary: Vec<Mark>,
    /// Facts that have no place: both lists of an edge, the two lock orders.
    pub notes: Vec<String>,
    /// One line that says what to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic with a mark and nothing more.
    pub fn new(severity: Severity, id: Id, headline: impl Into<String>, span: Span) -> Self {
        let primary = Mark { span, label: String::new() };
        Self { severity, id, headline: headline.into(), primary, secondary: vec![], notes: vec![], help: None }
    }

    /// An error at `span`.
    pub fn error(id: Id, headline: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Error, id, headline, span)
    }

    /// A warning at `span`.
    pub fn warning(id: Id, headline: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Warning, id, headline, span)
    }

    /// A note at `span`.
    pub fn note(id: Id, headline: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Note, id, headline, span)
    }

    /// Whether it only says what the compiler has found out for itself: nothing is wrong, and there is nothing to do.
    pub fn is_remark(&self) -> bool {
        self.severity == Severity::Note && self.help.is_none()
    }

    /// Labels the first mark.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.primary.label = label.into();
        self
    }

    /// Adds a mark at another place.
    #[must_use]
    pub fn mark(mut self, span: Span, label: impl Into<String>) -> Self {
        self.secondary.push(Mark { span, label: label.into() });
        self
    }

    /// Adds a fact that has no place.
    #[must_use]
    pub fn fact(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// So many diagnostics of one severity are shown: whoever corrects these sees the next ones.
pub const SHOWN_LIMIT: usize = 100;

/// Which diagnostics are shown.
#[derive(Clone, Default, Debug)]
pub struct Shown<'a> {
    /// By place in the source.
    pub diagnostics: Vec<&'a Diagnostic>,
    /// How many errors are not shown.
    pub hidden_errors: usize,
    /// How many warnings are not shown.
    pub hidden_warnings: usize,
}

/// The diagnostics of one run, in the order found.
#[derive(Clone, Default, Debug)]
pub struct Diagnostics {
    all: Vec<Diagnostic>,
}

impl Diagnostics {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.all.push(diagnostic);
    }

    /// Adds all of `more`.
    pub fn append(&mut self, mut more: Self) {
        self.all.append(&mut more.all);
    }

    /// Keeps those of which this holds.
    pub fn retain(&mut self, holds: impl FnMut(&Diagnostic) -> bool) {
        self.all.retain(holds);
    }

    /// How many are of this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.all.iter().filter(|one| one.severity == severity).count()
    }

    /// How many remarks there are of each kind.
    pub fn remarks(&self) -> BTreeMap<Id, usize> {
        let mut counts = BTreeMap::new();
        self.all.iter().filter(|one| one.is_remark()).for_each(|one| *counts.entry(one.id).or_default() += 1);
        counts
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// The first [`SHOWN_LIMIT`] errors by place in the source, as many warnings, and all notes.
    pub fn shown(&self) -> Shown<'_> {
        let mut shown = Shown::default();
        let (mut errors, mut warnings) = (0, 0);
        for one in self.sorted() {
            let (count, hidden) = match one.severity {
                Severity::Error => (&mut errors, &mut shown.hidden_errors),
                Severity::Warning => (&mut warnings, &mut shown.hidden_warnings),
                Severity::Note => {
                    shown.diagnostics.push(one);
                    continue;
                }
            };
            *count += 1;
            match *count <= SHOWN_LIMIT {
                true => shown.diagnostics.push(one),
                false => *hidden += 1,
            }
        }
        shown
    }

    /// All of them by place in the source, those at the same place as found.
    pub fn sorted(&self) -> Vec<&Diagnostic> {
        let mut sorted: Vec<_> = self.all.iter().collect();
        sorted.sort_by_key(|one| one.primary.span);
        sorted
    }
}

/// The name in `candidates` that `name` was probably meant to be: at most a third of its letters differ, or one where
/// there are two. Of a single letter nobody can tell what it was meant to be, but for its case.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match name.chars().count() {
        0 | 1 => 0,
        letters => (letters / 3).max(1),
    };
    nearest_within(limit, name, candidates)
}

/// As [`nearest`], of those that differ by at most so many slips: a letter too many, too few, another, or two
/// exchanged.
pub fn nearest_within<'a>(limit: usize, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored =
        candidates.into_iter().filter(|candidate| *candidate != name).map(|it| (distance(name, it, limit), it));
    scored.filter(|(score, _)| *score <= limit).min_by_key(|(score, _)| *score).map(|(_, it)| it)
}

/// Damerau-Levenshtein distance (optimal string alignment), case costing nothing; anything above `limit` is `limit +
/// 1`.
fn distance(left: &str, right: &str, limit: usize) -> usize {
    let lower = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
    let (left, right) = (lower(left), lower(right));
    if left.len().abs_diff(right.len()) > limit {
        return limit + 1;
    }
    let mut before: Vec<usize> = vec![];
    let mut above: Vec<usize> = (0..=right.len()).collect();
    let mut last_left = None;
    for (row, a) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        let mut last_right = None;
        for (column, b) in right.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX - 1);
            let replaced = at(&above, column) + usize::from(a != b);
            let mut best = replaced.min(at(&above, column + 1) + 1).min(at(&current, column) + 1);
            if last_left == Some(b) && last_right == Some(a) && column > 0 {
                best = best.min(at(&before, column - 1) + 1);
            }
            current.push(best);
            last_right = Some(b);
        }
        last_left = Some(a);
        before = std::mem::replace(&mut above, current);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_within_a_third() {
        let names = ["ReadRequest", "Write", "Complete"];
        assert_eq!(nearest("ReadReqeust", names), Some("ReadRequest"));
        assert_eq!(nearest("Wrote", names), Some("Write"));
        assert_eq!(nearest("Compress", names), None);
        assert_eq!(nearest("Listen", names), None);
        assert_eq!(nearest("A", ["B", "AB"]), None);
        assert_eq!(nearest("a", ["B", "A"]), Some("A"));
        assert_eq!(nearest("ba", ["ab"]), Some("ab"));
    }

    #[test]
    fn of_many_errors_the_first_hundred_are_shown() {
        let at = |start| Span::new(Default::default(), start..start + 1);
        let mut all = Diagnostics::new();
        for number in (0..10_000).rev() {
            all.push(Diagnostic::error(Id("e"), "error", at(3 * number)));
            all.push(Diagnostic::warning(Id("w"), "warning", at(3 * number + 1)));
            all.push(Diagnostic::note(Id("n"), "note", at(3 * number + 2)));
        }
        let Shown { diagnostics, hidden_errors, hidden_warnings } = all.shown();
        assert_eq!((hidden_errors, hidden_warnings, diagnostics.len()), (9900, 9900, 10_200));
        let errors: Vec<_> = diagnostics.iter().filter(|one| one.severity == Severity::Error).collect();
        assert_eq!(errors.last().map(|last| last.primary.span), Some(at(3 * 99)));
        let mut few = Diagnostics::new();
        few.push(Diagnostic::error(Id("e"), "error", at(0)));
        assert_eq!((few.shown().hidden_errors, few.shown().diagnostics.len()), (0, 1));
    }

    #[test]
    fn diagnostics_sort_by_place() {
        let at = |start| Span::new(Default::default(), start..start + 1);
        let mut all = Diagnostics::new();
        all.push(Diagnostic::error(Id("b"), "second", at(9)));
        all.push(Diagnostic::warning(Id("a"), "first", at(2)));
        let order: Vec<_> = all.sorted().iter().map(|one| one.id.0).collect();
        assert_eq!(order, ["a", "b"]);
        assert!(all.has_errors());
    }
}
