//! Finds the signatures that the author left out. Requires: acyclic. Establishes: every signature is known.
//!
//! First, bottom-up: an abstract node takes its inputs from the first steps of its lines and its outputs from the last,
//! where those are known and agree. Then what is open takes its neighbours': ports are united along every edge that has
//! an open end, exactly in types and names, and a class with one known list gives it to its open members. No list, or
//! two, is an error that asks for a declaration and shows the candidates.

use crate::check_cycles::callees_first;
use crate::edges::{Edge, Kind, Port, edges};
use crate::fit::show;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics, nearest};
use flux_ir::program::{Body, NodeId, Parameter, Program, Signature};
use std::collections::HashMap;

/// Fills in every missing signature it can and reports the others. O(edges · α), but for candidates that are shown.
pub fn infer_signatures(program: &mut Program, diagnostics: &mut Diagnostics) {
    let open: Vec<NodeId> =
        program.nodes.iter().filter(|(_, node)| node.signature.is_none()).map(|(id, _)| id).collect();
    if open.is_empty() {
        return;
    }
    let edges = edges(program);
    let mut known = Known::new(program);
    known.bottom_up(program, &edges);
    let candidates = known.unite(&edges);
    for node in open {
        let (inputs, outputs) = (known.take(Port::In(node, 0)), known.take(Port::Out(node)));
        if let (Some(inputs), Some(outputs)) = (inputs, outputs) {
            program.nodes[node].signature = Some(Signature { inputs, outputs, inferred: true });
            diagnostics.push(inferred(program, node));
        } else {
            diagnostics.push(unknown(program, node, &candidates));
        }
    }
}

type List = Vec<Parameter>;
type Candidates = HashMap<Port, Vec<List>>;

/// What each port is known to carry.
struct Known {
    lists: HashMap<Port, List>,
}

impl Known {
    fn new(program: &Program) -> Self {
        let mut lists = HashMap::new();
        for (id, node) in program.nodes.iter() {
            if let Some(signature) = &node.signature {
                lists.insert(Port::In(id, 0), signature.inputs.clone());
                lists.insert(Port::Out(id), signature.outputs.clone());
            }
        }
        Self { lists }
    }

    fn take(&mut self, port: Port) -> Option<List> {
        self.lists.remove(&port)
    }

    /// The list of a port, bound inputs left out.
    fn list(&self, port: Port) -> Option<&[Parameter]> {
        match port {
            Port::In(node, bound) => self.lists.get(&Port::In(node, 0))?.get(bound..),
            Port::Out(_) => self.lists.get(&port).map(Vec::as_slice),
        }
    }

    fn joined(&self, ports: &[Port]) -> Option<List> {
        let lists: Option<Vec<_>> = ports.iter().map(|port| self.list(*port)).collect();
        lists.map(|lists| lists.concat())
    }

    /// Gives each undeclared abstract node what its lines agree on, callees first.
    fn bottom_up(&mut self, program: &Program, edges: &[Edge]) {
        let mut entering: HashMap<NodeId, Vec<&Edge>> = HashMap::new();
        let mut leaving: HashMap<NodeId, Vec<&Edge>> = HashMap::new();
        for edge in edges {
            match (edge.kind, edge.from.as_slice()) {
                (Kind::Enter, [Port::In(node, _)]) => entering.entry(*node).or_default().push(edge),
                (Kind::Leave, _) => leaving.entry(edge.to.node()).or_default().push(edge),
                _ => {}
            }
        }
        for id in callees_first(program) {
            if program.nodes[id].signature.is_some() || matches!(program.nodes[id].body, Body::Concrete) {
                continue;
            }
            let taken = entering.get(&id).into_iter().flatten().map(|edge| self.list(edge.to).map(<[_]>::to_vec));
            if let Some(list) = agreed(taken) {
                self.lists.insert(Port::In(id, 0), list);
            }
            let given = leaving.get(&id).into_iter().flatten().map(|edge| self.joined(&edge.from));
            if let Some(list) = agreed(given) {
                self.lists.insert(Port::Out(id), list);
            }
        }
    }

    /// Unites ports along edges with an open end, gives each class its one list, and returns the lists of every class
    /// that has none or several, for its open ports.
    fn unite(&mut self, edges: &[Edge]) -> Candidates {
        let mut classes = Classes::default();
        for edge in edges {
            let ([from], Port::In(_, 0) | Port::Out(_)) = (edge.from.as_slice(), edge.to) else { continue };
            if self.list(*from).is_none() || self.list(edge.to).is_none() {
                classes.unite(*from, edge.to);
            }
        }
        let mut candidates: HashMap<usize, Vec<List>> = HashMap::new();
        for (port, class) in classes.members() {
            let lists = candidates.entry(class).or_default();
            if let Some(list) = self.lists.get(&port)
                && !lists.iter().any(|other| same(other, list))
            {
                lists.push(list.clone());
            }
        }
        let mut undecided = Candidates::new();
        for (port, class) in classes.members() {
            if self.lists.contains_key(&port) {
                continue;
            }
            match candidates.get(&class).map(Vec::as_slice) {
                Some([list]) => {
                    self.lists.insert(port, list.clone());
                }
                Some(lists) => {
                    undecided.insert(port, lists.to_vec());
                }
                None => {}
            }
        }
        undecided
    }
}

/// The one list that all the known ones are; none where one is unknown or two differ.
fn agreed(lists: impl Iterator<Item = Option<List>>) -> Option<List> {
    let mut found: Option<List> = None;
    for list in lists {
        let list = list?;
        match &found {
            Some(other) if !same(other, &list) => return None,
            Some(_) => {}
            None => found = Some(list),
        }
    }
    found
}

/// Whether both have the same types and names.
fn same(left: &[Parameter], right: &[Parameter]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| a.same_type(b) && a.name == b.name)
}

/// Union-find over ports, with path halving and union by index.
#[derive(Default)]
struct Classes {
    index: HashMap<Port, usize>,
    order: Vec<Port>,
    parent: Vec<usize>,
}

impl Classes {
    fn root(&mut self, port: Port) -> usize {
        let fresh = self.parent.len();
        let mut at = *self.index.entry(port).or_insert(fresh);
        if at == fresh {
            self.parent.push(fresh);
            self.order.push(port);
        }
        while let Some(above) = self.parent.get(at).copied().filter(|above| *above != at) {
            let grand = self.parent.get(above).copied().unwrap_or(above);
            if let Some(slot) = self.parent.get_mut(at) {
                *slot = grand;
            }
            at = grand;
        }
        at
    }

    fn unite(&mut self, left: Port, right: Port) {
        let (left, right) = (self.root(left), self.root(right));
        if let Some(slot) = self.parent.get_mut(left.max(right)) {
            *slot = left.min(right);
        }
    }

    /// Each port with its class, in the order in which they were seen.
    fn members(&mut self) -> Vec<(Port, usize)> {
        let order = self.order.clone();
        order.into_iter().map(|port| (port, self.root(port))).collect()
    }
}

fn inferred(program: &Program, id: NodeId) -> Diagnostic {
    let node = &program.nodes[id];
    let text = format!("{} ({}) => ({});", node.name, show(node.inputs()), show(node.outputs()));
    let from = if matches!(node.body, Body::Concrete) { "its neighbours" } else { "its flow" };
    let headline = format!("`{}` is not declared; {from} make it `{text}`", node.name);
    let note = Diagnostic::note(ids::SIGNATURE_INFERRED, headline, node.span);
    let declared = program
        .nodes
        .iter()
        .filter(|(other, one)| *other != id && one.signature.as_ref().is_some_and(|it| !it.inferred));
    match nearest(&node.name, declared.map(|(_, other)| other.name.as_str())) {
        Some(near) if matches!(node.body, Body::Concrete) => note.help(format!("did you mean `{near}`?")),
        _ => note,
    }
}

fn unknown(program: &Program, id: NodeId, candidates: &Candidates) -> Diagnostic {
    let node = &program.nodes[id];
    let headline = format!("`{}` is not declared, and its neighbours do not say what it takes and gives", node.name);
    let mut error = Diagnostic::error(ids::SIGNATURE_UNKNOWN, headline, node.span);
    for (port, what) in [(Port::In(id, 0), "takes"), (Port::Out(id), "gives")] {
        for list in candidates.get(&port).into_iter().flatten() {
            error = error.fact(format!("one neighbour says that it {what} ({})", show(list)));
        }
    }
    let others = program.nodes.iter().filter(|(other, _)| *other != id);
    match nearest(&node.name, others.map(|(_, other)| other.name.as_str())) {
        Some(near) => error.help(format!("did you mean `{near}`? If not, declare it: `{} (…) => (…);`", node.name)),
        None => error.help(format!("declare it: `{} (…) => (…);`", node.name)),
    }
}
