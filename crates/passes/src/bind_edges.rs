//! Says which value every input of a step takes, every output of a flow, and every input of a source's target.
//! Requires: every signature is known. Establishes: all of them are bound, or there is an error.
//!
//! An author writes `A -> B` and means the values that A gives. Which of them goes where is decided here, by the rule
//! of [`crate::fit`], and nowhere else. Each value is named by the step that makes it ([`Argument`]), and later passes
//! follow the names. So no two passes can decide differently, and a step that a pass inserts or removes changes no
//! other step's values. A front whose notation has variables writes the names itself.

use crate::check_constants::misbound;
use crate::edge_diagnostics::{by_name, report, spoiled};
use crate::edges::{Place, Port, edges};
use crate::fit::{Fit, fit};
use flux_diagnostic::Diagnostics;
use flux_ir::program::{Action, Argument, Chain, NodeId, Origin, Parameter, Program, Signature, StepNumber};
use std::borrow::Cow;
use std::collections::HashMap;

/// Binds what fits, and reports the edges whose values do not; as a note, what an edge drops. O(edges · parameters).
pub fn bind_edges(program: &mut Program, diagnostics: &mut Diagnostics) {
    let mut bound = HashMap::new();
    let mut misfits = vec![];
    let misbound = misbound(program);
    for edge in edges(program).into_iter().filter(|edge| !misbound.contains(&edge.to_span)) {
        let Some(given) = joined(program, &edge.from) else { continue };
        let Some(taken) = list(program, edge.to) else { continue };
        match fit(&given, taken) {
            Ok(fit) => {
                if let Fit::Name(positions) = &fit {
                    diagnostics.push(by_name(program, &edge, &given, taken, positions));
                }
                let positions = fit.positions(taken.len()).into_iter();
                bound.insert(edge.place, positions.map(|position| edge.value(position)).collect());
            }
            Err(misfit) => misfits.push(spoiled(program, &edge, &given, taken, misfit)),
        }
    }
    report(misfits, diagnostics);
    Binder { outputs: output_counts(program), bound }.program(program);
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

/// How many outputs each node has.
fn output_counts(program: &Program) -> Vec<usize> {
    program.nodes.iter().map(|(_, node)| node.outputs().len()).collect()
}

/// Writes what was found into the program.
struct Binder {
    outputs: Vec<usize>,
    bound: HashMap<Place, Vec<Argument>>,
}

impl Binder {
    fn program(&mut self, program: &mut Program) {
        for (index, source) in program.sources.iter_mut().enumerate() {
            source.arguments = match source.origin {
                Origin::Node(_) => self.bound.remove(&Place::Start(index)),
                Origin::Timer(_) => Some(vec![]),
            };
        }
        for (id, node) in program.nodes.iter_mut() {
            let inputs: Vec<_> = (0..node.inputs().len()).map(Argument::Input).collect();
            for (index, chain) in node.chains_mut().enumerate() {
                self.steps(chain, (id, index), inputs.clone());
                chain.results = self.bound.remove(&Place::End(id, index));
            }
        }
    }

    /// Goes along a chain, from the `values` that come in to those that come out at its end. What branches get and give
    /// is all that there is at that place: nothing is declared there that it would have to fit.
    fn steps(&mut self, chain: &mut Chain, flow: (NodeId, usize), mut values: Vec<Argument>) -> Vec<Argument> {
        for step in &mut chain.steps {
            let count = match &mut step.action {
                Action::Apply(application) => {
                    application.arguments = self.bound.remove(&Place::Step(flow.0, flow.1, step.number));
                    self.outputs.get(application.node.index()).copied().unwrap_or_default()
                }
                Action::Parallel(parallel) => {
                    let mut count = 0;
                    for branch in &mut parallel.branches {
                        let results = self.steps(branch, flow, values.clone());
                        count += results.len();
                        branch.results = Some(results);
                    }
                    parallel.arguments = Some(values);
                    count
                }
            };
            values = outputs(step.number, count);
        }
        values
    }
}

fn outputs(step: StepNumber, count: usize) -> Vec<Argument> {
    (0..count).map(|index| Argument::Output(step, index)).collect()
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
