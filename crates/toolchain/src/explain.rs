//! What failed when a server was made. A missing function belongs to the node that has none, an unknown type to the
//! program, and an error in generated code to the line of the program that the code was made from. Everything else is
//! in the author's C++, and is left as the compiler says it.

use crate::definitions::{Definition, definitions};
use crate::linker::{is_heading, missing_library, undefined, undefined_calls};
use crate::prototypes::Prototype;
use crate::{Build, NOWHERE, assertions, ids, unknown_types};
use flux_back_cpp::GeneratedFile;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::Program;
use std::collections::BTreeSet;

/// Says what is wrong, as far as the `output` of compilers and linker shows it in the program's terms; gives what else
/// there is to show of it. `install` says how to come by a library.
///
/// Where there are sources or libraries, only the linker knows which functions the program lacks.
pub fn explain(
    output: &str,
    build: &Build<'_>,
    install: &dyn Fn(&str) -> String,
    diagnostics: &mut Diagnostics,
) -> String {
    if unknown_types::report(output, build, diagnostics) {
        if build.sources.is_empty() && !build.has_libraries {
            report_missing(&asked_for(build), build, diagnostics);
        }
        return String::new();
    }
    if assertions::report(output, build, diagnostics) {
        return String::new();
    }
    let missing = missing_functions(output, build);
    let calls = undefined_calls(output, |name| missing.iter().any(|one| one.name == name));
    let libraries: BTreeSet<_> = output.lines().filter_map(missing_library).collect();
    let is_linking = !missing.is_empty() || !calls.is_empty() || !libraries.is_empty();
    report_missing(&missing, build, diagnostics);
    for library in libraries {
        let headline = format!("the library `{library}` is not installed");
        diagnostics.push(Diagnostic::error(ids::MISSING_LIBRARY, headline, NOWHERE).help(install(library)));
    }
    for (name, place) in calls {
        let headline = format!("`{name}` is used, but no source and no library defines it");
        let line = place.and_then(|(path, line)| Some(build.node_line(path, line)?.1));
        let error = Diagnostic::error(ids::UNDEFINED_FUNCTION, headline, line.unwrap_or(NOWHERE));
        let help = "add the source that defines it, or link the library: `link \"NAME\";` in the program";
        diagnostics.push(error.help(help));
    }
    other(output, build.generated, is_linking)
}

/// The lines of the output that are not told otherwise, each about generated code with what that was made from.
fn other(output: &str, generated: &[GeneratedFile], is_linking: bool) -> String {
    let mut kept = String::new();
    let mut origins = BTreeSet::new();
    for line in output.lines() {
        let is_told = undefined(line).is_some() || missing_library(line).is_some();
        if is_told || is_noise(line, is_linking) {
            continue;
        }
        kept += &format!("{line}\n");
        if let Some(origin) = origin(line, generated)
            && origins.insert(origin.clone())
        {
            kept += &format!("  … which was made from {origin}\n");
        }
    }
    kept
}

/// Reports the functions that nobody defines, each with what defines it.
fn report_missing(missing: &[Prototype], build: &Build<'_>, diagnostics: &mut Diagnostics) {
    let in_headers: Vec<_> = build.headers.iter().flat_map(|text| definitions(text)).collect();
    let defined: Vec<_> = build.sources.iter().flat_map(|source| &source.functions).chain(&in_headers).collect();
    let mut missing: Vec<_> = missing.iter().map(|one| (build.statement(&one.asked_by), one)).collect();
    missing.sort_by_key(|(span, _)| *span);
    for (index, (span, function)) in missing.iter().enumerate() {
        let mut namesakes: Vec<_> = defined.iter().filter(|one| one.name == function.own_name()).collect();
        namesakes.sort_by_key(|one| !is_beside(function, one));
        let namesake = namesakes.first().copied();
        let takes_references = namesake.is_some_and(|namesake| takes_references(function, namesake));
        let (id, fault, help) = match takes_references {
            true => {
                (ids::STRUCT_REFERENCE, "takes references to its structs, but is called with pointers", "take pointers")
            }
            false => (ids::MISSING_FUNCTION, "is not defined in any source", "define it"),
        };
        let mut error = Diagnostic::error(id, format!("the function `{}` {fault}", function.name), *span);
        if let Some(namesake) = namesake.filter(|_| !takes_references) {
            error = error.fact(about_namesake(function, namesake, build.program));
        }
        if missing.len() > 1 && index + 1 == missing.len() {
            error = error.fact(format!("`flux stubs {} -o FILE.cpp` writes all {}", build.path, missing.len()));
        }
        diagnostics.push(error.help(format!("{help}\n{}", function.stub().trim_end())));
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
    let advice = match &wanted.namespace {
        _ if program.modules.iter().any(|(_, module)| module.name == defined.namespace) => {
            format!("to use it in a flow, write it with its module, as in `{}.{}`", defined.namespace, defined.name)
        }
        Some(namespace) => format!("put it into `namespace {namespace}`, which is the module's"),
        None => format!("move it out of the namespace, or write `using {found};` in the header that declares it"),
    };
    format!("`{found}` is another function: {advice}")
}

fn missing_functions(output: &str, build: &Build<'_>) -> Vec<Prototype> {
    let names: BTreeSet<&str> = output.lines().filter_map(undefined).collect();
    let mut missing = asked_for(build);
    missing.retain(|prototype| names.contains(prototype.name.as_str()));
    missing
}

/// All functions that the program asks for.
fn asked_for(build: &Build<'_>) -> Vec<Prototype> {
    build.asked.iter().cloned().map(Prototype::from).collect()
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
