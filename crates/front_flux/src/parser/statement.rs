//! Statements: which one it is, and the short ones.

use super::{Parsed, Parser};
use crate::ids;
use crate::syntax::{
    Declaration, Handler, Include, Name, NameOrAny, OptionDeclaration, Origin, Source, Statement, Typedef, Unit, Use,
};
use crate::token::{RESERVED, STARTERS, Token, TokenKind};
use flux_diagnostic::{Diagnostic, nearest};
use std::borrow::Cow;

/// The types an option can have.
const OPTION_TYPES: [&str; 6] = ["int", "string", "path", "bool", "duration", "size"];

impl<'text> Parser<'text, '_> {
    /// `statement = include | use | option | typedef | unit | node | source | flow | handler | atomic`
    pub(super) fn statement(&mut self) -> Parsed<Statement<'text>> {
        let (first, second) = (self.peek(), self.second().kind);
        // A word before one of these is the name of a node, whatever the word.
        let names_node = matches!(
            second,
            TokenKind::OpenParenthesis | TokenKind::Equals | TokenKind::Colon | TokenKind::OpenBracket | TokenKind::Dot
        );
        if first.kind != TokenKind::Word {
            return self.no_statement(first);
        }
        match self.spelling(first) {
            "include" if !names_node => self.include(),
            "use" if matches!(second, TokenKind::Word | TokenKind::Text { .. }) => self.use_module(),
            "option" if second == TokenKind::Word => self.option(),
            "type" if second == TokenKind::Word => self.unit(),
            "typedef" if !names_node => self.typedef(),
            "source" if !names_node => self.source(),
            "handle" if !names_node => self.handler(),
            "atomic" if !names_node => self.atomic(),
            _ => self.declaration_or_flow(),
        }
    }

    /// What starts with something else than a word.
    fn no_statement<T>(&mut self, first: Token) -> Parsed<T> {
        let mut diagnostic = self.unexpected("a statement", format_args!("here"));
        if diagnostic.id == ids::UNEXPECTED_TOKEN {
            diagnostic.id = ids::UNKNOWN_STATEMENT;
            diagnostic.headline = format!("no statement starts with {}", self.describe(first));
            if first.kind == TokenKind::Semicolon {
                diagnostic = diagnostic.help("remove it: each statement has one `;`");
            }
        }
        self.fail(diagnostic)
    }

    /// `include = "include" STRING ";"`
    fn include(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let Some(path) = self.take_text() else {
            let help = "write `include \"image.h\";`".to_owned();
            return self.fail_helping("a header in quotes", format_args!("after `include`"), help);
        };
        let path = path.to_owned();
        let span = self.end_statement(start, "`;`", format_args!("after the header `{path}`"))?;
        Ok(Statement::Include(Include { path, span }))
    }

    /// `use = "use" ( qname | STRING ) [ "as" NAME ] ";"`
    fn use_module(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let module = match self.take_text() {
            Some(path) => Name { text: Cow::Borrowed(path), span: self.previous().span },
            None => self.qualified_name("a module", format_args!("after `use`"))?,
        };
        let mut alias = None;
        if self.at_word("as") {
            self.bump();
            alias = Some(self.name("a name", format_args!("after `as`"))?);
        }
        let span = self.end_statement(start, "`;`", format_args!("after the module `{}`", module.text))?;
        Ok(Statement::Use(Use { module, alias, span }))
    }

    /// `option = "option" NAME ":" type [ "=" constant ] ";"`
    fn option(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let name = self.name("the option's name", format_args!("after `option`"))?;
        self.expect(TokenKind::Colon, format_args!("after the option `{}`", name.text))?;
        let token = self.peek();
        if !OPTION_TYPES.contains(&self.spelling(token)) {
            let help = "an option is an int, a string, a path, a bool, a duration or a size".to_owned();
            return self.fail_helping("a type", format_args!("after `option {}:`", name.text), help);
        }
        self.bump();
        let kind = Name { text: Cow::Borrowed(self.spelling(token)), span: token.span };
        let mut default = None;
        if self.take(TokenKind::Equals).is_some() {
            default = Some(self.constant(format_args!("as the value of `{}`", name.text))?);
        }
        let expected = if default.is_some() { "`;`" } else { "`=` or `;`" };
        let span = self.end_statement(start, expected, format_args!("after the option `{}`", name.text))?;
        Ok(Statement::Option(OptionDeclaration { name, kind, default, span }))
    }

    /// `typedef = "typedef" NAME qname ";"`
    fn typedef(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let name = self.name("the name of a predicate type", format_args!("after `typedef`"))?;
        let place = format_args!("after `typedef {}`", name.text);
        let function = self.qualified_name("the function that tests it", place)?;
        let span = self.end_statement(start, "`;`", format_args!("after `typedef {} {}`", name.text, function.text))?;
        Ok(Statement::Typedef(Typedef { name, function, span }))
    }

    /// `unit = "type" NAME "=" "unit" [ "(" params ")" ] "{" ... "}" ";"`, whose inside is skipped.
    fn unit(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let name = self.name("the name of a message type", format_args!("after `type`"))?;
        self.expect(TokenKind::Equals, format_args!("after `type {}`", name.text))?;
        if !self.at_word("unit") {
            return self.fail_expecting("`unit`", format_args!("after `type {} =`", name.text));
        }
        self.bump();
        if self.at(TokenKind::OpenParenthesis) {
            self.parameters(format_args!("the parameters of `{}`", name.text))?;
        }
        let open = self.expect(TokenKind::OpenBrace, format_args!("after `type {} = unit`", name.text))?;
        let mut open_braces = 1_usize;
        while open_braces > 0 {
            match self.bump().kind {
                TokenKind::OpenBrace => open_braces += 1,
                TokenKind::CloseBrace => open_braces -= 1,
                TokenKind::End => {
                    let list = format_args!("the message type `{}`", name.text);
                    return self.fail_unclosed(open, TokenKind::CloseBrace, list);
                }
                _ => {}
            }
        }
        let span = self.end_statement(start, "`;`", format_args!("after the message type `{}`", name.text))?;
        Ok(Statement::Unit(Unit { name, span }))
    }

    /// A declaration or a flow: both start with the name of a node.
    fn declaration_or_flow(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        let name = self.qualified_name("a statement", format_args!("here"))?;
        match self.peek().kind {
            TokenKind::OpenParenthesis => self.declaration(start, name),
            TokenKind::FatArrow if self.second().kind == TokenKind::OpenParenthesis => {
                let help = format!("a node that takes nothing is declared `{} () => (…);`", name.text);
                self.fail_helping("`(`", format_args!("after `{}`", name.text), help)
            }
            TokenKind::Equals | TokenKind::Colon | TokenKind::OpenBracket | TokenKind::FatArrow | TokenKind::Arrow => {
                self.flow(start, name)
            }
            _ => self.half_a_statement(&name),
        }
    }

    /// A name with nothing after it that would make it a statement.
    fn half_a_statement<T>(&mut self, name: &Name) -> Parsed<T> {
        let (node, next) = (&name.text, self.spelling(self.peek()));
        let (headline, help) = if self.at(TokenKind::Word) {
            let headline = format!("no statement starts with `{node}`");
            match nearest(node, STARTERS) {
                Some(starter) => (headline, format!("did you mean `{starter}`?")),
                None => (headline, format!("a declaration starts with the node's name: `{next} (…) => (…);`")),
            }
        } else {
            let help = format!("declare a node, `{node} (…) => (…);`, or give its flow, `{node} = …;`");
            (format!("`{node}` alone is not a statement"), help)
        };
        self.fail(Diagnostic::error(ids::UNKNOWN_STATEMENT, headline, name.span).help(help))
    }

    /// `node = NAME "(" [ params ] ")" "=>" "(" [ params ] ")" { attribute } ";"`
    fn declaration(&mut self, start: usize, name: Name<'text>) -> Parsed<Statement<'text>> {
        let inputs = self.parameters(format_args!("the inputs of `{}`", name.text))?;
        self.expect_fat_arrow(format_args!("after the inputs of `{}`", name.text))?;
        let outputs = self.parameters(format_args!("the outputs of `{}`", name.text))?;
        let mut attributes = vec![];
        while self.at(TokenKind::Word)
            && !RESERVED.contains(&self.spelling(self.peek()))
            && !self.starts_statement(self.position)
        {
            attributes.push(self.name("an attribute", format_args!("here"))?);
        }
        let span = self.end_statement(start, "`;`", format_args!("after the declaration of `{}`", name.text))?;
        Ok(Statement::Declaration(Declaration { name, inputs, outputs, attributes, span }))
    }

    /// `source = "source" ( step1 [ "{" "session" ":" qname "}" ] | "every" DURATION ) "=>" qname ";"`
    fn source(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let mut session = None;
        let origin = if self.at_word("every") && self.second().kind == TokenKind::Number {
            self.bump();
            Origin::Timer(self.period()?)
        } else {
            let origin = self.application("a node", format_args!("after `source`"))?;
            if self.at(TokenKind::OpenBrace) {
                session = Some(self.session(&origin.node)?);
            }
            Origin::Node(origin)
        };
        let place = match &origin {
            Origin::Node(origin) => format!("the source `{}`", origin.node.text),
            Origin::Timer(_) => "the period of the source".to_owned(),
        };
        self.expect_fat_arrow(format_args!("after {place}"))?;
        let target = self.qualified_name("a node", format_args!("after `=>`"))?;
        let span = self.end_statement(start, "`;`", format_args!("after the target `{}`", target.text))?;
        Ok(Statement::Source(Source { origin, session, target, span }))
    }

    /// `"{" "session" ":" qname "}"`
    fn session(&mut self, source: &Name) -> Parsed<Name<'text>> {
        let open = self.bump();
        if !self.at_word("session") {
            return self.fail_expecting("`session`", format_args!("after `{{`"));
        }
        self.bump();
        self.expect(TokenKind::Colon, format_args!("after `session`"))?;
        let function = self.qualified_name("the session function", format_args!("after `session:`"))?;
        self.expect_close(open, "`.`", format_args!("the session of the source `{}`", source.text))?;
        Ok(function)
    }

    /// `handler = "handle" "error" path "=>" qname ";"`
    fn handler(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        if !self.at_word("error") {
            return self.fail_expecting("`error`", format_args!("after `handle`"));
        }
        self.bump();
        let mut path = vec![];
        loop {
            path.push(match self.take(TokenKind::Asterisk) {
                Some(token) => NameOrAny::Any(token.span),
                None => NameOrAny::Name(self.qualified_name("a node or `*`", format_args!("in the handler's path"))?),
            });
            if self.take(TokenKind::Arrow).is_none() {
                break;
            }
        }
        self.expect_fat_arrow(format_args!("after the handler's path"))?;
        let target = self.qualified_name("a handler", format_args!("after `=>`"))?;
        let span = self.end_statement(start, "`;`", format_args!("after the handler `{}`", target.text))?;
        Ok(Statement::Handler(Handler { path, target, span }))
    }
}
