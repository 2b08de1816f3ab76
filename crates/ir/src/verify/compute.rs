//! The checks of computations. Every part has the type that its term gives. Every variable that a computation reads is
//! in scope there and has a value. Every way to the end has given all outputs.

use super::Violations;
use crate::compute::{
    BecomesValue, Callable, Computation, Expression, Function, Operator, Statement, Term, Variable, VariableId, Walk,
    becomes_value, callees_first, calls_of, is_read_from_value,
};
use crate::error_code::{Code, CodeName};
use crate::message::{FieldId, Given, field_type, given_type};
use crate::name::Name;
use crate::program::{Body, Node, Parameter, Program, TypeBody};
use crate::types::{Integer, Type, TypeKind};
use flux_source::{Span, deep};
use std::collections::HashSet;

/// Checks all computations of a program with well-formed types. O(size of the computations).
pub(super) fn check(program: &Program, violations: &mut Violations) {
    for (_, node) in program.nodes.iter() {
        if let Body::Computed(computation) = &node.body {
            check_node(program, node, computation, violations);
        }
    }
    for (_, predicate) in program.predicates.iter() {
        if let Some(computed) = predicate.computed() {
            let mut checker = Checker::new(program, &computed.computation, &predicate.name, predicate.span, violations);
            checker.begins_with(std::slice::from_ref(&computed.input), &[]);
            checker.run();
            checker.require(computed.computation.says.is_some(), "says nothing");
        }
    }
}

/// Checks that no computation calls itself.
pub(super) fn check_acyclic(program: &Program, violations: &mut Violations) {
    let ordered: HashSet<Callable> = callees_first(program).into_iter().collect();
    for (caller, _) in calls_of(program).into_iter().filter(|(caller, _)| !ordered.contains(caller)) {
        let (name, span) = match caller {
            Callable::Node(node) => (&program.nodes[node].name, program.nodes[node].span),
            Callable::Predicate(predicate) => (&program.predicates[predicate].name, program.predicates[predicate].span),
        };
        violations.add(span, format!("the computation of `{name}` calls itself, or calls one that does"));
    }
}

/// Checks an expression of `name`. The expression has these variables, and all of them have values.
pub(super) fn check_expression(
    program: &Program,
    variables: Vec<Variable>,
    expression: &Expression,
    (name, span): (&Name, Span),
    violations: &mut Violations,
) {
    let computation = Computation { variables, ..Computation::default() };
    let mut checker = Checker::new(program, &computation, name, span, violations);
    checker.given.extend((0..computation.variables.len()).map(VariableId::new));
    checker.expression(expression);
}

fn check_node(program: &Program, node: &Node, computation: &Computation, violations: &mut Violations) {
    let mut checker = Checker::new(program, computation, &node.name, node.span, violations);
    checker.require(node.signature.is_some(), "has no signature");
    checker.begins_with(node.inputs(), node.outputs());
    if checker.run() {
        let inputs = node.inputs().len();
        let outputs = (inputs..inputs + node.outputs().len()).map(VariableId::new);
        let given = outputs.into_iter().all(|output| checker.given.contains(&output));
        checker.require(given, "comes to its end without all outputs");
    }
    checker.require(computation.says.is_none(), "says something, as predicates do");
}

struct Checker<'a, 'b> {
    program: &'a Program,
    computation: &'a Computation,
    name: &'a Name,
    span: Span,
    /// The variables that have a value at this point.
    given: HashSet<VariableId>,
    violations: &'b mut Violations,
}

impl<'a, 'b> Checker<'a, 'b> {
    fn new(
        program: &'a Program,
        computation: &'a Computation,
        name: &'a Name,
        span: Span,
        violations: &'b mut Violations,
    ) -> Self {
        Self { program, computation, name, span, given: HashSet::new(), violations }
    }

    fn require(&mut self, holds: bool, what: &str) {
        let name = self.name;
        self.violations.require(holds, self.span, || format!("the computation of `{name}` {what}"));
    }

    /// Checks that the variables begin with the inputs and the outputs. The inputs have values.
    fn begins_with(&mut self, inputs: &[Parameter], outputs: &[Parameter]) {
        let wanted = inputs.iter().chain(outputs).map(|parameter| (&parameter.name, &parameter.ty));
        let found = self.computation.variables.iter().map(|variable| (&variable.name, &variable.ty));
        let count = inputs.len() + outputs.len();
        self.require(found.take(count).eq(wanted), "does not begin with its inputs and outputs");
        self.given.extend((0..inputs.len()).map(VariableId::new));
    }

    /// Checks the whole computation; returns whether its end is reachable.
    fn run(&mut self) -> bool {
        let computation = self.computation;
        let (ends, _) = self.statements(&computation.block);
        if let Some(says) = &computation.says {
            self.expression(says);
            self.require(*says.ty.kind() == TypeKind::Bool, "says something else than true or false");
        }
        ends
    }

    /// Checks a block; returns whether its end is reachable. Variables that begin in the block end with it.
    fn block(&mut self, block: &'a [Statement]) -> bool {
        let (ends, own) = self.statements(block);
        own.iter().for_each(|variable| _ = self.given.remove(variable));
        ends
    }

    /// Checks statements; returns whether their end is reachable, and the variables that begin in them.
    fn statements(&mut self, block: &'a [Statement]) -> (bool, Vec<VariableId>) {
        deep(|| {
            let mut own = vec![];
            let mut ends = true;
            for statement in block {
                match statement {
                    Statement::Set { variable, is_new, value } => {
                        self.expression(value);
                        self.is_of_type(*variable, &value.ty);
                        match is_new {
                            true => self.begin(*variable),
                            false => _ = self.given.insert(*variable),
                        }
                        own.extend(is_new.then_some(*variable));
                    }
                    Statement::If(condition, then, otherwise) => {
                        self.expression(condition);
                        self.require(
                            *condition.ty.kind() == TypeKind::Bool,
                            "has an `if` of something else than a bool",
                        );
                        ends &= self.either(then, otherwise);
                    }
                    Statement::For(walk, inner) => {
                        let before = self.given.clone();
                        self.walk(walk);
                        self.block(inner);
                        self.given = before;
                    }
                    Statement::Take { variables, node, arguments, .. } => {
                        arguments.iter().for_each(|argument| self.expression(argument));
                        let (_, outputs) = self.called(Callable::Node(*node), arguments);
                        self.require(
                            outputs.len() == variables.len(),
                            "takes another number of values than a node gives",
                        );
                        for (variable, ty) in variables.iter().zip(&outputs) {
                            self.is_of_type(*variable, ty);
                            self.begin(*variable);
                        }
                        own.extend(variables);
                    }
                    Statement::Put { variable, key, value } => {
                        self.expression(key);
                        self.expression(value);
                        let elements = self.computation.variable(*variable).is_some_and(|put| match put.ty.kind() {
                            TypeKind::List(element) => *element == value.ty && is_index(&key.ty),
                            TypeKind::Map(wanted, element) => *element == value.ty && *wanted == key.ty,
                            _ => false,
                        });
                        self.require(elements, "puts a value where none of its type is");
                        self.require(self.given.contains(variable), "puts a value into what has none");
                    }
                    Statement::Fail(code) => {
                        self.require(code.number != 0, "fails with the code of success");
                        self.require(self.is_of_its_name(*code), "fails with a code that is not its name's");
                        ends = false;
                    }
                }
            }
            (ends, own)
        })
    }

    /// Whether a code has the number of its name.
    fn is_of_its_name(&self, code: Code) -> bool {
        let named = match code.name {
            None => Some(code.number),
            Some(CodeName::Errno(errno)) => Some(errno.number()),
            Some(CodeName::Declared(id)) => self.program.codes.find(id).map(|declared| declared.number),
        };
        named == Some(code.number)
    }

    /// Checks both blocks of an `if`; returns whether the end of either block is reachable. A variable has a value
    /// afterwards if both blocks give it a value. A block without a reachable end does not count.
    fn either(&mut self, then: &'a [Statement], otherwise: &'a [Statement]) -> bool {
        let before = self.given.clone();
        let then_ends = self.block(then);
        let after_then = std::mem::replace(&mut self.given, before);
        let otherwise_ends = self.block(otherwise);
        match (then_ends, otherwise_ends) {
            (true, true) => self.given.retain(|variable| after_then.contains(variable)),
            (true, false) => self.given = after_then,
            _ => {}
        }
        then_ends || otherwise_ends
    }

    fn begin(&mut self, variable: VariableId) {
        let is_new = self.given.insert(variable);
        self.require(is_new, "begins a variable twice");
    }

    /// Checks the list or map that a walk goes through; the variables of the walk begin.
    fn walk(&mut self, Walk { element, value, over }: &'a Walk) {
        self.expression(over);
        let types = match (over.ty.kind(), value) {
            (TypeKind::List(ty), None) => vec![(*element, ty)],
            (TypeKind::Map(key, ty), Some(value)) => vec![(*element, key), (*value, ty)],
            _ => vec![],
        };
        self.require(!types.is_empty(), "goes through something else than a list or a map");
        for (variable, ty) in types {
            self.is_of_type(variable, ty);
            self.begin(variable);
        }
    }

    /// Checks a call of a node or a predicate. Returns whether the arguments have the types of the inputs, and the
    /// types of the outputs.
    fn called(&mut self, callee: Callable, arguments: &[Expression]) -> (bool, Vec<Type>) {
        let (inputs, outputs): (&[Parameter], Vec<Type>) = match callee {
            Callable::Node(node) => match self.program.nodes.find(node) {
                Some(node) if self.program.can_be_called(node) => {
                    (node.inputs(), node.outputs().iter().map(|output| output.ty.clone()).collect())
                }
                _ => (&[], vec![]),
            },
            Callable::Predicate(predicate) => {
                match self.program.predicates.find(predicate).and_then(|it| it.computed()) {
                    Some(computed) => (std::slice::from_ref(&computed.input), vec![Type::of_kind(TypeKind::Bool)]),
                    None => (&[], vec![]),
                }
            }
        };
        let fits = inputs.iter().map(|input| &input.ty).eq(arguments.iter().map(|argument| &argument.ty));
        self.require(fits && !outputs.is_empty(), "calls what cannot be called so");
        (fits, outputs)
    }

    fn is_of_type(&mut self, variable: VariableId, ty: &Type) {
        let fits = self.computation.variable(variable).is_some_and(|variable| variable.ty == *ty);
        self.require(fits, "gives a variable a value of another type");
    }

    fn expression(&mut self, expression: &'a Expression) {
        deep(|| {
            let mut is_right = true;
            match &expression.term {
                Term::Comprehension(_, it) => {
                    let before = self.given.clone();
                    self.walk(&it.walk);
                    self.expression(&it.value);
                    it.condition.iter().for_each(|condition| self.expression(condition));
                    self.given = before;
                }
                _ => expression.parts().into_iter().for_each(|part| self.expression(part)),
            }
            if let Term::Apply(callee, arguments) = &expression.term {
                let (_, outputs) = self.called(*callee, arguments);
                is_right = outputs == [expression.ty.clone()];
            }
            is_right &= self.is_typed(expression);
            let (name, span) = (self.name, expression.span);
            self.violations.require(is_right, span, || {
                format!("in the computation of `{name}` {:#} is not of that type", expression.ty)
            });
        })
    }

    /// Whether an expression has its type, if its parts have theirs.
    fn is_typed(&self, expression: &Expression) -> bool {
        let ty = &expression.ty;
        let is_bool = *ty.kind() == TypeKind::Bool;
        let is_float = matches!(ty.kind(), TypeKind::Float(_));
        let are_alike = |all: &[Expression], wanted: &Type| all.iter().all(|one| one.ty == *wanted);
        match &expression.term {
            Term::Integer(value) => ty.integer().is_some_and(|integer| {
                let (low, high) = integer.range();
                (low..=high).contains(value)
            }),
            Term::Real(_) => is_float,
            Term::Truth(_) => is_bool,
            Term::Text(_) => matches!(ty.kind(), TypeKind::Text | TypeKind::Bytes),
            Term::Variable(id) => {
                self.given.contains(id) && self.computation.variable(*id).is_some_and(|variable| variable.ty == *ty)
            }
            Term::Option(option) => {
                self.program.options.find(*option).is_some() && (ty.integer().is_some() || is_bool || ty.is_text())
            }
            Term::Enumerator(index) => match ty.kind() {
                TypeKind::Enum(id) => {
                    matches!(&self.program.types[*id].body, TypeBody::Enum(values) if *index < values.len())
                }
                _ => false,
            },
            Term::Code(code) => self.is_of_its_name(*code) && ty.integer() == Some(Integer { signed: true, bits: 32 }),
            Term::None => matches!(ty.kind(), TypeKind::Optional(_) | TypeKind::Value),
            Term::Some(one) => matches!(ty.kind(), TypeKind::Optional(inner) if *inner == one.ty),
            Term::Field(of, index) => self.field_type(&of.ty, *index).as_ref() == Some(ty),
            Term::Not(one) => is_bool && one.ty == *ty,
            Term::Negate(one) => one.ty == *ty && (is_float || ty.integer().is_some_and(|integer| integer.signed)),
            Term::Binary(operator, two) => is_joined(*operator, two, ty),
            Term::Choose(three) => {
                let [condition, one, other] = &**three;
                *condition.ty.kind() == TypeKind::Bool && one.ty == *ty && other.ty == *ty
            }
            Term::Convert(one) if ty.is_dynamic() => self.becomes_value(&one.ty),
            Term::Convert(one) => is_converted(&one.ty, ty),
            Term::Record(fields) => {
                let wanted = self.fields(ty);
                !wanted.is_empty() && fields.iter().map(|field| &field.ty).eq(wanted.iter().map(|field| &field.ty))
            }
            Term::Message(given) => self.is_made(ty, given),
            Term::List(elements) => matches!(ty.kind(), TypeKind::List(element) if are_alike(elements, element)),
            Term::Map(entries) => match ty.kind() {
                TypeKind::Map(key, value) => entries.iter().all(|[one, other]| one.ty == *key && other.ty == *value),
                _ => false,
            },
            Term::Comprehension(function, it) => {
                let is_filter = |condition: &Expression| *condition.ty.kind() == TypeKind::Bool;
                let list = Type::of_kind(TypeKind::List(it.value.ty.clone()));
                let is_made = match function {
                    None => *ty == list,
                    Some(function) => function.is_aggregate() && is_called(*function, &[&list], ty),
                };
                it.condition.iter().all(is_filter) && is_made
            }
            // `Self::expression` has already checked the call.
            Term::Apply(..) => true,
            Term::Element(two) => is_element(two, ty),
            Term::Slice(of, from, to) => {
                let has_parts = matches!(ty.kind(), TypeKind::Text | TypeKind::Bytes | TypeKind::List(_));
                of.ty == *ty && has_parts && is_index(&from.ty) && to.iter().all(|to| is_index(&to.ty))
            }
            Term::Call(function, arguments) => {
                is_called(*function, &arguments.iter().map(|argument| &argument.ty).collect::<Vec<_>>(), ty)
            }
        }
    }

    /// The type of the field at this index of a record or a message.
    fn field_type(&self, of: &Type, index: usize) -> Option<Type> {
        match of.kind() {
            TypeKind::Record(_) => self.fields(of).get(index).map(|field| field.ty.clone()),
            TypeKind::Message(id) => {
                let messages = &self.program.messages;
                field_type(messages, messages.find(*id)?, FieldId::new(index))
            }
            _ => None,
        }
    }

    /// Whether these values make a message: parameters and fields, each once and in order, with values of their types.
    /// No parameter is missing. The only exception is the parameter `asked` of a message that stands alone.
    fn is_made(&self, ty: &Type, given: &[(Given, Expression)]) -> bool {
        let messages = &self.program.messages;
        let TypeKind::Message(id) = ty.kind() else { return false };
        let Some(message) = messages.find(*id) else { return false };
        let known = message.given();
        let are_right = given
            .iter()
            .all(|(one, value)| known.contains(one) && given_type(messages, message, *one).as_ref() == Some(&value.ty));
        let parameters = given.iter().filter(|(one, _)| matches!(one, Given::Parameter(_))).count();
        let has_all = parameters == message.parameters.len() || message.stands_alone();
        are_right && has_all && given.is_sorted_by(|(one, _), (next, _)| one < next)
    }

    /// Whether the type converts to `value`, and is not `value` already.
    fn becomes_value(&self, from: &Type) -> bool {
        becomes_value(&self.program.types, from) < BecomesValue::Never && !from.is_dynamic()
    }

    fn fields(&self, ty: &Type) -> &'a [Parameter] {
        match ty.kind() {
            TypeKind::Record(id) => crate::types::record_fields(self.program, *id),
            _ => &[],
        }
    }
}

fn is_index(ty: &Type) -> bool {
    ty.integer().is_some_and(|integer| !integer.signed && integer.bits == 64)
}

fn is_element([of, key]: &[Expression; 2], ty: &Type) -> bool {
    match of.ty.kind() {
        TypeKind::List(element) => element == ty && is_index(&key.ty),
        TypeKind::Map(wanted, value) => value == ty && key.ty == *wanted,
        TypeKind::Value => {
            let is_text = matches!(key.ty.kind(), TypeKind::Text | TypeKind::Bytes);
            ty.is_dynamic() && (is_text || is_index(&key.ty))
        }
        _ => false,
    }
}

fn is_joined(operator: Operator, [left, right]: &[Expression; 2], ty: &Type) -> bool {
    let is_bool = *ty.kind() == TypeKind::Bool;
    let (is_integer, is_float) = (left.ty.integer().is_some(), matches!(left.ty.kind(), TypeKind::Float(_)));
    let is_string = matches!(left.ty.kind(), TypeKind::Text | TypeKind::Bytes);
    if operator.is_comparison() {
        let are_integers = is_integer && right.ty.integer().is_some();
        let has_order = is_integer || is_float || is_string || left.ty.is_dynamic();
        let is_comparable = has_order || operator.is_equality() && left.ty.is_own();
        return is_bool && (are_integers || left.ty == right.ty && is_comparable);
    }
    if left.ty != *ty || right.ty != *ty {
        return false;
    }
    match operator {
        Operator::And | Operator::Or => is_bool,
        Operator::Add => is_integer || is_float || is_string || matches!(ty.kind(), TypeKind::List(_)),
        Operator::Remainder => is_integer,
        _ => is_integer || is_float,
    }
}

fn is_converted(from: &Type, to: &Type) -> bool {
    let is_number = |ty: &Type| ty.integer().is_some() || matches!(ty.kind(), TypeKind::Float(_));
    match to.kind() {
        _ if from.is_dynamic() => is_read_from_value(to),
        TypeKind::Text => is_number(from) || matches!(from.kind(), TypeKind::Text | TypeKind::Bytes | TypeKind::Bool),
        TypeKind::Bytes => matches!(from.kind(), TypeKind::Text | TypeKind::Bytes | TypeKind::Message(_)),
        TypeKind::AnyMessage => matches!(from.kind(), TypeKind::Message(_)),
        _ => is_number(to) && (is_number(from) || *from.kind() == TypeKind::Text),
    }
}

fn is_called(function: Function, arguments: &[&Type], ty: &Type) -> bool {
    let kind = |index: usize| arguments.get(index).map(|argument| argument.kind());
    let same = || matches!(arguments, [one, other] if one == other);
    let is_string = matches!(kind(0), Some(TypeKind::Text | TypeKind::Bytes));
    let is_bool = *ty.kind() == TypeKind::Bool;
    let is_list_of = |wanted: &Type| matches!(kind(0), Some(TypeKind::List(element)) if element == wanted);
    let is_number = ty.integer().is_some() || matches!(ty.kind(), TypeKind::Float(_));
    let fits = match function {
        Function::Length => {
            is_index(ty) && (is_string || matches!(kind(0), Some(TypeKind::List(_) | TypeKind::Map(..))))
        }
        Function::StartsWith | Function::EndsWith => is_bool && is_string && same(),
        Function::Contains => {
            let has_key = match (kind(0), arguments.get(1)) {
                (Some(TypeKind::List(wanted) | TypeKind::Map(wanted, _)), Some(key)) => wanted == *key,
                _ => is_string && same(),
            };
            is_bool && has_key
        }
        Function::Position => is_index(ty) && is_string && same(),
        Function::Hash => {
            let is_integer = arguments.first().is_some_and(|argument| argument.integer().is_some());
            (is_string || is_integer) && *ty == Type::new("int64")
        }
        Function::Lower | Function::Upper | Function::Trim => {
            kind(0) == Some(&TypeKind::Text) && *ty.kind() == TypeKind::Text
        }
        Function::Split => {
            kind(0) == Some(&TypeKind::Text) && same() && *ty == Type::of_kind(TypeKind::List(Type::new("text")))
        }
        Function::Join => is_list_of(ty) && kind(1) == Some(&TypeKind::Text) && *ty.kind() == TypeKind::Text,
        Function::Has => is_bool && matches!(kind(0), Some(TypeKind::Optional(_))),
        Function::Value => matches!(kind(0), Some(TypeKind::Optional(inner)) if inner == ty),
        Function::Get => match arguments {
            [of, key, other] => match of.kind() {
                TypeKind::List(element) => element == ty && *other == ty && is_index(key),
                TypeKind::Map(wanted, value) => value == ty && *other == ty && wanted == *key,
                _ => false,
            },
            _ => false,
        },
        Function::Sum => is_number && is_list_of(ty),
        Function::Min | Function::Max => {
            (is_number || matches!(ty.kind(), TypeKind::Text | TypeKind::Bytes | TypeKind::Value)) && is_list_of(ty)
        }
        Function::Any | Function::All => is_bool && is_list_of(ty),
        Function::IsBool
        | Function::IsInt64
        | Function::IsFloat64
        | Function::IsText
        | Function::IsList
        | Function::IsMap => is_bool && kind(0) == Some(&TypeKind::Value),
    };
    fits && arguments.len() == function.arity()
}
