//! Finds the signatures that the author left out. Requires: acyclic. Establishes: every signature is known.
//!
//! First, bottom-up: an abstract node takes its inputs from the first steps of its lines and its outputs from the last,
//! where those are known and agree. What sources alone lead to takes all that they give, where its first steps take
//! some of it by name: then later steps can reach the rest. What begins a flow takes nothing. Then what is open takes
//! its neighbours': ports are united along every edge that has an open end, exactly in types and names, and a class
//! with one known list gives it to its open members. No list, or two, is an error that asks for a declaration and shows
//! the candidates. What a step takes by name says nothing of its neighbours.

use crate::analyses::containment::callees_first;
use crate::analyses::edges::{Edge, EdgeKind, Passed, Port, edges};
use crate::analyses::fit::{show, show_one, whole};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics, Mark, nearest};
use flux_ir::name::Name;
use flux_ir::program::{Body, NodeId, Origin, Parameter, Program, Signature};
use flux_source::Span;
use std::borrow::Cow;
use std::collections::HashMap;

/// How many nodes of a run get a "did you mean", which looks at every declared name.
const SUGGESTION_LIMIT: usize = 20;

/// How many of the lists that neighbours disagree about are shown.
const CANDIDATE_LIMIT: usize = 4;

/// Fills in every missing signature it can and reports the others. O(edges · α).
pub fn infer_signatures(program: &mut Program, diagnostics: &mut Diagnostics) {
    let open: Vec<NodeId> =
        program.nodes.iter().filter(|(_, node)| node.signature.is_none()).map(|(id, _)| id).collect();
    if open.is_empty() {
        return;
    }
    let edges = edges(program);
    let mut known = Known::new(program);
    known.bottom_up(program, &edges);
    known.widen_targets(program, &edges);
    known.begin(program);
    let candidates = known.unite(&edges);
    let mut names = DeclaredNames::of(program);
    let mut unknown = vec![];
    for node in open {
        match (known.take(Port::In(node, 0)), known.take(Port::Out(node))) {
            (Some(inputs), Some(outputs)) => {
                program.nodes[node].signature = Some(Signature { inputs, outputs, defaults: vec![], inferred: true });
                diagnostics.push(describe_inferred(program, node, &mut names));
            }
            (inputs, outputs) => unknown.push(Unknown::new(node, inputs, outputs, &candidates)),
        }
    }
    report(program, &unknown, &mut names, diagnostics);
}

/// The names of the nodes that the author declared, one of which may be meant by a name that is not.
struct DeclaredNames {
    names: Vec<String>,
    suggestions_left: usize,
}

impl DeclaredNames {
    fn of(program: &Program) -> Self {
        let declared = program.nodes.iter().filter(|(_, node)| node.signature.is_some());
        let names = declared.map(|(_, node)| node.name.to_string()).collect();
        Self { names, suggestions_left: SUGGESTION_LIMIT }
    }

    fn nearest(&mut self, name: &Name) -> Option<&str> {
        self.suggestions_left = self.suggestions_left.checked_sub(1)?;
        nearest(&name.to_string(), self.names.iter().map(String::as_str))
    }
}

type List = Vec<Parameter>;

/// What is said of a port that is not known: with which others it must agree, and the lists that those have.
#[derive(Clone, Default)]
struct Candidates {
    class: HashMap<Port, usize>,
    lists: HashMap<Port, Vec<List>>,
}

/// What each port is known to carry.
struct Known {
    lists: HashMap<Port, List>,
}

impl Known {
    fn new(program: &Program) -> Self {
        let mut lists = HashMap::new();
        for (id, node) in program.nodes.iter() {
            if let Some(signature) = &node.signature {
                lists.insert(Port::In(id, 0), Port::In(id, 0).of(signature).to_vec());
                if !signature.defaults.is_empty() {
                    lists.insert(Port::All(id), signature.inputs.clone());
                }
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
            Port::In(node, bound) => Some(self.lists.get(&Port::In(node, 0))?.get(bound..).unwrap_or_default()),
            Port::All(node) => self.lists.get(&port).map_or_else(|| self.list(Port::In(node, 0)), |list| Some(list)),
            Port::Out(_) => self.lists.get(&port).map(Vec::as_slice),
        }
    }

    fn passed(&self, passed: &Passed) -> Option<List> {
        passed.list(&|port| self.list(port)).map(Cow::into_owned)
    }

    /// Gives each undeclared abstract node what its lines agree on, callees first.
    fn bottom_up(&mut self, program: &Program, edges: &[Edge]) {
        let mut entering: HashMap<NodeId, Vec<&Edge>> = HashMap::new();
        let mut leaving: HashMap<NodeId, Vec<&Edge>> = HashMap::new();
        for edge in edges {
            match (edge.kind, edge.from.port()) {
                (EdgeKind::Enter, Some(Port::In(node, _))) => entering.entry(node).or_default().push(edge),
                (EdgeKind::Leave, _) => leaving.entry(edge.to.node()).or_default().push(edge),
                _ => {}
            }
        }
        for id in callees_first(program) {
            if program.nodes[id].signature.is_some() || program.nodes[id].body.is_leaf() {
                continue;
            }
            let taken = entering
                .get(&id)
                .into_iter()
                .flatten()
                .map(|edge| self.list(edge.to).filter(|_| edge.named.is_empty()).map(<[_]>::to_vec));
            if let Some(list) = agreed(taken) {
                self.lists.insert(Port::In(id, 0), list);
            }
            let given = leaving.get(&id).into_iter().flatten().map(|edge| self.passed(&edge.from));
            if let Some(list) = agreed(given) {
                self.lists.insert(Port::Out(id), list);
            }
        }
    }

    /// Gives each undeclared target all that its sources give, where what its flow takes is among it.
    fn widen_targets(&mut self, program: &Program, edges: &[Edge]) {
        let mut given: HashMap<NodeId, Vec<Option<List>>> = HashMap::new();
        for source in &program.sources {
            let list = match &source.origin {
                Origin::Node(application) if source.session.is_none() => self.list(Port::Out(application.node)),
                Origin::Node(_) | Origin::Timer(_) => None,
            };
            given.entry(source.target).or_default().push(list.map(<[_]>::to_vec));
        }
        for edge in edges {
            if let Port::In(node, _) = edge.to
                && edge.kind != EdgeKind::Start
            {
                given.remove(&node);
            }
        }
        for handler in &program.handlers {
            if let Some(node) = handler.target.node() {
                given.remove(&node);
            }
        }
        for (target, lists) in given {
            let node = &program.nodes[target];
            let patterns = match &node.body {
                Body::Chain(_) => None,
                Body::Dispatch(lines) => lines.iter().map(|line| line.patterns.len()).max(),
                Body::External(_) | Body::Computed(_) => continue,
            };
            let (Some(all), Some(taken)) = (agreed(lists.into_iter()), self.list(Port::In(target, 0))) else {
                continue;
            };
            let is_among = |one: &Parameter| all.iter().any(|other| other.name == one.name && other.ty == one.ty);
            let fits = taken.iter().all(is_among) && patterns.is_none_or(|count| count == all.len());
            if node.signature.is_none() && fits {
                self.lists.insert(Port::In(target, 0), all);
            }
        }
    }

    /// A node that is a source, or the target of a heartbeat, takes nothing where nothing else is known of it.
    fn begin(&mut self, program: &Program) {
        for source in &program.sources {
            let first = match &source.origin {
                Origin::Node(application) if application.constants.is_empty() && application.named.is_empty() => {
                    application.node
                }
                Origin::Node(_) => continue,
                Origin::Timer(_) => source.target,
            };
            self.lists.entry(Port::In(first, 0)).or_default();
        }
    }

    /// Unites ports along edges with an open end, gives each class its one list, and returns the lists of every class
    /// that has none or several, for its open ports.
    fn unite(&mut self, edges: &[Edge]) -> Candidates {
        let mut classes = Classes::default();
        for edge in edges {
            let (Some(from), Port::In(_, 0) | Port::Out(_), []) = (edge.from.port(), edge.to, edge.named.as_slice())
            else {
                continue;
            };
            if self.list(from).is_none() || self.list(edge.to).is_none() {
                classes.unite(from, edge.to);
            }
        }
        let mut candidates: HashMap<usize, Vec<List>> = HashMap::new();
        for (port, class) in classes.members() {
            let lists = candidates.entry(class).or_default();
            if let Some(list) = self.lists.get(&port)
                && lists.len() < CANDIDATE_LIMIT
                && !lists.iter().any(|other| same(other, list))
            {
                lists.push(list.clone());
            }
        }
        let mut undecided = Candidates::default();
        for (port, class) in classes.members() {
            if self.lists.contains_key(&port) {
                continue;
            }
            match candidates.get(&class).map(Vec::as_slice) {
                Some([list]) => {
                    self.lists.insert(port, list.clone());
                }
                Some(lists) => {
                    undecided.class.insert(port, class);
                    undecided.lists.insert(port, lists.to_vec());
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
    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| a.ty == b.ty && a.name == b.name)
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

fn describe_inferred(program: &Program, id: NodeId, names: &mut DeclaredNames) -> Diagnostic {
    let node = &program.nodes[id];
    let text = format!("{} ({}) => ({});", node.name, show(node.inputs()), show(node.outputs()));
    let is_concrete = node.body.is_leaf();
    let from = if is_concrete { "its neighbours" } else { "its flow" };
    let headline = format!("`{}` is not declared; inferred from {from}: `{text}`", node.name);
    let note = Diagnostic::note(ids::SIGNATURE_INFERRED, headline, node.span);
    // A node with a flow is no slip of the pen.
    match is_concrete.then(|| names.nearest(&node.name)).flatten() {
        Some(near) => note.help(format!("did you mean `{near}`?")),
        None => note,
    }
}

/// A node whose signature was not found.
struct Unknown {
    node: NodeId,
    inputs: Side,
    outputs: Side,
}

/// What is known of one side of a node.
enum Side {
    Known(List),
    /// All that the neighbours say: nothing, or several lists; and the class of ports that carry the same.
    Open(Vec<List>, Option<usize>),
}

impl Unknown {
    fn new(node: NodeId, inputs: Option<List>, outputs: Option<List>, candidates: &Candidates) -> Self {
        let lists = |port| candidates.lists.get(&port).cloned().unwrap_or_default();
        let open = |port| Side::Open(lists(port), candidates.class.get(&port).copied());
        Self {
            node,
            inputs: inputs.map_or_else(|| open(Port::In(node, 0)), Side::Known),
            outputs: outputs.map_or_else(|| open(Port::Out(node)), Side::Known),
        }
    }

    fn is_disputed(&self) -> bool {
        [&self.inputs, &self.outputs].iter().any(|side| matches!(side, Side::Open(lists, _) if !lists.is_empty()))
    }

    /// Two parameters of one name, in lists of the same names, that have other types: these lines are wrong, and not
    /// those that come of them.
    fn clash(&self) -> Option<(&Parameter, &Parameter)> {
        [&self.inputs, &self.outputs].into_iter().find_map(|side| match side {
            Side::Open(lists, _) => match lists.as_slice() {
                [left, right, ..] => clash(left, right),
                _ => None,
            },
            Side::Known(_) => None,
        })
    }

    /// The classes of the sides that are not known.
    fn classes(&self) -> impl Iterator<Item = usize> {
        [&self.inputs, &self.outputs].into_iter().filter_map(|side| match side {
            Side::Open(_, class) => *class,
            Side::Known(_) => None,
        })
    }
}

/// The first two parameters of another type, where all names are the same.
fn clash<'a>(left: &'a [Parameter], right: &'a [Parameter]) -> Option<(&'a Parameter, &'a Parameter)> {
    let has_same_names = left.len() == right.len() && left.iter().zip(right).all(|(a, b)| a.name == b.name);
    left.iter().zip(right).find(|(a, b)| has_same_names && a.ty != b.ty)
}

/// Reports what was not found. An abstract node is unknown because nodes in it are, and these are reported; by itself
/// only where its neighbours disagree. Of nodes that one declaration would decide, the first is reported.
fn report(program: &Program, unknown: &[Unknown], names: &mut DeclaredNames, diagnostics: &mut Diagnostics) {
    let is_concrete = |one: &Unknown| program.nodes[one.node].body.is_leaf();
    let has_concrete = unknown.iter().any(is_concrete);
    let mut found: Vec<Diagnostic> = vec![];
    // By class of ports: the number of the message that asks for its list.
    let mut asked: HashMap<usize, usize> = HashMap::new();
    // By what two parameters clash: the number of the message that says so.
    let mut clashes: HashMap<(Span, Span), usize> = HashMap::new();
    for one in unknown.iter().filter(|one| is_concrete(one) || one.is_disputed() || !has_concrete) {
        let clash = one.clash();
        let earlier: Option<Vec<usize>> = one.classes().map(|class| asked.get(&class).copied()).collect();
        let first = match clash {
            Some((left, right)) => clashes.get(&(left.span, right.span)).copied(),
            None => earlier.and_then(|numbers| numbers.first().copied()).filter(|_| !one.is_disputed()),
        };
        if let Some(earlier) = first.and_then(|number| found.get_mut(number)) {
            let node = &program.nodes[one.node];
            let label = format!("then `{}` can be inferred, too", node.name);
            earlier.secondary.push(Mark { span: node.span, label });
            continue;
        }
        asked.extend(one.classes().map(|class| (class, found.len())));
        clashes.extend(clash.map(|(left, right)| ((left.span, right.span), found.len())));
        found.push(match clash {
            Some((left, right)) => describe_clash(program, one, left, right),
            None => describe_unknown(program, one, names),
        });
    }
    found.into_iter().for_each(|diagnostic| diagnostics.push(diagnostic));
}

fn describe_clash(program: &Program, unknown: &Unknown, left: &Parameter, right: &Parameter) -> Diagnostic {
    let node = &program.nodes[unknown.node].name;
    let (one, other) = (owner(program, left), owner(program, right));
    let (one_text, other_text) = (show_one(left), show_one(right));
    let headline = format!("{one} `{one_text}`, but {other} `{other_text}`, and `{node}` between them is not declared");
    Diagnostic::error(ids::SIGNATURE_UNKNOWN, headline, right.span)
        .label(format!("{other} this"))
        .mark(left.span, format!("{one} this"))
        .mark(program.nodes[unknown.node].span, "its neighbours say what it takes and gives")
        .help(format!("write the same type in both: `{one_text}`, or `{other_text}`"))
}

/// Who declares a parameter: "`Read` takes".
fn owner(program: &Program, parameter: &Parameter) -> String {
    let has = |list: &[Parameter]| list.iter().any(|one| one.span == parameter.span);
    let mut declared = program.nodes.iter().filter_map(|(_, node)| match &node.signature {
        Some(signature) if has(&signature.inputs) => Some(format!("`{}` takes", node.name)),
        Some(signature) if has(&signature.outputs) => Some(format!("`{}` gives", node.name)),
        _ => None,
    });
    declared.next().unwrap_or_else(|| "one neighbour has".to_owned())
}

fn describe_unknown(program: &Program, unknown: &Unknown, names: &mut DeclaredNames) -> Diagnostic {
    let node = &program.nodes[unknown.node];
    let name = &node.name;
    let what = match (&unknown.inputs, &unknown.outputs) {
        (Side::Open(..), Side::Known(_)) => "takes",
        (Side::Known(_), Side::Open(..)) => "gives",
        _ => "takes and gives",
    };
    let how = if unknown.is_disputed() { "disagree about what it" } else { "do not say what it" };
    let headline = format!("`{name}` is not declared, and its neighbours {how} {what}");
    let mut error = Diagnostic::error(ids::SIGNATURE_UNKNOWN, headline, node.span);
    for (side, what) in [(&unknown.inputs, "takes"), (&unknown.outputs, "gives")] {
        let Side::Open(lists, _) = side else { continue };
        for list in lists {
            let text = format!("by this it {what} ({})", show(list));
            error = match whole(list) {
                Some(span) => error.mark(span, text),
                None => error.fact(format!("one neighbour says that it {what} ()")),
            };
        }
    }
    let text = |side: &Side| match side {
        Side::Known(list) => show(list),
        Side::Open(..) => "…".to_owned(),
    };
    let declare = format!("`{name} ({}) => ({});`", text(&unknown.inputs), text(&unknown.outputs));
    match names.nearest(name) {
        Some(near) => error.help(format!("did you mean `{near}`? If not, declare it: {declare}")),
        None => error.help(format!("declare it: {declare}")),
    }
}
