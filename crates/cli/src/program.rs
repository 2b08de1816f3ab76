//! Reads a program from its file, compiles it, and shows what there is to say about it.

use crate::arguments::MessageFormat;
use crate::failure::{Failure, Result};
use crate::terminal::Terminal;
use flux_diagnostic::{Severity, json, render};
use flux_driver::Compilation;
use flux_source::{FileId, SourceMap};
use std::path::Path;

/// A program that has been read and compiled, rightly or not.
pub struct Program {
    /// Its text.
    pub sources: SourceMap,
    /// Which of them is the program.
    pub file: FileId,
    /// What came of it.
    pub compilation: Compilation,
}

/// The text of the program at `path`.
pub fn read(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "; is the path right?",
            _ => "",
        };
        Failure::usage(format!("cannot read {}: {}{hint}", path.display(), plain(&error)))
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::usage(format!("{} is not UTF-8 text (byte {at}); a Flux program is plain text", path.display()))
    })
}

/// Reads and compiles the program at `path`.
pub fn compile(path: &Path) -> Result<Program> {
    let text = read(path)?;
    let mut sources = SourceMap::new();
    let file = sources.add(path.display().to_string(), text);
    let compilation = flux_driver::compile(&sources, file);
    Ok(Program { sources, file, compilation })
}

impl Program {
    /// Shows the diagnostics from `least` up, and fails where one is an error.
    pub fn report(&self, least: Severity, format: MessageFormat, terminal: &Terminal) -> Result {
        let diagnostics = &self.compilation.diagnostics;
        for diagnostic in diagnostics.sorted() {
            if diagnostic.severity < least {
                continue;
            }
            match format {
                MessageFormat::Human => {
                    let options = render::Options { color: terminal.color(), width: terminal.width() };
                    terminal.show(&format!("{}\n\n", render::render(diagnostic, &self.sources, options)));
                }
                MessageFormat::Json => {
                    crate::terminal::print(&format!("{}\n", json::object(diagnostic, &self.sources)));
                }
            }
        }
        if diagnostics.has_errors() { Err(Failure::Program) } else { Ok(()) }
    }
}

/// An operating system error without its number.
pub fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
