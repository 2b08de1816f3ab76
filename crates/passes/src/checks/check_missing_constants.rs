//! Looks for steps that lack a constant. Requires: resolved and acyclic. Establishes: no step plainly lacks the
//! constants of its first inputs, so inference does not take these for inputs of the flow.
//!
//! `tcp.Read` takes `size_t most`, which is nearly always a constant: `tcp.Read(4096)`. Without it the values before
//! the step do not fit. The mistake is plain if the first inputs are numbers, truth values or texts that no node gives,
//! and all other inputs are given.

use crate::analyses::edges::{Edge, EdgeEnd, EdgeKind, Port, edges};
use crate::analyses::fit::{fit, show_one};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{NodeId, Parameter, Program, Signature};
use flux_ir::types::{Type, TypeKind};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Reports steps without their constants. O(edges · parameters of a flow).
pub fn check_missing_constants(program: &Program, diagnostics: &mut Diagnostics) {
    let edges = edges(program);
    let mut into: HashMap<NodeId, Vec<&Edge>> = HashMap::new();
    for edge in &edges {
        if let Port::In(node, 0) = edge.to {
            into.entry(node).or_default().push(edge);
        }
    }
    let outputs = program.nodes.iter().flat_map(|(_, node)| node.outputs());
    let made = outputs.map(|output| (output.name.as_str(), &output.ty)).collect();
    let known = Known { program, into, made };
    // The values that the flow has so far.
    let (mut flow, mut seen) = (None, vec![]);
    for edge in &edges {
        let EdgeEnd::Step(node, chain, _) = edge.place else { continue };
        if flow != Some((node, chain)) {
            (flow, seen) = (Some((node, chain)), known.list(Port::In(node, 0)).unwrap_or_default().into_owned());
        }
        known.check(edge, &seen, diagnostics);
        seen.extend(known.list(Port::Out(edge.to.node())).unwrap_or_default().iter().cloned());
    }
}

struct Known<'a> {
    program: &'a Program,
    /// The edges to the inputs of each node, where no constants are bound.
    into: HashMap<NodeId, Vec<&'a Edge>>,
    /// The names and types of all outputs.
    made: HashSet<(&'a str, &'a Type)>,
}

impl<'a> Known<'a> {
    /// The list of a port: as it is declared; the inputs of the target of one source are what that gives.
    fn list(&self, port: Port) -> Option<Cow<'a, [Parameter]>> {
        let signature = |node: NodeId| self.program.nodes[node].signature.as_ref();
        let declared = |port: Port| signature(port.node()).map(|signature: &Signature| port.of(signature));
        match (declared(port), port, self.into.get(&port.node()).map(Vec::as_slice)) {
            (Some(list), ..) => Some(Cow::Borrowed(list)),
            (None, Port::In(..), Some([edge])) if edge.kind == EdgeKind::Start => edge.from.list(&declared),
            _ => None,
        }
    }

    /// What passes along an edge.
    fn given(&self, edge: &Edge) -> Option<Cow<'a, [Parameter]>> {
        match edge.from.port() {
            Some(port) => self.list(port),
            None => {
                let signature = |node: NodeId| self.program.nodes[node].signature.as_ref();
                edge.from.list(&|port: Port| signature(port.node()).map(|signature| port.of(signature)))
            }
        }
    }

    fn check(&self, edge: &Edge, seen: &[Parameter], diagnostics: &mut Diagnostics) {
        let Port::In(id, 0) = edge.to else { return };
        let node = &self.program.nodes[id];
        let (Some(given), true) = (self.given(edge), node.signature.is_some() && edge.named.is_empty()) else { return };
        let taken = node.required_inputs();
        // What gives nothing was perhaps to give this.
        if given.is_empty() || fit(&given, taken).is_ok() {
            return;
        }
        let is_seen = |one: &Parameter| given.iter().chain(seen).any(|value| one.takes(value));
        // A value of the name that has another type is a slip of its own.
        let is_named = |one: &Parameter| given.iter().chain(seen).any(|value| one.name == value.name);
        let is_lacking = |one: &&Parameter| {
            is_constant(&one.ty) && !is_named(one) && !self.made.contains(&(one.name.as_str(), &one.ty))
        };
        let (lacking, rest) = taken.split_at(taken.iter().take_while(is_lacking).count());
        let is_by_position = fit(&given, rest).is_ok();
        if lacking.is_empty() || !is_by_position && !rest.iter().all(is_seen) {
            return;
        }
        // A value of the type that nothing takes is more likely meant.
        let is_spare = |value: &Parameter| !rest.iter().any(|one| one.takes(value));
        let is_meant = |value: &Parameter| lacking.iter().any(|one| one.ty.takes(&value.ty));
        if given.len() != rest.len() && given.iter().any(|value| is_spare(value) && is_meant(value)) {
            return;
        }
        let constants = lacking.iter().map(example).collect::<Vec<_>>().join(", ");
        let names = lacking.iter().map(|one| format!("`{}`", one.name)).collect::<Vec<_>>().join(", ");
        let headline = format!("`{name}` needs {names}: write `{name}({constants})`", name = node.name);
        let texts = lacking.iter().map(|one| format!("`{}`", show_one(one))).collect::<Vec<_>>().join(", ");
        let mut error = Diagnostic::error(ids::MISSING_CONSTANT, headline, edge.to_span);
        error = error.label(format!("nothing before it gives {texts}"));
        if let Some(first) = lacking.first() {
            error = error.mark(first.span, "declared here");
        }
        let help = "the first inputs of a node take constants: numbers, strings, truth values or options";
        diagnostics.push(error.help(help));
    }
}

/// Whether values of this type can be constants of steps, and usually are where nothing gives them.
fn is_constant(ty: &Type) -> bool {
    let is_c_string = ty.is_pointer_to_const() && ty.words().eq(["const", "char"]);
    !ty.is_array() && (ty.integer().is_some() || *ty.kind() == TypeKind::Bool || ty.is_text() || is_c_string)
}

/// A constant for an input: names end with their units.
fn example(input: &Parameter) -> &'static str {
    match input.ty.integer() {
        Some(_) if input.name.ends_with("_ms") => "100ms",
        Some(integer) if !integer.signed && integer.bits == 64 => "4096",
        Some(_) => "1",
        None if *input.ty.kind() == TypeKind::Bool => "true",
        None => "\"…\"",
    }
}
