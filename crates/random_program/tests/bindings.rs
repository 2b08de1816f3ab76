//! Which value goes where, in random programs: to name what a step takes anyway changes nothing, and a step that is put
//! in before one that names what it takes changes no other step. A step or an input more or less, anywhere, changes no
//! binding but those beside it without an error or a note.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use flux_diagnostic::{Diagnostics, Severity};
use flux_driver::compile;
use flux_ir::external::{External, ExternalRole};
use flux_ir::name::Name;
use flux_ir::program::{
    Action, Application, Argument, Body, Chain, NamedInput, NamedValue, Node, NodeId, Parameter, Program, Signature,
    Step, StepNumber,
};
use flux_ir::verify::{self, Stage};
use flux_passes::rewrites::bind_edges::bind_edges;
use flux_random_program::{Shape, generate};
use flux_source::{FileId, SourceMap, Span};
use std::collections::{HashMap, HashSet};

const SEEDS: u64 = 10;

/// The random program of a seed, bound.
fn program(seed: u64, shape: &Shape) -> Program {
    let program = generate(seed, shape);
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
        let (input, value) = (input.name.clone(), NamedValue::Value(names.get(argument)?.clone()));
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
            Action::Each(each) => change(program, &mut each.chain, names.clone(), extra, count),
        }
        steps.push(step);
    }
    chain.steps = steps;
}

/// A step that takes and gives nothing.
fn nothing(node: NodeId, number: u32) -> Step {
    let (constants, named, span) = (vec![], vec![], Span::default());
    let action = Action::Apply(Application { node, constants, named, arguments: None, kept: vec![], span });
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
                other => other.chains_mut().iter_mut().for_each(|chain| clean(chain, extra)),
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
        let program = program(seed, &Shape::default());
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
        let mut program = program(seed, &Shape::default());
        let function = program.externals.add(External::new(Name::new("Nothing"), ExternalRole::Node));
        let extra = program.nodes.add(Node {
            name: Name::new("Nothing"),
            signature: Some(Signature::default()),
            body: Body::External(function),
            requirements: vec![],
            blocking: false,
            replicable: false,
            stack: None,
            span: Span::default(),
        });
        let (mut changed, _) = changed(&program, Some(extra), seed);
        without(&mut changed, Some(extra));
        assert!(changed == program, "seed {seed}");
    }
}

/// A way to change a program by one step, or one input.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// The step goes.
    Delete,
    /// A step that applies some node comes before it.
    Insert(NodeId),
    /// The node that it applies takes one value less, wherever it is applied.
    DeleteInput,
    /// It takes one more, of the name and type that some value has.
    InsertInput(NodeId),
}

/// The steps of a chain that a change at the step at `at` may say something else to: the next, and where that is a
/// parallel step the first of its branches. Where it is the last, what the chain gives.
fn neighbours(chain: &Chain, at: usize) -> Vec<StepNumber> {
    let mut found = vec![];
    let mut open: Vec<&Step> = chain.steps.get(at).into_iter().chain(chain.steps.get(at + 1)).collect();
    while let Some(step) = open.pop() {
        found.push(step.number);
        if let Action::Parallel(parallel) = &step.action {
            // An empty branch hands its values on, so what comes after has another neighbour.
            open.extend(parallel.branches.iter().filter_map(|branch| branch.steps.first()));
            let is_empty = parallel.branches.iter().any(|branch| branch.steps.is_empty());
            let next = chain.steps.iter().skip_while(|one| one.number != step.number).nth(1);
            open.extend(next.filter(|_| is_empty));
        }
    }
    found
}

/// The applications in a chain, by the numbers of their steps; a parallel step takes nothing by itself.
fn applications(chain: &Chain) -> HashMap<StepNumber, &Application> {
    fn numbered(step: &Step) -> Option<(StepNumber, &Application)> {
        match &step.action {
            Action::Apply(one) => Some((step.number, one)),
            Action::Parallel(_) | Action::Each(_) => None,
        }
    }
    chain.all_steps().into_iter().filter_map(numbered).collect()
}

/// Makes a change at a step of the only chain of `id`, and binds the program again; what is said then.
fn changed_at(program: &Program, id: NodeId, at: usize, change: Change) -> (Program, Diagnostics) {
    let mut changed = program.clone();
    let applied = |program: &Program| {
        let chain = program.nodes[id].chains().next()?;
        match &chain.steps.get(at)?.action {
            Action::Apply(application) => Some(application.node),
            Action::Parallel(_) | Action::Each(_) => None,
        }
    };
    let node = applied(program);
    match change {
        Change::Delete => {
            let chain = changed.nodes[id].body.chains_mut().next().unwrap();
            chain.steps.remove(at);
        }
        Change::Insert(node) => {
            let chain = changed.nodes[id].body.chains_mut().next().unwrap();
            chain.steps.insert(at, nothing(node, 1_000_000));
        }
        Change::DeleteInput => {
            let signature = node.and_then(|node| changed.nodes[node].signature.as_mut());
            signature.into_iter().for_each(|signature| drop(signature.inputs.pop()));
        }
        Change::InsertInput(other) => {
            let more = program.nodes[other].outputs().last().cloned();
            let signature = node.and_then(|node| changed.nodes[node].signature.as_mut());
            signature.into_iter().for_each(|signature| signature.inputs.extend(more.clone()));
        }
    }
    let mut diagnostics = Diagnostics::new();
    bind_edges(&mut changed, &mut diagnostics);
    (changed, diagnostics)
}

/// The third of the hardest tests that the model has to pass.
#[test]
fn a_step_or_an_input_more_or_less_changes_no_other_binding_unsaid() {
    let (mut silent, mut refused, mut noted) = (0, 0, 0);
    let shape = Shape { reaches: 600, steps: 6, parallel: true, ..Shape::default() };
    for seed in 0..SEEDS {
        let program = program(seed, &shape);
        let flows: Vec<NodeId> =
            program.nodes.iter().filter(|(_, node)| node.chains().count() == 1).map(|(id, _)| id).collect();
        let others: Vec<NodeId> =
            program.nodes.iter().filter(|(_, node)| node.body.is_external()).map(|(id, _)| id).collect();
        for id in flows {
            let chain = program.nodes[id].chains().next().unwrap();
            let before = applications(chain);
            for at in 0..chain.steps.len() {
                let other = others[(seed as usize + at * 7) % others.len()];
                for change in [Change::Delete, Change::Insert(other), Change::DeleteInput, Change::InsertInput(other)] {
                    let (changed, diagnostics) = changed_at(&program, id, at, change);
                    if diagnostics.has_errors() {
                        refused += 1;
                        continue;
                    }
                    let near = neighbours(chain, at);
                    let said: HashSet<Span> = diagnostics.sorted().iter().map(|note| note.primary.span).collect();
                    for (number, now) in applications(changed.nodes[id].chains().next().unwrap()) {
                        // A node that takes something else takes it wherever it is applied.
                        let is_another =
                            |one: &&&Application| program.nodes[one.node].inputs() == changed.nodes[one.node].inputs();
                        let old = before.get(&number).filter(|_| !near.contains(&number)).filter(is_another);
                        let Some(old) = old.map(|one| &one.arguments) else { continue };
                        assert!(
                            now.arguments == *old || said.contains(&now.span),
                            "seed {seed}, {change:?} at {at} of {}: {old:?} has become {:?}",
                            program.nodes[id].name,
                            now.arguments
                        );
                        silent += usize::from(now.arguments == *old);
                        noted += usize::from(now.arguments != *old);
                    }
                }
            }
        }
    }
    assert!(silent > 500 && refused > 500 && noted > 0, "{silent} unchanged, {refused} refused, {noted} noted");
}
