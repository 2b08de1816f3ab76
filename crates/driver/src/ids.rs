//! The diagnostics that the pipeline itself gives. Each has its page.

use flux_diagnostic::Id;

/// A pass established something else than it says.
pub const CONTRADICTION: Id = Id("contradiction");
/// A server is asked for, and the program has no source.
pub const NO_SOURCE: Id = Id("no-source");
