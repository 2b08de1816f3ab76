//! Nodes with types as arguments: `ReadMessage (type M, flux::connection *connection) => (…, M message);`
//!
//! One is no node of the program, but what nodes are made of: each use with other types is a node of its own, in the
//! file that uses it, with these types in the place of the names. So no pass knows of them. In C++ one without a flow
//! is a function template, always called in one way: with the inputs one by one, then with references to the outputs.

use crate::scope::Scope;
use flux_ir::effects::Effects;
use flux_ir::external::{Convention, External, ExternalRole, Outcome, Passing, PlainFunction};
use flux_ir::name::Name;
use flux_ir::program::{Action, Application, Body, Chain, Node, NodeId, Parameter, Signature, Step};
use flux_ir::types::{Declared as DeclaredType, Type};
use flux_source::Span;
use std::collections::BTreeMap;

/// A node with types as arguments.
#[derive(Clone, Debug)]
pub struct Generic {
    /// Its name.
    pub name: Name,
    /// The names of its types, by the positions that they have among its inputs.
    pub types: BTreeMap<usize, String>,
    /// The inputs, but for its types, and the outputs. A type that has such a name is still to be put in its place.
    pub signature: Signature,
    /// It waits for the outside in a way that nothing can see.
    pub blocking: bool,
    /// It may run in several instances at once.
    pub replicable: bool,
    /// How many bytes of stack its function has for itself.
    pub stack: Option<u64>,
    /// What is promised of its function.
    pub effects: Effects,
    /// The steps of its flow; none where it is a function.
    pub steps: Option<Vec<GenericStep>>,
    /// Its declaration, and the name there.
    pub spans: (Span, Span),
}

/// A step of the flow of such a node.
#[derive(Clone, Debug)]
pub struct GenericStep {
    /// What is applied; its node is [`Self::callee`] where that is one.
    pub step: Step,
    /// The node with types that is applied, and its types: these may be names of types of the flow's node.
    pub callee: Option<(Name, Vec<Type>)>,
}

impl Scope<'_> {
    /// Adds a node with types.
    pub fn add_generic(&mut self, generic: Generic) {
        self.declared.generics.add(&generic.name.clone(), generic);
    }

    /// The node with types of this name.
    pub fn generic(&self, module: Option<&str>, own: &str) -> Option<&Generic> {
        self.declared.generics.find(module, own)
    }

    /// As [`Self::generic`], to say what its flow is.
    pub fn generic_mut(&mut self, module: Option<&str>, own: &str) -> Option<&mut Generic> {
        self.declared.generics.find_mut(module, own)
    }

    /// The nodes that this file has of a node with types.
    pub fn instances(&self, module: Option<&str>, own: &str) -> Vec<NodeId> {
        let name = Name::of(module, own);
        let of_it = self.instances.iter().filter(|((generic, _), _)| *generic == name);
        of_it.map(|(_, node)| *node).collect()
    }

    /// The node that `generic` is with these `types`, one for each of its names. Recursion ends, as each is there
    /// before its flow is.
    pub fn instance(&mut self, generic: &Generic, types: &[Type]) -> NodeId {
        let key = (generic.name.clone(), types.to_vec());
        if let Some(known) = self.instances.get(&key) {
            return *known;
        }
        let names: Vec<(&str, &Type)> = generic.types.values().map(String::as_str).zip(types).collect();
        let put = |list: &[Parameter]| -> Vec<Parameter> {
            let put = |one: &Parameter| Parameter { ty: self.with_types(&one.ty, &names), ..one.clone() };
            list.iter().map(put).collect()
        };
        let signature = Signature {
            inputs: put(&generic.signature.inputs),
            outputs: put(&generic.signature.outputs),
            defaults: generic.signature.defaults.clone(),
            inferred: false,
        };
        let body = match &generic.steps {
            Some(_) => Body::Dispatch(vec![]),
            None => {
                let external = External {
                    types: types.to_vec(),
                    effects: generic.effects,
                    convention: Convention::Plain(function(generic, &signature, types)),
                    ..External::new(generic.name.clone(), ExternalRole::Node)
                };
                Body::External(self.program.externals.add(external))
            }
        };
        let (span, name_span) = generic.spans;
        let node = Node {
            name: self.instance_name(generic, types),
            signature: Some(signature),
            body,
            requirements: vec![],
            blocking: generic.blocking,
            replicable: generic.replicable,
            stack: generic.stack,
            span,
        };
        let id = self.add_node(node, name_span);
        self.instances.insert(key, id);
        if let Some(steps) = &generic.steps {
            let steps = steps.iter().map(|step| self.step(step, &names)).collect();
            let mut chain = Chain { steps, results: None, span };
            chain.number_steps();
            self.program.nodes[id].body = Body::Chain(chain);
        }
        id
    }

    /// As [`Self::instance`], one that calls these computed nodes. It is nobody else's.
    pub fn instance_calling(&mut self, generic: &Generic, types: &[Type], functions: Vec<NodeId>) -> NodeId {
        let key = (generic.name.clone(), types.to_vec());
        let known = self.instances.remove(&key);
        let id = self.instance(generic, types);
        self.instances.remove(&key);
        self.instances.extend(known.map(|known| (key, known)));
        if let Body::External(external) = self.program.nodes[id].body {
            self.program.externals[external].functions = functions;
        }
        id
    }

    /// A step with types in the place of names.
    fn step(&mut self, GenericStep { step, callee }: &GenericStep, names: &[(&str, &Type)]) -> Step {
        let mut step = step.clone();
        let callee = callee.as_ref().and_then(|(name, types)| {
            let generic = self.declared.generics.get(name)?.clone();
            let types: Vec<Type> = types.iter().map(|ty| self.with_types(ty, names)).collect();
            Some(self.instance(&generic, &types))
        });
        if let (Action::Apply(Application { node, .. }), Some(callee)) = (&mut step.action, callee) {
            *node = callee;
        }
        step
    }

    /// A type, with types in the place of names in it.
    fn with_types(&self, ty: &Type, names: &[(&str, &Type)]) -> Type {
        if !names.iter().any(|(name, _)| ty.words().any(|word| word == *name)) {
            return ty.clone();
        }
        // C++ calls `text` and `bytes` the same, and does not know the other types of the language.
        let read = |spell| self.type_names().read(&put(ty.written(), names, spell), ty.array());
        let own = read(Type::written);
        if own.is_own() { own } else { read(Type::cpp) }
    }

    /// `tcp_Messages_command`, or the next like it that is nobody's.
    fn instance_name(&self, generic: &Generic, types: &[Type]) -> Name {
        let own = |ty: &Type| match ty.mentioned().first() {
            Some(DeclaredType::Record(id) | DeclaredType::Enum(id)) => self.program.types[*id].name.own().to_owned(),
            Some(DeclaredType::Message(id)) => self.program.messages[*id].name.own().to_owned(),
            // `map_text_int64` of `map<text, int64>`
            None => {
                let words = ty.written().split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
            }
        };
        let types = types.iter().map(own);
        let words: Vec<String> = std::iter::once(generic.name.joined("_")).chain(types).collect();
        let wanted = words.join("_");
        let is_free = |own: &String| self.node(self.module(), own).is_none();
        let numbered = (2_u32..).map(|number| format!("{wanted}_{number}"));
        let own = std::iter::once(wanted.clone()).chain(numbered).find(is_free);
        Name::of(self.module(), own.unwrap_or_default())
    }
}

/// How the function template of a node is called.
fn function(generic: &Generic, signature: &Signature, types: &[Type]) -> PlainFunction {
    let inputs = signature.inputs.iter().map(|input| match (input.ty.is_array(), input.ty.is_scalar()) {
        (true, _) => (Passing::Value, input.ty.declare_cpp(&input.name)),
        (_, true) => (Passing::Seen, input.ty.declare_cpp(&input.name)),
        _ => (Passing::Moved, format!("const {} &{}", input.ty.cpp(), input.name)),
    });
    let outputs =
        signature.outputs.iter().map(|output| (Passing::Value, output.ty.declare_cpp(&format!("&{}", output.name))));
    let (passing, parameters): (Vec<_>, Vec<String>) = inputs.chain(outputs).unzip();
    let types: Vec<&str> = types.iter().map(Type::cpp).collect();
    let declaration = format!("int {}<{}>({})", generic.name.own(), types.join(", "), parameters.join(", "));
    PlainFunction { declaration, outcome: Outcome::Error, passing }
}

/// The spelling of a type, with those of other types in the place of their names in it.
fn put(spelling: &str, names: &[(&str, &Type)], spell: fn(&Type) -> &str) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ':' | '.');
    let (mut rest, mut made) = (spelling, String::new());
    while let Some(start) = rest.find(is_part) {
        let (before, after) = rest.split_at(start);
        let (word, after) = after.split_at(after.find(|letter| !is_part(letter)).unwrap_or(after.len()));
        made.push_str(before);
        made.push_str(names.iter().find(|(name, _)| *name == word).map_or(word, |(_, ty)| spell(ty)));
        rest = after;
    }
    made + rest
}
