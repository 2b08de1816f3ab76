//! The rules of types in computations: each function makes an expression of others, or says why there is none.
//!
//! A literal has no type of its own until it meets one: until then it is an `int64`, or a `float64`. What functions
//! take and give is in [`super::functions`].

use super::{BecomesValue, Comprehension, Expression, Operator, Term, becomes_value, is_read_from_value};
use crate::arena::Arena;
use crate::error_code::Code;
use crate::message::{FieldId, Message, MessageId, field_type};
use crate::program::{TypeBody, TypeDeclaration, TypeId};
use crate::types::{Float, Integer, Type, TypeKind, written_fields};
use flux_source::{Deep, Span, deep};

/// Why there is no such expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// What is wrong.
    pub headline: String,
    /// What to write instead.
    pub help: String,
    /// Where.
    pub span: Span,
}

/// What comes of a rule.
pub(super) type Typed = Result<Expression, Box<Mistake>>;

/// The rules, in a program that declares these types.
#[derive(Clone, Copy, Debug)]
pub struct Typing<'a> {
    /// The records and enumerations.
    pub types: &'a Arena<TypeDeclaration>,
    /// The messages.
    pub messages: &'a Arena<Message>,
}

pub(super) fn mistake<T>(span: Span, headline: impl Into<String>, help: impl Into<String>) -> Result<T, Box<Mistake>> {
    Err(Box::new(Mistake { headline: headline.into(), help: help.into(), span }))
}

/// An error code by its name, as an expression.
pub fn error_code(code: Code, span: Span) -> Expression {
    Expression { term: Term::Code(code), ty: Integer { signed: true, bits: 32 }.ty(), span }
}

/// An integer as a literal. It is an `int64` until it meets another type, or a `uint64` where no `int64` is so large.
pub fn integer(value: i128, span: Span) -> Expression {
    let signed = value <= i128::from(i64::MAX);
    Expression { term: Term::Integer(value), ty: Integer { signed, bits: 64 }.ty(), span }
}

/// A floating-point number as a literal.
pub fn real(value: f64, span: Span) -> Expression {
    Expression { term: Term::Real(value.to_bits()), ty: Type::of_kind(TypeKind::Float(Float::Double)), span }
}

/// A text as a literal.
pub fn text(value: String, span: Span) -> Expression {
    Expression { term: Term::Text(value), ty: Type::of_kind(TypeKind::Text), span }
}

pub(super) fn truth_type() -> Type {
    Type::of_kind(TypeKind::Bool)
}

pub(super) fn value_type() -> Type {
    Type::of_kind(TypeKind::Value)
}

pub(super) fn is_float(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Float(_))
}

pub(super) fn is_string(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Text | TypeKind::Bytes)
}

fn is_literal(expression: &Expression) -> bool {
    deep(|| match &expression.term {
        Term::Integer(_) | Term::Real(_) => true,
        Term::Choose(three) => three.iter().skip(1).all(is_literal),
        _ => false,
    })
}

/// What a value is counted and found by.
pub(super) fn index_type() -> Type {
    Integer { signed: false, bits: 64 }.ty()
}

impl Typing<'_> {
    /// The same value of the type `wanted`, which has all values of its own type.
    pub fn coerce(self, expression: Expression, wanted: &Type) -> Typed {
        deep(|| {
            if expression.ty == *wanted && !is_untyped_none(&expression) {
                return Ok(expression);
            }
            let span = expression.span;
            let as_wanted = |term| Ok(Expression { term, ty: wanted.clone(), span });
            match (&expression.term, wanted.kind()) {
                (Term::Integer(value), _) if wanted.integer().is_some() => {
                    let (low, high) = wanted.integer().map_or((0, 0), Integer::range);
                    if (low..=high).contains(value) {
                        return as_wanted(expression.term);
                    }
                    mistake(span, format!("`{wanted}` has no {value}"), format!("{wanted:#} is from {low} to {high}"))
                }
                (Term::Integer(value), TypeKind::Float(_)) => as_wanted(Term::Real((*value as f64).to_bits())),
                (Term::Real(_), TypeKind::Float(_)) => as_wanted(expression.term),
                (Term::None, TypeKind::Optional(_)) if is_untyped_none(&expression) => as_wanted(Term::None),
                (Term::List(elements), TypeKind::Map(..)) if elements.is_empty() => as_wanted(Term::Map(vec![])),
                (Term::Map(entries), TypeKind::Map(key, value)) => {
                    let entry = |[one, other]: &[Expression; 2]| {
                        Ok([self.coerce(one.clone(), key)?, self.coerce(other.clone(), value)?])
                    };
                    as_wanted(Term::Map(entries.iter().map(entry).collect::<Result<_, Box<Mistake>>>()?))
                }
                (Term::Comprehension(None, it), TypeKind::List(element)) => {
                    let made = Comprehension { value: self.coerce(it.value.clone(), element)?, ..(**it).clone() };
                    as_wanted(Term::Comprehension(None, Deep::new(made)))
                }
                (Term::List(elements), TypeKind::List(element)) => {
                    let elements = elements.iter().map(|one| self.coerce(one.clone(), element));
                    as_wanted(Term::List(elements.collect::<Result<_, _>>()?))
                }
                (Term::Choose(three), _) if is_literal(&expression) || is_unsettled(&expression) => {
                    let [condition, one, other] = (**three).clone();
                    as_wanted(Term::Choose(Deep::new([
                        condition,
                        self.coerce(one, wanted)?,
                        self.coerce(other, wanted)?,
                    ])))
                }
                (_, TypeKind::Value) => self.value_of(expression, BecomesValue::Always),
                (_, TypeKind::Optional(inner)) if !matches!(expression.ty.kind(), TypeKind::Optional(_)) => {
                    let inner = self.coerce(expression, inner)?;
                    as_wanted(Term::Some(Deep::new(inner)))
                }
                _ if widens(&expression.ty, wanted) => as_wanted(Term::Convert(Deep::new(expression))),
                _ => self.does_not_fit(&expression, wanted),
            }
        })
    }

    /// What is made a `value`, where that is sure to succeed, or else may fail.
    fn value_of(self, expression: Expression, at_most: BecomesValue) -> Typed {
        // The elements of an empty list have any type.
        let expression = match is_unsettled(&expression) && !matches!(expression.term, Term::None) {
            true => self.coerce(expression, &Type::of_kind(TypeKind::List(value_type())))?,
            false => self.settle(expression)?,
        };
        if expression.ty.is_dynamic() {
            return Ok(expression);
        }
        let (found, span) = (becomes_value(self.types, &expression.ty), expression.span);
        if found <= at_most {
            return Ok(Expression { term: Term::Convert(Deep::new(expression)), ty: value_type(), span });
        }
        let (headline, help) = match found {
            BecomesValue::MayFail => (
                format!("expected a `value`, found {:#}", expression.ty),
                "convert it, which fails if an integer does not fit an `int64`: `value(…)`",
            ),
            _ => (
                format!("{:#} cannot be converted to a `value`", expression.ty),
                "a value is `undefined`, a `bool`, a number, a text, a list of values, or a map of texts to values",
            ),
        };
        mistake(span, headline, help)
    }

    fn does_not_fit<T>(self, expression: &Expression, wanted: &Type) -> Result<T, Box<Mistake>> {
        let found = &expression.ty;
        let headline = match expression.term {
            Term::None if is_untyped_none(expression) => format!("expected {wanted:#}, which is never `none`"),
            Term::List(_) if is_unsettled(expression) => format!("expected {wanted:#}, found a list"),
            _ => format!("expected {wanted:#}, found {found:#}"),
        };
        let is_number = |ty: &Type| ty.integer().is_some() || is_float(ty);
        let help = match (found.kind(), wanted.kind()) {
            (TypeKind::Value, _) if *found == *wanted => "write a constant".to_owned(),
            (TypeKind::Value, _) if is_read_from_value(wanted) => {
                format!("convert it, which fails if it is something else: `{}(…)`", conversion_to(wanted))
            }
            _ if is_number(found) && is_number(wanted) => {
                format!("convert it, which fails if the value is not one of {wanted:#}: `{wanted}(…)`")
            }
            (TypeKind::Text, _) if is_number(wanted) => format!("read the number in it: `{wanted}(…)`"),
            (_, TypeKind::Text) if is_number(found) || is_string(found) || *found == truth_type() => {
                "write it as a text: `text(…)`".to_owned()
            }
            (TypeKind::Text, TypeKind::Bytes) => "take its bytes: `bytes(…)`".to_owned(),
            (TypeKind::Optional(inner), _) if inner == wanted => {
                "take its value, which fails if it has none: `value(…)`".to_owned()
            }
            (_, TypeKind::Bool) if is_number(found) => "compare it: `… != 0`".to_owned(),
            (_, TypeKind::Record(id) | TypeKind::Enum(id)) => self.construction(*id, wanted),
            _ => format!("write {wanted:#}"),
        };
        mistake(expression.span, headline, help)
    }

    /// How a value of the record or the enumeration `ty` is written.
    fn construction(self, id: TypeId, ty: &Type) -> String {
        match self.types.find(id).map(|declared| &declared.body) {
            Some(TypeBody::Record(fields)) => format!("make one: `{ty}({})`", written_fields(fields)),
            Some(TypeBody::Enum(values)) => {
                format!("write one of its values: `{ty}.{}`", values.first().map_or("…", String::as_str))
            }
            None => format!("write {ty:#}"),
        }
    }

    /// `expression`, unless nothing says of what type it is.
    pub fn settle(self, expression: Expression) -> Typed {
        match !self.is_settled(&expression) {
            true => {
                mistake(expression.span, "the type of this is not known", "declare the type: `let x : list<text> = …;`")
            }
            false => Ok(expression),
        }
    }

    /// Whether the type of a value is known.
    pub fn is_settled(self, expression: &Expression) -> bool {
        !is_unsettled(expression)
    }

    /// Two values joined.
    pub fn binary(self, operator: Operator, left: Expression, right: Expression) -> Typed {
        let span = left.span.to(right.span);
        if matches!(operator, Operator::And | Operator::Or) {
            let two = [self.coerce(left, &truth_type())?, self.coerce(right, &truth_type())?];
            return Ok(Expression { term: Term::Binary(operator, Deep::new(two)), ty: truth_type(), span });
        }
        if let (Term::Integer(one), Term::Integer(other)) = (&left.term, &right.term)
            && !operator.is_comparison()
        {
            return fold(operator, *one, *other, span);
        }
        let two = match operator.is_comparison() {
            true => self.comparable(operator, left, right)?,
            false => self.joined(operator, left, right)?,
        };
        let ty = match (operator.is_comparison(), &two) {
            (true, _) => truth_type(),
            (false, [left, _]) => left.ty.clone(),
        };
        Ok(Expression { term: Term::Binary(operator, Deep::new(two)), ty, span })
    }

    fn joined(self, operator: Operator, left: Expression, right: Expression) -> Result<[Expression; 2], Box<Mistake>> {
        let adds = operator == Operator::Add;
        let is_list = |ty: &Type| matches!(ty.kind(), TypeKind::List(_));
        let takes_floats = operator != Operator::Remainder;
        let is_number = |ty: &Type| ty.integer().is_some() || takes_floats && is_float(ty);
        let (is_left, is_right) = (is_number(&left.ty), is_number(&right.ty));
        if is_left && is_right {
            return self.meet(operator.symbol(), left, right);
        }
        if adds && is_unsettled(&left) && is_list(&right.ty) && !is_unsettled(&right) {
            let wanted = right.ty.clone();
            return Ok([self.coerce(left, &wanted)?, right]);
        }
        if adds && (is_string(&left.ty) || is_list(&left.ty)) {
            let wanted = left.ty.clone();
            let right = match *wanted.kind() == TypeKind::Text && is_number(&right.ty) {
                true => return self.text_plus_number(&right, &wanted),
                false => self.coerce(right, &wanted)?,
            };
            return Ok([self.settle(left)?, right]);
        }
        if adds && is_string(&right.ty) {
            let wanted = right.ty.clone();
            return Ok([self.coerce(left, &wanted)?, right]);
        }
        let culprit = if is_left { &right } else { &left };
        let headline = format!("`{}` does not take {:#}", operator.symbol(), culprit.ty);
        let help = match adds {
            true => "it adds numbers, and joins texts, bytes and lists",
            false if takes_floats => "it takes numbers",
            false => "it takes integers",
        };
        mistake(culprit.span, headline, help)
    }

    /// The mistake of a number that is added to a text: it is not known whether a text or a number was to come of it.
    fn text_plus_number<T>(self, number: &Expression, wanted: &Type) -> Result<T, Box<Mistake>> {
        let ty = &number.ty;
        let help = format!("write it as a text, `{wanted}(…)`, or read the number in the text before it, `{ty}(…)`");
        mistake(number.span, format!("expected {wanted:#}, found {ty:#}"), help)
    }

    /// `c ? a : b`
    pub fn choose(self, condition: Expression, one: Expression, other: Expression) -> Typed {
        let span = condition.span.to(other.span);
        let condition = self.coerce(condition, &truth_type())?;
        let is_number = |ty: &Type| ty.integer().is_some() || is_float(ty);
        let is_none_of = |one: &Expression, other: &Expression| {
            is_untyped_none(one) && !matches!(other.ty.kind(), TypeKind::Optional(_) | TypeKind::Value)
        };
        let [one, other] = match () {
            () if is_none_of(&one, &other) || is_none_of(&other, &one) => {
                let some = if is_untyped_none(&one) { &other } else { &one };
                let wanted = Type::of_kind(TypeKind::Optional(some.ty.clone()));
                [self.coerce(one, &wanted)?, self.coerce(other, &wanted)?]
            }
            () if one.ty != other.ty && is_number(&one.ty) && is_number(&other.ty) => self.meet(":", one, other)?,
            () if is_unsettled(&one) || widens(&one.ty, &other.ty) => {
                let wanted = other.ty.clone();
                [self.coerce(one, &wanted)?, other]
            }
            () => {
                let wanted = one.ty.clone();
                [one, self.coerce(other, &wanted)?]
            }
        };
        let ty = one.ty.clone();
        Ok(Expression { term: Term::Choose(Deep::new([condition, one, other])), ty, span })
    }

    /// Two numbers of one type, on either side of this.
    fn meet(self, symbol: &str, left: Expression, right: Expression) -> Result<[Expression; 2], Box<Mistake>> {
        let is_whole = matches!(left.term, Term::Integer(_));
        if is_literal(&left) && (!is_literal(&right) || is_whole) {
            let wanted = right.ty.clone();
            return Ok([self.coerce(left, &wanted)?, right]);
        }
        if is_literal(&right) || widens(&right.ty, &left.ty) || left.ty == right.ty {
            let wanted = left.ty.clone();
            return Ok([left, self.coerce(right, &wanted)?]);
        }
        if widens(&left.ty, &right.ty) {
            let wanted = right.ty.clone();
            return Ok([self.coerce(left, &wanted)?, right]);
        }
        let (one, other) = (&left.ty, &right.ty);
        let headline = format!("`{symbol}` has {one:#} on its left and {other:#} on its right");
        let help = format!(
            "no type holds the values of both: convert one, `{other}(…)` on the left or `{one}(…)` on the right"
        );
        mistake(left.span.to(right.span), headline, help)
    }

    fn comparable(
        self,
        operator: Operator,
        left: Expression,
        right: Expression,
    ) -> Result<[Expression; 2], Box<Mistake>> {
        let are_integers = left.ty.integer().is_some() && right.ty.integer().is_some();
        if are_integers && !is_literal(&left) && !is_literal(&right) {
            return Ok([left, right]);
        }
        let is_number = |ty: &Type| ty.integer().is_some() || is_float(ty);
        if is_number(&left.ty) && is_number(&right.ty) {
            return self.meet(operator.symbol(), left, right);
        }
        // What has no type by itself is of the other's, and a value is compared with what becomes one.
        let two = if is_unsettled(&left) || right.ty.is_dynamic() {
            let wanted = right.ty.clone();
            [self.coerce(left, &wanted)?, self.settle(right)?]
        } else {
            let wanted = left.ty.clone();
            [left, self.coerce(right, &wanted)?]
        };
        let [one, _] = &two;
        if operator.is_equality() && one.ty.is_own() || is_string(&one.ty) || one.ty.is_dynamic() {
            return Ok(two);
        }
        let headline = format!("`{}` does not compare {:#}", operator.symbol(), one.ty);
        let help = match one.ty.is_own() {
            true => {
                "only numbers, texts and values of the type `value` have an order; `==` and `!=` compare all values of \
                 the language"
            }
            false => "Flux knows nothing of the values of C++ types: compare them in a function",
        };
        mistake(one.span, headline, help)
    }

    /// `!e`
    pub fn not(self, expression: Expression, span: Span) -> Typed {
        let inner = self.coerce(expression, &truth_type())?;
        Ok(Expression { term: Term::Not(Deep::new(inner)), ty: truth_type(), span })
    }

    /// `-e`
    pub fn negate(self, expression: Expression, span: Span) -> Typed {
        match expression.term {
            Term::Integer(value) => return Ok(integer(-value, span)),
            Term::Real(bits) => return Ok(real(-f64::from_bits(bits), span)),
            _ => {}
        }
        let ty = expression.ty.clone();
        let is_signed = ty.integer().is_some_and(|integer| integer.signed) || is_float(&ty);
        match is_signed {
            true => Ok(Expression { term: Term::Negate(Deep::new(expression)), ty, span }),
            false => mistake(span, format!("there is no negative `{ty}`"), "negate a signed number: `-int64(…)`"),
        }
    }

    /// `e.name`; `name` stands at `at`. The names that there are come with the mistake of one that there is not.
    pub fn field(self, of: Expression, name: &str, at: Span) -> Result<Expression, (Box<Mistake>, Vec<String>)> {
        if of.ty.is_dynamic() {
            let (span, key) = (of.span.to(at), text(name.to_owned(), at));
            return Ok(Expression { term: Term::Element(Deep::new([of, key])), ty: value_type(), span });
        }
        let fields = match of.ty.kind() {
            TypeKind::Record(id) => match &self.types[*id].body {
                TypeBody::Record(fields) => fields.iter().map(|it| (it.name.as_str(), Some(it.ty.clone()))).collect(),
                TypeBody::Enum(_) => vec![],
            },
            TypeKind::Message(id) => self.message_fields(*id),
            _ => return Err((self.no_fields(&of, at), vec![])),
        };
        let found = fields.iter().position(|(field, _)| *field == name && !name.is_empty());
        let Some((index, (_, ty))) = found.and_then(|index| Some((index, fields.get(index)?))) else {
            let headline = format!("{:#} has no field `{name}`", of.ty);
            let readable = fields.iter().filter(|(_, ty)| ty.is_some()).map(|(name, _)| (*name).to_owned());
            let names: Vec<String> = readable.collect();
            let listed: Vec<_> = names.iter().take(8).map(|name| format!("`{name}`")).collect();
            let help = format!("it has {}", listed.join(", "));
            return Err((Box::new(Mistake { headline, help, span: at }), names));
        };
        let Some(ty) = ty.clone() else {
            let headline = format!("the field `{name}` of {:#} is no value", of.ty);
            let help = "a literal is always the same, and a stream goes along without being in memory".to_owned();
            return Err((Box::new(Mistake { headline, help, span: at }), vec![]));
        };
        let span = of.span.to(at);
        Ok(Expression { ty, term: Term::Field(Deep::new(of), index), span })
    }

    /// Why a value of another type than a record or a message has no fields.
    fn no_fields(self, of: &Expression, at: Span) -> Box<Mistake> {
        let headline = format!("{:#} has no fields", of.ty);
        let help = match of.ty.kind() {
            TypeKind::Optional(inner) if matches!(inner.kind(), TypeKind::Record(_) | TypeKind::Message(_)) => {
                "take its value, which fails if it has none: `value(…)`; `has(…)` says whether it has one"
            }
            _ => "records, messages and values of the type `value` have fields",
        };
        Box::new(Mistake { headline, help: help.to_owned(), span: at })
    }

    /// The fields of a message by their indices, with the types of those that are values.
    fn message_fields(&self, id: MessageId) -> Vec<(&str, Option<Type>)> {
        let Some(message) = self.messages.find(id) else { return vec![] };
        let fields = message.fields.iter().enumerate();
        let ty = |index| field_type(self.messages, message, FieldId::new(index));
        fields.map(|(index, field)| (field.name.as_str(), ty(index))).collect()
    }

    /// `[a, b]`
    pub fn list(self, elements: Vec<Expression>, span: Span) -> Typed {
        let Some((ty, elements)) = self.alike(elements)? else {
            // Of no type yet.
            return Ok(Expression { term: Term::List(vec![]), ty: Type::of_kind(TypeKind::List(truth_type())), span });
        };
        Ok(Expression { term: Term::List(elements), ty: Type::of_kind(TypeKind::List(ty)), span })
    }

    /// `[a: b, c: d]`
    pub fn map(self, entries: Vec<[Expression; 2]>, span: Span) -> Typed {
        let (keys, values) = entries.into_iter().map(|[key, value]| (key, value)).unzip();
        let (Some((key, keys)), Some((value, values))) = (self.alike(keys)?, self.alike(values)?) else {
            return self.list(vec![], span);
        };
        let entries = keys.into_iter().zip(values).map(|(key, value)| [key, value]).collect();
        Ok(Expression { term: Term::Map(entries), ty: Type::of_kind(TypeKind::Map(key, value)), span })
    }

    /// Values of one type, and which that is; none where there are none.
    fn alike(self, elements: Vec<Expression>) -> Result<Option<(Type, Vec<Expression>)>, Box<Mistake>> {
        let first = elements.iter().find(|element| !is_literal(element) && !is_unsettled(element));
        let Some(first) = first.or(elements.first()) else { return Ok(None) };
        let (ty, span) = (first.ty.clone(), first.span);
        if !ty.is_own() {
            let headline = format!("a list or map has no elements of the C++ type `{ty}`");
            return mistake(span, headline, "they are of types of the language");
        }
        let elements = elements.into_iter().map(|element| self.coerce(element, &ty)).collect::<Result<_, _>>()?;
        Ok(Some((ty, elements)))
    }

    /// `none`
    pub fn none(self, span: Span) -> Expression {
        Expression { term: Term::None, ty: Type::of_kind(TypeKind::Optional(truth_type())), span }
    }

    /// `undefined`
    pub fn undefined(self, span: Span) -> Expression {
        Expression { term: Term::None, ty: value_type(), span }
    }

    /// `e[key]`
    pub fn element(self, of: Expression, key: Expression, span: Span) -> Typed {
        if of.ty.is_dynamic() {
            let key = if is_string(&key.ty) { key } else { self.index(key, &index_type())? };
            return Ok(Expression { term: Term::Element(Deep::new([of, key])), ty: value_type(), span });
        }
        let (wanted, ty) = self.elements(&of.ty, of.span)?;
        let key = self.index(key, &wanted)?;
        Ok(Expression { term: Term::Element(Deep::new([of, key])), ty, span })
    }

    /// What the elements of a list or a map are found by, and of what type they are.
    pub(super) fn elements(self, of: &Type, span: Span) -> Result<(Type, Type), Box<Mistake>> {
        match of.kind() {
            TypeKind::List(element) => Ok((index_type(), element.clone())),
            TypeKind::Map(key, value) => Ok((key.clone(), value.clone())),
            _ => {
                let is_text = is_string(of);
                let help = if is_text { "take a part of it: `line[0..1]`" } else { "lists and maps have elements" };
                mistake(span, format!("{of:#} has no elements"), help)
            }
        }
    }

    /// `of[key] = value;`: the key and the value, as those of a variable of this type are.
    pub fn put(
        self,
        of: (&Type, Span),
        key: Expression,
        value: Expression,
    ) -> Result<(Expression, Expression), Box<Mistake>> {
        let (wanted, element) = self.elements(of.0, of.1)?;
        Ok((self.index(key, &wanted)?, self.coerce(value, &element)?))
    }

    /// An index of any integer type: what is below zero is no element.
    pub(super) fn index(self, index: Expression, wanted: &Type) -> Typed {
        let is_index = *wanted == index_type() && !is_literal(&index) && index.ty.integer().is_some();
        if is_index && index.ty != *wanted {
            let (ty, span) = (wanted.clone(), index.span);
            return Ok(Expression { term: Term::Convert(Deep::new(index)), ty, span });
        }
        self.coerce(index, wanted)
    }

    /// `e[from..to]`
    pub fn slice(self, of: Expression, from: Option<Expression>, to: Option<Expression>, span: Span) -> Typed {
        if !is_string(&of.ty) && !matches!(of.ty.kind(), TypeKind::List(_)) {
            let headline = format!("{:#} has no parts", of.ty);
            return mistake(of.span, headline, "texts, bytes and lists have parts");
        }
        let from =
            from.map_or_else(|| self.coerce(integer(0, of.span), &index_type()), |it| self.index(it, &index_type()));
        let to = to.map(|to| self.index(to, &index_type())).transpose()?;
        let ty = of.ty.clone();
        Ok(Expression { term: Term::Slice(Deep::new(of), Deep::new(from?), to.map(Deep::new)), ty, span })
    }

    /// `uint32(e)`, `text(e)`: the value as one of another type.
    pub fn convert(self, expression: Expression, to: &Type, span: Span) -> Typed {
        if is_literal(&expression) && (to.integer().is_some() || is_float(to)) {
            let is_whole = !matches!(expression.term, Term::Real(_)) || is_float(to);
            if is_whole {
                return self.coerce(expression, to).map(|it| Expression { span, ..it });
            }
        }
        if to.is_dynamic() {
            return self.value_of(expression, BecomesValue::MayFail).map(|it| Expression { span, ..it });
        }
        let from = &expression.ty;
        if from == to {
            return Ok(Expression { span, ..expression });
        }
        let is_number = |ty: &Type| ty.integer().is_some() || is_float(ty);
        let can = match to.kind() {
            _ if from.is_dynamic() => is_read_from_value(to),
            TypeKind::Text => is_number(from) || is_string(from) || *from == truth_type(),
            TypeKind::Bytes => is_string(from) || matches!(from.kind(), TypeKind::Message(_)),
            _ if is_number(to) => is_number(from) || *from.kind() == TypeKind::Text,
            _ => false,
        };
        match can {
            true => Ok(Expression { term: Term::Convert(Deep::new(expression)), ty: to.clone(), span }),
            false => mistake(
                span,
                format!("{from:#} cannot be converted to {to:#}"),
                "numbers and texts are converted to numbers; numbers, `bool` and `bytes` to texts; texts and messages \
                 to bytes; a `value` to what it is",
            ),
        }
    }
}

/// The function that converts to a type: `int64`, `list`.
fn conversion_to(ty: &Type) -> &str {
    match ty.kind() {
        TypeKind::List(_) => "list",
        TypeKind::Map(..) => "map",
        _ => ty.written(),
    }
}

/// Whether it is `none`, and no optional says yet of which type.
fn is_untyped_none(expression: &Expression) -> bool {
    expression.term == Term::None && !expression.ty.is_dynamic()
}

/// Whether only what it meets says of what type it is.
fn is_unsettled(expression: &Expression) -> bool {
    deep(|| match &expression.term {
        Term::None => is_untyped_none(expression),
        Term::List(elements) => elements.is_empty(),
        Term::Comprehension(None, it) => is_unsettled(&it.value),
        Term::Choose(three) => three.iter().skip(1).all(is_unsettled),
        _ => false,
    })
}

/// Whether `to` has all values of `from`, so that nothing is lost on the way.
fn widens(from: &Type, to: &Type) -> bool {
    match (from.integer(), to.integer()) {
        (Some(from), Some(to)) => to.includes(from),
        _ => {
            let pair = (from.kind(), to.kind());
            let is_wider = matches!(pair, (TypeKind::Float(Float::Single), TypeKind::Float(Float::Double)));
            is_wider || to.takes(from)
        }
    }
}

/// Two literals are a literal.
fn fold(operator: Operator, left: i128, right: i128, span: Span) -> Typed {
    let value = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    let fits = |value: &i128| (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(value);
    match value.filter(fits) {
        Some(value) => Ok(integer(value, span)),
        None if right == 0 && matches!(operator, Operator::Divide | Operator::Remainder) => {
            mistake(span, "this divides by zero", "there is no such number")
        }
        None => mistake(span, "the value does not fit 64 bits", "write a smaller one"),
    }
}
