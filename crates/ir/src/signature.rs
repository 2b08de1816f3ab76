//! What a node takes and what it gives.

use crate::program::Constant;
use crate::types::Type;
use flux_source::Span;

/// A parameter, or a field of a record: a type and a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// The type.
    pub ty: Type,
    /// The name.
    pub name: String,
    /// Where it is declared, or what it was inferred from.
    pub span: Span,
}

impl Parameter {
    /// Whether it takes `value` by its name.
    pub fn takes(&self, value: &Self) -> bool {
        self.name == value.name && self.ty.takes(&value.ty)
    }

    /// Whether both have one name and one type.
    pub fn is_like(&self, other: &Self) -> bool {
        self.name == other.name && self.ty == other.ty
    }
}

/// What goes into a node and what comes out.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Signature {
    /// The inputs, in order.
    pub inputs: Vec<Parameter>,
    /// The outputs, in order.
    pub outputs: Vec<Parameter>,
    /// What the last inputs are where nothing is bound to them: as many as there are constants here. No value comes to
    /// such an input along an edge or by reach.
    pub defaults: Vec<Constant>,
    /// True where the author did not write it and a pass found it.
    pub inferred: bool,
}

impl Signature {
    /// How many inputs have no default: they come first.
    pub fn required(&self) -> usize {
        self.inputs.len().saturating_sub(self.defaults.len())
    }

    /// The default of the input at this position, if it has one.
    pub fn default_of(&self, position: usize) -> Option<&Constant> {
        self.defaults.get(position.checked_sub(self.required())?)
    }
}
