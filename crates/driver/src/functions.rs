//! What is said of functions that do not fit what a program asks of them.

use crate::ids;
use flux_back_cpp::probe::Misfit;
use flux_diagnostic::{Diagnostic, Diagnostics};

/// One error for each.
pub fn report_misfits(misfits: &[Misfit], diagnostics: &mut Diagnostics) {
    for misfit in misfits {
        let Misfit { function, declared, wanted, span } = misfit;
        let headline = format!("the header's `{declared}` does not fit `{function}`, which wants `{wanted}`");
        let error = Diagnostic::error(ids::FUNCTION_MISMATCH, headline, *span).label("asked for here");
        let help = "take the inputs in this order, then the outputs by reference; return `int`, `void`, the only \
                    output, or a `flux::expected`";
        diagnostics.push(error.help(help));
    }
}
