//! Blocking nodes whose source calls a connection: `connection->send(…)`. Event loops run such nodes on threads beside
//! them, where a connection is not to be used, so the server would end. Flux does not read C++; but a call through the
//! name of a node's input is plain in its tokens.

use super::cpp_tokens::tokens;
use super::definitions::Definition;
use super::sources::NodeSource;
use crate::arguments::MessageFormat;
use crate::failure::Result;
use crate::program::{Notes, Program};
use crate::terminal::Terminal;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_driver::ids;
use flux_ir::program::{Node, split_name};

/// Warns of the first such call of each node.
pub fn warn(program: &Program, sources: &[NodeSource], terminal: &Terminal) -> Result {
    let mut diagnostics = Diagnostics::new();
    let nodes = program.compilation.program().into_iter().flat_map(|model| model.nodes.iter().map(|(_, node)| node));
    for node in nodes.filter(|node| node.blocking) {
        let mut calls = sources.iter().filter_map(|source| call(node, source));
        if let Some((place, text)) = calls.next() {
            let headline = format!("`{}` is blocking and uses a connection: `{text}` in {place}", node.name);
            let help = "let a step after it send or close; what waits for connections alone need not be `blocking`";
            diagnostics.push(Diagnostic::warning(ids::BLOCKING_CALL, headline, node.span).help(help));
        }
    }
    program.show(&diagnostics, Notes::Hidden, MessageFormat::Human, terminal)
}

/// The first call of a connection in the function of a node, if this source has it: `nodes.cpp, line 7`, and the call.
fn call(node: &Node, source: &NodeSource) -> Option<(String, String)> {
    let (namespace, name) = split_name(&node.name);
    let is_it = |one: &&Definition| one.name == name && one.namespace == namespace.unwrap_or_default();
    let function = source.functions.iter().find(is_it)?;
    let inputs = node.inputs().iter().filter(|input| input.ty.is_connection()).map(|input| input.name.as_str());
    let is_connection = |parameter: &&String| parameter.contains("connection *");
    let parameters = function.parameters.iter().filter(is_connection).filter_map(|one| one.split(' ').next_back());
    let names: Vec<_> = inputs.chain(parameters).collect();
    let body = source.text.get(function.body.clone())?;
    let tokens = tokens(body);
    let found = tokens.windows(5).find_map(|window| match window {
        [value, minus, greater, method, open]
            if names.contains(&value.text) && minus.text == "-" && greater.text == ">" && open.text == "(" =>
        {
            Some((value.start, format!("{}->{}(…)", value.text, method.text)))
        }
        _ => None,
    });
    let (start, text) = found?;
    let line = source.text.bytes().take(function.body.start + start).filter(|byte| *byte == b'\n').count() + 1;
    let file = source.path.file_name().unwrap_or_default().to_string_lossy();
    Some((format!("{file}, line {line}"), text))
}
