//! What one execution, a flow or a branch of a parallel step, does as far as others can notice it.
//!
//! A [`Point`] is a place in its run; from there it takes one of the edges, each of which is an action. Between two
//! actions it runs nodes, and others can run theirs at the same time; so an edge also says what is used on the way to
//! its action. Points are equal, and then the same, if everything that can happen from them is equal: so the graph of
//! all runs stays small however many paths a program has. Runs end, so the graph has no cycle, and each point comes
//! after those it leads to.

use flux_ir::flow::Exit;
use flux_ir::program::{ConstraintId, Mode, NodeId};
use std::collections::HashMap;

/// A point, by its index.
pub type PointId = u32;
/// A lock, by its index: a constraint of the program, or of one session, or with one key.
pub type LockId = u16;

/// A lock.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lock {
    /// Which constraint.
    pub constraint: ConstraintId,
    /// The session or the key; empty for one of the program.
    pub values: Vec<u8>,
}

/// Something that a node requires while it runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Use {
    /// What.
    pub lock: LockId,
    /// How.
    pub mode: Mode,
    /// Which node.
    pub node: NodeId,
}

impl Use {
    /// Whether two executions may not use these at once.
    pub fn conflicts(&self, other: &Self) -> bool {
        self.lock == other.lock && self.mode.excludes(other.mode)
    }
}

/// Something that other executions notice.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Action {
    /// Takes a lock, waiting as long as it must.
    Acquire(LockId, Mode),
    /// Gives it back.
    Release(LockId, Mode),
    /// Starts branches and waits for all of them; goes on by how they ended.
    Fork(Vec<Start>, Outcomes),
    /// The source has produced a flow, which waits for a place in the queue and then for an executor.
    Enqueue,
    /// The execution ends.
    Exit(Exit),
}

/// A branch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Start {
    /// Where it begins.
    pub point: PointId,
    /// When it starts.
    pub when: When,
}

/// When a branch starts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum When {
    /// At once.
    AtOnce,
    /// When the branch at this index has ended.
    After(usize),
    /// When all before it have started, and of these fewer than so many have not ended.
    Fewer(usize),
}

/// Where an execution goes on after its branches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Outcomes {
    /// All are done.
    pub done: PointId,
    /// One has failed.
    pub failed: PointId,
    /// None has failed, and one ended the flow.
    pub ended: PointId,
}

impl Outcomes {
    /// The one for `exit`.
    pub fn get(&self, exit: Exit) -> PointId {
        match exit {
            Exit::Done => self.done,
            Exit::Failed => self.failed,
            Exit::Ended => self.ended,
        }
    }
}

/// A way on from a point.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge {
    /// What happens at its end.
    pub action: Action,
    /// What is used on the way to the action, ascending.
    pub uses: Vec<Use>,
    /// What is used while the action waits: by the abstract nodes around it; ascending.
    pub around: Vec<Use>,
    /// Where the execution is afterwards; of no meaning after a fork or an exit.
    pub next: PointId,
}

/// A place in a run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Point {
    /// The ways on; at least one.
    pub edges: Vec<Edge>,
    /// What can be used before the next action.
    pub uses: Vec<Use>,
    /// What is held: all that is released from here on and was not acquired.
    pub holds: Vec<(LockId, Mode)>,
    /// The locks that are acquired, released or used from here on, those of branches included.
    pub touches: Locks,
}

/// A set of locks: a bit for each of the first, and the last bit for all others.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Locks(u64);

impl Locks {
    /// Adds a lock.
    pub fn insert(&mut self, lock: LockId) {
        self.0 |= 1 << lock.min(63);
    }

    /// Adds all of another set.
    pub fn extend(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Whether some lock may be in both.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// All points of a program, each once.
#[derive(Default, Debug)]
pub struct Graph {
    /// The points; each comes after those it leads to.
    pub points: Vec<Point>,
    /// The locks.
    pub locks: Vec<Lock>,
    known: HashMap<Vec<Edge>, PointId>,
    known_locks: HashMap<Lock, LockId>,
}

impl Graph {
    /// The point with these ways on.
    pub fn point(&mut self, mut edges: Vec<Edge>) -> PointId {
        edges.sort();
        edges.dedup();
        if let Some(known) = self.known.get(&edges) {
            return *known;
        }
        let id = u32::try_from(self.points.len()).unwrap_or(PointId::MAX);
        let mut uses: Vec<Use> = edges.iter().flat_map(|edge| &edge.uses).copied().collect();
        uses.sort();
        uses.dedup();
        let holds = edges.first().map(|edge| self.holds(edge)).unwrap_or_default();
        let mut touches = Locks::default();
        edges.iter().for_each(|edge| touches.extend(self.touches(edge)));
        self.known.insert(edges.clone(), id);
        self.points.push(Point { edges, uses, holds, touches });
        id
    }

    /// What is touched on an edge and after it.
    fn touches(&self, edge: &Edge) -> Locks {
        let mut touches = Locks::default();
        edge.uses.iter().chain(&edge.around).for_each(|used| touches.insert(used.lock));
        let mut follow = |point: PointId| touches.extend(self.points[point as usize].touches);
        match &edge.action {
            Action::Acquire(lock, _) | Action::Release(lock, _) => {
                follow(edge.next);
                touches.insert(*lock);
            }
            Action::Fork(starts, outcomes) => {
                starts.iter().for_each(|start| follow(start.point));
                Exit::ALL.iter().for_each(|exit| follow(outcomes.get(*exit)));
            }
            Action::Enqueue => follow(edge.next),
            Action::Exit(_) => {}
        }
        touches
    }

    /// What is held before an edge is taken.
    fn holds(&self, edge: &Edge) -> Vec<(LockId, Mode)> {
        let next = match &edge.action {
            Action::Exit(_) => return vec![],
            Action::Fork(_, outcomes) => outcomes.done,
            Action::Acquire(..) | Action::Release(..) | Action::Enqueue => edge.next,
        };
        let mut holds = self.points[next as usize].holds.clone();
        match edge.action {
            Action::Release(lock, mode) => holds.push((lock, mode)),
            Action::Acquire(lock, mode) => {
                if let Some(at) = holds.iter().position(|one| *one == (lock, mode)) {
                    holds.remove(at);
                }
            }
            Action::Fork(..) | Action::Enqueue | Action::Exit(_) => {}
        }
        holds.sort();
        holds
    }

    /// A point from which the ways on of any of `points` are open.
    pub fn union(&mut self, points: &[PointId]) -> PointId {
        match points {
            [one] => *one,
            _ => {
                let edges = points.iter().flat_map(|point| self.points[*point as usize].edges.iter().cloned());
                let edges = edges.collect();
                self.point(edges)
            }
        }
    }

    /// A point as `point`, but where `uses` are used on the way.
    pub fn using(&mut self, uses: &[Use], point: PointId) -> PointId {
        if uses.is_empty() {
            return point;
        }
        let mut edges = self.points[point as usize].edges.clone();
        for edge in &mut edges {
            edge.uses.extend(uses);
            edge.uses.sort();
            edge.uses.dedup();
        }
        self.point(edges)
    }

    /// The lock of a constraint with these values.
    pub fn lock(&mut self, lock: Lock) -> LockId {
        if let Some(known) = self.known_locks.get(&lock) {
            return *known;
        }
        let id = u16::try_from(self.locks.len()).unwrap_or(LockId::MAX);
        self.known_locks.insert(lock.clone(), id);
        self.locks.push(lock);
        id
    }
}
