//! Types that a program names and no header declares. A C++ compiler reports such a type wherever it occurs in
//! generated headers, and then everything that depends on it; here it is reported once, in the program's terms.

use crate::{Build, ids, without_colours};
use flux_diagnostic::{Diagnostic, Diagnostics, nearest};
use flux_ir::program::Program;
use flux_ir::types::built_in_names;
use flux_source::Span;

/// Says which types are unknown. Whether there are any: then whatever else the compilers said comes of it, unless it
/// is about a header of the author's, which may be the cause; such output is left to be shown as it is.
pub fn report(output: &str, build: &Build<'_>, diagnostics: &mut Diagnostics) -> bool {
    let output = without_colours(output);
    let errors = || output.lines().filter_map(|line| line.split_once(": error: "));
    // The folder of the build is where headers are looked for: `./mStructs.h`.
    let file = |place: &str| place.split(':').next().unwrap_or_default().trim_start_matches("./").to_owned();
    let is_generated = |place: &str| build.generated.iter().any(|one| one.name == file(place));
    let is_header = |place: &str| [".h", ".hh", ".hpp", ".hxx"].iter().any(|ending| file(place).ends_with(ending));
    if errors().any(|(place, _)| is_header(place) && !is_generated(place)) {
        return false;
    }
    let names = errors().filter(|(place, _)| is_header(place)).filter_map(|(_, message)| unknown_name(message));
    let mut types: Vec<(&str, Span)> = vec![];
    for unknown in names.filter_map(|name| find(build.program, name)) {
        if !types.contains(&unknown) {
            types.push(unknown);
        }
    }
    for (name, span) in &types {
        let headline = format!("the type `{name}` is not declared in any header of the program");
        let help = advice(build.program, name);
        diagnostics.push(Diagnostic::error(ids::UNKNOWN_TYPE, headline, *span).help(help));
    }
    !types.is_empty()
}

/// A type of the language whose name is like `unknown`, or else how a type of C++ is declared.
fn advice(program: &Program, unknown: &str) -> String {
    let declared = program.types.iter().map(|(_, declared)| declared.name.to_string());
    let names: Vec<String> = built_in_names().map(str::to_owned).chain(declared).collect();
    match nearest(unknown, names.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "declare it in a header beside the program, and name that: `include \"types.h\";`".to_owned(),
    }
}

/// The first quoted word of g++'s `'image_tag' does not name a type`, or clang's `unknown type name 'image_tag'`.
fn unknown_name(message: &str) -> Option<&str> {
    let phrases = ["does not name a type", "unknown type name", "no template named"];
    phrases.iter().any(|phrase| message.contains(phrase)).then(|| message.split('\'').nth(1)).flatten()
}

/// The type as the program writes it, qualified, and where it does so first.
fn find<'a>(program: &'a Program, name: &str) -> Option<(&'a str, Span)> {
    let lists = program.nodes.iter().flat_map(|(_, node)| [node.inputs(), node.outputs()]);
    for parameter in lists.flatten() {
        if let Some(word) = parameter.ty.words().find(|word| word.split("::").last() == Some(name)) {
            return Some((word, parameter.span));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_is_like_one_of_the_language_was_meant_to_be_that() {
        let record = "program p\n\nrecord picture {\n  field text path\n}\n";
        let program = flux_ir::text::parse_program(record).unwrap();
        assert_eq!(advice(&program, "pictrue"), "did you mean `picture`?");
        assert_eq!(advice(&program, "unit32"), "did you mean `uint32`?");
        assert!(advice(&program, "image_tag").starts_with("declare it in a header"));
    }

    #[test]
    fn both_compilers_name_the_type() {
        assert_eq!(unknown_name("'image_tag' does not name a type; did you mean 'image'?"), Some("image_tag"));
        assert_eq!(unknown_name("'foo' in namespace 'std' does not name a type"), Some("foo"));
        assert_eq!(unknown_name("unknown type name 'image_tag'"), Some("image_tag"));
        assert_eq!(unknown_name("'struct A_in' has no member named 'request'"), None);
    }
}
