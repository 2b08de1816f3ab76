//! The signature of a node: its inputs and outputs.

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
    /// The declaration, or the place that a pass inferred the parameter from.
    pub span: Span,
}

impl Parameter {
    /// True if this input takes `value` by name: the names are equal, and this type takes the type of `value`.
    pub fn takes(&self, value: &Self) -> bool {
        self.name == value.name && self.ty.takes(&value.ty)
    }

    /// True if both have the same name and the same type.
    pub fn is_like(&self, other: &Self) -> bool {
        self.name == other.name && self.ty == other.ty
    }
}

/// The inputs and outputs of a node.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Signature {
    /// The inputs, in order.
    pub inputs: Vec<Parameter>,
    /// The outputs, in order.
    pub outputs: Vec<Parameter>,
    /// The defaults of the last inputs, one constant for each. An input takes its default if nothing else is bound to
    /// it. It never takes a value along an edge or by reach.
    pub defaults: Vec<Constant>,
    /// True if the author did not write the signature and a pass inferred it.
    pub inferred: bool,
}

impl Signature {
    /// The number of inputs without a default; these inputs come first.
    pub fn required(&self) -> usize {
        self.inputs.len().saturating_sub(self.defaults.len())
    }

    /// The default of the input at this position, if it has one.
    pub fn default_of(&self, position: usize) -> Option<&Constant> {
        self.defaults.get(position.checked_sub(self.required())?)
    }
}
