//! Files and folders, with errors that name them.

use crate::failure::{Failure, Result};
use crate::program::plain;
use std::path::{Component, Path, PathBuf};

/// Writes a file where its text differs, so that make does not rebuild what has not changed.
pub fn write_if_changed(path: &Path, text: &str) -> Result {
    if std::fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_directory(parent)?;
    }
    std::fs::write(path, text)
        .map_err(|error| Failure::usage(format!("cannot write {}: {}", path.display(), plain(&error))))
}

/// Creates a folder and those above it.
pub fn create_directory(path: &Path) -> Result {
    std::fs::create_dir_all(path)
        .map_err(|error| Failure::usage(format!("cannot create {}: {}", path.display(), plain(&error))))
}

/// Copies a file, permissions included. Onto itself it stays as it is: opened for writing it would be emptied first.
pub fn copy(from: &Path, to: &Path) -> Result {
    if absolute(to).is_ok_and(|there| absolute(from).is_ok_and(|here| here == there)) {
        return Ok(());
    }
    let copied = std::fs::copy(from, to);
    copied.map(|_| ()).map_err(|error| Failure::usage(format!("cannot write {}: {}", to.display(), plain(&error))))
}

/// The folder a file is in: `.` for a bare name.
pub fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => PathBuf::from("."),
    }
}

/// The absolute path of something that exists.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path)
        .map_err(|error| Failure::usage(format!("cannot find {}: {}", path.display(), plain(&error))))
}

/// `to` as seen from the folder `from`; both absolute.
pub fn relative(from: &Path, to: &Path) -> PathBuf {
    let (mut from, mut to) = (from.components().peekable(), to.components().peekable());
    while let (Some(a), Some(b)) = (from.peek(), to.peek())
        && a == b
    {
        from.next();
        to.next();
    }
    let ups = from.map(|_| Component::ParentDir);
    let path: PathBuf = ups.chain(to).collect();
    if path.as_os_str().is_empty() { PathBuf::from(".") } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_copied_onto_itself_stays() {
        let path = std::env::temp_dir().join(format!("flux-copy-{}", std::process::id()));
        std::fs::write(&path, "kept").unwrap();
        copy(&path, &path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn relative_paths_go_up_to_the_common_folder() {
        let seen = |from: &str, to: &str| relative(Path::new(from), Path::new(to)).display().to_string();
        assert_eq!(seen("/a/build/x", "/a/node.cpp"), "../../node.cpp");
        assert_eq!(seen("/a", "/a"), ".");
        assert_eq!(seen("/a", "/a/b/c.cpp"), "b/c.cpp");
        assert_eq!(seen("/a/b", "/c"), "../../c");
    }
}
