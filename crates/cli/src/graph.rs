//! `flux graph`

use crate::arguments::{Graph, MessageFormat, Picture};
use crate::failure::{Failure, Result};
use crate::program::{compile, plain};
use crate::terminal::{Terminal, print};
use flux_diagnostic::Severity;
use std::io::{ErrorKind, Write as _};
use std::process::{Command, Stdio};

/// Draws a program.
pub fn graph(arguments: &Graph, terminal: &Terminal) -> Result {
    let program = compile(&arguments.program)?;
    program.report(Severity::Warning, MessageFormat::Human, terminal)?;
    let flow = program.compilation.flow.as_ref().ok_or(Failure::Program)?;
    let drawn = flux_picture::draw(flow, &program.sources);
    let picture = match format(arguments) {
        Picture::Dot => flux_back_dot::write(&drawn),
        Picture::Svg => lay_out(&flux_back_dot::write(&drawn))?,
        Picture::Mermaid => flux_back_mermaid::write(&drawn),
    };
    match &arguments.output {
        None => print(&picture),
        Some(path) => std::fs::write(path, picture)
            .map_err(|error| Failure::usage(format!("cannot write {}: {}", path.display(), plain(&error))))?,
    }
    Ok(())
}

fn format(arguments: &Graph) -> Picture {
    let ending = arguments.output.as_ref().and_then(|path| path.extension()?.to_str());
    let by_ending = match ending {
        Some("svg") => Picture::Svg,
        Some("mmd" | "mermaid") => Picture::Mermaid,
        _ => Picture::Dot,
    };
    arguments.format.unwrap_or(by_ending)
}

/// Has Graphviz lay the picture out.
fn lay_out(dot: &str) -> Result<String> {
    let spawned = Command::new("dot").arg("-Tsvg").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::usage("svg needs Graphviz, which is not installed: apt-get install graphviz"),
        _ => Failure::usage(format!("cannot start dot: {}", plain(&error))),
    })?;
    // Written from here while dot only reads: it prints nothing before its input ends.
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(dot.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| Failure::usage(format!("dot failed: {}", plain(&error))))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(Failure::usage("dot could not draw the graph")),
    }
}
