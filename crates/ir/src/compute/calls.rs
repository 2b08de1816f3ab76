//! Which bodies call which.

use super::{Callable, Computation, Expression, Statement, Term};
use crate::program::{Body, Program};
use flux_source::{Span, deep};
use std::collections::{BTreeMap, BTreeSet};

/// A call in a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// What is called.
    pub callee: Callable,
    /// Where.
    pub span: Span,
}

/// The computed nodes, then the computed predicates, each with the calls in its body. O(size of the bodies).
pub fn calls_of(program: &Program) -> Vec<(Callable, Vec<Call>)> {
    let nodes = program.nodes.iter().filter_map(|(id, node)| match &node.body {
        Body::Computed(computation) => Some((Callable::Node(id), computation)),
        _ => None,
    });
    let predicates = program.predicates.iter().filter_map(|(id, predicate)| {
        predicate.computed().map(|computed| (Callable::Predicate(id), &computed.computation))
    });
    nodes.chain(predicates).map(|(caller, computation)| (caller, calls_in(computation))).collect()
}

fn calls_in(computation: &Computation) -> Vec<Call> {
    let mut calls = vec![];
    taken(&computation.block, &mut calls);
    computation.any(&mut |Expression { term, span, .. }| {
        if let Term::Apply(callee, _) = term {
            calls.push(Call { callee: *callee, span: *span });
        }
        false
    });
    calls
}

/// The calls whose values have names. The recursion is as deep as blocks are in each other.
fn taken(block: &[Statement], calls: &mut Vec<Call>) {
    deep(|| {
        for statement in block {
            if let Statement::Take { node, span, .. } = statement {
                calls.push(Call { callee: Callable::Node(*node), span: *span });
            }
            statement.parts().1.into_iter().for_each(|block| taken(block, calls));
        }
    })
}

/// The computed predicates and nodes, each after all that it calls; of several that could come, predicates before nodes
/// and those declared first. One that calls itself is left out, and what calls it. O(calls · log).
pub fn callees_first(program: &Program) -> Vec<Callable> {
    let mut missing: BTreeMap<Callable, usize> = BTreeMap::new();
    let mut callers: BTreeMap<Callable, Vec<Callable>> = BTreeMap::new();
    let all = calls_of(program);
    let has_body: BTreeSet<Callable> = all.iter().map(|(caller, _)| *caller).collect();
    for (caller, calls) in &all {
        let called: BTreeSet<_> =
            calls.iter().map(|call| call.callee).filter(|callee| has_body.contains(callee)).collect();
        missing.insert(*caller, called.len());
        called.into_iter().for_each(|callee| callers.entry(callee).or_default().push(*caller));
    }
    let mut ready: BTreeSet<Callable> = has_body.into_iter().filter(|one| missing.get(one) == Some(&0)).collect();
    let mut ordered = vec![];
    while let Some(next) = ready.pop_first() {
        ordered.push(next);
        for caller in callers.remove(&next).unwrap_or_default() {
            let count = missing.entry(caller).or_default();
            *count -= 1;
            if *count == 0 {
                ready.insert(caller);
            }
        }
    }
    ordered
}
