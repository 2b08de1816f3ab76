//! Constraints of a session are held only where there is a session: in the flows of a source that has a session
//! function, after that was called.
//!
//! The session function is the first step of the function that runs a source's flows. So nothing that the producing
//! side of the source calls may acquire such a constraint, nor may anything that runs without that step.

use super::Violations;
use crate::external::ExternalRole;
use crate::flow::{Callee, Flow, Function, FunctionId, Step};
use crate::program::{ConstraintId, Scope};
use std::collections::HashMap;

/// What must hold of the entries of a well-formed flow. O(size of the flow).
pub(super) fn check(flow: &Flow, violations: &mut Violations) {
    let is_session = |constraint: &ConstraintId| flow.program.constraints[*constraint].scope == Scope::Session;
    // A constraint of a session that a function acquires, or one that it calls: callees come first.
    let mut acquired: HashMap<FunctionId, ConstraintId> = HashMap::new();
    let by_step = |step: &Step, acquired: &HashMap<FunctionId, ConstraintId>| {
        let own = step.acquire.iter().map(|one| one.constraint).find(is_session);
        own.or_else(|| step.callee.functions().iter().find_map(|callee| acquired.get(callee).copied()))
    };
    for (id, function) in flow.functions.iter() {
        let first = function.body.all_steps().into_iter().find_map(|step| by_step(step, &acquired));
        acquired.extend(first.map(|first| (id, first)));
    }
    let is_asked = |step: &Step| match step.callee {
        Callee::External { external, .. } => flow.program.externals[external].role == ExternalRole::Session,
        _ => false,
    };
    let has_session = |function: &Function| function.body.steps.first().is_some_and(is_asked);
    for entry in &flow.entries {
        let run = Some(entry.run).filter(|run| !has_session(&flow.functions[*run]));
        for id in entry.produce.into_iter().chain(run) {
            let (function, constraint) = (&flow.functions[id], acquired.get(&id));
            let name = constraint.map_or(String::new(), |one| flow.program.constraints[*one].name.to_string());
            violations.require(constraint.is_none(), function.span, || {
                format!("function `{}`: `{name}` is taken where there is no session", function.name)
            });
        }
    }
}
