//! Bodies in braces: of computed nodes, and of computed predicates.

use super::{DEPTH_LIMIT, Parsed, Parser};
use crate::body::{Body, FailCode, Form, Spelled, Statement, Value};
use crate::cpp_type::normalise;
use crate::ids;
use crate::syntax::{Name, QualifiedName};
use crate::token::TokenKind;
use flux_diagnostic::Diagnostic;
use std::fmt::Arguments;

/// What may stand in a body.
const STATEMENTS: &str = "the statements of a body are `let x = …;`, `x = …;`, `x[…] = …;`, `if … { … } else { … }`, \
                          `for x in … { … }` and `fail 404;`";

impl<'text> Parser<'text, '_> {
    /// `body = "{" { statement } [ expression [ ";" ] ] "}"`; the last only where it `says` something, as a predicate.
    pub(super) fn body(&mut self, of: &QualifiedName<'text>, says: bool) -> Parsed<Body<'text>> {
        self.in_body = true;
        let start = self.position;
        let open = self.bump();
        let mut body = Body { block: vec![], says: None, span: open.span };
        while self.take(TokenKind::CloseBrace).is_none() {
            if self.at(TokenKind::End) {
                return self.fail_unclosed(open, TokenKind::CloseBrace, format_args!("the body of `{}`", of));
            }
            if says && !self.at_body_statement() {
                body.says = Some(self.value()?);
                self.take(TokenKind::Semicolon);
                if self.take(TokenKind::CloseBrace).is_none() {
                    let place = format_args!("after what `{}` says", of);
                    return self.fail_expecting("`}`", place, format_args!("the condition of a predicate comes last"));
                }
                break;
            }
            body.block.push(self.body_statement()?);
        }
        body.span = self.span_from(start);
        self.in_body = false;
        Ok(body)
    }

    /// Whether a statement comes, and not a value.
    fn at_body_statement(&self) -> bool {
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
    fn after_bracket(&self) -> usize {
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
        if !self.at_body_statement() {
            let help = match self.at_word("return") {
                true => "a body assigns its outputs, `x = …;`, and fails by `fail 404;`; C++ belongs in a function",
                false => STATEMENTS,
            };
            return self.fail_expecting("a statement", format_args!("in a body"), format_args!("{help}"));
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
        if self.take(TokenKind::Semicolon).is_none() {
            let help = match self.at(TokenKind::Equals) {
                true => "compare values with `==`: only statements have a `=`",
                false => {
                    "every statement ends with `;`, and values are joined by `+`, `-`, `*`, `/`, `==`, `&&` and so on"
                }
            };
            return self.fail_expecting("`;`", format_args!("after the value"), format_args!("{help}"));
        }
        Ok(statement)
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
        let start = self.position;
        while !matches!(
            self.peek().kind,
            TokenKind::Equals | TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseBrace | TokenKind::End
        ) {
            self.bump();
        }
        let ty = normalise(self.text, self.tokens.get(start..self.position).unwrap_or_default());
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
        Ok((names, self.value()?))
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
        self.nest()?;
        self.bump();
        let condition = self.value()?;
        let then = self.block("what is done if it holds")?;
        let mut otherwise = vec![];
        if self.at_word("else") {
            self.bump();
            otherwise = match self.at_word("if") {
                true => vec![self.body_if()?],
                false => self.block("what is done else")?,
            };
        }
        self.depth -= 1;
        Ok(Statement::If(condition, then, otherwise))
    }

    /// `"{" { statement } "}"`
    fn block(&mut self, what: &str) -> Parsed<Vec<Statement<'text>>> {
        self.nest()?;
        let help = format_args!("write it in braces: `{{ … }}`");
        let open = self.expect(TokenKind::OpenBrace, format_args!("before {what}"), help)?;
        let mut block = vec![];
        while self.take(TokenKind::CloseBrace).is_none() {
            if self.at(TokenKind::End) {
                return self.fail_unclosed(open, TokenKind::CloseBrace, format_args!("{what}"));
            }
            block.push(self.body_statement()?);
        }
        self.depth -= 1;
        Ok(block)
    }

    /// Goes one level in, unless that is too deep.
    pub(super) fn nest(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth <= DEPTH_LIMIT {
            return Ok(());
        }
        let headline = format!("this is nested more than {DEPTH_LIMIT} levels deep");
        let error = Diagnostic::error(ids::NESTING_TOO_DEEP, headline, self.peek().span);
        self.fail(error.help("give parts of it names: `let x = …;`, or make a node of them"))
    }
}
