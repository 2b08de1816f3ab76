//! What is made of bodies while they are checked: variables and statements of the model.
//!
//! A function without effects becomes a computed node, which others call. One that sends, or changes state, becomes
//! part of each rule that calls it: there its channels are those of the process. So a rule is one computation, which
//! says at its end what is to be sent; nothing waits for a channel before that.

use super::limit::Limit;
use super::{Checker, Stands};
use flux_ir::compute::{Expression, Function, Operator, Statement, Term, Variable, VariableId};
use flux_ir::types::{Type, TypeKind};
use flux_source::{Deep, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A body so far.
#[derive(Default)]
pub(super) struct Made {
    /// All variables; what its node is given and gives comes first.
    pub variables: Vec<Variable>,
    /// The statements of the block that is being made.
    pub block: Vec<Statement>,
    /// The most that state may hold.
    pub limits: BTreeMap<VariableId, Limit>,
    /// What only the body of a rule has; none where functions are checked.
    pub rule: Option<MadeRule>,
}

/// What a rule has that functions have not.
pub(super) struct MadeRule {
    /// What is to be sent, a list of `sending`.
    pub sends: VariableId,
    /// The type of one of these.
    pub sending: Type,
    /// What its node is told of its instance.
    pub known: BTreeMap<Fact, VariableId>,
    /// What it was asked for.
    pub asked: BTreeSet<Fact>,
    /// The channels that it sends to.
    pub targets: BTreeSet<u32>,
    /// Those of an array, each with the index there.
    pub elements: Vec<(u32, Expression)>,
}

/// What a rule may want to know of its instance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Fact {
    /// How many channels an array has.
    Count(u32),
    /// The indexes of its channels.
    All(u32),
    /// The index of the one with the fewest requests open.
    LeastBusy(u32),
    /// The address at the other end of a channel.
    Peer(u32),
    /// Those of the channels of an array.
    Peers(u32),
}

/// Which channel of a process something is; of one of an array with its index.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// Its number among the parameters.
    pub channel: u32,
    /// The index in its array; none of an array itself, and of what is in none.
    pub element: Option<Expression>,
}

impl<'syntax> Checker<'syntax, '_, '_> {
    pub(super) fn new_variable(&mut self, name: &str, ty: &Type) -> VariableId {
        self.made.variables.push(Variable { name: name.to_owned(), ty: ty.clone() });
        VariableId::new(self.made.variables.len() - 1)
    }

    pub(super) fn emit(&mut self, statement: Statement) {
        self.made.block.push(statement);
    }

    /// Makes a variable that has this value.
    pub(super) fn let_variable(&mut self, name: &str, value: Expression) -> VariableId {
        let variable = self.new_variable(name, &value.ty);
        self.emit(Statement::Set { variable, is_new: true, value });
        variable
    }

    /// The same value, which can be named again: it is computed once.
    pub(super) fn once(&mut self, name: &str, value: Expression) -> Expression {
        match value.term {
            Term::Variable(_) | Term::Integer(_) | Term::Truth(_) => value,
            _ => {
                let (ty, span) = (value.ty.clone(), value.span);
                read(self.let_variable(name, value), &ty, span)
            }
        }
    }

    pub(super) fn set(&mut self, variable: VariableId, value: Expression) {
        self.emit(Statement::Set { variable, is_new: false, value });
    }

    /// Runs a rule; gives the statements that it makes, apart from the others.
    pub(super) fn apart<T>(&mut self, rule: impl FnOnce(&mut Self) -> T) -> (T, Vec<Statement>) {
        let before = std::mem::take(&mut self.made.block);
        let result = rule(self);
        (result, std::mem::replace(&mut self.made.block, before))
    }

    /// What the body of a rule is told; in a function, which is only checked, a value of that type.
    pub(super) fn fact(&mut self, fact: Fact, ty: &Type, span: Span) -> Expression {
        let rule = self.made.rule.as_mut();
        let known = rule.and_then(|rule| {
            rule.asked.insert(fact);
            rule.known.get(&fact).copied()
        });
        read(known.unwrap_or(VariableId::new(0)), ty, span)
    }

    /// What the variable or the channel is that a name stands for.
    pub(super) fn variable_of(&self, stands: &Stands) -> VariableId {
        match stands {
            Stands::Variable(variable) => *variable,
            Stands::End(_) | Stands::Literal(_) | Stands::Nothing => VariableId::new(0),
        }
    }
}

/// The value of a variable.
pub(super) fn read(variable: VariableId, ty: &Type, span: Span) -> Expression {
    Expression { term: Term::Variable(variable), ty: ty.clone(), span }
}

/// The variable with one more element at its end.
pub(super) fn with_one_more(list: VariableId, ty: &Type, element: Expression, span: Span) -> Expression {
    let one = Expression { term: Term::List(vec![element]), ty: ty.clone(), span };
    let two = Deep::new([read(list, ty, span), one]);
    Expression { term: Term::Binary(Operator::Add, two), ty: ty.clone(), span }
}

/// A value that is there until another is known: nothing of the type.
pub(super) fn no_value(of: &Type, span: Span) -> Expression {
    Expression { term: Term::None, ty: Type::of_kind(TypeKind::Optional(of.clone())), span }
}

/// A value of the type `ty` in the place of one that may not be there.
pub(super) fn some(value: Expression) -> Expression {
    let (ty, span) = (Type::of_kind(TypeKind::Optional(value.ty.clone())), value.span);
    Expression { term: Term::Some(Deep::new(value)), ty, span }
}

/// What an optional has, which has something.
pub(super) fn value_of(optional: Expression, ty: &Type) -> Expression {
    let span = optional.span;
    Expression { term: Term::Call(Function::Value, vec![optional]), ty: ty.clone(), span }
}

/// What state of the type is where nothing is said: 0, empty, or false; none of a type that has no such value.
pub(super) fn first_value(ty: &Type, span: Span) -> Option<Expression> {
    let term = match ty.kind() {
        TypeKind::Bool => Term::Truth(false),
        TypeKind::Integer(_) => Term::Integer(0),
        TypeKind::Text | TypeKind::Bytes => Term::Text(String::new()),
        TypeKind::List(_) => Term::List(vec![]),
        TypeKind::Map(..) => Term::Map(vec![]),
        TypeKind::Optional(_) => Term::None,
        _ => return None,
    };
    Some(Expression { term, ty: ty.clone(), span })
}
