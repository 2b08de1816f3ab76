//! Path numbers, held to what a machine does that takes every way through a function one by one.
//!
//! The machine knows nothing of ranges: it has a register for each way and adds, saves and multiplies as a server does.
//! The verifier, which reasons about ranges and so covers functions of any size, must agree with it. It is not
//! [`flux_ir::run`], which goes one way at a time and through callees: here all ways through one function are counted,
//! the callee's by what it says of itself. That one is held to the same numbers in `run.rs`.

use crate::random::{self, Choices};
use crate::sound::sound_flow;
use flux_ir::flow::*;
use flux_ir::paths;
use flux_ir::text;
use flux_ir::verify::{self, Stage};
use proptest::prelude::*;

/// Functions with more ways than this through them are not tried.
const MOST: usize = 4096;

/// The registers with which ways through a function arrive at its exits.
#[derive(Default)]
struct Machine<'a> {
    flow: Option<&'a Flow>,
    done: Vec<u64>,
    failed: Vec<u64>,
    ended: Vec<u64>,
    ways: usize,
}

impl<'a> Machine<'a> {
    /// The registers at the exits of `function`; none where there are too many ways.
    fn run(flow: &'a Flow, function: &Function) -> Option<[Vec<u64>; 3]> {
        let mut machine = Self { flow: Some(flow), ..Self::default() };
        machine.block(&function.body, vec![0])?;
        if let Some(offset) = function.fault {
            machine.failed.push(offset);
        }
        let mut exits = [machine.done, machine.failed, machine.ended];
        exits.iter_mut().for_each(|exit| exit.sort_unstable());
        Some(exits)
    }

    /// Goes through a block with each of the registers; gives those that resume.
    fn block(&mut self, block: &Block, mut registers: Vec<u64>) -> Option<Vec<u64>> {
        for step in &block.steps {
            registers = self.step(step, registers)?;
        }
        let add = |offset: u64| registers.iter().map(move |register| register.wrapping_add(offset));
        match &block.end {
            End::Done { offset, .. } => self.done.extend(add(*offset)),
            End::Failed { offset } => self.failed.extend(add(*offset)),
            End::Ended { offset } => self.ended.extend(add(*offset)),
            End::Resume { offset, .. } | End::GoOn { offset } => return Some(add(*offset).collect()),
            End::Dispatch { lines, unmatched } => {
                if let Some(offset) = unmatched {
                    self.failed.extend(add(*offset));
                }
                for line in lines {
                    self.block(&line.block, registers.clone())?;
                }
            }
        }
        Some(vec![])
    }

    fn step(&mut self, step: &Step, registers: Vec<u64>) -> Option<Vec<u64>> {
        let counted = match &step.callee {
            Callee::Function(callee) => self.flow?.functions[*callee].paths,
            Callee::Fork(_) => step.paths.radix,
            _ => {
                let resumed = self.block(&step.failure, registers.clone())?;
                return Some(registers.into_iter().chain(resumed).collect());
            }
        };
        let StepPaths { save, cut, radix, ended_offset } = step.paths;
        let mut back = |exit: Exit| {
            let own = if cut { counted.get(exit).min(1) } else { counted.get(exit) };
            self.ways = self.ways.saturating_add(registers.len().saturating_mul(own as usize));
            let come_back = |before: &u64| {
                let before = *before;
                (0..own).map(
                    move |own| if save { before.wrapping_mul(radix.get(exit)).wrapping_add(own) } else { before + own },
                )
            };
            (self.ways <= MOST).then(|| registers.iter().flat_map(come_back).collect::<Vec<_>>())
        };
        let (mut done, failed, ended) = (back(Exit::Done)?, back(Exit::Failed)?, back(Exit::Ended)?);
        self.ended.extend(ended.into_iter().map(|register| register.wrapping_add(ended_offset)));
        done.extend(self.block(&step.failure, failed)?);
        Some(done)
    }
}

/// Whether every way through every function ends with a number of its own, and the numbers are dense.
fn is_dense(flow: &Flow) -> Option<bool> {
    let mut dense = true;
    for (_, function) in flow.functions.iter() {
        let exits = Machine::run(flow, function)?;
        dense &= exits.iter().zip(Exit::ALL).all(|(exit, of)| exit.iter().copied().eq(0..function.paths.get(of)));
    }
    Some(dense)
}

/// Every number in the path numbers of a flow.
fn numbers(flow: &mut Flow) -> Vec<&mut u64> {
    fn of_block<'a>(block: &'a mut Block, found: &mut Vec<&'a mut u64>) {
        for step in &mut block.steps {
            if matches!(step.callee, Callee::Function(_)) {
                let StepPaths { radix, ended_offset, .. } = &mut step.paths;
                found.extend([&mut radix.done, &mut radix.failed, &mut radix.ended, ended_offset]);
            }
            of_block(&mut step.failure, found);
        }
        match &mut block.end {
            End::Done { offset, .. }
            | End::Failed { offset }
            | End::Ended { offset }
            | End::Resume { offset, .. }
            | End::GoOn { offset } => found.push(offset),
            End::Dispatch { lines, unmatched } => {
                found.extend(unmatched);
                lines.iter_mut().for_each(|line| of_block(&mut line.block, found));
            }
        }
    }
    let mut found = vec![];
    for (_, function) in flow.functions.iter_mut() {
        found.extend(&mut function.fault);
        found.extend([&mut function.paths.done, &mut function.paths.failed, &mut function.paths.ended]);
        of_block(&mut function.body, &mut found);
    }
    found
}

/// A flow whose `Twice` has two paths, `Double2`, … `Double48` twice those of the one before: the last has as many as
/// [`paths::LIMIT`]. `Big` has more, as its two lines have so many each; `More` has these steps.
fn at_the_limit(steps: &str) -> Flow {
    let mut text = "program p\npredicate hit = is_hit\nnode A () => ()\nhandle error A => _\n".to_owned();
    let mut functions = String::new();
    let mut function = |name: &str, inputs: &str, body: &str| {
        text += &format!("node {name} ({inputs}) => () {{\nflow =\n}}\n");
        functions += &format!("function {name} ({inputs}) => () {{\nabstract {name}\n{body}}}\n");
    };
    let call = |id: u32, name: &str| format!("%{id} = function {name}() else failed\n");
    // A handler lets the flow go on as if its node had not failed: a second way.
    let twice = "%1 = node A() else {\n%2 = node A() else failed\ngo_on\n}\n";
    function("Double1", "", &format!("{twice}done\n"));
    for power in 2..=48 {
        let steps = call(1, &format!("Double{}", power - 1)) + &call(2, "Double1");
        function(&format!("Double{power}"), "", &format!("{steps}done\n"));
    }
    let line = |tests: &str, id| format!("line {tests} => {{\n{}done\n}}\n", call(id, "Double48"));
    function("Big", "int x", &format!("dispatch {{\n{}{}}}\n", line("hit(in.x)", 1), line("", 2)));
    function("More", "", &format!("{steps}done\n"));
    let mut flow = text::parse_flow(&(text.clone() + &functions)).unwrap();
    paths::number(&mut flow);
    assert_eq!(verify::flow(&flow, Stage::Numbered), []);
    flow
}

/// The last function of a flow.
fn last(flow: &Flow) -> &Function {
    flow.functions.iter().last().unwrap().1
}

#[test]
fn as_many_paths_as_the_limit_are_not_cut_and_more_are() {
    let flow = at_the_limit("%1 = function Double48() else failed\n%2 = node A() else failed\n");
    assert_eq!(last(&flow).paths.done, paths::LIMIT);
    assert!(!last(&flow).body.steps[0].paths.cut);
    let flow = at_the_limit("%1 = function Double48() else failed\n%2 = function Double1() else failed\n");
    assert_eq!(last(&flow).paths.done, paths::LIMIT, "what is cut counts as one");
    let [first, second] = [0, 1].map(|at| last(&flow).body.steps[at].paths);
    assert_eq!([(first.cut, first.save), (second.cut, second.save)], [(false, false), (true, true)]);
}

#[test]
fn what_is_cut_has_a_register_of_its_own_even_where_only_one_path_leads_to_it() {
    let flow = at_the_limit("%1 = function Big(1) else failed\n");
    let first = last(&flow).body.steps[0].paths;
    assert_eq!((first.cut, first.save), (true, true));
    assert_eq!(last(&flow).paths.done, 1);
}

#[test]
fn a_fallback_is_told_apart_where_both_are_no_more_than_the_limit() {
    let fallback = "%2 = node A() else {\n%3 = node A() else failed\ngo_on\n}\n";
    for (before, expected) in [("Double47", paths::LIMIT / 2), ("Double48", 0)] {
        let flow = at_the_limit(&format!("%1 = function {before}() else failed\n{fallback}"));
        assert_eq!(last(&flow).paths.done, paths::LIMIT);
        let end = &last(&flow).body.steps[1].failure.end;
        assert_eq!(end.rejoins(), Some(expected), "{before}: {end:?}");
    }
}

#[test]
fn a_path_is_told_by_the_names_of_what_is_on_it() {
    let flow = text::parse_flow(include_str!("bank.ir")).unwrap();
    let graph = paths::graph(&flow);
    let told = |name: &str, exit, number| {
        let (id, _) = flow.functions.iter().find(|(_, function)| function.name == name).unwrap();
        let events = graph.decode(id, exit, number).unwrap();
        events.into_iter().map(|event| event.text(&flow)).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(told("Approve", Exit::Done, 0), "Approve:[large, _, large] Move");
    assert_eq!(told("Approve", Exit::Done, 1), "Approve:[_, _, large] Move");
    assert_eq!(told("Approve", Exit::Failed, 0), "ERROR", "no line matches");
    assert_eq!(told("Serve", Exit::Done, 3), "Read ERROR Guess Approve:[_, _, large] Move ( Print & Keep )");
    assert_eq!(told("Serve", Exit::Ended, 7), "Read ERROR Guess ERROR Refuse");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn numbers_are_dense_and_the_verifier_agrees(choices in random::choices()) {
        let mut flow = sound_flow(&mut Choices::new(&choices));
        prop_assert_eq!(verify::flow(&flow, Stage::Lowered), [], "{}", text::print_flow(&flow));
        paths::number(&mut flow);
        prop_assert_eq!(verify::flow(&flow, Stage::Numbered), [], "{}", text::print_flow(&flow));
        prop_assert_ne!(is_dense(&flow), Some(false), "{}", text::print_flow(&flow));
        let printed = text::print_flow(&flow);
        prop_assert_eq!(text::parse_flow(&printed), Ok(flow));
    }

    #[test]
    fn wrong_numbers_are_found(
        choices in random::choices(),
        which in any::<prop::sample::Index>(),
        with in any::<Option<prop::sample::Index>>(),
    ) {
        let mut flow = sound_flow(&mut Choices::new(&choices));
        paths::number(&mut flow);
        let mut numbers = numbers(&mut flow);
        let index = which.index(numbers.len());
        let before = *numbers[index];
        let other = with.map(|with| with.index(numbers.len()));
        *numbers[index] = other.map_or(before.wrapping_add(1), |other| *numbers[other]);
        if let Some(other) = other {
            *numbers[other] = before;
        }
        let found = verify::flow(&flow, Stage::Numbered);
        prop_assert!(!found.is_empty() || is_dense(&flow) != Some(false), "{}", text::print_flow(&flow));
    }
}
