//! What is written in boxes and at arrows, in the words of the program.

use flux_ir::flow::{Acquisition, Callee, Flow, Function, Line, Operand, Step};
use flux_ir::program::{ConstraintId, Mode, Parameter, Program, Requirement, Scope};

/// A node's name with the constants that it is applied to: `Listen(8080)`.
pub(crate) fn applied(program: &Program, name: &str, step: &Step) -> String {
    let constants = step.inputs.iter().map_while(|input| match input {
        Operand::Constant(constant) => Some(program.constant_text(constant)),
        _ => None,
    });
    let constants: Vec<_> = constants.collect();
    if constants.is_empty() { name.to_owned() } else { format!("{name}({})", constants.join(", ")) }
}

/// `within 300ms`, where a step has a deadline.
pub(crate) fn within(program: &Program, step: &Step) -> Option<String> {
    step.within.as_ref().map(|time| format!("within {}", program.duration_text(time)))
}

/// The deadline of a step, and what it takes, as a program would say it: `within 300ms`, `cache`, `hits?`,
/// `visitor(session)`, `account(from)`. Where it is to be explained: for whom it was moved up to here, `accounts for
/// Move`, and what the step's node needs and is held around it, `has cache?`.
pub(crate) fn badges(flow: &Flow, function: &Function, step: &Step, explained: bool) -> Vec<String> {
    let key_of = |one: &Acquisition| one.key.iter().map(|operand| key_name(flow, function, step, operand)).collect();
    let taken = step.acquire.iter().map(|one| {
        let name = required(flow, one.constraint, one.mode, key_of(one));
        match one.moved_for {
            Some(node) if explained => format!("{name} for {}", flow.program.nodes[node].name),
            _ => name,
        }
    });
    let had = had(flow, step).into_iter().filter(|_| explained).map(|one| {
        let inputs = flow.callee_inputs(&step.callee);
        let key = one.key.iter().filter_map(|at| inputs.get(*at)).map(|input| input.name.clone()).collect();
        format!("has {}", required(flow, one.constraint, one.mode, key))
    });
    within(&flow.program, step).into_iter().chain(taken).chain(had).collect()
}

/// What the node of a step needs and the step does not take: it is held around it.
fn had<'a>(flow: &'a Flow, step: &Step) -> Vec<&'a Requirement> {
    let node = match &step.callee {
        Callee::Node(node) => Some(*node),
        Callee::Function(function) => flow.functions[*function].node(),
        Callee::Fork(_) | Callee::Handler { .. } | Callee::Session { .. } => None,
    };
    let taken = |one: &&Requirement| {
        let key: Vec<_> = one.key.iter().filter_map(|at| step.inputs.get(*at)).collect();
        step.acquire.iter().any(|taken| taken.constraint == one.constraint && taken.key.iter().eq(key.iter().copied()))
    };
    let required = node.into_iter().flat_map(|node| &flow.program.nodes[node].requirements);
    required.filter(|one| !taken(one)).collect()
}

/// `cache`, `hits?`, `visitor(session)`, `account(from)`
fn required(flow: &Flow, constraint: ConstraintId, mode: Mode, key: Vec<String>) -> String {
    let constraint = &flow.program.constraints[constraint];
    let mode = match mode {
        Mode::Read => "?",
        Mode::Write => "",
    };
    let scope = match constraint.scope {
        Scope::Program => String::new(),
        Scope::Session => "(session)".to_owned(),
        Scope::Keyed => format!("({})", key.join(", ")),
    };
    format!("{}{mode}{scope}", constraint.name)
}

/// A part of a key: the parameter that gets it, as the author wrote it; where no parameter does, what it comes from.
fn key_name(flow: &Flow, function: &Function, step: &Step, operand: &Operand) -> String {
    let name = |parameter: Option<&Parameter>| parameter.map_or_else(String::new, |parameter| parameter.name.clone());
    let taken = step.inputs.iter().position(|input| input == operand);
    match (taken, operand) {
        (_, Operand::Constant(constant)) => flow.program.constant_text(constant),
        (Some(position), _) => name(flow.callee_inputs(&step.callee).get(position)),
        (None, Operand::Input(position)) => name(function.inputs.get(*position)),
        (None, Operand::Output(..) | Operand::Changed(..) | Operand::Error(_)) => "…".to_owned(),
    }
}

/// The patterns of a line: `[_, _, hit]`.
pub(crate) fn patterns(flow: &Flow, function: &Function, line: &Line) -> String {
    let label = flow.line_label(function, line);
    label.split_once(":[").map_or(label.clone(), |(_, patterns)| format!("[{patterns}"))
}
