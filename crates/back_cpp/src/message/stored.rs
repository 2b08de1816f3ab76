//! The value of a field as C++, from the bytes of a message and the places of its fields.

use super::Messages;
use super::formula::{Known, Said, literal, range_of, said_of_narrow};
use super::plan::Store;
use crate::tree::Expression as Cpp;
use flux_contract::message as runtime;
use flux_ir::message::{ByteOrder, Field, FieldId, Form, Message, MessageId, Reference, Root};
use flux_ir::types::{Integer, Type};

/// From where values are taken: a pointer to the first byte, and the places of a message.
#[derive(Clone, Debug)]
pub(super) struct From {
    /// An expression for a `const char *`.
    pub bytes: String,
    /// An expression for the places.
    pub places: String,
    /// The function that gives the text of a part.
    pub view: &'static str,
}

/// The integer of the machine that has these.
pub(super) fn machine(integer: Integer) -> String {
    let bits = [8, 16, 32, 64].into_iter().find(|bits| *bits >= integer.bits).unwrap_or(64);
    format!("std::{}int{bits}_t", if integer.signed { "" } else { "u" })
}

/// The C++ type of a value in a formula: of an integer the smallest that has it.
pub(super) fn type_name(ty: &Type) -> String {
    match ty.integer() {
        Some(integer) => machine(integer),
        None if ty.to_string() == "bool" => "bool".to_owned(),
        None => "std::string".to_owned(),
    }
}

/// Decodes what stands at an address.
pub(super) fn decoded(form: &Form, address: &str, skipped: u64) -> Option<Said> {
    let at = |bytes: u64| match bytes {
        0 => address.to_owned(),
        _ => format!("{address} + {bytes}"),
    };
    match form {
        Form::Integer(integer, order) => {
            let ty = machine(*integer);
            let order = if *order == ByteOrder::Big { "big" } else { "little" };
            let size = integer.bits / 8;
            let size = if size.is_power_of_two() { String::new() } else { format!(", {size}") };
            let call =
                Cpp::name(format!("{}::{order}<{ty}{size}>", runtime::WIRE)).call(vec![Cpp::name(at(skipped / 8))]);
            Some(Said::integer(call, integer.range(), integer.signed))
        }
        Form::Bits(width) => {
            let ty = machine(Integer { signed: false, bits: *width });
            let call = Cpp::name(format!("{}::bits<{ty}, {}, {width}>", runtime::WIRE, skipped % 8));
            let high = (1_i128 << width) - 1;
            Some(Said::integer(call.call(vec![Cpp::name(at(skipped / 8))]), (0, high), false))
        }
        _ => None,
    }
}

impl Messages<'_> {
    /// The field of a message before it is converted; none where it has no value.
    pub(super) fn raw(&self, id: MessageId, field: FieldId, from: &From) -> Option<Said> {
        let message: &Message = &self.program.messages[id];
        let store = self.plan(id).stores.get(field.index())?;
        let field = message.field(field)?;
        let From { bytes, places, .. } = from;
        let view = |part: String| Said { cpp: Cpp::name(from.view).call(vec![Cpp::name(part)]), known: Known::View };
        Some(match store {
            Store::Offset(anchor, skipped) => {
                let begin = match anchor {
                    Some(anchor) => format!("{places}.{anchor}"),
                    None if self.is_first(id) => String::new(),
                    None => format!("{places}.whole.begin"),
                };
                let address = if begin.is_empty() { bytes.clone() } else { format!("{bytes} + {begin}") };
                match decoded(&field.form, &address, *skipped) {
                    Some(said) => said,
                    None => {
                        let size = super::plan::fixed_size(field)?;
                        let at = if *skipped == 0 { address } else { format!("{address} + {}", skipped / 8) };
                        let values = vec![Cpp::name(at), Cpp::name(size)];
                        Said { cpp: Cpp::Made("std::string_view".to_owned(), values), known: Known::View }
                    }
                }
            }
            Store::Part(member) => view(format!("{places}.{member}")),
            Store::Value(member) => {
                let cpp = Cpp::name(format!("{places}.{member}"));
                match (&field.form, field.element_type()) {
                    (Form::Digits(integer, _) | Form::Integer(integer, _), _) => {
                        Said::integer(cpp, integer.range(), integer.signed)
                    }
                    (Form::Variable(ty, _), _) if ty.integer().is_none() => Said { cpp, known: Known::Truth },
                    (Form::Variable(ty, _), _) => {
                        Said::integer(cpp, range_of(ty), ty.integer().is_some_and(|integer| integer.signed))
                    }
                    _ => return None,
                }
            }
            Store::Computed => {
                let Form::Variable(_, formula) = &field.form else { return None };
                said_of_narrow(formula, &|reference| self.reference(id, reference, from, None)).0
            }
            Store::Nothing | Store::Parts(_) | Store::Places(..) | Store::Passed(..) => return None,
        })
    }

    /// The field of a message as formulas have it, and whether `fits` is set.
    pub(super) fn value(&self, id: MessageId, field: FieldId, from: &From) -> Option<(Said, bool)> {
        let raw = self.raw(id, field, from)?;
        let message: &Message = &self.program.messages[id];
        let declared: &Field = message.field(field)?;
        Some(match &declared.convert {
            Some(convert) => said_of_narrow(convert, &|reference| self.reference(id, reference, from, Some(&raw))),
            None => (raw, false),
        })
    }

    /// What a name in a formula of a message is; `own` is the value of the field whose formula it is.
    pub(super) fn reference(&self, id: MessageId, reference: &Reference, from: &From, own: Option<&Said>) -> Said {
        let missing = || Said { cpp: Cpp::name(literal(b"")), known: Known::View };
        match (reference.root, reference.path.as_slice()) {
            (Root::Own, path) => self.at_path(id, path, from).unwrap_or_else(missing),
            (Root::Parameter(index), _) => {
                let message: &Message = &self.program.messages[id];
                let Some(parameter) = message.parameters.get(index) else { return missing() };
                let Some(member) = self.plan(id).parameters.get(index) else { return missing() };
                let cpp = Cpp::name(format!("{}.{member}", from.places));
                match parameter.ty.integer() {
                    Some(integer) => Said::integer(cpp, integer.range(), integer.signed),
                    None => Said { cpp, known: Known::Truth },
                }
            }
            (Root::Value, _) => own.cloned().unwrap_or_else(missing),
        }
    }

    /// The value at the end of a path of fields.
    pub(super) fn at_path(&self, id: MessageId, path: &[FieldId], from: &From) -> Option<Said> {
        let (first, rest) = path.split_first()?;
        if rest.is_empty() {
            return self.value(id, *first, from).map(|(said, _)| said);
        }
        match self.plan(id).stores.get(first.index())? {
            Store::Places(member, unit) => {
                let places = format!("{}.{member}", from.places);
                self.at_path(*unit, rest, &From { places, ..from.clone() })
            }
            _ => None,
        }
    }
}
