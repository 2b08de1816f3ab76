//! The syntax tree of a `.flux` text, as the author wrote it. Names are not resolved.
//!
//! Every element has a span. The grammar is in the language reference; the types here follow it rule by rule.

use crate::body::{Body, FailCode};
use crate::message::Unit;
use crate::quantity::Quantity;
use flux_ir::program::{Mode, OptionKind};
use flux_source::Span;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

/// A whole text.
#[derive(Clone, Debug, Default)]
pub struct Syntax<'text> {
    /// The statements that could be read, in order.
    pub statements: Vec<Statement<'text>>,
    /// The words of all text that the parser could not read. This text may declare any of these words, so no diagnostic
    /// calls one unknown.
    pub skipped_words: HashSet<Cow<'text, str>>,
    /// True if an open comment swallowed the rest of the file. No diagnostic calls a name unknown then.
    pub truncated: bool,
}

/// One statement.
#[derive(Clone, Debug)]
pub enum Statement<'text> {
    /// `include "image.h";`
    Include(Include),
    /// `link "sqlite3";`
    Link(Link),
    /// `use std.http as web;`
    Use(Use<'text>),
    /// `option port : int = 8080;`
    Option(OptionDeclaration<'text>),
    /// `error not_found = 404;`
    ErrorCode(ErrorCode<'text>),
    /// `typedef hit TestInCache;`
    Typedef(Typedef<'text>),
    /// `type Command = unit { ... };`
    Unit(Unit<'text>),
    /// `record hit { path : text; };` or `enum method { get, put };`
    Type(TypeDeclaration<'text>),
    /// `using request = (int socket, char *line);`
    Using(Using<'text>),
    /// `state hits (text path) => (uint64 count) for 30m at most 10k;`
    State(State<'text>),
    /// `Listen () => (int socket);`
    Declaration(Declaration<'text>),
    /// `source Listen => Image;`
    Source(Source<'text>),
    /// `Image = ReadRequest -> Write;`
    Flow(Flow<'text>),
    /// `handle error ReadRequest => BadRequest;`
    Handler(Handler<'text>),
    /// `atomic CheckCache:{cache};`
    Atomic(Atomic<'text>),
}

/// A word that names something inside one declaration: a parameter, a field, a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name<'text> {
    /// The word.
    pub text: Cow<'text, str>,
    /// The place in the text.
    pub span: Span,
}

impl Name<'_> {
    /// The word.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The name of a declaration, with its module if one precedes it: `files.Find`. In a [qualified](crate::qualify) tree,
/// the module has its name in the whole program. A name of the program's own file has no module there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QualifiedName<'text> {
    /// The words before the module, joined by points. No valid name has any.
    pub folder: Option<Cow<'text, str>>,
    /// The word before the last.
    pub module: Option<Cow<'text, str>>,
    /// The last word.
    pub own: Cow<'text, str>,
    /// From the first word to the last.
    pub span: Span,
}

impl QualifiedName<'_> {
    /// The module and the last word.
    pub fn parts(&self) -> (Option<&str>, &str) {
        (self.module.as_deref(), &self.own)
    }

    /// The part of a module's name before the last word.
    pub fn before(&self) -> Option<&str> {
        self.folder.as_deref().or(self.module.as_deref())
    }

    /// The name in the model.
    pub fn declared(&self) -> flux_ir::name::Name {
        flux_ir::name::Name::of(self.module.as_deref(), &*self.own)
    }
}

impl<'text> From<Name<'text>> for QualifiedName<'text> {
    fn from(name: Name<'text>) -> Self {
        Self { folder: None, module: None, own: name.text, span: name.span }
    }
}

/// The words, joined by points.
impl fmt::Display for QualifiedName<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for before in self.folder.iter().chain(&self.module) {
            write!(out, "{before}.")?;
        }
        out.write_str(&self.own)
    }
}

/// A name, or a wildcard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NameOrAny<'text> {
    /// `*` or `_`.
    Any(Span),
    /// A name.
    Name(QualifiedName<'text>),
}

/// `include "image.h";`
#[derive(Clone, Debug)]
pub struct Include {
    /// The path, as written between the quotes.
    pub path: String,
    /// The statement.
    pub span: Span,
}

/// `link "sqlite3";`
#[derive(Clone, Debug)]
pub struct Link {
    /// The library, as written between the quotes.
    pub library: String,
    /// The statement.
    pub span: Span,
}

/// `use std.http as web;` or `use "cache.flux";`
#[derive(Clone, Debug)]
pub struct Use<'text> {
    /// The module.
    pub module: UsedModule<'text>,
    /// The module's name in this file, if it differs.
    pub alias: Option<Name<'text>>,
    /// The statement.
    pub span: Span,
}

/// The location of a module's text.
#[derive(Clone, Debug)]
pub enum UsedModule<'text> {
    /// A module of the standard library, by name.
    Standard(QualifiedName<'text>),
    /// A file, by path.
    File(Name<'text>),
}

impl UsedModule<'_> {
    /// The place that names the module.
    pub fn span(&self) -> Span {
        match self {
            Self::Standard(QualifiedName { span, .. }) | Self::File(Name { span, .. }) => *span,
        }
    }
}

/// The name or the path, without quotes.
impl fmt::Display for UsedModule<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standard(name) => name.fmt(out),
            Self::File(path) => path.text.fmt(out),
        }
    }
}

/// `option port : int = 8080;`
#[derive(Clone, Debug)]
pub struct OptionDeclaration<'text> {
    /// The name.
    pub name: QualifiedName<'text>,
    /// The kind of its values.
    pub kind: OptionKind,
    /// The value if the command line gives none.
    pub default: Option<Constant<'text>>,
    /// The first sentence of the comment above the statement, or else of the comment behind it.
    pub about: String,
    /// The statement.
    pub span: Span,
}

/// `error not_found = 404;`
#[derive(Clone, Debug)]
pub struct ErrorCode<'text> {
    /// The name.
    pub name: QualifiedName<'text>,
    /// The code.
    pub code: FailCode<'text>,
    /// The statement.
    pub span: Span,
}

/// `typedef hit TestInCache;`
#[derive(Clone, Debug)]
pub struct Typedef<'text> {
    /// The predicate type.
    pub name: QualifiedName<'text>,
    /// The function or the body that tests a value.
    pub tested_by: TestedBy<'text>,
    /// The promises about the function: `silent`, `pure`.
    pub attributes: Vec<Name<'text>>,
    /// The statement.
    pub span: Span,
}

/// The test of a predicate type: it decides whether a value belongs to the type.
#[derive(Clone, Debug)]
pub enum TestedBy<'text> {
    /// A function in C++.
    Function(QualifiedName<'text>),
    /// A body with this input.
    Body(Parameter<'text>, Box<Body<'text>>),
}

/// `record hit { path : text; };` or `enum method { get, put };`
#[derive(Clone, Debug)]
pub struct TypeDeclaration<'text> {
    /// The type.
    pub name: QualifiedName<'text>,
    /// The definition.
    pub body: TypeBody<'text>,
    /// The statement.
    pub span: Span,
}

/// The definition of a declared type.
#[derive(Clone, Debug)]
pub enum TypeBody<'text> {
    /// The fields of a record; none is an array.
    Record(Vec<Parameter<'text>>),
    /// The values of an enumeration.
    Enum(Vec<Name<'text>>),
}

/// `Listen () => (int socket);`
#[derive(Clone, Debug)]
pub struct Declaration<'text> {
    /// The node.
    pub name: QualifiedName<'text>,
    /// The inputs.
    pub inputs: Vec<Parameter<'text>>,
    /// The outputs.
    pub outputs: Vec<Parameter<'text>>,
    /// The attributes: `blocking`, `pure`.
    pub attributes: Vec<Name<'text>>,
    /// The size of the node's own stack in bytes, if the attribute `stack` gives it.
    pub stack: Option<u64>,
    /// The body of a computed node.
    pub body: Option<Body<'text>>,
    /// The statement.
    pub span: Span,
}

/// `using request = (int socket, char *line);`
#[derive(Clone, Debug)]
pub struct Using<'text> {
    /// The name of the list.
    pub name: QualifiedName<'text>,
    /// Its parameters; none is a list.
    pub parameters: Vec<Parameter<'text>>,
    /// The statement.
    pub span: Span,
}

/// `state hits (text path) => (uint64 count) for 30m at most 10k;`
#[derive(Clone, Debug)]
pub struct State<'text> {
    /// The name.
    pub name: QualifiedName<'text>,
    /// The parameters of the key that finds a value.
    pub keys: Vec<Parameter<'text>>,
    /// Its values.
    pub values: Vec<Parameter<'text>>,
    /// The state forgets a value after this many milliseconds without use; 0 means never.
    pub kept_ms: u64,
    /// The maximum number of values.
    pub most: u64,
    /// The operations that the file names.
    pub used: HashSet<StateOperation>,
    /// The statement.
    pub span: Span,
}

/// An operation on a state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StateOperation {
    /// Returns the value of a key.
    Get,
    /// Adds a value if the key has none.
    Insert,
    /// Replaces a value.
    Update,
    /// Adds or replaces a value.
    Upsert,
    /// Removes a value and returns it.
    Delete,
    /// Returns all values with their keys.
    All,
    /// Returns the number of values.
    Count,
    /// Removes all values.
    Clear,
}

impl StateOperation {
    /// All operations, in the order of the language reference.
    pub const ALL: [Self; 8] =
        [Self::Get, Self::Insert, Self::Update, Self::Upsert, Self::Delete, Self::All, Self::Count, Self::Clear];

    /// The operation as the language writes it: `get`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Upsert => "upsert",
            Self::Delete => "delete",
            Self::All => "all",
            Self::Count => "count",
            Self::Clear => "clear",
        }
    }

    /// The node of `std.state` for this operation.
    pub fn node(self) -> &'static str {
        match self {
            Self::Get => "Get",
            Self::Insert => "Insert",
            Self::Update => "Update",
            Self::Upsert => "Upsert",
            Self::Delete => "Delete",
            Self::All => "All",
            Self::Count => "Count",
            Self::Clear => "Clear",
        }
    }

    /// The operation that the language writes as `name`.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }
}

/// A C++ type and a name; `ty` and `array` are normalised ([`crate::cpp_type`]).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter<'text> {
    /// The type.
    pub ty: String,
    /// The name.
    pub name: Name<'text>,
    /// The array suffix, usually empty.
    pub array: String,
    /// The list whose parameters replace this one. The type and the suffix are empty then.
    pub list: Option<QualifiedName<'text>>,
    /// The value of an input if nothing is bound to it: `= 60s`.
    pub default: Option<Box<Constant<'text>>>,
    /// The range from the type to the suffix.
    pub span: Span,
}

/// `source Listen {session: Client} => Image;` or `source every 100ms => Beat;`
#[derive(Clone, Debug)]
pub struct Source<'text> {
    /// The node or timer that starts flows.
    pub origin: Origin<'text>,
    /// The session function.
    pub session: Option<QualifiedName<'text>>,
    /// The node in which flows start.
    pub target: QualifiedName<'text>,
    /// The statement.
    pub span: Span,
}

/// The origin of flows: a node or a timer.
#[derive(Clone, Debug)]
pub enum Origin<'text> {
    /// A node.
    Node(Application<'text>),
    /// Heartbeats at this interval, in milliseconds.
    Timer(u64),
}

/// `Image = ReadRequest -> Write;` or `Handler:[_, _, hit] = ;`
#[derive(Clone, Debug)]
pub struct Flow<'text> {
    /// The node whose flow it is.
    pub node: QualifiedName<'text>,
    /// The patterns in their brackets. An absent list is different from an empty list.
    pub patterns: Option<Patterns<'text>>,
    /// The steps.
    pub chain: Chain<'text>,
    /// The statement.
    pub span: Span,
}

/// `[_, _, hit]`
#[derive(Clone, Debug)]
pub struct Patterns<'text> {
    /// The patterns, at least one.
    pub list: Vec<NameOrAny<'text>>,
    /// The input that each pattern names, if it names one: `what` of `[what: get]`.
    pub inputs: Vec<Option<Name<'text>>>,
    /// The range with the brackets.
    pub span: Span,
}

/// Steps joined by arrows; a chain may be empty.
#[derive(Clone, Debug)]
pub struct Chain<'text> {
    /// The steps, in order.
    pub steps: Vec<Step<'text>>,
    /// The range from the first step to the last. An empty chain has the range of its flow or parallel step.
    pub span: Span,
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step<'text> {
    /// The action.
    pub action: Action<'text>,
    /// The deadline of the step: `within 300ms`.
    pub within: Option<Constant<'text>>,
}

/// The action of a step.
#[derive(Clone, Debug)]
pub enum Action<'text> {
    /// `Find("public")`
    Apply(Application<'text>),
    /// `(A & B)`: at least one branch.
    Parallel(Vec<Chain<'text>>, Span),
    /// `[A -> B](4)`: at least one step, and the number of concurrent instances if the author gives it.
    Each(Chain<'text>, Option<Constant<'text>>, Span),
}

/// An applied node, with its constants if there are any.
#[derive(Clone, Debug)]
pub struct Application<'text> {
    /// The node.
    pub node: QualifiedName<'text>,
    /// The constants.
    pub constants: Vec<Constant<'text>>,
    /// The inputs that take a value by name.
    pub named: Vec<NamedInput<'text>>,
}

/// `socket: backend`, `status: 404`: an input and its value.
#[derive(Clone, Debug)]
pub struct NamedInput<'text> {
    /// The name of the input.
    pub input: &'text str,
    /// A constant. A name means a value of the flow, or an option.
    pub value: Constant<'text>,
    /// The range from the input to the value.
    pub span: Span,
}

/// A constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant<'text> {
    /// The value.
    pub value: ConstantValue<'text>,
    /// The place in the text.
    pub span: Span,
}

/// The value of a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConstantValue<'text> {
    /// A number with its unit.
    Number(Quantity),
    /// A string, unescaped.
    Text(String),
    /// `true` or `false`.
    Boolean(bool),
    /// A malformed number, which the parser has reported.
    Wrong,
    /// The value of an option.
    Option(QualifiedName<'text>),
}

/// `handle error Image -> ReadRequest => BadRequest;`
#[derive(Clone, Debug)]
pub struct Handler<'text> {
    /// The nodes on the path, at least one.
    pub path: Vec<NameOrAny<'text>>,
    /// The handler. It is absent only if the flow goes on.
    pub target: Option<QualifiedName<'text>>,
    /// True if the statement ends in `_`: the flow goes on after the failed node.
    pub goes_on: bool,
    /// The statement.
    pub span: Span,
}

/// `atomic CheckCache:{cache};`
#[derive(Clone, Debug)]
pub struct Atomic<'text> {
    /// The node.
    pub node: QualifiedName<'text>,
    /// The constraints, at least one.
    pub constraints: Vec<Constraint<'text>>,
    /// The statement.
    pub span: Span,
}

/// `account!(from)`
#[derive(Clone, Debug)]
pub struct Constraint<'text> {
    /// The name of the shared thing.
    pub name: QualifiedName<'text>,
    /// The mode in which a node holds it.
    pub mode: Mode,
    /// The flows that share it.
    pub scope: Scope<'text>,
    /// The whole constraint.
    pub span: Span,
}

/// The scope of a constraint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scope<'text> {
    /// `(program)`, or no scope.
    Program,
    /// `(session)`, and its place in the text.
    Session(Span),
    /// `(from, to)`: names of inputs, at least one.
    Keyed(Vec<Name<'text>>),
}
