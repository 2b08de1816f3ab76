//! What must hold of messages: each field stands in them once, what their formulas name is there and of the type that
//! they say, and no attribute is where it means nothing.

use super::{Violations, compute};
use crate::compute::Variable;
use crate::message::{
    Extent, Field, Form, Formula, Item, Label, Message, Repeat, Switch, Token, all_lists, type_of, unit_of, widened,
};
use crate::program::Program;
use crate::types::{Type, TypeKind};
use flux_source::Span;
use std::collections::HashSet;

/// What must hold of all messages, in any program. O(size of the messages).
pub(super) fn check(program: &Program, violations: &mut Violations) {
    for (_, message) in program.messages.iter() {
        let mut checker = Checker { program, message, violations };
        checker.fields_stand_once();
        for field in &message.fields {
            checker.form(field);
            checker.attributes(field);
        }
        checker.choices();
    }
}

struct Checker<'a, 'b> {
    program: &'a Program,
    message: &'a Message,
    violations: &'b mut Violations,
}

impl<'a> Checker<'a, '_> {
    fn require(&mut self, holds: bool, span: Span, what: &str) {
        let name = &self.message.name;
        self.violations.require(holds, span, || format!("the message `{name}` {what}"));
    }

    fn fields_stand_once(&mut self) {
        let message = self.message;
        let (mut seen, mut names) = (HashSet::new(), HashSet::new());
        for item in all_lists(&message.items).into_iter().flatten() {
            if let Item::Field(field) = item {
                self.require(message.field(*field).is_some(), message.span, "has a field that there is not");
                self.require(seen.insert(*field), message.span, "has a field twice");
            }
        }
        self.require(seen.len() == message.fields.len(), message.span, "has a field nowhere");
        for field in message.fields.iter().filter(|field| !field.name.is_empty()) {
            self.require(names.insert(&field.name), field.span, "has two fields of one name");
        }
    }

    fn form(&mut self, field: &'a Field) {
        let is_sized = |bits: u8| (8..=64).contains(&bits) && bits.is_multiple_of(8);
        let is_right = match &field.form {
            Form::Integer(integer, _) => is_sized(integer.bits),
            Form::Digits(integer, base) => is_sized(integer.bits) && matches!(base, 10 | 16),
            Form::Bits(bits) => (1..=64).contains(bits),
            Form::Literal(bytes) => !bytes.is_empty(),
            Form::Token(expression) => Token::new(expression).is_ok(),
            Form::Unit(id, values) => {
                let parameters = self.program.messages.find(*id).map(|message| &message.parameters);
                let wanted = parameters.map(|all| all.iter().map(|one| &one.ty).collect::<Vec<_>>());
                values.iter().for_each(|value| self.formula(Some(field), value));
                wanted.is_some_and(|wanted| values.iter().map(|value| &value.value.ty).eq(wanted))
            }
            Form::Variable(ty, value) => {
                self.formula(Some(field), value);
                value.value.ty == *ty
            }
            Form::Bytes | Form::Text => true,
        };
        self.require(is_right, field.span, "has a field that is nothing");
    }

    fn attributes(&mut self, field: &'a Field) {
        let is_string = matches!(field.form, Form::Bytes | Form::Text);
        let (is_open, is_list) = (field.repeat == Repeat::Open, field.is_list());
        let may_end = match field.extent {
            None => true,
            Some(Extent::Length(_)) => is_open || !is_list && (is_string || unit_of(field).is_some()),
            Some(Extent::Until(_) | Extent::EndOfData) => is_open || !is_list && is_string,
            Some(Extent::UntilHolds(_)) => is_open,
        };
        self.require(may_end, field.span, "has a field with an end that it cannot have");
        let may_look = field.parse_at.is_none() || unit_of(field).is_some() && !is_list;
        self.require(may_look, field.span, "looks back for what is no message");
        let may_stream = !field.is_stream || field.form == Form::Bytes && !is_list;
        self.require(may_stream, field.span, "has a stream that is not of bytes");
        let may_convert = field.convert.is_none() || !is_list && !field.is_variable() && field.element_type().is_some();
        self.require(may_convert, field.span, "converts what is no value");
        let is_lonely = !(is_list && (field.is_variable() || is_string || matches!(field.form, Form::Bits(_))));
        self.require(is_lonely, field.span, "has a list of what has no end of its own");
        let integers = [&field.parse_at, &self.count(field), &self.length(field)].map(Clone::clone);
        for formula in integers.iter().flatten() {
            self.typed(field, formula, |ty| ty.integer().is_some());
        }
        for formula in &field.requires {
            self.typed(field, formula, |ty| *ty.kind() == TypeKind::Bool);
        }
        if let Some(Extent::UntilHolds(formula)) = &field.extent {
            self.typed(field, formula, |ty| *ty.kind() == TypeKind::Bool);
        }
        if let Some(formula) = &field.convert {
            self.typed(field, formula, |ty| ty.integer().is_some() || is_value(ty));
        }
        for (target, formula) in &field.updates {
            let wanted = self.message.field(*target).and_then(Field::variable_type);
            self.require(wanted.is_some(), field.span, "updates what is no variable");
            self.typed(field, formula, |ty| Some(ty) == wanted);
        }
        if let Some((target, formula)) = &field.serialize {
            let wanted = self.message.field(*target).filter(|target| target.convert.is_none());
            let wanted = wanted.and_then(Field::value_type);
            self.require(wanted.is_some(), field.span, "gives a value to what cannot have one");
            self.typed(field, formula, |ty| Some(widened(ty)) == wanted);
        }
    }

    fn count(&self, field: &Field) -> Option<Formula> {
        match &field.repeat {
            Repeat::Times(count) => Some(count.clone()),
            Repeat::Once | Repeat::Open => None,
        }
    }

    fn length(&self, field: &Field) -> Option<Formula> {
        match &field.extent {
            Some(Extent::Length(length)) => Some(length.clone()),
            _ => None,
        }
    }

    /// Checks a formula and what it gives.
    fn typed(&mut self, field: &'a Field, formula: &Formula, is_right: impl Fn(&Type) -> bool) {
        self.formula(Some(field), formula);
        self.require(is_right(&formula.value.ty), formula.value.span, "has a formula of another type than is wanted");
    }

    /// Checks that what a formula names is there, and that its parts are of the types that they say.
    fn formula(&mut self, field: Option<&'a Field>, formula: &Formula) {
        for reference in &formula.names {
            let found = type_of(self.program, self.message, field, reference);
            self.require(found.as_ref() == Some(&reference.ty), reference.span, "names what is not there");
        }
        let variable = |ty: &Type| Variable { name: String::new(), ty: ty.clone() };
        let variables = formula.names.iter().map(|reference| variable(&reference.ty)).collect();
        let of = (&self.message.name, formula.value.span);
        compute::check_expression(self.program, variables, &formula.value, of, self.violations);
    }

    fn choices(&mut self) {
        let message = self.message;
        for item in all_lists(&message.items).into_iter().flatten() {
            match item {
                Item::Field(_) => {}
                Item::If(condition, ..) => {
                    self.formula(None, condition);
                    let is_right = *condition.value.ty.kind() == TypeKind::Bool;
                    self.require(is_right, condition.value.span, "asks what is neither true nor false");
                }
                Item::Switch(switch) => self.switch(switch),
            }
        }
    }

    fn switch(&mut self, switch: &Switch) {
        self.require(!switch.cases.is_empty(), switch.span, "has a choice without cases");
        let on = switch.on.as_ref();
        if let Some(on) = on {
            self.formula(None, on);
        }
        let is_text = on.is_some_and(|on| matches!(on.value.ty.kind(), TypeKind::Text | TypeKind::Bytes));
        let is_integer = on.is_some_and(|on| on.value.ty.integer().is_some());
        self.require(on.is_none() || is_text || is_integer, switch.span, "chooses by what has no labels");
        let mut seen = HashSet::new();
        for (index, case) in switch.cases.iter().enumerate() {
            let is_last = index + 1 == switch.cases.len();
            self.require(!case.is_default || is_last, case.span, "has a case after the last resort");
            let has_labels = case.labels.is_empty() == (on.is_none() || case.is_default);
            self.require(has_labels, case.span, "has a case with the wrong labels");
            for label in &case.labels {
                let is_right = match label {
                    Label::Integer(_) => is_integer,
                    Label::Bytes(_) => is_text,
                };
                self.require(is_right, case.span, "has a label of another type");
                self.require(seen.insert(label), case.span, "has a label twice");
            }
        }
    }
}

fn is_value(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Bool | TypeKind::Text | TypeKind::Bytes)
}
