//! The stress mode: with `FLUX_TEST_STALLS=SEED` the harness stops each server under test for 50 to 500 ms at random
//! moments, for at most a quarter of its time. No test may fail because of this.

use rustix::process::{Pid, Signal, kill_process};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

/// The variable of the environment whose value is the seed.
pub const VARIABLE: &str = "FLUX_TEST_STALLS";

/// A process. The harness sends no signal after its end, because its number may belong to another process by then.
pub struct Life {
    process: Pid,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    has_ended: bool,
    /// Its test has stopped it, and will continue it.
    is_held: bool,
}

impl Life {
    pub fn of(process: u32) -> Self {
        let process = Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
        Self { process, state: RwLock::default() }
    }

    /// Records that its test stops or continues it.
    pub fn is_held(&self, is_held: bool) {
        self.state.write().unwrap().is_held = is_held;
    }

    /// Runs a function that may find, or cause, the end of the process.
    pub fn end_if(&self, look: impl FnOnce() -> Option<ExitStatus>) -> Option<ExitStatus> {
        let mut state = self.state.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let status = look();
        state.has_ended |= status.is_some();
        status
    }

    fn signal(&self, signal: Signal) {
        let state = self.state.read().unwrap();
        if !state.has_ended && !state.is_held {
            let _ = kill_process(self.process, signal);
        }
    }
}

/// Stops a process again and again, until this is dropped.
pub struct Stalls {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Stalls {
    /// Stalls a process if the environment asks for it.
    pub fn asked_for(life: &Arc<Life>) -> Option<Self> {
        static SERVERS: AtomicU64 = AtomicU64::new(1);
        let seed: u64 = std::env::var(VARIABLE).ok()?.parse().expect("FLUX_TEST_STALLS is a number");
        let mut chance = seed.wrapping_mul(1_000_003).wrapping_add(SERVERS.fetch_add(1, Ordering::Relaxed));
        let mut below = move |limit: u64| {
            // Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014: SplitMix64.
            chance = chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (chance ^ (chance >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)) % limit
        };
        let (end, ended) = channel();
        let life = Arc::clone(life);
        let thread = std::thread::spawn(move || {
            let goes_on = |ms| ended.recv_timeout(Duration::from_millis(ms)) == Err(RecvTimeoutError::Timeout);
            // The first stall may meet the start of the server.
            let mut runs_ms = below(500);
            while goes_on(runs_ms) {
                let stands_ms = 50 + below(451);
                life.signal(Signal::STOP);
                let more = goes_on(stands_ms);
                life.signal(Signal::CONT);
                if !more {
                    return;
                }
                runs_ms = 3 * stands_ms + below(1000);
            }
        });
        Some(Self { end: Some(end), thread: Some(thread) })
    }
}

impl Drop for Stalls {
    fn drop(&mut self) {
        drop(self.end.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
