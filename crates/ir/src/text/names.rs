//! What the text form calls things: the same for the side that prints and the side that parses.

use crate::arena::Arena;
use crate::flow::{Callee, Function, FunctionId};
use crate::program::{Node, NodeId, Parameter, Program, StepNumber};
use std::collections::HashMap;

/// The names of things that have an index. A name means the first that bears it.
#[derive(Default)]
pub(super) struct Labels {
    names: Vec<String>,
    first: HashMap<String, usize>,
}

impl Labels {
    fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut labels = Self::default();
        for name in names {
            labels.add(name);
        }
        labels
    }

    /// Names the next index.
    pub(super) fn add(&mut self, name: &str) {
        self.first.entry(name.to_owned()).or_insert(self.names.len());
        self.names.push(name.to_owned());
    }

    /// What `name` means.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.first.get(name).copied()
    }

    /// The name that means `index`, if one does.
    pub(super) fn get(&self, index: usize) -> Option<&str> {
        let name = self.names.get(index)?;
        (self.find(name) == Some(index)).then_some(name)
    }
}

/// A list of parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Ports {
    NodeInputs(NodeId),
    NodeOutputs(NodeId),
    FunctionInputs(FunctionId),
    FunctionOutputs(FunctionId),
}

impl Ports {
    /// The inputs of what `callee` calls.
    pub(super) fn inputs_of(callee: &Callee) -> Option<Self> {
        match callee {
            Callee::Node(node) | Callee::Handler { node, .. } | Callee::Session { node, .. } => {
                Some(Self::NodeInputs(*node))
            }
            Callee::Function(function) => Some(Self::FunctionInputs(*function)),
            Callee::Fork(branches) => branches.first().map(|branch| Self::FunctionInputs(branch.function)),
        }
    }

    /// The outputs of what `callee` calls, where they have names of their own.
    pub(super) fn outputs_of(callee: &Callee) -> Option<Self> {
        match callee {
            Callee::Node(node) => Some(Self::NodeOutputs(*node)),
            Callee::Function(function) => Some(Self::FunctionOutputs(*function)),
            Callee::Fork(_) | Callee::Handler { .. } | Callee::Session { .. } => None,
        }
    }
}

/// All names of a program, or of a flow.
#[derive(Default)]
pub(super) struct Names {
    pub(super) nodes: Labels,
    pub(super) predicates: Labels,
    pub(super) constraints: Labels,
    pub(super) modules: Labels,
    pub(super) options: Labels,
    pub(super) functions: Labels,
    ports: HashMap<Ports, Labels>,
}

impl Names {
    /// The names in `program`.
    pub(super) fn of_program(program: &Program) -> Self {
        let mut names = Self::default();
        for (id, node) in program.nodes.iter() {
            names.add_node(id, node);
        }
        names.predicates = Labels::of(program.predicates.iter().map(|(_, predicate)| predicate.name.as_str()));
        names.modules = Labels::of(program.modules.iter().map(|(_, module)| module.name.as_str()));
        names.options = Labels::of(program.options.iter().map(|(_, option)| option.name.as_str()));
        names.constraints = Labels::of(program.constraints.iter().map(|(_, constraint)| constraint.name.as_str()));
        names
    }

    /// The names in `program` and its `functions`.
    pub(super) fn of_flow(program: &Program, functions: &Arena<Function>) -> Self {
        let mut names = Self::of_program(program);
        for (id, function) in functions.iter() {
            names.add_function(id, function);
        }
        names
    }

    /// Adds the names of the next node and its parameters.
    pub(super) fn add_node(&mut self, id: NodeId, node: &Node) {
        self.nodes.add(&node.name);
        self.add_ports(Ports::NodeInputs(id), node.inputs());
        self.add_ports(Ports::NodeOutputs(id), node.outputs());
    }

    /// Adds the names of the next function and its parameters.
    pub(super) fn add_function(&mut self, id: FunctionId, function: &Function) {
        self.functions.add(&function.name);
        self.add_ports(Ports::FunctionInputs(id), &function.inputs);
        self.add_ports(Ports::FunctionOutputs(id), &function.outputs);
    }

    fn add_ports(&mut self, ports: Ports, parameters: &[Parameter]) {
        self.ports.insert(ports, Labels::of(parameters.iter().map(|parameter| parameter.name.as_str())));
    }

    /// The names in a list of parameters; none for a list that there is not.
    pub(super) fn ports(&self, ports: Option<Ports>) -> Option<&Labels> {
        self.ports.get(&ports?)
    }
}

/// What arguments may name in a flow.
#[derive(Default)]
pub(super) struct Scope {
    /// What it begins with; none for nothing.
    inputs: Option<Ports>,
    /// The steps so far, each with its outputs where those have names.
    steps: HashMap<StepNumber, Option<Ports>>,
    /// The highest number of a step so far.
    pub(super) last: u32,
}

impl Scope {
    /// That of a flow that begins with `inputs`, before its first step.
    pub(super) fn of(inputs: Ports) -> Self {
        Self { inputs: Some(inputs), ..Self::default() }
    }

    /// Adds a step. Where one has the same number, that number means the later one.
    pub(super) fn add(&mut self, step: StepNumber, outputs: Option<Ports>) {
        self.steps.insert(step, outputs);
        self.last = self.last.max(step.0);
    }

    /// What the flow begins with.
    pub(super) fn inputs(&self) -> Option<Ports> {
        self.inputs
    }

    /// The outputs of a step; none where they have no names, and where no step so far has that number.
    pub(super) fn outputs(&self, step: StepNumber) -> Option<Ports> {
        self.steps.get(&step).copied().flatten()
    }
}
