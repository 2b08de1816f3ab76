//! The files that the rules look at.

use ignore::WalkBuilder;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The files of a repository: those that git tracks or would.
#[derive(Clone, Default, Debug)]
pub struct Repository {
    /// By their paths from the root, with `/`; none where a file is not UTF-8 text.
    files: BTreeMap<String, Option<String>>,
}

/// A file that is text.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// Its path from the root of the repository.
    pub path: &'a str,
    /// All of it.
    pub text: &'a str,
}

impl Repository {
    /// Reads the repository below `root`.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    #[expect(clippy::disallowed_methods, reason = "the one place where the checks touch the disk")]
    pub fn open(root: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        let is_ours = |name: &std::ffi::OsStr| name != ".git";
        let walk = WalkBuilder::new(root).hidden(false).filter_entry(move |entry| is_ours(entry.file_name())).build();
        for entry in walk {
            let entry = entry.map_err(io::Error::other)?;
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                let path = entry.path().strip_prefix(root).map_err(io::Error::other)?;
                let text = String::from_utf8(std::fs::read(entry.path())?).ok();
                files.insert(path.to_string_lossy().into_owned(), text);
            }
        }
        Ok(Self { files })
    }

    /// A repository of these paths and texts.
    pub fn of(files: &[(&str, &str)]) -> Self {
        Self { files: files.iter().map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned()))).collect() }
    }

    /// Every file that is text, by path.
    pub fn files(&self) -> impl Iterator<Item = File<'_>> {
        self.files.iter().filter_map(|(path, text)| Some(File { path, text: text.as_deref()? }))
    }

    /// Those whose paths have one of these endings.
    pub fn with_extension<'a>(&'a self, extensions: &'a [&str]) -> impl Iterator<Item = File<'a>> {
        self.files().filter(|file| extensions.contains(&file.extension()))
    }

    /// The text of the file at `path`, where there is one.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Whether there is a file or a folder at `path`; a `*` in it stands for any characters but `/`.
    pub fn has(&self, path: &str) -> bool {
        let wanted: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        self.files.keys().any(|file| {
            let mut parts = file.split('/');
            wanted.iter().all(|pattern| parts.next().is_some_and(|part| matches(pattern, part)))
        })
    }
}

/// Whether `name` is what `pattern` says, `*` standing for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, pattern)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let (middle, last) = pattern.rsplit_once('*').unwrap_or(("", pattern));
    let Some(mut rest) = name.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    middle.split('*').all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

impl<'a> File<'a> {
    /// What is after the last `.` of its name; empty where there is none.
    pub fn extension(self) -> &'a str {
        self.name().rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// The last part of its path.
    pub fn name(self) -> &'a str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// The folder it is in; empty for the root.
    pub fn folder(self) -> &'a str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Its lines and their numbers, from 1.
    pub fn lines(self) -> impl Iterator<Item = (usize, &'a str)> {
        (1..).zip(self.text.lines())
    }
}

/// `path` as seen from `folder`, with `.` and `..` resolved; none where it leaves the repository.
pub fn resolve(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_are_there_and_stars_match() {
        let repository = Repository::of(&[("crates/ir/src/flow.rs", ""), ("README.md", "")]);
        for path in ["README.md", "crates/ir", "crates/ir/", "crates/*/src/*.rs", "crates/ir/src/f*o*.rs"] {
            assert!(repository.has(path), "{path}");
        }
        for path in ["READ", "crates/ir/flow.rs", "crates/*.rs", "ir", "README.md/x"] {
            assert!(!repository.has(path), "{path}");
        }
    }

    #[test]
    fn paths_are_resolved_within_the_repository() {
        assert_eq!(resolve("docs/a", "../b.md").as_deref(), Some("docs/b.md"));
        assert_eq!(resolve("", "./b.md").as_deref(), Some("b.md"));
        assert_eq!(resolve("docs", "../../b.md"), None);
    }

    #[test]
    fn this_repository_can_be_opened() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let repository = Repository::open(&root).expect("it can be read");
        assert!(repository.text("crates/tidy/src/lib.rs").is_some_and(|text| text.contains("pub const RULES")));
        assert!(!repository.has("target"), "ignored files are not part of it");
        assert!(!repository.has(".git"));
    }
}
