//! What one file sees while it is read: the program so far, and the modules that the file uses.
//!
//! A file sees its own names, and those of the modules that it uses itself, prefixed by the module: `tcp.Listen`.
//! [`Scope::locate`] says which declaration a name refers to, whatever notation declared it, and reports names that a
//! module does not have.

use crate::generic::Generic;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics, nearest};
use flux_ir::arena::ArenaId;
use flux_ir::effects::Effects;
use flux_ir::error_code::{CodeId, ErrorCode};
use flux_ir::external::{External, ExternalId, ExternalNames, ExternalRole};
use flux_ir::message::{Message, MessageId};
use flux_ir::name::{Name, NameMap};
use flux_ir::program::{
    Body, Constraint, ConstraintId, Include, ModuleId, Node, NodeId, OptionId, Parameter, Predicate, PredicateId,
    Program, ServerOption, TypeDeclaration, TypeId,
};
use flux_ir::types::{Declared as DeclaredType, Type, TypeNames};
use flux_source::Span;
use std::collections::{HashMap, HashSet};

/// The body of a node until a flow or a body of its own is found.
pub const NO_FLOW: Body = Body::Dispatch(vec![]);

/// What a name is a name of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A node.
    Node,
    /// A predicate type.
    Predicate,
    /// An option.
    Option,
    /// An error code.
    Code,
    /// A constraint.
    Constraint,
    /// A record, an enumeration or a message.
    Type,
    /// A constant of a step: an option, or a type.
    Constant,
    /// A list of parameters.
    List,
    /// A C++ function, of which nothing can be known.
    Function,
    /// What handles an error: a node, or a function that its module names so.
    Handler,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Node | Self::Handler => "node",
            Self::Predicate => "predicate type",
            Self::Option => "option",
            Self::Code => "error code",
            Self::Constraint => "constraint",
            Self::Type => "type",
            Self::Constant => "option or type",
            Self::List => "list of parameters",
            Self::Function => "function",
        }
    }
}

/// The declarations of a program by their names.
#[derive(Default)]
pub(crate) struct Declared {
    pub(crate) nodes: NameMap<NodeId>,
    /// By id: where the name of a node stands that declares it, or else that is first.
    node_names: Vec<Span>,
    pub(crate) predicates: NameMap<PredicateId>,
    options: NameMap<OptionId>,
    option_names: Vec<Span>,
    codes: NameMap<CodeId>,
    constraints: NameMap<ConstraintId>,
    pub(crate) types: NameMap<TypeId>,
    pub(crate) messages: NameMap<MessageId>,
    type_names: TypeNames,
    lists: NameMap<Vec<Parameter>>,
    pub(crate) generics: NameMap<Generic>,
    functions: ExternalNames,
    /// What could not be read of the files that are modules.
    unread: HashMap<String, Unread>,
}

/// What of a file could not be read: it may declare any of this.
#[derive(Clone, Default)]
struct Unread {
    words: HashSet<String>,
    everything: bool,
}

impl Declared {
    /// Where the name of a node stands that declares it, or else that is first.
    pub(crate) fn node_name(&self, node: NodeId) -> Span {
        self.node_names.get(node.index()).copied().unwrap_or_default()
    }
}

/// A module as one file uses it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Used {
    /// What the file calls it.
    pub name: String,
    /// Which it is.
    pub module: ModuleId,
}

/// Which declaration a name is.
pub enum Located {
    /// One of this module, or of the program's own file.
    In(Option<String>),
    /// One that there is not, which was reported.
    Nowhere,
}

/// What a file sees.
pub struct Scope<'run> {
    /// The program so far. What is in it is added by [`Self::add_node`] and its like, and may be changed.
    pub program: &'run mut Program,
    /// Where mistakes are reported.
    pub diagnostics: &'run mut Diagnostics,
    pub(crate) declared: &'run mut Declared,
    /// The module that the file is; none for the program's own.
    pub(crate) module: Option<ModuleId>,
    pub(crate) uses: &'run [Used],
    /// What the file calls the modules that it wants and that were reported, and those that were meant: nothing more is
    /// said of them.
    pub(crate) missing: &'run [String],
    /// The nodes that the file has of nodes with types.
    pub(crate) instances: HashMap<(Name, Vec<Type>), NodeId>,
    /// What is promised of functions of nodes.
    pub(crate) promises: HashMap<NodeId, Effects>,
    /// How many nodes there were before.
    pub(crate) first_node: usize,
    pub(crate) reported: HashSet<Name>,
    /// The modules that were reported, as the file calls them.
    pub(crate) reported_modules: HashSet<String>,
}

impl Scope<'_> {
    /// The module that the file is; none for the program's own file.
    pub fn module(&self) -> Option<&str> {
        self.module.map(|module| self.program.modules[module].name.as_str())
    }

    /// The module that the file calls so; none where it uses none of this name.
    pub fn module_called(&self, name: &str) -> Option<&str> {
        let used = self.uses.iter().find(|used| used.name == name)?;
        Some(&self.program.modules[used.module].name)
    }

    /// Says that the file includes a header.
    pub fn include(&mut self, include: Include) {
        match self.module {
            Some(module) => self.program.modules[module].includes.push(include),
            None => self.program.includes.push(include),
        }
    }

    /// Says that the file could not be read as a whole: nothing that it may declare is called unknown. Where these
    /// `words` are none, it may declare anything.
    pub fn leave_unread<'w>(&mut self, words: Option<impl Iterator<Item = &'w str>>) {
        let module = self.module().unwrap_or_default().to_owned();
        let unread = self.declared.unread.entry(module).or_default();
        match words {
            Some(words) => unread.words.extend(words.map(str::to_owned)),
            None => unread.everything = true,
        }
    }

    /// What `own`, with `module` before it as the file calls that, is a name of; reported where the module is not used,
    /// or has nothing of this kind that is called so.
    pub fn locate(&mut self, kind: Kind, module: Option<&str>, own: &str, span: Span) -> Located {
        let Some(called) = module.filter(|module| self.module() != Some(*module)) else {
            return Located::In(self.module().map(str::to_owned));
        };
        let Some(module) = self.module_called(called).map(str::to_owned) else {
            self.report_module(None, called, own, span);
            return Located::Nowhere;
        };
        if !self.has(kind, &module, own) {
            self.report_unknown(kind, (called, own), &module, span);
        }
        Located::In(Some(module))
    }

    /// Whether the file may say what this name means: it is its own, or of a module that it does not use, which is
    /// reported.
    pub fn may_define(&mut self, module: Option<&str>, own: &str, span: Span) -> bool {
        let Some(called) = module.filter(|module| self.module() != Some(*module)) else { return true };
        if self.module_called(called).is_none() {
            self.report_module(None, called, own, span);
            return true;
        }
        if self.reported.insert(Name::of(Some(called), own)) {
            let headline = format!("`{called}.{own}` is of the module `{called}`, and only that can say what it is");
            let help = format!("choose a name without `{called}.`, or write this in the module");
            self.diagnostics.push(Diagnostic::error(ids::FOREIGN_DEFINITION, headline, span).help(help));
        }
        false
    }

    /// Whether `module` may have something called `own`.
    fn has(&self, kind: Kind, module: &str, own: &str) -> bool {
        let of = Some(module);
        let declared = &*self.declared;
        let is_declared = match kind {
            Kind::Function => true,
            Kind::Node => declared.nodes.find(of, own).is_some() || declared.generics.find(of, own).is_some(),
            Kind::Constant => self.has(Kind::Option, module, own) || self.has(Kind::Type, module, own),
            Kind::Handler => {
                declared.nodes.find(of, own).is_some() || {
                    let name = Name::of(of, own);
                    declared.functions.find(ExternalRole::Handler, &name).is_some()
                }
            }
            Kind::Predicate => declared.predicates.find(of, own).is_some(),
            Kind::Option => declared.options.find(of, own).is_some(),
            Kind::Code => declared.codes.find(of, own).is_some(),
            Kind::Constraint => declared.constraints.find(of, own).is_some(),
            Kind::Type => declared.types.find(of, own).is_some() || declared.messages.find(of, own).is_some(),
            Kind::List => declared.lists.find(of, own).is_some(),
        };
        let may_declare = |unread: &Unread| unread.everything || unread.words.contains(own);
        is_declared || declared.unread.get(module).is_some_and(may_declare)
    }

    /// What `module` calls its things of one kind, in the order of the alphabet.
    fn names(&self, kind: Kind, module: &str) -> Vec<&str> {
        let (of, declared) = (Some(module), &*self.declared);
        let mut names: Vec<&str> = match kind {
            Kind::Function => vec![],
            Kind::Node | Kind::Handler => declared.nodes.names_of(of).chain(declared.generics.names_of(of)).collect(),
            Kind::Predicate => declared.predicates.names_of(of).collect(),
            Kind::Option => declared.options.names_of(of).collect(),
            Kind::Code => declared.codes.names_of(of).collect(),
            Kind::Constant => [self.names(Kind::Option, module), self.names(Kind::Type, module)].concat(),
            Kind::Constraint => declared.constraints.names_of(of).collect(),
            Kind::Type => declared.types.names_of(of).chain(declared.messages.names_of(of)).collect(),
            Kind::List => declared.lists.names_of(of).collect(),
        };
        names.sort_unstable();
        names
    }

    /// Reports the module before `own`, which the file does not use; or that more stands before it, a `folder`.
    pub fn report_module(&mut self, folder: Option<&str>, module: &str, own: &str, span: Span) {
        // What could not be read of this file may have said what it is: a state, for instance.
        let unread = self.declared.unread.get(self.module().unwrap_or_default());
        let may_be_declared = unread.is_some_and(|unread| unread.everything || unread.words.contains(module));
        if may_be_declared || self.missing.iter().any(|missing| missing == module) {
            return;
        }
        // One module that is not used is one mistake, however many names it has.
        if !self.reported_modules.insert(module.to_owned()) {
            return;
        }
        let names = || self.uses.iter().map(|used| used.name.as_str());
        let before = folder.map_or(String::new(), |folder| format!("{folder}."));
        let (headline, help) = match folder.filter(|_| names().any(|name| name == module)) {
            Some(_) => (
                format!("`{before}{module}.{own}` has more than the name of its module before it"),
                format!("write `{module}.{own}`"),
            ),
            None => {
                let help = match nearest(module, names()) {
                    Some(meant) => format!("did you mean `{meant}.{own}`?"),
                    None => {
                        format!("use it first: `use std.{module};`, or `use \"{module}.flux\";` for one of your own")
                    }
                };
                (format!("this file uses no module `{before}{module}`"), help)
            }
        };
        self.diagnostics.push(Diagnostic::error(ids::UNKNOWN_MODULE, headline, span).help(help));
    }

    /// Reports that a module has nothing called `own`.
    fn report_unknown(&mut self, kind: Kind, (called, own): (&str, &str), module: &str, span: Span) {
        if !self.reported.insert(Name::of(Some(module), own)) {
            return;
        }
        let names = self.names(kind, module);
        let help = match nearest(own, names.iter().copied()) {
            Some(meant) => format!("did you mean `{called}.{meant}`?"),
            None if names.is_empty() => format!("the module has no {}", kind.name()),
            None => format!("it has {}", listed(&names)),
        };
        let headline = format!("the module `{called}` has no {} `{own}`", kind.name());
        self.diagnostics.push(Diagnostic::error(ids::UNKNOWN_IN_MODULE, headline, span).help(help));
    }
}

/// A message lists names up to this many.
const LISTED: usize = 8;

fn listed(names: &[&str]) -> String {
    let shown: Vec<_> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > LISTED { " and more" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// Looking up and adding what is declared.
impl Scope<'_> {
    /// The node of this name.
    pub fn node(&self, module: Option<&str>, own: &str) -> Option<NodeId> {
        self.declared.nodes.find(module, own).copied()
    }

    /// The predicate type of this name.
    pub fn predicate(&self, module: Option<&str>, own: &str) -> Option<PredicateId> {
        self.declared.predicates.find(module, own).copied()
    }

    /// The option of this name.
    pub fn option(&self, module: Option<&str>, own: &str) -> Option<OptionId> {
        self.declared.options.find(module, own).copied()
    }

    /// The error code of this name.
    pub fn code(&self, module: Option<&str>, own: &str) -> Option<CodeId> {
        self.declared.codes.find(module, own).copied()
    }

    /// The constraint of this name.
    pub fn constraint(&self, module: Option<&str>, own: &str) -> Option<ConstraintId> {
        self.declared.constraints.find(module, own).copied()
    }

    /// The message that is called so.
    pub fn message(&self, module: Option<&str>, own: &str) -> Option<MessageId> {
        self.declared.messages.find(module, own).copied()
    }

    /// The record, enumeration or message of this name.
    pub fn declared_type(&self, module: Option<&str>, own: &str) -> Option<DeclaredType> {
        let message = || self.message(module, own).map(DeclaredType::Message);
        let declared = self.declared.types.find(module, own);
        declared.map(|id| self.program.types[*id].is(*id)).or_else(message)
    }

    /// The list of parameters of this name.
    pub fn list(&self, module: Option<&str>, own: &str) -> Option<&[Parameter]> {
        self.declared.lists.find(module, own).map(Vec::as_slice)
    }

    /// How the records, enumerations and messages are spelled.
    pub fn type_names(&self) -> &TypeNames {
        &self.declared.type_names
    }

    /// Where the name of a node stands that declares it, or else that is first.
    pub fn node_name(&self, node: NodeId) -> Span {
        self.declared.node_name(node)
    }

    /// Where the name of an option is declared.
    pub fn option_name(&self, option: OptionId) -> Span {
        self.declared.option_names.get(option.index()).copied().unwrap_or_default()
    }

    /// Adds a node, whose name stands at `name`.
    pub fn add_node(&mut self, node: Node, name: Span) -> NodeId {
        let id = ArenaId::new(self.program.nodes.len());
        self.declared.nodes.add(&node.name, id);
        self.declared.node_names.push(name);
        self.program.nodes.add(node)
    }

    /// Says that the name at `name` declares the node.
    pub fn declare_node(&mut self, node: NodeId, name: Span) {
        if let Some(first) = self.declared.node_names.get_mut(node.index()) {
            *first = name;
        }
    }

    /// Adds a predicate type.
    pub fn add_predicate(&mut self, predicate: Predicate) -> PredicateId {
        let id = ArenaId::new(self.program.predicates.len());
        self.declared.predicates.add(&predicate.name, id);
        self.program.predicates.add(predicate)
    }

    /// Adds an option, whose name stands at `name`.
    pub fn add_option(&mut self, option: ServerOption, name: Span) -> OptionId {
        let id = ArenaId::new(self.program.options.len());
        self.declared.options.add(&option.name, id);
        self.declared.option_names.push(name);
        self.program.options.add(option)
    }

    /// Adds an error code.
    pub fn add_code(&mut self, code: ErrorCode) -> CodeId {
        let id = ArenaId::new(self.program.codes.len());
        self.declared.codes.add(&code.name, id);
        self.program.codes.add(code)
    }

    /// Adds a constraint.
    pub fn add_constraint(&mut self, constraint: Constraint) -> ConstraintId {
        let id = ArenaId::new(self.program.constraints.len());
        self.declared.constraints.add(&constraint.name, id);
        self.program.constraints.add(constraint)
    }

    /// Adds a message.
    pub fn add_message(&mut self, message: Message) -> MessageId {
        let name = message.name.clone();
        let id = self.program.messages.add(message);
        self.declared.messages.add(&name, id);
        self.declared.type_names.add(&name, DeclaredType::Message(id));
        id
    }

    /// Adds a record, or an enumeration.
    pub fn add_type(&mut self, declared: TypeDeclaration) -> TypeId {
        let id = ArenaId::new(self.program.types.len());
        self.declared.types.add(&declared.name, id);
        self.declared.type_names.add(&declared.name, declared.is(id));
        self.program.types.add(declared)
    }

    /// Adds a list of parameters, for the files that use this one.
    pub fn add_list(&mut self, own: &str, parameters: Vec<Parameter>) {
        let name = Name::of(self.module(), own);
        self.declared.lists.add(&name, parameters);
    }

    /// The function in C or C++ that is called so and is for this, where something has named it.
    pub fn find_function(&self, name: &Name, role: ExternalRole) -> Option<ExternalId> {
        self.declared.functions.find(role, name)
    }

    /// The function in C or C++ that is called so and is for this. Those of nodes are found by [`NO_FLOW`].
    pub fn function(&mut self, name: &Name, role: ExternalRole) -> ExternalId {
        self.declared.functions.find_or_add(&mut self.program.externals, role, name)
    }

    /// Notes what is promised of the function of a node.
    pub fn promise(&mut self, node: NodeId, effects: Effects) {
        self.promises.insert(node, effects);
    }

    /// Whether bodies can call a node: as the program says it, or as was promised of one of this file.
    pub fn can_be_called(&self, id: NodeId) -> bool {
        let node = &self.program.nodes[id];
        match node.body == NO_FLOW {
            true => self.promises.get(&id) == Some(&Effects::Pure) && !node.blocking,
            false => self.program.can_be_called(node),
        }
    }

    /// Ends the file: each of its nodes that has neither a flow nor a body is a function.
    pub(crate) fn end(self) {
        for id in self.program.nodes.ids().skip(self.first_node) {
            if self.program.nodes[id].body != NO_FLOW {
                continue;
            }
            let name = self.program.nodes[id].name.clone();
            let effects = self.promises.get(&id).copied().unwrap_or_default();
            let external = External { effects, ..External::new(name, ExternalRole::Node) };
            self.program.nodes[id].body = Body::External(self.program.externals.add(external));
        }
    }
}
