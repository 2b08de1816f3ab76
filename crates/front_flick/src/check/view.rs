//! Views: records that have the name of a message, and show some of its fields.
//!
//! The paper's programs say by a record which fields of a message they use (section 4.2); all others go along as the
//! bytes that they came in. A record is a view of the `unit` of its name in its file, or else in the one module that
//! the file uses and that has one. Of a message with another name it says so: `record of memcached.command`.

use super::{Checker, View};
use crate::ids as own_ids;
use crate::syntax::{Declaration, Record, Syntax};
use flux_diagnostic::{Diagnostic, nearest};
use flux_front::scope::{Kind, Located};
use flux_front_flux::ids;
use flux_front_flux::syntax::{QualifiedName, UsedModule};
use flux_ir::message::{Given, MessageId, given_type};
use flux_ir::types::TypeKind;
use std::path::Path;

impl<'syntax> Checker<'syntax, '_, '_> {
    /// Whether a record is a view, which is then declared.
    pub(super) fn declare_view(&mut self, record: &'syntax Record<'syntax>, syntax: &'syntax Syntax<'syntax>) -> bool {
        let name = record.name.as_str();
        let message = match &record.of {
            Some(of) => self.message_named(of),
            None => self.message_of(name, syntax),
        };
        let Some(message) = message else { return false };
        let fields = record.fields.iter().map(|field| field.name.as_str()).collect();
        self.views.insert(name, View { message, fields, span: record.span, is_whole: false });
        true
    }

    /// The message that is called so; reported where there is none.
    fn message_named(&mut self, name: &'syntax QualifiedName<'syntax>) -> Option<MessageId> {
        let (module, own) = name.parts();
        let Located::In(module) = self.scope.locate(Kind::Type, module, own, name.span) else { return None };
        let found = self.scope.message(module.as_deref(), own);
        if found.is_none() && module.as_deref() == self.scope.module() {
            let headline = format!("there is no message `{own}`");
            let error = Diagnostic::error(ids::FIELD_TYPE, headline, name.span);
            self.report(error.help(format!("declare it: `type {own} = unit {{ … }};`")));
        }
        found
    }

    fn message_of(&self, name: &str, syntax: &Syntax<'_>) -> Option<MessageId> {
        let own = self.scope.message(self.scope.module(), name);
        own.or_else(|| {
            let modules = syntax.declarations.iter().filter_map(|declaration| match declaration {
                Declaration::Use(used) => Some(called(used)),
                _ => None,
            });
            let mut found = modules.filter_map(|module| {
                let module = self.scope.module_called(&module)?;
                self.scope.message(Some(module), name)
            });
            let first = found.next();
            first.filter(|_| found.next().is_none())
        })
    }

    /// Reports fields of views that their messages do not have, or have of another type.
    pub(super) fn check_views(&mut self, syntax: &'syntax Syntax<'syntax>) {
        for declaration in &syntax.declarations {
            let Declaration::Record(record) = declaration else { continue };
            let Some(view) = self.views.get(record.name.as_str()).filter(|view| view.span == record.span) else {
                continue;
            };
            let id = view.message;
            for field in &record.fields {
                let messages = &self.scope.program.messages;
                let message = &messages[id];
                let of_message = message.field_named(&field.name.text);
                let there = of_message.and_then(|it| given_type(messages, message, Given::Field(it)));
                let Some(there) = there else {
                    let headline = format!("the message `{}` has no field `{}`", message.name, field.name.text);
                    let names = message.fields.iter().map(|field| field.name.as_str());
                    let help = match nearest(&field.name.text, names) {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None => format!("a record that is called `{}` shows fields of that message", record.name.text),
                    };
                    let error = Diagnostic::error(own_ids::VIEW_MISMATCH, headline, field.name.span);
                    let span = message.span;
                    self.report(error.mark(span, "the message").help(help));
                    continue;
                };
                // One in a choice is read as if it were there.
                let there = match there.kind() {
                    TypeKind::Optional(inner) => inner.clone(),
                    _ => there,
                };
                let span = message.span;
                if self.ty(&field.ty).is_ok_and(|written| written != there) {
                    let spelled = super::kind::spelled(&there);
                    let headline = format!("the field `{}` of the message is of the type `{spelled}`", field.name.text);
                    let error = Diagnostic::error(own_ids::VIEW_MISMATCH, headline, field.ty.span);
                    let help = format!("write `{} : {spelled}`", field.name.text);
                    self.report(error.mark(span, "the message").help(help));
                }
            }
        }
    }
}

/// What a file calls a module that it uses.
fn called(used: &flux_front_flux::syntax::Use<'_>) -> String {
    match (&used.alias, &used.module) {
        (Some(alias), _) => alias.text.clone().into_owned(),
        (None, UsedModule::Standard(name)) => name.own.clone().into_owned(),
        (None, UsedModule::File(path)) => {
            Path::new(&*path.text).file_stem().unwrap_or_default().to_string_lossy().into_owned()
        }
    }
}
