//! `flux fmt`

use crate::arguments::Fmt;
use crate::failure::{Failure, Result};
use crate::program::{plain, read, show};
use crate::terminal::{Terminal, print};
use flux_format::Refusal;
use flux_source::{FileId, SourceMap};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Folders that hold what was built.
const BUILT: [&str; 2] = ["build", "target"];

/// Lays out programs, or says which are not.
pub fn fmt(arguments: &Fmt, terminal: &Terminal) -> Result {
    if arguments.stdin {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        read.map_err(|error| Failure::usage(format!("cannot read standard input: {}", plain(&error))))?;
        let sources = SourceMap::of("standard input", text);
        print(&format(&sources, terminal)?);
        return Ok(());
    }
    let mut files = if arguments.paths.is_empty() { programs_below(Path::new("."))? } else { vec![] };
    for path in &arguments.paths {
        if path.is_dir() {
            files.extend(programs_below(path)?);
        } else {
            files.push(path.clone());
        }
    }
    let mut result = Ok(());
    for path in &files {
        // One file's mistakes keep no other from being laid out.
        if let Err(failure) = format_file(path, arguments.check, terminal) {
            if failure.message().is_some() {
                return Err(failure);
            }
            result = Err(failure);
        }
    }
    result
}

fn format_file(path: &Path, check: bool, terminal: &Terminal) -> Result {
    let sources = SourceMap::of(path.display().to_string(), read(path)?);
    let text = format(&sources, terminal)?;
    if sources.file(FileId(0)).is_some_and(|file| file.text == text) {
        return Ok(());
    }
    if check {
        print(&format!("{}: not laid out (run `flux fmt {}`)\n", path.display(), path.display()));
        return Err(Failure::Program);
    }
    std::fs::write(path, text)
        .map_err(|error| Failure::usage(format!("cannot write {}: {}", path.display(), plain(&error))))?;
    terminal.progress("Formatted", &path.display().to_string());
    Ok(())
}

/// The one file of `sources`, laid out. Shows what is wrong with it, if anything.
fn format(sources: &SourceMap, terminal: &Terminal) -> Result<String> {
    flux_format::format(sources, FileId(0)).map_err(|refusal| match refusal {
        Refusal::Mistakes(diagnostics) => {
            show(&diagnostics, sources, |_| true, terminal);
            Failure::Program
        }
        Refusal::Contradiction => {
            let name = sources.file(FileId(0)).map_or("", |file| file.name.as_str());
            Failure::usage(format!(
                "{name} would be another program if it were laid out, and is left as it is: a fault of flux, not of \
                 your program; please report it"
            ))
        }
    })
}

/// All programs in a folder and below it, in order of their names.
fn programs_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let unlisted = |error| Failure::usage(format!("cannot list {}: {}", folder.display(), plain(&error)));
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).map_err(unlisted)?.filter_map(|entry| entry.ok()).map(|entry| entry.path()).collect();
    entries.sort();
    let mut found = vec![];
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // A link could lead back up.
        if path.is_dir() && !path.is_symlink() && !name.starts_with('.') && !BUILT.contains(&name.as_ref()) {
            found.extend(programs_below(&path)?);
        } else if path.is_file() && path.extension().is_some_and(|ending| ending == "flux" || ending == "flick") {
            found.push(path.strip_prefix(".").unwrap_or(&path).to_owned());
        }
    }
    Ok(found)
}
