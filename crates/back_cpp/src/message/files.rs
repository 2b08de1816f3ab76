//! The header of the messages that a file declares, `image.flux.messages.h`, and the code that reads them.

use super::Messages;
use super::accessors::of_module;
use crate::tree::Declaration;
use crate::{Context, GeneratedFile, print};
use flux_contract::message as runtime;
use flux_ir::flow::Flow;
use flux_ir::message::{MessageId, unit_of};
use flux_ir::program::ModuleId;
use std::collections::BTreeSet;

/// The messages of the program's own file, or of a module.
fn of_home(flow: &Flow, home: Option<ModuleId>) -> Vec<MessageId> {
    let module = home.map(|module| flow.program.modules[module].name.as_str());
    of_module(&flow.program, module)
}

/// `image.flux.messages.h`; none where no message is declared there.
pub(crate) fn messages_header_name(flow: &Flow, home: Option<ModuleId>) -> Option<String> {
    let stem = home.map_or(&flow.program.name, |module| &flow.program.modules[module].name);
    (!of_home(flow, home).is_empty()).then(|| format!("{stem}.flux.messages.h"))
}

/// The header of the messages of the program's own file, or of a module.
pub(crate) fn messages_header(context: &Context<'_>, home: Option<ModuleId>) -> Option<GeneratedFile> {
    let name = messages_header_name(context.flow, home)?;
    let program = &context.flow.program;
    let messages = Messages::of(program);
    let ids = of_home(context.flow, home);
    let mut inner = vec![Declaration::Blank];
    inner.extend(ids.iter().map(|id| Declaration::Named(program.messages[*id].name.own().to_owned())));
    for id in messages.ordered(&ids) {
        inner.push(Declaration::Blank);
        inner.push(Declaration::Comment(context.sources.name_and_line(program.messages[id].span)));
        inner.push(messages.class_declaration(id));
    }
    inner.extend(ids.iter().flat_map(|id| messages.fields_declaration(*id)));
    inner.extend(ids.iter().flat_map(|id| messages.later_functions(*id)));
    let mut header = vec![
        Declaration::Comment(context.banner(home)),
        Declaration::Comment(String::new()),
        Declaration::Comment("The messages of the program. Include this in files that name them.".to_owned()),
        Declaration::Directive("pragma once".to_owned()),
        Declaration::Blank,
    ];
    header.extend(runtime::HEADERS.map(|name| Declaration::Include(name.to_owned())));
    header.push(Declaration::Blank);
    let system = ["cerrno", "cstdint", "optional", "string", "string_view", "utility", "vector"];
    header.extend(system.map(|name| Declaration::SystemInclude(name.to_owned())));
    let units = ids.iter().flat_map(|id| program.messages[*id].fields.iter().filter_map(unit_of));
    let others: BTreeSet<_> = units.map(|unit| context.module_of(&program.messages[unit].name)).collect();
    let others = others.into_iter().filter(|other| *other != home);
    header.extend(others.filter_map(|other| messages_header_name(context.flow, other)).map(Declaration::Include));
    if home.is_some() {
        header.push(Declaration::Blank);
    }
    header.extend(within(context, home, inner));
    Some(GeneratedFile { name, text: print::print(&header) })
}

/// The functions of all messages.
pub(crate) fn messages_code(context: &Context<'_>) -> Vec<Declaration> {
    let messages = Messages::of(&context.flow.program);
    let mut code = vec![];
    for home in context.homes() {
        let ids = of_home(context.flow, home);
        if !ids.is_empty() {
            code.extend(within(context, home, messages.functions(&ids)));
            code.push(Declaration::Blank);
        }
    }
    code
}

/// Declarations in the namespace of a module.
fn within(context: &Context<'_>, home: Option<ModuleId>, mut inner: Vec<Declaration>) -> Vec<Declaration> {
    match home {
        None => inner,
        Some(module) => {
            inner.push(Declaration::Blank);
            vec![Declaration::Namespace(context.flow.program.modules[module].name.clone(), inner)]
        }
    }
}
