//! What is written in boxes and at arrows, in the words of the program.

use flux_ir::flow::{Each, EachOrder, Flow, Function, Line, Operand, Step};
use flux_ir::program::{NodeId, Program, Requirement, Signature};

/// A node's name with the constants that it is applied to: `Listen(8080, idle: 5000)`. Defaults are left out.
pub(crate) fn applied(flow: &Flow, name: &str, step: &Step) -> String {
    let program = &flow.program;
    let signature = flow.callee_node(&step.callee).and_then(|node| program.nodes[node].signature.as_ref());
    let required = signature.map_or(step.inputs.len(), Signature::required);
    let constant = |input: &Operand| match input {
        Operand::Constant(constant) => Some(program.constant_text(constant)),
        _ => None,
    };
    let mut constants: Vec<_> = step.inputs.iter().take(required).map_while(constant).collect();
    let inputs = signature.into_iter().flat_map(|signature| &signature.inputs);
    for (position, (parameter, input)) in inputs.zip(&step.inputs).enumerate().skip(required) {
        let default = signature.and_then(|signature| signature.default_of(position));
        let Operand::Constant(value) = input else { continue };
        if default != Some(value) {
            constants.push(format!("{}: {}", parameter.name, program.constant_text(value)));
        }
    }
    if constants.is_empty() { name.to_owned() } else { format!("{name}({})", constants.join(", ")) }
}

/// `within 300ms`, where a step has a deadline.
pub(crate) fn within(program: &Program, step: &Step) -> Option<String> {
    step.within.as_ref().map(|time| format!("within {}", program.duration_text(time)))
}

/// `each url`, and how many of them at once.
pub(crate) fn each(flow: &Flow, each: &Each) -> String {
    let element = flow.functions[each.function].inputs.first().map_or("", |element| &element.name);
    match &each.order {
        EachOrder::Loop(_) => format!("each {element}"),
        EachOrder::AtOnce(width) => format!("each {element}, {} at once", flow.program.constant_text(width)),
        EachOrder::InTurn => format!("each {element}, in turn"),
    }
}

/// The deadline of a step, and what it takes, as a program would say it: `within 300ms`, `cache`, `hits?`,
/// `visitor(session)`, `account(from)`. Where it is to be explained: for whom it was moved up to here, `accounts for
/// Move`, and what the step's node needs and is held around it, `has cache?`.
pub(crate) fn badges(flow: &Flow, step: &Step, explained: bool) -> Vec<String> {
    let taken = step.acquire.iter().map(|one| {
        let name = flow.taken_text(step, one);
        match one.provenance.whom() {
            Some(node) if explained => format!("{name} for {}", flow.program.nodes[node].name),
            _ => name,
        }
    });
    let had = flow.callee_node(&step.callee).filter(|_| explained).map(|node| had(flow, step, node));
    let had = had.into_iter().flatten().map(|one| format!("has {one}"));
    within(&flow.program, step).into_iter().chain(taken).chain(had).collect()
}

/// What the node of a step needs and the step does not take: it is held around it.
fn had(flow: &Flow, step: &Step, node: NodeId) -> Vec<String> {
    let taken = |one: &&Requirement| {
        let key: Vec<_> = one.key.iter().filter_map(|at| step.inputs.get(*at)).collect();
        step.acquire.iter().any(|taken| taken.constraint == one.constraint && taken.key.iter().eq(key.iter().copied()))
    };
    let required = flow.program.nodes[node].requirements.iter().filter(|one| !taken(one));
    required.map(|one| flow.required_text(node, one)).collect()
}

/// The patterns of a line: `[_, _, hit]`.
pub(crate) fn patterns(flow: &Flow, function: &Function, line: &Line) -> String {
    let label = flow.line_label(function, line);
    label.split_once(":[").map_or(label.clone(), |(_, patterns)| format!("[{patterns}"))
}
