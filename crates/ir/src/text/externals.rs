//! External functions in the text form.
//!
//! A declaration that names a function in C++ implies the external, together with what is promised of it. So the text
//! lists externals only if there is more to say: if two have the same name, if they are in another order, or if they
//! are bound.

use super::ParseError;
use super::cursor::Cursor;
use super::lexical;
use super::names::{Labels, Names};
use super::printer::Printer;
use crate::arena::Arena;
use crate::effects::Effects;
use crate::external::{
    Convention, External, ExternalId, ExternalNames, ExternalRole, Language, Outcome, Passing, PlainFunction,
};
use crate::name::Name;
use crate::program::{Body, NodeId, Program};
use crate::types::TypeNames;

/// Whether the functions of `program` are those that its text names, in this order: first by predicates, then by
/// sources and handlers, and by nodes.
pub(super) fn are_named(program: &Program) -> bool {
    let predicates = program.predicates.iter().filter_map(|(_, one)| one.external());
    let sources = program.sources.iter().filter_map(|source| source.session);
    let handlers = program.handlers.iter().filter_map(|handler| handler.target.external());
    let nodes = program.nodes.iter().filter_map(|(_, node)| match node.body {
        Body::External(external) => Some((external, Some(&node.name))),
        _ => None,
    });
    let of = |role| move |id: ExternalId| (id, role);
    let all = predicates.map(of(ExternalRole::Predicate)).chain(sources.map(of(ExternalRole::Session)));
    let all = all.chain(handlers.map(of(ExternalRole::Handler))).map(|(id, role)| (id, role, None));
    let (mut names, mut externals) = (ExternalNames::default(), Default::default());
    let mut is_next = |(id, role, called): (ExternalId, ExternalRole, Option<&Name>)| {
        let Some(external) = program.externals.find(id).filter(|external| external.role == role) else { return false };
        let is_bound = external.language != Language::Cpp || external.convention != Convention::Structs;
        let is_bound = is_bound || !external.types.is_empty();
        let says_promise = matches!(role, ExternalRole::Node | ExternalRole::Predicate);
        !is_bound
            && called.is_none_or(|name| *name == external.name)
            && (says_promise || external.effects == Effects::Unknown)
            && names.find_or_add(&mut externals, role, &external.name) == id
    };
    let mut all = all.chain(nodes.map(|(id, name)| (id, ExternalRole::Node, name)));
    all.all(&mut is_next) && externals.len() == program.externals.len()
}

impl Printer {
    /// Writes the functions, where the program does not say them by naming them.
    pub(super) fn externals(&mut self, program: &Program) {
        if self.names.are_named {
            return;
        }
        for (_, External { name, types, functions, role, effects, language, convention }) in program.externals.iter() {
            self.write(format!("external {} ", lexical::declared(name)));
            if !types.is_empty() {
                self.write("<");
                self.separated(", ", types, |printer, ty| printer.write(lexical::quoted(ty.written())));
                self.write("> ");
            }
            if !functions.is_empty() {
                self.write("(");
                self.separated(", ", functions, |printer, node| printer.write(format!("#{}", node.index())));
                self.write(") ");
            }
            self.write(role.name());
            self.effects(*effects);
            self.write(if *language == Language::C { " c" } else { "" });
            self.convention(convention);
            self.end_line();
        }
    }

    fn convention(&mut self, convention: &Convention) {
        match convention {
            Convention::Structs => {}
            Convention::Of2006 => self.write(" of2006"),
            Convention::Plain(PlainFunction { declaration, outcome, passing }) => {
                let passing: Vec<_> = passing.iter().map(|one| one.name()).collect();
                let (outcome, passing) = (outcome.name(), passing.join(", "));
                self.write(format!(" plain {outcome} ({passing}) {}", lexical::quoted(declaration)));
            }
        }
    }

    /// Writes what is promised of a function that is named here.
    pub(super) fn promised(&mut self, id: ExternalId) {
        let effects = self.names.called(id).map(|external| external.effects).filter(|_| self.names.are_named);
        self.effects(effects.unwrap_or_default());
    }

    fn effects(&mut self, effects: Effects) {
        if effects != Effects::Unknown {
            self.write(format!(" {}", effects.name()));
        }
    }

    /// Writes which function a node has, unless it is the one of its name.
    pub(super) fn calls(&mut self, id: ExternalId, node: &Name) {
        if self.names.external(id, ExternalRole::Node) != Some(node) {
            self.write(format!(" calls #{}", id.index()));
        }
    }

    /// Mentions a function to be called for this: by name, or by index where the name means another.
    pub(super) fn external(&mut self, id: ExternalId, role: ExternalRole) {
        let name = self.names.external(id, role).map(lexical::declared);
        self.write(name.unwrap_or_else(|| format!("#{}", id.index())));
    }
}

impl Names {
    /// The name of an external function where it means this one, to whoever wants one for this.
    fn external(&self, id: ExternalId, role: ExternalRole) -> Option<&Name> {
        let name = &self.called(id)?.name;
        (self.externals.find(role, name) == Some(id)).then_some(name)
    }
}

/// The functions that lines name, in the order of those.
pub(super) struct Functions {
    names: ExternalNames,
    /// For each node the function that it calls, where that is said, and what is promised.
    of_nodes: Vec<Called>,
}

/// A function that a line names.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Called {
    /// None is the one of the name.
    external: Option<ExternalId>,
    promise: Effects,
}

impl Functions {
    /// Those that `program` declares.
    pub(super) fn of(program: &Program) -> Self {
        Self { names: ExternalNames::of(&program.externals), of_nodes: vec![] }
    }

    /// A mention of a function for this, which is added where it is new.
    pub(super) fn mention(
        &mut self,
        line: &mut Cursor<'_>,
        role: ExternalRole,
        externals: &mut Arena<External>,
    ) -> Result<ExternalId, ParseError> {
        if line.at("#") {
            return line.mention(&Labels::default(), "a function").map(ExternalId::new);
        }
        let name = line.declared_name("a function")?;
        Ok(self.names.find_or_add(externals, role, &name))
    }

    /// The function of a predicate, and what is promised of it.
    pub(super) fn predicate(
        &mut self,
        line: &mut Cursor<'_>,
        externals: &mut Arena<External>,
    ) -> Result<ExternalId, ParseError> {
        let id = self.mention(line, ExternalRole::Predicate, externals)?;
        promise(externals, id, effects(line));
        Ok(id)
    }

    /// What the line of a node says of its function, if it has one. It is added by [`Self::node`], after all others.
    pub(super) fn node_line(&mut self, line: &mut Cursor<'_>) -> Result<(), ParseError> {
        let promise = effects(line);
        let external = match line.eat_word("calls") {
            true => Some(line.mention(&Labels::default(), "a function").map(ExternalId::new)?),
            false => None,
        };
        self.of_nodes.push(Called { external, promise });
        Ok(())
    }

    /// Whether the line of a node says something of its function.
    pub(super) fn says_of_node(&self, node: NodeId) -> bool {
        self.of_nodes.get(node.index()).is_some_and(|called| *called != Called::default())
    }

    /// The function of a node without a flow.
    pub(super) fn node(&mut self, node: NodeId, name: &Name, externals: &mut Arena<External>) -> ExternalId {
        let called = self.of_nodes.get(node.index()).copied().unwrap_or_default();
        let id = match called.external {
            Some(id) => id,
            None => self.names.find_or_add(externals, ExternalRole::Node, name),
        };
        promise(externals, id, called.promise);
        id
    }
}

/// Notes what is promised of a function, where something is.
fn promise(externals: &mut Arena<External>, id: ExternalId, effects: Effects) {
    if let Some(external) = externals.find_mut(id).filter(|_| effects != Effects::Unknown) {
        external.effects = effects;
    }
}

/// Adds the function that `line` declares, if it does.
pub(super) fn declare(mut line: Cursor<'_>, types: &TypeNames, program: &mut Program) -> Result<(), ParseError> {
    if !line.eat_word("external") {
        return Ok(());
    }
    let name = line.declared_name("the function's name")?;
    let types = match line.at("<") {
        true => line.list("<", ">", |line| line.text().map(|spelling| types.read(&spelling, "")))?,
        false => vec![],
    };
    let functions = match line.at("(") {
        true => line.list("(", ")", |line| line.mention(&Labels::default(), "a node").map(NodeId::new))?,
        false => vec![],
    };
    let role = line.word().and_then(|word| ExternalRole::ALL.into_iter().find(|role| role.name() == word));
    let role =
        role.ok_or_else(|| line.error("a function is for a `node`, a `predicate`, a `handler` or a `session`"))?;
    let effects = effects(&mut line);
    let language = if line.eat_word("c") { Language::C } else { Language::Cpp };
    let convention = convention(&mut line)?;
    program.externals.add(External { name, types, functions, role, effects, language, convention });
    line.finish()
}

fn convention(line: &mut Cursor<'_>) -> Result<Convention, ParseError> {
    if line.eat_word("of2006") {
        return Ok(Convention::Of2006);
    }
    if !line.eat_word("plain") {
        return Ok(Convention::Structs);
    }
    let outcome = line.word().and_then(|word| Outcome::ALL.into_iter().find(|outcome| outcome.name() == word));
    let outcome = outcome.ok_or_else(|| line.error("a plain function gives `nothing`, an `error` or an `output`"))?;
    let passing = line.list("(", ")", |line| {
        let passing = line.word().and_then(|word| Passing::ALL.into_iter().find(|passing| passing.name() == word));
        passing.ok_or_else(|| line.error("a value is passed as `value`, `moved` or `address`"))
    })?;
    Ok(Convention::Plain(PlainFunction { declaration: line.text()?, outcome, passing }))
}

/// What is promised, where something is.
fn effects(line: &mut Cursor<'_>) -> Effects {
    Effects::PROMISES.into_iter().find(|promise| line.eat_word(promise.name())).unwrap_or_default()
}
