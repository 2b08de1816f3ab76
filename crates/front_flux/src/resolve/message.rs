//! Messages: their names, then their fields, then what attributes say, since each may speak of all that come before in
//! this list. Whether fields are read before they are asked for is for the passes.

use super::Resolver;
use crate::ids;
use crate::message::{self, Case, Form, Unit};
use crate::syntax::{Name, QualifiedName, Statement};
use flux_diagnostic::{Diagnostic, nearest};
use flux_ir::message::{self as model, ByteOrder, Field, FieldId, Item, Message, MessageId, Repeat, Switch, Token};
use flux_ir::program::Parameter;
use flux_ir::types::{Integer, Type, TypeKind};
use flux_source::{Span, deep};
use std::collections::HashMap;

/// What a field is that was reported: nothing more is said of it.
pub(super) const WRONG: model::Form = model::Form::Literal(vec![]);

/// The properties of a message.
const PROPERTIES: &str =
    "there are `%byteorder = big;` or `little`, `%max_size = 64k;` in bytes, and `%origin = self;`";

/// What the properties of a message say.
struct Properties {
    order: ByteOrder,
    max_size: Option<u64>,
    is_origin: bool,
}

impl<'syntax> Resolver<'syntax, '_, '_> {
    /// Declares all messages, and says what they consist of.
    pub(super) fn declare_messages(&mut self) {
        let syntax = self.syntax;
        let mut units: Vec<(MessageId, &'syntax Unit<'syntax>)> = vec![];
        for statement in &syntax.statements {
            if let Statement::Unit(unit) = statement
                && self.check_message_name(&unit.name)
            {
                let id = self.scope.add_message(Message::new(unit.name.declared(), unit.span));
                units.push((id, unit));
            }
        }
        for (id, unit) in &units {
            self.declare_fields(*id, unit);
        }
        // What a field is converted to is made of its own value alone: so these come first, in any order.
        for converts in [true, false] {
            for (id, unit) in &units {
                self.resolve_attributes(*id, unit, converts);
            }
        }
        for (id, unit) in &units {
            let items = self.message_items(*id, &unit.items, &mut 0);
            self.scope.program.messages[*id].items = items;
        }
    }

    pub(super) fn message_called(&self, name: &QualifiedName<'_>) -> Option<MessageId> {
        let (module, own) = name.parts();
        self.scope.message(module, own)
    }

    fn check_message_name(&mut self, name: &QualifiedName<'_>) -> bool {
        self.check_type(name, "message");
        let known = self.message_called(name).map(|id| self.scope.program.messages[id].span);
        let Some(first) = known else { return true };
        let headline = format!("the type `{name}` is declared twice");
        let error = Diagnostic::error(ids::DUPLICATE_TYPE, headline, name.span).mark(first, "first declared here");
        self.report(error.help("remove one of them, or give it another name"));
        false
    }

    /// The parameters, the properties, and what each field is, without what attributes say.
    fn declare_fields(&mut self, id: MessageId, unit: &'syntax Unit<'syntax>) {
        let parameters = self.message_parameters(unit);
        let Properties { order, max_size, is_origin } = self.properties(unit);
        let mut fields = vec![];
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for field in fields_of(&unit.items) {
            if let Some(name) = &field.name {
                self.check_word(&name.text, name.span, "field");
                if let Some(first) = seen.insert(name.as_str(), name.span) {
                    self.report_same_name(unit, (first, name));
                } else if let Some(parameter) = parameters.iter().find(|one| one.name == *name.text) {
                    self.report_as_parameter(unit, parameter.span, name);
                }
            }
            let form = self.message_form(field, order, unit);
            let name = field.name.as_ref().map_or_else(String::new, |name| name.as_str().to_owned());
            let repeat = if field.repeat.is_some() { Repeat::Open } else { Repeat::Once };
            fields.push(Field { repeat, ..Field::new(name, form, field.span) });
        }
        let message = &mut self.scope.program.messages[id];
        (message.parameters, message.fields) = (parameters, fields);
        (message.max_size, message.is_origin) = (max_size, is_origin);
    }

    /// Two fields have one name, perhaps in two branches of which one is taken.
    fn report_same_name(&mut self, unit: &'syntax Unit<'syntax>, (first, name): (Span, &'syntax Name<'syntax>)) {
        let called = &name.text;
        let headline = format!("`{}` has two fields called `{called}`", unit.name);
        let mut help = "give one of them another name".to_owned();
        if unit.items.iter().any(|item| !matches!(item, message::Item::Field(_))) {
            help += &format!("; a variable before the choice has one name for both: `&update = self.{called} = $$`");
        }
        let error = Diagnostic::error(ids::DUPLICATE_FIELD, headline, name.span);
        self.report(error.mark(first, "the first one").help(help));
    }

    /// Whoever makes the message gives both by their names.
    fn report_as_parameter(&mut self, unit: &'syntax Unit<'syntax>, parameter: Span, name: &'syntax Name<'syntax>) {
        let headline = format!("`{}` has a parameter and a field called `{}`", unit.name, name.text);
        let error = Diagnostic::error(ids::DUPLICATE_FIELD, headline, name.span).mark(parameter, "the parameter");
        self.report(error.help("give one of them another name"));
    }

    fn message_parameters(&mut self, unit: &'syntax Unit<'syntax>) -> Vec<Parameter> {
        let parameters = self.parameters(&unit.parameters, "parameter", &unit.name);
        for parameter in &parameters {
            if *parameter.ty.kind() != TypeKind::Bool && parameter.ty.integer().is_none() {
                let headline = format!("the parameter `{}` is no integer and no truth value", parameter.name);
                let error = Diagnostic::error(ids::FIELD_TYPE, headline, parameter.span);
                self.report(error.help("write its type as that of a field: `unit (uint16 length)`"));
            }
        }
        parameters
    }

    fn properties(&mut self, unit: &'syntax Unit<'syntax>) -> Properties {
        let mut said = Properties { order: ByteOrder::Big, max_size: None, is_origin: false };
        for property in &unit.properties {
            let read = match (property.name.as_str(), &property.value.form) {
                ("byteorder", crate::body::Form::Name(name)) => {
                    ByteOrder::of_name(&name.own).map(|found| said.order = found)
                }
                ("max_size", crate::body::Form::Number(size)) if *size > 0 => {
                    said.max_size = Some(size.unsigned_abs());
                    Some(())
                }
                ("origin", crate::body::Form::Name(name)) if name.own == "self" => {
                    said.is_origin = true;
                    Some(())
                }
                _ => None,
            };
            if read.is_none() {
                let headline = format!("`%{}` is no property of a message, or has no such value", property.name.text);
                let span = property.name.span.to(property.value.span);
                self.report(Diagnostic::error(ids::MESSAGE_ATTRIBUTE, headline, span).help(PROPERTIES));
            }
        }
        said
    }

    /// What a field is on the wire.
    fn message_form(
        &mut self,
        field: &'syntax message::Field<'syntax>,
        order: ByteOrder,
        unit: &'syntax Unit<'syntax>,
    ) -> model::Form {
        let wrong = WRONG;
        match &field.form {
            Form::Literal(bytes) => {
                if bytes.is_empty() {
                    self.message_mistake(field.form_span, "this string has no bytes", "write those that come here");
                }
                model::Form::Literal(bytes.clone())
            }
            Form::Bits(bits) => match u8::try_from(*bits) {
                Ok(_) if field.repeat.is_some() => {
                    self.message_mistake(field.form_span, "bits stand by themselves, in no list", "write out each");
                    wrong
                }
                Ok(bits @ 1..=64) => model::Form::Bits(bits),
                _ => {
                    self.message_mistake(field.form_span, "a field has 1 to 64 bits", "write `bits(4)`");
                    wrong
                }
            },
            Form::Token(expression) => {
                if let Err(mistake) = Token::new(expression) {
                    let headline = format!("this is no token: {}", mistake.message);
                    let help = "write a regular expression of bytes: `token(\"[A-Za-z]+\")`";
                    let span = field.form_span;
                    let error = Diagnostic::error(ids::MESSAGE_TOKEN, headline, span);
                    let at = mistake.at;
                    self.report(error.label(format!("after {at} characters of it")).help(help));
                }
                model::Form::Token(expression.clone())
            }
            Form::Named(name, arguments) => self.named_form(field, name, arguments, order, unit).unwrap_or(wrong),
        }
    }

    fn named_form(
        &mut self,
        field: &'syntax message::Field<'syntax>,
        name: &'syntax QualifiedName<'syntax>,
        arguments: &'syntax [crate::body::Value<'syntax>],
        order: ByteOrder,
        unit: &'syntax Unit<'syntax>,
    ) -> Option<model::Form> {
        let message = self.message_called(name);
        if message.is_none() && !arguments.is_empty() {
            self.message_mistake(name.span, format!("`{name}` has no parameters"), "only messages are given values");
        }
        let scalar = scalar_type(name);
        if field.is_variable {
            if field.repeat.is_some() {
                self.message_mistake(field.span, "a variable is one value, and no list", "remove the brackets");
            }
            let Some(ty) = scalar.filter(|ty| ty.integer().is_none_or(is_machine_size)) else {
                self.report_message_type(name, unit);
                return None;
            };
            let value = model::Formula { names: vec![], value: flux_ir::compute::integer(0, field.span) };
            return Some(model::Form::Variable(ty, value));
        }
        if let Some(id) = message {
            let wanted = self.parameter_count(id);
            if wanted != arguments.len() {
                let parameters = if wanted == 1 { "parameter" } else { "parameters" };
                let headline = format!("`{name}` has {wanted} {parameters}, and is given {}", arguments.len());
                self.message_mistake(field.form_span, headline, "give a value for each: `body(self.length)`");
            }
            return Some(model::Form::Unit(id, vec![]));
        }
        let form = scalar.as_ref().and_then(|ty| match ty.kind() {
            TypeKind::Text => Some(model::Form::Text),
            TypeKind::Bytes => Some(model::Form::Bytes),
            TypeKind::Integer(integer) => Some(model::Form::Integer(*integer, order)),
            _ => None,
        });
        match (&form, &field.repeat) {
            (None, _) => self.report_message_type(name, unit),
            (Some(model::Form::Text | model::Form::Bytes), Some(_)) => {
                let headline = format!("elements of a list of `{name}` have no end of their own");
                let help =
                    "make a message of an element, with its end: `type line = unit { text : string &until = … };`";
                self.message_mistake(field.form_span, headline, help);
            }
            _ => {}
        }
        form
    }

    /// How many parameters a message has: those of later ones have not been read yet.
    fn parameter_count(&self, id: MessageId) -> usize {
        let name = &self.scope.program.messages[id].name;
        let of = self.syntax.statements.iter().find_map(|statement| match statement {
            Statement::Unit(unit) if unit.name.declared() == *name => Some(unit.parameters.len()),
            _ => None,
        });
        of.unwrap_or(0)
    }

    fn report_message_type(&mut self, name: &QualifiedName<'_>, unit: &Unit<'_>) {
        if !self.is_unknown(ids::FIELD_TYPE, name) {
            return;
        }
        let word = name.to_string();
        let article = if word.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        let headline = format!("a field of `{}` cannot be {article} `{word}`", unit.name);
        let mut names: Vec<String> = self.scope.program.messages.iter().map(|(_, one)| one.name.to_string()).collect();
        let scalars = ["uint8", "uint16", "uint24", "uint32", "uint64", "int8", "int16", "int32", "int64"];
        names.extend(scalars.into_iter().chain(["bytes", "string"]).map(str::to_owned));
        let meant = if self.may_suggest(&word) { nearest(&word, names.iter().map(String::as_str)) } else { None };
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => {
                "fields are integers, `uint8` to `uint64`, `bytes`, `string`, tokens, bits, and other messages".into()
            }
        };
        self.report(Diagnostic::error(ids::FIELD_TYPE, headline, name.span).help(help));
    }

    pub(super) fn message_mistake(&mut self, span: Span, headline: impl Into<String>, help: impl Into<String>) {
        self.report(Diagnostic::error(ids::MESSAGE_ATTRIBUTE, headline, span).help(help));
    }

    /// What the attributes of all fields say: what they are converted to, or all else.
    fn resolve_attributes(&mut self, id: MessageId, unit: &'syntax Unit<'syntax>, converts: bool) {
        for (index, field) in fields_of(&unit.items).into_iter().enumerate() {
            self.field_attributes((id, FieldId::new(index)), field, converts);
        }
    }

    /// The items, whose fields are numbered in the order of the text.
    fn message_items(
        &mut self,
        id: MessageId,
        items: &'syntax [message::Item<'syntax>],
        next: &mut usize,
    ) -> Vec<Item> {
        deep(|| {
            let mut resolved = vec![];
            for item in items {
                match item {
                    message::Item::Field(_) => {
                        resolved.push(Item::Field(FieldId::new(*next)));
                        *next += 1;
                    }
                    message::Item::If(condition, then, otherwise) => {
                        let condition = self.condition_formula(id, condition);
                        let then = self.message_items(id, then, next);
                        let otherwise = self.message_items(id, otherwise, next);
                        resolved.extend(condition.map(|condition| Item::If(condition, then, otherwise)));
                    }
                    message::Item::Switch(on, cases, span) => {
                        let on_value = on.as_ref().map(|on| self.any_formula((id, None), on));
                        let cases = cases.iter().map(|case| self.case(id, case, next)).collect();
                        if let Some(None) = on_value {
                            continue;
                        }
                        let switch = Switch { on: on_value.flatten(), cases, span: *span };
                        self.check_labels(&switch);
                        resolved.push(Item::Switch(switch));
                    }
                }
            }
            resolved
        })
    }

    fn case(&mut self, id: MessageId, case: &'syntax Case<'syntax>, next: &mut usize) -> model::Case {
        let labels = case.labels.iter().map(|label| label.value.clone()).collect();
        let items = self.message_items(id, &case.items, next);
        model::Case { labels, is_default: case.is_default, items, span: case.span }
    }

    /// Labels are of the type that decides, each is there once, and the last resort comes last.
    fn check_labels(&mut self, switch: &Switch) {
        let wants_bytes = switch.on.as_ref().map(|on| match on.value.ty.kind() {
            TypeKind::Text | TypeKind::Bytes => Some(true),
            TypeKind::Integer(_) => Some(false),
            _ => None,
        });
        if let Some(None) = wants_bytes {
            let span = switch.on.as_ref().map_or(switch.span, |on| on.value.span);
            return self.message_mistake(span, "a `switch` is about an integer, a string or bytes", "ask by `if`");
        }
        let mut seen: HashMap<&model::Label, Span> = HashMap::new();
        for (index, case) in switch.cases.iter().enumerate() {
            if case.is_default && index + 1 < switch.cases.len() {
                let headline = "nothing after `*` is ever chosen";
                self.message_mistake(case.span, headline, "put `*` last: it is for what no other case is for");
            }
            for label in &case.labels {
                let is_bytes = matches!(label, model::Label::Bytes(_));
                if wants_bytes.flatten().is_some_and(|wanted| wanted != is_bytes) {
                    let headline = match is_bytes {
                        true => "the value of this `switch` is an integer, and this case is for a string",
                        false => "the value of this `switch` is a string, and this case is for an integer",
                    };
                    let help = "write cases as the value is: `1 -> …` for an integer, `\"get\" -> …` for a string";
                    self.message_mistake(case.span, headline, help);
                }
                if let Some(first) = seen.insert(label, case.span) {
                    let error = Diagnostic::error(ids::MESSAGE_ATTRIBUTE, "this value has a case already", case.span);
                    self.report(error.mark(first, "the first one").help("remove one of them"));
                }
            }
        }
    }
}

/// The fields in `items`, in the order of the text.
pub(super) fn fields_of<'a, 'syntax>(items: &'a [message::Item<'syntax>]) -> Vec<&'a message::Field<'syntax>> {
    let mut found = vec![];
    collect(items, &mut found);
    found
}

fn collect<'a, 'syntax>(items: &'a [message::Item<'syntax>], found: &mut Vec<&'a message::Field<'syntax>>) {
    deep(|| {
        for item in items {
            match item {
                message::Item::Field(field) => found.push(field),
                message::Item::If(_, then, otherwise) => {
                    collect(then, found);
                    collect(otherwise, found);
                }
                message::Item::Switch(_, cases, _) => cases.iter().for_each(|case| collect(&case.items, found)),
            }
        }
    })
}

/// The type of a field that is no message: an integer of whole bytes, a truth value, text or bytes.
fn scalar_type(name: &QualifiedName<'_>) -> Option<Type> {
    let (None, word) = name.parts() else { return None };
    match word {
        "string" | "text" => return Some(Type::of_kind(TypeKind::Text)),
        "bytes" => return Some(Type::of_kind(TypeKind::Bytes)),
        "bool" => return Some(Type::of_kind(TypeKind::Bool)),
        _ => {}
    }
    let (signed, bits) = match word.strip_prefix('u') {
        Some(rest) => (false, rest.strip_prefix("int")?),
        None => (true, word.strip_prefix("int")?),
    };
    let bits: u8 = bits.parse().ok().filter(|bits| (8..=64).contains(bits) && bits % 8 == 0)?;
    Some(Type::of_kind(TypeKind::Integer(Integer { signed, bits })))
}

/// Whether a variable can be such an integer.
fn is_machine_size(integer: Integer) -> bool {
    matches!(integer.bits, 8 | 16 | 32 | 64)
}

/// The id of the message that a place is in, and the field whose attribute it is, if any.
pub(super) type Place = (MessageId, Option<FieldId>);
