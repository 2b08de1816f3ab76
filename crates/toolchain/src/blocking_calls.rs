//! Blocking nodes whose source calls a connection: `connection->send(…)`. Event loops run such nodes on threads beside
//! them, where a connection must not be used, so the server would end. Flux does not read C++, but a call through the
//! name of a node's input can be seen in the tokens.

use crate::cpp_tokens::tokens;
use crate::definitions::Definition;
use crate::ids;
use crate::node_source::NodeSource;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Node, Program};
use flux_source::SourceMap;

/// Warns of the first such call of each node.
pub fn report(program: &Program, sources: &[NodeSource], files: &SourceMap, diagnostics: &mut Diagnostics) {
    for (_, node) in program.nodes.iter().filter(|(_, node)| node.blocking) {
        let mut calls = sources.iter().filter_map(|source| Some((source, call(node, source)?)));
        if let Some((source, (start, text))) = calls.next() {
            let headline = format!("`{}` is blocking and uses a connection: `{text}`", node.name);
            let help = "let a later step send or close; a node that waits only for connections need not be `blocking`";
            let warning = Diagnostic::warning(ids::BLOCKING_CALL, headline, node.span).help(help);
            let line = source.file.and_then(|file| files.line(file, source.line_of(start)));
            diagnostics.push(match line {
                Some(line) => warning.mark(line, "used here"),
                None => warning,
            });
        }
    }
}

/// The first call of a connection in the function of a node, if this source has it: where, and the call.
fn call(node: &Node, source: &NodeSource) -> Option<(usize, String)> {
    let (namespace, name) = (node.name.module(), node.name.own());
    let is_it = |one: &&Definition| one.name == name && one.namespace == namespace.unwrap_or_default();
    let function = source.functions.iter().find(is_it)?;
    let inputs = node.inputs().iter().filter(|input| input.ty.is_connection()).map(|input| input.name.as_str());
    let is_connection = |parameter: &&String| parameter.contains("connection *");
    let parameters = function.parameters.iter().filter(is_connection).filter_map(|one| one.split(' ').next_back());
    let names: Vec<_> = inputs.chain(parameters).collect();
    let tokens = tokens(source.text.get(function.body.clone())?);
    tokens.windows(5).find_map(|window| match window {
        [value, minus, greater, method, open]
            if names.contains(&value.text) && minus.text == "-" && greater.text == ">" && open.text == "(" =>
        {
            Some((function.body.start + value.start, format!("{}->{}(…)", value.text, method.text)))
        }
        _ => None,
    })
}
