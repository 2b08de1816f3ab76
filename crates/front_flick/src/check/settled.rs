//! Whether a rule sends all messages of an instance to the same channel of an array.

use super::made::{Fact, MadeRule};
use flux_ir::compute::{Expression, Statement, Term, VariableId, sets};
use std::collections::{BTreeMap, BTreeSet};

impl MadeRule {
    /// The arrays in which the rule may send to several channels in one instance. `block` has the rule's statements.
    pub fn varied(&self, block: &[Statement]) -> BTreeSet<u32> {
        // Which server is least busy is asked for each message.
        let stays = |fact: &Fact| !matches!(fact, Fact::LeastBusy(_));
        let told = self.known.iter().filter(|(fact, _)| stays(fact)).map(|(_, variable)| *variable).collect();
        let first: BTreeMap<u32, &Expression> =
            self.elements.iter().rev().map(|(channel, one)| (*channel, one)).collect();
        let is_first = |channel, one: &Expression| first.get(channel).is_some_and(|first| first.term == one.term);
        let varied = self.elements.iter().filter(|(channel, element)| {
            // One of two constants may be meant, as the branch of an `if` says.
            !is_first(channel, element) || !is_settled(element, block, &told)
        });
        varied.map(|(channel, _)| *channel).collect()
    }
}

/// Whether a value is the same for all messages of an instance: it depends only on constants and on the variables in
/// `told`. Each variable is visited once, even if many values use it.
fn is_settled(value: &Expression, block: &[Statement], told: &BTreeSet<VariableId>) -> bool {
    let mut known = told.clone();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        let is_open = &mut |part: &Expression| match part.term {
            Term::Variable(variable) if known.insert(variable) => match lets(block, variable) {
                Some(value) => {
                    open.push(value);
                    false
                }
                None => true,
            },
            _ => false,
        };
        if value.any(is_open) {
            return false;
        }
    }
    true
}

/// The only value that a variable ever has, if a `let` outside of all nested blocks gives it this value.
fn lets(block: &[Statement], variable: VariableId) -> Option<&Expression> {
    let mut given = block.iter().filter_map(|statement| match statement {
        Statement::Set { variable: set, is_new: true, value } if *set == variable => Some(value),
        _ => None,
    });
    let is_changed = |statement: &Statement| match statement {
        Statement::Set { is_new: true, .. } => false,
        other => sets(std::slice::from_ref(other), variable),
    };
    given.next().filter(|_| !block.iter().any(is_changed))
}
