//! A program as people would draw it on a whiteboard: sources, nodes in the order in which requests meet them, an
//! abstract node as a frame around what it contains, arrows with the patterns that choose between them, arrows of
//! another kind from a node to the handler of its failure. A node shows the constraints that it takes, as in the
//! program: `cache` for a writer, `cache?` for a reader. A value that a node takes from further back than the step
//! before has an arrow with its name.
//!
//! An abstract node that is used once is drawn where it is used. One that is used in several places is drawn once, in
//! its own frame, and each use is a box with an arrow to it; so the picture stays as linear as the flow. If its error
//! handlers depend on the path by which it is reached, it is drawn once for each set of handlers. Failures without a
//! handler are left out: any node may fail.
//!
//! [`draw`] makes a [`Picture`], which says what there is and how it is connected. A layout program finds the places;
//! the back ends write the picture in the languages of such programs.

mod canvas;
mod drawer;
mod label;
mod looks;
mod makers;
pub mod palette;

pub use drawer::{draw, draw_with_constraints};

/// A drawing: boxes, some of them in frames, and arrows between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The program's name.
    pub title: String,
    /// What stands in no frame, in the order of the flow.
    pub items: Vec<Item>,
    /// All arrows, those inside of frames too.
    pub arrows: Vec<Arrow>,
}

/// A part of a picture or of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A box or a point.
    Shape(Shape),
    /// An abstract node and what it contains.
    Frame(Frame),
    /// Two boxes that should stand beside each other, across the direction of the flow.
    Beside(ShapeId, ShapeId),
}

/// A number that no other frame of the picture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameId(pub usize);

/// A name that no other shape of the picture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShapeId {
    /// Numbered from 1 in the order drawn.
    Drawn(usize),
    /// Where an abstract node in a frame of its own begins.
    Begin(FrameId),
}

/// A box or a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What arrows call it.
    pub id: ShapeId,
    /// What it stands for.
    pub kind: ShapeKind,
    /// What is written in it; nothing in a point.
    pub text: String,
    /// The constraints it takes: `cache`, `account(from)`.
    pub badges: Vec<String>,
    /// Where it comes from, `image.flux:12`; empty for a point.
    pub place: String,
}

/// What a box or a point stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShapeKind {
    /// A concrete node.
    Node,
    /// Where flows come from.
    Source,
    /// What handles a failure.
    Handler,
    /// An abstract node that hands its values on.
    Empty,
    /// A use of an abstract node that is drawn elsewhere.
    Reference,
    /// The words for what happens where nothing is foreseen.
    Nowhere,
    /// The point where a dispatch chooses.
    Choice,
    /// The point where parallel branches begin or end.
    Bar,
    /// The point where a frame that stands apart begins or ends.
    End,
}

/// A frame around what an abstract node contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Which.
    pub id: FrameId,
    /// The name of the abstract node, or of its function where that has other error handlers than the first.
    pub name: String,
    /// The constraints that its user takes for it.
    pub badges: Vec<String>,
    /// Where it is declared.
    pub place: String,
    /// How many frames it is in.
    pub depth: usize,
    /// What is in it.
    pub items: Vec<Item>,
}

/// An arrow from one shape to another, or from border to border of their frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Where it begins.
    pub from: ShapeId,
    /// The frame around `from` at whose border it begins.
    pub from_frame: Option<FrameId>,
    /// Where it ends.
    pub to: ShapeId,
    /// The frame around `to` at whose border it ends.
    pub to_frame: Option<FrameId>,
    /// What is written at it.
    pub label: Option<String>,
    /// What it means.
    pub way: Way,
}

/// What an arrow means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// The way that requests take.
    Flow,
    /// The way of a failure.
    Failure,
    /// From a use to where the abstract node is drawn.
    Refers,
    /// The way of a value to who takes it from further back than the step before.
    Reaches,
}
