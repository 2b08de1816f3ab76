//! The parameters of the functions that take structs: `int X(X_in *in, X_out *out)`.
//!
//! The language says what they are, and the generated header declares them so. The compiler of 2006 was less strict
//! about it, so where a program is written for that one, what its sources define is what is declared and called: both
//! structs where one is empty, a result that nobody reads, a handler that does not want the error.

use crate::structs::{Side, members, struct_name};
use crate::{Context, Definition};
use flux_ir::name::Name;
use flux_ir::program::{Node, Origin};

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
    fn new(result: &str, parts: Vec<Part>) -> Self {
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

/// The function of a node.
pub fn node_shape(context: &Context<'_>, node: &Node) -> Shape {
    let sides = [(Side::In, Part::Input), (Side::Out, Part::Output)];
    let needed = sides.into_iter().filter(|(side, _)| !members(node, *side).is_empty()).map(|(_, part)| part);
    defined(context, &node.name, node).unwrap_or_else(|| Shape::new("int", needed.collect()))
}

/// A handler that is a plain function, for failures of `node`.
pub fn handler_shape(context: &Context<'_>, function: &Name, node: &Node) -> Shape {
    let input = (!node.inputs().is_empty()).then_some(Part::Input);
    let parts = input.into_iter().chain([Part::Error]).collect();
    defined(context, function, node).unwrap_or_else(|| Shape::new("void", parts))
}

/// The session function of the source at this index, and the node whose struct it takes: the target, or the source.
pub fn session_shape<'a>(context: &'a Context<'_>, function: &Name, source: usize) -> Option<(&'a Node, Shape)> {
    let program = &context.flow.program;
    let source = program.sources.get(source)?;
    let target = &program.nodes[source.target];
    if let Origin::Node(application) = &source.origin {
        let origin = &program.nodes[application.node];
        let takes_output = defined(context, function, origin).filter(|shape| shape.takes(Part::Output));
        if let Some(shape) = takes_output {
            return Some((origin, shape));
        }
    }
    let input = (!target.inputs().is_empty()).then_some(Part::Input);
    let usual = || Shape::new("int", input.into_iter().collect());
    Some((target, defined(context, function, target).unwrap_or_else(usual)))
}

/// What a source defines under this name with structs of `node`.
fn defined(context: &Context<'_>, function: &Name, node: &Node) -> Option<Shape> {
    let definitions = context.options.definitions(function).iter();
    definitions.filter(|definition| definition.is_linkable()).find_map(|definition| {
        let parts: Option<Vec<_>> = definition.parameters.iter().map(|parameter| part(parameter, node)).collect();
        let parts = parts.filter(|parts| parts.iter().any(|part| *part != Part::Error))?;
        Some(Shape::new(&definition.result, parts))
    })
}

fn part(parameter: &str, node: &Node) -> Option<Part> {
    let says = |word: &str| parameter.split(' ').any(|one| one == word);
    if says(&struct_name(node, Side::In)) {
        return Some(Part::Input);
    }
    if says(&struct_name(node, Side::Out)) {
        return Some(Part::Output);
    }
    (says("int") && !parameter.contains(['*', '&'])).then_some(Part::Error)
}

impl Definition {
    /// Whether other files can call it.
    fn is_linkable(&self) -> bool {
        !self.result.split(' ').any(|word| matches!(word, "static" | "inline"))
    }

    /// Whether it takes one value of this type.
    pub(crate) fn takes_one(&self, ty: &str) -> bool {
        let squeeze = |text: &str| text.chars().filter(|one| !one.is_whitespace()).collect::<String>();
        let wanted = squeeze(ty);
        let fits = |parameter: &String| {
            let unnamed = parameter.rsplit_once(' ').map_or("", |(before, _)| before);
            squeeze(parameter) == wanted || squeeze(unnamed) == wanted
        };
        self.is_linkable() && self.parameters.len() == 1 && self.parameters.iter().all(fits)
    }

    /// Whether it could be a predicate: it takes one value, which is none of a node's structs.
    pub(crate) fn may_be_predicate(&self, context: &Context<'_>) -> bool {
        let names_struct = |parameter: &String| {
            let mut words = parameter.split(' ');
            words.any(|word| word.ends_with("_in") || word.ends_with("_out")) && context.names_a_struct(parameter)
        };
        self.is_linkable() && self.parameters.len() == 1 && !self.parameters.iter().any(names_struct)
    }
}

impl Context<'_> {
    fn names_a_struct(&self, parameter: &str) -> bool {
        let nodes = &self.flow.program.nodes;
        let mut names = nodes.iter().flat_map(|(_, node)| [Side::In, Side::Out].map(|side| struct_name(node, side)));
        names.any(|name| parameter.split(' ').any(|word| word == name))
    }
}
