//! Checks what keys are made of: those of constraints, and those of maps. Requires: every signature is known.
//! Establishes: no key is of a type of the language whose values cannot be such keys. Of C++ types the C++ compiler is
//! asked.

use crate::analyses::fit::show_one;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::compute::Computation;
use flux_ir::program::{Body, Parameter, Program, Requirement, TypeBody};
use flux_ir::types::{Type, TypeKind, can_be_key, is_ordered, key_parts, record_fields, unordered_map};
use flux_source::Span;
use std::collections::HashSet;

/// A key is made of at most so many values: each is an argument in the generated code, and is read for each flow.
const MOST_PARTS: u64 = 256;

/// Reports keys that cannot be keys, each input once. O(requirements · fields).
pub fn check_keys(program: &Program, diagnostics: &mut Diagnostics) {
    let mut reported = HashSet::new();
    for (_, node) in program.nodes.iter() {
        for requirement in &node.requirements {
            let inputs = || requirement.key.iter().filter_map(|index| node.inputs().get(*index));
            let parts = inputs().map(|input| key_parts(program, &input.ty)).fold(0, u64::saturating_add);
            if parts > MOST_PARTS {
                diagnostics.push(describe_size(program, requirement, parts));
            }
            for input in inputs() {
                if !can_be_key(program, &input.ty) && reported.insert(input.span) {
                    diagnostics.push(describe(program, requirement, input));
                }
            }
        }
    }
    check_maps(program, diagnostics);
}

/// Reports maps whose keys have no order, one in each list of parameters and each body. O(size of the program).
fn check_maps(program: &Program, diagnostics: &mut Diagnostics) {
    let mut report = |found: Option<(Type, Span)>| {
        let map = found.as_ref().and_then(|(ty, span)| Some((unordered_map(program, ty)?, *span)));
        map.into_iter().for_each(|(map, span)| diagnostics.push(describe_map(program, map, span)));
    };
    let is_wrong = |ty: &Type| unordered_map(program, ty).is_some();
    let first = |parameters: &[Parameter]| {
        let found = parameters.iter().find(|one| is_wrong(&one.ty));
        found.map(|one| (one.ty.clone(), one.span))
    };
    for (_, declared) in program.types.iter() {
        if let TypeBody::Record(fields) = &declared.body {
            report(first(fields));
        }
    }
    let in_body = |computation: &Computation| {
        let mut found = None;
        computation.any(&mut |expression| {
            let is_first = is_wrong(&expression.ty);
            found = is_first.then(|| (expression.ty.clone(), expression.span));
            is_first
        });
        found
    };
    for (_, node) in program.nodes.iter() {
        let declared = first(node.inputs()).or_else(|| first(node.outputs()));
        let body = || if let Body::Computed(computation) = &node.body { in_body(computation) } else { None };
        report(declared.or_else(body));
    }
    for (_, predicate) in program.predicates.iter() {
        let Some(computed) = predicate.computed() else { continue };
        report(first(std::slice::from_ref(&computed.input)).or_else(|| in_body(&computed.computation)));
    }
}

fn describe_map(program: &Program, map: &Type, span: Span) -> Diagnostic {
    let key = match map.kind() {
        TypeKind::Map(key, _) if !is_ordered(program, key) => key,
        _ => map,
    };
    let headline = format!("the keys of `{map}` have no order");
    let error = Diagnostic::error(ids::KEY_TYPE, headline, span).label(format!("`{key}` is no key of a map"));
    error.help("floating-point numbers cannot be keys, nor what has some: use integers, `text`, or a `value`")
}

fn describe(program: &Program, requirement: &Requirement, input: &Parameter) -> Diagnostic {
    let constraint = &program.constraints[requirement.constraint].name;
    let (way, culprit) = culprit(program, input);
    let headline = match way == input.name {
        true => format!("`{constraint}` is keyed by `{}`, whose values cannot be keys", show_one(input)),
        false => format!("`{constraint}` is keyed by `{}`, and `{way}` cannot be part of a key", show_one(input)),
    };
    let error = Diagnostic::error(ids::KEY_TYPE, headline, requirement.span);
    let help =
        "keys are integers, `bool`, enumerators, `text`, `bytes`, values of the type `value`, and records of these";
    error.mark(culprit.span, format!("{:#}", culprit.ty)).help(help)
}

fn describe_size(program: &Program, requirement: &Requirement, parts: u64) -> Diagnostic {
    let constraint = &program.constraints[requirement.constraint].name;
    let headline = format!("the key of `{constraint}` has more than {MOST_PARTS} values");
    let error = Diagnostic::error(ids::KEY_TYPE, headline, requirement.span);
    let label = if parts == u64::MAX { String::new() } else { format!("with all fields of its records {parts}") };
    error.label(label).help("use the fields as a key that tell two values apart, not the whole record")
}

/// What of an input cannot be in a key: the way to it, `h.weight`, and itself.
fn culprit<'a>(program: &'a Program, input: &'a Parameter) -> (String, &'a Parameter) {
    let (mut way, mut at) = (input.name.clone(), input);
    while let TypeKind::Record(id) = at.ty.kind() {
        let fields = record_fields(program, *id);
        let Some(field) = fields.iter().find(|field| !can_be_key(program, &field.ty)) else { break };
        way = format!("{way}.{}", field.name);
        at = field;
    }
    (way, at)
}
