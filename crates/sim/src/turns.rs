//! CPUs that threads take in turns, as Linux has them: by earliest eligible virtual deadline first (Stoica and
//! Abdel-Wahab, 1995; `kernel/sched/fair.c` of 6.18), with threads of equal weight.
//!
//! Each CPU has a queue of its own. The virtual time of a thread is what it has computed; one is eligible that is not
//! before the mean of its queue, and of these the one runs whose deadline is the earliest: a slice after its virtual
//! time when it began it. A thread that wakes stands at the mean, or as far behind as it was when it went to sleep; if
//! its deadline is the earliest it runs at once, but not before the one that runs has had its slice. That is looked at
//! when somebody wakes, and at each tick. So work that is shorter than a slice is hardly ever shared, and what comes
//! late may come first: that is neither first come, first served, nor equal parts. One that goes to sleep ahead of the
//! mean stays in its queue until the mean has come to it; if it wakes before, it is on the same CPU with what it had.
//!
//! Who wakes goes to the CPU that it was on if that is idle; else to an idle one that is found at first sight, and the
//! busier all were of late, the fewer are looked at; and if none is found, to that of its waker if this had less to do
//! of late. A kernel of virtual machines keeps CPUs idle where it can (`sched_vcpu_pack` on its command line; it is in
//! no published source of Linux, and traces show what it does): one that wakes comes to a CPU on which one thread runs
//! and none waits, also where others are idle: to its own, or to that of its waker if what it has used of late fits in
//! there (`balance.rs`).
//!
//! **Who wakes others is on a CPU itself**, though it may leave that in a moment; and a CPU that becomes idle does not
//! always look for what waits at another one, and does not take what has just run there (`balance.rs`). So threads do
//! wait while a CPU is idle, with two CPUs for a tenth of the time and more.

use crate::balance::{Idle, Looks, Used, fits, is_hot, is_lighter, looked_at};

/// How long these are, and where threads are that wake.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slices {
    /// What a thread gets at once, in seconds, where others wait.
    pub slice: f64,
    /// How often it is looked whether the one that runs has had its slice, in seconds.
    pub tick: f64,
    /// Whether CPUs are kept idle where they can be (`sched_vcpu_pack`).
    pub packs: bool,
}

impl Slices {
    /// Those of Linux on a machine with so many CPUs, with 250 ticks a second as most distributions have them.
    pub fn of_linux(cpus: usize) -> Self {
        Self { slice: 0.7e-3 * f64::from(1 + cpus.clamp(1, 8).ilog2()), tick: 4e-3, packs: false }
    }
}

/// A thread, as the CPUs see it.
#[derive(Clone, Debug)]
struct Thread {
    state: State,
    /// Whether it was never on a CPU.
    is_new: bool,
    virtual_time: f64,
    deadline: f64,
    /// Until this virtual time nobody takes its CPU.
    protected: f64,
    /// How far it was behind the mean when it left.
    lag: f64,
    /// When it has run last.
    ran_at: f64,
    used: Used,
    cpu: usize,
    /// Who computes on it, and for how long still; none where it has just ended and may go on at this moment.
    computes: Option<usize>,
    left: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Away,
    /// It sleeps, and is in its queue still, as it was ahead of the mean.
    Ahead,
    Queued,
    Running,
}

const NEW: Thread = Thread {
    state: State::Away,
    is_new: true,
    virtual_time: 0.0,
    deadline: 0.0,
    protected: 0.0,
    lag: 0.0,
    ran_at: f64::NEG_INFINITY,
    used: Used::NOTHING,
    cpu: 0,
    computes: None,
    left: 0.0,
};

#[derive(Default, Debug)]
struct Cpu {
    current: Option<usize>,
    /// The virtual time of the one that runs as it was known last.
    known: f64,
    queue: Vec<usize>,
    /// Of the queue's virtual times.
    sum: f64,
    /// How many of the queue do not sleep.
    waiting: usize,
    /// The mean when it was idle last.
    idle_at: f64,
    idle: Idle,
    used: Used,
    /// What those have used that are on it, or were when they went to sleep.
    used_by_its_own: Used,
    tick: u64,
}

impl Cpu {
    /// How many run or are ready.
    fn ready(&self) -> usize {
        self.waiting + usize::from(self.current.is_some())
    }
}

/// The CPUs and their threads.
#[derive(Debug)]
pub struct Turns {
    slices: Slices,
    cpus: Vec<Cpu>,
    threads: Vec<Thread>,
    /// Whether a thread that begins is a new one, and not one of a pool that wakes.
    begins_new: bool,
    looks: Looks,
    at: f64,
    busy: f64,
    changes: u64,
    announced: u64,
}

/// Two moments are the same that differ by less, in seconds, or by what is lost of them as it is long
/// since the beginning.
const SAME: f64 = 1e-12;

fn same(at: f64) -> f64 {
    SAME.max(8.0 * f64::EPSILON * at)
}

/// What decides who is ahead, but is no time.
const MOMENT: f64 = 1e-9;

impl Turns {
    /// So many CPUs. What begins is a new thread each time, or one that wakes.
    pub fn new(cpus: usize, slices: Slices, begins_new: bool) -> Self {
        let cpus = (0..cpus.max(1)).map(|_| Cpu::default()).collect();
        let looks = Looks::new();
        Self { slices, cpus, threads: vec![], begins_new, looks, at: 0.0, busy: 0.0, changes: 0, announced: 0 }
    }

    fn thread(&mut self, thread: usize) -> &mut Thread {
        if self.threads.len() <= thread {
            self.threads.resize(thread + 1, NEW);
        }
        &mut self.threads[thread]
    }

    /// This thread, which has left its CPU, has ended: who has its number from now on is another.
    pub fn renew(&mut self, thread: usize) {
        let cpu = self.thread(thread).cpu;
        if self.threads[thread].state == State::Ahead {
            self.take_out(cpu, thread);
        }
        let used = self.used(thread);
        self.cpus[cpu].used_by_its_own.add(-used);
        self.threads[thread] = NEW;
    }

    /// What it has used of late.
    fn used(&mut self, thread: usize) -> f64 {
        let now = self.at;
        let thread = &mut self.threads[thread];
        thread.used.go_on(now, thread.state == State::Running);
        thread.used.part()
    }

    /// Goes on to `now`.
    fn advance(&mut self, now: f64) {
        let passed = now - self.at;
        self.at = now;
        for at in 0..self.cpus.len() {
            let current = self.cpus[at].current;
            self.cpus[at].used.go_on(now, current.is_some());
            self.cpus[at].used_by_its_own.go_on(now, current.is_some());
            if let Some(current) = current {
                let thread = &mut self.threads[current];
                thread.used.go_on(now, true);
                thread.ran_at = now;
                thread.virtual_time += passed;
                thread.left -= passed;
                self.busy += passed;
                if thread.virtual_time >= thread.deadline {
                    thread.deadline = thread.virtual_time + self.slices.slice;
                }
            }
        }
    }

    /// The mean of the virtual times on a CPU.
    fn mean(&self, cpu: usize) -> f64 {
        let Cpu { current, queue, sum, idle_at, .. } = &self.cpus[cpu];
        match current {
            Some(current) => (sum + self.threads[*current].virtual_time) / (queue.len() + 1) as f64,
            None if queue.is_empty() => *idle_at,
            None => sum / queue.len() as f64,
        }
    }

    /// The place in the queue of the one that is to run; none where the one goes on that does.
    fn pick(&self, cpu: usize) -> Option<usize> {
        let mean = self.mean(cpu) + SAME;
        let Cpu { current, queue, .. } = &self.cpus[cpu];
        let current = current.map(|current| &self.threads[current]).filter(|thread| thread.virtual_time <= mean);
        if current.is_some_and(|thread| thread.virtual_time < thread.protected) {
            return None;
        }
        let eligible = queue.iter().enumerate().filter(|(_, at)| self.threads[**at].virtual_time <= mean);
        let first = eligible.min_by(|(_, a), (_, b)| self.threads[**a].deadline.total_cmp(&self.threads[**b].deadline));
        let (at, first) = first?;
        match current {
            Some(current) if current.deadline < self.threads[*first].deadline => None,
            _ => Some(at),
        }
    }

    /// Puts it into a queue, to run or to sleep there.
    fn queue(&mut self, cpu: usize, thread: usize, state: State) {
        if self.cpus[cpu].queue.is_empty() {
            // Those before were not counted, as they were nobody's.
            self.cpus[cpu].tick = self.next_tick(cpu);
        }
        self.threads[thread].state = state;
        self.cpus[cpu].sum += self.threads[thread].virtual_time;
        self.cpus[cpu].queue.push(thread);
        self.cpus[cpu].waiting += usize::from(state == State::Queued);
        self.looks.waited |= self.cpus[cpu].ready() > 1;
    }

    fn take(&mut self, cpu: usize, place: usize) -> usize {
        let taken = self.cpus[cpu].queue.swap_remove(place);
        self.cpus[cpu].sum -= self.threads[taken].virtual_time;
        self.cpus[cpu].waiting -= usize::from(self.threads[taken].state == State::Queued);
        if self.cpus[cpu].queue.is_empty() {
            self.cpus[cpu].sum = 0.0;
        }
        taken
    }

    fn take_out(&mut self, cpu: usize, thread: usize) {
        let place = self.cpus[cpu].queue.iter().position(|one| *one == thread);
        place.map(|place| self.take(cpu, place));
    }

    fn run(&mut self, cpu: usize, thread: usize) {
        self.cpus[cpu].current = Some(thread);
        self.cpus[cpu].tick = self.next_tick(cpu);
        let now = self.at;
        let thread = &mut self.threads[thread];
        thread.used.go_on(now, false);
        (thread.state, thread.protected) = (State::Running, thread.deadline);
        self.bring_up_to_date(cpu);
    }

    /// What the one that runs has computed so far is known from now on to those who ask for the mean without looking.
    fn bring_up_to_date(&mut self, cpu: usize) {
        if let Some(current) = self.cpus[cpu].current {
            self.cpus[cpu].known = self.threads[current].virtual_time;
        }
    }

    /// The number of the tick that comes next on a CPU.
    fn next_tick(&self, cpu: usize) -> u64 {
        ((self.at - self.phase(cpu)) / self.slices.tick + 1e-6).floor() as u64 + 1
    }

    /// The ticks of CPUs come one after the other.
    fn phase(&self, cpu: usize) -> f64 {
        self.slices.tick * cpu as f64 / self.cpus.len() as f64
    }

    /// Lets the one run that is to, if that is another.
    fn switch(&mut self, cpu: usize) {
        while let Some(place) = self.pick(cpu) {
            let next = self.take(cpu, place);
            if self.threads[next].state == State::Ahead {
                // The mean has come to it: it sleeps now as all others do.
                (self.threads[next].state, self.threads[next].lag) = (State::Away, 0.0);
                continue;
            }
            if let Some(current) = self.cpus[cpu].current.take() {
                self.queue(cpu, current, State::Queued);
            }
            return self.run(cpu, next);
        }
    }

    /// Somebody begins to compute on this thread for so many seconds.
    pub fn begin(&mut self, now: f64, thread: usize, who: usize, seconds: f64) {
        self.wake(now, thread, None);
        (self.threads[thread].computes, self.threads[thread].left) = (Some(who), seconds);
    }

    /// This thread is to have a CPU from now on, unless it has: another one says so, that has one itself, or a timer.
    /// Whether it comes to an idle one.
    pub fn wake(&mut self, now: f64, thread: usize, by: Option<usize>) -> bool {
        self.advance(now);
        self.changes += 1;
        self.thread(thread);
        match self.threads[thread].state {
            State::Running | State::Queued => false,
            State::Ahead => {
                self.wake_ahead(thread);
                false
            }
            State::Away => {
                let is_new = self.threads[thread].is_new && self.begins_new;
                let cpu = self.chosen(thread, by);
                self.place(thread, cpu);
                let is_idle = self.cpus[cpu].current.is_none();
                if is_idle {
                    self.cpus[cpu].idle.end(now);
                    self.run(cpu, thread);
                } else {
                    self.queue(cpu, thread, State::Queued);
                    self.preempt(cpu, thread, is_new);
                }
                is_idle
            }
        }
    }

    /// One has woken: if it is to run it does, but no third one, unless the one that runs has had its slice
    /// (`check_preempt_wakeup_fair`). A new thread does not take its maker's CPU: of 668 that were made on it 4 did, in
    /// a trace.
    fn preempt(&mut self, cpu: usize, woken: usize, is_new: bool) {
        self.bring_up_to_date(cpu);
        let is_over = |current: usize| self.threads[current].virtual_time >= self.threads[current].protected;
        let is_next = |place: usize| self.cpus[cpu].queue[place] == woken;
        if self.cpus[cpu].current.is_none_or(is_over) || !is_new && self.pick(cpu).is_some_and(is_next) {
            self.switch(cpu);
        }
    }

    /// One wakes that is in its queue still, and goes on there as if it had not slept, also where it is far behind by
    /// now. Where the mean had passed it when what the one that runs has computed was brought up to date last, it comes
    /// to what the mean was then (`requeue_delayed_entity`).
    fn wake_ahead(&mut self, thread: usize) {
        let cpu = self.threads[thread].cpu;
        let now = self.cpus[cpu].current.map(|current| {
            let known = self.cpus[cpu].known;
            std::mem::replace(&mut self.threads[current].virtual_time, known)
        });
        let is_behind = self.threads[thread].virtual_time < self.mean(cpu);
        self.take_out(cpu, thread);
        if is_behind {
            self.threads[thread].lag = 0.0;
            self.place(thread, cpu);
        }
        if let (Some(current), Some(now)) = (self.cpus[cpu].current, now) {
            self.threads[current].virtual_time = now;
        }
        self.queue(cpu, thread, State::Queued);
        self.preempt(cpu, thread, false);
    }

    /// The CPU that a thread comes to.
    fn chosen(&mut self, thread: usize, by: Option<usize>) -> usize {
        let Thread { is_new, cpu: before, .. } = self.threads[thread];
        if is_new {
            return self.chosen_for_new(by);
        }
        let (cpus, own, waker) = (self.cpus.len(), self.used(thread), self.cpu_of(by));
        let used = |at: usize| self.cpus[at].used_by_its_own.part();
        let is_idle = |at: &usize| self.cpus[*at].current.is_none();
        let has_one = |at: &usize| self.slices.packs && !is_idle(at) && self.cpus[*at].waiting == 0;
        let has_room = |at: &usize| has_one(at) && fits(own, used(*at));
        let is_lighter = |at: &usize| *at != before && is_lighter(own, used(*at), used(before));
        let target = waker.filter(|at| !is_idle(&before) && is_lighter(at)).unwrap_or(before);
        if has_one(&target) {
            return target;
        }
        if let Some(packed) = waker.filter(has_room) {
            return packed;
        }
        if is_idle(&target) {
            return target;
        }
        let busy = self.cpus.iter().map(|cpu| cpu.used.part()).sum::<f64>() / cpus as f64;
        let mut others = (1..=looked_at(cpus, busy)).map(|next| (before + next) % cpus);
        others.find(|at| is_idle(at) || has_room(at)).unwrap_or(target)
    }

    /// The CPU that this thread has, if it has one.
    fn cpu_of(&self, thread: Option<usize>) -> Option<usize> {
        thread.and_then(|thread| self.cpus.iter().position(|cpu| cpu.current == Some(thread)))
    }

    /// The CPU that a new thread comes to: an idle one, but where CPUs are kept idle, and who makes it is alone on its
    /// own, which is not full, that one. If none is idle, it stays where it is made as long as that CPU had time left
    /// of late, and goes where fewest are else (`sched_balance_find_dst_group`, whose `imbalance_pct` is 117).
    fn chosen_for_new(&self, by: Option<usize>) -> usize {
        let maker = self.cpu_of(by);
        let least = (0..self.cpus.len()).min_by_key(|at| self.cpus[*at].ready()).unwrap_or_default();
        let is_full = |own: &Cpu| !fits(0.0, own.used_by_its_own.part());
        let is_packed = |own: &Cpu| self.slices.packs && own.waiting == 0 && !is_full(own);
        match maker {
            Some(own) if is_packed(&self.cpus[own]) => own,
            Some(own) if self.cpus[least].ready() > 0 && self.cpus[own].used.part() * 1.17 < 1.0 => own,
            _ => least,
        }
    }

    /// It comes to this CPU: at the mean, or as far behind as it was.
    fn place(&mut self, thread: usize, cpu: usize) {
        let (mean, slices, begins_new, new) =
            (self.mean(cpu), self.slices, self.begins_new, self.cpus[cpu].used.of_new());
        if !self.threads[thread].is_new {
            let (before, used) = (self.threads[thread].cpu, self.used(thread));
            self.cpus[before].used_by_its_own.add(-used);
            self.cpus[cpu].used_by_its_own.add(used);
        } else {
            self.cpus[cpu].used_by_its_own.add(new.part());
        }
        let others = self.cpus[cpu].queue.len() + usize::from(self.cpus[cpu].current.is_some());
        let thread = &mut self.threads[thread];
        let lag = thread.lag.clamp(0.0, slices.tick);
        thread.virtual_time = match others {
            0 => mean,
            // The mean moves as it comes.
            others => mean - lag * (others + 1) as f64 / others as f64,
        };
        let slice = if thread.is_new && begins_new { slices.slice / 2.0 } else { slices.slice };
        thread.deadline = thread.virtual_time + slice;
        thread.used = if thread.is_new { new } else { thread.used };
        (thread.cpu, thread.is_new) = (cpu, false);
    }

    /// Nobody computes on this thread any more: its CPU goes to another.
    pub fn leave(&mut self, now: f64, thread: usize) {
        let Some(state) = self.threads.get(thread).map(|thread| thread.state) else { return };
        self.advance(now);
        self.changes += 1;
        let cpu = self.threads[thread].cpu;
        match state {
            State::Away | State::Ahead => {}
            State::Queued => {
                let lag = self.mean(cpu) - self.threads[thread].virtual_time;
                self.take_out(cpu, thread);
                (self.threads[thread].state, self.threads[thread].lag) = (State::Away, lag);
            }
            State::Running => self.sleep(cpu, thread),
        }
    }

    fn sleep(&mut self, cpu: usize, thread: usize) {
        let mean = self.mean(cpu);
        self.cpus[cpu].current = None;
        let left = &mut self.threads[thread];
        left.computes = None;
        if left.virtual_time > mean - SAME && !self.cpus[cpu].queue.is_empty() {
            // Who has woken another at this moment comes to its sleep a little later, which is not simulated.
            left.virtual_time = left.virtual_time.max(mean + MOMENT);
            self.queue(cpu, thread, State::Ahead);
        } else {
            (left.state, left.lag) = (State::Away, mean - left.virtual_time);
        }
        let idle_at = self.threads[thread].virtual_time;
        self.switch(cpu);
        if self.cpus[cpu].current.is_none() {
            self.cpus[cpu].idle_at = idle_at;
            if self.cpus[cpu].idle.begin(self.at) && self.looks.does() {
                let found = self.pull(cpu, true);
                self.looks.found(found);
            }
        }
    }

    /// An idle CPU takes a thread of the one where most wait, and leaves hot ones there: whether there is one.
    fn pull(&mut self, cpu: usize, leaves_hot: bool) -> bool {
        let busiest = (0..self.cpus.len()).max_by_key(|at| self.cpus[*at].waiting).unwrap_or_default();
        let waits = |at: &usize| {
            let thread = &self.threads[*at];
            thread.state == State::Queued && !(leaves_hot && is_hot(thread.ran_at, self.at))
        };
        let Some(place) = self.cpus[busiest].queue.iter().position(waits) else { return false };
        let pulled = self.take(busiest, place);
        self.place(pulled, cpu);
        self.run(cpu, pulled);
        true
    }

    /// When a CPU's thread has done what it has to, or the next tick at which others wait.
    fn next_of(&self, cpu: usize) -> Option<f64> {
        let Cpu { current, queue, tick, .. } = &self.cpus[cpu];
        let thread = &self.threads[(*current)?];
        let end = thread.computes.map(|_| self.at + thread.left.max(0.0));
        let tick = (!queue.is_empty()).then(|| self.phase(cpu) + *tick as f64 * self.slices.tick);
        end.into_iter().chain(tick).min_by(f64::total_cmp)
    }

    /// When something happens next, if nothing changes, and the number of the change that this is true for; none where
    /// that was said before.
    pub fn announce(&mut self) -> Option<(f64, u64)> {
        if std::mem::replace(&mut self.announced, self.changes) == self.changes {
            return None;
        }
        let next = (0..self.cpus.len()).filter_map(|cpu| self.next_of(cpu)).min_by(f64::total_cmp)?;
        Some((next.max(self.at), self.changes))
    }

    /// Who ends now, if anybody does; its thread has its CPU until it leaves.
    pub fn end(&mut self, now: f64, changes: u64) -> Option<usize> {
        if changes != self.changes {
            return None;
        }
        self.advance(now);
        self.changes += 1;
        for cpu in 0..self.cpus.len() {
            let Some(current) = self.cpus[cpu].current else { continue };
            let thread = &mut self.threads[current];
            if thread.left <= same(now) && thread.computes.is_some() {
                thread.left = 0.0;
                return thread.computes.take();
            }
            if self.phase(cpu) + self.cpus[cpu].tick as f64 * self.slices.tick <= now + same(now) {
                self.cpus[cpu].tick = self.next_tick(cpu);
                self.tick(cpu);
            }
        }
        None
    }

    /// A CPU that works has another one run where that is its turn, and has an idle one take what still waits.
    fn tick(&mut self, cpu: usize) {
        self.bring_up_to_date(cpu);
        self.switch(cpu);
        if self.cpus[cpu].waiting > 0
            && let Some(idle) = (0..self.cpus.len()).find(|at| self.cpus[*at].current.is_none())
            && self.pull(idle, false)
        {
            self.cpus[idle].idle.end(self.at);
        }
    }

    /// How many seconds CPUs were in use until `now`, summed over all.
    pub fn busy(&mut self, now: f64) -> f64 {
        self.advance(now);
        self.busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: Slices = Slices { slice: 1.4e-3, tick: 4e-3, packs: false };
    const PACKED: Slices = Slices { packs: true, ..LINUX };

    /// Runs until all have ended: who ended, and when, in milliseconds. Somebody begins at each of these moments.
    fn play(turns: &mut Turns, begins: &[(f64, f64)]) -> Vec<(usize, f64)> {
        let mut ended = vec![];
        let mut next = 0;
        let mut announced = None;
        loop {
            announced = turns.announce().or(announced);
            match (announced, begins.get(next)) {
                (Some((at, changes)), begin) if begin.is_none_or(|(begin, _)| at <= begin * 1e-3) => {
                    announced = None;
                    if let Some(who) = turns.end(at, changes) {
                        turns.leave(at, who);
                        ended.push((who, (at * 1e6).round() / 1e3));
                    }
                }
                (_, Some((begin, seconds))) => {
                    turns.begin(begin * 1e-3, next, next, seconds * 1e-3);
                    next += 1;
                }
                (_, None) => return ended,
            }
        }
    }

    #[test]
    fn what_begins_after_weeks_ends() {
        let mut turns = Turns::new(1, LINUX, false);
        turns.begin(5e6, 0, 0, 0.1e-3);
        let (at, changes) = turns.announce().unwrap_or_default();
        assert_eq!(turns.end(at, changes), Some(0));
    }

    #[test]
    fn long_work_changes_at_each_tick() {
        let ended = play(&mut Turns::new(1, LINUX, false), &[(0.0, 20.0), (0.0, 20.0)]);
        assert_eq!(ended, [(0, 36.0), (1, 40.0)]);
    }

    #[test]
    fn who_comes_later_is_first_where_the_other_had_its_slice() {
        let ended = play(&mut Turns::new(1, LINUX, false), &[(0.0, 3.5), (2.0, 0.5)]);
        assert_eq!(ended, [(1, 2.5), (0, 4.0)]);
        let ended = play(&mut Turns::new(1, LINUX, false), &[(0.0, 3.5), (1.0, 0.5)]);
        assert_eq!(ended, [(0, 3.5), (1, 4.0)]);
    }

    #[test]
    fn idle_cpus_take_what_waits_at_a_tick_or_where_looking_has_paid() {
        let ended = play(&mut Turns::new(2, LINUX, true), &[(0.0, 1.0), (0.0, 13.0), (0.5, 1.0), (0.5, 6.0)]);
        assert_eq!(ended.iter().map(|(who, _)| *who).collect::<Vec<_>>().len(), 4);
        assert!((ended.last().map_or(0.0, |(_, at)| *at) - 13.0).abs() < 1.6, "{ended:?}");
    }

    #[test]
    fn who_was_ahead_when_it_went_to_sleep_stays_in_its_queue() {
        let mut turns = Turns::new(1, LINUX, false);
        turns.begin(0.0, 0, 0, 1.0e-3);
        turns.begin(0.0, 1, 1, 2.0e-3);
        let (at, changes) = turns.announce().unwrap_or_default();
        assert_eq!(turns.end(at, changes), Some(0));
        turns.leave(at, 0);
        assert_eq!(turns.threads[0].state, State::Ahead);
        turns.begin(1.1e-3, 0, 0, 1.0e-3);
        assert!((turns.threads[0].virtual_time - 1.0e-3).abs() < 1e-9, "it has what it had");
    }

    #[test]
    fn who_wakes_others_and_sleeps_has_its_cpu_at_once_when_it_wakes() {
        let mut turns = Turns::new(1, LINUX, false);
        turns.begin(0.0, 0, 0, 0.1e-3);
        let (at, changes) = turns.announce().unwrap_or_default();
        turns.end(at, changes);
        turns.begin(at, 1, 1, 10.0e-3);
        turns.leave(at, 0);
        assert_eq!((turns.cpus[0].current, turns.threads[0].state), (Some(1), State::Ahead));
        turns.wake(0.2e-3, 0, None);
        assert_eq!(turns.cpus[0].current, Some(0), "the other has not had its slice");
        turns.leave(0.2e-3, 0);
        assert_eq!(turns.cpus[0].current, Some(1));
        turns.wake(0.3e-3, 0, None);
        assert_eq!(turns.cpus[0].current, Some(0), "it was behind, and still is");
    }

    #[test]
    fn who_wakes_lets_no_third_one_run() {
        let mut turns = Turns::new(1, LINUX, false);
        for (thread, at) in [(0, 0.0), (1, 0.1e-3), (2, 0.3e-3)] {
            turns.begin(at, thread, thread, 10.0e-3);
        }
        assert!(turns.pick(0).is_some(), "who waits is to run");
        assert_eq!(turns.cpus[0].current, Some(0), "but has not woken at this moment");
        turns.begin(1.5e-3, 3, 3, 10.0e-3);
        assert_eq!(turns.cpus[0].current, Some(1), "the one that ran has had its slice");
    }

    #[test]
    fn who_makes_a_thread_goes_on_with_its_cpu() {
        let mut turns = Turns::new(1, LINUX, true);
        turns.begin(0.0, 0, 0, 0.1e-3);
        let (at, changes) = turns.announce().unwrap_or_default();
        turns.end(at, changes);
        turns.begin(at, 1, 1, 10.0e-3);
        turns.leave(at, 0); // and stays in the queue, ahead of the other one
        turns.wake(0.3e-3, 2, Some(1));
        assert!(turns.pick(0).is_some(), "the new one is to run");
        assert_eq!(turns.cpus[0].current, Some(1), "when its maker sleeps, or has had its slice");
        turns.leave(0.4e-3, 1);
        assert_eq!(turns.cpus[0].current, Some(2));
    }

    #[test]
    fn who_is_woken_goes_to_an_idle_cpu() {
        let mut turns = Turns::new(2, LINUX, false);
        turns.begin(0.0, 0, 0, 1.0e-3);
        turns.wake(0.0, 1, Some(0));
        assert_eq!(turns.threads[1].cpu, 1, "a new one");
        turns.leave(0.1e-3, 1);
        turns.wake(0.2e-3, 1, Some(0));
        assert_eq!(turns.threads[1].cpu, 1, "its own is idle");
        turns.leave(0.3e-3, 0);
        turns.begin(0.3e-3, 2, 2, 1.0e-3);
        turns.leave(0.4e-3, 1);
        turns.wake(0.5e-3, 0, Some(2));
        assert_eq!(turns.threads[0].cpu, 1, "its own is not, and the other is found, as both were idle of late");
    }

    #[test]
    fn where_cpus_are_kept_idle_who_is_woken_comes_to_its_waker() {
        let mut turns = Turns::new(2, PACKED, false);
        turns.begin(0.0, 0, 0, 1.0e-3);
        turns.wake(0.0, 1, Some(0));
        assert_eq!(turns.threads[1].cpu, 0, "a new one, whose maker is alone there");
        turns.wake(0.0, 2, Some(0));
        assert_eq!(turns.threads[2].cpu, 1, "another new one, as the first waits there");
        turns.wake(0.0, 3, Some(0));
        assert_eq!(turns.threads[3].cpu, 0, "none is idle, and this one was not busy of late");
        for thread in 0..4 {
            turns.leave(0.1e-3, thread);
        }
        // Long after, when a thread that was new has run little.
        turns.begin(0.5, 0, 0, 1.0e-3);
        turns.wake(0.5, 2, Some(0));
        assert_eq!(turns.threads[2].cpu, 0, "its own is idle, and its waker is alone on its own");
        turns.leave(0.5, 2);
        turns.wake(0.5001, 2, None);
        assert_eq!(turns.threads[2].cpu, 0, "a timer: one thread runs there, and the other CPU is idle");
        turns.wake(0.5002, 1, None);
        assert_eq!(turns.threads[1].cpu, 1, "one waits there");
    }

    #[test]
    fn who_has_no_room_beside_its_waker_goes_to_its_own_idle_cpu() {
        let mut turns = Turns::new(2, PACKED, false);
        turns.begin(0.0, 0, 0, 1.0);
        turns.wake(0.0, 1, None);
        turns.leave(1e-3, 1);
        assert_eq!(turns.threads[1].cpu, 1);
        turns.wake(0.3, 1, Some(0));
        assert_eq!(turns.threads[1].cpu, 1, "its waker has used nearly all of its CPU");
        turns.leave(0.3, 1);
        turns.wake(0.3, 2, Some(0));
        assert_eq!(turns.threads[2].cpu, 1, "a new one, too");
        turns.leave(0.3, 2);
        turns.leave(0.3, 0);
        turns.begin(0.8, 0, 0, 1.0);
        turns.wake(0.801, 1, Some(0));
        assert_eq!(turns.threads[1].cpu, 0, "both have used little of late");
    }
}
