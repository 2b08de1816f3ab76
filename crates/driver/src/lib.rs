//! The pipeline of the compiler, as a table of contents. It does no I/O: sources come in, models and texts go out.

pub mod bounds;
pub mod constraints;
pub mod ids;

use flux_diagnostic::{Diagnostic, Diagnostics, Severity};
use flux_front::link::link;
use flux_front::{Front, Library, ReadFile, front_of};
use flux_front_flick::FlickFront;
use flux_front_flux::FluxFront;
use flux_ir::flow::Flow;
use flux_ir::program::Program;
use flux_ir::verify::{self, Stage, Violation};
use flux_passes::rewrites::lower_program::lower_program;
use flux_passes::{FLOW_PASSES, Fact, LOWERING, PROGRAM_PASSES, Pass, stage};
use flux_source::{FileId, SourceMap, Span};
use std::collections::BTreeSet;

/// The notations. What has no ending is in that of the paper, as many programs of 2006 have none.
pub const FRONTS: [&dyn Front; 2] = [&FluxFront, &FlickFront];

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
    compile_from(&FRONTS, sources, file, read)
}

/// As [`compile`], with other notations.
pub fn compile_from(
    fronts: &[&dyn Front],
    sources: &mut SourceMap,
    file: FileId,
    read: &mut ReadFile<'_>,
) -> Compilation {
    let mut result = compile_all(fronts, sources, file, read);
    let has_nodes = |file: FileId| {
        let front = sources.file(file).and_then(|file| front_of(fronts, &file.name));
        front.is_none_or(|front| front.has_nodes())
    };
    let is_note = |one: &Diagnostic| one.severity == Severity::Note;
    result.diagnostics.retain(|one| !is_note(one) || has_nodes(one.primary.span.file));
    result
}

/// As [`compile_from`], with all that there is to say of nodes.
fn compile_all(fronts: &[&dyn Front], sources: &mut SourceMap, file: FileId, read: &mut ReadFile<'_>) -> Compilation {
    let mut result = Compilation::default();
    let diagnostics = &mut result.diagnostics;

    // What the author said: modules are found, and names become ids.
    let standard: Vec<_> = flux_nodes::modules().collect();
    let library = Library { standard: &standard, read };
    let mut program = link((&FluxFront, fronts), sources, file, library, diagnostics);
    if diagnostics.has_errors() {
        return result;
    }
    let mut state = State { facts: BTreeSet::from([Fact::Resolved]), diagnostics };
    state.agree("link", verify::program(&program, Stage::Resolved));

    // Is it one that can run? Signatures that were left out are filled in on the way, and the values that go along.
    state.run(&PROGRAM_PASSES, &mut program, verify::program);
    if !state.holds(LOWERING) || state.diagnostics.has_errors() {
        result.unfinished = Some(program);
        return result;
    }
    state.agree("bind_handlers", verify::program(&program, Stage::Bound));

    // --- From here on the program stands; what follows says how it happens. ---

    let mut flow = lower_program(program);
    state.facts.insert(Fact::Lowered);
    state.agree("lower_program", verify::flow(&flow, Stage::Lowered));
    state.run(&FLOW_PASSES, &mut flow, verify::flow);
    if state.holds(&[Fact::Ordered, Fact::Numbered]) {
        state.agree("number_paths", verify::flow(&flow, Stage::Finished));
    }
    match diagnostics.has_errors() {
        true => result.unfinished = Some(flow.program),
        false => result.flow = Some(flow),
    }
    result
}

/// How far a compilation has come.
struct State<'d> {
    /// What is known.
    facts: BTreeSet<Fact>,
    diagnostics: &'d mut Diagnostics,
}

impl State<'_> {
    fn holds(&self, facts: &[Fact]) -> bool {
        facts.iter().all(|fact| self.facts.contains(fact))
    }

    /// Runs passes, those whose requirements hold: where one does not, an earlier pass has said why. After each rewrite
    /// the model is verified as far as it has come, in tests and in builds of our own. What users run does so where a
    /// model is finished, which finds the same later, without the pass to blame.
    fn run<T>(&mut self, passes: &[Pass<T>], model: &mut T, verify: fn(&T, Stage) -> Vec<Violation>) {
        for pass in passes {
            if !self.holds(pass.requires) {
                continue;
            }
            let errors = self.diagnostics.count(Severity::Error);
            pass.run(model, self.diagnostics);
            if self.diagnostics.count(Severity::Error) > errors {
                continue;
            }
            self.facts.extend(pass.establishes);
            if cfg!(debug_assertions) && pass.is_rewrite() {
                self.agree(pass.name, verify(model, stage(&self.facts)));
            }
        }
    }

    /// A violation is a fault of ours. It is reported, never compiled.
    fn agree(&mut self, pass: &str, violations: Vec<Violation>) {
        if let Some(Violation { message, span }) = violations.into_iter().next() {
            let headline = format!("an internal check failed after `{pass}`: {message}");
            let error = Diagnostic::error(ids::CONTRADICTION, headline, span);
            let help = "this is a bug in Flux, not in your program: please report it with the program";
            self.diagnostics.push(error.help(help));
        }
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
        compilation.diagnostics.push(error.help("add a source: `source Listen => Target;`"));
        compilation.unfinished = compilation.flow.take().map(|flow| flow.program);
    }
}
