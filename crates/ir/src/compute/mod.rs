//! Computations: what a node or a predicate does that has no function in C++, but a body in the program.
//!
//! A computation is typed, has no effects, and is total: it ends, or it fails with an error code. There is no
//! recursion, and loops go through lists and maps alone, so it ends. Integers are checked, and so is whatever may not
//! be there, so it means the same on every machine; only which of two failures in one expression comes first is not
//! said. The tree here is typed in every part: [`Typing`] makes it, and is what any front uses, so that one rule says
//! what fits.
//!
//! Integers of two types meet in the one that has the values of both, if that is one of the two: a `uint32` and a
//! `uint64` do, an `int64` and a `uint64` do not. A literal is of whatever type it meets. Comparisons are exact
//! whatever the types. Floating-point numbers are those of IEEE 754, which has values for what overflows.

mod any_value;
mod built_in;
mod calls;
mod dynamic;
mod evaluate;
mod functions;
mod numbers;
mod steps;
mod typing;
mod value;

pub use any_value::AnyValue;
pub use built_in::MOST;
pub use calls::{Call, callees_first, calls_of};
pub use dynamic::{BecomesValue, Dynamic, becomes_value, is_read_from_value};
pub use evaluate::{Surroundings, evaluate, evaluate_node, evaluate_predicate};
pub use steps::{Extent, StepCounter, Steps, message_extent};
pub use typing::{Mistake, Typing, error_code, integer, real, text};
pub use value::{Failure, Real, Reason, Value};

use crate::error_code::Code;
use crate::message::Given;
use crate::program::{NodeId, OptionId, Parameter, PredicateId};
use crate::types::Type;
use flux_source::{Deep, Span, deep};

/// The variable at this index of a computation: its inputs, its outputs, and then those that `let` and `for` name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VariableId(pub u32);

impl VariableId {
    /// That of the variable at `index`.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Its index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A body in braces.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Computation {
    /// All variables; the inputs and outputs of the node come first, in order.
    pub variables: Vec<Variable>,
    /// What is done, in order.
    pub block: Vec<Statement>,
    /// For a predicate: what it says at the end. A node gives what its outputs were assigned.
    pub says: Option<Expression>,
}

/// Something that has a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name, which others may have.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// `typedef large (hit h) { h.bytes > 1M };`: the value that it is asked about, and what it says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComputedPredicate {
    /// The one input.
    pub input: Parameter,
    /// Says true or false.
    pub computation: Computation,
}

/// One statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// `let x = e;`, or `x = e;`: the variable has this value from here on.
    Set {
        /// Which.
        variable: VariableId,
        /// Whether it begins here.
        is_new: bool,
        /// Of its type.
        value: Expression,
    },
    /// `if c { … } else { … }`
    If(Expression, Vec<Self>, Vec<Self>),
    /// `for x in list { … }`
    For(Walk, Vec<Self>),
    /// `let (name, rest) = Split(line);`
    Take {
        /// They begin here, one for each output of the node.
        variables: Vec<VariableId>,
        /// A node that bodies can call.
        node: NodeId,
        /// Its inputs.
        arguments: Vec<Expression>,
        /// The call.
        span: Span,
    },
    /// `counts[word] = 1;`: the map has this value for the key, whether it had another or none; the element of a list
    /// is replaced, and where there is none that fails.
    Put {
        /// Of a list or a map.
        variable: VariableId,
        /// The index or the key.
        key: Expression,
        /// Of the type of the elements.
        value: Expression,
    },
    /// `fail 404;`, `fail ENOENT;`
    Fail(Code),
}

/// What a loop or a comprehension goes through: a list, or a map in the order of its keys. It is as it was before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Walk {
    /// The element, or the key.
    pub element: VariableId,
    /// The value of the key, where it goes through a map.
    pub value: Option<VariableId>,
    /// The list or the map.
    pub over: Expression,
}

/// `for h in hits if h.bytes > 1k : h.path`, between brackets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comprehension {
    /// What it goes through; its variables are there in the rest alone.
    pub walk: Walk,
    /// What is made of each element.
    pub value: Expression,
    /// Which elements count; all of them where there is none.
    pub condition: Option<Expression>,
}

/// What a body calls of its program, without effects itself: it ends, or fails, and with it fails who calls it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Callable {
    /// A computed predicate.
    Predicate(PredicateId),
    /// A computed node.
    Node(NodeId),
}

/// Something with a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expression {
    /// What it is.
    pub term: Term,
    /// The type of its value.
    pub ty: Type,
    /// Where it is written.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Term {
    /// An integer that its type has.
    Integer(i128),
    /// A floating-point number, by its bits as a double.
    Real(u64),
    /// `true` or `false`
    Truth(bool),
    /// A text, unescaped.
    Text(String),
    /// The value of a variable.
    Variable(VariableId),
    /// The value of an option of the server.
    Option(OptionId),
    /// The value of an enumeration at this index.
    Enumerator(usize),
    /// An error code by its name, of the type `int32`.
    Code(Code),
    /// `none`, of an optional type; `undefined`, of the type `value`.
    None,
    /// An optional that has this value.
    Some(Deep<Expression>),
    /// The field of a record, or of a message, at this index.
    Field(Deep<Expression>, usize),
    /// `!e`
    Not(Deep<Expression>),
    /// `-e`; fails where it overflows.
    Negate(Deep<Expression>),
    /// Two values of one type, but where integers are compared.
    Binary(Operator, Deep<[Expression; 2]>),
    /// `c ? a : b`: the second where the first is true, else the third; the other one is not looked at.
    Choose(Deep<[Expression; 3]>),
    /// The same value, of the type of this expression; fails where that does not have it. A `value` becomes what it
    /// is, and anything becomes a `value`: a record a map of its fields, an enumerator its name, `none` undefined.
    Convert(Deep<Expression>),
    /// A record, by its fields.
    Record(Vec<Expression>),
    /// A message, by its parameters and fields that are given, in order; fails where it is no such message.
    Message(Vec<(Given, Expression)>),
    /// A list, by its elements.
    List(Vec<Expression>),
    /// A map, by its keys and their values; of two equal keys the later one counts.
    Map(Vec<[Expression; 2]>),
    /// The list of a comprehension, or what an aggregate makes of it, without the list.
    Comprehension(Option<Function>, Deep<Comprehension>),
    /// The element of a list at an index from 0, or of a map by its key; fails where there is none. Of a `value` it is
    /// undefined then.
    Element(Deep<[Expression; 2]>),
    /// The part of a text, bytes or a list from an index to another, or to its end; fails where it does not reach so
    /// far.
    Slice(Deep<Expression>, Deep<Expression>, Option<Deep<Expression>>),
    /// A function of the language.
    Call(Function, Vec<Expression>),
    /// What the program itself computes: a node that gives one value, or a predicate.
    Apply(Callable, Vec<Expression>),
}

/// What joins two values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operator {
    /// `||`, the right side only where the left one is false.
    Or,
    /// `&&`, the right side only where the left one is true.
    And,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+`, of numbers, texts, bytes and lists.
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`; of integers towards zero.
    Divide,
    /// `%`, with the sign of the left side.
    Remainder,
}

impl Operator {
    /// All of them, in the order in which they bind: what comes later binds more tightly, or as tightly.
    pub const ALL: [Self; 13] = [
        Self::Or,
        Self::And,
        Self::Equal,
        Self::Unequal,
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::Divide,
        Self::Remainder,
    ];

    /// As the language spells it.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }

    /// How tightly it binds: a higher one before a lower one, the left one of equal ones first.
    pub fn strength(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            _ if self.is_comparison() => 3,
            Self::Add | Self::Subtract => 4,
            _ => 5,
        }
    }

    /// Whether it says how two values compare.
    pub fn is_comparison(self) -> bool {
        use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Unequal};
        matches!(self, Equal | Unequal | Less | LessOrEqual | Greater | GreaterOrEqual)
    }

    /// Whether it says whether two values are equal.
    pub fn is_equality(self) -> bool {
        matches!(self, Self::Equal | Self::Unequal)
    }
}

/// A function of the language.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Function {
    /// How many bytes, elements or entries there are.
    Length,
    /// Whether a text starts with another.
    StartsWith,
    /// Whether a text ends with another.
    EndsWith,
    /// Whether a text has another in it, a list a value, a map a key.
    Contains,
    /// Where a text has another in it; fails where it has not.
    Position,
    /// A number of a text, bytes or an integer, from 0 on, the same wherever it is computed.
    Hash,
    /// The text with small letters for the capitals of ASCII.
    Lower,
    /// The text with capitals for the small letters of ASCII.
    Upper,
    /// The text without white space around it.
    Trim,
    /// What stands between the places where a text has another in it.
    Split,
    /// Texts, with another between every two.
    Join,
    /// Whether an optional has a value.
    Has,
    /// The value of an optional; fails where it has none.
    Value,
    /// Whether a `value` is a `bool`.
    IsBool,
    /// Whether a `value` is an integer.
    IsInt64,
    /// Whether a `value` is a number that may have a fraction.
    IsFloat64,
    /// Whether a `value` is a text.
    IsText,
    /// Whether a `value` is a list.
    IsList,
    /// Whether a `value` is a map.
    IsMap,
    /// The element of a list or the value of a key in a map, or else another value.
    Get,
    /// The sum of a list of numbers.
    Sum,
    /// The smallest of a list; fails where that is empty.
    Min,
    /// The largest of a list; fails where that is empty.
    Max,
    /// Whether one of a list is true.
    Any,
    /// Whether all of a list are true.
    All,
}

impl Function {
    /// All of them.
    pub const ALL: [Self; 25] = [
        Self::Length,
        Self::StartsWith,
        Self::EndsWith,
        Self::Contains,
        Self::Position,
        Self::Hash,
        Self::Lower,
        Self::Upper,
        Self::Trim,
        Self::Split,
        Self::Join,
        Self::Has,
        Self::Value,
        Self::IsBool,
        Self::IsInt64,
        Self::IsFloat64,
        Self::IsText,
        Self::IsList,
        Self::IsMap,
        Self::Get,
        Self::Sum,
        Self::Min,
        Self::Max,
        Self::Any,
        Self::All,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::StartsWith => "starts_with",
            Self::EndsWith => "ends_with",
            Self::Contains => "contains",
            Self::Position => "position",
            Self::Hash => "hash",
            Self::Lower => "lower",
            Self::Upper => "upper",
            Self::Trim => "trim",
            Self::Split => "split",
            Self::Join => "join",
            Self::Has => "has",
            Self::Value => "value",
            Self::IsBool => "is_bool",
            Self::IsInt64 => "is_int64",
            Self::IsFloat64 => "is_float64",
            Self::IsText => "is_text",
            Self::IsList => "is_list",
            Self::IsMap => "is_map",
            Self::Get => "get",
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::Any => "any",
            Self::All => "all",
        }
    }

    /// How many values it takes.
    pub fn arity(self) -> usize {
        match self {
            Self::Length | Self::Hash | Self::Lower | Self::Upper | Self::Trim | Self::Has | Self::Value => 1,
            Self::Sum | Self::Min | Self::Max | Self::Any | Self::All => 1,
            _ if self.asks_for().is_some() => 1,
            Self::Get => 3,
            _ => 2,
        }
    }

    /// The kind of `value` that it asks for.
    pub fn asks_for(self) -> Option<Dynamic> {
        Some(match self {
            Self::IsBool => Dynamic::Bool,
            Self::IsInt64 => Dynamic::Int64,
            Self::IsFloat64 => Dynamic::Float64,
            Self::IsText => Dynamic::Text,
            Self::IsList => Dynamic::List,
            Self::IsMap => Dynamic::Map,
            _ => return None,
        })
    }

    /// Whether it is of a list as a whole, so that of a comprehension no list need be made.
    pub fn is_aggregate(self) -> bool {
        matches!(self, Self::Length | Self::Sum | Self::Min | Self::Max | Self::Any | Self::All)
    }
}

impl Computation {
    /// Whether `visit` says true of some expression in it. O(its size).
    pub fn any(&self, visit: &mut dyn FnMut(&Expression) -> bool) -> bool {
        any_expression(&self.block, visit) || self.says.as_ref().is_some_and(|says| says.any(visit))
    }

    /// What a variable is; none of one that there is not.
    pub fn variable(&self, id: VariableId) -> Option<&Variable> {
        self.variables.get(id.index())
    }
}

impl Expression {
    /// The expressions in it, in order.
    pub fn parts(&self) -> Vec<&Self> {
        match &self.term {
            Term::Some(one) | Term::Field(one, _) | Term::Not(one) | Term::Negate(one) | Term::Convert(one) => {
                vec![one]
            }
            Term::Binary(_, two) | Term::Element(two) => two.iter().collect(),
            Term::Choose(three) => three.iter().collect(),
            Term::Record(all) | Term::List(all) | Term::Call(_, all) | Term::Apply(_, all) => all.iter().collect(),
            Term::Message(given) => given.iter().map(|(_, value)| value).collect(),
            Term::Map(all) => all.iter().flatten().collect(),
            Term::Comprehension(_, it) => [&it.walk.over, &it.value].into_iter().chain(&it.condition).collect(),
            Term::Slice(of, from, to) => [of, from].into_iter().chain(to).map(|part| &**part).collect(),
            _ => vec![],
        }
    }

    /// Whether `visit` says true of it or of an expression in it. The recursion is as deep as the expression, which
    /// whoever reads one bounds.
    pub fn any(&self, visit: &mut dyn FnMut(&Self) -> bool) -> bool {
        deep(|| visit(self) || self.parts().into_iter().any(|part| part.any(visit)))
    }
}

impl Statement {
    /// The expressions of its own, and the blocks in it.
    pub fn parts(&self) -> (Vec<&Expression>, Vec<&[Self]>) {
        match self {
            Self::Set { value, .. } => (vec![value], vec![]),
            Self::If(condition, then, otherwise) => (vec![condition], vec![then, otherwise]),
            Self::For(walk, block) => (vec![&walk.over], vec![block]),
            Self::Take { arguments, .. } => (arguments.iter().collect(), vec![]),
            Self::Put { key, value, .. } => (vec![key, value], vec![]),
            Self::Fail(_) => (vec![], vec![]),
        }
    }
}

/// Whether some expression of `block` is one of which `visit` says true.
pub fn any_expression(block: &[Statement], visit: &mut dyn FnMut(&Expression) -> bool) -> bool {
    deep(|| {
        block.iter().any(|statement| {
            let (own, blocks) = statement.parts();
            own.into_iter().any(|own| own.any(visit)) || blocks.into_iter().any(|block| any_expression(block, visit))
        })
    })
}

/// Whether `block` gives `variable` a value anywhere.
pub fn sets(block: &[Statement], variable: VariableId) -> bool {
    deep(|| {
        block.iter().any(|statement| match statement {
            Statement::Set { variable: set, .. } | Statement::Put { variable: set, .. } => *set == variable,
            Statement::Take { variables, .. } => variables.contains(&variable),
            other => other.parts().1.into_iter().any(|block| sets(block, variable)),
        })
    })
}

/// Whether `block` never comes to its end: it fails whatever happens.
pub fn always_fails(block: &[Statement]) -> bool {
    deep(|| {
        block.iter().any(|statement| match statement {
            Statement::Fail(_) => true,
            Statement::If(_, then, otherwise) => always_fails(then) && always_fails(otherwise),
            Statement::Set { .. } | Statement::For(..) | Statement::Take { .. } | Statement::Put { .. } => false,
        })
    })
}
