//! The values of the language, as computations have them, and why there is none.

use super::AnyValue;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

/// A value. Two are equal if they are one to a map: [`Value::equals`] says what `==` says.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value {
    /// An integer of any type.
    Integer(i128),
    /// A floating-point number of either type.
    Real(Real),
    /// `true` or `false`
    Truth(bool),
    /// A text, or bytes.
    Bytes(Vec<u8>),
    /// The value of an enumeration at this index.
    Enumerator(usize),
    /// A record, by its fields.
    Record(Vec<Self>),
    /// A list.
    List(Vec<Self>),
    /// A map.
    Map(BTreeMap<Self, Self>),
    /// An optional.
    Optional(Option<Box<Self>>),
    /// A value of the type `value`.
    Any(AnyValue),
    /// A value of a C++ type, which a body can only pass on: the input at this place.
    Foreign(usize),
}

/// A floating-point number that maps can be ordered by: zero has one place whatever its sign, and so has what is no
/// number.
#[derive(Clone, Copy, Debug)]
pub struct Real(pub f64);

impl Real {
    /// What it is ordered by.
    fn key(self) -> f64 {
        match self.0 {
            0.0 => 0.0,
            none if none.is_nan() => f64::NAN,
            other => other,
        }
    }
}

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Real {}
impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Real {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().total_cmp(&other.key())
    }
}
impl std::hash::Hash for Real {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().to_bits().hash(state);
    }
}

impl Value {
    /// Whether `==` holds of both. Of floating-point numbers that are none it never does, wherever they are in a value.
    pub fn equals(&self, other: &Self) -> bool {
        self == other && !self.has_no_number()
    }

    fn has_no_number(&self) -> bool {
        match self {
            Self::Real(Real(number)) => number.is_nan(),
            Self::Record(parts) | Self::List(parts) => parts.iter().any(Self::has_no_number),
            Self::Map(entries) => entries.iter().any(|(key, value)| key.has_no_number() || value.has_no_number()),
            Self::Optional(inner) => inner.as_ref().is_some_and(|inner| inner.has_no_number()),
            Self::Integer(_) | Self::Truth(_) | Self::Bytes(_) | Self::Enumerator(_) => false,
            // All that are none are one there.
            Self::Any(_) | Self::Foreign(_) => false,
        }
    }

    /// The integer that it is.
    ///
    /// # Errors
    /// It is none.
    pub fn integer(&self) -> Result<i128, Failure> {
        match self {
            Self::Integer(value) => Ok(*value),
            _ => Err(Failure::malformed("this is no integer")),
        }
    }

    /// Whether it is true.
    ///
    /// # Errors
    /// It is neither true nor false.
    pub fn truth(&self) -> Result<bool, Failure> {
        match self {
            Self::Truth(value) => Ok(*value),
            _ => Err(Failure::malformed("this is neither true nor false")),
        }
    }

    /// The text, or the bytes, that it is.
    ///
    /// # Errors
    /// It is none.
    pub fn bytes(&self) -> Result<&[u8], Failure> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(Failure::malformed("this is no text")),
        }
    }

    /// As many as it has: bytes, elements or entries.
    ///
    /// # Errors
    /// It has none.
    pub fn length(&self) -> Result<usize, Failure> {
        match self {
            Self::Bytes(bytes) => Ok(bytes.len()),
            Self::List(elements) => Ok(elements.len()),
            Self::Map(entries) => Ok(entries.len()),
            _ => Err(Failure::malformed("this has no length")),
        }
    }
}

/// Why a computation has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What a server would call it.
    pub reason: Reason,
    /// What a reader is told.
    pub message: String,
}

/// The failures that have a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// `flux::overflow`
    Overflow,
    /// `flux::division_by_zero`
    DivisionByZero,
    /// `flux::no_element`
    NoElement,
    /// `flux::not_a_number`
    NotANumber,
    /// `flux::too_large`
    TooLarge,
    /// `flux::wrong_type`
    WrongType,
    /// The body itself fails: `fail 404;`.
    Own(i32),
    /// A C++ function that the body calls has failed.
    External,
    /// The computation is not well-formed: the verifier refuses it.
    Malformed,
}

impl Failure {
    /// A failure.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }

    pub(super) fn malformed(message: &str) -> Self {
        Self::new(Reason::Malformed, message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
