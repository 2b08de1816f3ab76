//! What goes through a list or a map: loops and comprehensions.

use super::body::{BodyResolver, Reported};
use crate::body::{self, Comprehension, Value};
use crate::ids;
use crate::syntax::Name;
use flux_ir::compute::{Expression, Statement, Term, VariableId, Walk};
use flux_source::Span;
use std::collections::HashMap;

impl<'syntax> BodyResolver<'_, 'syntax, '_, '_> {
    pub(super) fn for_each(
        &mut self,
        names: &'syntax [Name<'syntax>],
        over: &'syntax Value<'syntax>,
        statements: &'syntax [body::Statement<'syntax>],
    ) -> Result<Statement, Reported> {
        let (walk, block) = self.walk(names, over, |resolver| resolver.block(statements));
        Ok(Statement::For(walk?, block?))
    }

    pub(super) fn comprehension(
        &mut self,
        it: &'syntax Comprehension<'syntax>,
        span: Span,
    ) -> Result<Expression, Reported> {
        let (walk, inner) = self.walk(&it.names, &it.over, |resolver| {
            let condition = it.condition.as_ref().map(|condition| resolver.value(condition)).transpose();
            let value = match (&it.value, it.names.first()) {
                (Some(value), _) => resolver.value(value),
                (None, name) => name.and_then(|name| resolver.walked(name)).ok_or(Reported),
            };
            Ok((condition?, value?))
        });
        let (walk, (condition, value)) = (walk?, inner?);
        self.typed(self.typing().comprehension(walk, value, condition, span))
    }

    /// The element itself.
    fn walked(&self, name: &Name) -> Option<Expression> {
        let id = self.find(&name.text)??;
        let ty = self.computation.variable(id)?.ty.clone();
        Some(Expression { term: Term::Variable(id), ty, span: name.span })
    }

    /// What goes through `over`, and what `inside` says where its elements have these names. Both are looked at,
    /// whatever is wrong with the other.
    fn walk<T>(
        &mut self,
        names: &'syntax [Name<'syntax>],
        over: &'syntax Value<'syntax>,
        inside: impl FnOnce(&mut Self) -> Result<T, Reported>,
    ) -> (Result<Walk, Reported>, Result<T, Reported>) {
        for name in names {
            self.resolver.check_word(&name.text, name.span, "variable");
        }
        let over = self.value(over).and_then(|over| self.typed(self.typing().settle(over)));
        let typed = over.and_then(|over| {
            let typed = self.typing().walk(over, names.len());
            typed.map_err(|mistake| self.report_mistake(ids::EXPRESSION_TYPE, *mistake))
        });
        let types = typed.as_ref().map_or(&[][..], |(_, types)| types);
        let before = self.given.clone();
        self.scopes.push(HashMap::new());
        let variables: Vec<VariableId> =
            names.iter().zip(types).map(|(name, ty)| self.new_variable(name, ty)).collect();
        for (at, name) in names.iter().enumerate() {
            self.name_it(name, variables.get(at).copied());
        }
        let inner = inside(self);
        self.scopes.pop();
        self.given = before;
        let walk = typed.and_then(|(over, _)| {
            let element = variables.first().copied().ok_or(Reported)?;
            Ok(Walk { element, value: variables.get(1).copied(), over })
        });
        (walk, inner)
    }
}
