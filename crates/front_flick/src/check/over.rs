//! What is made of lists, `map`, `filter` and `fold`, and what is only computed where it matters, `and` and `or`.
//!
//! Where that takes no statements it is a comprehension, or an operator, of the model; else a loop, or an `if`, that
//! comes before.

use super::kind::Kind;
use super::made::{first_value, read, with_one_more};
use super::value::truth;
use super::{Checked, Checker, Reported, Stands};
use crate::syntax::{Expression, Over, OverKind};
use flux_diagnostic::Diagnostic;
use flux_front_flux::ids;
use flux_front_flux::syntax::Name;
use flux_ir::compute::{self, Operator, Statement, Term, VariableId, Walk};
use flux_ir::types::{Type, TypeKind};
use flux_source::Span;

use super::value::Typed;

impl<'syntax> Checker<'syntax, '_, '_> {
    /// `a and b`, `a or b`
    pub(super) fn lazily(&mut self, operator: Operator, two: &'syntax [Expression<'syntax>; 2]) -> Checked<Typed> {
        let [left, right] = two;
        let span = left.span.to(right.span);
        let left = self.value(left);
        let (right, before) = self.apart(|checker| checker.value(right));
        let (left, right) = (left?, right?);
        if before.is_empty() {
            let joined = self.typing().binary(operator, left, right);
            return self.typed(joined).map(Typed::Value);
        }
        let (left, right) = (self.fits(left, &truth())?, self.fits(right, &truth())?);
        let sum = self.let_variable("holds", left);
        let mut then = before;
        then.push(Statement::Set { variable: sum, is_new: false, value: right });
        let holds = read(sum, &truth(), span);
        let (then, otherwise) = if operator == Operator::And { (then, vec![]) } else { (vec![], then) };
        self.emit(Statement::If(holds.clone(), then, otherwise));
        Ok(Typed::Value(holds))
    }

    /// `map on xs as x: …` and its like. A fold from `[]` is of the type `wanted` where one is.
    pub(super) fn over(
        &mut self,
        over: &'syntax Over<'syntax>,
        wanted: Option<&Type>,
        span: Span,
    ) -> Checked<compute::Expression> {
        let list = self.value(&over.list)?;
        let TypeKind::List(element) = list.ty.kind().clone() else {
            let headline = format!("`{}` goes through a list, and this is none", over.kind.name());
            let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, over.list.span);
            let help = "of channels `for` goes through each, and `foldt` through what they give";
            return Err(self.report(error.help(help)));
        };
        if let Some(from) = &over.from {
            return self.fold((over, from), wanted, (list, &element), span);
        }
        let wanted = (over.kind == OverKind::Filter).then(truth);
        let before = self.bound.len();
        let at = self.bind_variable(&over.element, &element);
        let (value, inner) = self.apart(|checker| match &wanted {
            Some(wanted) => checker.block_value(&over.block, Some(wanted), over.list.span),
            None => checker.settled_value(&over.block, over.list.span),
        });
        self.bound.truncate(before);
        let (value, walk) = (value?, Walk { element: at, value: None, over: list });
        let itself = read(at, &element, span);
        let (value, condition) = match wanted {
            Some(_) => (itself, Some(value)),
            None => (value, None),
        };
        if inner.is_empty() {
            let made = self.typing().comprehension(walk, value, condition, span);
            return self.typed(made);
        }
        let ty = Type::list_of(&value.ty);
        let empty = first_value(&ty, span).ok_or(Reported)?;
        let sum = self.let_variable(over.kind.name(), empty);
        let add = Statement::Set { variable: sum, is_new: false, value: with_one_more(sum, &ty, value, span) };
        let mut block = inner;
        block.push(match condition {
            Some(condition) => Statement::If(condition, vec![add], vec![]),
            None => add,
        });
        self.emit(Statement::For(walk, block));
        Ok(read(sum, &ty, span))
    }

    /// `fold on xs from e as sum, x: …`
    fn fold(
        &mut self,
        (over, from): (&'syntax Over<'syntax>, &'syntax Expression<'syntax>),
        wanted: Option<&Type>,
        (list, element): (compute::Expression, &Type),
        span: Span,
    ) -> Checked<compute::Expression> {
        let Some(name) = &over.sum else { return Err(Reported) };
        let mut from = self.value(from)?;
        if !self.typing().is_settled(&from) {
            let ty = match wanted {
                Some(wanted) => Some(wanted.clone()),
                None => self.type_of_sum(over, name, &from, element),
            };
            from = match ty {
                Some(ty) if self.only_types => return Ok(read(VariableId::new(0), &ty, span)),
                Some(ty) => self.fits(from, &ty)?,
                None => self.settled(from)?,
            };
        }
        let ty = from.ty.clone();
        let sum = self.let_variable(name.as_str(), from);
        let before = self.bound.len();
        self.bind(name, Some(Kind::Value(ty.clone())), Stands::Variable(sum));
        let at = self.bind_variable(&over.element, element);
        let (value, mut block) = self.apart(|checker| checker.block_value(&over.block, Some(&ty), over.list.span));
        self.bound.truncate(before);
        block.push(Statement::Set { variable: sum, is_new: false, value: value? });
        self.emit(Statement::For(Walk { element: at, value: None, over: list }, block));
        Ok(compute::Expression { term: Term::Variable(sum), ty, span })
    }

    /// The type of what is made of `from`, whose own is not known, and an element; none where that is not known either.
    /// Nothing is made. A fold inside is asked once, so all of them take time square in their depth.
    fn type_of_sum(
        &mut self,
        over: &'syntax Over<'syntax>,
        name: &'syntax Name<'syntax>,
        from: &compute::Expression,
        element: &Type,
    ) -> Option<Type> {
        let around = std::mem::replace(&mut self.only_types, true);
        let (variables, before) = (self.made.variables.len(), self.bound.len());
        let sends = self.made.rule.as_ref().map(|rule| rule.elements.len());
        self.bind(name, Some(Kind::Value(from.ty.clone())), Stands::Literal(from.clone()));
        self.bind_variable(&over.element, element);
        let (value, _) = self.apart(|checker| checker.block_value(&over.block, None, over.list.span));
        self.bound.truncate(before);
        self.made.variables.truncate(variables);
        if let (Some(rule), Some(sends)) = (&mut self.made.rule, sends) {
            rule.elements.truncate(sends);
        }
        self.only_types = around;
        value.ok().and_then(|value| self.known_type(&value))
    }
}
