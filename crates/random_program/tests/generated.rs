//! What the generator draws: the same from the same seed, and all that the language has.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test that cannot go on fails")]

use flux_random_program::model::{Body, Chain, Each, Handler, Line, Mode, Model, Node, NodeId, PathHandler, Step, fit};
use flux_random_program::{Exit, Label, RandomProgram, Run, Shape, generate};

const SEEDS: u64 = 200;
const FLOWS: u32 = 200;

fn texts(program: &RandomProgram) -> Vec<String> {
    program.files().into_iter().map(|file| file.text).collect()
}

#[test]
fn a_seed_replays_and_another_seed_differs() {
    let shape = Shape::default();
    assert_eq!(texts(&generate(7, &shape)), texts(&generate(7, &shape)));
    assert_ne!(texts(&generate(7, &shape)), texts(&generate(8, &shape)));
    let (first, second) = (generate(7, &shape), generate(7, &shape));
    assert!((0..FLOWS).all(|flow| first.run(flow) == second.run(flow)));
}

#[test]
fn no_node_reaches_a_later_one() {
    for seed in 0..SEEDS {
        let model = generate(seed, &Shape::default()).model;
        for (id, node) in model.nodes.iter() {
            assert!(reached(node).into_iter().all(|other| other < id.index()), "seed {seed}, {}", node.name);
        }
        for one in &model.path_handlers {
            let Some(target) = one.handler.node() else { continue };
            assert!(one.path.last().unwrap().is_some_and(|failing| target < failing), "seed {seed}, {one:?}");
        }
    }
}

fn reached(node: &Node) -> Vec<usize> {
    let mut reached: Vec<_> = node.applied().into_iter().map(|(node, _)| node).collect();
    reached.extend(handler_node(node));
    reached.into_iter().map(|node| node.index()).collect()
}

/// Each thing that programs are drawn for, and a test whether a program has it.
#[test]
fn everything_the_language_has_is_drawn_often() {
    type Has = fn(&Model) -> bool;
    let wanted: [(&str, Has); 24] = [
        ("several sources", |model| model.sources.len() > 1),
        ("two sources with one target", |model| {
            model.sources.windows(2).any(|pair| matches!(pair, [a, b] if a.target == b.target))
        }),
        ("an abstract node applied from several places", |model| applied_twice(model)),
        ("a dispatch on two values", |model| any_line(model, |line| line.patterns.iter().flatten().count() > 1)),
        ("an empty line", |model| any_line(model, |line| line.chain.is_empty())),
        ("a catch-all without patterns", |model| any_line(model, |line| !line.written)),
        ("a node without outputs", |model| any(model, |node| node.outputs.is_empty())),
        ("a function that handles the errors of a concrete node", |model| {
            any(model, |node| is_concrete(node) && matches!(node.handler, Some(Handler::Function { .. })))
        }),
        ("a node that handles the errors of an abstract node", |model| {
            any(model, |node| !is_concrete(node) && matches!(node.handler, Some(Handler::Node(_))))
        }),
        ("a handler that has a handler", |model| {
            any(model, |node| matches!(node.handler, Some(Handler::Node(id)) if model.nodes[id].handler.is_some()))
        }),
        ("a handler without a step, after which the flow goes on", |model| {
            any(model, |node| matches!(node.handler, Some(Handler::GoOn(None))))
        }),
        ("a handler with a step, after which the flow goes on", |model| {
            any(model, |node| matches!(node.handler, Some(Handler::GoOn(Some(_)))))
        }),
        ("a guard: a step without outputs before others", |model| {
            any(model, |node| node.chains().into_iter().any(|chain| is_guarded(model, chain)))
        }),
        ("a step that reaches", |model| {
            any(model, |node| node.chains().into_iter().any(|one| reaches(model, node, one)))
        }),
        ("a handler that reaches", |model| {
            any(model, |node| matches!(node.handler, Some(Handler::Node(id)) if !takes_alone(node, &model.nodes[id])))
        }),
        ("a path with any node in it", |model| any_path(model, |one| one.path.contains(&None))),
        ("a path that ends in any node", |model| any_path(model, |one| one.path.last() == Some(&None))),
        ("a path of four nodes", |model| any_path(model, |one| one.path.len() == 4)),
        ("a node that handles errors on a path", |model| {
            any_path(model, |one| matches!(one.handler, Handler::Node(_)))
        }),
        ("a path for a node that handles errors", |model| {
            any_path(model, |one| any(model, |node| one.path.last() == Some(&handler_node(node))))
        }),
        ("a computed node", |model| any(model, |node| matches!(node.body, Body::Computed(_)))),
        ("a computed predicate", |model| model.predicates.iter().any(|(_, one)| one.formula.is_some())),
        ("a reader", |model| any(model, |node| model.named(node).values().any(|mode| *mode == Mode::Read))),
        ("a constraint named twice", |model| any(model, |node| model.named(node).len() < node.requirements.len())),
    ];
    let models: Vec<_> = (0..SEEDS).map(|seed| generate(seed, &Shape::default()).model).collect();
    for (name, has) in wanted {
        let count = models.iter().filter(|model| has(model)).count();
        assert!(count as u64 > SEEDS / 10, "{name}: in {count} of {SEEDS} programs");
    }
}

/// What each steps are drawn for.
#[test]
fn each_steps_of_every_kind_are_drawn_often() {
    type Has = fn(&Model, &Each) -> bool;
    let wanted: [(&str, Has); 6] = [
        ("several at once", |_, each| each.width.is_some()),
        ("a loop that hands on more than the flow's number", |model, each| {
            let outputs = model.each_outputs(each);
            outputs.iter().filter(|output| model.is_carried(each, output)).count() > 1
        }),
        ("a step that gathers", |model, each| model.each_outputs(each).len() > 1),
        ("a chain", |_, each| each.chain.len() > 1),
        ("an each step in an each step", |_, each| each.chain.iter().any(|step| matches!(step, Step::Each(_)))),
        ("an instance that may fail", |model, each| {
            each.chain.iter().filter_map(Step::node).any(|node| match &model.nodes[node].body {
                Body::Concrete(behaviour) => behaviour.errors > 0,
                _ => false,
            })
        }),
    ];
    let shape = Shape { each: 150, parallel: true, ..Shape::default() };
    let models: Vec<_> = (0..SEEDS).map(|seed| generate(seed, &shape).model).collect();
    for (name, has) in wanted {
        let of_step = |model: &Model, step: &Step| matches!(step, Step::Each(each) if has(model, each));
        let of_model =
            |model: &&Model| any(model, |node| node.all_steps().into_iter().any(|(step, _)| of_step(model, step)));
        let count = models.iter().filter(of_model).count();
        assert!(count as u64 > SEEDS / 10, "{name}: in {count} of {SEEDS} programs");
    }
}

fn any(model: &Model, has: impl Fn(&Node) -> bool) -> bool {
    model.nodes.iter().any(|(_, node)| has(node))
}

/// Whether a step of the chain takes what the step before does not give.
fn reaches(model: &Model, node: &Node, chain: &Chain) -> bool {
    let mut values = node.inputs.clone();
    chain.iter().any(|step| {
        let given = std::mem::take(&mut values);
        values = model.outputs(step, &given);
        matches!(step, Step::Apply(id) if fit(&given, &model.nodes[*id].inputs).is_none())
    })
}

/// Whether a step of the chain, but the last, gives nothing.
fn is_guarded(model: &Model, chain: &Chain) -> bool {
    let gives_nothing = |step: &Step| step.node().is_some_and(|node| model.nodes[node].outputs.is_empty());
    chain.split_last().is_some_and(|(_, before)| before.iter().any(gives_nothing))
}

/// Whether a handler takes nothing but what the failing node is given, and the error.
fn takes_alone(failing: &Node, handler: &Node) -> bool {
    fit(&Model::handler_values(&failing.inputs, &handler.inputs), &handler.inputs).is_some()
}

fn any_path(model: &Model, has: impl Fn(&PathHandler) -> bool) -> bool {
    model.path_handlers.iter().any(has)
}

fn handler_node(node: &Node) -> Option<NodeId> {
    node.handler.as_ref().and_then(Handler::node)
}

fn any_line(model: &Model, has: fn(&Line) -> bool) -> bool {
    any(model, |node| matches!(&node.body, Body::Dispatch(lines) if lines.iter().any(has)))
}

fn is_concrete(node: &Node) -> bool {
    matches!(node.body, Body::Concrete(_))
}

fn applied_twice(model: &Model) -> bool {
    let applications = model.nodes.iter().flat_map(|(_, node)| reached(node));
    let mut counts = vec![0; model.nodes.len()];
    applications.for_each(|index| counts[index] += 1);
    model.nodes.iter().any(|(id, node)| !is_concrete(node) && counts[id.index()] > 1)
}

/// Each way that flows go, and a test whether a run went it.
#[test]
fn flows_go_all_ways() {
    type Went = fn(&Run) -> bool;
    let wanted: [(&str, Went); 10] = [
        ("done", |run| run.exit == Exit::Done),
        ("failed", |run| run.exit == Exit::Failed),
        ("ended", |run| run.exit == Exit::Ended),
        ("done after a failure: a fallback", |run| run.exit == Exit::Done && run.path.contains(&Label::CallFailed)),
        ("a dispatch that no line matched, handled", |run| {
            run.exit != Exit::Failed && run.path.contains(&Label::Unmatched)
        }),
        ("a value that broke, handled", |run| run.exit != Exit::Failed && run.path.contains(&Label::Faulted)),
        ("a handler that failed", |run| {
            let failed =
                |pair: &[Label]| matches!(pair, [Label::Called(name), Label::CallFailed] if name.starts_with('H'));
            run.path.windows(2).any(failed)
        }),
        ("a body that fails, handled", |run| {
            let failed =
                |pair: &[Label]| matches!(pair, [Label::Called(name), Label::CallFailed] if !run.trace.contains(name));
            run.exit != Exit::Failed && run.path.windows(2).any(failed)
        }),
        ("a body that computes something", |run| {
            run.exit == Exit::Done
                && run.path.iter().any(|one| matches!(one, Label::Called(name) if !run.trace.contains(name)))
        }),
        ("twenty calls", |run| run.path.iter().filter(|label| matches!(label, Label::Called(_))).count() >= 20),
    ];
    let programs: Vec<_> = (0..SEEDS).map(|seed| generate(seed, &Shape::default())).collect();
    for (name, went) in wanted {
        let has = |program: &&RandomProgram| (0..FLOWS).any(|flow| went(&program.run(flow)));
        let count = programs.iter().filter(has).count();
        assert!(count as u64 > SEEDS / 25, "{name}: in {count} of {SEEDS} programs");
    }
}
