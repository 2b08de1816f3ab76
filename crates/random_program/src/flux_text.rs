//! Writes a model as a Flux program, its statements in a random order: the language has none.

use crate::model::*;
use crate::random::Random;

/// The text of `model`; `seed` orders its statements.
pub fn flux_text(model: &Model, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut places: Vec<usize> = vec![];
    let groups = statements(model);
    for (group, statements) in groups.iter().enumerate() {
        places.extend(std::iter::repeat_n(group, statements.len()));
    }
    random.shuffle(&mut places);
    // Within a group the order has a meaning, so the places that fell to a group are filled in its order.
    let mut groups: Vec<_> = groups.into_iter().map(Vec::into_iter).collect();
    let lines = places.into_iter().filter_map(|group| groups.get_mut(group).and_then(Iterator::next));
    let text: Vec<_> = lines.collect();
    format!("include \"values.hpp\";\n\n{}\n", text.join("\n"))
}

/// The statements, those whose order among each other has a meaning side by side.
fn statements(model: &Model) -> Vec<Vec<String>> {
    let mut groups = vec![];
    for (_, predicate) in model.predicates.iter() {
        let (ty, _, _) = predicate.ty.spelling();
        groups.push(vec![match &predicate.formula {
            Some(formula) => format!("typedef {} ({ty} n) {{ {} }};", predicate.name, formula.text("n")),
            None => format!("typedef {} {};", predicate.name, predicate.function),
        }]);
    }
    if !model.helpers.is_empty() {
        groups.push(vec!["record pair { first : int64; second : int64; };".to_owned()]);
    }
    groups.extend(model.helpers.iter().enumerate().map(|(index, helper)| vec![helper.text(index)]));
    for (id, node) in model.nodes.iter() {
        let replicable = model.sources.iter().any(|source| source.node == id && source.replicable);
        let attribute = if replicable { " replicable" } else { "" };
        let body = match &node.body {
            Body::Computed(script) => format!(" {{ {} }}", script.text(&node.inputs, &node.outputs)),
            _ => String::new(),
        };
        let (inputs, outputs) = (list(&node.inputs), list(&node.outputs));
        groups.push(vec![format!("{} ({inputs}) => ({outputs}){attribute}{body};", node.name)]);
        groups.push(flows(model, node));
        groups.push(node.handler.iter().map(|handler| handler_statement(model, node, handler)).collect());
        groups.push(atomic(model, node).into_iter().collect());
    }
    groups.extend(model.path_handlers.iter().map(|one| vec![path_handler_statement(model, one)]));
    groups.push(model.sources.iter().map(|source| source_statement(model, source)).collect());
    groups
}

/// `int flow, std::string text_1`
fn list(parameters: &[Parameter]) -> String {
    parameters.iter().map(parameter).collect::<Vec<_>>().join(", ")
}

/// `record *record_2`
fn parameter(parameter: &Parameter) -> String {
    let (ty, array, _) = parameter.ty.spelling();
    let gap = if ty.ends_with('*') { "" } else { " " };
    format!("{ty}{gap}{}{array}", parameter.name)
}

fn flows(model: &Model, node: &Node) -> Vec<String> {
    let flow = |patterns: &str, chain: &Chain| format!("{}{patterns} = {};", node.name, chain_text(model, chain));
    match &node.body {
        Body::Concrete(_) | Body::Computed(_) => vec![],
        Body::Chain(chain) => vec![flow("", chain)],
        Body::Dispatch(lines) => {
            let of_line = |line: &Line| match line.written {
                true => flow(&format!(":{}", patterns(model, line)), &line.chain),
                false => flow("", &line.chain),
            };
            lines.iter().map(of_line).collect()
        }
    }
}

/// `[_, is_3]`
pub fn patterns(model: &Model, line: &Line) -> String {
    let pattern =
        |pattern: &Option<PredicateId>| pattern.map_or("_", |predicate| model.predicates[predicate].name.as_str());
    format!("[{}]", line.patterns.iter().map(pattern).collect::<Vec<_>>().join(", "))
}

fn chain_text(model: &Model, chain: &[Step]) -> String {
    let branch = |chain: &Chain| chain_text(model, chain);
    let step = |step: &Step| match step {
        Step::Apply(node) => model.nodes[*node].name.clone(),
        Step::Parallel(branches) => format!("({})", branches.iter().map(branch).collect::<Vec<_>>().join(" & ")),
        Step::Each(each) => {
            // The number of the flow is no element.
            let (first, rest) = match each.chain.split_first() {
                Some((Step::Apply(first), rest)) => (model.nodes[*first].name.as_str(), rest),
                _ => ("", &[][..]),
            };
            let arrow = if rest.is_empty() { "" } else { " -> " };
            let width = each.width.map_or(String::new(), |width| format!("({width})"));
            format!("[{first}(flow: flow){arrow}{}]{width}", chain_text(model, rest))
        }
    };
    // A deadline that does not pass changes nothing.
    let within = |index: usize| if index % 3 == 1 { " within 60m" } else { "" };
    let steps = chain.iter().enumerate().map(|(index, one)| step(one) + within(index));
    steps.collect::<Vec<_>>().join(" -> ")
}

fn handler_statement(model: &Model, node: &Node, handler: &Handler) -> String {
    format!("handle error {} => {};", node.name, target_name(model, handler))
}

fn path_handler_statement(model: &Model, PathHandler { path, handler }: &PathHandler) -> String {
    let name = |node: &Option<NodeId>| node.map_or("*", |node| model.nodes[node].name.as_str());
    let path: Vec<_> = path.iter().map(name).collect();
    format!("handle error {} => {};", path.join(" -> "), target_name(model, handler))
}

fn target_name(model: &Model, handler: &Handler) -> String {
    match handler {
        Handler::Function { name, .. } => name.clone(),
        Handler::Node(target) => model.nodes[*target].name.clone(),
        Handler::GoOn(None) => "_".to_owned(),
        Handler::GoOn(Some(first)) => format!("{} -> _", target_name(model, first)),
    }
}

fn atomic(model: &Model, node: &Node) -> Option<String> {
    let constraint = |requirement: &Requirement| {
        let constraint = &model.constraints[requirement.constraint];
        let mode = match (requirement.mode, requirement.marked) {
            (Mode::Read, _) => "?",
            (Mode::Write, false) => "",
            (Mode::Write, true) => "!",
        };
        let scope = match constraint.scope {
            Scope::Program => "",
            Scope::Session => "(session)",
            Scope::Keyed => "(flow)",
        };
        format!("{}{mode}{scope}", constraint.name)
    };
    let constraints: Vec<_> = node.requirements.iter().map(constraint).collect();
    (!constraints.is_empty()).then(|| format!("atomic {}:{{{}}};", node.name, constraints.join(", ")))
}

fn source_statement(model: &Model, source: &Source) -> String {
    let session = source.session.as_ref().map_or(String::new(), |function| format!(" {{session: {function}}}"));
    format!("source {}{session} => {};", model.nodes[source.node].name, model.nodes[source.target].name)
}
