//! Headers that the program includes and the C++ compiler does not find: an error of the program, at its statement.

use crate::{ids, without_colours};
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::Program;

/// Says which headers of the program the compiler did not find, as far as it `said` so.
pub fn report(said: &str, program: &Program, diagnostics: &mut Diagnostics) {
    let said = without_colours(said);
    let names: Vec<&str> = said.lines().filter_map(not_found).collect();
    let of_modules = program.modules.iter().flat_map(|(_, module)| &module.includes);
    let includes = program.includes.iter().chain(of_modules);
    for include in includes.filter(|include| names.contains(&include.path.as_str())) {
        let headline = format!("the header `{}` does not exist", include.path);
        let help = "put it beside the program, or name its folder: `--cflag -IFOLDER`; the headers of a \
                    library are in a package, whose name mostly ends in -dev";
        diagnostics.push(Diagnostic::error(ids::MISSING_HEADER, headline, include.span).help(help));
    }
}

/// The name in g++'s `fatal error: kv.h: No such file or directory`, or clang's `fatal error: 'kv.h' file not found`.
fn not_found(line: &str) -> Option<&str> {
    let (_, error) = line.split_once("fatal error: ")?;
    let of_gcc = error.strip_suffix(": No such file or directory");
    of_gcc.or_else(|| error.strip_prefix('\'')?.strip_suffix("' file not found"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_compilers_name_the_header() {
        let gcc = "./a.flux.h:8:10: fatal error: model/kv.h: No such file or directory";
        assert_eq!(not_found(gcc), Some("model/kv.h"));
        assert_eq!(not_found("a.flux.h:8:10: fatal error: 'kv.h' file not found"), Some("kv.h"));
        assert_eq!(not_found("cc1plus: fatal error: no input files"), None);
        assert_eq!(not_found("a.cpp:1:1: error: kv.h: No such file or directory"), None);
    }
}
