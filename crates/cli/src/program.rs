//! Reads a program from its file, compiles it, and shows what there is to say about it.

use crate::arguments::MessageFormat;
use crate::failure::{Failure, Result};
use crate::terminal::Terminal;
use flux_diagnostic::{Diagnostic, Diagnostics, Severity, json, render};
use flux_driver::{Compilation, FRONTS};
use flux_source::{FileId, SourceMap};
use std::path::{Path, PathBuf};

/// A program that has been read and compiled, rightly or not.
pub struct Program {
    /// Its file.
    pub path: PathBuf,
    /// Its text.
    pub sources: SourceMap,
    /// Which of them is the program.
    pub file: FileId,
    /// What came of it.
    pub compilation: Compilation,
}

/// Which notes are shown; warnings and errors are in any case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Notes {
    /// None.
    Hidden,
    /// Those with something to do: no remarks.
    Advice,
    /// All.
    Shown,
}

impl Notes {
    fn show(self, diagnostic: &Diagnostic) -> bool {
        let is_note = diagnostic.severity == Severity::Note;
        !is_note || self == Self::Shown || (self == Self::Advice && !diagnostic.is_remark())
    }
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

/// The text of the module at `path`, or why there is none.
fn read_module(path: &Path) -> std::result::Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {}", path.display(), plain(&error)))?;
    String::from_utf8(bytes).map_err(|_| format!("{} is not UTF-8 text", path.display()))
}

/// The file of a program: the path itself, or the only program in the folder that it names.
fn locate(path: &Path) -> Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let folder = path.display();
    let listing =
        std::fs::read_dir(path).map_err(|error| Failure::usage(format!("cannot list {folder}: {}", plain(&error))))?;
    let files: Vec<_> = listing.filter_map(|entry| entry.ok()).map(|entry| entry.path()).collect();
    let is_known =
        |file: &&PathBuf| FRONTS.iter().any(|front| file.extension().is_some_and(|it| it == front.extension()));
    let mut programs: Vec<_> = files.iter().filter(is_known).collect();
    if programs.is_empty() {
        programs = files.iter().filter(|file| file.extension().is_none() && is_program(file)).collect();
    }
    programs.sort();
    match programs.as_slice() {
        [only] => Ok(only.strip_prefix(".").unwrap_or(only).to_owned()),
        [] => Err(Failure::usage(format!("no program in {folder}: name one, or make one with `flux new NAME`"))),
        [first, ..] => {
            let count = programs.len();
            Err(Failure::usage(format!("{count} programs in {folder}: name one of them, {} say", first.display())))
        }
    }
}

/// Whether a file without a suffix, as many had in 2006, is a program: it has a line that begins with `source`, and an
/// arrow.
fn is_program(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.contains("=>") && text.lines().any(|line| line.split_whitespace().next() == Some("source"))
}

/// Reads and compiles the program at `path`, or the only one in the folder there.
pub fn compile(path: &Path) -> Result<Program> {
    let path = locate(path)?;
    let text = read(&path)?;
    let mut sources = SourceMap::new();
    let file = sources.add(path.display().to_string(), text);
    let mut read = |path: &str| read_module(Path::new(path));
    let compilation = flux_driver::compile(&mut sources, file, &mut read);
    Ok(Program { path, sources, file, compilation })
}

/// Reads and compiles a program, or the standard module that is called so.
pub fn compile_or_module(path: &Path) -> Result<Program> {
    let module = flux_nodes::modules().find(|(name, _)| path.to_str() == Some(*name));
    let Some((name, text)) = module.filter(|_| !path.exists()) else { return compile(path) };
    let mut sources = SourceMap::new();
    let file = sources.add(format!("{name}.flux"), text.to_owned());
    let compilation = flux_driver::compile(&mut sources, file, &mut |path: &str| read_module(Path::new(path)));
    Ok(Program { path: path.to_owned(), sources, file, compilation })
}

impl Program {
    /// Shows what the compiler has to say, and fails where something is an error.
    pub fn report(&self, notes: Notes, terminal: &Terminal) -> Result {
        self.show(&self.compilation.diagnostics, notes, terminal)
    }

    /// Shows diagnostics of this program, and fails where one is an error.
    pub fn show(&self, diagnostics: &Diagnostics, notes: Notes, terminal: &Terminal) -> Result {
        if terminal.format() == MessageFormat::Human {
            show(diagnostics, &self.sources, |one| notes.show(one), terminal);
        } else {
            let shown = diagnostics.shown();
            for diagnostic in shown.diagnostics.iter().filter(|one| notes.show(one)) {
                crate::terminal::print(&format!("{}\n", json::object(diagnostic, &self.sources)));
            }
            if let Some(hidden) = json::hidden(&shown) {
                crate::terminal::print(&format!("{hidden}\n"));
            }
        }
        if diagnostics.has_errors() { Err(Failure::Program) } else { Ok(()) }
    }
}

/// Shows diagnostics to people, the notes that `are_shown`, and how many more there are.
pub fn show(
    diagnostics: &Diagnostics,
    sources: &SourceMap,
    are_shown: impl Fn(&Diagnostic) -> bool,
    terminal: &Terminal,
) {
    let options = render::Options { color: terminal.color(), width: terminal.width() };
    let shown = diagnostics.shown();
    for diagnostic in shown.diagnostics.iter().filter(|one| are_shown(one)) {
        terminal.show(&format!("{}\n\n", render::render(diagnostic, sources, options)));
    }
    if let Some(hidden) = render::hidden(&shown) {
        terminal.show(&format!("{hidden}\n\n"));
    }
}

/// An operating system error without its number.
pub fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
