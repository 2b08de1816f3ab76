//! The numbers of paths: wherever paths come together, their numbers must be dense, each taken once.
//!
//! [`crate::paths`] hands out offsets so that this holds; here the offsets are given, and what follows from them is
//! checked for functions of any size. If the numbers that arrive at every point are `0..n`, those that an edge brings
//! to a join are `offset..offset + n`, and the numbers after the join are dense exactly where these ranges, sorted,
//! lie end to end from 0. A call that comes back by an exit with `radix` paths turns `0..n` into `0..n * radix`.

use super::Violations;
use crate::flow::{Block, Branch, Callee, Each, End, Exit, Exits, Flow, Function, Step, StepPaths};
use crate::paths::LIMIT;
use flux_source::deep;

/// What must hold once paths have numbers, of a flow that is well-formed otherwise.
pub(super) fn check(flow: &Flow, violations: &mut Violations) {
    for (_, function) in flow.functions.iter() {
        let mut checker = Checker { flow, function, violations, ranges: Ranges::default() };
        checker.block(&function.body, 1, 0);
        if let Some(offset) = function.fault {
            checker.ranges.get(Exit::Failed).push((offset, 1));
        }
        for exit in Exit::ALL {
            checker.exit(exit);
        }
    }
}

/// What arrives at the exits of a function: from which number, and how many.
#[derive(Default)]
struct Ranges {
    done: Vec<(u64, u64)>,
    failed: Vec<(u64, u64)>,
    ended: Vec<(u64, u64)>,
}

impl Ranges {
    fn get(&mut self, exit: Exit) -> &mut Vec<(u64, u64)> {
        match exit {
            Exit::Done => &mut self.done,
            Exit::Failed => &mut self.failed,
            Exit::Ended => &mut self.ended,
        }
    }
}

struct Checker<'a> {
    flow: &'a Flow,
    function: &'a Function,
    violations: &'a mut Violations,
    ranges: Ranges,
}

impl Checker<'_> {
    fn violation(&mut self, message: &str) {
        self.violations.add(self.function.span, format!("function `{}`: {message}", self.function.name));
    }

    /// The ranges that arrive at `exit` lie end to end, and there are as many numbers as the function says.
    fn exit(&mut self, exit: Exit) {
        let mut ranges = std::mem::take(self.ranges.get(exit));
        ranges.sort_unstable();
        let mut next = 0_u64;
        for (start, count) in ranges {
            if start != next {
                return self.violation(&format!("the path numbers of exit {exit:?} are not dense at {next}"));
            }
            let Some(end) = next.checked_add(count) else {
                return self.violation(&format!("the path numbers of exit {exit:?} do not fit a register"));
            };
            next = end;
        }
        let said = self.function.paths.get(exit);
        if said != next {
            self.violation(&format!("{next} paths lead to exit {exit:?}, and it says {said}"));
        }
    }

    /// Follows a block at whose start the numbers `0..arriving` arrive. In a failure block, `0..beside` are those that
    /// go on without a failure; the result is how many go on from here.
    fn block(&mut self, block: &Block, mut arriving: u64, beside: u64) -> u64 {
        deep(|| {
            for step in &block.steps {
                arriving = self.step(step, arriving);
            }
            let (exit, offset) = match &block.end {
                End::Done { offset, .. } => (Exit::Done, *offset),
                End::Failed { offset } => (Exit::Failed, *offset),
                End::Ended { offset } => (Exit::Ended, *offset),
                End::Resume { offset, .. } | End::GoOn { offset } => {
                    // More than the limit are not told apart: both share the numbers from 0.
                    let apart = beside.checked_add(arriving).is_some_and(|sum| sum <= LIMIT);
                    if *offset != if apart { beside } else { 0 } {
                        self.violation(&format!("a resume adds {offset} where {beside} paths go on without it"));
                    }
                    return if apart { arriving } else { arriving.saturating_sub(beside) };
                }
                End::Dispatch { lines, unmatched } => {
                    if let Some(offset) = unmatched {
                        self.ranges.failed.push((*offset, arriving));
                    }
                    for line in lines {
                        self.block(&line.block, arriving, 0);
                    }
                    return 0;
                }
            };
            self.ranges.get(exit).push((offset, arriving));
            0
        })
    }

    /// Follows a step before which the numbers `0..arriving` arrive; the result is how many go on after it.
    fn step(&mut self, step: &Step, arriving: u64) -> u64 {
        let radix = match &step.callee {
            Callee::Node(_) | Callee::External { .. } => {
                if step.paths != StepPaths::default() {
                    self.violation(&format!("step %{} calls no function and has path numbers", step.id.0));
                }
                Exits { done: 1, failed: 1, ended: 0 }
            }
            Callee::Function(function) => self.call(step, arriving, self.flow.functions[*function].paths),
            Callee::Fork(branches) => self.call(step, arriving, self.fork(branches)),
            Callee::Each(each) => self.call(step, arriving, self.each(each)),
        };
        let [done, failed, ended] = Exit::ALL.map(|exit| arriving.checked_mul(radix.get(exit)));
        let (Some(done), Some(failed), Some(ended)) = (done, failed, ended) else {
            self.violation(&format!("the path numbers after step %{} do not fit a register", step.id.0));
            return 0;
        };
        self.ranges.ended.push((step.paths.ended_offset, ended));
        let resumed = self.block(&step.failure, failed, done);
        let Some(going_on) = done.checked_add(resumed) else {
            self.violation(&format!("the path numbers after step %{} do not fit a register", step.id.0));
            return 0;
        };
        going_on
    }

    /// Checks how a step before which `arriving` paths arrive goes through a callee with `counted` paths; gives the
    /// radix by which the numbers are multiplied.
    fn call(&mut self, step: &Step, arriving: u64, counted: Exits) -> Exits {
        let StepPaths { save, cut, radix, .. } = step.paths;
        let number = step.id.0;
        let exceeds = |exit| u128::from(arriving) * u128::from(counted.get(exit)) > u128::from(LIMIT);
        if cut != (matches!(step.callee, Callee::Each(_)) || Exit::ALL.into_iter().any(exceeds)) {
            self.violation(&format!("step %{number} is cut where numbers fit, or not cut where they do not"));
        }
        let expected = |exit| if cut { counted.get(exit).min(1) } else { counted.get(exit) };
        if Exit::ALL.into_iter().any(|exit| radix.get(exit) != expected(exit)) {
            self.violation(&format!("the radix of step %{number} is not the number of its callee's paths"));
        }
        if (arriving > 1 || cut) && !save {
            self.violation(&format!("step %{number} loses the path register of its caller"));
        }
        radix
    }

    /// An each step is one path to every exit that it can have, whatever its instances do: a list may be empty.
    fn each(&self, each: &Each) -> Exits {
        let paths = self.flow.functions[each.function].paths;
        Exits { done: 1, failed: paths.failed.min(1), ended: paths.ended.min(1) }
    }

    /// The paths of a parallel step: all branches done; or, to an exit that a branch has, any combination of exits.
    fn fork(&self, branches: &[Branch]) -> Exits {
        let paths = || branches.iter().map(|branch| self.flow.functions[branch.function].paths);
        let any = |paths: Exits| Exit::ALL.iter().fold(0_u64, |sum, exit| sum.saturating_add(paths.get(*exit)));
        let product = |counts: &mut dyn Iterator<Item = u64>| counts.fold(1, u64::saturating_mul);
        let ways = product(&mut paths().map(any));
        let by = |exit| if paths().any(|paths| paths.get(exit) > 0) { ways } else { 0 };
        Exits { done: product(&mut paths().map(|paths| paths.done)), failed: by(Exit::Failed), ended: by(Exit::Ended) }
    }
}
