//! Checks that constraints of scope session are needed only where there is a session. Requires: resolved. Establishes:
//! every flow that takes one comes from a source with a session function, and has left the source itself.

use crate::analyses::walks::Walks;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{NodeId, Program, Scope, Source};
use std::collections::HashSet;

/// Reports each node that needs a session where there is none once, with a source from which it is reached.
/// O(size of the program · contexts).
pub fn check_sessions(program: &Program, diagnostics: &mut Diagnostics) {
    let is_session = |constraint| program.constraints[constraint].scope == Scope::Session;
    let needing = program.nodes.iter().filter(|(_, node)| node.requirements.iter().any(|it| is_session(it.constraint)));
    let needing: HashSet<NodeId> = needing.map(|(id, _)| id).collect();
    if needing.is_empty() {
        return;
    }
    // Only where there is no session: what one walk has come by, the next need not.
    let mut search = Search { walks: Walks::new(program), needing, seen: 0 };
    for source in &program.sources {
        search.walks.produce(source);
        search.report(program, source, true, diagnostics);
        if source.session.is_none() {
            search.walks.run(source);
            search.report(program, source, false, diagnostics);
        }
    }
}

/// The walks without a session so far.
struct Search<'a> {
    walks: Walks<'a>,
    /// The nodes that need a session and were not met yet.
    needing: HashSet<NodeId>,
    /// How many of the walks' meetings have been looked at.
    seen: usize,
}

impl Search<'_> {
    /// Goes along the walks that were begun, from `source`, and reports what they meet.
    fn report(&mut self, program: &Program, source: &Source, inside: bool, diagnostics: &mut Diagnostics) {
        self.walks.follow();
        let new = self.walks.meetings.iter().skip(self.seen).map(|meeting| meeting.node);
        new.filter(|node| self.needing.remove(node))
            .for_each(|node| diagnostics.push(describe(program, node, source, inside)));
        self.seen = self.walks.meetings.len();
    }
}

fn describe(program: &Program, node: NodeId, source: &Source, inside: bool) -> Diagnostic {
    let node = &program.nodes[node];
    let is_session = |constraint| program.constraints[constraint].scope == Scope::Session;
    let mention = node.requirements.iter().find(|one| is_session(one.constraint));
    let name = mention.map_or(String::new(), |one| program.constraints[one.constraint].name.to_string());
    let span = mention.map_or(node.span, |one| one.span);
    let why = if inside { "runs inside a source, before a flow has one" } else { "is reached by flows that have none" };
    let headline = format!("`{}` needs a session for `{name}`, but {why}", node.name);
    let error = Diagnostic::error(ids::NO_SESSION, headline, span).mark(source.span, "this source");
    error.help(match inside {
        true => "take it in the target of the source, or use the scope of the whole program",
        false => "name the session function of the source: `source Listen {session: F} => …;`",
    })
}
