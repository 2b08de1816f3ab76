//! Which values of a flow can become part of a key. Only these are distinguished; all others are treated as one.

use flux_ir::flow::{Flow, Function, Operand, StepId};
use std::collections::HashSet;

/// The values that matter in one function.
#[derive(Default)]
pub struct Relevant {
    /// Its inputs, by position.
    pub inputs: HashSet<usize>,
    /// Outputs of its steps.
    pub outputs: HashSet<(StepId, usize)>,
}

/// The values that matter, for each function in order. O(size of the flow).
pub fn relevant(flow: &Flow) -> Vec<Relevant> {
    let mut found: Vec<Relevant> = vec![];
    for (_, function) in flow.functions.iter() {
        let relevant = of_function(flow, function, &found);
        found.push(relevant);
    }
    found
}

fn of_function(flow: &Flow, function: &Function, callees: &[Relevant]) -> Relevant {
    let steps = function.body.all_steps();
    let mut relevant = Relevant::default();
    for step in &steps {
        let required =
            flow.callee_node(&step.callee).into_iter().flat_map(|node| &flow.program.nodes[node].requirements);
        let positions = required.flat_map(|one| one.key.iter().copied());
        let passed = step.callee.functions().into_iter().flat_map(|callee| &callees[callee.index()].inputs).copied();
        let given = positions.chain(passed).filter_map(|at| step.passed(at));
        for operand in step.acquire.iter().flat_map(|one| &one.key).chain(given) {
            match operand {
                Operand::Input(at) => drop(relevant.inputs.insert(*at)),
                Operand::Output(step, at) => drop(relevant.outputs.insert((*step, *at))),
                Operand::Changed(..) | Operand::Error(..) | Operand::Constant(_) => {}
            }
        }
    }
    relevant
}
