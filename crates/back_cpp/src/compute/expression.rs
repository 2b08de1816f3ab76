//! The expressions of a body as C++.

use super::passed;
use super::statement::{Writer, in_turns, root_of};
use crate::message::accessor;
use crate::tree::{Declarator, Expression as Cpp};
use flux_contract as contract;
use flux_ir::compute::{Callable, Comprehension, Expression, Function as Called, Operator, Term, VariableId};
use flux_ir::message::{FieldId, Given};
use flux_ir::program::{Constant, OptionKind, TypeBody};
use flux_ir::types::{Float, Type, TypeKind, record_fields};
use flux_source::{Deep, deep};

/// Whether the time that an expression takes depends on its values: whoever goes through a list with it looks at the
/// time after each element.
pub(super) fn takes_time(expression: &Expression) -> bool {
    match &expression.term {
        Term::Comprehension(..) | Term::Apply(..) | Term::Slice(..) => true,
        Term::Convert(inner) => expression.ty.is_dynamic() && !inner.ty.is_scalar(),
        Term::Binary(operator, two) if operator.is_comparison() => two.iter().any(|one| one.ty.is_dynamic()),
        Term::Call(function, _) => !matches!(function, Called::Length | Called::Has | Called::Value | Called::Get),
        Term::Binary(Operator::Add, _) => matches!(expression.ty.kind(), TypeKind::List(_)),
        _ => false,
    }
}

/// Whether it is one that goes through a list.
pub(super) fn is_loop(expression: &Expression) -> bool {
    use Called::{All, Any, Max, Min, Sum};
    matches!(expression.term, Term::Comprehension(..) | Term::Call(Sum | Min | Max | Any | All, _))
}

/// `c ? a : b`
pub(crate) fn chosen(condition: Cpp, one: Cpp, other: Cpp) -> Cpp {
    let sides = Cpp::Infix(Deep::new(one), ":", Deep::new(other));
    Cpp::Infix(Deep::new(condition), "?", Deep::new(sides))
}

/// The function that makes a list, or what is made of it.
fn aggregate(function: Option<Called>, ty: &Type) -> Cpp {
    let (symbol, is_typed) = match function {
        None => (contract::COMPUTE_COLLECT, true),
        Some(Called::Sum) => (contract::COMPUTE_SUM, true),
        Some(Called::Min) => (contract::COMPUTE_MIN, true),
        Some(Called::Max) => (contract::COMPUTE_MAX, true),
        Some(Called::Any) => (contract::COMPUTE_ANY, false),
        Some(Called::All) => (contract::COMPUTE_ALL, false),
        Some(_) => (contract::COMPUTE_LENGTH, false),
    };
    let made = match (function, ty.kind()) {
        (None, TypeKind::List(element)) => element.cpp(),
        _ => ty.cpp(),
    };
    match is_typed {
        true => Cpp::Instance(symbol.spelling.to_owned(), vec![Cpp::name(made)]),
        false => Cpp::name(symbol.spelling),
    }
}

impl<'a> Writer<'a> {
    /// An expression, as a value of the C++ type of its type.
    pub(super) fn value(&self, expression: &Expression) -> Cpp {
        match is_part(expression) {
            true => own(&expression.ty, self.look(expression)),
            false => self.look(expression),
        }
    }

    /// An expression whose value is only looked at: what is part of a message stays there. The recursion is as deep as
    /// it is.
    pub(super) fn look(&self, expression: &Expression) -> Cpp {
        deep(|| {
            let ty = &expression.ty;
            let call = |function: contract::Symbol, arguments: Vec<Cpp>| Cpp::name(function.spelling).call(arguments);
            match &expression.term {
                Term::Integer(value) => integer(*value),
                Term::Real(bits) => {
                    let suffix = if *ty.kind() == TypeKind::Float(Float::Single) { "f" } else { "" };
                    Cpp::name(format!("{:?}{suffix}", f64::from_bits(*bits)))
                }
                Term::Truth(truth) => Cpp::name(truth),
                Term::Text(text) => Cpp::Text(text.clone()),
                Term::Variable(variable) => self.place(*variable),
                Term::Option(option) => {
                    let value = self.context.constant(&Constant::Option(*option));
                    match self.context.flow.program.options[*option].kind {
                        OptionKind::Text | OptionKind::Path => Cpp::name("std::string").call(vec![value]),
                        _ => value,
                    }
                }
                Term::Enumerator(index) => Cpp::name(format!("{}::{}", ty.cpp(), self.enumerator(ty, *index))),
                Term::Code(code) => self.context.code(*code),
                Term::None if ty.is_dynamic() => Cpp::Made(contract::VALUE.spelling.to_owned(), vec![]),
                Term::None => Cpp::name("std::nullopt"),
                Term::Some(value) => Cpp::name(ty.cpp()).call(vec![self.value(value)]),
                Term::Field(of, index) if is_message(&of.ty) => {
                    self.look(of).member(self.field(&of.ty, *index)).call(vec![])
                }
                Term::Field(of, index) => self.look(of).member(self.field(&of.ty, *index)),
                Term::Not(inner) => Cpp::Prefix("!", Deep::new(self.value(inner))),
                Term::Negate(inner) => call(contract::COMPUTE_NEGATE, vec![self.value(inner)]),
                Term::Binary(operator, two) => self.binary(*operator, two, ty),
                Term::Choose(three) => self.choose(three, ty),
                Term::Convert(inner) => self.convert(inner, ty),
                Term::Record(values) | Term::List(values) => {
                    Cpp::Made(ty.cpp().to_owned(), values.iter().map(|value| self.value(value)).collect())
                }
                Term::Message(given) => self.message(given, ty),
                Term::Element(two) if ty.is_dynamic() && two.iter().next().is_some_and(|of| of.ty.is_dynamic()) => {
                    let [of, key] = two.each_ref().map(|one| self.value(one));
                    Cpp::Element(Deep::new([of, key]))
                }
                Term::Element(two) => call(contract::COMPUTE_AT, two.iter().map(|one| self.value(one)).collect()),
                Term::Slice(of, from, to) => {
                    let bounds = std::iter::once(from).chain(to).map(|bound| self.value(bound));
                    call(contract::COMPUTE_SLICE, std::iter::once(self.object(of)).chain(bounds).collect())
                }
                Term::Map(entries) => {
                    let entry =
                        |entry: &[Expression; 2]| Cpp::Braces(entry.iter().map(|one| self.value(one)).collect());
                    let TypeKind::Map(key, value) = ty.kind() else { return Cpp::name(0) };
                    match entries.as_slice() {
                        [] => Cpp::Made(ty.cpp().to_owned(), vec![]),
                        entries => {
                            let types = [key, value].map(|ty| Cpp::name(ty.cpp())).to_vec();
                            let entries = Cpp::Braces(entries.iter().map(entry).collect());
                            Cpp::Instance(contract::COMPUTE_MAP.spelling.to_owned(), types).call(vec![entries])
                        }
                    }
                }
                Term::Comprehension(function, it) => self.comprehension(*function, it, ty),
                Term::Call(function, arguments) => self.call(*function, arguments, ty),
                Term::Apply(callee, arguments) => self.apply(*callee, arguments),
            }
        })
    }

    /// `c ? a : b`: both sides have the C++ type, which literals have not.
    fn choose(&self, [condition, one, other]: &[Expression; 3], ty: &Type) -> Cpp {
        let side = |side: &Expression| match side.term {
            Term::Integer(_) | Term::Real(_) => Cpp::Made(ty.cpp().to_owned(), vec![self.value(side)]),
            Term::Text(_) | Term::None if !ty.is_dynamic() => Cpp::name(ty.cpp()).call(vec![self.value(side)]),
            _ => self.value(side),
        };
        chosen(self.value(condition), side(one), side(other))
    }

    /// A value with members: a text that is a literal becomes one.
    fn object(&self, expression: &Expression) -> Cpp {
        match expression.term {
            Term::Text(_) => Cpp::name("std::string").call(vec![self.value(expression)]),
            _ => self.look(expression),
        }
    }

    /// `made(memcached::command::make({.opcode = 0, .key = k}))`
    fn message(&self, given: &[(Given, Expression)], ty: &Type) -> Cpp {
        let given = given.iter().map(|(given, value)| {
            // What is in a choice is there where it is given.
            let value = match &value.term {
                Term::Some(inner) => inner,
                _ => value,
            };
            let name = Cpp::name(format!(".{}", self.given(ty, *given)));
            let value = if is_sequence_of_bytes(&value.ty) { self.look(value) } else { self.value(value) };
            Cpp::Infix(Deep::new(name), "=", Deep::new(value))
        });
        let make = Cpp::name(format!("{}::make", ty.cpp())).call(vec![Cpp::Braces(given.collect())]);
        Cpp::name(contract::COMPUTE_MADE.spelling).call(vec![make])
    }

    fn enumerator(&self, ty: &Type, index: usize) -> String {
        let TypeKind::Enum(id) = ty.kind() else { return String::new() };
        match &self.context.flow.program.types[*id].body {
            TypeBody::Enum(values) => values.get(index).cloned().unwrap_or_default(),
            TypeBody::Record(_) => String::new(),
        }
    }

    /// What C++ calls what is given of a message.
    fn given(&self, ty: &Type, given: Given) -> String {
        let TypeKind::Message(id) = ty.kind() else { return String::new() };
        match given {
            Given::Parameter(index) => {
                let message = &self.context.flow.program.messages[*id];
                message.parameters.get(index).map_or_else(String::new, |one| accessor(message, &one.name))
            }
            Given::Field(field) => self.field(ty, field.index()),
        }
    }

    fn field(&self, ty: &Type, index: usize) -> String {
        let program = &self.context.flow.program;
        match ty.kind() {
            TypeKind::Record(id) => record_fields(program, *id).get(index).map(|field| field.name.clone()),
            TypeKind::Message(id) => {
                let message = &program.messages[*id];
                message.field(FieldId::new(index)).map(|field| accessor(message, &field.name))
            }
            _ => None,
        }
        .unwrap_or_default()
    }

    fn binary(&self, operator: Operator, [left, right]: &[Expression; 2], ty: &Type) -> Cpp {
        let is_literal = |one: &Expression| matches!(one.term, Term::Integer(_) | Term::Real(_) | Term::Text(_));
        let infix = |symbol, left, right| Cpp::Infix(Deep::new(left), symbol, Deep::new(right));
        let are_texts = matches!(left.term, Term::Text(_)) && matches!(right.term, Term::Text(_));
        if operator.is_comparison() {
            let signs = [left, right].map(|one| one.ty.integer().map(|integer| integer.signed));
            if signs[0] != signs[1] && !is_literal(left) && !is_literal(right) {
                return Cpp::name(exact(operator)).call(vec![self.value(left), self.value(right)]);
            }
            let look = |one: &Expression| if is_sequence_of_bytes(&one.ty) { self.look(one) } else { self.value(one) };
            let literal = match (&left.term, &right.term) {
                (_, Term::Text(_)) if !are_texts => Some((left, right)),
                (Term::Text(_), _) if !are_texts => Some((right, left)),
                _ => None,
            };
            // So many bytes as C++ knows: the comparison is a few instructions where it stands.
            let is = |(one, literal)| Cpp::name(contract::COMPUTE_IS.spelling).call(vec![look(one), look(literal)]);
            match (operator, literal) {
                (Operator::Equal, Some(sides)) => return is(sides),
                (Operator::Unequal, Some(sides)) => return Cpp::Prefix("!", Deep::new(is(sides))),
                _ => {}
            }
            let left = if are_texts { self.object(left) } else { look(left) };
            return infix(operator.symbol(), left, look(right));
        }
        let function = match (operator, ty.kind()) {
            (Operator::And | Operator::Or, _) => {
                return infix(operator.symbol(), self.value(left), self.value(right));
            }
            (_, TypeKind::Text | TypeKind::Bytes) => {
                // The whole is looked at once.
                let is_bounded = self.is_bounded.replace(false);
                let sides = (if are_texts { self.object(left) } else { self.value(left) }, self.value(right));
                self.is_bounded.set(is_bounded);
                let joined = infix("+", sides.0, sides.1);
                return match is_bounded {
                    true => Cpp::name(contract::COMPUTE_BOUNDED.spelling).call(vec![joined]),
                    false => joined,
                };
            }
            (_, TypeKind::List(_)) => contract::COMPUTE_JOINED,
            (Operator::Add, _) => contract::COMPUTE_ADD,
            (Operator::Subtract, _) => contract::COMPUTE_SUBTRACT,
            (Operator::Multiply, _) => contract::COMPUTE_MULTIPLY,
            (Operator::Divide, _) => contract::COMPUTE_DIVIDE,
            (_, _) => contract::COMPUTE_REMAINDER,
        };
        // The type is that of the left side, which a literal does not show.
        let function = match is_literal(left) {
            true => Cpp::Instance(function.spelling.to_owned(), vec![Cpp::name(ty.cpp())]),
            false => Cpp::name(function.spelling),
        };
        function.call(vec![self.value(left), self.value(right)])
    }

    fn convert(&self, inner: &Expression, to: &Type) -> Cpp {
        let from = &inner.ty;
        if to.is_dynamic() {
            let is_plain = match from.kind() {
                TypeKind::Bool | TypeKind::Float(_) | TypeKind::Text | TypeKind::Bytes => true,
                TypeKind::List(element) => element.is_dynamic(),
                TypeKind::Map(_, element) => element.is_dynamic(),
                _ => from.integer().is_some_and(|integer| integer.signed || integer.bits < 64),
            };
            let made = if is_plain { contract::VALUE } else { contract::COMPUTE_TO_VALUE };
            return Cpp::name(made.spelling).call(vec![self.value(inner)]);
        }
        if from.is_dynamic() {
            let read = Cpp::Instance(contract::COMPUTE_AS.spelling.to_owned(), vec![Cpp::name(to.cpp())]);
            return read.call(vec![self.value(inner)]);
        }
        if to.is_any_message() {
            return Cpp::Instance("static_cast".to_owned(), vec![Cpp::name(format!("const {} &", to.cpp()))])
                .call(vec![self.look(inner)]);
        }
        if is_message(from) {
            return self.look(inner).member("wire").call(vec![]);
        }
        let is_string = |ty: &Type| matches!(ty.kind(), TypeKind::Text | TypeKind::Bytes);
        if is_string(from) && is_string(to) {
            return self.look(inner);
        }
        if is_string(to) {
            return Cpp::name(contract::COMPUTE_TEXT.spelling).call(vec![self.value(inner)]);
        }
        let is_whole = match (from.integer(), to.integer()) {
            (Some(from), Some(to)) => to.includes(from),
            (_, to) => to.is_none(),
        };
        let function = if is_string(from) {
            contract::COMPUTE_READ.spelling
        } else if is_whole {
            "static_cast"
        } else {
            contract::COMPUTE_TO.spelling
        };
        Cpp::Instance(function.to_owned(), vec![Cpp::name(to.cpp())]).call(vec![self.look(inner)])
    }

    /// What the program computes.
    pub(super) fn apply(&self, callee: Callable, arguments: &[Expression]) -> Cpp {
        let name = match callee {
            Callable::Node(node) => self.context.names.computed(node),
            Callable::Predicate(predicate) => self.context.names.predicate(predicate),
        };
        let argument = |one: &Expression| if is_part(one) { self.value(one) } else { self.object(one) };
        Cpp::name(name).call(arguments.iter().map(argument).collect())
    }

    /// `collect<T>(in_turns(list), [&](const hit &h) { … }, [&](const hit &h) { … })`
    fn comprehension(&self, function: Option<Called>, it: &Comprehension, ty: &Type) -> Cpp {
        let parts = || [&it.value].into_iter().chain(&it.condition);
        let is_quick = !parts().any(|part| part.any(&mut takes_time));
        let parameters = || {
            let parameter = |variable: VariableId| {
                let ty =
                    self.computation.variable(variable).map(|variable| variable.ty.clone()).unwrap_or(Type::new(""));
                let name = match self.place(variable) {
                    Cpp::Name(name) => name,
                    _ => String::new(),
                };
                (variable, passed(&ty, &name))
            };
            std::iter::once(it.walk.element).chain(it.walk.value).map(parameter).collect::<Vec<_>>()
        };
        let lambda = |part: &Expression| {
            if part.term == Term::Variable(it.walk.element) && it.walk.value.is_none() {
                return Cpp::name("std::identity").call(vec![]);
            }
            let is_read = |variable| part.any(&mut |inner| inner.term == Term::Variable(variable));
            let parameters = parameters().into_iter().map(|(variable, declarator)| match is_read(variable) {
                true => declarator,
                false => Declarator { name: String::new(), ..declarator },
            });
            // What is there already is not copied to be looked at.
            let is_there = root_of(part).is_some() && !part.ty.is_scalar();
            Cpp::Lambda(parameters.collect(), is_there, Deep::new(self.value(part)))
        };
        let arguments = parts().map(lambda);
        let arguments = std::iter::once(in_turns(self.look(&it.walk.over), is_quick)).chain(arguments).collect();
        aggregate(function, ty).call(arguments)
    }

    fn call(&self, function: Called, arguments: &[Expression], ty: &Type) -> Cpp {
        let Some((first, rest)) = arguments.split_first() else { return Cpp::name(0) };
        let is_text = is_sequence_of_bytes(&first.ty);
        let look = |one: &Expression| if is_text { self.look(one) } else { self.value(one) };
        let rest: Vec<Cpp> = rest.iter().map(look).collect();
        let member = |name: &str| self.object(first).member(name).call(rest.clone());
        if let Some(dynamic) = function.asks_for() {
            return self.value(first).member(format!("is<{}>", dynamic.ty().cpp())).call(vec![]);
        }
        let symbol = match function {
            Called::Length => return member("size"),
            Called::StartsWith => return member("starts_with"),
            Called::EndsWith => return member("ends_with"),
            Called::Has => return member("has_value"),
            Called::Contains => contract::COMPUTE_CONTAINS,
            Called::Position => contract::COMPUTE_POSITION,
            Called::Hash => contract::COMPUTE_HASH,
            Called::Lower => contract::COMPUTE_LOWER,
            Called::Upper => contract::COMPUTE_UPPER,
            Called::Trim => contract::COMPUTE_TRIM,
            Called::Split => contract::COMPUTE_SPLIT,
            Called::Join => contract::COMPUTE_JOIN,
            Called::Value => contract::COMPUTE_VALUE,
            Called::Sum | Called::Min | Called::Max | Called::Any | Called::All => {
                let arguments = vec![in_turns(self.look(first), true), Cpp::name("std::identity").call(vec![])];
                return aggregate(Some(function), ty).call(arguments);
            }
            // Get: the others are above.
            _ => contract::COMPUTE_GET,
        };
        let looks = is_text || function == Called::Value;
        let first = if looks { self.look(first) } else { self.value(first) };
        Cpp::name(symbol.spelling).call(std::iter::once(first).chain(rest.clone()).collect())
    }
}

/// Whether the C++ of [`Writer::look`] for it is a part of a message, and no value of the C++ type of its type.
pub(super) fn is_part(expression: &Expression) -> bool {
    deep(|| {
        let ty = match expression.ty.kind() {
            TypeKind::Optional(inner) => inner,
            _ => &expression.ty,
        };
        if !is_sequence_of_bytes(ty) && !matches!(ty.kind(), TypeKind::List(_)) {
            return false;
        }
        match &expression.term {
            Term::Field(of, _) => is_message(&of.ty),
            Term::Call(Called::Value, of) => of.iter().all(is_part),
            Term::Slice(of, ..) => is_sequence_of_bytes(&of.ty) && is_part(of),
            Term::Convert(inner) => is_message(&inner.ty) || is_part(inner) && is_sequence_of_bytes(&inner.ty),
            _ => false,
        }
    })
}

/// Whether it is a text that is a part of one of the first variables, so many inputs of a function, whose caller has it
/// for longer than the call.
pub(super) fn is_part_of_input(expression: &Expression, inputs: usize) -> bool {
    let leads_to_input = |mut at: &Expression| loop {
        at = match &at.term {
            Term::Field(of, _) => of,
            Term::Call(Called::Value, of) => match of.as_slice() {
                [of] => of,
                _ => return false,
            },
            Term::Variable(variable) => return variable.index() < inputs,
            _ => return false,
        };
    };
    *expression.ty.kind() == TypeKind::Text && is_part(expression) && leads_to_input(expression)
}

/// What is part of a message as a value of its own.
fn own(ty: &Type, part: Cpp) -> Cpp {
    match ty.kind() {
        TypeKind::Text | TypeKind::Bytes => Cpp::name(ty.cpp()).call(vec![part]),
        _ => Cpp::Instance(contract::COMPUTE_OWN.spelling.to_owned(), vec![Cpp::name(ty.cpp())]).call(vec![part]),
    }
}

pub(super) fn is_message(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Message(_))
}

pub(super) fn is_sequence_of_bytes(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Text | TypeKind::Bytes)
}

/// The literal of an integer: C++ has none for the smallest, and takes what is beyond `long` with a `u`.
fn integer(value: i128) -> Cpp {
    match value {
        _ if value == i128::from(i64::MIN) => Cpp::name(format!("(-{} - 1)", i64::MAX)),
        _ if value > i128::from(i64::MAX) => Cpp::name(format!("{value}u")),
        _ => Cpp::name(value),
    }
}

/// What compares integers of which only one has a sign.
pub(crate) fn exact(operator: Operator) -> &'static str {
    match operator {
        Operator::Equal => "std::cmp_equal",
        Operator::Unequal => "std::cmp_not_equal",
        Operator::Less => "std::cmp_less",
        Operator::LessOrEqual => "std::cmp_less_equal",
        Operator::Greater => "std::cmp_greater",
        _ => "std::cmp_greater_equal",
    }
}
