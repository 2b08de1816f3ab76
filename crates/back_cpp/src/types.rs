//! The headers of the types that a program declares: `image.flux.types.h`, and one for each module that declares some.
//!
//! They name nothing but these types, so an author's own headers can include them: the other generated headers include
//! the author's.

use crate::header::declarators;
use crate::message::messages_header_name;
use crate::tree::{Declaration, Declarator, Expression, Initial};
use crate::{Context, GeneratedFile, print};
use flux_ir::error_code::ErrorCode;
use flux_ir::flow::Flow;
use flux_ir::program::{ModuleId, Parameter, TypeBody, TypeDeclaration};
use flux_ir::types::{Declared, contained_first};
use std::collections::BTreeSet;

/// The header of the types of the program's own file, or of a module; none where it declares none.
pub(crate) fn types_header(context: &Context<'_>, module: Option<ModuleId>) -> Option<GeneratedFile> {
    let name = types_header_name(context.flow, module)?;
    let types = &context.flow.program.types;
    let ordered = contained_first(types).into_iter().map(|id| &types[id]);
    let own: Vec<_> = ordered.filter(|declared| context.module_of(&declared.name) == module).collect();
    let mut header = vec![
        Declaration::Comment(context.banner(module)),
        Declaration::Comment(String::new()),
        Declaration::Comment("The types of the program. Include this in headers that name them.".to_owned()),
        Declaration::Directive("pragma once".to_owned()),
        Declaration::Blank,
    ];
    let fields = || own.iter().flat_map(|declared| fields(declared));
    let mut system: BTreeSet<&str> = fields().flat_map(|field| field.ty.all_headers()).collect();
    if own.iter().any(|declared| matches!(declared.body, TypeBody::Record(_))) {
        system.insert("compare");
    }
    header.extend(system.into_iter().map(|name| Declaration::SystemInclude(name.to_owned())));
    let mentioned = fields().flat_map(|field| field.ty.mentioned());
    let home = |declared| match declared {
        Declared::Record(id) | Declared::Enum(id) => context.module_of(&types[id].name),
        Declared::Message(id) => context.module_of(&context.flow.program.messages[id].name),
    };
    let others: BTreeSet<_> = mentioned.map(home).collect();
    let others = others.into_iter().filter(|other| *other != module);
    header.extend(others.filter_map(|other| types_header_name(context.flow, other)).map(Declaration::Include));
    header.extend(messages_header_name(context.flow, module).map(Declaration::Include));
    let mut inner = vec![];
    for code in codes(context.flow, module) {
        inner.push(Declaration::Blank);
        inner.push(Declaration::Comment(context.sources.name_and_line(code.span)));
        let declarator = Declarator::new("inline constexpr int", code.name.own());
        inner.push(Declaration::Variable(declarator, Initial::Value(Expression::name(code.number))));
    }
    for declared in own {
        inner.push(Declaration::Blank);
        inner.push(Declaration::Comment(context.sources.name_and_line(declared.span)));
        inner.push(declaration(declared));
    }
    match module {
        None => header.extend(inner),
        Some(_) if inner.is_empty() => {}
        Some(module) => {
            inner.push(Declaration::Blank);
            let namespace = context.flow.program.modules[module].name.clone();
            header.extend([Declaration::Blank, Declaration::Namespace(namespace, inner)]);
        }
    }
    Some(GeneratedFile { name, text: print::print(&header) })
}

/// `image.flux.types.h`; none where nothing is declared there.
pub(crate) fn types_header_name(flow: &Flow, module: Option<ModuleId>) -> Option<String> {
    let program = &flow.program;
    let stem = module.map_or(&program.name, |module| &program.modules[module].name);
    let home = module.map(|_| stem.as_str());
    let declares = program.types.iter().any(|(_, declared)| declared.name.module() == home);
    let declares = declares || codes(flow, module).next().is_some();
    let declares = declares || messages_header_name(flow, module).is_some();
    declares.then(|| format!("{stem}.flux.types.h"))
}

/// The error codes that a file declares.
fn codes(flow: &Flow, module: Option<ModuleId>) -> impl Iterator<Item = &ErrorCode> {
    let module = module.map(|module| flow.program.modules[module].name.as_str());
    flow.program.codes.iter().map(|(_, code)| code).filter(move |code| code.name.module() == module)
}

/// All of them, those of modules first, each after those that it includes.
pub fn types_header_names(flow: &Flow) -> impl Iterator<Item = String> + '_ {
    let modules = flow.program.modules.ids().map(Some);
    modules.chain([None]).filter_map(|module| types_header_name(flow, module))
}

fn fields(declared: &TypeDeclaration) -> &[Parameter] {
    match &declared.body {
        TypeBody::Record(fields) => fields,
        TypeBody::Enum(_) => &[],
    }
}

fn declaration(declared: &TypeDeclaration) -> Declaration {
    let name = declared.name.own().to_owned();
    match &declared.body {
        TypeBody::Enum(values) => Declaration::EnumClass(name, values.clone()),
        TypeBody::Record(fields) => {
            let is_zero = fields.iter().map(|field| field.ty.is_scalar());
            Declaration::Record(name, declarators(fields).into_iter().zip(is_zero).collect())
        }
    }
}
