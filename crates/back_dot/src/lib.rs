//! Writes a picture for Graphviz, which lays it out from left to right and makes an SVG of it, for example.

mod dot;
mod html;
mod look;

pub use dot::write;
