//! Runs a flow over a world that the caller gives.
//!
//! The flow says how values pass, which function is called, which line is taken, and what is added to the path
//! register; all of this is done as generated code does it. So is what bodies compute (`compute::evaluate`). The world
//! decides what a value is, what nodes, predicates and handlers in C++ do, and what can throw. Branches of a parallel
//! step run one after the other, as they may; so do the instances of an each step.

use crate::compute::{self, Failure, Reason, Surroundings, evaluate_node, evaluate_predicate};
use crate::error_code::ErrorPart;
use crate::external::ExternalId;
use crate::flow::{
    Block, Branch, Callee, Each, EachOrder, End, Exit, Flow, Function, FunctionId, Line, Operand, Step, StepId,
    StepPaths,
};
use crate::paths::digit;
use crate::program::{Body, Constant, Node, NodeId, OptionId, Parameter, PredicateId, Program};
use crate::types::Type;
use flux_source::deep;
use std::collections::HashMap;

/// What a flow runs over. An error is a value, too.
pub trait World {
    /// A value on its way.
    type Value: Clone;

    /// Calls a node that is a C++ function: what it gives, or its error.
    ///
    /// # Errors
    /// The node failed.
    fn node(&mut self, node: NodeId, inputs: Vec<Self::Value>) -> Result<Vec<Self::Value>, Self::Value>;

    /// Calls a function that is no node's with the inputs of `node`, as that left them where they are `changed`, and
    /// the last error.
    ///
    /// # Errors
    /// The function failed.
    fn external(
        &mut self,
        external: ExternalId,
        node: NodeId,
        inputs: Vec<Self::Value>,
        changed: bool,
        error: &Self::Value,
    ) -> Result<(), Self::Value>;

    /// Whether a value is what a C++ function says; none where it throws.
    fn test(&mut self, predicate: PredicateId, value: Self::Value) -> Option<bool>;

    /// A constant as a value.
    fn constant(&mut self, constant: &Constant) -> Self::Value;

    /// The error of what is no node's: nothing matched, or something outside of a node threw.
    fn fault(&mut self) -> Self::Value;

    /// The elements of a list.
    fn elements(&mut self, list: Self::Value) -> Vec<Self::Value>;

    /// The list of these elements.
    fn list(&mut self, elements: Vec<Self::Value>) -> Self::Value;

    /// A value as bodies have it, of a type of which they know the values.
    fn open(&mut self, ty: &Type, value: &Self::Value) -> compute::Value;

    /// A value of this type that a body has made.
    fn close(&mut self, ty: &Type, value: compute::Value) -> Self::Value;

    /// The text of the exception with which the C++ function that failed last has failed; empty where it returned an
    /// error.
    fn thrown(&mut self) -> String {
        String::new()
    }

    /// The error of a body that fails so.
    fn failure(&mut self, failure: &Failure) -> Self::Value;

    /// The value of an option of the server, for bodies.
    fn option(&mut self, option: OptionId) -> compute::Value;

    /// Whether values can be copied and moved into these parameters; false where that throws.
    fn takes(&mut self, parameters: &[&Parameter], values: &[Self::Value]) -> bool;

    /// A function begins whose paths are counted by themselves.
    fn cut_begins(&mut self) {}

    /// It has come back by this exit, on this path.
    fn cut_ends(&mut self, _function: FunctionId, _exit: Exit, _number: u64) {}
}

/// What came of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ran<V> {
    /// The way out.
    pub exit: Exit,
    /// What it gave, where it is done.
    pub values: Vec<V>,
    /// The number of the path, of those that lead to this exit.
    pub number: u64,
}

/// Runs a function with these inputs; none where the flow is not well-formed, or something outside of a node throws
/// where it says that nothing can. O(steps on the way).
pub fn run<W: World>(flow: &Flow, function: FunctionId, inputs: Vec<W::Value>, world: &mut W) -> Option<Ran<W::Value>> {
    let error = Failed { code: world.fault(), text: String::new(), node: String::new() };
    let mut machine = Machine { flow, world, register: 0, thrown: String::new(), error };
    let (exit, values) = machine.function(function, inputs)?;
    Some(Ran { exit, values, number: machine.register })
}

struct Machine<'a, W: World> {
    flow: &'a Flow,
    world: &'a mut W,
    /// The path register.
    register: u64,
    /// The text of the exception of what fails now.
    thrown: String,
    /// The error in hand.
    error: Failed<W::Value>,
}

/// What is known of a failure.
#[derive(Clone)]
struct Failed<V> {
    code: V,
    /// The text of an exception.
    text: String,
    /// The node that failed.
    node: String,
}

/// The values in one function.
struct Frame<'a, V> {
    function: &'a Function,
    inputs: Vec<V>,
    outputs: HashMap<(StepId, usize), V>,
    /// What the steps were given.
    given: HashMap<(StepId, usize), V>,
    /// The errors of those that failed.
    errors: HashMap<StepId, Failed<V>>,
}

/// How a block was left.
enum Left<V> {
    By(Exit, Vec<V>),
    Resumed(Vec<V>),
    /// By an error outside of a node.
    Faulted(V),
}

/// What a step came to.
enum Came<V> {
    On,
    Left(Left<V>),
}

impl<W: World> Machine<'_, W> {
    fn function(&mut self, id: FunctionId, inputs: Vec<W::Value>) -> Option<(Exit, Vec<W::Value>)> {
        let function = self.flow.functions.find(id)?;
        let (outputs, given, errors) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut frame = Frame { function, inputs, outputs, given, errors };
        match self.block(&mut frame, &function.body)? {
            Left::By(exit, values) => Some((exit, values)),
            Left::Resumed(_) => None,
            Left::Faulted(code) => {
                self.fail_outside(function, code);
                self.register = function.fault?;
                Some((Exit::Failed, vec![]))
            }
        }
    }

    fn values(&mut self, frame: &Frame<'_, W::Value>, operands: &[Operand]) -> Option<Vec<W::Value>> {
        operands.iter().map(|operand| self.value(frame, operand)).collect()
    }

    fn value(&mut self, frame: &Frame<'_, W::Value>, operand: &Operand) -> Option<W::Value> {
        match operand {
            Operand::Input(index) => frame.inputs.get(*index).cloned(),
            Operand::Output(step, index) => frame.outputs.get(&(*step, *index)).cloned(),
            // What the node has made of it is known where the handler is called.
            Operand::Changed(step, index) => frame.given.get(&(*step, *index)).cloned(),
            Operand::Error(step, part) => {
                let failed = frame.errors.get(step)?;
                let text = |text: &String| compute::Value::Bytes(text.clone().into_bytes());
                Some(match part {
                    ErrorPart::Code => failed.code.clone(),
                    ErrorPart::Text => self.world.close(&part.parameter().ty, text(&failed.text)),
                    ErrorPart::Node => self.world.close(&part.parameter().ty, text(&failed.node)),
                })
            }
            Operand::Constant(constant) => Some(self.world.constant(constant)),
        }
    }

    fn block(&mut self, frame: &mut Frame<'_, W::Value>, block: &Block) -> Option<Left<W::Value>> {
        deep(|| {
            for step in &block.steps {
                if let Came::Left(left) = self.step(frame, step)? {
                    return Some(left);
                }
            }
            let (exit, offset, given) = match &block.end {
                End::Done { values, offset } => {
                    let given = self.values(frame, values)?;
                    let taken: Vec<_> = frame.function.outputs.iter().collect();
                    if !self.world.takes(&taken, &given) {
                        return Some(self.faulted());
                    }
                    (Exit::Done, offset, given)
                }
                End::Failed { offset } => (Exit::Failed, offset, vec![]),
                End::Ended { offset } => (Exit::Ended, offset, vec![]),
                End::Resume { values, offset } => {
                    self.register = self.register.checked_add(*offset)?;
                    return self.values(frame, values).map(Left::Resumed);
                }
                End::GoOn { offset } => {
                    self.register = self.register.checked_add(*offset)?;
                    return Some(Left::Resumed(vec![]));
                }
                End::Dispatch { lines, unmatched } => return self.dispatch(frame, lines, *unmatched),
            };
            self.register = self.register.checked_add(*offset)?;
            Some(Left::By(exit, given))
        })
    }

    fn dispatch(
        &mut self,
        frame: &mut Frame<'_, W::Value>,
        lines: &[Line],
        unmatched: Option<u64>,
    ) -> Option<Left<W::Value>> {
        'lines: for line in lines {
            for test in &line.tests {
                let value = self.value(frame, &test.value)?;
                match self.test(test.predicate, value)? {
                    Ok(true) => {}
                    Ok(false) => continue 'lines,
                    Err(code) => return Some(Left::Faulted(code)),
                }
            }
            return self.block(frame, &line.block);
        }
        self.register = self.register.checked_add(unmatched?)?;
        let code = self.world.fault();
        self.fail_outside(frame.function, code);
        Some(Left::By(Exit::Failed, vec![]))
    }

    fn step(&mut self, frame: &mut Frame<'_, W::Value>, step: &Step) -> Option<Came<W::Value>> {
        let inputs = self.values(frame, &step.inputs)?;
        // What a handler is given as the node left it is the node's own.
        let is_copied = !step.inputs.iter().any(|operand| matches!(operand, Operand::Changed(..)));
        let taken: Vec<_> = self.flow.callee_inputs(&step.callee).iter().collect();
        if is_copied && !self.world.takes(&taken, &inputs) {
            return Some(Came::Left(self.faulted()));
        }
        frame.given.extend(inputs.iter().cloned().enumerate().map(|(index, value)| ((step.id, index), value)));
        let given = match self.call(step, inputs)? {
            Left::By(Exit::Done, given) | Left::Resumed(given) => given,
            Left::By(Exit::Ended, _) => {
                self.register = self.register.checked_add(step.paths.ended_offset)?;
                return Some(Came::Left(Left::By(Exit::Ended, vec![])));
            }
            Left::Faulted(code) => return Some(Came::Left(Left::Faulted(code))),
            Left::By(Exit::Failed, _) => {
                frame.errors.insert(step.id, self.error.clone());
                match self.block(frame, &step.failure)? {
                    Left::Resumed(values) => {
                        if !self.world.takes(&self.flow.callee_outputs(&step.callee), &values) {
                            return Some(Came::Left(self.faulted()));
                        }
                        values
                    }
                    left => return Some(Came::Left(left)),
                }
            }
        };
        frame.outputs.extend(given.into_iter().enumerate().map(|(index, value)| ((step.id, index), value)));
        Some(Came::On)
    }

    fn call(&mut self, step: &Step, inputs: Vec<W::Value>) -> Option<Left<W::Value>> {
        let came = match &step.callee {
            Callee::Node(node) => self.node(*node, inputs)?,
            Callee::External { external, node } => {
                let changed = step.inputs.iter().any(|operand| matches!(operand, Operand::Changed(..)));
                let came = self.world.external(*external, *node, inputs, changed, &self.error.code);
                self.note_thrown(came.is_err());
                if came.is_err() && !self.flow.program.externals.find(*external)?.role.is_event() {
                    return Some(self.faulted());
                }
                came.map(|()| vec![])
            }
            Callee::Function(callee) => {
                let (exit, given) = self.callee(step.paths, *callee, inputs)?;
                return Some(Left::By(exit, given));
            }
            Callee::Fork(branches) => {
                let (exit, given) = self.fork(step.paths, branches, &inputs)?;
                return Some(Left::By(exit, given));
            }
            Callee::Each(each) => {
                let (exit, given) = self.each(step.paths, each, inputs)?;
                return Some(Left::By(exit, given));
            }
        };
        Some(match came {
            Ok(given) => Left::By(Exit::Done, given),
            Err(code) => {
                let text = std::mem::take(&mut self.thrown);
                self.error = Failed { code, text, node: self.called(&step.callee) };
                Left::By(Exit::Failed, vec![])
            }
        })
    }

    /// Notes the text of an exception, where a function in C++ `failed`.
    fn note_thrown(&mut self, failed: bool) {
        self.thrown = if failed { self.world.thrown() } else { String::new() };
    }

    /// The name of what was called.
    fn called(&self, callee: &Callee) -> String {
        let program = &self.flow.program;
        match callee {
            Callee::External { external, .. } => program.externals[*external].name.to_string(),
            other => self.flow.callee_node(other).map_or(String::new(), |node| program.nodes[node].name.to_string()),
        }
    }

    /// Something outside of a node fails: the node fails in whose flow that is.
    fn fail_outside(&mut self, function: &Function, code: W::Value) {
        let node = function.node().map_or(String::new(), |node| self.flow.program.nodes[node].name.to_string());
        self.error = Failed { code, text: std::mem::take(&mut self.thrown), node };
    }

    fn faulted(&mut self) -> Left<W::Value> {
        self.thrown = self.world.thrown();
        Left::Faulted(self.world.fault())
    }

    /// A node that is a C++ function, or has a body.
    fn node(&mut self, id: NodeId, inputs: Vec<W::Value>) -> Option<Result<Vec<W::Value>, W::Value>> {
        let node = self.flow.program.nodes.find(id)?;
        if !matches!(node.body, Body::Computed(_)) {
            let came = self.world.node(id, inputs);
            self.note_thrown(came.is_err());
            return Some(came);
        }
        let mut bodies = Bodies { program: &self.flow.program, world: self.world, raised: None };
        let values = bodies.opened(node.inputs(), &inputs);
        match evaluate_node(bodies.program, id, values, &mut bodies) {
            Ok(values) => bodies.closed(node, values, &inputs).map(Ok),
            Err(failure) => {
                let error = bodies.error(&failure);
                self.note_thrown(failure.reason == Reason::External);
                error.map(Err)
            }
        }
    }

    /// Whether a predicate holds of a value, or the error with which it ends.
    fn test(&mut self, id: PredicateId, value: W::Value) -> Option<Result<bool, W::Value>> {
        let Some(computed) = self.flow.program.predicates.find(id)?.computed() else {
            let says = self.world.test(id, value);
            self.note_thrown(says.is_none());
            return Some(says.ok_or_else(|| self.world.fault()));
        };
        let mut bodies = Bodies { program: &self.flow.program, world: self.world, raised: None };
        let value = bodies.world.open(&computed.input.ty, &value);
        match evaluate_predicate(bodies.program, id, value, &mut bodies) {
            Ok(says) => Some(Ok(says)),
            Err(failure) => {
                let error = bodies.error(&failure);
                self.note_thrown(failure.reason == Reason::External);
                error.map(Err)
            }
        }
    }

    /// A function: where it comes back, the register is combined with what it was.
    fn callee(
        &mut self,
        StepPaths { save, cut, radix, .. }: StepPaths,
        callee: FunctionId,
        inputs: Vec<W::Value>,
    ) -> Option<(Exit, Vec<W::Value>)> {
        let before = self.register;
        if !save && before != 0 {
            return None;
        }
        self.register = 0;
        if cut {
            self.world.cut_begins();
        }
        let (exit, given) = self.function(callee, inputs)?;
        self.register = match cut {
            true => {
                self.world.cut_ends(callee, exit, self.register);
                before
            }
            false => before.checked_mul(radix.get(exit))?.checked_add(self.register)?,
        };
        Some((exit, given))
    }

    /// Instances, one after the other, and what they come to together.
    fn each(&mut self, paths: StepPaths, each: &Each, inputs: Vec<W::Value>) -> Option<(Exit, Vec<W::Value>)> {
        let carried = match &each.order {
            EachOrder::Loop(carried) => Some(carried.as_slice()),
            EachOrder::AtOnce(_) | EachOrder::InTurn => None,
        };
        let hands_on = carried.unwrap_or_default();
        let list = inputs.first()?.clone();
        let (mut next, mut exit, mut error) = (inputs, Exit::Done, None);
        let mut gathered = vec![vec![]; each.outputs.len()];
        for element in self.world.elements(list) {
            *next.first_mut()? = element;
            let (by, given) = self.callee(paths, each.function, next.clone())?;
            match by {
                Exit::Done => {
                    for (output, input) in hands_on {
                        *next.get_mut(*input)? = given.get(*output)?.clone();
                    }
                    gathered.iter_mut().zip(given).for_each(|(values, value)| values.push(value));
                }
                Exit::Failed if exit != Exit::Failed => (exit, error) = (by, Some(self.error.clone())),
                Exit::Failed => {}
                Exit::Ended if exit == Exit::Done => exit = by,
                Exit::Ended => {}
            }
            if carried.is_some() && exit != Exit::Done {
                break;
            }
        }
        self.error = error.unwrap_or_else(|| self.error.clone());
        if exit != Exit::Done {
            return Some((exit, vec![]));
        }
        let given =
            gathered.into_iter().enumerate().map(|(at, values)| match hands_on.iter().find(|one| one.0 == at) {
                Some((_, input)) => next.get(*input).cloned(),
                None => Some(self.world.list(values)),
            });
        Some((exit, given.collect::<Option<_>>()?))
    }

    /// Branches, one after the other, and what joining them comes to.
    fn fork(&mut self, paths: StepPaths, branches: &[Branch], inputs: &[W::Value]) -> Option<(Exit, Vec<W::Value>)> {
        let before = self.register;
        if !paths.save && before != 0 {
            return None;
        }
        let (mut ended, mut joined, mut error) = (vec![], vec![], None);
        for Branch { function, .. } in branches {
            self.register = 0;
            let (exit, given) = match paths.cut {
                true => self.callee(paths, *function, inputs.to_vec())?,
                false => self.function(*function, inputs.to_vec())?,
            };
            if exit == Exit::Failed && error.is_none() {
                error = Some(self.error.clone());
            }
            joined.extend(given);
            ended.push((self.flow.functions.find(*function)?.paths, exit, self.register));
        }
        let is_left = |by: Exit| ended.iter().any(|(_, exit, _)| *exit == by);
        let exit = [Exit::Failed, Exit::Ended].into_iter().find(|exit| is_left(*exit)).unwrap_or(Exit::Done);
        self.error = error.unwrap_or_else(|| self.error.clone());
        // Where the step is cut, its numbers would not fit.
        self.register = match paths.cut {
            true => before,
            false => {
                let own = ended.iter().try_fold(0, |number, branch| digit(number, exit, *branch))?;
                before.checked_mul(paths.radix.get(exit))?.checked_add(own)?
            }
        };
        Some((exit, if exit == Exit::Done { joined } else { vec![] }))
    }
}

/// Bodies over a world.
struct Bodies<'a, W: World> {
    program: &'a Program,
    world: &'a mut W,
    /// The error of a C++ function that a body has called.
    raised: Option<W::Value>,
}

impl<W: World> Bodies<'_, W> {
    /// The inputs of a body; those of which it does not know the values by their places.
    fn opened(&mut self, parameters: &[Parameter], values: &[W::Value]) -> Vec<compute::Value> {
        let open = |(at, (parameter, value)): (usize, (&Parameter, &W::Value))| match parameter.ty.is_value() {
            true => self.world.open(&parameter.ty, value),
            false => compute::Value::Foreign(at),
        };
        parameters.iter().zip(values).enumerate().map(open).collect()
    }

    /// What a body gives that was given `inputs`.
    fn closed(&mut self, node: &Node, values: Vec<compute::Value>, inputs: &[W::Value]) -> Option<Vec<W::Value>> {
        let close = |(parameter, value): (&Parameter, compute::Value)| match value {
            compute::Value::Foreign(at) => inputs.get(at).cloned(),
            value => Some(self.world.close(&parameter.ty, value)),
        };
        node.outputs().iter().zip(values).map(close).collect()
    }

    /// The error of a body that fails so; none where it is not well-formed.
    fn error(&mut self, failure: &Failure) -> Option<W::Value> {
        match failure.reason {
            Reason::Malformed => None,
            Reason::External => self.raised.take(),
            _ => Some(self.world.failure(failure)),
        }
    }
}

impl<W: World> Surroundings for Bodies<'_, W> {
    fn node(&mut self, id: NodeId, inputs: Vec<compute::Value>) -> Result<Vec<compute::Value>, Failure> {
        let node = &self.program.nodes[id];
        let inputs = node.inputs().iter().zip(inputs);
        let inputs = inputs.map(|(parameter, value)| self.world.close(&parameter.ty, value)).collect();
        match self.world.node(id, inputs) {
            Ok(given) => Ok(self.opened(node.outputs(), &given)),
            Err(error) => {
                self.raised = Some(error);
                Err(Failure::new(Reason::External, "a C++ function that the body calls has failed"))
            }
        }
    }

    fn option(&mut self, option: OptionId) -> compute::Value {
        self.world.option(option)
    }
}
