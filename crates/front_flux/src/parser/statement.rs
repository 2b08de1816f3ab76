//! Statements: which one it is, and the short ones.

use super::{Parsed, Parser, advice};
use crate::attribute::Attribute;
use crate::comment::first_sentence;
use crate::ids;
use crate::syntax::{
    Declaration, ErrorCode, Handler, Include, Link, Name, NameOrAny, OptionDeclaration, Origin, QualifiedName, Source,
    Statement, TestedBy, Typedef, Use, UsedModule, Using,
};
use crate::token::{RESERVED, Token, TokenKind};
use flux_diagnostic::Diagnostic;
use flux_ir::program::OptionKind;
use std::borrow::Cow;

impl<'text> Parser<'text, '_> {
    /// `statement = include | link | use | option | error | typedef | unit | type | using | state | node | source |
    /// flow | handler | atomic`
    pub(super) fn statement(&mut self) -> Parsed<Statement<'text>> {
        let (first, second) = (self.peek(), self.second().kind);
        // A word before one of these is the name of a node, whatever the word.
        let names_node = matches!(
            second,
            TokenKind::OpenParenthesis | TokenKind::Equals | TokenKind::Colon | TokenKind::OpenBracket | TokenKind::Dot
        );
        if first.kind == TokenKind::Number && names_node {
            return self.declaration_or_flow();
        }
        if first.kind != TokenKind::Word {
            return self.no_statement(first);
        }
        match self.spelling(first) {
            "include" if !names_node => self.include(),
            "link" if matches!(second, TokenKind::Word | TokenKind::Text { .. }) => self.link(),
            "use" if matches!(second, TokenKind::Word | TokenKind::Text { .. }) => self.use_module(),
            "option" if second == TokenKind::Word => self.option(),
            "error" if self.starts_code(self.position) => self.error_code(),
            "type" if second == TokenKind::Word => self.unit(),
            "record" if second == TokenKind::Word => self.record(),
            "enum" if second == TokenKind::Word => self.enumeration(),
            "typedef" if !names_node => self.typedef(),
            "using" if second == TokenKind::Word && self.spelling(self.second()) != "namespace" => self.using(),
            "state" if self.starts_state() => self.state(),
            "source" if !names_node => self.source(),
            "handle" if !names_node => self.handler(),
            "atomic" if !names_node => self.atomic(),
            "error" if second == TokenKind::Word => {
                let headline = "no statement starts with `error`";
                let diagnostic = Diagnostic::error(ids::UNKNOWN_STATEMENT, headline, first.span);
                self.fail(diagnostic.help("an error handler is written `handle error Node => Handler;`"))
            }
            _ => self.declaration_or_flow(),
        }
    }

    /// What starts with something else than a word.
    fn no_statement<T>(&mut self, first: Token) -> Parsed<T> {
        let mut diagnostic = self.unexpected("a statement", format_args!("here"));
        if diagnostic.id == ids::UNEXPECTED_TOKEN {
            diagnostic.id = ids::UNKNOWN_STATEMENT;
            diagnostic.headline = format!("no statement starts with {}", self.describe(first));
            diagnostic = diagnostic.help(self.advice_for_statement());
        }
        self.fail(diagnostic)
    }

    /// `include = "include" STRING ";"`
    fn include(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let Some(path) = self.take_text() else {
            let help = format_args!("write `include \"image.h\";`");
            return self.fail_expecting("a header in quotes", format_args!("after `include`"), help);
        };
        let path = path.to_owned();
        let span = self.end_statement(start, "`;`", format_args!("after the header `{path}`"), advice::END)?;
        Ok(Statement::Include(Include { path, span }))
    }

    /// `link = "link" STRING ";"`
    fn link(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let Some(library) = self.take_text() else {
            let help = format_args!("write `link \"sqlite3\";`");
            return self.fail_expecting("a library in quotes", format_args!("after `link`"), help);
        };
        let library = library.to_owned();
        let span = self.end_statement(start, "`;`", format_args!("after the library `{library}`"), advice::END)?;
        Ok(Statement::Link(Link { library, span }))
    }

    /// `use = "use" ( qname | STRING ) [ "as" NAME ] ";"`
    fn use_module(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let module = match self.take_text() {
            Some(path) => UsedModule::File(Name { text: Cow::Borrowed(path), span: self.previous().span }),
            None => {
                let help = format_args!("write `use std.http;`, or a path, `use \"image.flux\";`");
                UsedModule::Standard(self.qualified_name("a module", format_args!("after `use`"), help)?)
            }
        };
        let mut alias = None;
        if self.at_word("as") {
            self.bump();
            let help = format_args!("write what the module is called here: `use std.http as web;`");
            alias = Some(self.name("a name", format_args!("after `as`"), help)?);
        }
        let place = format_args!("after the module `{module}`");
        let span = self.end_statement(start, "`;`", place, advice::END)?;
        Ok(Statement::Use(Use { module, alias, span }))
    }

    /// `option = "option" NAME ":" type [ "=" constant ] ";"`
    fn option(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let help = format_args!("write `option port : int = 8080;`");
        let name = self.name("the option's name", format_args!("after `option`"), help)?;
        self.expect(TokenKind::Colon, format_args!("after the option `{}`", name.text), help)?;
        let token = self.peek();
        let Some(kind) = OptionKind::of_name(self.spelling(token)) else {
            let help = format_args!("an option is an int, a string, a path, a bool, a duration or a size");
            return self.fail_expecting("a type", format_args!("after `option {}:`", name.text), help);
        };
        self.bump();
        let mut default = None;
        if self.take(TokenKind::Equals).is_some() {
            default = Some(self.constant(format_args!("as the value of `{}`", name.text))?);
        }
        let expected = if default.is_some() { "`;`" } else { "`=` or `;`" };
        let help = "an option is written `option port : int = 8080;`";
        let span = self.end_statement(start, expected, format_args!("after the option `{}`", name.text), help)?;
        let about = first_sentence(self.text, span);
        Ok(Statement::Option(OptionDeclaration { name: name.into(), kind, default, about, span }))
    }

    /// `error = "error" NAME "=" code ";"`
    fn error_code(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let help = format_args!("write `error not_found = 404;`");
        let name = self.name("the name of an error code", format_args!("after `error`"), help)?;
        self.expect(TokenKind::Equals, format_args!("after `error {}`", name.text), help)?;
        let code = self.fail_code("write its number: `error not_found = 404;`")?;
        let place = format_args!("after the error code `{}`", name.text);
        let span = self.end_statement(start, "`;`", place, "an error code is written `error not_found = 404;`")?;
        Ok(Statement::ErrorCode(ErrorCode { name: name.into(), code, span }))
    }

    /// `typedef = "typedef" NAME qname { attribute } ";"`
    fn typedef(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let help = format_args!("write `typedef hit IsHit;`: a type, and the function that tests it");
        let name = self.name("the name of a predicate type", format_args!("after `typedef`"), help)?;
        if self.at(TokenKind::OpenParenthesis) {
            return self.computed_typedef(start, name.into());
        }
        let help = format_args!("write `typedef {} Function;`, with the function that tests it", name.text);
        let place = format_args!("after `typedef {}`", name.text);
        let function = self.qualified_name("the function that tests it", place, help)?;
        let mut attributes = vec![];
        while self.at(TokenKind::Word) && Attribute::of_name(self.spelling(self.peek())).is_some() {
            attributes.push(self.attribute()?);
        }
        let place = format_args!("after `typedef {} {}`", name.text, function);
        let span = self.end_statement(start, "`;`", place, self.advice_after_typedef())?;
        Ok(Statement::Typedef(Typedef { name: name.into(), tested_by: TestedBy::Function(function), attributes, span }))
    }

    /// `typedef = "typedef" NAME "(" parameter ")" body ";"`
    fn computed_typedef(&mut self, start: usize, name: QualifiedName<'text>) -> Parsed<Statement<'text>> {
        let help = format_args!("write `typedef large (hit h) {{ h.bytes > 1M }};`");
        let open = self.peek().span;
        let mut inputs = self.parameters(format_args!("the input of `{}`", name))?;
        let (Some(input), true) = (inputs.pop(), inputs.is_empty()) else {
            let headline = format!("the predicate type `{}` is asked of one value", name);
            let span = open.to(self.previous().span);
            return self.fail(Diagnostic::error(ids::UNEXPECTED_TOKEN, headline, span).help(help.to_string()));
        };
        if !self.at(TokenKind::OpenBrace) {
            return self.fail_expecting("`{`", format_args!("after the input of `{}`", name), help);
        }
        self.output = None;
        let body = self.body(&name, true)?;
        let place = format_args!("after the body of `{}`", name);
        let span = self.end_statement(start, "`;`", place, advice::END)?;
        Ok(Statement::Typedef(Typedef {
            name,
            tested_by: TestedBy::Body(input, Box::new(body)),
            attributes: vec![],
            span,
        }))
    }

    /// A declaration or a flow: both start with the name of a node.
    fn declaration_or_flow(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        let name = self.node_name(format_args!("here"), format_args!("{}", advice::STATEMENTS))?;
        match self.peek().kind {
            TokenKind::OpenParenthesis => self.declaration(start, name),
            TokenKind::FatArrow if self.second().kind == TokenKind::OpenParenthesis => {
                let help = format_args!("a node that takes nothing is declared `{} () => (…);`", name);
                self.fail_expecting("`(`", format_args!("after `{}`", name), help)
            }
            TokenKind::Equals | TokenKind::Colon | TokenKind::OpenBracket | TokenKind::FatArrow | TokenKind::Arrow => {
                self.flow(start, name)
            }
            _ => self.half_a_statement(&name),
        }
    }

    /// A name with nothing after it that would make it a statement.
    fn half_a_statement<T>(&mut self, name: &QualifiedName) -> Parsed<T> {
        let node = name;
        let (headline, help) = if self.at(TokenKind::Semicolon) || self.at(TokenKind::End) {
            let help = format!("declare a node, `{node} (…) => (…);`, or give its flow, `{node} = …;`");
            (format!("`{node}` alone is not a statement"), help)
        } else {
            let next = self.cut(self.peek());
            (format!("no statement starts with `{} {next}`", name), self.advice_after_word(&node.to_string()))
        };
        self.fail(Diagnostic::error(ids::UNKNOWN_STATEMENT, headline, name.span).help(help))
    }

    /// `using = "using" NAME "=" "(" params ")" ";"`
    fn using(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let help = format_args!("write `using request = (int socket, char *line);`");
        let name = self.name("a name", format_args!("after `using`"), help)?;
        self.expect(TokenKind::Equals, format_args!("after `using {}`", name.text), help)?;
        // A list has no lists in it: so it is no longer than it is written.
        let lists = std::mem::take(&mut self.lists);
        let parameters = self.parameters(format_args!("the list `{}`", name.text));
        self.lists = lists;
        let place = format_args!("after the list `{}`", name.text);
        let parameters = parameters?;
        let span = self.end_statement(start, "`;`", place, "a list is written `using request = (…);`")?;
        Ok(Statement::Using(Using { name: name.into(), parameters, span }))
    }

    /// `node = NAME "(" [ params ] ")" "=>" "(" [ params ] ")" { attribute } [ body ] ";"`
    fn declaration(&mut self, start: usize, name: QualifiedName<'text>) -> Parsed<Statement<'text>> {
        let inputs = self.inputs(format_args!("the inputs of `{}`", name))?;
        let help = self.advice_before_outputs();
        self.expect_fat_arrow(format_args!("after the inputs of `{}`", name), format_args!("{help}"))?;
        let outputs = self.parameters(format_args!("the outputs of `{}`", name))?;
        let (mut attributes, mut stack) = (vec![], None);
        while self.at(TokenKind::Word)
            && !RESERVED.contains(&self.spelling(self.peek()))
            && !self.starts_statement(self.position)
        {
            attributes.push(self.attribute()?);
            if self.spelling(self.previous()) == Attribute::Stack.name() {
                stack = self.stack_size()?.or(stack);
            }
        }
        self.output = outputs.first().and_then(|output| self.text.get(output.name.span.range()));
        let body = if self.at(TokenKind::OpenBrace) { Some(self.body(&name, false)?) } else { None };
        let place = format_args!("after the declaration of `{}`", name);
        let span = self.end_statement(start, "`;`", place, self.advice_after_declaration())?;
        Ok(Statement::Declaration(Declaration { name, inputs, outputs, attributes, stack, body, span }))
    }

    /// One word that says something of what is declared.
    fn attribute(&mut self) -> Parsed<Name<'text>> {
        self.name("an attribute", format_args!("here"), format_args!("{}", advice::END))
    }

    /// `source = "source" ( step1 [ "{" "session" ":" qname "}" ] | "every" DURATION ) "=>" qname ";"`
    fn source(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let mut session = None;
        let is_timed = matches!(self.second().kind, TokenKind::Number | TokenKind::Minus);
        let origin = if self.at_word("every") && is_timed {
            self.bump();
            Origin::Timer(self.period()?)
        } else {
            if self.at(TokenKind::Number) {
                let help = format_args!("a heartbeat is written `source every 100ms => …;`");
                return self.fail_expecting("a node", format_args!("after `source`"), help);
            }
            let help = format_args!("write `source Listen => Page;`: what flows come from, and where they start");
            let origin = self.application(format_args!("after `source`"), help)?;
            if self.at(TokenKind::OpenBrace) {
                session = Some(self.session(&origin.node)?);
            }
            Origin::Node(origin)
        };
        let place = match &origin {
            Origin::Node(origin) => format!("the source `{}`", origin.node),
            Origin::Timer(_) => "the period of the source".to_owned(),
        };
        let help = self.advice_before_target();
        self.expect_fat_arrow(format_args!("after {place}"), format_args!("{help}"))?;
        let help = format_args!("a source starts one node, or a flow by its name: `source Listen => Page;`");
        let target = self.node_name(format_args!("after `=>`"), help)?;
        let help = self.advice_after_target("a source starts");
        let span = self.end_statement(start, "`;`", format_args!("after the target `{}`", target), &help)?;
        Ok(Statement::Source(Source { origin, session, target, span }))
    }

    /// `"{" "session" ":" qname "}"`
    fn session(&mut self, source: &QualifiedName) -> Parsed<QualifiedName<'text>> {
        let open = self.bump();
        let help = format_args!("the session of a source is written `{{session: Function}}`");
        if !self.at_word("session") {
            return self.fail_expecting("`session`", format_args!("after `{{`"), help);
        }
        self.bump();
        self.expect(TokenKind::Colon, format_args!("after `session`"), help)?;
        let function = self.qualified_name("the session function", format_args!("after `session:`"), help)?;
        let help = "a source has one function for the session, by its name alone";
        self.expect_close(open, "`.`", format_args!("the session of the source `{}`", source), help)?;
        Ok(function)
    }

    /// `handler = "handle" "error" path "=>" ( "_" | qname [ "->" "_" ] ) ";"`
    fn handler(&mut self) -> Parsed<Statement<'text>> {
        let start = self.position;
        self.bump();
        let help = format_args!("an error handler is written `handle error Node => Handler;`");
        if !self.at_word("error") {
            return self.fail_expecting("`error`", format_args!("after `handle`"), help);
        }
        self.bump();
        let mut path = vec![];
        let mut joint = None;
        loop {
            path.push(if self.at_any() {
                NameOrAny::Any(self.bump().span)
            } else {
                NameOrAny::Name(self.qualified_name("a node or `*`", format_args!("in the handler's path"), help)?)
            });
            let Some(arrow) = self.take(TokenKind::Arrow) else { break };
            if self.at_word("_") && self.second().kind == TokenKind::Semicolon {
                self.bump();
                self.report_wrong_arrow(arrow, "=>", format_args!("before the handler `_`"));
                let span = self.end_statement(start, "`;`", format_args!("after the handler `_`"), advice::END)?;
                return Ok(Statement::Handler(Handler { path, target: None, goes_on: true, span }));
            }
            joint = Some(arrow);
        }
        if let Some(arrow) = joint.filter(|_| self.at(TokenKind::Semicolon))
            && let Some(NameOrAny::Name(target)) = path.pop_if(|last| matches!(last, NameOrAny::Name(_)))
        {
            self.report_wrong_arrow(arrow, "=>", format_args!("before the handler `{}`", target));
            let span = self.end_statement(start, "`;`", format_args!("after the handler"), advice::END)?;
            return Ok(Statement::Handler(Handler { path, target: Some(target), goes_on: false, span }));
        }
        let help = match self.peek().kind {
            TokenKind::Comma => format_args!("each node has a statement of its own: `handle error Node => Handler;`"),
            _ => help,
        };
        self.expect_fat_arrow(format_args!("after the handler's path"), help)?;
        let (target, goes_on) = if self.at_word("_") {
            self.bump();
            (None, true)
        } else {
            let target = self.qualified_name("a handler", format_args!("after `=>`"), help)?;
            let goes_on = self.at(TokenKind::Arrow) && self.spelling(self.second()) == "_";
            if goes_on {
                self.bump();
                self.bump();
            }
            (Some(target), goes_on)
        };
        let (place, help) = match &target {
            Some(target) if !goes_on => (format!("`{target}`"), self.advice_after_target("an error handler is")),
            _ => ("`_`".to_owned(), advice::END.to_owned()),
        };
        let span = self.end_statement(start, "`;`", format_args!("after the handler {place}"), &help)?;
        Ok(Statement::Handler(Handler { path, target, goes_on, span }))
    }
}
