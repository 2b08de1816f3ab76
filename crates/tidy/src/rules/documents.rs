//! Every path that a document names exists: links, and code in the text that looks like a path.

use crate::markdown::{Mention, mentions};
use crate::repository::{File, resolve};
use crate::{Finding, Repository};

/// Paths in documents that lead nowhere.
pub fn paths(repository: &Repository) -> Vec<Finding> {
    let documents = repository.with_extension(&["md"]);
    let named = documents.flat_map(|file| mentions(file).into_iter().map(move |mention| (file, mention)));
    named.filter_map(|(file, mention)| judge(repository, file, mention)).collect()
}

/// Rows of the glossary that name no file.
pub fn glossary(repository: &Repository) -> Vec<Finding> {
    const PATH: &str = "GLOSSARY.md";
    let Some(text) = repository.text(PATH) else {
        return vec![Finding::new(PATH, 1, "is missing: it has one row a concept, with the files it is in")];
    };
    let file = File { path: PATH, text };
    let rows = file.lines().filter(|(_, line)| line.starts_with('|')).skip(2);
    let without_file = rows.filter(|(_, row)| {
        let mut code = row.split('`').skip(1).step_by(2);
        !code.any(|path| path.contains('/') && repository.has(path))
    });
    let message = "names no file that is there: a term of Flux is in the model, in the runtime, or on a page";
    without_file.map(|(line, _)| Finding::new(PATH, line, message)).collect()
}

fn judge(repository: &Repository, file: File, mention: Mention) -> Option<Finding> {
    let exists = |folder: &str, path: &str| resolve(folder, path).is_some_and(|path| repository.has(&path));
    match mention {
        Mention::Link(line, target) => {
            let path = target.split(['#', ' ']).next().unwrap_or("");
            let is_elsewhere = path.contains(':') || path.is_empty();
            let message = format!("links to `{path}`, which is not there: name the file as seen from this document");
            (!is_elsewhere && !exists(file.folder(), path)).then(|| Finding::new(file.path, line, message))
        }
        Mention::Code(line, text) => {
            // As seen from the root, from the document, or by an `#include`.
            let folders = ["", file.folder(), "runtime/include"];
            let is_there = || folders.iter().any(|folder| exists(folder, &text));
            let message = format!("names `{text}`, which is not there: name the file from the root of the repository");
            (looks_like_path(repository, &text) && !is_there()).then(|| Finding::new(file.path, line, message))
        }
    }
}

/// Whether a piece of code is meant as a path of this repository: it begins in a folder of ours or ends like a source.
/// What builds leave behind (`build/`, `target/`) is no part of it.
fn looks_like_path(repository: &Repository, text: &str) -> bool {
    const ENDINGS: [&str; 11] = [".rs", ".hpp", ".cpp", ".h", ".c", ".md", ".flux", ".toml", ".sh", ".py", ".txt"];
    let is_spelled_like_one = text.chars().all(|it| it.is_ascii_alphanumeric() || "_-.*/".contains(it));
    let mut parts = text.split('/');
    let first = parts.next().unwrap_or("");
    is_spelled_like_one
        && !first.is_empty()
        && !first.starts_with('-')
        && parts.next().is_some()
        && !text.split('/').any(|part| matches!(part, "build" | "target"))
        && (repository.has(first) || ENDINGS.iter().any(|ending| text.ends_with(ending)))
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    const THERE: [(&str, &str); 3] =
        [("crates/ir/src/flow.rs", ""), ("runtime/include/flux/constraint/lock.hpp", ""), ("docs/tour.md", "")];

    fn found(document: &str, expected: &[&str]) {
        let files = [&THERE[..], &[("docs/a.md", document)]].concat();
        assert_found(paths, &files, expected);
    }

    #[test]
    fn links_lead_somewhere() {
        found("[a](tour.md) [b](../crates/ir) [c](https://example.org/x) [d](#here) [e](tour.md#end)\n", &[]);
        found("text\n[a](docs/tour.md)\n", &["docs/a.md:2: links to `docs/tour.md`"]);
        found("[a](../../b)\n\n[c]: no.md\n", &["docs/a.md:1: links to `../../b`", "docs/a.md:3: links to `no.md`"]);
    }

    #[test]
    fn code_that_looks_like_a_path_is_one() {
        found("`crates/ir/src/flow.rs` `crates/*/src` `flux/constraint/lock.hpp` `docs/` `tour.md`\n", &[]);
        found("`crates/ir/src/flows.rs`\n", &["docs/a.md:1: names `crates/ir/src/flows.rs`"]);
        found("`flux/locks.hpp`\n", &["docs/a.md:1: names `flux/locks.hpp`"]);
        found("`crates/*/source`\n", &["docs/a.md:1: names `crates/*/source`"]);
    }

    #[test]
    fn other_code_is_not() {
        found(
            "`a/b` `text/plain` `HTTP/1.1` `std::fs` `x / y` `/tmp/x.rs` `build/image/image.flux.cpp` `-I/x.h`\n",
            &[],
        );
        found("```sh\ncat `crates/nowhere.rs`\n```\n", &[]);
    }

    #[test]
    fn a_row_of_the_glossary_names_a_file() {
        let text = "\
| term | meaning | model                   |
| ---- | ------- | ----------------------- |
| flow | one     | `crates/ir/src/flow.rs` |
| lock | another | –                       |
";
        let files = [&THERE[..], &[("GLOSSARY.md", text)]].concat();
        assert_found(glossary, &files, &["GLOSSARY.md:4: names no file"]);
        assert_found(glossary, &THERE, &["GLOSSARY.md:1: is missing"]);
    }
}
