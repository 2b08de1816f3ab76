//! What the C++ compiler and the linker say, told in the program's own terms: a missing function is the node's that has
//! none, and an error in generated code is at the line of the program that it was made from.

use super::definitions::{Definition, definitions};
use super::interface_2006::headers;
use super::linker::{is_heading, missing_library, undefined, undefined_calls};
use super::prototypes::{Prototype, plain_prototype, prototypes};
use super::sources::NodeSource;
use super::{assertions, links, unknown_types};
use crate::program::Program;
use crate::terminal::Terminal;
use flux_back_cpp::GeneratedFile;
use flux_back_cpp::plain::Visible;
use flux_driver::ids;
use std::collections::BTreeSet;

/// What was compiled and linked.
pub struct Parts<'a> {
    /// The files that were generated.
    pub generated: &'a [GeneratedFile],
    /// The functions that headers declare.
    pub visible: &'a Visible,
    /// The sources of the nodes.
    pub sources: &'a [NodeSource],
    /// Whether there are libraries, which may have functions, too.
    pub has_libraries: bool,
}

/// Shows what failed. Where there are sources or libraries, only the linker knows which functions the program lacks.
pub fn show(output: &str, program: &Program, parts: &Parts<'_>, terminal: &Terminal) {
    let generated = parts.generated;
    if unknown_types::show(output, program, generated, terminal) {
        if parts.sources.is_empty() && !parts.has_libraries {
            show_missing(&asked_for(program, parts), program, parts.sources, terminal);
        }
        return;
    }
    if assertions::show(output, generated, terminal) {
        return;
    }
    let missing = missing_functions(output, program, parts);
    let calls = undefined_calls(output, |name| missing.iter().any(|one| one.name == name));
    let libraries: BTreeSet<_> = output.lines().filter_map(missing_library).collect();
    let is_linking = !missing.is_empty() || !calls.is_empty() || !libraries.is_empty();
    let mut origins = BTreeSet::new();
    for line in output.lines() {
        let is_said_below = undefined(line).is_some() || missing_library(line).is_some();
        if is_said_below || is_noise(line, is_linking) {
            continue;
        }
        terminal.show(&format!("{line}\n"));
        if let Some(origin) = origin(line, generated)
            && origins.insert(origin.clone())
        {
            terminal.show(&format!("  … which was made from {origin}\n"));
        }
    }
    show_missing(&missing, program, parts.sources, terminal);
    for library in libraries {
        terminal.diagnose(ids::MISSING_LIBRARY, &format!("the library `{library}` is not installed"));
        terminal.show(&format!("  help: {}\n\n", links::advice(library)));
    }
    for (name, place) in calls {
        let headline = format!("`{name}` is used, and neither a source nor a library defines it");
        terminal.diagnose(ids::UNDEFINED_FUNCTION, &headline);
        terminal.show(&place.map_or(String::new(), |place| format!("  used first in {place}\n")));
        terminal.show("  help: add the source that does, or say which library: `link \"NAME\";` in the program\n\n");
    }
}

/// Shows the functions that nobody defines, each with what defines it.
fn show_missing(missing: &[Prototype], program: &Program, sources: &[NodeSource], terminal: &Terminal) {
    let in_headers: Vec<_> = headers(sources).iter().flat_map(|text| definitions(text)).collect();
    let defined: Vec<_> = sources.iter().flat_map(|source| &source.functions).chain(&in_headers).collect();
    for function in missing {
        let mut namesakes: Vec<_> = defined.iter().filter(|one| one.name == function.own_name()).collect();
        namesakes.sort_by_key(|one| !is_beside(function, one));
        let namesake = namesakes.first().copied();
        let takes_references = namesake.is_some_and(|namesake| takes_references(function, namesake));
        let (id, fault, help) = match takes_references {
            true => (ids::STRUCT_REFERENCE, "takes references to its structs, and is given pointers", "take pointers"),
            false => (ids::MISSING_FUNCTION, "is not defined in any source", "define it"),
        };
        terminal.diagnose(id, &format!("the function `{}` {fault}", function.name));
        terminal.show(&format!("  asked for by {}\n", function.asked_by));
        if let Some(namesake) = namesake.filter(|_| !takes_references) {
            terminal.show(&format!("  note: {}\n", about_namesake(function, namesake, program)));
        }
        let stub: String = function.stub().lines().map(|line| format!("    {line}\n")).collect();
        terminal.show(&format!("  help: {help}\n\n{stub}\n"));
    }
    if missing.len() > 1 {
        let (path, count) = (program.path.display(), missing.len());
        terminal.show(&format!("  help: `flux stubs {path} -o FILE.cpp` writes all {count}\n"));
    }
}

/// Whether a definition is in the namespace in which a function is wanted.
fn is_beside(wanted: &Prototype, defined: &Definition) -> bool {
    defined.namespace == wanted.namespace.as_deref().unwrap_or_default()
}

/// Whether a definition is the function that is wanted, but for its structs, which it takes by reference.
fn takes_references(wanted: &Prototype, defined: &Definition) -> bool {
    let is_struct = |parameter: &String| parameter.contains("_in &") || parameter.contains("_out &");
    is_beside(wanted, defined) && defined.parameters.iter().any(is_struct)
}

/// Why a definition of that name is not the function that is missing, and what makes it that.
fn about_namesake(wanted: &Prototype, defined: &Definition, program: &Program) -> String {
    let found = defined.qualified_name();
    if is_beside(wanted, defined) {
        let includer = if wanted.namespace.is_some() { "module" } else { "program" };
        let advice = format!("if that is meant, declare it in a header that the {includer} includes");
        return format!("a `{found}` with other parameters is defined: {advice}");
    }
    let mut modules = program.compilation.program().into_iter().flat_map(|model| model.modules.iter());
    let advice = match &wanted.namespace {
        _ if modules.any(|(_, module)| module.name == defined.namespace) => {
            format!("a flow names it with its module, as in `{}.{}`", defined.namespace, defined.name)
        }
        Some(namespace) => format!("put it into `namespace {namespace}`, which is the module's"),
        None => format!("take it out of there, or, where a header declares it, say `using {found};` after that"),
    };
    format!("`{found}` is another function: {advice}")
}

fn missing_functions(output: &str, program: &Program, parts: &Parts<'_>) -> Vec<Prototype> {
    let names: BTreeSet<&str> = output.lines().filter_map(undefined).collect();
    let mut missing = asked_for(program, parts);
    missing.retain(|prototype| names.contains(prototype.name.as_str()));
    missing
}

/// All functions that the program asks for.
fn asked_for(program: &Program, parts: &Parts<'_>) -> Vec<Prototype> {
    let plain = parts.visible.declarations().map(|declaration| plain_prototype(declaration, program));
    plain.chain(prototypes(parts.generated)).collect()
}

/// Lines that say nothing beside what is said already.
fn is_noise(line: &str, linking: bool) -> bool {
    // Of a recipe that failed whoever it ran has said more; what make itself cannot do nobody else says.
    let of_make = ["make: *** [", "make: *** Waiting", "make["].iter().any(|start| line.starts_with(start));
    // Clang counts them; g++ says that some of them are errors, which stands at each.
    let is_count = line.ends_with(" generated.") || line.ends_with(": some warnings being treated as errors");
    of_make || is_count || linking && (is_heading(line) || line.contains("in function `flux_flows::"))
}

/// For a line about a place in a generated file, what the comment over that place says: `image.flux, line 12: …`.
fn origin(line: &str, generated: &[GeneratedFile]) -> Option<String> {
    let line = line.trim_start_matches("./");
    let file = generated.iter().find(|file| line.starts_with(&format!("{}:", file.name)))?;
    let number: usize = line.split(':').nth(1)?.parse().ok()?;
    let lines: Vec<&str> = file.text.lines().take(number).collect();
    let comment = lines.iter().rev().map(|line| line.trim()).find_map(|line| line.strip_prefix("// "))?;
    let (file, place) = comment.split_once(".flux:")?;
    let (number, text) = place.split_once(':').unwrap_or((place, ""));
    Some(format!("{file}.flux, line {number}:{text}"))
}
