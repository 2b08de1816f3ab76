//! The values that a step can name: those that were made before it in the same flow, at the latest as an input of it.
//!
//! What is made in a branch of a parallel step cannot be seen after the branch. A branch sees what was made before the
//! parallel step, of which it gets copies. Who is given a pointer may end what it points to; so after a step that took
//! one and did not give it back, under its name and type, it cannot be named any more.

use flux_ir::program::{Argument, Node, Parameter};

/// The values that there are at one place of a flow.
pub struct VisibleValues<'a> {
    values: Vec<Visible<'a>>,
    /// The parallel steps around this place, the outermost first.
    around: Vec<Around>,
}

/// A value.
struct Visible<'a> {
    parameter: &'a Parameter,
    argument: Argument,
    /// The node that took it and did not give it back.
    taken_by: Option<&'a str>,
}

/// A parallel step around a place.
struct Around {
    /// How many values there were before it.
    before: usize,
    /// Those of which its branches get copies.
    copied: Vec<Argument>,
}

/// Why there is no value of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing<'a> {
    /// Nothing is called so.
    Unknown,
    /// This is, and has another type.
    Type(&'a Parameter),
    /// This node took it.
    Taken(&'a str),
}

impl<'a> VisibleValues<'a> {
    /// What there is before the first step of a flow with these inputs.
    pub fn new(inputs: &'a [Parameter]) -> Self {
        let mut values = Self { values: vec![], around: vec![] };
        values.add(inputs, Argument::Input);
        values
    }

    /// Adds what a step has made, each value under the name that `argument` gives for its position.
    pub fn add(&mut self, made: impl IntoIterator<Item = &'a Parameter>, argument: impl Fn(usize) -> Argument) {
        self.values.extend(made.into_iter().enumerate().map(|(index, parameter)| Visible {
            parameter,
            argument: argument(index),
            taken_by: None,
        }));
    }

    /// Goes into a parallel step whose branches get copies of `copied`.
    pub fn enter(&mut self, copied: Vec<Argument>) {
        self.around.push(Around { before: self.values.len(), copied });
    }

    /// Goes out of a branch, or from one to the next.
    pub fn end_branch(&mut self) {
        let before = self.around.last().map_or(0, |around| around.before);
        self.values.truncate(before);
    }

    /// Goes out of a parallel step: all of which its branches get copies, also since they name it.
    pub fn leave(&mut self) -> Vec<Argument> {
        self.around.pop().map(|around| around.copied).unwrap_or_default()
    }

    /// What a value is.
    pub fn parameter(&self, argument: Argument) -> Option<&'a Parameter> {
        self.values.iter().rev().find(|value| value.argument == argument).map(|value| value.parameter)
    }

    /// The value called `name` of the type of `wanted` that was made last.
    ///
    /// # Errors
    ///
    /// There is none that can be taken.
    pub fn find(&mut self, name: &str, wanted: &Parameter) -> Result<Argument, Missing<'a>> {
        let mut called = self.values.iter().enumerate().rev().filter(|(_, value)| value.parameter.name == name);
        let found = called.clone().find(|(_, value)| value.parameter.ty == wanted.ty);
        let Some((index, value)) = found else {
            return Err(called.next().map_or(Missing::Unknown, |(_, value)| Missing::Type(value.parameter)));
        };
        if let Some(taker) = value.taken_by {
            return Err(Missing::Taken(taker));
        }
        let argument = value.argument;
        for around in self.around.iter_mut().filter(|around| index < around.before) {
            if !around.copied.contains(&argument) {
                around.copied.push(argument);
            }
        }
        Ok(argument)
    }

    /// The names of values of the type of `wanted`.
    pub fn names<'b>(&'b self, wanted: &'b Parameter) -> impl Iterator<Item = &'a str> {
        let can_be_taken = |value: &&Visible<'a>| value.taken_by.is_none() && value.parameter.ty == wanted.ty;
        self.values.iter().rev().filter(can_be_taken).map(|value| value.parameter.name.as_str())
    }

    /// Notes that `node` takes these values, as its inputs after the first `bound`.
    pub fn take(&mut self, node: &'a Node, bound: usize, arguments: &[Argument]) {
        let inputs = node.inputs().get(bound..).unwrap_or_default();
        for (argument, input) in arguments.iter().zip(inputs) {
            let is_given_back = |output: &Parameter| output.name == input.name && output.ty == input.ty;
            let can_end = input.ty.is_pointer() && !input.ty.is_pointer_to_const();
            if can_end && !node.outputs().iter().any(is_given_back) {
                // Mostly it is of the step before.
                let value = self.values.iter_mut().rev().find(|value| value.argument == *argument);
                if let Some(value) = value {
                    value.taken_by = Some(&node.name);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_ir::program::{Program, StepNumber};
    use flux_ir::text::parse_program;

    fn program() -> Program {
        let nodes = "node A (int x, T *t) => (int x, bool b)\nnode Back (T *t, int x) => (T *t)\n\
                     node Look (const T *t) => ()\nnode Other (T *t) => (T *other)\n";
        parse_program(&format!("program p\n{nodes}")).unwrap()
    }

    fn node<'a>(program: &'a Program, name: &str) -> &'a Node {
        &program.nodes[program.node_named(name).unwrap()]
    }

    fn output(step: u32, index: usize) -> Argument {
        Argument::Output(StepNumber(step), index)
    }

    #[test]
    fn the_value_of_a_name_and_type_that_was_made_last_is_found() {
        let program = program();
        let a = node(&program, "A");
        let mut values = VisibleValues::new(a.inputs());
        let (x, b) = (&a.outputs()[0], &a.outputs()[1]);
        assert_eq!(values.find("x", x), Ok(Argument::Input(0)));
        assert_eq!(values.find("b", b), Err(Missing::Unknown));
        assert_eq!(values.find("x", b), Err(Missing::Type(&a.inputs()[0])));
        values.add(a.outputs(), |index| output(1, index));
        assert_eq!(values.find("x", x), Ok(output(1, 0)));
        assert_eq!(values.find("b", b), Ok(output(1, 1)));
        assert_eq!(values.find("t", &a.inputs()[1]), Ok(Argument::Input(1)));
        assert_eq!(values.names(x).collect::<Vec<_>>(), ["x", "x"]);
    }

    #[test]
    fn what_was_taken_and_not_given_back_is_gone() {
        let program = program();
        let (a, pointer) = (node(&program, "A"), &node(&program, "A").inputs()[1]);
        for (taker, expected) in [
            ("Look", Ok(Argument::Input(1))),
            ("Back", Ok(Argument::Input(1))),
            ("Other", Err(Missing::Taken("Other"))),
            ("A", Ok(Argument::Input(1))),
        ] {
            let mut values = VisibleValues::new(a.inputs());
            let arguments = if taker == "A" { [Argument::Input(0)] } else { [Argument::Input(1)] };
            values.take(node(&program, taker), 0, &arguments);
            assert_eq!(values.find("t", pointer), expected, "{taker}");
        }
        let mut values = VisibleValues::new(a.inputs());
        values.take(a, 1, &[Argument::Input(1)]);
        assert_eq!(values.find("t", pointer), Err(Missing::Taken("A")), "after a constant");
        assert_eq!(values.names(pointer).count(), 0);
    }

    #[test]
    fn a_branch_gets_copies_of_what_it_names_and_hides_what_it_makes() {
        let program = program();
        let a = node(&program, "A");
        let (x, b) = (&a.outputs()[0], &a.outputs()[1]);
        let mut values = VisibleValues::new(a.inputs());
        values.add(a.outputs(), |index| output(1, index));
        values.enter(vec![output(1, 0)]);
        values.add(a.outputs(), |index| output(3, index));
        values.enter(vec![]);
        assert_eq!(values.find("b", b), Ok(output(3, 1)));
        assert_eq!(values.find("t", &a.inputs()[1]), Ok(Argument::Input(1)));
        assert_eq!(values.find("t", &a.inputs()[1]), Ok(Argument::Input(1)));
        values.end_branch();
        assert_eq!(values.leave(), [output(3, 1), Argument::Input(1)]);
        values.end_branch();
        assert_eq!(values.find("b", b), Ok(output(1, 1)));
        assert_eq!(values.find("x", x), Ok(output(1, 0)));
        assert_eq!(values.leave(), [output(1, 0), Argument::Input(1), output(1, 1)]);
    }
}
