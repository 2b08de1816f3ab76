//! The wire format of a record that no message is behind, and that goes through channels: its fields in order, integers
//! with their highest byte first, strings and bytes behind their size, a `uint32`. It is the message that one would
//! write for it.

use super::{Checker, View};
use crate::syntax::{Channel, Declaration, Parameter, Record, Syntax, Type, TypeForm};
use flux_front::Front as _;
use flux_front_flux::FluxFront;
use flux_ir::cpp_keyword::{is_keyword, is_macro};
use flux_ir::message::MessageId;
use std::collections::HashSet;
use std::fmt::Write as _;

/// How many bytes such a message may have, where a field of it may have any number.
const MAX_SIZE: u64 = 16 << 20;

impl<'syntax> Checker<'syntax, '_, '_> {
    /// Whether a record goes through a channel and has such a format, which is declared then.
    pub(super) fn declare_wire(&mut self, record: &'syntax Record<'syntax>, syntax: &'syntax Syntax<'syntax>) -> bool {
        let name = record.name.as_str();
        let is_sent = syntax.declarations.iter().any(|declaration| match declaration {
            Declaration::Process(process) => process.parameters.iter().any(|parameter| match parameter {
                Parameter::Channel(channel) => types(channel).any(|ty| is_called(ty, name)),
                _ => false,
            }),
            _ => false,
        });
        let Some(unit) = is_sent.then(|| unit(record)).flatten() else { return false };
        FluxFront.read(record.span.file, &unit, self.scope);
        let Some(message) = self.scope.message(self.scope.module(), name) else { return false };
        self.place(message, record);
        let fields = record.fields.iter().map(|field| field.name.as_str()).collect();
        self.views.insert(name, View { message, fields, span: record.span, is_whole: true });
        true
    }

    /// What was read of the text of the message stands where the record does.
    fn place(&mut self, message: MessageId, record: &Record<'_>) {
        let message = &mut self.scope.program.messages[message];
        message.span = record.span;
        for field in &mut message.fields {
            let own = record.fields.iter().find(|one| *one.name.text == field.name);
            field.span = own.map_or(record.name.span, |one| one.name.span);
        }
    }
}

fn types<'syntax>(channel: &'syntax Channel<'syntax>) -> impl Iterator<Item = &'syntax Type<'syntax>> {
    channel.gives.iter().chain(&channel.takes)
}

fn is_called(ty: &Type<'_>, name: &str) -> bool {
    matches!(&ty.form, TypeForm::Named(named) if named.parts() == (None, name))
}

/// The integers of a message, by their names.
const INTEGERS: [&str; 8] = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"];

/// The text of the message; none if a field is neither a number nor a string, or has a name that it must not have. No
/// mistake is in the text: it would be reported at a place that the author's text does not have.
fn unit(record: &Record<'_>) -> Option<String> {
    let names: HashSet<&str> = record.fields.iter().map(|field| field.name.as_str()).collect();
    if names.len() < record.fields.len() || names.iter().any(|name| is_keyword(name) || is_macro(name)) {
        return None;
    }
    let bytes = record.fields.iter().try_fold(0_u64, |sum, field| Some(sum.saturating_add(bytes(&field.ty)?)));
    let most = bytes.map_or(MAX_SIZE, |bytes| bytes.min(MAX_SIZE));
    let mut text = format!("type {} = unit {{ %byteorder = big; %max_size = {most};\n", record.name.text);
    for field in &record.fields {
        let TypeForm::Named(ty) = &field.ty.form else { return None };
        let (name, most) = (&field.name.text, field.ty.most);
        let _ = match ty.parts() {
            (None, own @ ("string" | "bytes")) => {
                let most = most.map_or(String::new(), |most| format!(" &max_size = {most}"));
                let size = size_name(record, name);
                writeln!(text, "{size} : uint32; {name} : {own} &length = self.{size}{most};")
            }
            (None, "integer") => writeln!(text, "{name} : int64;"),
            (None, own) if INTEGERS.contains(&own) => writeln!(text, "{name} : {own};"),
            _ => return None,
        };
    }
    text.push_str("};\n");
    Some(text)
}

/// The most bytes of a field with its size, where that is known.
fn bytes(ty: &Type<'_>) -> Option<u64> {
    let TypeForm::Named(name) = &ty.form else { return None };
    match &*name.own {
        "string" | "bytes" => ty.most.map(|most| most.saturating_add(4)),
        "integer" => Some(8),
        own => own.trim_start_matches(['u', 'i', 'n', 't']).parse::<u64>().ok().map(|bits| bits / 8),
    }
}

/// A name for the size of a field, which no field has.
fn size_name(record: &Record<'_>, field: &str) -> String {
    let mut name = format!("{field}_size");
    while record.fields.iter().any(|field| *field.name.text == name) {
        name.push('_');
    }
    name
}
