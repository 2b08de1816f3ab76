//! `flux graph`

use crate::arguments::{Graph, Picture};
use crate::failure::{Failure, Result};
use crate::program::{Notes, compile, plain};
use crate::terminal::{Terminal, print};
use std::io::{ErrorKind, Write as _};
use std::process::{Command, Stdio};

/// Draws a program.
pub fn graph(arguments: &Graph, terminal: &Terminal) -> Result {
    let format = format(arguments)?;
    let program = compile(&arguments.program)?;
    program.report(Notes::Hidden, terminal)?;
    let flow = program.compilation.flow.as_ref().ok_or(Failure::Program)?;
    let draw = if arguments.constraints { flux_picture::draw_with_constraints } else { flux_picture::draw };
    let drawn = draw(flow, &program.sources);
    let picture = match format {
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

/// The form that is asked for, or that the output's ending says.
fn format(arguments: &Graph) -> Result<Picture> {
    let ending = arguments.output.as_ref().and_then(|path| path.extension()?.to_str());
    match (arguments.format, ending) {
        (Some(format), _) => Ok(format),
        (None, None | Some("dot" | "gv")) => Ok(Picture::Dot),
        (None, Some("svg")) => Ok(Picture::Svg),
        (None, Some("mmd" | "mermaid")) => Ok(Picture::Mermaid),
        (None, Some(other)) => Err(Failure::usage(format!(
            "flux draws no .{other}: let the output end in .svg, .dot or .mmd, or say which it is with --format"
        ))),
    }
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
