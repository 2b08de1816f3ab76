//! What becomes of a record and of an enumerator where a body makes a `value` of one: a specialisation of the runtime's
//! `to_value` for each such type, `template <> inline flux::value to_value(const ::hit &from)`.

use super::{Callable, needed, passed};
use crate::Context;
use crate::tree::{Declaration, Declarator, Expression as Cpp, Function, Statement};
use flux_contract as contract;
use flux_ir::compute::{Computation, Term};
use flux_ir::program::{Body, Program, TypeBody, TypeId};
use flux_ir::types::{Declared, Type, contained_first, contained_in};
use std::collections::BTreeSet;

/// Those of the types that computations make a `value` of, each after those that it contains.
pub fn conversions(context: &Context<'_>) -> Vec<Declaration> {
    let program = &context.flow.program;
    let (applied, used) = needed(context);
    let all = used.into_iter().chain(applied.into_iter().map(Callable::Node));
    let converted = converted(program, all.filter_map(|one| computation(program, one)));
    let ordered = contained_first(&program.types).into_iter().filter(|id| converted.contains(id));
    let mut inner: Vec<Declaration> = ordered
        .flat_map(|id| {
            let comment = Declaration::Comment(context.statement(program.types[id].span));
            [Declaration::Blank, comment, Declaration::Function(function(program, id))]
        })
        .collect();
    if inner.is_empty() {
        return vec![];
    }
    inner.push(Declaration::Blank);
    let namespace = contract::COMPUTE_TO_VALUE.spelling.trim_end_matches("::to_value");
    vec![Declaration::Blank, Declaration::Namespace(namespace.to_owned(), inner)]
}

fn computation(program: &Program, callable: Callable) -> Option<&Computation> {
    match callable {
        Callable::Node(id) => match &program.nodes[id].body {
            Body::Computed(computation) => Some(computation),
            _ => None,
        },
        Callable::Predicate(id) => Some(&program.predicates[id].computed()?.computation),
    }
}

/// The declared types that become a `value`, with all that they contain.
fn converted<'a>(program: &Program, computations: impl Iterator<Item = &'a Computation>) -> BTreeSet<TypeId> {
    let mut open = vec![];
    for computation in computations {
        computation.any(&mut |expression| {
            if let Term::Convert(inner) = &expression.term
                && expression.ty.is_dynamic()
            {
                open.extend(inner.ty.mentioned().into_iter().filter_map(Declared::declaration));
            }
            false
        });
    }
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if found.insert(id) {
            open.extend(contained_in(&program.types, id));
        }
    }
    found
}

fn function(program: &Program, id: TypeId) -> Function {
    let ty = Type::declared(program, program.types[id].is(id));
    let from = || Cpp::name("from");
    let made = match &program.types[id].body {
        TypeBody::Enum(names) => {
            let names = names.iter().map(|name| Cpp::Text(name.clone())).collect();
            Cpp::name(contract::COMPUTE_NAME_OF.spelling).call(vec![from(), Cpp::Braces(names)])
        }
        TypeBody::Record(fields) => {
            let entry = |field: &flux_ir::program::Parameter| {
                let value = Cpp::name(contract::COMPUTE_TO_VALUE.spelling).call(vec![from().member(&field.name)]);
                Cpp::Braces(vec![Cpp::Text(field.name.clone()), value])
            };
            let types = vec![Cpp::name("std::string"), Cpp::name(contract::VALUE.spelling)];
            let map = Cpp::Instance(contract::COMPUTE_MAP.spelling.to_owned(), types);
            map.call(vec![Cpp::Braces(fields.iter().map(entry).collect())])
        }
    };
    Function {
        result: format!("template <> inline {}", contract::VALUE.spelling),
        name: "to_value".to_owned(),
        parameters: vec![Declarator { ty: format!("const ::{} &", ty.cpp()), ..passed(&ty, "from") }],
        body: vec![Statement::Return(made)],
        caught: vec![],
    }
}
