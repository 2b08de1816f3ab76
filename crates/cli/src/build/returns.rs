//! Functions that end without their return, in sources of 2006, when that gave whatever was in the register.
//!
//! Today it is undefined, and an optimising compiler leaves nothing behind such a function's last statement: the server
//! would run on into the next function. No flag of a compiler gives a value there. So, where its warning says that a
//! source has such functions, a copy of the source with the returns they lack is compiled in its place: they return 0
//! there, which is success. The source itself stays as it is, and messages and debuggers show it.

use super::files::{absolute, parent, write_if_changed};
use super::sources::NodeSource;
use crate::failure::Result;
use crate::terminal::{Terminal, without_colours};
use flux_driver::ids;
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
    let mut lines: BTreeMap<PathBuf, BTreeSet<usize>> = BTreeMap::new();
    for (file, line) in said.lines().filter_map(warning) {
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

/// Shows the functions that end without a return, in sources of today: what they gave would be whatever is left in a
/// register.
pub fn show_missing(said: &str, directory: &Path, sources: &[NodeSource], terminal: &Terminal) {
    for (file, line) in said.lines().filter_map(warning) {
        let path = absolute(&directory.join(&file)).ok();
        let source = sources.iter().find(|source| Some(&source.path) == path.as_ref());
        let function = source.and_then(|source| ends(source, &BTreeSet::from([line])).first().map(|(_, name)| *name));
        let function = function.map_or_else(|| "a function".to_owned(), |name| format!("the function `{name}`"));
        let file = path.as_deref().and_then(Path::file_name).map_or(file.clone(), |name| name.to_string_lossy().into());
        let headline = format!("{function} can end without a return: {file}, line {line}");
        terminal.diagnose(ids::MISSING_RETURN, &headline);
        terminal.show("  help: a node returns 0 where it succeeded, and an error's number where it did not\n\n");
    }
}

/// What the compilers `said` but for their words about missing returns, which are no mistake of an author of 2006, and
/// of today's are said otherwise: each
/// is a line, with that of the function before it if nothing else is said of that, and the text it means after it,
/// indented.
pub fn without_warnings(said: &str) -> String {
    let mut kept = String::new();
    let file = |line: &str| line.split(':').next().map(str::to_owned);
    let mut function: Option<&str> = None;
    let mut is_warning = false;
    // Clang shows the text without indenting it: two lines.
    let mut shown_by_clang = 0;
    for line in said.split_inclusive('\n') {
        let plain = without_colours(line);
        if warning(line).is_some() || is_warning && (plain.starts_with(' ') || shown_by_clang > 0) {
            let is_of_clang = plain.contains("non-void function does not return a value");
            shown_by_clang = if is_of_clang { 2 } else { shown_by_clang - i32::from(shown_by_clang > 0) };
            is_warning = true;
            continue;
        }
        is_warning = false;
        let is_function = [": In ", ": At "].iter().any(|word| plain.contains(word)) && plain.trim_end().ends_with(':');
        kept.extend(function.take().filter(|one| !is_function && file(&without_colours(one)) == file(&plain)));
        if is_function {
            function = Some(line);
        } else {
            kept += line;
        }
    }
    kept
}

/// The file and the line of a warning about a missing return: `../../nodes.cpp:7:1: warning: no return statement in
/// function returning non-void [-Wreturn-type]`, whatever its colours.
fn warning(line: &str) -> Option<(String, usize)> {
    let plain = without_colours(line);
    if !["-Wreturn-type]", "-Werror=return-type]"].iter().any(|flag| plain.contains(flag)) {
        return None;
    }
    let mut parts = plain.split(':');
    Some((parts.next()?.to_owned(), parts.next()?.parse().ok()?))
}

/// The closing braces of the functions in these lines that return something, and their names.
fn ends<'source>(source: &'source NodeSource, lines: &BTreeSet<usize>) -> Vec<(usize, &'source str)> {
    let line = |offset: usize| source.text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
    let mut found = vec![];
    for function in &source.functions {
        let returns = !function.result.is_empty() && !function.result.split(' ').any(|word| word == "void");
        let last = function.body.end.saturating_sub(1);
        let (from, to) = (line(function.body.start), line(last));
        if (returns || function.result.contains('*')) && lines.range(from..=to).next().is_some() {
            found.push((last, function.name.as_str()));
        }
    }
    found
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
    use super::super::definitions::definitions;
    use super::*;

    #[test]
    fn warnings_are_read_in_colour_and_without() {
        let plain = "../../a.cpp:7:1: warning: no return statement in function returning non-void [-Wreturn-type]";
        let color = "\x1b[01m\x1b[K../a.cpp:12:39:\x1b[m\x1b[K \x1b[01;35m\x1b[Kwarning: \x1b[m\x1b[Kcontrol \
                     [\x1b[01;35m\x1b[K-Wreturn-type\x1b[m\x1b[K]";
        assert_eq!(warning(plain), Some(("../../a.cpp".to_owned(), 7)));
        assert_eq!(warning(color), Some(("../a.cpp".to_owned(), 12)));
        assert_eq!(warning("a.cpp:7:1: warning: unused variable [-Wunused-variable]"), None);
    }

    #[test]
    fn warnings_are_left_out_where_something_else_is_wrong() {
        let said = "a.cpp: In function 'int A()':\na.cpp:2:1: warning: no return [-Wreturn-type]\n    2 | }\n   | ^\n\
                    a.cpp: In function 'int B()':\na.cpp:4:3: error: no\n    4 |   b\n\
                    a.cpp:5:1: warning: no return [-Wreturn-type]\n    5 | }\na.cpp: In function 'int C()':\n\
                    a.cpp:7:1: warning: no return [-Wreturn-type]\nb.cpp:1:1: error: no\n";
        let expected = "a.cpp: In function 'int B()':\na.cpp:4:3: error: no\n    4 |   b\nb.cpp:1:1: error: no\n";
        assert_eq!(without_warnings(said), expected);
        let of_clang = "a.cpp:8:1: error: non-void function does not return a value [-Werror,-Wreturn-type]\n}\n^\n\
                        b.cpp:1:1: error: no\nb\n^\n";
        assert_eq!(without_warnings(of_clang), "b.cpp:1:1: error: no\nb\n^\n");
    }

    #[test]
    fn returns_are_added_where_they_lack() {
        let text = "int a(int x)\n{\n    if (x) {\n        return 1;\n    }\n}\n\nvoid b()\n{\n}\n\n\
                    std::string c() {}\nint d() { return 1; }\n";
        let source = NodeSource {
            path: PathBuf::from("/a/b.cpp"),
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
