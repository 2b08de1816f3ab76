//! Draws what handles failures: functions and nodes, for one node or on a path, and `_`.

use super::{Generator, accepts};
use crate::model::*;

impl Generator<'_> {
    /// What takes the place of a node with these inputs and outputs, and whether it reaches some of what is `far`.
    pub(super) fn handler(
        &mut self,
        inputs: &[Parameter],
        outputs: &[Parameter],
        far: &[Parameter],
        depth: usize,
    ) -> (Option<Handler>, bool) {
        if !self.random.chance(self.shape.handlers) {
            return (None, false);
        }
        // After a node without outputs the flow goes on only where the handler says so.
        let goes_on = outputs.is_empty() && self.random.chance(500);
        if goes_on && self.random.chance(300) {
            return (Some(Handler::GoOn(None)), false);
        }
        let (handler, is_bound) = self.running_handler(inputs, (outputs, goes_on), far, depth);
        (Some(if goes_on { Handler::GoOn(Some(Box::new(handler))) } else { handler }), is_bound)
    }

    /// A handler that runs something.
    fn running_handler(
        &mut self,
        inputs: &[Parameter],
        (outputs, goes_on): (&[Parameter], bool),
        far: &[Parameter],
        depth: usize,
    ) -> (Handler, bool) {
        let has_error = inputs.iter().any(|input| input.ty == Type::Error);
        if has_error || depth == 0 || self.random.chance(400) {
            return (self.handler_function("Handle"), false);
        }
        if self.random.chance(self.shape.shared)
            && let Some(node) = self.shared(inputs, Some(outputs))
            && (goes_on || !outputs.is_empty() || self.model.nodes[node].outputs.is_empty())
        {
            return (Handler::Node(node), false);
        }
        let far: Vec<_> = far.iter().filter(|one| !inputs.contains(one)).cloned().collect();
        let reaching = if self.reaches() { self.reaching(inputs, &far) } else { None };
        let is_bound = reaching.is_some();
        let mut wanted = reaching.unwrap_or_else(|| self.taken(inputs));
        if self.random.chance(500) {
            wanted.push(Parameter { ty: Type::Error, name: "error".to_owned() });
        }
        let may_give = goes_on || !outputs.is_empty();
        let given = if may_give && self.random.chance(600) { self.given(outputs) } else { vec![] };
        let node = match self.nests_left > 0 && self.random.chance(self.shape.nested) {
            true => self.abstract_node(wanted, given, &[], depth - 1),
            false => self.concrete_node(wanted, given, &[], depth - 1),
        };
        (Handler::Node(node), is_bound)
    }

    /// A new function as a handler, which throws at times.
    fn handler_function(&mut self, stem: &str) -> Handler {
        let throws = self.random.choose(&[0, 0, 100]).unwrap_or(0);
        let name = format!("{stem}{}", self.model.nodes.len() + self.model.path_handlers.len());
        Handler::Function { name, behaviour: self.behaviour(0, throws) }
    }

    /// A handler on the end of a way that a flow may take, unless it might tie with one that there is.
    pub(super) fn path_handler(&mut self) {
        let walk = self.walk();
        let length = self.random.between(2, 4);
        let Some(failing) = walk.last().copied().flatten().filter(|_| walk.len() >= length) else { return };
        let end = walk.get(walk.len() - length..).unwrap_or_default();
        // The function of a handler has an overload for each node that its `*` may be; of what a computed node takes
        // there is a struct only where some handler takes that.
        let is_computed = |(_, node): (NodeId, &Node)| matches!(node.body, Body::Computed(_));
        let names_last = self.model.nodes.iter().any(is_computed);
        let part = |(at, node): (usize, &Option<NodeId>)| {
            let is_last = at + 1 == length;
            node.filter(|_| !self.random.chance(if is_last { 160 } else { 250 }) || is_last && names_last)
        };
        let path: Vec<_> = end.iter().enumerate().map(part).collect();
        let alike = |(one, other): (&Option<NodeId>, &Option<NodeId>)| one.is_none() || other.is_none() || one == other;
        let ties = |other: &PathHandler| other.path.len() == length && other.path.iter().zip(&path).all(alike);
        if !self.model.path_handlers.iter().any(ties) {
            let node = path.last().copied().flatten().and_then(|_| self.standing_in(failing));
            let gives_nothing = path.last().copied().flatten().is_some_and(|_| self.gives_nothing(failing));
            let handler = node.map_or_else(|| self.handler_function("HandlePath"), Handler::Node);
            let goes_on = gives_nothing && self.random.chance(500);
            let handler = if goes_on { Handler::GoOn(Some(Box::new(handler))) } else { handler };
            self.model.path_handlers.push(PathHandler { path, handler });
        }
    }

    fn gives_nothing(&self, node: NodeId) -> bool {
        self.model.nodes[node].outputs.is_empty()
    }

    /// A node of the model that can take the place of `failing`: one that cannot reach it, as it comes before it.
    fn standing_in(&mut self, failing: NodeId) -> Option<NodeId> {
        let Node { inputs, outputs, .. } = &self.model.nodes[failing];
        if inputs.iter().any(|input| input.ty == Type::Error) || self.random.chance(300) {
            return None;
        }
        let fits = |(id, node): &(NodeId, &Node)| {
            let given = Model::handler_values(inputs, &node.inputs);
            let ends_or_fits = node.outputs.is_empty() || !outputs.is_empty() && accepts(&node.outputs, outputs);
            *id < failing && !node.inputs.is_empty() && accepts(&given, &node.inputs) && ends_or_fits
        };
        let fitting = self.model.nodes.iter().filter(fits).map(|(id, _)| id).filter(|id| !self.bound.contains(id));
        let fitting: Vec<_> = fitting.filter(|id| self.calls_of(*id) <= self.shape.calls).collect();
        self.random.choose(&fitting)
    }
}
