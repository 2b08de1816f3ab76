//! Runs every rule on this repository; each is a test by its name.

use flux_tidy::{RULES, Repository};
use libtest_mimic::{Arguments, Trial};
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> io::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let repository = Arc::new(Repository::open(&root)?);
    let trials = RULES.iter().map(|rule| {
        let repository = Arc::clone(&repository);
        Trial::test(rule.name, move || {
            let mut findings = (rule.check)(&repository);
            findings.sort();
            let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
            if shown.is_empty() { Ok(()) } else { Err(format!("\n{}", shown.join("\n")).into()) }
        })
    });
    Ok(libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code())
}
