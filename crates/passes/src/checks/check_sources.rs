//! Checks what flows begin with. Requires: every signature is known. Establishes: a source takes nothing but constants,
//! and the target of a heartbeat takes nothing. Warns of constraints on a source itself: a source usually waits, and it
//! would hold them meanwhile.

use crate::analyses::fit::{count, show, show_names};
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{NamedValue, Origin, Parameter, Program, Requirement, Scope, Source};

/// Reports sources with open inputs, heartbeats whose targets take values, and sources that hold what flows may need.
pub fn check_sources(program: &Program, diagnostics: &mut Diagnostics) {
    for source in &program.sources {
        check(program, source, diagnostics);
    }
}

fn check(program: &Program, source: &Source, diagnostics: &mut Diagnostics) {
    match &source.origin {
        Origin::Node(application) => {
            let node = &program.nodes[application.node];
            let (inputs, bound) = (node.required_inputs(), application.constants.len());
            let is_open = |input: &&Parameter| !application.named.iter().any(|named| named.input == input.name);
            let value = application.named.iter().find_map(|named| match &named.value {
                NamedValue::Value(value) => Some((named, value)),
                NamedValue::Constant(_) | NamedValue::Option(_) => None,
            });
            if let Some((named, value)) = value {
                let headline = format!("nothing comes before the source `{}`, so it cannot take `{value}`", node.name);
                let error = Diagnostic::error(ids::SOURCE_INPUTS, headline, named.span);
                diagnostics.push(error.help("bind the inputs of a source to constants"));
            } else if inputs.get(bound..).is_some_and(|inputs| inputs.iter().any(|input| is_open(&input))) {
                let why = match (bound, application.named.len()) {
                    (0, 0) => "nothing comes before a source".to_owned(),
                    (1, 0) => "only 1 constant is given".to_owned(),
                    (_, 0) => format!("only {bound} constants are given"),
                    _ => {
                        let open: Vec<_> = inputs.iter().skip(bound).filter(is_open).collect();
                        format!("none is given for {}", show_names(&open))
                    }
                };
                let takes = match application.named.len() {
                    0 => count(inputs.len(), "input"),
                    _ => "constants".to_owned(),
                };
                let headline = format!("the source `{}` takes {takes}, but {why}", node.name);
                let error = Diagnostic::error(ids::SOURCE_INPUTS, headline, application.span)
                    .mark(node.span, format!("takes ({})", show(node.inputs())));
                diagnostics.push(error.help(format!(
                    "bind its inputs to constants, `source {}(…) => …`, or declare it `{} () => (…)`",
                    node.name, node.name
                )));
            }
            // A source has no session yet: that is an error, and enough.
            let scope = |held: &&Requirement| program.constraints[held.constraint].scope != Scope::Session;
            if let Some(held) = node.requirements.iter().find(scope) {
                let name = &program.constraints[held.constraint].name;
                let headline = format!("`{}` holds `{name}` while it waits", node.name);
                let warning = Diagnostic::warning(ids::SOURCE_HOLDS, headline, held.span)
                    .mark(application.span, "a source here, which may wait for long");
                diagnostics.push(warning.help(format!(
                    "let it wait first, and hold `{name}` after that: `{} = Wait -> Take; atomic Take:{{{name}}};`",
                    node.name
                )));
            }
        }
        Origin::Timer(_) => {
            let target = &program.nodes[source.target];
            let inputs = target.required_inputs();
            if !inputs.is_empty() {
                let headline = format!("a heartbeat gives no values, but `{}` takes ({})", target.name, show(inputs));
                let error =
                    Diagnostic::error(ids::TIMER_INPUTS, headline, source.span).mark(target.span, "declared here");
                diagnostics
                    .push(error.help(format!("let `{}` take nothing: `{} () => (…);`", target.name, target.name)));
            }
        }
    }
}
