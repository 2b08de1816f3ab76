//! The diagnostics of this crate. Each id has a page in `crates/diagnostic/pages`.

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
    // Characters and words.
    /// A character that means nothing in Flux.
    STRAY_CHARACTER = "stray-character";
    /// A `/*` without its `*/`.
    UNTERMINATED_COMMENT = "unterminated-comment";
    /// A string without its closing quote.
    UNTERMINATED_STRING = "unterminated-string";
    /// A backslash in a string that is followed by something unknown.
    BAD_ESCAPE = "bad-escape";
    /// A number with an unknown unit, or that does not fit.
    BAD_NUMBER = "bad-number";
    /// A reserved word where a name should be.
    RESERVED_WORD = "reserved-word";
    /// A library whose name is none.
    LINK_NAME = "link-name";

    // Statements.
    /// Something that starts no statement.
    UNKNOWN_STATEMENT = "unknown-statement";
    /// Something else was expected here.
    UNEXPECTED_TOKEN = "unexpected-token";
    /// A statement without its `;`.
    MISSING_SEMICOLON = "missing-semicolon";
    /// A bracket that is not closed.
    UNCLOSED_BRACKET = "unclosed-bracket";
    /// `->`, `=>` or `=` in place of another of them.
    WRONG_ARROW = "wrong-arrow";
    /// Chains in chains, too deep.
    NESTING_TOO_DEEP = "nesting-too-deep";
    /// An error code with the name of another, or of an option.
    DUPLICATE_CODE = "duplicate-code";
    /// A heartbeat that is not a duration above zero.
    TIMER_PERIOD = "timer-period";
    /// A deadline that is not a duration above zero.
    DEADLINE_DURATION = "deadline-duration";
    /// A width that is not a number above zero.
    EACH_WIDTH = "each-width";

    // Parameters.
    /// A default where there can be none.
    INPUT_DEFAULT = "input-default";
    /// A parameter without a name or without a type.
    PARAMETER_NAME = "parameter-name";
    /// A parameter that is a reference.
    PARAMETER_REFERENCE = "parameter-reference";
    /// A parameter whose type cannot be a member of a struct.
    PARAMETER_TYPE = "parameter-type";
    /// A second list of parameters with the same name, or one that is named twice for a node.
    DUPLICATE_LIST = "duplicate-list";
    /// A list with too many parameters.
    LIST_LENGTH = "list-length";
    /// Two parameters of a list with the same name.
    DUPLICATE_PARAMETER = "duplicate-parameter";

    // Types.
    /// A second type of a name, or one with the name of a type of the language.
    DUPLICATE_TYPE = "duplicate-type";
    /// Two fields of a record, or two values of an enumeration, with one name.
    DUPLICATE_FIELD = "duplicate-field";
    /// A field whose type is none of the language's.
    FIELD_TYPE = "field-type";
    /// A record that contains itself.
    RECORD_CYCLE = "record-cycle";

    // Bodies.
    /// Values of types that do not fit.
    EXPRESSION_TYPE = "expression-type";
    /// A name in a body that stands for nothing.
    UNKNOWN_VALUE = "unknown-value";
    /// A field that the record does not have, or a value that the enumeration does not have.
    UNKNOWN_FIELD = "unknown-field";
    /// A function in a body that is none of the language's.
    UNKNOWN_FUNCTION = "unknown-function";
    /// A statement or an operator of another language.
    FOREIGN_STATEMENT = "foreign-statement";
    /// A `=` in a value.
    MISPLACED_EQUALS = "misplaced-equals";
    /// A record that is not made of all its fields.
    RECORD_FIELDS = "record-fields";
    /// A variable that has no value on some way.
    UNSET_VALUE = "unset-value";
    /// A value is given to what cannot have one.
    ASSIGNED_VALUE = "assigned-value";
    /// A failure whose code is no number, or that of success.
    FAIL_CODE = "fail-code";
    /// A node with a body and with a flow.
    BODY_AND_FLOW = "body-and-flow";

    // Messages.
    /// An attribute or a property that there is not, or that the field cannot have.
    MESSAGE_ATTRIBUTE = "message-attribute";
    /// A token that is no regular expression.
    MESSAGE_TOKEN = "message-token";
    /// A message that is made without a field that it needs, or with one that it is not made of.
    MESSAGE_FIELDS = "message-fields";

    // Modules.

    // Names.
    /// A node with a type as an input that is given none, or something else.
    TYPE_ARGUMENT = "type-argument";
    /// A constant that is a name and not an option.
    UNKNOWN_OPTION = "unknown-option";
    /// A second option with the same flag, or one with a flag that every server has.
    DUPLICATE_OPTION = "duplicate-option";
    /// A default that is no value of the option's kind.
    OPTION_DEFAULT = "option-default";
    /// An attribute that does not exist.
    UNKNOWN_ATTRIBUTE = "unknown-attribute";
    /// An attribute twice, or two that say more and less of the same.
    DUPLICATE_ATTRIBUTE = "duplicate-attribute";
    /// A stack without a size or of one that cannot be, or for what is no function in C++.
    NODE_STACK = "node-stack";
    /// A promise about what is no function in C++.
    MISPLACED_PROMISE = "misplaced-promise";
    /// A pattern that is no predicate type.
    UNKNOWN_PREDICATE = "unknown-predicate";
    /// A pattern that names an input that there is not, or that has one.
    NAMED_PATTERN = "named-pattern";
    /// A constraint or a handler for a node that does not exist.
    UNKNOWN_NODE = "unknown-node";
    /// A second declaration of a node.
    DUPLICATE_NODE = "duplicate-node";
    /// A second flow without patterns.
    DUPLICATE_FLOW = "duplicate-flow";
    /// A second declaration of a predicate type.
    DUPLICATE_PREDICATE = "duplicate-predicate";

    // Constraints.
    /// A second state with the same name, or one that is called like a constraint.
    DUPLICATE_STATE = "duplicate-state";
    /// A state has one key and one value, of types that can be kept, and a limit.
    STATE_COLUMN = "state-column";
    /// An operation that states do not have.
    STATE_OPERATION = "state-operation";
    /// A constraint with two scopes.
    CONSTRAINT_SCOPE = "constraint-scope";
    /// Keys of one constraint made of different numbers of values.
    KEY_LENGTH = "key-length";
    /// A key that is not an input of the node.
    UNKNOWN_KEY = "unknown-key";
    /// A key for a node whose inputs are not declared.
    UNDECLARED_KEY = "undeclared-key";
    /// `session` or `program` among keys.
    RESERVED_KEY = "reserved-key";
    /// `(session)` where an input of that name could be meant.
    SCOPE_NOT_KEY = "scope-not-key";
}
