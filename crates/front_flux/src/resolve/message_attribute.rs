//! The attributes of a message's fields, and the formulas in them: what each name is, and whether it fits.

use super::Resolver;
use super::message::{Place, WRONG};
use crate::body::{Form, Value};
use crate::ids;
use crate::message::{self, Attribute, AttributeValue};
use crate::syntax::{Name, QualifiedName};
use flux_diagnostic::{Diagnostic, nearest};
use flux_ir::compute::{Expression, Function, Term, Typing};
use flux_ir::message::{
    self as model, Extent, Field, FieldId, Formula, MessageId, Reference, Repeat, Root, follow, unit_of, widened,
};
use flux_ir::types::{Type, TypeKind};
use flux_source::{Deep, Span, deep};
use std::collections::HashMap;

/// The attributes, each with what it is for.
const ATTRIBUTES: [(&str, &str); 13] = [
    ("length", "`bytes`, `string`, a message and `T[]`"),
    ("until", "`bytes`, `string` and `T[]`"),
    ("eod", "`bytes`, `string` and `T[]`"),
    ("max_size", "`bytes`, `string`, tokens and lists"),
    ("max_depth", "a field that is a message"),
    ("parse_at", "a field that is a message, and no list"),
    ("stream", "`bytes` that are no list"),
    ("convert", "a field that is read and is one value"),
    ("requires", "a field that is one value or a message"),
    ("update", "any field"),
    ("digits", "an integer"),
    ("parse", "a variable, `var`"),
    ("serialize", "a variable, or a field that is one value"),
];

/// How one asks for what is in a list.
const LISTS: &str =
    "let the list update a variable that is declared before it: `all : item[] … &update = self.length = $$.length`";

impl<'syntax> Resolver<'syntax, '_, '_> {
    /// Reads the attributes of a field: what it is converted to, or all else.
    pub(super) fn field_attributes(
        &mut self,
        (id, at): (MessageId, FieldId),
        field: &'syntax message::Field<'syntax>,
        converts: bool,
    ) {
        let Some(mut read) = self.scope.program.messages[id].field(at).cloned() else { return };
        if read.form == WRONG {
            return;
        }
        let place = (id, Some(at));
        if !converts {
            self.form_formulas(place, field, &mut read);
        }
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for attribute in &field.attributes {
            // Whether it is an integer, and what it becomes, says what others may be.
            let is_first = matches!(attribute.name.as_str(), "convert" | "digits");
            if is_first != converts {
                continue;
            }
            let name = attribute.name.as_str();
            let first = seen.insert(name, attribute.span).filter(|_| !matches!(name, "requires" | "update"));
            if let Some(first) = first {
                let error =
                    Diagnostic::error(ids::MESSAGE_ATTRIBUTE, format!("`&{name}` is said twice"), attribute.span);
                self.report(error.mark(first, "the first one").help("remove one of them"));
                continue;
            }
            self.attribute(place, attribute, &mut read);
        }
        if !converts && field.is_variable && !seen.contains_key("parse") {
            let called = &read.name;
            let headline = format!("nothing says what the variable `{called}` is");
            self.message_mistake(field.span, headline, "write it: `&parse = self.total_len - 8`");
        }
        self.check_sizes(field.span, &read);
        if let Some(known) = self.scope.program.messages[id].fields.get_mut(at.index()) {
            *known = read;
        }
    }

    /// A field that has more than it may have is never read.
    fn check_sizes(&mut self, span: Span, field: &Field) {
        let (has, what) = match (&field.repeat, &field.extent) {
            (Repeat::Times(count), _) => (count.constant(), "elements"),
            (_, Some(Extent::Length(length))) if !field.is_list() => (length.constant(), "bytes"),
            _ => (None, ""),
        };
        if let (Some(has), Some(most)) = (has, field.max_size)
            && has > i128::from(most)
        {
            let called = if field.name.is_empty() { "the field".to_owned() } else { format!("`{}`", field.name) };
            let headline = format!("{called} has {has} {what}, and may have {most}");
            self.message_mistake(span, headline, "remove the `&max_size`: a number that is always the same is a bound");
        }
    }

    /// What stands in the brackets of a list, and what a message is given.
    fn form_formulas(&mut self, place: Place, field: &'syntax message::Field<'syntax>, read: &mut Field) {
        if let Some(Some(count)) = &field.repeat
            && let Some(count) = self.integer_formula(place, count)
        {
            read.repeat = Repeat::Times(count);
        }
        let message::Form::Named(_, arguments) = &field.form else { return };
        let model::Form::Unit(id, _) = read.form else { return };
        let wanted: Vec<Type> = self.scope.program.messages[id].parameters.iter().map(|one| one.ty.clone()).collect();
        let given = arguments.iter().zip(wanted);
        let values = given.filter_map(|(value, wanted)| self.formula_of(place, value, &wanted)).collect();
        read.form = model::Form::Unit(id, values);
    }

    fn attribute(&mut self, place: Place, attribute: &'syntax Attribute<'syntax>, read: &mut Field) {
        let name = attribute.name.as_str();
        let Some((_, purpose)) = ATTRIBUTES.iter().find(|(known, _)| *known == name) else {
            let known = ATTRIBUTES.iter().map(|(name, _)| *name);
            let help = match nearest(name, known.clone()) {
                Some(meant) => format!("did you mean `&{meant}`?"),
                None => {
                    let all: Vec<_> = known.map(|name| format!("`&{name}`")).collect();
                    format!("there are {}", all.join(", "))
                }
            };
            let headline = format!("there is no attribute `&{name}`");
            return self.message_mistake(attribute.name.span, headline, help);
        };
        if !may_have(name, read) {
            let headline = format!("`&{name}` is for {purpose}");
            return self.message_mistake(attribute.span, headline, "remove it, or make the field one of these");
        }
        match &attribute.value {
            None => self.plain_attribute(attribute, read),
            Some(AttributeValue::Bytes(bytes)) => {
                if name == "until" && !bytes.is_empty() {
                    return self.extent(attribute.span, read, Extent::Until(bytes.clone()));
                }
                let headline = format!("`&{name}` has no such value");
                self.message_mistake(attribute.span, headline, form_of(name));
            }
            Some(AttributeValue::Assignment(target, value)) if name == "update" => {
                self.update(place, (target, value), read);
            }
            Some(AttributeValue::Assignment(target, value)) => self.serialize(place, attribute, (target, value), read),
            Some(AttributeValue::Value(value)) => self.valued_attribute(place, attribute, value, read),
        }
    }

    fn plain_attribute(&mut self, attribute: &'syntax Attribute<'syntax>, read: &mut Field) {
        match attribute.name.as_str() {
            "eod" => self.extent(attribute.span, read, Extent::EndOfData),
            "stream" => read.is_stream = true,
            name => self.message_mistake(attribute.span, format!("`&{name}` says nothing"), form_of(name)),
        }
    }

    fn extent(&mut self, span: Span, read: &mut Field, extent: Extent) {
        if read.extent.replace(extent).is_some() {
            self.message_mistake(span, "the field has two ends", "keep one of `&length`, `&until` and `&eod`");
        }
        if matches!(read.repeat, Repeat::Times(_)) {
            let help = "write `T[]`, and how it ends; or `T[n]`, and nothing more";
            self.message_mistake(span, "the list has a number of elements, and an end as well", help);
        }
    }

    /// `&serialize = self.total_len = …`
    fn serialize(
        &mut self,
        place: Place,
        attribute: &'syntax Attribute<'syntax>,
        (target, value): (&'syntax Name<'syntax>, &'syntax Value<'syntax>),
        read: &mut Field,
    ) {
        if attribute.name.as_str() != "serialize" {
            let help = form_of(attribute.name.as_str());
            let headline = "only `&update` and `&serialize` give a field a value";
            return self.message_mistake(attribute.span, headline, help);
        }
        let message = &self.scope.program.messages[place.0];
        let Some(field) = message.field_named(target.as_str()) else {
            return self.report_unknown_message_field(place.0, target.as_str(), target.span);
        };
        let Some(wanted) = message.field(field).filter(|field| field.convert.is_none()).and_then(Field::value_type)
        else {
            let headline = format!("`{}` cannot be given a value", target.text);
            return self.message_mistake(target.span, headline, "name a field that is one value, as it is read");
        };
        if matches!(wanted.kind(), TypeKind::Text | TypeKind::Bytes) {
            let headline = format!("`{}` is a text, to which `&serialize` gives no value", target.text);
            let help = "give a number or a `bool` its value; whoever makes the message gives it its texts";
            return self.message_mistake(target.span, headline, help);
        }
        if let Some(formula) = self.formula_of(place, value, &wanted) {
            read.serialize = Some((field, formula));
        }
    }

    /// `&update = self.count = …`
    fn update(
        &mut self,
        place: Place,
        (target, value): (&'syntax Name<'syntax>, &'syntax Value<'syntax>),
        read: &mut Field,
    ) {
        let message = &self.scope.program.messages[place.0];
        let Some(id) = message.field_named(target.as_str()) else {
            return self.report_unknown_message_field(place.0, target.as_str(), target.span);
        };
        let Some(wanted) = message.field(id).and_then(Field::variable_type).cloned() else {
            let headline = format!("`{}` is no variable: it stays as it was read", target.text);
            let help = "declare one before this field, `var length : uint64 &parse = 0;`, and update that";
            return self.message_mistake(target.span, headline, help);
        };
        if matches!(wanted.kind(), TypeKind::Text | TypeKind::Bytes) {
            let headline = format!("`{}` is a text, which no update changes", target.text);
            let help = "update a number or a `bool`; a text is computed of fields, where it is asked for";
            return self.message_mistake(target.span, headline, help);
        }
        if let Some(formula) = self.formula_of(place, value, &wanted) {
            read.updates.push((id, formula));
        }
    }

    fn valued_attribute(
        &mut self,
        place: Place,
        attribute: &'syntax Attribute<'syntax>,
        value: &'syntax Value<'syntax>,
        read: &mut Field,
    ) {
        let name = attribute.name.as_str();
        let number = match value.form {
            Form::Number(number) => u64::try_from(number).ok().filter(|number| *number > 0),
            _ => None,
        };
        match (name, number) {
            ("max_size", Some(size)) => read.max_size = Some(size),
            ("max_depth", Some(depth)) => read.max_depth = Some(depth),
            ("digits", Some(base @ (10 | 16))) => {
                if let model::Form::Integer(integer, _) = read.form {
                    read.form = model::Form::Digits(integer, if base == 10 { 10 } else { 16 });
                }
            }
            ("length", _) => {
                if let Some(length) = self.integer_formula(place, value) {
                    self.extent(attribute.span, read, Extent::Length(length));
                }
            }
            ("until", _) if read.is_list() => {
                if let Some(holds) = self.formula_of(place, value, &Type::of_kind(TypeKind::Bool)) {
                    self.extent(attribute.span, read, Extent::UntilHolds(holds));
                }
            }
            ("parse_at", _) => read.parse_at = self.integer_formula(place, value),
            ("requires", _) => read.requires.extend(self.formula_of(place, value, &Type::of_kind(TypeKind::Bool))),
            ("convert", _) => self.convert(place, value, read),
            ("parse", _) => {
                if let model::Form::Variable(ty, formula) = &mut read.form
                    && let Some(value) = self.formula_of(place, value, ty)
                {
                    *formula = value;
                }
            }
            _ => self.message_mistake(attribute.span, format!("`&{name}` has no such value"), form_of(name)),
        }
    }

    fn convert(&mut self, place: Place, value: &'syntax Value<'syntax>, read: &mut Field) {
        let Some(formula) = self.any_formula(place, value) else { return };
        if let Some(other) = formula.names.iter().find(|reference| reference.root == Root::Own) {
            let help = "write it with `$$`, the value as it was read; a `var` may be made of several fields";
            return self.message_mistake(other.span, "a field is converted by its own value alone", help);
        }
        let is_value = matches!(formula.value.ty.kind(), TypeKind::Bool | TypeKind::Text | TypeKind::Bytes);
        if !is_value && formula.value.ty.integer().is_none() {
            let headline = format!("a field cannot be converted to a `{}`", formula.value.ty);
            let help = "make an integer, a truth value, a string or bytes of it";
            return self.message_mistake(formula.value.span, headline, help);
        }
        read.convert = Some(formula);
    }

    /// A condition.
    pub(super) fn condition_formula(&mut self, id: MessageId, value: &'syntax Value<'syntax>) -> Option<Formula> {
        self.formula_of((id, None), value, &Type::of_kind(TypeKind::Bool))
    }

    /// A length, a number or an offset.
    fn integer_formula(&mut self, place: Place, value: &'syntax Value<'syntax>) -> Option<Formula> {
        let formula = self.any_formula(place, value)?;
        if formula.value.ty.integer().is_some() {
            return Some(formula);
        }
        let headline = format!("an integer is wanted here, and this is a `{}`", formula.value.ty);
        let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, formula.value.span);
        self.report(error.help("write an integer, or a field that is one: `self.length`"));
        None
    }

    /// A value of type `wanted`; an integer of any type, which fails where `wanted` does not have it.
    fn formula_of(&mut self, place: Place, value: &'syntax Value<'syntax>, wanted: &Type) -> Option<Formula> {
        let Formula { names, value } = self.any_formula(place, value)?;
        let typing = Typing { types: &self.scope.program.types, messages: &self.scope.program.messages };
        let are_integers = value.ty.integer().is_some() && wanted.integer().is_some();
        let made = match typing.coerce(value.clone(), wanted) {
            Err(_) if are_integers => {
                let span = value.span;
                Ok(Expression { term: Term::Convert(Deep::new(value)), ty: wanted.clone(), span })
            }
            made => made,
        };
        match made {
            Ok(value) => Some(Formula { names, value }),
            Err(mistake) => {
                let error = Diagnostic::error(ids::EXPRESSION_TYPE, mistake.headline, mistake.span);
                self.report(error.help(mistake.help));
                None
            }
        }
    }

    /// A value of whatever type.
    pub(super) fn any_formula(&mut self, place: Place, value: &'syntax Value<'syntax>) -> Option<Formula> {
        let mut written = vec![];
        names_of(value, &mut written);
        let (mut names, mut variables): (Vec<Reference>, Vec<(String, Type)>) = (vec![], vec![]);
        for name in written {
            if variables.iter().any(|(known, _)| *known == name.own) {
                continue;
            }
            if let Some(reference) = self.reference(place, name)? {
                variables.push((name.own.to_string(), reference.ty.clone()));
                names.push(reference);
            }
        }
        let value = self.expression_of(&variables, value)?;
        let mut wrong = None;
        value.any(&mut |part| {
            let is_wrong = !is_for_messages(part);
            wrong = wrong.or(is_wrong.then_some(part.span));
            is_wrong
        });
        if let Some(span) = wrong {
            let help = "numbers, fields, parameters, `$$`, operators, and functions of strings";
            let error = Diagnostic::error(ids::EXPRESSION_TYPE, "this cannot be part of a message", span);
            self.report(error.help(help));
            return None;
        }
        Some(Formula { names, value })
    }

    /// What `self.a.b`, `$$.a`, or the name of a parameter is. None inside if it is something else; none if it is
    /// nothing, which is reported.
    fn reference(&mut self, place: Place, name: &QualifiedName<'_>) -> Option<Option<Reference>> {
        let message = &self.scope.program.messages[place.0];
        let mut words = name.own.split('.');
        let root = words.next().unwrap_or_default();
        let words: Vec<&str> = words.collect();
        let field = place.1.and_then(|field| message.field(field));
        let (root, start) = match root {
            "self" => (Root::Own, Some(place.0)),
            "$$" => (Root::Value, field.and_then(unit_of)),
            parameter => {
                let known = message.parameters.iter().position(|known| known.name == parameter);
                let Some(index) = known.filter(|_| words.is_empty()) else {
                    return self.no_parameter(place.0, name);
                };
                (Root::Parameter(index), None)
            }
        };
        let mut path: Vec<FieldId> = vec![];
        let mut at = start;
        for word in words {
            let Some(id) = at else {
                self.report_no_fields((place.0, start), &path, name);
                return None;
            };
            let Some(found) = self.scope.program.messages[id].field_named(word) else {
                self.report_unknown_message_field(id, word, name.span);
                return None;
            };
            path.push(found);
            at = self.scope.program.messages[id].field(found).filter(|field| !field.is_list()).and_then(unit_of);
        }
        let mut reference = Reference { root, path, ty: model::wide(false), span: name.span };
        let message = &self.scope.program.messages[place.0];
        match model::type_of(self.scope.program, message, field, &reference) {
            Some(ty) => {
                reference.ty = widened(&ty);
                Some(Some(reference))
            }
            None => {
                self.report_no_value(place, name, &reference);
                None
            }
        }
    }

    /// A field of what has none: of a list, or of a value.
    fn report_no_fields(
        &mut self,
        (own, start): (MessageId, Option<MessageId>),
        path: &[FieldId],
        name: &QualifiedName<'_>,
    ) {
        let message = &self.scope.program.messages[start.unwrap_or(own)];
        let last = follow(self.scope.program, message, path).map(|(_, field)| field);
        let words: Vec<&str> = name.own.split('.').collect();
        let before = words.get(..=path.len()).unwrap_or_default().join(".");
        let of = words.get(path.len() + 1).copied().unwrap_or_default();
        match last {
            Some(list) if list.is_list() => {
                let headline = format!("`{before}` is a list: only its elements may have a field `{of}`");
                self.message_mistake(name.span, headline, LISTS);
            }
            _ => {
                let headline = format!("`{before}` is no message, and has no field `{of}`");
                self.message_mistake(name.span, headline, "name it alone, or a field that is a message");
            }
        }
    }

    /// A name that is no parameter: perhaps a field.
    fn no_parameter(&mut self, id: MessageId, name: &QualifiedName<'_>) -> Option<Option<Reference>> {
        if self.scope.program.messages[id].field_named(&name.own).is_none() {
            return Some(None);
        }
        let headline = format!("nothing is called `{name}` here");
        let error = Diagnostic::error(ids::UNKNOWN_VALUE, headline, name.span);
        self.report(error.help(format!("fields are those of `self`: did you mean `self.{name}`?")));
        None
    }

    fn report_no_value(&mut self, place: Place, name: &QualifiedName<'_>, reference: &Reference) {
        let message = &self.scope.program.messages[place.0];
        let is_list = reference.root == Root::Own
            && follow(self.scope.program, message, &reference.path).is_some_and(|(_, field)| field.is_list());
        let is_stream = reference.root == Root::Own
            && follow(self.scope.program, message, &reference.path).is_some_and(|(_, field)| field.is_stream);
        let headline = match (&*name.own, is_list) {
            (word, _) if is_stream => format!("`{word}` is a stream, which is never whole in memory"),
            ("self", _) => "`self` is the whole message, which is no value".to_owned(),
            (word, true) => format!("`{word}` is a list, which is no value"),
            ("$$", _) => "`$$` has no value here".to_owned(),
            (word, false) => format!("`{word}` is no single value"),
        };
        let help = match is_list {
            true => LISTS,
            false => "name a field that is an integer, a string or bytes: `self.length`, `self.header.length`",
        };
        self.message_mistake(name.span, headline, help);
    }

    pub(super) fn report_unknown_message_field(&mut self, id: MessageId, word: &str, span: Span) {
        let message = &self.scope.program.messages[id];
        let headline = format!("the message `{}` has no field `{word}`", message.name);
        let names: Vec<String> =
            message.fields.iter().map(|field| field.name.clone()).filter(|name| !name.is_empty()).collect();
        let meant = if self.may_suggest(word) { nearest(word, names.iter().map(String::as_str)) } else { None };
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => {
                let shown: Vec<_> = names.iter().take(8).map(|name| format!("`{name}`")).collect();
                if shown.is_empty() {
                    "it has none with a name".to_owned()
                } else {
                    format!("it has {}", shown.join(", "))
                }
            }
        };
        self.report(Diagnostic::error(ids::UNKNOWN_FIELD, headline, span).help(help));
    }
}

/// Whether a field can have this attribute.
fn may_have(attribute: &str, field: &Field) -> bool {
    let is_string = matches!(field.form, model::Form::Bytes | model::Form::Text);
    let is_open = matches!(field.repeat, Repeat::Open);
    let (is_list, is_unit) = (field.is_list(), unit_of(field).is_some());
    match attribute {
        "length" => is_open || !is_list && (is_string || is_unit),
        "until" | "eod" => is_open || !is_list && is_string,
        "max_size" => is_list || is_string || matches!(field.form, model::Form::Token(_)),
        "max_depth" => is_unit,
        "parse_at" => is_unit && !is_list,
        "stream" => field.form == model::Form::Bytes && !is_list,
        "convert" => !is_list && !field.is_variable() && field.element_type().is_some(),
        "requires" => is_unit || field.element_type().is_some(),
        "digits" => matches!(field.form, model::Form::Integer(..)),
        "parse" => field.is_variable(),
        "update" => true,
        _ => !is_list && field.element_type().is_some(),
    }
}

/// How an attribute is written.
fn form_of(attribute: &str) -> &'static str {
    match attribute {
        "length" => "write `&length = self.size`",
        "until" => "write `&until = \"\\r\\n\"`, or of a list what holds of its last element, `&until = $$.size == 0`",
        "eod" => "write `&eod`, without a value",
        "stream" => "write `&stream`, without a value",
        "max_size" => "write a number above 0: `&max_size = 64k`",
        "max_depth" => "write a number above 0: `&max_depth = 8`",
        "parse_at" => "write how far from the beginning of the message: `&parse_at = self.offset`",
        "convert" => "write what it becomes: `&convert = lower($$)`",
        "requires" => "write what must hold: `&requires = $$ < 16`",
        "digits" => "write 10 or 16: `&digits = 10`",
        "parse" => "write what it is: `&parse = self.total_len - 8`",
        "update" => "write what the variable becomes: `&update = self.length = $$.length`",
        _ => "write `&serialize = self.total_len = $$ + 8`",
    }
}

/// Every name in a value. The recursion is as deep as the value, which the parser bounds.
fn names_of<'a, 'text>(value: &'a Value<'text>, found: &mut Vec<&'a QualifiedName<'text>>) {
    deep(|| match &value.form {
        Form::Name(name) if name.module.is_none() => found.push(name),
        Form::Call(_, arguments) => arguments.iter().for_each(|argument| names_of(&argument.value, found)),
        _ => value.parts().into_iter().for_each(|part| names_of(part, found)),
    })
}

/// Whether an expression can be in a message: a number, a text, or made of such.
fn is_for_messages(expression: &Expression) -> bool {
    let is_value =
        |ty: &Type| ty.integer().is_some() || matches!(ty.kind(), TypeKind::Bool | TypeKind::Text | TypeKind::Bytes);
    let is_known = match &expression.term {
        Term::Integer(_) | Term::Truth(_) | Term::Text(_) | Term::Variable(_) | Term::Not(_) | Term::Negate(_) => true,
        Term::Binary(..) | Term::Choose(_) | Term::Convert(_) | Term::Slice(..) => true,
        Term::Call(function, _) => matches!(
            function,
            Function::Length
                | Function::StartsWith
                | Function::EndsWith
                | Function::Contains
                | Function::Lower
                | Function::Upper
                | Function::Trim
        ),
        _ => false,
    };
    is_known && is_value(&expression.ty)
}
