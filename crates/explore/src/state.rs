//! Several executions at one moment, and how they go on.

use crate::behaviour::{Action, Graph, LockId, Locks, PointId, Use, When};
use crate::{Bounds, Discipline};
use flux_ir::flow::Exit;
use flux_ir::program::Mode;
use std::collections::HashSet;

/// How often a waiter was passed; from here on the count does not matter.
pub const PASSED_TOO_OFTEN: u8 = 2;

/// Where an execution runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Thread {
    /// On the thread of the source.
    Source,
    /// On an executor of its own.
    Executor,
    /// On its parent's, which waits for it.
    Parent,
}

/// How far an execution is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Phase {
    /// A flow whose source has not come to it.
    Coming(PointId),
    /// A flow in the queue.
    Queued(PointId),
    /// A branch that has not started, and when it starts.
    Unstarted(PointId, When),
    /// It runs.
    Running(PointId, Thread),
    /// It waits for the lock that the edge at this index acquires.
    Waiting(PointId, usize, Thread),
    /// It waits for the branches that the edge at this index starts.
    Joining(PointId, usize, Thread),
    /// Its flow is cancelled, and it comes to its end: of what it held at this point it has so many yet.
    Unwinding(PointId, usize, Thread),
    /// It has ended so.
    Ended(Exit),
}

/// A flow, or a branch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Execution {
    /// Which flow it is, or belongs to.
    pub flow: usize,
    /// The execution that waits for it, and which branch of that it is.
    pub parent: Option<(usize, usize)>,
    /// How far it is.
    pub phase: Phase,
}

/// Who waits for a lock.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Waiter {
    /// For what.
    pub lock: LockId,
    /// How it is to be held.
    pub mode: Mode,
    /// Who; none where that is gone.
    pub execution: Option<usize>,
    /// By how many who came later.
    passed: u8,
}

/// All of it. Executions are in depth-first order, so that equal states are equal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The executions.
    pub executions: Vec<Execution>,
    /// Those who wait, by lock, in the order of their arrival.
    pub waiters: Vec<Waiter>,
    /// The flow that is cancelled.
    pub cancelled: Option<usize>,
    /// What nobody can give back any more.
    pub left_held: Vec<(LockId, Mode)>,
}

/// Something that can happen next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// The execution takes the edge at this index. Where it acquires, it does so at once.
    Take(usize, usize),
    /// The execution comes to the edge at this index and has to wait for its lock.
    Wait(usize, usize),
    /// The first who waits for this lock has been woken and finds it free.
    Wake(LockId),
    /// The execution gets an executor.
    Start(usize),
    /// The branch is run by its parent, which waits for it.
    Help(usize),
    /// This flow is cancelled.
    Cancel(usize),
    /// The execution, whose flow is cancelled, comes nearer to its end.
    Unwind(usize),
}

/// The rules by which states follow each other.
pub struct Rules<'a> {
    /// What executions do.
    pub graph: &'a Graph,
    /// How many there may be, and who may pass whom.
    pub bounds: &'a Bounds,
}

impl Rules<'_> {
    /// The state before anything has happened: each flow is to begin at its point.
    pub fn initial(&self, starts: &[PointId]) -> State {
        let coming = |(flow, point): (usize, &PointId)| Execution { flow, parent: None, phase: Phase::Coming(*point) };
        let executions = starts.iter().enumerate().map(coming).collect();
        let mut state = State { executions, waiters: vec![], cancelled: None, left_held: vec![] };
        self.produce(&mut state);
        state
    }

    /// Lets each source begin with its next flow where it has none at hand.
    fn produce(&self, state: &mut State) {
        let mut busy = HashSet::new();
        for at in 0..state.executions.len() {
            let execution = &mut state.executions[at];
            let source = self.bounds.flows.get(execution.flow);
            match execution.phase {
                Phase::Running(_, Thread::Source) | Phase::Waiting(_, _, Thread::Source) => drop(busy.insert(source)),
                Phase::Coming(point) if busy.insert(source) => execution.phase = Phase::Running(point, Thread::Source),
                _ => {}
            }
        }
    }

    /// What can happen next; where what one execution does can as well happen first, that alone.
    pub fn moves(&self, state: &State) -> Vec<Move> {
        // What it does can only help others, and it does nothing else.
        let unwinds = |one: &Execution| matches!(one.phase, Phase::Unwinding(..));
        if let Some(at) = state.executions.iter().position(unwinds) {
            return vec![Move::Unwind(at)];
        }
        [self.cancellations(state), self.steps(state)].concat()
    }

    /// As `moves`, but for cancellation.
    fn steps(&self, state: &State) -> Vec<Move> {
        let mut moves = vec![];
        for (at, execution) in state.executions.iter().enumerate() {
            match execution.phase {
                Phase::Running(point, _) => {
                    let before = moves.len();
                    for (index, edge) in self.graph.points[point as usize].edges.iter().enumerate() {
                        self.moves_along(state, at, index, &edge.action, &mut moves);
                    }
                    if self.can_come_first(state, at, point) {
                        return moves.split_off(before);
                    }
                }
                Phase::Queued(_) => moves.extend(self.is_executor_free(state).then_some(Move::Start(at))),
                Phase::Unstarted(_, when) => {
                    let before = moves.len();
                    self.starts(state, at, when, &mut moves);
                    // It takes nothing from anybody where there is an executor for everyone.
                    if self.bounds.executors.is_none() && moves.len() > before {
                        return moves.split_off(before);
                    }
                }
                Phase::Coming(_) | Phase::Waiting(..) | Phase::Joining(..) | Phase::Ended(_) => {}
                Phase::Unwinding(..) => {}
            }
        }
        for (at, waiter) in state.waiters.iter().enumerate() {
            let first = at == 0 || state.waiters[at - 1].lock != waiter.lock;
            if first && self.can_hold(state, waiter.lock, waiter.mode) {
                moves.push(Move::Wake(waiter.lock));
            }
        }
        moves
    }

    /// Whether nothing is missed if whatever the execution does next happens before all else: no other has to do with
    /// what it uses and acquires, now or later, and the rest can only help others.
    fn can_come_first(&self, state: &State, at: usize, point: PointId) -> bool {
        let point = &self.graph.points[point as usize];
        let mut own = Locks::default();
        point.uses.iter().for_each(|used| own.insert(used.lock));
        for edge in &point.edges {
            match edge.action {
                Action::Release(..) | Action::Exit(_) => {}
                Action::Fork(..) | Action::Enqueue if self.bounds.executors.is_none() => {}
                Action::Fork(..) | Action::Enqueue => return false,
                Action::Acquire(lock, _) => own.insert(lock),
            }
        }
        let others = state.executions.iter().enumerate().filter(|(other, _)| *other != at);
        !others.map(|(_, other)| self.touches(other.phase)).any(|touches| touches.meets(own))
    }

    /// The locks that an execution may have to do with from now on.
    fn touches(&self, phase: Phase) -> Locks {
        match phase {
            Phase::Coming(point)
            | Phase::Queued(point)
            | Phase::Unstarted(point, _)
            | Phase::Running(point, _)
            | Phase::Waiting(point, ..)
            | Phase::Joining(point, ..)
            | Phase::Unwinding(point, ..) => self.graph.points[point as usize].touches,
            Phase::Ended(_) => Locks::default(),
        }
    }

    fn moves_along(&self, state: &State, at: usize, edge: usize, action: &Action, moves: &mut Vec<Move>) {
        match action {
            Action::Acquire(lock, mode) => {
                let first = state.waiters.iter().find(|waiter| waiter.lock == *lock);
                let free = self.can_hold(state, *lock, *mode);
                let passes = match (first, self.bounds.discipline) {
                    (None, _) => true,
                    (Some(_), Discipline::FirstInFirstOut) => false,
                    (Some(first), Discipline::PassedOnce) => {
                        first.passed == 0 && self.can_hold(state, *lock, Mode::Write)
                    }
                    (Some(_), Discipline::ReadersFirst) => *mode != Mode::Write,
                };
                if free && passes {
                    moves.push(Move::Take(at, edge));
                } else {
                    moves.push(Move::Wait(at, edge));
                }
            }
            Action::Enqueue => {
                let queued = state.executions.iter().filter(|one| matches!(one.phase, Phase::Queued(_))).count();
                if self.bounds.executors.is_none() || queued < self.bounds.places {
                    moves.push(Move::Take(at, edge));
                }
            }
            Action::Release(..) | Action::Fork(..) | Action::Exit(_) => moves.push(Move::Take(at, edge)),
        }
    }

    /// How a branch that has not started can start.
    fn starts(&self, state: &State, at: usize, when: When, moves: &mut Vec<Move>) {
        let Some((parent, own)) = state.executions[at].parent else { return };
        let mut siblings = state.executions.iter().filter(|one| one.parent.is_some_and(|(other, _)| other == parent));
        let ended = |sibling: &Execution| matches!(sibling.phase, Phase::Ended(_));
        let branch = |sibling: &Execution| sibling.parent.map(|(_, branch)| branch);
        let can_start = match when {
            When::AtOnce => true,
            When::After(other) => siblings.clone().any(|sibling| branch(sibling) == Some(other) && ended(sibling)),
            When::Fewer(width) => {
                let mut earlier = siblings.clone().filter(|sibling| branch(sibling) < Some(own));
                let has_started = |sibling: &Execution| !matches!(sibling.phase, Phase::Unstarted(..));
                earlier.clone().all(has_started) && earlier.by_ref().filter(|sibling| !ended(sibling)).count() < width
            }
        };
        if !can_start {
            return;
        }
        if self.is_executor_free(state) {
            moves.push(Move::Start(at));
        }
        let helped = |sibling: &Execution| {
            matches!(
                sibling.phase,
                Phase::Running(_, Thread::Parent)
                    | Phase::Waiting(_, _, Thread::Parent)
                    | Phase::Joining(_, _, Thread::Parent)
                    | Phase::Unwinding(_, _, Thread::Parent)
            )
        };
        if self.bounds.executors.is_some() && self.bounds.helping && !siblings.any(helped) {
            moves.push(Move::Help(at));
        }
    }

    fn is_executor_free(&self, state: &State) -> bool {
        let busy = |one: &&Execution| {
            matches!(
                one.phase,
                Phase::Running(_, Thread::Executor)
                    | Phase::Waiting(_, _, Thread::Executor)
                    | Phase::Joining(_, _, Thread::Executor)
                    | Phase::Unwinding(_, _, Thread::Executor)
            )
        };
        self.bounds.executors.is_none_or(|executors| state.executions.iter().filter(busy).count() < executors)
    }

    /// Whether those who hold `lock` let another have it so.
    fn can_hold(&self, state: &State, lock: LockId, mode: Mode) -> bool {
        let holds = state.executions.iter().filter_map(|execution| match execution.phase {
            Phase::Running(point, _) | Phase::Waiting(point, ..) | Phase::Joining(point, ..) => {
                Some(self.graph.points[point as usize].holds.as_slice())
            }
            Phase::Unwinding(point, held, _) => self.graph.points[point as usize].holds.get(..held),
            _ => None,
        });
        !holds.flatten().chain(&state.left_held).any(|(held, how)| *held == lock && mode.excludes(*how))
    }

    /// The state after `step`, which is one of the moves of `state`.
    pub fn after(&self, state: &State, step: Move) -> State {
        let mut state = state.clone();
        match step {
            Move::Take(at, edge) => self.take(&mut state, at, edge),
            Move::Wait(at, edge) => self.wait(&mut state, at, edge),
            Move::Wake(lock) => self.hand_over(&mut state, lock),
            Move::Start(at) => self.start(&mut state, at, Thread::Executor),
            Move::Help(at) => self.start(&mut state, at, Thread::Parent),
            Move::Cancel(flow) => self.cancel(&mut state, flow),
            Move::Unwind(at) => self.unwind_further(&mut state, at),
        }
        self.produce(&mut state);
        state
    }

    fn take(&self, state: &mut State, at: usize, edge: usize) {
        let Phase::Running(point, place) = state.executions[at].phase else { return };
        let edge_taken = &self.graph.points[point as usize].edges[edge];
        match &edge_taken.action {
            Action::Acquire(lock, _) => {
                self.pass(state, *lock);
                state.executions[at].phase = Phase::Running(edge_taken.next, place);
            }
            Action::Release(lock, _) => {
                state.executions[at].phase = Phase::Running(edge_taken.next, place);
                self.pass_on(state, *lock);
            }
            Action::Enqueue => {
                state.executions[at].phase = match self.bounds.executors {
                    None => Phase::Running(edge_taken.next, Thread::Executor),
                    Some(_) => Phase::Queued(edge_taken.next),
                };
            }
            Action::Fork(starts, _) => {
                state.executions[at].phase = Phase::Joining(point, edge, place);
                state.renumber(|index| if index > at { index + starts.len() } else { index });
                let flow = state.executions[at].flow;
                let branch = |(branch, start): (usize, &crate::behaviour::Start)| Execution {
                    flow,
                    parent: Some((at, branch)),
                    phase: Phase::Unstarted(start.point, start.when),
                };
                let branches: Vec<_> = starts.iter().enumerate().map(branch).collect();
                state.executions.splice(at + 1..at + 1, branches);
            }
            Action::Exit(exit) => self.end(state, at, *exit),
        }
    }

    /// Counts that somebody takes a lock for which others wait.
    fn pass(&self, state: &mut State, lock: LockId) {
        let passed = state.waiters.iter_mut().filter(|waiter| waiter.lock == lock);
        let count = if self.bounds.discipline == Discipline::PassedOnce { 1 } else { usize::MAX };
        for waiter in passed.take(count) {
            waiter.passed = PASSED_TOO_OFTEN.min(waiter.passed + 1);
        }
    }

    fn wait(&self, state: &mut State, at: usize, edge: usize) {
        let Phase::Running(point, place) = state.executions[at].phase else { return };
        if let Action::Acquire(lock, mode) = self.graph.points[point as usize].edges[edge].action {
            state.executions[at].phase = Phase::Waiting(point, edge, place);
            state.waiters.push(Waiter { lock, mode, execution: Some(at), passed: 0 });
            state.waiters.sort_by_key(|waiter| waiter.lock);
        }
    }

    /// Ends an execution; its parent goes on if it was the last branch.
    pub fn end(&self, state: &mut State, at: usize, exit: Exit) {
        let Some((parent, _)) = state.executions[at].parent else {
            state.executions[at].phase = Phase::Ended(Exit::Done);
            return;
        };
        state.executions[at].phase = Phase::Ended(exit);
        let of = |one: &Execution| one.parent.is_some_and(|(other, _)| other == parent);
        let exits = state.executions.iter().filter(|one| of(one)).map(|one| match one.phase {
            Phase::Ended(exit) => Some(exit),
            _ => None,
        });
        let Some(exits) = exits.collect::<Option<Vec<Exit>>>() else { return };
        let Phase::Joining(point, edge, place) = state.executions[parent].phase else { return };
        let Action::Fork(_, outcomes) = &self.graph.points[point as usize].edges[edge].action else { return };
        let exit = [Exit::Failed, Exit::Ended].into_iter().find(|exit| exits.contains(exit)).unwrap_or(Exit::Done);
        state.executions[parent].phase = Phase::Running(outcomes.get(exit), place);
        if state.cancelled == Some(state.executions[parent].flow) {
            self.unwind(state, parent, point, place);
        }
        state.executions.drain(parent + 1..=parent + exits.len());
        state.renumber(|index| if index > parent { index - exits.len() } else { index });
    }

    /// What a release does for those who wait.
    pub fn pass_on(&self, state: &mut State, lock: LockId) {
        let first = state.waiters.iter().find(|waiter| waiter.lock == lock);
        // A lock that may be passed is left free, and its first waiter woken.
        let woken = self.bounds.discipline == Discipline::PassedOnce && first.is_some_and(|first| first.passed == 0);
        if !woken {
            self.hand_over(state, lock);
        }
    }

    /// Gives a lock to those who wait for it, in their order, as long as it can be had.
    fn hand_over(&self, state: &mut State, lock: LockId) {
        while let Some(at) = state.waiters.iter().position(|waiter| waiter.lock == lock)
            && self.can_hold(state, lock, state.waiters[at].mode)
        {
            let waiter = state.waiters.remove(at);
            let Some(execution) = waiter.execution.map(|at| &mut state.executions[at]) else {
                state.left_held.push((lock, waiter.mode));
                continue;
            };
            if let Phase::Waiting(point, edge, place) = execution.phase {
                let next = self.graph.points[point as usize].edges[edge].next;
                execution.phase = Phase::Running(next, place);
            }
        }
    }

    /// Two executions that are inside nodes which may not be inside at once, with what they use.
    pub fn lost_exclusion(&self, state: &State) -> Option<(usize, Use, usize, Use)> {
        let used: Vec<&[Use]> = state.executions.iter().map(|execution| self.used(execution.phase)).collect();
        for (later, mine) in used.iter().enumerate().filter(|(_, uses)| !uses.is_empty()) {
            for (earlier, theirs) in used.iter().enumerate().take(later) {
                let meets = |one| theirs.iter().find(|two| Use::conflicts(one, two)).map(|two| (one, two));
                let clash = mine.iter().find_map(meets);
                if let Some((one, two)) = clash
                    && !state.is_inside(later, earlier)
                {
                    return Some((earlier, *two, later, *one));
                }
            }
        }
        None
    }

    /// What an execution may be using now.
    fn used(&self, phase: Phase) -> &[Use] {
        match phase {
            Phase::Running(point, _) => &self.graph.points[point as usize].uses,
            Phase::Waiting(point, edge, _) | Phase::Joining(point, edge, _) => {
                &self.graph.points[point as usize].edges[edge].around
            }
            Phase::Coming(_) | Phase::Queued(_) | Phase::Unstarted(..) | Phase::Ended(_) => &[],
            // It has left its nodes.
            Phase::Unwinding(..) => &[],
        }
    }

    fn start(&self, state: &mut State, at: usize, place: Thread) {
        if let Phase::Queued(point) | Phase::Unstarted(point, _) = state.executions[at].phase {
            state.executions[at].phase = Phase::Running(point, place);
            if state.cancelled == Some(state.executions[at].flow) {
                self.unwind(state, at, point, place);
            }
        }
    }
}

impl State {
    /// Whether everything has ended.
    pub fn is_over(&self) -> bool {
        self.executions.iter().all(|execution| matches!(execution.phase, Phase::Ended(_)))
    }

    /// A writer that was passed more than once.
    pub fn starved_writer(&self) -> Option<usize> {
        let starved = |waiter: &&Waiter| waiter.mode == Mode::Write && waiter.passed >= PASSED_TOO_OFTEN;
        self.waiters.iter().find(starved).and_then(|waiter| waiter.execution)
    }

    /// Whether the execution `inner` is run for `outer`.
    fn is_inside(&self, inner: usize, outer: usize) -> bool {
        let parent = |at: &usize| self.executions[*at].parent.map(|(parent, _)| parent);
        std::iter::successors(Some(inner), parent).any(|at| at == outer)
    }

    /// The state with flows of one source in an order that does not tell them apart: they do the same, so whatever can
    /// happen from one of two such states can happen from the other. `sources` has the source of each flow.
    pub fn canonical(&self, sources: &[usize]) -> Self {
        let block = |flow: usize| {
            let start = self.executions.iter().position(|one| one.flow == flow).unwrap_or(self.executions.len());
            start..start + self.executions.iter().filter(|one| one.flow == flow).count()
        };
        let phases = |at: &std::ops::Range<usize>| -> Vec<Phase> {
            self.executions[at.clone()].iter().map(|one| one.phase).collect()
        };
        let mut blocks: Vec<_> = sources.iter().enumerate().map(|(flow, source)| (*source, block(flow))).collect();
        let is_cancelled = |at: &std::ops::Range<usize>| {
            self.cancelled.is_some_and(|flow| self.executions.get(at.start).is_some_and(|one| one.flow == flow))
        };
        blocks.sort_by_cached_key(|(source, at)| (*source, is_cancelled(at), phases(at), at.start));
        let order: Vec<usize> = blocks.iter().flat_map(|(_, at)| at.clone()).collect();
        let mut number = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, old)| number[*old] = new);
        let executions = blocks.iter().enumerate().flat_map(|(flow, (_, at))| {
            self.executions[at.clone()].iter().map(move |one| Execution { flow, ..one.clone() })
        });
        let cancelled = blocks.iter().position(|(_, at)| is_cancelled(at));
        let (waiters, left_held) = (self.waiters.clone(), self.left_held.clone());
        let mut same = Self { executions: executions.collect(), waiters, cancelled, left_held };
        same.renumber(|old| number[old]);
        same
    }

    /// Gives every execution the number that it has from now on.
    fn renumber(&mut self, number: impl Fn(usize) -> usize) {
        for execution in &mut self.executions {
            execution.parent = execution.parent.map(|(parent, branch)| (number(parent), branch));
        }
        for waiter in &mut self.waiters {
            waiter.execution = waiter.execution.map(&number);
        }
    }
}
