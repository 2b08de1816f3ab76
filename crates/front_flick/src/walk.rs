//! Goes through the trees of statements, for whoever wants to know what they name.

use crate::syntax::{Expression, Form, Statement};

/// Tells `visit` the name of every function that statements may call, in order, whatever it is a name of.
pub fn calls<'syntax>(block: &'syntax [Statement<'syntax>], visit: &mut dyn FnMut(&'syntax str)) {
    for statement in block {
        match statement {
            Statement::Let(_, value) | Statement::Value(value) => calls_of(value, visit),
            Statement::Set(place, value) => {
                calls_of(place, visit);
                calls_of(value, visit);
            }
            Statement::If(branches, otherwise, _) => {
                for (condition, block) in branches {
                    calls_of(condition, visit);
                    calls(block, visit);
                }
                calls(otherwise.as_deref().unwrap_or_default(), visit);
            }
            Statement::For(_, list, block) => {
                calls_of(list, visit);
                calls(block, visit);
            }
            Statement::Send(value, steps) => {
                calls_of(value, visit);
                for step in steps {
                    // A function may stand there without parentheses.
                    if let Form::Name(name) = &step.form {
                        visit(&name.own);
                    }
                    calls_of(step, visit);
                }
            }
        }
    }
}

fn calls_of<'syntax>(value: &'syntax Expression<'syntax>, visit: &mut dyn FnMut(&'syntax str)) {
    match &value.form {
        Form::Number(_) | Form::Text(_) | Form::Truth(_) | Form::Name(_) => {}
        Form::Field(one, _) | Form::Not(one) | Form::Negate(one) => calls_of(one, visit),
        Form::Element(two) | Form::Binary(_, two) | Form::In(two) => two.iter().for_each(|one| calls_of(one, visit)),
        Form::List(all) => all.iter().for_each(|one| calls_of(one, visit)),
        Form::Call(name, arguments) => {
            visit(&name.own);
            arguments.iter().for_each(|argument| calls_of(&argument.value, visit));
        }
        Form::Over(over) => {
            calls_of(&over.list, visit);
            over.from.iter().for_each(|from| calls_of(from, visit));
            calls(&over.block, visit);
        }
        Form::Foldt(foldt) => {
            calls_of(&foldt.channels, visit);
            calls_of(&foldt.key, visit);
            calls(&foldt.block, visit);
        }
    }
}
