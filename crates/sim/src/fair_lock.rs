//! A reader/writer lock with the queue of the runtime's (`runtime/include/flux/constraint/lock.hpp`): first come, first
//! served, and readers who stand next to each other go in together. A reader joins others only while nobody waits.
//! That whoever runs may pass the first waiter in the microseconds of its waking is left out.

use flux_ir::program::Mode;
use std::collections::VecDeque;

/// A lock.
#[derive(Default, Debug)]
pub struct FairLock {
    writer: bool,
    readers: usize,
    waiting: VecDeque<(usize, Mode)>,
}

impl FairLock {
    /// Takes the lock, or joins the queue: whether it is taken.
    pub fn acquire(&mut self, who: usize, mode: Mode) -> bool {
        let taken = self.waiting.is_empty() && self.admits(mode);
        match taken {
            true => self.admit(mode),
            false => self.waiting.push_back((who, mode)),
        }
        taken
    }

    /// Gives the lock back; those who have it now.
    pub fn release(&mut self, mode: Mode) -> Vec<usize> {
        match mode {
            Mode::Read => self.readers = self.readers.saturating_sub(1),
            Mode::Write => self.writer = false,
        }
        let mut admitted = vec![];
        while let Some((who, mode)) = self.waiting.front().copied()
            && self.admits(mode)
        {
            self.waiting.pop_front();
            self.admit(mode);
            admitted.push(who);
        }
        admitted
    }

    fn admits(&self, mode: Mode) -> bool {
        !self.writer && (mode == Mode::Read || self.readers == 0)
    }

    fn admit(&mut self, mode: Mode) {
        match mode {
            Mode::Read => self.readers += 1,
            Mode::Write => self.writer = true,
        }
    }
}
