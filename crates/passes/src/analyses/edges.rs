//! The edges of a program: where values pass from one list of parameters to another.
//!
//! Inference and binding see the same edges through this module. A [`Port`] is one side of a node; what
//! passes along an edge is the ports' lists one after the other, since a parallel step joins its branches' outputs.

use flux_ir::program::{
    Action, Argument, Chain, NamedInput, NodeId, Origin, Parallel, Parameter, Program, Signature, StepNumber,
};
use flux_source::Span;

/// One side of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Port {
    /// Its inputs, without so many leading ones that constants are bound to.
    In(NodeId, usize),
    /// Its outputs.
    Out(NodeId),
}

impl Port {
    /// The node.
    pub fn node(self) -> NodeId {
        match self {
            Self::In(node, _) | Self::Out(node) => node,
        }
    }

    /// This side of `signature`.
    pub fn of(self, signature: &Signature) -> &[Parameter] {
        match self {
            Self::In(_, bound) => signature.inputs.get(bound..).unwrap_or_default(),
            Self::Out(_) => &signature.outputs,
        }
    }
}

/// What an edge is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EdgeKind {
    /// A source starts a flow in its target.
    Start,
    /// An abstract node hands its inputs to the first step of a line.
    Enter,
    /// From step to step.
    Pass,
    /// The last step of a line gives the abstract node's outputs.
    Leave,
}

/// Where the values of an edge go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EdgeEnd {
    /// To the target of the source at this index.
    Start(usize),
    /// To a step of this chain of a node, given by its index among the node's chains.
    Step(NodeId, usize, StepNumber),
    /// To the node's own outputs, from the end of this chain.
    End(NodeId, usize),
}

/// Values pass from the ports `from` to the port `to`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// What it is for.
    pub kind: EdgeKind,
    /// Whence: several where a parallel step joins.
    pub from: Vec<Port>,
    /// Whither.
    pub to: Port,
    /// The step that gives the values; none where they are what the flow begins with.
    pub giver: Option<StepNumber>,
    /// Where they go.
    pub place: EdgeEnd,
    /// Inputs of the port `to` that take other values, by name: these do not pass along the edge.
    pub named: Vec<NamedInput>,
    /// Where the giving side is named.
    pub from_span: Span,
    /// Where the taking side is named; for a source's target and a node's outputs, where that node is declared.
    pub to_span: Span,
}

impl Edge {
    /// The value at `position` in what the ports `from` carry.
    pub fn value(&self, position: usize) -> Argument {
        match self.giver {
            None => Argument::Input(position),
            Some(step) => Argument::Output(step, position),
        }
    }
}

/// Every edge of the program: those of sources, then those of each node's chains, in textual order.
pub fn edges(program: &Program) -> Vec<Edge> {
    let mut found = vec![];
    for (index, source) in program.sources.iter().enumerate() {
        if let Origin::Node(application) = &source.origin {
            found.push(Edge {
                kind: EdgeKind::Start,
                from: vec![Port::Out(application.node)],
                to: Port::In(source.target, 0),
                giver: None,
                place: EdgeEnd::Start(index),
                named: vec![],
                from_span: application.span,
                to_span: program.nodes[source.target].span,
            });
        }
    }
    for (id, node) in program.nodes.iter() {
        for (index, chain) in node.chains().enumerate() {
            let start = At { ports: vec![Port::In(id, 0)], step: None, span: node.span };
            let end = walk(chain, (id, index), start, &mut found);
            found.push(Edge {
                kind: EdgeKind::Leave,
                from: end.ports,
                to: Port::Out(id),
                giver: end.step,
                place: EdgeEnd::End(id, index),
                named: vec![],
                // An empty flow gives what it takes: it is the flow that says so, not the node.
                from_span: if chain.steps.is_empty() { chain.span } else { end.span },
                to_span: node.span,
            });
        }
    }
    found
}

/// How far along a chain we are.
#[derive(Clone)]
struct At {
    ports: Vec<Port>,
    /// The step before; none before the first.
    step: Option<StepNumber>,
    span: Span,
}

fn walk(chain: &Chain, flow: (NodeId, usize), mut at: At, found: &mut Vec<Edge>) -> At {
    for step in &chain.steps {
        at = match &step.action {
            Action::Apply(application) => {
                found.push(Edge {
                    kind: if at.step.is_some() { EdgeKind::Pass } else { EdgeKind::Enter },
                    from: at.ports,
                    to: Port::In(application.node, application.constants.len()),
                    giver: at.step,
                    place: EdgeEnd::Step(flow.0, flow.1, step.number),
                    named: application.named.clone(),
                    from_span: at.span,
                    to_span: application.span,
                });
                At { ports: vec![Port::Out(application.node)], step: Some(step.number), span: application.span }
            }
            Action::Parallel(Parallel { branches, span, .. }) => {
                let joined = branches.iter().flat_map(|branch| walk(branch, flow, at.clone(), found).ports).collect();
                At { ports: joined, step: Some(step.number), span: *span }
            }
        };
    }
    at
}
