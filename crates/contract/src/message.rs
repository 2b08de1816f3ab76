//! The runtime's names that the classes of messages use. What is generated of the standard messages is compiled with
//! them, and read, in the tests of `back_cpp`: that holds both sides to each other.

/// The base of every class of a message.
pub const MESSAGE: &str = "flux::message";
/// The base of the places of the messages of a class.
pub const PLACES: &str = "flux::places_of";
/// What all messages of one class have in common.
pub const FACTS: &str = "flux::message_facts";
/// Where a text or a message is.
pub const PART: &str = "flux::message_part";
/// Where a list is.
pub const PARTS: &str = "flux::message_parts";
/// A list, decoded while somebody goes through it.
pub const LIST: &str = "flux::message_list";
/// The bytes of a message, shared.
pub const BYTES: &str = "flux::message_bytes";
/// What reads a message.
pub const READER: &str = "flux::message_reader";
/// What goes along the bytes of a message for the function that reads it.
pub const CURSOR: &str = "flux::message_cursor";
/// The same where all of it is most likely there, and right.
pub const QUICK_CURSOR: &str = "flux::quick_cursor";
/// The same of one whose parts all have sizes that are known before them.
pub const SIZED_CURSOR: &str = "flux::sized_cursor";
/// What comes of reading one quickly.
pub const QUICK_OUTCOME: &str = "flux::quick_outcome";
/// What reads one quickly, with all that it calls in it.
pub const READ_QUICKLY: &str = "flux::quick_reading::read";
/// The same of one whose parts all have sizes that are known before them.
pub const READ_SIZED: &str = "flux::sized_cursor::read";
/// Finds the places of a message again that was read before.
pub const FIND_AGAIN: &str = "flux::find_again";
/// A class of messages as an argument.
pub const KIND: &str = "flux::kind";
/// The same of a message that has been read before.
pub const KNOWN_CURSOR: &str = "flux::known_cursor";
/// How many bytes a field has, and its name.
pub const FIELD_SIZE: &str = "flux::field_size";
/// A stream that comes next.
pub const STREAM_AHEAD: &str = "flux::stream_ahead";
/// What comes of reading one.
pub const READING: &str = "flux::reading";
/// What writes a message.
pub const WRITER: &str = "flux::message_writer";
/// The same of one that is told how many bytes it will write at most.
pub const SIZED_WRITER: &str = "flux::sized_message_writer";
/// The bytes that a token consists of.
pub const BYTE_SET: &str = "flux::byte_set";
/// The namespace of what decodes values: `big`, `little` and `bits`.
pub const WIRE: &str = "flux::wire";
/// The namespace of what formulas compute with.
pub const FORMULA: &str = "flux::formula";
/// An element of a list that is an integer.
pub const INTEGER_ELEMENT: &str = "flux::integer_element";
/// An element of a list that is an integer in digits.
pub const DIGITS_ELEMENT: &str = "flux::digits_element";
/// An element of a list that is a token.
pub const TOKEN_ELEMENT: &str = "flux::token_element";
/// An element of a list that is one byte of a set.
pub const ONE_ELEMENT: &str = "flux::one_element";
/// An element of a list that is a token of bytes of a set.
pub const RUN_ELEMENT: &str = "flux::run_element";
/// An element of a list that may be in itself so often.
pub const BOUNDED_ELEMENT: &str = "flux::bounded_element";
/// Whether a list has the elements that were given.
pub const ARE_SAME: &str = "flux::are_same";
/// Whether a message has the same bytes as another, and means the same by them.
pub const IS_SAME: &str = "flux::is_same";
/// What was given for a field of a choice, without a copy, or nothing.
pub const OR_EMPTY: &str = "flux::or_empty";
/// How many bytes the elements of a list have.
pub const SIZE_OF_ALL: &str = "flux::size_of_all";
/// How many bytes a message has that is made of these.
pub const ROOM_FOR: &str = "flux::room_for";
/// That there is no value, and why.
pub const UNEXPECTED: &str = "flux::unexpected";
/// The headers with all of it, and with what else these classes name.
pub const HEADERS: [&str; 9] = [
    "flux/expected.hpp",
    "flux/flow/compute.hpp",
    "flux/message/formula.hpp",
    "flux/message/known_cursor.hpp",
    "flux/message/list.hpp",
    "flux/message/quick_reading.hpp",
    "flux/message/reader.hpp",
    "flux/message/sized_cursor.hpp",
    "flux/message/writer.hpp",
];
