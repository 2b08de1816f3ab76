//! The model of a Flux program that every stage of the compiler shares.
//!
//! [`program`] describes the program that the author wrote; [`flow`] describes its execution. Both describe values of
//! [`types`], and their declarations have a [`name`]. [`message`] describes the meaning of bytes on a wire. [`text`]
//! prints and parses both models; [`verify`] checks their invariants after every pass. [`paths`] numbers the paths
//! through a flow, and [`run`] executes one path. [`external`] describes the functions in C and C++. [`effects`]
//! describes the side effects of functions, and [`error_code`] describes failures.

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
