//! The syntax tree: a `.flux` text as it was written, names not resolved.
//!
//! Everything has its span. The grammar is in the language reference; the types here follow it rule by rule.

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
    /// Every word of the text that could not be read. Whatever such a word names may have been declared there, so
    /// nothing is said of it.
    pub skipped_words: HashSet<Cow<'text, str>>,
    /// Whether an open comment swallowed the rest of the file: then nothing is called unknown.
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
    /// Where.
    pub span: Span,
}

impl Name<'_> {
    /// The word.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The name of a declaration, with its module where one stands before it: `files.Find`. In a tree that is
/// [qualified](crate::qualify) the module is what the whole program calls it, and left out for the program's own file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QualifiedName<'text> {
    /// What stands before the module, its words joined by points: nothing in all names that mean something.
    pub folder: Option<Cow<'text, str>>,
    /// The word before the last.
    pub module: Option<Cow<'text, str>>,
    /// The last word.
    pub own: Cow<'text, str>,
    /// From the first word to the last.
    pub span: Span,
}

impl QualifiedName<'_> {
    /// Its two parts.
    pub fn parts(&self) -> (Option<&str>, &str) {
        (self.module.as_deref(), &self.own)
    }

    /// All before the last word of the name of a module.
    pub fn before(&self) -> Option<&str> {
        self.folder.as_deref().or(self.module.as_deref())
    }

    /// The name that it is in the model.
    pub fn declared(&self) -> flux_ir::name::Name {
        flux_ir::name::Name::of(self.module.as_deref(), &*self.own)
    }
}

impl<'text> From<Name<'text>> for QualifiedName<'text> {
    fn from(name: Name<'text>) -> Self {
        Self { folder: None, module: None, own: name.text, span: name.span }
    }
}

/// As it is written.
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
    /// As written between the quotes.
    pub path: String,
    /// The statement.
    pub span: Span,
}

/// `link "sqlite3";`
#[derive(Clone, Debug)]
pub struct Link {
    /// As written between the quotes.
    pub library: String,
    /// The statement.
    pub span: Span,
}

/// `use std.http as web;` or `use "cache.flux";`
#[derive(Clone, Debug)]
pub struct Use<'text> {
    /// The module.
    pub module: UsedModule<'text>,
    /// What it is called here, where that differs.
    pub alias: Option<Name<'text>>,
    /// The statement.
    pub span: Span,
}

/// Where the text of a module is.
#[derive(Clone, Debug)]
pub enum UsedModule<'text> {
    /// In the standard library, under a name.
    Standard(QualifiedName<'text>),
    /// In a file, at this path.
    File(Name<'text>),
}

impl UsedModule<'_> {
    /// Where it is named.
    pub fn span(&self) -> Span {
        match self {
            Self::Standard(QualifiedName { span, .. }) | Self::File(Name { span, .. }) => *span,
        }
    }
}

/// As it is written, without quotes.
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
    /// What it is called.
    pub name: QualifiedName<'text>,
    /// What values it has.
    pub kind: OptionKind,
    /// Its value where the command line gives none.
    pub default: Option<Constant<'text>>,
    /// What the comment above it says first.
    pub about: String,
    /// The statement.
    pub span: Span,
}

/// `error not_found = 404;`
#[derive(Clone, Debug)]
pub struct ErrorCode<'text> {
    /// What it is called.
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
    /// What tests it.
    pub tested_by: TestedBy<'text>,
    /// What is promised of the function: `silent`, `pure`.
    pub attributes: Vec<Name<'text>>,
    /// The statement.
    pub span: Span,
}

/// What says whether a value is of a predicate type.
#[derive(Clone, Debug)]
pub enum TestedBy<'text> {
    /// A function in C++.
    Function(QualifiedName<'text>),
    /// A body, of this input.
    Body(Parameter<'text>, Box<Body<'text>>),
}

/// `record hit { path : text; };` or `enum method { get, put };`
#[derive(Clone, Debug)]
pub struct TypeDeclaration<'text> {
    /// The type.
    pub name: QualifiedName<'text>,
    /// What it is.
    pub body: TypeBody<'text>,
    /// The statement.
    pub span: Span,
}

/// What a declared type is.
#[derive(Clone, Debug)]
pub enum TypeBody<'text> {
    /// Its fields; none is an array.
    Record(Vec<Parameter<'text>>),
    /// Its values.
    Enum(Vec<Name<'text>>),
}

/// `Listen () => (int socket);`
#[derive(Clone, Debug)]
pub struct Declaration<'text> {
    /// The node.
    pub name: QualifiedName<'text>,
    /// What goes in.
    pub inputs: Vec<Parameter<'text>>,
    /// What comes out.
    pub outputs: Vec<Parameter<'text>>,
    /// What else is said of it: `blocking`, `pure`.
    pub attributes: Vec<Name<'text>>,
    /// How many bytes of stack it has for itself, where the attribute `stack` says so.
    pub stack: Option<u64>,
    /// What it computes.
    pub body: Option<Body<'text>>,
    /// The statement.
    pub span: Span,
}

/// `using request = (int socket, char *line);`
#[derive(Clone, Debug)]
pub struct Using<'text> {
    /// What the list is called.
    pub name: QualifiedName<'text>,
    /// Its parameters, none of them a list.
    pub parameters: Vec<Parameter<'text>>,
    /// The statement.
    pub span: Span,
}

/// `state hits (text path) => (uint64 count) for 30m at most 10k;`
#[derive(Clone, Debug)]
pub struct State<'text> {
    /// What it is called.
    pub name: QualifiedName<'text>,
    /// What its values are found by.
    pub keys: Vec<Parameter<'text>>,
    /// Its values.
    pub values: Vec<Parameter<'text>>,
    /// After how many milliseconds without use a value is forgotten; 0 is never.
    pub kept_ms: u64,
    /// How many values there are at most.
    pub most: u64,
    /// The operations that the file names.
    pub used: HashSet<StateOperation>,
    /// The statement.
    pub span: Span,
}

/// What is done with a state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StateOperation {
    /// Gives the value of a key.
    Get,
    /// Puts in a value where there is none.
    Insert,
    /// Puts a value in the place of another.
    Update,
    /// Puts in a value, whatever is there.
    Upsert,
    /// Takes a value away, and gives it.
    Delete,
    /// Gives all.
    All,
    /// Gives how many there are.
    Count,
    /// Takes all away.
    Clear,
}

impl StateOperation {
    /// All of them, in the order of the language reference.
    pub const ALL: [Self; 8] =
        [Self::Get, Self::Insert, Self::Update, Self::Upsert, Self::Delete, Self::All, Self::Count, Self::Clear];

    /// As it is written: `get`.
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

    /// The node of `std.state` that does it.
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

    /// The one that is written so.
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
    /// The array suffix, mostly empty.
    pub array: String,
    /// The list of parameters in whose place its own come; there is nothing else then.
    pub list: Option<QualifiedName<'text>>,
    /// What an input is where nothing is bound to it: `= 60s`.
    pub default: Option<Box<Constant<'text>>>,
    /// From the type to the suffix.
    pub span: Span,
}

/// `source Listen {session: Client} => Image;` or `source every 100ms => Beat;`
#[derive(Clone, Debug)]
pub struct Source<'text> {
    /// What brings flows about.
    pub origin: Origin<'text>,
    /// The session function.
    pub session: Option<QualifiedName<'text>>,
    /// Where flows start.
    pub target: QualifiedName<'text>,
    /// The statement.
    pub span: Span,
}

/// What brings flows about.
#[derive(Clone, Debug)]
pub enum Origin<'text> {
    /// A node.
    Node(Application<'text>),
    /// A heartbeat, every so many milliseconds.
    Timer(u64),
}

/// `Image = ReadRequest -> Write;` or `Handler:[_, _, hit] = ;`
#[derive(Clone, Debug)]
pub struct Flow<'text> {
    /// The node whose flow it is.
    pub node: QualifiedName<'text>,
    /// The patterns in their brackets; none written is different from an empty list.
    pub patterns: Option<Patterns<'text>>,
    /// What happens.
    pub chain: Chain<'text>,
    /// The statement.
    pub span: Span,
}

/// `[_, _, hit]`
#[derive(Clone, Debug)]
pub struct Patterns<'text> {
    /// At least one.
    pub list: Vec<NameOrAny<'text>>,
    /// For each the input that it says it is for: `what` of `[what: get]`.
    pub inputs: Vec<Option<Name<'text>>>,
    /// With the brackets.
    pub span: Span,
}

/// Steps joined by arrows; may be empty.
#[derive(Clone, Debug)]
pub struct Chain<'text> {
    /// The steps, in order.
    pub steps: Vec<Step<'text>>,
    /// From the first step to the last; where there is none, the flow or the parallel step it belongs to.
    pub span: Span,
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step<'text> {
    /// What it does.
    pub action: Action<'text>,
    /// `within 300ms`: the time that it has.
    pub within: Option<Constant<'text>>,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Action<'text> {
    /// `Find("public")`
    Apply(Application<'text>),
    /// `(A & B)`: at least one branch.
    Parallel(Vec<Chain<'text>>, Span),
    /// `[A -> B](4)`: at least one step, and how many run at once where that is said.
    Each(Chain<'text>, Option<Constant<'text>>, Span),
}

/// A node applied, with constants where there are any.
#[derive(Clone, Debug)]
pub struct Application<'text> {
    /// The node.
    pub node: QualifiedName<'text>,
    /// The constants.
    pub constants: Vec<Constant<'text>>,
    /// The inputs that take something by their names.
    pub named: Vec<NamedInput<'text>>,
}

/// `socket: backend`, `status: 404`: an input, and what it takes.
#[derive(Clone, Debug)]
pub struct NamedInput<'text> {
    /// The name of the input.
    pub input: &'text str,
    /// A constant. A name is that of a value, or of an option.
    pub value: Constant<'text>,
    /// From the one to the other.
    pub span: Span,
}

/// A constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant<'text> {
    /// What it is.
    pub value: ConstantValue<'text>,
    /// Where.
    pub span: Span,
}

/// The value of a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConstantValue<'text> {
    /// A number, with what it counts.
    Number(Quantity),
    /// A string, unescaped.
    Text(String),
    /// `true` or `false`.
    Boolean(bool),
    /// A number that is none, which was reported.
    Wrong,
    /// That of an option.
    Option(QualifiedName<'text>),
}

/// `handle error Image -> ReadRequest => BadRequest;`
#[derive(Clone, Debug)]
pub struct Handler<'text> {
    /// At least one.
    pub path: Vec<NameOrAny<'text>>,
    /// What handles the error: never nothing, unless the flow goes on.
    pub target: Option<QualifiedName<'text>>,
    /// Whether it ends in `_`: the flow goes on after the node that failed.
    pub goes_on: bool,
    /// The statement.
    pub span: Span,
}

/// `atomic CheckCache:{cache};`
#[derive(Clone, Debug)]
pub struct Atomic<'text> {
    /// The node.
    pub node: QualifiedName<'text>,
    /// At least one.
    pub constraints: Vec<Constraint<'text>>,
    /// The statement.
    pub span: Span,
}

/// `account!(from)`
#[derive(Clone, Debug)]
pub struct Constraint<'text> {
    /// What is shared.
    pub name: QualifiedName<'text>,
    /// How it is held.
    pub mode: Mode,
    /// Shared by whom.
    pub scope: Scope<'text>,
    /// The whole of it.
    pub span: Span,
}

/// The scope of a constraint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scope<'text> {
    /// `(program)`, or nothing.
    Program,
    /// `(session)`, and where that is written.
    Session(Span),
    /// `(from, to)`: names of inputs, at least one.
    Keyed(Vec<Name<'text>>),
}
