//! Goes through all states that can be reached, each once, depth first.

use crate::build::Built;
use crate::state::{Move, Rules, State};
use crate::trace::trace;
use crate::{Bounds, Fault, Verdict};
use std::collections::HashSet;

/// How a state was first reached: from which, and by what.
struct Reached {
    from: usize,
    by: Option<Move>,
}

/// Searches all that the flows of `bounds` can do.
pub fn search(built: &Built, bounds: &Bounds) -> Verdict {
    let rules = Rules { graph: &built.graph, bounds };
    let starts: Vec<_> = bounds.flows.iter().filter_map(|source| built.entries.get(*source).copied()).collect();
    let initial = rules.initial(&starts);
    let mut reached = vec![Reached { from: 0, by: None }];
    let mut seen = HashSet::from([initial.canonical(&bounds.flows)]);
    let mut open = vec![(initial.clone(), 0)];
    while let Some((state, at)) = open.pop() {
        let moves = rules.moves(&state);
        if let Some(fault) = fault(&rules, &state, &moves) {
            return Verdict::Faulty(fault, trace(built, &rules, initial, &path(&reached, at)));
        }
        for step in moves {
            let next = rules.after(&state, step);
            if seen.insert(next.canonical(&bounds.flows)) {
                if seen.len() > bounds.states {
                    return Verdict::Unfinished;
                }
                reached.push(Reached { from: at, by: Some(step) });
                open.push((next, reached.len() - 1));
            }
        }
    }
    Verdict::Sound { states: seen.len() }
}

/// What is wrong with a state.
fn fault(rules: &Rules, state: &State, moves: &[Move]) -> Option<Fault> {
    if rules.lost_exclusion(state).is_some() {
        return Some(Fault::LostExclusion);
    }
    if !state.left_held.is_empty() {
        return Some(Fault::LeftHeld);
    }
    if state.starved_writer().is_some() {
        return Some(Fault::StarvedWriter);
    }
    (moves.is_empty() && !state.is_over()).then_some(Fault::Deadlock)
}

/// What happened up to a state.
fn path(reached: &[Reached], mut at: usize) -> Vec<Move> {
    let mut path = vec![];
    while let Some(step) = reached[at].by {
        path.push(step);
        at = reached[at].from;
    }
    path.reverse();
    path
}
