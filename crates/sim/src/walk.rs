//! Draws what flows of a program do: goes through its functions as generated code does, with estimates in the place of
//! nodes and predicates.
//!
//! [`flux_ir::run`] is not asked: it needs values, and estimates have none, not even for what bodies compute. Values
//! are known by where they come from. One that a node hands on under the same name and type is the same as a part of a
//! key, but may be of another predicate type than before. The path of a flow is counted as generated code counts it
//! (`flux_ir::paths`).

use crate::estimates::{Estimates, Part};
use crate::random::Random;
use crate::script::{Action, Actions, Branch, Fork, Lock, Script, Workload};
use crate::together::Together;
use flux_ir::external::ExternalRole;
use flux_ir::flow::{
    self, Block, Callee, Each, EachOrder, End, Exit, Flow, FunctionId, Line, Operand, Step, StepId, StepPaths,
};
use flux_ir::flow_path::FlowPath;
use flux_ir::paths::digit;
use flux_ir::program::{Constant, ConstraintId, Mode, NodeId, PredicateId, Scope};
use flux_source::deep;
use std::collections::HashMap;

/// The flows of a program.
pub struct Flows<'a> {
    flow: &'a Flow,
    estimates: &'a Estimates,
    locks: HashMap<(ConstraintId, u64), usize>,
    readers: Option<ConstraintId>,
    faster: Option<(FlowPath, f64)>,
    taken: HashMap<FlowPath, Taken>,
}

/// What the flows of a path came to.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Taken {
    /// How many they were.
    pub flows: f64,
    /// How long they computed and waited for the world, together, in seconds.
    pub seconds: f64,
}

impl Taken {
    /// These, too.
    pub fn add(&mut self, others: &Self) {
        self.flows += others.flows;
        self.seconds += others.seconds;
    }
}

impl<'a> Flows<'a> {
    /// Those of a program of which so much is expected: [`Estimates::missing`] must be empty.
    pub fn new(flow: &'a Flow, estimates: &'a Estimates) -> Self {
        Self { flow, estimates, locks: HashMap::new(), readers: None, faster: None, taken: HashMap::new() }
    }

    /// The same, but all who take this constraint only read.
    #[must_use]
    pub fn with_readers(self, readers: ConstraintId) -> Self {
        Self { readers: Some(readers), ..self }
    }

    /// The same, but all nodes of flows on this path take the part `left` of their time.
    #[must_use]
    pub fn with_faster(self, path: FlowPath, left: f64) -> Self {
        Self { faster: Some((path, left)), ..self }
    }

    /// The paths of those that were drawn.
    pub fn taken(&self) -> &HashMap<FlowPath, Taken> {
        &self.taken
    }

    /// Draws the next flow of a source, whose path is known already, or is not asked for; and its place among the flows
    /// of that.
    fn walk(&mut self, source: usize, random: &mut Random, path: Option<(FlowPath, Together)>) -> Walked {
        let flow = self.flow;
        let Some(entry) = flow.entries.get(source) else { return Walked::default() };
        let (path, together) = path.unzip();
        let mut walk = Walk { path, together, ..Walk::new(self, random) };
        let (mut made, mut inputs) = (0, None);
        if let Some(produce) = entry.produce {
            let (exit, values) = walk.function(produce, vec![]);
            if exit != Exit::Done {
                return Walked { produce: walk.actions, ..Walked::default() };
            }
            (made, inputs) = (std::mem::take(&mut walk.register), Some(values));
        }
        let produce = std::mem::take(&mut walk.actions);
        walk.actions.push(Action::Compute(walk.flows.estimates.outside()));
        let inputs = inputs.unwrap_or_else(|| walk.fresh(flow.functions[entry.run].inputs.len()));
        let (exit, _) = walk.function(entry.run, inputs);
        let path = FlowPath::of(flow, source, made, exit, walk.register);
        Walked { produce, run: Some(walk.actions), path, seconds: walk.seconds }
    }
}

/// A flow that was drawn; what its source made of it, and, where that has not failed, what it does then.
#[derive(Default)]
struct Walked {
    produce: Vec<Action>,
    run: Option<Vec<Action>>,
    path: Option<FlowPath>,
    seconds: f64,
}

impl Workload for Flows<'_> {
    fn flow(&mut self, source: usize, random: &mut Random) -> Script {
        let path = match self.faster.is_some() || self.estimates.has_paths() {
            // What its nodes take depends on its path, and none of its decisions on that: so these are drawn first, and
            // with the same random numbers once more.
            true => {
                // Of a copy, so that those who draw none have the same random numbers else.
                let own = random.clone().split();
                let path = self.walk(source, &mut random.clone(), None).path;
                path.map(|path| (path, Together::draw(self.estimates.together(&path), own)))
            }
            false => None,
        };
        let walked = self.walk(source, random, path);
        if let Some(path) = walked.path {
            self.taken.entry(path).or_default().add(&Taken { flows: 1.0, seconds: walked.seconds });
        }
        Script { produce: walked.produce.into(), run: walked.run.map(Into::into) }
    }

    fn wake(&self) -> f64 {
        self.estimates.wake()
    }

    fn thread_cost(&self, cpus: usize) -> f64 {
        self.estimates.thread_cost(cpus)
    }
}

/// A value: what it is known by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Value {
    /// As a part of a key.
    key: u64,
    /// For predicates.
    made: u64,
}

/// What was drawn for one flow, and stays so.
#[derive(Default)]
struct Drawn {
    tests: HashMap<(PredicateId, u64), bool>,
    keys: HashMap<(ConstraintId, Vec<KeyPart>), u64>,
    session: u64,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum KeyPart {
    Value(u64),
    Constant(Constant),
}

/// One flow on its way.
struct Walk<'w, 'a> {
    flows: &'w mut Flows<'a>,
    random: &'w mut Random,
    made: u64,
    actions: Vec<Action>,
    drawn: Drawn,
    /// The path register.
    register: u64,
    /// The path that it is on, where that is known before.
    path: Option<FlowPath>,
    /// Its place among the flows of that.
    together: Option<Together>,
    /// What its nodes took.
    seconds: f64,
}

struct Frame {
    inputs: Vec<Value>,
    outputs: HashMap<(StepId, usize), Value>,
}

/// How a block or a step was left.
enum Left {
    On(Vec<Value>),
    By(Exit, Vec<Value>),
}

impl<'w, 'a> Walk<'w, 'a> {
    fn new(flows: &'w mut Flows<'a>, random: &'w mut Random) -> Self {
        let drawn = Drawn::default();
        Self { flows, random, made: 0, actions: vec![], drawn, register: 0, path: None, together: None, seconds: 0.0 }
    }

    fn fresh(&mut self, count: usize) -> Vec<Value> {
        let mut next = || {
            self.made += 1;
            Value { key: self.made, made: self.made }
        };
        (0..count).map(|_| next()).collect()
    }

    fn function(&mut self, id: FunctionId, inputs: Vec<Value>) -> (Exit, Vec<Value>) {
        let flow = self.flows.flow;
        let function = &flow.functions[id];
        let mut frame = Frame { inputs, outputs: HashMap::new() };
        match self.block(&mut frame, &function.body) {
            Left::By(exit, values) => (exit, values),
            Left::On(_) => (Exit::Failed, vec![]),
        }
    }

    fn value(&mut self, frame: &Frame, operand: &Operand) -> Value {
        let known = match operand {
            Operand::Input(at) => frame.inputs.get(*at).copied(),
            Operand::Output(step, at) => frame.outputs.get(&(*step, *at)).copied(),
            Operand::Changed(..) | Operand::Error(..) | Operand::Constant(_) => None,
        };
        known.unwrap_or_else(|| {
            self.made += 1;
            Value { key: self.made, made: self.made }
        })
    }

    fn values(&mut self, frame: &Frame, operands: &[Operand]) -> Vec<Value> {
        operands.iter().map(|operand| self.value(frame, operand)).collect()
    }

    fn block(&mut self, frame: &mut Frame, block: &'a Block) -> Left {
        deep(|| {
            for step in &block.steps {
                match self.step(frame, step) {
                    Left::On(given) => {
                        let outputs = given.into_iter().enumerate().map(|(at, value)| ((step.id, at), value));
                        frame.outputs.extend(outputs);
                    }
                    left @ Left::By(..) => return left,
                }
            }
            let (left, offset) = match &block.end {
                End::Done { values, offset } => (Left::By(Exit::Done, self.values(frame, values)), *offset),
                End::Failed { offset } => (Left::By(Exit::Failed, vec![]), *offset),
                End::Ended { offset } => (Left::By(Exit::Ended, vec![]), *offset),
                End::Resume { values, offset } => (Left::On(self.values(frame, values)), *offset),
                End::GoOn { offset } => (Left::On(vec![]), *offset),
                End::Dispatch { lines, unmatched } => match self.line(frame, lines) {
                    Some(line) => return self.block(frame, &line.block),
                    None => (Left::By(Exit::Failed, vec![]), unmatched.unwrap_or_default()),
                },
            };
            self.register = self.register.saturating_add(offset);
            left
        })
    }

    /// The first line whose tests hold.
    fn line(&mut self, frame: &Frame, lines: &'a [Line]) -> Option<&'a Line> {
        lines.iter().find(|line| {
            line.tests.iter().all(|test| {
                let value = self.value(frame, &test.value);
                let likely = self.flows.estimates.likely(test.predicate).unwrap_or_default();
                let random = &mut *self.random;
                *self.drawn.tests.entry((test.predicate, value.made)).or_insert_with(|| random.chance(likely))
            })
        })
    }

    fn step(&mut self, frame: &mut Frame, step: &'a Step) -> Left {
        let inputs = self.values(frame, &step.inputs);
        let mut held = vec![];
        for one in &step.acquire {
            let key = one.key.iter().map(|operand| match operand {
                Operand::Constant(constant) => KeyPart::Constant(constant.clone()),
                _ => KeyPart::Value(self.value(frame, operand).key),
            });
            let key = key.collect();
            let mode = if self.flows.readers == Some(one.constraint) { Mode::Read } else { one.mode };
            held.extend(self.lock(one.constraint, key).map(|lock| (lock, mode)));
        }
        let held = in_order(held);
        self.actions.extend(held.iter().map(|(lock, mode)| Action::Acquire(*lock, *mode)));
        let (exit, given) = self.call(step, inputs);
        self.actions.extend(held.iter().rev().map(|(lock, _)| Action::Release(*lock)));
        match exit {
            Exit::Done => Left::On(given),
            Exit::Ended => {
                self.register = self.register.saturating_add(step.paths.ended_offset);
                Left::By(Exit::Ended, vec![])
            }
            Exit::Failed => self.block(frame, &step.failure),
        }
    }

    /// The lock of a key; none where no other flow has it.
    fn lock(&mut self, constraint: ConstraintId, key: Vec<KeyPart>) -> Option<Lock> {
        let estimates = self.flows.estimates;
        let is_constant = key.iter().all(|part| matches!(part, KeyPart::Constant(_)));
        let drawn = match self.flows.flow.program.constraints[constraint].scope {
            Scope::Program => 0,
            Scope::Session => {
                estimates.keys(constraint)?;
                self.drawn.session
            }
            // A key that is written down is the first for every flow.
            Scope::Keyed if is_constant => 0,
            Scope::Keyed => {
                let keys = estimates.keys(constraint)?;
                let random = &mut *self.random;
                *self.drawn.keys.entry((constraint, key)).or_insert_with(|| keys.sample(random))
            }
        };
        let next = self.flows.locks.len();
        let number = *self.flows.locks.entry((constraint, drawn)).or_insert(next);
        Some(Lock { number, constraint: constraint.index() })
    }

    fn call(&mut self, step: &'a Step, inputs: Vec<Value>) -> (Exit, Vec<Value>) {
        match &step.callee {
            Callee::Node(node) => self.node(*node, &inputs),
            Callee::External { external, .. } => {
                let flow = self.flows.flow;
                let external = &flow.program.externals[*external];
                if external.role == ExternalRole::Session {
                    self.draw_session();
                }
                let is_done = self.work(&external.name.to_string(), false);
                (if is_done { Exit::Done } else { Exit::Failed }, vec![])
            }
            Callee::Function(function) => {
                let before = std::mem::take(&mut self.register);
                let (exit, given) = self.function(*function, inputs);
                let own = Some(self.register);
                self.register = combined(step.paths, before, exit, own);
                (exit, given)
            }
            Callee::Fork(branches) => self.fork(step.paths, branches, &inputs),
            Callee::Each(each) => {
                // It is always counted by itself.
                let before = self.register;
                let (exit, given) = self.each(each, &inputs);
                self.register = before;
                (exit, given)
            }
        }
    }

    fn fork(&mut self, paths: StepPaths, branches: &[flow::Branch], inputs: &[Value]) -> (Exit, Vec<Value>) {
        let before = self.register;
        let (mut exit, mut given, mut forked, mut ended) = (Exit::Done, vec![], vec![], vec![]);
        for branch in branches {
            self.register = 0;
            let (actions, by, values) = self.apart(branch.function, inputs.to_vec());
            forked.push(Branch { actions, after: branch.after });
            exit = worse(exit, by);
            given.extend(values);
            ended.push((self.flows.flow.functions[branch.function].paths, by, self.register));
        }
        self.actions.push(Action::Fork(Fork { width: forked.len(), branches: forked.into() }));
        let own = ended.into_iter().try_fold(0, |number, branch| digit(number, exit, branch));
        self.register = combined(paths, before, exit, own);
        (exit, given)
    }

    /// A flow's session is one of those that the constraints of sessions have.
    fn draw_session(&mut self) {
        let flow = self.flows.flow;
        let mut sessions = flow.program.constraints.iter().filter(|(_, one)| one.scope == Scope::Session);
        let keys = sessions.find_map(|(id, _)| self.flows.estimates.keys(id));
        self.drawn.session = keys.map_or(0, |keys| keys.sample(self.random));
    }

    /// What a function does by itself, without doing it here.
    fn apart(&mut self, function: FunctionId, inputs: Vec<Value>) -> (Actions, Exit, Vec<Value>) {
        let before = std::mem::take(&mut self.actions);
        let (exit, values) = self.function(function, inputs);
        let actions = std::mem::replace(&mut self.actions, before);
        (actions.into(), exit, values)
    }

    fn each(&mut self, each: &'a Each, inputs: &[Value]) -> (Exit, Vec<Value>) {
        let list = each.inputs.first().and_then(|list| self.flows.estimates.elements(&list.name)).unwrap_or_default();
        let width = match &each.order {
            EachOrder::AtOnce(width) => Some(self.integer(width)),
            EachOrder::Loop(_) | EachOrder::InTurn => None,
        };
        let mut exit = Exit::Done;
        let mut next = inputs.to_vec();
        let mut branches = vec![];
        for _ in 0..list {
            let element = self.fresh(1);
            next.splice(0..1, element);
            let (by, given) = match width {
                Some(_) => {
                    let (actions, by, given) = self.apart(each.function, next.clone());
                    branches.push(Branch { actions, after: None });
                    (by, given)
                }
                None => self.function(each.function, next.clone()),
            };
            exit = worse(exit, by);
            if let EachOrder::Loop(carried) = &each.order {
                if by != Exit::Done {
                    break;
                }
                for (output, input) in carried {
                    if let (Some(given), Some(input)) = (given.get(*output), next.get_mut(*input)) {
                        *input = *given;
                    }
                }
            }
        }
        if let (Some(width), false) = (width, branches.is_empty()) {
            self.actions.push(Action::Fork(Fork { width, branches: branches.into() }));
        }
        (exit, self.fresh(each.outputs.len()))
    }

    /// A number of the program, or of an option where the server is told none.
    fn integer(&self, constant: &Constant) -> usize {
        let constant = match constant {
            Constant::Option(option) => self.flows.flow.program.options[*option].default.as_ref(),
            constant => Some(constant),
        };
        match constant {
            Some(Constant::Integer(number)) => usize::try_from(*number).unwrap_or(1).max(1),
            _ => 1,
        }
    }

    fn node(&mut self, id: NodeId, inputs: &[Value]) -> (Exit, Vec<Value>) {
        let flow = self.flows.flow;
        let node = &flow.program.nodes[id];
        self.actions.push(Action::Arrive);
        self.actions.extend(node.blocking.then_some(Action::Beside));
        let is_done = self.work(&node.name.to_string(), node.blocking);
        self.actions.extend(node.blocking.then_some(Action::Back));
        if !is_done {
            return (Exit::Failed, vec![]);
        }
        let mut values = self.fresh(node.outputs().len());
        for (value, output) in values.iter_mut().zip(node.outputs()) {
            let same = node.inputs().iter().position(|input| input.is_like(output)).and_then(|at| inputs.get(at));
            value.key = same.map_or(value.key, |same| same.key);
        }
        (Exit::Done, values)
    }

    /// Does what is estimated of a node or a handler, on its flow's thread or beside that already: whether it is done
    /// and has not failed.
    fn work(&mut self, name: &str, is_beside: bool) -> bool {
        let Some(work) = self.flows.estimates.work(name) else { return true };
        let own = self.path.and_then(|path| self.flows.estimates.parts_on(&path, name));
        let left = self.flows.faster.filter(|(path, _)| self.path == Some(*path)).map_or(1.0, |(_, left)| left);
        for part in own.unwrap_or(&work.parts) {
            let alone = part.time().sample(self.random);
            let computes = matches!(part, Part::Compute(_));
            let together = self.together.as_mut().filter(|_| computes);
            let seconds = left * together.map_or(alone, |flow| flow.time(part.time(), alone));
            self.seconds += seconds;
            match part {
                Part::Compute(_) => self.actions.push(Action::Compute(seconds)),
                Part::Beside(_) if is_beside => self.actions.push(Action::Compute(seconds)),
                Part::Beside(_) if seconds > 0.0 => {
                    self.actions.extend([Action::Beside, Action::Compute(seconds), Action::Back]);
                }
                Part::Beside(_) => {}
                Part::Wait(_) => self.actions.push(Action::Wait(seconds)),
                Part::Sleep(_) => self.actions.push(Action::Sleep(seconds)),
            }
        }
        work.fails <= 0.0 || !self.random.chance(work.fails)
    }
}

/// Those of one constraint are taken in the order of their numbers, so that no two flows wait for each other, and equal
/// ones once.
fn in_order(mut locks: Vec<(Lock, Mode)>) -> Vec<(Lock, Mode)> {
    for of_one in locks.chunk_by_mut(|(one, _), (next, _)| one.constraint == next.constraint) {
        of_one.sort_by_key(|(lock, _)| lock.number);
    }
    locks.dedup_by(|(next, mode), (lock, before)| {
        let is_same = next == lock;
        if is_same {
            *before = before.joined(*mode);
        }
        is_same
    });
    locks
}

/// The path register behind a step that was left by `exit`, on the path of this number through what it called.
fn combined(paths: StepPaths, before: u64, exit: Exit, own: Option<u64>) -> u64 {
    match paths.cut {
        true => before,
        false => before.saturating_mul(paths.radix.get(exit)).saturating_add(own.unwrap_or_default()),
    }
}

/// How branches end together.
fn worse(left: Exit, right: Exit) -> Exit {
    match (left, right) {
        (Exit::Failed, _) | (_, Exit::Failed) => Exit::Failed,
        (Exit::Ended, _) | (_, Exit::Ended) => Exit::Ended,
        (Exit::Done, Exit::Done) => Exit::Done,
    }
}
