//! Functions in sources of 2006 that end without a return statement. In 2006 their result was whatever was in the
//! register.
//!
//! Today this is undefined behaviour, and an optimising compiler generates no code after such a function's last
//! statement: the server would run on into the next function. No compiler flag defines the result. So if a warning
//! reports such functions, flux compiles a copy of the source to which it has added the missing returns; they return 0,
//! which is success. The source itself stays as it is, and messages and debuggers show it.

use super::files::{absolute, parent, write_if_changed};
use crate::failure::Result;
use crate::terminal::Terminal;
use flux_toolchain::missing_returns::{ends, warnings};
use flux_toolchain::node_source::NodeSource;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where the copies are, in the folder of the build.
const FOLDER: &str = "returns";
/// What is put before a closing brace. `{}` is the 0 of every type, but C does not know it.
const ADDED: &str = "/* added by flux: */ return {}; ";
const ADDED_IN_C: &str = "/* added by flux: */ return 0; ";

/// The copies that are to be compiled in the place of sources, each after its original: of those that are compiled
/// together there are all, as the sources are now, or none.
pub fn copies<'a>(directory: &Path, sources: &'a [NodeSource]) -> Vec<(&'a Path, PathBuf)> {
    let all: Vec<_> = sources.iter().map(|source| (source, copy(directory, source))).collect();
    let old = all.iter().filter(|(_, copy)| copy.is_none());
    let old: BTreeSet<_> = old.map(|(source, _)| source.compiled_as()).collect();
    let mut found = vec![];
    for (source, copy) in &all {
        match copy {
            Some(copy) if !old.contains(source.compiled_as()) => found.push((source.path.as_path(), copy.clone())),
            // There may be none. One that cannot be removed cannot be written either, which is said there.
            _ => _ = std::fs::remove_file(place(directory, source)),
        }
    }
    found
}

/// The copy of a source, if there is one that is of the source as it is now.
fn copy(directory: &Path, source: &NodeSource) -> Option<PathBuf> {
    let path = place(directory, source);
    let text = std::fs::read_to_string(&path).ok()?;
    let (_, copied) = text.split_once("\n#line 1 ").and_then(|(_, rest)| rest.split_once('\n'))?;
    let original = copied.replace(ADDED, "").replace(ADDED_IN_C, "");
    if original != source.text {
        return None;
    }
    let changed = |path: &Path| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    if changed(&path) < changed(&source.path) {
        // Touched, as an editor does that saves without a change: make goes by that.
        std::fs::write(&path, &text).ok()?;
    }
    Some(path)
}

/// Writes a copy of each source that the compilers warned about in what they `said`, and of those that are compiled
/// with it, so that the copies include each other. Whether there is one.
pub fn add(said: &str, directory: &Path, sources: &[NodeSource], terminal: &Terminal) -> Result<bool> {
    let mut lines: BTreeMap<PathBuf, BTreeSet<u32>> = BTreeMap::new();
    for (file, line) in warnings(said) {
        if let Ok(path) = absolute(&directory.join(&file)) {
            lines.entry(path).or_default().insert(line);
        }
    }
    let no_lines = BTreeSet::new();
    let ends: Vec<_> = sources.iter().map(|one| ends(one, lines.get(&one.path).unwrap_or(&no_lines))).collect();
    let lacking = || sources.iter().zip(&ends).filter(|(_, ends)| !ends.is_empty());
    let compiled: BTreeSet<_> = lacking().map(|(source, _)| source.compiled_as()).collect();
    for (source, ends) in sources.iter().zip(&ends).filter(|(source, _)| compiled.contains(source.compiled_as())) {
        write_if_changed(&place(directory, source), &with_returns(directory, source, ends))?;
    }
    for (source, ends) in lacking() {
        let name = source.path.file_name().unwrap_or_default().to_string_lossy();
        let functions: Vec<_> = ends.iter().map(|(_, function)| format!("`{function}`")).collect();
        let end = if functions.len() == 1 { "ends" } else { "end" };
        terminal.note(&format!(
            "{} of {name} {end} without a return; it is built as if 0 were returned there",
            functions.join(", ")
        ));
    }
    Ok(!compiled.is_empty())
}

fn with_returns(directory: &Path, source: &NodeSource, ends: &[(usize, &str)]) -> String {
    let added = if source.is_c { ADDED_IN_C } else { ADDED };
    let shown = absolute(directory).map(|directory| super::files::relative(&directory, &source.path));
    let shown = shown.unwrap_or_else(|_| source.path.clone());
    let shown = shown.display();
    let mut text = format!("// Made by flux: {shown} with the returns that its functions lack.\n#line 1 \"{shown}\"\n");
    let mut rest = source.text.as_str();
    let mut at = 0;
    for (end, _) in ends {
        let (before, after) = rest.split_at(end - at);
        text += before;
        text += added;
        (rest, at) = (after, *end);
    }
    text + rest
}

/// Sources of one name in several folders have their folders' names, too.
fn place(directory: &Path, source: &NodeSource) -> PathBuf {
    let folder = parent(&source.path);
    let folder = folder.file_name().unwrap_or_default();
    directory.join(FOLDER).join(folder).join(source.path.file_name().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_toolchain::definitions::definitions;

    #[test]
    fn returns_are_added_where_they_lack() {
        let text = "int a(int x)\n{\n    if (x) {\n        return 1;\n    }\n}\n\nvoid b()\n{\n}\n\n\
                    std::string c() {}\nint d() { return 1; }\n";
        let source = NodeSource {
            path: PathBuf::from("/a/b.cpp"),
            file: None,
            is_c: false,
            text: text.to_owned(),
            functions: definitions(text),
            includer: None,
        };
        let ends = ends(&source, &BTreeSet::from([5, 9, 12]));
        let copy = with_returns(Path::new("/nowhere"), &source, &ends);
        let (_, copy) = copy.split_once("#line 1 \"/a/b.cpp\"\n").unwrap();
        let expected = text.replace("    }\n}\n", "    }\n/* added by flux: */ return {}; }\n");
        assert_eq!(copy, expected.replace("c() {}", "c() {/* added by flux: */ return {}; }"));
        assert_eq!(copy.replace(ADDED, ""), text);
    }
}
