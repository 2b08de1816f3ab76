//! The diagnostics that passes give. Each has its page.

use flux_diagnostic::Id;

/// Handlers handle the failures of each other too deep.
pub const HANDLERS_TOO_DEEP: Id = Id("handlers-too-deep");
/// A node reaches itself.
pub const CYCLE: Id = Id("cycle");
/// The values before an arrow do not fit the node after it.
pub const EDGE_MISMATCH: Id = Id("edge-mismatch");
/// The names on both sides of an arrow are the same in another order.
pub const EDGE_PERMUTED: Id = Id("edge-permuted");
/// A step says which value an input takes, of an input that it cannot say it of.
pub const NAMED_INPUT: Id = Id("named-input");
/// A step says which value an input takes, and there is no such value.
pub const NAMED_VALUE: Id = Id("named-value");
/// An input takes a value from further back than the step before.
pub const REACHED: Id = Id("reached");
/// An input reaches back, and what the step before gives of its type nothing takes.
pub const REACH_SLIP: Id = Id("reach-slip");
/// An input could reach back for two values.
pub const REACH_AMBIGUOUS: Id = Id("reach-ambiguous");
/// An input would reach a value that is gone by then.
pub const REACH_GONE: Id = Id("reach-gone");
/// Values that fit by name only, with what is dropped.
pub const EDGE_BY_NAME: Id = Id("edge-by-name");
/// An each step that has no list, or two.
pub const EACH_LIST: Id = Id("each-list");
/// An each step whose chain takes or gives what cannot be in a list.
pub const EACH_ELEMENT: Id = Id("each-element");
/// A value that an instance of a loop hands on as one of another type.
pub const EACH_CARRIED: Id = Id("each-carried");
/// More constants than a node has inputs.
pub const TOO_MANY_CONSTANTS: Id = Id("too-many-constants");
/// A step without the constant that its first input takes.
pub const MISSING_CONSTANT: Id = Id("missing-constant");
/// A constant for an input of another type.
pub const CONSTANT_TYPE: Id = Id("constant-type");
/// A key whose values cannot be keys.
pub const KEY_TYPE: Id = Id("key-type");
/// A signature found from the neighbours.
pub const SIGNATURE_INFERRED: Id = Id("signature-inferred");
/// A signature that nothing determines, or that the neighbours determine differently.
pub const SIGNATURE_UNKNOWN: Id = Id("signature-unknown");
/// An option that no node is given.
pub const UNUSED_OPTION: Id = Id("unused-option");
/// As many patterns as inputs are needed.
pub const PATTERN_COUNT: Id = Id("pattern-count");
/// A pattern for a value of another type than it is asked about.
pub const PATTERN_TYPE: Id = Id("pattern-type");
/// A dispatch that may match nothing.
pub const NO_CATCH_ALL: Id = Id("no-catch-all");
/// A line after the catch-all.
pub const UNREACHABLE_LINE: Id = Id("unreachable-line");
/// Two handlers for the same failure.
pub const HANDLER_TIE: Id = Id("handler-tie");
/// Handlers on paths that tell too many ways apart.
pub const HANDLER_WAYS: Id = Id("handler-ways");
/// A handler on a path that no failure is handled by.
pub const HANDLER_UNREACHED: Id = Id("handler-unreached");
/// A handler node whose inputs the failing node's do not fit.
pub const HANDLER_MISMATCH: Id = Id("handler-mismatch");
/// A handler node whose outputs do not fit those of the failing node.
pub const FALLBACK_MISMATCH: Id = Id("fallback-mismatch");
/// A node, or a function that handles an error, that is named but once, and nearly like a node.
pub const SIMILAR_NODE: Id = Id("similar-node");
/// A constraint that is named once and nearly like another.
pub const SIMILAR_CONSTRAINT: Id = Id("similar-constraint");
/// A source that takes inputs.
pub const SOURCE_INPUTS: Id = Id("source-inputs");
/// A heartbeat whose target takes inputs.
pub const TIMER_INPUTS: Id = Id("timer-inputs");
/// A constraint that a source holds while it waits.
pub const SOURCE_HOLDS: Id = Id("source-holds");
/// A promise that the rest of the program contradicts.
pub const EFFECTS_CONFLICT: Id = Id("effects-conflict");
/// A replicable node that blocks, or that applies one which does.
pub const REPLICABLE_BLOCKS: Id = Id("replicable-blocks");
/// An abstract source with one instance, in which a replicable node is.
pub const SOURCE_NOT_REPLICABLE: Id = Id("source-not-replicable");
/// A constraint that is taken further out than it was written, so that nothing can deadlock.
pub const CONSTRAINT_MOVED: Id = Id("constraint-moved");
/// A node that is reached with too many different sets of constraints held.
pub const TOO_MANY_CONTEXTS: Id = Id("too-many-contexts");
/// A keyed constraint that would have to be taken before its key is known.
pub const KEY_UNREACHABLE: Id = Id("key-unreachable");
/// A whole table is held, as the key of a row is not known where the row would have to be taken.
pub const WHOLE_TABLE: Id = Id("whole-table");
/// Branches of a parallel step that run one after the other.
pub const BRANCHES_SERIALISED: Id = Id("branches-serialised");
/// Branches that take what is held around their step.
pub const BRANCHES_CONFLICT: Id = Id("branches-conflict");
/// A constraint of scope session where flows have no session.
pub const NO_SESSION: Id = Id("no-session");
/// A node that is declared and that nothing names.
pub const UNUSED_NODE: Id = Id("unused-node");
/// A flow that no source reaches.
pub const UNREACHED_FLOW: Id = Id("unreached-flow");
/// A constraint that has readers alone.
pub const ONLY_READERS: Id = Id("only-readers");
/// A blocking node that keeps a connection, or makes one.
pub const BLOCKING_CONNECTION: Id = Id("blocking-connection");
/// A message that begins with itself.
pub const MESSAGE_LEFT_RECURSION: Id = Id("message-left-recursion");
/// A choice that the next byte does not decide.
pub const MESSAGE_LOOKAHEAD: Id = Id("message-lookahead");
/// A field without an end, or without a bound.
pub const MESSAGE_UNBOUNDED: Id = Id("message-unbounded");
/// A stream in what has a length itself, or without a length.
pub const MESSAGE_STREAM: Id = Id("message-stream");
/// A field is asked for that has not been read, or may not be there.
pub const MESSAGE_LATER: Id = Id("message-later");
/// Fields of bits that fill no whole bytes.
pub const MESSAGE_BITS: Id = Id("message-bits");
