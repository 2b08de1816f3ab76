//! What must hold of the types that a program declares, and of those that it names: fields are of types of the
//! language, named once each, and no record contains itself; a type that is declared is one that there is.

use super::Violations;
use crate::program::{Parameter, Program, TypeBody, TypeDeclaration, TypeId};
use crate::types::{Declared, contained_in};
use std::collections::HashSet;

/// What must hold of all types, in any program. O(size of the program).
pub(super) fn check(program: &Program, violations: &mut Violations) {
    for (_, declared) in program.types.iter() {
        check_declaration(program, declared, violations);
    }
    for (_, node) in program.nodes.iter() {
        for parameter in node.inputs().iter().chain(node.outputs()) {
            check_named(program, parameter, violations);
        }
    }
    if violations.is_empty() {
        check_finite(program, violations);
    }
}

fn check_declaration(program: &Program, declared: &TypeDeclaration, violations: &mut Violations) {
    let mut seen = HashSet::new();
    let (names, what): (Vec<&String>, _) = match &declared.body {
        TypeBody::Record(fields) => (fields.iter().map(|field| &field.name).collect(), "fields"),
        TypeBody::Enum(values) => (values.iter().collect(), "values"),
    };
    violations.require(!names.is_empty(), declared.span, || format!("the type `{}` has no {what}", declared.name));
    for name in names {
        violations.require(seen.insert(name), declared.span, || {
            format!("`{}` has two {what} that are called `{name}`", declared.name)
        });
    }
    if let TypeBody::Record(fields) = &declared.body {
        for field in fields {
            violations.require(field.ty.is_own(), field.span, || {
                format!("the field `{}` of `{}` is of a type of C++", field.name, declared.name)
            });
            check_named(program, field, violations);
        }
    }
}

/// The declared types that a parameter or a field names are there.
fn check_named(program: &Program, parameter: &Parameter, violations: &mut Violations) {
    let is_known = |declared: &Declared| match declared {
        Declared::Record(id) | Declared::Enum(id) => program.types.find(*id).is_some(),
        Declared::Message(id) => program.messages.find(*id).is_some(),
    };
    let known = parameter.ty.mentioned().iter().all(is_known);
    violations.require(known, parameter.span, || format!("`{}` is of a type that there is not", parameter.name));
}

/// No record contains itself.
fn check_finite(program: &Program, violations: &mut Violations) {
    // Depth first, with a mark on what is open: a way back to an open one is a circle.
    let mut done = HashSet::new();
    for (root, _) in program.types.iter() {
        let mut open: Vec<(TypeId, Vec<TypeId>)> = vec![(root, contained_in(&program.types, root))];
        let mut on_way = HashSet::from([root]);
        while let Some((id, rest)) = open.last_mut() {
            let id = *id;
            match rest.pop() {
                Some(inner) if on_way.contains(&inner) => {
                    let declared = &program.types[inner];
                    return violations.add(declared.span, format!("the record `{}` contains itself", declared.name));
                }
                Some(inner) if !done.contains(&inner) => {
                    on_way.insert(inner);
                    open.push((inner, contained_in(&program.types, inner)));
                }
                Some(_) => {}
                None => {
                    done.insert(id);
                    on_way.remove(&id);
                    open.pop();
                }
            }
        }
    }
}
