//! What servers have measured of themselves: reads it, merges it, compares it, and writes it as a profiler's file.
//!
//! A profile is the JSON of `--flux-report=json` and of an admin interface's `/profile`. What its members mean is
//! written where they are made, in `runtime/include/flux/insight/report.hpp`; how it is used, in `docs/profile.md`.

pub mod compare;
pub mod histogram;
pub mod merge;
pub mod places;
pub mod pprof;
pub mod profile;
pub mod reuse;
mod significance;
