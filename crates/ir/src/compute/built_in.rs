//! What the functions of the language give, for values that they take.

use super::Function;
use super::numbers::{fold, zero};
use super::value::{Failure, Reason, Value};
use crate::types::Type;
use std::borrow::Cow;

/// What comes of a function.
type Evaluated = Result<Value, Failure>;

/// How many bytes, elements or entries a text, a list or a map can come to have in a loop, as in the runtime.
pub const MOST: usize = 1 << 24;

/// What ASCII has of white space.
const WHITE_SPACE: &[u8] = b" \t\r\n\x0b\x0c";

/// There is no such element, part or value.
pub(super) fn no_element(message: &str) -> Failure {
    Failure::new(Reason::NoElement, message)
}

/// Fails where so many are too many.
pub(super) fn require_room(count: usize) -> Result<(), Failure> {
    match count > MOST {
        true => Err(Failure::new(Reason::TooLarge, format!("{count} are too many"))),
        false => Ok(()),
    }
}

/// An index; none where it is below zero, or where nothing is so long.
fn index(value: &Value) -> Result<Option<usize>, Failure> {
    Ok(usize::try_from(value.integer()?).ok())
}

/// The element of a list at an index, or the value of a key in a map; none where there is none.
pub(super) fn find<'v>(of: &'v Value, key: &Value) -> Result<Option<&'v Value>, Failure> {
    match of {
        Value::List(elements) => Ok(index(key)?.and_then(|at| elements.get(at))),
        Value::Map(entries) => Ok(entries.get(key)),
        _ => Err(Failure::malformed("this has no elements")),
    }
}

/// Gives the element at an index, or a key, another value.
pub(super) fn put(of: &mut Value, key: Value, value: Value) -> Result<(), Failure> {
    match of {
        Value::List(elements) => {
            let at = index(&key)?.and_then(|at| elements.get_mut(at));
            *at.ok_or_else(|| no_element("there is no such element"))? = value;
            Ok(())
        }
        Value::Map(entries) => {
            entries.insert(key, value);
            require_room(entries.len())
        }
        _ => Err(Failure::malformed("this has no elements")),
    }
}

/// The part from one index to before another, or to the end.
pub(super) fn slice(of: &Value, from: &Value, to: Option<&Value>) -> Evaluated {
    let length = of.length()?;
    let to = to.map_or(Ok(Some(length)), index)?;
    let range = index(from)?.zip(to).filter(|(from, to)| from <= to && *to <= length);
    let Some((from, to)) = range else { return Err(no_element("a part does not reach so far")) };
    let part = match of {
        Value::Bytes(bytes) => bytes.get(from..to).map(|part| Value::Bytes(part.to_vec())),
        Value::List(elements) => elements.get(from..to).map(|part| Value::List(part.to_vec())),
        _ => None,
    };
    part.ok_or_else(|| Failure::malformed("this has no parts"))
}

/// Where `text` has `part`.
fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    match part {
        [] => Some(0),
        part => text.windows(part.len()).position(|window| window == part),
    }
}

fn count(length: usize) -> Value {
    Value::Integer(i128::try_from(length).unwrap_or(i128::MAX))
}

/// What `function` gives, whose result is of type `ty`.
pub(super) fn call(function: Function, arguments: &[Cow<'_, Value>], ty: &Type) -> Evaluated {
    let missing = || Failure::malformed("a function is given too few values");
    let first = arguments.first().ok_or_else(missing)?.as_ref();
    let second = || arguments.get(1).map(AsRef::as_ref).ok_or_else(missing);
    Ok(match function {
        Function::Length => count(first.length()?),
        Function::StartsWith => Value::Truth(first.bytes()?.starts_with(second()?.bytes()?)),
        Function::EndsWith => Value::Truth(first.bytes()?.ends_with(second()?.bytes()?)),
        Function::Contains => Value::Truth(match first {
            Value::List(elements) => {
                let wanted = second()?;
                elements.iter().any(|element| element.equals(wanted))
            }
            Value::Map(entries) => entries.contains_key(second()?),
            text => position(text.bytes()?, second()?.bytes()?).is_some(),
        }),
        Function::Position => {
            let found = position(first.bytes()?, second()?.bytes()?);
            count(found.ok_or_else(|| no_element("a text does not contain another"))?)
        }
        Function::Hash => Value::Integer(match first {
            Value::Integer(number) => hash(&(*number as u64).to_le_bytes()),
            text => hash(text.bytes()?),
        }),
        Function::Lower => Value::Bytes(first.bytes()?.to_ascii_lowercase()),
        Function::Upper => Value::Bytes(first.bytes()?.to_ascii_uppercase()),
        Function::Trim => Value::Bytes(trim(first.bytes()?).to_vec()),
        Function::Split => Value::List(split(first.bytes()?, second()?.bytes()?)),
        Function::Join => join(first, second()?.bytes()?)?,
        Function::Has => Value::Truth(optional(first)?.is_some()),
        Function::Value => optional(first)?.cloned().ok_or_else(|| no_element("an optional has no value"))?,
        Function::IsBool
        | Function::IsInt64
        | Function::IsFloat64
        | Function::IsText
        | Function::IsList
        | Function::IsMap => match (first, function.asks_for()) {
            (Value::Any(any), Some(dynamic)) => Value::Truth(any.is(dynamic)),
            _ => return Err(Failure::malformed("this is no value of any type")),
        },
        Function::Get => match find(first, second()?)? {
            Some(found) => found.clone(),
            None => arguments.get(2).map(|other| other.as_ref().clone()).ok_or_else(missing)?,
        },
        Function::Sum | Function::Min | Function::Max | Function::Any | Function::All => {
            let Value::List(elements) = first else { return Err(Failure::malformed("this is no list")) };
            let mut made = Made::new(Some(function), ty);
            for element in elements {
                if made.is_known() {
                    break;
                }
                made.add(element.clone())?;
            }
            made.value()?
        }
    })
}

/// As in the runtime: FNV-1a of 64 bits (`draft-eastlake-fnv`), whose bits are then mixed as MurmurHash3 ends, so that
/// each depends on all; without the last one.
fn hash(bytes: &[u8]) -> i128 {
    let step = |so_far: u64, byte: &u8| (so_far ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let mut hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, step);
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        hash = (hash ^ (hash >> 33)).wrapping_mul(factor);
    }
    i128::from((hash ^ (hash >> 33)) >> 1)
}

fn optional(value: &Value) -> Result<Option<&Value>, Failure> {
    match value {
        Value::Optional(inner) => Ok(inner.as_deref()),
        _ => Err(Failure::malformed("this is no optional")),
    }
}

fn trim(text: &[u8]) -> &[u8] {
    let is_space = |letter: &u8| WHITE_SPACE.contains(letter);
    let begin = text.iter().position(|letter| !is_space(letter)).unwrap_or(text.len());
    let end = text.iter().rposition(|letter| !is_space(letter)).map_or(begin, |last| last + 1);
    text.get(begin..end).unwrap_or_default()
}

fn split(mut text: &[u8], separator: &[u8]) -> Vec<Value> {
    let mut parts = vec![];
    while let Some(end) = position(text, separator).filter(|_| !separator.is_empty()) {
        let (part, rest) = text.split_at(end);
        parts.push(Value::Bytes(part.to_vec()));
        text = rest.get(separator.len()..).unwrap_or_default();
    }
    parts.push(Value::Bytes(text.to_vec()));
    parts
}

fn join(texts: &Value, separator: &[u8]) -> Evaluated {
    let Value::List(texts) = texts else { return Err(Failure::malformed("this is no list")) };
    let texts = texts.iter().map(Value::bytes).collect::<Result<Vec<_>, _>>()?;
    require_room(texts.iter().map(|text| text.len() + separator.len()).sum())?;
    Ok(Value::Bytes(texts.join(separator)))
}

/// What is made of elements, one after the other: a list, or what an aggregate makes of it.
pub(super) struct Made<'a> {
    function: Option<Function>,
    ty: &'a Type,
    list: Vec<Value>,
    count: usize,
    folded: Option<Value>,
}

impl<'a> Made<'a> {
    /// Of nothing yet.
    pub(super) fn new(function: Option<Function>, ty: &'a Type) -> Self {
        let folded = match function {
            Some(Function::Sum) => Some(zero(ty)),
            Some(Function::Any) => Some(Value::Truth(false)),
            Some(Function::All) => Some(Value::Truth(true)),
            _ => None,
        };
        Self { function, ty, list: vec![], count: 0, folded }
    }

    /// Whether what comes changes nothing any more, and is not looked at.
    pub(super) fn is_known(&self) -> bool {
        match self.function {
            Some(Function::Any) => self.folded == Some(Value::Truth(true)),
            Some(Function::All) => self.folded == Some(Value::Truth(false)),
            _ => false,
        }
    }

    /// Adds an element.
    pub(super) fn add(&mut self, element: Value) -> Result<(), Failure> {
        self.count += 1;
        match self.function {
            None => self.list.push(element),
            Some(Function::Length) => {}
            Some(Function::Any | Function::All) => self.folded = Some(element),
            Some(function) => self.folded = Some(fold(function, self.folded.take(), element, self.ty)?),
        }
        Ok(())
    }

    /// What it has come to.
    pub(super) fn value(self) -> Evaluated {
        match self.function {
            None => Ok(Value::List(self.list)),
            Some(Function::Length) => Ok(count(self.count)),
            Some(_) => self.folded.ok_or_else(|| no_element("a list is empty")),
        }
    }
}
