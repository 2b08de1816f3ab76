//! Who put something into a flow: the author, at the place that its span says, or a pass, for a node.
//!
//! Reports, comments in generated code and pictures say it, since a reader looks in the program for what is in the
//! server; and [`crate::verify`] holds what a pass made to what it was made for.

use crate::program::NodeId;

/// A pass that puts things where the author did not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rewrite {
    /// Takes constraints further out than they are asked for, so that all flows take them in one order.
    OrderConstraints,
}

impl Rewrite {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::OrderConstraints];

    /// The name of the pass.
    pub fn name(self) -> &'static str {
        match self {
            Self::OrderConstraints => "order_constraints",
        }
    }
}

/// Where something in a flow comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Provenance {
    /// From the author, who wrote it where it is.
    #[default]
    Author,
    /// From a pass, for this node.
    Pass(Rewrite, NodeId),
}

impl Provenance {
    /// The node for which a pass made it; none where the author wrote it.
    pub fn whom(self) -> Option<NodeId> {
        match self {
            Self::Author => None,
            Self::Pass(_, node) => Some(node),
        }
    }

    /// The pass that made it; none where the author wrote it.
    pub fn pass(self) -> Option<Rewrite> {
        match self {
            Self::Author => None,
            Self::Pass(pass, _) => Some(pass),
        }
    }
}
