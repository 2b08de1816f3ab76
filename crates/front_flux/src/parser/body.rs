//! Bodies in braces: of computed nodes, and of computed predicates.

use super::{Parsed, Parser};
use crate::body::{Body, FailCode, Form, Spelled, Statement, Value};
use crate::cpp_type::{nested_too_deep, normalise};
use crate::ids;
use crate::syntax::{Name, QualifiedName};
use crate::token::TokenKind;
use flux_diagnostic::Diagnostic;
use flux_source::{CHAIN_LIMIT, NESTING_LIMIT, Span, deep};
use std::fmt::Arguments;

/// What ends a statement, or a part of one.
const ENDS: [TokenKind; 4] = [TokenKind::Semicolon, TokenKind::OpenBrace, TokenKind::CloseBrace, TokenKind::End];

/// How many tokens are looked at to tell what a statement is.
const LOOKED_AT: usize = 256;

/// What may stand in a body.
const STATEMENTS: &str = "the statements of a body are `let x = …;`, `x = …;`, `x[…] = …;`, `if … { … } else { … }`, \
                          `for x in … { … }` and `fail 404;`";

impl<'text> Parser<'text, '_> {
    /// `body = "{" { statement } [ expression [ ";" ] ] "}"`; the last only where it `says` something, as a predicate.
    pub(super) fn body(&mut self, of: &QualifiedName<'text>, says: bool) -> Parsed<Body<'text>> {
        (self.in_body, self.body_is_wrong) = (true, false);
        let start = self.position;
        let open = self.bump();
        let mut body = Body { block: vec![], says: None, is_wrong: false, span: open.span };
        while self.take(TokenKind::CloseBrace).is_none() {
            if self.ends_body() {
                return self.fail_unclosed(open, TokenKind::CloseBrace, format_args!("the body of `{}`", of));
            }
            if says && !self.at_foreign_word() && (!self.at_body_statement() || self.is_last_assignment()) {
                body.says = Some(self.value()?);
                self.take(TokenKind::Semicolon);
                if self.take(TokenKind::CloseBrace).is_none() {
                    let place = format_args!("after what `{}` says", of);
                    return self.fail_expecting("`}`", place, format_args!("the condition of a predicate comes last"));
                }
                break;
            }
            body.block.extend(self.body_statement_or_skip());
        }
        body.is_wrong = self.body_is_wrong;
        body.span = self.span_from(start);
        self.in_body = false;
        Ok(body)
    }

    /// Whether the body cannot go on: the file ends, or a line starts a statement of the program, perhaps after a `};`.
    fn ends_body(&self) -> bool {
        let is_semicolon = self.at(TokenKind::Semicolon) && self.previous().kind == TokenKind::CloseBrace;
        let next = self.position + usize::from(is_semicolon);
        let token = self.token(next);
        token.kind == TokenKind::End || token.starts_line && self.looks_like_program_statement(next)
    }

    /// Whether the tokens at `position` can start a statement of the program, and none of a body.
    fn looks_like_program_statement(&self, position: usize) -> bool {
        let second = self.token(position + 1).kind;
        // Before anything else than a word or a text, these words are names of the body: `state[0] = 1;`.
        let starts = match self.spelling(self.token(position)) {
            "include" | "link" | "use" => matches!(second, TokenKind::Word | TokenKind::Text { .. }),
            "typedef" | "source" | "handle" | "atomic" | "option" | "using" | "record" | "enum" | "state" => {
                second == TokenKind::Word
            }
            _ => false,
        };
        let has_arrow = || {
            let arrows = [TokenKind::FatArrow, TokenKind::Arrow];
            self.first_of(position, &[&arrows[..], &ENDS].concat()).is_some_and(|(_, kind)| arrows.contains(&kind))
        };
        let may_be_flow = matches!(second, TokenKind::Equals | TokenKind::OpenParenthesis) && has_arrow();
        (starts || may_be_flow) && self.looks_like_statement(position)
    }

    /// The first token of these kinds from `position` on, and its position. Only so many are looked at that no text
    /// takes long.
    fn first_of(&self, position: usize, kinds: &[TokenKind]) -> Option<(usize, TokenKind)> {
        let mut next = (position..).take(LOOKED_AT).map(|position| (position, self.token(position).kind));
        next.find(|(_, kind)| kinds.contains(kind))
    }

    /// Whether the assignment that comes is the last of the body: in a predicate `==` was meant.
    fn is_last_assignment(&self) -> bool {
        let is_assignment = self.second().kind == TokenKind::Equals;
        is_assignment
            && match self.first_of(self.position, &ENDS) {
                Some((position, TokenKind::Semicolon)) => self.token(position + 1).kind == TokenKind::CloseBrace,
                Some((_, kind)) => kind == TokenKind::CloseBrace,
                None => false,
            }
    }

    /// A statement of a body. One with a mistake, which is reported, is skipped: those after it are read.
    fn body_statement_or_skip(&mut self) -> Option<Statement<'text>> {
        let (start, depth) = (self.position, self.depth);
        self.has_mistake = false;
        if let Some(semicolon) = self.take(TokenKind::Semicolon) {
            let error = Diagnostic::error(ids::UNEXPECTED_TOKEN, "this `;` ends no statement", semicolon.span);
            self.report(error.help("remove it: a block ends with its `}` alone"));
            return None;
        }
        let statement = self.body_statement().ok();
        if statement.is_none() {
            self.body_is_wrong = true;
            self.depth = depth;
            self.skip_body_statement(start);
        }
        // What ends the statement of the program is said only where the body is right.
        self.has_mistake |= self.body_is_wrong;
        statement
    }

    /// Whether a line starts another statement, of the body or of the program.
    fn starts_another(&self) -> bool {
        let starts = || self.at_body_statement() || self.looks_like_program_statement(self.position);
        self.peek().starts_line && starts()
    }

    /// Skips what is left of a statement of a body that started at `start`: up to its `;`, past its block, or up to
    /// what can only come after it.
    fn skip_body_statement(&mut self, start: usize) {
        let failed_at = self.position;
        let (mut open_braces, mut open_parentheses) = (0_usize, 0_usize);
        self.position = start;
        loop {
            let token = self.peek();
            let has_failed = self.position >= failed_at;
            match token.kind {
                TokenKind::End => return,
                // The `;` in `for (int i = 0; …)` end nothing.
                TokenKind::OpenParenthesis => open_parentheses += 1,
                TokenKind::CloseParenthesis => open_parentheses = open_parentheses.saturating_sub(1),
                TokenKind::OpenBrace => (open_braces, open_parentheses) = (open_braces + 1, 0),
                TokenKind::CloseBrace if open_braces == 0 => return,
                TokenKind::CloseBrace => open_braces -= 1,
                TokenKind::Word if open_braces == 0 && self.position > failed_at && self.starts_another() => return,
                _ => {}
            }
            self.bump();
            let is_end = match token.kind {
                TokenKind::Semicolon => open_parentheses == 0,
                TokenKind::CloseBrace => !self.at_word("else") && !self.at(TokenKind::Semicolon),
                _ => false,
            };
            if is_end && open_braces == 0 && has_failed {
                return;
            }
        }
    }

    /// Whether a statement comes, and not a value.
    pub(super) fn at_body_statement(&self) -> bool {
        let (word, second) = (self.spelling(self.peek()), self.second());
        if !self.at(TokenKind::Word) {
            return false;
        }
        let starts = match word {
            "let" => matches!(second.kind, TokenKind::Word | TokenKind::OpenParenthesis),
            "for" => second.kind == TokenKind::Word,
            "if" => true,
            "fail" => matches!(second.kind, TokenKind::Number | TokenKind::Minus | TokenKind::Word),
            _ => false,
        };
        let after = if second.kind == TokenKind::OpenBracket { self.after_bracket() } else { self.position + 1 };
        starts || self.token(after).kind == TokenKind::Equals && !self.is_equality(after)
    }

    /// The position after the bracket that closes the one which comes after the next token.
    pub(super) fn after_bracket(&self) -> usize {
        let (mut position, mut depth) = (self.position + 1, 0_usize);
        loop {
            match self.token(position).kind {
                TokenKind::OpenBracket => depth += 1,
                TokenKind::CloseBracket => depth = depth.saturating_sub(1),
                TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseBrace | TokenKind::End => {
                    return position;
                }
                _ => {}
            }
            position += 1;
            if depth == 0 {
                return position;
            }
        }
    }

    /// Whether the `=` at `position` is the first of `==`.
    pub(super) fn is_equality(&self, position: usize) -> bool {
        let (first, second) = (self.token(position), self.token(position + 1));
        (first.kind, second.kind) == (TokenKind::Equals, TokenKind::Equals) && first.span.end == second.span.start
    }

    fn body_statement(&mut self) -> Parsed<Statement<'text>> {
        deep(|| {
            if !self.at_body_statement() || self.at_foreign_for() {
                if let Some(foreign) = self.foreign_statement()? {
                    return Ok(foreign);
                }
                return self.fail_expecting("a statement", format_args!("in a body"), format_args!("{STATEMENTS}"));
            }
            let is_assignment = self.second().kind == TokenKind::Equals;
            match self.spelling(self.peek()) {
                "if" if !is_assignment => return self.body_if(),
                "for" if !is_assignment => {
                    let (names, over) = self.walk()?;
                    return Ok(Statement::For(names, over, self.block("the loop")?));
                }
                _ => {}
            }
            let statement = match self.spelling(self.peek()) {
                "fail" if !is_assignment => self.fail_statement()?,
                "let" if !is_assignment => self.let_statement()?,
                _ => {
                    let name = self.name("a name", format_args!("here"), format_args!("{STATEMENTS}"))?;
                    let open = self.bump();
                    match open.kind {
                        TokenKind::OpenBracket => {
                            let key = self.value()?;
                            let help = "an element is given a value by `list[0] = …;`";
                            self.expect_close(open, "an operator", format_args!("the element"), help)?;
                            self.bump();
                            Statement::Put(name, key, self.value()?)
                        }
                        _ => Statement::Assign(name, self.value()?),
                    }
                }
            };
            self.end_body_statement()?;
            Ok(statement)
        })
    }

    /// Takes the `;` of a statement of a body. Only the `;` is missing where the block ends, or a line starts another
    /// statement.
    pub(super) fn end_body_statement(&mut self) -> Parsed<()> {
        if self.take(TokenKind::Semicolon).is_some() {
            return Ok(());
        }
        let starts_statement = self.peek().starts_line && (self.at_body_statement() || self.at_foreign_word());
        if self.at(TokenKind::CloseBrace) || starts_statement {
            self.report_missing_semicolon(format_args!("after the value"));
            return Ok(());
        }
        let help = "every statement ends with `;`, and values are joined by `+`, `-`, `*`, `/`, `==`, `&&` and so on";
        self.fail_expecting("`;`", format_args!("after the value"), format_args!("{help}"))
    }

    /// `"let" ( NAME [ ":" type ] | "(" NAME { "," NAME } ")" ) "=" expression`
    fn let_statement(&mut self) -> Parsed<Statement<'text>> {
        self.bump();
        if let Some(open) = self.take(TokenKind::OpenParenthesis) {
            let help = "what a node gives is named by `let (x, y) = Node(…);`";
            let names = self.names(format_args!("after `let (`"), format_args!("{help}"))?;
            self.expect_close(open, "`,`", format_args!("the names"), help)?;
            self.expect(TokenKind::Equals, format_args!("after the names"), format_args!("{help}"))?;
            return Ok(Statement::LetAll(names, self.value()?));
        }
        let help = format_args!("write `let x = …;`");
        let name = self.name("a name", format_args!("after `let`"), help)?;
        let ty = if self.take(TokenKind::Colon).is_some() { Some(self.spelled(&name)?) } else { None };
        self.expect(TokenKind::Equals, format_args!("after `let {}`", name.text), help)?;
        Ok(Statement::Let(name, ty, self.value()?))
    }

    /// The type of a variable, up to its `=`.
    fn spelled(&mut self, of: &Name) -> Parsed<Spelled> {
        use TokenKind as T;
        let start = self.position;
        while !matches!(
            self.peek().kind,
            T::Equals | T::Semicolon | T::OpenBrace | T::CloseBrace | T::Text { .. } | T::End
        ) {
            self.bump();
        }
        let tokens = self.tokens.get(start..self.position).unwrap_or_default();
        if let Some(error) = nested_too_deep(tokens) {
            return self.fail(error);
        }
        let ty = normalise(self.text, tokens);
        if ty.is_empty() {
            let help = format_args!("write `let {} : list<text> = …;`", of.text);
            return self.fail_expecting("a type", format_args!("after `let {} :`", of.text), help);
        }
        Ok(Spelled { ty, span: self.span_from(start) })
    }

    /// `NAME { "," NAME }`
    fn names(&mut self, place: Arguments<'_>, help: Arguments<'_>) -> Parsed<Vec<Name<'text>>> {
        let mut names = vec![self.name("a name", place, help)?];
        while self.take(TokenKind::Comma).is_some() {
            names.push(self.name("a name", format_args!("after `,`"), help)?);
        }
        Ok(names)
    }

    /// `"for" NAME [ "," NAME ] "in" expression`
    pub(super) fn walk(&mut self) -> Parsed<(Vec<Name<'text>>, Value<'text>)> {
        self.bump();
        let help = format_args!("write `for x in …`; of a map, `for key, value in …`");
        let names = self.names(format_args!("after `for`"), help)?;
        if !self.at_word("in") {
            let place = format_args!("after `for {}`", names.last().map_or("", Name::as_str));
            return self.fail_expecting("`in`", place, help);
        }
        self.bump();
        let over = self.value()?;
        self.refuse_range()?;
        Ok((names, over))
    }

    /// `"fail" code`
    fn fail_statement(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let code = self.fail_code("write the number itself: `fail 404;`, or the name of a code: `fail ENOENT;`")?;
        Ok(Statement::Fail(code, self.span_from(start)))
    }

    /// `code = [ "-" ] INT | qname`
    pub(super) fn fail_code(&mut self, help: &str) -> Parsed<FailCode<'text>> {
        let value = self.value()?;
        let is_name = |value: &Value<'_>| match &value.form {
            Form::Name(_) => true,
            Form::Field(of, _) => matches!(of.form, Form::Name(_)),
            _ => false,
        };
        match &value.form {
            Form::Number(code) => return Ok(FailCode::Number(*code)),
            Form::Negate(inner) => {
                if let Form::Number(code) = inner.form {
                    return Ok(FailCode::Number(-code));
                }
            }
            _ if is_name(&value) => return Ok(FailCode::Named(value)),
            _ => {}
        }
        let headline = "the code of a failure must be a number or the name of one";
        self.fail(Diagnostic::error(ids::FAIL_CODE, headline, value.span).help(help))
    }

    /// `"if" expression block [ "else" ( if | block ) ]`
    fn body_if(&mut self) -> Parsed<Statement<'text>> {
        self.bump();
        let condition = self.value()?;
        let then = self.block("what is done if it holds")?;
        let mut otherwise = vec![];
        if self.at_word("else") {
            self.bump();
            otherwise = match self.at_word("if") {
                true => {
                    self.nest()?;
                    let inner = self.body_if()?;
                    self.depth -= 1;
                    vec![inner]
                }
                false => self.block("what is done else")?,
            };
        }
        Ok(Statement::If(condition, then, otherwise))
    }

    /// `"{" { statement } "}"`
    pub(super) fn block(&mut self, what: &str) -> Parsed<Vec<Statement<'text>>> {
        self.nest()?;
        let help = format_args!("write it in braces: `{{ … }}`");
        let open = self.expect(TokenKind::OpenBrace, format_args!("before {what}"), help)?;
        let mut block = vec![];
        while self.take(TokenKind::CloseBrace).is_none() {
            if self.ends_body() {
                return self.fail_unclosed(open, TokenKind::CloseBrace, format_args!("{what}"));
            }
            block.extend(self.body_statement_or_skip());
        }
        self.depth -= 1;
        Ok(block)
    }

    /// Goes one level in, unless that is too deep.
    pub(super) fn nest(&mut self) -> Parsed<()> {
        self.nest_in(self.peek().span, "give parts of it names: `let x = …;`, or make a node of them")
    }

    /// As [`Self::nest`]; `at` is what is in all others, and `help` says what to write instead.
    pub(super) fn nest_in(&mut self, at: Span, help: &str) -> Parsed<()> {
        self.depth += 1;
        match self.depth <= NESTING_LIMIT {
            true => Ok(()),
            false => self.fail(too_deep(at).help(help)),
        }
    }

    /// Goes on after an operator, unless too many follow each other. `chain` bounds how deep the tree of a value is.
    pub(super) fn extend_chain(&mut self) -> Parsed<()> {
        self.chain += 1;
        match self.chain <= CHAIN_LIMIT {
            true => Ok(()),
            false => {
                let error = too_long(self.previous().span);
                self.fail(error.help("give parts of it names: `let x = …;`"))
            }
        }
    }
}

/// What is nested too deep, in any notation.
pub fn too_deep(at: Span) -> Diagnostic {
    let headline = format!("this is nested more than {NESTING_LIMIT} levels deep");
    Diagnostic::error(ids::NESTING_TOO_DEEP, headline, at)
}

/// Too many operators, in any notation.
pub fn too_long(at: Span) -> Diagnostic {
    let headline = format!("more than {CHAIN_LIMIT} operators, fields or elements follow each other in this value");
    Diagnostic::error(ids::NESTING_TOO_DEEP, headline, at)
}
