//! Where each value of a function is used last.
//!
//! A value that is used again must be copied, and one that is not can be moved. Functions are structured and have no
//! loops, so one walk from the end to the start knows, before each use, what is still wanted after it.

use flux_ir::flow::{Block, End, Function, Operand, Step, StepId};
use flux_ir::program::Constant;
use std::collections::{HashMap, HashSet};

/// What an operand stands for, wherever it is read: inputs kept for a handler are what the failing step was given.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// An input of the function.
    Input(usize),
    /// An output of a step.
    Output(StepId, usize),
    /// An input of the step that failed, as its node left it.
    Changed(StepId, usize),
    /// The error of the step that failed; `None` outside of failure blocks: the error in hand.
    Error(Option<StepId>),
    /// A constant.
    Constant(Constant),
}

/// A use of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// As an input of the step, by position.
    Argument(StepId, usize),
    /// As an output of the step, by position, where a failure block resumes after it.
    Resumed(StepId, usize),
}

/// What is known of the values of a function.
pub struct Uses<'a> {
    steps: HashMap<StepId, (&'a Step, Option<StepId>)>,
    last: HashSet<Place>,
    kept: HashSet<(StepId, usize)>,
    changed: HashSet<(StepId, usize)>,
    errors: HashSet<StepId>,
}

impl<'a> Uses<'a> {
    /// Walks a function. O(its size), with the values that are alive at once.
    pub fn of(function: &'a Function) -> Self {
        let (steps, last, errors) = (HashMap::new(), HashSet::new(), HashSet::new());
        let mut uses = Self { steps, last, kept: HashSet::new(), changed: HashSet::new(), errors };
        uses.collect(&function.body, None);
        uses.block(&function.body, None, &HashSet::new());
        uses
    }

    /// What `operand` stands for in the failure block of `failed`, or outside of such blocks.
    pub fn value(&self, operand: &Operand, failed: Option<StepId>) -> Value {
        match operand {
            Operand::Input(index) => Value::Input(*index),
            Operand::Output(step, index) => Value::Output(*step, *index),
            Operand::Changed(step, index) => Value::Changed(*step, *index),
            Operand::Error => Value::Error(failed),
            Operand::Constant(constant) => Value::Constant(constant.clone()),
            Operand::Kept(step, index) => {
                let kept = self.steps.get(step).and_then(|(step, outer)| Some((step.inputs.get(*index)?, *outer)));
                kept.map_or(Value::Error(None), |(operand, outer)| self.value(operand, outer))
            }
        }
    }

    /// Whether nothing reads the value again after this place. A function that is done reads nothing more: there it is
    /// enough that the value does not come again among its outputs.
    pub fn is_last(&self, place: Place) -> bool {
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

    /// Whether a failure block reads the error of this step.
    pub fn reads_error(&self, step: StepId) -> bool {
        self.errors.contains(&step)
    }

    /// The step of this number.
    pub fn step(&self, step: StepId) -> Option<&'a Step> {
        self.steps.get(&step).map(|(step, _)| *step)
    }

    fn collect(&mut self, block: &'a Block, failed: Option<StepId>) {
        for step in &block.steps {
            self.steps.insert(step.id, (step, failed));
            self.collect(&step.failure, Some(step.id));
        }
        if let End::Dispatch { lines, .. } = &block.end {
            lines.iter().for_each(|line| self.collect(&line.block, failed));
        }
    }

    /// What is wanted at the start of `block`, where `after` is wanted once it resumes.
    fn block(&mut self, block: &Block, failed: Option<StepId>, after: &HashSet<Value>) -> HashSet<Value> {
        let mut wanted = HashSet::new();
        match &block.end {
            End::Done { values, .. } => {
                values.iter().for_each(|operand| _ = self.read(operand, failed, &mut wanted));
            }
            End::Resume { values, .. } => {
                wanted.clone_from(after);
                for (index, operand) in values.iter().enumerate().rev() {
                    let last = self.read(operand, failed, &mut wanted);
                    self.last.extend(failed.filter(|_| last).map(|failed| Place::Resumed(failed, index)));
                }
            }
            End::Failed { .. } | End::Ended { .. } => {}
            End::Dispatch { lines, .. } => {
                for line in lines {
                    wanted.extend(self.block(&line.block, failed, after));
                    wanted.extend(line.tests.iter().map(|test| self.value(&test.value, failed)));
                }
            }
        }
        for step in block.steps.iter().rev() {
            let on_failure = self.block(&step.failure, Some(step.id), &wanted);
            wanted.extend(on_failure);
            for (index, operand) in step.inputs.iter().enumerate().rev() {
                if self.read(operand, failed, &mut wanted) {
                    self.last.insert(Place::Argument(step.id, index));
                }
            }
        }
        wanted
    }

    /// Notes a read, and says whether nothing reads the value after it.
    fn read(&mut self, operand: &Operand, failed: Option<StepId>, wanted: &mut HashSet<Value>) -> bool {
        if let Operand::Kept(step, index) = operand {
            self.kept.insert((*step, *index));
        }
        if let Operand::Changed(step, index) = operand {
            self.changed.insert((*step, *index));
        }
        let value = self.value(operand, failed);
        if let Value::Error(Some(step)) = value {
            self.errors.insert(step);
        }
        wanted.insert(value)
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
        %3 = node N(%2.in.a, %2.in.b) else {
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
        let last = |step, index| uses.is_last(Place::Argument(StepId(step), index));
        assert_eq!([last(1, 0), last(1, 1)], [false, true], "of two in a list, the second");
        assert_eq!([last(2, 0), last(2, 1)], [false, false], "a failure block reads them");
        assert_eq!([last(3, 0), last(3, 1)], [true, true], "what its handler takes is the node's own");
        assert!(uses.is_last(Place::Resumed(StepId(2), 0)));
        assert_eq!([1, 2, 3].map(|step| uses.is_kept(StepId(step), 0)), [false, true, false]);
        assert_eq!([1, 2, 3].map(|step| uses.is_changed(StepId(step), 0)), [false, false, true]);
    }

    #[test]
    fn what_was_kept_is_what_the_failing_step_was_given() {
        let flow = parse_flow(FLOW).unwrap();
        let uses = Uses::of(flow.functions.iter().next().unwrap().1);
        assert_eq!(uses.value(&Operand::Kept(StepId(3), 0), Some(StepId(3))), Value::Input(1));
        assert_eq!(uses.value(&Operand::Kept(StepId(3), 1), Some(StepId(3))), Value::Output(StepId(1), 0));
        assert_eq!(uses.value(&Operand::Error, Some(StepId(3))), Value::Error(Some(StepId(3))));
    }
}
