//! `flux check`

use crate::arguments::{Check, MessageFormat};
use crate::failure::Result;
use crate::program::{Notes, compile};
use crate::terminal::{Terminal, print};
use flux_diagnostic::render;
use flux_driver::bounds::{Bound, Bounds, ProcessBounds, bounds, table};
use flux_driver::constraints::constraints;
use serde_json::json;

/// Checks a program and says what there is to say. Of what the compiler has found out for itself only how much that is,
/// unless all of it is asked for: programs read this as they read anything else.
pub fn check(arguments: &Check, terminal: &Terminal) -> Result {
    let program = compile(&arguments.program)?;
    let format = if arguments.json { MessageFormat::Json } else { arguments.format };
    let notes = match (arguments.quiet, arguments.notes || format == MessageFormat::Json) {
        (true, _) => Notes::Hidden,
        (false, true) => Notes::Shown,
        (false, false) => Notes::Advice,
    };
    let result = program.report(notes, &terminal.with_format(format));
    if format == MessageFormat::Human && !arguments.quiet {
        let diagnostics = &program.compilation.diagnostics;
        let found = render::summary(diagnostics).unwrap_or_else(|| "no errors".into());
        let remarks = render::remarks(diagnostics).filter(|_| notes == Notes::Advice);
        let remarks = remarks.map_or(String::new(), |remarks| format!("; {remarks}: --notes shows them"));
        terminal.show(&format!("{}: {found}{remarks}\n", program.path.display()));
    }
    if let (true, Some(flow)) = (arguments.bounds, &program.compilation.flow) {
        let bounds = bounds(&program.sources, &flow.program);
        match format {
            MessageFormat::Human => print(&table(&bounds)),
            MessageFormat::Json => print(&format!("{}\n", object(&bounds))),
        }
    }
    if let (true, Some(flow)) = (arguments.constraints, &program.compilation.flow) {
        print(&constraints(flow));
    }
    result
}

/// The bounds as an object of JSON; what has none has `null`.
fn object(bounds: &Bounds) -> serde_json::Value {
    let all = |bounds: &[Bound]| -> Vec<_> {
        bounds.iter().map(|bound| json!({ "what": bound.what, "most": bound.most, "note": bound.note })).collect()
    };
    let process = |process: &ProcessBounds| {
        let (run, steps) = (all(&process.run), all(&process.steps));
        json!({ "name": process.name, "run": run, "bytes": process.bytes, "steps": steps })
    };
    let processes: Vec<_> = bounds.processes.iter().map(process).collect();
    json!({
        "processes": processes,
        "shared": all(&bounds.shared),
        "messages": all(&bounds.messages),
        "nodes": all(&bounds.nodes),
    })
}
