//! The classes of messages: of what bytes mean, C++ that reads them.
//!
//! A message is its bytes, and the places of its fields in them. The class has a function for each field that somebody
//! can ask for, which decodes it then, and `parse`, which finds the places ([`reading`]). What [`plan`] keeps of a
//! message is as little as its fields need: one whose offset is always the same has no place. All this is over
//! `flux::message_reader` of the runtime.

mod accessors;
mod byte_range;
mod derived;
mod files;
mod formula;
mod meaning;
mod plan;
mod reading;
mod sized;
mod stored;
mod straight;
mod token;
mod writing;

pub(crate) use self::files::{messages_code, messages_header, messages_header_name};

use self::accessors::quick_function;
use self::plan::{Plan, plan};
use self::reading::Reading;
use crate::names::cpp_name;
use crate::tree::{Declaration, Declarator, Expression as Cpp, Function, Statement};
use flux_contract::message as runtime;
use flux_ir::message::{Field, FieldId, Firsts, Form, Message, MessageId, unit_of};
use flux_ir::program::Program;
use flux_ir::types::TypeKind;
use flux_source::Deep;
use std::collections::{HashMap, HashSet};

/// The messages of a program, ready to be written.
pub(crate) struct Messages<'p> {
    program: &'p Program,
    firsts: Firsts,
    plans: Vec<Plan<'p>>,
    nothing: Plan<'p>,
    /// The messages that others contain.
    inner: HashSet<MessageId>,
    /// The fields with a bound of their depth.
    depths: Vec<(MessageId, FieldId)>,
    /// The messages in which somebody looks back.
    looks_back: HashSet<MessageId>,
    /// What tokens are like, by their expressions.
    shapes: HashMap<&'p str, token::Shape>,
}

/// How C++ calls a field of a message: as the message does, but where that is a name of the class.
pub fn accessor(message: &Message, field: &str) -> String {
    const TAKEN: [&str; 10] =
        ["places", "fields", "facts", "wire", "bytes", "first_byte", "view", "origin", "updated", "means_same_as"];
    // So that `bytes` and `bytes_` are two, and neither is the member `at_`.
    let bare = field.trim_end_matches('_');
    let is_member = bare == "at" && bare != field;
    match TAKEN.contains(&bare) || message.name.own() == bare || is_member {
        true => format!("{field}_"),
        false => field.to_owned(),
    }
}

/// The messages that functions of the program are given by one in C++, which finds many of them in the same bytes.
fn in_streams(program: &Program) -> impl Iterator<Item = MessageId> {
    let given = program.externals.iter().flat_map(|(_, external)| &external.functions);
    let inputs = given.flat_map(|node| program.nodes[*node].inputs());
    inputs.filter_map(|input| match input.ty.kind() {
        TypeKind::Message(id) => Some(*id),
        _ => None,
    })
}

impl<'p> Messages<'p> {
    /// Those of a program that passes have found right.
    pub(crate) fn of(program: &'p Program) -> Self {
        let units = |message: &Message| message.fields.iter().filter_map(unit_of).collect::<Vec<_>>();
        let within = program.messages.iter().flat_map(|(_, message)| units(message));
        let inner = within.chain(in_streams(program)).collect();
        let mut depths = vec![];
        for (id, message) in program.messages.iter() {
            let bounded = message.fields.iter().enumerate().filter(|(_, field)| field.max_depth.is_some());
            depths.extend(bounded.map(|(index, _)| (id, FieldId::new(index))));
        }
        let looks = |message: &Message| message.fields.iter().any(|field| field.parse_at.is_some());
        let mut looks_back: HashSet<_> =
            program.messages.iter().filter(|(_, message)| looks(message)).map(|(id, _)| id).collect();
        loop {
            let more: Vec<_> = program
                .messages
                .iter()
                .filter(|(id, message)| {
                    let reaches = |unit: &MessageId| looks_back.contains(unit) && !program.messages[*unit].is_origin;
                    !looks_back.contains(id) && units(message).iter().any(reaches)
                })
                .map(|(id, _)| id)
                .collect();
            if more.is_empty() {
                break;
            }
            looks_back.extend(more);
        }
        let derived = derived::derived(program);
        let plans = program.messages.ids().map(|id| plan(program, id, &derived)).collect();
        Self {
            program,
            firsts: Firsts::of(program),
            plans,
            nothing: Plan::default(),
            inner,
            depths,
            looks_back,
            shapes: token::shapes(program),
        }
    }

    fn plan(&self, id: MessageId) -> &Plan<'p> {
        // There is one for each message.
        self.plans.get(id.index()).unwrap_or(&self.nothing)
    }

    /// Whether it is in no other, nor behind others, so that it begins with the first byte.
    fn is_first(&self, id: MessageId) -> bool {
        !self.inner.contains(&id)
    }

    fn has_origins(&self) -> bool {
        self.program.messages.iter().any(|(_, message)| message.is_origin)
    }

    /// Whether it must know from where `&parse_at` counts.
    fn needs_origin(&self, id: MessageId) -> bool {
        self.has_origins() && self.looks_back.contains(&id)
    }

    /// Whether its bound counts inside other messages, too.
    fn is_bounded_inside(&self, id: MessageId) -> bool {
        let messages = &self.program.messages;
        let mut fields = messages.iter().flat_map(|(_, message)| &message.fields);
        messages[id].max_size.is_some() && fields.any(|field| unit_of(field) == Some(id))
    }

    /// Whether it may have itself in it, at any depth.
    fn is_in_itself(&self, id: MessageId) -> bool {
        let units = |id: MessageId| self.program.messages[id].fields.iter().filter_map(unit_of);
        let (mut open, mut seen) = (units(id).collect::<Vec<_>>(), HashSet::new());
        while let Some(next) = open.pop() {
            if next == id {
                return true;
            }
            if seen.insert(next) {
                open.extend(units(next));
            }
        }
        false
    }

    /// The class of a message, from anywhere.
    fn class(&self, id: MessageId) -> String {
        format!("::{}", cpp_name(&self.program.messages[id].name))
    }

    /// The number of a field with a bound of its depth.
    fn depth(&self, id: MessageId, field: &Field) -> usize {
        let message: &Message = &self.program.messages[id];
        let is_it = |(of, index): &(MessageId, FieldId)| *of == id && message.field(*index) == Some(field);
        self.depths.iter().position(is_it).unwrap_or(0)
    }

    /// The class of what a list consists of.
    fn element(&self, id: MessageId, field: &Field) -> String {
        match &field.form {
            Form::Unit(unit, _) => self.class(*unit),
            Form::Integer(integer, order) => {
                let ty = stored::machine(*integer);
                let size = integer.bits / 8;
                let order = if *order == flux_ir::message::ByteOrder::Big { "big" } else { "little" };
                {
                    let (element, wire) = (runtime::INTEGER_ELEMENT, runtime::WIRE);
                    format!("{element}<{ty}, {wire}::{order}<{ty}, {size}>, {size}>")
                }
            }
            Form::Digits(integer, base) => {
                format!("{}<{}, {base}>", runtime::DIGITS_ELEMENT, stored::machine(*integer))
            }
            Form::Token(expression) => self.token_element(id, field, expression),
            _ => String::new(),
        }
    }

    /// What finds the fields of a message again that is in another.
    fn finding(&self, id: MessageId) -> Option<Vec<Statement>> {
        self.inner.contains(&id).then(|| Reading::finding(self, id)).flatten()
    }

    /// The functions that read the messages `ids`, for the code of the program.
    pub(crate) fn functions(&self, ids: &[MessageId]) -> Vec<Declaration> {
        let mut written = vec![];
        for id in ids {
            let name = self.program.messages[*id].name.own();
            written.extend(self.token_functions(*id, name));
            written.extend(self.reading(*id));
            written.extend([Declaration::Blank, self.making(*id)]);
        }
        written
    }

    /// The function that reads a message, for each kind of reading.
    fn reading(&self, id: MessageId) -> Vec<Declaration> {
        let name = self.program.messages[id].name.own();
        let parse = |cursor: &str, body: Vec<Statement>| {
            let is_noted = self.needs_places(id) && !body.is_empty();
            let parameters = vec![
                Declarator::new(cursor, if body.is_empty() { "" } else { "in" }),
                Declarator::new("places &", if is_noted { "at" } else { "" }),
            ];
            let (result, name) = ("const char *".to_owned(), format!("{name}::parse"));
            Function { result, name, parameters, body, caught: vec![] }
        };
        let read = Declaration::Method(parse("Cursor", Reading::new(self, id).body()), "");
        let mut written = vec![Declaration::Blank, Declaration::Template("Cursor", Deep::new(read))];
        let is_sized = self.is_sized(id);
        let kinds = [
            Some(runtime::CURSOR),
            // One that is in no other is read by no other kind.
            (!is_sized || !self.is_first(id)).then_some(runtime::QUICK_CURSOR),
            is_sized.then_some(runtime::SIZED_CURSOR),
        ];
        written.extend(kinds.into_iter().flatten().map(|cursor| Declaration::Instantiated(parse(cursor, vec![]))));
        let (read, given): (_, &[&str]) = match is_sized {
            true => (runtime::READ_SIZED, &["bytes", "at"]),
            false => (runtime::READ_QUICKLY, &["bytes", "0", "keeps_streams", "at"]),
        };
        let read = Cpp::name(format!("{read}<{name}>")).call(given.iter().map(Cpp::name).collect());
        let mut quick = quick_function(&format!("{name}::"), vec![Statement::Return(read)]);
        if is_sized && let Some(keeps_streams) = quick.parameters.get_mut(1) {
            keeps_streams.name.clear();
        }
        quick.result = format!("[[gnu::flatten]] {}", quick.result);
        written.extend([Declaration::Blank, Declaration::Method(quick, " noexcept")]);
        written
    }

    /// Whether reading it notes anything.
    fn needs_places(&self, id: MessageId) -> bool {
        let plan = self.plan(id);
        let message: &Message = &self.program.messages[id];
        let is_noted = |(index, store): (usize, &plan::Store)| {
            let is_read = !plan.derived.contains(&FieldId::new(index));
            is_read && !matches!(store, plan::Store::Nothing | plan::Store::Offset(..))
        };
        !plan.choices.is_empty()
            || !plan.anchors.is_empty()
            || plan.stores.iter().enumerate().any(is_noted)
            || !message.parameters.is_empty() && message.fields.iter().any(|field| !field.formulas().is_empty())
    }
}
