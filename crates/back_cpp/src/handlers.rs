//! The error handlers that are plain functions: `void H(X_in *in, int error)`.

use flux_ir::external::{ExternalId, ExternalRole};
use flux_ir::flow::{Callee, Flow};
use flux_ir::program::NodeId;
use flux_source::Span;

/// A handler of the failures of one node.
pub struct PlainHandler {
    /// The function.
    pub external: ExternalId,
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
            Callee::External { external, node } => {
                let is_handler = flow.program.externals[*external].role == ExternalRole::Handler;
                is_handler.then_some(PlainHandler { external: *external, node: *node, span: step.span })
            }
            _ => None,
        })
        .collect();
    found.sort_by_key(|one| (one.span, one.external, one.node));
    found.dedup_by(|later, earlier| later.external == earlier.external && later.node == earlier.node);
    found
}
