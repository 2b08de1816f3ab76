//! The class of a message as the header declares it: the places of the fields, and an accessor for each field.

use super::formula::Known;
use super::plan::{Store, value_type};
use super::sized::choice_type;
use super::stored::{From, machine, type_name};
use super::{Messages, accessor};
use crate::tree::{Declaration, Declarator, Expression as Cpp, Function, Initial, Statement};
use flux_contract::message as runtime;
use flux_ir::arena::ArenaId;
use flux_ir::message::{
    Field, FieldId, Form, Message, MessageId, has_streams, is_before_streams, is_inside_itself, unit_of,
};
use flux_ir::types::Integer;
use flux_source::Deep;
use std::collections::HashSet;

impl Messages<'_> {
    /// The messages `ids` in the order of their classes. If the places of a message A contain the places of a message
    /// B, B comes before A.
    pub(crate) fn ordered(&self, ids: &[MessageId]) -> Vec<MessageId> {
        let (mut done, mut ordered) = (HashSet::new(), vec![]);
        for id in ids {
            let mut open = vec![(*id, false)];
            while let Some((id, is_after)) = open.pop() {
                if is_after {
                    ordered.push(id);
                } else if ids.contains(&id) && done.insert(id) {
                    open.push((id, true));
                    let message: &Message = &self.program.messages[id];
                    let kept = message.fields.iter().filter(|field| !is_inside_itself(self.program, id, field));
                    open.extend(kept.filter(|field| !field.is_list()).filter_map(unit_of).map(|unit| (unit, false)));
                }
            }
        }
        ordered
    }

    /// The declaration of the message's class in the header.
    pub(crate) fn class_declaration(&self, id: MessageId) -> Declaration {
        let message: &Message = &self.program.messages[id];
        let name = message.name.own();
        let mut inner = vec![
            Declaration::Comment("Where its fields are.".to_owned()),
            Declaration::Derived("places".to_owned(), format!("{}<{name}>", runtime::PLACES), self.places(id)),
        ];
        let tokens = self.token_declarations(id);
        if !tokens.is_empty() {
            inner.push(Declaration::Blank);
            inner.extend(tokens);
        }
        inner.push(Declaration::Blank);
        let fact = |name: &str, value: Cpp| Cpp::Infix(Deep::new(Cpp::name(format!(".{name}"))), "=", Deep::new(value));
        let mut facts =
            vec![fact("name", Cpp::Text(message.name.to_string())), fact("max_size", Cpp::name(message.most_bytes()))];
        let known = [
            ("has_streams", has_streams(&self.program.messages, id)),
            ("is_bounded_inside", self.is_bounded_inside(id)),
            ("is_in_itself", self.is_in_itself(id)),
            ("is_sized", self.is_sized(id)),
            ("says_of_exchange", message.says_of_exchange()),
            ("is_asked", message.is_asked()),
        ];
        facts.extend(known.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| fact(name, Cpp::name(true))));
        let facts_type = format!("static constexpr {}", runtime::FACTS);
        inner.push(Declaration::Variable(Declarator::new(facts_type, "facts"), Initial::Braces(facts)));
        inner.push(Declaration::Blank);
        inner.extend(reading_functions(message));
        if self.finding(id).is_some() {
            let of = "Of one that has been read before, which begins there: finds its fields again, and gives its end.";
            inner
                .extend([Declaration::Comment(of.to_owned()), Declaration::Declared("static ", find_function(""), "")]);
        }
        inner.push(Declaration::Blank);
        inner.extend(constructors(name));
        inner.extend(self.making_declarations(id));
        inner.push(Declaration::Blank);
        for (index, field) in message.fields.iter().enumerate() {
            let Some(function) = self.accessor(id, FieldId::new(index), field) else { continue };
            inner.push(match self.is_defined_later(id, FieldId::new(index)) {
                true => Declaration::Declared("", function, " const"),
                false => Declaration::Method(function, " const"),
            });
        }
        inner.extend(self.meaning_declarations(id));
        inner.extend([Declaration::Private, Declaration::Member(Declarator::new("places", "at_"), None)]);
        Declaration::Class(name.to_owned(), runtime::MESSAGE.to_owned(), inner)
    }

    /// The functions of the class that need other classes. The header defines them after all classes.
    pub(crate) fn later_functions(&self, id: MessageId) -> Vec<Declaration> {
        let message: &Message = &self.program.messages[id];
        let mut later = vec![];
        for (index, field) in message.fields.iter().enumerate() {
            let at = FieldId::new(index);
            if let Some(mut function) = self.accessor(id, at, field).filter(|_| self.is_defined_later(id, at)) {
                function.result = format!("inline {}", function.result);
                function.name = format!("{}::{}", message.name.own(), function.name);
                later.extend([Declaration::Blank, Declaration::Method(function, " const")]);
            }
        }
        if let Some(body) = self.finding(id) {
            // A loop over a list usually reads only some fields of an element. Inlining lets the C++ compiler drop the
            // search for the other fields.
            let result = "[[gnu::always_inline]] inline std::uint32_t".to_owned();
            let function = Function { result, body, ..find_function(&format!("{}::", message.name.own())) };
            later.extend([Declaration::Blank, Declaration::Method(function, "")]);
        }
        later.extend(self.meaning(id));
        later
    }

    fn is_defined_later(&self, id: MessageId, field: FieldId) -> bool {
        matches!(self.plan(id).stores.get(field.index()), Some(Store::Parts(_) | Store::Passed(..)))
    }

    fn places(&self, id: MessageId) -> Vec<Declaration> {
        let (message, plan): (&Message, _) = (&self.program.messages[id], self.plan(id));
        let member = |ty: &str, name: &str, initial: Option<&str>| {
            Declaration::Member(Declarator::new(ty, name), initial.map(Cpp::name))
        };
        let mut members = vec![];
        for (parameter, name) in message.parameters.iter().zip(&plan.parameters) {
            let (ty, initial) = match parameter.ty.integer() {
                Some(Integer { signed: true, .. }) => ("std::int64_t", "0"),
                Some(_) => ("std::uint64_t", "0"),
                None => ("bool", "false"),
            };
            members.push(member(ty, name, Some(initial)));
        }
        if self.needs_origin(id) && !message.is_origin {
            members.push(member("std::uint32_t", "origin", Some("0")));
        }
        members.extend(plan.choices.iter().map(|choice| member(choice_type(&plan.steps, choice), choice, Some("0"))));
        if plan.has_updates {
            members.push(member("std::uint16_t", "updated", Some("0")));
        }
        members.extend(plan.anchors.iter().map(|anchor| member("std::uint32_t", anchor, Some("0"))));
        let mut late: Vec<Vec<Declaration>> = plan.late.iter().map(|_| vec![]).collect();
        let mut done = HashSet::new();
        for (index, (store, field)) in plan.stores.iter().zip(&message.fields).enumerate() {
            let Some(name) = store.member().filter(|name| done.insert(name.to_owned())) else { continue };
            let group = plan.late.iter().position(|group| group.iter().any(|member| member == name));
            let into = group.and_then(|group| late.get_mut(group)).unwrap_or(&mut members);
            let shared = plan.stores.iter().zip(&message.fields).filter(|(other, _)| other.member() == Some(name));
            let shared: Vec<_> = shared
                .map(|(_, field)| field.name.as_str())
                .filter(|field| *field != name && !field.is_empty())
                .collect();
            if let Some((last, before)) = shared.split_last() {
                let all =
                    if before.is_empty() { (*last).to_owned() } else { format!("{} or {last}", before.join(", ")) };
                into.push(Declaration::Comment(format!("In other cases {all}.")));
            }
            into.extend(match store {
                Store::Part(name) | Store::Passed(name, _) => Some(member(runtime::PART, name, None)),
                Store::Parts(name) => Some(member(runtime::PARTS, name, None)),
                Store::Places(name, unit) => Some(member(&format!("{}::places", self.class(*unit)), name, None)),
                Store::Value(name) => {
                    let ty = value_type(field);
                    let initial = if ty == "bool" { "false" } else { "0" };
                    let known = plan.begins_with(message, FieldId::new(index));
                    let initial = known.as_deref().unwrap_or(initial);
                    Some(member(&ty, name, group.is_none().then_some(initial)))
                }
                Store::Nothing | Store::Offset(..) | Store::Computed => None,
            });
        }
        if !late.is_empty() {
            members.push(Declaration::Comment("These have values once their case was taken.".to_owned()));
            members.extend(late.into_iter().map(Declaration::Union));
            members.push(Declaration::Blank);
            members.push(Declaration::Method(function("", "places", vec![], vec![]), ""));
        }
        members
    }

    /// The accessor of a field; none if the program cannot ask for the field.
    fn accessor(&self, id: MessageId, at: FieldId, field: &Field) -> Option<Function> {
        if field.name.is_empty() || !is_before_streams(&self.program.messages, &self.program.messages[id], at) {
            return None;
        }
        let message: &Message = &self.program.messages[id];
        let plan = self.plan(id);
        let from = From { bytes: "first_byte()".to_owned(), places: "at_".to_owned(), view: "view" };
        let mut body = vec![];
        let (ty, value) = match plan.stores.get(at.index())? {
            Store::Nothing => return None,
            Store::Parts(member) => {
                let ty = format!("{}<{}>", runtime::LIST, self.element(id, field));
                let mut values = vec![Cpp::name("bytes()"), Cpp::name(format!("at_.{member}"))];
                if let Form::Unit(unit, _) = &field.form {
                    values.extend(self.element_places(id, *unit, field, &from, &mut body));
                }
                let value = Cpp::Made(ty.clone(), values);
                (ty, value)
            }
            Store::Places(member, unit) => {
                let ty = self.class(*unit);
                (ty.clone(), Cpp::Made(ty, vec![Cpp::name("bytes()"), Cpp::name(format!("at_.{member}"))]))
            }
            Store::Passed(member, unit) => {
                let ty = self.class(*unit);
                if self.element_places(id, *unit, field, &from, &mut body).is_none() {
                    let places = Declarator::new(format!("{ty}::places"), "inner");
                    body.push(Statement::Variable(places, Initial::Braces(vec![])));
                }
                let bytes = Cpp::name(format!("bytes().view().substr(0, at_.{member}.end)"));
                let begin = Cpp::name(format!("at_.{member}.begin"));
                let found = Cpp::name(format!("{}<{ty}>", runtime::FIND_AGAIN));
                body.push(Statement::Run(found.call(vec![bytes, begin, Cpp::name("inner")])));
                (ty.clone(), Cpp::Made(ty, vec![Cpp::name("bytes()"), Cpp::name("inner")]))
            }
            _ => {
                let (said, is_checked) = self.value(id, at, &from)?;
                if is_checked {
                    // The reader checked that the value fits when it read the message.
                    body.push(Statement::Variable(Declarator::new("bool", "fits"), Initial::Value(Cpp::name("true"))));
                }
                let ty = result_type(&said.known, field);
                let is_exact = field.convert.is_none() && plan.stores.get(at.index()) != Some(&Store::Computed);
                let value = match (&said.known, is_exact) {
                    (Known::Integer { .. }, false) => {
                        Cpp::Instance("static_cast".to_owned(), vec![Cpp::name(&ty)]).call(vec![said.cpp])
                    }
                    _ => said.cpp,
                };
                (ty, value)
            }
        };
        let name = accessor(message, &field.name);
        let result = match plan.taken.get(at.index()).and_then(Option::as_ref) {
            Some(taken) => {
                let is_there = Cpp::name(format!("at_.{} != {}", taken.choice, taken.way));
                body.insert(0, Statement::If(is_there, vec![Statement::Return(Cpp::name("std::nullopt"))], vec![]));
                format!("std::optional<{ty}>")
            }
            None => ty,
        };
        body.push(Statement::Return(value));
        Some(Function { result, name, parameters: vec![], body, caught: vec![] })
    }

    /// The initial places of an element, as the C++ variable `inner`; none if the element takes no arguments and no
    /// origin.
    fn element_places(
        &self,
        id: MessageId,
        unit: MessageId,
        field: &Field,
        from: &From,
        body: &mut Vec<Statement>,
    ) -> Option<Cpp> {
        let Form::Unit(_, arguments) = &field.form else { return None };
        let inner: &Message = &self.program.messages[unit];
        let has_origin = self.needs_origin(unit) && !inner.is_origin;
        if arguments.is_empty() && !has_origin {
            return None;
        }
        let ty = format!("{}::places", self.class(unit));
        body.push(Statement::Variable(Declarator::new(ty, "inner"), Initial::Braces(vec![])));
        let mut is_checked = false;
        for (member, argument) in self.plan(unit).parameters.iter().zip(arguments) {
            let (said, checked) =
                super::formula::said_of_narrow(argument, &|reference| self.reference(id, reference, from, None));
            is_checked |= checked;
            body.push(Statement::Assign(Cpp::name(format!("inner.{member}")), said.cpp));
        }
        if is_checked {
            body.insert(0, Statement::Variable(Declarator::new("bool", "fits"), Initial::Value(Cpp::name("true"))));
        }
        if has_origin {
            let message: &Message = &self.program.messages[id];
            let origin = if message.is_origin { "at_.whole.begin" } else { "at_.origin" };
            body.push(Statement::Assign(Cpp::name("inner.origin"), Cpp::name(origin)));
        }
        Some(Cpp::name("inner"))
    }
}

/// The C++ type of a field's value.
fn result_type(known: &Known, field: &Field) -> String {
    match (known, &field.convert, &field.form) {
        (Known::Truth, ..) => "bool".to_owned(),
        (Known::View, ..) => "std::string_view".to_owned(),
        (Known::Made, ..) => "std::string".to_owned(),
        (_, Some(convert), _) => type_name(&convert.value.ty),
        (_, None, Form::Variable(ty, _)) => type_name(ty),
        (_, None, Form::Integer(integer, _) | Form::Digits(integer, _)) => machine(*integer),
        (_, None, Form::Bits(width)) => machine(Integer { signed: false, bits: *width }),
        _ => "std::uint64_t".to_owned(),
    }
}

fn function(result: &str, name: &str, parameters: Vec<Declarator>, body: Vec<Statement>) -> Function {
    Function { result: result.to_owned(), name: name.to_owned(), parameters, body, caught: vec![] }
}

fn reading_functions(message: &Message) -> Vec<Declaration> {
    let name = message.name.own();
    let parameters = |from: &str| vec![Declarator::new(from, "in"), Declarator::new("places &", "at")];
    let parse = function("const char *", "parse", parameters("Cursor"), vec![]);
    let mut declared = vec![];
    if message.stands_alone() {
        let reader = format!("{} &", runtime::READER);
        let read = Cpp::name(format!("in.read<{name}>")).call(vec![Cpp::name("at")]);
        let read = function(
            &format!("static {}", runtime::READING),
            "read",
            parameters(&reader),
            vec![Statement::Return(read)],
        );
        declared.extend([
            Declaration::Comment("From the first byte of a message on; goes on where it was unfinished.".to_owned()),
            Declaration::Method(read, " noexcept"),
        ]);
    }
    declared.extend([
        Declaration::Comment(
            "As `read`, wherever it is in another message: gives the byte after it, null where the reading has ended."
                .to_owned(),
        ),
        Declaration::Template("Cursor", Deep::new(Declaration::Declared("static ", parse, ""))),
        Declaration::Comment("One that is there as a whole, and right, in one function.".to_owned()),
        Declaration::Declared("static ", quick_function("", vec![]), " noexcept"),
    ]);
    declared
}

/// The function that reads a message quickly.
pub(super) fn quick_function(scope: &str, body: Vec<Statement>) -> Function {
    let parameters = vec![
        Declarator::new("std::string_view", "bytes"),
        Declarator::new("bool", "keeps_streams"),
        Declarator::new("places &", "at"),
    ];
    function(runtime::QUICK_OUTCOME, &format!("{scope}read_quickly"), parameters, body)
}

/// The function that finds the fields of a message again, without its body.
fn find_function(scope: &str) -> Function {
    let parameters = vec![
        Declarator::new("std::string_view", "bytes"),
        Declarator::new("std::size_t", "begin"),
        Declarator::new("places &", "at"),
    ];
    function("std::uint32_t", &format!("{scope}find"), parameters, vec![])
}

/// The constructors of the class: one makes a message without bytes, the other makes a message from bytes and places.
fn constructors(name: &str) -> Vec<Declaration> {
    let parameters = vec![Declarator::new(runtime::BYTES, "of"), Declarator::new("const places &", "found")];
    let base = ["std::move(of)", "found.whole.begin", "found.whole.end"].map(Cpp::name);
    let initial =
        vec![Cpp::name(runtime::MESSAGE).call(base.to_vec()), Cpp::name("at_").call(vec![Cpp::name("found")])];
    vec![
        Declaration::Declared("", function("", name, vec![], vec![]), " = default"),
        Declaration::Constructor(function("", name, parameters, vec![]), initial),
    ]
}

/// All messages with names in the module `module`; without a module, all messages with names in no module.
pub(crate) fn of_module(program: &flux_ir::program::Program, module: Option<&str>) -> Vec<ArenaId<Message>> {
    program.messages.iter().filter(|(_, message)| message.name.module() == module).map(|(id, _)| id).collect()
}
