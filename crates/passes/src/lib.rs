//! The passes of the compiler, in the order in which they run.
//!
//! A pass is one file, named verb first; its first lines say what it requires and what it establishes. The table below
//! is the order; the driver runs it and verifies the model after each pass.

pub mod bind_edges;
pub mod bind_handlers;
pub mod check_blocking;
pub mod check_constants;
pub mod check_cycles;
pub mod check_dispatch;
pub mod check_handlers;
pub mod check_options;
pub mod check_replicable;
pub mod check_sessions;
pub mod check_slips;
pub mod check_sources;
pub mod check_uses;
mod constraint_diagnostics;
mod edge_diagnostics;
pub mod edges;
pub mod fit;
pub mod handler_paths;
pub mod ids;
pub mod infer_signatures;
pub mod lower_program;
pub mod mentions;
mod named_inputs;
pub mod number_paths;
pub mod order_constraints;
mod visible_values;
pub mod walks;

use flux_diagnostic::Diagnostics;
use flux_ir::flow::Flow;
use flux_ir::program::Program;

/// A pass over a program, or over a flow.
pub struct Pass<T> {
    /// Its name: the stem of its file.
    pub name: &'static str,
    /// What it does.
    pub run: fn(&mut T, &mut Diagnostics),
    /// Whether an error ends the compilation here, as the passes after it require what it establishes.
    pub barrier: bool,
}

/// The passes over a program. After an error in any of them it is not lowered.
pub const PROGRAM_PASSES: [Pass<Program>; 14] = [
    Pass {
        name: "check_cycles",
        run: |program, diagnostics| check_cycles::check_cycles(program, diagnostics),
        barrier: true,
    },
    Pass {
        name: "check_slips",
        run: |program, diagnostics| check_slips::check_slips(program, diagnostics),
        barrier: true,
    },
    Pass { name: "infer_signatures", run: infer_signatures::infer_signatures, barrier: true },
    Pass {
        name: "check_constants",
        run: |program, diagnostics| check_constants::check_constants(program, diagnostics),
        barrier: false,
    },
    Pass {
        name: "check_options",
        run: |program, diagnostics| check_options::check_options(program, diagnostics),
        barrier: false,
    },
    Pass {
        name: "check_sources",
        run: |program, diagnostics| check_sources::check_sources(program, diagnostics),
        barrier: false,
    },
    Pass {
        name: "check_replicable",
        run: |program, diagnostics| check_replicable::check_replicable(program, diagnostics),
        barrier: false,
    },
    Pass {
        name: "check_blocking",
        run: |program, diagnostics| check_blocking::check_blocking(program, diagnostics),
        barrier: false,
    },
    Pass { name: "bind_edges", run: bind_edges::bind_edges, barrier: false },
    Pass {
        name: "check_dispatch",
        run: |program, diagnostics| check_dispatch::check_dispatch(program, diagnostics),
        barrier: false,
    },
    Pass {
        name: "check_handlers",
        run: |program, diagnostics| check_handlers::check_handlers(program, diagnostics),
        barrier: false,
    },
    Pass { name: "bind_handlers", run: bind_handlers::bind_handlers, barrier: false },
    Pass {
        name: "check_sessions",
        run: |program, diagnostics| check_sessions::check_sessions(program, diagnostics),
        barrier: false,
    },
    Pass {
        name: "check_uses",
        run: |program, diagnostics| check_uses::check_uses(program, diagnostics),
        barrier: false,
    },
];

/// The passes over a flow, after [`lower_program::lower_program`].
pub const FLOW_PASSES: [Pass<Flow>; 2] = [
    Pass { name: "order_constraints", run: order_constraints::order_constraints, barrier: true },
    Pass { name: "number_paths", run: |flow, _| number_paths::number_paths(flow), barrier: false },
];
