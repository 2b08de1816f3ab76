//! The headers: what every node takes and gives, and every function that the user writes.
//!
//! That of the program is C as well as C++, so that nodes can be written in either. Each module has one of its own, in
//! C++, which says nothing of who uses the module: what stands in it depends on the module's file alone. So a function
//! is declared in the header of the file that asks for it, in the namespace that its name says.

use crate::Context;
use crate::options::structure;
use crate::shape::{Part, Shape, handler_shape, node_shape, session_shape};
use crate::structs::{Side, members, node_struct, struct_name};
use crate::tree::{Declaration, Declarator};
use crate::types::types_header_name;
use crate::uses::Uses;
use flux_ir::external::{Convention, External, ExternalId, Language};
use flux_ir::flow::{End, Function, Operand};
use flux_ir::name::Name;
use flux_ir::program::{Body, Module, ModuleId, Node, NodeId, Parameter, PredicateId};
use flux_ir::types::Type;
use std::collections::BTreeSet;

/// A function of the user's: its name, and the comment and declaration for it.
pub struct UserFunction {
    /// The module that asks for it; none for the program's own file.
    pub asked_by: Option<ModuleId>,
    pub external: ExternalId,
    pub name: Name,
    pub comment: String,
    pub declaration: Declaration,
    /// Whether C cannot read it, as it is about something of a module.
    pub is_of_module: bool,
}

/// The whole header of the program, or of a module.
pub fn header(context: &Context<'_>, module: Option<ModuleId>) -> Vec<Declaration> {
    let mut header = vec![
        Declaration::Comment(context.banner(module)),
        Declaration::Comment(String::new()),
        Declaration::Comment("What the nodes take and give. Include this in the files that define them.".to_owned()),
        Declaration::Directive("pragma once".to_owned()),
    ];
    includes(context, module, &mut header);
    let Some(module) = module else {
        header.extend(structs(context, None));
        header.extend(structure(context));
        user_functions(context, &mut header);
        return header;
    };
    let namespace = &context.flow.program.modules[module].name;
    let asked = functions(context).filter(|function| function.asked_by == Some(module));
    let (own, others): (Vec<_>, Vec<_>) = asked.partition(|one| one.name.module() == Some(namespace));
    let mut inner = structs(context, Some(module));
    inner.extend(own.into_iter().flat_map(UserFunction::lines));
    inner.push(Declaration::Blank);
    header.extend([Declaration::Blank, Declaration::Namespace(namespace.clone(), inner)]);
    header.extend(others.into_iter().flat_map(UserFunction::in_its_namespace));
    header
}

/// The structs of the nodes of a module, or of those that are of none.
fn structs(context: &Context<'_>, module: Option<ModuleId>) -> Vec<Declaration> {
    let mut structs = vec![];
    let own = context.flow.program.nodes.iter().filter(|(_, node)| context.module_of(&node.name) == module);
    for (id, node) in own {
        for side in [Side::In, Side::Out] {
            if let Some(name) = node_struct(node, side).filter(|_| travels(context, id, side)) {
                let name = name.rsplit("::").next().unwrap_or(&name).to_owned();
                structs.push(Declaration::Blank);
                structs.extend(in_c_too(context, name, members(node, side)));
            }
        }
    }
    structs
}

/// Whether values travel in this struct. A computed node looks at its inputs where they are: its struct is there only
/// for who else takes it.
fn travels(context: &Context<'_>, id: NodeId, side: Side) -> bool {
    let program = &context.flow.program;
    side == Side::Out
        || !matches!(program.nodes[id].body, Body::Computed(_))
        || context.handlers.iter().any(|handler| handler.node == id)
        || program.sources.iter().any(|source| source.session.is_some() && source.target == id)
}

/// A struct, in a header that C reads too if the program has nodes in C. What C has no words for only C++ sees.
fn in_c_too(context: &Context<'_>, name: String, members: &[Parameter]) -> Vec<Declaration> {
    let in_cpp = declarators(members);
    let of_c = |member: &Parameter| Some(Declarator { ty: member.ty.in_c()?, ..declarator(member) });
    let in_c: Option<Vec<_>> = members.iter().map(of_c).collect();
    if !context.options.has_c || in_c.as_ref() == Some(&in_cpp) {
        return vec![Declaration::Struct(name, in_cpp)];
    }
    let in_c = in_c.map(|members| Declaration::OnlyC(vec![Declaration::Struct(name.clone(), members)]));
    let in_cpp = Declaration::OnlyCpp(vec![Declaration::Struct(name, in_cpp)]);
    [in_cpp].into_iter().chain(in_c).collect()
}

/// Declares every function that the user writes and the program's own file asks for, those of C with C linkage.
pub fn user_functions(context: &Context<'_>, header: &mut Vec<Declaration>) {
    let own = functions(context).filter(|function| function.asked_by.is_none());
    let (of_modules, own): (Vec<_>, Vec<_>) = own.partition(|function| function.is_of_module);
    let is_c = |function: &UserFunction| context.flow.program.externals[function.external].language == Language::C;
    let (c, cpp): (Vec<_>, Vec<_>) = own.into_iter().partition(is_c);
    header.extend(cpp.into_iter().flat_map(UserFunction::lines));
    if !c.is_empty() {
        let mut inner: Vec<_> = c.into_iter().flat_map(UserFunction::lines).collect();
        inner.push(Declaration::Blank);
        header.extend([Declaration::Blank, Declaration::ExternC(inner)]);
    }
    if !of_modules.is_empty() {
        let mut inner: Vec<_> = of_modules.into_iter().flat_map(UserFunction::in_its_namespace).collect();
        inner.push(Declaration::Blank);
        header.extend([Declaration::Blank, Declaration::OnlyCpp(inner)]);
    }
}

/// All functions that the generated headers declare.
pub fn functions<'a>(context: &'a Context<'_>) -> impl Iterator<Item = UserFunction> + 'a {
    nodes(context).chain(predicates(context)).chain(sessions(context)).chain(handlers(context))
}

fn includes(context: &Context<'_>, module: Option<ModuleId>, header: &mut Vec<Declaration>) {
    let program = &context.flow.program;
    let parameters = || program.nodes.iter().flat_map(|(_, node)| node.inputs().iter().chain(node.outputs()));
    let says_bool = |parameter: &Parameter| parameter.ty.words().any(|word| word == "bool");
    let needs_bool = !program.predicates.is_empty() || parameters().any(says_bool);
    if module.is_none() && needs_bool {
        // C has the word from there.
        header.extend([Declaration::Blank, Declaration::SystemInclude("stdbool.h".to_owned())]);
    }
    let own_nodes = || program.nodes.iter().filter(|(_, node)| context.module_of(&node.name) == module);
    let own_parameters = || own_nodes().flat_map(|(_, node)| node.inputs().iter().chain(node.outputs()));
    let system: BTreeSet<&str> = own_parameters().flat_map(|parameter| parameter.ty.headers()).collect();
    let (of_c, of_cpp): (Vec<_>, Vec<_>) = system.into_iter().partition(|name| *name == "stdint.h");
    let of_cpp = of_cpp.into_iter().map(|name| Declaration::SystemInclude(name.to_owned()));
    // The types come before the author's headers, which may name them.
    let of_cpp: Vec<_> = of_cpp.chain(types_header_name(context.flow, module).map(Declaration::Include)).collect();
    if !of_c.is_empty() || !of_cpp.is_empty() {
        header.push(Declaration::Blank);
        header.extend(of_c.into_iter().map(|name| Declaration::SystemInclude(name.to_owned())));
        match module {
            _ if of_cpp.is_empty() => {}
            Some(_) => header.extend(of_cpp),
            None => header.push(Declaration::OnlyCpp(of_cpp)),
        }
    }
    let own = module.map(|module| &program.modules[module]);
    let (uses, includes) = own.map_or((&program.uses, &program.includes), |own| (&own.uses, &own.includes));
    if !uses.is_empty() {
        let headers = uses.iter().map(|used| Declaration::Include(module_header_name(&program.modules[*used])));
        header.push(Declaration::Blank);
        match module {
            Some(_) => header.extend(headers),
            None => header.push(Declaration::OnlyCpp(headers.collect())),
        }
    }
    if !includes.is_empty() {
        header.push(Declaration::Blank);
        header.extend(includes.iter().map(|include| Declaration::Include(include.path.clone())));
    }
}

/// `tcp.flux.h`
pub fn module_header_name(module: &Module) -> String {
    format!("{}.flux.h", module.name)
}

impl UserFunction {
    fn lines(self) -> [Declaration; 3] {
        [Declaration::Blank, Declaration::Comment(self.comment), self.declaration]
    }

    /// As in the header of another file than the module's own.
    fn in_its_namespace(self) -> Vec<Declaration> {
        match self.name.module().map(str::to_owned) {
            Some(namespace) => {
                let inner = self.lines().into_iter().chain([Declaration::Blank]).collect();
                vec![Declaration::Blank, Declaration::Namespace(namespace, inner)]
            }
            None => self.lines().into(),
        }
    }
}

/// The members of a struct. One that is called as a type hides that in the struct, where it is then `::hit`.
pub fn declarators(members: &[Parameter]) -> Vec<Declarator> {
    let hides = |word: &str| members.iter().any(|member| member.name == word);
    let declared = |member: &Parameter| {
        let ty = member.ty.cpp();
        let is_hidden = member.ty.words().any(hides);
        Declarator { ty: if is_hidden { from_outside(ty, hides) } else { ty.to_owned() }, ..declarator(member) }
    };
    members.iter().map(declared).collect()
}

/// A type whose words that something hides are named from the outermost namespace on: `std::vector<::hit>`.
fn from_outside(ty: &str, hides: impl Fn(&str) -> bool) -> String {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let words = ty.split_inclusive(|letter| !is_of_word(letter));
    let words = words.map(|word| match hides(word.trim_end_matches(|letter| !is_of_word(letter))) {
        true => format!("::{word}"),
        false => word.to_owned(),
    });
    words.collect()
}

fn declarator(parameter: &Parameter) -> Declarator {
    declare(&parameter.ty, &parameter.name)
}

fn declare(ty: &Type, name: &str) -> Declarator {
    Declarator { ty: ty.cpp().to_owned(), name: name.to_owned(), array: ty.array().to_owned() }
}

/// A parameter of a function that takes structs of `node`. C wants the word `struct`.
pub fn pointer(node: &Node, part: Part) -> Declarator {
    match part {
        Part::Input => Declarator::new(format!("struct {} *", struct_name(node, Side::In)), "in"),
        Part::Output => Declarator::new(format!("struct {} *", struct_name(node, Side::Out)), "out"),
        Part::Error => Declarator::new("int", "error"),
    }
}

/// The declaration of a function that takes structs of `node`.
fn prototype(function: &Name, node: &Node, shape: Shape) -> Declaration {
    let namespace = function.module();
    let is_inside = namespace.is_some() && namespace == node.name.module();
    let parameters = shape.parts.iter().map(|part| {
        let mut pointer = pointer(node, *part);
        if let (true, Some(namespace)) = (is_inside, namespace) {
            pointer.ty = pointer.ty.replace(&format!("struct {namespace}::"), "struct ");
        }
        pointer
    });
    Declaration::Prototype(shape.result, function.own().to_owned(), parameters.collect())
}

/// `int X(struct X_in *in, struct X_out *out);` for every concrete node.
fn nodes<'a>(context: &'a Context<'_>) -> impl Iterator<Item = UserFunction> + 'a {
    context.flow.program.nodes.iter().filter_map(|(_, node)| {
        let Body::External(external) = node.body else { return None };
        context.declares(external).then(|| UserFunction {
            asked_by: context.module_of(&node.name),
            external,
            is_of_module: false,
            name: node.name.clone(),
            comment: context.sources.name_and_line(node.span),
            declaration: prototype(&node.name, node, node_shape(context, node)),
        })
    })
}

/// `bool P(T value);` for every predicate and every type that it is asked about, in the order of the predicates.
fn predicates<'a>(context: &'a Context<'_>) -> impl Iterator<Item = UserFunction> + 'a {
    let program = &context.flow.program;
    let mut asked: BTreeSet<(PredicateId, &Type, Option<ModuleId>)> = BTreeSet::new();
    for (_, function) in context.flow.functions.iter() {
        for (predicate, parameter) in tests(context, function) {
            asked.insert((predicate, &parameter.ty, context.module_at(function.span)));
        }
    }
    asked.into_iter().filter_map(|(id, ty, asked_by)| {
        let predicate = &program.predicates[id];
        let external = predicate.external().filter(|external| context.declares(*external))?;
        let name = &program.externals[external].name;
        Some(UserFunction {
            asked_by,
            external,
            is_of_module: name.is_of_module(),
            name: name.clone(),
            comment: context.statement(predicate.span),
            declaration: predicate_prototype(context, external, ty),
        })
    })
}

fn predicate_prototype(context: &Context<'_>, function: ExternalId, ty: &Type) -> Declaration {
    let External { name, convention, .. } = &context.flow.program.externals[function];
    let of_2006 = context.options.interface_2006.as_ref().filter(|_| *convention == Convention::Of2006);
    let defined = of_2006.and_then(|of_2006| of_2006.predicate(context, name, ty, declare(ty, "value")));
    let (result, parameter) = defined.unwrap_or_else(|| ("bool".to_owned(), declare(ty, "value")));
    Declaration::Prototype(result, name.own().to_owned(), vec![parameter])
}

/// The predicates that a function asks, with what they are asked about.
fn tests<'a>(context: &'a Context<'_>, function: &'a Function) -> Vec<(PredicateId, &'a Parameter)> {
    let End::Dispatch { lines, .. } = &function.body.end else { return vec![] };
    let uses = Uses::of(function);
    let parameter = |value: &Operand| match value {
        Operand::Input(index) => function.inputs.get(*index),
        Operand::Output(step, index) => context.flow.callee_outputs(&uses.step(*step)?.callee).get(*index).copied(),
        Operand::Changed(..) | Operand::Error(..) | Operand::Constant(_) => None,
    };
    let tests = lines.iter().flat_map(|line| &line.tests);
    tests.filter_map(|test| Some((test.predicate, parameter(&test.value)?))).collect()
}

/// `int F(struct X_in *in);` for every session function, and every target it is asked about.
fn sessions<'a>(context: &'a Context<'_>) -> impl Iterator<Item = UserFunction> + 'a {
    let program = &context.flow.program;
    let mut asked = BTreeSet::new();
    let sources = program.sources.iter().enumerate();
    let with_session = sources.filter_map(|(index, source)| Some((index, source, source.session?)));
    let new = with_session.filter(move |(_, source, function)| asked.insert((*function, source.target)));
    new.filter(|(_, _, function)| context.declares(*function)).filter_map(|(index, source, external)| {
        let (node, shape) = session_shape(context, external, index)?;
        let function = &program.externals[external].name;
        Some(UserFunction {
            asked_by: context.module_at(source.span),
            external,
            is_of_module: function.is_of_module() || node.name.is_of_module(),
            name: function.clone(),
            comment: context.statement(source.span),
            declaration: prototype(function, node, shape),
        })
    })
}

/// `void H(struct X_in *in, int error);` for every handler that is a plain function, and every node it is one for.
fn handlers<'a>(context: &'a Context<'_>) -> impl Iterator<Item = UserFunction> + 'a {
    context.handlers.iter().map(|handler| {
        let node = &context.flow.program.nodes[handler.node];
        let function = &context.flow.program.externals[handler.external].name;
        UserFunction {
            asked_by: context.module_at(handler.span),
            external: handler.external,
            is_of_module: function.is_of_module() || node.name.is_of_module(),
            name: function.clone(),
            comment: context.statement(handler.span),
            declaration: prototype(function, node, handler_shape(context, handler.external, node)),
        }
    })
}

impl Context<'_> {
    /// Whether the generated header declares a function: a plain one has another header.
    fn declares(&self, external: ExternalId) -> bool {
        self.flow.program.externals[external].plain().is_none()
    }
}
