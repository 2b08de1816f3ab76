//! `flux stubs`

use crate::arguments::{MessageFormat, Stubs};
use crate::build::prototypes::{Prototype, prototypes};
use crate::build::{files, generate, sources};
use crate::failure::{Failure, Result};
use crate::program::{compile, plain};
use crate::terminal::{Terminal, print};
use flux_diagnostic::Severity;
use std::io::{ErrorKind, Write as _};

/// Writes the functions that no source defines, or all.
pub fn stubs(arguments: &Stubs, terminal: &Terminal) -> Result {
    let program = compile(&arguments.program)?;
    program.report(Severity::Warning, MessageFormat::Human, terminal)?;
    let sources = sources::find(&arguments.sources, &files::parent(&program.path))?;
    let generated = generate(&program, &sources)?;
    let is_defined = |name: &str| sources.iter().any(|source| source.defines(name));
    let missing: Vec<_> =
        prototypes(&generated).into_iter().filter(|prototype| arguments.all || !is_defined(&prototype.name)).collect();
    if missing.is_empty() {
        terminal.progress("Complete", &format!("every function of {} is defined", program.path.display()));
        return Ok(());
    }
    let header = generated.iter().find(|file| file.name.ends_with(".h")).map_or("", |file| &file.name);
    let text = text(header, &missing);
    let Some(path) = &arguments.output else {
        print(&text);
        return Ok(());
    };
    let written = std::fs::File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::usage(format!("{} exists and is left as it is: choose another file", path.display()))
        }
        _ => Failure::usage(format!("cannot write {}: {}", path.display(), plain(&error))),
    })?;
    terminal.progress("Written", &format!("{} functions to {}", missing.len(), path.display()));
    Ok(())
}

/// The file with the stubs of `missing`, each under the statement that asks for it.
fn text(header: &str, missing: &[Prototype]) -> String {
    let stubs = missing.iter().map(|prototype| format!("\n// {}\n{}", prototype.asked_by, prototype.stub()));
    format!("#include \"{header}\"\n{}", stubs.collect::<String>())
}
