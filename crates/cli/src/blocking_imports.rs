//! What object files, servers and shared libraries call that blocks its thread and that the runtime cannot catch: such
//! a call in a node holds up an event loop. The list is the runtime's own table of calls
//! (`runtime/include/flux/calls`).
//!
//! Of an object file the function is known that makes the call, by the relocations in it (System V ABI, 4.16), so a
//! node can be named. Of a linked file only the symbols are known that it imports.

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, RelocationTarget};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A call that blocks and cannot be caught.
pub struct BlockingCall {
    /// The file that makes it.
    pub file: PathBuf,
    /// The function that makes it, where that is known: of a node it is the node's name.
    pub function: Option<String>,
    /// What is called.
    pub called: String,
    /// Why it blocks.
    pub why: String,
    /// Whether the file is a library that others made.
    pub is_library: bool,
}

/// What was found in some files.
#[derive(Default)]
pub struct Calls {
    pub found: Vec<BlockingCall>,
    /// Servers that are linked statically: no call of theirs can be caught.
    pub static_servers: Vec<PathBuf>,
    /// Each file that was looked at.
    pub files: Vec<PathBuf>,
}

/// Whether a file is one that this can look at.
pub fn is_elf(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF"))
}

/// What these files call, and the libraries that they link. Gives the path of a file that cannot be read.
pub fn of(files: &[PathBuf]) -> Result<Calls, PathBuf> {
    let uncaught = uncaught();
    let mut calls = Calls::default();
    let mut libraries = BTreeSet::new();
    for file in files {
        look_at(file, false, &uncaught, &mut calls).ok_or_else(|| file.clone())?;
        libraries.extend(libraries_of(file));
    }
    for library in libraries {
        // One that cannot be read was found by the linker, so it is no file of ELF.
        let _ = look_at(&library, true, &uncaught, &mut calls);
    }
    Ok(calls)
}

/// The calls that the runtime does not catch, and why they block.
fn uncaught() -> BTreeMap<&'static str, &'static str> {
    let headers = flux_runtime::files().filter(|(path, _)| path.starts_with("include/flux/calls/"));
    let texts = headers.filter_map(|(_, bytes)| std::str::from_utf8(bytes).ok());
    texts.flat_map(str::lines).filter_map(uncaught_row).collect()
}

/// A row of the table: `call(vfork, uncaught, "why")`.
fn uncaught_row(line: &'static str) -> Option<(&'static str, &'static str)> {
    let (name, rest) = line.trim_start().strip_prefix("call(")?.split_once(", uncaught, \"")?;
    Some((name, rest.split_once('"')?.0))
}

fn look_at(path: &Path, is_library: bool, uncaught: &BTreeMap<&str, &str>, calls: &mut Calls) -> Option<()> {
    let bytes = std::fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    calls.files.push(path.to_owned());
    if file.kind() == object::ObjectKind::Executable && file.section_by_name(".dynamic").is_none() {
        calls.static_servers.push(path.to_owned());
    }
    let made = match file.kind() {
        object::ObjectKind::Relocatable => calls_of_functions(&file),
        _ => file.imports().ok()?.iter().map(|each| (None, text(each.name()))).collect(),
    };
    for (function, called) in made {
        if let Some(why) = uncaught.get(called.as_str()) {
            let (file, why) = (path.to_owned(), (*why).to_owned());
            calls.found.push(BlockingCall { file, function, called, why, is_library });
        }
    }
    Some(())
}

/// Which function of an object file calls what.
fn calls_of_functions(file: &object::File<'_>) -> BTreeSet<(Option<String>, String)> {
    let mut calls = BTreeSet::new();
    for section in file.sections() {
        for (at, relocation) in section.relocations() {
            let RelocationTarget::Symbol(index) = relocation.target() else { continue };
            let Ok(symbol) = file.symbol_by_index(index) else { continue };
            if symbol.is_undefined() {
                let is_around = |each: &object::Symbol<'_, '_>| {
                    each.kind() == object::SymbolKind::Text
                        && each.section_index() == Some(section.index())
                        && (each.address()..each.address() + each.size()).contains(&at)
                };
                let function = file.symbols().find(is_around).and_then(|each| each.name().ok().map(readable));
                calls.insert((function, symbol.name().unwrap_or_default().to_owned()));
            }
        }
    }
    calls
}

/// The name of a function without the types of its parameters: `_Z5Fetchi` is `Fetch` and `_ZN3web5FetchEi` is
/// `web::Fetch` (Itanium C++ ABI, 5.1). What is more than that stays as it is.
fn readable(symbol: &str) -> String {
    let Some(mangled) = symbol.strip_prefix("_Z") else { return symbol.to_owned() };
    let (is_nested, mut rest) = match mangled.strip_prefix('N') {
        Some(rest) => (true, rest),
        None => (false, mangled),
    };
    let mut parts = vec![];
    loop {
        let digits = rest.len() - rest.trim_start_matches(|each: char| each.is_ascii_digit()).len();
        let length = rest.get(..digits).and_then(|digits| digits.parse::<usize>().ok());
        let Some(part) = length.and_then(|length| rest.get(digits..digits + length)) else { break };
        parts.push(part);
        rest = rest.get(digits + part.len()..).unwrap_or_default();
        if !is_nested {
            break;
        }
    }
    if parts.is_empty() { symbol.to_owned() } else { parts.join("::") }
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// The shared libraries that a linked file needs, as the dynamic linker finds them, without those that every program
/// has: what they call inside is what the table is about.
fn libraries_of(file: &Path) -> Vec<PathBuf> {
    const BASE: [&str; 7] =
        ["libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "libpthread.so", "ld-linux", "libresolv.so"];
    let output = Command::new("ldd").arg(file).stdin(Stdio::null()).stderr(Stdio::null()).output();
    let listed = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let paths = listed.lines().filter_map(|line| line.split_once("=> ")?.1.split_whitespace().next());
    let is_base = |path: &&str| BASE.iter().any(|name| path.contains(name));
    paths.filter(|path| path.starts_with('/') && !is_base(path)).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::{readable, uncaught};

    #[test]
    fn names_of_functions_are_as_their_author_wrote_them() {
        let names = ["_Z5Fetchi", "_ZN3web5FetchERKi", "Fetch", "_ZNSt6vectorIiE4pushEv", "_ZL4waitv"];
        assert_eq!(names.map(readable), ["Fetch", "web::Fetch", "Fetch", "_ZNSt6vectorIiE4pushEv", "_ZL4waitv"]);
    }

    #[test]
    fn the_list_is_that_of_the_runtime() {
        let list = uncaught();
        assert!(list.contains_key("vfork") && list.contains_key("pause"), "{list:?}");
        assert!(!list.contains_key("read") && !list.contains_key("getaddrinfo"), "{list:?}");
        assert!(list.values().all(|why| !why.is_empty()), "{list:?}");
    }
}
