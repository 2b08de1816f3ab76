//! Functions in C and C++ that a program calls: of nodes, of predicates, of error handlers, of sessions.
//!
//! The program names them, and the model knows no more of one than that name, what it is for, and what its author
//! promises. An overloaded function is one external: which of the overloads is called the C++ compiler decides by what
//! a call is given.

use crate::arena::{Arena, ArenaId};
use crate::effects::Effects;
use crate::name::Name;
use std::collections::HashMap;

/// A function of a [`Program`](crate::program::Program) that is not in it.
pub type ExternalId = ArenaId<External>;

/// A function in C or C++.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct External {
    /// Its name.
    pub name: Name,
    /// What it is for.
    pub role: ExternalRole,
    /// What its author promises.
    pub effects: Effects,
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
    /// A function of which nothing is promised.
    pub fn new(name: Name, role: ExternalRole) -> Self {
        Self { name, role, effects: Effects::Unknown }
    }
}

/// Externals by their names: one name and role means one of them, the first.
#[derive(Clone, Default, Debug)]
pub struct ExternalNames(HashMap<(ExternalRole, Name), ExternalId>);

impl ExternalNames {
    /// Those of `externals`.
    pub fn of(externals: &Arena<External>) -> Self {
        let mut names = Self::default();
        for (id, external) in externals.iter() {
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
