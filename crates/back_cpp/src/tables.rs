//! The tables: what the runtime must know of the program. They contain names and places, the sources, and the graph
//! that the path numbers run over ([`flux_ir::paths`]).

use crate::Context;
use crate::options;
use crate::tree::{Declaration, Declarator, Expression, Initial, Row};
use flux_contract as contract;
use flux_ir::flow::{Entry, Exit, Exits, FunctionId};
use flux_ir::name::Name;
use flux_ir::paths::{Edge, PathGraph, Vertex, VertexKind, graph};
use flux_ir::program::{Constraint, Origin, Scope, Source};
use flux_source::Span;

/// All tables, with a comment over each.
pub fn tables(context: &Context<'_>) -> Vec<Declaration> {
    let names = &context.names.tables;
    let graph = graph(context.flow);
    let entries = [
        (contract::NODE_INFO, &names.nodes, "Where each node is declared, and each handler bound.", nodes(context)),
        (contract::CONSTRAINT_INFO, &names.constraints, "Who shares each constraint.", constraints(context)),
        (contract::PATH_FUNCTION, &names.path_functions, FUNCTIONS, path_functions(&graph)),
        (contract::PATH_VERTEX, &names.path_vertices, VERTICES, path_vertices(context, &graph)),
        (contract::PATH_EDGE, &names.path_edges, EDGES, path_edges(&graph)),
        (contract::OPTION_INFO, &names.options, "The flags of the options.", options::table(context)),
        (contract::SOURCE_INFO, &names.sources, "Where flows come from.", sources(context)),
    ];
    let heading = "Below: what the runtime must know of the program.";
    let mut tables = vec![Declaration::Comment(heading.to_owned()), Declaration::Blank];
    let is_empty = |name: &String| entries.iter().any(|(_, other, _, rows)| *other == name && rows.is_empty());
    let order = [&names.nodes, &names.constraints, &names.sources];
    let order = order.into_iter().chain([&names.path_functions, &names.path_vertices, &names.path_edges]);
    let table = |name| if is_empty(name) { Expression::Braces(vec![]) } else { Expression::name(name) };
    let name = Expression::Text(context.flow.program.name.clone());
    let is_on_loops = context.flow.program.sources.iter().any(|source| source.on_loops);
    let on_loops = is_on_loops.then(|| Expression::name("true"));
    // The last ones, each left out where it says nothing and none comes after it.
    let own = (is_on_loops || !context.flow.program.options.is_empty()).then(|| table(&names.options));
    let values = std::iter::once(name).chain(order.map(table)).chain(own).chain(on_loops).collect();
    for (ty, name, comment, rows) in entries {
        if !rows.is_empty() {
            tables.push(Declaration::Comment(comment.to_owned()));
            tables.push(Declaration::Table(ty.spelling.to_owned(), name.clone(), rows));
            tables.push(Declaration::Blank);
        }
    }
    let program = Declarator::new(format!("constexpr {}", contract::PROGRAM.spelling), &names.program);
    tables.push(Declaration::Variable(program, Initial::Braces(values)));
    tables
}

const FUNCTIONS: &str = "Each function: how many paths lead to each exit, and the vertices of the exits.";
const VERTICES: &str = "What happens at each vertex of the path graph, and which edges lead into it.";
const EDGES: &str = "Where each edge comes from, and what it adds to the path number.";

fn row(values: impl IntoIterator<Item = Expression>) -> Row {
    Row::Element(Expression::Braces(values.into_iter().collect()))
}

/// `"image.flux", 5`
fn place(context: &Context<'_>, span: Span) -> [Expression; 2] {
    let file = context.sources.file(span.file).map_or("", flux_source::SourceFile::file_name);
    [Expression::Text(file.to_owned()), Expression::name(context.sources.place(span).line)]
}

fn nodes(context: &Context<'_>) -> Vec<Row> {
    let place = |name: &Name, span| row([Expression::Text(name.to_string())].into_iter().chain(place(context, span)));
    let nodes = context.flow.program.nodes.iter().map(|(_, node)| place(&node.name, node.span));
    let bound = |id| context.handlers.iter().find(|handler| handler.external == id).map(|one| one.span);
    let name = |id| &context.flow.program.externals[id].name;
    let handlers = context.names.handlers().map(|id| place(name(id), bound(id).unwrap_or_default()));
    nodes.chain(handlers).collect()
}

fn constraints(context: &Context<'_>) -> Vec<Row> {
    let scope = |constraint: &Constraint| match constraint.scope {
        Scope::Program => contract::SCOPE_PROGRAM,
        Scope::Session => contract::SCOPE_SESSION,
        Scope::Keyed => contract::SCOPE_KEYED,
    };
    let values = |one: &Constraint| [Expression::Text(one.name.to_string()), Expression::name(scope(one).spelling)];
    context.flow.program.constraints.iter().map(|(_, constraint)| row(values(constraint))).collect()
}

fn sources(context: &Context<'_>) -> Vec<Row> {
    let flow = context.flow;
    flow.program.sources.iter().zip(&flow.entries).map(|(source, entry)| one_source(context, source, entry)).collect()
}

fn one_source(context: &Context<'_>, source: &Source, entry: &Entry) -> Row {
    let (name, make, period) = match &source.origin {
        Origin::Node(application) => {
            let node = &context.flow.program.nodes[application.node];
            let make = if node.replicable { contract::MAKE_REPLICABLE_SOURCE } else { contract::MAKE_SOURCE };
            (node.name.to_string(), make, None)
        }
        Origin::Timer(period_ms) => (format!("every {period_ms}ms"), contract::MAKE_TIMER, Some(*period_ms)),
    };
    let place = Expression::Braces([Expression::Text(name)].into_iter().chain(place(context, source.span)).collect());
    let functions = || entry.produce.into_iter().chain([entry.run]);
    let numbers = functions().map(|function| Expression::name(context.names.function(function)));
    let arguments = std::iter::once(place).chain(period.map(Expression::name)).chain(numbers).collect();
    let functions = functions().map(|function| Expression::name(&context.flow.functions[function].name)).collect();
    Row::Element(Expression::Instance(make.spelling.to_owned(), functions).call(arguments))
}

fn path_functions(graph: &PathGraph) -> Vec<Row> {
    let numbers = |numbers: [u64; 3]| Expression::Braces(numbers.map(Expression::name).to_vec());
    let rows = graph.functions.iter().map(|function| {
        let Exits { done, failed, ended } = function.paths;
        let exits = function.exits.map(|vertex| vertex as u64);
        row([Expression::Text(function.name.clone()), numbers([done, failed, ended]), numbers(exits)])
    });
    rows.collect()
}

fn path_vertices(context: &Context<'_>, graph: &PathGraph) -> Vec<Row> {
    let mut rows = vec![];
    let mut functions = graph.functions.iter();
    for (number, vertex) in graph.vertices.iter().enumerate() {
        if vertex.kind == VertexKind::Start {
            let name = functions.next().map_or("", |function| &function.name);
            rows.push(Row::Comment(format!("{name}, from {number}")));
        }
        rows.push(path_vertex(context, vertex));
    }
    rows
}

fn path_vertex(context: &Context<'_>, vertex: &Vertex) -> Row {
    let (none, zero) = (Expression::name("nullptr"), Expression::name(0));
    let function = |function: FunctionId| Expression::name(context.names.function(function));
    let (kind, label, function) = match &vertex.kind {
        VertexKind::Start => (contract::KIND_START, none, zero),
        VertexKind::Join => (contract::KIND_JOIN, none, zero),
        VertexKind::Event(event) => (contract::KIND_LABEL, Expression::Text(event.text(context.flow)), zero),
        VertexKind::Call(callee, Exit::Done) => (contract::KIND_CALL_DONE, none, function(*callee)),
        VertexKind::Call(callee, Exit::Failed) => (contract::KIND_CALL_FAILED, none, function(*callee)),
        VertexKind::Call(callee, Exit::Ended) => (contract::KIND_CALL_ENDED, none, function(*callee)),
        VertexKind::Cut(callee, Exit::Done) => (contract::KIND_CUT_DONE, none, function(*callee)),
        VertexKind::Cut(callee, Exit::Failed) => (contract::KIND_CUT_FAILED, none, function(*callee)),
        VertexKind::Cut(callee, Exit::Ended) => (contract::KIND_CUT_ENDED, none, function(*callee)),
        VertexKind::Any(callee) => (contract::KIND_CALL_ANY, none, function(*callee)),
    };
    let numbers = [vertex.first_edge, vertex.edge_count].map(Expression::name);
    row([Expression::name(kind.spelling), label, function].into_iter().chain(numbers))
}

fn path_edges(graph: &PathGraph) -> Vec<Row> {
    let starts = graph.vertices.iter().filter(|vertex| vertex.kind == VertexKind::Start);
    let firsts: Vec<_> = starts.map(|start| start.first_edge).collect();
    let ends = firsts.iter().skip(1).copied().chain([graph.edges.len()]);
    let mut rows = vec![];
    for ((function, first), end) in graph.functions.iter().zip(&firsts).zip(ends) {
        let edges = graph.edges.get(*first..end).unwrap_or_default();
        let edge = |edge: &Edge| Expression::Braces(vec![Expression::name(edge.from), Expression::name(edge.offset)]);
        if !edges.is_empty() {
            rows.push(Row::Comment(format!("{}, from {first}", function.name)));
            rows.push(Row::Elements(edges.iter().map(edge).collect()));
        }
    }
    rows
}
