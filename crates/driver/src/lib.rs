//! The pipeline of the compiler, as a table of contents. It does no I/O: sources come in, models and texts go out.

pub mod constraints;
pub mod functions;
pub mod headers;
pub mod ids;

use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_front::load::{Library, ReadFile, load};
use flux_ir::flow::Flow;
use flux_ir::program::Program;
use flux_ir::verify::{self, Stage, Violation};
use flux_passes::rewrites::lower_program::lower_program;
use flux_passes::{FLOW_PASSES, PROGRAM_PASSES};
use flux_source::{FileId, SourceMap, Span};

/// What came of a compilation.
#[derive(Default)]
pub struct Compilation {
    /// What will happen; only where there was no error.
    pub flow: Option<Flow>,
    /// Where there is no flow, what the author said, as far as the passes got with it.
    unfinished: Option<Program>,
    /// Everything there is to say.
    pub diagnostics: Diagnostics,
}

impl Compilation {
    /// What the author said, as far as the passes got with it; none where it could not be resolved.
    pub fn program(&self) -> Option<&Program> {
        self.flow.as_ref().map(|flow| &flow.program).or(self.unfinished.as_ref())
    }
}

/// Compiles the program in `file`, whose name's stem becomes the program's. The files of its modules are added to
/// `sources`; `read` gives the text of one by its path, relative where that of the program is.
pub fn compile(sources: &mut SourceMap, file: FileId, read: &mut ReadFile<'_>) -> Compilation {
    let mut result = Compilation::default();
    let diagnostics = &mut result.diagnostics;

    // What the author said: modules are found, and names become ids.
    let standard: Vec<_> = flux_nodes::modules().collect();
    let files = load(sources, file, Library { standard: &standard, read }, diagnostics);
    let mut program = flux_front::read(sources, &files, diagnostics);
    if diagnostics.has_errors() {
        return result;
    }
    agree("front_flux", verify::program(&program, Stage::Resolved), diagnostics);

    // Is it one that can run? Signatures that were left out are filled in on the way, and the values that go along.
    for pass in PROGRAM_PASSES {
        (pass.run)(&mut program, diagnostics);
        if pass.barrier && diagnostics.has_errors() {
            result.unfinished = Some(program);
            return result;
        }
    }
    if diagnostics.has_errors() {
        result.unfinished = Some(program);
        return result;
    }
    agree("bind_handlers", verify::program(&program, Stage::Bound), diagnostics);

    // --- From here on the program stands; what follows says how it happens. ---

    let mut flow = lower_program(program);
    agree("lower_program", verify::flow(&flow, Stage::Lowered), diagnostics);
    for pass in FLOW_PASSES {
        (pass.run)(&mut flow, diagnostics);
        if pass.barrier && diagnostics.has_errors() {
            result.unfinished = Some(flow.program);
            return result;
        }
    }
    agree("number_paths", verify::flow(&flow, Stage::Ordered), diagnostics);

    match diagnostics.has_errors() {
        true => result.unfinished = Some(flow.program),
        false => result.flow = Some(flow),
    }
    result
}

/// A violation is a fault of ours. It is reported, never compiled.
fn agree(stage: &str, violations: Vec<Violation>, diagnostics: &mut Diagnostics) {
    if let Some(Violation { message, span }) = violations.into_iter().next() {
        let headline = format!("the compiler contradicts itself after `{stage}`: {message}");
        let error = Diagnostic::error(ids::CONTRADICTION, headline, span);
        diagnostics.push(error.help("this is a fault of flux, not of your program: please report it with the program"));
    }
}

/// Reports that a server cannot be made of a program without a source.
pub fn require_source(compilation: &mut Compilation, file: FileId) {
    let without = compilation.flow.as_ref().is_some_and(|flow| flow.entries.is_empty());
    if without {
        let error = Diagnostic::error(
            ids::NO_SOURCE,
            "the program has no source, so nothing would ever run",
            Span::new(file, 0..0),
        );
        compilation.diagnostics.push(error.help("say where flows come from: `source Listen => Target;`"));
        compilation.unfinished = compilation.flow.take().map(|flow| flow.program);
    }
}
