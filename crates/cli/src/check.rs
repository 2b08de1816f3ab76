//! `flux check`

use crate::arguments::{Check, MessageFormat};
use crate::failure::Result;
use crate::program::compile;
use crate::terminal::{Terminal, print};
use flux_diagnostic::{Severity, render};
use flux_driver::constraints::constraints;

/// Checks a program and says what there is to say.
pub fn check(arguments: &Check, terminal: &Terminal) -> Result {
    let program = compile(&arguments.program)?;
    let format = if arguments.json { MessageFormat::Json } else { arguments.format };
    let least = if arguments.quiet { Severity::Warning } else { Severity::Note };
    let result = program.report(least, format, terminal);
    if format == MessageFormat::Human && !arguments.quiet {
        let found = render::summary(&program.compilation.diagnostics).unwrap_or_else(|| "no errors".into());
        terminal.show(&format!("{}: {found}\n", program.path.display()));
    }
    if let (true, Some(flow)) = (arguments.constraints, &program.compilation.flow) {
        print(&constraints(flow));
    }
    result
}
