//! `flux man`: a manual page for the command and one for each of its subcommands.

use crate::arguments::{Arguments, Man};
use crate::failure::{Failure, Result};
use crate::program::plain;
use crate::server::files::create_directory;
use clap::CommandFactory as _;

/// Writes the pages into a folder.
pub fn man(arguments: &Man) -> Result {
    create_directory(&arguments.folder)?;
    // `flux help build` is `flux build --help`: its pages would say everything again.
    let command = Arguments::command().disable_help_subcommand(true);
    clap_mangen::generate_to(command, &arguments.folder)
        .map_err(|error| Failure::usage(format!("cannot write {}: {}", arguments.folder.display(), plain(&error))))
}
