//! The C and C++ sources of a program's nodes.

use crate::definitions::Definition;
use flux_source::FileId;
use std::path::{Component, Path, PathBuf};

/// A source file of nodes.
pub struct NodeSource {
    /// Its absolute path.
    pub path: PathBuf,
    /// Its text among those that diagnostics can show, where it is there.
    pub file: Option<FileId>,
    /// Whether it is C; else C++.
    pub is_c: bool,
    /// Its text.
    pub text: String,
    /// The functions that it defines.
    pub functions: Vec<Definition>,
    /// Another source that includes it, and with which it is compiled: not by itself.
    pub includer: Option<PathBuf>,
}

impl NodeSource {
    /// The source that is compiled: this one, or the one that includes it.
    pub fn compiled_as(&self) -> &Path {
        self.includer.as_deref().unwrap_or(&self.path)
    }

    /// The functions that it defines outside of namespaces; the generated header declares those of C with C linkage.
    pub fn global_functions(&self) -> impl Iterator<Item = &Definition> {
        self.functions.iter().filter(|function| function.is_global())
    }

    /// The line of the byte at `offset`, from 1.
    pub fn line_of(&self, offset: usize) -> u32 {
        let before = self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count();
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }
}

/// The source that the toolchain calls `path`, as seen from the folder of the build or whole: `../../nodes.cpp`.
pub fn find<'a>(sources: &'a [NodeSource], path: &str) -> Option<&'a NodeSource> {
    let mut tail = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => tail.push(name),
            Component::ParentDir => _ = tail.pop(),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    sources.iter().find(|source| tail.file_name().is_some() && source.path.ends_with(&tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_found_by_what_compilers_call_it() {
        let source = |path: &str| NodeSource {
            path: PathBuf::from(path),
            file: None,
            is_c: false,
            text: String::new(),
            functions: vec![],
            includer: None,
        };
        let sources = [source("/srv/lib/nodes.cpp"), source("/srv/nodes.cpp")];
        let found = |path: &str| find(&sources, path).map(|source| source.path.display().to_string());
        assert_eq!(found("/srv/build/sums/../../nodes.cpp").as_deref(), Some("/srv/nodes.cpp"));
        assert_eq!(found("../../lib/nodes.cpp").as_deref(), Some("/srv/lib/nodes.cpp"));
        assert_eq!(found("../../other.cpp"), None);
        assert_eq!(found(""), None);
    }
}
