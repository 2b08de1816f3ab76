//! The model of a Flux program that every stage of the compiler shares.
//!
//! [`program`] is what the author said; [`flow`] is what will happen; both are about values of [`types`], and what is
//! declared in them has a [`name`]. [`message`] is what bytes on a wire mean. [`text`]
//! prints and parses both; [`verify`] checks what must hold of them after every pass; [`paths`] numbers the paths
//! through a flow, and [`run`] goes along one; [`external`]
//! are the functions in C++, and [`effects`] is what functions do beside giving their outputs. [`error_code`] is about
//! failures.

pub mod arena;
pub mod compute;
pub mod cpp_keyword;
pub mod effects;
pub mod error_code;
pub mod external;
pub mod flow;
pub mod flow_path;
pub mod message;
pub mod name;
pub mod paths;
pub mod program;
pub mod provenance;
pub mod run;
mod signature;
pub mod text;
pub mod types;
pub mod verify;
