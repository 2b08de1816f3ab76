//! Which step made each value of a function, as far as it is drawn: the arrows begin there.

use crate::{FrameId, ShapeId};
use flux_ir::flow::{FunctionId, Operand, Step, StepId};
use std::collections::HashMap;

/// Where an arrow begins: a shape, or the border of a frame around it.
pub(crate) type Maker = (ShapeId, Option<FrameId>);

/// A value that a step takes, or a function.
#[derive(Clone, Copy, Default)]
pub(crate) struct Taken {
    /// Who made it; none where nothing is drawn for it.
    pub(crate) maker: Option<Maker>,
    /// Whether another step came between its making and where it is taken.
    pub(crate) is_far: bool,
}

/// The values of a function.
#[derive(Clone)]
pub(crate) struct Makers {
    function: FunctionId,
    inputs: Vec<Taken>,
    outputs: HashMap<StepId, Maker>,
    /// The step that was drawn last; what it made is near.
    last: Option<StepId>,
    /// What the step took that has failed.
    failed: Vec<Operand>,
}

impl Makers {
    /// Those of a function that is given `inputs`.
    pub(crate) fn inside(function: FunctionId, inputs: &[Taken]) -> Self {
        Self { function, inputs: inputs.to_vec(), outputs: HashMap::new(), last: None, failed: vec![] }
    }

    /// Those of a function all of whose inputs, of which there are `count`, are made where the drawing of it begins.
    pub(crate) fn begun(function: FunctionId, begin: Option<Maker>, count: usize) -> Self {
        Self::inside(function, &vec![Taken { maker: begin, is_far: false }; count])
    }

    /// The function.
    pub(crate) fn function(&self) -> FunctionId {
        self.function
    }

    /// Where each value comes from that a step takes.
    pub(crate) fn taken(&self, step: &Step) -> Vec<Taken> {
        let taken = |operand: &Operand| match operand {
            Operand::Input(index) => {
                let input = self.inputs.get(*index).copied().unwrap_or_default();
                Taken { is_far: input.is_far || self.last.is_some(), ..input }
            }
            Operand::Output(step, _) => {
                Taken { maker: self.outputs.get(step).copied(), is_far: self.last != Some(*step) }
            }
            Operand::Changed(..) | Operand::Error(..) | Operand::Constant(_) => Taken::default(),
        };
        let near = |operand: &Operand| match self.failed.contains(operand) {
            true => Taken { is_far: false, ..taken(operand) },
            false => taken(operand),
        };
        step.inputs.iter().map(near).collect()
    }

    /// The values where `step` has failed: those that it took are near.
    pub(crate) fn failed(&self, step: &Step) -> Self {
        Self { failed: step.inputs.clone(), ..self.clone() }
    }

    /// Notes who made what a step gives.
    pub(crate) fn made(&mut self, step: StepId, shape: ShapeId, frame: Option<FrameId>) {
        self.outputs.insert(step, (shape, frame));
        self.last = Some(step);
    }
}
