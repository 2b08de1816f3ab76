//! Declarations: what stands in the first column.

use super::{Parsed, Parser, Reported, STARTERS};
use crate::syntax::{Declaration, Event, Field, Function, Process, Record, Rule, State};
use flux_diagnostic::{Diagnostic, nearest};
use flux_front_flux::ids;
use flux_front_flux::syntax::{Name, Use, UsedModule};
use flux_front_flux::token::TokenKind;
use std::borrow::Cow;

const DECLARATIONS: &str = "a program consists of `use`, `type`, `global`, `proc` and `fun`, each at the \
                            beginning of a line";
const TYPE: &str = "a type is `type kv : record` with a field on each of the lines below, or `type cmd = unit { … };`";
const VIEW: &str = "a record over a message says which: `type cmd : record of memcached.command`";
const PROCESS: &str = "a process is written `proc Proxy : (cmd/cmd client, [cmd/cmd] backends)`, with rules below it: \
                       `| client => …`";
const FUNCTION: &str = "a function is written `fun pick : (req : cmd) -> (integer)`, with its statements below it; one \
                        that gives nothing has `-> ()`";
const RULE: &str = "a rule is written `| client => choose(backends)`, and what happens when something goes wrong \
                    `| error broken client => …`";

impl<'text> Parser<'text, '_> {
    pub(super) fn declaration(&mut self) -> Parsed<Declaration<'text>> {
        let token = self.peek();
        let declaration = match self.spelling(token) {
            "use" => self.using().map(Declaration::Use),
            "type" => self.type_declaration(),
            "global" => self.state("global").map(Declaration::Global),
            "proc" => self.process().map(Declaration::Process),
            "fun" => self.function().map(Declaration::Function),
            "|" => {
                let error = Diagnostic::error(ids::UNEXPECTED_TOKEN, "this rule is of no `proc`", token.span);
                self.fail(error.help(PROCESS))
            }
            word if token.kind == TokenKind::Word => {
                let headline = format!("`{word}` starts no declaration");
                let error = Diagnostic::error(ids::UNKNOWN_STATEMENT, headline, token.span);
                let help = nearest(word, STARTERS).map(|meant| format!("did you mean `{meant}`?"));
                self.fail(error.help(help.unwrap_or_else(|| format!("{DECLARATIONS}; what belongs to it is indented"))))
            }
            _ => self.fail_expecting("a declaration", format_args!("here"), DECLARATIONS),
        }?;
        self.end(format_args!("after the declaration"), "each declaration begins on a line of its own")?;
        Ok(declaration)
    }

    /// `"use" ( qname | STRING ) [ "as" NAME ]`
    fn using(&mut self) -> Parsed<Use<'text>> {
        let help = "write `use \"memcached.flick\"`, or `use std.http` for a module of Flux";
        let start = self.position;
        self.bump();
        let token = self.peek();
        let module = match token.kind {
            TokenKind::Text { closed: true } => {
                self.bump();
                let path = self.spelling(token).trim_matches('"');
                UsedModule::File(Name { text: Cow::Borrowed(path), span: token.span })
            }
            _ => UsedModule::Standard(self.qualified_name("a module", format_args!("after `use`"), help)?),
        };
        let alias = match self.take_word("as") {
            true => Some(self.name("a name", format_args!("after `as`"), help)?),
            false => None,
        };
        Ok(Use { module, alias, span: self.span_from(start) })
    }

    /// `"type" NAME ":" "record" [ "of" qname ] NEWLINE { field }`, or `"type" NAME "=" "unit" …`
    fn type_declaration(&mut self) -> Parsed<Declaration<'text>> {
        let start = self.position;
        self.bump();
        let name = self.name("the name of a type", format_args!("after `type`"), TYPE)?;
        let place = format!("after `type {}", name.text);
        if self.take(TokenKind::Equals).is_some() {
            self.expect_word("unit", format_args!("{place} =`"), TYPE)?;
            self.skip_unit();
            return Ok(Declaration::Unit(name, self.span_from(start)));
        }
        if self.take(TokenKind::Colon).is_none() {
            return self.fail_expecting("`:` or `=`", format_args!("{place}`"), TYPE);
        }
        self.expect_word("record", format_args!("{place} :`"), TYPE)?;
        let of = match self.take_word("of") {
            true => Some(self.qualified_name("a message", format_args!("after `record of`"), VIEW)?),
            false => None,
        };
        let help = "the fields stand on the lines below, indented: `key : string`";
        let fields = self.indented(&format!("the fields of `{}`", name.text), help, Self::record_field)?;
        Ok(Declaration::Record(Record { name, of, fields, span: self.span_from(start) }))
    }

    fn record_field(&mut self) -> Parsed<Field<'text>> {
        self.field("a field", format_args!("in the record"))
    }

    /// Goes to the end of a unit, which is in the notation of messages and has no columns.
    fn skip_unit(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.next().kind {
                TokenKind::End => return,
                TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseBrace if depth <= 1 => break,
                TokenKind::CloseBrace => depth -= 1,
                _ if depth == 0 && self.ends_before(self.position) => return,
                _ => {}
            }
            self.position += 1;
        }
        self.position += 1;
        if self.next().kind == TokenKind::Semicolon {
            self.position += 1;
        }
    }

    /// `( "global" | "local" ) NAME ":" type [ "=" expression ]`
    fn state(&mut self, word: &str) -> Parsed<State<'text>> {
        let start = self.position;
        self.bump();
        let field = self.field("the name of state", format_args!("after `{word}`"))?;
        let first = match self.take(TokenKind::Equals) {
            Some(_) => Some(self.expression()?),
            None => None,
        };
        let help = "write what it is at first after its type: `local count : integer = 0`";
        self.end(format_args!("after the type of `{}`", field.name.text), help)?;
        Ok(State { field, first, span: self.span_from(start) })
    }

    /// `"proc" NAME [ ":" ] parameters [ ":" ] NEWLINE { local } ( { rule } | block )`
    fn process(&mut self) -> Parsed<Process<'text>> {
        let start = self.position;
        self.bump();
        let name = self.name("the name of a process", format_args!("after `proc`"), PROCESS)?;
        self.take(TokenKind::Colon);
        let parameters = self.parameters(&format!("proc {}", name.text))?;
        let head = self.span_from(start);
        self.take(TokenKind::Colon);
        let (locals, rules, block) = (vec![], vec![], vec![]);
        let mut process = Process { name, parameters, locals, rules, block, head, span: head };
        let place = format!("what `{}` does", process.name.text);
        self.indented(&place, PROCESS, |parser| parser.process_line(&mut process))?;
        process.span = self.span_from(start);
        Ok(process)
    }

    fn process_line(&mut self, process: &mut Process<'text>) -> Parsed<()> {
        let start = self.peek().span;
        let before = (process.rules.is_empty(), process.block.is_empty());
        match self.spelling(self.peek()) {
            "local" => process.locals.push(self.state("local")?),
            "global" if self.second().kind == TokenKind::Word => {
                let headline = "a `global` stands in a `proc`, which has `local` state";
                let error = Diagnostic::error(ids::UNEXPECTED_TOKEN, headline, start);
                self.report(
                    error.help("write `local` for the state of one run, or declare it above the `proc` for all"),
                );
                process.locals.push(self.state("global")?);
            }
            "|" => process.rules.push(self.rule()?),
            _ => {
                let statement = self.statement()?;
                process.block.push(statement);
            }
        }
        // It is said where the second kind begins.
        let is_mixed = !process.rules.is_empty() && !process.block.is_empty();
        if is_mixed && (before.0 || before.1) {
            let headline = format!("`{}` has rules and statements", process.name.text);
            let error = Diagnostic::error(ids::UNEXPECTED_TOKEN, headline, start);
            let help = "rules say what is done with each message, statements what is done once: write `|` before a \
                        rule, or make two processes";
            return self.fail(error.help(help));
        }
        Ok(())
    }

    /// `"|" [ "error" event ] NAME "=>" step { "=>" step }`
    fn rule(&mut self) -> Parsed<Rule<'text>> {
        let start = self.position;
        self.bump();
        let mut event = None;
        if self.at_word("error") && self.second().kind == TokenKind::Word {
            self.bump();
            event = Some(self.event()?);
        }
        let channel = self.name("a channel", format_args!("at the beginning of the rule"), RULE)?;
        let steps = self.steps(format_args!("after `{}`", channel.text), RULE)?;
        Ok(Rule { event, channel, steps, span: self.span_from(start) })
    }

    fn event(&mut self) -> Parsed<(Event, flux_source::Span)> {
        let token = self.bump();
        let word = self.spelling(token);
        if let Some(event) = Event::ALL.into_iter().find(|event| event.name() == word) {
            return Ok((event, token.span));
        }
        let headline = format!("`{word}` is nothing that can go wrong with a channel");
        let error = Diagnostic::error(ids::UNEXPECTED_TOKEN, headline, token.span);
        let help = match nearest(word, Event::ALL.map(Event::name)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "there are `broken`, `malformed`, `unreachable` and `failed`: `| error broken client => …`".into(),
        };
        self.fail(error.help(help))
    }

    /// `"fun" NAME [ ":" ] parameters "->" "(" [ type ] ")" [ ":" ] ( "..." | block )`
    fn function(&mut self) -> Parsed<Function<'text>> {
        let start = self.position;
        self.bump();
        let name = self.name("the name of a function", format_args!("after `fun`"), FUNCTION)?;
        self.take(TokenKind::Colon);
        let parameters = self.parameters(&format!("fun {}", name.text))?;
        let place = format!("after what `{}` is given", name.text);
        self.expect(TokenKind::Arrow, format_args!("{place}"), FUNCTION)?;
        if !self.at(TokenKind::OpenParenthesis) {
            return self.fail_expecting("`(`", format_args!("after `->`"), FUNCTION);
        }
        let open = self.open();
        let result = match self.at(TokenKind::CloseParenthesis) {
            true => None,
            false => Some(self.ty(format_args!("after `->`"))?),
        };
        if self.at(TokenKind::Comma) {
            let headline = format!("`{}` gives more than one value", name.text);
            let error = Diagnostic::error(ids::UNEXPECTED_TOKEN, headline, self.peek().span);
            return self.fail(error.help("a function gives one value: make a record of them"));
        }
        self.close(open, format_args!("what `{}` gives", name.text), FUNCTION)?;
        let head = self.span_from(start);
        self.take(TokenKind::Colon);
        let body = match self.take_sign("...") {
            true => None,
            false => Some(self.block(&format!("the body of `{}`", name.text), FUNCTION)?),
        };
        Ok(Function { name, parameters, result, body, head, span: self.span_from(start) })
    }

    /// The lines of a block, each of which `rule` reads.
    pub(super) fn indented<T>(
        &mut self,
        what: &str,
        help: &str,
        mut rule: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let next = self.next();
        let is_rule = self.spelling(next) == "|";
        let is_deeper = self.next_column() > self.column || is_rule && self.next_column() == self.column;
        if !next.starts_line || next.kind == TokenKind::End || !is_deeper {
            return self.fail_expecting(what, format_args!("on the lines below"), help);
        }
        let (outer, first, had_mistake) = (self.column, self.first, self.has_mistake);
        let (column, block) = (self.next_column(), next.span);
        let mut found = vec![];
        loop {
            self.begin(column);
            let read = rule(self).and_then(|it| {
                self.end(format_args!("here"), "one line says one thing; what goes on with it is indented further")?;
                Ok(it)
            });
            match read {
                Ok(it) => found.push(it),
                Err(Reported) => self.skip_line(),
            }
            let (next, at) = (self.next(), self.next_column());
            let stays = at > outer || is_rule && at == outer && self.spelling(next) == "|";
            if next.kind == TokenKind::End || !stays {
                break;
            }
            if at < column {
                self.report_indentation(next.span, block);
            }
        }
        (self.column, self.first, self.has_mistake) = (outer, first, had_mistake);
        Ok(found)
    }
}
