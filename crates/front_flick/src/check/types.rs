//! Types as they are written, and the types of the model that they are.

use super::kind::{Kind, Ways};
use super::{Checked, Checker};
use crate::syntax::{Channel, Parameter, Type, TypeForm};
use flux_diagnostic::{Diagnostic, nearest};
use flux_front::scope::{Kind as NameKind, Located};
use flux_front_flux::ids;
use flux_front_flux::syntax::QualifiedName;
use flux_ir::types::{self as model, TypeKind, TypeNames};
use flux_source::deep;

/// The types of the language: what each is called, and what it is in the model.
const BUILT_IN: [(&str, &str); 12] = [
    ("integer", "int64"),
    ("string", "text"),
    ("bytes", "bytes"),
    ("bool", "bool"),
    ("int8", "int8"),
    ("int16", "int16"),
    ("int32", "int32"),
    ("int64", "int64"),
    ("uint8", "uint8"),
    ("uint16", "uint16"),
    ("uint32", "uint32"),
    ("uint64", "uint64"),
];

/// The type of the language that is called so.
pub(super) fn built_in(name: &str) -> Option<model::Type> {
    let (_, in_model) = BUILT_IN.into_iter().find(|(own, _)| *own == name)?;
    Some(TypeNames::default().read(in_model, ""))
}

impl<'syntax> Checker<'syntax, '_, '_> {
    pub(super) fn ty(&mut self, ty: &'syntax Type<'syntax>) -> Checked<model::Type> {
        deep(|| match &ty.form {
            TypeForm::Named(name) => self.named_type(name),
            TypeForm::List(element) => Ok(model::Type::list_of(&self.ty(element)?)),
            TypeForm::Dictionary(two) => {
                let [key, value] = &**two;
                let (key_type, value) = (self.ty(key), self.ty(value));
                let (key_type, value) = (key_type?, value?);
                match key_type.kind() {
                    TypeKind::Integer(_) | TypeKind::Text | TypeKind::Bytes | TypeKind::Bool => {
                        Ok(model::Type::of_kind(TypeKind::Map(key_type, value)))
                    }
                    _ => {
                        let headline = "the keys of a dictionary are numbers, strings or bytes";
                        let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, key.span);
                        Err(self.report(error.help("take a field of it as the key")))
                    }
                }
            }
        })
    }

    fn named_type(&mut self, name: &'syntax QualifiedName<'syntax>) -> Checked<model::Type> {
        let (module, own) = name.parts();
        if module.is_none() {
            if let Some(found) = built_in(own) {
                return Ok(found);
            }
            if let Some(view) = self.views.get(own) {
                let id = view.message;
                return Ok(model::Type::declared(self.scope.program, model::Declared::Message(id)));
            }
        }
        if let Some(folder) = &name.folder {
            self.scope.report_module(Some(folder), module.unwrap_or_default(), own, name.span);
            return Err(super::Reported);
        }
        let Located::In(module) = self.scope.locate(NameKind::Type, module, own, name.span) else {
            return Err(super::Reported);
        };
        if let Some(declared) = self.scope.declared_type(module.as_deref(), own) {
            return Ok(model::Type::declared(self.scope.program, declared));
        }
        if module.as_deref() != self.scope.module() {
            // Its module was said to have none.
            return Err(super::Reported);
        }
        let own_types = self.names.iter().filter(|(_, (_, what))| *what == "type").map(|(name, _)| *name);
        let names: Vec<&str> = own_types.chain(BUILT_IN.map(|(name, _)| name)).collect();
        let help = match (own, nearest(own, names)) {
            ("int", _) => "did you mean `integer`?".to_owned(),
            ("text" | "str" | "String", _) => "did you mean `string`?".to_owned(),
            (_, Some(meant)) => format!("did you mean `{meant}`?"),
            _ => format!("declare it: `type {own} : record` with its fields, or `type {own} = unit {{ … }};`"),
        };
        let error = Diagnostic::error(ids::FIELD_TYPE, format!("there is no type `{name}`"), name.span);
        Err(self.report(error.help(help)))
    }

    /// What a parameter is, none where that was reported; and whether it is state.
    pub(super) fn parameter(&mut self, parameter: &'syntax Parameter<'syntax>) -> (Option<Kind>, bool) {
        match parameter {
            Parameter::Value(field) => (self.ty(&field.ty).ok().map(Kind::Value), false),
            Parameter::State(field) => (self.ty(&field.ty).ok().map(Kind::Value), true),
            Parameter::Channel(channel) => (self.channel(channel).ok(), false),
        }
    }

    fn channel(&mut self, channel: &'syntax Channel<'syntax>) -> Checked<Kind> {
        let mut way = |ty: &'syntax Option<Type<'syntax>>| ty.as_ref().map(|ty| self.ty(ty)).transpose();
        let (gives, takes) = (way(&channel.gives), way(&channel.takes));
        let ways = Ways { gives: gives?, takes: takes? };
        if ways.gives.is_none() && ways.takes.is_none() {
            let headline = format!("nothing goes through the channel `{}`", channel.name.text);
            let error = Diagnostic::error(crate::ids::CHANNEL_DIRECTION, headline, channel.span);
            return Err(self.report(error.help("say what it gives, `cmd/-`, what it takes, `-/cmd`, or both")));
        }
        Ok(if channel.array.is_some() { Kind::Channels(ways) } else { Kind::Channel(ways) })
    }
}
