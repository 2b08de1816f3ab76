//! What the text form calls things: the same for the side that prints and the side that parses.

use super::externals;
use crate::arena::Arena;
use crate::external::{External, ExternalId, ExternalNames};
use crate::flow::{Callee, Function, FunctionId};
use crate::name::Name;
use crate::program::{Node, NodeId, Parameter, Program, StepNumber};
use std::collections::HashMap;

/// The names of things that have an index. A name means the first that bears it.
#[derive(Default)]
pub(super) struct Labels {
    names: Vec<Name>,
    first: HashMap<Name, usize>,
}

impl Labels {
    pub(super) fn of<'a>(names: impl IntoIterator<Item = &'a Name>) -> Self {
        let mut labels = Self::default();
        names.into_iter().for_each(|name| labels.add(name.clone()));
        labels
    }

    /// As [`Self::of`], of what is of no module: parameters, functions of the flow, modules themselves.
    fn of_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut labels = Self::default();
        words.into_iter().for_each(|word| labels.add(Name::new(word)));
        labels
    }

    /// Names the next index.
    pub(super) fn add(&mut self, name: Name) {
        self.first.entry(name.clone()).or_insert(self.names.len());
        self.names.push(name);
    }

    /// What `name` means.
    pub(super) fn find(&self, name: &Name) -> Option<usize> {
        self.first.get(name).copied()
    }

    /// The name that means `index`, if one does.
    pub(super) fn get(&self, index: usize) -> Option<&Name> {
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
            Callee::Node(node) | Callee::External { node, .. } => Some(Self::NodeInputs(*node)),
            Callee::Function(function) => Some(Self::FunctionInputs(*function)),
            Callee::Fork(branches) => branches.first().map(|branch| Self::FunctionInputs(branch.function)),
            Callee::Each(_) => None,
        }
    }

    /// The outputs of what `callee` calls, where they have names of their own.
    pub(super) fn outputs_of(callee: &Callee) -> Option<Self> {
        match callee {
            Callee::Node(node) => Some(Self::NodeOutputs(*node)),
            Callee::Function(function) => Some(Self::FunctionOutputs(*function)),
            Callee::Fork(_) | Callee::Each(_) | Callee::External { .. } => None,
        }
    }
}

/// All names of a program, or of a flow.
#[derive(Default)]
pub(super) struct Names {
    pub(super) nodes: Labels,
    pub(super) predicates: Labels,
    pub(super) constraints: Labels,
    pub(super) messages: Labels,
    pub(super) modules: Labels,
    pub(super) options: Labels,
    pub(super) codes: Labels,
    pub(super) functions: Labels,
    pub(super) externals: ExternalNames,
    /// The external functions of the program that is printed.
    called: Arena<External>,
    /// Whether the program names them all, so that they are not listed.
    pub(super) are_named: bool,
    ports: HashMap<Ports, Labels>,
}

impl Names {
    /// The names in `program`.
    pub(super) fn of_program(program: &Program) -> Self {
        let mut names = Self::default();
        for (id, node) in program.nodes.iter() {
            names.add_node(id, node);
        }
        names.externals = ExternalNames::of(&program.externals);
        names.called = program.externals.clone();
        names.are_named = externals::are_named(program);
        names.predicates = Labels::of(program.predicates.iter().map(|(_, predicate)| &predicate.name));
        names.messages = Labels::of(program.messages.iter().map(|(_, message)| &message.name));
        names.modules = Labels::of_words(program.modules.iter().map(|(_, module)| module.name.as_str()));
        names.options = Labels::of(program.options.iter().map(|(_, option)| &option.name));
        names.codes = Labels::of(program.codes.iter().map(|(_, code)| &code.name));
        names.constraints = Labels::of(program.constraints.iter().map(|(_, constraint)| &constraint.name));
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
        self.nodes.add(node.name.clone());
        self.add_ports(Ports::NodeInputs(id), node.inputs());
        self.add_ports(Ports::NodeOutputs(id), node.outputs());
    }

    /// Adds the names of the next function and its parameters.
    pub(super) fn add_function(&mut self, id: FunctionId, function: &Function) {
        self.functions.add(Name::new(function.name.as_str()));
        self.add_ports(Ports::FunctionInputs(id), &function.inputs);
        self.add_ports(Ports::FunctionOutputs(id), &function.outputs);
    }

    fn add_ports(&mut self, ports: Ports, parameters: &[Parameter]) {
        self.ports.insert(ports, Labels::of_words(parameters.iter().map(|parameter| parameter.name.as_str())));
    }

    /// An external function of the program that is printed.
    pub(super) fn called(&self, id: ExternalId) -> Option<&External> {
        self.called.find(id)
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
