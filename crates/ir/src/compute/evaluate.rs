//! Evaluates computations, as the language defines them: bodies of nodes and predicates, and formulas of messages.
//!
//! A computation ends with a value or a [`Failure`]. Loops go through values that are there, and a body calls only
//! bodies that do not call it, so there is always an end; it may need time and memory exponential in the size of the
//! body, as the generated code may. What the generated code does besides, it yields, and it fails if the time of its
//! flow is over, is not part of the value.
//!
//! Variables of comprehensions are there in an expression alone, so they are in a list of scopes that grows inwards,
//! and what a body only looks at is not copied.

use super::built_in::{Made, call, find, no_element, put, require_room, slice};
use super::numbers::{arithmetic, convert, negate, rounded};
use super::value::{Failure, Reason, Value};
use super::{
    AnyValue, Callable, Comprehension, Computation, Expression, Function, Operator, Statement, Term, VariableId, Walk,
};
use crate::message::{Given, MessageId};
use crate::program::{Body, NodeId, OptionId, PredicateId, Program};
use crate::types::{Type, TypeKind};
use flux_source::deep;
use std::borrow::Cow;
use std::cmp::Ordering;

/// What is around a computation, and not in the program.
pub trait Surroundings {
    /// Calls a node that is a C++ function; it gives its outputs.
    ///
    /// # Errors
    /// It fails.
    fn node(&mut self, node: NodeId, inputs: Vec<Value>) -> Result<Vec<Value>, Failure>;

    /// Makes a message of these parameters and fields; a [`Value::Record`] of all its fields.
    ///
    /// # Errors
    /// It is no such message, or nobody here can make one.
    fn message(&mut self, message: MessageId, given: Vec<(Given, Value)>) -> Result<Value, Failure> {
        let _ = (message, given);
        Err(Failure::malformed("nobody makes messages here"))
    }

    /// The bytes that a message is on the wire.
    ///
    /// # Errors
    /// Nobody here knows them.
    fn wire(&mut self, message: MessageId, value: Value) -> Result<Value, Failure> {
        let _ = (message, value);
        Err(Failure::malformed("nobody writes messages here"))
    }

    /// The value of an option of the server.
    fn option(&mut self, option: OptionId) -> Value;
}

/// What is around a formula that calls nothing.
struct Nothing;

impl Surroundings for Nothing {
    fn node(&mut self, _: NodeId, _: Vec<Value>) -> Result<Vec<Value>, Failure> {
        Err(Failure::malformed("a formula calls no functions"))
    }

    fn option(&mut self, _: OptionId) -> Value {
        Value::Optional(None)
    }
}

/// The value of an expression that calls nothing of a program, and whose variables have these values. The recursion is
/// as deep as the expression, which whoever reads one bounds.
///
/// # Errors
/// It has none.
pub fn evaluate(expression: &Expression, values: &[Value]) -> Result<Value, Failure> {
    let variables: Vec<_> = values.iter().cloned().map(Some).collect();
    let mut evaluator = Evaluator { program: None, around: &mut Nothing, is_bounded: false, calls: 0 };
    let scope = Scope { variables: &variables, inner: None };
    evaluator.value(expression, &scope).map(Cow::into_owned)
}

/// What a computed node gives for these inputs.
///
/// # Errors
/// It fails, or it is not computed.
pub fn evaluate_node(
    program: &Program,
    node: NodeId,
    inputs: Vec<Value>,
    around: &mut dyn Surroundings,
) -> Result<Vec<Value>, Failure> {
    let mut evaluator = Evaluator { program: Some(program), around, is_bounded: false, calls: 0 };
    evaluator.node(node, inputs)
}

/// What a computed predicate says of a value.
///
/// # Errors
/// It fails, or it is not computed.
pub fn evaluate_predicate(
    program: &Program,
    predicate: PredicateId,
    value: Value,
    around: &mut dyn Surroundings,
) -> Result<bool, Failure> {
    let mut evaluator = Evaluator { program: Some(program), around, is_bounded: false, calls: 0 };
    evaluator.predicate(predicate, value)?.truth()
}

/// Evaluates bodies.
struct Evaluator<'a> {
    program: Option<&'a Program>,
    around: &'a mut dyn Surroundings,
    /// Whether texts may grow without end here: in a loop, or in what a body calls, which may be in one.
    is_bounded: bool,
    /// How many bodies call each other here.
    calls: usize,
}

/// The variables that an expression sees.
struct Scope<'s> {
    variables: &'s [Option<Value>],
    /// The innermost variable of a comprehension, and what is outside of it.
    inner: Option<(VariableId, &'s Value, &'s Scope<'s>)>,
}

impl<'s> Scope<'s> {
    fn find(&self, id: VariableId) -> Option<&'s Value> {
        let mut scope = self;
        while let Some((own, value, outside)) = scope.inner {
            if own == id {
                return Some(value);
            }
            scope = outside;
        }
        self.variables.get(id.index())?.as_ref()
    }

    fn with<'t>(&'t self, id: VariableId, value: &'t Value) -> Scope<'t> {
        Scope { variables: self.variables, inner: Some((id, value, self)) }
    }
}

/// What comes of an expression.
type Evaluated<'s> = Result<Cow<'s, Value>, Failure>;

fn owned<'s>(value: Value) -> Evaluated<'s> {
    Ok(Cow::Owned(value))
}

impl Evaluator<'_> {
    /// Runs the body of a node.
    fn node(&mut self, id: NodeId, inputs: Vec<Value>) -> Result<Vec<Value>, Failure> {
        let missing = || Failure::malformed("a node that is called has no body");
        let node = self.program.and_then(|program| program.nodes.find(id)).ok_or_else(missing)?;
        let computation = match &node.body {
            Body::Computed(computation) => computation,
            Body::External(_) => return self.around.node(id, inputs),
            _ => return Err(missing()),
        };
        let (taken, given) = (node.inputs().len(), node.outputs().len());
        let mut variables = self.variables(computation, inputs, taken)?;
        self.block(&computation.block, &mut variables)?;
        let outputs = variables.into_iter().skip(taken).take(given);
        outputs.collect::<Option<_>>().ok_or_else(|| Failure::malformed("an output has no value"))
    }

    /// Asks a predicate.
    fn predicate(&mut self, id: PredicateId, value: Value) -> Result<Value, Failure> {
        let predicate = self.program.and_then(|program| program.predicates.find(id));
        let computed = predicate.and_then(|predicate| predicate.computed());
        let computation = computed.map(|computed| &computed.computation);
        let computation = computation.ok_or_else(|| Failure::malformed("a predicate that is asked has no body"))?;
        let mut variables = self.variables(computation, vec![value], 1)?;
        self.block(&computation.block, &mut variables)?;
        let says = computation.says.as_ref().ok_or_else(|| Failure::malformed("a predicate says nothing"))?;
        let scope = Scope { variables: &variables, inner: None };
        self.value(says, &scope).map(Cow::into_owned)
    }

    fn variables(
        &self,
        computation: &Computation,
        inputs: Vec<Value>,
        wanted: usize,
    ) -> Result<Vec<Option<Value>>, Failure> {
        if inputs.len() != wanted {
            return Err(Failure::malformed("a body is given too many values, or too few"));
        }
        let mut variables: Vec<_> = inputs.into_iter().map(Some).collect();
        variables.resize(computation.variables.len().max(wanted), None);
        Ok(variables)
    }

    /// What is called from a body.
    fn apply(&mut self, callee: Callable, mut arguments: Vec<Value>) -> Result<Vec<Value>, Failure> {
        let bodies = self.program.map_or(0, |program| program.nodes.len() + program.predicates.len());
        if self.calls > bodies {
            return Err(Failure::malformed("a body calls itself"));
        }
        let before = std::mem::replace(&mut self.is_bounded, matches!(callee, Callable::Node(_)));
        self.calls += 1;
        let given = match (callee, arguments.pop()) {
            (Callable::Predicate(predicate), Some(value)) => self.predicate(predicate, value).map(|says| vec![says]),
            (Callable::Predicate(_), None) => Err(Failure::malformed("a predicate is asked about nothing")),
            (Callable::Node(node), last) => {
                arguments.extend(last);
                self.node(node, arguments)
            }
        };
        self.calls -= 1;
        self.is_bounded = before;
        given
    }

    /// The recursion is as deep as blocks are in each other.
    fn block(&mut self, block: &[Statement], variables: &mut Vec<Option<Value>>) -> Result<(), Failure> {
        block.iter().try_for_each(|statement| self.statement(statement, variables))
    }

    fn statement(&mut self, statement: &Statement, variables: &mut Vec<Option<Value>>) -> Result<(), Failure> {
        deep(|| match statement {
            Statement::Set { variable, value, .. } => {
                let value = self.whole(value, variables)?;
                set(variables, *variable, value)
            }
            Statement::If(condition, then, otherwise) => {
                let holds = self.whole(condition, variables)?.truth()?;
                self.block(if holds { then } else { otherwise }, variables)
            }
            Statement::For(walk, block) => {
                let elements = entries(self.whole(&walk.over, variables)?)?;
                let before = std::mem::replace(&mut self.is_bounded, true);
                let ended = elements.into_iter().try_for_each(|(element, value)| {
                    set(variables, walk.element, element)?;
                    if let Some((variable, value)) = walk.value.zip(value) {
                        set(variables, variable, value)?;
                    }
                    self.block(block, variables)
                });
                self.is_bounded = before;
                ended
            }
            Statement::Take { variables: taken, node, arguments, .. } => {
                let arguments = arguments.iter().map(|one| self.whole(one, variables)).collect::<Result<_, _>>()?;
                let given = self.apply(Callable::Node(*node), arguments)?;
                taken.iter().zip(given).try_for_each(|(variable, value)| set(variables, *variable, value))
            }
            Statement::Put { variable, key, value } => {
                let (key, value) = (self.whole(key, variables)?, self.whole(value, variables)?);
                let of = variables.get_mut(variable.index()).and_then(Option::as_mut);
                put(of.ok_or_else(no_value)?, key, value)
            }
            Statement::Fail(code) => {
                Err(Failure::new(Reason::Own(code.number), format!("the body fails with {}", code.number)))
            }
        })
    }

    /// The value of an expression outside of others.
    fn whole(&mut self, expression: &Expression, variables: &[Option<Value>]) -> Result<Value, Failure> {
        self.value(expression, &Scope { variables, inner: None }).map(Cow::into_owned)
    }

    fn element<'s>(&mut self, [of, key]: &[Expression; 2], scope: &Scope<'s>) -> Evaluated<'s> {
        let (of, key) = (self.value(of, scope)?, self.value(key, scope)?);
        if let Value::Any(any) = &*of {
            return owned(any.element(&key).cloned().unwrap_or(Value::Any(AnyValue::Undefined)));
        }
        part_of(of, |of| find(of, &key))
    }

    /// The value of an expression. The recursion is as deep as it is.
    fn value<'s>(&mut self, expression: &Expression, scope: &Scope<'s>) -> Evaluated<'s> {
        deep(|| {
            let ty = &expression.ty;
            match &expression.term {
                Term::Integer(value) => owned(Value::Integer(*value)),
                Term::Real(bits) => owned(rounded(f64::from_bits(*bits), ty)),
                Term::Truth(truth) => owned(Value::Truth(*truth)),
                Term::Text(text) => owned(Value::Bytes(text.clone().into_bytes())),
                Term::Variable(id) => scope.find(*id).map(Cow::Borrowed).ok_or_else(no_value),
                Term::Option(option) => owned(self.around.option(*option)),
                Term::Enumerator(index) => owned(Value::Enumerator(*index)),
                Term::Code(code) => owned(Value::Integer(code.number.into())),
                Term::None if ty.is_dynamic() => owned(Value::Any(AnyValue::Undefined)),
                Term::None => owned(Value::Optional(None)),
                Term::Some(inner) => owned(Value::Optional(Some(Box::new(self.value(inner, scope)?.into_owned())))),
                Term::Field(of, index) => {
                    let of = self.value(of, scope)?;
                    part_of(of, |of| match of {
                        Value::Record(fields) => Ok(fields.get(*index)),
                        _ => Err(Failure::malformed("this has no fields")),
                    })
                }
                Term::Not(inner) => owned(Value::Truth(!self.value(inner, scope)?.truth()?)),
                Term::Negate(inner) => owned(negate(&*self.value(inner, scope)?, ty)?),
                Term::Binary(operator, two) => self.binary(*operator, two, ty, scope),
                Term::Choose(three) => self.choose(three, scope),
                Term::Convert(inner) => owned(self.convert(inner, ty, scope)?),
                Term::Record(values) => owned(Value::Record(self.values(values, scope)?)),
                Term::Message(given) => {
                    let one = |(id, value): &(Given, Expression)| Ok((*id, self.value(value, scope)?.into_owned()));
                    let given = given.iter().map(one).collect::<Result<_, Failure>>()?;
                    let TypeKind::Message(message) = ty.kind() else {
                        return Err(Failure::malformed("this is no message"));
                    };
                    owned(self.around.message(*message, given)?)
                }
                Term::List(values) => owned(Value::List(self.values(values, scope)?)),
                Term::Map(pairs) => {
                    let entry = |[key, value]: &[Expression; 2]| {
                        Ok((self.value(key, scope)?.into_owned(), self.value(value, scope)?.into_owned()))
                    };
                    owned(Value::Map(pairs.iter().map(entry).collect::<Result<_, Failure>>()?))
                }
                Term::Comprehension(function, it) => owned(self.comprehension(*function, it, ty, scope)?),
                Term::Element(two) => self.element(two, scope),
                Term::Slice(of, from, to) => {
                    let (of, from) = (self.value(of, scope)?, self.value(from, scope)?);
                    let to = to.as_ref().map(|to| self.value(to, scope)).transpose()?;
                    owned(slice(&of, &from, to.as_deref())?)
                }
                Term::Call(function, arguments) => {
                    let arguments =
                        arguments.iter().map(|one| self.value(one, scope)).collect::<Result<Vec<_>, _>>()?;
                    owned(call(*function, &arguments, ty)?)
                }
                Term::Apply(callee, arguments) => {
                    let arguments = self.values(arguments, scope)?;
                    let given = self.apply(*callee, arguments)?;
                    given.into_iter().next().map(Cow::Owned).ok_or_else(no_value)
                }
            }
        })
    }

    fn choose<'s>(&mut self, [condition, one, other]: &[Expression; 3], scope: &Scope<'s>) -> Evaluated<'s> {
        let is_so = self.value(condition, scope)?.truth()?;
        self.value(if is_so { one } else { other }, scope)
    }

    /// A value as one of the type `to`.
    fn convert(&mut self, from: &Expression, to: &Type, scope: &Scope<'_>) -> Result<Value, Failure> {
        let value = self.value(from, scope)?;
        if let (TypeKind::Message(message), TypeKind::Bytes | TypeKind::AnyMessage) = (from.ty.kind(), to.kind()) {
            return self.around.wire(*message, value.into_owned());
        }
        match &*value {
            value if to.is_dynamic() => AnyValue::of(value, &from.ty, self.program).map(Value::Any),
            Value::Any(any) => any.read(to),
            _ => convert(value.into_owned(), &from.ty, to),
        }
    }

    fn values(&mut self, expressions: &[Expression], scope: &Scope<'_>) -> Result<Vec<Value>, Failure> {
        expressions.iter().map(|one| self.value(one, scope).map(Cow::into_owned)).collect()
    }

    fn binary<'s>(
        &mut self,
        operator: Operator,
        [left, right]: &[Expression; 2],
        ty: &Type,
        scope: &Scope<'s>,
    ) -> Evaluated<'s> {
        if let Operator::And | Operator::Or = operator {
            let left = self.value(left, scope)?.truth()?;
            return match left == (operator == Operator::Or) {
                true => owned(Value::Truth(left)),
                false => self.value(right, scope),
            };
        }
        let is_joined = operator == Operator::Add && matches!(ty.kind(), TypeKind::Text | TypeKind::Bytes);
        // The whole is looked at once.
        let is_bounded = self.is_bounded;
        self.is_bounded = is_bounded && !is_joined;
        let sides = self.value(left, scope).and_then(|left| Ok((left, self.value(right, scope)?)));
        self.is_bounded = is_bounded;
        let (left, right) = sides?;
        if operator.is_comparison() {
            return owned(Value::Truth(compare(operator, &left, &right)));
        }
        match (&*left, &*right) {
            (Value::Bytes(one), Value::Bytes(other)) if is_joined => {
                let joined = [one.as_slice(), other].concat();
                if is_bounded {
                    require_room(joined.len())?;
                }
                owned(Value::Bytes(joined))
            }
            (Value::List(one), Value::List(other)) => {
                require_room(one.len() + other.len())?;
                owned(Value::List([one.as_slice(), other].concat()))
            }
            (left, right) => owned(arithmetic(operator, left, right, ty)?),
        }
    }

    fn comprehension(
        &mut self,
        function: Option<Function>,
        it: &Comprehension,
        ty: &Type,
        scope: &Scope<'_>,
    ) -> Result<Value, Failure> {
        let Walk { element, value: variable, over } = &it.walk;
        let over = self.value(over, scope)?;
        let mut made = Made::new(function, ty);
        let mut visit = |scope: &Scope<'_>| {
            let is_wanted = match &it.condition {
                Some(condition) => self.value(condition, scope)?.truth()?,
                None => true,
            };
            if is_wanted {
                made.add(self.value(&it.value, scope)?.into_owned())?;
            }
            Ok(made.is_known())
        };
        match (&*over, variable) {
            (Value::List(elements), None) => {
                for one in elements {
                    if visit(&scope.with(*element, one))? {
                        break;
                    }
                }
            }
            (Value::Map(entries), Some(variable)) => {
                for (key, value) in entries {
                    if visit(&scope.with(*element, key).with(*variable, value))? {
                        break;
                    }
                }
            }
            _ => return Err(Failure::malformed("nothing goes through this")),
        }
        made.value()
    }
}

fn no_value() -> Failure {
    Failure::malformed("there is no such value")
}

fn set(variables: &mut [Option<Value>], id: VariableId, value: Value) -> Result<(), Failure> {
    *variables.get_mut(id.index()).ok_or_else(no_value)? = Some(value);
    Ok(())
}

/// The elements of a list, or the keys of a map with their values.
fn entries(of: Value) -> Result<Vec<(Value, Option<Value>)>, Failure> {
    match of {
        Value::List(elements) => Ok(elements.into_iter().map(|element| (element, None)).collect()),
        Value::Map(entries) => Ok(entries.into_iter().map(|(key, value)| (key, Some(value))).collect()),
        _ => Err(Failure::malformed("nothing goes through this")),
    }
}

/// A part of a value, which is not copied if that is not.
fn part_of<'s>(of: Cow<'s, Value>, find: impl Fn(&Value) -> Result<Option<&Value>, Failure>) -> Evaluated<'s> {
    let found = match of {
        Cow::Borrowed(of) => find(of)?.map(Cow::Borrowed),
        Cow::Owned(of) => find(&of)?.cloned().map(Cow::Owned),
    };
    found.ok_or_else(|| no_element("there is no such element"))
}

/// Whether two values compare so.
fn compare(operator: Operator, left: &Value, right: &Value) -> bool {
    let order = match (left, right) {
        (Value::Real(one), Value::Real(other)) => one.0.partial_cmp(&other.0),
        (left, right) if operator.is_equality() && left == right && !left.equals(right) => None,
        (left, right) => Some(left.cmp(right)),
    };
    match operator {
        Operator::Equal => order == Some(Ordering::Equal),
        Operator::Unequal => order != Some(Ordering::Equal),
        Operator::Less => order == Some(Ordering::Less),
        Operator::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Operator::Greater => order == Some(Ordering::Greater),
        _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}
