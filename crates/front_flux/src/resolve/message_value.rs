//! Messages that bodies make: `reply(code: 0, text: line)`.
//!
//! A call gives parameters and fields by their names. All parameters must be given, except the parameter `asked` of a
//! message that stands alone. A body cannot give a field that follows from other fields. A field that is left out is 0
//! or empty. An inner message cannot be left out, because it has no correct default. When the body runs, the program
//! checks that the values make a message.

use super::body::{BodyResolver, Reported};
use super::expression::listed;
use crate::body::Argument;
use crate::ids;
use crate::syntax::Name;
use flux_diagnostic::Diagnostic;
use flux_ir::compute::{Expression, Mistake, Term};
use flux_ir::message::{FieldId, Form, Given, Message, MessageId, given_type};
use flux_ir::types::{Declared, Type, TypeKind};
use flux_source::Span;
use std::collections::BTreeMap;

impl<'syntax> BodyResolver<'_, 'syntax, '_, '_> {
    /// A message with these parameters and fields.
    pub(super) fn message(
        &mut self,
        id: MessageId,
        arguments: &'syntax [Argument<'syntax>],
        span: Span,
    ) -> Result<Expression, Reported> {
        let program = &self.resolver.scope.program;
        let (ty, message) = (Type::declared(program, Declared::Message(id)), program.messages[id].clone());
        let mut values: BTreeMap<Given, Expression> = BTreeMap::new();
        let mut result = Ok(());
        for argument in arguments {
            let given = self.given(&message, argument);
            let value = self.value(&argument.value);
            match (given, value) {
                (Ok((given, name, ty)), Ok(value)) => match self.typed(self.typing().coerce(value, &ty)) {
                    Ok(value) if !values.contains_key(&given) => _ = values.insert(given, value),
                    Ok(_) => {
                        let headline = format!("the {} `{}` is given twice", kind_of(given), name.text);
                        let error = Diagnostic::error(ids::MESSAGE_FIELDS, headline, name.span);
                        result = Err(self.report(error.help("remove one of them")));
                    }
                    Err(reported) => result = Err(reported),
                },
                _ => result = Err(Reported),
            }
        }
        result?;
        let is_missing = |given: &&Given| {
            let ty = given_type(&self.resolver.scope.program.messages, &message, **given);
            let is_wanted = |ty: Type| match given {
                Given::Parameter(_) => !message.stands_alone(),
                Given::Field(_) => matches!(ty.kind(), TypeKind::Message(_)),
            };
            !values.contains_key(given) && ty.is_some_and(is_wanted)
        };
        let given = message.given();
        let missing: Vec<String> = given.iter().filter(is_missing).map(|one| name_of(&message, *one)).collect();
        if !missing.is_empty() {
            let headline = format!("the message `{ty}` lacks {}", listed(&missing));
            let error = Diagnostic::error(ids::MESSAGE_FIELDS, headline, span);
            let wanted = "parameters, and what is a message itself, have to be given; all else is 0 or empty";
            return Err(self.report(error.help(wanted)));
        }
        Ok(Expression { term: Term::Message(values.into_iter().collect()), ty, span })
    }

    /// The parameter or field that an argument gives, its name, and the type of its value.
    fn given(
        &mut self,
        message: &Message,
        argument: &'syntax Argument<'syntax>,
    ) -> Result<(Given, &'syntax Name<'syntax>, Type), Reported> {
        let names = || message.given().into_iter().map(|one| name_of(message, one)).collect::<Vec<_>>();
        let Some(name) = &argument.field else {
            let headline = format!("the fields of `{}` are given by their names", message.name);
            let error = Diagnostic::error(ids::MESSAGE_FIELDS, headline, argument.value.span);
            let first = names().into_iter().next().unwrap_or_default();
            return Err(self.report(error.help(format!("write `{first}: …`"))));
        };
        let parameter = message.parameters.iter().position(|parameter| parameter.name == *name.text);
        let given = parameter.map(Given::Parameter).or_else(|| message.field_named(&name.text).map(Given::Field));
        let Some(given) = given else {
            let headline = format!("the message `{}` has no field `{}`", message.name, name.text);
            let mistake = Mistake { headline, help: format!("it is made of {}", listed(&names())), span: name.span };
            return Err(self.report_unknown_field(mistake, name, &names()));
        };
        let ty = given_type(&self.resolver.scope.program.messages, message, given);
        match (ty.filter(|_| message.given().contains(&given)), given) {
            (Some(ty), _) => Ok((given, name, ty)),
            (None, Given::Field(field)) => {
                let headline =
                    format!("the field `{}` of `{}` is not given: {}", name.text, message.name, why(message, field));
                let error = Diagnostic::error(ids::MESSAGE_FIELDS, headline, name.span);
                let declared = message.field(field).map_or(message.span, |field| field.span);
                Err(self.report(error.mark(declared, "declared here").help("leave it out")))
            }
            // An error was reported at the declaration of a parameter without a type.
            (None, Given::Parameter(_)) => Err(Reported),
        }
    }
}

fn name_of(message: &Message, given: Given) -> String {
    let name = match given {
        Given::Parameter(index) => message.parameters.get(index).map(|parameter| &parameter.name),
        Given::Field(id) => message.field(id).map(|field| &field.name),
    };
    name.cloned().unwrap_or_default()
}

fn kind_of(given: Given) -> &'static str {
    match given {
        Given::Parameter(_) => "parameter",
        Given::Field(_) => "field",
    }
}

/// The reason why a body cannot give a field.
fn why(message: &Message, id: FieldId) -> &'static str {
    match message.field(id) {
        Some(field) if matches!(field.form, Form::Literal(_)) => "it is always the same",
        Some(field) if matches!(field.form, Form::Variable(..)) => "it is computed of others",
        Some(field) if field.parse_at.is_some() => "it is in bytes of other fields",
        _ => "it follows from others",
    }
}
