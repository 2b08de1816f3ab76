//! The CPUs, shared by the threads that compute: with more threads than CPUs each gets an equal part, as an operating
//! system gives them in slices that are short beside what nodes take (processor sharing).
//!
//! Each second in which a thread has a CPU to itself is a second of service; all who compute are served equally fast,
//! so who ends next is who was to end first in service, and a change of speed changes no order.

use crate::agenda::Agenda;

/// The CPUs, and who computes on them.
#[derive(Debug)]
pub struct Processors {
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

impl Processors {
    /// So many CPUs.
    pub fn new(cpus: usize) -> Self {
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
    pub fn begin(&mut self, now: f64, who: usize, seconds: f64) {
        self.advance(now);
        self.computing.put(self.service + seconds, who);
        self.changes += 1;
    }

    /// When the next one ends, if nothing changes, and the number of the change that this is true for; none where that
    /// was said before.
    pub fn announce(&mut self) -> Option<(f64, u64)> {
        if std::mem::replace(&mut self.announced, self.changes) == self.changes {
            return None;
        }
        let service = self.computing.next_at()? - self.service;
        Some((self.at + service.max(0.0) / self.speed(), self.changes))
    }

    /// Takes out the one that ends now; none where something has changed since that was known.
    pub fn end(&mut self, now: f64, changes: u64) -> Option<usize> {
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
    pub fn busy(&mut self, now: f64) -> f64 {
        self.advance(now);
        self.busy
    }
}
