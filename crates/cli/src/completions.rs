//! `flux completions`

use crate::arguments::{Arguments, Completions};
use crate::failure::Result;
use crate::terminal::print;
use clap::CommandFactory as _;

/// Prints what a shell reads to complete calls of `flux`.
pub fn completions(arguments: &Completions) -> Result {
    let mut script = vec![];
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "flux", &mut script);
    print(&String::from_utf8_lossy(&script));
    Ok(())
}
