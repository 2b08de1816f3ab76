//! What is seen of one run of a server: how long flows took, what they waited for, how much was in use.

/// What an execution waits for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reason {
    /// A thread of the pool, or its event loop.
    Threads,
    /// A CPU: it has so many seconds to compute, and what it takes longer it waits.
    Cpus(f64),
    /// Something outside of the server.
    Outside,
    /// The constraint of this number.
    Constraint(usize),
    /// Its branches.
    Branches,
}

/// Watches a run.
#[derive(Default, Debug)]
pub struct Observer {
    /// How many flows have ended.
    pub ended: u64,
    began: Option<Began>,
    latencies: Vec<f64>,
    waits: Waits,
}

/// How long all executions waited, in seconds.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Waits {
    /// For threads or event loops.
    pub threads: f64,
    /// For CPUs.
    pub cpus: f64,
    /// For something outside of the server.
    pub outside: f64,
    /// For each constraint, by its number.
    pub constraints: Vec<f64>,
}

#[derive(Debug)]
struct Began {
    at: f64,
    cpus: f64,
    threads: f64,
}

/// What was seen.
#[derive(Clone, PartialEq, Debug)]
pub struct Observed {
    /// For how many seconds flows were counted.
    pub seconds: f64,
    /// How long each flow that figures are of took that ended in this time, in seconds, ascending.
    pub latencies: Vec<f64>,
    /// The part of the CPUs that was in use.
    pub cpus: f64,
    /// How many threads or loops had something to do, on average.
    pub threads: f64,
    /// Of how many there are; none where there are as many as are asked for.
    pub of_threads: Option<usize>,
    /// What all waited for.
    pub waits: Waits,
}

impl Observer {
    /// Counts from here on.
    pub fn begin(&mut self, at: f64, cpus: f64, threads: f64) {
        self.began = Some(Began { at, cpus, threads });
    }

    /// Whether flows are counted.
    pub fn is_counting(&self) -> bool {
        self.began.is_some()
    }

    /// How many were.
    pub fn counted(&self) -> usize {
        self.latencies.len()
    }

    /// A flow has ended that took so many seconds, if figures are of such flows.
    pub fn flow_ended(&mut self, seconds: Option<f64>) {
        self.ended += 1;
        if self.is_counting() {
            self.latencies.extend(seconds);
        }
    }

    /// An execution has waited for so many seconds.
    pub fn waited(&mut self, reason: Reason, seconds: f64) {
        if !self.is_counting() {
            return;
        }
        match reason {
            Reason::Threads => self.waits.threads += seconds,
            Reason::Cpus(own) => self.waits.cpus += (seconds - own).max(0.0),
            Reason::Outside => self.waits.outside += seconds,
            Reason::Branches => {}
            Reason::Constraint(constraint) => {
                if self.waits.constraints.len() <= constraint {
                    self.waits.constraints.resize(constraint + 1, 0.0);
                }
                self.waits.constraints[constraint] += seconds;
            }
        }
    }

    /// What was seen until `at`.
    pub fn end(mut self, at: f64, cpus: f64, threads: f64, of_cpus: usize, of_threads: Option<usize>) -> Observed {
        let began = self.began.unwrap_or(Began { at, cpus, threads });
        let seconds = at - began.at;
        self.latencies.sort_by(f64::total_cmp);
        let mean = |sum: f64| if seconds > 0.0 { sum / seconds } else { 0.0 };
        Observed {
            seconds,
            latencies: self.latencies,
            cpus: mean(cpus - began.cpus) / of_cpus.max(1) as f64,
            threads: mean(threads - began.threads),
            of_threads,
            waits: self.waits,
        }
    }
}

impl Observed {
    /// Flows that ended, a second.
    pub fn throughput(&self) -> f64 {
        if self.seconds > 0.0 { self.latencies.len() as f64 / self.seconds } else { 0.0 }
    }

    /// How long a flow took, on average, in seconds.
    pub fn mean(&self) -> f64 {
        self.latencies.iter().sum::<f64>() / self.latencies.len().max(1) as f64
    }

    /// What this part of all flows was not slower than, in seconds; 0 where none has ended.
    pub fn percentile(&self, part: f64) -> f64 {
        let rank = (part * self.latencies.len() as f64).ceil() as usize;
        self.latencies.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }
}
