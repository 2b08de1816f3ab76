//! What is found out about a program for checks and rewrites: an analysis changes nothing, and says nothing to the
//! author.

pub mod containment;
pub mod depth_first;
pub mod each_steps;
pub mod edges;
pub mod fit;
pub mod handler_paths;
pub mod mentions;
pub mod visible_values;
pub mod walks;
