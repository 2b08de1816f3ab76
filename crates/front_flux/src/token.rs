//! Tokens: what a `.flux` text is made of.
//!
//! A [`Token`] is a kind and a span; its spelling stays in the source. Comments are tokens too, so that everything a
//! person wrote can be found in the sequence (white space is what lies between two spans). There are no keyword tokens:
//! a word of Flux is a keyword by its place alone, and [`RESERVED`] lists the few that can never be a name.

use flux_source::Span;

/// The words that cannot name anything: the keywords of 2006.
pub const RESERVED: [&str; 7] = ["typedef", "source", "handle", "error", "atomic", "program", "session"];

/// The words that start a statement, reserved or by their place.
pub const STARTERS: [&str; 8] = ["include", "use", "option", "typedef", "type", "source", "handle", "atomic"];

/// One token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
    /// Whether it is the first on its line, comments aside.
    pub starts_line: bool,
}

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// Letters, digits and `_`, not starting with a digit.
    Word,
    /// A digit and the letters, digits and points that follow: `80`, `64k`, `100ms`, also `1.5` and `0x1F`.
    Number,
    /// `"..."` on one line.
    Text {
        /// False where the line ended before the closing quote.
        closed: bool,
    },
    /// `// ...`, `/* ... */`, and inside braces `# ...`.
    Comment {
        /// False where the file ended before `*/`.
        closed: bool,
    },
    /// `(`
    OpenParenthesis,
    /// `)`
    CloseParenthesis,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `:`
    Colon,
    /// `::`
    DoubleColon,
    /// `.`
    Dot,
    /// `=`
    Equals,
    /// `=>`, or `⇒` as the paper's Figure 1 prints it.
    FatArrow,
    /// `->`, or `→` as the paper's Figure 1 prints it.
    Arrow,
    /// `&`
    Ampersand,
    /// `*`
    Asterisk,
    /// `?`
    Question,
    /// `!`
    Exclamation,
    /// `-`
    Minus,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// Any other character; a few of them may stand inside a C++ type.
    Other,
    /// The end of the file.
    End,
}

impl TokenKind {
    /// How a message names this kind: in backquotes where the spelling is fixed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Word => "a name",
            Self::Number => "a number",
            Self::Text { .. } => "a string",
            Self::Comment { .. } => "a comment",
            Self::OpenParenthesis => "`(`",
            Self::CloseParenthesis => "`)`",
            Self::OpenBracket => "`[`",
            Self::CloseBracket => "`]`",
            Self::OpenBrace => "`{`",
            Self::CloseBrace => "`}`",
            Self::Comma => "`,`",
            Self::Semicolon => "`;`",
            Self::Colon => "`:`",
            Self::DoubleColon => "`::`",
            Self::Dot => "`.`",
            Self::Equals => "`=`",
            Self::FatArrow => "`=>`",
            Self::Arrow => "`->`",
            Self::Ampersand => "`&`",
            Self::Asterisk => "`*`",
            Self::Question => "`?`",
            Self::Exclamation => "`!`",
            Self::Minus => "`-`",
            Self::Less => "`<`",
            Self::Greater => "`>`",
            Self::Other => "a character",
            Self::End => "the end of the file",
        }
    }
}
