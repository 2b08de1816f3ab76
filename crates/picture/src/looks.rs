//! Which functions look alike: a node may be compiled several times, and people see one.
//!
//! What its callers hold makes no difference in the picture, but its error handlers do: if a node has different
//! handlers on different paths, it is drawn once for each set of them.

use crate::FrameId;
use flux_ir::external::ExternalId;
use flux_ir::flow::{Callee, Flow, Function, FunctionId, Role};
use flux_ir::program::NodeId;
use flux_source::Span;
use std::collections::{HashMap, HashSet};

/// How each abstract node is drawn.
pub struct Looks {
    of: HashMap<FunctionId, Look>,
}

/// How a function is drawn.
#[derive(Clone)]
pub struct Look {
    /// The frame around it.
    pub frame: FrameId,
    /// What it is called: by its node's name, but for those that differ from the first.
    pub name: String,
    /// Where its node is declared.
    pub span: Span,
}

/// What there is to see of a function: the same for functions that look alike.
type Seen = (Role, Vec<Part>);

#[derive(PartialEq, Eq, Hash)]
enum Part {
    Node(NodeId),
    External(ExternalId),
    /// A function that looks so.
    Function(usize),
    /// A failure is handled in so many steps, and the flow continues after them or not.
    Handled(usize, bool),
}

impl Looks {
    /// The looks of the functions of `flow`. O(size of the flow).
    pub fn of(flow: &Flow) -> Self {
        let mut alike: HashMap<Seen, usize> = HashMap::new();
        let mut numbers: HashMap<FunctionId, usize> = HashMap::new();
        let mut frames: HashMap<usize, Look> = HashMap::new();
        let mut framed = HashSet::new();
        let mut of = HashMap::new();
        for (id, function) in flow.functions.iter() {
            let fresh = alike.len();
            let number = *alike.entry(seen(function, &numbers)).or_insert(fresh);
            numbers.insert(id, number);
            if let Role::Abstract(node) = function.role {
                let is_first = framed.insert(node);
                let declared = &flow.program.nodes[node];
                let look = || match is_first {
                    true => Look { frame: FrameId(node.index()), name: declared.name.to_string(), span: declared.span },
                    false => Look {
                        frame: FrameId(flow.program.nodes.len() + number),
                        name: function.name.clone(),
                        span: declared.span,
                    },
                };
                of.insert(id, frames.entry(number).or_insert_with(look).clone());
            }
        }
        Self { of }
    }

    /// How a function is drawn, if it is that of an abstract node.
    pub fn find(&self, function: FunctionId) -> Option<Look> {
        self.of.get(&function).cloned()
    }

    /// How a call is drawn, if it is one of an abstract node.
    pub fn of_callee(&self, callee: &Callee) -> Option<Look> {
        match callee {
            Callee::Function(function) => self.find(*function),
            Callee::Node(_) | Callee::Fork(_) | Callee::Each(_) | Callee::External { .. } => None,
        }
    }
}

/// What there is to see of a function, whose callees have these numbers already.
fn seen(function: &Function, numbers: &HashMap<FunctionId, usize>) -> Seen {
    let part = |id: &FunctionId| Part::Function(numbers.get(id).copied().unwrap_or_default());
    let mut parts = vec![];
    for step in function.body.all_steps() {
        match &step.callee {
            Callee::Node(node) => parts.push(Part::Node(*node)),
            Callee::External { external, .. } => parts.push(Part::External(*external)),
            Callee::Function(function) => parts.push(part(function)),
            Callee::Fork(branches) => parts.extend(branches.iter().map(|branch| part(&branch.function))),
            Callee::Each(each) => parts.push(part(&each.function)),
        }
        parts.push(Part::Handled(step.failure.steps.len(), step.failure.end.rejoins().is_some()));
    }
    (function.role, parts)
}
