//! What Linux keeps of its CPUs to spread threads over them (`kernel/sched/fair.c` of 6.18): how loaded each was of
//! late, how long it is idle, and how often it has paid to look for work elsewhere.

use crate::random::Random;

/// One that has run within so many seconds has left something in the caches of its CPU, and is not taken from there as
/// another becomes idle (`sysctl_sched_migration_cost`).
const MIGRATION_COST: f64 = 0.5e-3;
/// What it takes to look for work elsewhere, in seconds: a CPU that is likely to be idle for less does not
/// (`max_newidle_lb_cost`, which Linux measures).
const LOOK_COST: f64 = 20e-6;
/// After so long a load counts half, in seconds (`PELT_HALFLIFE`).
const HALF_LIFE: f64 = 32e-3;

/// Where CPUs are kept idle (`sched_vcpu_pack`), one is full from this part of it on, as traces show: of 2,238 wakes of
/// loops and of a pool's threads beside an idle CPU of their own, at a fifth to nine tenths of the load, 90 % went as
/// this says.
const FULL: f64 = 0.6;

/// What part of a CPU was used of late, or a thread has used.
#[derive(Clone, Copy, Default, Debug)]
pub struct Used {
    part: f64,
    at: f64,
}

impl Used {
    /// None of it.
    pub const NOTHING: Self = Self { part: 0.0, at: 0.0 };

    /// Until now all of it was used, or nothing.
    pub fn go_on(&mut self, now: f64, all: bool) {
        let all = f64::from(u8::from(all));
        self.part = all + (self.part - all) * ((self.at - now) / HALF_LIFE).exp2();
        self.at = now;
    }

    /// From 0 to 1, as it was then.
    pub fn part(self) -> f64 {
        self.part
    }

    /// What a thread counts as that begins on this CPU, as nothing is known of it (`post_init_entity_util_avg`).
    pub fn of_new(self) -> Self {
        Self { part: (1.0 - self.part) / 2.0, ..self }
    }

    /// A thread that has used this part comes, or goes.
    pub fn add(&mut self, part: f64) {
        self.part = (self.part + part).max(0.0);
    }
}

/// Whether a thread that has used this part of a CPU of late has room beside those of one that is not idle.
pub fn fits(own: f64, others: f64) -> bool {
    own + others < FULL
}

/// Whether the CPU of a waker, whose threads have used this part of it of late, would be less used with the one that
/// wakes than the one where that was before is without (`wake_affine_weight`; half of what `imbalance_pct` allows).
pub fn is_lighter(own: f64, of_waker: f64, before: f64) -> bool {
    of_waker + own < 1.085 * (before - own)
}

/// How many of so many CPUs are looked at for one that is idle, where so large a part of them was used (`SIS_UTIL`).
pub fn looked_at(cpus: usize, used: f64) -> usize {
    const IMBALANCE: f64 = 1.17;
    (cpus as f64 * (1.0 - (IMBALANCE * used).powi(2))).max(0.0) as usize
}

/// Whether a thread that ran at that moment is left where it did so, as a CPU looks for work now.
pub fn is_hot(ran_at: f64, now: f64) -> bool {
    now - ran_at < MIGRATION_COST
}

/// How long a CPU has nothing to do.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    since: f64,
    mean: f64,
}

impl Default for Idle {
    fn default() -> Self {
        Self { since: 0.0, mean: 2.0 * MIGRATION_COST }
    }
}

impl Idle {
    /// It has nothing to do from now on: whether that is likely to be for long.
    pub fn begin(&mut self, now: f64) -> bool {
        self.since = now;
        self.mean >= LOOK_COST
    }

    /// Somebody has woken on it.
    pub fn end(&mut self, now: f64) {
        self.mean = (self.mean + (now - self.since - self.mean) / 8.0).min(2.0 * MIGRATION_COST);
    }
}

/// Whether a CPU that has just become idle takes a thread from another: it looks as often as looking has paid.
#[derive(Debug)]
pub struct Looks {
    /// Whether threads wait anywhere, as was seen last.
    pub waited: bool,
    random: Random,
    asked: u32,
    paid: u32,
    /// Of this many of `OF` times it looks.
    looks: u32,
}

const OF: u32 = 1024;

impl Looks {
    /// At first it looks every other time.
    pub fn new() -> Self {
        Self { waited: false, random: Random::new(1), asked: OF / 2, paid: OF / 4, looks: OF / 2 }
    }

    /// Whether it looks this time. What comes of that is told to `found`.
    pub fn does(&mut self) -> bool {
        if !self.waited {
            return false;
        }
        let does = self.random.below(u64::from(OF)) <= u64::from(self.looks + 1);
        if !does {
            self.count(0);
        }
        does
    }

    /// It has looked; what it has found counts for all the times that it did not look.
    pub fn found(&mut self, any: bool) {
        self.waited = any;
        let weight = (OF + self.looks.div_ceil(2)) / (self.looks + 1);
        self.count(if any { weight } else { 0 });
    }

    fn count(&mut self, paid: u32) {
        (self.asked, self.paid) = (self.asked + 1, self.paid + paid);
        if self.asked >= OF {
            self.looks = self.paid.min(OF);
            (self.asked, self.paid) = (self.asked / 2, self.paid / 2);
        }
    }
}
