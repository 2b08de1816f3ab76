//! The standard modules: `.flux` files with their C++ beside them, carried inside the `flux` command so that `use
//! std.tcp;` works wherever it is installed.
//!
//! A module `std.NAME` is `std/NAME.flux` beside this crate's manifest, with all files of that stem.

use include_dir::{Dir, File, include_dir};

static STD: Dir = include_dir!("$CARGO_MANIFEST_DIR/std");

/// The modules, by name: what `use` calls each, `std.tcp`, and the text of its `.flux` file.
pub fn modules() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.iter().filter_map(|name| Some((*name, STD.get_file(path(name)?)?.contents_utf8()?)))
}

/// The C++ of a module: the name of each file, `tcp.cpp`, and its text. None of a module that there is not.
pub fn cpp(module: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let stem = module.strip_prefix("std.").unwrap_or_default().to_owned();
    let of_module = move |file: &&File<'_>| {
        let name = file.path().file_name().and_then(|name| name.to_str()).unwrap_or_default();
        matches!(name.strip_prefix(stem.as_str()), Some(".cpp" | ".h"))
    };
    STD.files().filter(of_module).filter_map(|file| Some((file.path().to_str()?, file.contents_utf8()?)))
}

/// What `use` calls the modules, in order.
const NAMES: [&str; 4] = ["std.files", "std.tcp", "std.timer", "std.udp"];

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
            assert!(cpp(name).any(|(file, text)| file.ends_with(".cpp") && !text.is_empty()), "{name}");
        }
        assert!(NAMES.is_sorted());
        assert_eq!(cpp("std.none").count() + cpp("tcp").count(), 0);
    }
}
