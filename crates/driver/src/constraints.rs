//! What each node takes and what it holds already, in each context it runs in: `flux check --constraints`.
//!
//! A tree from each source down, as flows run through it. Nodes that neither need a constraint nor contain one that
//! does are left out. A function that is called again with the same held around it is shown once.

use flux_ir::flow::{Acquisition, Block, Callee, End, Flow, FunctionId, Operand, Step};
use flux_ir::program::{ConstraintId, Mode, NodeId, Origin, Requirement};
use flux_source::deep;
use std::collections::HashSet;
use std::fmt::Write as _;

/// Prints the tree. O(size of the flow).
pub fn constraints(flow: &Flow) -> String {
    let mut printer = Printer {
        flow,
        busy: busy(flow),
        shown: HashSet::new(),
        held: vec![],
        call: Call { number: 0, inputs: vec![] },
        calls: 0,
        text: String::new(),
    };
    for (source, entry) in flow.program.sources.iter().zip(&flow.entries) {
        let target = &flow.program.nodes[source.target].name;
        let origin = match &source.origin {
            Origin::Node(application) => flow.program.nodes[application.node].name.to_string(),
            Origin::Timer(period_ms) => format!("every {period_ms}ms"),
        };
        printer.line(0, &format!("source {origin} => {target}"), &[]);
        for function in entry.produce.into_iter().chain([entry.run]) {
            printer.function(function, vec![], 1);
        }
    }
    printer.text
}

/// A value by its origin: the number of the call in which it is made, and what it is there; constants are of no call.
/// Keys are the same where the origins of their values are.
type Value = (usize, Operand);

/// A function as it is called here.
struct Call {
    number: usize,
    /// What it is called with; none where nothing calls it.
    inputs: Vec<Value>,
}

/// A constraint that is held, around the call of the node `holder`.
struct Hold {
    constraint: ConstraintId,
    key: Vec<Value>,
    mode: Mode,
    holder: String,
}

struct Printer<'a> {
    flow: &'a Flow,
    busy: HashSet<FunctionId>,
    shown: HashSet<FunctionId>,
    /// What is held here.
    held: Vec<Hold>,
    /// The function that is printed.
    call: Call,
    /// How many have been called.
    calls: usize,
    text: String,
}

impl<'a> Printer<'a> {
    fn function(&mut self, id: FunctionId, inputs: Vec<Value>, depth: usize) {
        self.shown.insert(id);
        self.calls += 1;
        let caller = std::mem::replace(&mut self.call, Call { number: self.calls, inputs });
        self.block(&self.flow.functions[id].body, depth);
        self.call = caller;
    }

    fn value(&self, operand: &Operand) -> Value {
        let known = match operand {
            Operand::Constant(_) => return (0, operand.clone()),
            Operand::Input(at) => self.call.inputs.get(*at),
            Operand::Output(..) | Operand::Changed(..) | Operand::Error(..) => None,
        };
        known.cloned().unwrap_or_else(|| (self.call.number, operand.clone()))
    }

    fn values(&self, operands: &[Operand]) -> Vec<Value> {
        operands.iter().map(|operand| self.value(operand)).collect()
    }

    fn block(&mut self, block: &'a Block, depth: usize) {
        deep(|| {
            for step in &block.steps {
                self.step(step, depth);
                self.block(&step.failure, depth);
            }
            if let End::Dispatch { lines, .. } = &block.end {
                lines.iter().for_each(|line| self.block(&line.block, depth));
            }
        })
    }

    fn step(&mut self, step: &'a Step, depth: usize) {
        let functions = step.callee.functions();
        let node = self.flow.callee_node(&step.callee);
        let required: &[Requirement] = node.map_or(&[], |node| &self.flow.program.nodes[node].requirements);
        let inside = functions.iter().any(|function| self.busy.contains(function));
        if required.is_empty() && step.acquire.is_empty() && !inside {
            return;
        }
        let unnamed = if matches!(step.callee, Callee::Each(_)) { "for each" } else { "in parallel" };
        let name = node.map_or(unnamed.to_owned(), |node| self.flow.program.nodes[node].name.to_string());
        let mut facts: Vec<String> = step.acquire.iter().map(|one| self.taken(step, one)).collect();
        let is_taken = |one: &Requirement| step.acquire.iter().any(|other| other.constraint == one.constraint);
        let had = node.into_iter().flat_map(|node| required.iter().map(move |one| (node, one)));
        facts.extend(had.filter(|(_, one)| !is_taken(one)).map(|(node, one)| self.had(step, node, one)));
        let again = !functions.is_empty() && functions.iter().all(|function| self.shown.contains(function));
        if again && inside {
            facts.push("inside as above".to_owned());
        }
        self.line(depth, &name, &facts);
        if again {
            return;
        }
        let before = self.held.len();
        for one in &step.acquire {
            let key = self.values(&one.key);
            self.held.push(Hold { constraint: one.constraint, key, mode: one.mode, holder: name.clone() });
        }
        // What only the callee has, such as an element of a list, is a value of its own there.
        let own = |at| (self.calls + 1, Operand::Input(at));
        let passed = |at| step.passed(at).map_or_else(|| own(at), |operand| self.value(operand));
        let inputs: Vec<Value> = (0..step.inputs.len()).map(passed).collect();
        functions.into_iter().for_each(|function| self.function(function, inputs.clone(), depth + 1));
        self.held.truncate(before);
    }

    /// `takes x? for D`
    fn taken(&self, step: &Step, one: &Acquisition) -> String {
        let why =
            one.provenance.whom().map_or(String::new(), |node| format!(", for {}", self.flow.program.nodes[node].name));
        format!("takes {}{why}", self.flow.taken_text(step, one))
    }

    /// `has x(user) already, from C`: what `node`, which the step calls, requires.
    fn had(&self, step: &Step, node: NodeId, one: &Requirement) -> String {
        let key: Vec<_> = one.key.iter().filter_map(|at| step.inputs.get(*at)).map(|part| self.value(part)).collect();
        let holder = self.held.iter().rev().find(|hold| hold.constraint == one.constraint && hold.key == key);
        let from = holder.map_or(String::new(), |hold| {
            let stronger = if hold.mode != one.mode { ", as a writer" } else { "" };
            format!(", from {}{stronger}", hold.holder)
        });
        format!("has {} already{from}", self.flow.required_text(node, one))
    }

    fn line(&mut self, depth: usize, name: &str, facts: &[String]) {
        // Writing to a string cannot fail.
        let _ = match facts {
            [] => writeln!(self.text, "{}{name}", "  ".repeat(depth)),
            _ => writeln!(self.text, "{}{name}: {}", "  ".repeat(depth), facts.join("; ")),
        };
    }
}

/// The functions that take something, or call one that does; callees come first.
fn busy(flow: &Flow) -> HashSet<FunctionId> {
    let mut busy = HashSet::new();
    for (id, function) in flow.functions.iter() {
        let steps = function.body.all_steps();
        let needs = |step: &&Step| {
            let node = flow.callee_node(&step.callee);
            let required = node.is_some_and(|node| !flow.program.nodes[node].requirements.is_empty());
            required || !step.acquire.is_empty() || step.callee.functions().iter().any(|one| busy.contains(one))
        };
        if steps.iter().any(needs) {
            busy.insert(id);
        }
    }
    busy
}
