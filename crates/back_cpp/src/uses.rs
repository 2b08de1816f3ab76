//! Where each value of a function is used last.
//!
//! A value that is used again must be copied; otherwise it can be moved. Functions are structured and have no loops, so
//! one walk from the end to the start knows, at each use, which values are still needed after it.

use flux_ir::error_code::ErrorPart;
use flux_ir::flow::{Block, End, Function, Operand, Step, StepId};
use flux_source::deep;
use std::collections::{HashMap, HashSet};

/// A use of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UseOfValue {
    /// As an input of the step, by position.
    Argument(StepId, usize),
    /// As an output of the step, by position, where a failure block resumes after it.
    Resumed(StepId, usize),
}

/// The values that are read later.
type Wanted<'a> = HashSet<&'a Operand>;

/// What is known of the values of a function.
pub struct Uses<'a> {
    steps: HashMap<StepId, &'a Step>,
    last: HashSet<UseOfValue>,
    kept: HashSet<(StepId, usize)>,
    changed: HashSet<(StepId, usize)>,
    errors: HashSet<(StepId, ErrorPart)>,
}

impl<'a> Uses<'a> {
    /// Walks a function. O(its size), with the values that are alive at once.
    pub fn of(function: &'a Function) -> Self {
        let steps = function.body.all_steps().into_iter().map(|step| (step.id, step)).collect();
        let (last, errors) = (HashSet::new(), HashSet::new());
        let mut uses = Self { steps, last, kept: HashSet::new(), changed: HashSet::new(), errors };
        uses.block(&function.body, None, &HashSet::new());
        uses
    }

    /// Whether nothing reads the value again after this place. A function that is done reads nothing more: there it is
    /// enough that the value does not come again among its outputs.
    pub fn is_last(&self, place: UseOfValue) -> bool {
        self.last.contains(&place)
    }

    /// Whether a failure block reads this input of the step that failed.
    pub fn is_kept(&self, step: StepId, input: usize) -> bool {
        self.kept.contains(&(step, input))
    }

    /// Whether a failure block reads this input of the step that failed, as its node left it.
    pub fn is_changed(&self, step: StepId, input: usize) -> bool {
        self.changed.contains(&(step, input))
    }

    /// Whether a failure block reads this part of the failure of this step.
    pub fn reads_error(&self, step: StepId, part: ErrorPart) -> bool {
        self.errors.contains(&(step, part))
    }

    /// The step of this number.
    pub fn step(&self, step: StepId) -> Option<&'a Step> {
        self.steps.get(&step).copied()
    }

    /// What is wanted at the start of `block`, which is that of the failure of `failed` or of none, where `after` is
    /// wanted once it resumes.
    fn block(&mut self, block: &'a Block, failed: Option<StepId>, after: &Wanted<'a>) -> Wanted<'a> {
        deep(|| {
            let mut wanted = HashSet::new();
            match &block.end {
                End::Done { values, .. } => values.iter().for_each(|operand| _ = self.read(operand, &mut wanted)),
                End::Resume { values, .. } => {
                    wanted.clone_from(after);
                    for (index, operand) in values.iter().enumerate().rev() {
                        let last = self.read(operand, &mut wanted);
                        self.last.extend(failed.filter(|_| last).map(|failed| UseOfValue::Resumed(failed, index)));
                    }
                }
                End::GoOn { .. } => wanted.clone_from(after),
                End::Failed { .. } | End::Ended { .. } => {}
                End::Dispatch { lines, .. } => {
                    for line in lines {
                        wanted.extend(self.block(&line.block, failed, after));
                        wanted.extend(line.tests.iter().map(|test| &test.value));
                    }
                }
            }
            for step in block.steps.iter().rev() {
                let on_failure = self.block(&step.failure, Some(step.id), &wanted);
                wanted.extend(on_failure);
                self.keep(step);
                for (index, operand) in step.inputs.iter().enumerate().rev() {
                    if self.read(operand, &mut wanted) {
                        self.last.insert(UseOfValue::Argument(step.id, index));
                    }
                }
            }
            wanted
        })
    }

    /// Notes which inputs of a step its failure block reads.
    fn keep(&mut self, step: &Step) {
        let mut read = HashSet::new();
        reads(&step.failure, &mut read);
        let is_made = |operand: &Operand| matches!(operand, Operand::Input(_) | Operand::Output(..));
        let inputs = step.inputs.iter().enumerate();
        let kept = inputs.filter(|(_, operand)| is_made(operand) && read.contains(operand));
        self.kept.extend(kept.map(|(index, _)| (step.id, index)));
    }

    /// Notes a read, and says whether nothing reads the value after it.
    fn read(&mut self, operand: &'a Operand, wanted: &mut Wanted<'a>) -> bool {
        match operand {
            Operand::Changed(step, index) => _ = self.changed.insert((*step, *index)),
            Operand::Error(step, part) => _ = self.errors.insert((*step, *part)),
            Operand::Input(_) | Operand::Output(..) | Operand::Constant(_) => {}
        }
        wanted.insert(operand)
    }
}

/// The operands that a block reads, and those inside it.
fn reads<'a>(block: &'a Block, found: &mut HashSet<&'a Operand>) {
    for step in &block.steps {
        found.extend(&step.inputs);
        reads(&step.failure, found);
    }
    if let End::Done { values, .. } | End::Resume { values, .. } = &block.end {
        found.extend(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_ir::text::parse_flow;

    const FLOW: &str = "
program t
node N (S a, S b) => (S c)
node F (S x, S y) => (S u, S v)
function F (S x, S y) => (S u, S v) {
    abstract F
    %1 = node N(in.x, in.x) else failed
    %2 = node N(in.y, %1.c) else {
        %3 = node N(in.y, %1.c) else {
            %4 = handler H for N(%3.changed.a, %3.changed.b) else failed
            ended
        }
        resume %3.c
    }
    done %2.c, %2.c
}
";

    #[test]
    fn a_value_is_used_last_where_no_way_on_reads_it() {
        let flow = parse_flow(FLOW).unwrap();
        let uses = Uses::of(flow.functions.iter().next().unwrap().1);
        let last = |step, index| uses.is_last(UseOfValue::Argument(StepId(step), index));
        assert_eq!([last(1, 0), last(1, 1)], [false, true], "of two in a list, the second");
        assert_eq!([last(2, 0), last(2, 1)], [false, false], "a failure block reads them");
        assert_eq!([last(3, 0), last(3, 1)], [true, true], "what its handler takes is the node's own");
        assert!(uses.is_last(UseOfValue::Resumed(StepId(2), 0)));
        assert_eq!([1, 2, 3].map(|step| uses.is_kept(StepId(step), 0)), [false, true, false]);
        assert_eq!([1, 2, 3].map(|step| uses.is_changed(StepId(step), 0)), [false, false, true]);
    }
}
