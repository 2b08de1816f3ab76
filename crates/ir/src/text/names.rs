//! Names in the text form. The printer and the parser share them.

use super::externals;
use crate::arena::Arena;
use crate::external::{External, ExternalId, ExternalNames};
use crate::flow::{Callee, Function, FunctionId};
use crate::name::Name;
use crate::program::{Node, NodeId, Parameter, Program, StepNumber};
use std::collections::HashMap;

/// The names of things that have an index. If several things have one name, the name means the first.
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

    /// Like [`Self::of`], for names without a module: of parameters, functions of the flow, and modules.
    fn of_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut labels = Self::default();
        words.into_iter().for_each(|word| labels.add(Name::new(word)));
        labels
    }

    /// Adds the name of the next index.
    pub(super) fn add(&mut self, name: Name) {
        self.first.entry(name.clone()).or_insert(self.names.len());
        self.names.push(name);
    }

    /// The index that `name` means, if there is one.
    pub(super) fn find(&self, name: &Name) -> Option<usize> {
        self.first.get(name).copied()
    }

    /// The name that means `index`, if there is one.
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
    /// The inputs that `callee` takes, if they have names of their own.
    pub(super) fn inputs_of(callee: &Callee) -> Option<Self> {
        match callee {
            Callee::Node(node) | Callee::External { node, .. } => Some(Self::NodeInputs(*node)),
            Callee::Function(function) => Some(Self::FunctionInputs(*function)),
            Callee::Fork(branches) => branches.first().map(|branch| Self::FunctionInputs(branch.function)),
            Callee::Each(_) => None,
        }
    }

    /// The outputs that `callee` gives, if they have names of their own.
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
    /// The external functions of the printed program.
    called: Arena<External>,
    /// True if the program names all external functions. The text does not list them then.
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

    /// An external function of the printed program.
    pub(super) fn called(&self, id: ExternalId) -> Option<&External> {
        self.called.find(id)
    }

    /// The names in a list of parameters; none if the list does not exist.
    pub(super) fn ports(&self, ports: Option<Ports>) -> Option<&Labels> {
        self.ports.get(&ports?)
    }
}

/// The values that arguments may name in a flow.
#[derive(Default)]
pub(super) struct Scope {
    /// The values that the flow begins with, if there are any.
    inputs: Option<Ports>,
    /// The steps so far, each with its outputs if they have names.
    steps: HashMap<StepNumber, Option<Ports>>,
    /// The highest step number so far.
    pub(super) last: u32,
}

impl Scope {
    /// The scope of a flow that begins with `inputs`, before its first step.
    pub(super) fn of(inputs: Ports) -> Self {
        Self { inputs: Some(inputs), ..Self::default() }
    }

    /// Adds a step. If an earlier step has the same number, the number now means the added step.
    pub(super) fn add(&mut self, step: StepNumber, outputs: Option<Ports>) {
        self.steps.insert(step, outputs);
        self.last = self.last.max(step.0);
    }

    /// The values that the flow begins with.
    pub(super) fn inputs(&self) -> Option<Ports> {
        self.inputs
    }

    /// The outputs of a step; none if they have no names, or if no step so far has this number.
    pub(super) fn outputs(&self, step: StepNumber) -> Option<Ports> {
        self.steps.get(&step).copied().flatten()
    }
}
