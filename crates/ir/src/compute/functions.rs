//! The rules of types of functions: what those of the language take and give, and what a program's own do.
//!
//! An aggregate of a comprehension is one expression: no list is made on the way.

use super::typing::{Mistake, Typed, Typing, index_type, is_float, is_string, mistake, truth_type, value_type};
use super::{Callable, Comprehension, Dynamic, Expression, Function, Term, Walk};
use crate::program::Parameter;
use crate::types::{Type, TypeKind};
use flux_source::{Deep, Span};

/// What a function gives, and what it takes after its first value.
type Taken = Result<(Type, Vec<Type>), Box<Mistake>>;

impl Typing<'_> {
    /// A function of the language.
    pub fn call(self, function: Function, arguments: Vec<Expression>, span: Span) -> Typed {
        let name = function.name();
        if arguments.len() != function.arity() {
            let headline = format!("`{name}` takes {}, but {} are given", values(function.arity()), arguments.len());
            return mistake(span, headline, format!("write `{name}({})`", vec!["…"; function.arity()].join(", ")));
        }
        let mut rest = arguments.into_iter();
        let Some(first) = rest.next() else { return mistake(span, "a function takes values", "write them") };
        if function == Function::Value && !matches!(first.ty.kind(), TypeKind::Optional(_)) {
            return self.convert(first, &value_type(), span);
        }
        let first = self.settle(first)?;
        let (ty, wanted) = self.taken(function, &first)?;
        let mut arguments = vec![];
        for (at, (argument, wanted)) in rest.zip(&wanted).enumerate() {
            let is_index = function == Function::Get && at == 0;
            arguments.push(if is_index { self.index(argument, wanted)? } else { self.coerce(argument, wanted)? });
        }
        let term = match first.term {
            Term::Comprehension(None, it) if function.is_aggregate() => Term::Comprehension(Some(function), it),
            term => {
                arguments.insert(0, Expression { term, ..first });
                Term::Call(function, arguments)
            }
        };
        Ok(Expression { term, ty, span })
    }

    /// What a function gives that is called with this value first, and what it takes after it.
    fn taken(self, function: Function, first: &Expression) -> Taken {
        let of = &first.ty;
        let refuse =
            |what: &str| mistake(first.span, format!("`{}` does not take {of:#}", function.name()), what.to_owned());
        let element = match of.kind() {
            TypeKind::List(element) => Some(element),
            _ => None,
        };
        let is_number = |ty: &&Type| ty.integer().is_some() || is_float(ty);
        let is_sequence = is_string(of);
        let is_text = *of.kind() == TypeKind::Text;
        Ok(match function {
            Function::Length if is_sequence || element.is_some() || matches!(of.kind(), TypeKind::Map(..)) => {
                (index_type(), vec![])
            }
            Function::Length => return refuse("texts, bytes, lists and maps have a length"),
            Function::Contains | Function::StartsWith | Function::EndsWith if is_sequence => {
                (truth_type(), vec![of.clone()])
            }
            Function::Contains => match of.kind() {
                TypeKind::List(key) | TypeKind::Map(key, _) => (truth_type(), vec![key.clone()]),
                _ => return refuse("it takes a text, bytes, a list or a map"),
            },
            Function::Position if is_sequence => (index_type(), vec![of.clone()]),
            Function::StartsWith | Function::EndsWith | Function::Position => {
                return refuse("it takes a text or bytes");
            }
            Function::Hash if is_sequence || of.integer().is_some() => (Type::new("int64"), vec![]),
            Function::Hash => return refuse("it takes a text, bytes or an integer"),
            Function::Lower | Function::Upper | Function::Trim if is_text => (of.clone(), vec![]),
            Function::Split if is_text => (Type::of_kind(TypeKind::List(of.clone())), vec![of.clone()]),
            Function::Lower | Function::Upper | Function::Trim | Function::Split => {
                return refuse("it takes a text");
            }
            Function::Join => match element.filter(|element| *element.kind() == TypeKind::Text) {
                Some(element) => (element.clone(), vec![element.clone()]),
                None => return refuse("it takes a `list<text>`"),
            },
            Function::Has | Function::Value => match (of.kind(), function) {
                (TypeKind::Optional(_), Function::Has) => (truth_type(), vec![]),
                (TypeKind::Optional(inner), _) => (inner.clone(), vec![]),
                _ => return refuse("it takes an optional"),
            },
            _ if function.asks_for().is_some() => match of.is_dynamic() {
                true => (truth_type(), vec![]),
                false => return refuse("it takes a `value`"),
            },
            Function::Get => {
                let (key, element) = self.elements(of, first.span)?;
                (element.clone(), vec![key, element])
            }
            Function::Sum => match element.filter(is_number) {
                Some(number) => (number.clone(), vec![]),
                None => return refuse("it takes a list of numbers: `sum([for h in hits : h.bytes])`"),
            },
            Function::Min | Function::Max => {
                match element.filter(|it| is_number(it) || is_string(it) || it.is_dynamic()) {
                    Some(ordered) => (ordered.clone(), vec![]),
                    None => return refuse("it takes a list of numbers, texts or values, which have an order"),
                }
            }
            // Any and all: the others are above.
            _ => match element.filter(|element| **element == truth_type()) {
                Some(truth) => (truth.clone(), vec![]),
                None => return refuse("it takes a list of `bool`: `any([for h in hits : h.bytes > 1k])`"),
            },
        })
    }

    /// What `for` goes through where it is given `over`, and the types of what it names, which are as many as `names`:
    /// of a `value` its list, or with two names its map.
    ///
    /// # Errors
    /// It does not go through such a value, or the names are too many or too few.
    pub fn walk(self, over: Expression, names: usize) -> Result<(Expression, Vec<Type>), Box<Mistake>> {
        let dynamic = match names {
            1 => Some(Dynamic::List),
            2 => Some(Dynamic::Map),
            _ => None,
        };
        let span = over.span;
        let over = match dynamic.filter(|_| over.ty.is_dynamic()) {
            Some(dynamic) => self.convert(over, &dynamic.ty(), span)?,
            None => over,
        };
        let types = match (over.ty.kind(), names) {
            (TypeKind::List(element), 1) => vec![element.clone()],
            (TypeKind::Map(key, value), 2) => vec![key.clone(), value.clone()],
            (TypeKind::Map(..), _) => {
                return mistake(over.span, "a map has keys and values", "name both: `for key, value in …`");
            }
            (TypeKind::List(_), _) => {
                return mistake(over.span, "a list has elements, which have one name", "write `for x in …`");
            }
            _ => {
                let headline = format!("a loop goes through a list or a map, and this is {:#}", over.ty);
                return mistake(over.span, headline, "write a list: `split(line, \" \")` makes one of a text");
            }
        };
        Ok((over, types))
    }

    /// `[for x in list if condition : value]`
    pub fn comprehension(self, walk: Walk, value: Expression, condition: Option<Expression>, span: Span) -> Typed {
        let condition = condition.map(|condition| self.coerce(condition, &truth_type())).transpose()?;
        if !value.ty.is_own() {
            let headline = format!("a list has no elements of the C++ type `{}`", value.ty);
            return mistake(value.span, headline, "lists are of types of the language");
        }
        let ty = Type::of_kind(TypeKind::List(value.ty.clone()));
        Ok(Expression {
            term: Term::Comprehension(None, Deep::new(Comprehension { walk, value, condition })),
            ty,
            span,
        })
    }

    /// What is called with values: each as the input at its place wants it.
    ///
    /// # Errors
    /// They are too many or too few, or one is of another type.
    pub fn arguments(
        self,
        name: &str,
        inputs: &[Parameter],
        arguments: Vec<Expression>,
        span: Span,
    ) -> Result<Vec<Expression>, Box<Mistake>> {
        if arguments.len() != inputs.len() {
            let headline = format!("`{name}` takes {}, but {} are given", values(inputs.len()), arguments.len());
            let named: Vec<_> = inputs.iter().map(|input| input.name.as_str()).collect();
            return mistake(span, headline, format!("write `{name}({})`", named.join(", ")));
        }
        arguments.into_iter().zip(inputs).map(|(argument, input)| self.coerce(argument, &input.ty)).collect()
    }

    /// The call of what gives one value.
    pub fn apply(self, callee: Callable, arguments: Vec<Expression>, ty: &Type, span: Span) -> Expression {
        Expression { term: Term::Apply(callee, arguments), ty: ty.clone(), span }
    }
}

fn values(count: usize) -> String {
    if count == 1 { "1 value".to_owned() } else { format!("{count} values") }
}
