//! Which value goes where, in random programs: to name what a step takes anyway changes nothing, and a step that is put
//! in before one that names what it takes changes no other step.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use flux_diagnostic::{Diagnostics, Severity};
use flux_driver::compile;
use flux_ir::program::{
    Action, Application, Argument, Body, Chain, NamedInput, Node, NodeId, Parameter, Program, Signature, Step,
    StepNumber,
};
use flux_ir::verify::{self, Stage};
use flux_passes::rewrites::bind_edges::bind_edges;
use flux_random_program::{Shape, generate};
use flux_source::{FileId, SourceMap, Span};
use std::collections::HashMap;

const SEEDS: u64 = 15;

/// The random program of a seed, bound.
fn program(seed: u64) -> Program {
    let program = generate(seed, &Shape::default());
    let mut sources = SourceMap::of(format!("{}.flux", program.name), program.flux_text());
    let mut read = |path: &str| Err(format!("{path} is not there"));
    compile(&mut sources, FileId(0), &mut read).flow.unwrap().program
}

/// What values are called that a step can name: those whose name and type no other output of the same step has, and no
/// pointers, which may be gone.
type Names = HashMap<Argument, String>;

fn add(names: &mut Names, made: &[Parameter], argument: impl Fn(usize) -> Argument) {
    for (index, one) in made.iter().enumerate() {
        let alike = made.iter().filter(|other| other.name == one.name && other.ty == one.ty).count();
        if alike == 1 && !one.ty.is_pointer() {
            names.insert(argument(index), one.name.clone());
        }
    }
}

/// Names all that an application takes, where that can be; whether it does.
fn name_all(program: &Program, application: &mut Application, names: &Names) -> bool {
    let inputs = program.nodes[application.node].inputs().iter().skip(application.constants.len());
    let named = inputs.zip(application.arguments.iter().flatten()).map(|(input, argument)| {
        let (input, value) = (input.name.clone(), names.get(argument)?.clone());
        Some(NamedInput { input, value, span: Span::default() })
    });
    let Some(named) = named.collect::<Option<Vec<_>>>() else { return false };
    application.named = named;
    !application.named.is_empty()
}

/// Names all that the steps of a chain take, where that can be, and puts a step of the node `extra` before each such
/// step, if there is such a node.
fn change(program: &Program, chain: &mut Chain, mut names: Names, extra: Option<NodeId>, count: &mut u32) {
    let mut steps = vec![];
    for mut step in std::mem::take(&mut chain.steps) {
        match &mut step.action {
            Action::Apply(application) => {
                if name_all(program, application, &names) {
                    *count += 1;
                    steps.extend(extra.map(|node| nothing(node, 1_000_000 + *count)));
                }
                let outputs = program.nodes[application.node].outputs();
                add(&mut names, outputs, |index| Argument::Output(step.number, index));
            }
            Action::Parallel(parallel) => {
                for branch in &mut parallel.branches {
                    change(program, branch, names.clone(), extra, count);
                }
            }
        }
        steps.push(step);
    }
    chain.steps = steps;
}

/// A step that takes and gives nothing.
fn nothing(node: NodeId, number: u32) -> Step {
    let (constants, named, span) = (vec![], vec![], Span::default());
    let action = Action::Apply(Application { node, constants, named, arguments: None, span });
    Step { number: StepNumber(number), action, within: None }
}

/// The program with all named that can be, and how many steps name something; bound again.
fn changed(program: &Program, extra: Option<NodeId>, seed: u64) -> (Program, u32) {
    let (mut changed, mut count) = (program.clone(), 0);
    for (id, node) in program.nodes.iter() {
        let mut names = Names::new();
        add(&mut names, node.inputs(), Argument::Input);
        for chain in changed.nodes[id].body.chains_mut() {
            change(program, chain, names.clone(), extra, &mut count);
        }
    }
    let mut diagnostics = Diagnostics::new();
    bind_edges(&mut changed, &mut diagnostics);
    let errors: Vec<_> = diagnostics.sorted().into_iter().filter(|one| one.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "seed {seed}: {errors:?}");
    assert_eq!(verify::program(&changed, Stage::Bound), [], "seed {seed}");
    (changed, count)
}

/// The program without the names, and without the steps of `extra`.
fn without(program: &mut Program, extra: Option<NodeId>) {
    fn clean(chain: &mut Chain, extra: Option<NodeId>) {
        chain.steps.retain(|step| !matches!(&step.action, Action::Apply(one) if Some(one.node) == extra));
        for step in &mut chain.steps {
            match &mut step.action {
                Action::Apply(application) => application.named.clear(),
                Action::Parallel(parallel) => parallel.branches.iter_mut().for_each(|branch| clean(branch, extra)),
            }
        }
    }
    for (_, node) in program.nodes.iter_mut() {
        node.body.chains_mut().for_each(|one| clean(one, extra));
    }
}

#[test]
fn to_name_what_a_step_takes_anyway_changes_nothing() {
    let mut named = 0;
    for seed in 0..SEEDS {
        let program = program(seed);
        let (mut changed, count) = changed(&program, None, seed);
        without(&mut changed, None);
        assert!(changed == program, "seed {seed}");
        named += count;
    }
    assert!(named > 100, "only {named} steps name what they take");
}

#[test]
fn a_step_before_one_that_names_what_it_takes_changes_no_other() {
    for seed in 0..SEEDS {
        let mut program = program(seed);
        let extra = program.nodes.add(Node {
            name: "Nothing".to_owned(),
            signature: Some(Signature::default()),
            body: Body::Concrete,
            requirements: vec![],
            blocking: false,
            replicable: false,
            span: Span::default(),
        });
        let (mut changed, _) = changed(&program, Some(extra), seed);
        without(&mut changed, Some(extra));
        assert!(changed == program, "seed {seed}");
    }
}
