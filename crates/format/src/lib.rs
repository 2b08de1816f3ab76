//! Lays out `.flux` text: the same tokens and comments, with standard spaces and line breaks. How that of `.flick`
//! files is laid out is in [`flick`].
//!
//! The author decides what belongs together: comments stay where they are, groups of statements stay separated by one
//! empty line, and a statement that is broken before an arrow stays broken there. The formatter decides the rest: one
//! statement a line, single spaces, two columns of indentation for what continues a statement, and breaks where a line
//! would be longer than [`COLUMNS`].
//!
//! It works on tokens: the parser says where statements are, [`pieces`] how the tokens of one are separated, [`lines`]
//! where it is broken. So nothing can be lost; this is checked each time by reading the result again.

mod blocks;
mod flick;
mod lines;
mod pieces;

use flux_diagnostic::Diagnostics;
use flux_front_flux::lexer::lex;
use flux_front_flux::parser::parse;
use flux_front_flux::syntax::{Statement, TestedBy, Typedef};
use flux_front_flux::token::{Token, TokenKind};
use flux_source::{FileId, SourceMap, Span};
use pieces::StatementKind;

/// How long a line may be, in characters.
pub const COLUMNS: usize = 120;

/// Why a text was not laid out.
#[derive(Debug)]
pub enum Refusal {
    /// It has mistakes, so that nobody knows what its author meant.
    Mistakes(Diagnostics),
    /// The result would not be the same program: a fault of the formatter.
    Contradiction,
}

/// Lays out the file `file` of `sources`. What comes out has the same tokens and comments, and comes out of a second
/// round unchanged. Linear in the text.
///
/// # Errors
/// A text that does not parse is refused, with what is wrong with it.
pub fn format(sources: &SourceMap, file: FileId) -> Result<String, Refusal> {
    let text = sources.file(file).map_or("", |source| source.text.as_str());
    if sources.file(file).is_some_and(|source| source.name.ends_with(".flick")) {
        return flick::format(file, text);
    }
    let tokens = lex(file, text);
    let mut diagnostics = Diagnostics::new();
    let syntax = parse(text, tokens.clone(), &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(Refusal::Mistakes(diagnostics));
    }
    let mut layout = Layout { text, out: String::with_capacity(text.len()), last: None };
    let mut rest = tokens.as_slice();
    for statement in &syntax.statements {
        let (kind, span) = kind_and_span(statement);
        let (before, after) = rest.split_at(rest.partition_point(|token| token.span.start < span.start));
        let (own, after) = after.split_at(after.partition_point(|token| token.span.start < span.end));
        layout.comments(before);
        layout.statement(kind, span, own);
        rest = after;
    }
    layout.comments(rest);
    let result = layout.finish();
    match spellings(text) == spellings(&result) {
        true => Ok(result),
        false => Err(Refusal::Contradiction),
    }
}

fn kind_and_span(statement: &Statement) -> (StatementKind, Span) {
    match statement {
        Statement::Declaration(declaration) => (StatementKind::Declaration, declaration.span),
        Statement::Option(option) => (StatementKind::Option, option.span),
        Statement::Using(using) => (StatementKind::Declaration, using.span),
        Statement::State(state) => (StatementKind::Declaration, state.span),
        Statement::Type(declared) => (StatementKind::Type, declared.span),
        Statement::Unit(unit) => (StatementKind::Unit, unit.span),
        Statement::ErrorCode(code) => (StatementKind::Other, code.span),
        Statement::Include(include) => (StatementKind::Other, include.span),
        Statement::Link(link) => (StatementKind::Other, link.span),
        Statement::Use(one) => (StatementKind::Other, one.span),
        Statement::Typedef(Typedef { tested_by: TestedBy::Body(..), span, .. }) => (StatementKind::Declaration, *span),
        Statement::Typedef(typedef) => (StatementKind::Other, typedef.span),
        Statement::Source(source) => (StatementKind::Other, source.span),
        Statement::Flow(flow) => (StatementKind::Other, flow.span),
        Statement::Handler(handler) => (StatementKind::Other, handler.span),
        Statement::Atomic(atomic) => (StatementKind::Other, atomic.span),
    }
}

/// A statement, its braces as its author broke them, or all broken where a line would be too long.
fn laid_out(text: &str, kind: StatementKind, tokens: &[Token]) -> String {
    let write = |breaks_all| {
        let mut out = String::new();
        lines::write(&pieces::pieces(text, kind, tokens, breaks_all), &mut out);
        out
    };
    let out = write(false);
    let is_too_long = out.lines().any(|line| line.chars().count() > COLUMNS);
    let has_braces = tokens.iter().any(|token| token.kind == TokenKind::OpenBrace);
    if is_too_long && has_braces { write(true) } else { out }
}

/// What a text consists of, white space aside: also that within comments and strings is compared, but for the ends of
/// lines.
fn spellings(text: &str) -> Vec<String> {
    lex(FileId::default(), text).iter().map(|token| tidy(text.get(token.span.range()).unwrap_or_default())).collect()
}

/// Text of several lines, without what cannot be seen at their ends.
fn tidy(text: &str) -> String {
    if !text.contains(['\n', '\r']) && !text.starts_with("//") && !text.starts_with('#') {
        return text.to_owned();
    }
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// What was written last at the top level.
struct Last {
    /// Where it ends in the text.
    end: usize,
    /// Whether its line is complete, so that only a comment may follow on it.
    is_statement: bool,
}

/// The text as it grows.
struct Layout<'text> {
    text: &'text str,
    out: String,
    last: Option<Last>,
}

impl Layout<'_> {
    /// Comments between statements.
    fn comments(&mut self, tokens: &[Token]) {
        for token in tokens.iter().filter(|token| token.kind != TokenKind::End) {
            let stays = self.last.as_ref().is_some_and(|last| last.is_statement);
            let on_line = self.separate(token.span, true);
            self.out.push_str(&tidy(self.text.get(token.span.range()).unwrap_or_default()));
            self.last = Some(Last { end: token.span.range().end, is_statement: stays && on_line });
        }
    }

    fn statement(&mut self, kind: StatementKind, span: Span, tokens: &[Token]) {
        let follows_statement = self.last.as_ref().is_some_and(|last| last.is_statement);
        self.separate(span, !follows_statement);
        self.out.push_str(&laid_out(self.text, kind, tokens));
        self.last = Some(Last { end: span.range().end, is_statement: true });
    }

    /// Writes what comes between the last thing and that at `span`: a space where that was on the same line and may
    /// stay there, else a line's end, and an empty line where there was one. Gives whether it stays on the line.
    fn separate(&mut self, span: Span, may_share_line: bool) -> bool {
        let Some(last) = &self.last else { return false };
        let between = self.text.get(last.end..span.range().start).unwrap_or_default();
        match between.matches('\n').count() {
            0 if may_share_line => self.out.push(' '),
            0 | 1 => self.out.push('\n'),
            _ => self.out.push_str("\n\n"),
        }
        may_share_line && !between.contains('\n')
    }

    fn finish(mut self) -> String {
        if self.last.is_some() {
            self.out.push('\n');
        }
        self.out
    }
}
