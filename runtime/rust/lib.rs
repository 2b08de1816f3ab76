//! The sources of the Flux runtime.
