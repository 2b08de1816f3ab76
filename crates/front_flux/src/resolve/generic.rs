//! Nodes with types as arguments: their declarations and flows, and the types that a step gives them.

use super::Resolver;
use super::attribute::effects_of;
use crate::attribute::Attribute;
use crate::ids;
use crate::syntax::{self, ConstantValue, Declaration, QualifiedName, Statement};
use flux_diagnostic::{Diagnostic, nearest};
use flux_front::generic::{Generic, GenericStep};
use flux_ir::cpp_keyword::is_keyword;
use flux_ir::name::Name;
use flux_ir::program::{Action, Application, Constant, NodeId, Signature, Step, StepNumber};
use flux_ir::types::{Declared, Type, built_in_names};
use flux_source::Span;
use std::collections::BTreeMap;

/// The help text that shows how a step gives a type.
const WRITE: &str = "write its name in its place: `tcp.ReadMessage(memcached.command)`";

impl<'syntax> Resolver<'syntax, '_, '_> {
    /// Declares the nodes with types, and then their flows, because the flows may name any of these nodes.
    pub(super) fn declare_generics(&mut self) {
        let syntax = self.syntax;
        for statement in &syntax.statements {
            if let Statement::Declaration(declaration) = statement
                && is_generic(declaration)
            {
                self.declare_generic(declaration);
            }
        }
        for statement in &syntax.statements {
            if let Statement::Flow(flow) = statement
                && let Some(generic) = self.generic(&flow.node).cloned()
            {
                self.generic_flow(flow, &generic);
            }
        }
    }

    /// The node with types that has this name.
    pub(super) fn generic(&self, name: &QualifiedName<'_>) -> Option<&Generic> {
        let (module, own) = name.parts();
        self.scope.generic(module, own)
    }

    fn declare_generic(&mut self, declaration: &'syntax Declaration<'syntax>) {
        let name = &declaration.name;
        self.check_function(name);
        if let Some(first) = self.generic(name) {
            let first = first.spans.1;
            let headline = format!("the node `{name}` is declared twice");
            let error = Diagnostic::error(ids::DUPLICATE_NODE, headline, name.span).mark(first, "first declared here");
            return self.report(error.help("remove one of them, or give it another name"));
        }
        if let Some(body) = &declaration.body {
            let headline = format!("`{name}` has a type as an input, and a body");
            let error = Diagnostic::error(ids::TYPE_ARGUMENT, headline, body.span);
            self.report(error.help("a node with a type is a function template in C++, or has a flow"));
        }
        let is_type = |at: &usize| declaration.inputs.get(*at).is_some_and(|input| names_type(input, declaration));
        let types: BTreeMap<usize, String> = (0..declaration.inputs.len())
            .filter(is_type)
            .filter_map(|at| Some((at, declaration.inputs.get(at)?.name.as_str().to_owned())))
            .collect();
        let with_defaults = types.keys().filter_map(|at| declaration.inputs.get(*at)?.default.as_ref());
        let wrong: Vec<_> = with_defaults.map(|default| default.span).collect();
        for span in &wrong {
            let error = Diagnostic::error(ids::INPUT_DEFAULT, "a type has no default", *span);
            self.report(error.help("leave it out: a step gives the name of a type"));
        }
        let defaults = if wrong.is_empty() { self.defaults(declaration) } else { vec![] };
        let inputs = self.parameters(&declaration.inputs, "input", name).into_iter().enumerate();
        let inputs = inputs.filter(|(at, _)| !types.contains_key(at)).map(|(_, input)| input).collect();
        let outputs = self.parameters(&declaration.outputs, "output", name);
        let attributes = self.node_attributes(&declaration.attributes);
        self.scope.add_generic(Generic {
            name: name.declared(),
            types,
            signature: Signature { inputs, outputs, defaults, inferred: false },
            blocking: attributes.contains(&Attribute::Blocking),
            replicable: attributes.contains(&Attribute::Replicable),
            stack: declaration.stack,
            effects: effects_of(&declaration.attributes),
            steps: None,
            spans: (declaration.span, name.span),
        });
    }

    /// Resolves the flow of a node with types: a chain of nodes.
    fn generic_flow(&mut self, flow: &'syntax syntax::Flow<'syntax>, generic: &Generic) {
        if generic.steps.is_some() {
            let headline = format!("the node `{}` has two flows without patterns", flow.node);
            let error = Diagnostic::error(ids::DUPLICATE_FLOW, headline, flow.node.span);
            return self.report(error.mark(generic.spans.1, "the node").help("remove one"));
        }
        let is_application = |step: &syntax::Step<'_>| matches!(step.action, syntax::Action::Apply(_));
        if flow.patterns.is_some() || !flow.chain.steps.iter().all(is_application) {
            let headline =
                format!("the flow of `{}`, which has a type as an input, is more than a chain of nodes", flow.node);
            let error = Diagnostic::error(ids::TYPE_ARGUMENT, headline, flow.span);
            return self.report(error.help("let it be a chain, `A -> B`, and put all else into a node of its own"));
        }
        let names: Vec<&str> = generic.types.values().map(String::as_str).collect();
        let mut steps = vec![];
        for step in &flow.chain.steps {
            let syntax::Action::Apply(application) = &step.action else { continue };
            let within = step.within.as_ref().and_then(|time| self.deadline(time));
            let (application, callee) = match self.generic(&application.node).cloned() {
                None => (self.application(application), None),
                Some(callee) => {
                    let (types, constants) = self.arguments(application, &callee, &names);
                    let made = self.applied(NodeId::new(0), constants, application);
                    (made, types.map(|types| (callee.name, types)))
                }
            };
            let step = Step { number: StepNumber::default(), action: Action::Apply(application), within };
            steps.push(GenericStep { step, callee });
        }
        let (module, own) = flow.node.parts();
        if let Some(generic) = self.scope.generic_mut(module, own) {
            generic.steps = Some(steps);
        }
    }

    /// A step that applies a node with types. The step applies the instance of the node for the types that the step
    /// gives.
    pub(super) fn generic_application(
        &mut self,
        application: &'syntax syntax::Application<'syntax>,
        generic: &Generic,
    ) -> Application {
        let (types, constants) = self.arguments(application, generic, &[]);
        let node = match types {
            Some(types) => self.scope.instance(generic, &types),
            None => {
                // All errors of this node are already reported.
                self.reported.insert((ids::TYPE_ARGUMENT, generic.name.clone()));
                self.node(&application.node, application.node.span)
            }
        };
        self.applied(node, constants, application)
    }

    fn applied(
        &mut self,
        node: NodeId,
        constants: Vec<Constant>,
        application: &'syntax syntax::Application<'syntax>,
    ) -> Application {
        let (named, span) = (self.named_inputs(application), application.node.span);
        Application { node, constants, named, arguments: None, kept: vec![], span }
    }

    /// The types and the constants among the arguments of a step. `names` are the names of types that are put in later.
    fn arguments(
        &mut self,
        application: &'syntax syntax::Application<'syntax>,
        generic: &Generic,
        names: &[&str],
    ) -> (Option<Vec<Type>>, Vec<Constant>) {
        let (mut types, mut constants) = (vec![], vec![]);
        for (at, constant) in application.constants.iter().enumerate() {
            match generic.types.contains_key(&at) {
                true => types.push(self.type_argument(constant, names)),
                false => constants.extend(self.constant(constant, application)),
            }
        }
        if let Some(missing) = generic.types.values().nth(types.len()) {
            let headline = format!("`{}` is not given its type `{missing}`", application.node);
            let error = Diagnostic::error(ids::TYPE_ARGUMENT, headline, application.node.span);
            let error = error.mark(generic.spans.1, "declared here");
            self.report(error.help(WRITE));
            return (None, constants);
        }
        (types.into_iter().collect(), constants)
    }

    /// The type that an argument of a step names. If it names no type, the result is none, and an error is reported.
    fn type_argument(&mut self, constant: &'syntax syntax::Constant<'syntax>, names: &[&str]) -> Option<Type> {
        let name = match &constant.value {
            ConstantValue::Option(name) => name,
            ConstantValue::Wrong => return None,
            _ => {
                let error = Diagnostic::error(ids::TYPE_ARGUMENT, "a type is wanted here", constant.span);
                self.report(error.help(WRITE));
                return None;
            }
        };
        let (module, own) = name.parts();
        let is_own = module == self.scope.module();
        if is_own && names.contains(&own) {
            return Some(Type::new(own));
        }
        if let Some(declared) = self.scope.declared_type(module, own) {
            return self.whole_message(declared, constant.span);
        }
        let built_in = Some(Type::new(own)).filter(|ty| is_own && ty.is_own());
        if built_in.is_none() && self.is_unknown(ids::TYPE_ARGUMENT, name) {
            let types = self.scope.program.types.iter().map(|(_, one)| one.name.to_string());
            let messages = self.scope.program.messages.iter().map(|(_, one)| one.name.to_string());
            let known: Vec<String> = types.chain(messages).chain(built_in_names().map(str::to_owned)).collect();
            let written = name.to_string();
            let meant =
                if self.may_suggest(&written) { nearest(&written, known.iter().map(String::as_str)) } else { None };
            let help = meant.map_or(WRITE.to_owned(), |meant| format!("did you mean `{meant}`?"));
            let headline = format!("there is no type `{written}`");
            self.report(Diagnostic::error(ids::TYPE_ARGUMENT, headline, constant.span).help(help));
        }
        built_in
    }

    /// A declared type. A message must be able to stand alone; otherwise an error is reported.
    fn whole_message(&mut self, declared: Declared, span: Span) -> Option<Type> {
        let ty = Type::declared(self.scope.program, declared);
        let message = declared.message().map(|id| &self.scope.program.messages[id]);
        let Some(message) = message.filter(|message| !message.stands_alone()) else { return Some(ty) };
        let headline = format!("the message `{ty}` has parameters, so it is never alone");
        let error = Diagnostic::error(ids::TYPE_ARGUMENT, headline, span).mark(message.span, "the message");
        self.report(error.help("name the message that contains it"));
        None
    }

    /// The only instance of a node with types in this file. Any other number of instances is an error.
    pub(super) fn only_instance(&mut self, name: &QualifiedName<'_>) -> Option<NodeId> {
        let (module, own) = name.parts();
        let instances = self.scope.instances(module, own);
        if let [only] = instances.as_slice() {
            return Some(*only);
        }
        if self.reported.insert((ids::TYPE_ARGUMENT, Name::of(module, own))) {
            let headline = match instances.len() {
                0 => format!("`{name}` has a type as an input, and nothing gives it one"),
                many => format!("`{name}` is {many} nodes here, one for each type that it is given"),
            };
            let error = Diagnostic::error(ids::TYPE_ARGUMENT, headline, name.span);
            let help =
                format!("give it a name of its own, and write that here: `ReadCommand = {name}(memcached.command);`");
            self.report(error.help(help));
        }
        None
    }
}

/// Whether a node has a type as an input.
pub(super) fn is_generic(declaration: &Declaration<'_>) -> bool {
    declaration.inputs.iter().any(|input| names_type(input, declaration))
}

/// Whether an input is a type, `type M`: another input or an output has the type `M`. An old program may have a C++
/// type with the name `type`.
fn names_type(input: &syntax::Parameter<'_>, declaration: &Declaration<'_>) -> bool {
    let name = input.name.as_str();
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ':' | '.');
    let mentions = |other: &syntax::Parameter<'_>| other.ty.split(|letter| !is_part(letter)).any(|word| word == name);
    let is_plain = input.ty == "type" && input.array.is_empty() && !is_keyword(name);
    is_plain && declaration.inputs.iter().chain(&declaration.outputs).any(mentions)
}
