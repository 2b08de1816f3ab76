//! Formulas of messages as C++: integers of 64 bits that do not wrap. Where the values that fields can have show that
//! a result fits, it is plain arithmetic; else a function of the runtime says by `fits` whether it did.

use crate::compute::{chosen, exact};
use crate::tree::Expression as Cpp;
use flux_contract::message as runtime;
use flux_ir::compute::{Expression, Function, Operator, Term};
use flux_ir::message::{Formula, Reference};
use flux_ir::types::{Integer, Type, TypeKind};
use flux_source::{Deep, deep};
use std::cell::Cell;

/// What C++ knows of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Known {
    /// An integer of 64 bits, or less, from one to another.
    Integer { low: i128, high: i128, signed: bool },
    /// `true` or `false`
    Truth,
    /// A text that stands somewhere.
    View,
    /// A text that has been made.
    Made,
}

/// A value, and how C++ says it.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub cpp: Cpp,
    pub known: Known,
}

impl Said {
    pub(super) fn integer(cpp: impl Into<Cpp>, range: (i128, i128), signed: bool) -> Self {
        Self { cpp: cpp.into(), known: Known::Integer { low: range.0, high: range.1, signed } }
    }
}

impl From<String> for Cpp {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

/// A C++ literal of these bytes, which converts to a `std::string_view` of them.
pub(super) fn literal(bytes: &[u8]) -> String {
    if bytes.contains(&0) {
        return format!("std::string_view({}, {})", quoted(bytes), bytes.len());
    }
    quoted(bytes)
}

/// Bytes between quotation marks.
pub(super) fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            b'\r' => text.push_str("\\r"),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            0x20..=0x7e => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text + "\""
}

/// What writes a formula.
pub(super) struct Writer<'a> {
    /// What its variables are.
    pub names: &'a dyn Fn(&Reference) -> Said,
    /// Whether it says whether it fits.
    pub is_checked: Cell<bool>,
    /// Whether they are of their own types, which may have less than 64 bits.
    pub are_narrow: bool,
}

/// A formula as C++, and whether it sets `fits`. Its integers have 64 bits.
pub(super) fn said(formula: &Formula, names: &dyn Fn(&Reference) -> Said) -> (Said, bool) {
    said_of(formula, names, false)
}

/// The same of integers that may have less.
pub(super) fn said_of_narrow(formula: &Formula, names: &dyn Fn(&Reference) -> Said) -> (Said, bool) {
    said_of(formula, names, true)
}

fn said_of(formula: &Formula, names: &dyn Fn(&Reference) -> Said, are_narrow: bool) -> (Said, bool) {
    let known: Vec<_> = formula.names.iter().map(names).collect();
    let by_index = |reference: &Reference| {
        let at = formula.names.iter().position(|one| one == reference);
        at.and_then(|at| known.get(at).cloned()).unwrap_or(Said { cpp: Cpp::name("0"), known: Known::Truth })
    };
    let writer = Writer { names: &by_index, is_checked: Cell::new(false), are_narrow };
    let said = writer.expression(&formula.value, formula);
    (said, writer.is_checked.get())
}

fn infix(operator: &'static str, left: Cpp, right: Cpp) -> Cpp {
    Cpp::Infix(Deep::new(left), operator, Deep::new(right))
}

/// The range of the integers that a type has.
pub(super) fn range_of(ty: &Type) -> (i128, i128) {
    ty.integer().map_or((i128::from(i64::MIN), i128::from(u64::MAX)), Integer::range)
}

fn wide(signed: bool) -> &'static str {
    if signed { "std::int64_t" } else { "std::uint64_t" }
}

fn number(value: i128) -> Cpp {
    match value {
        _ if value == i128::from(i64::MIN) => Cpp::name(format!("(-{} - 1)", i64::MAX)),
        _ if value > i128::from(i64::MAX) => Cpp::name(format!("{value}u")),
        _ => Cpp::name(value),
    }
}

impl Writer<'_> {
    fn checked(&self, function: &str, ty: &str, mut arguments: Vec<Cpp>) -> Cpp {
        self.is_checked.set(true);
        arguments.push(Cpp::name("fits"));
        let name = format!("{}::{function}", runtime::FORMULA);
        match ty {
            "" => Cpp::name(name).call(arguments),
            _ => Cpp::Instance(name, vec![Cpp::name(ty)]).call(arguments),
        }
    }

    // The recursion is as deep as the expression, which whoever reads one bounds.
    fn expression(&self, expression: &Expression, formula: &Formula) -> Said {
        deep(|| {
            let part = |inner: &Expression| self.expression(inner, formula);
            let truth = |cpp: Cpp| Said { cpp, known: Known::Truth };
            match &expression.term {
                Term::Integer(value) => {
                    let signed = expression.ty.integer().is_some_and(|integer| integer.signed);
                    Said::integer(number(*value), (*value, *value), signed)
                }
                Term::Truth(value) => truth(Cpp::name(value)),
                Term::Text(text) => Said { cpp: Cpp::name(literal(text.as_bytes())), known: Known::View },
                Term::Variable(id) => match formula.names.get(id.index()) {
                    Some(reference) => (self.names)(reference),
                    None => truth(Cpp::name("false")),
                },
                Term::Not(inner) => truth(Cpp::Prefix("!", Deep::new(part(inner).cpp))),
                Term::Negate(inner) => {
                    let inner = part(inner);
                    let Known::Integer { low, high, .. } = inner.known else { return inner };
                    let value = self.checked("subtract", "std::int64_t", vec![Cpp::name("0"), inner.cpp]);
                    Said::integer(value, (-high, -low), true)
                }
                Term::Choose(three) => {
                    let [condition, one, other] = three.each_ref().map(part);
                    choose(condition.cpp, one, other)
                }
                Term::Convert(inner) => self.convert(part(inner), &expression.ty),
                Term::Binary(operator, two) => {
                    let [left, right] = &**two;
                    if let Some(said) = self.lower_equal(*operator, (left, right), formula) {
                        return said;
                    }
                    self.binary(*operator, part(left), part(right), &expression.ty)
                }
                Term::Slice(of, from, to) => {
                    let (of, from) = (part(of), part(from));
                    let to = to.as_ref().map_or_else(|| Cpp::name("std::string_view::npos"), |to| part(to).cpp);
                    let whole = self.checked("slice", "", vec![of.cpp, from.cpp, to]);
                    Said { cpp: whole, known: of.known }
                }
                Term::Call(function, arguments) => self.call(*function, arguments, formula),
                _ => truth(Cpp::name("false")),
            }
        })
    }

    /// `lower(self.name) == "content-length"`, which needs no copy.
    fn lower_equal(
        &self,
        operator: Operator,
        (left, right): (&Expression, &Expression),
        formula: &Formula,
    ) -> Option<Said> {
        if !operator.is_equality() {
            return None;
        }
        let ends = [(left, right), (right, left)];
        let (lowered, wanted) = ends.iter().find_map(|(one, other)| match (&one.term, &other.term) {
            (Term::Call(Function::Lower, of), Term::Text(wanted)) => {
                Some((self.expression(of.first()?, formula).cpp, wanted))
            }
            (Term::Variable(_), Term::Text(wanted)) => Some((lowered(&self.expression(one, formula).cpp)?, wanted)),
            _ => None,
        })?;
        if wanted.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        let is =
            Cpp::name(format!("{}::is_in_lower<{}>", runtime::FORMULA, quoted(wanted.as_bytes()))).call(vec![lowered]);
        let is = if operator == Operator::Equal { is } else { Cpp::Prefix("!", Deep::new(is)) };
        Some(Said { cpp: is, known: Known::Truth })
    }

    fn binary(&self, operator: Operator, left: Said, right: Said, ty: &Type) -> Said {
        let truth = |cpp: Cpp| Said { cpp, known: Known::Truth };
        if matches!(operator, Operator::And | Operator::Or) {
            return truth(infix(operator.symbol(), left.cpp, right.cpp));
        }
        if operator.is_comparison() {
            return truth(compared(operator, left, right));
        }
        let (Known::Integer { low: a, high: b, .. }, Known::Integer { low: c, high: d, .. }) =
            (&left.known, &right.known)
        else {
            let joined = Cpp::name(format!("{}::join", runtime::FORMULA)).call(vec![left.cpp, right.cpp]);
            return Said { cpp: joined, known: Known::Made };
        };
        let [a, b, c, d] = [*a, *b, *c, *d];
        let signed = ty.integer().is_some_and(|integer| integer.signed);
        let corners = |of: fn(i128, i128) -> Option<i128>| {
            let all: Option<Vec<_>> = [(a, c), (a, d), (b, c), (b, d)].into_iter().map(|(x, y)| of(x, y)).collect();
            let all = all?;
            Some((*all.iter().min()?, *all.iter().max()?))
        };
        let limits = Integer { signed, bits: 64 }.range();
        let (name, result) = match operator {
            Operator::Add => ("add", corners(i128::checked_add)),
            Operator::Subtract => ("subtract", corners(i128::checked_sub)),
            Operator::Multiply => ("multiply", corners(i128::checked_mul)),
            Operator::Divide if c > 0 => ("divide", corners(i128::checked_div)),
            Operator::Remainder if c > 0 && a >= 0 => ("remainder", Some((0, d - 1))),
            Operator::Divide => ("divide", None),
            _ => ("remainder", None),
        };
        // What a length is set to is signed, whatever the field is.
        let with_sign = |one: Said| match one.known {
            Known::Integer { low, high, signed: own } if own != signed && low != high => {
                Cpp::Instance("static_cast".to_owned(), vec![Cpp::name(wide(signed))]).call(vec![one.cpp])
            }
            _ => one.cpp,
        };
        let (left, right) = (with_sign(left), with_sign(right));
        let fits = |(low, high): &(i128, i128)| *low >= limits.0 && *high <= limits.1;
        match result {
            Some(range) if fits(&range) => {
                // C++ computes in what both sides have, or in 32 bits.
                let is_short = range.0 >= i128::from(i32::MIN) && range.1 <= i128::from(i32::MAX);
                let left = match self.are_narrow && !is_short {
                    true => Cpp::Instance("static_cast".to_owned(), vec![Cpp::name(wide(signed))]).call(vec![left]),
                    false => left,
                };
                Said::integer(infix(operator.symbol(), left, right), range, signed)
            }
            _ => {
                let range = result.map_or(limits, |(low, high)| (low.max(limits.0), high.min(limits.1)));
                Said::integer(self.checked(name, wide(signed), vec![left, right]), range, signed)
            }
        }
    }

    fn convert(&self, inner: Said, to: &Type) -> Said {
        let name =
            to.integer().map(|integer| format!("std::{}int{}_t", if integer.signed { "" } else { "u" }, integer.bits));
        match (&inner.known, to.integer(), name) {
            (Known::Integer { low, high, signed }, Some(integer), Some(name)) => {
                let range = integer.range();
                if *low >= range.0 && *high <= range.1 {
                    let cpp = match *signed == integer.signed || low == high {
                        true => inner.cpp,
                        false => Cpp::Instance("static_cast".to_owned(), vec![Cpp::name(wide(integer.signed))])
                            .call(vec![inner.cpp]),
                    };
                    return Said::integer(cpp, (*low, *high), integer.signed);
                }
                Said::integer(self.checked("to", &name, vec![inner.cpp]), range, integer.signed)
            }
            (Known::View | Known::Made, Some(integer), Some(name)) => {
                Said::integer(self.checked("number", &name, vec![inner.cpp]), integer.range(), integer.signed)
            }
            (Known::Integer { .. } | Known::Truth, None, _) if matches!(to.kind(), TypeKind::Text) => {
                Said { cpp: Cpp::name(flux_contract::COMPUTE_TEXT.spelling).call(vec![inner.cpp]), known: Known::Made }
            }
            _ => inner,
        }
    }

    fn call(&self, function: Function, arguments: &[Expression], formula: &Formula) -> Said {
        let said: Vec<_> = arguments.iter().map(|one| self.expression(one, formula)).collect();
        let mut said = said.into_iter();
        let Some(first) = said.next() else { return Said { cpp: Cpp::name("false"), known: Known::Truth } };
        let rest: Vec<Cpp> = said.map(|one| one.cpp).collect();
        let truth = |cpp: Cpp| Said { cpp, known: Known::Truth };
        let as_string = |one: Said| match one.known {
            Known::Made => one.cpp,
            _ => Cpp::name("std::string").call(vec![one.cpp]),
        };
        match function {
            Function::Length => Said::integer(first.cpp.member("size").call(vec![]), (0, i128::from(u32::MAX)), false),
            Function::StartsWith => truth(first.cpp.member("starts_with").call(rest)),
            Function::EndsWith => truth(first.cpp.member("ends_with").call(rest)),
            Function::Contains => {
                truth(Cpp::name(flux_contract::COMPUTE_CONTAINS.spelling).call([vec![first.cpp], rest].concat()))
            }
            Function::Trim if first.known == Known::View => {
                Said { cpp: Cpp::name(format!("{}::trim", runtime::FORMULA)).call(vec![first.cpp]), known: Known::View }
            }
            Function::Trim => {
                Said { cpp: Cpp::name(flux_contract::COMPUTE_TRIM.spelling).call(vec![first.cpp]), known: Known::Made }
            }
            Function::Lower | Function::Upper => {
                let is_lower = function == Function::Lower;
                let name = if is_lower { flux_contract::COMPUTE_LOWER } else { flux_contract::COMPUTE_UPPER }.spelling;
                Said { cpp: Cpp::name(name).call(vec![as_string(first)]), known: Known::Made }
            }
            _ => truth(Cpp::name("false")),
        }
    }
}

/// `c ? a : b`
fn choose(condition: Cpp, one: Said, other: Said) -> Said {
    let (known, sides) = match (one.known, other.known) {
        (Known::Integer { low: a, high: b, signed }, Known::Integer { low: c, high: d, signed: is_other }) => {
            (Known::Integer { low: a.min(c), high: b.max(d), signed: signed || is_other }, [one.cpp, other.cpp])
        }
        (Known::Truth, _) => (Known::Truth, [one.cpp, other.cpp]),
        (Known::View, Known::View) => {
            (Known::View, [one.cpp, other.cpp].map(|text| Cpp::name("std::string_view").call(vec![text])))
        }
        _ => (Known::Made, [one.cpp, other.cpp].map(|text| Cpp::name("std::string").call(vec![text]))),
    };
    let [one, other] = sides;
    Said { cpp: chosen(condition, one, other), known }
}

/// Of what is made as `lower` of a text that stands somewhere, that text.
fn lowered(made: &Cpp) -> Option<Cpp> {
    let is_call_of = |called: &Cpp, name: &str| *called == Cpp::name(name);
    match made {
        Cpp::Call(lower, copies) if is_call_of(lower, flux_contract::COMPUTE_LOWER.spelling) => match copies.as_slice()
        {
            [Cpp::Call(copy, of)] if is_call_of(copy, "std::string") => of.first().cloned(),
            _ => None,
        },
        _ => None,
    }
}

/// A comparison, which is exact whatever the types.
fn compared(operator: Operator, left: Said, right: Said) -> Cpp {
    if let (Known::Integer { low: a, high: b, signed }, Known::Integer { low: c, high: d, signed: other }) =
        (&left.known, &right.known)
    {
        let fits = |low: &i128, high: &i128, is_signed: bool| {
            low == high && (if is_signed { *low <= i128::from(i64::MAX) } else { *low >= 0 })
        };
        if signed != other && !fits(a, b, *other) && !fits(c, d, *signed) {
            return Cpp::name(exact(operator)).call(vec![left.cpp, right.cpp]);
        }
    }
    infix(operator.symbol(), left.cpp, right.cpp)
}
