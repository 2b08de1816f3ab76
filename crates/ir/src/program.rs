//! What the author said, resolved: declarations whose names are ids.
//!
//! A front end makes a [`Program`]; passes fill in the signatures that were left out, say which value goes where, check
//! it, and lower it to [`crate::flow`]. Optimizations are passes from program to program.

use crate::arena::{Arena, ArenaId};
use crate::compute::{Computation, ComputedPredicate};
use crate::effects::Effects;
use crate::error_code::{Code, CodeName, ErrorCode, ErrorPart};
use crate::external::{External, ExternalId};
use crate::message::Message;
use crate::name::Name;
pub use crate::signature::{Parameter, Signature};
use crate::types::Declared;
use flux_source::Span;

/// A node of a [`Program`].
pub type NodeId = ArenaId<Node>;
/// A record or an enumeration of a [`Program`].
pub type TypeId = ArenaId<TypeDeclaration>;
/// A predicate type of a [`Program`].
pub type PredicateId = ArenaId<Predicate>;
/// A constraint of a [`Program`].
pub type ConstraintId = ArenaId<Constraint>;
/// A module of a [`Program`].
pub type ModuleId = ArenaId<Module>;
/// An option of a [`Program`].
pub type OptionId = ArenaId<ServerOption>;

/// A whole program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Program {
    /// The stem of its file: `image` of `image.flux`. Names the generated files and the server.
    pub name: String,
    /// Its modules, each after those that it uses. What is of a module has the module in its [`Name`].
    pub modules: Arena<Module>,
    /// The modules that its own file uses, in order.
    pub uses: Vec<ModuleId>,
    /// The headers that its own file includes, in order.
    pub includes: Vec<Include>,
    /// The libraries that the server is linked with, those of modules too, each once, in the order of their mention.
    pub links: Vec<Link>,
    /// The options, those of modules before the program's own.
    pub options: Arena<ServerOption>,
    /// The names of error codes, in the order of their declarations.
    pub codes: Arena<ErrorCode>,
    /// The records and enumerations, in the order of their declarations.
    pub types: Arena<TypeDeclaration>,
    /// The messages, in the order of their declarations.
    pub messages: Arena<Message>,
    /// The functions in C and C++ that it calls.
    pub externals: Arena<External>,
    /// The predicate types, in the order of their `typedef`s.
    pub predicates: Arena<Predicate>,
    /// Every node: declared, given a flow, or only named in one.
    pub nodes: Arena<Node>,
    /// The sources, in order.
    pub sources: Vec<Source>,
    /// The error handlers, in order.
    pub handlers: Vec<Handler>,
    /// The constraints, in the order of their first mention.
    pub constraints: Arena<Constraint>,
}

/// `use std.tcp;`: a file of its own, whose names are qualified with the module's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// The stem of its file: `tcp` of `tcp.flux`. Also its C++ namespace.
    pub name: String,
    /// The modules that it uses, in order.
    pub uses: Vec<ModuleId>,
    /// The headers that it includes, in order.
    pub includes: Vec<Include>,
    /// The whole of its file.
    pub span: Span,
}

/// `option port : int = 8080;`: a constant that the server is told when it starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerOption {
    /// The name.
    pub name: Name,
    /// What values it has.
    pub kind: OptionKind,
    /// Its value where the server is told none; it must be told one where this is none.
    pub default: Option<Constant>,
    /// What `--help` says of it: a sentence without its full stop; empty where the author says nothing.
    pub about: String,
    /// The statement.
    pub span: Span,
}

/// What values an option has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OptionKind {
    /// An integer.
    Int,
    /// A string.
    Text,
    /// A path, as a string.
    Path,
    /// `true` or `false`.
    Bool,
    /// An integer of milliseconds, not negative.
    Duration,
    /// An integer of bytes, not negative.
    Size,
}

impl OptionKind {
    /// All of them, in the order of the language reference.
    pub const ALL: [Self; 6] = [Self::Int, Self::Text, Self::Path, Self::Bool, Self::Duration, Self::Size];

    /// As the language spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Text => "string",
            Self::Path => "path",
            Self::Bool => "bool",
            Self::Duration => "duration",
            Self::Size => "size",
        }
    }

    /// The kind that the language spells so.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// `include "image.h";`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Include {
    /// As written between the quotes.
    pub path: String,
    /// The statement.
    pub span: Span,
}

/// `link "sqlite3";`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// The library, without its `lib` and its suffix.
    pub library: String,
    /// The statement.
    pub span: Span,
}

/// `record hit { path : text; bytes : uint64; };` or `enum method { get, put };`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeDeclaration {
    /// The name.
    pub name: Name,
    /// What it is.
    pub body: TypeBody,
    /// The statement.
    pub span: Span,
}

impl TypeDeclaration {
    /// What it is as a type, where it is the one of this id.
    pub fn is(&self, id: TypeId) -> Declared {
        match self.body {
            TypeBody::Record(_) => Declared::Record(id),
            TypeBody::Enum(_) => Declared::Enum(id),
        }
    }
}

/// What a declared type is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeBody {
    /// Its values have these fields, in order; at least one, all of types of the language.
    Record(Vec<Parameter>),
    /// Its values are these, in order; at least one.
    Enum(Vec<String>),
}

/// `typedef hit TestInCache;`: values of type `hit` are those for which `bool TestInCache(value)` holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Predicate {
    /// The type's name.
    pub name: Name,
    /// What says whether a value is one of its type.
    pub tested_by: TestedBy,
    /// The statement.
    pub span: Span,
}

/// What says whether a value is of a predicate type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TestedBy {
    /// A function in C++.
    External(ExternalId),
    /// A computation.
    Computed(ComputedPredicate),
}

/// A node: concrete (a function in C++, or computed) or abstract (a flow).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// The name.
    pub name: Name,
    /// The signature; `None` until it has been inferred.
    pub signature: Option<Signature>,
    /// What it does.
    pub body: Body,
    /// What it must hold while it runs, in the order written.
    pub requirements: Vec<Requirement>,
    /// It waits for the outside in a way that nothing can see.
    pub blocking: bool,
    /// It may run in several instances at once, and waits through the runtime alone: a source that is so is one on each
    /// event loop.
    pub replicable: bool,
    /// How many bytes of stack its function has for itself; none where it has what is left of its flow's.
    pub stack: Option<u64>,
    /// Its declaration; where there is none its first flow; where there is none its first mention.
    pub span: Span,
}

/// What a node does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// Calls a function of the node's name in C or C++.
    External(ExternalId),
    /// Computes its outputs.
    Computed(Computation),
    /// One chain, without patterns.
    Chain(Chain),
    /// Several lines with patterns; the first that matches is taken.
    Dispatch(Vec<Line>),
}

/// Steps one after the other; empty hands its inputs on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// What it gives, one value for each output of the node whose chain it is; a branch of a parallel step has no such
    /// list to fit and gives what it likes. None until it has been bound.
    pub results: Option<Vec<Argument>>,
    /// From the first step to the last; the whole flow statement where there is no step.
    pub span: Span,
}

/// The number of a step, by which others name its outputs: unique in its flow, that is in the chain of a node or of a
/// line of a dispatch, the branches of its parallel steps included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct StepNumber(pub u32);

/// One step of a chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Its number.
    pub number: StepNumber,
    /// What it does.
    pub action: Action,
    /// `within 300ms`: by when it is to have ended, in milliseconds from its beginning; an integer above 0, or an
    /// option that is a duration.
    pub within: Option<Constant>,
}

/// What a step does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// A node is applied.
    Apply(Application),
    /// Chains run concurrently.
    Parallel(Parallel),
    /// A chain runs for every element of a list.
    Each(Each),
}

/// The value that an input takes, or an output. It is named, not found by its place in a list: what is put in or taken
/// out between the two changes nothing here.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Argument {
    /// A value that the flow begins with: an input of the node whose chain it is; for the target of a source, what the
    /// source gives; for an error handler, an input of the node that failed.
    Input(usize),
    /// An output of an earlier step of the same flow. Those of a parallel step are what its branches give, one list
    /// after the other.
    Output(StepNumber, usize),
    /// In the chain of the each step with this number: the element that the instance is for.
    Element(StepNumber),
    /// For an error handler: something of the failure that it handles.
    Error(ErrorPart),
    /// For an error handler: a value that whoever applied the node that failed has [kept](Application::kept) for it.
    Kept(usize),
    /// A constant that is given by name, or the [default](Parameter::default) of the input.
    Constant(Constant),
}

/// `(A & B)`: the chains run concurrently on copies of the same values, and what they give is joined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parallel {
    /// The chains; never none.
    pub branches: Vec<Chain>,
    /// What each branch gets a copy of. Inside, these values are named as outside, and no other from outside can be.
    /// None until it has been bound.
    pub arguments: Option<Vec<Argument>>,
    /// From one parenthesis to the other.
    pub span: Span,
}

/// `[Chain](n)`: the chain runs once for every element of a list, and what these instances give is gathered in lists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Each {
    /// What an instance does.
    pub chain: Chain,
    /// How many instances may run at once: an integer above 1, or an option that is an `int`. None for a loop: the
    /// instances run one after the other until one fails, and may hand values on.
    pub width: Option<Constant>,
    /// Which values it takes and gives. None until they have been bound.
    pub values: Option<EachValues>,
    /// From the first bracket on, the width included.
    pub span: Span,
}

/// The values of an each step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EachValues {
    /// The list.
    pub list: Argument,
    /// An element of it: [`Argument::Element`] names it.
    pub element: Parameter,
    /// What each instance gets a copy of. Inside, these values are named as outside, and no other from outside can be.
    pub copied: Vec<Argument>,
    /// What an instance of a loop hands on: results of the chain, by position, each with the one of `copied` whose
    /// place it takes in the next instance. The step gives what the last instance gave, or the copied value where the
    /// list is empty; its other outputs are lists.
    pub carried: Vec<(usize, usize)>,
}

/// A node applied, with constants bound to its leading inputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Application {
    /// Which node.
    pub node: NodeId,
    /// The constants by position, for its first inputs.
    pub constants: Vec<Constant>,
    /// What the author has given inputs by their names.
    pub named: Vec<NamedInput>,
    /// What the inputs after those of `constants` take, one for each; none until they have been bound. A source takes
    /// constants alone.
    pub arguments: Option<Vec<Argument>>,
    /// What handlers of its failure reach: values of the flow that the node itself does not take. As many, and of the
    /// same types, wherever the node is applied.
    pub kept: Vec<Argument>,
    /// Where it is named.
    pub span: Span,
}

/// `Send(socket: backend, status: 404)`: what an input takes, by the input's name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedInput {
    /// The name of the input.
    pub input: String,
    /// What it takes.
    pub value: NamedValue,
    /// Where it is chosen.
    pub span: Span,
}

/// What a named input takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NamedValue {
    /// The value of this name that the flow made last.
    Value(String),
    /// A constant.
    Constant(Constant),
    /// An option, by a name that no value may have.
    Option(OptionId),
}

impl NamedValue {
    /// The constant, if it is one.
    pub fn constant(&self) -> Option<Constant> {
        match self {
            Self::Value(_) => None,
            Self::Constant(constant) => Some(constant.clone()),
            Self::Option(option) => Some(Constant::Option(*option)),
        }
    }
}

/// A constant, in the units the runtime uses.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Constant {
    /// An integer; sizes are bytes (`64k` is 65536), durations are milliseconds (`2s` is 2000).
    Integer(i64),
    /// A string, unescaped.
    Text(String),
    /// `true` or `false`.
    Boolean(bool),
    /// The value of an option, the same for as long as the server runs.
    Option(OptionId),
}

impl Constant {
    /// Whether the two differ whatever the server is told: the value of an option may be any.
    pub fn surely_differs(&self, other: &Self) -> bool {
        let is_option = |constant: &Self| matches!(constant, Self::Option(_));
        self != other && !is_option(self) && !is_option(other)
    }
}

/// One line of a dispatch: `Handler:[_, _, hit] = ...;`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// One for each input; `None` matches anything. Empty for a catch-all written without patterns.
    pub patterns: Vec<Option<PredicateId>>,
    /// What happens on a match.
    pub chain: Chain,
    /// The whole statement.
    pub span: Span,
}

/// Where flows come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// What brings them about.
    pub origin: Origin,
    /// The function that gives a flow's session from the target's inputs, where the source has sessions.
    pub session: Option<ExternalId>,
    /// The node each flow starts in.
    pub target: NodeId,
    /// The values of the target's inputs, one for each; none until they have been bound.
    pub arguments: Option<Vec<Argument>>,
    /// Whether its flows run on event loops alone, because what they share has no locks.
    pub on_loops: bool,
    /// The statement.
    pub span: Span,
}

/// What brings flows about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A node without inputs, run for ever.
    Node(Application),
    /// A heartbeat, every so many milliseconds.
    Timer(u64),
}

/// `handle error ReadInFromDisk => FourOhFour;`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Handler {
    /// Nodes one after the other, ending in the one that fails; `None` is `*`, exactly one node of any name.
    pub path: Vec<Option<NodeId>>,
    /// What takes the failing node's place.
    pub target: HandlerTarget,
    /// Where it runs a node: how it takes the place of each node that it may be asked for, in the order of their ids;
    /// empty until they have been bound.
    pub replacements: Vec<Replacement>,
    /// The statement.
    pub span: Span,
}

/// How a handler that is a node takes the place of one that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replacement {
    /// The node that failed.
    pub failing: NodeId,
    /// The values of the handler's inputs, one for each.
    pub arguments: Vec<Argument>,
    /// What handlers of the handler's own failure reach: as [`Application::kept`].
    pub kept: Vec<Argument>,
    /// Where the flow goes on as if the node had not failed: for each output of that node, which output of the handler;
    /// never for a node without outputs. Where this is none, the handler's target says whether the flow ends.
    pub resume: Option<Vec<usize>>,
}

/// What handles an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandlerTarget {
    /// `=> H`: the flow ends after H, or resumes with H's outputs in place of those of the failed node.
    Run(HandlerStep),
    /// `=> _`, or `=> H -> _`: after H, the flow goes on behind the failed node, which has no outputs.
    GoOn(Option<HandlerStep>),
}

/// What a handler runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandlerStep {
    /// A function in C++ that nobody declares, `void H(X_in *in, int error)`.
    External(ExternalId),
    /// A declared node or flow that takes the failing node's inputs.
    Node(NodeId),
}

impl HandlerTarget {
    /// What it runs, if anything.
    pub fn step(self) -> Option<HandlerStep> {
        match self {
            Self::Run(step) => Some(step),
            Self::GoOn(step) => step,
        }
    }

    /// The node that it runs; none where it runs a function or nothing.
    pub fn node(self) -> Option<NodeId> {
        match self.step()? {
            HandlerStep::Node(node) => Some(node),
            HandlerStep::External(_) => None,
        }
    }

    /// The function that it runs; none where it runs a node or nothing.
    pub fn external(self) -> Option<ExternalId> {
        match self.step()? {
            HandlerStep::External(external) => Some(external),
            HandlerStep::Node(_) => None,
        }
    }

    /// Whether the flow goes on without values.
    pub fn goes_on(self) -> bool {
        matches!(self, Self::GoOn(_))
    }
}

/// A thing that nodes share, by its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constraint {
    /// The name.
    pub name: Name,
    /// Shared by whom; the same at every mention.
    pub scope: Scope,
    /// Where it has a key for each row of a table: the constraint of the whole table, which comes before it in the one
    /// order. Who holds that as a writer holds all rows.
    pub table: Option<ConstraintId>,
    /// The first mention.
    pub span: Span,
}

/// Which flows a constraint holds apart. Declared in the one order: program, session, keyed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    /// All of them.
    Program,
    /// Those of one session.
    Session,
    /// Those with equal keys.
    Keyed,
}

/// How a constraint is held. These are the modes of locks of several granularities that a server needs of tables and
/// their rows (J. Gray et al., "Granularity of locks in a shared data base", VLDB 1975), of which the two that say what
/// is intended with a row are one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    /// Together with other readers (`?`).
    Read,
    /// Of a table: together with all others that hold rows of it (`~`).
    Intent,
    /// Alone.
    Write,
}

impl Mode {
    /// Whether who holds it so may do what is done in the mode `wanted`.
    pub fn suffices(self, wanted: Self) -> bool {
        self == wanted || self == Self::Write
    }

    /// The weakest mode that suffices for both.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        if self == other { self } else { Self::Write }
    }

    /// Whether two flows cannot hold it so at once.
    pub fn excludes(self, other: Self) -> bool {
        self != other || self == Self::Write
    }
}

/// One constraint that a node must hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Requirement {
    /// Which.
    pub constraint: ConstraintId,
    /// How.
    pub mode: Mode,
    /// For a keyed one, which inputs of the node make the key, by position.
    pub key: Vec<usize>,
    /// The mention.
    pub span: Span,
}

impl Program {
    /// The node that is written `name`; O(nodes), for tests and tools.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().find(|(_, node)| node.name == *name).map(|(id, _)| id)
    }

    /// A constant as the language writes it, numbers without their units.
    pub fn constant_text(&self, constant: &Constant) -> String {
        match constant {
            Constant::Integer(value) => value.to_string(),
            Constant::Text(text) => format!("{text:?}"),
            Constant::Boolean(value) => value.to_string(),
            Constant::Option(option) => self.options[*option].name.to_string(),
        }
    }

    /// A code as its author wrote it: `404`, `ENOENT`, `http.not_found`.
    pub fn code_text(&self, code: Code) -> String {
        match code.name {
            None => code.number.to_string(),
            Some(CodeName::Errno(errno)) => errno.name().to_owned(),
            Some(CodeName::Declared(id)) => self.codes[id].name.to_string(),
        }
    }

    /// A constraint that is held, as the language writes it: `cache`, `hits?`, `visitor(session)`, and with the `key`,
    /// which those of other scopes have none of, `account(from)`.
    pub fn constraint_text(&self, id: ConstraintId, mode: Mode, key: &[String]) -> String {
        let constraint = &self.constraints[id];
        let mode = match mode {
            Mode::Read => "?",
            Mode::Intent => "~",
            Mode::Write => "",
        };
        let scope = match constraint.scope {
            Scope::Program => String::new(),
            Scope::Session => "(session)".to_owned(),
            Scope::Keyed => format!("({})", key.join(", ")),
        };
        format!("{}{mode}{scope}", constraint.name)
    }

    /// Whether bodies can call a node, as far as that is a question of what it does: it computes, or is a function in
    /// C++ that is pure, and does not block.
    pub fn can_be_called(&self, node: &Node) -> bool {
        match node.body {
            Body::Computed(_) => true,
            Body::External(external) => self.externals[external].effects == Effects::Pure && !node.blocking,
            Body::Chain(_) | Body::Dispatch(_) => false,
        }
    }

    /// As [`Self::constant_text`], of a duration: `100ms`, `2s`, `5m`, and an option by its name.
    pub fn duration_text(&self, time: &Constant) -> String {
        match time {
            Constant::Integer(time_ms) if time_ms % 60_000 == 0 => format!("{}m", time_ms / 60_000),
            Constant::Integer(time_ms) if time_ms % 1000 == 0 => format!("{}s", time_ms / 1000),
            Constant::Integer(time_ms) => format!("{time_ms}ms"),
            other => self.constant_text(other),
        }
    }
}

impl Predicate {
    /// What is computed; none where a function in C++ says it.
    pub fn computed(&self) -> Option<&ComputedPredicate> {
        match &self.tested_by {
            TestedBy::Computed(computed) => Some(computed),
            TestedBy::External(_) => None,
        }
    }

    /// The function in C++; none where it is computed.
    pub fn external(&self) -> Option<ExternalId> {
        match self.tested_by {
            TestedBy::External(external) => Some(external),
            TestedBy::Computed(_) => None,
        }
    }
}

impl Source {
    /// The node whose values its flows begin with; none where it is a heartbeat.
    pub fn producer(&self) -> Option<NodeId> {
        match &self.origin {
            Origin::Node(application) => Some(application.node),
            Origin::Timer(_) => None,
        }
    }
}

impl Node {
    /// The inputs, none where the signature is not known yet.
    pub fn inputs(&self) -> &[Parameter] {
        self.signature.as_ref().map_or(&[], |signature| &signature.inputs)
    }

    /// The inputs that have no default, none where the signature is not known yet.
    pub fn required_inputs(&self) -> &[Parameter] {
        let signature = self.signature.as_ref();
        signature.and_then(|signature| signature.inputs.get(..signature.required())).unwrap_or_default()
    }

    /// The defaults of the last inputs, none where the signature is not known yet.
    pub fn defaults(&self) -> &[Constant] {
        self.signature.as_ref().map_or(&[], |signature| &signature.defaults)
    }

    /// The outputs, none where the signature is not known yet.
    pub fn outputs(&self) -> &[Parameter] {
        self.signature.as_ref().map_or(&[], |signature| &signature.outputs)
    }

    /// The chains of its flow: none for a node without one.
    pub fn chains(&self) -> impl Iterator<Item = &Chain> {
        let (one, lines) = match &self.body {
            Body::External(_) | Body::Computed(_) => (None, None),
            Body::Chain(chain) => (Some(chain), None),
            Body::Dispatch(lines) => (None, Some(lines)),
        };
        one.into_iter().chain(lines.into_iter().flatten().map(|line| &line.chain))
    }
}

impl Body {
    /// Whether it is one step to whoever applies it: it has no flow.
    pub fn is_leaf(&self) -> bool {
        matches!(self, Self::External(_) | Self::Computed(_))
    }

    /// Whether it is a function in C or C++.
    pub fn is_external(&self) -> bool {
        matches!(self, Self::External(_))
    }

    /// The chains of a flow, to be changed: none where there is no flow.
    pub fn chains_mut(&mut self) -> impl Iterator<Item = &mut Chain> {
        let (one, lines) = match self {
            Self::External(_) | Self::Computed(_) => (None, None),
            Self::Chain(chain) => (Some(chain), None),
            Self::Dispatch(lines) => (None, Some(lines)),
        };
        one.into_iter().chain(lines.into_iter().flatten().map(|line| &mut line.chain))
    }
}

impl Action {
    /// The chains inside it: the branches of a parallel step, the chain of an each step.
    pub fn chains(&self) -> &[Chain] {
        match self {
            Self::Apply(_) => &[],
            Self::Parallel(parallel) => &parallel.branches,
            Self::Each(each) => std::slice::from_ref(&each.chain),
        }
    }

    /// As [`Self::chains`], to change.
    pub fn chains_mut(&mut self) -> &mut [Chain] {
        match self {
            Self::Apply(_) => &mut [],
            Self::Parallel(parallel) => &mut parallel.branches,
            Self::Each(each) => std::slice::from_mut(&mut each.chain),
        }
    }
}

impl Chain {
    /// Every step in it, those inside of a step after it, in textual order.
    pub fn all_steps(&self) -> Vec<&Step> {
        let mut found = vec![];
        let mut open: Vec<&Step> = self.steps.iter().rev().collect();
        while let Some(step) = open.pop() {
            found.push(step);
            open.extend(step.action.chains().iter().flat_map(|chain| &chain.steps).rev());
        }
        found
    }

    /// Numbers every step in it from 1 on, in the order of [`Self::all_steps`].
    pub fn number_steps(&mut self) {
        let mut open: Vec<&mut Step> = self.steps.iter_mut().rev().collect();
        for number in 1.. {
            let Some(step) = open.pop() else { break };
            step.number = StepNumber(number);
            open.extend(step.action.chains_mut().iter_mut().flat_map(|chain| &mut chain.steps).rev());
        }
    }

    /// Every application in it, those inside of other steps included, in textual order.
    pub fn applications(&self) -> Vec<&Application> {
        fn applied(step: &Step) -> Option<&Application> {
            match &step.action {
                Action::Apply(application) => Some(application),
                Action::Parallel(_) | Action::Each(_) => None,
            }
        }
        self.all_steps().into_iter().filter_map(applied).collect()
    }
}
