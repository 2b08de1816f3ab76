//! Messages that bodies make: `reply(code: 0, text: line)`.
//!
//! What follows from other fields cannot be given, and what is left out is 0 or empty, but for another message: of that
//! nothing would be right. Whether the fields make a message at all is known when the body runs.

use super::body::{BodyResolver, Reported};
use super::expression::listed;
use crate::body::Argument;
use crate::ids;
use crate::syntax::Name;
use flux_diagnostic::Diagnostic;
use flux_ir::compute::{Expression, Mistake, Term};
use flux_ir::message::{FieldId, Form, Message, MessageId, field_type};
use flux_ir::types::{Declared, Type, TypeKind};
use flux_source::Span;
use std::collections::BTreeMap;

impl<'syntax> BodyResolver<'_, 'syntax, '_, '_> {
    /// A message of these fields.
    pub(super) fn message(
        &mut self,
        id: MessageId,
        arguments: &'syntax [Argument<'syntax>],
        span: Span,
    ) -> Result<Expression, Reported> {
        let program = &self.resolver.scope.program;
        let (ty, message) = (Type::declared(program, Declared::Message(id)), program.messages[id].clone());
        if !message.parameters.is_empty() {
            let headline = format!("the message `{ty}` has parameters, so it is never alone");
            let error = Diagnostic::error(ids::MESSAGE_FIELDS, headline, span).mark(message.span, "the message");
            return Err(self.report(error.help("make the message that contains it")));
        }
        let mut values: BTreeMap<FieldId, Expression> = BTreeMap::new();
        let mut result = Ok(());
        for argument in arguments {
            let given = self.given_field(&message, argument);
            let value = self.value(&argument.value);
            match (given, value) {
                (Ok((field, name, ty)), Ok(value)) => match self.typed(self.typing().coerce(value, &ty)) {
                    Ok(value) if !values.contains_key(&field) => _ = values.insert(field, value),
                    Ok(_) => {
                        let headline = format!("the field `{}` is given twice", name.text);
                        let error = Diagnostic::error(ids::MESSAGE_FIELDS, headline, name.span);
                        result = Err(self.report(error.help("remove one of them")));
                    }
                    Err(reported) => result = Err(reported),
                },
                _ => result = Err(Reported),
            }
        }
        result?;
        let is_missing = |field: &&FieldId| {
            let ty = field_type(&self.resolver.scope.program.messages, &message, **field);
            !values.contains_key(field) && ty.is_some_and(|ty| matches!(ty.kind(), TypeKind::Message(_)))
        };
        let made_of = message.made_of();
        let missing: Vec<String> = made_of.iter().filter(is_missing).map(|id| name_of(&message, *id)).collect();
        if !missing.is_empty() {
            let headline = format!("the message `{ty}` lacks {}", listed(&missing));
            let error = Diagnostic::error(ids::MESSAGE_FIELDS, headline, span);
            return Err(self.report(error.help("what is a message itself has to be given; all else is 0 or empty")));
        }
        Ok(Expression { term: Term::Message(values.into_iter().collect()), ty, span })
    }

    /// The field that an argument is for, its name, and the type of its value.
    fn given_field(
        &mut self,
        message: &Message,
        argument: &'syntax Argument<'syntax>,
    ) -> Result<(FieldId, &'syntax Name<'syntax>, Type), Reported> {
        let names = || message.made_of().into_iter().map(|id| name_of(message, id)).collect::<Vec<_>>();
        let Some(name) = &argument.field else {
            let headline = format!("the fields of `{}` are given by their names", message.name);
            let error = Diagnostic::error(ids::MESSAGE_FIELDS, headline, argument.value.span);
            let first = names().into_iter().next().unwrap_or_default();
            return Err(self.report(error.help(format!("write `{first}: …`"))));
        };
        let Some(field) = message.field_named(&name.text) else {
            let headline = format!("the message `{}` has no field `{}`", message.name, name.text);
            let mistake = Mistake { headline, help: format!("it is made of {}", listed(&names())), span: name.span };
            return Err(self.report_unknown_field(mistake, name, &names()));
        };
        let ty = field_type(&self.resolver.scope.program.messages, message, field);
        match ty.filter(|_| message.made_of().contains(&field)) {
            Some(ty) => Ok((field, name, ty)),
            None => {
                let headline =
                    format!("the field `{}` of `{}` is not given: {}", name.text, message.name, why(message, field));
                let error = Diagnostic::error(ids::MESSAGE_FIELDS, headline, name.span);
                let declared = message.field(field).map_or(message.span, |field| field.span);
                Err(self.report(error.mark(declared, "declared here").help("leave it out")))
            }
        }
    }
}

fn name_of(message: &Message, id: FieldId) -> String {
    message.field(id).map_or_else(String::new, |field| field.name.clone())
}

/// Why nobody gives a field.
fn why(message: &Message, id: FieldId) -> &'static str {
    match message.field(id) {
        Some(field) if matches!(field.form, Form::Literal(_)) => "it is always the same",
        Some(field) if matches!(field.form, Form::Variable(..)) => "it is computed of others",
        Some(field) if field.is_stream => "a stream is never in memory",
        Some(field) if field.parse_at.is_some() => "it is in bytes of other fields",
        _ => "it follows from others",
    }
}
