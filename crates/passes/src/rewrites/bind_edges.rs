//! Says which value every input of a step takes, every output of a flow, and every input of a source's target.
//! Requires: every signature is known. Establishes: all of them are bound, or there is an error.
//!
//! An author writes `A -> B` and means the values that A gives. Which of them goes where is decided here, by the rule
//! of [`crate::analyses::fit`], and nowhere else. Each value is named by the step that makes it ([`Argument`]), and
//! later passes follow the names. So no two passes can decide differently, and a step that a pass inserts or removes
//! changes no other step's values. A front whose notation has variables writes the names itself.
//!
//! In `A -> B -> C(x: y)` the author names one value: C takes `y` of whatever step made it last, and its other inputs
//! take what B gives ([`crate::rewrites::named_inputs`], [`crate::analyses::visible_values`]).

use crate::analyses::edges::{Edge, Place, Port, edges};
use crate::analyses::fit::{Fit, fit};
use crate::analyses::visible_values::VisibleValues;
use crate::checks::check_constants::misbound;
use crate::rewrites::edge_diagnostics::{SpoiledEdge, by_name, report, spoiled};
use crate::rewrites::named_inputs;
use flux_diagnostic::Diagnostics;
use flux_ir::program::{
    Action, Application, Argument, Body, Chain, NodeId, Origin, Parallel, Parameter, Program, Signature,
};
use std::borrow::Cow;
use std::collections::HashMap;

/// Binds what fits, and reports the edges whose values do not; as a note, what an edge drops. O(edges · parameters).
pub fn bind_edges(program: &mut Program, diagnostics: &mut Diagnostics) {
    let mut bound = HashMap::new();
    let mut found = Found { program, diagnostics, spoiled: vec![] };
    let misbound = misbound(program);
    for edge in edges(program).into_iter().filter(|edge| !misbound.contains(&edge.to_span)) {
        let Some(given) = joined(program, &edge.from) else { continue };
        let Some(taken) = list(program, edge.to) else { continue };
        if let Some(positions) = found.positions(&edge, &given, taken) {
            bound.insert(edge.place, positions.into_iter().map(|position| edge.value(position)).collect());
        }
    }
    report(found.spoiled, diagnostics);
    Binder { bound, diagnostics }.program(program);
}

/// What is found along edges.
struct Found<'a> {
    program: &'a Program,
    diagnostics: &'a mut Diagnostics,
    spoiled: Vec<SpoiledEdge>,
}

impl Found<'_> {
    /// For each of the `taken` that is not named, the position of its value among those `given`; none where there is an
    /// error.
    fn positions(&mut self, edge: &Edge, given: &[Parameter], taken: &[Parameter]) -> Option<Vec<usize>> {
        if edge.named.is_empty() {
            return self.fit(edge, given, taken);
        }
        if !named_inputs::check(self.program, edge, self.diagnostics) {
            return None;
        }
        let (left, given, taken) = named_inputs::without(&edge.named, given, taken);
        let positions = self.fit(edge, &given, &taken)?;
        positions.into_iter().map(|position| left.get(position).copied()).collect()
    }

    fn fit(&mut self, edge: &Edge, given: &[Parameter], taken: &[Parameter]) -> Option<Vec<usize>> {
        match fit(given, taken) {
            Ok(fit) => {
                // Where the author names all that a step takes, nothing is left to say of it.
                let is_all_named = taken.is_empty() && !edge.named.is_empty();
                if let (Fit::Name(positions), false) = (&fit, is_all_named) {
                    self.diagnostics.push(by_name(self.program, edge, given, taken, positions));
                }
                Some(fit.positions(taken.len()))
            }
            Err(misfit) => {
                self.spoiled.push(spoiled(self.program, edge, given, taken, misfit));
                None
            }
        }
    }
}

fn list(program: &Program, port: Port) -> Option<&[Parameter]> {
    program.nodes[port.node()].signature.as_ref().map(|signature: &Signature| port.of(signature))
}

fn joined<'a>(program: &'a Program, ports: &[Port]) -> Option<Cow<'a, [Parameter]>> {
    if let [port] = ports {
        return list(program, *port).map(Cow::Borrowed);
    }
    let lists: Option<Vec<_>> = ports.iter().map(|port| list(program, *port)).collect();
    lists.map(|lists| Cow::Owned(lists.concat()))
}

/// Writes what was found into the program, and finds what is taken by its name.
struct Binder<'d> {
    bound: HashMap<Place, Vec<Argument>>,
    diagnostics: &'d mut Diagnostics,
}

impl Binder<'_> {
    fn program(&mut self, program: &mut Program) {
        for (index, source) in program.sources.iter_mut().enumerate() {
            source.arguments = match source.origin {
                Origin::Node(_) => self.bound.remove(&Place::Start(index)),
                Origin::Timer(_) => Some(vec![]),
            };
        }
        for id in program.nodes.ids().collect::<Vec<_>>() {
            // The body comes back changed; all else stays in the program, to be looked at meanwhile.
            let mut body = std::mem::replace(&mut program.nodes[id].body, Body::Concrete);
            for (index, chain) in body.chains_mut().enumerate() {
                let inputs = program.nodes[id].inputs();
                let given = (0..inputs.len()).map(Argument::Input).collect();
                self.steps(program, chain, (id, index), given, &mut VisibleValues::new(inputs));
                chain.results = self.bound.remove(&Place::End(id, index));
            }
            program.nodes[id].body = body;
        }
    }

    /// Goes along a chain, from the values `given` to it to those that it gives at its end. What branches are given and
    /// give is all that there is at that place: nothing is declared there that it would have to fit.
    fn steps<'a>(
        &mut self,
        program: &'a Program,
        chain: &mut Chain,
        flow: (NodeId, usize),
        mut given: Vec<Argument>,
        values: &mut VisibleValues<'a>,
    ) -> Vec<Argument> {
        for step in &mut chain.steps {
            let number = step.number;
            let output = |index| Argument::Output(number, index);
            let count = match &mut step.action {
                Action::Apply(application) => {
                    let place = Place::Step(flow.0, flow.1, number);
                    self.apply(program, application, place, values);
                    let outputs = program.nodes[application.node].outputs();
                    values.add(outputs, output);
                    outputs.len()
                }
                Action::Parallel(parallel) => {
                    let made = self.branches(program, parallel, flow, given, values);
                    let count = made.len();
                    values.add(made, output);
                    count
                }
            };
            given = (0..count).map(output).collect();
        }
        given
    }

    fn apply<'a>(
        &mut self,
        program: &'a Program,
        application: &mut Application,
        place: Place,
        values: &mut VisibleValues<'a>,
    ) {
        let node = &program.nodes[application.node];
        let bound = application.constants.len();
        let inputs = node.inputs().get(bound..).unwrap_or_default();
        application.arguments = self.bound.remove(&place).and_then(|others| {
            if application.named.is_empty() {
                return Some(others);
            }
            named_inputs::bind(node, inputs, &application.named, others, values, self.diagnostics)
        });
        values.take(node, bound, application.arguments.as_deref().unwrap_or_default());
    }

    /// Binds the branches of a parallel step; what they make, one after the other.
    fn branches<'a>(
        &mut self,
        program: &'a Program,
        parallel: &mut Parallel,
        flow: (NodeId, usize),
        given: Vec<Argument>,
        values: &mut VisibleValues<'a>,
    ) -> Vec<&'a Parameter> {
        let mut made = vec![];
        values.enter(given.clone());
        for branch in &mut parallel.branches {
            let results = self.steps(program, branch, flow, given.clone(), values);
            made.extend(results.iter().filter_map(|result| values.parameter(*result)));
            branch.results = Some(results);
            values.end_branch();
        }
        parallel.arguments = Some(values.leave());
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_diagnostic::Severity;
    use flux_ir::text::{parse_program, print_program};
    use flux_ir::verify::{self, Stage};

    /// The lines of the program that say where values go, once they are bound, and how many errors there were.
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

    /// As [`bind`], of a flow of `S`, which is declared so.
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
             flow [_, _] = %1 A takes (in.x, in.y) -> %9 A gives (%9.b)\n\
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
