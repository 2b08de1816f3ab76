//! Prints the table of calls that may block:
//! `cargo run -p flux_tidy --example calls > docs/calls.md`.

use flux_tidy::{Repository, calls};
use std::io::Write as _;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    std::io::stdout().write_all(calls(&Repository::open(&root)?).as_bytes())
}
