//! The diagnostics that the pipeline itself gives. Each has its page.

use flux_diagnostic::Id;

/// A pass established something else than it says.
pub const CONTRADICTION: Id = Id("contradiction");
/// A function that an included header declares does not fit its node.
pub const FUNCTION_MISMATCH: Id = Id("function-mismatch");
/// A server is asked for, and the program has no source.
pub const NO_SOURCE: Id = Id("no-source");
/// A header that a program includes is not found.
pub const MISSING_HEADER: Id = Id("missing-header");
