//! The diagnostics of what the C++ compiler and the linker find. Each has its page.

use flux_diagnostic::Id;

/// A function that an included header declares does not fit its node.
pub const FUNCTION_MISMATCH: Id = Id("function-mismatch");
/// A header that a program includes is not found.
pub const MISSING_HEADER: Id = Id("missing-header");
/// A type that a program names and no header declares.
pub const UNKNOWN_TYPE: Id = Id("unknown-type");
/// A type that cannot do what the program needs of it: be a key, be copied to branches.
pub const TYPE_REQUIREMENT: Id = Id("type-requirement");
/// A function that a program asks for and no source defines.
pub const MISSING_FUNCTION: Id = Id("missing-function");
/// A node's function that takes its structs by reference.
pub const STRUCT_REFERENCE: Id = Id("struct-reference");
/// A function that a source uses, and that neither a source nor a library defines.
pub const UNDEFINED_FUNCTION: Id = Id("undefined-function");
/// A library that is not installed.
pub const MISSING_LIBRARY: Id = Id("missing-library");
/// A blocking node whose source calls a connection.
pub const BLOCKING_CALL: Id = Id("blocking-call");
/// A function that can end without a return.
pub const MISSING_RETURN: Id = Id("missing-return");
