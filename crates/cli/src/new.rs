//! `flux new`: a folder with a server that runs at once.

use crate::arguments::{New, Template};
use crate::failure::{Failure, Result};
use crate::program::plain;
use crate::server::files::create_directory;
use crate::terminal::Terminal;
use std::io::ErrorKind;
use std::path::Path;

/// What stands for the program's name in the templates.
const PLACEHOLDER: &str = "NAME";

/// What `flux build` leaves.
const GITIGNORE: &str = "/build/\n";

/// Makes the folder. One that has anything in it is left as it is.
pub fn new(arguments: &New, terminal: &Terminal) -> Result {
    let folder = &arguments.folder;
    let name = program_name(folder)?;
    // A folder that is not there has no entries.
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries.count(),
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(Failure::usage(format!("cannot use {}: {}", folder.display(), plain(&error)))),
    };
    if entries > 0 {
        return Err(Failure::usage(format!("{} exists and is not empty: choose another name", folder.display())));
    }
    create_directory(folder)?;
    let (ending, program, nodes, readme) = match arguments.template {
        Template::Echo => (
            "flux",
            include_str!("../templates/echo/program.flux"),
            Some(include_str!("../templates/echo/nodes.cpp")),
            include_str!("../templates/echo/README.md"),
        ),
        Template::Http => (
            "flux",
            include_str!("../templates/http/program.flux"),
            Some(include_str!("../templates/http/nodes.cpp")),
            include_str!("../templates/http/README.md"),
        ),
        Template::Timer => (
            "flux",
            include_str!("../templates/timer/program.flux"),
            Some(include_str!("../templates/timer/nodes.cpp")),
            include_str!("../templates/timer/README.md"),
        ),
        Template::Flick => (
            "flick",
            include_str!("../templates/flick/program.flick"),
            None,
            include_str!("../templates/flick/README.md"),
        ),
    };
    let program_file = format!("{name}.{ending}");
    let always = [(program_file.as_str(), program), ("README.md", readme), (".gitignore", GITIGNORE)];
    for (file, text) in always.into_iter().chain(nodes.map(|nodes| ("nodes.cpp", nodes))) {
        let path = folder.join(file);
        std::fs::write(&path, text.replace(PLACEHOLDER, name))
            .map_err(|error| Failure::usage(format!("cannot write {}: {}", path.display(), plain(&error))))?;
    }
    // What its client's channel is bound to, a program in FLICK does not say.
    let bound = if arguments.template == Template::Flick { " -- --client=8080" } else { "" };
    terminal.progress("Created", &format!("{0} (try it: flux run {0}{bound})", folder.display()));
    Ok(())
}

/// The last part of the path, which becomes the program's name and stands in C++ includes.
fn program_name(folder: &Path) -> Result<&str> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '_' || character == '-';
    let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if starts_well && name.chars().all(is_plain) {
        return Ok(name);
    }
    let why = "a name has letters, digits, `_` and `-`, and starts with a letter";
    Err(Failure::usage(format!("`{}` cannot be the name of a program: {why}", folder.display())))
}
