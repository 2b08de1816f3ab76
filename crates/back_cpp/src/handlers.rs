//! The error handlers that are plain functions: `void H(X_in *in, int error)`.

use flux_ir::flow::{Callee, Flow};
use flux_ir::name::Name;
use flux_ir::program::NodeId;
use flux_source::Span;

/// A handler of the failures of one node.
pub struct PlainHandler {
    /// The C++ function.
    pub function: Name,
    /// The node that fails, whose inputs it takes.
    pub node: NodeId,
    /// The statement that binds them.
    pub span: Span,
}

/// Every pair of such a function and a node once, in the order of the statements.
pub fn plain_handlers(flow: &Flow) -> Vec<PlainHandler> {
    let steps = flow.functions.iter().flat_map(|(_, function)| function.body.all_steps());
    let mut found: Vec<_> = steps
        .filter_map(|step| match &step.callee {
            Callee::Handler { function, node } => {
                Some(PlainHandler { function: function.clone(), node: *node, span: step.span })
            }
            _ => None,
        })
        .collect();
    found.sort_by(|left, right| (left.span, &left.function, left.node).cmp(&(right.span, &right.function, right.node)));
    found.dedup_by(|later, earlier| later.function == earlier.function && later.node == earlier.node);
    found
}
