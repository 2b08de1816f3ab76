//! The diagnostics of this crate. Each id has a page in `crates/diagnostic/pages`.

use flux_diagnostic::Id;

/// A name that C++ does not allow.
pub const INVALID_NAME: Id = Id("invalid-name");
/// A name that stands for two different things.
pub const NAME_CLASH: Id = Id("name-clash");
/// A module that there is not, or that the file does not use.
pub const UNKNOWN_MODULE: Id = Id("unknown-module");
/// A name that a module does not have.
pub const UNKNOWN_IN_MODULE: Id = Id("unknown-in-module");
/// Two modules with one name.
pub const MODULE_CLASH: Id = Id("module-clash");
/// Modules that use each other.
pub const MODULE_CYCLE: Id = Id("module-cycle");
/// A name of a module that is given a meaning outside of it.
pub const FOREIGN_DEFINITION: Id = Id("foreign-definition");

/// All of them, in the order of this file.
pub const ALL: [Id; 7] =
    [INVALID_NAME, NAME_CLASH, UNKNOWN_MODULE, UNKNOWN_IN_MODULE, MODULE_CLASH, MODULE_CYCLE, FOREIGN_DEFINITION];
