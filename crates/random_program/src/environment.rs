//! The values that a step can reach, by the rule of the language: the rule of reach, written a second time.
//!
//! Values are numbered in the order in which they are made. A branch begins with what was made before it, and only what
//! it gives is visible after it.

use crate::model::{Node, Parameter, Type, fit};
use std::collections::BTreeSet;

/// The values at one place of a flow.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    values: Vec<Value>,
    /// The numbers of those that the step before gives.
    before: Vec<usize>,
    /// How many there were before the branch, if it is in one.
    outside: usize,
}

#[derive(Clone)]
struct Value {
    parameter: Parameter,
    /// The numbers of the values that its maker took.
    from: Vec<usize>,
}

impl Environment {
    /// That of a flow with these inputs, before its first step.
    pub(crate) fn new(inputs: &[Parameter]) -> Self {
        let mut environment = Self::default();
        environment.make(inputs, &[]);
        environment
    }

    /// What the step before gives.
    pub(crate) fn given(&self) -> Vec<Parameter> {
        self.before.iter().filter_map(|number| self.values.get(*number)).map(|one| one.parameter.clone()).collect()
    }

    /// That of a branch which begins here. What breaks when it is copied is not reached from there: then the copy for
    /// the branch would break, not the step.
    pub(crate) fn inside(&self) -> Self {
        Self { outside: self.values.len(), ..self.clone() }
    }

    /// The values that an input can reach which the step before does not give.
    pub(crate) fn reachable(&self) -> Vec<Parameter> {
        let given = self.given();
        self.all_reachable().into_iter().filter(|one| !given.contains(one)).collect()
    }

    /// The values that can be reached after a step which gives others. Records are left out: who takes a pointer may
    /// keep it.
    pub(crate) fn all_reachable(&self) -> Vec<Parameter> {
        let mut found: Vec<Parameter> = vec![];
        for Value { parameter, .. } in &self.values {
            let Some(number) = self.reach(parameter) else { continue };
            let can_be = match parameter.ty {
                Type::Record | Type::Error => false,
                Type::Fragile => number >= self.outside,
                _ => true,
            };
            if can_be && !found.contains(parameter) {
                found.push(parameter.clone());
            }
        }
        found
    }

    /// The last value of this name and type, if all others of that have been replaced.
    fn reach(&self, wanted: &Parameter) -> Option<usize> {
        let alike = || self.values.iter().enumerate().filter(|(_, one)| one.parameter == *wanted);
        let replaced: BTreeSet<_> = alike().flat_map(|(_, one)| one.from.iter().copied()).collect();
        let mut standing = alike().map(|(number, _)| number).filter(|number| !replaced.contains(number));
        standing.next().filter(|_| standing.next().is_none())
    }

    /// Goes on to after a step that applies `node`.
    pub(crate) fn apply(&mut self, node: &Node) {
        let given = self.given();
        let taken: Vec<usize> = match fit(&given, &node.inputs) {
            Some(positions) => positions.iter().filter_map(|position| self.before.get(*position).copied()).collect(),
            None => {
                let before = |wanted: &Parameter| self.before.get(given.iter().position(|one| one == wanted)?).copied();
                node.inputs.iter().filter_map(|wanted| before(wanted).or_else(|| self.reach(wanted))).collect()
            }
        };
        self.make(&node.outputs, &taken);
    }

    /// The latest number of the flow, if there is no doubt which that is.
    pub(crate) fn flow(&self) -> Option<usize> {
        self.reach(&Parameter::flow())
    }

    /// That of an instance of an each step which begins here and goes through `list`: it is given the element, and what
    /// is given but for the list.
    pub(crate) fn instance(&self, list: &Parameter, element: &Parameter) -> Self {
        let mut inside = self.inside();
        inside.values.push(Value { parameter: element.clone(), from: vec![] });
        let others =
            self.before.iter().filter(|number| self.values.get(**number).is_some_and(|one| one.parameter != *list));
        inside.before = std::iter::once(self.values.len()).chain(others.copied()).collect();
        inside
    }

    /// Goes on to after an each step whose instances have come so `far`, and which gives these.
    pub(crate) fn gather(&mut self, far: &Self, outputs: &[Parameter]) {
        let count = self.values.len();
        let given = far.outside(count).into_iter().zip(outputs);
        let given: Vec<_> = given.map(|(value, output)| Value { parameter: output.clone(), ..value }).collect();
        self.before = (count..count + given.len()).collect();
        self.values.extend(given);
    }

    fn make(&mut self, made: &[Parameter], from: &[usize]) {
        self.before = (self.values.len()..self.values.len() + made.len()).collect();
        self.values.extend(made.iter().map(|parameter| Value { parameter: parameter.clone(), from: from.to_vec() }));
    }

    /// Goes on to after a parallel step whose branches have come so far.
    pub(crate) fn join(&mut self, branches: &[Self]) {
        let count = self.values.len();
        let given: Vec<_> = branches.iter().flat_map(|branch| branch.outside(count)).collect();
        self.before = (count..count + given.len()).collect();
        self.values.extend(given);
    }

    /// What a branch gives, each made from values with numbers below `count`.
    fn outside(&self, count: usize) -> Vec<Value> {
        let outside = |number: &usize| {
            let value = self.values.get(*number)?;
            let (mut open, mut from) = (vec![*number], BTreeSet::new());
            while let Some(number) = open.pop() {
                if number < count {
                    from.insert(number);
                } else if let Some(inner) = self.values.get(number)
                    && inner.parameter == value.parameter
                {
                    open.extend(&inner.from);
                }
            }
            Some(Value { parameter: value.parameter.clone(), from: from.into_iter().collect() })
        };
        self.before.iter().filter_map(outside).collect()
    }
}
