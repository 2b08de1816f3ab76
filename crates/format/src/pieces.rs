//! How the tokens of a statement stand to each other: with a space between or without, and where a line may end.

use crate::blocks::Blocks;
use crate::tidy;
use flux_front_flux::lexer::lex;
use flux_front_flux::token::{Token, TokenKind};
use flux_source::FileId;

/// What is laid out differently.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StatementKind {
    /// Has C++ types in its lists.
    Declaration,
    /// Has fields or values in braces, a line each where its author has it so.
    Type,
    /// Has its colon between spaces.
    Option,
    /// Has fields in braces, each with attributes; and C++ types in its list.
    Unit,
    /// Any other.
    Other,
}

/// A token or a comment, and how it stands to the one before it.
pub struct Piece {
    /// As it is written.
    pub text: String,
    /// How many brackets it is in; those that open and close are outside of themselves.
    pub depth: usize,
    /// How far a line that starts with it is moved to the right.
    pub levels: usize,
    /// Whether there is a space before it where it is not the first of its line.
    pub spaced: bool,
    /// Whether a line starts with it.
    pub starts_line: bool,
    /// Whether a line may start with it.
    pub may_start_line: bool,
    /// Comments may be longer than a line: breaking it elsewhere makes none of them shorter.
    pub is_comment: bool,
    /// Whether there is an empty line before the line that starts with it.
    pub after_gap: bool,
}

/// The pieces of one statement. Its braces are broken into lines where its author did that, or all of them where it
/// `breaks_all`.
pub fn pieces(text: &str, kind: StatementKind, tokens: &[Token], breaks_all: bool) -> Vec<Piece> {
    let mut result: Vec<Piece> = Vec::with_capacity(tokens.len());
    let mut depth = 0_usize;
    let mut blocks = Blocks::new(text, kind, breaks_all);
    let mut before: Option<&Token> = None;
    for (at, token) in tokens.iter().enumerate() {
        depth = depth.saturating_sub(usize::from(closes(token.kind)));
        let spelling = text.get(token.span.range()).unwrap_or_default();
        let is_comment = is_comment(token.kind);
        let mut piece = Piece {
            text: if is_comment { tidy(spelling) } else { spelling.to_owned() },
            depth,
            levels: 1 + depth,
            spaced: false,
            starts_line: false,
            may_start_line: false,
            is_comment,
            after_gap: false,
        };
        if blocks.has_open() {
            blocks.place(&mut piece, tokens.get(..at).unwrap_or_default(), token, depth);
        } else if let (Some(before), Some(last)) = (before, result.last()) {
            let in_types = kind == StatementKind::Declaration && depth > 0;
            let between = text.get(before.span.range().end..token.span.range().start).unwrap_or_default();
            let was_broken = between.contains('\n');
            let breaks_well = starts_line_well(token.kind) && !in_types;
            // After `//` and `#` it always was.
            let ends_line = last.is_comment && was_broken;
            piece.may_start_line = breaks_well || before.kind == TokenKind::Comma && !is_comment;
            piece.starts_line = ends_line || was_broken && (breaks_well || is_comment);
            piece.spaced = is_spaced(kind, depth, before.kind, token.kind) || merge(&last.text, spelling);
        }
        result.push(piece);
        let mut rest = tokens.get(at + 1..).unwrap_or_default().iter();
        blocks.pass(token, rest.find(|next| !matches!(next.kind, TokenKind::Comment { .. })));
        depth += usize::from(opens(token.kind));
        before = Some(token);
    }
    result
}

pub(crate) fn is_comment(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Comment { .. })
}

pub(crate) fn opens(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::OpenParenthesis | TokenKind::OpenBracket | TokenKind::OpenBrace)
}

pub(crate) fn closes(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::CloseParenthesis | TokenKind::CloseBracket | TokenKind::CloseBrace)
}

/// What a continued line starts with.
fn starts_line_well(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Arrow | TokenKind::FatArrow | TokenKind::Ampersand)
}

/// Whether two tokens written together would be read as something else.
pub(crate) fn merge(first: &str, second: &str) -> bool {
    let together = format!("{first}{second}");
    lex(FileId::default(), &together).first().is_none_or(|token| token.span.range().end != first.len())
}

/// Whether a space stands between two tokens, the second in `depth` brackets.
fn is_spaced(kind: StatementKind, depth: usize, first: TokenKind, second: TokenKind) -> bool {
    use TokenKind as T;
    match (first, second) {
        (T::Equals, T::Semicolon) => true,
        (_, T::Comma | T::Semicolon) => false,
        (T::Comma, _) => true,
        _ if closes(second) => false,
        _ if is_comment(first) || is_comment(second) => true,
        _ if opens(first) => false,
        // One number with a point in it is not what was written.
        (T::Number, T::Dot) | (T::Dot, T::Number) => true,
        (T::Dot | T::DoubleColon, _) | (_, T::Dot | T::DoubleColon) => false,
        // A default.
        (T::Equals, _) | (_, T::Equals) if kind == StatementKind::Declaration && depth > 0 => true,
        _ if has_types(kind) && depth > 0 => is_spaced_in_type(first, second),
        (T::Word, T::OpenParenthesis) => has_types(kind),
        (T::Question | T::Exclamation | T::Minus, _) | (_, T::Question | T::Exclamation) => false,
        // An each step stands where a node may, and its width right after it.
        (T::Arrow | T::Equals | T::Ampersand, T::OpenBracket) => true,
        (T::CloseBracket, T::OpenParenthesis) => false,
        (_, T::OpenBracket) | (T::Colon, T::OpenBrace) => false,
        (_, T::Colon) => kind == StatementKind::Option,
        _ => true,
    }
}

/// Whether its lists are of types and names.
fn has_types(kind: StatementKind) -> bool {
    matches!(kind, StatementKind::Declaration | StatementKind::Unit)
}

/// As C++ is customarily written, and as messages show types: `std::map<int, char *> names[2]`.
pub(crate) fn is_spaced_in_type(first: TokenKind, second: TokenKind) -> bool {
    use TokenKind as T;
    let ends_type = matches!(first, T::Word | T::Number | T::Greater | T::CloseParenthesis | T::CloseBracket);
    ends_type && matches!(second, T::Word | T::Number | T::Asterisk | T::Ampersand)
}
