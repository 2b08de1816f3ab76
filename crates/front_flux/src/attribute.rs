//! The attributes of declarations: words after what a node gives, or after the function of a predicate type. One of
//! them has a number behind it.

use flux_ir::effects::Effects;

/// What a word says of a node, or of a predicate type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attribute {
    /// `blocking`
    Blocking,
    /// `replicable`
    Replicable,
    /// `stack 8M`
    Stack,
    /// `silent` or `pure`
    Promise(Effects),
}

impl Attribute {
    /// All of them, in the order of the language reference.
    pub const ALL: [Self; 5] =
        [Self::Blocking, Self::Replicable, Self::Stack, Self::Promise(Effects::Silent), Self::Promise(Effects::Pure)];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blocking => "blocking",
            Self::Replicable => "replicable",
            Self::Stack => "stack",
            Self::Promise(effects) => effects.name(),
        }
    }

    /// The attribute that is written so.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|attribute| attribute.name() == name)
    }
}
