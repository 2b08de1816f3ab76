//! Draws a flow for people, as a Graphviz graph.
//!
//! What the author would draw on a whiteboard: sources on the left, nodes in the order in which requests meet them, an
//! abstract node as a frame around what it contains, arrows with the patterns that choose between them, dashed red
//! arrows from a node to what handles its failure. Under a node's name stand the constraints it takes, as in the
//! program: `cache` for a writer, `cache?` for a reader.
//!
//! An abstract node that is used once is drawn where it is used. One that is used in several places is drawn once, in a
//! frame of its own, and each use is a box with a dotted arrow to it; so the picture stays as linear as the flow.
//! Failures that nobody handles are left out: any node may fail.

mod dot;
mod drawer;
mod label;
mod look;

pub use drawer::draw;
