//! What runs flows: a thread for each, the threads of a pool, or event loops. Those who wait for a thread are served
//! first come, first served; the threads of a pool take branches before new flows. A loop keeps what has begun on it,
//! and goes on with what is next by the runtime's own order (`runtime/include/flux/event/scheduler.hpp`): what was
//! woken has every second turn, and branches, new flows and those that gave way have the others.

use std::collections::VecDeque;

/// What runs the flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Runtime {
    /// A thread for each flow and each branch.
    Thread,
    /// So many threads, of which a flow keeps one until it ends.
    Pool(usize),
    /// So many event loops, which go on with other flows where one waits.
    Event(usize),
}

/// A loop goes on with the flow that it has for so many seconds, if that does not wait before.
const SLICE: f64 = 100e-6;

/// A loop looks whose time has come when it has nothing else to do, or has not looked for so many seconds.
const BATCH: f64 = 500e-6;

/// How much later a thread wakes than it asked for, in seconds (`PR_SET_TIMERSLACK`).
pub const SLACK: f64 = 50e-6;

/// What can run on a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ready {
    /// It waited for something that has come.
    Woken,
    /// A branch of one that has begun.
    Branch,
    /// It let others go on first: its turn is not before those have begun who waited then.
    GaveWay,
}

/// The classes that have the turns that those who were woken have not; the second is of new flows.
const OTHERS: [Option<Ready>; 3] = [Some(Ready::Branch), None, Some(Ready::GaveWay)];

/// What a thread can begin with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begins {
    /// An execution, new or ready to go on.
    Execution(usize),
    /// A branch of this fork, if there is still one.
    Branch(usize),
}

/// The threads or loops.
#[derive(Debug)]
pub struct Threads {
    runtime: Runtime,
    loops: Vec<Loop>,
    /// Of a pool: those that have nothing to do, who has waited for longest first.
    free: VecDeque<usize>,
    /// How many have something to do.
    occupied: usize,
    new: VecDeque<Begins>,
    /// The loop that has the next new flow where all have as much to do.
    turn: usize,
    offered: VecDeque<Begins>,
    /// So many threads of a pool were woken and have not looked yet.
    called: usize,
    busy: f64,
    at: f64,
}

#[derive(Default, Debug)]
struct Loop {
    is_running: bool,
    /// Whether it has found nothing since it last ran: then it sleeps, and has no turn until there is something.
    is_asleep: bool,
    /// Since when it has what runs, or has nothing.
    since: f64,
    /// How many have something to do here, also if they wait for a constraint.
    present: usize,
    /// New flows, which others may take away, and how many of them have begun, here or elsewhere.
    inbox: VecDeque<Begins>,
    begun: u64,
    /// Whose time has come. If it did so while the loop slept, that wakes at `wakes_at` if nothing else wakes it.
    due: VecDeque<Begins>,
    wakes_at: f64,
    looked_at: f64,
    woken: VecDeque<Begins>,
    branches: VecDeque<Begins>,
    /// With how many new flows are to have begun before.
    gave_way: VecDeque<(u64, Begins)>,
    /// Whether those who were woken had the last turn.
    was_woken: bool,
    /// Which of the others had theirs last.
    last: usize,
}

impl Loop {
    /// Takes out what is next.
    fn next(&mut self) -> Option<Begins> {
        let is_empty = self.is_empty();
        if std::mem::replace(&mut self.is_asleep, is_empty) && is_empty {
            return None;
        }
        self.was_woken = !self.was_woken;
        if self.was_woken
            && let Some(woken) = self.woken.pop_front()
        {
            return Some(woken);
        }
        let is_only = self.woken.is_empty() && self.branches.is_empty() && self.inbox.is_empty();
        for _ in 0..OTHERS.len() {
            self.last = (self.last + 1) % OTHERS.len();
            let found = match OTHERS[self.last] {
                None => self.take_new(),
                Some(Ready::Branch) => self.branches.pop_front(),
                _ if self.gave_way.front().is_some_and(|(after, _)| is_only || self.begun >= *after) => {
                    self.gave_way.pop_front().map(|(_, begins)| begins)
                }
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        self.woken.pop_front()
    }

    /// Wakes those whose time has come, if it is to look.
    fn look(&mut self, now: f64) {
        let is_empty = self.is_empty();
        if is_empty && now < self.wakes_at {
            return;
        }
        if now - self.looked_at >= BATCH || is_empty {
            self.looked_at = now;
            self.woken.append(&mut self.due);
        }
    }

    /// Takes out the new flow that has waited for longest.
    fn take_new(&mut self) -> Option<Begins> {
        self.inbox.pop_front().inspect(|_| self.begun += 1)
    }

    /// How much there is to do.
    fn load(&self) -> usize {
        self.present + self.inbox.len()
    }

    /// Whether nothing can run, but for those whose time has come.
    fn is_empty(&self) -> bool {
        self.inbox.is_empty() && self.woken.is_empty() && self.branches.is_empty() && self.gave_way.is_empty()
    }
}

impl Threads {
    /// Those of this runtime, idle.
    pub fn new(runtime: Runtime) -> Self {
        let loops = match runtime {
            Runtime::Event(loops) => (0..loops.max(1)).map(|_| Loop::default()).collect(),
            Runtime::Thread | Runtime::Pool(_) => vec![],
        };
        let free = match runtime {
            Runtime::Pool(threads) => (0..threads.max(1)).collect(),
            Runtime::Thread | Runtime::Event(_) => VecDeque::new(),
        };
        let (new, offered) = (VecDeque::new(), VecDeque::new());
        Self { runtime, loops, free, occupied: 0, new, turn: 0, offered, called: 0, busy: 0.0, at: 0.0 }
    }

    /// How many there are; none where there are as many as are asked for.
    pub fn size(&self) -> Option<usize> {
        match self.runtime {
            Runtime::Thread => None,
            Runtime::Pool(threads) => Some(threads.max(1)),
            Runtime::Event(_) => Some(self.loops.len()),
        }
    }

    /// Whether these are loops.
    pub fn is_loop(&self) -> bool {
        matches!(self.runtime, Runtime::Event(_))
    }

    /// Whether these are the threads of a pool.
    pub fn is_pool(&self) -> bool {
        matches!(self.runtime, Runtime::Pool(_))
    }

    /// A new flow waits for a thread: at the loop that has least to do, the next in turn of several.
    pub fn begin(&mut self, execution: usize) {
        let new = Begins::Execution(execution);
        match self.loops.len() {
            0 => self.new.push_back(new),
            loops => {
                let in_turn = (0..loops).map(|passed| (self.turn + passed) % loops);
                let least = in_turn.min_by_key(|at| self.loops[*at].load()).unwrap_or_default();
                self.turn = (self.turn + 1) % loops;
                self.loops[least].inbox.push_back(new);
            }
        }
    }

    /// The time has come for which one slept that was on this loop. When that wakes, where it is asleep.
    pub fn due(&mut self, thread: usize, what: Begins, now: f64) -> Option<f64> {
        let one = &mut self.loops[thread];
        let is_first = one.due.is_empty() && !one.is_running;
        one.due.push_back(what);
        is_first.then(|| {
            one.wakes_at = now + SLACK;
            one.wakes_at
        })
    }

    /// One that was on this loop can go on, for this.
    pub fn ready(&mut self, thread: usize, how: Ready, what: Begins) {
        let one = &mut self.loops[thread];
        let after = one.begun + one.inbox.len() as u64;
        match how {
            Ready::Woken => one.woken.push_back(what),
            Ready::Branch => one.branches.push_back(what),
            Ready::GaveWay => one.gave_way.push_back((after, what)),
        }
    }

    /// On this loop one has something to do, or has not any more: it waits for something else than a constraint, or has
    /// ended.
    pub fn count(&mut self, thread: usize, is_present: bool) {
        let present = &mut self.loops[thread].present;
        *present = if is_present { *present + 1 } else { present.saturating_sub(1) };
    }

    /// A branch of one that runs on this thread can begin.
    pub fn offer(&mut self, thread: usize, fork: usize) {
        match self.is_loop() {
            true => self.ready(thread, Ready::Branch, Begins::Branch(fork)),
            false => self.offered.push_back(Begins::Branch(fork)),
        }
    }

    /// A branch that was offered to the threads of a pool is taken back, if none of them has it yet: whether it is.
    pub fn take_back(&mut self, fork: usize) -> bool {
        let offered = self.offered.iter().position(|one| *one == Begins::Branch(fork));
        self.is_pool() && offered.is_some_and(|at| self.offered.remove(at).is_some())
    }

    /// A thread of a pool that has nothing to do and wakes, as more has come than threads have woken for; it is
    /// occupied from here on.
    pub fn woken(&mut self, now: f64) -> Option<usize> {
        if !self.is_pool() || self.new.len() + self.offered.len() <= self.called {
            return None;
        }
        let thread = self.free.pop_front()?;
        self.called += 1;
        self.advance(now);
        self.occupied += 1;
        Some(thread)
    }

    /// One that was woken looks for what there is.
    pub fn looks(&mut self) {
        self.called -= 1;
    }

    /// What a thread of a pool does next that is occupied.
    pub fn take(&mut self) -> Option<Begins> {
        self.offered.pop_front().or_else(|| self.new.pop_front())
    }

    /// A thread that has nothing to do, what it is to do, and whether it is a loop that slept; it is occupied from here
    /// on. None of a pool, whose threads wake first and then look for what there is.
    pub fn next(&mut self, now: f64) -> Option<(usize, Begins, bool)> {
        let next = match self.runtime {
            Runtime::Event(_) => self.next_of_loops(now)?,
            Runtime::Thread => (0, self.take()?, false),
            Runtime::Pool(_) => return None,
        };
        self.advance(now);
        self.occupied += 1;
        Some(next)
    }

    /// What an idle loop does next: its own, or a new flow of another that has more to do.
    fn next_of_loops(&mut self, now: f64) -> Option<(usize, Begins, bool)> {
        for at in 0..self.loops.len() {
            let own = self.loops[at].load();
            let steal = |other: &mut Loop| if other.load() > own + 1 { other.take_new() } else { None };
            if self.loops[at].is_running {
                continue;
            }
            self.loops[at].look(now);
            if let Some(begins) = self.loops[at].next().or_else(|| self.loops.iter_mut().find_map(steal)) {
                let slept = self.loops[at].since < now;
                let one = &mut self.loops[at];
                (one.is_running, one.is_asleep, one.since) = (true, false, now);
                return Some((at, begins, slept));
            }
        }
        None
    }

    /// A thread has nothing to do any more.
    pub fn leave(&mut self, now: f64, thread: usize) {
        self.advance(now);
        self.occupied -= 1;
        if self.is_loop() {
            (self.loops[thread].is_running, self.loops[thread].since) = (false, now);
        } else if self.is_pool() {
            self.free.push_back(thread);
        }
    }

    /// Whether there are as many all the time, each with a number of its own.
    pub fn is_kept(&self) -> bool {
        self.runtime != Runtime::Thread
    }

    /// Whether this loop has something to do.
    pub fn is_running(&self, thread: usize) -> bool {
        self.is_loop() && self.loops[thread].is_running
    }

    /// Whether a flow that could go on lets others of its loop go on first.
    pub fn yields(&self, thread: usize, now: f64) -> bool {
        self.is_loop() && now - self.loops[thread].since >= SLICE && !self.loops[thread].is_empty()
    }

    fn advance(&mut self, now: f64) {
        self.busy += self.occupied as f64 * (now - self.at);
        self.at = now;
    }

    /// How many seconds threads were occupied until `now`, summed over all.
    pub fn busy(&mut self, now: f64) -> f64 {
        self.advance(now);
        self.busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a loop does at this moment, having done what it had.
    fn next(threads: &mut Threads, now: f64) -> Option<Begins> {
        threads.leave(now, 0);
        threads.next(now).map(|(_, begins, _)| begins)
    }

    #[test]
    fn a_busy_loop_sees_whose_time_has_come_when_it_has_not_looked_for_long() {
        let mut threads = Threads::new(Runtime::Event(1));
        threads.begin(0);
        threads.next(0.0);
        threads.due(0, Begins::Execution(1), 0.0);
        threads.ready(0, Ready::Branch, Begins::Execution(2));
        assert_eq!(next(&mut threads, 1e-4), Some(Begins::Execution(2)), "it goes on with what it knows of");
        assert_eq!(next(&mut threads, 2e-4), Some(Begins::Execution(1)), "it has nothing else");
        threads.due(0, Begins::Execution(3), 2e-4);
        (4..6).for_each(|branch| threads.ready(0, Ready::Branch, Begins::Execution(branch)));
        let order = [8e-4, 9e-4, 10e-4].map(|now| next(&mut threads, now));
        assert_eq!(order, [4, 3, 5].map(|at| Some(Begins::Execution(at))), "each second turn is of those woken");
    }

    #[test]
    fn a_loop_that_sleeps_until_a_time_wakes_late() {
        let mut threads = Threads::new(Runtime::Event(1));
        assert_eq!(threads.due(0, Begins::Execution(1), 1e-3), Some(1e-3 + SLACK));
        assert_eq!(threads.due(0, Begins::Execution(2), 1e-3), None, "it wakes for both");
        assert_eq!(threads.next(1e-3), None);
        assert_eq!(threads.next(1e-3 + SLACK), Some((0, Begins::Execution(1), true)));
        assert_eq!(threads.due(0, Begins::Execution(3), 2e-3), None, "it works");
        assert_eq!(next(&mut threads, 2e-3), Some(Begins::Execution(2)));
        assert_eq!(next(&mut threads, 3e-3), Some(Begins::Execution(3)), "it looks before it sleeps");
        threads.leave(3e-3, 0);
        threads.due(0, Begins::Execution(4), 4e-3);
        threads.begin(5);
        assert_eq!(threads.next(4e-3), Some((0, Begins::Execution(4), true)), "something else has woken it");
    }

    #[test]
    fn a_loop_that_sleeps_has_no_turn() {
        let order = |looks: usize| {
            let mut threads = Threads::new(Runtime::Event(1));
            threads.begin(0);
            threads.next(0.0);
            threads.leave(0.0, 0);
            (0..looks).for_each(|_| assert_eq!(threads.next(0.0), None));
            threads.ready(0, Ready::Woken, Begins::Execution(1));
            threads.begin(2);
            threads.next(1.0).map(|(_, begins, _)| begins)
        };
        assert_eq!(order(1), order(4), "it found nothing once, and slept");
    }
}
