//! Makes the graph of what the flows of a program do. It is built from its end: what follows is known before what leads
//! to it, so everything that continues in the same way becomes one [`Point`](crate::behaviour::Point) at once.
//!
//! A call may give any value, even if the callee hands on what it was given. Values are known by their origin, as the
//! compiler knows them. So each run of the real program is among those that are explored.
//!
//! It does not run the flow: [`flux_ir::run`] goes one way, with one flow, and has values; here all ways are one graph,
//! before it is known what other flows do.

use crate::Bounds;
use crate::behaviour::{Action, Edge, Graph, Lock, LockId, Outcomes, PointId, Start, Use, When};
use crate::relevance::{Relevant, relevant};
use flux_ir::external::ExternalRole;
use flux_ir::flow::{
    Block, Branch, Callee, Each, EachOrder, End, Exit, Flow, Function, FunctionId, Operand, Step, StepId,
};
use flux_ir::program::{Constant, ConstraintId, Mode, Scope};
use flux_source::deep;
use std::collections::HashMap;

/// A list has from none to so many elements: with three, one instance can wait for a place while two others run.
const ELEMENTS: usize = 3;

/// A program that can be explored.
pub struct Built<'a> {
    /// What it is made of.
    pub flow: &'a Flow,
    /// All that its flows do.
    pub graph: Graph,
    /// Where a flow of each source begins.
    pub entries: Vec<PointId>,
}

/// Makes the graph of `flow`.
pub fn build<'a>(flow: &'a Flow, bounds: &Bounds) -> Built<'a> {
    let mut builder = Builder {
        flow,
        values: bounds.values.max(1),
        graph: Graph::default(),
        relevant: relevant(flow),
        constants: vec![],
        known: HashMap::new(),
    };
    let entries = (0..flow.entries.len()).map(|index| builder.entry(index)).collect();
    Built { flow, graph: builder.graph, entries }
}

struct Builder<'a> {
    flow: &'a Flow,
    values: u8,
    graph: Graph,
    relevant: Vec<Relevant>,
    constants: Vec<Constant>,
    known: HashMap<(FunctionId, Call, Outcomes), PointId>,
}

/// How a function is called.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Call {
    /// The inputs that matter; 0 for the others.
    inputs: Vec<u8>,
    session: u8,
    /// What the abstract nodes around use.
    around: Vec<Use>,
}

/// A function as it is run.
#[derive(Clone)]
struct Frame<'a> {
    function: &'a Function,
    id: FunctionId,
    call: Call,
    outputs: HashMap<(StepId, usize), u8>,
    exits: Outcomes,
}

impl<'a> Builder<'a> {
    /// Where a flow of a source begins: on the source's own thread.
    fn entry(&mut self, index: usize) -> PointId {
        let entry = &self.flow.entries[index];
        let exits = self.exits();
        let starts: Vec<_> = self
            .choices(entry.run)
            .into_iter()
            .map(|inputs| self.function(entry.run, Call { inputs, session: 0, around: vec![] }, exits))
            .collect();
        let run = self.graph.union(&starts);
        let queued = self.edge(Action::Enqueue, &[], run);
        match entry.produce {
            None => queued,
            Some(produce) => {
                let call = Call { inputs: vec![], session: 0, around: vec![] };
                self.function(produce, call, Outcomes { done: queued, ..exits })
            }
        }
    }

    /// The ends of an execution.
    fn exits(&mut self) -> Outcomes {
        let [done, failed, ended] = Exit::ALL.map(|exit| self.edge(Action::Exit(exit), &[], 0));
        Outcomes { done, failed, ended }
    }

    /// A point with one way on.
    fn edge(&mut self, action: Action, around: &[Use], next: PointId) -> PointId {
        self.graph.point(vec![Edge { action, uses: around.to_vec(), around: around.to_vec(), next }])
    }

    /// All values that the inputs of a function can have, as far as they matter.
    fn choices(&self, function: FunctionId) -> Vec<Vec<u8>> {
        let relevant = &self.relevant[function.index()].inputs;
        let mut choices = vec![vec![]];
        for input in 0..self.flow.functions[function].inputs.len() {
            let values = if relevant.contains(&input) { 0..self.values } else { 0..1 };
            let with = |choice: &Vec<u8>| values.clone().map(|value| [choice.clone(), vec![value]].concat()).collect();
            choices = choices.iter().flat_map(|choice| -> Vec<Vec<u8>> { with(choice) }).collect();
        }
        choices
    }

    fn function(&mut self, id: FunctionId, mut call: Call, exits: Outcomes) -> PointId {
        for (at, value) in call.inputs.iter_mut().enumerate() {
            if !self.relevant[id.index()].inputs.contains(&at) {
                *value = 0;
            }
        }
        let key = (id, call, exits);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let function = &self.flow.functions[id];
        let frame = Frame { function, id, call: key.1.clone(), outputs: HashMap::new(), exits };
        let point = self.block(&function.body, 0, &frame, exits.done);
        self.known.insert(key, point);
        point
    }

    /// What happens from the step at `at` of a block on; `resume` is where a step goes on whose handler replaced it.
    fn block(&mut self, block: &'a Block, at: usize, frame: &Frame<'a>, resume: PointId) -> PointId {
        deep(|| {
            if let Some(step) = block.steps.get(at) {
                let point = self.step(block, at, step, frame, resume);
                // What is outside nodes, a key or a copy, may throw before a step: with nothing of this function held.
                return match frame.function.fault {
                    Some(_) => self.graph.union(&[point, frame.exits.failed]),
                    None => point,
                };
            }
            match &block.end {
                End::Done { .. } => frame.exits.done,
                End::Failed { .. } => frame.exits.failed,
                End::Ended { .. } => frame.exits.ended,
                End::Resume { .. } | End::GoOn { .. } => resume,
                End::Dispatch { lines, unmatched } => {
                    let mut points: Vec<_> =
                        lines.iter().map(|line| self.block(&line.block, 0, frame, resume)).collect();
                    points.extend(unmatched.map(|_| frame.exits.failed));
                    self.graph.union(&points)
                }
            }
        })
    }

    fn step(&mut self, block: &'a Block, at: usize, step: &'a Step, frame: &Frame<'a>, resume: PointId) -> PointId {
        let done = self.after(block, at, step, frame, resume);
        let failed = self.block(&step.failure, 0, frame, done);
        let locks = self.locks(step, frame);
        let mut outcomes = Outcomes { done, failed, ended: frame.exits.ended };
        for (lock, mode) in &locks {
            let mut release = |next| self.edge(Action::Release(*lock, *mode), &frame.call.around, next);
            let Outcomes { done, failed, ended } = outcomes;
            outcomes = Outcomes { done: release(done), failed: release(failed), ended: release(ended) };
        }
        let mut point = self.call(step, frame, outcomes);
        for (lock, mode) in locks.iter().rev() {
            point = self.edge(Action::Acquire(*lock, *mode), &frame.call.around, point);
        }
        point
    }

    /// What happens after a step that is done, whatever it gave.
    fn after(&mut self, block: &'a Block, at: usize, step: &'a Step, frame: &Frame<'a>, resume: PointId) -> PointId {
        let mut frames = vec![frame.clone()];
        let gives_session = match step.callee {
            Callee::External { external, .. } => self.flow.program.externals[external].role == ExternalRole::Session,
            _ => false,
        };
        if gives_session {
            let with = |session| Frame { call: Call { session, ..frame.call.clone() }, ..frame.clone() };
            frames = (0..self.values).map(with).collect();
        }
        let mut outputs: Vec<_> =
            self.relevant[frame.id.index()].outputs.iter().filter(|(id, _)| *id == step.id).copied().collect();
        outputs.sort();
        for output in outputs {
            let with = |frame: &Frame<'a>, value| {
                let mut frame = frame.clone();
                frame.outputs.insert(output, value);
                frame
            };
            frames = frames.iter().flat_map(|frame| (0..self.values).map(move |value| with(frame, value))).collect();
        }
        let points: Vec<_> = frames.iter().map(|frame| self.block(block, at + 1, frame, resume)).collect();
        self.graph.union(&points)
    }

    /// The call itself, all that its step takes being held.
    fn call(&mut self, step: &'a Step, frame: &Frame<'a>, outcomes: Outcomes) -> PointId {
        let uses = self.uses(step, frame);
        match &step.callee {
            Callee::Node(_) | Callee::External { .. } => {
                let point = self.graph.union(&[outcomes.done, outcomes.failed]);
                self.graph.using(&uses, point)
            }
            Callee::Function(function) => {
                let mut around = frame.call.around.clone();
                around.extend(&uses);
                around.sort();
                around.dedup();
                let inputs = step.inputs.iter().map(|input| self.value(input, frame)).collect();
                let call = Call { inputs, session: frame.call.session, around };
                let Outcomes { done, failed, ended } = outcomes;
                let [done, failed, ended] = [done, failed, ended].map(|point| self.graph.using(&uses, point));
                let point = self.function(*function, call, Outcomes { done, failed, ended });
                self.graph.using(&uses, point)
            }
            Callee::Fork(branches) => self.fork(branches, step, frame, outcomes),
            Callee::Each(each) => self.each(each, step, frame, outcomes),
        }
    }

    /// Lists of every length up to [`ELEMENTS`]. An element is any value, and so is what an instance hands on.
    fn each(&mut self, each: &Each, step: &'a Step, frame: &Frame<'a>, outcomes: Outcomes) -> PointId {
        let passed: Vec<_> = (0..step.inputs.len()).map(|at| step.passed(at)).collect();
        let passed: Vec<_> = passed.into_iter().map(|input| input.map(|input| self.value(input, frame))).collect();
        let with_known = |mut choice: Vec<u8>| {
            passed.iter().zip(&mut choice).for_each(|(known, value)| *value = known.unwrap_or(*value));
            choice
        };
        let mut choices: Vec<_> = self.choices(each.function).into_iter().map(with_known).collect();
        choices.sort();
        choices.dedup();
        let is_loop = matches!(each.order, EachOrder::Loop(_));
        let around = if is_loop { frame.call.around.clone() } else { vec![] };
        let session = frame.call.session;
        let begin = |builder: &mut Self, exits| {
            let call = |inputs: &Vec<u8>| Call { inputs: inputs.clone(), session, around: around.clone() };
            let starts = choices.iter().map(|inputs| builder.function(each.function, call(inputs), exits));
            let starts: Vec<_> = starts.collect();
            builder.graph.union(&starts)
        };
        if is_loop {
            return (0..ELEMENTS).fold(outcomes.done, |done, _| {
                let next = begin(self, Outcomes { done, ..outcomes });
                self.graph.union(&[outcomes.done, next])
            });
        }
        let exits = self.exits();
        let point = begin(self, exits);
        let mut ways = vec![outcomes.done];
        for width in widths(&each.order) {
            for length in 1..=ELEMENTS {
                let branches = vec![Start { point, when: When::Fewer(width) }; length];
                ways.push(self.edge(Action::Fork(branches, outcomes), &frame.call.around, outcomes.done));
            }
        }
        self.graph.union(&ways)
    }

    fn fork(&mut self, branches: &[Branch], step: &'a Step, frame: &Frame<'a>, outcomes: Outcomes) -> PointId {
        let exits = self.exits();
        let inputs: Vec<u8> = step.inputs.iter().map(|input| self.value(input, frame)).collect();
        let mut starts = vec![];
        for Branch { function, after } in branches {
            // What the parent's nodes use is the parent's: a branch is inside it.
            let call = Call { inputs: inputs.clone(), session: frame.call.session, around: vec![] };
            let when = after.map_or(When::AtOnce, When::After);
            starts.push(Start { point: self.function(*function, call, exits), when });
        }
        self.edge(Action::Fork(starts, outcomes), &frame.call.around, outcomes.done)
    }

    /// What a step takes, as the runtime does: by scope, name and key; equal ones once, at the stronger mode.
    fn locks(&mut self, step: &Step, frame: &Frame<'a>) -> Vec<(LockId, Mode)> {
        let mut locks: Vec<(Lock, Mode)> = vec![];
        for one in &step.acquire {
            let values = one.key.iter().map(|operand| self.value(operand, frame)).collect();
            let lock = self.lock(one.constraint, values, frame);
            match locks.iter_mut().find(|(known, _)| *known == lock) {
                Some((_, mode)) => *mode = one.mode.joined(*mode),
                None => locks.push((lock, one.mode)),
            }
        }
        // Constraints come in the order in which the step has them; only keys are known no sooner than now.
        let mut start = 0;
        while start < locks.len() {
            let same = |(lock, _): &&(Lock, Mode)| lock.constraint == locks[start].0.constraint;
            let end = start + locks[start..].iter().take_while(same).count();
            locks[start..end].sort_by(|left, right| left.0.values.cmp(&right.0.values));
            start = end;
        }
        locks.into_iter().map(|(lock, mode)| (self.graph.lock(lock), mode)).collect()
    }

    /// What the node of a step requires.
    fn uses(&mut self, step: &Step, frame: &Frame<'a>) -> Vec<Use> {
        let Some(node) = self.flow.callee_node(&step.callee) else { return vec![] };
        let mut uses = vec![];
        for one in &self.flow.program.nodes[node].requirements {
            let values = one.key.iter().filter_map(|at| step.inputs.get(*at)).map(|input| self.value(input, frame));
            let values = values.collect();
            let lock = self.lock(one.constraint, values, frame);
            uses.push(Use { lock: self.graph.lock(lock), mode: one.mode, node });
        }
        uses.sort();
        uses
    }

    fn lock(&self, constraint: ConstraintId, key: Vec<u8>, frame: &Frame<'a>) -> Lock {
        let values = match self.flow.program.constraints[constraint].scope {
            Scope::Program => vec![],
            Scope::Session => vec![frame.call.session],
            Scope::Keyed => key,
        };
        Lock { constraint, values }
    }

    fn value(&mut self, operand: &Operand, frame: &Frame<'a>) -> u8 {
        match operand {
            Operand::Input(at) => frame.call.inputs.get(*at).copied().unwrap_or_default(),
            Operand::Output(step, at) => frame.outputs.get(&(*step, *at)).copied().unwrap_or_default(),
            Operand::Constant(constant) => self.constant(constant),
            Operand::Changed(..) | Operand::Error(..) => 0,
        }
    }

    /// A number for each constant: the first ones can equal what is not known.
    fn constant(&mut self, constant: &Constant) -> u8 {
        let at = self.constants.iter().position(|known| known == constant).unwrap_or_else(|| {
            self.constants.push(constant.clone());
            self.constants.len() - 1
        });
        u8::try_from(at).unwrap_or(u8::MAX)
    }
}

/// How many instances may run at once, as far as that matters; whoever starts the server says it of an option.
fn widths(order: &EachOrder) -> Vec<usize> {
    match order {
        EachOrder::Loop(_) | EachOrder::InTurn => vec![1],
        EachOrder::AtOnce(Constant::Integer(width)) => vec![usize::try_from(*width).unwrap_or(1).min(ELEMENTS)],
        EachOrder::AtOnce(_) => (1..=ELEMENTS).collect(),
    }
}
