//! `flux run`

use crate::arguments::Run;
use crate::failure::{Failure, Result};
use crate::program::plain;
use crate::server::build;
use crate::terminal::Terminal;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Builds the server and becomes it, so that signals and the exit status are the server's own.
pub fn run(arguments: &Run, terminal: &Terminal) -> Result {
    let server = build(&arguments.build, terminal)?;
    let error = Command::new(&server).args(&arguments.arguments).exec();
    Err(Failure::usage(format!("cannot start {}: {}", server.display(), plain(&error))))
}
