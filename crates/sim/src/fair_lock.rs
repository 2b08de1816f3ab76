//! A reader/writer lock with the queue of the runtime's (`runtime/include/flux/constraint/lock.hpp`): first come, first
//! served, and readers who stand next to each other go in together. A reader joins others only while nobody waits.
//!
//! A lock that becomes free while some wait is left free, and the first of them is woken. Whoever runs meanwhile may
//! take it: where the loop of the one that was woken is busy, that is long. One that finds the lock taken asks for it,
//! and the next release hands it over.

use flux_ir::program::Mode;
use std::collections::VecDeque;

/// A lock.
#[derive(Default, Debug)]
pub struct FairLock {
    /// How it is held, and by how many; nothing where it is free.
    holders: Option<(Mode, usize)>,
    waiting: VecDeque<(usize, Mode)>,
    /// What the first of those who wait has been told.
    first: First,
}

/// The first of those who wait.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum First {
    #[default]
    Waits,
    /// It is woken, and will try.
    IsWoken,
    /// It has tried in vain: the lock is handed to it.
    Asks,
}

/// What comes of a release.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Passed {
    /// These have the lock now; none where nobody waits or others still hold it.
    To(Vec<usize>),
    /// The lock is free, and this one is to try when it runs.
    Wakes(usize),
}

impl FairLock {
    /// Takes the lock, or joins the queue: whether it is taken.
    pub fn acquire(&mut self, who: usize, mode: Mode) -> bool {
        let taken = match (self.waiting.is_empty(), self.first) {
            (true, _) => self.admits(mode),
            (false, First::IsWoken) => self.admits(Mode::Write),
            (false, First::Waits | First::Asks) => false,
        };
        match taken {
            true => self.admit(mode),
            false => self.waiting.push_back((who, mode)),
        }
        taken
    }

    /// One that was woken runs: those who have the lock now, itself among them, or none, and then it waits on.
    pub fn try_again(&mut self) -> Vec<usize> {
        let taken = self.admit_first();
        self.first = if taken.is_empty() { First::Asks } else { First::Waits };
        taken
    }

    /// Gives the lock back.
    pub fn release(&mut self) -> Passed {
        self.holders = self.holders.map(|(mode, count)| (mode, count - 1)).filter(|(_, count)| *count > 0);
        match (self.first, self.waiting.front()) {
            (First::Waits, Some((who, _))) if self.holders.is_none() => {
                self.first = First::IsWoken;
                Passed::Wakes(*who)
            }
            (First::Asks, _) => {
                let admitted = self.admit_first();
                self.first = if admitted.is_empty() { First::Asks } else { First::Waits };
                Passed::To(admitted)
            }
            _ => Passed::To(vec![]),
        }
    }

    /// The first of those who wait goes in where the lock is free, with those readers next to it. It joins no readers:
    /// who comes while it waits would not, either, and the last of them hands it the lock.
    fn admit_first(&mut self) -> Vec<usize> {
        let mut admitted = vec![];
        let free = self.holders.is_none();
        while free
            && let Some((who, mode)) = self.waiting.front().copied()
            && self.admits(mode)
        {
            self.waiting.pop_front();
            self.admit(mode);
            admitted.push(who);
        }
        admitted
    }

    fn admits(&self, mode: Mode) -> bool {
        self.holders.is_none_or(|(held, _)| !held.excludes(mode))
    }

    fn admit(&mut self, mode: Mode) {
        let before = self.holders.map_or(0, |(_, count)| count);
        self.holders = Some((mode, before + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_runs_may_pass_one_that_is_woken_once() {
        let mut lock = FairLock::default();
        assert!(lock.acquire(1, Mode::Write));
        assert!(!lock.acquire(2, Mode::Write) && !lock.acquire(3, Mode::Write));
        assert_eq!(lock.release(), Passed::Wakes(2));
        assert!(lock.acquire(4, Mode::Write), "it is free until 2 runs");
        assert_eq!(lock.try_again(), [0; 0]);
        assert!(!lock.acquire(5, Mode::Write), "2 has asked");
        assert_eq!(lock.release(), Passed::To(vec![2]));
        assert!(!lock.acquire(6, Mode::Write));
        assert_eq!(lock.release(), Passed::Wakes(3));
        assert_eq!(lock.try_again(), [3]);
        assert_eq!(lock.release(), Passed::Wakes(5));
    }

    #[test]
    fn a_woken_reader_joins_nobody() {
        let mut lock = FairLock::default();
        assert!(lock.acquire(1, Mode::Write));
        assert!(!lock.acquire(2, Mode::Read));
        assert_eq!(lock.release(), Passed::Wakes(2));
        assert!(lock.acquire(3, Mode::Read), "it is free until 2 runs");
        assert!(!lock.acquire(4, Mode::Read), "2 waits before it");
        assert_eq!(lock.try_again(), [0; 0]);
        assert_eq!(lock.release(), Passed::To(vec![2, 4]));
        assert_eq!(lock.release(), Passed::To(vec![]), "4 holds it");
    }

    #[test]
    fn readers_go_in_together_and_join_nobody_past_a_writer() {
        let mut lock = FairLock::default();
        assert!(lock.acquire(1, Mode::Read) && lock.acquire(2, Mode::Read));
        assert!(!lock.acquire(3, Mode::Write) && !lock.acquire(4, Mode::Read) && !lock.acquire(5, Mode::Read));
        assert_eq!(lock.release(), Passed::To(vec![]));
        assert_eq!(lock.release(), Passed::Wakes(3));
        assert_eq!(lock.try_again(), [3]);
        assert_eq!(lock.release(), Passed::Wakes(4));
        assert_eq!(lock.try_again(), [4, 5]);
        assert!(lock.acquire(6, Mode::Read));
    }
}
