//! Random programs through the compiler, without C++: they are accepted, and the path numbers that their flow would
//! count lead back to the paths that the reference took.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod machine;

use flux_diagnostic::Severity;
use flux_driver::{Compilation, compile};
use flux_random_program::{Exit, Label, RandomProgram, Shape, generate, is_in_slice};
use flux_source::{FileId, SourceMap};
use machine::Machine;
use std::collections::BTreeSet;

fn compiled(program: &RandomProgram) -> (SourceMap, Compilation) {
    let mut sources = SourceMap::of(format!("{}.flux", program.name), program.flux_text());
    let mut read = |path: &str| Err(format!("{path} is not there"));
    let compilation = compile(&mut sources, FileId(0), &mut read);
    (sources, compilation)
}

/// Says what is wrong with a program that should have been accepted.
fn check_accepted(program: &RandomProgram, shape: &Shape) -> Compilation {
    let (sources, compilation) = compiled(program);
    if compilation.flow.is_none() || compilation.diagnostics.has_errors() {
        let said: Vec<_> = compilation.diagnostics.sorted();
        let errors: Vec<_> = said.iter().filter(|one| one.severity == Severity::Error).collect();
        let shown: Vec<_> = errors
            .iter()
            .map(|error| format!("{}: {}", sources.name_and_line(error.primary.span), error.headline))
            .collect();
        panic!("seed {} of {shape:?}\n{}\n{}", program.seed, program.flux_text(), shown.join("\n"));
    }
    compilation
}

#[test]
fn random_programs_are_accepted() {
    let nested = Shape { abstract_constraints: true, ..Shape::default() };
    let wide = Shape { sessions: true, keys: true, parallel: true, ..Shape::default() };
    for (shape, seeds) in [(Shape::default(), 400), (Shape::small(), 400), (nested, 200), (wide, 200), (each(), 150)] {
        for seed in (0..seeds).filter(|seed| is_in_slice(*seed, 3)) {
            check_accepted(&generate(seed, &shape), &shape);
        }
    }
}

/// Constraints on abstract nodes do not go with everything: a key may not be known where it would have to be taken, and
/// parallel branches may exclude each other. Nothing else is refused.
#[test]
fn only_what_cannot_be_ordered_is_refused() {
    let full = Shape { abstract_constraints: true, sessions: true, keys: true, parallel: true, ..Shape::default() };
    let mut accepted = 0;
    for seed in 0..200 {
        let (_, compilation) = compiled(&generate(seed, &full));
        let errors = compilation.diagnostics.sorted().into_iter().filter(|one| one.severity == Severity::Error);
        let ids: BTreeSet<_> = errors.map(|error| error.id.0).collect();
        assert!(ids.is_subset(&BTreeSet::from(["key-unreachable", "branches-conflict"])), "seed {seed}: {ids:?}");
        accepted += u64::from(compilation.flow.is_some());
    }
    assert!(accepted > 20, "only {accepted} of 200 programs are accepted");
}

#[test]
fn path_numbers_lead_back_to_the_paths_taken() {
    let mut specialised = 0;
    let nested = Shape { abstract_constraints: true, ..Shape::default() };
    let parallel = Shape { parallel: true, ..Shape::default() };
    for shape in [Shape::default(), nested, parallel] {
        for seed in (0..100).filter(|seed| is_in_slice(*seed, 3)) {
            let program = generate(seed, &shape);
            let flow = check_accepted(&program, &shape).flow.unwrap();
            check_paths(&program, &flow, 100);
            specialised += flow.functions.iter().filter(|(_, function)| function.name.contains("_after_")).count();
        }
    }
    assert!(specialised > 7, "only {specialised} functions are made for a way to their node");
}

/// Programs with each steps.
fn each() -> Shape {
    Shape { each: 150, parallel: true, ..Shape::default() }
}

/// The paths of instances are counted by themselves: both they and the paths of the flows are those of the reference.
#[test]
fn instances_of_each_steps_go_the_ways_of_the_reference() {
    for seed in (0..60).filter(|seed| is_in_slice(*seed, 3)) {
        let program = generate(seed, &each());
        let flow = check_accepted(&program, &each()).flow.unwrap();
        check_paths(&program, &flow, 100);
    }
}

/// Programs of few steps in which most nodes are computed.
fn computed() -> Shape {
    Shape { computed: 700, each: 100, ..Shape::default() }
}

/// What bodies come to is what the reference says of them.
#[test]
fn bodies_compute_what_the_reference_does() {
    for seed in (0..60).filter(|seed| is_in_slice(*seed, 3)) {
        let program = generate(seed, &computed());
        let flow = check_accepted(&program, &computed()).flow.unwrap();
        check_paths(&program, &flow, 100);
    }
}

/// Functions with more paths than a register counts: some calls are cut. The shape is one in which no fallback has more
/// than that, whose paths are told apart no longer.
#[test]
fn path_numbers_that_would_not_fit_are_cut_and_lead_back_too() {
    let shape = Shape {
        sources: 1,
        abstract_nodes: 40,
        steps: 8,
        calls: 400,
        shared: 600,
        dispatches: 900,
        incomplete: 0,
        fallible: 300,
        reaches: 0,
        guards: 0,
        computed: 0,
        ..Shape::default()
    };
    for (seeds, shape) in [(60, shape.clone()), (20, Shape { parallel: true, ..shape })] {
        let mut cut = 0;
        for seed in 0..seeds {
            let program = generate(seed, &shape);
            let flow = check_accepted(&program, &shape).flow.unwrap();
            cut += check_paths(&program, &flow, 50);
        }
        assert!(cut as u64 > seeds / 2, "only {cut} paths were cut out: the shape is too small for what is tested");
    }
}

fn exit_of(exit: flux_ir::flow::Exit) -> Exit {
    match exit {
        flux_ir::flow::Exit::Done => Exit::Done,
        flux_ir::flow::Exit::Failed => Exit::Failed,
        flux_ir::flow::Exit::Ended => Exit::Ended,
    }
}

/// Compares the flows that the machine ran with those of the reference; gives how many paths were cut out of others.
fn check_paths(program: &RandomProgram, flow: &flux_ir::flow::Flow, flows: u32) -> usize {
    let machine = Machine::new(program, flow);
    let mut cut = 0;
    for number in 0..flows {
        let expected = program.run(number);
        let seen = machine.run(expected.source, number);
        let texts = |labels: &[Label]| labels.iter().map(|label| label.text().to_owned()).collect::<Vec<_>>();
        let context = || format!("seed {}, flow {number}\n{}", program.seed, program.flux_text());
        let instances = expected.instances.iter().map(|one| (one.node.clone(), one.exit, texts(&one.path)));
        let seen_instances = seen.instances.into_iter().map(|(node, exit, path)| (node, exit_of(exit), path));
        assert_eq!(seen_instances.collect::<Vec<_>>(), instances.collect::<Vec<_>>(), "{}", context());
        assert_eq!((seen.path, exit_of(seen.exit)), (texts(&expected.path), expected.exit), "{}", context());
        cut += seen.cut;
    }
    cut
}
