//! The values that a step can name or reach: inputs of its flow, and values that earlier steps of the flow made.
//!
//! Values made in a branch of a parallel step are not visible after the branch. A branch sees the values made before
//! the parallel step, and gets copies of them. The same holds for the instances of an each step. A step that takes a
//! pointer may destroy the object behind it. So the pointer is gone after that step, unless the step gave it back under
//! its name and type. A value that cannot be copied is gone after any step that took it.

use flux_ir::name::Name;
use flux_ir::program::{Argument, Node, Parameter};
use flux_source::Span;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The values that are visible at one place of a flow.
pub struct VisibleValues<'a> {
    values: Vec<Visible<'a>>,
    /// The values that the makers took, one list after the other.
    taken: Vec<Argument>,
    /// The parallel steps and each steps around this place, the outermost first.
    around: Vec<Around>,
    /// The positions of the first `indexed` values, by name. Most programs never need them, so they are filled on
    /// demand.
    by_name: HashMap<&'a str, Vec<usize>>,
    indexed: usize,
}

/// A value and its maker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made<'a> {
    /// The argument that names it.
    pub argument: Argument,
    /// Its name and type.
    pub parameter: &'a Parameter,
    /// The node of the step that made it. For an input of the flow, the node that has the flow.
    pub maker: &'a Name,
    /// The place of that step. For an input of the flow, the place of its declaration.
    pub span: Span,
}

struct Visible<'a> {
    made: Made<'a>,
    /// The range in `taken` of the values that its maker took.
    maker_took: Range<usize>,
    /// The node that took it and did not give it back.
    taken_by: Option<&'a Name>,
    /// The position of the pointer that its maker took and gives back in this value.
    back_of: Option<usize>,
}

/// A parallel step or an each step around a place.
struct Around {
    /// The number of values before it.
    before: usize,
    /// The values that its branches get copies of.
    copied: Vec<Argument>,
}

/// The results of a branch, in the form that later steps see.
pub struct Given<'a>(Vec<Outside<'a>>);

/// A result of a branch. `from` holds the values from before the branch that it was made from, through values of its
/// name and type. `back_of` is the position of the pointer among them that it gives back.
struct Outside<'a> {
    made: Made<'a>,
    from: Vec<Argument>,
    back_of: Option<usize>,
}

/// The reason that a value is not available.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Missing<'a> {
    /// No value has this name.
    Unknown,
    /// This value has the name, but another type.
    Type(&'a Parameter),
    /// This node took the value.
    Taken(&'a Name),
    /// This value would have to be copied into a branch, and cannot be copied.
    Uncopied(&'a Parameter),
    /// Either of two values could be meant: the later one was not made from the earlier.
    Two(Made<'a>, Made<'a>),
}

impl<'a> VisibleValues<'a> {
    /// Returns the values before the first step of the flow of `node`, which has these inputs.
    pub fn new(node: &'a Name, inputs: &'a [Parameter]) -> Self {
        let value = |(index, parameter): (usize, &'a Parameter)| {
            let made = Made { argument: Argument::Input(index), parameter, maker: node, span: parameter.span };
            Visible { made, maker_took: 0..0, taken_by: None, back_of: None }
        };
        let values = inputs.iter().enumerate().map(value).collect();
        Self { values, taken: vec![], around: vec![], by_name: HashMap::new(), indexed: 0 }
    }

    /// Adds the values that a step at `span` made. The step took the values `took`: its inputs after the first `bound`.
    /// `argument` names the output at a position.
    pub fn add(
        &mut self,
        node: &'a Node,
        span: Span,
        (bound, took): (usize, &[Argument]),
        argument: impl Fn(usize) -> Argument,
    ) {
        let start = self.taken.len();
        self.taken.extend_from_slice(took);
        for (index, parameter) in node.outputs().iter().enumerate() {
            let made = Made { argument: argument(index), parameter, maker: &node.name, span };
            let back_of = self.given_back(node, bound, took, parameter);
            self.values.push(Visible { made, maker_took: start..self.taken.len(), taken_by: None, back_of });
        }
    }

    fn given_back(&self, node: &Node, bound: usize, took: &[Argument], output: &Parameter) -> Option<usize> {
        let inputs = node.inputs().get(bound..).unwrap_or_default();
        let input = inputs.iter().position(|input| can_end(input) && input.is_like(output))?;
        self.position(took.get(input)?)
    }

    /// Searches backwards, because the value is mostly from the step before.
    fn position(&self, argument: &Argument) -> Option<usize> {
        self.values.iter().rposition(|value| value.made.argument == *argument)
    }

    /// Enters a parallel step whose branches get copies of `copied`.
    pub fn enter(&mut self, copied: Vec<Argument>) {
        self.around.push(Around { before: self.values.len(), copied });
    }

    /// Adds the element of an instance of the each step around this place, in the flow of `node`.
    pub fn add_element(&mut self, node: &'a Name, element: &'a Parameter, argument: Argument) {
        let made = Made { argument, parameter: element, maker: node, span: element.span };
        self.values.push(Visible { made, maker_took: 0..0, taken_by: None, back_of: None });
    }

    /// Notes that the steps around this place get copies of the values in `taken` that were made before them.
    pub fn copy(&mut self, taken: &[Argument]) {
        for argument in taken {
            let Some(at) = self.position(argument) else { continue };
            let around = self.around.iter_mut().filter(|around| at < around.before);
            around
                .filter(|around| !around.copied.contains(argument))
                .for_each(|around| around.copied.push(argument.clone()));
        }
    }

    /// Leaves a branch that gives `results`. Another branch may follow.
    pub fn end_branch(&mut self, results: &[Argument]) -> Given<'a> {
        let before = self.around.last().map_or(0, |around| around.before);
        let given = results.iter().filter_map(|result| self.outside(result, before)).collect();
        let inside = self.values.get(before..self.indexed).unwrap_or_default();
        for value in inside {
            // The positions of a name ascend, so the last ones belong to the branch.
            _ = self.by_name.get_mut(value.made.parameter.name.as_str()).and_then(Vec::pop);
        }
        self.indexed = self.indexed.min(before);
        self.values.truncate(before);
        Given(given)
    }

    fn outside(&self, result: &Argument, before: usize) -> Option<Outside<'a>> {
        let at = self.position(result)?;
        let value = self.values.get(at)?;
        if at < before {
            return Some(Outside { made: value.made.clone(), from: vec![result.clone()], back_of: Some(at) });
        }
        let inside = self.values.get(before..).unwrap_or_default();
        let find = |argument: &Argument| inside.iter().rev().find(|value| value.made.argument == *argument);
        let (mut open, mut seen, mut from) = (vec![value], HashSet::new(), vec![]);
        while let Some(open_value) = open.pop() {
            for argument in self.taken.get(open_value.maker_took.clone()).unwrap_or_default() {
                match find(argument) {
                    None => from.push(argument.clone()),
                    Some(earlier) if earlier.made.parameter.is_like(value.made.parameter) => {
                        open.extend(seen.insert(argument).then_some(earlier));
                    }
                    Some(_) => {}
                }
            }
        }
        let mut back_of = value.back_of;
        while let Some(inner) = back_of.filter(|at| *at >= before).and_then(|at| self.values.get(at)) {
            back_of = inner.back_of;
        }
        Some(Outside { made: value.made.clone(), from, back_of })
    }

    /// Leaves a parallel step whose branches gave these values, one list after the other. Returns all values that the
    /// branches get copies of, including values that they name.
    pub fn leave(&mut self, branches: Vec<Given<'a>>, argument: impl Fn(usize) -> Argument) -> Vec<Argument> {
        for (index, outside) in branches.into_iter().flat_map(|branch| branch.0).enumerate() {
            self.add_outside(argument(index), outside);
        }
        self.around.pop().map(|around| around.copied).unwrap_or_default()
    }

    /// Like [`Self::leave`], for an each step. Its instances give the values `made`, and the step gives `outputs` for
    /// them.
    pub fn leave_each(
        &mut self,
        made: Given<'a>,
        outputs: &'a [Parameter],
        argument: impl Fn(usize) -> Argument,
    ) -> Vec<Argument> {
        for (index, (outside, parameter)) in made.0.into_iter().zip(outputs).enumerate() {
            // A list of pointers is not a pointer.
            let back_of = outside.back_of.filter(|_| outside.made.parameter.ty == parameter.ty);
            let made = Made { parameter, ..outside.made };
            self.add_outside(argument(index), Outside { made, back_of, ..outside });
        }
        self.around.pop().map(|around| around.copied).unwrap_or_default()
    }

    fn add_outside(&mut self, argument: Argument, outside: Outside<'a>) {
        let start = self.taken.len();
        self.taken.extend(outside.from);
        let made = Made { argument, ..outside.made };
        let (maker_took, back_of) = (start..self.taken.len(), outside.back_of);
        self.values.push(Visible { made, maker_took, taken_by: None, back_of });
    }

    /// Returns the latest value called `name` that has the type of `wanted`.
    ///
    /// # Errors
    ///
    /// No such value can be taken.
    pub fn find(&mut self, name: &str, wanted: &Parameter) -> Result<Argument, Missing<'a>> {
        let called = self.called(name);
        let mut last = called.iter().rev().copied();
        match last.clone().find(|at| self.parameter(*at).is_some_and(|parameter| wanted.ty.takes(&parameter.ty))) {
            Some(at) => self.have(at).map(|made| made.argument),
            None => Err(last.next().and_then(|at| self.parameter(at)).map_or(Missing::Unknown, Missing::Type)),
        }
    }

    /// Returns the latest value called `name`, of any type.
    pub fn latest(&mut self, name: &str) -> Option<Made<'a>> {
        let last = self.called(name).pop()?;
        self.values.get(last).map(|value| value.made.clone())
    }

    /// Returns the latest value of the name and type of `wanted`.
    ///
    /// # Errors
    ///
    /// No such value can be taken, or two could be meant. Every earlier value must be gone, or the maker of a later
    /// value must have taken it.
    pub fn reach(&mut self, wanted: &Parameter) -> Result<Made<'a>, Missing<'a>> {
        let mut called = self.called(&wanted.name);
        called.retain(|at| self.parameter(*at).is_some_and(|parameter| wanted.ty.takes(&parameter.ty)));
        let Some((last, earlier)) = called.split_last() else { return Err(Missing::Unknown) };
        let made = self.have(*last)?;
        if !earlier.is_empty() {
            let values = || called.iter().filter_map(|at| self.values.get(*at));
            let took = values().filter_map(|value| self.taken.get(value.maker_took.clone()));
            let replaced: HashSet<&Argument> = took.flatten().collect();
            let stands = |value: &&Visible<'a>| {
                let argument = &value.made.argument;
                value.taken_by.is_none() && *argument != made.argument && !replaced.contains(argument)
            };
            if let Some(other) = values().rfind(stands) {
                return Err(Missing::Two(other.made.clone(), made));
            }
        }
        Ok(made)
    }

    fn parameter(&self, at: usize) -> Option<&'a Parameter> {
        self.values.get(at).map(|value| value.made.parameter)
    }

    /// Returns the positions of the values with this name, in the order in which they were made.
    fn called(&mut self, name: &str) -> Vec<usize> {
        for (at, value) in self.values.iter().enumerate().skip(self.indexed) {
            self.by_name.entry(&value.made.parameter.name).or_default().push(at);
        }
        self.indexed = self.values.len();
        self.by_name.get(name).cloned().unwrap_or_default()
    }

    /// Returns the value at a position, for a step that may be in branches. The branches get a copy of a value that was
    /// made before them.
    fn have(&mut self, at: usize) -> Result<Made<'a>, Missing<'a>> {
        let Some(value) = self.values.get(at) else { return Err(Missing::Unknown) };
        let made = value.made.clone();
        if let Some(taker) = value.taken_by {
            return Err(Missing::Taken(taker));
        }
        for around in self.around.iter_mut().filter(|around| at < around.before) {
            if made.parameter.ty.is_move_only() {
                return Err(Missing::Uncopied(made.parameter));
            }
            if !around.copied.contains(&made.argument) {
                around.copied.push(made.argument.clone());
            }
        }
        Ok(made)
    }

    /// Returns the names of available values of the type of `wanted`, the latest first.
    pub fn names<'b>(&'b self, wanted: &'b Parameter) -> impl Iterator<Item = &'a str> {
        let can_be_taken = |value: &&Visible<'a>| value.taken_by.is_none() && wanted.ty.takes(&value.made.parameter.ty);
        self.values.iter().rev().filter(can_be_taken).map(|value| value.made.parameter.name.as_str())
    }

    /// Notes that `node` takes these values. They are its inputs after the first `bound`.
    pub fn take(&mut self, node: &'a Node, bound: usize, arguments: &[Argument]) {
        let inputs = node.inputs().get(bound..).unwrap_or_default();
        for (argument, input) in arguments.iter().zip(inputs) {
            let is_given_back = || node.outputs().iter().any(|output| output.is_like(input));
            if !input.ty.is_move_only() && (!can_end(input) || is_given_back()) {
                continue;
            }
            // An earlier step may have given the same pointer back under another name. Then both values are gone.
            let mut next = self.position(argument);
            while let Some(value) = next.and_then(|at| self.values.get_mut(at)) {
                value.taken_by = Some(&node.name);
                next = value.back_of;
            }
        }
    }
}

/// Returns whether a step that takes this input may destroy the object for all others.
fn can_end(input: &Parameter) -> bool {
    input.ty.is_pointer() && !input.ty.is_pointer_to_const()
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

    fn name(word: &str) -> &'static Name {
        Box::leak(Box::new(Name::new(word)))
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
        let mut values = VisibleValues::new(name("S"), a.inputs());
        let (x, b) = (&a.outputs()[0], &a.outputs()[1]);
        assert_eq!(values.find("x", x), Ok(Argument::Input(0)));
        assert_eq!(values.find("b", b), Err(Missing::Unknown));
        assert_eq!(values.find("x", b), Err(Missing::Type(&a.inputs()[0])));
        values.add(a, Span::default(), (0, &[]), |index| output(1, index));
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
            ("Other", Err(Missing::Taken(name("Other")))),
            ("A", Ok(Argument::Input(1))),
        ] {
            let mut values = VisibleValues::new(name("S"), a.inputs());
            let arguments = if taker == "A" { [Argument::Input(0)] } else { [Argument::Input(1)] };
            values.take(node(&program, taker), 0, &arguments);
            assert_eq!(values.find("t", pointer), expected, "{taker}");
        }
        let mut values = VisibleValues::new(name("S"), a.inputs());
        values.take(a, 1, &[Argument::Input(1)]);
        assert_eq!(values.find("t", pointer), Err(Missing::Taken(name("A"))), "after a constant");
        assert_eq!(values.names(pointer).count(), 0);
    }

    #[test]
    fn a_branch_gets_copies_of_what_it_names_and_hides_what_it_makes() {
        let program = program();
        let a = node(&program, "A");
        let (x, b) = (&a.outputs()[0], &a.outputs()[1]);
        let mut values = VisibleValues::new(name("S"), a.inputs());
        values.add(a, Span::default(), (0, &[]), |index| output(1, index));
        values.enter(vec![output(1, 0)]);
        values.add(a, Span::default(), (0, &[]), |index| output(3, index));
        values.enter(vec![]);
        assert_eq!(values.find("b", b), Ok(output(3, 1)));
        assert_eq!(values.find("t", &a.inputs()[1]), Ok(Argument::Input(1)));
        assert_eq!(values.find("t", &a.inputs()[1]), Ok(Argument::Input(1)));
        values.end_branch(&[]);
        assert_eq!(values.leave(vec![], |index| output(9, index)), [output(3, 1), Argument::Input(1)]);
        values.end_branch(&[]);
        assert_eq!(values.find("b", b), Ok(output(1, 1)));
        assert_eq!(values.find("x", x), Ok(output(1, 0)));
        assert_eq!(values.leave(vec![], |index| output(9, index)), [output(1, 0), Argument::Input(1), output(1, 1)]);
    }
    fn reach<'a>(values: &mut VisibleValues<'a>, wanted: &Parameter) -> Result<Argument, Missing<'a>> {
        values.reach(wanted).map(|made| made.argument)
    }

    #[test]
    fn a_value_takes_the_place_of_one_that_it_was_made_from() {
        let program = program();
        let (a, back) = (node(&program, "A"), node(&program, "Back"));
        let (x, pointer) = (&a.outputs()[0], &a.inputs()[1]);
        let mut values = VisibleValues::new(name("S"), a.inputs());
        assert_eq!(reach(&mut values, &a.outputs()[1]), Err(Missing::Unknown));
        values.add(a, Span::default(), (0, &[Argument::Input(0), Argument::Input(1)]), |index| output(1, index));
        assert_eq!(reach(&mut values, x), Ok(output(1, 0)));
        values.add(a, Span::default(), (0, &[Argument::Input(0), Argument::Input(1)]), |index| output(2, index));
        let two = values.reach(x);
        assert!(
            matches!(&two, Err(Missing::Two(one, other))
            if (&one.argument, &other.argument) == (&output(1, 0), &output(2, 0))),
            "{two:?}"
        );
        values.add(back, Span::default(), (0, &[Argument::Input(1), output(1, 0)]), |index| output(3, index));
        assert_eq!(reach(&mut values, pointer), Ok(output(3, 0)));
        assert_eq!(values.find("x", x), Ok(output(2, 0)), "who names it means the last");
    }

    #[test]
    fn what_a_branch_gives_takes_the_place_of_what_that_was_made_from_before_it() {
        let program = program();
        let (a, x) = (node(&program, "A"), &node(&program, "A").outputs()[0]);
        for (second, expected) in [(output(2, 0), Ok(output(4, 0))), (Argument::Input(1), Err(()))] {
            let mut values = VisibleValues::new(name("S"), a.inputs());
            values.enter(vec![Argument::Input(0)]);
            values.add(a, Span::default(), (0, &[Argument::Input(0)]), |index| output(2, index));
            assert_eq!(values.find("x", x), Ok(output(2, 0)));
            values.add(a, Span::default(), (0, &[second]), |index| output(3, index));
            let given = values.end_branch(&[output(3, 0)]);
            assert_eq!(values.find("x", x), Ok(Argument::Input(0)));
            values.leave(vec![given], |index| output(4, index));
            assert_eq!(values.reach(x).map(|made| made.argument).map_err(|_| ()), expected);
        }
    }

    #[test]
    fn a_pointer_that_was_given_back_under_another_name_is_gone_with_that() {
        let nodes = "node S (T *client) => ()\nnode Ask (T *server) => (T *server)\nnode Close (T *server) => ()\n";
        let program = parse_program(&format!("program p\n{nodes}")).unwrap();
        let (inputs, server) = (node(&program, "S").inputs(), &node(&program, "Ask").outputs()[0]);
        let mut values = VisibleValues::new(name("S"), inputs);
        values.take(node(&program, "Ask"), 0, &[Argument::Input(0)]);
        values.add(node(&program, "Ask"), Span::default(), (0, &[Argument::Input(0)]), |index| output(1, index));
        assert_eq!(values.find("client", server), Ok(Argument::Input(0)));
        values.take(node(&program, "Close"), 0, &[output(1, 0)]);
        assert_eq!(values.find("client", server), Err(Missing::Taken(name("Close"))));
        assert_eq!(values.find("server", server), Err(Missing::Taken(name("Close"))));
    }

    #[test]
    fn what_cannot_be_copied_is_gone_after_any_step_and_out_of_reach_in_branches() {
        let nodes = "node S (std::unique_ptr<T> p) => ()\nnode A (std::unique_ptr<T> p) => (std::unique_ptr<T> p)\n";
        let program = parse_program(&format!("program p\n{nodes}")).unwrap();
        let (inputs, a) = (node(&program, "S").inputs(), node(&program, "A"));
        let mut values = VisibleValues::new(name("S"), inputs);
        values.enter(vec![]);
        assert_eq!(values.find("p", &inputs[0]), Err(Missing::Uncopied(&inputs[0])));
        values.leave(vec![], |index| output(9, index));
        values.take(a, 0, &[Argument::Input(0)]);
        assert_eq!(values.find("p", &inputs[0]), Err(Missing::Taken(name("A"))));
        values.add(a, Span::default(), (0, &[Argument::Input(0)]), |index| output(1, index));
        assert_eq!(values.find("p", &inputs[0]), Ok(output(1, 0)));
    }
}
