//! Each steps: which value is the list, what an element is called, what the step gives.
//!
//! The element is called as the input that takes it: the first of the chain's first step that neither a constant nor a
//! name is bound to. The list is the one value of the step before that is a list of such elements. What the chain gives
//! is gathered in lists, each under the name of its elements. Only a loop can hand a value on, where the next instance
//! begins after it: an output that is called as another input of the first step.

use crate::analyses::edges::Port;
use flux_ir::program::{
    Action, Application, Chain, Each, NamedInput, NamedValue, Node, NodeId, Parameter, Program, StepNumber,
};
use flux_ir::types::Type;
use flux_source::deep;
use std::borrow::Cow;
use std::collections::HashMap;

/// Where an each step is: its flow, as a node and the index among that node's chains, and its number.
pub type EachPlace = (NodeId, usize, StepNumber);

/// The first step of a chain, as far as an each step around it asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct First {
    /// What it takes.
    port: Port,
    /// Those of its inputs that are given something by name, and whether that is a value.
    named: Vec<(String, bool)>,
    /// In so many each steps of the chain it is the first itself: an element is a list of lists.
    depth: usize,
}

/// The application that a chain begins with, and in how many each steps of the chain it is. Of a parallel step, the
/// first branch that is not empty decides.
fn begin(chain: &Chain) -> Option<(&Application, usize)> {
    match &chain.steps.first()?.action {
        Action::Apply(application) => Some((application, 0)),
        Action::Parallel(parallel) => parallel.branches.iter().find_map(begin),
        Action::Each(each) => begin(&each.chain).map(|(application, depth)| (application, depth + 1)),
    }
}

/// The application whose inputs decide what an element is.
pub fn first_application(chain: &Chain) -> Option<&Application> {
    begin(chain).map(|(application, _)| application)
}

impl First {
    /// The first node of the chain, if there is one.
    pub fn of(chain: &Chain) -> Option<Self> {
        let (application, depth) = begin(chain)?;
        let is_value = |named: &NamedInput| matches!(named.value, NamedValue::Value(_));
        let named = application.named.iter().map(|named| (named.input.clone(), is_value(named))).collect();
        Some(Self { port: Port::In(application.node, application.constants.len()), named, depth })
    }

    /// The element that it takes, as `list` says of its port; none where it takes nothing, or that is not known.
    pub fn element<'a>(&self, list: &impl Fn(Port) -> Option<&'a [Parameter]>) -> Option<Parameter> {
        let mut element = self.taken(list)?.next()?.clone();
        for _ in 0..self.depth {
            element.ty = Type::list_of(&element.ty);
        }
        Some(element)
    }

    /// Its inputs that take values, but for the element.
    pub fn others<'a>(&self, list: &impl Fn(Port) -> Option<&'a [Parameter]>) -> Option<Vec<&'a Parameter>> {
        let element = self.taken(list)?.next().map(|element| &element.name);
        let (required, Port::In(node, bound)) = (list(self.port)?, self.port) else { return None };
        let takes_value = |input: &Parameter| match self.named.iter().find(|named| named.0 == input.name) {
            Some((_, is_value)) => *is_value,
            None => required.contains(input),
        };
        let all = list(Port::All(node))?.get(bound..).unwrap_or_default();
        Some(all.iter().filter(|input| Some(&input.name) != element && takes_value(input)).collect())
    }

    fn taken<'a>(
        &self,
        list: &impl Fn(Port) -> Option<&'a [Parameter]>,
    ) -> Option<impl Iterator<Item = &'a Parameter>> {
        Some(list(self.port)?.iter().filter(|input| !self.named.iter().any(|named| named.0 == input.name)))
    }

    /// The position of the one list of `element` in what the step before gives.
    ///
    /// # Errors
    ///
    /// There is none, or there are two.
    pub fn list_position(&self, given: &[Parameter], element: &Parameter) -> Result<usize, Lists> {
        let ty = Type::list_of(&element.ty);
        let mut lists = given.iter().enumerate().filter(|(_, value)| value.ty == ty).map(|(at, _)| at);
        match (lists.next(), lists.next()) {
            (Some(only), None) => Ok(only),
            (Some(one), Some(other)) => Err(Lists::Two(one, other)),
            (None, _) => Err(Lists::None),
        }
    }
}

/// Whether a loop hands on the result at this place as `input`: it is the first that is called so.
pub fn is_handed_on(input: &Parameter, results: &[Parameter], at: usize) -> bool {
    results.iter().position(|result| result.name == input.name) == Some(at)
}

/// Why none of the values before an each step is its list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lists {
    /// None is a list of such elements.
    None,
    /// These two are.
    Two(usize, usize),
}

/// What is known of an each step in a program whose signatures are.
pub struct EachStep<'a> {
    /// An element, as its chain takes it; none where that takes nothing.
    pub element: Option<Parameter>,
    /// What the step before gives; none where that is not known.
    pub given: Option<Cow<'a, [Parameter]>>,
    /// The position of the list in it.
    pub list: Result<usize, Lists>,
    /// What the step gives; none where that is not known.
    pub outputs: Option<Vec<Parameter>>,
    /// What an instance hands on: the position of the output, and the input of the first step that is called so.
    pub carried: Vec<(usize, Parameter)>,
}

/// All each steps of a program whose signatures are known.
pub struct EachSteps<'a>(HashMap<EachPlace, EachStep<'a>>);

impl<'a> EachSteps<'a> {
    /// Those of the flow of `node` that is the chain at `index`. O(its size).
    pub fn of(program: &'a Program, node: &'a Node, place: (NodeId, usize), chain: &Chain) -> Self {
        let mut steps = Self(HashMap::new());
        if chain.steps.iter().any(|step| !step.action.chains().is_empty()) {
            steps.walk(program, place, chain, Some(Cow::Borrowed(node.inputs())));
        }
        steps
    }

    /// The step at this place.
    pub fn get(&self, place: EachPlace) -> Option<&EachStep<'a>> {
        self.0.get(&place)
    }

    /// Goes along a chain from what is given to it to what it gives.
    fn walk(
        &mut self,
        program: &'a Program,
        flow: (NodeId, usize),
        chain: &Chain,
        mut given: Option<Cow<'a, [Parameter]>>,
    ) -> Option<Cow<'a, [Parameter]>> {
        deep(|| {
            for step in &chain.steps {
                given = match &step.action {
                    Action::Apply(application) => Some(Cow::Borrowed(program.nodes[application.node].outputs())),
                    Action::Parallel(parallel) => {
                        let branches = &parallel.branches;
                        let lists: Vec<_> =
                            branches.iter().map(|branch| self.walk(program, flow, branch, given.clone())).collect();
                        let lists: Option<Vec<_>> = lists.into_iter().collect();
                        lists.map(|lists| Cow::Owned(lists.concat()))
                    }
                    Action::Each(each) => {
                        let known = self.each(program, flow, each, given);
                        let outputs = known.outputs.clone();
                        self.0.insert((flow.0, flow.1, step.number), known);
                        outputs.map(Cow::Owned)
                    }
                };
            }
            given
        })
    }

    fn each(
        &mut self,
        program: &'a Program,
        flow: (NodeId, usize),
        each: &Each,
        given: Option<Cow<'a, [Parameter]>>,
    ) -> EachStep<'a> {
        let first = First::of(&each.chain);
        let list = |port: Port| Some(port.of(program.nodes[port.node()].signature.as_ref()?));
        let element = first.as_ref().and_then(|first| first.element(&list));
        let position = match (&first, &element, &given) {
            (Some(first), Some(element), Some(given)) => first.list_position(given, element),
            _ => Err(Lists::None),
        };
        let inside = element.clone().zip(given.as_ref()).zip(position.ok()).map(|((element, given), list)| {
            let others = given.iter().enumerate().filter(|(at, _)| *at != list).map(|(_, one)| one.clone());
            Cow::Owned(std::iter::once(element).chain(others).collect())
        });
        let made = self.walk(program, flow, &each.chain, inside);
        let others = first.filter(|_| each.width.is_none()).and_then(|first| first.others(&list)).unwrap_or_default();
        let mut carried = vec![];
        let outputs = made.map(|made| {
            let gathered =
                |(at, one): (usize, &Parameter)| match others.iter().find(|other| is_handed_on(other, &made, at)) {
                    Some(other) => {
                        carried.push((at, (*other).clone()));
                        one.clone()
                    }
                    // An array cannot be in a list, which is said where the step is bound.
                    None if one.ty.is_array() => one.clone(),
                    None => Parameter { ty: Type::list_of(&one.ty), ..one.clone() },
                };
            made.iter().enumerate().map(gathered).collect()
        });
        EachStep { element, given, list: position, outputs, carried }
    }
}
