//! Source files, spans, lines and columns.
//!
//! A [`SourceMap`] owns every text the compiler was given. A [`Span`] is a range of bytes in one of them; it is small,
//! is copied freely, and travels from the parser to the last comment of the generated C++.

mod deep;

pub use deep::{CHAIN_LIMIT, Deep, NESTING_LIMIT, deep};

use std::fmt;
use std::ops::Range;

/// Which file of a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct FileId(pub u32);

/// A range of bytes in a file, `start` included and `end` not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The file the bytes are in.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of the bytes `range` of `file`.
    pub fn new(file: FileId, range: Range<usize>) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { file, start: clamp(range.start), end: clamp(range.end) }
    }

    /// The smallest span that holds both; `self` where they are in different files.
    pub fn to(self, other: Self) -> Self {
        if self.file != other.file {
            return self;
        }
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The bytes as a range, for slicing the file's text.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}-{}", self.file.0, self.start, self.end)
    }
}

/// A place as a person counts: both from 1, the column in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineAndColumn {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// One file: its name as the user gave it and its text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path as the user gave it; it is shown, never opened.
    pub name: String,
    /// The whole text.
    pub text: String,
    line_starts: Vec<u32>,
}

impl SourceFile {
    fn new(name: String, text: String) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = newlines.filter_map(|(at, _)| u32::try_from(at + 1).ok());
        let line_starts = std::iter::once(0).chain(starts).collect();
        Self { name, text, line_starts }
    }

    /// The name without its folders: what generated code calls the file, wherever it was built.
    pub fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// The place of byte `offset`; O(log lines).
    pub fn place(&self, offset: u32) -> LineAndColumn {
        let line = self.line_starts.partition_point(|start| *start <= offset).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0) as usize;
        let before = self.text.get(start..offset as usize).unwrap_or("");
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        LineAndColumn { line: count(line), column: count(before.chars().count() + 1) }
    }

    /// The text of `span`; empty where it lies outside the file.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }
}

/// Every file the compiler was given.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// A map of no files.
    pub fn new() -> Self {
        Self::default()
    }

    /// A map of one file, whose id is `FileId(0)`.
    pub fn of(name: impl Into<String>, text: impl Into<String>) -> Self {
        let mut map = Self::new();
        map.add(name, text);
        map
    }

    /// Adds a file and gives its id.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(SourceFile::new(name.into(), text.into()));
        id
    }

    /// The file `id`, where it is one of this map's.
    pub fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// The files, in the order of their ids.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().zip(0..).map(|(file, id)| (FileId(id), file))
    }

    /// The text of `span`.
    pub fn slice(&self, span: Span) -> &str {
        self.file(span.file).map_or("", |file| file.slice(span))
    }

    /// The line and column where `span` starts.
    pub fn place(&self, span: Span) -> LineAndColumn {
        self.file(span.file).map_or(LineAndColumn { line: 1, column: 1 }, |file| file.place(span.start))
    }

    /// Line `number` of a file, from 1, without the spaces around it.
    pub fn line(&self, file: FileId, number: u32) -> Option<Span> {
        let text = self.file(file)?;
        let start = *text.line_starts.get(usize::try_from(number).ok()?.checked_sub(1)?)? as usize;
        let line = text.text.get(start..)?.lines().next().unwrap_or_default();
        let start = start + line.len() - line.trim_start().len();
        Some(Span::new(file, start..start + line.trim().len()))
    }

    /// The line that [`Self::name_and_line`] calls so, whatever comes after it: `image.flux:21: source Read => Page;`.
    pub fn named_line(&self, text: &str) -> Option<Span> {
        let mut parts = text.split(':');
        let (name, number) = (parts.next()?, parts.next()?.trim().parse().ok()?);
        let (file, _) = self.files().find(|(_, file)| file.file_name() == name)?;
        self.line(file, number)
    }

    /// `image.flux:21`: where `span` starts, as generated code writes it.
    pub fn name_and_line(&self, span: Span) -> String {
        let name = self.file(span.file).map_or("?", SourceFile::file_name);
        format!("{name}:{}", self.place(span).line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let map = SourceMap::of("a.flux", "é = b;\nc");
        let at = |start: usize| map.place(Span::new(FileId(0), start..start));
        assert_eq!(at(0), LineAndColumn { line: 1, column: 1 });
        assert_eq!(at(2), LineAndColumn { line: 1, column: 2 });
        assert_eq!(at(8), LineAndColumn { line: 2, column: 1 });
        assert_eq!(at(900), LineAndColumn { line: 2, column: 1 });
    }

    #[test]
    fn lines_are_found_by_what_generated_code_calls_them() {
        let map = SourceMap::of("folder/a.flux", "one;\n  two;  \n");
        assert_eq!(map.named_line("a.flux:2: two;").map(|span| map.slice(span)), Some("two;"));
        assert_eq!(map.name_and_line(map.named_line("a.flux:2").unwrap()), "a.flux:2");
        assert_eq!(map.named_line("a.flux:3").map(|span| map.slice(span)), Some(""));
        assert_eq!(
            ["a.flux:4", "a.flux:0", "b.flux:1", "a.flux", "", "a.flux:x"].map(|text| map.named_line(text)),
            [None; 6]
        );
    }

    #[test]
    fn spans_join_within_a_file_only() {
        let (first, second) = (Span::new(FileId(0), 2..4), Span::new(FileId(0), 7..9));
        assert_eq!(first.to(second).range(), 2..9);
        assert_eq!(first.to(Span::new(FileId(1), 7..9)), first);
    }
}
