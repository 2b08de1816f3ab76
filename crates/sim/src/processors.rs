//! The CPUs, and how threads that compute have them: in turns as Linux gives them (`turns.rs`), or, with more threads
//! than CPUs, each an equal part, as if slices were short beside what nodes take (processor sharing).
//!
//! Of equal parts: each second in which a thread has a CPU to itself is a second of service; all who compute are
//! served equally fast, so who ends next is who was to end first in service, and a change of speed changes no order.

use crate::agenda::Agenda;
use crate::turns::{Slices, Turns};

/// How threads have the CPUs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sharing {
    /// All who compute have equal parts.
    Equal,
    /// In turns.
    Turns(Slices),
}

/// The CPUs, and who computes on them.
#[derive(Debug)]
pub enum Processors {
    /// All who compute have equal parts.
    Equal(EqualParts),
    /// In turns.
    Turns(Turns),
}

impl Processors {
    /// So many CPUs. Where threads begin, they are new ones, or some that wake.
    pub fn new(cpus: usize, sharing: Sharing, begins_new: bool) -> Self {
        match sharing {
            Sharing::Equal => Self::Equal(EqualParts::new(cpus)),
            Sharing::Turns(slices) => Self::Turns(Turns::new(cpus, slices, begins_new)),
        }
    }

    /// Somebody begins to compute on this thread for so many seconds.
    pub fn begin(&mut self, now: f64, thread: usize, who: usize, seconds: f64) {
        match self {
            Self::Equal(parts) => parts.begin(now, who, seconds),
            Self::Turns(turns) => turns.begin(now, thread, who, seconds),
        }
    }

    /// This thread is to have a CPU from now on, and computes or leaves at this moment; `by` has woken it, or a timer.
    /// Whether it comes to one that is idle.
    pub fn wake(&mut self, now: f64, thread: usize, by: Option<usize>) -> bool {
        match self {
            Self::Equal(_) => false,
            Self::Turns(turns) => turns.wake(now, thread, by),
        }
    }

    /// The thread waits, or has ended: whoever has ended to compute has not begun again.
    pub fn leave(&mut self, now: f64, thread: usize) {
        if let Self::Turns(turns) = self {
            turns.leave(now, thread);
        }
    }

    /// This thread has ended: who has its number from now on is another.
    pub fn renew(&mut self, thread: usize) {
        if let Self::Turns(turns) = self {
            turns.renew(thread);
        }
    }

    /// When something happens next, if nothing changes, and the number of the change that this is true for; none where
    /// that was said before.
    pub fn announce(&mut self) -> Option<(f64, u64)> {
        match self {
            Self::Equal(parts) => parts.announce(),
            Self::Turns(turns) => turns.announce(),
        }
    }

    /// Takes out the one that ends now; none where nobody does, or something has changed since that was known.
    pub fn end(&mut self, now: f64, changes: u64) -> Option<usize> {
        match self {
            Self::Equal(parts) => parts.end(now, changes),
            Self::Turns(turns) => turns.end(now, changes),
        }
    }

    /// How many seconds CPUs were in use until `now`, summed over all.
    pub fn busy(&mut self, now: f64) -> f64 {
        match self {
            Self::Equal(parts) => parts.busy(now),
            Self::Turns(turns) => turns.busy(now),
        }
    }
}

/// CPUs of which all who compute have equal parts.
#[derive(Debug)]
pub struct EqualParts {
    cpus: f64,
    computing: Agenda<usize>,
    /// The service that one who has computed from the beginning has got.
    service: f64,
    /// When it was.
    at: f64,
    /// How long CPUs were in use, summed over all.
    busy: f64,
    changes: u64,
    announced: u64,
}

impl EqualParts {
    /// So many CPUs.
    fn new(cpus: usize) -> Self {
        Self {
            cpus: cpus as f64,
            computing: Agenda::default(),
            service: 0.0,
            at: 0.0,
            busy: 0.0,
            changes: 0,
            announced: 0,
        }
    }

    /// How much of a CPU each has who computes.
    fn speed(&self) -> f64 {
        (self.cpus / self.computing.len() as f64).min(1.0)
    }

    /// Goes on to `now`.
    fn advance(&mut self, now: f64) {
        let passed = now - self.at;
        self.at = now;
        if !self.computing.is_empty() {
            self.service += self.speed() * passed;
            self.busy += self.cpus.min(self.computing.len() as f64) * passed;
        }
    }

    /// Somebody begins to compute for so many seconds.
    fn begin(&mut self, now: f64, who: usize, seconds: f64) {
        self.advance(now);
        self.computing.put(self.service + seconds, who);
        self.changes += 1;
    }

    /// When the next one ends, if nothing changes, and the number of the change that this is true for; none where that
    /// was said before.
    fn announce(&mut self) -> Option<(f64, u64)> {
        if std::mem::replace(&mut self.announced, self.changes) == self.changes {
            return None;
        }
        let service = self.computing.next_at()? - self.service;
        Some((self.at + service.max(0.0) / self.speed(), self.changes))
    }

    /// Takes out the one that ends now; none where something has changed since that was known.
    fn end(&mut self, now: f64, changes: u64) -> Option<usize> {
        if changes != self.changes {
            return None;
        }
        self.advance(now);
        let (service, who) = self.computing.take()?;
        self.service = service;
        self.changes += 1;
        Some(who)
    }

    /// How many seconds CPUs were in use until `now`, summed over all.
    fn busy(&mut self, now: f64) -> f64 {
        self.advance(now);
        self.busy
    }
}
