//! The model's text form, verifier and path numbers, on examples and on random programs.

mod random;
mod text;
