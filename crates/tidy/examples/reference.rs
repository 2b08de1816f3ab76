//! Prints the reference of the C++ interface for nodes:
//! `cargo run -p flux_tidy --example reference > docs/reference.md`.

use flux_tidy::{Repository, reference};
use std::io::Write as _;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    std::io::stdout().write_all(reference(&Repository::open(&root)?).as_bytes())
}
