//! Assertions of generated code about the program's types that do not hold: that a type can be a key, or that a value
//! given to two branches can be copied. Only the C++ compiler knows. It is reported in the program's words, without the
//! compiler's follow-up errors.

use crate::{Build, ids, without_colours};
use flux_back_cpp::GeneratedFile;
use flux_diagnostic::{Diagnostic, Diagnostics};

/// Says what does not hold. Whether there is anything: then what else the compiler said mostly comes of it, and is left
/// for the next build.
pub fn report(output: &str, build: &Build<'_>, diagnostics: &mut Diagnostics) -> bool {
    let output = without_colours(output);
    let failed: Vec<_> = output.lines().filter_map(|line| failed_assertion(line, build.generated)).collect();
    for (place, words) in &failed {
        diagnostics.push(Diagnostic::error(ids::TYPE_REQUIREMENT, *words, build.statement(place)));
    }
    !failed.is_empty()
}

/// The place in the program and the words of an assertion that failed: g++ has these after a colon, clang after what is
/// required, in quotes.
fn failed_assertion<'said>(line: &'said str, generated: &[GeneratedFile]) -> Option<(&'said str, &'said str)> {
    generated.iter().find(|file| line.starts_with(&format!("{}:", file.name)))?;
    let (_, after) = line.split_once("error: static assertion failed")?;
    let said = after.strip_prefix(": ").or_else(|| after.split_once("': ").map(|(_, said)| said))?;
    said.split_once(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_compilers_quote_the_words() {
        let generated = [GeneratedFile { name: "a.flux.cpp".to_owned(), text: String::new() }];
        let words = "a.flux:7: the key 'd' of a must be an integer";
        let expected = Some(("a.flux:7", "the key 'd' of a must be an integer"));
        let gcc = format!("a.flux.cpp:35:21: error: static assertion failed: {words}");
        assert_eq!(failed_assertion(&gcc, &generated), expected);
        let required = "due to requirement 'flux::keyable<double>'";
        let clang = format!("a.flux.cpp:35:1: error: static assertion failed {required}: {words}");
        assert_eq!(failed_assertion(&clang, &generated), expected);
        assert_eq!(failed_assertion(&gcc.replace("a.flux.cpp", "nodes.cpp"), &generated), None);
        assert_eq!(failed_assertion("a.flux.cpp:1:1: error: expected ';'", &generated), None);
    }
}
