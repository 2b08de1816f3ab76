//! Numbers: arithmetic that does not wrap, and what numbers and texts are to each other.
//!
//! Texts of floating-point numbers are those of `std::to_chars`: the shortest that reads back as the number, in plain
//! notation unless the one with an exponent is shorter. What is read is what `std::from_chars` reads.

use super::value::{Failure, Real, Reason, Value};
use super::{Function, Operator};
use crate::types::{Float, Integer, Type, TypeKind};

/// What comes of a computation.
type Evaluated = Result<Value, Failure>;

/// `value`, if an integer of type `ty` can be that.
pub(super) fn ranged(value: i128, ty: &Type) -> Evaluated {
    let (low, high) = ty.integer().map_or((i128::MIN, i128::MAX), Integer::range);
    match (low..=high).contains(&value) {
        true => Ok(Value::Integer(value)),
        false => Err(Failure::new(Reason::Overflow, format!("{value} is no `{ty}`"))),
    }
}

/// `value`, as exact as numbers of type `ty` are.
pub(super) fn rounded(value: f64, ty: &Type) -> Value {
    let is_single = *ty.kind() == TypeKind::Float(Float::Single);
    Value::Real(Real(if is_single { f64::from(value as f32) } else { value }))
}

/// `left operator right`, of numbers of type `ty`.
pub(super) fn arithmetic(operator: Operator, left: &Value, right: &Value, ty: &Type) -> Evaluated {
    if let (Value::Real(Real(left)), Value::Real(Real(right))) = (left, right) {
        // Twice the digits and more: to round the result again changes nothing.
        let value = match operator {
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            Operator::Divide => left / right,
            _ => return Err(Failure::malformed("floating-point numbers have no such operator")),
        };
        return Ok(rounded(value, ty));
    }
    // Both have 64 bits, so 128 are enough for what comes of them.
    let (left, right) = (left.integer()?, right.integer()?);
    let divides = matches!(operator, Operator::Divide | Operator::Remainder);
    let symbol = operator.symbol();
    if divides && right == 0 {
        return Err(Failure::new(Reason::DivisionByZero, format!("{left} {symbol} 0 is nothing")));
    }
    if operator == Operator::Remainder {
        // Where the quotient is too large, there is no remainder either.
        ranged(left / right, ty)?;
    }
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    let result = result.ok_or_else(|| Failure::malformed("integers have at most 64 bits"))?;
    ranged(result, ty)
}

/// `-value`
pub(super) fn negate(value: &Value, ty: &Type) -> Evaluated {
    match value {
        Value::Real(Real(number)) => Ok(Value::Real(Real(-number))),
        other => ranged(-other.integer()?, ty),
    }
}

/// The sum of numbers of type `ty`, or the smallest or largest of values that have an order.
pub(super) fn fold(function: Function, so_far: Option<Value>, one: Value, ty: &Type) -> Evaluated {
    let Some(so_far) = so_far else { return Ok(one) };
    let is_less = |left: &Value, right: &Value| match (left, right) {
        // What is no number is neither.
        (Value::Real(Real(left)), Value::Real(Real(right))) => left < right,
        (left, right) => left < right,
    };
    Ok(match function {
        Function::Sum => arithmetic(Operator::Add, &so_far, &one, ty)?,
        Function::Min if is_less(&one, &so_far) => one,
        Function::Max if is_less(&so_far, &one) => one,
        _ => so_far,
    })
}

/// What the sum of nothing is.
pub(super) fn zero(ty: &Type) -> Value {
    match ty.kind() {
        TypeKind::Float(_) => Value::Real(Real(0.0)),
        _ => Value::Integer(0),
    }
}

/// A value of type `from` as one of type `to`.
pub(super) fn convert(value: Value, from: &Type, to: &Type) -> Evaluated {
    match (value, to.kind()) {
        (Value::Bytes(text), TypeKind::Text | TypeKind::Bytes) => Ok(Value::Bytes(text)),
        (Value::Integer(value), TypeKind::Text) => Ok(Value::Bytes(value.to_string().into_bytes())),
        (Value::Truth(value), TypeKind::Text) => Ok(Value::Bytes(value.to_string().into_bytes())),
        (Value::Real(Real(number)), TypeKind::Text) => Ok(Value::Bytes(real_text(number, from).into_bytes())),
        (Value::Integer(value), TypeKind::Float(Float::Single)) => Ok(Value::Real(Real(f64::from(value as f32)))),
        (Value::Integer(value), TypeKind::Float(Float::Double)) => Ok(Value::Real(Real(value as f64))),
        (Value::Real(Real(number)), TypeKind::Float(_)) => Ok(rounded(number, to)),
        (Value::Bytes(text), TypeKind::Float(float)) => read_real(&text, *float),
        _ if to.integer().is_none() => Err(Failure::malformed("this becomes no number")),
        (Value::Integer(value), _) => ranged(value, to),
        // Beyond what 128 bits hold a cast stops at the bounds, which no type has.
        (Value::Real(Real(number)), _) if number.is_finite() => ranged(number.trunc() as i128, to),
        (Value::Real(Real(number)), _) => Err(Failure::new(Reason::Overflow, format!("{number} is no `{to}`"))),
        (Value::Bytes(text), _) => read_integer(&text, to),
        _ => Err(Failure::malformed("this is not converted")),
    }
}

fn not_a_number(text: &[u8]) -> Failure {
    Failure::new(Reason::NotANumber, format!("`{}` is no number", text.escape_ascii()))
}

/// The integer that a text is, in decimal; only a signed one has a sign, and none has a plus.
fn read_integer(text: &[u8], ty: &Type) -> Evaluated {
    let is_signed = ty.integer().is_some_and(|integer| integer.signed);
    let negative = text.strip_prefix(b"-").filter(|_| is_signed);
    let rest = negative.unwrap_or(text);
    let count = rest.iter().take_while(|digit| digit.is_ascii_digit()).count();
    let (digits, beyond) = rest.split_at(count);
    if digits.is_empty() {
        return Err(not_a_number(text));
    }
    let digit = |value: i128, digit: &u8| value.saturating_mul(10).saturating_add(i128::from(digit - b'0'));
    let value = digits.iter().fold(0, digit);
    let value = ranged(if negative.is_some() { -value } else { value }, ty)?;
    if beyond.is_empty() { Ok(value) } else { Err(not_a_number(text)) }
}

/// The floating-point number that a text is.
fn read_real(text: &[u8], float: Float) -> Evaluated {
    let written = std::str::from_utf8(text).ok().filter(|written| !written.starts_with('+'));
    let read = |written: &str| match float {
        Float::Single => written.parse::<f32>().map(f64::from),
        Float::Double => written.parse::<f64>(),
    };
    let number = written.and_then(|written| read(written).ok()).ok_or_else(|| not_a_number(text))?;
    let mantissa = || text.iter().take_while(|letter| !letter.eq_ignore_ascii_case(&b'e'));
    let is_infinite = number.is_infinite() && text.iter().any(u8::is_ascii_digit);
    let is_lost = number == 0.0 && mantissa().any(|letter| (b'1'..=b'9').contains(letter));
    match is_infinite || is_lost {
        true => {
            Err(Failure::new(Reason::Overflow, format!("`{}` is beyond what such numbers hold", text.escape_ascii())))
        }
        false => Ok(Value::Real(Real(number))),
    }
}

/// The shortest text that reads back as `number`, of type `ty`.
fn real_text(number: f64, ty: &Type) -> String {
    let is_single = *ty.kind() == TypeKind::Float(Float::Single);
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if !number.is_finite() {
        return format!("{sign}{}", if number.is_nan() { "nan" } else { "inf" });
    }
    let shortest = if is_single { format!("{:e}", number as f32) } else { format!("{number:e}") };
    let digits = shortest.bytes().take_while(|letter| *letter != b'e').filter(u8::is_ascii_digit).count();
    // Of two texts that are as near to the number the one with an even digit at its end.
    let nearest = format!("{number:.*e}", digits.saturating_sub(1));
    let reads_back = match is_single {
        true => nearest.parse() == Ok(number as f32),
        false => nearest.parse() == Ok(number),
    };
    let scientific = if reads_back { nearest } else { shortest };
    // Here an exponent has a sign and at least two digits.
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let decimals = digits as i64 - 1 - exponent.parse::<i64>().unwrap_or(0);
    let (minus, exponent) = exponent.strip_prefix('-').map_or(("+", exponent), |exponent| ("-", exponent));
    let scientific = format!("{mantissa}e{minus}{exponent:0>2}");
    // All digits of a whole number are its own, and no zeros that fill it up.
    let plain = format!("{number:.*}", usize::try_from(decimals).unwrap_or(0));
    if plain.len() <= scientific.len() { plain } else { scientific }
}
