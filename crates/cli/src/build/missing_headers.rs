//! Headers that the program includes and the C++ compiler does not find: an error of the program, at its statement.

use crate::arguments::MessageFormat;
use crate::failure::Result;
use crate::program::{Notes, Program};
use crate::terminal::{Terminal, without_colours};
use flux_diagnostic::Diagnostics;
use flux_ir::program::Include;

/// Shows which headers of the program the compiler did not find, as far as it `said` so, and fails where there are any.
pub fn report(said: &str, program: &Program, terminal: &Terminal) -> Result {
    let said = without_colours(said);
    let names: Vec<&str> = said.lines().filter_map(not_found).collect();
    let model = program.compilation.program();
    let of_modules = model.into_iter().flat_map(|model| model.modules.iter()).flat_map(|(_, module)| &module.includes);
    let includes = model.into_iter().flat_map(|model| &model.includes).chain(of_modules);
    let missing: Vec<&Include> = includes.filter(|include| names.contains(&include.path.as_str())).collect();
    let mut diagnostics = Diagnostics::new();
    flux_driver::headers::report_missing(&missing, &mut diagnostics);
    program.show(&diagnostics, Notes::Hidden, MessageFormat::Human, terminal)
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
