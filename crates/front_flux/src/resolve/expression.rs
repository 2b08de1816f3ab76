//! Values in bodies: what each name stands for, and the typed expression that a value is.

use super::body::{BodyResolver, Reported};
use crate::body::{Argument, Form, Value};
use crate::ids;
use crate::syntax::{Name, QualifiedName};
use flux_diagnostic::{Diagnostic, Id, nearest};
use flux_ir::compute::{Dynamic, Expression, Function, Mistake, Term, error_code, integer, real, text};
use flux_ir::program::{OptionKind, TypeBody, TypeId};
use flux_ir::types::{Declared, Integer, Type, TypeKind, built_in_names, written_fields};
use flux_source::{Span, deep};

impl<'syntax> BodyResolver<'_, 'syntax, '_, '_> {
    /// A value of the type `wanted`.
    pub(super) fn wanted(&mut self, value: &'syntax Value<'syntax>, wanted: &Type) -> Result<Expression, Reported> {
        let value = self.value(value)?;
        self.typed(self.typing().coerce(value, wanted))
    }

    /// What comes of a rule of types, its mistake reported.
    pub(super) fn typed(&mut self, result: Result<Expression, Box<Mistake>>) -> Result<Expression, Reported> {
        result.map_err(|mistake| self.report_mistake(ids::EXPRESSION_TYPE, *mistake))
    }

    pub(super) fn report_mistake(&mut self, id: Id, mistake: Mistake) -> Reported {
        self.report(Diagnostic::error(id, mistake.headline, mistake.span).help(mistake.help))
    }

    /// A value. The recursion is as deep as it is, which the parser bounds.
    pub(super) fn value(&mut self, value: &'syntax Value<'syntax>) -> Result<Expression, Reported> {
        deep(|| {
            let span = value.span;
            let result = match &value.form {
                Form::Number(number) => return Ok(integer(i128::from(*number), span)),
                Form::Real(number) => return Ok(real(*number, span)),
                Form::Text(string) => return Ok(text(string.clone(), span)),
                Form::Truth(truth) => {
                    return Ok(Expression { term: Term::Truth(*truth), ty: Type::of_kind(TypeKind::Bool), span });
                }
                Form::Name(name) => return self.named(name),
                Form::Field(of, name) => return self.field(of, name, span),
                Form::Call(callee, arguments) => return self.call(callee, arguments, span),
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
                Form::Choose(three) => {
                    let [condition, one, other] = three.each_ref().map(|one| self.value(one));
                    self.typing().choose(condition?, one?, other?)
                }
                Form::List(elements) => {
                    let elements: Vec<_> = elements.iter().map(|element| self.value(element)).collect();
                    self.typing().list(elements.into_iter().collect::<Result<_, _>>()?, span)
                }
                Form::Map(entries) => {
                    let entries: Vec<_> =
                        entries.iter().map(|[key, value]| Ok([self.value(key)?, self.value(value)?])).collect();
                    self.typing().map(entries.into_iter().collect::<Result<_, Reported>>()?, span)
                }
                Form::Comprehension(it) => return self.comprehension(it, span),
                Form::Element(two) => {
                    let [of, key] = &**two;
                    let (of, key) = (self.value(of), self.value(key));
                    self.typing().element(of?, key?, span)
                }
                Form::Slice(of, from, to) => {
                    let of = self.value(of);
                    let from = from.as_ref().map(|from| self.value(from)).transpose();
                    let to = to.as_ref().map(|to| self.value(to)).transpose();
                    self.typing().slice(of?, from?, to?, span)
                }
            };
            self.typed(result)
        })
    }

    /// Where a name may be declared: in the module that stands before it, or in this one, and else in the program.
    pub(super) fn homes<'n>(&'n self, name: &'n QualifiedName<'_>) -> [(Option<&'n str>, &'n str); 2] {
        let (module, own) = name.parts();
        [(module.or(self.module), own), (module, own)]
    }

    /// The variable that a name means here, as [`Self::find`] has it.
    fn variable(&self, name: &QualifiedName<'_>) -> Option<Option<flux_ir::compute::VariableId>> {
        if name.module.is_none() { self.find(&name.own) } else { None }
    }

    pub(super) fn named(&mut self, name: &'syntax QualifiedName<'syntax>) -> Result<Expression, Reported> {
        let span = name.span;
        if let Some(found) = self.variable(name) {
            let variable = found.ok_or(Reported)?;
            let Some(ty) = self.computation.variable(variable).map(|variable| variable.ty.clone()) else {
                return Err(Reported);
            };
            if !self.given.contains(&variable) {
                let headline = format!("`{name}` has no value here");
                let error = Diagnostic::error(ids::UNSET_VALUE, headline, span);
                return Err(self.report(error.help("assign it before, on every path that leads here")));
            }
            return Ok(Expression { term: Term::Variable(variable), ty, span });
        }
        match name.parts() {
            (None, "none") => return Ok(self.typing().none(span)),
            (None, "undefined") => return Ok(self.typing().undefined(span)),
            _ => {}
        }
        let option = self.homes(name).into_iter().find_map(|(module, own)| self.resolver.scope.option(module, own));
        if let Some(option) = option {
            let kind = match self.resolver.scope.program.options[option].kind {
                OptionKind::Int | OptionKind::Duration | OptionKind::Size => {
                    TypeKind::Integer(Integer { signed: true, bits: 64 })
                }
                OptionKind::Text | OptionKind::Path => TypeKind::Text,
                OptionKind::Bool => TypeKind::Bool,
            };
            return Ok(Expression { term: Term::Option(option), ty: Type::of_kind(kind), span });
        }
        match self.code_called(name) {
            Some(code) => Ok(error_code(code, span)),
            None => Err(self.report_unknown(name)),
        }
    }

    fn report_unknown(&mut self, name: &QualifiedName<'_>) -> Reported {
        let word = &name.to_string();
        let error = Diagnostic::error(ids::UNKNOWN_VALUE, format!("there is no value `{word}` here"), name.span);
        let may_suggest = self.resolver.may_suggest(word);
        let variables = self.scopes.iter().flatten().map(|(name, _)| name.clone());
        let options = self.resolver.scope.program.options.iter().map(|(_, option)| option.name.to_string());
        let mut names: Vec<String> = variables.chain(options).chain(self.resolver.code_names()).collect();
        names.sort_unstable();
        let enumerators = self.resolver.scope.program.types.iter().find_map(|(_, declared)| match &declared.body {
            TypeBody::Enum(values) if values.iter().any(|value| value == word) => Some(declared.name.clone()),
            _ => None,
        });
        let meant = if may_suggest { nearest(word, names.iter().map(String::as_str)) } else { None };
        let help = match (enumerators, meant) {
            (Some(of), _) => format!("write the enumeration before it: `{of}.{word}`"),
            (None, Some(meant)) => format!("did you mean `{meant}`?"),
            (None, None) if matches!(word.as_str(), "null" | "NULL" | "nullptr" | "nil" | "None") => {
                "an optional without a value is `none`".to_owned()
            }
            (None, None) => {
                "values are inputs, variables of `let` and `for`, options, error codes, and fields of these".to_owned()
            }
        };
        self.report(error.help(help))
    }

    /// `h.bytes`, or `method.get` of an enumeration.
    fn field(
        &mut self,
        of: &'syntax Value<'syntax>,
        name: &'syntax Name<'syntax>,
        span: Span,
    ) -> Result<Expression, Reported> {
        if let Form::Name(ty) = &of.form
            && self.variable(ty).is_none()
            && let Some(declared) = self.type_called(ty)
        {
            return self.enumerator(declared, name, span);
        }
        let of = self.value(of)?;
        let result = self.typing().field(of, &name.text, name.span);
        result.map_err(|(mistake, names)| self.report_unknown_field(*mistake, name, &names))
    }

    pub(super) fn report_unknown_field(
        &mut self,
        mut mistake: Mistake,
        name: &'syntax Name<'syntax>,
        names: &[String],
    ) -> Reported {
        // Its declaration has a mistake, which was reported.
        if self.resolver.wrong_fields.contains(&*name.text) {
            return Reported;
        }
        let id = if names.is_empty() { ids::EXPRESSION_TYPE } else { ids::UNKNOWN_FIELD };
        let may_suggest = self.resolver.may_suggest(&name.text);
        if let (true, Some(meant)) = (may_suggest, nearest(&name.text, names.iter().map(String::as_str))) {
            mistake.help = format!("did you mean `{meant}`?");
        }
        self.report_mistake(id, mistake)
    }

    /// The record, enumeration or message that is called so here.
    fn type_called(&self, name: &QualifiedName<'_>) -> Option<Declared> {
        let named = |(module, own)| self.resolver.scope.declared_type(module, own);
        self.homes(name).into_iter().find_map(named)
    }

    fn enumerator(
        &mut self,
        declared: Declared,
        name: &'syntax Name<'syntax>,
        span: Span,
    ) -> Result<Expression, Reported> {
        let program = &self.resolver.scope.program;
        let ty = Type::declared(program, declared);
        let body = declared.declaration().map(|id| &program.types[id].body);
        let Some(TypeBody::Enum(values)) = body else {
            let headline = format!("`{ty}` is a type, and has no values of its own");
            let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, span);
            return Err(self.report(error.help(format!("construct a value: `{ty}(…)`"))));
        };
        if let Some(index) = values.iter().position(|value| *value == name.text) {
            return Ok(Expression { term: Term::Enumerator(index), ty, span });
        }
        let listed: Vec<_> = values.iter().take(8).map(|value| format!("`{value}`")).collect();
        let headline = format!("the enumeration `{ty}` has no value `{}`", name.text);
        let mistake = Mistake { headline, help: format!("it has {}", listed.join(", ")), span: name.span };
        let values = values.clone();
        Err(self.report_unknown_field(mistake, name, &values))
    }

    /// `length(x)`, `uint32(x)`, `hit(path: p, bytes: 0)`
    fn call(
        &mut self,
        callee: &'syntax Value<'syntax>,
        arguments: &'syntax [Argument<'syntax>],
        span: Span,
    ) -> Result<Expression, Reported> {
        let Form::Name(name) = &callee.form else {
            let error = Diagnostic::error(ids::UNKNOWN_FUNCTION, "this is not a function", callee.span);
            return Err(self.report(error.help("functions are called by their names: `length(line)`")));
        };
        match self.type_called(name) {
            Some(Declared::Message(id)) => return self.message(id, arguments, span),
            Some(Declared::Record(id) | Declared::Enum(id)) => return self.record(id, arguments, span),
            None => {}
        }
        if let Some(callee) = self.callable(name) {
            return self.apply(callee, name, arguments, span);
        }
        if let Some(field) = arguments.iter().find_map(|argument| argument.field.as_ref()) {
            return Err(self.report_named_value(name, field));
        }
        let values: Vec<_> = arguments.iter().map(|argument| self.value(&argument.value)).collect();
        let mut values = values.into_iter().collect::<Result<Vec<_>, _>>()?;
        if let Some(function) = Function::ALL.into_iter().find(|function| name.parts() == (None, function.name())) {
            return self.typed(self.typing().call(function, values, span));
        }
        let Some(ty) = converted_to(name) else { return Err(self.report_unknown_function(name)) };
        match (values.pop(), values.is_empty()) {
            (Some(value), true) => self.typed(self.typing().convert(value, &ty, span)),
            _ => {
                let headline = format!("a conversion to `{ty}` takes one value");
                let error = Diagnostic::error(ids::EXPRESSION_TYPE, headline, span);
                Err(self.report(error.help(format!("write `{ty}(…)`"))))
            }
        }
    }

    pub(super) fn report_named_value(&mut self, name: &QualifiedName<'_>, field: &Name) -> Reported {
        let headline = format!("`{name}` is no record, and has no field `{}`", field.text);
        let error = Diagnostic::error(ids::UNKNOWN_FIELD, headline, field.span);
        self.report(error.help("arguments of functions have no names"))
    }

    fn report_unknown_function(&mut self, name: &QualifiedName<'_>) -> Reported {
        let word = &name.to_string();
        let headline = format!("there is no function `{word}`");
        let error = Diagnostic::error(ids::UNKNOWN_FUNCTION, headline, name.span);
        let types = self.resolver.scope.program.types.iter().map(|(_, declared)| declared.name.to_string());
        let known = Function::ALL.into_iter().map(Function::name).chain(built_in_names()).map(str::to_owned);
        let nodes = self.resolver.scope.program.nodes.iter().map(|(_, node)| node).filter(|node| node.body.is_leaf());
        let predicates = self.resolver.scope.program.predicates.iter().map(|(_, predicate)| predicate.name.to_string());
        let own = nodes.map(|node| node.name.to_string()).chain(predicates);
        let messages = self.resolver.scope.program.messages.iter().map(|(_, message)| message.name.to_string());
        let names: Vec<String> = known.chain(types).chain(messages).chain(own).collect();
        let may_suggest = self.resolver.may_suggest(word);
        let meant = if may_suggest { nearest(word, names.iter().map(String::as_str)) } else { None };
        let help = match meant {
            _ if word == "range" => "`for` iterates over a list; there are no ranges: write `[0, 1, 2]`".to_owned(),
            Some(meant) => format!("did you mean `{meant}`?"),
            None => {
                let all: Vec<_> = Function::ALL.into_iter().map(|function| format!("`{}`", function.name())).collect();
                format!(
                    "the functions are {}, types such as `text` and `uint32`, and records and messages",
                    all.join(", ")
                )
            }
        };
        self.report(error.help(help))
    }

    /// A record of all its fields.
    fn record(
        &mut self,
        id: TypeId,
        arguments: &'syntax [Argument<'syntax>],
        span: Span,
    ) -> Result<Expression, Reported> {
        let declared = self.resolver.scope.program.types[id].clone();
        let TypeBody::Record(fields) = &declared.body else {
            let headline = format!("the enumeration `{}` is not a function", declared.name);
            let error = Diagnostic::error(ids::UNKNOWN_FUNCTION, headline, span);
            return Err(self.report(error.help(format!("its values are written `{}.…`", declared.name))));
        };
        let mut values: Vec<Option<Expression>> = vec![None; fields.len()];
        let mut result = Ok(());
        for argument in arguments {
            let Some(name) = &argument.field else {
                let headline = format!("the fields of `{}` are given by their names", declared.name);
                let error = Diagnostic::error(ids::RECORD_FIELDS, headline, argument.value.span);
                result = Err(self.report(error.help(format!("write `{}: …`", first_name(fields)))));
                continue;
            };
            let found = fields.iter().zip(&mut values).find(|(field, _)| field.name == name.text);
            match found {
                None => {
                    let _ = self.value(&argument.value);
                    let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
                    let headline = format!("the record `{}` has no field `{}`", declared.name, name.text);
                    let help = format!("it has {}", listed(&names));
                    let mistake = Mistake { headline, help, span: name.span };
                    result = Err(self.report_unknown_field(mistake, name, &names));
                }
                Some((_, Some(_))) => {
                    let headline = format!("the field `{}` is given twice", name.text);
                    let error = Diagnostic::error(ids::RECORD_FIELDS, headline, name.span);
                    result = Err(self.report(error.help("remove one of them")));
                }
                Some((field, value)) => match self.wanted(&argument.value, &field.ty) {
                    Ok(given) => *value = Some(given),
                    Err(reported) => result = Err(reported),
                },
            }
        }
        result?;
        let missing = || fields.iter().zip(&values).filter(|(_, value)| value.is_none()).map(|(field, _)| field);
        let names: Vec<String> = missing().map(|field| field.name.clone()).collect();
        if !names.is_empty() {
            let headline = format!("the record `{}` lacks {}", declared.name, listed(&names));
            let error = Diagnostic::error(ids::RECORD_FIELDS, headline, span);
            let help = format!("a record needs all its fields: add `{}`", written_fields(missing()));
            return Err(self.report(error.help(help)));
        }
        let values = values.into_iter().flatten().collect();
        let ty = Type::declared(self.resolver.scope.program, Declared::Record(id));
        Ok(Expression { term: Term::Record(values), ty, span })
    }
}

/// The type to which a function of this name converts.
fn converted_to(name: &QualifiedName<'_>) -> Option<Type> {
    let own = built_in_names().find(|built_in| name.parts() == (None, built_in))?;
    let dynamic = match own {
        "bool" => Some(Dynamic::Bool),
        "list" => Some(Dynamic::List),
        "map" => Some(Dynamic::Map),
        _ => None,
    };
    let ty = dynamic.map_or_else(|| Type::new(own), Dynamic::ty);
    ty.is_own().then_some(ty)
}

fn first_name(fields: &[flux_ir::program::Parameter]) -> &str {
    fields.first().map_or("", |field| &field.name)
}

pub(super) fn listed(names: &[String]) -> String {
    names.iter().take(8).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
