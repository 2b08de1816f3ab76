//! What must hold of a flow: values are there where they are used and have the types that are wanted, constraints are
//! taken in the one order, functions call only functions before them, and blocks end as their places allow.

use super::Violations;
use super::names::is_free_identifier;
use super::program::{constraint_and_key, is_known, width, within};
use crate::error_code::ErrorPart;
use crate::external::{External, ExternalId, ExternalRole};
use crate::flow::{
    Acquisition, Block, Branch, Callee, Each, EachOrder, End, Entry, Flow, Function, FunctionId, HeldKey, Line,
    Operand, Role, Step, StepId,
};
use crate::program::{ConstraintId, Node, NodeId, Origin, Parameter, Source};
use crate::types::Type;
use flux_source::{Span, deep};
use std::collections::{HashMap, HashSet};

/// What must hold of a flow whose program is typed.
pub(super) fn check(flow: &Flow, violations: &mut Violations) {
    let mut names = HashSet::new();
    let parts = ErrorPart::ALL.map(|part| (part, part.parameter()));
    for (id, function) in flow.functions.iter() {
        let name = &function.name;
        violations.require(is_free_identifier(name), function.span, || format!("`{name}` cannot name a C++ function"));
        violations.require(names.insert(name), function.span, || format!("two functions are called `{name}`"));
        let (visible, failing, steps) = (HashMap::new(), vec![], HashSet::new());
        let mut checker = Checker { flow, id, function, parts: &parts, violations, visible, failing, steps };
        checker.role();
        checker.held();
        checker.block(&function.body, Place::Body);
    }
    check_entries(flow, violations);
}

/// There is an entry for each source, and its functions are those of the source.
fn check_entries(flow: &Flow, violations: &mut Violations) {
    let (entries, sources) = (flow.entries.len(), flow.program.sources.len());
    violations.require(entries == sources, Span::default(), || format!("{entries} entries for {sources} sources"));
    for (index, (entry, source)) in flow.entries.iter().zip(&flow.program.sources).enumerate() {
        check_entry(flow, index, entry, source, violations);
    }
}

fn check_entry(flow: &Flow, index: usize, entry: &Entry, source: &Source, violations: &mut Violations) {
    let mut require =
        |holds, message: &str| violations.require(holds, source.span, || format!("source {index}: {message}"));
    let timer = matches!(source.origin, Origin::Timer(_));
    require(entry.produce.is_none() == timer, "a timer, and nothing else, has nothing that produces");
    let run = flow.functions.find(entry.run).filter(|run| run.role == Role::Run(index));
    require(run.is_some(), "the entry runs a function that is not the source's");
    let produced = match entry.produce {
        None => Some(&[][..]),
        Some(produce) => {
            let produce = flow.functions.find(produce).filter(|produce| produce.role == Role::Produce(index));
            require(produce.is_some(), "the entry produces by a function that is not the source's");
            require(produce.is_none_or(|produce| produce.inputs.is_empty()), "what produces takes inputs");
            produce.map(|produce| produce.outputs.as_slice())
        }
    };
    if let (Some(run), Some(produced)) = (run, produced) {
        require(same_members(&run.inputs, produced), "what runs does not take what is produced");
        require(run.outputs.is_empty(), "what runs gives outputs, and nobody takes them");
    }
}

/// Whether a C++ structure of one is a structure of the other.
fn same_members(left: &[Parameter], right: &[Parameter]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| left.ty == right.ty && left.name == right.name)
}

/// Where a block is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The body of a function.
    Body,
    /// What happens on a line of a dispatch.
    Line,
    /// What happens when the innermost failing step has failed.
    Failure,
}

/// A step as those after it see it; without what its callee takes and gives where there is no such callee.
struct Called<'a> {
    id: StepId,
    /// The node, where it calls a concrete one.
    node: Option<NodeId>,
    /// Whether a handler of its failure lets the flow go on without values.
    may_go_on: bool,
    inputs: Option<&'a [Parameter]>,
    outputs: Option<Vec<&'a Parameter>>,
}

/// Checks a function.
struct Checker<'a> {
    flow: &'a Flow,
    id: FunctionId,
    function: &'a Function,
    /// The parts of a failure as values.
    parts: &'a [(ErrorPart, Parameter)],
    violations: &'a mut Violations,
    /// The steps whose outputs can be read here.
    visible: HashMap<StepId, Option<Vec<&'a Parameter>>>,
    /// The steps in whose failure blocks we are, innermost last.
    failing: Vec<Called<'a>>,
    /// All steps so far.
    steps: HashSet<StepId>,
}

impl<'a> Checker<'a> {
    fn add(&mut self, span: Span, message: &str) {
        self.violations.add(span, format!("function `{}`: {message}", self.function.name));
    }

    fn require(&mut self, holds: bool, span: Span, message: impl FnOnce() -> String) {
        if !holds {
            self.add(span, &message());
        }
    }

    fn role(&mut self) {
        let (flow, function) = (self.flow, self.function);
        match function.role {
            Role::Abstract(id) => {
                if let Some(node) = self.node(id, function.span) {
                    self.require(!node.body.is_leaf(), function.span, || format!("`{}` is concrete", node.name));
                    let same = same_members(&function.inputs, node.inputs())
                        && same_members(&function.outputs, node.outputs());
                    self.require(same, function.span, || format!("its signature is not that of `{}`", node.name));
                }
            }
            Role::Branch(id) => {
                self.node(id, function.span);
            }
            Role::Produce(source) | Role::Run(source) => {
                let known = source < flow.program.sources.len();
                self.require(known, function.span, || format!("there is no source {source}"));
            }
        }
    }

    fn held(&mut self) {
        let (program, function) = (&self.flow.program, self.function);
        let mut seen = HashSet::new();
        for held in &function.held {
            let Some(constraint) = program.constraints.find(held.constraint) else {
                self.add(function.span, &format!("there is no constraint {:?}", held.constraint));
                continue;
            };
            let once = seen.insert((held.constraint, &held.key));
            self.require(once, function.span, || format!("`{}` is held twice", constraint.name));
            let within = held.key.iter().all(|part| match part {
                HeldKey::Inputs(inputs) => inputs.iter().all(|input| *input < function.inputs.len()),
                HeldKey::Constant(_) | HeldKey::Lost => true,
            });
            self.require(within, function.span, || format!("the key of `{}` is not among the inputs", constraint.name));
        }
    }

    /// The node `id`, where there is one.
    fn node(&mut self, id: NodeId, span: Span) -> Option<&'a Node> {
        let node = self.flow.program.nodes.find(id);
        self.require(node.is_some(), span, || format!("there is no node {id:?}"));
        node
    }

    /// The function `id`, where there is one before this one.
    fn callee(&mut self, id: FunctionId, span: Span) -> Option<&'a Function> {
        let callee = self.flow.functions.find(id);
        self.require(callee.is_some(), span, || format!("there is no function {id:?}"));
        let before = callee.is_none() || id < self.id;
        self.require(before, span, || "it calls a function that does not come before it".to_owned());
        callee.filter(|_| before)
    }

    fn block(&mut self, block: &'a Block, place: Place) {
        let mut entered = vec![];
        for step in &block.steps {
            let called = self.step(step);
            if self.visible.insert(called.id, called.outputs).is_none() {
                entered.push(called.id);
            }
        }
        self.end(&block.end, place);
        for id in entered {
            self.visible.remove(&id);
        }
    }

    fn step(&mut self, step: &'a Step) -> Called<'a> {
        deep(|| {
            let id = step.id;
            let number = id.0;
            let fresh = self.steps.insert(id);
            self.require(fresh, step.span, || format!("two steps are %{number}"));
            let takes = self.called(step);
            let (mut inputs, mut outputs) = (None, None);
            if !takes.is_empty() {
                let takes_all = self.takes_what_failed(step);
                for takes in takes.iter().filter(|_| !takes_all) {
                    self.values(&step.inputs, takes.iter(), step.span, || format!("the callee of step %{number}"));
                }
                inputs = Some(self.flow.callee_inputs(&step.callee));
                outputs = Some(self.flow.callee_outputs(&step.callee));
            }
            self.acquisitions(step);
            within(&self.flow.program, self.violations, step.within.as_ref(), step.span);
            let runs = !matches!(step.callee, Callee::External { .. });
            self.require(step.within.is_none() || runs, step.span, || format!("step %{number} cannot have a deadline"));
            let node = match step.callee {
                Callee::Node(node) => Some(node),
                _ => None,
            };
            let may_go_on = self.may_go_on(&step.callee);
            self.failing.push(Called { id, node, may_go_on, inputs, outputs });
            self.block(&step.failure, Place::Failure);
            self.failing.pop().unwrap_or(Called { id, node, may_go_on, inputs: None, outputs: None })
        })
    }

    /// Whether some handler of the node that is called says `_`.
    fn may_go_on(&self, callee: &Callee) -> bool {
        let node = match callee {
            Callee::Node(node) => Some(*node),
            Callee::Function(function) => self.flow.functions.find(*function).and_then(Function::node),
            Callee::Fork(_) | Callee::Each(_) | Callee::External { .. } => None,
        };
        let ends_in = |path: &[Option<NodeId>]| node.is_some() && path.last() == Some(&node);
        self.flow.program.handlers.iter().any(|handler| handler.target.goes_on() && ends_in(&handler.path))
    }

    /// Whether a step is a handler that is handed all that the node left which failed.
    fn takes_what_failed(&self, step: &Step) -> bool {
        let Callee::External { node, .. } = step.callee else { return false };
        let failing = self.failing.last().filter(|failing| failing.node == Some(node));
        let left = failing.and_then(|failing| Some((failing.id, failing.inputs?.len())));
        left.is_some_and(|(id, count)| {
            let changed: Vec<_> = (0..count).map(|index| Operand::Changed(id, index)).collect();
            count > 0 && step.inputs == changed
        })
    }

    /// The inputs of each thing that `step` calls; none where something is wrong with one of them.
    fn called(&mut self, step: &'a Step) -> Vec<&'a [Parameter]> {
        let span = step.span;
        let callee: Option<Vec<&[Parameter]>> = match &step.callee {
            Callee::Node(id) => self.node(*id, span).map(|node| {
                let concrete = node.body.is_leaf();
                self.require(concrete, span, || format!("it calls the abstract `{}` as a C++ function", node.name));
                vec![node.inputs()]
            }),
            Callee::Function(id) => self.callee(*id, span).map(|callee| vec![callee.inputs.as_slice()]),
            Callee::Fork(branches) => {
                self.require(!branches.is_empty(), span, || "it forks into no branch".to_owned());
                let earlier = branches.iter().enumerate().all(|(at, one)| one.after.is_none_or(|after| after < at));
                self.require(earlier, span, || "a branch does not wait for an earlier one".to_owned());
                let inputs =
                    |branch: &Branch| self.callee(branch.function, span).map(|callee| callee.inputs.as_slice());
                branches.iter().map(inputs).collect()
            }
            Callee::Each(each) => self.each(each, span).map(|()| vec![each.inputs.as_slice()]),
            Callee::External { external, node } => {
                self.external(*external, span);
                self.node(*node, span).map(|node| vec![node.inputs()])
            }
        };
        callee.unwrap_or_default()
    }

    /// A function that is no node's is called where there is what it is for.
    fn external(&mut self, id: ExternalId, span: Span) {
        let Some(External { name, role, .. }) = self.flow.program.externals.find(id) else {
            return self.require(false, span, || format!("there is no external {id:?}"));
        };
        match role {
            ExternalRole::Handler => {
                let failing = !self.failing.is_empty();
                self.require(failing, span, || format!("it calls the handler `{name}` where nothing has failed"));
            }
            ExternalRole::Session => {
                let runs = matches!(self.function.role, Role::Run(_));
                self.require(runs, span, || format!("it asks `{name}` for a session, and is not run by a source"));
            }
            ExternalRole::Node | ExternalRole::Predicate => {
                self.require(false, span, || format!("it calls the {} `{name}` by itself", role.name()));
            }
        }
    }

    /// What an each step takes and gives is what its function takes and gives for one element.
    fn each(&mut self, each: &'a Each, span: Span) -> Option<()> {
        let function = self.callee(each.function, span)?;
        let carried = match &each.order {
            EachOrder::Loop(carried) => carried.as_slice(),
            EachOrder::AtOnce(count) => {
                width(&self.flow.program, self.violations, Some(count), span);
                &[]
            }
            EachOrder::InTurn => &[],
        };
        let types = |parameters: &[Parameter]| parameters.iter().map(|one| one.ty.clone()).collect::<Vec<_>>();
        let mut takes = types(&function.inputs);
        let list = takes.first_mut().map(|element| *element = Type::list_of(element));
        self.require(list.is_some(), span, || "it has an instance for each element, which takes none".to_owned());
        self.require(takes == types(&each.inputs), span, || "its instances do not take what it takes".to_owned());
        let hands_on = |at: usize| carried.iter().any(|one| one.0 == at);
        let gives = function.outputs.iter().enumerate();
        let gives: Vec<Type> =
            gives.map(|(at, one)| if hands_on(at) { one.ty.clone() } else { Type::list_of(&one.ty) }).collect();
        self.require(gives == types(&each.outputs), span, || "its instances do not give what it gives".to_owned());
        for (output, input) in carried {
            let (from, to) = (function.outputs.get(*output), function.inputs.get(*input).filter(|_| *input > 0));
            let fits = from.zip(to).is_some_and(|(from, to)| from.ty == to.ty);
            self.require(fits, span, || "an instance hands on what the next one does not take".to_owned());
            let once = carried.iter().filter(|one| one.0 == *output || one.1 == *input).count() == 1;
            self.require(once, span, || "an instance hands on two values as one".to_owned());
        }
        Some(())
    }

    /// Constraints are taken in the one order, each once.
    fn acquisitions(&mut self, step: &'a Step) {
        let program = &self.flow.program;
        let mut before = None;
        let mut seen: HashSet<(ConstraintId, &[Operand])> = HashSet::new();
        for Acquisition { constraint: id, key, span, provenance, .. } in &step.acquire {
            constraint_and_key(program, self.violations, *id, key.len(), *span);
            for operand in key {
                self.value(operand, *span);
            }
            let Some(constraint) = program.constraints.find(*id) else { continue };
            if let Some(whom) = provenance.whom() {
                let needs = |node: &Node| node.requirements.iter().any(|required| required.constraint == *id);
                self.require(program.nodes.find(whom).is_some_and(needs), *span, || {
                    format!("`{}` is taken for a node that does not require it", constraint.name)
                });
            }
            let rank = (constraint.scope, &constraint.name);
            self.require(before.is_none_or(|before| before <= rank), *span, || {
                format!("`{}` is taken too late for the one order", constraint.name)
            });
            let once = seen.insert((*id, key));
            self.require(once, *span, || format!("`{}` is taken twice in one step", constraint.name));
            before = Some(rank);
        }
    }

    /// As many values as parameters, of their types.
    fn values<'b>(
        &mut self,
        values: &[Operand],
        wanted: impl ExactSizeIterator<Item = &'b Parameter>,
        span: Span,
        taker: impl Fn() -> String,
    ) {
        let (given, count) = (values.len(), wanted.len());
        self.require(given == count, span, || format!("{} takes {count} values and gets {given}", taker()));
        for (operand, wanted) in values.iter().zip(wanted) {
            if let Some(value) = self.value(operand, span) {
                self.require(wanted.ty.takes(&value.ty), span, || {
                    format!("{} takes `{}` as `{}` and gets `{}`", taker(), wanted.ty, wanted.name, value.ty)
                });
            }
        }
    }

    /// The value as the parameter that it stands for; none for a constant, whose type is what is wanted, and for what
    /// is wrong.
    fn value(&mut self, operand: &Operand, span: Span) -> Option<&'a Parameter> {
        let function = self.function;
        match operand {
            Operand::Constant(constant) => {
                let known = is_known(&self.flow.program, constant);
                self.require(known, span, || "a constant is an option that there is not".to_owned());
                None
            }
            Operand::Input(index) => {
                let input = function.inputs.get(*index);
                self.require(input.is_some(), span, || format!("there is no input {index}"));
                input
            }
            Operand::Output(step, index) => {
                let Some(outputs) = self.visible.get(step) else {
                    self.add(span, &format!("an output of step %{} is not known here", step.0));
                    return None;
                };
                let output = outputs.as_ref()?.get(*index).copied();
                self.require(output.is_some(), span, || format!("step %{} has no output {index}", step.0));
                output
            }
            Operand::Changed(step, _) => {
                self.add(span, &format!("what step %{} left goes to a handler of its failure, as a whole", step.0));
                None
            }
            Operand::Error(step, part) => {
                let fails = self.failing.iter().any(|failing| failing.id == *step);
                self.require(fails, span, || format!("there is no error of step %{} here", step.0));
                self.parts.iter().find(|one| one.0 == *part).map(|one| &one.1)
            }
        }
    }

    fn end(&mut self, end: &'a End, place: Place) {
        let (function, span) = (self.function, self.function.span);
        let misplaced = |word: &str| format!("`{word}` stands where nothing has failed");
        let fails = !self.failing.is_empty();
        match end {
            End::Done { values, .. } => {
                self.values(values, function.outputs.iter(), span, || "`done`".to_owned());
            }
            End::Failed { .. } => self.require(fails, span, || misplaced("failed")),
            End::Ended { .. } => self.require(fails, span, || misplaced("ended")),
            End::Resume { values, .. } => match self.failing.last().map(|failing| failing.outputs.clone()) {
                None => self.add(span, &misplaced("resume")),
                Some(None) => {}
                Some(Some(outputs)) => {
                    self.require(!values.is_empty(), span, || "`resume` gives no values".to_owned());
                    self.values(values, outputs.into_iter(), span, || "`resume`".to_owned());
                }
            },
            End::GoOn { .. } => match self.failing.last() {
                None => self.add(span, &misplaced("go_on")),
                Some(failing) => {
                    let holds = failing.may_go_on && failing.outputs.as_ref().is_none_or(Vec::is_empty);
                    self.require(holds, span, || "`go_on` stands where no handler of the failure says so".to_owned());
                }
            },
            End::Dispatch { lines, unmatched } => {
                self.require(place == Place::Body, span, || "a dispatch does not end the function's body".to_owned());
                self.dispatch(lines, *unmatched);
            }
        }
    }

    fn dispatch(&mut self, lines: &'a [Line], unmatched: Option<u64>) {
        let span = self.function.span;
        let (last, front) = match lines.split_last() {
            Some((last, front)) => (Some(last), front),
            None => (None, lines),
        };
        for line in front {
            self.require(!line.tests.is_empty(), line.span, || "a catch-all is not the last line".to_owned());
        }
        let catches_all = last.is_some_and(|last| last.tests.is_empty());
        self.require(catches_all == unmatched.is_none(), span, || match catches_all {
            true => "a dispatch with a catch-all says what happens without a match".to_owned(),
            false => "a dispatch without a catch-all does not say what happens without a match".to_owned(),
        });
        for line in lines {
            for test in &line.tests {
                let predicate = self.flow.program.predicates.find(test.predicate);
                self.require(predicate.is_some(), line.span, || format!("there is no predicate {:?}", test.predicate));
                let value = self.value(&test.value, line.span);
                let computed = predicate.and_then(|predicate| predicate.computed());
                let fits = computed.zip(value).is_none_or(|(computed, value)| computed.input.ty == value.ty);
                self.require(fits, line.span, || "a predicate is asked of a value of another type".to_owned());
            }
            self.block(&line.block, Place::Line);
        }
    }
}
