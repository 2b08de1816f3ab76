//! The passes of the compiler, in the order in which they run.
//!
//! A pass is one file, named verb first; its first lines say what it requires and what it establishes. The table below
//! is the order; the driver runs it and verifies the model after each pass.

pub mod analyses;
pub mod checks;
pub mod ids;
pub mod rewrites;

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
pub const PROGRAM_PASSES: [Pass<Program>; 15] = [
    Pass {
        name: "check_cycles",
        run: |program, diagnostics| checks::check_cycles::check_cycles(program, diagnostics),
        barrier: true,
    },
    Pass {
        name: "check_slips",
        run: |program, diagnostics| checks::check_slips::check_slips(program, diagnostics),
        barrier: true,
    },
    Pass { name: "infer_signatures", run: rewrites::infer_signatures::infer_signatures, barrier: true },
    Pass {
        name: "check_constants",
        run: |program, diagnostics| checks::check_constants::check_constants(program, diagnostics),
        barrier: false,
    },
    Pass {
        name: "check_options",
        run: |program, diagnostics| checks::check_options::check_options(program, diagnostics),
        barrier: false,
    },
    Pass {
        name: "check_keys",
        run: |program, diagnostics| checks::check_keys::check_keys(program, diagnostics),
        barrier: false,
    },
    Pass {
        name: "check_sources",
        run: |program, diagnostics| checks::check_sources::check_sources(program, diagnostics),
        barrier: false,
    },
    Pass {
        name: "check_replicable",
        run: |program, diagnostics| checks::check_replicable::check_replicable(program, diagnostics),
        barrier: false,
    },
    Pass {
        name: "check_blocking",
        run: |program, diagnostics| checks::check_blocking::check_blocking(program, diagnostics),
        barrier: false,
    },
    Pass { name: "bind_edges", run: rewrites::bind_edges::bind_edges, barrier: false },
    Pass {
        name: "check_dispatch",
        run: |program, diagnostics| checks::check_dispatch::check_dispatch(program, diagnostics),
        barrier: false,
    },
    Pass {
        name: "check_handlers",
        run: |program, diagnostics| checks::check_handlers::check_handlers(program, diagnostics),
        barrier: false,
    },
    Pass { name: "bind_handlers", run: rewrites::bind_handlers::bind_handlers, barrier: false },
    Pass {
        name: "check_sessions",
        run: |program, diagnostics| checks::check_sessions::check_sessions(program, diagnostics),
        barrier: false,
    },
    Pass {
        name: "check_uses",
        run: |program, diagnostics| checks::check_uses::check_uses(program, diagnostics),
        barrier: false,
    },
];

/// The passes over a flow, after [`rewrites::lower_program::lower_program`].
pub const FLOW_PASSES: [Pass<Flow>; 2] = [
    Pass { name: "order_constraints", run: rewrites::order_constraints::order_constraints, barrier: true },
    Pass { name: "number_paths", run: |flow, _| rewrites::number_paths::number_paths(flow), barrier: false },
];
