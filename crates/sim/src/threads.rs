//! What runs flows: a thread for each, the threads of a pool, or event loops. Those who wait for one are served first
//! come, first served; the threads of a pool take branches before new flows, and a loop keeps what has begun on it.

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
    /// Of a pool: those that have nothing to do. Of loops: each.
    loops: Vec<Loop>,
    /// How many have something to do.
    occupied: usize,
    new: VecDeque<(u64, Begins)>,
    offered: VecDeque<Begins>,
    put: u64,
    busy: f64,
    at: f64,
}

#[derive(Default, Debug)]
struct Loop {
    is_running: bool,
    since: f64,
    ready: VecDeque<(u64, Begins)>,
}

impl Threads {
    /// Those of this runtime, idle.
    pub fn new(runtime: Runtime) -> Self {
        let loops = match runtime {
            Runtime::Event(loops) => (0..loops.max(1)).map(|_| Loop::default()).collect(),
            Runtime::Thread | Runtime::Pool(_) => vec![],
        };
        let (new, offered) = (VecDeque::new(), VecDeque::new());
        Self { runtime, loops, occupied: 0, new, offered, put: 0, busy: 0.0, at: 0.0 }
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

    /// A new flow waits for a thread.
    pub fn begin(&mut self, execution: usize) {
        self.put += 1;
        self.new.push_back((self.put, Begins::Execution(execution)));
    }

    /// One that was on this loop can go on.
    pub fn ready(&mut self, thread: usize, what: Begins) {
        self.put += 1;
        self.loops[thread].ready.push_back((self.put, what));
    }

    /// A branch of one that runs on this thread can begin.
    pub fn offer(&mut self, thread: usize, fork: usize) {
        match self.is_loop() {
            true => self.ready(thread, Begins::Branch(fork)),
            false => self.offered.push_back(Begins::Branch(fork)),
        }
    }

    /// A thread that has nothing to do, and what it is to do; it is occupied from here on.
    pub fn next(&mut self, now: f64) -> Option<(usize, Begins)> {
        let (thread, begins) = match self.size() {
            Some(size) if !self.is_loop() && self.occupied >= size => return None,
            _ if self.is_loop() => self.next_of_loops(now)?,
            _ => (0, self.offered.pop_front().or_else(|| self.new.pop_front().map(|(_, begins)| begins))?),
        };
        self.advance(now);
        self.occupied += 1;
        Some((thread, begins))
    }

    /// What an idle loop does next: what has waited for longest, of its own and of new flows.
    fn next_of_loops(&mut self, now: f64) -> Option<(usize, Begins)> {
        let new = self.new.front().map(|(put, _)| *put);
        let idle = self.loops.iter().enumerate().filter(|(_, one)| !one.is_running);
        let first = idle
            .filter_map(|(at, one)| {
                let own = one.ready.front().map(|(put, _)| *put);
                Some((own.into_iter().chain(new).min()?, own, at))
            })
            .min()?;
        let (put, own, at) = first;
        let one = &mut self.loops[at];
        (one.is_running, one.since) = (true, now);
        let queue = if own == Some(put) { &mut one.ready } else { &mut self.new };
        queue.pop_front().map(|(_, begins)| (at, begins))
    }

    /// A thread has nothing to do any more.
    pub fn leave(&mut self, now: f64, thread: usize) {
        self.advance(now);
        self.occupied -= 1;
        if self.is_loop() {
            self.loops[thread].is_running = false;
        }
    }

    /// Whether a flow that could go on lets others of its loop go on first.
    pub fn yields(&self, thread: usize, now: f64) -> bool {
        self.is_loop() && now - self.loops[thread].since >= SLICE && {
            !self.loops[thread].ready.is_empty() || !self.new.is_empty()
        }
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
