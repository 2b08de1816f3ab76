//! What must hold of the functions in C and C++: a reference to one fits what the function is for, a name and a role
//! determine one function, the function of a node belongs to that node alone, and promises do not contradict each
//! other.

use super::Violations;
use crate::effects::Effects;
use crate::external::{ExternalId, ExternalRole, Language};
use crate::program::{Body, NodeId, Program};
use flux_source::Span;
use std::collections::HashSet;

/// What must hold in any program. O(size of the program).
pub(super) fn check(program: &Program, violations: &mut Violations) {
    let mut names = HashSet::new();
    for (_, external) in program.externals.iter() {
        let (name, role) = (&external.name, external.role);
        violations.require(names.insert((role, name, &external.types, &external.functions)), Span::default(), || {
            format!("two functions of the role {} are called `{name}`", role.name())
        });
    }
    for (_, external) in program.externals.iter() {
        let is_right = external.language == Language::Cpp || !external.name.is_of_module();
        violations.require(is_right, Span::default(), || {
            format!("the function `{}` is of a module, and written in C", external.name)
        });
        let takes_values = external.plain().is_some();
        let is_right = external.types.is_empty() || takes_values && external.role == ExternalRole::Node;
        violations.require(is_right, Span::default(), || {
            format!("the function template `{}` is no node that takes values one by one", external.name)
        });
        let is_computed =
            |node: &NodeId| program.nodes.find(*node).is_some_and(|node| matches!(node.body, Body::Computed(_)));
        let is_right =
            external.functions.iter().all(is_computed) && (external.functions.is_empty() || !external.types.is_empty());
        violations.require(is_right, Span::default(), || {
            format!("`{}` calls what is no computed node, or is no function template", external.name)
        });
        let is_right = !takes_values || external.role != ExternalRole::Handler;
        violations
            .require(is_right, Span::default(), || format!("the handler `{}` takes values one by one", external.name));
    }
    let mut of_nodes = HashSet::new();
    for (_, node) in program.nodes.iter() {
        let Body::External(id) = node.body else { continue };
        named(program, id, ExternalRole::Node, node.span, violations);
        violations.require(of_nodes.insert(id), node.span, || format!("`{}` has the function of another", node.name));
        let is_own =
            program.externals.find(id).is_none_or(|external| external.name == node.name || !external.types.is_empty());
        violations.require(is_own, node.span, || format!("the function of `{}` is called otherwise", node.name));
    }
    for (_, predicate) in program.predicates.iter() {
        if let Some(id) = predicate.external() {
            named(program, id, ExternalRole::Predicate, predicate.span, violations);
        }
    }
    for source in &program.sources {
        if let Some(id) = source.session {
            named(program, id, ExternalRole::Session, source.span, violations);
        }
    }
    for handler in &program.handlers {
        if let Some(id) = handler.target.external() {
            named(program, id, ExternalRole::Handler, handler.span, violations);
        }
    }
    for (id, external) in program.externals.iter().filter(|(_, external)| external.role == ExternalRole::Node) {
        violations.require(of_nodes.contains(&id), Span::default(), || {
            format!("the function `{}` is one of a node, and no node has it", external.name)
        });
    }
}

/// What is named is there, and for this.
fn named(program: &Program, id: ExternalId, role: ExternalRole, span: Span, violations: &mut Violations) {
    match program.externals.find(id) {
        None => violations.add(span, format!("there is no external {id:?}")),
        Some(external) => violations.require(external.role == role, span, || {
            format!("the {} `{}` is named as a {}", external.role.name(), external.name, role.name())
        }),
    }
}

/// A plain function passes all that its node takes and gives. O(size of the program).
pub(super) fn check_typed(program: &Program, violations: &mut Violations) {
    for (_, node) in program.nodes.iter() {
        let Body::External(id) = node.body else { continue };
        let Some(plain) = program.externals[id].plain() else { continue };
        let (inputs, outputs) = (node.inputs().len(), node.outputs().len());
        let passed = if plain.outcome.has_output() { inputs } else { inputs + outputs };
        let fits = plain.passing.len() == passed && (outputs == 1 || !plain.outcome.has_output());
        violations.require(fits, node.span, || format!("the plain function of `{}` passes something else", node.name));
    }
}

/// What is said to be pure neither shares something nor waits for the outside. O(nodes).
pub(super) fn check_promises(program: &Program, violations: &mut Violations) {
    for (_, node) in program.nodes.iter() {
        let Body::External(id) = node.body else { continue };
        let is_free = !node.blocking && node.requirements.is_empty();
        violations.require(is_free || program.externals[id].effects != Effects::Pure, node.span, || {
            format!("`{}` is pure, and shares something or waits", node.name)
        });
    }
}

/// Only a function has a stack for itself. O(nodes).
pub(super) fn check_stacks(program: &Program, violations: &mut Violations) {
    for (_, node) in program.nodes.iter() {
        violations.require(node.stack.is_none() || node.body.is_external(), node.span, || {
            format!("`{}` has a stack for itself, and is no function", node.name)
        });
    }
}
