//! Functions in C and C++ that a program calls: of nodes, of predicates, of error handlers, of sessions.
//!
//! The program names them, so the front knows the name of each, what it is for, and what its author promises. How it is
//! called is known only where its sources and headers are: there it is bound, once, and everything that calls it reads
//! it here. An overloaded function is one external; the C++ compiler chooses the overload by the arguments of a call.

use crate::arena::{Arena, ArenaId};
use crate::effects::Effects;
use crate::name::Name;
use crate::program::NodeId;
use crate::types::Type;
use std::collections::HashMap;

/// A function of a [`Program`](crate::program::Program) that is not in it.
pub type ExternalId = ArenaId<External>;

/// A function in C or C++.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct External {
    /// Its name.
    pub name: Name,
    /// Of a function template: the types that it is for. One that has some is called with values, one by one.
    pub types: Vec<Type>,
    /// Of such a one: the computed nodes that it calls, which are given to it after its types.
    pub functions: Vec<NodeId>,
    /// What it is for.
    pub role: ExternalRole,
    /// What its author promises.
    pub effects: Effects,
    /// What it is written in, as far as sources are known.
    pub language: Language,
    /// How it is called, as far as sources and headers are known.
    pub convention: Convention,
}

/// What a function is written in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Language {
    /// C++
    #[default]
    Cpp,
    /// C, so it is declared with C linkage.
    C,
}

/// How a function is called.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Convention {
    /// As the generated header declares it: with pointers to the structs of a node, `int X(X_in *in, X_out *out)`; a
    /// predicate with the value.
    #[default]
    Structs,
    /// As a header of the program declares it: with the values themselves.
    Plain(PlainFunction),
    /// As a source defines it that is written for the compiler of 2006: with pointers to structs, in any order.
    Of2006,
}

/// A function that takes values one by one: `int Find(const std::string &path, page &found)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlainFunction {
    /// Result, name in its namespace and parameters, these named as the program names them.
    pub declaration: String,
    /// What its result is.
    pub outcome: Outcome,
    /// Of a node's: how each input is passed, then each output that is not in the result.
    pub passing: Vec<Passing>,
}

impl PlainFunction {
    /// Whether all inputs of its node, so many, stay as they are, so that it can be given them where they are.
    pub fn looks(&self, inputs: usize) -> bool {
        self.passing.iter().take(inputs).all(|passing| *passing == Passing::Seen)
    }
}

/// How a value is passed to a plain function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passing {
    /// By a reference through which it may change.
    Value,
    /// By value, or by a reference through which it is only looked at: it stays as it is.
    Seen,
    /// Moved.
    Moved,
    /// By its address.
    Address,
}

impl Passing {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Value, Self::Seen, Self::Moved, Self::Address];

    /// What it is called in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Seen => "seen",
            Self::Moved => "moved",
            Self::Address => "address",
        }
    }
}

/// What the result of a plain function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// There is none: it fails only by throwing.
    Nothing,
    /// An error code.
    Error,
    /// The only output.
    Output,
    /// The only output, or an error code.
    ExpectedOutput,
    /// Success, or an error code.
    ExpectedSuccess,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Nothing, Self::Error, Self::Output, Self::ExpectedOutput, Self::ExpectedSuccess];

    /// What it is called in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Error => "error",
            Self::Output => "output",
            Self::ExpectedOutput => "expected_output",
            Self::ExpectedSuccess => "expected_success",
        }
    }

    /// Whether the result has the only output in it.
    pub fn has_output(self) -> bool {
        matches!(self, Self::Output | Self::ExpectedOutput)
    }
}

/// What a function is for, and with that what it takes and gives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ExternalRole {
    /// A node: takes its inputs, and gives its outputs or an error.
    Node,
    /// A predicate type: takes a value, and says whether that is one of the type.
    Predicate,
    /// An error handler: takes the inputs of the node that failed, and the error.
    Handler,
    /// The session of a source: takes the inputs of its target, and gives the session.
    Session,
}

impl ExternalRole {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Node, Self::Predicate, Self::Handler, Self::Session];

    /// What it is called in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Predicate => "predicate",
            Self::Handler => "handler",
            Self::Session => "session",
        }
    }

    /// Whether a call of it is an event on a path, and fails by itself. What is only asked for a value is no event, and
    /// where it throws, whoever asks has failed.
    pub fn is_event(self) -> bool {
        matches!(self, Self::Node | Self::Handler)
    }
}

impl External {
    /// A function of which nothing is promised, and nothing known.
    pub fn new(name: Name, role: ExternalRole) -> Self {
        let (language, convention) = (Language::default(), Convention::default());
        Self { name, types: vec![], functions: vec![], role, effects: Effects::Unknown, language, convention }
    }

    /// How it takes values one by one, if it does.
    pub fn plain(&self) -> Option<&PlainFunction> {
        match &self.convention {
            Convention::Plain(plain) => Some(plain),
            Convention::Structs | Convention::Of2006 => None,
        }
    }
}

/// Externals by their names: one name and role means one of them, the first. A function template is found by no name.
#[derive(Clone, Default, Debug)]
pub struct ExternalNames(HashMap<(ExternalRole, Name), ExternalId>);

impl ExternalNames {
    /// Those of `externals`.
    pub fn of(externals: &Arena<External>) -> Self {
        let mut names = Self::default();
        for (id, external) in externals.iter().filter(|(_, external)| external.types.is_empty()) {
            names.0.entry((external.role, external.name.clone())).or_insert(id);
        }
        names
    }

    /// The function that is called so and is for this.
    pub fn find(&self, role: ExternalRole, name: &Name) -> Option<ExternalId> {
        self.0.get(&(role, name.clone())).copied()
    }

    /// As [`Self::find`], of `externals`, to which it is added where it is new.
    pub fn find_or_add(&mut self, externals: &mut Arena<External>, role: ExternalRole, name: &Name) -> ExternalId {
        let add = || externals.add(External::new(name.clone(), role));
        *self.0.entry((role, name.clone())).or_insert_with(add)
    }
}
