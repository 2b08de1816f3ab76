//! The values that a step can name or reach: those that were made before it in the same flow, at the latest as an input
//! of it.
//!
//! What is made in a branch of a parallel step cannot be seen after the branch. A branch sees what was made before the
//! parallel step, of which it gets copies. So it is with the instances of an each step. Who is given a pointer may end
//! what it points to; so after a step that took one and did not give it back, under its name and type, it cannot be had
//! any more. A value that cannot be copied is gone after any step that took it.

use flux_ir::name::Name;
use flux_ir::program::{Argument, Node, Parameter};
use flux_source::Span;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The values that there are at one place of a flow.
pub struct VisibleValues<'a> {
    values: Vec<Visible<'a>>,
    /// What the makers of values took, one list after the other.
    taken: Vec<Argument>,
    /// The parallel steps and each steps around this place, the outermost first.
    around: Vec<Around>,
    /// The positions of values by their names, of the first `indexed` values: most programs never ask.
    by_name: HashMap<&'a str, Vec<usize>>,
    indexed: usize,
}

/// A value, and who made it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made<'a> {
    /// What names it.
    pub argument: Argument,
    /// What it is.
    pub parameter: &'a Parameter,
    /// The node of the step that made it; of an input of the flow, the node whose flow it is.
    pub maker: &'a Name,
    /// Where that step is; of an input of the flow, where that is declared.
    pub span: Span,
}

struct Visible<'a> {
    made: Made<'a>,
    /// Where in the list of all that is taken its maker's part is.
    maker_took: Range<usize>,
    /// The node that took it and did not give it back.
    taken_by: Option<&'a Name>,
    /// The position of the pointer that its maker took and gives back by it.
    back_of: Option<usize>,
}

/// A parallel step around a place.
struct Around {
    /// How many values there were before it.
    before: usize,
    /// Those of which its branches get copies.
    copied: Vec<Argument>,
}

/// What a branch gives, as it is seen after it.
pub struct Given<'a>(Vec<Outside<'a>>);

/// A value that a branch gives, with the values of its name and type that it was made from before the branch, and the
/// position of the pointer among them that it gives back.
struct Outside<'a> {
    made: Made<'a>,
    from: Vec<Argument>,
    back_of: Option<usize>,
}

/// Why a value cannot be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Missing<'a> {
    /// Nothing is called so.
    Unknown,
    /// This is, and has another type.
    Type(&'a Parameter),
    /// This node took it.
    Taken(&'a Name),
    /// It would have to be copied into a branch, and cannot be copied.
    Uncopied(&'a Parameter),
    /// Each of two could be meant: the later one was not made from the earlier.
    Two(Made<'a>, Made<'a>),
}

impl<'a> VisibleValues<'a> {
    /// What there is before the first step of the flow of `node`, which has these inputs.
    pub fn new(node: &'a Name, inputs: &'a [Parameter]) -> Self {
        let value = |(index, parameter): (usize, &'a Parameter)| {
            let made = Made { argument: Argument::Input(index), parameter, maker: node, span: parameter.span };
            Visible { made, maker_took: 0..0, taken_by: None, back_of: None }
        };
        let values = inputs.iter().enumerate().map(value).collect();
        Self { values, taken: vec![], around: vec![], by_name: HashMap::new(), indexed: 0 }
    }

    /// Adds what a step at `span` has made of the values `took`, its inputs after the first `bound`; each under the
    /// name that `argument` gives for its position.
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

    /// Mostly it is of the step before.
    fn position(&self, argument: &Argument) -> Option<usize> {
        self.values.iter().rposition(|value| value.made.argument == *argument)
    }

    /// Goes into a parallel step whose branches get copies of `copied`.
    pub fn enter(&mut self, copied: Vec<Argument>) {
        self.around.push(Around { before: self.values.len(), copied });
    }

    /// Adds the element that an instance of the each step around is for, in the flow of `node`.
    pub fn add_element(&mut self, node: &'a Name, element: &'a Parameter, argument: Argument) {
        let made = Made { argument, parameter: element, maker: node, span: element.span };
        self.values.push(Visible { made, maker_took: 0..0, taken_by: None, back_of: None });
    }

    /// Notes that what is around this place gets copies of those of `taken` that were made before it.
    pub fn copy(&mut self, taken: &[Argument]) {
        for argument in taken {
            let Some(at) = self.position(argument) else { continue };
            let around = self.around.iter_mut().filter(|around| at < around.before);
            around
                .filter(|around| !around.copied.contains(argument))
                .for_each(|around| around.copied.push(argument.clone()));
        }
    }

    /// Goes out of a branch, which gives `results`, or from one to the next.
    pub fn end_branch(&mut self, results: &[Argument]) -> Given<'a> {
        let before = self.around.last().map_or(0, |around| around.before);
        let given = results.iter().filter_map(|result| self.outside(result, before)).collect();
        let inside = self.values.get(before..self.indexed).unwrap_or_default();
        for value in inside {
            // Those of a name are in order, so it is the last.
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

    /// Goes out of a parallel step, whose branches have given these values, one after the other; gives all of which
    /// the branches get copies, also since they name it.
    pub fn leave(&mut self, branches: Vec<Given<'a>>, argument: impl Fn(usize) -> Argument) -> Vec<Argument> {
        for (index, outside) in branches.into_iter().flat_map(|branch| branch.0).enumerate() {
            self.add_outside(argument(index), outside);
        }
        self.around.pop().map(|around| around.copied).unwrap_or_default()
    }

    /// As [`Self::leave`], out of an each step whose instances give such values, and which gives `outputs` of them.
    pub fn leave_each(
        &mut self,
        made: Given<'a>,
        outputs: &'a [Parameter],
        argument: impl Fn(usize) -> Argument,
    ) -> Vec<Argument> {
        for (index, (outside, parameter)) in made.0.into_iter().zip(outputs).enumerate() {
            // A list of pointers is no pointer.
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

    /// The value called `name` of the type of `wanted` that was made last.
    ///
    /// # Errors
    ///
    /// There is none that can be taken.
    pub fn find(&mut self, name: &str, wanted: &Parameter) -> Result<Argument, Missing<'a>> {
        let called = self.called(name);
        let mut last = called.iter().rev().copied();
        match last.clone().find(|at| self.parameter(*at).is_some_and(|parameter| wanted.ty.takes(&parameter.ty))) {
            Some(at) => self.have(at).map(|made| made.argument),
            None => Err(last.next().and_then(|at| self.parameter(at)).map_or(Missing::Unknown, Missing::Type)),
        }
    }

    /// The value called `name` that was made last, whatever its type.
    pub fn latest(&mut self, name: &str) -> Option<Made<'a>> {
        let last = self.called(name).pop()?;
        self.values.get(last).map(|value| value.made.clone())
    }

    /// The value of the name and type of `wanted` that was made last.
    ///
    /// # Errors
    ///
    /// There is none that can be taken, or two could be meant: each but the last must have been taken by the maker of a
    /// later one, or be gone.
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

    /// The positions of the values of this name, in the order in which they were made.
    fn called(&mut self, name: &str) -> Vec<usize> {
        for (at, value) in self.values.iter().enumerate().skip(self.indexed) {
            self.by_name.entry(&value.made.parameter.name).or_default().push(at);
        }
        self.indexed = self.values.len();
        self.by_name.get(name).cloned().unwrap_or_default()
    }

    /// The value at a position, for a step that may be in branches: these get copies of what was made before them.
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

    /// The names of values of the type of `wanted`.
    pub fn names<'b>(&'b self, wanted: &'b Parameter) -> impl Iterator<Item = &'a str> {
        let can_be_taken = |value: &&Visible<'a>| value.taken_by.is_none() && wanted.ty.takes(&value.made.parameter.ty);
        self.values.iter().rev().filter(can_be_taken).map(|value| value.made.parameter.name.as_str())
    }

    /// Notes that `node` takes these values, as its inputs after the first `bound`.
    pub fn take(&mut self, node: &'a Node, bound: usize, arguments: &[Argument]) {
        let inputs = node.inputs().get(bound..).unwrap_or_default();
        for (argument, input) in arguments.iter().zip(inputs) {
            let is_given_back = || node.outputs().iter().any(|output| output.is_like(input));
            if !input.ty.is_move_only() && (!can_end(input) || is_given_back()) {
                continue;
            }
            // Where it was given back under another name before, that is the same pointer.
            let mut next = self.position(argument);
            while let Some(value) = next.and_then(|at| self.values.get_mut(at)) {
                value.taken_by = Some(&node.name);
                next = value.back_of;
            }
        }
    }
}

/// Whether who is given the value may end it for all others.
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
