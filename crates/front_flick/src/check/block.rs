//! Blocks: their statements, and the value that the last one gives.

use super::kind::Kind;
use super::value::{Typed, of_type, truth};
use super::{Checked, Checker, Reported};
use crate::ids as own_ids;
use crate::syntax::{Expression, Form, Function, Statement};
use flux_diagnostic::Diagnostic;
use flux_front_flux::ids;
use flux_ir::types::{Type, TypeKind};
use flux_source::Span;

impl<'syntax> Checker<'syntax, '_, '_> {
    pub(super) fn function(&mut self, function: &'syntax Function<'syntax>) {
        let Some(body) = &function.body else { return };
        let Some(signature) = self.functions.get(function.name.as_str()).cloned() else { return };
        if signature.span != function.head {
            // Declared twice, as was said.
            return;
        }
        self.scoped(|checker| {
            for (parameter, (_, kind, is_state)) in function.parameters.iter().zip(signature.parameters) {
                checker.bind(parameter.name(), kind);
                if let Some(binding) = checker.bound.last_mut() {
                    binding.is_state = is_state;
                }
            }
            match signature.result {
                None => checker.block(body),
                Some(Some(result)) => checker.block_value(body, Some(&result), function.head).map(|_| ()),
                // What it gives was reported.
                Some(None) => Err(Reported),
            }
            .ok();
        });
    }

    /// Statements that give nothing.
    pub(super) fn block(&mut self, block: &'syntax [Statement<'syntax>]) -> Checked<()> {
        self.scoped(|checker| {
            let mut result = Ok(());
            for statement in block {
                result = checker.statement(statement).and(result);
            }
            result
        })
    }

    /// Statements of which the last one gives a value, of the type `wanted` where one is.
    pub(super) fn block_value(
        &mut self,
        block: &'syntax [Statement<'syntax>],
        wanted: Option<&Type>,
        what: Span,
    ) -> Checked<Type> {
        let Some((last, before)) = block.split_last() else { return Err(Reported) };
        self.scoped(|checker| {
            let mut result = Ok(());
            for statement in before {
                result = checker.statement(statement).and(result);
            }
            let value = checker.last(last, wanted, what);
            result.and(value)
        })
    }

    /// The value of the last statement.
    fn last(&mut self, last: &'syntax Statement<'syntax>, wanted: Option<&Type>, what: Span) -> Checked<Type> {
        match last {
            Statement::Value(value) => {
                let typed = self.value(value)?;
                let ty = wanted.cloned().unwrap_or_else(|| typed.ty.clone());
                self.fits(typed, &ty).map(|()| ty)
            }
            Statement::If(branches, Some(otherwise), _) => {
                let mut ty = wanted.cloned();
                let mut result = Ok(());
                for (condition, block) in branches {
                    result = self.wanted(condition, &truth()).and(result);
                    match self.block_value(block, ty.as_ref(), what) {
                        Ok(found) => ty = Some(found),
                        Err(reported) => result = Err(reported),
                    }
                }
                let last = self.block_value(otherwise, ty.as_ref(), what);
                result.and(last)
            }
            other => {
                let error = Diagnostic::error(own_ids::BLOCK_VALUE, "the block ends without a value", other.span());
                let help = match other {
                    Statement::If(..) => "where a condition does not hold it gives nothing: write an `else:`",
                    _ => "write the value on the last line of the block",
                };
                Err(self.report(error.mark(what, "a value is needed here").help(help)))
            }
        }
    }

    pub(super) fn statement(&mut self, statement: &'syntax Statement<'syntax>) -> Checked<()> {
        match statement {
            Statement::Let(name, value) => {
                let kind = self.expression(value);
                let kind = match kind {
                    Ok(Typed::Value(value)) => Some(Kind::Value(value.ty)),
                    Ok(Typed::Other(kind)) => Some(kind),
                    Ok(Typed::Nothing) => {
                        let headline = format!("`{}` is given no value: this gives nothing", name.text);
                        let error = Diagnostic::error(own_ids::BLOCK_VALUE, headline, value.span);
                        self.report(error.help("call it on a line of its own, without `let`"));
                        None
                    }
                    Err(Reported) => None,
                };
                let known = kind.is_some();
                self.bind(name, kind);
                if known { Ok(()) } else { Err(Reported) }
            }
            Statement::Set(place, value) => self.set(place, value),
            Statement::If(branches, otherwise, _) => {
                let mut result = Ok(());
                for (condition, block) in branches {
                    result = self.wanted(condition, &truth()).and(result);
                    result = self.block(block).and(result);
                }
                otherwise.as_ref().map_or(Ok(()), |block| self.block(block)).and(result)
            }
            Statement::For(name, list, block) => {
                let element = self.elements(list);
                self.scoped(|checker| {
                    checker.bind(name, element.as_ref().ok().cloned());
                    checker.block(block).and(element.map(|_| ()))
                })
            }
            Statement::Send(value, steps) => self.send(value, steps),
            Statement::Value(value) => match self.expression(value)? {
                Typed::Nothing => Ok(()),
                _ => {
                    let error = Diagnostic::error(own_ids::BLOCK_VALUE, "this value goes nowhere", value.span);
                    let help = "send it, `… => client`, name it, `let x = …`, or, where it is what the function gives, \
                                write it last and say its type: `-> (integer)`";
                    Err(self.report(error.help(help)))
                }
            },
        }
    }

    /// What a `for` goes through.
    fn elements(&mut self, list: &'syntax Expression<'syntax>) -> Checked<Kind> {
        match self.expression(list)? {
            Typed::Other(Kind::Channels(ways)) => return Ok(Kind::Channel(ways)),
            Typed::Value(value) => {
                if let TypeKind::List(element) = value.ty.kind() {
                    return Ok(Kind::Value(element.clone()));
                }
            }
            _ => {}
        }
        let error =
            Diagnostic::error(ids::EXPRESSION_TYPE, "`for` goes through a list, or an array of channels", list.span);
        Err(self.report(error.help("write a list to the right of `in`: what is gone through is finite")))
    }

    /// `hits[key] := …`
    fn set(&mut self, place: &'syntax Expression<'syntax>, value: &'syntax Expression<'syntax>) -> Checked<()> {
        let (name, key) = match &place.form {
            Form::Name(name) => (Some(name), None),
            Form::Element(two) => match &**two {
                [Expression { form: Form::Name(name), .. }, key] => (Some(name), Some(key)),
                _ => (None, None),
            },
            _ => (None, None),
        };
        let binding = name.and_then(|name| self.find(name.parts().1)).cloned();
        let Some(binding) = binding.filter(|binding| binding.is_state) else {
            let headline = "only state can be changed, and this is none";
            let error = Diagnostic::error(ids::ASSIGNED_VALUE, headline, place.span);
            let help = "a value gets a name by `let x = …`; state is a `local` of the `proc`, a `global`, or a `ref` \
                        of a function";
            return Err(self.report(error.help(help)));
        };
        let Some(Kind::Value(ty)) = binding.kind else { return Err(Reported) };
        let Some(key) = key else { return self.wanted(value, &ty) };
        let (key, value) = (self.value(key), self.value(value));
        let (key, value) = (key?, value?);
        let put = self.typing().put((&ty, place.span), key, value);
        self.typed(put.map(|_| of_type(ty, place.span))).map(|_| ())
    }
}
