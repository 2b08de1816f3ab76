//! What is simulated: the machine, what runs flows on it, and when they come.

pub use crate::processors::Sharing;
use crate::random::Distribution;
use crate::recorded::Recorded;
pub use crate::threads::Runtime;

/// The server and its load.
#[derive(Clone, Debug)]
pub struct Setting {
    /// How many CPUs there are.
    pub cpus: usize,
    /// How fast they are: what is computed takes so many times less than it is said to.
    pub cpu_speed: f64,
    /// How threads have the CPUs.
    pub sharing: Sharing,
    /// What runs the flows.
    pub runtime: Runtime,
    /// Where flows come from, one for each source.
    pub arrivals: Vec<Arrivals>,
    /// The source whose flows throughput and latencies are of; none where they are of all.
    pub seen: Option<usize>,
    /// So many flows are run to warm up, which no figure counts.
    pub warm_up: f64,
    /// So many flows are counted.
    pub flows: f64,
}

impl Setting {
    /// The load that comes by itself, in flows a second; none where clients wait for answers.
    pub fn rate(&self) -> Option<f64> {
        Self::rate_of(&self.arrivals)
    }

    /// The part of it that figures are of.
    pub fn seen_rate(&self) -> Option<f64> {
        Self::rate_of(self.seen.and_then(|seen| self.arrivals.get(seen)).map_or(&self.arrivals, std::slice::from_ref))
    }

    fn rate_of(arrivals: &[Arrivals]) -> Option<f64> {
        let rates = arrivals.iter().map(|arrivals| match arrivals {
            Arrivals::Never => Some(0.0),
            Arrivals::Poisson(rate) => Some(*rate),
            Arrivals::Every(period) => Some(1.0 / period),
            Arrivals::Recorded(recorded) => Some(recorded.rate()),
            Arrivals::Clients(..) => None,
        });
        rates.sum()
    }
}

/// When flows of a source begin.
#[derive(Clone, PartialEq, Debug)]
pub enum Arrivals {
    /// None does.
    Never,
    /// So many a second, independent of each other (a Poisson process).
    Poisson(f64),
    /// One whenever so many seconds have passed.
    Every(f64),
    /// As they were recorded, again and again, from any of them on.
    Recorded(Recorded),
    /// So many clients, each of which waits for its answer and thinks before the next request.
    Clients(usize, Distribution),
}
