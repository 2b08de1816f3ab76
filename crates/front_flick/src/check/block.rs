//! Blocks: their statements, and the value that the last one gives.

use super::kind::{Kind, spelled};
use super::limit::Limit;
use super::made::{End, Made, no_value, read, some, value_of};
use super::value::{Typed, truth};
use super::{Binding, Checked, Checker, Reported, Stands};
use crate::ids as own_ids;
use crate::syntax::{self, Expression, Form, Function, Parameter, Statement};
use flux_diagnostic::Diagnostic;
use flux_front_flux::ids;
use flux_front_flux::syntax::Name;
use flux_ir::compute::{self, Walk};
use flux_ir::types::{Type, TypeKind};
use flux_source::{Span, deep};

impl<'syntax> Checker<'syntax, '_, '_> {
    pub(super) fn function(&mut self, function: &'syntax Function<'syntax>) {
        let Some(body) = &function.body else { return };
        let Some(signature) = self.functions.get(function.name.as_str()).cloned() else { return };
        if signature.span != function.head {
            // Declared twice, as was said.
            return;
        }
        self.made = Made::default();
        let result = self.scoped(|checker| {
            for (parameter, (_, kind, is_state)) in function.parameters.iter().zip(signature.parameters) {
                let stands = match &kind {
                    Some(Kind::Value(ty)) => Stands::Variable(checker.new_variable(parameter.name().as_str(), ty)),
                    _ => Stands::Nothing,
                };
                checker.bind(parameter.name(), kind, stands);
                if let Some(binding) = checker.bound.last_mut() {
                    binding.is_state = is_state;
                }
            }
            checker.given = checker.bound.len();
            match signature.result {
                None => checker.block(body).map(|()| None),
                Some(Some(result)) if checker.limit_given(function).is_ok() => {
                    checker.node_body(body, &result, function.head).map(Some)
                }
                // What it gives was reported.
                Some(_) => Err(Reported),
            }
        });
        if let Ok(Some(computation)) = result {
            self.define_pure(function.name.as_str(), computation);
        }
    }

    /// Fails where a function is given more than it says.
    pub(super) fn limit_given(&mut self, function: &'syntax Function<'syntax>) -> Checked<()> {
        for parameter in &function.parameters {
            let Parameter::Value(field) = parameter else { continue };
            if let Some(Stands::Variable(variable)) = self.find(field.name.as_str()).map(|bound| bound.stands.clone()) {
                self.limit_variable(variable, Limit::of(&field.ty))?;
            }
        }
        Ok(())
    }

    /// The statements of a function that gives a value, as those of a node that has it for its output.
    fn node_body(
        &mut self,
        body: &'syntax [Statement<'syntax>],
        result: &Type,
        what: Span,
    ) -> Checked<compute::Computation> {
        let output = self.new_variable("result", result);
        let value = self.block_value(body, Some(result), what)?;
        self.set(output, value);
        let made = std::mem::take(&mut self.made);
        Ok(compute::Computation { variables: made.variables, block: made.block, says: None })
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

    /// Statements of which the last one gives a value, of the type `wanted` where one is; else its type may be unknown.
    pub(super) fn block_value(
        &mut self,
        block: &'syntax [Statement<'syntax>],
        wanted: Option<&Type>,
        what: Span,
    ) -> Checked<compute::Expression> {
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

    /// The same, where no type is wanted: a value of a known type.
    pub(super) fn settled_value(
        &mut self,
        block: &'syntax [Statement<'syntax>],
        what: Span,
    ) -> Checked<compute::Expression> {
        let value = self.block_value(block, None, what)?;
        self.settled(value)
    }

    /// The value of the last statement.
    fn last(
        &mut self,
        last: &'syntax Statement<'syntax>,
        wanted: Option<&Type>,
        what: Span,
    ) -> Checked<compute::Expression> {
        deep(|| match last {
            Statement::Value(value) => match wanted {
                Some(wanted) => self.wanted(value, wanted),
                None => self.value(value),
            },
            Statement::If(branches, Some(otherwise), span) => {
                self.chosen((branches, otherwise), wanted.cloned(), what, *span)
            }
            other => {
                let error = Diagnostic::error(own_ids::BLOCK_VALUE, "the block ends without a value", other.span());
                let help = match other {
                    Statement::If(..) => "where a condition does not hold it gives nothing: write an `else:`",
                    _ => "write the value on the last line of the block",
                };
                Err(self.report(error.mark(what, "a value is needed here").help(help)))
            }
        })
    }

    /// The value of an `if` with an `else`. There is a variable for it, which has none at first.
    fn chosen(
        &mut self,
        (branches, otherwise): (
            &'syntax [(Expression<'syntax>, Vec<Statement<'syntax>>)],
            &'syntax [Statement<'syntax>],
        ),
        wanted: Option<Type>,
        what: Span,
        span: Span,
    ) -> Checked<compute::Expression> {
        let mut ty = wanted;
        let (mut conditions, mut result) = (vec![], Ok(()));
        let mut blocks = vec![];
        for (condition, block) in branches {
            let (condition, before) = self.apart(|checker| checker.wanted(condition, &truth()));
            let (value, inner) = self.apart(|checker| checker.block_value(block, ty.as_ref(), what));
            match (condition, value) {
                (Ok(condition), Ok(value)) => {
                    ty = ty.or_else(|| self.known_type(&value));
                    conditions.push((before, condition));
                    blocks.push((inner, value));
                }
                _ => result = Err(Reported),
            }
        }
        let (last, inner) = self.apart(|checker| checker.block_value(otherwise, ty.as_ref(), what));
        let last = last.and_then(|last| result.map(|()| last))?;
        let Some(ty) = ty.or_else(|| self.known_type(&last)) else { return Ok(last) };
        blocks.push((inner, last));
        let chosen = self.let_variable("chosen", no_value(&ty, span));
        let optional = Type::of_kind(TypeKind::Optional(ty.clone()));
        let blocks = blocks.into_iter().map(|(mut block, value)| {
            // One that came before its type was known has it now.
            let value = some(self.fits(value, &ty)?);
            block.push(compute::Statement::Set { variable: chosen, is_new: false, value });
            Ok(block)
        });
        let blocks = blocks.collect::<Checked<Vec<_>>>()?;
        let statements = joined(conditions, blocks);
        self.made.block.extend(statements);
        Ok(value_of(read(chosen, &optional, span), &ty))
    }

    pub(super) fn statement(&mut self, statement: &'syntax Statement<'syntax>) -> Checked<()> {
        deep(|| match statement {
            Statement::Let(name, ty, value) => self.let_name(name, ty.as_ref(), value),
            Statement::Set(place, value) => self.set_state(place, value),
            Statement::If(branches, otherwise, _) => {
                let (mut conditions, mut blocks, mut result) = (vec![], vec![], Ok(()));
                for (condition, block) in branches {
                    let (condition, before) = self.apart(|checker| checker.wanted(condition, &truth()));
                    let (done, inner) = self.apart(|checker| checker.block(block));
                    result = condition.map(|condition| conditions.push((before, condition))).and(result).and(done);
                    blocks.push(inner);
                }
                let (done, inner) =
                    self.apart(|checker| otherwise.as_ref().map_or(Ok(()), |block| checker.block(block)));
                blocks.push(inner);
                result.and(done)?;
                let statements = joined(conditions, blocks);
                self.made.block.extend(statements);
                Ok(())
            }
            Statement::For(name, list, block) => self.go_through(name, list, block),
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
        })
    }

    /// `let target = …`
    fn let_name(
        &mut self,
        name: &'syntax Name<'syntax>,
        ty: Option<&'syntax syntax::Type<'syntax>>,
        value: &'syntax Expression<'syntax>,
    ) -> Checked<()> {
        self.check_new_name(name);
        let typed = match ty {
            Some(ty) => self.let_typed(name, ty, value).map(Typed::Value),
            None => match self.expression(value) {
                Ok(Typed::Value(value)) => self.settled(value).map(Typed::Value),
                other => other,
            },
        };
        let (kind, stands) = match typed {
            Ok(Typed::Value(value)) => {
                let ty = value.ty.clone();
                (Some(Kind::Value(ty)), Stands::Variable(self.let_variable(name.as_str(), value)))
            }
            Ok(Typed::Other(kind, end)) => {
                let end =
                    end.map(|end| End { element: end.element.map(|index| self.once(name.as_str(), index)), ..end });
                (Some(kind), end.map_or(Stands::Nothing, Stands::End))
            }
            Ok(Typed::Nothing) => {
                let headline = format!("`{}` is given no value: this gives nothing", name.text);
                let error = Diagnostic::error(own_ids::BLOCK_VALUE, headline, value.span);
                self.report(error.help("call it on a line of its own, without `let`"));
                (None, Stands::Nothing)
            }
            Err(Reported) => (None, Stands::Nothing),
        };
        let known = kind.is_some();
        self.bind(name, kind, stands);
        if known { Ok(()) } else { Err(Reported) }
    }

    /// The value of `let target : integer = …`.
    fn let_typed(
        &mut self,
        name: &'syntax Name<'syntax>,
        ty: &'syntax syntax::Type<'syntax>,
        value: &'syntax Expression<'syntax>,
    ) -> Checked<compute::Expression> {
        let wanted = self.ty(ty)?;
        let value = self.wanted(value, &wanted)?;
        let limit = Limit::of(ty);
        if !limit.has_own() {
            return Ok(value);
        }
        let (span, variable) = (value.span, self.let_variable(name.as_str(), value));
        self.limit_variable(variable, limit)?;
        Ok(read(variable, &wanted, span))
    }

    /// Reports a `let` whose name stands for something that the function is given, or that its block has.
    fn check_new_name(&mut self, name: &Name<'_>) {
        let Some(at) = self.bound.iter().rposition(|bound| bound.name == name.text) else { return };
        let is_given = at < self.given;
        let Some(first) = self.bound.get(at).map(|bound| bound.span).filter(|_| is_given || at >= self.block) else {
            return;
        };
        let headline = format!("the name `{}` is taken", name.text);
        let error = Diagnostic::error(own_ids::DUPLICATE_NAME, headline, name.span);
        let declared = if is_given { "given here" } else { "it has a value since here" };
        self.report(error.mark(first, declared).help("values do not change: give the new one another name"));
    }

    /// `for x in …:`
    fn go_through(
        &mut self,
        name: &'syntax Name<'syntax>,
        list: &'syntax Expression<'syntax>,
        block: &'syntax [Statement<'syntax>],
    ) -> Checked<()> {
        let over = match self.expression(list) {
            Ok(Typed::Other(Kind::Channels(ways), end)) => return self.go_through_channels(name, ways, end, block),
            Ok(Typed::Value(value)) if matches!(value.ty.kind(), TypeKind::List(_)) => Ok(value),
            Ok(_) => {
                let headline = "`for` goes through a list, or an array of channels";
                let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, list.span);
                Err(self.report(error.help("write a list to the right of `in`: what is gone through is finite")))
            }
            Err(Reported) => Err(Reported),
        };
        let before = self.bound.len();
        let element = match over.as_ref().map(|over| over.ty.kind()) {
            Ok(TypeKind::List(element)) => Some(self.bind_variable(name, element)),
            _ => {
                self.bind(name, None, Stands::Nothing);
                None
            }
        };
        let (done, inner) = self.apart(|checker| checker.block(block));
        self.bound.truncate(before);
        let over = done.and(over)?;
        if let Some(element) = element {
            self.emit(compute::Statement::For(Walk { element, value: None, over }, inner));
        }
        Ok(())
    }

    /// `for backend in backends:`
    fn go_through_channels(
        &mut self,
        name: &'syntax Name<'syntax>,
        ways: super::kind::Ways,
        end: Option<End>,
        block: &'syntax [Statement<'syntax>],
    ) -> Checked<()> {
        let index_type = Type::new("uint64");
        let channel = end.as_ref().map_or(0, |end| end.channel);
        let over = self.fact(super::made::Fact::All(channel), &Type::list_of(&index_type), name.span);
        let index = self.new_variable(name.as_str(), &index_type);
        let before = self.bound.len();
        let index_of = |end: End| Stands::End(End { element: Some(read(index, &index_type, name.span)), ..end });
        self.bind(name, Some(Kind::Channel(ways)), end.map_or(Stands::Nothing, index_of));
        let (done, inner) = self.apart(|checker| checker.block(block));
        self.bound.truncate(before);
        done?;
        self.emit(compute::Statement::For(Walk { element: index, value: None, over }, inner));
        Ok(())
    }

    /// `hits[key] := …`
    fn set_state(&mut self, place: &'syntax Expression<'syntax>, value: &'syntax Expression<'syntax>) -> Checked<()> {
        let (name, key) = match &place.form {
            Form::Name(name) => (Some(name), None),
            Form::Element(two) => match &**two {
                [Expression { form: Form::Name(name), .. }, key] => (Some(name), Some(key)),
                _ => (None, None),
            },
            _ => (None, None),
        };
        let binding = name.and_then(|name| self.find(name.parts().1)).cloned();
        let Some(binding) = binding.clone().filter(|binding| binding.is_state) else {
            let headline = "only state can be changed, and this is none";
            let error = Diagnostic::error(ids::ASSIGNED_VALUE, headline, place.span);
            let help = match binding {
                Some(Binding { name, kind: Some(Kind::Value(ty)), .. }) => format!(
                    "where the function is given state, say so: `ref {name} : {}`; a value gets a name by `let x = …`",
                    spelled(&ty)
                ),
                _ => "a value gets a name by `let x = …`; state is a `local` of the `proc`, a `global`, or a `ref` of \
                      a function"
                    .to_owned(),
            };
            return Err(self.report(error.help(help)));
        };
        let variable = self.variable_of(&binding.stands);
        let limit = self.made.limits.get(&variable).copied().unwrap_or_default();
        let Some(Kind::Value(ty)) = binding.kind else { return Err(Reported) };
        let Some(key) = key else {
            let value = self.wanted(value, &ty)?;
            self.set(variable, value);
            return self.limit_variable(variable, limit);
        };
        let (key, value) = (self.value(key), self.value(value));
        let (key, value) = (key?, value?);
        let put = self.typing().put((&ty, place.span), key, value);
        match put {
            Ok(two) => {
                let (key, value) = self.limit_put(limit, two)?;
                self.emit(compute::Statement::Put { variable, key, value });
                self.limit_variable(variable, limit)
            }
            Err(mistake) => self.typed(Err(mistake)).map(|_| ()),
        }
    }
}

/// An `if` whose conditions, each after the statements that it takes, are asked one after the other; then what is done
/// where none holds, which is the last block.
fn joined(
    mut conditions: Vec<(Vec<compute::Statement>, compute::Expression)>,
    mut blocks: Vec<Vec<compute::Statement>>,
) -> Vec<compute::Statement> {
    let mut otherwise = blocks.pop().unwrap_or_default();
    while let (Some((mut before, condition)), Some(block)) = (conditions.pop(), blocks.pop()) {
        before.push(compute::Statement::If(condition, block, otherwise));
        otherwise = before;
    }
    otherwise
}
