//! The parameters of the functions that take structs: `int X(X_in *in, X_out *out)`.
//!
//! The language says what they are, and the generated header declares them so. Sources of 2006 say it themselves
//! ([`crate::interface_2006`]).

use crate::Context;
use crate::structs::{Side, members};
use flux_ir::external::{Convention, ExternalId};
use flux_ir::program::{Body, Node, Origin};

/// One parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// A pointer to the struct with the inputs.
    Input,
    /// A pointer to the struct with the outputs.
    Output,
    /// An error code.
    Error,
}

/// What a function takes and returns.
pub struct Shape {
    /// What it returns, as C++ spells it.
    pub result: String,
    /// What it takes, in order.
    pub parts: Vec<Part>,
}

impl Shape {
    pub fn new(result: &str, parts: Vec<Part>) -> Self {
        Self { result: result.to_owned(), parts }
    }

    /// Whether it takes this.
    pub fn takes(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    /// Whether there is a result.
    pub fn returns(&self) -> bool {
        self.result != "void"
    }
}

/// The function of a node. That of an abstract one only sources of 2006 have.
pub fn node_shape(context: &Context<'_>, node: &Node) -> Shape {
    let sides = [(Side::In, Part::Input), (Side::Out, Part::Output)];
    let needed = sides.into_iter().filter(|(side, _)| !members(node, *side).is_empty()).map(|(_, part)| part);
    let defined = match node.body {
        Body::External(external) => shape(context, external, node),
        _ => context.options.interface_2006.as_ref().and_then(|defined| defined.shape(&node.name, node)),
    };
    defined.unwrap_or_else(|| Shape::new("int", needed.collect()))
}

/// A handler in C++, for failures of `node`.
pub fn handler_shape(context: &Context<'_>, handler: ExternalId, node: &Node) -> Shape {
    let input = (!node.inputs().is_empty()).then_some(Part::Input);
    let parts = input.into_iter().chain([Part::Error]).collect();
    shape(context, handler, node).unwrap_or_else(|| Shape::new("void", parts))
}

/// The session function of the source at this index, and the node whose struct it takes: the target, or the source.
pub fn session_shape<'a>(context: &'a Context<'_>, session: ExternalId, source: usize) -> Option<(&'a Node, Shape)> {
    let program = &context.flow.program;
    let source = program.sources.get(source)?;
    let target = &program.nodes[source.target];
    if let Origin::Node(application) = &source.origin {
        let origin = &program.nodes[application.node];
        let takes_output = shape(context, session, origin).filter(|shape| shape.takes(Part::Output));
        if let Some(shape) = takes_output {
            return Some((origin, shape));
        }
    }
    let input = (!target.inputs().is_empty()).then_some(Part::Input);
    let usual = || Shape::new("int", input.into_iter().collect());
    Some((target, shape(context, session, target).unwrap_or_else(usual)))
}

/// What a function takes with structs of `node`, where its convention does not say it.
fn shape(context: &Context<'_>, external: ExternalId, node: &Node) -> Option<Shape> {
    let external = &context.flow.program.externals[external];
    let of_2006 = context.options.interface_2006.as_ref().filter(|_| external.convention == Convention::Of2006);
    of_2006?.shape(&external.name, node)
}
