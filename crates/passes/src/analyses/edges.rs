//! The edges of a program: where values pass from one list of parameters to another.
//!
//! Inference and binding see the same edges through this module. A [`Port`] is one side of a node; what passes along an
//! edge is the list of a port, or is made of several ([`Passed`]): a parallel step joins its branches' outputs, an each
//! step gathers lists.

use crate::analyses::each_steps::{First, is_handed_on};
use flux_ir::program::{
    Action, Chain, Each, NamedInput, NodeId, Origin, Parallel, Parameter, Program, Signature, StepNumber,
};
use flux_ir::types::Type;
use flux_source::{Span, deep};
use std::borrow::Cow;

/// One side of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Port {
    /// Its inputs that have no default, without so many leading ones that constants are bound to.
    In(NodeId, usize),
    /// All of its inputs. The flow of a node whose inputs have defaults begins with this list.
    All(NodeId),
    /// Its outputs.
    Out(NodeId),
}

impl Port {
    /// The node.
    pub fn node(self) -> NodeId {
        match self {
            Self::In(node, _) | Self::All(node) | Self::Out(node) => node,
        }
    }

    /// This side of `signature`.
    pub fn of(self, signature: &Signature) -> &[Parameter] {
        match self {
            Self::In(_, bound) => signature.inputs.get(bound..signature.required()).unwrap_or_default(),
            Self::All(_) => &signature.inputs,
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

/// What passes along an edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Passed {
    /// The list of a port.
    Of(Port),
    /// These, one after the other: what a parallel step gives.
    Joined(Vec<Self>),
    /// An element of the one list of them, then the others: what an instance of an each step begins with.
    Spread(Box<Self>, First),
    /// Of each of them a list: what an each step gives. Of a loop it is the last value where `First` takes one of that
    /// name.
    Gathered(Box<Self>, Option<First>),
}

impl Passed {
    /// The list that passes, where those of the ports are known, as `list` says; none where a list that must be there
    /// is not.
    pub fn list<'a>(&self, list: &impl Fn(Port) -> Option<&'a [Parameter]>) -> Option<Cow<'a, [Parameter]>> {
        match self {
            Self::Of(port) => list(*port).map(Cow::Borrowed),
            Self::Joined(parts) => {
                let lists: Option<Vec<_>> = parts.iter().map(|part| part.list(list)).collect();
                Some(Cow::Owned(lists?.concat()))
            }
            Self::Spread(given, first) => {
                let (given, element) = (given.list(list)?, first.element(list)?);
                let position = first.list_position(&given, &element).ok()?;
                let others = given.iter().enumerate().filter(|(at, _)| *at != position).map(|(_, one)| one.clone());
                Some(Cow::Owned(std::iter::once(element).chain(others).collect()))
            }
            Self::Gathered(given, first) => {
                let given = given.list(list)?;
                let handed_on = match first {
                    Some(first) => first.others(list)?,
                    None => vec![],
                };
                let gathered = |(at, one): (usize, &Parameter)| match handed_on
                    .iter()
                    .any(|other| is_handed_on(other, &given, at))
                {
                    true => one.clone(),
                    false => Parameter { ty: Type::list_of(&one.ty), ..one.clone() },
                };
                Some(Cow::Owned(given.iter().enumerate().map(gathered).collect()))
            }
        }
    }

    /// The port whose list passes as it is.
    pub fn port(&self) -> Option<Port> {
        match self {
            Self::Of(port) => Some(*port),
            Self::Joined(_) | Self::Spread(..) | Self::Gathered(..) => None,
        }
    }

    /// The last of the ports that it is made of.
    pub fn last_port(&self) -> Option<Port> {
        match self {
            Self::Of(port) => Some(*port),
            Self::Joined(parts) => parts.last().and_then(Self::last_port),
            Self::Spread(given, _) | Self::Gathered(given, _) => given.last_port(),
        }
    }
}

/// Values pass to the port `to`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// What it is for.
    pub kind: EdgeKind,
    /// What passes.
    pub from: Passed,
    /// Whither.
    pub to: Port,
    /// Where they go.
    pub place: EdgeEnd,
    /// Inputs of the port `to` that take other values, by name: these do not pass along the edge.
    pub named: Vec<NamedInput>,
    /// Where the giving side is named.
    pub from_span: Span,
    /// Where the taking side is named; for a source's target and a node's outputs, where that node is declared.
    pub to_span: Span,
}

/// Every edge of the program: those of sources, then those of each node's chains, in textual order.
pub fn edges(program: &Program) -> Vec<Edge> {
    let mut found = vec![];
    for (index, source) in program.sources.iter().enumerate() {
        if let Origin::Node(application) = &source.origin {
            found.push(Edge {
                kind: EdgeKind::Start,
                from: Passed::Of(Port::Out(application.node)),
                to: Port::In(source.target, 0),
                place: EdgeEnd::Start(index),
                named: vec![],
                from_span: application.span,
                to_span: program.nodes[source.target].span,
            });
        }
    }
    for (id, node) in program.nodes.iter() {
        for (index, chain) in node.chains().enumerate() {
            let port = if node.defaults().is_empty() { Port::In(id, 0) } else { Port::All(id) };
            let start = At { passed: Passed::Of(port), is_first: true, span: node.span };
            let end = walk(chain, (id, index), start, &mut found);
            found.push(Edge {
                kind: EdgeKind::Leave,
                from: end.passed,
                to: Port::Out(id),
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
    passed: Passed,
    /// Whether there is no step before.
    is_first: bool,
    span: Span,
}

fn walk(chain: &Chain, flow: (NodeId, usize), mut at: At, found: &mut Vec<Edge>) -> At {
    deep(|| {
        for step in &chain.steps {
            let (passed, span) = match &step.action {
                Action::Apply(application) => {
                    found.push(Edge {
                        kind: if at.is_first { EdgeKind::Enter } else { EdgeKind::Pass },
                        from: at.passed,
                        to: Port::In(application.node, application.constants.len()),
                        place: EdgeEnd::Step(flow.0, flow.1, step.number),
                        named: application.named.clone(),
                        from_span: at.span,
                        to_span: application.span,
                    });
                    (Passed::Of(Port::Out(application.node)), application.span)
                }
                Action::Parallel(Parallel { branches, span, .. }) => {
                    let joined = branches.iter().map(|branch| walk(branch, flow, at.clone(), found).passed).collect();
                    (Passed::Joined(joined), *span)
                }
                Action::Each(each) => (walk_each(each, flow, at, found), each.span),
            };
            at = At { passed, is_first: false, span };
        }
        at
    })
}

fn walk_each(each: &Each, flow: (NodeId, usize), at: At, found: &mut Vec<Edge>) -> Passed {
    let first = First::of(&each.chain);
    let passed = match &first {
        Some(first) => Passed::Spread(Box::new(at.passed), first.clone()),
        // Nothing takes the element, which is an error of its own.
        None => at.passed,
    };
    let made = walk(&each.chain, flow, At { passed, ..at }, found).passed;
    Passed::Gathered(Box::new(made), first.filter(|_| each.width.is_none()))
}
