//! The statements of a body as C++, and what is known of its variables.

use super::expression::{is_message, is_part, is_sequence_of_bytes, takes_time};
use crate::Context;
use crate::names::Locals;
use crate::tree::{Declarator, Expression as Cpp, Initial, Statement as CppStatement};
use flux_contract as contract;
use flux_ir::compute::{
    Callable, Computation, Expression, Function, Operator, Statement, Term, VariableId, Walk, any_expression, sets,
};
use flux_ir::types::TypeKind;
use flux_source::{Deep, deep};
use std::cell::Cell;
use std::collections::HashMap;

/// Writes the body of one function.
pub(super) struct Writer<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) computation: &'a Computation,
    /// What each variable is called.
    pub(super) places: Vec<Cpp>,
    /// What a list is called that a loop goes through and that has no name.
    pub(super) list: String,
    /// The statements that move what they assign, by place.
    pub(super) moving: Vec<usize>,
    /// Whether a failure is an exception, and not what is returned.
    pub(super) throws: bool,
    /// Whether texts may grow without end here: in a loop, or where what calls this may be one.
    pub(super) is_bounded: Cell<bool>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        computation: &'a Computation,
        mut places: Vec<Cpp>,
        mut locals: Locals<'a>,
    ) -> Self {
        let mut inner = HashMap::new();
        whole_expressions(computation).into_iter().for_each(|whole| name_walks(whole, 0, &mut inner));
        let mut shared = HashMap::new();
        for (index, variable) in computation.variables.iter().enumerate().skip(places.len()) {
            let name = match inner.get(&VariableId::new(index)) {
                Some(depth) => {
                    let one = shared.entry((&variable.name, *depth));
                    one.or_insert_with(|| locals.claim(&variable.name)).clone()
                }
                None => locals.claim(&variable.name),
            };
            places.push(Cpp::name(name));
        }
        let list = locals.claim("elements");
        let (moving, throws, is_bounded) = (vec![], false, Cell::new(false));
        Self { context, computation, places, list, moving, throws, is_bounded }
    }

    /// Whether the code names a variable at all.
    pub(super) fn names(&self, variable: VariableId) -> bool {
        self.reads(variable) || sets(&self.computation.block, variable)
    }

    fn reads(&self, variable: VariableId) -> bool {
        let changes =
            |statement: &Statement| matches!(statement, Statement::Put { variable: put, .. } if *put == variable);
        any_statement(&self.computation.block, &changes) || self.computation.any(&mut is_variable(variable))
    }

    pub(super) fn place(&self, variable: VariableId) -> Cpp {
        self.places.get(variable.index()).cloned().unwrap_or(Cpp::name(0))
    }

    /// The statements, but for the last `return`.
    pub(super) fn body(&self) -> Vec<CppStatement> {
        let mut out = vec![];
        for (at, statement) in self.computation.block.iter().enumerate() {
            self.statement(statement, self.moving.contains(&at), &mut out);
        }
        out
    }

    /// The recursion is as deep as blocks are in each other.
    pub(super) fn block(&self, block: &[Statement]) -> Vec<CppStatement> {
        let mut out = vec![];
        block.iter().for_each(|statement| self.statement(statement, false, &mut out));
        out
    }

    fn statement(&self, statement: &Statement, moves: bool, out: &mut Vec<CppStatement>) {
        deep(|| match statement {
            Statement::Set { variable, is_new: true, value } => {
                let changes = sets_again(&self.computation.block, *variable);
                let mut declarator = self.declare(*variable, changes);
                if !changes && self.stays(value) {
                    declarator.ty.push_str(" &");
                }
                out.push(CppStatement::Variable(declarator, Initial::Value(self.value(value))));
            }
            Statement::Set { variable, value, .. } => self.assign(*variable, value, moves, out),
            Statement::If(condition, then, otherwise) => {
                out.push(CppStatement::If(self.value(condition), self.block(then), self.block(otherwise)));
            }
            Statement::For(walk, block) => self.for_each(walk, block, out),
            Statement::Take { variables, node, arguments, .. } => {
                let call = self.apply(Callable::Node(*node), arguments);
                let declarator = match variables.as_slice() {
                    [one] => self.declare(*one, sets_again(&self.computation.block, *one)),
                    _ => self.declare_all(variables),
                };
                out.push(CppStatement::Variable(declarator, Initial::Value(call)));
            }
            Statement::Put { variable, key, value } => {
                let arguments = vec![self.place(*variable), self.value(key), self.value(value)];
                out.push(CppStatement::Run(Cpp::name(contract::COMPUTE_PUT.spelling).call(arguments)));
            }
            Statement::Fail(code) if self.throws => {
                let fail = Cpp::name(contract::COMPUTE_FAIL.spelling).call(vec![self.context.code(*code)]);
                out.push(CppStatement::Run(fail));
            }
            Statement::Fail(code) => out.push(CppStatement::Return(self.context.code(*code))),
        })
    }

    /// Whether a value is part of a variable that stays as it is, and is not copied to be named: a record or a message.
    fn stays(&self, value: &Expression) -> bool {
        let block = &self.computation.block;
        let changes = |root| sets_again(block, root) || handed_on(self.computation).iter().any(|(one, _)| *one == root);
        let takes = || any_statement(block, &|statement| matches!(statement, Statement::Take { .. }));
        let is_large = matches!(value.ty.kind(), TypeKind::Record(_) | TypeKind::Message(_));
        is_large && part_of(value).is_some_and(|root| !changes(root)) && !takes()
    }

    /// `const auto [name, rest]`
    fn declare_all(&self, variables: &[VariableId]) -> Declarator {
        let changes = variables.iter().any(|variable| sets_again(&self.computation.block, *variable));
        let unused = variables.iter().any(|variable| !self.reads(*variable));
        let names: Vec<_> = variables.iter().map(|variable| self.declare(*variable, false).name).collect();
        let unused = if unused { "[[maybe_unused]] " } else { "" };
        let ty = if changes { "auto" } else { "const auto" };
        Declarator::new(format!("{unused}{ty}"), format!("[{}]", names.join(", ")))
    }

    /// `const uint64_t sum`
    fn declare(&self, variable: VariableId, changes: bool) -> Declarator {
        let ty = self.computation.variable(variable).map_or(String::new(), |variable| variable.ty.cpp().to_owned());
        let name = match self.place(variable) {
            Cpp::Name(name) => name,
            _ => String::new(),
        };
        let unused = if self.reads(variable) { "" } else { "[[maybe_unused]] " };
        let constant = if changes || ty.ends_with('*') { "" } else { "const " };
        Declarator::new(format!("{unused}{constant}{ty}"), name)
    }

    fn assign(&self, variable: VariableId, value: &Expression, moves: bool, out: &mut Vec<CppStatement>) {
        let to = self.place(variable);
        if value.ty.is_array() {
            let copy = Cpp::name(contract::COPY.spelling).call(vec![to, self.value(value)]);
            return out.push(CppStatement::Run(copy));
        }
        let added = added_to(variable, value);
        if !added.is_empty() {
            return added.into_iter().for_each(|more| self.append(&to, more, out));
        }
        let value = match moves {
            true => Cpp::name("std::move").call(vec![self.value(value)]),
            // Of the assignment of a literal g++ 12 warns where it inlines it (GCC bug 105329).
            false if matches!(value.term, Term::Text(_)) && !value.ty.is_dynamic() => {
                Cpp::name(value.ty.cpp()).call(vec![self.value(value)])
            }
            // What is assigned to a text may be a part of a message.
            false if is_sequence_of_bytes(&value.ty) => self.look(value),
            false => self.value(value),
        };
        out.push(CppStatement::Assign(to, value));
    }

    /// `to += more;`
    fn append(&self, to: &Cpp, more: &Expression, out: &mut Vec<CppStatement>) {
        let run = |symbol: contract::Symbol, more: Cpp| {
            CppStatement::Run(Cpp::name(symbol.spelling).call(vec![to.clone(), more]))
        };
        match &more.term {
            Term::List(elements) => {
                out.extend(elements.iter().map(|one| run(contract::COMPUTE_APPEND_ONE, self.value(one))));
            }
            _ if matches!(more.ty.kind(), TypeKind::List(_)) || self.is_bounded.get() => {
                let is_text = is_sequence_of_bytes(&more.ty);
                out.push(run(contract::COMPUTE_APPEND, if is_text { self.look(more) } else { self.value(more) }));
            }
            _ => out.push(CppStatement::Run(Cpp::Infix(Deep::new(to.clone()), "+=", Deep::new(self.look(more))))),
        }
    }

    fn for_each(&self, walk: &Walk, block: &[Statement], out: &mut Vec<CppStatement>) {
        let element = self.element(walk);
        let before = self.is_bounded.replace(true);
        let body = self.block(block);
        self.is_bounded.set(before);
        let takes = any_statement(block, &|statement| matches!(statement, Statement::Take { .. }));
        let is_quick = !takes && !has_loop(block) && !any_expression(block, &mut takes_time);
        let root = root_of(&walk.over);
        if root.is_some_and(|root| !sets(block, root)) {
            return out.push(CppStatement::For(element, in_turns(self.value(&walk.over), is_quick), body));
        }
        // It is looked at while it stays as it is: the list of a message that stays, and else a copy.
        let stays = source_of(&walk.over).is_some_and(|source| !sets(block, source));
        let (ty, elements) = match stays && is_part(&walk.over) {
            true => ("auto", self.look(&walk.over)),
            false => (walk.over.ty.cpp(), self.value(&walk.over)),
        };
        let inner = vec![
            CppStatement::Variable(Declarator::constant(ty, &self.list), Initial::Value(elements)),
            CppStatement::For(element, in_turns(Cpp::name(&self.list), is_quick), body),
        ];
        out.push(CppStatement::Scope(inner));
    }

    /// `const hit &h`, or `const auto &[key, value]`
    fn element(&self, walk: &Walk) -> Declarator {
        if let Some(value) = walk.value {
            let Declarator { ty, name, .. } = self.declare_all(&[walk.element, value]);
            return Declarator::new(format!("{ty} &"), name);
        }
        let Declarator { ty, name, .. } = self.declare(walk.element, false);
        let is_scalar = self.computation.variable(walk.element).is_some_and(|element| element.ty.is_scalar());
        Declarator::new(if is_scalar { ty } else { format!("{ty} &") }, name)
    }

    /// What the last statement gives `output`, with the statements before it, where nothing else is done with that.
    pub(super) fn last_value(&self, output: VariableId) -> Option<(&'a [Statement], &'a Expression)> {
        let (last, before) = self.computation.block.split_last()?;
        match last {
            Statement::Set { variable, is_new: false, value } if *variable == output => {
                let is_named = sets(before, output) || self.reads(output);
                (!is_named).then_some((before, value))
            }
            _ => None,
        }
    }
}

/// The inputs that a body hands on as they are and so has for its own, each with the place of the statement that does
/// it. These are the last statements, after which nothing fails: who handles a failure finds all inputs as they were.
pub(super) fn handed_on(computation: &Computation) -> Vec<(VariableId, usize)> {
    let mut handed_on = vec![];
    for (at, statement) in computation.block.iter().enumerate().rev() {
        let Statement::Set { is_new: false, value: Expression { term: Term::Variable(from), ty, .. }, .. } = statement
        else {
            break;
        };
        if ty.is_array() || !ty.is_scalar() {
            let later = computation.block.get(at + 1..).unwrap_or_default();
            // What is read again is copied, for which memory may lack.
            if ty.is_array() || any_expression(later, &mut is_variable(*from)) {
                break;
            }
            handed_on.push((*from, at));
        }
    }
    handed_on
}

/// What a loop goes through; `is_quick` where little is done with each element.
pub(super) fn in_turns(elements: Cpp, is_quick: bool) -> Cpp {
    let name = contract::COMPUTE_IN_TURNS.spelling;
    let function = match is_quick {
        true => Cpp::name(name),
        false => Cpp::Instance(name.to_owned(), vec![Cpp::name(1)]),
    };
    function.call(vec![elements])
}

/// Whether `block` has a loop.
pub(super) fn has_loop(block: &[Statement]) -> bool {
    any_statement(block, &|statement| matches!(statement, Statement::For(..)))
}

fn any_statement(block: &[Statement], is_one: &dyn Fn(&Statement) -> bool) -> bool {
    deep(|| {
        block.iter().any(|statement| {
            is_one(statement) || statement.parts().1.into_iter().any(|block| any_statement(block, is_one))
        })
    })
}

fn is_variable(variable: VariableId) -> impl FnMut(&Expression) -> bool {
    move |expression| expression.term == Term::Variable(variable)
}

/// The expressions of a body that are in no other.
fn whole_expressions(computation: &Computation) -> Vec<&Expression> {
    let mut found: Vec<&Expression> = computation.says.iter().collect();
    let mut open: Vec<&Statement> = computation.block.iter().collect();
    while let Some(statement) = open.pop() {
        let (own, blocks) = statement.parts();
        found.extend(own);
        open.extend(blocks.into_iter().flatten());
    }
    found
}

/// In how many other comprehensions the variables of those in `expression` are, which is in `depth`: variables of one
/// name can share a name in C++ where none is in the scope of the other.
fn name_walks(expression: &Expression, depth: usize, found: &mut HashMap<VariableId, usize>) {
    deep(|| {
        let Term::Comprehension(_, it) = &expression.term else {
            return expression.parts().into_iter().for_each(|part| name_walks(part, depth, found));
        };
        name_walks(&it.walk.over, depth, found);
        for variable in std::iter::once(it.walk.element).chain(it.walk.value) {
            let known = found.entry(variable).or_insert(depth);
            *known = depth.max(*known);
        }
        [&it.value].into_iter().chain(&it.condition).for_each(|part| name_walks(part, depth + 1, found));
    })
}

/// The variable that a value is, or is a field of, or that is a `value` which is the list: a field of a message is made
/// where it is asked for.
pub(super) fn root_of(expression: &Expression) -> Option<VariableId> {
    deep(|| match &expression.term {
        Term::Field(of, _) if is_message(&of.ty) => None,
        Term::Variable(variable) => Some(*variable),
        Term::Field(of, _) => root_of(of),
        Term::Convert(of) if of.ty.is_dynamic() && !expression.ty.is_scalar() => root_of(of),
        _ => None,
    })
}

/// The variable that a value is, or in whose memory it is.
fn part_of(expression: &Expression) -> Option<VariableId> {
    deep(|| match &expression.term {
        Term::Field(of, _) if is_message(&of.ty) => None,
        Term::Variable(variable) => Some(*variable),
        Term::Field(of, _) => part_of(of),
        Term::Call(Function::Value, of) => of.first().and_then(part_of),
        _ => None,
    })
}

/// The variable that a value is a part of.
fn source_of(expression: &Expression) -> Option<VariableId> {
    deep(|| match &expression.term {
        Term::Variable(variable) => Some(*variable),
        Term::Field(of, _) => source_of(of),
        _ => None,
    })
}

/// Whether a variable that `let` makes is given another value later.
fn sets_again(block: &[Statement], variable: VariableId) -> bool {
    deep(|| {
        block.iter().any(|statement| match statement {
            Statement::Set { variable: set, is_new, .. } => !is_new && *set == variable,
            Statement::Put { variable: set, .. } => *set == variable,
            other => other.parts().1.into_iter().any(|block| sets_again(block, variable)),
        })
    })
}

/// What is added to the end of a text or a list, one after the other, where `value` is no more than that; none where it
/// reads the variable again.
fn added_to(variable: VariableId, value: &Expression) -> Vec<&Expression> {
    let is_sequence = matches!(value.ty.kind(), TypeKind::Text | TypeKind::Bytes | TypeKind::List(_));
    let (mut added, mut left) = (vec![], value);
    while let (true, Term::Binary(Operator::Add, two)) = (is_sequence, &left.term) {
        let [first, more] = &**two;
        added.push(more);
        left = first;
    }
    let mut is_it = |expression: &Expression| expression.term == Term::Variable(variable);
    if !is_it(left) || added.iter().any(|more| more.any(&mut is_it)) {
        return vec![];
    }
    added.reverse();
    added
}
