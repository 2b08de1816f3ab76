//! What will happen, and when: a queue of events, the earliest first, and among those of one moment the one that was
//! put in first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A moment, in seconds of virtual time, or in seconds of service.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Moment(pub f64);

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Events in the order of their moments.
#[derive(Debug)]
pub struct Agenda<E> {
    entries: BinaryHeap<Reverse<Entry<E>>>,
    put: u64,
}

#[derive(Debug)]
struct Entry<E> {
    at: Moment,
    number: u64,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Self { entries: BinaryHeap::new(), put: 0 }
    }
}

impl<E> Agenda<E> {
    /// Puts an event in. O(log n).
    pub fn put(&mut self, at: f64, event: E) {
        self.put += 1;
        self.entries.push(Reverse(Entry { at: Moment(at), number: self.put, event }));
    }

    /// When the next event is.
    pub fn next_at(&self) -> Option<f64> {
        self.entries.peek().map(|Reverse(entry)| entry.at.0)
    }

    /// Takes the next event out. O(log n).
    pub fn take(&mut self) -> Option<(f64, E)> {
        self.entries.pop().map(|Reverse(entry)| (entry.at.0, entry.event))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
