//! What an application keeps for the handlers of its failure: a handler that is a node can reach what the node that it
//! replaces could reach.
//!
//! These values depend on where the node is applied, so each application binds them separately.

use crate::analyses::each_steps::EachSteps;
use crate::analyses::visible_values::{Missing, VisibleValues};
use flux_ir::program::{Action, Argument, Body, Chain, NodeId, Origin, Parameter, Program};
use flux_source::{Span, deep};
use std::collections::{BTreeMap, HashSet};

/// For each node, what handlers of its failure take that it does not take itself.
pub type Wanted = BTreeMap<NodeId, Vec<Parameter>>;

/// An application that cannot keep a value.
pub struct Unkept {
    /// The node that is applied.
    pub node: NodeId,
    /// Which of the values that are wanted of it.
    pub index: usize,
    /// Where it is applied.
    pub span: Span,
    /// Why: as a fact.
    pub why: String,
}

/// Says what each application keeps; gives those that cannot keep something. Requires that edges are bound.
pub fn keep(program: &mut Program, wanted: &Wanted) -> Vec<Unkept> {
    let mut unkept = vec![];
    if wanted.values().all(Vec::is_empty) {
        return unkept;
    }
    let mut keeps_nothing = |node: NodeId, span: Span| {
        let count = wanted.get(&node).map_or(0, Vec::len);
        let why = || "nothing comes before it here".to_owned();
        unkept.extend((0..count).map(|index| Unkept { node, index, span, why: why() }));
    };
    for source in &program.sources {
        if let Origin::Node(application) = &source.origin {
            keeps_nothing(application.node, source.span);
        }
        keeps_nothing(source.target, source.span);
    }
    // What nothing applies is wrong where it would be if something did.
    let chains = program.nodes.iter().flat_map(|(_, node)| node.chains());
    let mut used: HashSet<NodeId> = chains.flat_map(Chain::applications).map(|one| one.node).collect();
    used.extend(program.handlers.iter().filter_map(|handler| handler.target.node()));
    for node in wanted.keys().filter(|node| !used.contains(node)) {
        keeps_nothing(*node, program.nodes[*node].span);
    }
    for id in program.nodes.ids().collect::<Vec<_>>() {
        // The body comes back changed; all else stays in the program, to be looked at meanwhile.
        let mut body = std::mem::replace(&mut program.nodes[id].body, Body::Dispatch(vec![]));
        for (index, chain) in body.chains_mut().enumerate() {
            let node = &program.nodes[id];
            let values = VisibleValues::new(&node.name, node.inputs());
            let each_steps = &EachSteps::of(program, node, (id, index), chain);
            let mut keeper = Keeper { program, wanted, place: (id, index), each_steps, values, unkept: &mut unkept };
            keeper.steps(chain);
        }
        program.nodes[id].body = body;
    }
    unkept
}

struct Keeper<'a, 'u> {
    program: &'a Program,
    wanted: &'a Wanted,
    /// The flow that is gone along: its node, and the index among the node's chains.
    place: (NodeId, usize),
    each_steps: &'a EachSteps<'a>,
    values: VisibleValues<'a>,
    unkept: &'u mut Vec<Unkept>,
}

impl Keeper<'_, '_> {
    fn steps(&mut self, chain: &mut Chain) {
        deep(|| {
            for step in &mut chain.steps {
                let output = |index| Argument::Output(step.number, index);
                match &mut step.action {
                    Action::Apply(application) => {
                        application.kept = self.kept(application.node, application.span);
                        let node = &self.program.nodes[application.node];
                        let bound = application.constants.len();
                        let taken = application.arguments.as_deref().unwrap_or_default();
                        self.values.take(node, bound, taken);
                        self.values.add(node, application.span, (bound, taken), output);
                    }
                    Action::Parallel(parallel) => {
                        self.values.enter(parallel.arguments.take().unwrap_or_default());
                        let mut made = vec![];
                        for branch in &mut parallel.branches {
                            self.steps(branch);
                            made.push(self.values.end_branch(branch.results.as_deref().unwrap_or_default()));
                        }
                        parallel.arguments = Some(self.values.leave(made, output));
                    }
                    Action::Each(each) => {
                        let known = self.each_steps.get((self.place.0, self.place.1, step.number));
                        let (Some(known), Some(bound)) = (known, &mut each.values) else { continue };
                        self.values.enter(std::mem::take(&mut bound.copied));
                        if let Some(element) = &known.element {
                            let node = &self.program.nodes[self.place.0].name;
                            self.values.add_element(node, element, Argument::Element(step.number));
                        }
                        self.steps(&mut each.chain);
                        let made = self.values.end_branch(each.chain.results.as_deref().unwrap_or_default());
                        let outputs = known.outputs.as_deref().unwrap_or_default();
                        bound.copied = self.values.leave_each(made, outputs, output);
                    }
                }
            }
        })
    }

    /// What an application keeps.
    fn kept(&mut self, node: NodeId, span: Span) -> Vec<Argument> {
        let mut kept = vec![];
        for (index, wanted) in self.wanted.get(&node).into_iter().flatten().enumerate() {
            match self.values.reach(wanted) {
                // Every application keeps values of the same types.
                Ok(made) if made.parameter.ty != wanted.ty => {
                    self.unkept.push(Unkept { node, index, span, why: why(wanted, Missing::Type(made.parameter)) });
                }
                Ok(made) => kept.push(made.argument),
                Err(missing) => self.unkept.push(Unkept { node, index, span, why: why(wanted, missing) }),
            }
        }
        kept
    }
}

fn why(wanted: &Parameter, missing: Missing<'_>) -> String {
    let name = &wanted.name;
    match missing {
        Missing::Unknown | Missing::Type(_) => format!("nothing before it gives `{}` here", wanted.ty.declare(name)),
        Missing::Taken(by) => format!("`{by}` took `{name}` and did not give it back"),
        Missing::Uncopied(_) => format!("a branch gets copies, and `{name}` cannot be copied"),
        Missing::Two(earlier, later) => {
            let (earlier, later) = (earlier.maker, later.maker);
            format!("that could be `{name}` of `{earlier}`, or of `{later}`, which is not made from it")
        }
    }
}
