//! What is said of headers that a program includes and the C++ compiler does not find.

use crate::ids;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::Include;

/// One error for each.
pub fn report_missing(missing: &[&Include], diagnostics: &mut Diagnostics) {
    for include in missing {
        let headline = format!("there is no header `{}`", include.path);
        let error = Diagnostic::error(ids::MISSING_HEADER, headline, include.span);
        let help = "put it beside the program, or say where it is: `--cflag -IFOLDER`; the header of a library comes \
                    with its package, mostly one that ends in -dev";
        diagnostics.push(error.help(help));
    }
}
