//! Numbers the paths of a flow. Requires: a flow. Establishes: every offset and radix, as [`flux_ir::paths`] says.

use flux_diagnostic::Diagnostics;
use flux_ir::flow::Flow;
use flux_ir::paths;

/// Fills in the path numbers. O(size of the flow).
pub fn number_paths(flow: &mut Flow, _: &mut Diagnostics) {
    paths::number(flow);
}
