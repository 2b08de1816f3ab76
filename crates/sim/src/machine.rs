//! A server in virtual time: flows and their branches, the threads or event loops that run them, the CPUs under these,
//! and the locks of constraints, all as `docs/runtime.md` says.

use crate::agenda::Agenda;
use crate::execution::{Execution, Frame, Place};
use crate::fair_lock::{FairLock, Passed};
use crate::fork::Forked;
use crate::observe::{Observed, Observer, Reason};
use crate::processors::Processors;
use crate::random::{Distribution, Random};
use crate::script::{Action, Actions, Fork, Lock, Script, Workload};
use crate::setting::{Arrivals, Setting};
use crate::threads::{Begins, Ready, Runtime, SLACK, Threads};
use std::collections::VecDeque;

/// Runs a server until enough flows have ended.
pub fn run(setting: &Setting, workload: &mut dyn Workload, random: Random) -> Observed {
    Machine::new(setting, workload, random, setting.rate()).run()
}

/// Runs one to which more flows come than can end. What is to warm up and what is counted are flows that end, however
/// long that takes; of those who wait to begin only so many are kept as make sure that somebody does.
pub fn run_saturated(setting: &Setting, workload: &mut dyn Workload, random: Random) -> Observed {
    Machine::new(setting, workload, random, None).run()
}

/// How many flows are to warm up until as many are in progress as may be, where so many come in a second and so many
/// end, and twice as many have ended since.
pub fn saturating(rate: f64, throughput: f64) -> f64 {
    const MOST: f64 = 40.0;
    MOST_FLOWS as f64 * (2.0 + (throughput / (rate - throughput).max(f64::MIN_POSITIVE)).min(MOST))
}

/// So many flows of a source may be in progress; then it waits. The default of `--flux-max-flows`.
const MOST_FLOWS: usize = 1024;

/// What sleeps on event loops are rounded up to, in seconds (`runtime/include/flux/waiting/timer_wheel.hpp`).
const TICK: f64 = 1e-3;

/// What it takes until a thread that was woken for a lock looks at it, once it has a CPU, in seconds.
const SWITCH: f64 = 1e-6;

/// The parts of what a thread takes for itself: what who makes it computes, and what it computes itself as it begins,
/// and as it ends, when its flow or its branch has ended (a Xeon with Linux 6.18).
const MAKING: f64 = 0.6;
const BEGINNING: f64 = 0.1;
const ENDING: f64 = 0.3;

/// One that was woken uses a CPU for so long at least, in seconds: for no time it would need none, and would have what
/// it was woken for although others have all CPUs.
const LEAST_WAKE: f64 = 1e-12;

/// What happens by itself.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A flow of this source begins.
    Arrival(usize),
    /// An execution has waited for long enough.
    Woken(usize),
    /// It has slept for long enough on a loop.
    Due(usize),
    /// A loop has slept for long enough, if nothing has woken it before.
    LoopWakes,
    /// Somebody has computed what it had to, if the CPUs have changed so many times.
    Computed(u64),
}

/// The thread of a source, which makes its flows one after the other.
#[derive(Default, Debug)]
struct SourceThread {
    is_busy: bool,
    in_progress: usize,
    waiting: VecDeque<usize>,
    /// Which recorded arrival is next.
    replayed: usize,
}

struct Machine<'a> {
    setting: &'a Setting,
    /// As `Setting::rate`; none where flows that end are counted and not those that come.
    rate: Option<f64>,
    workload: &'a mut dyn Workload,
    random: Random,
    /// Of when flows arrive: the same whatever they do.
    arriving: Random,
    now: f64,
    agenda: Agenda<Event>,
    processors: Processors,
    threads: Threads,
    sources: Vec<SourceThread>,
    locks: Vec<FairLock>,
    executions: Vec<Execution>,
    free: Vec<usize>,
    forks: Vec<Forked>,
    free_forks: Vec<usize>,
    /// Those that have a thread, and go on at this moment.
    runnable: VecDeque<usize>,
    observer: Observer,
    /// The thread of the execution that goes on at this moment; none where a timer has come.
    waker: Option<usize>,
    /// What a thread or loop does as it wakes.
    wakes: Actions,
    /// What who makes a thread does for that, and what that does to begin and to end.
    making: Action,
    beginning: Actions,
    ending: Actions,
    /// What a change of threads takes.
    switches: Actions,
    /// How many flows have come.
    arrived: f64,
}

impl<'a> Machine<'a> {
    fn new(setting: &'a Setting, workload: &'a mut dyn Workload, mut random: Random, rate: Option<f64>) -> Self {
        let mut arriving = random.split();
        let mut begin = |arrivals: &Arrivals| match arrivals {
            Arrivals::Recorded(recorded) => arriving.below(recorded.len() as u64) as usize,
            _ => 0,
        };
        let sources = setting.arrivals.iter();
        let sources = sources.map(|each| SourceThread { replayed: begin(each), ..SourceThread::default() }).collect();
        let thread_cost = workload.thread_cost(setting.cpus);
        let [wakes, beginning, ending, switches] =
            [workload.wake(), BEGINNING * thread_cost, ENDING * thread_cost, SWITCH]
                .map(|seconds| [Action::Compute(seconds.max(LEAST_WAKE))].into());
        Self {
            setting,
            rate,
            wakes,
            making: Action::Compute(MAKING * thread_cost),
            beginning,
            ending,
            switches,
            workload,
            random,
            arriving,
            now: 0.0,
            agenda: Agenda::default(),
            processors: Processors::new(setting.cpus, setting.sharing, setting.runtime == Runtime::Thread),
            threads: Threads::new(setting.runtime),
            sources,
            locks: vec![],
            executions: vec![],
            free: vec![],
            forks: vec![],
            free_forks: vec![],
            runnable: VecDeque::new(),
            waker: None,
            observer: Observer::default(),
            arrived: 0.0,
        }
    }

    fn run(mut self) -> Observed {
        self.open();
        self.go_on()
    }

    fn open(&mut self) {
        for (source, arrivals) in self.setting.arrivals.iter().enumerate() {
            match arrivals {
                Arrivals::Clients(clients, _) => (0..*clients).for_each(|_| self.arrive_later(source)),
                _ => self.arrive_later(source),
            }
        }
        if self.setting.warm_up <= 0.0 {
            self.observe();
        }
    }

    /// Puts the next arrival of a source in.
    fn arrive_later(&mut self, source: usize) {
        let after = match &self.setting.arrivals[source] {
            Arrivals::Never => return,
            Arrivals::Poisson(rate) => Distribution::Exponential(1.0 / rate).sample(&mut self.arriving),
            Arrivals::Every(period) => *period,
            Arrivals::Recorded(recorded) => {
                let number = self.sources[source].replayed;
                self.sources[source].replayed = (number + 1) % recorded.len();
                recorded.gap(number)
            }
            Arrivals::Clients(_, think) => think.sample(&mut self.arriving),
        };
        self.agenda.put(self.now + after, Event::Arrival(source));
    }

    fn go_on(mut self) -> Observed {
        // An open load goes on for as long as that many flows take to come, also where fewer end.
        let rate = self.rate;
        let begin = rate.map_or(f64::INFINITY, |rate| self.setting.warm_up / rate);
        let mut end =
            rate.filter(|_| self.observer.is_counting()).map_or(f64::INFINITY, |rate| self.setting.flows / rate);
        while let Some((at, event)) = self.agenda.take() {
            if at > begin && !self.observer.is_counting() && self.is_warm() {
                self.now = self.now.max(begin);
                self.observe();
                end = self.now + rate.map_or(f64::INFINITY, |rate| self.setting.flows / rate);
            }
            if at > end {
                self.now = end;
                break;
            }
            self.now = at;
            self.happen(event);
            while let Some(execution) = self.runnable.pop_front() {
                self.waker = Some(self.thread(execution));
                self.advance(execution);
            }
            self.waker = None;
            if let Some((at, changes)) = self.processors.announce() {
                self.agenda.put(at, Event::Computed(changes));
            }
            if rate.is_none() {
                // Where sources fail again and again, or nothing ends, they would come for ever.
                if self.arrived > 100.0 * (self.setting.warm_up + self.setting.flows) {
                    break;
                }
                let ended = self.observer.ended as f64;
                if ended >= self.setting.warm_up && !self.observer.is_counting() {
                    self.observe();
                }
                if self.observer.is_counting() && self.observer.counted() as f64 >= self.setting.flows {
                    break;
                }
            }
        }
        let busy = self.processors.busy(self.now);
        let threads = self.threads.busy(self.now);
        self.observer.end(self.now, busy, threads, self.setting.cpus, self.threads.size())
    }

    /// Whether about as many flows have ended as are to warm up: where more come than can end, that takes longer.
    fn is_warm(&self) -> bool {
        self.observer.ended as f64 >= 0.9 * self.setting.warm_up || self.arrived >= 20.0 * self.setting.warm_up
    }

    fn observe(&mut self) {
        let busy = self.processors.busy(self.now);
        let threads = self.threads.busy(self.now);
        self.observer.begin(self.now, busy, threads);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrival(source) => {
                if !matches!(self.setting.arrivals[source], Arrivals::Clients(..)) {
                    self.arrive_later(source);
                }
                self.arrive(source);
            }
            Event::Woken(execution) => self.resume(execution),
            Event::Due(execution) => self.resume_due(execution),
            Event::LoopWakes => self.occupy(),
            Event::Computed(changes) => {
                if let Some(execution) = self.processors.end(self.now, changes) {
                    self.waited(execution);
                    self.runnable.push_back(execution);
                }
            }
        }
    }

    /// A flow arrives: its source makes it, when it has made those before.
    fn arrive(&mut self, source: usize) {
        self.arrived += 1.0;
        let is_open = !matches!(self.setting.arrivals[source], Arrivals::Clients(..));
        if self.rate.is_none() && is_open && self.sources[source].waiting.len() >= MOST_FLOWS {
            // The source has enough of them, whatever this one would do.
            return;
        }
        let Script { mut produce, run } = self.workload.flow(source, &mut self.random);
        if self.setting.runtime == Runtime::Thread {
            produce = produce.iter().chain([&self.making]).cloned().collect();
        }
        let made = Execution::new(source, self.now, Place::Source, produce);
        let execution = self.execution(Execution { then: run, ..made });
        self.sources[source].waiting.push_back(execution);
        self.produce(source);
    }

    /// A source that has time makes the next flow, unless too many of its flows are in progress.
    fn produce(&mut self, source: usize) {
        let thread = &mut self.sources[source];
        if !thread.is_busy
            && thread.in_progress < MOST_FLOWS
            && let Some(next) = thread.waiting.pop_front()
        {
            thread.is_busy = true;
            thread.in_progress += 1;
            self.processors.wake(self.now, source, self.waker);
            self.runnable.push_back(next);
        }
    }

    fn execution(&mut self, execution: Execution) -> usize {
        match self.free.pop() {
            Some(at) => {
                self.executions[at] = execution;
                at
            }
            None => {
                self.executions.push(execution);
                self.executions.len() - 1
            }
        }
    }

    /// The thread that it runs on: its source's, its loop, or one of its own.
    fn thread(&self, at: usize) -> usize {
        match self.executions[at].place {
            _ if self.executions[at].is_beside => self.sources.len() + self.threads.size().unwrap_or_default() + at,
            Place::Source => self.executions[at].source,
            Place::Thread(thread) if self.threads.is_kept() => self.sources.len() + thread,
            Place::Thread(_) => self.sources.len() + at,
        }
    }

    /// Does what an execution does until it computes, waits or ends.
    fn advance(&mut self, at: usize) {
        loop {
            let execution = &mut self.executions[at];
            let Some(frame) = execution.frames.last_mut() else { return self.end(at) };
            let Some(action) = frame.next() else {
                let branch = frame.branch;
                execution.frames.pop();
                match branch {
                    Some((fork, branch)) if !self.branch_ended(at, fork, branch) => return,
                    _ => continue,
                }
            };
            match action {
                Action::Arrive => {
                    if let Some(thread) = self.gives_way(at) {
                        return self.park_ready(at, thread);
                    }
                }
                Action::Beside => self.go_beside(at),
                Action::Back if execution.is_beside => return self.come_back(at),
                Action::Back => {}
                Action::Compute(seconds) if seconds > 0.0 => {
                    let seconds = seconds / self.setting.cpu_speed;
                    execution.wait_for(Reason::Cpus(seconds), self.now);
                    let thread = self.thread(at);
                    return self.processors.begin(self.now, thread, at, seconds);
                }
                Action::Wait(seconds) if seconds > 0.0 => return self.wait(at, self.now + seconds, Event::Woken(at)),
                Action::Sleep(seconds) if seconds > 0.0 => {
                    let until = self.now + seconds;
                    return match self.threads.is_loop() && !execution.is_beside {
                        true => self.wait(at, (until / TICK).ceil() * TICK, Event::Due(at)),
                        false => self.wait(at, until + SLACK, Event::Woken(at)),
                    };
                }
                Action::Compute(_) | Action::Wait(_) | Action::Sleep(_) => {}
                Action::Acquire(lock, mode) => {
                    execution.holds += 1;
                    if !self.lock(lock).acquire(at, mode) {
                        return self.park(at, Reason::Constraint(lock.constraint));
                    }
                }
                Action::TryAgain(lock) => {
                    if !self.try_again(at, lock) {
                        return;
                    }
                }
                Action::Look => return self.look(at),
                Action::Release(lock) => {
                    execution.holds = execution.holds.saturating_sub(1);
                    self.release(lock);
                }
                Action::Fork(fork) => self.fork(at, fork),
                Action::Start(fork) => self.start(at, fork),
            }
        }
    }

    fn wait(&mut self, at: usize, until: f64, end: Event) {
        self.agenda.put(until, end);
        self.park(at, Reason::Outside);
    }

    fn release(&mut self, lock: Lock) {
        match self.lock(lock).release() {
            Passed::To(admitted) => admitted.into_iter().for_each(|one| self.resume(one)),
            Passed::Wakes(one) => {
                self.do_first(one, [Action::TryAgain(lock)].into());
                self.resume(one);
            }
        }
    }

    /// It was woken, as this lock was free: whether it has it now. If not, it waits on.
    fn try_again(&mut self, at: usize, lock: Lock) -> bool {
        let taken = self.lock(lock).try_again();
        if taken.is_empty() {
            self.park(at, Reason::Constraint(lock.constraint));
            return false;
        }
        // Readers next to it came in with it.
        taken.into_iter().filter(|one| *one != at).for_each(|one| self.resume(one));
        true
    }

    fn lock(&mut self, lock: Lock) -> &mut FairLock {
        if self.locks.len() <= lock.number {
            self.locks.resize_with(lock.number + 1, FairLock::default);
        }
        &mut self.locks[lock.number]
    }

    /// The loop of one that lets others go on first.
    fn gives_way(&self, at: usize) -> Option<usize> {
        let Execution { place: Place::Thread(thread), holds: 0, .. } = self.executions[at] else { return None };
        self.threads.yields(thread, self.now).then_some(thread)
    }

    /// Goes to the end of the queue of its loop.
    fn park_ready(&mut self, at: usize, thread: usize) {
        self.executions[at].wait_for(Reason::Threads, self.now);
        self.threads.ready(thread, Ready::GaveWay, Begins::Execution(at));
        self.leave(thread, self.thread(at));
    }

    /// It leaves its loop to others, and goes on at once, on a thread of those that run `blocking` nodes and calls that
    /// are handed over. How many of these there may be is not looked at.
    fn go_beside(&mut self, at: usize) {
        if let Place::Thread(thread) = self.executions[at].place
            && self.threads.is_loop()
            && !self.executions[at].is_beside
        {
            let of_loop = self.thread(at);
            self.count(at, false);
            self.executions[at].is_beside = true;
            self.processors.wake(self.now, self.thread(at), self.waker);
            self.leave(thread, of_loop);
        }
    }

    /// It has done what it did beside its loop.
    fn come_back(&mut self, at: usize) {
        let beside = self.thread(at);
        self.executions[at].is_beside = false;
        self.executions[at].wait_for(Reason::Threads, self.now);
        self.count(at, true);
        if let Place::Thread(thread) = self.executions[at].place {
            self.threads.ready(thread, Ready::Woken, Begins::Execution(at));
        }
        self.occupy();
        self.processors.leave(self.now, beside);
        self.processors.renew(beside);
    }

    /// It waits: a loop goes on with others, a thread does not.
    fn park(&mut self, at: usize, reason: Reason) {
        let on = self.thread(at);
        self.count(at, matches!(reason, Reason::Constraint(_)));
        let execution = &mut self.executions[at];
        execution.wait_for(reason, self.now);
        match self.own_loop(at) {
            Some(thread) => self.leave(thread, on),
            None => self.processors.leave(self.now, on),
        }
    }

    /// What it waited for has come.
    fn resume(&mut self, at: usize) {
        self.waited(at);
        if let Some(thread) = self.own_loop(at) {
            self.wait_for_loop(at);
            self.threads.ready(thread, Ready::Woken, Begins::Execution(at));
            return self.occupy();
        }
        // On a processor that works, it is hardly more than a change of threads.
        let is_lock = matches!(self.executions[at].reason, Reason::Constraint(_));
        let is_idle = self.processors.wake(self.now, self.thread(at), self.waker);
        self.do_first(at, if is_lock && !is_idle { self.switches.clone() } else { self.wakes.clone() });
        self.runnable.push_back(at);
    }

    /// It has slept for long enough, which its loop sees when it looks.
    fn resume_due(&mut self, at: usize) {
        let Some(thread) = self.own_loop(at) else { return self.resume(at) };
        self.waited(at);
        self.wait_for_loop(at);
        if let Some(wakes_at) = self.threads.due(thread, Begins::Execution(at), self.now) {
            self.agenda.put(wakes_at, Event::LoopWakes);
        }
        self.occupy();
    }

    /// It has something to do, and is to have its turn.
    fn wait_for_loop(&mut self, at: usize) {
        self.count(at, true);
        self.executions[at].wait_for(Reason::Threads, self.now);
    }

    /// The loop that it runs on, unless it has a thread.
    fn own_loop(&self, at: usize) -> Option<usize> {
        match self.executions[at].place {
            Place::Thread(thread) if self.threads.is_loop() && !self.executions[at].is_beside => Some(thread),
            _ => None,
        }
    }

    /// It does this before it goes on.
    fn do_first(&mut self, at: usize, actions: Actions) {
        self.executions[at].do_first(actions);
    }

    /// Notes how long it has waited.
    fn waited(&mut self, at: usize) {
        let Execution { since, reason, .. } = self.executions[at];
        self.observer.waited(reason, self.now - since);
    }

    /// A thread or a loop has nothing to do any more; if it finds something else it keeps its CPU.
    fn leave(&mut self, thread: usize, of_cpus: usize) {
        if self.threads.is_pool() && self.take(thread) {
            return;
        }
        self.threads.leave(self.now, thread);
        self.occupy();
        if !self.threads.is_running(thread) {
            self.processors.leave(self.now, of_cpus);
        }
        if !self.threads.is_kept() {
            self.processors.renew(of_cpus);
        }
    }

    /// A thread of a pool that was woken has a CPU: it takes what is next, or waits again.
    fn look(&mut self, at: usize) {
        if let Place::Thread(thread) = self.executions[at].place {
            let on = self.thread(at);
            self.threads.looks();
            self.leave(thread, on);
        }
        self.free.push(at);
    }

    /// A thread of a pool takes what is next: whether there is something.
    fn take(&mut self, thread: usize) -> bool {
        while let Some(begins) = self.threads.take() {
            if let Some(at) = self.begun(thread, begins) {
                self.runnable.push_back(at);
                return true;
            }
        }
        false
    }

    /// The execution that begins on this thread; none where a branch was offered that has begun already.
    fn begun(&mut self, thread: usize, begins: Begins) -> Option<usize> {
        let at = match begins {
            Begins::Execution(at) => at,
            Begins::Branch(fork) => self.help(fork)?,
        };
        self.waited(at);
        self.executions[at].place = Place::Thread(thread);
        self.count(at, true);
        Some(at)
    }

    /// Whether it has something to do, where it is on a loop.
    fn count(&mut self, at: usize, is_present: bool) {
        if let Place::Thread(thread) = self.executions[at].place
            && self.threads.is_loop()
            && std::mem::replace(&mut self.executions[at].is_counted, is_present) != is_present
        {
            self.threads.count(thread, is_present);
        }
    }

    /// Threads that have nothing to do take what waits for one.
    fn occupy(&mut self) {
        while let Some(thread) = self.threads.woken(self.now) {
            let looks = [self.wakes[0].clone(), Action::Look].into();
            let woken = Execution::new(0, self.now, Place::Thread(thread), looks);
            let at = self.execution(Execution { is_branch: true, ..woken });
            self.processors.wake(self.now, self.thread(at), self.waker);
            self.runnable.push_back(at);
        }
        while let Some((thread, begins, slept)) = self.threads.next(self.now) {
            match self.begun(thread, begins) {
                Some(at) => {
                    match self.setting.runtime {
                        Runtime::Thread => self.do_first(at, self.beginning.clone()),
                        _ if slept => self.do_first(at, self.wakes.clone()),
                        _ => {}
                    }
                    self.processors.wake(self.now, self.thread(at), self.waker);
                    self.runnable.push_back(at);
                }
                None => self.threads.leave(self.now, thread),
            }
        }
    }

    /// Takes a branch that was offered, unless there is none any more.
    fn help(&mut self, fork: usize) -> Option<usize> {
        let forked = &mut self.forks[fork];
        forked.offered -= 1;
        let begun = forked.begin();
        let parent = forked.parent;
        let Some((branch, actions)) = begun else {
            self.forget(fork);
            return None;
        };
        let Execution { source, arrived, place, .. } = self.executions[parent];
        let frames = vec![Frame { actions, at: 0, branch: Some((fork, branch)) }];
        let made = Execution::new(source, self.now, place, [].into());
        Some(self.execution(Execution { arrived, frames, is_branch: true, ..made }))
    }

    fn fork(&mut self, parent: usize, fork: Fork) {
        let forked = Forked::new(fork, parent);
        let at = match self.free_forks.pop() {
            Some(at) => {
                self.forks[at] = forked;
                at
            }
            None => {
                self.forks.push(forked);
                self.forks.len() - 1
            }
        };
        match self.forks[at].begin() {
            Some((branch, actions)) => {
                self.executions[parent].frames.push(Frame { actions, at: 0, branch: Some((at, branch)) });
                self.offer(parent, at);
            }
            None => self.free_forks.push(at),
        }
    }

    /// One offers to other threads what could begin, or makes a thread for each.
    fn offer(&mut self, by: usize, fork: usize) {
        let forked = &mut self.forks[fork];
        let Place::Thread(thread) = self.executions[forked.parent].place else { return };
        let more = forked.ready().saturating_sub(forked.offered);
        forked.offered += more;
        if self.setting.runtime == Runtime::Thread {
            let for_each = || [self.making.clone(), Action::Start(fork)];
            return self.do_first(by, (0..more).flat_map(|_| for_each()).collect());
        }
        for _ in 0..more {
            self.threads.offer(thread, fork);
        }
        self.occupy();
    }

    /// A thread for a branch is made, by this one.
    fn start(&mut self, by: usize, fork: usize) {
        if let Place::Thread(thread) = self.executions[by].place {
            self.threads.offer(thread, fork);
            self.occupy();
        }
    }

    /// A branch has ended: whether the one that ran it goes on.
    fn branch_ended(&mut self, at: usize, fork: usize, branch: usize) -> bool {
        let forked = &mut self.forks[fork];
        forked.end(branch);
        let parent = forked.parent;
        if forked.is_over() {
            if parent != at && std::mem::take(&mut forked.parent_waits) {
                self.resume(parent);
            }
            self.forget(fork);
            return true;
        }
        if let Some((branch, actions)) = self.forks[fork].begin() {
            if self.threads.take_back(fork) {
                self.forks[fork].offered -= 1;
            }
            self.executions[at].frames.push(Frame { actions, at: 0, branch: Some((fork, branch)) });
            self.offer(at, fork);
            return true;
        }
        if parent == at {
            self.forks[fork].parent_waits = true;
            self.park(at, Reason::Branches);
            return false;
        }
        true
    }

    /// Forgets branches of which all have ended and none is still offered.
    fn forget(&mut self, fork: usize) {
        let forked = &self.forks[fork];
        if forked.offered == 0 && forked.is_over() {
            self.free_forks.push(fork);
        }
    }

    /// An execution has done all: a source hands its flow on, others leave their thread.
    fn end(&mut self, at: usize) {
        let on = self.thread(at);
        let Execution { source, arrived, place, is_branch, is_over, .. } = self.executions[at];
        let then = self.executions[at].then.take();
        match place {
            Place::Source => {
                self.sources[source].is_busy = false;
                match then {
                    Some(actions) => {
                        self.do_first(at, actions);
                        self.executions[at].wait_for(Reason::Threads, self.now);
                        self.threads.begin(at);
                        self.produce(source);
                        self.occupy();
                        return self.rest(source);
                    }
                    None => {
                        self.over(source);
                        self.rest(source);
                    }
                }
            }
            Place::Thread(thread) => {
                self.count(at, false);
                if !is_branch && !is_over {
                    let is_seen = self.setting.seen.is_none_or(|seen| seen == source);
                    self.observer.flow_ended(is_seen.then_some(self.now - arrived));
                    self.over(source);
                }
                if self.setting.runtime == Runtime::Thread && !is_over {
                    self.executions[at].is_over = true;
                    self.do_first(at, self.ending.clone());
                    return self.runnable.push_back(at);
                }
                self.leave(thread, on);
            }
        }
        self.free.push(at);
    }

    /// The thread of a source waits until there is a flow to be made.
    fn rest(&mut self, source: usize) {
        if !self.sources[source].is_busy {
            self.processors.leave(self.now, source);
        }
    }

    /// A flow has ended: its source may make another, and its client thinks.
    fn over(&mut self, source: usize) {
        self.sources[source].in_progress -= 1;
        self.produce(source);
        if matches!(self.setting.arrivals[source], Arrivals::Clients(..)) {
            self.arrive_later(source);
        }
    }
}
