//! Checks the paths of error handlers. Requires: acyclic. Establishes: each failure has at most one handler that is
//! asked first. What a handler takes and gives is for [`crate::rewrites::bind_handlers`].

use crate::analyses::walks::{Meeting, Walks};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Handler, NodeId, Program};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Reports handlers between which nothing decides, and warns of those that take no node's place.
pub fn check_handlers(program: &Program, diagnostics: &mut Diagnostics) {
    if program.handlers.is_empty() {
        return;
    }
    let walks = Walks::of(program);
    if walks.paths.overflowed {
        diagnostics.push(describe_overflow(program));
        return;
    }
    let mut uses = Uses::default();
    check_equal_paths(program, &mut uses, diagnostics);
    for meeting in &walks.meetings {
        uses.note(program, &walks, meeting, diagnostics);
    }
    for (index, handler) in program.handlers.iter().enumerate() {
        if !uses.asked.contains(&index) {
            diagnostics.push(describe_idle(program, &walks, handler, uses.matched.contains(&index)));
        }
    }
}

/// What the handlers are for.
#[derive(Default)]
struct Uses {
    /// Those whose path a walk ends in.
    matched: HashSet<usize>,
    /// Those that no longer path, on every walk, keeps from being asked.
    asked: HashSet<usize>,
    /// The pairs between which nothing decides.
    tied: HashSet<(usize, usize)>,
}

impl Uses {
    /// Notes which handlers are for a failure of the node that is met, and reports the first two if they tie.
    fn note(&mut self, program: &Program, walks: &Walks<'_>, meeting: &Meeting, diagnostics: &mut Diagnostics) {
        let matching = walks.paths.matching(meeting.before, meeting.node);
        self.matched.extend(&matching);
        let handler = |at: usize| Some((*matching.get(at)?, program.handlers.get(*matching.get(at)?)?));
        let Some((best, first)) = handler(0) else { return };
        self.asked.insert(best);
        if let Some((other, second)) = handler(1)
            && first.path.len() == second.path.len()
            && self.tied.insert((best, other))
        {
            self.asked.insert(other);
            if first.path != second.path {
                diagnostics.push(describe_tie(program, &walks.walk(meeting), first, second));
            }
        }
    }
}

/// Reports every handler whose path an earlier one has, too.
fn check_equal_paths(program: &Program, uses: &mut Uses, diagnostics: &mut Diagnostics) {
    let mut first: HashMap<&[Option<NodeId>], &Handler> = HashMap::new();
    for (index, handler) in program.handlers.iter().enumerate() {
        let first = *first.entry(&handler.path).or_insert(handler);
        if !std::ptr::eq(first, handler) {
            uses.asked.insert(index);
            let headline = format!("`{}` has two handlers", path_name(program, &handler.path));
            let error = Diagnostic::error(ids::HANDLER_TIE, headline, handler.span).mark(first.span, "the first one");
            diagnostics.push(error.help("one failure has one handler: remove one of them"));
        }
    }
}

/// Too many ways are told apart, which takes paths that skip many nodes: the one that skips most is where to begin.
fn describe_overflow(program: &Program) -> Diagnostic {
    let skipped = |handler: &&Handler| handler.path.iter().filter(|node| node.is_none()).count();
    let span = program.handlers.iter().max_by_key(skipped).map(|handler| handler.span);
    let headline = "the paths of the error handlers distinguish too many ways to reach a node";
    Diagnostic::error(ids::HANDLER_WAYS, headline, span.unwrap_or_default())
        .fact("a node is compiled once for each set of handlers that can apply to it")
        .help("let the path begin later, or write a node in place of `*`")
}

fn describe_tie(program: &Program, walk: &[String], first: &Handler, second: &Handler) -> Diagnostic {
    let (one, other) = (path_name(program, &first.path), path_name(program, &second.path));
    let failing = walk.last().map_or("*", String::as_str);
    let headline = format!("`{failing}` has two handlers for flows that match both `{one}` and `{other}`");
    Diagnostic::error(ids::HANDLER_TIE, headline, second.span)
        .mark(first.span, "the other one")
        .fact(format!("such a flow: {}", walk.join(" -> ")))
        .help("the handler with the longest path runs: write one more node at the beginning of one path, or remove it")
}

/// A handler that takes no node's place: as its path is none that a flow takes, or where it is `matched`, as others
/// have longer ones.
fn describe_idle(program: &Program, walks: &Walks<'_>, handler: &Handler, matched: bool) -> Diagnostic {
    let path = path_name(program, &handler.path);
    let idle =
        |headline: String, help: String| Diagnostic::warning(ids::HANDLER_UNREACHED, headline, handler.span).help(help);
    if matched {
        let headline =
            format!("the handler for `{path}` never runs: handlers with longer paths match every flow there");
        return idle(headline, "remove it, or one of those with a longer path".to_owned());
    }
    let name = |node: &Option<NodeId>| node.map_or("*".to_owned(), |node| program.nodes[node].name.to_string());
    let last = handler.path.last().map_or("*".to_owned(), name);
    if handler.path.len() < 2 || !walks.meetings.iter().any(|meeting| name(&Some(meeting.node)) == last || last == "*")
    {
        let headline = format!("no flow reaches `{last}`, so its errors need no handler");
        return idle(headline, format!("use `{last}` in a flow, or remove the handler"));
    }
    let headline = format!("no flow takes the path `{path}`");
    let pairs = handler.path.iter().zip(handler.path.iter().skip(1));
    for (before, node) in pairs.rev() {
        let met = walks.meetings.iter().filter(|meeting| node.is_none_or(|node| node == meeting.node));
        let came: BTreeSet<_> = met.filter_map(|meeting| walks.just_before(meeting)).collect();
        if !came.iter().any(|came| before.is_none() || came == before) {
            return idle(headline, describe_before(&name(before), &name(node), came.iter().map(name)));
        }
    }
    idle(headline, "each of these comes right after the one before it, but no flow takes all of these steps".to_owned())
}

/// How many nodes are named that come before another.
const SHOWN: usize = 4;

fn describe_before(wanted: &str, node: &str, came: impl ExactSizeIterator<Item = String>) -> String {
    let count = came.len();
    let mut came: Vec<_> = came
        .take(SHOWN)
        .map(|name| match name.as_str() {
            "*" => "a parallel step or a heartbeat, which only `*` matches".to_owned(),
            name => format!("`{name}`"),
        })
        .collect();
    if count > SHOWN {
        came.push(format!("{} others", count - SHOWN));
    }
    match (node, came.as_slice()) {
        ("*", _) => format!("nothing comes right after `{wanted}`"),
        (_, []) => format!("nothing comes before `{node}`"),
        (_, came) => format!("right before `{node}` comes {}, not `{wanted}`", came.join(" or ")),
    }
}

/// `CheckCache -> * -> Send`
fn path_name(program: &Program, path: &[Option<NodeId>]) -> String {
    let name = |node: &Option<NodeId>| node.map_or("*".to_owned(), |node| program.nodes[node].name.to_string());
    path.iter().map(name).collect::<Vec<_>>().join(" -> ")
}
