//! `flux ir`

use crate::arguments::{Form, Ir};
use crate::failure::{Failure, Result};
use crate::program::{Notes, compile};
use crate::terminal::{Terminal, print};
use flux_ir::text;

/// Prints a form of a program.
pub fn ir(arguments: &Ir, terminal: &Terminal) -> Result {
    let program = compile(&arguments.program)?;
    program.report(Notes::Hidden, terminal)?;
    let options = text::Options { spans: arguments.spans };
    let printed = match arguments.form {
        Form::Program => program.compilation.program().map(|model| options.print_program(model)),
        Form::Flow => program.compilation.flow.as_ref().map(|model| options.print_flow(model)),
    };
    print(&printed.ok_or(Failure::Program)?);
    Ok(())
}
