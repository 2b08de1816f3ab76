//! What functions do besides giving their outputs.
//!
//! The compiler sees everything in a computation, and nothing in a function in C++; of that it knows what the author
//! promises, `silent` or `pure`. A flow does what its steps and their error handlers do. So the analysis is
//! conservative: it may know less than is true, never more.

use crate::program::{Body, Chain, HandlerStep, Node, NodeId, PredicateId, Program, TestedBy};

/// What a function may do beside giving its outputs. What is later in this order promises more, and keeps what is
/// earlier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Effects {
    /// Anything.
    #[default]
    Unknown,
    /// `silent`: nobody can see that it was called. It changes nothing but its outputs, though it may read what others
    /// change, such as a clock or a file.
    Silent,
    /// `pure`: it is silent, and its outputs, or its error, depend on its inputs alone. So a call can be left out,
    /// repeated, or answered by an earlier one.
    Pure,
}

impl Effects {
    /// What an author can promise, in the order of the language reference.
    pub const PROMISES: [Self; 2] = [Self::Silent, Self::Pure];

    /// As the language spells it; empty where nothing is promised.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Silent => "silent",
            Self::Pure => "pure",
        }
    }

    /// The promise that the language spells so.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::PROMISES.into_iter().find(|promise| promise.name() == name)
    }
}

/// The effects of all functions of a program.
#[derive(Clone, Debug)]
pub struct KnownEffects(Vec<Effects>);

impl KnownEffects {
    /// Those of `program`. O(its size).
    pub fn of(program: &Program) -> Self {
        let count = program.nodes.len();
        // A vertex for each node, then one for what handles its errors, then one for what handles those of any node.
        let any_handler = 2 * count;
        let handler = |node: NodeId| count + node.index();
        let mut graph = Graph { effects: vec![Effects::Pure; any_handler + 1], used_by: vec![vec![]; any_handler + 1] };
        for (id, node) in program.nodes.iter() {
            graph.limit(id.index(), of_body(program, node));
            graph.uses(handler(id), any_handler);
            for application in node.chains().flat_map(Chain::applications) {
                graph.uses(id.index(), application.node.index());
                graph.uses(id.index(), handler(application.node));
            }
        }
        for one in &program.handlers {
            let at = one.path.last().copied().flatten().map_or(any_handler, handler);
            match one.target.step() {
                Some(HandlerStep::Node(target)) => graph.uses(at, target.index()),
                Some(HandlerStep::External(external)) => _ = graph.limit(at, program.externals[external].effects),
                None => {}
            }
        }
        graph.spread();
        graph.effects.truncate(count);
        Self(graph.effects)
    }

    /// What a call of this node may do, all that is in its flow included.
    pub fn node(&self, node: NodeId) -> Effects {
        self.0.get(node.index()).copied().unwrap_or_default()
    }
}

/// What asking this predicate may do: a computation does nothing.
pub fn of_predicate(program: &Program, predicate: PredicateId) -> Effects {
    match program.predicates[predicate].tested_by {
        TestedBy::External(external) => program.externals[external].effects,
        TestedBy::Computed(_) => Effects::Pure,
    }
}

/// What a node does by itself: of a flow all but its steps.
fn of_body(program: &Program, node: &Node) -> Effects {
    match &node.body {
        Body::External(external) => program.externals[*external].effects,
        Body::Computed(_) => Effects::Pure,
        Body::Chain(chain) => of_deadlines(chain),
        Body::Dispatch(lines) => {
            let asked = lines.iter().flat_map(|line| line.patterns.iter().flatten());
            let asked = asked.map(|predicate| of_predicate(program, *predicate));
            let deadlines = lines.iter().map(|line| of_deadlines(&line.chain));
            asked.chain(deadlines).min().unwrap_or(Effects::Pure)
        }
    }
}

/// A step with a deadline fails or not as the clock has it.
fn of_deadlines(chain: &Chain) -> Effects {
    let is_timed = chain.all_steps().iter().any(|step| step.within.is_some());
    if is_timed { Effects::Silent } else { Effects::Pure }
}

/// What uses what: each vertex promises no more than all that it uses.
struct Graph {
    effects: Vec<Effects>,
    used_by: Vec<Vec<usize>>,
}

impl Graph {
    fn uses(&mut self, user: usize, used: usize) {
        self.used_by.get_mut(used).into_iter().for_each(|users| users.push(user));
    }

    /// Takes away what goes beyond `limit`; whether that was something.
    fn limit(&mut self, vertex: usize, limit: Effects) -> bool {
        let Some(effects) = self.effects.get_mut(vertex).filter(|effects| **effects > limit) else { return false };
        *effects = limit;
        true
    }

    /// Takes away from every vertex what something that it uses does not promise. Each loses a promise at most twice.
    fn spread(&mut self) {
        let mut open: Vec<usize> = (0..self.effects.len()).collect();
        while let Some(vertex) = open.pop() {
            let limit = self.effects.get(vertex).copied().unwrap_or_default();
            let users = self.used_by.get(vertex).cloned().unwrap_or_default();
            open.extend(users.into_iter().filter(|user| self.limit(*user, limit)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_program;

    fn said(text: &str) -> Vec<String> {
        let program = parse_program(&format!("program t\n{text}")).unwrap();
        let known = KnownEffects::of(&program);
        program.nodes.iter().map(|(id, node)| format!("{} {}", node.name, known.node(id).name())).collect()
    }

    #[test]
    fn a_flow_promises_what_all_its_steps_do() {
        let nodes =
            "node P () => () pure\nnode S () => () silent\nnode U () => ()\nnode C () => () {\ncompute {\n}\n}\n";
        let flows = "node Empty () => () {\nflow =\n}\nnode OfP () => () {\nflow = P -> (C & P)\n}\n\
                     node OfS () => () {\nflow = OfP -> (P & S)\n}\nnode OfU () => () {\nflow = OfS -> U\n}\n\
                     node Timed () => () {\nflow = P within 5\n}\n";
        let expected =
            ["P pure", "S silent", "U ", "C pure", "Empty pure", "OfP pure", "OfS silent", "OfU ", "Timed silent"];
        assert_eq!(said(&format!("{nodes}{flows}")), expected);
    }

    #[test]
    fn a_dispatch_promises_what_its_predicates_and_lines_do() {
        let text = "predicate p = P pure\npredicate s = S silent\npredicate u = U\n\
                    predicate c (int x) {\nsays truth:\"bool\" true\n}\n\
                    node A (int x) => () {\nflow [p] =\nflow [c] =\n}\n\
                    node B (int x) => () {\nflow [p] =\nflow [s] =\n}\n\
                    node C (int x) => () {\nflow [s] =\nflow [u] =\n}\n";
        assert_eq!(said(text), ["A pure", "B silent", "C "]);
    }

    #[test]
    fn what_handles_an_error_is_done_by_the_flow_with_the_step_that_failed() {
        let nodes = "node P () => () pure\nnode S () => () silent\nnode Flow () => () {\nflow = P\n}\n\
                     node Outer () => () {\nflow = Flow\n}\n";
        let with = |handler: &str| said(&format!("{nodes}{handler}"));
        assert_eq!(with(""), ["P pure", "S silent", "Flow pure", "Outer pure"]);
        assert_eq!(with("handle error P => node S"), ["P pure", "S silent", "Flow silent", "Outer silent"]);
        assert_eq!(with("handle error * -> P => function H"), ["P pure", "S silent", "Flow ", "Outer "]);
        assert_eq!(with("handle error Flow => function H"), ["P pure", "S silent", "Flow pure", "Outer "]);
        assert_eq!(with("handle error Flow -> * => node S"), ["P pure", "S silent", "Flow silent", "Outer silent"]);
    }

    #[test]
    fn a_circle_comes_to_an_end() {
        let text = "node S () => () silent\nnode A () => () {\nflow = B\n}\nnode B () => () {\nflow = A -> S\n}\n";
        assert_eq!(said(text), ["S silent", "A silent", "B silent"]);
    }
}
