//! Draws each steps: a step that makes a list, the step that goes through it, and where that gives lists alone, a step
//! that takes some of them and reaches for the flow's number.

use super::{Generator, distinct};
use crate::environment::Environment;
use crate::list::Item;
use crate::model::*;

/// An each step holds each steps at most so deep.
pub(super) const EACH_DEPTH: usize = 1;

impl Generator<'_> {
    /// The steps of an each step with what comes before and after it; none where the flow's number is not to be had.
    pub(super) fn each(&mut self, values: &mut Environment, depth: usize, nests: usize) -> Vec<Step> {
        let Some(item) = self.random.choose(&Item::MADE) else { return vec![] };
        if values.flow().is_none() {
            return vec![];
        }
        let (maker, list) = self.list_maker(values, item);
        values.apply(&self.model.nodes[maker]);
        let (each, inside) = self.instances(values, &list, (depth, nests));
        let outputs = self.model.each_outputs(&each);
        values.gather(&inside, &outputs);
        let is_loop = each.width.is_none();
        let mut steps = vec![Step::Apply(maker), Step::Each(each)];
        if !is_loop {
            let gatherer = self.gatherer(values);
            values.apply(&self.model.nodes[gatherer]);
            steps.push(Step::Apply(gatherer));
        }
        steps
    }

    /// A new node that makes a list of such elements, and the list.
    fn list_maker(&mut self, values: &Environment, item: Item) -> (NodeId, Parameter) {
        let given = values.given();
        // Where it takes a part, that is by name; elsewhere it is all.
        let inputs =
            if given.first() == Some(&Parameter::flow()) { self.taken(&given) } else { vec![Parameter::flow()] };
        let ty = Type::List(item);
        let list = Parameter { ty, name: format!("{}_of_{}", ty.spelling().2, self.model.nodes.len()) };
        let mut outputs = self.row();
        let at = self.random.between(1, outputs.len());
        outputs.insert(at, list.clone());
        let far = values.all_reachable();
        (self.concrete_node(inputs, outputs, &far, 0), list)
    }

    /// An each step that goes through `list`, which the step before gives, and what there is at the end of an instance.
    fn instances(
        &mut self,
        values: &Environment,
        list: &Parameter,
        (depth, nests): (usize, usize),
    ) -> (Each, Environment) {
        let number = self.model.nodes.len();
        let width = self.random.choose(&[None, None, Some(2), Some(3), Some(4)]).flatten();
        let element = Parameter { ty: list.ty.element(), name: format!("element_{number}") };
        let mut inside = values.instance(list, &element);
        let others = self.others(&inside, values);
        let inputs: Vec<_> = [Parameter::flow(), element].into_iter().chain(others.iter().cloned()).collect();
        let steps = self.random.between(1, 3);
        let mut chain = vec![];
        for left in (0..steps).rev() {
            let outputs = if left == 0 { Some(self.gathered(number, &others, width.is_none())) } else { None };
            let node = if chain.is_empty() {
                let outputs = outputs.unwrap_or_else(|| self.row());
                let far = inside.all_reachable();
                self.concrete_node(inputs.clone(), outputs, &far, 0)
            } else if let Some(outputs) = outputs {
                let (given, far) = (inside.given(), inside.all_reachable());
                let inputs = if given.first() == Some(&Parameter::flow()) {
                    self.taken(&given)
                } else {
                    vec![Parameter::flow()]
                };
                self.concrete_node(inputs, outputs, &far, depth)
            } else if nests > 0 && self.random.chance(250) {
                chain.extend(self.each(&mut inside, depth, nests - 1));
                continue;
            } else {
                self.step(&inside, None, depth)
            };
            inside.apply(&self.model.nodes[node]);
            chain.push(Step::Apply(node));
        }
        (Each { chain, width }, inside)
    }

    /// What the first node of an instance takes beside the element, all by name: some of what is given, and some of
    /// what is further back.
    fn others(&mut self, inside: &Environment, values: &Environment) -> Vec<Parameter> {
        let can_be = |one: &Parameter| !matches!(one.ty, Type::Record | Type::Fragile | Type::Error);
        let given: Vec<_> = inside.given().into_iter().skip(1).filter(|one| *one != Parameter::flow()).collect();
        if !distinct(&given) {
            return vec![];
        }
        let mut far = values.reachable();
        self.random.shuffle(&mut far);
        far.truncate(self.random.between(0, 1));
        far.retain(|one| can_be(one) && *one != Parameter::flow() && !given.contains(one));
        // What is given of a type that is reached must be taken, or it would look like a slip.
        let must = |one: &Parameter| far.iter().any(|far| far.same_type(one) || far.name == one.name);
        if given.iter().any(|one| must(one) && !can_be(one)) {
            return vec![];
        }
        let mut some: Vec<_> =
            given.iter().filter(|one| must(one) || can_be(one) && self.random.chance(400)).cloned().collect();
        some.extend(far.iter().cloned());
        let element = inside.given().into_iter().take(1);
        let (from, to): (Vec<_>, Vec<_>) =
            (element.clone().chain(given).collect(), element.chain(some.clone()).collect());
        // All of as many by their places, though they have other names, is not what is meant here.
        let by_name = fit(&from, &to).is_none_or(|at| at.iter().zip(&to).all(|(at, one)| from.get(*at) == Some(one)));
        if by_name && distinct(&to) { some } else { vec![] }
    }

    /// What an instance of an each step gives that is drawn as the node of this number: values with names of their own,
    /// which are gathered; of a loop also the flow's number and some of the values that it takes, which are handed on.
    fn gathered(&mut self, number: usize, others: &[Parameter], is_loop: bool) -> Vec<Parameter> {
        let flow = if is_loop { "flow".to_owned() } else { format!("flows_{number}") };
        let mut outputs = vec![Parameter { ty: Type::Integer, name: flow }];
        let can_be = |one: &&Parameter| matches!(one.ty, Type::Wide | Type::Text | Type::Table | Type::Tracked);
        for other in others.iter().filter(can_be).filter(|_| is_loop) {
            if self.random.chance(600) {
                outputs.push(other.clone());
            }
        }
        for at in 0..self.random.between(0, 2) {
            let ty = self.random.choose(&Item::MADE).unwrap_or(Item::Wide).ty();
            outputs.push(Parameter { ty, name: format!("{}_in_{number}_{at}", ty.spelling().2) });
        }
        outputs
    }

    /// A new node that takes some of the lists that an each step gives, and the flow's number.
    fn gatherer(&mut self, values: &Environment) -> NodeId {
        let mut inputs = vec![Parameter::flow()];
        for list in values.given().iter().skip(1) {
            if self.random.chance(700) {
                inputs.push(list.clone());
            }
        }
        let (outputs, far) = (self.row(), values.all_reachable());
        self.concrete_node(inputs, outputs, &far, 0)
    }
}
