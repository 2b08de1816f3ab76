//! From tokens to the syntax tree.
//!
//! A hand-written descent through the grammar of the language reference, with two tokens of look-ahead (and past the
//! points of a qualified name), in linear time. One rule is one function; the rules of one concept are one file.
//!
//! What is wrong is reported where it is found, once. A rule that cannot go on returns [`Reported`], up to
//! [`parse`], which skips to the end of the statement: a `;`, or a line that starts another statement, so that one
//! mistake costs one statement. The words skipped are kept, as whatever they declare is not unknown. Where what was
//! meant is plain (a missing `;`, the wrong arrow), the rule reports it and goes on.

mod advice;
mod body;
mod complain;
mod constant;
mod constraint;
mod expression;
mod flow;
mod foreign;
mod message;
mod parameter;
mod state;
mod statement;
mod type_declaration;

pub use body::{too_deep, too_long};

use crate::ids;
use crate::syntax::{Name, QualifiedName, Syntax};
use crate::token::{RESERVED, Token, TokenKind};
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_front::taken::foreign_letters;
use flux_source::Span;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

/// Reads `tokens`, which are those of `text` up to its end; what is wrong goes to `diagnostics`.
pub fn parse<'text>(text: &'text str, mut tokens: Vec<Token>, diagnostics: &mut Diagnostics) -> Syntax<'text> {
    let mut syntax = Syntax::default();
    if let Some(comment) = tokens.iter().find(|token| token.kind == TokenKind::Comment { closed: false }) {
        syntax.truncated = true;
        diagnostics.push(
            Diagnostic::error(ids::UNTERMINATED_COMMENT, "this comment is never closed", opening(comment.span))
                .label("opened here")
                .help("write `*/` where it ends"),
        );
    }
    tokens.retain(|token| !matches!(token.kind, TokenKind::Comment { .. }));
    let mut parser = Parser {
        text,
        tokens,
        position: 0,
        depth: 0,
        chain: 0,
        in_body: false,
        in_message: false,
        has_mistake: false,
        body_is_wrong: false,
        output: None,
        diagnostics,
        lists: HashSet::new(),
        named_badly: HashSet::new(),
        syntax,
    };
    parser.find_lists();
    while parser.peek().kind != TokenKind::End {
        let start = parser.position;
        parser.depth = 0;
        parser.chain = 0;
        parser.in_body = false;
        parser.in_message = false;
        parser.has_mistake = false;
        parser.body_is_wrong = false;
        match parser.statement() {
            Ok(statement) => parser.syntax.statements.push(statement),
            Err(Reported) => parser.skip_statement(start),
        }
    }
    parser.syntax
}

/// The `/*` of a comment.
fn opening(comment: Span) -> Span {
    Span { end: comment.end.min(comment.start + 2), ..comment }
}

/// A mistake was reported, and the rest of the statement is to be skipped.
struct Reported;

/// What a rule gives.
type Parsed<T> = Result<T, Reported>;

struct Parser<'text, 'run> {
    text: &'text str,
    /// Without comments.
    tokens: Vec<Token>,
    /// The next token.
    position: usize,
    /// How many parallel steps are open, or how deep a body is nested.
    depth: usize,
    /// How many operators follow each other in the value that is being read, where that is most.
    chain: usize,
    /// Whether a body is open: then nothing in it starts a statement of the program.
    in_body: bool,
    /// Whether that is a message, in which names after `&` are attributes.
    in_message: bool,
    /// Whether something was reported in the statement.
    has_mistake: bool,
    /// Whether the open body has a mistake, after which it is not known what it means.
    body_is_wrong: bool,
    /// The first output of the node whose body is open, for advice.
    output: Option<&'text str>,
    diagnostics: &'run mut Diagnostics,
    /// The lists of parameters that the text has a `using` for.
    lists: HashSet<&'text str>,
    /// The words that were reported as bad names; each is reported once.
    named_badly: HashSet<&'text str>,
    syntax: Syntax<'text>,
}

impl<'text> Parser<'text, '_> {
    /// Finds the names of lists, `using NAME =`: a node may be declared before the list that it takes.
    fn find_lists(&mut self) {
        for words in self.tokens.windows(3) {
            if let [using, name, equals] = words
                && (name.kind, equals.kind) == (TokenKind::Word, TokenKind::Equals)
                && self.spelling(*using) == "using"
            {
                self.lists.insert(self.spelling(*name));
            }
        }
    }

    /// The token at `position`; beyond the last one, and it is the end, the end again.
    fn token(&self, position: usize) -> Token {
        let end = Token { kind: TokenKind::End, span: Span::default(), starts_line: false };
        self.tokens.get(position).or(self.tokens.last()).copied().unwrap_or(end)
    }

    fn peek(&self) -> Token {
        self.token(self.position)
    }

    fn second(&self) -> Token {
        self.token(self.position + 1)
    }

    /// The token before the next one.
    fn previous(&self) -> Token {
        self.token(self.position.saturating_sub(1))
    }

    fn bump(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.position += 1;
        }
        token
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.peek().kind == kind
    }

    /// Takes a string that is closed, and gives what is between its quotes, as written.
    fn take_text(&mut self) -> Option<&'text str> {
        let token = self.take(TokenKind::Text { closed: true })?;
        self.spelling(token).strip_prefix('"')?.strip_suffix('"')
    }

    /// Takes the next token if it is of `kind`.
    fn take(&mut self, kind: TokenKind) -> Option<Token> {
        self.at(kind).then(|| self.bump())
    }

    fn spelling(&self, token: Token) -> &'text str {
        self.text.get(token.span.range()).unwrap_or("")
    }

    fn at_word(&self, word: &str) -> bool {
        self.at(TokenKind::Word) && self.spelling(self.peek()) == word
    }

    /// Whether what comes matches anything.
    fn at_any(&self) -> bool {
        self.at(TokenKind::Asterisk) || self.at_word("_")
    }

    /// From the token at `start` to the last one taken.
    fn span_from(&self, start: usize) -> Span {
        self.token(start).span.to(self.previous().span)
    }

    /// Takes a token of `kind`; `place` says where it belongs: "after `source`", and `help` what to write.
    fn expect(&mut self, kind: TokenKind, place: fmt::Arguments, help: fmt::Arguments) -> Parsed<Token> {
        match self.take(kind) {
            Some(token) => Ok(token),
            None => self.fail_expecting(kind.name(), place, help),
        }
    }

    /// Takes the bracket that closes `open`. `list` says what of: "the patterns of `Handler`", `others` what else
    /// could stand here, and `help` how the list is written. Where nothing of the list can follow any more, the bracket
    /// is what is wrong.
    fn expect_close(&mut self, open: Token, others: &str, list: fmt::Arguments, help: &str) -> Parsed<()> {
        let kind = match open.kind {
            TokenKind::OpenBracket => TokenKind::CloseBracket,
            TokenKind::OpenBrace => TokenKind::CloseBrace,
            _ => TokenKind::CloseParenthesis,
        };
        if self.take(kind).is_some() {
            return Ok(());
        }
        let ends_list = matches!(
            self.peek().kind,
            TokenKind::Semicolon
                | TokenKind::End
                | TokenKind::Equals
                | TokenKind::FatArrow
                | TokenKind::Arrow
                | TokenKind::CloseParenthesis
                | TokenKind::CloseBracket
                | TokenKind::CloseBrace
        );
        if (ends_list || self.starts_statement(self.position)) && !self.separates(kind) {
            return self.fail_unclosed(open, kind, list);
        }
        let expected = format!("{others} or {}", kind.name());
        self.fail_expecting(&expected, format_args!("in {list}"), format_args!("{help}"))
    }

    /// Whether the next token is a `;` in the place of a comma: the list goes on after it, up to its bracket `close`.
    fn separates(&self, close: TokenKind) -> bool {
        if !self.at(TokenKind::Semicolon) || self.looks_like_statement(self.position + 1) {
            return false;
        }
        let mut after = (self.position + 1..).map(|position| self.token(position));
        let end = after.find(|token| {
            token.starts_line || matches!(token.kind, TokenKind::Semicolon | TokenKind::End) || token.kind == close
        });
        end.is_some_and(|token| token.kind == close && !token.starts_line)
    }

    /// Takes the `=>` after what `place` names; another arrow there is reported and taken for it. `help` says what to
    /// write where there is none.
    fn expect_fat_arrow(&mut self, place: fmt::Arguments, help: fmt::Arguments) -> Parsed<()> {
        if self.take(TokenKind::FatArrow).is_some() {
            return Ok(());
        }
        if matches!(self.peek().kind, TokenKind::Arrow | TokenKind::Equals) {
            let found = self.bump();
            self.report_wrong_arrow(found, "=>", place);
            return Ok(());
        }
        self.fail_expecting("`=>`", place, help)
    }

    /// Takes the `;` of a statement that started at `start` and gives the statement's span. `expected` names all that
    /// could stand here, and `help` says what to write where something else does. Where the next line starts a
    /// statement, only the `;` is missing.
    fn end_statement(&mut self, start: usize, expected: &str, place: fmt::Arguments, help: &str) -> Parsed<Span> {
        if self.take(TokenKind::Semicolon).is_none() {
            if !self.at(TokenKind::End) && !self.starts_statement(self.position) {
                let help = self.advice_after_statement().unwrap_or(help);
                return self.fail_expecting(expected, place, format_args!("{help}"));
            }
            // After a body that is wrong, what is missing may be in it.
            if !self.body_is_wrong {
                self.report_missing_semicolon(place);
            }
        }
        Ok(self.span_from(start))
    }

    /// Takes a name without points; `what` says of what: "a constraint", and `help` what to write where there is none.
    fn name(&mut self, what: &str, place: fmt::Arguments, help: fmt::Arguments) -> Parsed<Name<'text>> {
        let token = self.peek();
        let word = self.spelling(token);
        // In `A = B ->` and then `source C => D;` the name is missing; in `A = source;` a reserved word is one.
        let is_next_statement =
            matches!(word, "typedef" | "source" | "handle" | "atomic") && self.starts_statement(self.position);
        if token.kind != TokenKind::Word || word == "_" || is_next_statement {
            return self.fail_expecting(what, place, help);
        }
        if RESERVED.contains(&word) {
            return self.fail_reserved(word, token.span);
        }
        self.bump();
        let name = Name { text: Cow::Borrowed(word), span: token.span };
        self.check_letters(&name);
        Ok(name)
    }

    /// Takes a name that may be qualified.
    fn qualified_name(
        &mut self,
        what: &str,
        place: fmt::Arguments,
        help: fmt::Arguments,
    ) -> Parsed<QualifiedName<'text>> {
        let mut name = QualifiedName::from(self.name(what, place, help)?);
        while self.take(TokenKind::Dot).is_some() {
            let help = format_args!("write the rest of the name after the point, or remove the point");
            let part = self.name("a name", format_args!("after `{name}.`"), help)?;
            let folder = match (name.folder, name.module) {
                (Some(folder), Some(module)) => Some(Cow::Owned(format!("{folder}.{module}"))),
                (_, module) => module,
            };
            let span = name.span.to(part.span);
            name = QualifiedName { folder, module: Some(name.own), own: part.text, span };
        }
        if self.at(TokenKind::DoubleColon) {
            let help = format_args!("a name in a module is written with a point: `{name}.Name`");
            return self.fail_expecting("`.`", format_args!("after `{name}`"), help);
        }
        Ok(self.with_hyphens(name))
    }

    /// Takes the name of a node, as what else is written where it should be is taken for it and reported: `404`.
    fn node_name(&mut self, place: fmt::Arguments, help: fmt::Arguments) -> Parsed<QualifiedName<'text>> {
        if !self.at(TokenKind::Number) {
            return self.qualified_name("a node", place, help);
        }
        let token = self.bump();
        let word = self.spelling(token);
        self.report_bad_name(word, token.span, "it starts with a digit", format_args!("write a letter before it"));
        Ok(Name { text: Cow::Borrowed(word), span: token.span }.into())
    }

    /// The name with what follows it after hyphens, as in `send-page`, which is reported.
    fn with_hyphens(&mut self, name: QualifiedName<'text>) -> QualifiedName<'text> {
        let start = name.span;
        let mut end = start;
        while self.at(TokenKind::Minus)
            && self.second().kind == TokenKind::Word
            && self.peek().span.start == end.end
            && self.second().span.start == self.peek().span.end
        {
            self.bump();
            end = self.bump().span;
        }
        if end == start {
            return name;
        }
        let span = start.to(end);
        let word = self.text.get(span.range()).unwrap_or("");
        let help = format_args!("write `{}`, or `->` where a flow was meant to go on", word.replace('-', "_"));
        self.report_bad_name(word, span, "it has a `-`", help);
        Name { text: Cow::Borrowed(word), span }.into()
    }

    /// Reports a name whose letters are not those of a C++ name.
    fn check_letters(&mut self, name: &Name<'text>) {
        let word = self.text.get(name.span.range()).unwrap_or("");
        if !word.is_ascii() && self.named_badly.insert(word) {
            self.report(foreign_letters(word, name.span));
        }
    }

    /// Whether a statement starts at `position`, which is then the first word of a line. Used only where the grammar
    /// allows no word (or after the place where it does), so that a chain may be laid out in any way.
    fn starts_statement(&self, position: usize) -> bool {
        let is_open = position.checked_sub(1).is_some_and(|before| continues(self.token(before).kind));
        let is_reserved = RESERVED.contains(&self.spelling(self.token(position)));
        (is_reserved || !is_open) && self.starts_statement_at_line(position)
    }

    /// Whether a line starts at `position`, and on it a statement.
    fn starts_statement_at_line(&self, position: usize) -> bool {
        self.token(position).starts_line && self.looks_like_statement(position)
    }

    /// Whether the declaration of an error code stands at `position`, whose first word is `error`.
    fn starts_code(&self, position: usize) -> bool {
        let [name, equals] = [1, 2].map(|after| self.token(position + after).kind);
        (name, equals) == (TokenKind::Word, TokenKind::Equals)
    }

    /// Whether the tokens at `position` could start a statement, wherever they stand.
    fn looks_like_statement(&self, position: usize) -> bool {
        let token = self.token(position);
        if token.kind != TokenKind::Word {
            return false;
        }
        let next = self.token(position + 1).kind;
        match self.spelling(token) {
            "typedef" | "source" | "handle" | "atomic" => next == TokenKind::Word,
            "include" | "link" if matches!(next, TokenKind::Text { .. }) => true,
            "use" if matches!(next, TokenKind::Word | TokenKind::Text { .. }) => true,
            "option" | "type" | "using" if next == TokenKind::Word => true,
            "error" => self.starts_code(position),
            "state" if next == TokenKind::Word => self.token(position + 2).kind == TokenKind::OpenParenthesis,
            "record" | "enum" if next == TokenKind::Word => self.token(position + 2).kind == TokenKind::OpenBrace,
            _ => {
                let mut after = position + 1;
                while self.token(after).kind == TokenKind::Dot && self.token(after + 1).kind == TokenKind::Word {
                    after += 2;
                }
                let following = self.token(after + 1).kind;
                match self.token(after).kind {
                    TokenKind::Equals | TokenKind::OpenBracket => true,
                    TokenKind::Colon => following == TokenKind::OpenBracket,
                    TokenKind::OpenParenthesis => {
                        !matches!(following, TokenKind::Number | TokenKind::Minus | TokenKind::Text { .. })
                    }
                    _ => false,
                }
            }
        }
    }

    /// Skips what is left of a statement that started at `start`, and keeps its words. It ends at a `;` after which a
    /// line or a statement starts, unless that is in braces; or at a line that starts a statement, unless that is in
    /// the braces of a unit, as others may be open by mistake.
    fn skip_statement(&mut self, start: usize) {
        let failed_at = self.position;
        let has_statements = self.in_body || matches!(self.spelling(self.token(start)), "type" | "record" | "enum");
        let mut open_braces = 0_usize;
        self.position = start;
        loop {
            let token = self.peek();
            match token.kind {
                TokenKind::End => break,
                TokenKind::OpenBrace => open_braces += 1,
                TokenKind::CloseBrace => open_braces = open_braces.saturating_sub(1),
                TokenKind::Word => {
                    let may_end = self.position > start && self.position >= failed_at;
                    if may_end && !(has_statements && open_braces > 0) && self.starts_statement(self.position) {
                        break;
                    }
                    self.syntax.skipped_words.insert(Cow::Borrowed(self.spelling(token)));
                }
                _ => {}
            }
            self.bump();
            let may_end = token.kind == TokenKind::Semicolon && self.position > failed_at && open_braces == 0;
            if may_end && (self.peek().starts_line || self.looks_like_statement(self.position)) {
                break;
            }
        }
    }
}

/// Whether a token of this kind leaves a statement open, so that none starts after it.
fn continues(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Arrow
            | TokenKind::FatArrow
            | TokenKind::Comma
            | TokenKind::Ampersand
            | TokenKind::Colon
            | TokenKind::Dot
            | TokenKind::OpenParenthesis
            | TokenKind::OpenBracket
            | TokenKind::OpenBrace
    )
}
