//! `mStructs.h`, with the structs of every node, and `mImpl.h`, with every function.

use super::STRUCTS;
use crate::Context;
use crate::header::{declarators, module_header_name, pointer, user_functions};
use crate::shape::node_shape;
use crate::structs::{Side, members, struct_name};
use crate::tree::{Declaration, Declarator};
use crate::types::types_header_name;
use flux_contract as contract;
use flux_ir::program::Node;

/// The header of the author's, taken in where it exists.
const LOCAL: &str = "localStructs.h";

/// `mStructs.h`
pub(crate) fn structs(context: &Context<'_>) -> Vec<Declaration> {
    let mut header = vec![
        Declaration::Comment(context.banner(None)),
        Declaration::Comment(String::new()),
        Declaration::Comment("What the nodes take and give, as in 2006. A session is always null.".to_owned()),
        Declaration::Directive("pragma once".to_owned()),
        Declaration::Blank,
        Declaration::SystemInclude(contract::HEADER_2006.spelling.to_owned()),
        Declaration::Blank,
    ];
    let program = &context.flow.program;
    header.extend(types_header_name(context.flow, None).map(Declaration::Include));
    let modules = program.uses.iter().map(|used| module_header_name(&program.modules[*used]));
    header.extend(modules.map(Declaration::Include));
    let includes = &program.includes;
    header.extend(includes.iter().map(|include| Declaration::Include(include.path.clone())));
    if !includes.iter().any(|include| include.path == LOCAL) {
        header.push(Declaration::Directive(format!("if __has_include(\"{LOCAL}\")")));
        header.push(Declaration::Include(LOCAL.to_owned()));
        header.push(Declaration::Directive("endif".to_owned()));
    }
    for (_, node) in program.nodes.iter().filter(|(_, node)| context.module_of(&node.name).is_none()) {
        for side in [Side::In, Side::Out] {
            let session = Declarator::new(format!("{} *", contract::SESSION.spelling), "_mSession");
            let session = (side == Side::In).then_some(session);
            let members = session.into_iter().chain(declarators(members(node, side))).collect();
            header.extend([Declaration::Blank, Declaration::Struct(struct_name(node, side), members)]);
        }
    }
    header
}

/// `mImpl.h`
pub(crate) fn functions(context: &Context<'_>) -> Vec<Declaration> {
    let mut header = vec![
        Declaration::Comment(context.banner(None)),
        Declaration::Comment(String::new()),
        Declaration::Comment("The functions of the program, as in 2006.".to_owned()),
        Declaration::Directive("pragma once".to_owned()),
        Declaration::Blank,
        Declaration::Include(STRUCTS.to_owned()),
    ];
    user_functions(context, &mut header);
    let nodes = context.flow.program.nodes.iter();
    let abstracts =
        nodes.map(|(_, node)| node).filter(|node| !node.body.is_leaf() && context.module_of(&node.name).is_none());
    let mut abstracts = abstracts.peekable();
    if abstracts.peek().is_some() {
        let comment = "Abstract nodes, which are flows: a function of theirs may be there and is not called.";
        header.extend([Declaration::Blank, Declaration::Comment(comment.to_owned())]);
    }
    header.extend(abstracts.map(|node| prototype(context, node)));
    header
}

fn prototype(context: &Context<'_>, node: &Node) -> Declaration {
    let shape = node_shape(context, node);
    let parameters = shape.parts.iter().map(|part| pointer(node, *part)).collect();
    Declaration::Prototype(shape.result, node.name.own().to_owned(), parameters)
}
