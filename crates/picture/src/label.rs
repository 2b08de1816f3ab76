//! What is written in boxes and at arrows, in the words of the program.

use flux_ir::flow::{Acquisition, Flow, Function, Line, Operand, Step};
use flux_ir::program::{Mode, Parameter, Program, Scope};

/// A node's name with the constants that it is applied to: `Listen(8080)`.
pub(crate) fn applied(program: &Program, name: &str, step: &Step) -> String {
    let constants = step.inputs.iter().map_while(|input| match input {
        Operand::Constant(constant) => Some(program.constant_text(constant)),
        Operand::Input(_) | Operand::Output(..) | Operand::Kept(..) | Operand::Error => None,
    });
    let constants: Vec<_> = constants.collect();
    if constants.is_empty() { name.to_owned() } else { format!("{name}({})", constants.join(", ")) }
}

/// What a step takes, as a program would say it: `cache`, `hits?`, `visitor(session)`, `account(from)`.
pub(crate) fn badges(flow: &Flow, function: &Function, step: &Step) -> Vec<String> {
    step.acquire.iter().map(|acquisition| badge(flow, function, step, acquisition)).collect()
}

fn badge(flow: &Flow, function: &Function, step: &Step, acquisition: &Acquisition) -> String {
    let constraint = &flow.program.constraints[acquisition.constraint];
    let mode = match acquisition.mode {
        Mode::Read => "?",
        Mode::Write => "",
    };
    let scope = match constraint.scope {
        Scope::Program => String::new(),
        Scope::Session => "(session)".to_owned(),
        Scope::Keyed => {
            let key = acquisition.key.iter().map(|operand| key_name(flow, function, step, operand));
            format!("({})", key.collect::<Vec<_>>().join(", "))
        }
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
        (None, Operand::Output(..) | Operand::Kept(..) | Operand::Error) => "…".to_owned(),
    }
}

/// The patterns of a line: `[_, _, hit]`.
pub(crate) fn patterns(flow: &Flow, function: &Function, line: &Line) -> String {
    let label = flow.line_label(function, line);
    label.split_once(":[").map_or(label.clone(), |(_, patterns)| format!("[{patterns}"))
}

/// A duration as a program would say it: `100ms`, `2s`, `5m`.
pub(crate) fn duration(milliseconds: u64) -> String {
    match milliseconds {
        minutes if minutes > 0 && minutes % 60_000 == 0 => format!("{}m", minutes / 60_000),
        seconds if seconds > 0 && seconds % 1000 == 0 => format!("{}s", seconds / 1000),
        other => format!("{other}ms"),
    }
}
