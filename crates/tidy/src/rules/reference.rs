//! The reference of the C++ interface for nodes is the headers that nodes may include, as they are today: those that
//! lie in front in the runtime, without what is private in them.

use crate::{Finding, Repository};
use std::fmt::Write as _;

/// Where it is, in the book.
const REFERENCE: &str = "docs/reference.md";
/// Where the headers are that nodes may include; the folders below are the runtime's own.
const HEADERS: &str = "runtime/include/flux";
/// A header for generated code alone.
const GENERATED: &str = "generated_support.hpp";

const INTRODUCTION: &str = "\
# The C++ interface for nodes

What functions of nodes may include and call, header by header. A node needs none of it: it is a function. These are for
nodes that wait, that have connections, or that log. This page is made of the headers themselves:
`cargo run -p flux_tidy --example reference > docs/reference.md`.
";

/// Whether the page is what the headers say.
pub fn check(repository: &Repository) -> Vec<Finding> {
    let expected = reference(repository);
    let Some(text) = repository.text(REFERENCE) else {
        return vec![Finding::new(REFERENCE, 1, "is missing: it is made of the headers")];
    };
    if text == expected {
        return vec![];
    }
    let same = text.lines().zip(expected.lines()).take_while(|(one, other)| one == other).count();
    let advice = "is not what the headers say: cargo run -p flux_tidy --example reference > docs/reference.md";
    vec![Finding::new(REFERENCE, same + 1, advice)]
}

/// The page, as it should be.
pub fn reference(repository: &Repository) -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut headers: Vec<_> = repository.with_extension(&["hpp"]).filter(|file| file.folder() == HEADERS).collect();
    headers.retain(|file| file.name() != GENERATED);
    headers.sort_by_key(|file| file.path);
    for header in headers {
        let about = header.text.lines().map_while(|line| line.strip_prefix("///")).filter(|line| *line != " \\file");
        let about: String = about.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect();
        // A header that the text names without its folders is named from the root, as in all the book.
        let name = |part: &str| match repository.has(&format!("{HEADERS}/{part}")) {
            true => format!("{HEADERS}/{part}"),
            false => part.to_owned(),
        };
        let about = about.split('`').map(name).collect::<Vec<_>>().join("`");
        let code = public(header.text);
        // Writing to a string cannot fail.
        let _ = write!(page, "\n## flux/{}\n\n{about}\n```cpp\n{code}```\n", header.name());
    }
    page
}

/// What is declared in a header, but for what is private.
fn public(header: &str) -> String {
    let mut code = String::new();
    let mut is_private = false;
    let is_of_file =
        |line: &str| line.starts_with('#') || line == "namespace flux {" || line.starts_with("} // namespace");
    for line in header.lines().skip_while(|line| line.starts_with("///")).filter(|line| !is_of_file(line)) {
        is_private = (is_private || line.trim() == "private:") && !line.starts_with('}') && line.trim() != "public:";
        let repeats = line.is_empty() && (code.is_empty() || code.ends_with("\n\n"));
        if !is_private && !repeats {
            if line.starts_with('}') {
                code.truncate(code.trim_end().len() + 1);
            }
            code += line;
            code.push('\n');
        }
    }
    code.truncate(code.trim_end().len());
    code + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    const HEADER: &str = "/// \\file\n/// Sleep.\n///\n/// More.\n#pragma once\n\n#include <a>\n\nnamespace flux {\n\n\
                          /// A bed.\nclass bed\n{\n  public:\n    void lie();\n\n  private:\n    int size_;\n};\n\n\
                          int sleep();\n\n} // namespace flux\n";

    #[test]
    fn a_header_becomes_a_section() {
        let files = [("runtime/include/flux/sleep.hpp", HEADER), ("runtime/include/flux/io/ring.hpp", HEADER)];
        let page = reference(&Repository::of(&files));
        let section = "\n## flux/sleep.hpp\n\nSleep.\n\nMore.\n\n```cpp\n/// A bed.\nclass bed\n{\n  public:\n\
                       \x20   void lie();\n};\n\nint sleep();\n```\n";
        assert_eq!(page, format!("{INTRODUCTION}{section}"));
    }

    #[test]
    fn a_page_that_is_old_is_found() {
        let header = ("runtime/include/flux/sleep.hpp", HEADER);
        let page = reference(&Repository::of(&[header]));
        assert_found(check, &[header, (REFERENCE, page.as_str())], &[]);
        let old = page.replace("int sleep", "int doze");
        assert_found(check, &[header, (REFERENCE, old.as_str())], &["docs/reference.md:21: is not what the headers"]);
        assert_found(check, &[header], &["docs/reference.md:1: is missing"]);
    }
}
