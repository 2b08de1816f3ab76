//! The sources of the Flux runtime: C++20, carried inside the `flux` command so that it can build servers wherever it
//! is installed.
//!
//! The runtime itself is in `include/` and `src/` beside this crate's manifest; nothing here knows what is in them.

use include_dir::{Dir, include_dir};

static INCLUDE: Dir = include_dir!("$CARGO_MANIFEST_DIR/include");
static SRC: Dir = include_dir!("$CARGO_MANIFEST_DIR/src");

/// Every file of the runtime, headers first, in the order of their paths: its path (`include/flux/flow/flow.hpp`,
/// `src/flow/flow.cpp`) and its bytes.
pub fn files() -> impl Iterator<Item = (String, &'static [u8])> {
    files_in("include", &INCLUDE).into_iter().chain(files_in("src", &SRC))
}

/// The files of one folder, by path.
fn files_in(name: &str, folder: &'static Dir) -> Vec<(String, &'static [u8])> {
    let mut found = vec![];
    let mut open = vec![folder];
    while let Some(folder) = open.pop() {
        open.extend(folder.dirs());
        found.extend(folder.files().map(|file| (format!("{name}/{}", file.path().display()), file.contents())));
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::files;

    #[test]
    fn carries_headers_and_sources_in_a_stable_order() {
        let paths: Vec<_> = files().map(|(path, _)| path).collect();
        assert!(paths.contains(&"include/flux/generated_support.hpp".to_owned()), "{paths:?}");
        assert!(paths.contains(&"src/server/server.cpp".to_owned()), "{paths:?}");
        assert!(paths.iter().all(|path| path.starts_with("include/flux/") || path.starts_with("src/")), "{paths:?}");
        assert!(paths.is_sorted(), "{paths:?}");
    }

    #[test]
    fn has_the_version_of_the_crate() {
        let version = files().find(|(path, _)| path == "include/flux/version.hpp").unwrap();
        let expected = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
        assert!(String::from_utf8_lossy(version.1).contains(&expected));
    }
}
