//! The standard modules: `.flux` files with their C++ beside them, carried inside the `flux` command so that `use
//! std.tcp;` works wherever it is installed.
//!
//! A module `std.NAME` is `std/NAME.flux` beside this crate's manifest, with all C++ of that stem, and of stems that go
//! on with an underscore and are no module's: `http_answer.cpp` is a part of `std.http`, `http_text.cpp` is not.

use include_dir::{Dir, File, include_dir};
use std::fmt::Write as _;

static STD: Dir = include_dir!("$CARGO_MANIFEST_DIR/std");

/// The modules, by name: what `use` calls each, `std.tcp`, and the text of its `.flux` file.
pub fn modules() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.iter().filter_map(|name| Some((*name, STD.get_file(path(name)?)?.contents_utf8()?)))
}

/// The C++ of a module: the name of each file, `tcp.cpp`, and its text. None of a module that there is not.
pub fn cpp(module: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_module = move |file: &&File<'_>| {
        let path = file.path();
        let is_cpp = path.extension().is_some_and(|end| end == "cpp" || end == "h");
        is_cpp && path.file_stem().and_then(|stem| stem.to_str()).and_then(module_of) == Some(module)
    };
    STD.files().filter(of_module).filter_map(|file| Some((file.path().to_str()?, file.contents_utf8()?)))
}

/// The reference of all modules, in Markdown: what each says of itself at its beginning, then its options and nodes
/// with the comments over them. A node without a comment is the module's own affair.
pub fn reference() -> String {
    let mut page = String::new();
    for (name, text) in modules() {
        let mut blocks = text.split("\n\n").map(Block::of);
        let about = blocks.next().map_or_else(String::new, |block| block.comment);
        let _ = write!(page, "## {name}\n\n{about}\n");
        for block in blocks.filter(|block| !block.comment.is_empty() && !block.statement.is_empty()) {
            let _ = write!(page, "\n```text\n{}\n```\n\n{}\n", block.statement, block.comment);
        }
        page.push('\n');
    }
    page
}

/// Some lines of a module between two empty ones: a comment, and the first statement after it, up to its body.
struct Block {
    comment: String,
    statement: String,
}

impl Block {
    fn of(text: &str) -> Self {
        let is_comment = |line: &&str| line.starts_with("//");
        let comment: Vec<&str> =
            text.lines().take_while(is_comment).map(|line| line.trim_start_matches("//").trim_start()).collect();
        let mut statement = vec![];
        for line in text.lines().skip_while(|line| is_comment(line)) {
            statement.push(line);
            if line.ends_with([';', '{']) {
                break;
            }
        }
        Self { comment: comment.join("\n"), statement: statement.join("\n") }
    }
}

/// What `use` calls the modules, in order.
const NAMES: [&str; 21] = [
    "std.bittorrent",
    "std.channels",
    "std.compress",
    "std.dns",
    "std.dns_message",
    "std.fastcgi",
    "std.files",
    "std.flick",
    "std.http",
    "std.http_message",
    "std.http_text",
    "std.ifile",
    "std.memcached",
    "std.memcached_text",
    "std.resp",
    "std.state",
    "std.tcp",
    "std.timer",
    "std.tls",
    "std.udp",
    "std.upstream",
];

/// Whose C++ a file of this stem is: of the module with the longest name that it begins with.
fn module_of(stem: &str) -> Option<&'static str> {
    let begins = |name: &&&str| {
        let rest = name.strip_prefix("std.").and_then(|name| stem.strip_prefix(name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    NAMES.iter().filter(begins).max_by_key(|name| name.len()).copied()
}

fn path(module: &str) -> Option<String> {
    module.strip_prefix("std.").map(|stem| format!("{stem}.flux"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_module_is_listed_with_its_cpp() {
        let flux = STD.files().filter(|file| file.path().extension().is_some_and(|end| end == "flux"));
        assert_eq!(modules().count(), NAMES.len());
        assert_eq!(flux.count(), NAMES.len());
        for (name, text) in modules() {
            assert!(!text.is_empty(), "{name}");
            // Those of messages alone need none.
            let has_cpp = cpp(name).any(|(file, text)| file.ends_with(".cpp") && !text.is_empty());
            assert!(has_cpp || text.contains("= unit"), "{name}");
        }
        assert!(NAMES.is_sorted());
        assert_eq!(cpp("std.none").count() + cpp("tcp").count(), 0);
    }
    /// `FLUX_WRITE=1 cargo test -p flux_nodes` writes the page anew.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test is a shell: it reads the page")]
    fn the_page_on_modules_says_what_the_modules_say() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/modules.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let (before, written) = page.split_at(page.find("## std.").unwrap());
        if std::env::var_os("FLUX_WRITE").is_some() {
            std::fs::write(&path, before.to_owned() + reference().trim_end() + "\n").unwrap();
        } else {
            assert_eq!(written.trim_end(), reference().trim_end(), "write it anew with FLUX_WRITE=1");
        }
    }
}
