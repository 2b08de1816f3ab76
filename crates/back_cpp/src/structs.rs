//! The structs that values travel in: `X_in` and `X_out` for each node X, and for the function X of each branch of a
//! parallel step; left out where they would have no members.

use crate::names::cpp_name;
use crate::tree::Expression;
use flux_ir::flow::{Flow, Function, Role};
use flux_ir::program::{Body, Node, NodeId, Origin, Parameter};

/// Which of the structs of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// What goes in.
    In,
    /// What comes out.
    Out,
}

impl Side {
    /// The struct on this side of what C++ calls `name`.
    pub fn of(self, name: &str) -> String {
        match self {
            Self::In => format!("{name}_in"),
            Self::Out => format!("{name}_out"),
        }
    }
}

/// `ReadRequest_in`, `ReadRequest_out`, and `tcp::Listen_out` of a module
pub fn struct_name(node: &Node, side: Side) -> String {
    side.of(&cpp_name(&node.name))
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
pub fn function_structs(flow: &Flow, function: &Function) -> (Option<String>, Option<String>) {
    let of = |node: NodeId, side| node_struct(&flow.program.nodes[node], side);
    let given = |source: usize| match flow.program.sources.get(source)?.origin {
        Origin::Node(ref application) => of(application.node, Side::Out),
        Origin::Timer(_) => None,
    };
    let own = |side: Side, members: &[Parameter]| (!members.is_empty()).then(|| side.of(&function.name));
    match function.role {
        Role::Abstract(node) => (of(node, Side::In), of(node, Side::Out)),
        Role::Branch(_) => (own(Side::In, &function.inputs), own(Side::Out, &function.outputs)),
        Role::Produce(source) => (None, given(source)),
        Role::Run(source) => (given(source), None),
    }
}

/// The type of a member, as C++ is asked about it: `decltype(Move_in::from)`.
pub fn member_type(owner: &str, member: &Parameter) -> Expression {
    Expression::name("decltype").call(vec![Expression::Name(format!("{owner}::{}", member.name))])
}

/// The type of an input of a node: by its member, or by its name, as a computed node may have no struct.
pub fn input_type(node: &Node, input: &Parameter) -> Expression {
    match node.body {
        Body::Computed(_) => Expression::name(input.ty.cpp()),
        _ => member_type(&struct_name(node, Side::In), input),
    }
}
