//! Reports functions that do not fit what a program asks of them.

use crate::ids;
use flux_back_cpp::probe::{Misfit, MisfitParameter};
use flux_diagnostic::{Diagnostic, Diagnostics};

/// One error for each.
pub fn report_misfits(misfits: &[Misfit], diagnostics: &mut Diagnostics) {
    for misfit in misfits {
        diagnostics.push(match &misfit.parameter {
            Some(parameter) => describe_parameter(misfit, parameter),
            None => describe(misfit),
        });
    }
}

fn describe(Misfit { function, declared, wanted, span, .. }: &Misfit) -> Diagnostic {
    let headline = format!("the header's `{declared}` does not fit `{function}`, which needs `{wanted}`");
    let error = Diagnostic::error(ids::FUNCTION_MISMATCH, headline, *span).label("needed here");
    error.help(
        "take the inputs in this order, then the outputs by reference; return `int`, `void`, the only output, or a \
         `flux::expected`",
    )
}

/// One value has another type in the header: that value is where to look, and either side can be changed.
fn describe_parameter(misfit: &Misfit, parameter: &MisfitParameter) -> Diagnostic {
    let Misfit { function, declared, span, .. } = misfit;
    let MisfitParameter { asked, declared: taken, wanted } = parameter;
    let text = asked.ty.declare(&asked.name);
    let headline = format!("the header's `{declared}` takes `{taken}`, where `{function}` has `{text}`");
    let error = Diagnostic::error(ids::FUNCTION_MISMATCH, headline, asked.span).mark(*span, "needed here");
    let plain = taken.trim_end_matches(['&', ' ']).trim_start_matches("const ");
    let is_plain = !plain.contains(['(', '[', '*']) && !asked.ty.is_array();
    error.help(match is_plain {
        true => format!("write `{wanted}` in the header, or `{plain} {}` here and where the value goes", asked.name),
        false => format!("write `{wanted}` in the header"),
    })
}
