//! Checks that constraints of scope session are needed only where there is a session. Requires: resolved. Establishes:
//! every flow that takes one comes from a source with a session function, and has left the source itself.

use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{HandlerTarget, NodeId, Origin, Program, Scope, Source};
use std::collections::HashSet;

/// Reports each such constraint once, with a source from which the node is reached. O(sources · nodes).
pub fn check_sessions(program: &Program, diagnostics: &mut Diagnostics) {
    let is_session = |constraint| program.constraints[constraint].scope == Scope::Session;
    let needing: HashSet<NodeId> = program
        .nodes
        .iter()
        .filter(|(_, node)| node.requirements.iter().any(|one| is_session(one.constraint)))
        .map(|(id, _)| id)
        .collect();
    if needing.is_empty() {
        return;
    }
    let mut told = HashSet::new();
    for source in &program.sources {
        let target = if source.session.is_some() { None } else { Some(source.target) };
        let producer = match &source.origin {
            Origin::Node(application) => Some(application.node),
            Origin::Timer(_) => None,
        };
        for (start, inside) in producer.map(|node| (node, true)).into_iter().chain(target.map(|node| (node, false))) {
            for node in reachable(program, start) {
                if needing.contains(&node) && told.insert(node) {
                    diagnostics.push(describe(program, node, source, inside));
                }
            }
        }
    }
}

/// The node, all it contains, and what handles their errors, in the order in which they are met.
fn reachable(program: &Program, start: NodeId) -> Vec<NodeId> {
    let mut seen = HashSet::from([start]);
    let mut found = vec![start];
    let mut next = 0;
    while let Some(node) = found.get(next).copied() {
        next += 1;
        let contained = program.nodes[node].chains().flat_map(|chain| chain.applications()).map(|it| it.node);
        let handlers = program.handlers.iter().filter(|handler| handler.path.last() == Some(&Some(node)));
        let handlers = handlers.filter_map(|handler| match &handler.target {
            HandlerTarget::Node(target) => Some(*target),
            HandlerTarget::Function(_) => None,
        });
        let new: Vec<_> = contained.chain(handlers).filter(|one| seen.insert(*one)).collect();
        found.extend(new);
    }
    found
}

fn describe(program: &Program, node: NodeId, source: &Source, inside: bool) -> Diagnostic {
    let node = &program.nodes[node];
    let is_session = |constraint| program.constraints[constraint].scope == Scope::Session;
    let mention = node.requirements.iter().find(|one| is_session(one.constraint));
    let name = mention.map_or("", |one| program.constraints[one.constraint].name.as_str());
    let span = mention.map_or(node.span, |one| one.span);
    let why = if inside { "runs inside a source, before a flow has one" } else { "is reached by flows that have none" };
    let headline = format!("`{}` needs a session for `{name}`, but {why}", node.name);
    let error = Diagnostic::error(ids::NO_SESSION, headline, span).mark(source.span, "this source");
    error.help(match inside {
        true => "take it in the node that the source starts, or let it hold for the whole program",
        false => "name the function that gives a flow's session: `source Listen {session: F} => …;`",
    })
}
