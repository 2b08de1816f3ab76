//! The structs that values travel in: `X_in` and `X_out` for each node X, left out where they would have no members.

use flux_ir::flow::{Flow, Role};
use flux_ir::program::{Node, NodeId, Origin, Parameter};

/// Which of the structs of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// What goes in.
    In,
    /// What comes out.
    Out,
}

/// `ReadRequest_in`, `ReadRequest_out`
pub fn struct_name(node: &Node, side: Side) -> String {
    let suffix = match side {
        Side::In => "in",
        Side::Out => "out",
    };
    format!("{}_{suffix}", node.name)
}

/// What the struct holds.
pub fn members(node: &Node, side: Side) -> &[Parameter] {
    match side {
        Side::In => node.inputs(),
        Side::Out => node.outputs(),
    }
}

/// The struct's name, where there is one.
pub fn node_struct(node: &Node, side: Side) -> Option<String> {
    (!members(node, side).is_empty()).then(|| struct_name(node, side))
}

/// The structs of the inputs and the outputs of a generated function. A source's flow starts with what its node gives.
pub fn function_structs(flow: &Flow, role: Role) -> (Option<String>, Option<String>) {
    let of = |node: NodeId, side| node_struct(&flow.program.nodes[node], side);
    let given = |source: usize| match flow.program.sources.get(source)?.origin {
        Origin::Node(ref application) => of(application.node, Side::Out),
        Origin::Timer(_) => None,
    };
    match role {
        Role::Abstract(node) | Role::Branch(node) => (of(node, Side::In), of(node, Side::Out)),
        Role::Produce(source) => (None, given(source)),
        Role::Run(source) => (given(source), None),
    }
}
