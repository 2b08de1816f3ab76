//! Checks that messages can be read from their first byte to their last, within bounds. Requires: names are ids.
//! Establishes: no formula asks for what has not been read, every field has an end and a bound, and fields of bits fill
//! bytes. How messages contain each other, `check_message_shapes` checks.

use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics, Id};
use flux_ir::message::{
    Extent, Field, FieldId, Firsts, Form, Formula, Item, Message, Reference, Repeat, Root, Token, follow,
};
use flux_ir::program::Program;
use flux_source::Span;
use std::collections::HashSet;

/// Reports what is wrong with fields, each once. O(size of the messages).
pub fn check_messages(program: &Program, diagnostics: &mut Diagnostics) {
    let firsts = Firsts::of(program);
    for (_, message) in program.messages.iter() {
        let mut checker = Checker { program, message, firsts: &firsts, diagnostics, known: HashSet::new() };
        checker.items(&message.items);
    }
}

struct Checker<'a, 'd> {
    program: &'a Program,
    message: &'a Message,
    firsts: &'a Firsts,
    diagnostics: &'d mut Diagnostics,
    /// The fields that have been read here, whatever was chosen before.
    known: HashSet<FieldId>,
}

impl<'a> Checker<'a, '_> {
    fn report(&mut self, id: Id, span: Span, headline: impl Into<String>, help: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(id, headline, span).help(help));
    }

    /// Checks items in order. The recursion is as deep as choices are in each other, which whoever reads them bounds.
    fn items(&mut self, items: &'a [Item]) {
        let mut bits: Vec<&Field> = vec![];
        let mut last: Option<&Field> = None;
        for item in items {
            let field = match item {
                Item::Field(id) => self.message.field(*id),
                _ => None,
            };
            match field {
                Some(field) if matches!(field.form, Form::Bits(_)) => bits.push(field),
                Some(field) if field.is_variable() => {}
                _ => self.bits(&mut bits),
            }
            if let (Some(before), true) = (last, field.is_none_or(|field| !field.is_variable())) {
                let headline = format!("nothing comes after {}, which goes on to the end", named(before));
                let error =
                    Diagnostic::error(ids::MESSAGE_LOOKAHEAD, headline, field.map_or(before.span, |it| it.span));
                let help = "put it last, or say where it ends: `&length`, `&until`";
                self.diagnostics.push(error.mark(before.span, "up to the end").help(help));
                last = None;
            }
            self.item(item);
            last = field.filter(|field| field.extent == Some(Extent::EndOfData)).or(last);
        }
        self.bits(&mut bits);
    }

    fn item(&mut self, item: &'a Item) {
        match item {
            Item::Field(id) => {
                if let Some(field) = self.message.field(*id) {
                    self.field(field);
                    self.known.insert(*id);
                }
            }
            Item::If(condition, then, otherwise) => {
                self.formula(condition);
                self.branch(then);
                self.branch(otherwise);
            }
            Item::Switch(switch) => {
                switch.on.iter().for_each(|on| self.formula(on));
                switch.cases.iter().for_each(|case| self.branch(&case.items));
            }
        }
    }

    /// What is read in a choice is not known after it.
    fn branch(&mut self, items: &'a [Item]) {
        let known = self.known.clone();
        self.items(items);
        self.known = known;
    }

    /// Fields of bits that follow each other, and what comes after them.
    fn bits(&mut self, bits: &mut Vec<&'a Field>) {
        let run = std::mem::take(bits);
        let count: u32 =
            run.iter().map(|field| if let Form::Bits(bits) = field.form { u32::from(bits) } else { 0 }).sum();
        let (Some(first), Some(last), false) = (run.first(), run.last(), count.is_multiple_of(8)) else { return };
        let headline = match run.len() {
            1 => format!("{} has {count} bits, which fill no whole bytes", named(first)),
            fields => format!("{fields} fields of bits have {count} bits, which fill no whole bytes"),
        };
        let missing = 8 - count % 8;
        let help = format!("add a field for the other {missing}, which needs no name: `: bits({missing});`");
        self.report(ids::MESSAGE_BITS, first.span.to(last.span), headline, help);
    }

    fn field(&mut self, field: &'a Field) {
        field.formulas().into_iter().for_each(|formula| self.formula(formula));
        for (target, formula) in &field.updates {
            self.update(*target, formula);
        }
        if let Some((target, formula)) = &field.serialize
            && !self.known.contains(target)
        {
            let headline = "this field has no value yet where the attribute is";
            let help = "`&serialize` gives a value to a field before it";
            self.report(ids::MESSAGE_LATER, formula.value.span, headline, help);
        }
        self.bound(field);
    }

    /// A variable is updated where it has a value.
    fn update(&mut self, target: FieldId, formula: &Formula) {
        if !self.known.contains(&target) {
            let headline = "this variable has no value yet where the attribute is";
            let help = "declare it before, outside of the choice: `var length : uint64 &parse = 0;`";
            self.report(ids::MESSAGE_LATER, formula.value.span, headline, help);
        }
    }

    fn formula(&mut self, formula: &Formula) {
        for reference in &formula.names {
            self.reference(reference);
        }
    }

    fn reference(&mut self, reference: &Reference) {
        let Some((first, rest)) = reference.path.split_first() else { return };
        let name = |message: &Message, id: FieldId| message.field(id).map_or(String::new(), |field| field.name.clone());
        if reference.root == Root::Own && !self.known.contains(first) {
            let called = name(self.message, *first);
            let is_before = self.message.field(*first).is_some_and(|field| field.span.end <= reference.span.start);
            let (headline, help) = match is_before {
                true => (
                    format!("`self.{called}` may not be there, as it is in a choice"),
                    "ask for it in the same choice, or put it before the choice".to_owned(),
                ),
                false => (
                    format!("`self.{called}` has not been read here"),
                    format!("a message is read from its beginning: put `{called}` before, or name a field that is"),
                ),
            };
            let span = self.message.field(*first).map_or(reference.span, |field| field.span);
            let error = Diagnostic::error(ids::MESSAGE_LATER, headline, reference.span);
            self.diagnostics.push(error.mark(span, "read here").help(help));
            return;
        }
        // Inside another message, what is in a choice may not be there.
        for end in 0..rest.len() {
            let path = reference.path.get(..end + 2).unwrap_or_default();
            let Some((inner, field)) = follow(self.program, self.message, path) else { continue };
            let stands = |item: &Item| matches!(item, Item::Field(id) if inner.field(*id) == Some(field));
            if reference.root == Root::Own && !inner.items.iter().any(stands) {
                let headline = format!("`{}` may not be there, as it is in a choice of `{}`", field.name, inner.name);
                let error = Diagnostic::error(ids::MESSAGE_LATER, headline, reference.span);
                self.diagnostics.push(error.mark(field.span, "read here").help("name a field that is always there"));
                return;
            }
        }
    }

    /// A field has an end, and a bound.
    fn bound(&mut self, field: &'a Field) {
        let is_string = matches!(field.form, Form::Bytes | Form::Text);
        let needs_end = is_string && !field.is_list() || field.repeat == Repeat::Open;
        let called = named(field);
        if needs_end && field.extent.is_none() {
            let headline = format!("nothing says where {called} ends");
            let help = "say it: `&length = self.size`, `&until = \"\\r\\n\"`, or `&eod`, with the bytes around it";
            return self.report(ids::MESSAGE_UNBOUNDED, field.span, headline, help);
        }
        if field.is_list() && self.firsts.element(field).can_be_empty {
            let headline =
                format!("an element of {called} may have no bytes, so there is no end to how many there are");
            let help = "give it something that is always there, a length or a literal";
            return self.report(ids::MESSAGE_UNBOUNDED, field.span, headline, help);
        }
        let ends_late = matches!(field.extent, Some(Extent::Until(_) | Extent::UntilHolds(_) | Extent::EndOfData));
        let is_long = match &field.form {
            Form::Token(expression) => Token::new(expression).is_ok_and(|token| token.is_unbounded()),
            _ => false,
        };
        if (ends_late && !field.is_stream || is_long && !field.is_list()) && field.max_size.is_none() {
            let what = if field.is_list() { "elements" } else { "bytes" };
            let headline = format!("{called} may have as many {what} as the peer likes");
            let help = format!("say how many {what} it may have: `&max_size = 1k`");
            self.report(ids::MESSAGE_UNBOUNDED, field.span, headline, help);
        }
    }
}

/// How a message calls a field.
fn named(field: &Field) -> String {
    if field.name.is_empty() { "this field".to_owned() } else { format!("`{}`", field.name) }
}
