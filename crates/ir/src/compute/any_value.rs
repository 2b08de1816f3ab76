//! What a `value` of the language is when a computation is evaluated: how it is made, read and ordered. It is what
//! `flux::value` is in the runtime.

use super::numbers::convert;
use super::value::{Failure, Reason, Value};
use super::{Dynamic, Real};
use crate::program::{Program, TypeBody};
use crate::types::{Type, TypeKind, record_fields};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// A value of which only it itself says what it is.
#[derive(Clone, Debug)]
pub enum AnyValue {
    /// `undefined`
    Undefined,
    /// A `bool`.
    Truth(bool),
    /// An `int64`.
    Integer(i64),
    /// A `float64`.
    Real(f64),
    /// A `text`.
    Text(Vec<u8>),
    /// A list, whose elements are of the type `value`.
    List(Vec<Value>),
    /// A map of texts to values of the type `value`.
    Map(BTreeMap<Value, Value>),
}

/// How deep lists and maps may be in each other, as in the runtime.
const MOST_DEEP: usize = 64;
/// How large one may be: the bytes of texts and keys, and one for each value and entry.
const MOST_LARGE: usize = 1 << 24;

impl AnyValue {
    /// What `value` becomes, which is of type `ty`.
    ///
    /// # Errors
    /// It has an integer that no `int64` is, or is too large.
    pub(super) fn of(value: &Value, ty: &Type, program: Option<&Program>) -> Result<Self, Failure> {
        let made = Self::converted(value, ty, program)?;
        let (size, depth) = made.extent();
        match size > MOST_LARGE || depth > MOST_DEEP {
            true => Err(Failure::new(Reason::TooLarge, "a value is too large, or too deep")),
            false => Ok(made),
        }
    }

    /// The recursion is as deep as the type and the value.
    fn converted(value: &Value, ty: &Type, program: Option<&Program>) -> Result<Self, Failure> {
        let part = |value: &Value, ty: &Type| Self::converted(value, ty, program).map(Value::Any);
        Ok(match (value, ty.kind()) {
            (Value::Any(any), _) => any.clone(),
            (Value::Truth(truth), _) => Self::Truth(*truth),
            (Value::Integer(value), _) => Self::Integer(
                i64::try_from(*value).map_err(|_| Failure::new(Reason::Overflow, format!("{value} is no `int64`")))?,
            ),
            (Value::Real(Real(number)), _) => Self::Real(*number),
            (Value::Bytes(text), _) => Self::Text(text.clone()),
            (Value::Optional(None), _) => Self::Undefined,
            (Value::Optional(Some(inner)), TypeKind::Optional(ty)) => Self::converted(inner, ty, program)?,
            (Value::List(elements), TypeKind::List(ty)) => {
                Self::List(elements.iter().map(|element| part(element, ty)).collect::<Result<_, _>>()?)
            }
            (Value::Map(entries), TypeKind::Map(_, ty)) => {
                let entry = |(key, value): (&Value, &Value)| Ok((key.clone(), part(value, ty)?));
                Self::Map(entries.iter().map(entry).collect::<Result<_, Failure>>()?)
            }
            (Value::Record(values), TypeKind::Record(id)) => {
                let fields = program.map_or(&[][..], |program| record_fields(program, *id));
                let named = fields.iter().zip(values);
                let entry = |(field, value): (&crate::program::Parameter, &Value)| {
                    Ok((Value::Bytes(field.name.clone().into_bytes()), part(value, &field.ty)?))
                };
                Self::Map(named.map(entry).collect::<Result<_, Failure>>()?)
            }
            (Value::Enumerator(index), TypeKind::Enum(id)) => {
                let declared = program.and_then(|program| program.types.find(*id)).map(|declared| &declared.body);
                let Some(TypeBody::Enum(names)) = declared else { return Err(is_not()) };
                names.get(*index).map_or(Self::Undefined, |name| Self::Text(name.clone().into_bytes()))
            }
            _ => return Err(is_not()),
        })
    }

    /// It as what it is, of the type `to`.
    ///
    /// # Errors
    /// It is something else, or a number that `to` has not.
    pub(super) fn read(&self, to: &Type) -> Result<Value, Failure> {
        let is_number = to.integer().is_some() || matches!(to.kind(), TypeKind::Float(_));
        match (self, to.kind()) {
            (Self::Integer(value), _) if is_number => {
                convert(Value::Integer(i128::from(*value)), &Dynamic::Int64.ty(), to)
            }
            (Self::Real(number), _) if is_number => convert(Value::Real(Real(*number)), &Dynamic::Float64.ty(), to),
            (Self::Truth(truth), TypeKind::Bool) => Ok(Value::Truth(*truth)),
            (Self::Text(text), TypeKind::Text | TypeKind::Bytes) => Ok(Value::Bytes(text.clone())),
            (Self::List(elements), TypeKind::List(_)) => Ok(Value::List(elements.clone())),
            (Self::Map(entries), TypeKind::Map(..)) => Ok(Value::Map(entries.clone())),
            _ => Err(Failure::new(Reason::WrongType, format!("this value is not {to:#}"))),
        }
    }

    /// Whether it is of this kind.
    pub(super) fn is(&self, dynamic: Dynamic) -> bool {
        match self {
            Self::Undefined => false,
            Self::Truth(_) => dynamic == Dynamic::Bool,
            Self::Integer(_) => dynamic == Dynamic::Int64,
            Self::Real(_) => dynamic == Dynamic::Float64,
            Self::Text(_) => dynamic == Dynamic::Text,
            Self::List(_) => dynamic == Dynamic::List,
            Self::Map(_) => dynamic == Dynamic::Map,
        }
    }

    /// The element at an index, or the value of a key; none where there is none.
    pub(super) fn element(&self, key: &Value) -> Option<&Value> {
        match (self, key) {
            (Self::List(elements), Value::Integer(index)) => elements.get(usize::try_from(*index).ok()?),
            (Self::Map(entries), Value::Bytes(_)) => entries.get(key),
            _ => None,
        }
    }

    /// How large it is, and how deep. The recursion is as deep as it is.
    fn extent(&self) -> (usize, usize) {
        let add = |(size, depth): (usize, usize), (more, inner): (usize, usize)| (size + more, depth.max(inner + 1));
        let of = |value: &Value| match value {
            Value::Any(any) => any.extent(),
            _ => (1, 0),
        };
        match self {
            Self::Text(text) => (text.len() + 1, 0),
            Self::List(elements) => elements.iter().map(of).fold((1, 1), add),
            Self::Map(entries) => entries.iter().fold((1, 1), |so_far, (key, value)| {
                let (size, depth) = of(value);
                add(so_far, (size + key.length().unwrap_or(0) + 1, depth))
            }),
            _ => (1, 0),
        }
    }

    /// Where it stands among values of other kinds; all numbers are one kind.
    fn rank(&self) -> u8 {
        match self {
            Self::Undefined => 0,
            Self::Truth(_) => 1,
            Self::Integer(_) | Self::Real(_) => 2,
            Self::Text(_) => 3,
            Self::List(_) => 4,
            Self::Map(_) => 5,
        }
    }
}

fn is_not() -> Failure {
    Failure::malformed("this does not become a value")
}

/// By the exact value; where that is one, the integer comes first.
fn compare_numbers(integer: i64, real: f64) -> Ordering {
    // 2^63 and its negative are floating-point numbers; what is between them has a whole part that is an `i64`.
    let above = 9_223_372_036_854_775_808.0;
    if real.is_nan() || real >= above {
        return Ordering::Less;
    }
    if real < -above {
        return Ordering::Greater;
    }
    let whole = real.trunc();
    let is_less = || if real < whole { Ordering::Greater } else { Ordering::Less };
    integer.cmp(&(whole as i64)).then_with(is_less)
}

/// What floating-point numbers are ordered by: what is no number is one, and comes last.
fn compare_reals(one: f64, other: f64) -> Ordering {
    match one.is_nan() || other.is_nan() {
        true => one.is_nan().cmp(&other.is_nan()),
        false => one.total_cmp(&other),
    }
}

impl PartialEq for AnyValue {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for AnyValue {}
impl PartialOrd for AnyValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for AnyValue {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Truth(one), Self::Truth(other)) => one.cmp(other),
            (Self::Integer(one), Self::Integer(other)) => one.cmp(other),
            (Self::Real(one), Self::Real(other)) => compare_reals(*one, *other),
            (Self::Integer(one), Self::Real(other)) => compare_numbers(*one, *other),
            (Self::Real(one), Self::Integer(other)) => compare_numbers(*other, *one).reverse(),
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (Self::List(one), Self::List(other)) => one.cmp(other),
            (Self::Map(one), Self::Map(other)) => one.cmp(other),
            (one, other) => one.rank().cmp(&other.rank()),
        }
    }
}
impl Hash for AnyValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self {
            Self::Undefined => {}
            Self::Truth(truth) => truth.hash(state),
            Self::Integer(value) => value.hash(state),
            Self::Real(number) => if number.is_nan() { f64::NAN } else { *number }.to_bits().hash(state),
            Self::Text(text) => text.hash(state),
            Self::List(elements) => elements.hash(state),
            Self::Map(entries) => entries.hash(state),
        }
    }
}
