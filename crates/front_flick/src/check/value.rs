//! Values: what each name stands for, and the type that each expression has by the rules of the model.
//!
//! Literals have no type of their own until they meet one, so an expression is a term of the model. What takes more
//! than one term makes statements that come before it, such as a call of a function that sends.

use super::kind::Kind;
use super::made::{End, read, value_of};
use super::{Checked, Checker, Reported, Stands};
use crate::ids as own_ids;
use crate::syntax::{Expression, Foldt, Form};
use flux_diagnostic::{Diagnostic, nearest};
use flux_front_flux::ids;
use flux_front_flux::syntax::{Name, QualifiedName};
use flux_ir::compute::{self, Function, Mistake, Operator, Term, VariableId};
use flux_ir::message::looks_back;
use flux_ir::types::{Type, TypeKind};
use flux_source::{Span, deep};

/// What an expression stands for.
pub(super) enum Typed {
    /// A value.
    Value(compute::Expression),
    /// Channels, or the elements of a `foldt`; which channels, where that is known.
    Other(Kind, Option<End>),
    /// Nothing: a function that gives nothing was called.
    Nothing,
}

/// The fewest letters that a field is shortened to.
const SHORTEST: usize = 3;

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
    pub(super) fn wanted(
        &mut self,
        value: &'syntax Expression<'syntax>,
        wanted: &Type,
    ) -> Checked<compute::Expression> {
        let value = match &value.form {
            Form::Over(over) => self.over(over, Some(wanted), value.span)?,
            _ => self.value(value)?,
        };
        self.fits(value, wanted)
    }

    /// The same value, whose type is known.
    pub(super) fn settled(&mut self, value: compute::Expression) -> Checked<compute::Expression> {
        if self.typing().is_settled(&value) {
            return Ok(value);
        }
        let error = Diagnostic::error(ids::EXPRESSION_TYPE, "the type of this is not known", value.span);
        Err(self.report(error.help("say what it is: `let xs : [integer] = []`")))
    }

    /// The type of a value, where it is known.
    pub(super) fn known_type(&self, value: &compute::Expression) -> Option<Type> {
        self.typing().is_settled(value).then(|| value.ty.clone())
    }

    /// A value as one of the type `wanted`, which has all of its values.
    pub(super) fn fits(&mut self, value: compute::Expression, wanted: &Type) -> Checked<compute::Expression> {
        let result = self.typing().coerce(value, wanted);
        self.typed(result)
    }

    /// Something that is a value, and no channel.
    pub(super) fn value(&mut self, value: &'syntax Expression<'syntax>) -> Checked<compute::Expression> {
        let (headline, help) = match self.expression(value)? {
            Typed::Value(typed) => return Ok(typed),
            Typed::Nothing => ("this gives nothing".to_owned(), "call it on a line of its own".to_owned()),
            Typed::Other(kind @ Kind::Stream(_), _) => (
                format!("this is no value, but {kind}"),
                "send them on: `let result = foldt …`, `result => reducer`".into(),
            ),
            Typed::Other(kind, _) => (
                format!("this is no value, but {kind}"),
                "values come out of channels by rules: `| client => …`".into(),
            ),
        };
        Err(self.report(Diagnostic::error(own_ids::CHANNEL_DIRECTION, headline, value.span).help(help)))
    }

    /// What an expression stands for. The recursion is as deep as it is, which the parser bounds.
    pub(super) fn expression(&mut self, value: &'syntax Expression<'syntax>) -> Checked<Typed> {
        deep(|| {
            let span = value.span;
            let result = match &value.form {
                Form::Number(number) => Ok(compute::integer(i128::from(*number), span)),
                Form::Text(text) => Ok(compute::text(text.clone(), span)),
                Form::Truth(is) => Ok(compute::Expression { term: Term::Truth(*is), ty: truth(), span }),
                Form::Name(name) => return self.named(name),
                Form::Field(of, name) => return self.field(of, name).map(Typed::Value),
                Form::Element(two) => return self.element(two, span),
                Form::Call(name, arguments) => return self.call(name, arguments, span),
                Form::Over(over) => return self.over(over, None, span).map(Typed::Value),
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
                Form::Binary(operator @ (Operator::And | Operator::Or), two) => return self.lazily(*operator, two),
                Form::Binary(operator, two) => {
                    let [left, right] = &**two;
                    // Both are looked at, so that both mistakes are found.
                    let (left, right) = (self.value(left), self.value(right));
                    self.typing().binary(*operator, left?, right?)
                }
            };
            self.typed(result).map(Typed::Value)
        })
    }

    fn named(&mut self, name: &'syntax QualifiedName<'syntax>) -> Checked<Typed> {
        let (_, own) = name.parts();
        if let Some(binding) = self.find(own).cloned() {
            return match binding.kind.clone() {
                _ if let Stands::Literal(literal) = binding.stands => Ok(Typed::Value(literal)),
                Some(Kind::Value(ty)) => Ok(Typed::Value(read(self.variable_of(&binding.stands), &ty, name.span))),
                Some(other) => Ok(Typed::Other(other, binding.end())),
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
            if let Some(meant) = short_for(&name.text, &fields) {
                return self.shortened(value, name, meant);
            }
            let headline = format!("the record `{view}` shows no field `{}`", name.text);
            let help = match nearest(&name.text, fields) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("declare it in the record, if the message has it: `{} : …`", name.text),
            };
            let error = Diagnostic::error(ids::UNKNOWN_FIELD, headline, name.span);
            return Err(self.report(error.mark(span, "the record").help(help)));
        }
        let (mistake, names) = match self.typing().field(value.clone(), &name.text, name.span) {
            Ok(field) => return Ok(of_choice(field)),
            Err(mistake) => mistake,
        };
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        if let Some(meant) = short_for(&name.text, &known) {
            return self.shortened(value, name, meant);
        }
        let id = if names.is_empty() { ids::EXPRESSION_TYPE } else { ids::UNKNOWN_FIELD };
        let help = match nearest(&name.text, names.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => in_own_words(&mistake.help),
        };
        Err(self.report(Diagnostic::error(id, in_own_words(&mistake.headline), mistake.span).help(help)))
    }

    /// A field that is written with the beginning of its name.
    fn shortened(
        &mut self,
        value: compute::Expression,
        name: &'syntax Name<'syntax>,
        meant: &str,
    ) -> Checked<compute::Expression> {
        let headline = format!("`{}` is short for the field `{meant}`", name.text);
        let warning = Diagnostic::warning(own_ids::FIELD_SHORTENED, headline, name.span);
        self.report(warning.help(format!("write `{meant}`: a field that comes later may begin like it")));
        let field = self.typing().field(value, meant, name.span);
        self.typed(field.map_err(|(mistake, _)| mistake)).map(of_choice)
    }

    /// `e[e]`: of a list, a dictionary, or an array of channels.
    fn element(&mut self, two: &'syntax [Expression<'syntax>; 2], span: Span) -> Checked<Typed> {
        let [of, key] = two;
        let (of, key) = (self.expression(of), self.value(key));
        let (of, key) = (of?, key?);
        let of = match of {
            Typed::Value(of) => of,
            Typed::Other(Kind::Channels(ways), end) => {
                // An index is what finds the element of a list.
                let list = read(VariableId::new(0), &Type::list_of(&truth()), span);
                let found = self.typing().element(list, key, span);
                let index = match self.typed(found)?.term {
                    Term::Element(two) => {
                        let [_, index] = two.into_inner();
                        index
                    }
                    _ => return Err(Reported),
                };
                let end = end.map(|end| End { element: Some(index), ..end });
                return Ok(Typed::Other(Kind::Channel(ways), end));
            }
            Typed::Other(kind, _) => {
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
            // Of an empty list nothing is known, and it has nothing.
            _ if !self.typing().is_settled(&list) => {
                return Ok(compute::Expression { term: Term::Truth(false), ty: truth(), span });
            }
            TypeKind::List(element) => element.clone(),
            TypeKind::Map(key, _) => key.clone(),
            _ => {
                let headline = "`in` asks whether a list has a value, or a dictionary a key";
                let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, of.span);
                return Err(self.report(error.help("write a list or a dictionary to the right of `in`")));
            }
        };
        let typed = self.fits(typed, &wanted)?;
        let term = Term::Call(Function::Contains, vec![list, typed]);
        Ok(compute::Expression { term, ty: truth(), span })
    }

    /// `foldt on mappers ordering elem e1, e2 by elem.key as e_key: …`
    fn foldt(&mut self, foldt: &'syntax Foldt<'syntax>) -> Checked<Typed> {
        let given = match self.expression(&foldt.channels)? {
            Typed::Other(Kind::Channels(ways), _) => ways.gives,
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
        if let TypeKind::Message(id) = element.kind()
            && looks_back(&self.scope.program.messages, *id)
        {
            let headline = format!("`foldt` cannot read {element:#}, in which something looks back by `&parse_at`");
            let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, foldt.channels.span);
            return Err(
                self.report(error.help("its messages are read in a row, so each has all that it says in itself"))
            );
        }
        let key = self.scoped(|checker| {
            checker.bind_variable(&foldt.element, &element);
            checker.value(&foldt.key)
        })?;
        if !matches!(key.ty.kind(), TypeKind::Integer(_) | TypeKind::Text | TypeKind::Bytes) {
            let headline = "elements are ordered by a number, a string or bytes";
            let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, foldt.key.span);
            return Err(self.report(error.help("order them by a field: `by elem.key`")));
        }
        self.scoped(|checker| {
            for name in &foldt.two {
                checker.bind_variable(name, &element);
            }
            if let Some(name) = &foldt.key_name {
                checker.bind_variable(name, &key.ty);
            }
            checker.block_value(&foldt.block, Some(&element), foldt.key.span)
        })?;
        Ok(Typed::Other(Kind::Stream(element), None))
    }
}

/// A field of a message in a choice, which is an optional of the model: its value, which fails where there is none.
fn of_choice(field: compute::Expression) -> compute::Expression {
    match (&field.term, field.ty.kind()) {
        (Term::Field(of, _), TypeKind::Optional(inner)) if matches!(of.ty.kind(), TypeKind::Message(_)) => {
            let ty = inner.clone();
            value_of(field, &ty)
        }
        _ => field,
    }
}

/// The only one of `names` that begins so.
fn short_for<'names>(short: &str, names: &[&'names str]) -> Option<&'names str> {
    let mut longer = names.iter().filter(|one| short.len() >= SHORTEST && one.starts_with(short));
    longer.next().copied().filter(|_| longer.next().is_none())
}
