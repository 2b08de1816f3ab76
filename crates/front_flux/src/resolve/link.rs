//! Libraries that the server is linked with.

use super::Resolver;
use crate::ids;
use crate::syntax::{self, Statement};
use flux_diagnostic::Diagnostic;
use flux_ir::program::Link;

impl Resolver<'_, '_, '_> {
    /// Each library of a file once, where it is first named there.
    pub(super) fn resolve_links(&mut self) {
        let syntax = self.syntax;
        for statement in &syntax.statements {
            let Statement::Link(syntax::Link { library, span }) = statement else { continue };
            if !is_name(library) {
                self.report_library(library, *span);
            } else if !self
                .scope
                .program
                .links
                .iter()
                .any(|link| link.library == *library && link.span.file == span.file)
            {
                self.scope.program.links.push(Link { library: library.clone(), span: *span });
            }
        }
    }

    fn report_library(&mut self, library: &str, span: flux_source::Span) {
        let headline = format!("`{library}` is not the name of a library");
        let file = library.rsplit('/').next().unwrap_or(library);
        let stem = file.split([',', ' ']).next().unwrap_or(file).trim_start_matches("-l");
        let stem = stem.strip_prefix("lib").unwrap_or(stem).split(".so").next().unwrap_or(stem);
        let stem = stem.trim_end_matches(".a");
        let help = match is_name(stem) {
            true => format!("write its name as the linker's `-l` takes it: `link \"{stem}\";`"),
            false => "write its name as the linker's `-l` takes it: `link \"sqlite3\";`".to_owned(),
        };
        self.report(Diagnostic::error(ids::LINK_NAME, headline, span).help(help));
    }
}

/// Whether this is what may stand after the linker's `-l`, and no file of a library.
fn is_name(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.' | '_');
    let is_file = text.ends_with(".a") || text.ends_with(".so") || text.contains(".so.");
    !text.is_empty() && !text.starts_with(['-', '.']) && text.chars().all(is_part) && !is_file
}
