//! Checks what the keys of constraints are made of. Requires: every signature is known. Establishes: no key is of a
//! type of the language whose values cannot be keys. Of C++ types the C++ compiler is asked.

use crate::analyses::fit::show_one;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Parameter, Program, Requirement};
use flux_ir::types::{TypeKind, can_be_key, record_fields};
use std::collections::HashSet;

/// Reports keys that cannot be keys, each input once. O(requirements · fields).
pub fn check_keys(program: &Program, diagnostics: &mut Diagnostics) {
    let mut reported = HashSet::new();
    for (_, node) in program.nodes.iter() {
        for requirement in &node.requirements {
            for input in requirement.key.iter().filter_map(|index| node.inputs().get(*index)) {
                if !can_be_key(program, &input.ty) && reported.insert(input.span) {
                    diagnostics.push(describe(program, requirement, input));
                }
            }
        }
    }
}

fn describe(program: &Program, requirement: &Requirement, input: &Parameter) -> Diagnostic {
    let constraint = &program.constraints[requirement.constraint].name;
    let (way, culprit) = culprit(program, input);
    let headline = match way == input.name {
        true => format!("`{constraint}` is keyed by `{}`, whose values cannot be keys", show_one(input)),
        false => format!("`{constraint}` is keyed by `{}`, and `{way}` cannot be part of a key", show_one(input)),
    };
    let error = Diagnostic::error(ids::KEY_TYPE, headline, requirement.span);
    let help = "keys are integers, `bool`, enumerators, `text`, `bytes`, and records of these";
    error.mark(culprit.span, format!("{:#}", culprit.ty)).help(help)
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
