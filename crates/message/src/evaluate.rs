//! The value of an expression. Arithmetic is checked, as everywhere in the language.

use crate::tree::Value;
use flux_ir::compute::{Expression, Function, Operator, Term};
use flux_ir::types::{Integer, Type, TypeKind};

/// What comes of an expression, or why nothing does.
type Evaluated = Result<Value, String>;

/// The value of `expression`, whose variables are `values`. The recursion is as deep as the expression, which whoever
/// reads one bounds.
pub fn evaluate(expression: &Expression, values: &[Value]) -> Evaluated {
    let part = |inner: &Expression| evaluate(inner, values);
    match &expression.term {
        Term::Integer(value) => Ok(Value::Integer(*value)),
        Term::Truth(value) => Ok(Value::Truth(*value)),
        Term::Text(text) => Ok(Value::Bytes(text.clone().into_bytes())),
        Term::Variable(id) => values.get(id.index()).cloned().ok_or_else(|| "there is no such value".to_owned()),
        Term::Not(inner) => truth(&part(inner)?).map(|value| Value::Truth(!value)),
        Term::Negate(inner) => ranged(-integer(&part(inner)?)?, &expression.ty),
        Term::Convert(inner) => convert(part(inner)?, &expression.ty),
        Term::Binary(operator @ (Operator::And | Operator::Or), two) => {
            let [left, right] = &**two;
            let left = truth(&part(left)?)?;
            match left == (*operator == Operator::Or) {
                true => Ok(Value::Truth(left)),
                false => part(right),
            }
        }
        Term::Binary(operator, two) => {
            let [left, right] = &**two;
            binary(*operator, part(left)?, part(right)?, &expression.ty)
        }
        Term::Slice(of, from, to) => {
            let (of, from) = (bytes(part(of)?)?, integer(&part(from)?)?);
            let to = to.as_ref().map(|to| part(to).and_then(|to| integer(&to))).transpose()?;
            let to = to.unwrap_or(i128::try_from(of.len()).unwrap_or(i128::MAX));
            let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
            let found = range.and_then(|(from, to)| of.get(from..to));
            found.map(|found| Value::Bytes(found.to_vec())).ok_or_else(|| "a part does not reach so far".to_owned())
        }
        Term::Call(function, arguments) => {
            let arguments = arguments.iter().map(|one| bytes(part(one)?)).collect::<Result<Vec<_>, _>>()?;
            call(*function, &arguments)
        }
        _ => Err("this is no value of a message".to_owned()),
    }
}

/// The integer that a value is.
pub fn integer(value: &Value) -> Result<i128, String> {
    match value {
        Value::Integer(value) => Ok(*value),
        _ => Err("this is no integer".to_owned()),
    }
}

/// Whether a value is true.
pub fn truth(value: &Value) -> Result<bool, String> {
    match value {
        Value::Truth(value) => Ok(*value),
        _ => Err("this is neither true nor false".to_owned()),
    }
}

fn bytes(value: Value) -> Result<Vec<u8>, String> {
    match value {
        Value::Bytes(bytes) => Ok(bytes),
        _ => Err("this is no text".to_owned()),
    }
}

/// `value`, if an integer of type `ty` can be that.
fn ranged(value: i128, ty: &Type) -> Evaluated {
    let (low, high) = ty.integer().map_or((i128::MIN, i128::MAX), Integer::range);
    match (low..=high).contains(&value) {
        true => Ok(Value::Integer(value)),
        false => Err(format!("{value} is no `{ty}`")),
    }
}

fn binary(operator: Operator, left: Value, right: Value, ty: &Type) -> Evaluated {
    use std::cmp::Ordering;
    if operator.is_comparison() {
        let order = match (&left, &right) {
            (Value::Integer(left), Value::Integer(right)) => left.cmp(right),
            (Value::Bytes(left), Value::Bytes(right)) => left.cmp(right),
            (Value::Truth(left), Value::Truth(right)) => left.cmp(right),
            _ => return Err("values of two kinds are compared".to_owned()),
        };
        return Ok(Value::Truth(match operator {
            Operator::Equal => order == Ordering::Equal,
            Operator::Unequal => order != Ordering::Equal,
            Operator::Less => order == Ordering::Less,
            Operator::LessOrEqual => order != Ordering::Greater,
            Operator::Greater => order == Ordering::Greater,
            _ => order != Ordering::Less,
        }));
    }
    if let (Operator::Add, Value::Bytes(left), Value::Bytes(right)) = (operator, &left, &right) {
        return Ok(Value::Bytes([left.as_slice(), right].concat()));
    }
    // Both have 64 bits, so 128 are enough for what comes of them.
    let (left, right) = (integer(&left)?, integer(&right)?);
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    let symbol = operator.symbol();
    result.ok_or_else(|| format!("{left} {symbol} {right} is nothing")).and_then(|value| ranged(value, ty))
}

/// The same value, of the type `ty`.
fn convert(value: Value, ty: &Type) -> Evaluated {
    match (value, ty.kind()) {
        (Value::Integer(value), _) if ty.integer().is_some() => ranged(value, ty),
        (Value::Bytes(text), _) if ty.integer().is_some() => {
            // As `std::from_chars` reads them: no plus sign, and a minus sign only where the type has one.
            let is_signed = ty.integer().is_some_and(|integer| integer.signed);
            let has_sign = |text: &&str| text.starts_with('+') || text.starts_with('-') && !is_signed;
            let digits = std::str::from_utf8(&text).ok().filter(|text| !has_sign(text));
            let value = digits.and_then(|digits| digits.parse().ok());
            value.ok_or_else(|| format!("`{}` is no number", text.escape_ascii())).and_then(|value| ranged(value, ty))
        }
        (Value::Integer(value), TypeKind::Text) => Ok(Value::Bytes(value.to_string().into_bytes())),
        (Value::Truth(value), TypeKind::Text) => Ok(Value::Bytes(value.to_string().into_bytes())),
        (value, _) => Ok(value),
    }
}

fn call(function: Function, arguments: &[Vec<u8>]) -> Evaluated {
    let one = arguments.first().map(Vec::as_slice).unwrap_or_default();
    let other = arguments.get(1).map(Vec::as_slice).unwrap_or_default();
    Ok(match function {
        Function::Length => Value::Integer(i128::try_from(one.len()).unwrap_or(i128::MAX)),
        Function::StartsWith => Value::Truth(one.starts_with(other)),
        Function::EndsWith => Value::Truth(one.ends_with(other)),
        Function::Contains => Value::Truth(other.is_empty() || one.windows(other.len()).any(|window| window == other)),
        Function::Lower => Value::Bytes(one.to_ascii_lowercase()),
        Function::Upper => Value::Bytes(one.to_ascii_uppercase()),
        Function::Trim => Value::Bytes(one.trim_ascii().to_vec()),
        _ => return Err("this function is not for messages".to_owned()),
    })
}
