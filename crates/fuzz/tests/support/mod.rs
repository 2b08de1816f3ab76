//! The clock of the fuzzers: only here is it read.

use std::time::{Duration, Instant};

/// One text takes at most so long. Only what hangs takes longer.
pub const TEXT_LIMIT: Duration = Duration::from_secs(60);

/// Whether a fuzzer goes on, that began now and has a third of so many minutes.
pub fn for_a_third_of(minutes: u64) -> impl Fn(u64) -> bool + Send + 'static {
    let started = Instant::now();
    move |_| started.elapsed() < Duration::from_secs(minutes * 60) / 3
}
