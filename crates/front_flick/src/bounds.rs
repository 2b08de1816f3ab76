//! What the processes of a file may hold, as far as it says so: how many channels there are, and the bytes of state.
//! `flux check --bounds` adds the messages to that, and what the rules compute.

use crate::check::REPLIES;
use crate::parser::parse;
use crate::syntax::{Declaration, Event, Parameter, Record, State, Syntax, Type, TypeForm};
use flux_diagnostic::Diagnostics;
use flux_ir::compute::Extent;
use flux_ir::message::Message;
use flux_ir::name::Name;
use flux_ir::program::Program;
use flux_source::{FileId, deep};
use std::cell::RefCell;
use std::collections::HashMap;

/// A process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// What it is called.
    pub name: String,
    /// Its channels, in order.
    pub channels: Vec<Channel>,
    /// The state of one run.
    pub locals: Vec<Held>,
    /// Whether it merges what comes of its channels.
    pub is_fold: bool,
}

/// A channel of a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Channel {
    /// What it is called.
    pub name: String,
    /// Whether it is an array.
    pub is_array: bool,
    /// How many connections it is at most; none where that has no bound.
    pub most: Option<u64>,
    /// How it is written with a bound.
    pub bounded: String,
    /// Whether runs may share its connections: what is sent there says how many replies it has.
    pub may_share: bool,
    /// The events that have rules.
    pub events: Vec<&'static str>,
}

/// State.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// What it is called.
    pub name: String,
    /// The most bytes; none where that has no bound.
    pub bytes: Option<u64>,
    /// How its type is written with a bound.
    pub bounded: String,
    /// How large the value is, for what is computed with it.
    pub extent: Extent,
}

/// The processes of a text that is right, and the state that all their runs share.
pub fn processes(file: FileId, text: &str, program: &Program) -> (Vec<Process>, Vec<Held>) {
    let syntax = parse(file, text, &mut Diagnostics::new());
    let sizes = Sizes { syntax: &syntax, program, records: RefCell::default() };
    let (mut processes, mut globals) = (vec![], vec![]);
    for declaration in &syntax.declarations {
        match declaration {
            Declaration::Global(state) => globals.push(sizes.held(state)),
            Declaration::Process(process) => processes.push(Process {
                name: process.name.text.to_string(),
                channels: process.parameters.iter().filter_map(|parameter| sizes.channel(process, parameter)).collect(),
                locals: process.locals.iter().map(|state| sizes.held(state)).collect(),
                is_fold: !process.block.is_empty(),
            }),
            _ => {}
        }
    }
    (processes, globals)
}

/// What values take beside their bytes: a text or a list the place where those are, and an entry of a dictionary its
/// links.
const OWNER: u64 = 32;
const ENTRY: u64 = 48;

struct Sizes<'a, 'text> {
    syntax: &'a Syntax<'text>,
    program: &'a Program,
    /// The bytes of the records that were looked at.
    records: RefCell<HashMap<String, Option<u64>>>,
}

impl Sizes<'_, '_> {
    fn channel(&self, process: &crate::syntax::Process<'_>, parameter: &Parameter<'_>) -> Option<Channel> {
        let Parameter::Channel(channel) = parameter else { return None };
        let way = |ty: &Option<Type<'_>>| ty.as_ref().map_or("-".to_owned(), spelled);
        let name = channel.name.text.to_string();
        let has = |event: &Event| {
            process
                .rules
                .iter()
                .any(|rule| rule.channel.as_str() == name && rule.event.is_some_and(|(own, _)| own == *event))
        };
        let says_replies = |ty: &Type<'_>| self.named(ty).is_some_and(|message| message.field_named(REPLIES).is_some());
        Some(Channel {
            may_share: channel.gives.is_some() && channel.takes.as_ref().is_some_and(says_replies),
            is_array: channel.array.is_some(),
            most: channel.array.unwrap_or(Some(1)),
            bounded: format!("[{}/{}]{{16}} {name}", way(&channel.gives), way(&channel.takes)),
            events: Event::ALL.into_iter().filter(has).map(Event::name).collect(),
            name,
        })
    }

    fn held(&self, state: &State<'_>) -> Held {
        let ty = &state.field.ty;
        let own = match &ty.form {
            TypeForm::Named(name) if !matches!(&*name.own, "string" | "bytes") => self.bytes(ty),
            _ => ty.most,
        };
        Held {
            name: state.field.name.text.to_string(),
            bytes: self.bytes(ty),
            bounded: spelled(ty),
            extent: Extent { own, inner: self.inner(ty) },
        }
    }

    /// The most bytes of a value.
    fn bytes(&self, ty: &Type<'_>) -> Option<u64> {
        match &ty.form {
            TypeForm::Named(name) => match (name.parts(), &*name.own) {
                ((None, _), "string" | "bytes") => Some(ty.most?.saturating_add(OWNER)),
                ((None, _), "bool" | "int8" | "uint8") => Some(1),
                ((None, _), "int16" | "uint16") => Some(2),
                ((None, _), "int32" | "uint32") => Some(4),
                ((None, _), "integer" | "int64" | "uint64") => Some(8),
                ((module, own), _) => self.declared(module, own),
            },
            TypeForm::List(element) => {
                let each = deep(|| self.bytes(element))?;
                Some(ty.most?.saturating_mul(each).saturating_add(OWNER))
            }
            TypeForm::Dictionary(two) => {
                let [key, value] = &**two;
                let each = deep(|| self.bytes(key))?.saturating_add(deep(|| self.bytes(value))?);
                Some(ty.most?.saturating_mul(each.saturating_add(ENTRY)).saturating_add(OWNER))
            }
        }
    }

    fn declared(&self, module: Option<&str>, own: &str) -> Option<u64> {
        let record = self.record(own).filter(|_| module.is_none());
        match (self.message(module, own), record) {
            (Some(message), _) => Some(message.most_bytes()),
            (None, Some(record)) => {
                if let Some(known) = self.records.borrow().get(own) {
                    return *known;
                }
                let all = record.fields.iter().map(|field| deep(|| self.bytes(&field.ty)));
                let bytes = all.into_iter().try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?)));
                self.records.borrow_mut().insert(own.to_owned(), bytes);
                bytes
            }
            (None, None) => None,
        }
    }

    fn record(&self, own: &str) -> Option<&Record<'_>> {
        self.syntax.declarations.iter().find_map(|declaration| match declaration {
            Declaration::Record(record) if record.name.as_str() == own => Some(record),
            _ => None,
        })
    }

    /// The message of this type.
    fn named(&self, ty: &Type<'_>) -> Option<&Message> {
        let TypeForm::Named(name) = &ty.form else { return None };
        self.message(name.parts().0, name.parts().1)
    }

    /// The message that a type of this name is, or a record of this name a view of; in any module where none is said.
    fn message(&self, module: Option<&str>, own: &str) -> Option<&Message> {
        let of = self.record(own).filter(|_| module.is_none()).and_then(|record| record.of.as_ref());
        let (module, own) = of.map_or((module, own), |of| of.parts());
        let is_it = |name: &Name| name.own() == own && (module.is_none() || name.module() == module);
        self.program.messages.iter().map(|(_, message)| message).find(|message| is_it(&message.name))
    }

    /// The most of what is in a value.
    fn inner(&self, ty: &Type<'_>) -> Option<u64> {
        let both = |ty: &Type<'_>| match &ty.form {
            TypeForm::Named(name) if matches!(&*name.own, "string" | "bytes") => ty.most,
            TypeForm::Named(_) => self.bytes(ty),
            _ => Some(ty.most?.max(self.inner(ty)?)),
        };
        match &ty.form {
            TypeForm::Named(_) => self.bytes(ty),
            TypeForm::List(element) => both(element),
            TypeForm::Dictionary(two) => {
                let [key, value] = &**two;
                Some(both(key)?.max(both(value)?))
            }
        }
    }
}

/// The type with a bound wherever it lacks one.
fn spelled(ty: &Type<'_>) -> String {
    let most = |otherwise: u64| format!("{{{}}}", ty.most.unwrap_or(otherwise));
    match &ty.form {
        TypeForm::Named(name) if matches!(&*name.own, "string" | "bytes") => format!("{name}{}", most(64)),
        TypeForm::Named(name) => name.to_string(),
        TypeForm::List(element) => format!("[{}]{}", spelled(element), most(1000)),
        TypeForm::Dictionary(two) => {
            let [key, value] = &**two;
            format!("dict[{}, {}]{}", spelled(key), spelled(value), most(1000))
        }
    }
}
