//! The most that something may hold, `{n}` behind its type: state, what functions are given, and fields of records.
//! What would have more fails, as what is too large does everywhere. Fields of messages have it in their wire format,
//! and arrays of channels where they are bound.

use super::made::read;
use super::value::truth;
use super::{Checked, Checker};
use crate::syntax::{Type, TypeForm};
use flux_ir::compute::{Expression, Function, Operator, Statement, Term, VariableId};
use flux_ir::types::TypeKind;
use flux_source::Deep;

/// What fails so: `flux::too_large`.
const TOO_LARGE: i32 = -1_000_000_010;

/// The most of a value, and of what it is made of directly.
#[derive(Clone, Copy, Default)]
pub(super) struct Limit {
    own: Option<u64>,
    key: Option<u64>,
    /// Of an element of a list, or of a value of a dictionary.
    element: Option<u64>,
}

impl Limit {
    pub(super) fn of(ty: &Type<'_>) -> Self {
        let (key, element) = match &ty.form {
            TypeForm::Named(_) => (None, None),
            TypeForm::List(element) => (None, element.most),
            TypeForm::Dictionary(two) => {
                let [key, value] = &**two;
                (key.most, value.most)
            }
        };
        Self { own: ty.most, key, element }
    }

    /// Whether there is one of the value itself.
    pub(super) fn has_own(self) -> bool {
        self.own.is_some()
    }
}

impl Checker<'_, '_, '_> {
    /// Fails where the value of a variable has more than it may have.
    pub(super) fn limit_variable(&mut self, variable: VariableId, limit: Limit) -> Checked<()> {
        let ty = self.made.variables.get(variable.index()).map(|variable| variable.ty.clone());
        let Some(ty) = ty.filter(|_| limit.own.is_some()) else { return Ok(()) };
        self.limit(&read(variable, &ty, flux_source::Span::default()), limit.own)
    }

    /// What is put into state: the key and the element, each computed once.
    pub(super) fn limit_put(
        &mut self,
        limit: Limit,
        (key, value): (Expression, Expression),
    ) -> Checked<(Expression, Expression)> {
        let key = if limit.key.is_some() { self.once("key", key) } else { key };
        let value = if limit.element.is_some() { self.once("element", value) } else { value };
        self.limit(&key, limit.key)?;
        self.limit(&value, limit.element)?;
        Ok((key, value))
    }

    /// Fails where a value has more than so many bytes, elements or entries.
    pub(super) fn limit(&mut self, value: &Expression, most: Option<u64>) -> Checked<()> {
        let has_length =
            matches!(value.ty.kind(), TypeKind::Text | TypeKind::Bytes | TypeKind::List(_) | TypeKind::Map(..));
        let Some(most) = most.filter(|_| has_length) else { return Ok(()) };
        let length = self.typing().call(Function::Length, vec![value.clone()], value.span);
        let length = self.typed(length)?;
        let most = Expression { term: Term::Integer(i128::from(most)), ty: length.ty.clone(), span: value.span };
        let term = Term::Binary(Operator::Greater, Deep::new([length, most]));
        let is_more = Expression { term, ty: truth(), span: value.span };
        self.emit(Statement::If(is_more, vec![Statement::Fail(TOO_LARGE.into())], vec![]));
        Ok(())
    }
}
