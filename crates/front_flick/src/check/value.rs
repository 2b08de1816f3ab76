//! Values: what each name stands for, and the type that each expression has by the rules of the model.
//!
//! Literals have no type of their own until they meet one, so an expression is a term of the model. Of what the model
//! has no term for, a variable of its type stands there: only its type matters here.

use super::kind::Kind;
use super::{Checked, Checker, Reported};
use crate::ids as own_ids;
use crate::syntax::{Expression, Foldt, Form, Over, OverKind};
use flux_diagnostic::{Diagnostic, nearest};
use flux_front_flux::ids;
use flux_front_flux::syntax::{Name, QualifiedName};
use flux_ir::compute::{self, Mistake, Term, VariableId};
use flux_ir::types::{Type, TypeKind};
use flux_source::Span;

/// What an expression stands for.
pub(super) enum Typed {
    /// A value.
    Value(compute::Expression),
    /// Channels, or the elements of a `foldt`.
    Other(Kind),
    /// Nothing: a function that gives nothing was called.
    Nothing,
}

/// The fewest letters that a field is shortened to.
const SHORTEST: usize = 3;

/// A value of a type, whatever it is.
pub(super) fn of_type(ty: Type, span: Span) -> compute::Expression {
    compute::Expression { term: Term::Variable(VariableId::new(0)), ty, span }
}

pub(super) fn truth() -> Type {
    Type::of_kind(TypeKind::Bool)
}

/// What the model says of types, with the names that they have here.
fn in_own_words(message: &str) -> String {
    let named = message.replace("`int64`", "`integer`").replace("`text`", "`string`");
    named.replace("`int64(", "`integer(").replace("`text(", "`string(")
}

impl<'syntax> Checker<'syntax, '_, '_> {
    pub(super) fn typed(&mut self, result: Result<compute::Expression, Box<Mistake>>) -> Checked<compute::Expression> {
        result.map_err(|mistake| {
            let error = Diagnostic::error(ids::EXPRESSION_TYPE, in_own_words(&mistake.headline), mistake.span);
            self.report(error.help(in_own_words(&mistake.help)))
        })
    }

    /// A value of the type `wanted`.
    pub(super) fn wanted(&mut self, value: &'syntax Expression<'syntax>, wanted: &Type) -> Checked<()> {
        let value = self.value(value)?;
        self.fits(value, wanted)
    }

    /// Whether a value is of the type `wanted`, or one that has all of its values.
    pub(super) fn fits(&mut self, value: compute::Expression, wanted: &Type) -> Checked<()> {
        let result = self.typing().coerce(value, wanted);
        self.typed(result).map(|_| ())
    }

    /// Something that is a value, and no channel.
    pub(super) fn value(&mut self, value: &'syntax Expression<'syntax>) -> Checked<compute::Expression> {
        let (headline, help) = match self.expression(value)? {
            Typed::Value(typed) => return Ok(typed),
            Typed::Nothing => ("this gives nothing".to_owned(), "call it on a line of its own".to_owned()),
            Typed::Other(kind @ Kind::Stream(_)) => (
                format!("this is no value, but {kind}"),
                "send them on: `let result = foldt …`, `result => reducer`".into(),
            ),
            Typed::Other(kind) => (
                format!("this is no value, but {kind}"),
                "values come out of channels by rules: `| client => …`".into(),
            ),
        };
        Err(self.report(Diagnostic::error(own_ids::CHANNEL_DIRECTION, headline, value.span).help(help)))
    }

    /// What an expression stands for. The recursion is as deep as it is, which the parser bounds.
    pub(super) fn expression(&mut self, value: &'syntax Expression<'syntax>) -> Checked<Typed> {
        let span = value.span;
        let result = match &value.form {
            Form::Number(number) => Ok(compute::integer(i128::from(*number), span)),
            Form::Text(text) => Ok(compute::text(text.clone(), span)),
            Form::Truth(_) => Ok(of_type(truth(), span)),
            Form::Name(name) => return self.named(name),
            Form::Field(of, name) => return self.field(of, name).map(Typed::Value),
            Form::Element(two) => return self.element(two, span),
            Form::Call(name, arguments) => return self.call(name, arguments, span),
            Form::Over(over) => return self.over(over, span).map(Typed::Value),
            Form::Foldt(foldt) => return self.foldt(foldt),
            Form::In(two) => return self.within(two, span).map(Typed::Value),
            Form::List(elements) => {
                let elements: Vec<_> = elements.iter().map(|element| self.value(element)).collect();
                self.typing().list(elements.into_iter().collect::<Checked<_>>()?, span)
            }
            Form::Not(inner) => {
                let inner = self.value(inner)?;
                self.typing().not(inner, span)
            }
            Form::Negate(inner) => {
                let inner = self.value(inner)?;
                self.typing().negate(inner, span)
            }
            Form::Binary(operator, two) => {
                let [left, right] = &**two;
                // Both are looked at, so that both mistakes are found.
                let (left, right) = (self.value(left), self.value(right));
                self.typing().binary(*operator, left?, right?)
            }
        };
        self.typed(result).map(Typed::Value)
    }

    fn named(&mut self, name: &'syntax QualifiedName<'syntax>) -> Checked<Typed> {
        let (_, own) = name.parts();
        if let Some(binding) = self.find(own) {
            return match binding.kind.clone() {
                Some(Kind::Value(ty)) => Ok(Typed::Value(of_type(ty, name.span))),
                Some(other) => Ok(Typed::Other(other)),
                None => Err(Reported),
            };
        }
        let names = self.bound.iter().chain(&self.globals).map(|binding| binding.name);
        let help = match self.names.get(own) {
            Some((_, "function")) => format!("call it: `{own}(…)`"),
            Some((_, "type")) => format!("make a value of it: `{own}(…)`"),
            Some((_, what)) => format!("`{own}` is a {what}"),
            None => match nearest(own, names) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("give it a value: `let {own} = …`"),
            },
        };
        let error = Diagnostic::error(ids::UNKNOWN_VALUE, format!("there is no value `{own}` here"), name.span);
        Err(self.report(error.help(help)))
    }

    /// `e.name`
    fn field(
        &mut self,
        of: &'syntax Expression<'syntax>,
        name: &'syntax Name<'syntax>,
    ) -> Checked<compute::Expression> {
        let value = self.value(of)?;
        if let TypeKind::Message(id) = value.ty.kind()
            && let Some((view, shown)) = self.views.iter().find(|(_, view)| view.message == *id)
            && !shown.fields.contains(&name.as_str())
        {
            let (view, span, fields) = (*view, shown.span, shown.fields.clone());
            let headline = format!("the record `{view}` shows no field `{}`", name.text);
            let help = match nearest(&name.text, fields) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("declare it in the record, if the message has it: `{} : …`", name.text),
            };
            let error = Diagnostic::error(ids::UNKNOWN_FIELD, headline, name.span);
            return Err(self.report(error.mark(span, "the record").help(help)));
        }
        let (mistake, names) = match self.typing().field(value.clone(), &name.text, name.span) {
            Ok(field) => return Ok(field),
            Err(mistake) => mistake,
        };
        let mut longer = names.iter().filter(|one| name.text.len() >= SHORTEST && one.starts_with(&*name.text));
        if let (Some(meant), None) = (longer.next(), longer.next()) {
            let headline = format!("`{}` is short for the field `{meant}`", name.text);
            let warning = Diagnostic::warning(own_ids::FIELD_SHORTENED, headline, name.span);
            self.report(warning.help(format!("write `{meant}`: a field that comes later may begin like it")));
            let field = self.typing().field(value, meant, name.span);
            return self.typed(field.map_err(|(mistake, _)| mistake));
        }
        let id = if names.is_empty() { ids::EXPRESSION_TYPE } else { ids::UNKNOWN_FIELD };
        let help = match nearest(&name.text, names.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => in_own_words(&mistake.help),
        };
        Err(self.report(Diagnostic::error(id, in_own_words(&mistake.headline), mistake.span).help(help)))
    }

    /// `e[e]`: of a list, a dictionary, or an array of channels.
    fn element(&mut self, two: &'syntax [Expression<'syntax>; 2], span: Span) -> Checked<Typed> {
        let [of, key] = two;
        let (of, key) = (self.expression(of), self.value(key));
        let (of, key) = (of?, key?);
        let of = match of {
            Typed::Value(of) => of,
            Typed::Other(Kind::Channels(ways)) => {
                let list = of_type(Type::list_of(&truth()), span);
                let index = self.typing().element(list, key, span);
                self.typed(index)?;
                return Ok(Typed::Other(Kind::Channel(ways)));
            }
            Typed::Other(kind) => {
                let error = Diagnostic::error(ids::EXPRESSION_TYPE, format!("{kind} has no elements"), span);
                return Err(self.report(error.help("lists, dictionaries and arrays of channels have elements")));
            }
            Typed::Nothing => return Err(self.report_nothing(span)),
        };
        let element = self.typing().element(of, key, span);
        self.typed(element).map(Typed::Value)
    }

    fn report_nothing(&mut self, span: Span) -> Reported {
        let error = Diagnostic::error(ids::EXPRESSION_TYPE, "this gives nothing", span);
        self.report(error.help("call it on a line of its own"))
    }

    /// `e in e`: whether a list has a value, or a dictionary a key.
    fn within(&mut self, two: &'syntax [Expression<'syntax>; 2], span: Span) -> Checked<compute::Expression> {
        let [value, of] = two;
        let (typed, list) = (self.value(value), self.value(of));
        let (typed, list) = (typed?, list?);
        let wanted = match list.ty.kind() {
            TypeKind::List(element) => element.clone(),
            TypeKind::Map(key, _) => key.clone(),
            _ => {
                let headline = "`in` asks whether a list has a value, or a dictionary a key";
                let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, of.span);
                return Err(self.report(error.help("write a list or a dictionary to the right of `in`")));
            }
        };
        self.fits(typed, &wanted)?;
        Ok(of_type(truth(), span))
    }

    /// `map on xs as x: …` and its like.
    fn over(&mut self, over: &'syntax Over<'syntax>, span: Span) -> Checked<compute::Expression> {
        let list = self.value(&over.list)?;
        let TypeKind::List(element) = list.ty.kind().clone() else {
            let headline = format!("`{}` goes through a list, and this is none", over.kind.name());
            let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, over.list.span);
            return Err(
                self.report(error.help("of channels `for` goes through each, and `foldt` through what they give"))
            );
        };
        let from = over.from.as_ref().map(|from| self.value(from)).transpose()?;
        self.scoped(|checker| {
            let sum = from.map(|from| from.ty);
            if let (Some(name), Some(sum)) = (&over.sum, &sum) {
                checker.bind(name, Some(Kind::Value(sum.clone())));
            }
            checker.bind(&over.element, Some(Kind::Value(element.clone())));
            let made = match (over.kind, sum) {
                (OverKind::Map, _) => Type::list_of(&checker.block_value(&over.block, None, over.list.span)?),
                (OverKind::Filter, _) => {
                    checker.block_value(&over.block, Some(&truth()), over.list.span)?;
                    Type::list_of(&element)
                }
                (OverKind::Fold, Some(sum)) => checker.block_value(&over.block, Some(&sum), over.list.span)?,
                (OverKind::Fold, None) => return Err(Reported),
            };
            Ok(of_type(made, span))
        })
    }

    /// `foldt on mappers ordering elem e1, e2 by elem.key as e_key: …`
    fn foldt(&mut self, foldt: &'syntax Foldt<'syntax>) -> Checked<Typed> {
        let given = match self.expression(&foldt.channels)? {
            Typed::Other(Kind::Channels(ways)) => ways.gives,
            _ => {
                let headline = "`foldt` is of an array of channels";
                let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, foldt.channels.span);
                return Err(self.report(error.help("of a list make one value by `fold on list from 0 as sum, x: …`")));
            }
        };
        let Some(element) = given else {
            let headline = "`foldt` reads from channels that give nothing";
            let error = Diagnostic::error(own_ids::CHANNEL_DIRECTION, headline, foldt.channels.span);
            return Err(self.report(error.help("declare what they give: `[kv/-] mappers`")));
        };
        let value = || Some(Kind::Value(element.clone()));
        let key = self.scoped(|checker| {
            checker.bind(&foldt.element, value());
            checker.value(&foldt.key)
        })?;
        if !matches!(key.ty.kind(), TypeKind::Integer(_) | TypeKind::Text | TypeKind::Bytes) {
            let headline = "elements are ordered by a number, a string or bytes";
            let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, foldt.key.span);
            return Err(self.report(error.help("order them by a field: `by elem.key`")));
        }
        self.scoped(|checker| {
            foldt.two.iter().for_each(|name| checker.bind(name, value()));
            if let Some(name) = &foldt.key_name {
                checker.bind(name, Some(Kind::Value(key.ty.clone())));
            }
            checker.block_value(&foldt.block, Some(&element), foldt.key.span)
        })?;
        Ok(Typed::Other(Kind::Stream(element)))
    }
}
