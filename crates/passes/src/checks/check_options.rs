//! Looks for options that no node is given. Requires: resolved. Establishes: nothing; remarks on options that are given
//! to no step, no source and no deadline. They have no effect unless the program's `init` reads them.

use crate::analyses::mentions::applications;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::compute::{Expression, Term};
use flux_ir::program::{Action, Body, Constant, OptionId, Program, Step};
use std::collections::HashSet;

/// Reports options that are not used. O(applications).
pub fn check_options(program: &Program, diagnostics: &mut Diagnostics) {
    let named: Vec<_> = applications(program)
        .flat_map(|application| &application.named)
        .filter_map(|named| named.value.constant())
        .collect();
    let defaults = program.nodes.iter().flat_map(|(_, node)| node.defaults());
    let used: HashSet<OptionId> = applications(program)
        .flat_map(|application| &application.constants)
        .chain(named.iter().chain(defaults))
        .chain(limits(program))
        .filter_map(|constant| match constant {
            Constant::Option(option) => Some(*option),
            Constant::Integer(_) | Constant::Text(_) | Constant::Boolean(_) => None,
        })
        .chain(computed(program))
        .collect();
    for (_, option) in program.options.iter().filter(|(id, _)| !used.contains(id)) {
        // Whether `init` reads it is not known here, so this is a remark: there may be nothing to do.
        let headline = format!("no step takes the option `{}`: only the program's `init` can read it", option.name);
        diagnostics.push(Diagnostic::note(ids::UNUSED_OPTION, headline, option.span));
    }
}

/// The options that computations read.
fn computed(program: &Program) -> Vec<OptionId> {
    let of_nodes = program.nodes.iter().filter_map(|(_, node)| match &node.body {
        Body::Computed(computation) => Some(computation),
        _ => None,
    });
    let of_predicates = program.predicates.iter().filter_map(|(_, one)| Some(&one.computed()?.computation));
    let mut found = vec![];
    for computation in of_nodes.chain(of_predicates) {
        let mut note = |expression: &Expression| {
            found.extend(if let Term::Option(option) = expression.term { Some(option) } else { None });
            false
        };
        computation.any(&mut note);
    }
    found
}

fn width(step: &Step) -> Option<&Constant> {
    match &step.action {
        Action::Each(each) => each.width.as_ref(),
        Action::Apply(_) | Action::Parallel(_) => None,
    }
}

/// The deadlines of all steps, and how many instances of each steps run at once.
fn limits(program: &Program) -> impl Iterator<Item = &Constant> {
    let chains = program.nodes.iter().flat_map(|(_, node)| node.chains());
    chains.flat_map(|chain| chain.all_steps()).flat_map(|step| step.within.as_ref().into_iter().chain(width(step)))
}
