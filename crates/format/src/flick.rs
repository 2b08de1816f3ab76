//! Lays out `.flick` text. The formatter keeps the lines, because line breaks have a meaning. Columns become multiples
//! of two, and the spaces inside lines become standard. Units have no columns; they get the layout of `.flux`.
//!
//! A line that is further right than another line above it stays further right. Lines of one column stay in one column.
//! The offside rule asks for nothing more. The function `format` checks this each time: it reads its result again.

use crate::{Refusal, tidy};
use flux_diagnostic::Diagnostics;
use flux_front_flick::messages::masked;
use flux_front_flick::parser::parse;
use flux_front_flick::syntax::Declaration;
use flux_front_flux::lexer::lex_with_hash_comments;
use flux_front_flux::token::{Token, TokenKind};
use flux_source::{FileId, SourceMap, Span};

/// The number of columns of one level.
const INDENTATION: usize = 2;

/// The words before a value. A bracket after such a word begins a value, and not a call or an element.
const WORDS: [&str; 20] = [
    "and", "as", "by", "elif", "else", "error", "filter", "fold", "foldt", "for", "from", "global", "if", "in",
    "local", "map", "mod", "not", "on", "or",
];

/// The first words of lines that contain types.
const HEADS: [&str; 5] = ["type", "proc", "fun", "global", "local"];

/// Lays out the text of `file`.
///
/// # Errors
/// The function rejects a text that does not parse, and returns the errors of the text.
pub fn format(file: FileId, text: &str) -> Result<String, Refusal> {
    let mut diagnostics = Diagnostics::new();
    let syntax = parse(file, text, &mut diagnostics);
    let units_only = masked(text, &syntax);
    flux_front_flux::parser::parse(&units_only, flux_front_flux::lexer::lex(file, &units_only), &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(Refusal::Mistakes(diagnostics));
    }
    let units = syntax.declarations.iter().filter_map(|declaration| match declaration {
        Declaration::Unit(_, span) => Some(*span),
        _ => None,
    });
    let mut layout = Layout {
        text,
        out: String::with_capacity(text.len()),
        columns: vec![],
        at: 0,
        brackets: 0,
        outside: 0,
        in_head: false,
    };
    let tokens = lex_with_hash_comments(file, text);
    let mut rest = tokens.split_last().map_or(&[][..], |(_, before_end)| before_end);
    for unit in units {
        let (before, after) = rest.split_at(rest.partition_point(|token| token.span.start < unit.start));
        layout.lines(before);
        layout.unit(unit)?;
        rest = after.get(after.partition_point(|token| token.span.start < unit.end)..).unwrap_or_default();
    }
    layout.lines(rest);
    let result = if layout.out.is_empty() { String::new() } else { layout.out + "\n" };
    let again = shape(&parse(file, &result, &mut diagnostics));
    let is_same = spellings(text) == spellings(&result) && shape(&syntax) == again;
    if is_same && !diagnostics.has_errors() { Ok(result) } else { Err(Refusal::Contradiction) }
}

fn spellings(text: &str) -> Vec<String> {
    let tokens = lex_with_hash_comments(FileId::default(), text);
    tokens.iter().map(|token| tidy(text.get(token.span.range()).unwrap_or_default())).collect()
}

/// A tree without its positions, as text. Numbers of the program are left out, too; [`spellings`] compares them.
fn shape(syntax: &flux_front_flick::syntax::Syntax) -> String {
    format!("{syntax:?}").replace(|letter: char| letter.is_ascii_digit(), "")
}

/// The layout, with the text so far.
struct Layout<'text> {
    text: &'text str,
    out: String,
    /// The columns of the open lines, each further right than the one before.
    columns: Vec<usize>,
    /// The position in the source text after the part that was written last.
    at: usize,
    brackets: usize,
    /// The number of lines that were open at the outermost opening bracket. The lines stay open until the bracket
    /// closes.
    outside: usize,
    /// Whether the next tokens declare types: the `/` and `-` of channels then have no spaces.
    in_head: bool,
}

impl<'text> Layout<'text> {
    fn spelling(&self, token: &Token) -> &'text str {
        self.text.get(token.span.range()).unwrap_or_default()
    }

    fn between(&self, from: usize, to: usize) -> &'text str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// Writes a unit, which begins in the first column.
    fn unit(&mut self, span: Span) -> Result<(), Refusal> {
        let text = self.text.get(span.range()).unwrap_or_default();
        let laid_out = crate::format(&SourceMap::of("unit.flux", text), FileId(0))?;
        self.start_line(span.range().start);
        self.columns.clear();
        self.out.push_str(laid_out.trim_end());
        self.at = span.range().end;
        Ok(())
    }

    /// Ends the previous line. Empty lines before the next line become one empty line.
    fn start_line(&mut self, start: usize) {
        if !self.out.is_empty() {
            let is_apart = self.between(self.at, start).matches('\n').count() > 1;
            self.out.push_str(if is_apart { "\n\n" } else { "\n" });
        }
    }

    fn lines(&mut self, tokens: &[Token]) {
        let mut rest = tokens;
        while let Some(first) = rest.first() {
            let ends = rest.windows(2).position(|two| {
                let [before, next] = two else { return false };
                self.between(before.span.range().end, next.span.range().start).contains('\n')
            });
            let (line, after) = rest.split_at(ends.map_or(rest.len(), |last| last + 1));
            let start = first.span.range().start;
            let shares_line = !self.out.is_empty() && !self.between(self.at, start).contains('\n');
            if shares_line {
                // The comment follows a unit on the same line.
                self.out.push(' ');
            } else {
                self.start_line(start);
                let level = self.level(line, after);
                self.out.push_str(&" ".repeat(level * INDENTATION));
            }
            self.line(line);
            rest = after;
        }
    }

    /// The level of a line. A line with only a comment gets the level of the next line with code.
    fn level(&mut self, line: &[Token], after: &[Token]) -> usize {
        let mut code = line.iter().chain(after).filter(|token| !is_comment(token.kind));
        let Some(first) = code.next() else { return 0 };
        let start = first.span.range().start;
        let line_start = self.between(0, start).rfind('\n').map_or(0, |newline| newline + 1);
        // The parser counts columns in the same way: no line begins with a tab.
        let column = self.between(line_start, start).chars().filter(|one| *one != '\u{feff}').count();
        let mut level = self.columns.iter().filter(|one| **one < column).count();
        let is_further_left = self.brackets > 0 && level < self.outside;
        if line.iter().any(|token| !is_comment(token.kind)) && !is_further_left {
            self.columns.truncate(level);
            self.columns.push(column);
            level = self.columns.len() - 1;
        }
        level
    }

    fn line(&mut self, line: &[Token]) {
        let first = line.iter().find(|token| !is_comment(token.kind));
        if let Some(first) = first.filter(|_| self.brackets == 0) {
            self.in_head = HEADS.contains(&self.spelling(first));
        }
        let is_field = self.is_field(line);
        for (index, token) in line.iter().enumerate() {
            let before = line.get(..index).unwrap_or_default();
            if before.last().is_some_and(|last| self.is_spaced(before, last, token, is_field)) {
                self.out.push(' ');
            }
            self.out.push_str(&tidy(self.spelling(token)));
            self.at = token.span.range().end;
            match token.kind {
                _ if crate::pieces::opens(token.kind) => {
                    if self.brackets == 0 {
                        self.outside = self.columns.len();
                    }
                    self.brackets += 1;
                }
                _ if crate::pieces::closes(token.kind) => self.brackets = self.brackets.saturating_sub(1),
                // The body of a function begins after the colon on its line.
                TokenKind::Colon if self.brackets == 0 && ends_head(before) => self.in_head = false,
                _ => {}
            }
        }
    }

    /// Whether a line is the field of a record: `key : string`.
    fn is_field(&self, line: &[Token]) -> bool {
        let mut code = line.iter().filter(|token| !is_comment(token.kind));
        let (first, second, third) = (code.next(), code.next(), code.next());
        let is_word = first.is_some_and(|token| token.kind == TokenKind::Word && self.spelling(token) != "else");
        let is_set = third.is_some_and(|token| token.kind == TokenKind::Equals);
        self.brackets == 0 && is_word && second.is_some_and(|token| token.kind == TokenKind::Colon) && !is_set
    }

    /// Whether a space stands between two tokens of a line.
    fn is_spaced(&self, before: &[Token], first: &Token, second: &Token, is_field: bool) -> bool {
        use TokenKind as T;
        let (one, other) = (self.spelling(first), self.spelling(second));
        let is_word = first.kind == T::Word && WORDS.contains(&one);
        let is_close = first.span.end == second.span.start;
        let in_channel = self.in_head && self.brackets > 0;
        match (first.kind, second.kind) {
            _ if is_comment(first.kind) || is_comment(second.kind) => true,
            _ if is_close && matches!((one, other), (":" | "=" | "!" | "<" | ">", "=")) => false,
            (T::Dot, T::Dot) => !is_close,
            (_, T::Dot) if self.is_ellipsis(second) => true,
            (T::Number, T::Dot) | (T::Dot, T::Number) => true,
            (T::Dot, _) | (_, T::Dot | T::Comma) => false,
            (T::Comma, _) => true,
            _ if crate::pieces::opens(first.kind) || crate::pieces::closes(second.kind) => false,
            (T::Minus, _) if in_channel && other != "/" => true,
            _ if in_channel && (matches!(one, "/" | "-") || other == "/") => false,
            (_, T::Colon) => is_field || self.in_head && first.kind != T::CloseParenthesis || self.is_set(second),
            (T::Minus, _) => !is_sign(before, &|token| WORDS.contains(&self.spelling(token))),
            (T::Word | T::CloseBracket, T::OpenParenthesis | T::OpenBracket) => is_word,
            (_, T::OpenBrace) => false,
            _ => true,
        }
    }

    /// Whether a point is the first of `...`.
    fn is_ellipsis(&self, token: &Token) -> bool {
        self.text.get(token.span.range().start..).is_some_and(|rest| rest.starts_with("..."))
    }

    /// Whether a colon belongs to `:=`.
    fn is_set(&self, token: &Token) -> bool {
        self.text.get(token.span.range().start..).is_some_and(|rest| rest.starts_with(":="))
    }
}

fn is_comment(kind: TokenKind) -> bool {
    crate::pieces::is_comment(kind)
}

/// Whether these tokens end the signature of a function.
fn ends_head(before: &[Token]) -> bool {
    let last = before.iter().rev().find(|token| !is_comment(token.kind));
    last.is_some_and(|token| token.kind == TokenKind::CloseParenthesis)
}

/// Whether the last of `tokens`, a minus sign, is the sign of the next value, and does not join two values.
fn is_sign(tokens: &[Token], is_word: &dyn Fn(&Token) -> bool) -> bool {
    use TokenKind as T;
    let before = tokens.iter().rev().filter(|token| !is_comment(token.kind)).nth(1);
    before.is_none_or(|token| match token.kind {
        T::Word => is_word(token),
        T::Number | T::CloseParenthesis | T::CloseBracket | T::Text { .. } => false,
        _ => true,
    })
}
