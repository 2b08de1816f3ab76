//! From text to tokens.
//!
//! The lexer is total: every text has tokens, every character that is not white space is in exactly one of them, and
//! nothing is reported here. The kind of a token says what is wrong with it (a string that is not closed, a character
//! that means nothing); the parser reports it, because it knows what was being written. Time is linear in the text.
//!
//! One thing depends on the context: inside braces `#` starts a comment, as in the units of FLICK's notation. Outside
//! of units no brace encloses a `#`, so counting braces is enough. In `.flick` files `#` starts a comment everywhere.

use crate::token::{Token, TokenKind};
use flux_source::{FileId, Span};
use std::str::Chars;

/// The tokens of `text`, comments included, in order; the last is [`TokenKind::End`], an empty span at the end.
pub fn lex(file: FileId, text: &str) -> Vec<Token> {
    tokens(file, Lexer { length: text.len(), rest: text.chars(), open_braces: 0, hash_comments: false })
}

/// As [`lex`], of a text in which every `#` starts a comment.
pub fn lex_with_hash_comments(file: FileId, text: &str) -> Vec<Token> {
    tokens(file, Lexer { length: text.len(), rest: text.chars(), open_braces: 0, hash_comments: true })
}

fn tokens(file: FileId, mut lexer: Lexer<'_>) -> Vec<Token> {
    // Programs have a token for about five bytes.
    let mut tokens = Vec::with_capacity(lexer.length / 4);
    let mut starts_line = true;
    loop {
        starts_line |= lexer.skip_white_space();
        let start = lexer.position();
        let kind = lexer.kind();
        tokens.push(Token { kind, span: Span::new(file, start..lexer.position()), starts_line });
        match kind {
            TokenKind::End => return tokens,
            TokenKind::Comment { .. } => {}
            _ => starts_line = false,
        }
    }
}

struct Lexer<'text> {
    length: usize,
    rest: Chars<'text>,
    open_braces: usize,
    /// Whether `#` starts a comment outside of braces, too.
    hash_comments: bool,
}

impl Lexer<'_> {
    fn position(&self) -> usize {
        self.length - self.rest.as_str().len()
    }

    fn first(&self) -> Option<char> {
        self.rest.clone().next()
    }

    /// Takes the next character if it is `expected`.
    fn take(&mut self, expected: char) -> bool {
        let found = self.first() == Some(expected);
        if found {
            self.rest.next();
        }
        found
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) {
        while self.first().is_some_and(&accept) {
            self.rest.next();
        }
    }

    /// Whether a line ended. A byte order mark counts as white space.
    fn skip_white_space(&mut self) -> bool {
        let before = self.rest.as_str();
        self.take_while(|character| character.is_whitespace() || character == '\u{feff}');
        let skipped = before.len() - self.rest.as_str().len();
        before.bytes().take(skipped).any(|byte| byte == b'\n')
    }

    /// Takes one token.
    fn kind(&mut self) -> TokenKind {
        let Some(first) = self.rest.next() else { return TokenKind::End };
        match first {
            '_' => self.word(),
            '0'..='9' => self.number(),
            '"' => self.text(),
            '/' if self.take('/') => self.line_comment(),
            '/' if self.take('*') => self.block_comment(),
            '#' if self.hash_comments || self.open_braces > 0 => self.line_comment(),
            letter if letter.is_alphabetic() => self.word(),
            symbol => self.symbol(symbol),
        }
    }

    fn symbol(&mut self, symbol: char) -> TokenKind {
        match symbol {
            '(' => TokenKind::OpenParenthesis,
            ')' => TokenKind::CloseParenthesis,
            '[' => TokenKind::OpenBracket,
            ']' => TokenKind::CloseBracket,
            '{' => {
                self.open_braces += 1;
                TokenKind::OpenBrace
            }
            '}' => {
                self.open_braces = self.open_braces.saturating_sub(1);
                TokenKind::CloseBrace
            }
            ',' => TokenKind::Comma,
            ';' => TokenKind::Semicolon,
            ':' if self.take(':') => TokenKind::DoubleColon,
            ':' => TokenKind::Colon,
            '.' => TokenKind::Dot,
            '=' if self.take('>') => TokenKind::FatArrow,
            '=' => TokenKind::Equals,
            '⇒' => TokenKind::FatArrow,
            '-' if self.take('>') => TokenKind::Arrow,
            '-' => TokenKind::Minus,
            '→' => TokenKind::Arrow,
            '&' => TokenKind::Ampersand,
            '*' => TokenKind::Asterisk,
            '?' => TokenKind::Question,
            '!' => TokenKind::Exclamation,
            '<' => TokenKind::Less,
            '>' => TokenKind::Greater,
            _ => TokenKind::Other,
        }
    }

    fn word(&mut self) -> TokenKind {
        self.take_while(is_word_character);
        TokenKind::Word
    }

    /// A point belongs to the number where a digit follows it.
    fn number(&mut self) -> TokenKind {
        self.take_while(is_word_character);
        let mut ahead = self.rest.clone();
        if ahead.next() == Some('.') && ahead.next().is_some_and(|next| next.is_ascii_digit()) {
            self.rest.next();
            self.take_while(is_word_character);
        }
        TokenKind::Number
    }

    fn text(&mut self) -> TokenKind {
        loop {
            match self.first() {
                None | Some('\n') => return TokenKind::Text { closed: false },
                Some('"') => {
                    self.rest.next();
                    return TokenKind::Text { closed: true };
                }
                Some('\\') => {
                    self.rest.next();
                    if self.first() != Some('\n') {
                        self.rest.next();
                    }
                }
                Some(_) => {
                    self.rest.next();
                }
            }
        }
    }

    fn line_comment(&mut self) -> TokenKind {
        self.take_while(|character| character != '\n');
        TokenKind::Comment { closed: true }
    }

    fn block_comment(&mut self) -> TokenKind {
        while let Some(character) = self.rest.next() {
            if character == '*' && self.take('/') {
                return TokenKind::Comment { closed: true };
            }
        }
        TokenKind::Comment { closed: false }
    }
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;
    use TokenKind::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        lex(FileId(0), text).iter().map(|token| token.kind).collect()
    }

    fn spellings(text: &str) -> Vec<&str> {
        lex(FileId(0), text).iter().map(|token| &text[token.span.range()]).collect()
    }

    #[test]
    fn arrows_are_ascii_or_as_the_paper_prints_them() {
        assert_eq!(kinds("=> -> ⇒ → = - >"), [FatArrow, Arrow, FatArrow, Arrow, Equals, Minus, Greater, End]);
        assert_eq!(spellings("A⇒B→C"), ["A", "⇒", "B", "→", "C", ""]);
    }

    #[test]
    fn a_pointer_needs_no_space() {
        assert_eq!(spellings("char*a, T**b"), ["char", "*", "a", ",", "T", "*", "*", "b", ""]);
    }

    #[test]
    fn numbers_take_their_units_along() {
        assert_eq!(
            spellings("64k 100ms 1.5 2.x 0x1F -3"),
            ["64k", "100ms", "1.5", "2", ".", "x", "0x1F", "-", "3", ""]
        );
    }

    #[test]
    fn strings_end_at_their_quote_or_with_the_line() {
        assert_eq!(kinds(r#""a\"b" "#), [Text { closed: true }, End]);
        assert_eq!(kinds("\"a\n\"b\""), [Text { closed: false }, Text { closed: true }, End]);
        assert_eq!(kinds("\"a\\"), [Text { closed: false }, End]);
        assert_eq!(kinds("\"a\\\n;"), [Text { closed: false }, Semicolon, End]);
    }

    #[test]
    fn comments_are_tokens() {
        assert_eq!(spellings("a // b\n/* c\n */ d /*/"), ["a", "// b", "/* c\n */", "d", "/*/", ""]);
        assert_eq!(kinds("/*/"), [Comment { closed: false }, End]);
        assert_eq!(kinds("/**/"), [Comment { closed: true }, End]);
    }

    #[test]
    fn a_hash_is_a_comment_inside_braces_only() {
        assert_eq!(spellings("{ # it's {\n } # x"), ["{", "# it's {", "}", "#", "x", ""]);
    }

    #[test]
    fn the_first_token_of_a_line_is_known() {
        let starts = |text| -> Vec<bool> { lex(FileId(0), text).iter().map(|token| token.starts_line).collect() };
        assert_eq!(starts("a b\n/* x */ c d"), [true, false, true, true, false, false]);
    }

    #[test]
    fn any_text_is_covered_without_gaps_or_overlaps() {
        let text = "\u{feff}A = @ “x” é\u{301} \0 ;\r\n\u{a0}B§ \"";
        let mut end = 0;
        for token in lex(FileId(0), text) {
            let range = token.span.range();
            assert!(text[end..range.start].chars().all(|c| c.is_whitespace() || c == '\u{feff}'));
            end = range.end;
        }
        assert_eq!(end, text.len());
    }
}
