//! Passes that report and change nothing.

pub mod check_blocking;
pub mod check_constants;
pub mod check_cycles;
pub mod check_dispatch;
pub mod check_effects;
pub mod check_handlers;
pub mod check_keys;
pub mod check_message_shapes;
pub mod check_messages;
pub mod check_missing_constants;
pub mod check_options;
pub mod check_replicable;
pub mod check_sessions;
pub mod check_slips;
pub mod check_sources;
pub mod check_uses;
