//! Compiles programs, before and after their constraints are ordered.

use flux_diagnostic::Diagnostics;
use flux_ir::flow::Flow;
use flux_ir::program::Program;
use flux_ir::verify::{self, Stage};
use flux_passes::PROGRAM_PASSES;
use flux_passes::rewrites::bind_edges::bind_edges;
use flux_passes::rewrites::bind_handlers::bind_handlers;
use flux_passes::rewrites::lower_program::lower_program;
use flux_passes::rewrites::number_paths::number_paths;
use flux_passes::rewrites::order_constraints::order_constraints;
use flux_source::SourceMap;

/// The program that `text` says.
pub fn program(text: &str) -> Program {
    let mut sources = SourceMap::default();
    let file = sources.add("explored.flux", text);
    let mut diagnostics = Diagnostics::default();
    let mut program = flux_front_flux::read(&sources, file, &mut diagnostics);
    for pass in PROGRAM_PASSES {
        pass.run(&mut program, &mut diagnostics);
    }
    assert!(!diagnostics.has_errors(), "{text}\n{diagnostics:?}");
    program
}

/// The flow of a program whose author has made no mistake, before its constraints are ordered. Random programs say
/// nothing yet of where their values go.
pub fn lower(mut program: Program) -> Flow {
    let mut diagnostics = Diagnostics::default();
    bind_edges(&mut program, &mut diagnostics);
    bind_handlers(&mut program, &mut diagnostics);
    assert_eq!(verify::program(&program, Stage::Bound), [], "{diagnostics:?}");
    let flow = lower_program(program);
    let violations = verify::flow(&flow, Stage::Lowered);
    assert_eq!(violations, [], "{}", flux_ir::text::print_flow(&flow));
    flow
}

/// The flow with its constraints ordered; none where the author has to say it otherwise.
pub fn order(lowered: &Flow) -> Option<Flow> {
    let mut flow = lowered.clone();
    let mut diagnostics = Diagnostics::default();
    order_constraints(&mut flow, &mut diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    number_paths(&mut flow, &mut diagnostics);
    Some(flow)
}

/// What the verifier has to say about a flow.
pub fn verified(flow: &Flow) -> Vec<String> {
    verify::flow(flow, Stage::Finished).into_iter().map(|violation| violation.message).collect()
}
