//! Checks that constraints nest in the one order. Requires: acyclic, resolved. Establishes: whatever a node takes comes
//! after all that is held around it, in every context it runs in, so that no two flows wait for each other.
//!
//! Where it does not, the constraint would have to be taken further out, which this version leaves to the author.

use crate::check_cycles::callees_first;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{ConstraintId, HandlerTarget, NodeId, Program, Requirement, Scope};
use std::collections::{BTreeMap, HashMap};

/// Reports each requirement that takes what is held around it, or what comes before that. O(nodes · constraints).
pub fn check_nesting(program: &Program, diagnostics: &mut Diagnostics) {
    let mut around: HashMap<NodeId, Held> = HashMap::new();
    let handlers = handlers(program);
    for id in callees_first(program).into_iter().rev() {
        let node = &program.nodes[id];
        let outside = around.remove(&id).unwrap_or_default();
        // One message for a node: where one of its constraints is out of place, the others mostly are too.
        let misplaced = node.requirements.iter().find_map(|one| Some((one, conflict(program, one, &outside)?)));
        if let Some((requirement, (held, holder))) = misplaced {
            diagnostics.push(describe(program, id, requirement, held, holder));
        }
        let mut inside = outside;
        for requirement in &node.requirements {
            inside.entry(requirement.constraint).or_insert(id);
        }
        if inside.is_empty() {
            continue;
        }
        for application in node.chains().flat_map(|chain| chain.applications()) {
            // A handler runs where its node ran.
            let mut next = Some(application.node);
            while let Some(child) = next {
                let held = around.entry(child).or_default();
                inside.iter().for_each(|(constraint, holder)| _ = held.entry(*constraint).or_insert(*holder));
                next = handlers.get(&child).copied();
            }
        }
    }
}

/// What is held, and one of the nodes that hold it.
type Held = BTreeMap<ConstraintId, NodeId>;

/// For each node the node that handles its errors.
fn handlers(program: &Program) -> HashMap<NodeId, NodeId> {
    let pairs = program.handlers.iter().filter_map(|handler| match (handler.path.as_slice(), &handler.target) {
        ([Some(failing)], HandlerTarget::Node(target)) => Some((*failing, *target)),
        _ => None,
    });
    pairs.collect()
}

/// The last of what is held, if it is the required constraint or comes after it.
fn conflict(program: &Program, requirement: &Requirement, held: &Held) -> Option<(ConstraintId, NodeId)> {
    let last = held.iter().max_by_key(|(constraint, _)| order(program, **constraint))?;
    let again = held.get_key_value(&requirement.constraint);
    let is_after = order(program, *last.0) >= order(program, requirement.constraint);
    is_after.then(|| again.unwrap_or(last)).map(|(constraint, holder)| (*constraint, *holder))
}

/// The one order: by scope, then by name.
fn order(program: &Program, constraint: ConstraintId) -> (Scope, &str) {
    let constraint = &program.constraints[constraint];
    (constraint.scope, constraint.name.as_str())
}

fn describe(
    program: &Program,
    node: NodeId,
    requirement: &Requirement,
    held: ConstraintId,
    holder: NodeId,
) -> Diagnostic {
    let (node, holder) = (&program.nodes[node], &program.nodes[holder]);
    let (taken, name) = (&program.constraints[requirement.constraint].name, &program.constraints[held].name);
    let headline = if held == requirement.constraint {
        format!("`{}` takes `{taken}`, which `{}` holds around it: this cannot be compiled yet", node.name, holder.name)
    } else {
        format!("`{}` takes `{taken}` while `{}` holds `{name}`: this cannot be compiled yet", node.name, holder.name)
    };
    let mut error = Diagnostic::error(ids::UNSUPPORTED, headline, requirement.span);
    if let Some(mention) = holder.requirements.iter().find(|one| one.constraint == held) {
        error = error.mark(mention.span, format!("held around `{}`", node.name));
    }
    if held == requirement.constraint {
        let (node, holder) = (&node.name, &holder.name);
        return error.help(format!("where `{node}` runs in `{holder}` alone, leave it out of `atomic {node}`"));
    }
    error
        .fact(format!("constraints are taken in one order, by scope and then by name: `{taken}` before `{name}`"))
        .help(format!(
            "let `{0}` take both; where `{1}` runs in `{0}` alone, leave `{taken}` out of `atomic {1}`",
            holder.name, node.name
        ))
}
