//! Passes that change the model: they add to it what an author leaves out, lower it, and order it.

pub mod bind_edges;
pub mod bind_handlers;
mod constraint_diagnostics;
mod each_diagnostics;
mod edge_diagnostics;
pub mod infer_signatures;
mod kept_values;
pub mod lower_program;
mod named_inputs;
pub mod number_paths;
pub mod order_constraints;
mod reach;
