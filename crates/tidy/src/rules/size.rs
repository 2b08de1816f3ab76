//! A file stays under 800 lines and a function under 70, from the first day: what is longer is about two things.

use super::{CPP, SOURCES};
use crate::repository::File;
use crate::{Finding, Repository, cpp, rust};

const MAX_FILE_LINES: usize = 799;
const MAX_FUNCTION_LINES: usize = 69;

/// Files that are too long.
pub fn files(repository: &Repository) -> Vec<Finding> {
    let lengths = repository.with_extension(SOURCES).map(|file| (file.path, file.lines().count()));
    lengths
        .filter(|(_, length)| *length > MAX_FILE_LINES)
        .map(|(path, length)| {
            let message = format!("has {length} lines, {MAX_FILE_LINES} are allowed: split it, one concept a file");
            Finding::new(path, MAX_FILE_LINES + 1, message)
        })
        .collect()
}

/// Functions of Rust and C++ that are too long.
pub fn functions(repository: &Repository) -> Vec<Finding> {
    let rust = repository.with_extension(&["rs"]).flat_map(|file| judge(file, of_rust(file)));
    // Generated code is as long as the flow that it is generated from.
    let is_written = |file: &File| ![".flux.cpp", ".flux.h"].iter().any(|ending| file.path.ends_with(ending));
    let cpp = repository.with_extension(CPP).filter(is_written).flat_map(|file| judge(file, of_cpp(file)));
    rust.chain(cpp).collect()
}

/// The name, line and length of each function, or the line and message of what could not be read.
type Functions = Result<Vec<(String, usize, usize)>, (usize, String)>;

fn of_rust(file: File) -> Functions {
    Ok(rust::functions(file.text)?.into_iter().map(|it| (it.name, it.line, it.line_count)).collect())
}

fn of_cpp(file: File) -> Functions {
    let functions = cpp::functions(file.text)
        .map_err(|line| (line, "braces do not balance: keep them balanced in each branch of an #if".to_owned()))?;
    Ok(functions.into_iter().map(|it| (it.name, it.line, it.line_count)).collect())
}

fn judge(file: File, functions: Functions) -> Vec<Finding> {
    let functions = match functions {
        Ok(functions) => functions,
        Err((line, message)) => return vec![Finding::new(file.path, line, message)],
    };
    let long = functions.into_iter().filter(|(_, _, length)| *length > MAX_FUNCTION_LINES);
    long.map(|(name, line, length)| {
        let message =
            format!("`{name}` has {length} lines, {MAX_FUNCTION_LINES} are allowed: give its steps names of their own");
        Finding::new(file.path, line, message)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    #[test]
    fn a_file_of_800_lines_is_too_long() {
        let (fits, too_long) = ("\n".repeat(799), "\n".repeat(800));
        let repository = [("a.rs", too_long.as_str()), ("b.rs", &fits), ("c.hpp", &too_long), ("d.md", &too_long)];
        assert_found(files, &repository, &["a.rs:800: has 800 lines", "c.hpp:800: "]);
    }

    #[test]
    fn a_function_of_70_lines_is_too_long() {
        let rust = |lines: usize| format!("//\nfn f() {{{}}}\n", "\n".repeat(lines - 1));
        let cpp = |lines: usize| format!("//\nvoid f()\n{{{}}}\n", "\n".repeat(lines - 2));
        let texts = [rust(70), rust(69), cpp(70), cpp(69)];
        let repository = [
            ("a.rs", texts[0].as_str()),
            ("b.rs", &texts[1]),
            ("c.cpp", &texts[2]),
            ("d.cpp", &texts[3]),
            ("e.flux.cpp", &texts[2]),
        ];
        assert_found(functions, &repository, &["a.rs:2: `f` has 70 lines", "c.cpp:2: `f` has 70 lines"]);
    }

    #[test]
    fn what_cannot_be_read_is_not_passed_over() {
        let repository = [("a.rs", "fn f( {}\n"), ("b.cpp", "void f() {\n")];
        assert_found(functions, &repository, &["a.rs:1: is not Rust", "b.cpp:2: braces do not balance"]);
    }
}
