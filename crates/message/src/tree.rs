//! What is read of a message: its fields, with the places of their bytes.

use flux_ir::compute;
use flux_ir::message::{Message, MessageId};
use std::fmt;

/// A value of a field, of a parameter, or of a part of a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// An integer of any type.
    Integer(i128),
    /// `true` or `false`
    Truth(bool),
    /// A text, or bytes.
    Bytes(Vec<u8>),
}

impl Value {
    /// The integer that it is, or what is wrong.
    pub(crate) fn integer(&self) -> Result<i128, String> {
        match self {
            Self::Integer(value) => Ok(*value),
            Self::Truth(_) | Self::Bytes(_) => Err("this is no integer".to_owned()),
        }
    }

    /// Whether it is true, or what is wrong.
    pub(crate) fn truth(&self) -> Result<bool, String> {
        match self {
            Self::Truth(value) => Ok(*value),
            Self::Integer(_) | Self::Bytes(_) => Err("this is neither true nor false".to_owned()),
        }
    }
}

impl From<Value> for compute::Value {
    fn from(value: Value) -> Self {
        match value {
            Value::Integer(value) => Self::Integer(value),
            Value::Truth(value) => Self::Truth(value),
            Value::Bytes(bytes) => Self::Bytes(bytes),
        }
    }
}

impl TryFrom<compute::Value> for Value {
    type Error = String;

    fn try_from(value: compute::Value) -> Result<Self, String> {
        match value {
            compute::Value::Integer(value) => Ok(Self::Integer(value)),
            compute::Value::Truth(value) => Ok(Self::Truth(value)),
            compute::Value::Bytes(bytes) => Ok(Self::Bytes(bytes)),
            _ => Err("this is no value of a message".to_owned()),
        }
    }
}

/// A message that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    /// Which it is.
    pub message: MessageId,
    /// Its first byte, counted from the beginning of the outermost message.
    pub start: u64,
    /// The byte after its last.
    pub end: u64,
    /// The values of its parameters.
    pub parameters: Vec<Value>,
    /// By the index of the field; none of those in choices that were not taken.
    pub fields: Vec<Option<Read>>,
    /// The cases that the next byte chose, in order.
    pub choices: Vec<usize>,
}

impl Tree {
    /// Of a message that begins at this byte, and of which nothing has been read.
    pub(crate) fn new(message: &Message, id: MessageId, start: u64, parameters: Vec<Value>) -> Self {
        let fields = vec![None; message.fields.len()];
        Self { message: id, start, end: start, parameters, fields, choices: vec![] }
    }
}

/// A field that was read, or an element of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    /// Its first byte, as that of [`Tree`]. Of bits the byte in which they begin.
    pub start: u64,
    /// The byte after its last.
    pub end: u64,
    /// What was there.
    pub content: Content,
}

/// What a field was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// One value.
    Value {
        /// As it was read.
        read: Value,
        /// As it was converted, where it was.
        converted: Option<Value>,
        /// Of an integer in digits, these: there are several ways to write one.
        spelling: Vec<u8>,
    },
    /// Bytes that are always the same.
    Literal,
    /// A message.
    Unit(Box<Tree>),
    /// Several.
    List(Vec<Read>),
    /// Bytes that went along.
    Stream {
        /// How many.
        size: u64,
        /// The first of them, as many as are kept.
        kept: Vec<u8>,
    },
}

impl Content {
    /// A value that is as it was read.
    pub fn value(read: Value) -> Self {
        Self::Value { read, converted: None, spelling: vec![] }
    }
}

/// Why bytes are not the message that they should be, or a message cannot be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The byte at which it was found, counted from the beginning of the message.
    pub offset: u64,
    /// The message, and the fields on the way, joined by points.
    pub field: String,
    /// What is wrong.
    pub message: String,
}

impl Failure {
    /// A failure, in a field that is yet to be said.
    pub(crate) fn new(offset: u64, message: impl Into<String>) -> Self {
        Self { offset, field: String::new(), message: message.into() }
    }

    /// So many bytes are missing when the data ends.
    pub(crate) fn early_end(offset: u64, missing: u64) -> Self {
        let bytes = if missing == 1 { "byte" } else { "bytes" };
        Self::new(offset, format!("the data ends {missing} {bytes} too early"))
    }

    /// The same, in a field called `name`; fields without a name are not told of.
    pub(crate) fn within(mut self, name: &str) -> Self {
        self.field = match (name.is_empty(), self.field.is_empty()) {
            (true, _) => self.field,
            (_, true) => name.to_owned(),
            _ => format!("{name}.{}", self.field),
        };
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "at byte {}, {}: {}", self.offset, self.field, self.message)
    }
}

impl std::error::Error for Failure {}
