//! Looks for options that change nothing. Requires: resolved. Establishes: nothing; warns of options that no step and
//! no source is given and that no deadline is, as whoever sets their flags will think that they do something.

use crate::check_constants::applications;
use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::{Constant, OptionId, Program, split_name};
use std::collections::HashSet;

/// Reports options that are not used. O(applications).
pub fn check_options(program: &Program, diagnostics: &mut Diagnostics) {
    let used: HashSet<OptionId> = applications(program)
        .flat_map(|application| &application.constants)
        .chain(deadlines(program))
        .filter_map(|constant| match constant {
            Constant::Option(option) => Some(*option),
            Constant::Integer(_) | Constant::Text(_) | Constant::Boolean(_) => None,
        })
        .collect();
    for (_, option) in program.options.iter().filter(|(id, _)| !used.contains(id)) {
        let (_, name) = split_name(&option.name);
        let headline = format!("the option `{}` changes nothing, as no node is given it", option.name);
        let warning = Diagnostic::warning(ids::UNUSED_OPTION, headline, option.span);
        diagnostics.push(warning.help(format!("give it to a step, `Node({name})`, or to a source, or take it out")));
    }
}

/// The deadlines of all steps.
fn deadlines(program: &Program) -> impl Iterator<Item = &Constant> {
    let chains = program.nodes.iter().flat_map(|(_, node)| node.chains());
    chains.flat_map(|chain| chain.all_steps()).filter_map(|step| step.within.as_ref())
}
