//! Decides which value each input of a step takes, each output of a flow, and each input of a source's target.
//! Requires: every signature is known. Establishes: all of them are bound, or there is an error.
//!
//! An author writes `A -> B` and means the values that A gives. This pass alone decides which of them goes where, by
//! the rule of [`crate::analyses::fit`]. An [`Argument`] names a value by the step that makes it, and later passes
//! follow the names. So two passes cannot decide differently. A step that a pass inserts or removes does not change the
//! values of other steps. If a notation has variables, its front writes the names itself.
//!
//! A value that A does not give comes from further back ([`crate::rewrites::reach`]). In `A -> B -> C(x: y)` the author
//! names one value. C takes the latest `y`, whatever step made it ([`crate::rewrites::named_inputs`]). The other inputs
//! of C take the values that B gives.

use crate::analyses::each_steps::{EachStep, EachSteps, first_application};
use crate::analyses::edges::{Edge, EdgeEnd, Port, edges};
use crate::analyses::fit::{Fit, Misfit, dropped, fit};
use crate::analyses::visible_values::VisibleValues;
use crate::checks::check_constants::misbound;
use crate::rewrites::each_diagnostics::{self, EachPlace};
use crate::rewrites::edge_diagnostics::{SpoiledEdge, by_name, report, spoiled};
use crate::rewrites::named_inputs;
use crate::rewrites::reach::{Before, Findings, Unreached, reach};
use flux_diagnostic::Diagnostics;
use flux_ir::program::{
    Action, Application, Argument, Body, Chain, Each, EachValues, NodeId, Origin, Parallel, Parameter, Program,
    Signature, Step, StepNumber,
};
use std::borrow::Cow;
use std::iter::Peekable;

/// Binds the values that fit or are reached, and reports the other edges as errors. Notes report the values that an
/// edge drops or reaches. O(edges · parameters).
pub fn bind_edges(program: &mut Program, diagnostics: &mut Diagnostics) {
    let misbound = misbound(program);
    let mut edges = edges(program);
    edges.retain(|edge| !misbound.contains(&edge.to_span));
    let mut binder = Binder { edges: edges.into_iter().peekable(), spoiled: vec![], diagnostics };
    binder.program(program);
    let spoiled = binder.spoiled;
    report(spoiled, diagnostics);
}

fn list(program: &Program, port: Port) -> Option<&[Parameter]> {
    program.nodes[port.node()].signature.as_ref().map(|signature: &Signature| port.of(signature))
}

/// The values that a step is given.
#[derive(Clone)]
struct Given<'a> {
    /// The values; none if they are not known.
    values: Option<Cow<'a, [Parameter]>>,
    /// Their names.
    arguments: Vec<Argument>,
}

struct Binder<'d> {
    /// The edges to come, in the order in which the binder visits the program.
    edges: Peekable<std::vec::IntoIter<Edge>>,
    spoiled: Vec<SpoiledEdge>,
    diagnostics: &'d mut Diagnostics,
}

/// The flow that the binder visits.
struct Along<'a> {
    program: &'a Program,
    node: NodeId,
    /// The index among the node's chains.
    chain: usize,
    each_steps: &'a EachSteps<'a>,
    values: VisibleValues<'a>,
    findings: Findings<'a>,
}

impl Binder<'_> {
    fn program(&mut self, program: &mut Program) {
        for index in 0..program.sources.len() {
            let arguments = self.source(program, index);
            let own = program.sources.get(index).and_then(|source| self.inputs_of_source(program, &source.origin));
            if let Some(source) = program.sources.get_mut(index) {
                source.arguments = arguments;
                if let Origin::Node(application) = &mut source.origin {
                    application.arguments = own;
                }
            }
        }
        for id in program.nodes.ids().collect::<Vec<_>>() {
            // The loop takes the body out, changes it and puts it back. The rest of the program stays readable
            // meanwhile.
            let mut body = std::mem::replace(&mut program.nodes[id].body, Body::Dispatch(vec![]));
            for (index, chain) in body.chains_mut().enumerate() {
                self.flow(program, id, index, chain);
            }
            program.nodes[id].body = body;
        }
    }

    /// Returns the next edge, if it leads to this place.
    fn edge_to(&mut self, place: EdgeEnd) -> Option<Edge> {
        self.edges.next_if(|edge| edge.place == place)
    }

    /// Binds the inputs of a source's target. The target has no earlier values to reach.
    fn source(&mut self, program: &Program, index: usize) -> Option<Vec<Argument>> {
        let source = program.sources.get(index)?;
        let defaults = program.nodes[source.target].defaults().iter().cloned().map(Argument::Constant);
        if matches!(source.origin, Origin::Timer(_)) {
            return Some(defaults.collect());
        }
        let edge = self.edge_to(EdgeEnd::Start(index))?;
        let (given, taken) = (edge.from.list(&|port| list(program, port))?, list(program, edge.to)?);
        match fit(&given, taken) {
            Ok(fit) => {
                if let Fit::Name(positions) = &fit {
                    let lost = dropped(&given, positions);
                    self.diagnostics.push(by_name(program, &edge, &given, taken, &lost));
                }
                Some(fit.positions(taken.len()).into_iter().map(Argument::Input).chain(defaults).collect())
            }
            Err(misfit) => {
                self.spoiled.push(spoiled(program, &edge, &given, taken, misfit));
                None
            }
        }
    }

    /// Binds the inputs of a source that no positional constant is bound to, if there are any.
    fn inputs_of_source(&mut self, program: &Program, origin: &Origin) -> Option<Vec<Argument>> {
        let Origin::Node(application) = origin else { return None };
        let node = &program.nodes[application.node];
        let bound = application.constants.len();
        let are_constants = application.named.iter().all(|named| named.value.constant().is_some());
        let are_inputs = named_inputs::check(node, bound, &application.named, self.diagnostics);
        if !are_constants || !are_inputs || bound >= node.inputs().len() {
            return None;
        }
        let mut values = VisibleValues::new(&node.name, &[]);
        let given = named_inputs::Named { program, node, bound, named: &application.named };
        named_inputs::bind(&given, vec![], &mut values, self.diagnostics)
    }

    fn flow(&mut self, program: &Program, id: NodeId, index: usize, chain: &mut Chain) {
        let node = &program.nodes[id];
        let each_steps = &EachSteps::of(program, node, (id, index), chain);
        let (values, findings) = (VisibleValues::new(&node.name, node.inputs()), Findings::default());
        let mut along = Along { program, node: id, chain: index, each_steps, values, findings };
        let inputs = node.inputs();
        let arguments = (0..inputs.len()).map(Argument::Input).collect();
        let given = Given { values: Some(Cow::Borrowed(inputs)), arguments };
        let given = self.steps(&mut along, chain, given);
        chain.results = self.edge_to(EdgeEnd::End(id, index)).and_then(|edge| self.bind(&mut along, &edge, &given));
        along.findings.report(program, chain, self.diagnostics, &mut self.spoiled);
    }

    /// Visits a chain. It begins with the values `given`, and this function returns the values at its end. A branch
    /// takes and gives all values at its place, because it declares no inputs or outputs that they must fit.
    fn steps<'a>(&mut self, along: &mut Along<'a>, chain: &mut Chain, mut given: Given<'a>) -> Given<'a> {
        for step in &mut chain.steps {
            let number = step.number;
            let values = match &mut step.action {
                Action::Apply(application) => self.apply(along, application, number, &given),
                Action::Parallel(parallel) => self.branches(along, parallel, number, &given),
                Action::Each(each) => self.each(along, each, number, &given),
            };
            let count = values.as_ref().map_or(0, |values| values.len());
            given = Given { values, arguments: (0..count).map(|index| Argument::Output(number, index)).collect() };
        }
        given
    }

    /// Binds a step, and returns the values that it makes.
    fn apply<'a>(
        &mut self,
        along: &mut Along<'a>,
        application: &mut Application,
        number: StepNumber,
        given: &Given<'a>,
    ) -> Option<Cow<'a, [Parameter]>> {
        let place = EdgeEnd::Step(along.node, along.chain, number);
        application.arguments = self.edge_to(place).and_then(|edge| self.bind(along, &edge, given));
        let node = &along.program.nodes[application.node];
        let (bound, taken) = (application.constants.len(), application.arguments.as_deref().unwrap_or_default());
        along.values.take(node, bound, taken);
        along.values.add(node, application.span, (bound, taken), |index| Argument::Output(number, index));
        Some(Cow::Borrowed(node.outputs()))
    }

    /// Binds the branches of a parallel step, and returns the values that they make.
    fn branches<'a>(
        &mut self,
        along: &mut Along<'a>,
        parallel: &mut Parallel,
        number: StepNumber,
        given: &Given<'a>,
    ) -> Option<Cow<'a, [Parameter]>> {
        along.values.enter(given.arguments.clone());
        let (mut lists, mut made) = (vec![], vec![]);
        for branch in &mut parallel.branches {
            let results = self.steps(along, branch, given.clone());
            made.push(along.values.end_branch(&results.arguments));
            lists.push(results.values);
            branch.results = Some(results.arguments);
        }
        parallel.arguments = Some(along.values.leave(made, |index| Argument::Output(number, index)));
        let lists: Option<Vec<_>> = lists.into_iter().collect();
        lists.map(|lists| Cow::Owned(lists.concat()))
    }

    /// Binds the chain of an each step, and returns the values that the step makes.
    fn each<'a>(
        &mut self,
        along: &mut Along<'a>,
        each: &mut Each,
        number: StepNumber,
        given: &Given<'a>,
    ) -> Option<Cow<'a, [Parameter]>> {
        let known = along.each_steps.get((along.node, along.chain, number))?;
        let place = EachPlace { program: along.program, each, known };
        let begins = each_diagnostics::check(&place, self.diagnostics);
        let mut inside = Given { values: None, arguments: vec![] };
        if let Some((element, list)) = begins {
            let values = known.given.iter().flat_map(|given| given.iter()).zip(&given.arguments).enumerate();
            let others = values.filter(|(at, _)| *at != list).map(|(_, value)| value);
            let (others, arguments): (Vec<_>, Vec<_>) =
                others.map(|(one, argument)| (one.clone(), argument.clone())).unzip();
            inside.values = Some(std::iter::once(element.clone()).chain(others).collect());
            inside.arguments = std::iter::once(Argument::Element(number)).chain(arguments).collect();
        }
        along.values.enter(vec![]);
        if let Some((element, _)) = begins {
            let node = &along.program.nodes[along.node].name;
            along.values.add_element(node, element, Argument::Element(number));
        }
        let results = self.steps(along, &mut each.chain, inside);
        along.values.copy(&taken_inside(&each.chain, &results.arguments));
        let made = along.values.end_branch(&results.arguments);
        each.chain.results = Some(results.arguments);
        let outputs = known.outputs.as_deref().unwrap_or_default();
        let copied = along.values.leave_each(made, outputs, |index| Argument::Output(number, index));
        each.values = begins.and_then(|(element, list)| {
            let carried = carried(along.program, each, known, &copied)?;
            Some(EachValues { list: given.arguments.get(list)?.clone(), element: element.clone(), copied, carried })
        });
        known.outputs.as_deref().map(Cow::Borrowed)
    }

    /// Returns the values that the end of an edge takes, or none on an error.
    fn bind(&mut self, along: &mut Along<'_>, edge: &Edge, given: &Given<'_>) -> Option<Vec<Argument>> {
        let program = along.program;
        let (values, taken) = (given.values.as_deref()?, list(program, edge.to)?);
        let arguments = given.arguments.as_slice();
        let node = &program.nodes[edge.to.node()];
        let Port::In(_, bound) = edge.to else {
            return self.fit(along, edge, Before { values, arguments }, taken);
        };
        if edge.named.is_empty() && node.defaults().is_empty() {
            return self.fit(along, edge, Before { values, arguments }, taken);
        }
        if !named_inputs::check(node, bound, &edge.named, self.diagnostics) {
            return None;
        }
        let inputs = node.inputs().get(bound..).unwrap_or_default();
        let (left, values, others) = named_inputs::without(&edge.named, values, (taken, inputs));
        let arguments: Vec<_> = left.into_iter().filter_map(|position| arguments.get(position).cloned()).collect();
        let others = self.fit(along, edge, Before { values: &values, arguments: &arguments }, &others)?;
        let given = named_inputs::Named { program, node, bound, named: &edge.named };
        named_inputs::bind(&given, others, &mut along.values, self.diagnostics)
    }

    fn fit(
        &mut self,
        along: &mut Along<'_>,
        edge: &Edge,
        before: Before<'_>,
        taken: &[Parameter],
    ) -> Option<Vec<Argument>> {
        let mut misfit = match fit(before.values, taken) {
            Ok(Fit::Position) => return Some(before.arguments.to_vec()),
            Ok(Fit::Name(positions)) => {
                let found = positions.iter().filter_map(|position| before.arguments.get(*position).cloned()).collect();
                // If the author names all inputs of a step, no note is needed.
                if !taken.is_empty() || edge.named.is_empty() {
                    let drops = !dropped(before.values, &positions).is_empty();
                    along.findings.fits_by_name(edge, before, taken, drops);
                }
                return Some(found);
            }
            Err(misfit) => misfit,
        };
        if let Misfit::Part(_) = misfit {
            match reach(along.program, (edge, misfit), before, taken, &mut along.values, &mut along.findings) {
                Ok(found) => return Some(found),
                Err(Unreached::Because(error)) => {
                    self.diagnostics.push(*error);
                    return None;
                }
                Err(Unreached::Misfit(found)) => misfit = found,
            }
        }
        self.spoiled.push(spoiled(along.program, edge, before.values, taken, misfit));
        None
    }
}

/// Returns the values that the steps of a chain and the steps inside them take, and the results of the chain.
fn taken_inside(chain: &Chain, results: &[Argument]) -> Vec<Argument> {
    let taken = |step: &Step| match &step.action {
        Action::Apply(application) => application.arguments.clone().unwrap_or_default(),
        Action::Parallel(parallel) => parallel.arguments.clone().unwrap_or_default(),
        Action::Each(each) => {
            each.values.iter().flat_map(|values| values.copied.iter().chain([&values.list])).cloned().collect()
        }
    };
    chain.all_steps().into_iter().flat_map(taken).chain(results.iter().cloned()).collect()
}

/// Returns the values that an instance hands on. Each pair is the position of a result and the position of a copied
/// value.
fn carried(program: &Program, each: &Each, known: &EachStep<'_>, copied: &[Argument]) -> Option<Vec<(usize, usize)>> {
    let first = first_application(&each.chain);
    let carried = known.carried.iter().map(|(output, input)| {
        let first = first?;
        let inputs = program.nodes[first.node].inputs().get(first.constants.len()..)?;
        let at = inputs.iter().position(|one| one.name == input.name)?;
        let argument = first.arguments.as_ref()?.get(at)?;
        Some((*output, copied.iter().position(|one| one == argument)?))
    });
    carried.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_diagnostic::Severity;
    use flux_ir::text::{parse_program, print_program};
    use flux_ir::verify::{self, Stage};

    /// Returns the lines of the bound program that show the paths of values, and the number of errors.
    fn bind(text: &str) -> (String, usize) {
        let mut program = parse_program(&format!("program p\n{text}")).unwrap();
        let mut diagnostics = Diagnostics::new();
        bind_edges(&mut program, &mut diagnostics);
        let errors = diagnostics.sorted().iter().filter(|one| one.severity == Severity::Error).count();
        if errors == 0 {
            assert_eq!(verify::program(&program, Stage::Bound), []);
        }
        let printed = print_program(&program);
        let lines = printed.lines().filter(|line| line.contains("flow") || line.contains("=> S"));
        (lines.map(str::trim).collect::<Vec<_>>().join("\n"), errors)
    }

    const NODES: &str = "node L () => (int from, bool b)\nnode A (int x, bool y) => (int to, bool b, T *t)\n\
                         node B (T *t, int to) => ()\nnode C (int n, T *t, int to) => (int c)\n";

    /// Like [`bind`], for a node `S` with this signature and this flow.
    fn flow(signature: &str, chain: &str) -> (String, usize) {
        bind(&format!("{NODES}node S {signature} {{\nflow = {chain}\n}}\n"))
    }

    #[test]
    fn values_are_bound_by_position_or_by_name() {
        let (bound, errors) = flow("(int x, bool y) => ()", "A -> B");
        assert_eq!(bound, "flow = %1 A takes (in.x, in.y) -> %2 B takes (%1.t, %1.to) gives ()");
        assert_eq!(errors, 0);
    }

    #[test]
    fn constants_take_the_first_inputs_and_values_the_others() {
        let (bound, errors) = flow("(bool b, int to, T *t) => (int q)", "C(5)");
        assert_eq!(bound, "flow = %1 C(5) takes (in.t, in.to) gives (%1.c)");
        assert_eq!(errors, 0);
    }

    #[test]
    fn a_flow_without_steps_gives_its_inputs() {
        let (bound, errors) = flow("(bool b, int to) => (int to)", "");
        assert_eq!(bound, "flow = gives (in.to)");
        assert_eq!(errors, 0);
    }

    #[test]
    fn branches_get_all_values_and_what_they_give_is_joined() {
        let (bound, errors) = flow("(int x, bool y) => ()", "(A & ) -> (B & C(1)) -> ()");
        assert_eq!(
            bound,
            "flow = %1 (%2 A takes (in.x, in.y) gives (%2.to, %2.b, %2.t) & gives (in.x, in.y)) takes (in.x, in.y) \
             -> %3 (%4 B takes (%1.2, %1.0) gives () & %5 C(1) takes (%1.2, %1.0) gives (%5.c)) \
             takes (%1.0, %1.1, %1.2, %1.3, %1.4) -> %6 ( gives (%3.0)) takes (%3.0) gives ()"
                .replace("( gives", "(gives")
        );
        assert_eq!(errors, 0);
    }

    #[test]
    fn lines_and_sources_are_bound_each_by_itself() {
        let lines = "node S (int x, bool y) => (bool b) {\nflow [_, _] = A\nflow [_, _] = A -> %9 A\n}\n\
                     source L => S\nsource every 5ms => S";
        let (bound, errors) = bind(&format!("{NODES}{lines}"));
        assert_eq!(
            bound,
            "flow [_, _] = %1 A takes (in.x, in.y) gives (%1.b)\n\
             flow [_, _] = %1 A takes (in.x, in.y) -> %9 A takes (in.x, in.y) gives (%9.b)\n\
             source L => S takes (in.from, in.b)\nsource every 5ms => S takes ()"
        );
        assert_eq!(errors, 1);
    }

    #[test]
    fn what_does_not_fit_is_an_error_and_alone_stays_unbound() {
        let (bound, errors) = flow("(bool y, int x) => (int other)", "A");
        assert_eq!(bound, "flow = %1 A takes (in.x, in.y)");
        assert_eq!(errors, 1);
    }
}
