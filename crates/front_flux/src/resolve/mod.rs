//! From the syntax tree of a file to the program: names become ids.
//!
//! Statements come in any order, so there are several rounds: first what is declared, then what is said about it. Nodes
//! are numbered by their first declaration or flow, and those without one by their first mention, so that ids depend on
//! the text alone.
//!
//! A name in a part that the parser had to skip may have been declared there, so nothing is reported about it. A name
//! that is wrong is reported once, where it is first used.

mod attribute;
mod body;
mod call;
mod constraint;
mod error_code;
mod expression;
mod flow;
mod function;
mod generic;
mod handler;
mod input;
mod link;
mod message;
mod message_attribute;
mod message_value;
mod name;
mod option;
mod state;
mod type_declaration;
mod walk;

use crate::attribute::Attribute;
use crate::ids;
use crate::syntax::{self, Declaration, Name, QualifiedName, Statement, Syntax, Typedef};
use flux_diagnostic::{Diagnostic, Id};
use flux_front::scope::{NO_FLOW, Scope};
use flux_ir::compute::{Computation, ComputedPredicate};
use flux_ir::external::ExternalRole;
use flux_ir::name as declared;
use flux_ir::program::{Body, Node, NodeId, OptionId, Parameter, Predicate, PredicateId, Signature, TestedBy};
use flux_ir::types::Type;
use flux_source::Span;
use generic::is_generic;
use option::flag;
pub use state::MODULE as STATE_MODULE;
use std::collections::{HashMap, HashSet};

/// How many mistakes of a run get a "did you mean", which looks at every name.
const SUGGESTION_LIMIT: usize = 20;

/// Adds what `syntax`, the qualified tree of one file, declares to the program of `scope`.
pub fn resolve<'syntax>(syntax: &'syntax Syntax<'syntax>, scope: &mut Scope<'_>) {
    let mut resolver = Resolver {
        syntax,
        types: HashMap::new(),
        flags: scope.program.options.iter().map(|(id, option)| (flag(&option.name), id)).collect(),
        declared: HashMap::new(),
        input_positions: HashMap::new(),
        wrong_fields: HashSet::new(),
        reported: HashSet::new(),
        suggestions_left: SUGGESTION_LIMIT,
        scope,
    };
    resolver.resolve_links();
    resolver.declare_messages();
    resolver.declare_types();
    resolver.declare_lists();
    resolver.declare_options();
    resolver.declare_codes();
    resolver.declare_predicates();
    resolver.declare_states();
    resolver.declare_nodes();
    resolver.declare_generics();
    resolver.resolve_flows();
    resolver.resolve_handlers();
    resolver.resolve_promises();
    resolver.check_stacks();
    resolver.resolve_bodies();
    resolver.resolve_constraints();
}

struct Resolver<'syntax, 'run, 'scope> {
    syntax: &'syntax Syntax<'syntax>,
    scope: &'run mut Scope<'scope>,
    /// By spelling and array suffix, so that what is spelled alike is stored once.
    types: HashMap<(&'syntax str, &'syntax str), Type>,
    /// The first option with each flag.
    flags: HashMap<String, OptionId>,
    /// The nodes that this file declares.
    declared: HashMap<NodeId, &'syntax Declaration<'syntax>>,
    /// The positions of the inputs of those nodes that have keys.
    input_positions: HashMap<NodeId, HashMap<String, usize>>,
    /// The fields that have no type of the language, which was reported.
    wrong_fields: HashSet<&'syntax str>,
    /// What was said of which name.
    reported: HashSet<(Id, declared::Name)>,
    suggestions_left: usize,
}

impl<'syntax> Resolver<'syntax, '_, '_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.scope.diagnostics.push(diagnostic);
    }

    /// Whether `id` is to be said of `name`: once, and only if nothing that was skipped can have declared it. Of a name
    /// of another module all has been said.
    fn is_unknown(&mut self, id: Id, name: &QualifiedName<'_>) -> bool {
        let (module, own) = name.parts();
        module == self.scope.module() && self.is_unknown_word(id, own)
    }

    /// As [`Self::is_unknown`], of a word of this file.
    fn is_unknown_word(&mut self, id: Id, word: &str) -> bool {
        let may_be_declared = self.syntax.truncated || self.syntax.skipped_words.contains(word);
        !may_be_declared && self.reported.insert((id, declared::Name::new(word)))
    }

    /// The lists of parameters of a module, for those who use it.
    fn declare_lists(&mut self) {
        if self.scope.module().is_none() {
            return;
        }
        for statement in &self.syntax.statements {
            let Statement::Using(using) = statement else { continue };
            let ty = |it: &syntax::Parameter<'_>| self.scope.type_names().read(&it.ty, &it.array);
            let parameter =
                |it: &syntax::Parameter<'_>| Parameter { ty: ty(it), name: it.name.text.to_string(), span: it.span };
            let parameters = using.parameters.iter().map(parameter).collect();
            self.scope.add_list(&using.name.own, parameters);
        }
    }

    fn declare_predicates(&mut self) {
        let syntax = self.syntax;
        for statement in &syntax.statements {
            let Statement::Typedef(typedef) = statement else { continue };
            let name = &typedef.name;
            self.check_predicate_clash(name);
            if let Some(first) = self.known_predicate(name) {
                let first = &self.scope.program.predicates[first];
                let bound =
                    first.external().map_or(&first.name, |external| &self.scope.program.externals[external].name);
                let diagnostic = Diagnostic::error(
                    ids::DUPLICATE_PREDICATE,
                    format!("the predicate type `{name}` is declared twice"),
                    typedef.name.span,
                )
                .mark(first.span, format!("first bound to `{bound}` here"))
                .help("remove one of them, or give it another name");
                self.report(diagnostic);
                continue;
            }
            let computed = match &typedef.tested_by {
                syntax::TestedBy::Body(input, _) => self.computed_predicate(name, input),
                syntax::TestedBy::Function(_) => None,
            };
            let tested_by = match (&typedef.tested_by, computed) {
                (_, Some(computed)) => TestedBy::Computed(computed),
                (syntax::TestedBy::Function(function), None) => self.predicate_function(function, &typedef.attributes),
                // An input with a mistake, which is reported.
                (syntax::TestedBy::Body(..), None) => self.predicate_function(name, &[]),
            };
            self.scope.add_predicate(Predicate { name: name.declared(), tested_by, span: typedef.span });
        }
    }

    fn predicate_function(&mut self, function: &QualifiedName<'_>, attributes: &'syntax [Name<'syntax>]) -> TestedBy {
        let effects = self.predicate_effects(attributes);
        let external = self.function(function, ExternalRole::Predicate);
        self.promise(external, effects);
        TestedBy::External(external)
    }

    /// A predicate with a body, which comes later.
    fn computed_predicate(
        &mut self,
        name: &'syntax QualifiedName<'syntax>,
        input: &'syntax syntax::Parameter<'syntax>,
    ) -> Option<ComputedPredicate> {
        self.check_word(&name.own, name.span, "predicate type");
        self.check_taken(name);
        let input = self.parameters(std::slice::from_ref(input), "input", name).pop()?;
        Some(ComputedPredicate { input, computation: Computation::default() })
    }

    /// The bodies, which may call what is declared anywhere. One with a mistake, which is reported, computes nothing.
    fn resolve_bodies(&mut self) {
        let syntax = self.syntax;
        let mut done = HashSet::new();
        for statement in &syntax.statements {
            match statement {
                Statement::Typedef(Typedef { name, tested_by: syntax::TestedBy::Body(_, body), .. }) => {
                    let Some(id) = self.known_predicate(name) else { continue };
                    let computed = self.scope.program.predicates[id].computed();
                    let Some(input) = computed.map(|computed| computed.input.clone()) else { continue };
                    if !done.insert(id) || body.is_wrong {
                        continue;
                    }
                    if body.says.is_none() {
                        let headline = format!("the predicate type `{}` has no condition", name);
                        let error = Diagnostic::error(ids::UNSET_VALUE, headline, body.span);
                        self.report(error.help("end its body with a condition: `{ h.bytes > 1M }`"));
                        continue;
                    }
                    let computation = self.body(name, (&[input], &[]), body);
                    if let (TestedBy::Computed(computed), Some(computation)) =
                        (&mut self.scope.program.predicates[id].tested_by, computation)
                    {
                        computed.computation = computation;
                    }
                }
                Statement::Declaration(Declaration { name, body: Some(body), .. }) => {
                    let Some(id) = self.known_node(name) else { continue };
                    let is_first = self.declared.get(&id).is_some_and(|first| first.name.span == name.span);
                    let signature = self.scope.program.nodes[id].signature.clone();
                    if let (true, Some(signature)) = (is_first && !body.is_wrong, signature) {
                        let computation = self.body(name, (&signature.inputs, &signature.outputs), body);
                        self.scope.program.nodes[id].body = Body::Computed(computation.unwrap_or_default());
                    }
                }
                _ => {}
            }
        }
    }

    /// The nodes that are declared or have a flow, in the order of the text.
    fn declare_nodes(&mut self) {
        let syntax = self.syntax;
        let generics: HashSet<declared::Name> = syntax.statements.iter().filter_map(generic_name).collect();
        for statement in &syntax.statements {
            match statement {
                Statement::Declaration(declaration) if is_generic(declaration) => {}
                Statement::Declaration(declaration) => self.declare_node(declaration),
                Statement::Flow(flow) if !generics.contains(&flow.node.declared()) => {
                    self.node(&flow.node, flow.span);
                }
                _ => {}
            }
        }
    }

    fn declare_node(&mut self, declaration: &'syntax Declaration<'syntax>) {
        let name = &declaration.name;
        let id = self.node(&declaration.name, declaration.span);
        if let Some(first) = self.declared.get(&id) {
            let diagnostic =
                Diagnostic::error(ids::DUPLICATE_NODE, format!("the node `{name}` is declared twice"), name.span)
                    .mark(first.name.span, "first declared here")
                    .help("remove one of them, or give it another name");
            return self.report(diagnostic);
        }
        self.declared.insert(id, declaration);
        let inputs = self.parameters(&declaration.inputs, "input", name);
        let outputs = self.parameters(&declaration.outputs, "output", name);
        let defaults = self.defaults(declaration);
        let attributes = self.node_attributes(&declaration.attributes);
        let node = &mut self.scope.program.nodes[id];
        node.blocking = attributes.contains(&Attribute::Blocking);
        node.replicable = attributes.contains(&Attribute::Replicable);
        node.stack = declaration.stack;
        node.signature = Some(Signature { inputs, outputs, defaults, inferred: false });
        if declaration.body.is_some() {
            node.body = Body::Computed(Computation::default());
        }
        node.span = declaration.span;
        self.scope.declare_node(id, name.span);
    }

    /// The parameters of a list, which name different things.
    fn parameters(
        &mut self,
        list: &'syntax [syntax::Parameter<'syntax>],
        kind: &str,
        of: &QualifiedName<'_>,
    ) -> Vec<Parameter> {
        for syntax::Parameter { name, .. } in list {
            self.check_word(&name.text, name.span, "parameter");
        }
        let mut names: Vec<&Name> = list.iter().map(|parameter| &parameter.name).collect();
        names.sort_by_key(|name| (name.as_str(), name.span));
        for (first, second) in
            names.iter().zip(names.iter().skip(1)).filter(|(first, second)| first.text == second.text)
        {
            let headline = format!("`{of}` has two {kind}s called `{}`", second.text);
            let diagnostic = Diagnostic::error(ids::DUPLICATE_PARAMETER, headline, second.span);
            self.report(diagnostic.mark(first.span, "the first one").help("give one of them another name"));
        }
        let (types, type_names) = (&mut self.types, self.scope.type_names());
        let mut ty = |it: &'syntax syntax::Parameter<'syntax>| {
            let read = || type_names.read(&it.ty, &it.array);
            types.entry((&it.ty, &it.array)).or_insert_with(read).clone()
        };
        let parameter = |it| Parameter { ty: ty(it), name: it.name.as_str().to_owned(), span: it.span };
        list.iter().map(parameter).collect()
    }

    /// The node called `name`, which is added where it is new; `span` is then what first speaks of it.
    fn node(&mut self, name: &QualifiedName<'_>, span: Span) -> NodeId {
        if let Some(known) = self.known_node(name) {
            return known;
        }
        if self.generic(name).is_some()
            && let Some(only) = self.only_instance(name)
        {
            return only;
        }
        let node = Node {
            name: name.declared(),
            signature: None,
            body: NO_FLOW,
            requirements: vec![],
            blocking: false,
            replicable: false,
            stack: None,
            span,
        };
        self.scope.add_node(node, name.span)
    }

    fn known_node(&self, name: &QualifiedName<'_>) -> Option<NodeId> {
        let (module, own) = name.parts();
        self.scope.node(module, own)
    }

    fn known_predicate(&self, name: &QualifiedName<'_>) -> Option<PredicateId> {
        let (module, own) = name.parts();
        self.scope.predicate(module, own)
    }

    fn known_option(&self, name: &QualifiedName<'_>) -> Option<OptionId> {
        let (module, own) = name.parts();
        self.scope.option(module, own)
    }

    /// Whether the node is more than a name in a chain.
    fn is_defined(&self, id: NodeId) -> bool {
        let node = &self.scope.program.nodes[id];
        node.signature.is_some() || node.body != NO_FLOW
    }
}

/// The name of the node with types that a statement declares, if it does.
fn generic_name(statement: &Statement<'_>) -> Option<declared::Name> {
    match statement {
        Statement::Declaration(declaration) if is_generic(declaration) => Some(declaration.name.declared()),
        _ => None,
    }
}
