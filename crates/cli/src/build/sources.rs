//! The C and C++ sources of a program's nodes.

use super::files::absolute;
use crate::failure::{Failure, Result};
use crate::program::plain;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A source file of nodes.
pub struct NodeSource {
    /// Its absolute path.
    pub path: PathBuf,
    /// Whether it is C; else C++.
    pub is_c: bool,
    /// The functions that it defines outside of namespaces; the generated header declares those of C with C linkage.
    pub functions: BTreeSet<String>,
}

/// The sources that were named, or those beside the program.
pub fn find(named: &[PathBuf], home: &Path) -> Result<Vec<NodeSource>> {
    let paths = if named.is_empty() { beside(home)? } else { named.to_vec() };
    paths.iter().map(|path| read(path)).collect()
}

fn beside(home: &Path) -> Result<Vec<PathBuf>> {
    let listing = std::fs::read_dir(home)
        .map_err(|error| Failure::usage(format!("cannot list {}: {}", home.display(), plain(&error))))?;
    let files = listing.filter_map(|entry| entry.ok()).map(|entry| entry.path());
    let mut found: Vec<_> = files.filter(|path| language(path).is_some()).collect();
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<NodeSource> {
    let Some(language) = language(path) else {
        let wanted = "a node's source ends in .c, .cc, .cpp or .cxx";
        return Err(Failure::usage(format!("{} is not C or C++: {wanted}", path.display())));
    };
    let is_c = language == Language::C;
    let path = absolute(path)?;
    let text = std::fs::read(&path)
        .map_err(|error| Failure::usage(format!("cannot read {}: {}", path.display(), plain(&error))))?;
    Ok(NodeSource { path, is_c, functions: defined_functions(&String::from_utf8_lossy(&text)) })
}

#[derive(PartialEq)]
enum Language {
    C,
    Cpp,
}

fn language(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()? {
        "c" => Some(Language::C),
        "cc" | "cpp" | "cxx" => Some(Language::Cpp),
        _ => None,
    }
}

/// The names of the functions that C or C++ text defines: a name, a parenthesis, and a brace after it, outside all
/// braces.
fn defined_functions(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let (mut depth, mut parentheses) = (0_usize, 0_usize);
    let mut candidate: Option<&str> = None;
    let mut last_word: Option<&str> = None;
    for token in tokens(text) {
        match token {
            "{" => {
                if let (0, 0, Some(name)) = (depth, parentheses, candidate.take()) {
                    found.insert(name.to_owned());
                }
                depth += 1;
            }
            "}" => depth = depth.saturating_sub(1),
            "(" => {
                if depth == 0 && parentheses == 0 {
                    candidate = last_word.or(candidate);
                }
                parentheses += 1;
            }
            ")" => parentheses = parentheses.saturating_sub(1),
            ";" | "=" if depth == 0 && parentheses == 0 => candidate = None,
            _ => {}
        }
        last_word = token.starts_with(|first: char| first.is_alphabetic() || first == '_').then_some(token);
    }
    found
}

/// Words and single characters of C text; comments, literals and preprocessor lines left out.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start();
            let first = rest.chars().next()?;
            let end = if rest.starts_with("//") || first == '#' {
                line_end(rest)
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |at| at + 2)
            } else if first == '"' || first == '\'' {
                literal_end(rest, first)
            } else if first.is_alphanumeric() || first == '_' {
                let end = rest.find(|one: char| !one.is_alphanumeric() && one != '_').unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                rest = after;
                return Some(word);
            } else {
                let (token, after) = rest.split_at(first.len_utf8());
                rest = after;
                return Some(token);
            };
            rest = rest.split_at(end).1;
        }
    })
}

/// Where a line ends, those continued by a backslash included.
fn line_end(text: &str) -> usize {
    let continued = |at: &usize| !text.split_at(*at).0.ends_with('\\');
    text.match_indices('\n').map(|(at, _)| at).find(continued).unwrap_or(text.len())
}

fn literal_end(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, one) in text.char_indices().skip(1) {
        match one {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if one == quote || one == '\n' => return at + one.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_in_c_are_found_and_declarations_are_not() {
        let text = "#define F(x) \\\n x {\nint declared(int a);\nstatic int helper(void) { return f(1) ? 2 : 3; }\n\
                    int Echo(struct Echo_in *in,\n  struct Echo_out *out)\n{ char c = '{'; puts(\"} x(\"); \
                    if (c) { } return 0; }\n\
                    /* int Gone() { */ int (*pointer)(int) = 0; int Last(int a[]) {}";
        let found = defined_functions(text);
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["Echo", "Last", "helper"]);
    }
}
