//! The diagnostics of this crate. Each id has a page in `crates/diagnostic/pages`. What `.flux` has too, it says by the
//! ids of that.

use flux_diagnostic::Id;

/// Declares the ids and the list of all of them.
macro_rules! ids {
    ($($(#[$documentation:meta])* $name:ident = $id:literal;)*) => {
        $($(#[$documentation])* pub const $name: Id = Id($id);)*

        /// All of them, in the order of this file.
        pub const ALL: &[Id] = &[$($name),*];
    };
}

ids! {
    /// A line in a column that belongs to no block, one that a tab indents, or a declaration that is indented.
    INDENTATION = "indentation";
    /// A `proc` or `fun` that is declared twice, or whose name something else has; and a `let` whose name is taken.
    DUPLICATE_NAME = "duplicate-name";
    /// A channel that is read where it is only sent to, or the other way round, or used as a value.
    CHANNEL_DIRECTION = "channel-direction";
    /// Something that is sent where nothing can be sent.
    SEND_TARGET = "send-target";
    /// Something that is checked, and that no server can do yet.
    NOT_LOWERED = "not-lowered";
    /// A channel whose values have no form on the wire.
    CHANNEL_TYPE = "channel-type";
    /// Functions that call each other in a circle.
    RECURSION = "recursion";
    /// A call whose values do not fit what the function takes.
    CALL_MISMATCH = "call-mismatch";
    /// A block that has no value where one is needed, or has one where none is.
    BLOCK_VALUE = "block-value";
    /// A field that is written with the beginning of its name.
    FIELD_SHORTENED = "field-shortened";
    /// A field of a record over a message that the message does not have.
    VIEW_MISMATCH = "view-mismatch";
}
