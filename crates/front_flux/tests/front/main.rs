//! Tests of the front end through its one entry, from text to program and diagnostics.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that cannot go on fails"
)]

mod bodies;
mod figures;
mod generics;
mod layout;
mod mistakes;
mod modules;
mod names;
mod pages;
mod robust;
mod scale;
mod statements;

use flux_diagnostic::Diagnostics;
use flux_ir::program::{Action, Body, Chain, Origin, Parallel, Program, Step};
use flux_source::{FileId, SourceMap};

/// Reads `text`; each diagnostic as `line severity [id] headline`, by place.
fn read(text: &str) -> (Program, Vec<String>) {
    let sources = SourceMap::of("test.flux", text);
    let mut diagnostics = Diagnostics::new();
    let program = flux_front_flux::read(&sources, FileId(0), &mut diagnostics);
    let line = |one: &&flux_diagnostic::Diagnostic| {
        let severity = format!("{:?}", one.severity).to_lowercase();
        format!("{} {severity} [{}] {}", sources.place(one.primary.span).line, one.id.0, one.headline)
    };
    (program, diagnostics.sorted().iter().map(line).collect())
}

/// The program of a text without mistakes.
fn program(text: &str) -> Program {
    let (program, diagnostics) = read(text);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    program
}

/// `line [id]` of each diagnostic, by place.
fn mistakes(text: &str) -> Vec<String> {
    let brief = |line: String| line.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
    read(text).1.into_iter().map(brief).collect()
}

/// The flow of the node `name` as text: `A -> (B & C)`, or the lines of a dispatch, one after the other.
fn flow(program: &Program, name: &str) -> String {
    let node = &program.nodes[program.node_named(name).expect("the node exists")];
    match &node.body {
        Body::External(_) | Body::Computed(_) => "concrete".into(),
        Body::Chain(it) => chain(program, it),
        Body::Dispatch(lines) => {
            let pattern = |it: &Option<_>| it.map_or("_".into(), |id| program.predicates[id].name.to_string());
            let line = |line: &flux_ir::program::Line| {
                let patterns: Vec<_> = line.patterns.iter().map(pattern).collect();
                format!("[{}] = {}", patterns.join(", "), chain(program, &line.chain))
            };
            lines.iter().map(line).collect::<Vec<_>>().join("; ")
        }
    }
}

fn chain(program: &Program, chain_read: &Chain) -> String {
    let step = |step: &Step| match &step.action {
        Action::Apply(it) if it.constants.is_empty() => program.nodes[it.node].name.to_string(),
        Action::Apply(it) => format!("{}{:?}", program.nodes[it.node].name, it.constants),
        Action::Parallel(Parallel { branches, .. }) => {
            let branches: Vec<_> = branches.iter().map(|branch| chain(program, branch)).collect();
            format!("({})", branches.join(" & "))
        }
        Action::Each(each) => format!("[{}]({:?})", chain(program, &each.chain), each.width),
    };
    chain_read.steps.iter().map(step).collect::<Vec<_>>().join(" -> ")
}

/// The names of all nodes, in order.
fn nodes(program: &Program) -> Vec<String> {
    program.nodes.iter().map(|(_, node)| node.name.to_string()).collect()
}

/// What a node must hold: `cache Write []`.
fn requirements(program: &Program, name: &str) -> Vec<String> {
    let node = &program.nodes[program.node_named(name).expect("the node exists")];
    let show = |it: &flux_ir::program::Requirement| {
        format!("{} {:?} {:?}", program.constraints[it.constraint].name, it.mode, it.key)
    };
    node.requirements.iter().map(show).collect()
}

/// The handlers: `A -> * => H`, functions with `()`.
fn handlers(program: &Program) -> Vec<String> {
    let node = |it: &Option<_>| it.map_or("*".into(), |id| program.nodes[id].name.to_string());
    let show = |handler: &flux_ir::program::Handler| {
        let path: Vec<_> = handler.path.iter().map(node).collect();
        let node = handler.target.node().map(|id| program.nodes[id].name.to_string());
        let function = handler.target.external().map(|id| format!("{}()", program.externals[id].name));
        let goes_on = handler.target.goes_on().then(|| "_".to_owned());
        let target = node.into_iter().chain(function).chain(goes_on).collect::<Vec<_>>().join(" -> ");
        format!("{} => {target}", path.join(" -> "))
    };
    program.handlers.iter().map(show).collect()
}

/// The sources: `Listen => Image`, `every 100 => Beat`.
fn sources(program: &Program) -> Vec<String> {
    let show = |source: &flux_ir::program::Source| {
        let origin = match &source.origin {
            Origin::Node(it) => program.nodes[it.node].name.to_string(),
            Origin::Timer(period_ms) => format!("every {period_ms}"),
        };
        let session = source.session.map_or(String::new(), |it| format!(" {{{}}}", program.externals[it].name));
        format!("{origin}{session} => {}", program.nodes[source.target].name)
    };
    program.sources.iter().map(show).collect()
}
