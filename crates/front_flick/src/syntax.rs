//! The syntax tree: a `.flick` text as it was written, names not resolved.
//!
//! Everything has its span. The grammar is in `docs/flick.md`; the types here follow it rule by rule. A `unit` is in
//! the notation of messages, which `.flux` has too: of it the tree says only where it is.

use flux_front_flux::syntax::{Name, QualifiedName, Use};
use flux_ir::compute::Operator;
use flux_source::{Deep, Span};

/// A whole text.
#[derive(Clone, Debug, Default)]
pub struct Syntax<'text> {
    /// The declarations that could be read, in order.
    pub declarations: Vec<Declaration<'text>>,
}

/// One declaration.
#[derive(Clone, Debug)]
pub enum Declaration<'text> {
    /// `use "memcached.flick"`
    Use(Use<'text>),
    /// `type cmd = unit { … };`: what it is called, and all of it.
    Unit(Name<'text>, Span),
    /// `type cmd : record` with its fields.
    Record(Record<'text>),
    /// `global hits : dict[string, integer]`
    Global(State<'text>),
    /// `proc Memcached : (…)` with its rules.
    Process(Process<'text>),
    /// `fun target_backend : (…) -> ()` with its body.
    Function(Function<'text>),
}

/// `type kv : record`
#[derive(Clone, Debug)]
pub struct Record<'text> {
    /// The type.
    pub name: Name<'text>,
    /// The message that it is a view of, where that is said: `record of memcached.command`.
    pub of: Option<QualifiedName<'text>>,
    /// Its fields, at least one.
    pub fields: Vec<Field<'text>>,
    /// The declaration.
    pub span: Span,
}

/// `key : string`: a field, or a parameter that is a value.
#[derive(Clone, Debug)]
pub struct Field<'text> {
    /// The name.
    pub name: Name<'text>,
    /// What it is.
    pub ty: Type<'text>,
}

/// A type, with the most that it may hold where that is said: `[kv]{16}`.
#[derive(Clone, Debug)]
pub struct Type<'text> {
    /// What it is.
    pub form: TypeForm<'text>,
    /// How many bytes or elements there are at most.
    pub most: Option<u64>,
    /// All of it.
    pub span: Span,
}

/// What a type is.
#[derive(Clone, Debug)]
pub enum TypeForm<'text> {
    /// `string`, `kv`
    Named(QualifiedName<'text>),
    /// `[kv]`
    List(Box<Type<'text>>),
    /// `dict[string, kv]`
    Dictionary(Box<[Type<'text>; 2]>),
}

/// `[cmd/cmd]{16} backends`
#[derive(Clone, Debug)]
pub struct Channel<'text> {
    /// The name.
    pub name: Name<'text>,
    /// What comes out of it; none where nothing may be read.
    pub gives: Option<Type<'text>>,
    /// What goes into it; none where nothing may be sent.
    pub takes: Option<Type<'text>>,
    /// Whether it is an array of channels, with how many there are at most where that is said.
    pub array: Option<Option<u64>>,
    /// All of it.
    pub span: Span,
}

/// What a `proc` or a `fun` is given.
#[derive(Clone, Debug)]
pub enum Parameter<'text> {
    /// A channel, or an array of them.
    Channel(Channel<'text>),
    /// A value.
    Value(Field<'text>),
    /// `ref hits : dict[string, integer]`: state, which may be changed.
    State(Field<'text>),
}

impl<'text> Parameter<'text> {
    /// What it is called.
    pub fn name(&self) -> &Name<'text> {
        match self {
            Self::Channel(channel) => &channel.name,
            Self::Value(field) | Self::State(field) => &field.name,
        }
    }
}

/// `local count : integer = 0`, or `global hits : dict[string, integer]`
#[derive(Clone, Debug)]
pub struct State<'text> {
    /// What it is called, and what it is.
    pub field: Field<'text>,
    /// What it is at first; empty, zero or false where nothing is said.
    pub first: Option<Expression<'text>>,
    /// The declaration.
    pub span: Span,
}

/// `proc Memcached : ( cmd/cmd client, [cmd/cmd] backends )`
#[derive(Clone, Debug)]
pub struct Process<'text> {
    /// The name.
    pub name: Name<'text>,
    /// Its channels.
    pub parameters: Vec<Parameter<'text>>,
    /// The state of one run of it.
    pub locals: Vec<State<'text>>,
    /// Its rules; none where it has statements.
    pub rules: Vec<Rule<'text>>,
    /// Its statements; none where it has rules.
    pub block: Vec<Statement<'text>>,
    /// From `proc` to the end of the list of channels.
    pub head: Span,
    /// The declaration.
    pub span: Span,
}

/// `| client => target_backend(backends)`
#[derive(Clone, Debug)]
pub struct Rule<'text> {
    /// What went wrong, where it is a rule for that: `error broken client => …`.
    pub event: Option<(Event, Span)>,
    /// The channel.
    pub channel: Name<'text>,
    /// Where it leads, at least one.
    pub steps: Vec<Expression<'text>>,
    /// From the `|` on.
    pub span: Span,
}

/// What can go wrong with a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// It ended in the middle of a message, or by an error.
    Broken,
    /// Something came that is no message of its type.
    Malformed,
    /// It cannot be connected.
    Unreachable,
    /// A rule that reads from it failed.
    Failed,
}

impl Event {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Broken, Self::Malformed, Self::Unreachable, Self::Failed];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Malformed => "malformed",
            Self::Unreachable => "unreachable",
            Self::Failed => "failed",
        }
    }
}

/// `fun combine : (v1 : string, v2 : string) -> (string)`
#[derive(Clone, Debug)]
pub struct Function<'text> {
    /// The name.
    pub name: Name<'text>,
    /// What it is given.
    pub parameters: Vec<Parameter<'text>>,
    /// What it gives, where it gives something.
    pub result: Option<Type<'text>>,
    /// What it does; none where `...` says that it is in C++.
    pub body: Option<Vec<Statement<'text>>>,
    /// From `fun` to the end of the signature.
    pub head: Span,
    /// The declaration.
    pub span: Span,
}

/// One statement.
#[derive(Clone, Debug)]
pub enum Statement<'text> {
    /// `let target = …`, or with its type: `let sums : [integer] = …`
    Let(Name<'text>, Option<Type<'text>>, Expression<'text>),
    /// `hits[key] := …`
    Set(Expression<'text>, Expression<'text>),
    /// `if …:`, `elif …:` and `else:`; the conditions with what is done then.
    If(Vec<(Expression<'text>, Vec<Self>)>, Option<Vec<Self>>, Span),
    /// `for x in …:`
    For(Name<'text>, Expression<'text>, Vec<Self>),
    /// `req => backends[target]`: a value and where it goes, at least one step.
    Send(Expression<'text>, Vec<Expression<'text>>),
    /// The value of the block, or a call.
    Value(Expression<'text>),
}

impl Statement<'_> {
    /// The part of it that is marked where it is wrong.
    pub fn span(&self) -> Span {
        match self {
            Self::Let(name, _, value) => name.span.to(value.span),
            Self::Set(place, value) => place.span.to(value.span),
            Self::If(_, _, span) => *span,
            Self::For(name, list, _) => name.span.to(list.span),
            Self::Send(value, steps) => steps.last().map_or(value.span, |last| value.span.to(last.span)),
            Self::Value(value) => value.span,
        }
    }
}

/// Something with a value.
#[derive(Clone, Debug)]
pub struct Expression<'text> {
    /// What it is.
    pub form: Form<'text>,
    /// All of it.
    pub span: Span,
}

/// What a value is.
#[derive(Clone, Debug)]
pub enum Form<'text> {
    /// `80`, `64k`
    Number(i64),
    /// A string, unescaped.
    Text(String),
    /// `true` or `false`
    Truth(bool),
    /// A name.
    Name(QualifiedName<'text>),
    /// `e.name`
    Field(Deep<Expression<'text>>, Name<'text>),
    /// `e[e]`
    Element(Deep<[Expression<'text>; 2]>),
    /// `name(e, e)`, `kv(key: e)`
    Call(QualifiedName<'text>, Vec<Argument<'text>>),
    /// `[e, e]`
    List(Vec<Expression<'text>>),
    /// `not e`
    Not(Deep<Expression<'text>>),
    /// `-e`
    Negate(Deep<Expression<'text>>),
    /// `e + e`; `mod` is [`Operator::Remainder`].
    Binary(Operator, Deep<[Expression<'text>; 2]>),
    /// `e in e`
    In(Deep<[Expression<'text>; 2]>),
    /// `map on xs as x: …` and its like.
    Over(Deep<Over<'text>>),
    /// `foldt on …`
    Foldt(Deep<Foldt<'text>>),
}

/// What is between the parentheses of a call.
#[derive(Clone, Debug)]
pub struct Argument<'text> {
    /// The field of a record that it is for.
    pub field: Option<Name<'text>>,
    /// The value.
    pub value: Expression<'text>,
}

/// `map on xs as x: …`, `filter on xs as x: …`, `fold on xs from e as sum, x: …`
#[derive(Clone, Debug)]
pub struct Over<'text> {
    /// Which of them.
    pub kind: OverKind,
    /// The list.
    pub list: Expression<'text>,
    /// What a fold starts with.
    pub from: Option<Expression<'text>>,
    /// What a fold has so far.
    pub sum: Option<Name<'text>>,
    /// The element.
    pub element: Name<'text>,
    /// What is made of it.
    pub block: Vec<Statement<'text>>,
}

/// What is made of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OverKind {
    /// A list of what is made of each element.
    Map,
    /// A list of the elements for which it is true.
    Filter,
    /// One value.
    Fold,
}

impl OverKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Map, Self::Filter, Self::Fold];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Filter => "filter",
            Self::Fold => "fold",
        }
    }
}

/// `foldt on mappers ordering elem e1, e2 by elem.key as e_key: …`
#[derive(Clone, Debug)]
pub struct Foldt<'text> {
    /// The channels.
    pub channels: Expression<'text>,
    /// Any element, of which the key is made.
    pub element: Name<'text>,
    /// Two elements of one key.
    pub two: [Name<'text>; 2],
    /// What they are ordered by.
    pub key: Expression<'text>,
    /// What the key is called in the block, where it needs that.
    pub key_name: Option<Name<'text>>,
    /// The element that is made of the two.
    pub block: Vec<Statement<'text>>,
}
