//! Goes through the trees of statements, for whoever wants to know what they name.

use crate::syntax::{Expression, Form, Statement};
use flux_source::deep;

/// Tells `visit` every name that statements have of something that is there, and whether it may be a function that is
/// called there: values, channels, functions.
pub fn names<'syntax>(block: &'syntax [Statement<'syntax>], visit: &mut dyn FnMut(&'syntax str, bool)) {
    deep(|| {
        for statement in block {
            match statement {
                Statement::Let(_, _, value) | Statement::Value(value) => names_of(value, visit),
                Statement::Set(place, value) => {
                    names_of(place, visit);
                    names_of(value, visit);
                }
                Statement::If(branches, otherwise, _) => {
                    for (condition, block) in branches {
                        names_of(condition, visit);
                        names(block, visit);
                    }
                    names(otherwise.as_deref().unwrap_or_default(), visit);
                }
                Statement::For(_, list, block) => {
                    names_of(list, visit);
                    names(block, visit);
                }
                Statement::Send(value, steps) => {
                    names_of(value, visit);
                    for step in steps {
                        // A function may stand there without parentheses.
                        match &step.form {
                            Form::Name(name) => visit(&name.own, true),
                            _ => names_of(step, visit),
                        }
                    }
                }
            }
        }
    })
}

fn names_of<'syntax>(value: &'syntax Expression<'syntax>, visit: &mut dyn FnMut(&'syntax str, bool)) {
    deep(|| {
        match &value.form {
            Form::Number(_) | Form::Text(_) | Form::Truth(_) => {}
            Form::Name(name) => visit(&name.own, false),
            Form::Field(one, _) | Form::Not(one) | Form::Negate(one) => names_of(one, visit),
            Form::Element(two) | Form::Binary(_, two) | Form::In(two) => {
                two.iter().for_each(|one| names_of(one, visit))
            }
            Form::List(all) => all.iter().for_each(|one| names_of(one, visit)),
            Form::Call(name, arguments) => {
                // One of another module is none of the program's functions.
                if name.parts().0.is_none() {
                    visit(&name.own, true);
                }
                arguments.iter().for_each(|argument| names_of(&argument.value, visit));
            }
            Form::Over(over) => {
                names_of(&over.list, visit);
                over.from.iter().for_each(|from| names_of(from, visit));
                names(&over.block, visit);
            }
            Form::Foldt(foldt) => {
                names_of(&foldt.channels, visit);
                names_of(&foldt.key, visit);
                names(&foldt.block, visit);
            }
        }
    })
}
