//! Every source file opens by saying what it is, so that a reader who starts there knows where they are.
//!
//! A C++ source or test that begins with its own header does not repeat it: the header is the reference.

use super::{CPP, SOURCES};
use crate::repository::File;
use crate::{Finding, Repository};

/// Sources that open with something else.
pub fn check(repository: &Repository) -> Vec<Finding> {
    let is_source = |file: &File| SOURCES.contains(&file.extension()) || file.text.starts_with("#!");
    repository.files().filter(is_source).filter_map(judge).collect()
}

fn judge(file: File) -> Option<Finding> {
    let (markers, form): (&[&str], _) = match file.extension() {
        "rs" => (&["//!"], "//! What the file is about."),
        extension if CPP.contains(&extension) => (&["//", "/*", " *"], "// What the file is about."),
        "py" => (&["\"\"\"", "#"], "\"\"\"What the script does."),
        _ => (&["#"], "# What the script does."),
    };
    let lines = file.text.lines().skip_while(|line| line.starts_with("#!/"));
    let comment = lines.map_while(|line| markers.iter().find_map(|marker| line.strip_prefix(marker)));
    // One word says nothing: that is the name of the file again.
    let says_something = begins_with_own_header(file)
        || comment.flat_map(str::split_whitespace).filter(|word| is_word(word)).nth(1).is_some();
    let message = format!("does not open by saying what it is: begin with `{form}`");
    (!says_something).then(|| Finding::new(file.path, 1, message))
}

fn begins_with_own_header(file: File) -> bool {
    let stem = file.name().strip_suffix(".cpp").or_else(|| file.name().strip_suffix(".c"));
    let stem = stem.map(|stem| stem.strip_suffix("_test").unwrap_or(stem));
    let header = file.text.lines().next().and_then(|line| line.strip_prefix("#include "));
    let header = header.map(|name| name.trim_matches(['"', '<', '>']).rsplit('/').next().unwrap_or(name));
    header.and_then(|name| name.split_once(".h")).is_some_and(|(name, _)| Some(name) == stem)
}

fn is_word(text: &str) -> bool {
    !text.starts_with('\\') && text.contains(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::*;

    #[test]
    fn sources_open_with_a_sentence() {
        let files = [
            ("a.rs", "//! The files that rules look at.\n"),
            ("b.rs", "use std::fmt;\n"),
            ("c.rs", "//! .\n"),
            ("d.hpp", "// What a constraint is at run time.\n#pragma once\n"),
            ("e.hpp", "#pragma once\n// What a constraint is at run time.\n"),
            ("f", "#!/bin/sh\n# Installs the packages.\n"),
            ("g", "#!/bin/sh\nset -e\n"),
            ("h.py", "#!/usr/bin/env python3\n\"\"\"Loads the server.\n\"\"\"\n"),
            ("i.md", "text\n"),
            ("j.hpp", "/// \\file\n/// A lock.\n#pragma once\n"),
            ("k.hpp", "/// \\file k.hpp\n#pragma once\n"),
            ("m.cpp", "#include \"flux/m.hpp\"\n"),
            ("m_test.cpp", "#include \"flux/m.hpp\"\n"),
            ("n.cpp", "#include \"flux/m.hpp\"\n"),
            ("o.c", "#include \"o.h\"\n"),
            ("l.c", "/*\n * A lock.\n */\n"),
        ];
        let message = "does not open by saying what it is";
        let expected = ["b.rs", "c.rs", "e.hpp", "g", "k.hpp", "n.cpp"].map(|path| format!("{path}:1: {message}"));
        assert_found(check, &files, &expected.each_ref().map(String::as_str));
    }
}
