//! The libraries that a program is linked with: `link "sqlite3";`.
//!
//! If pkg-config knows a library, by its own name or with `lib` before it, it says how to compile and link with it;
//! otherwise the linker gets the name. The Makefile asks pkg-config itself, so it is right on another machine, too.
//! pkg-config takes ten times as long for a name that it does not know. Therefore flux asks it once, and tells make.

use crate::failure::Result;
use crate::program::{Notes, Program};
use crate::terminal::Terminal;
use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_ir::program::Link;
use flux_toolchain::ids;
use std::cell::RefCell;
use std::collections::HashMap;
use std::process::{Command, Stdio};

/// What the Makefile has after the names of the libraries, `LINKS`.
pub const VARIABLES: &str = "\
# What pkg-config calls a library, if it knows it; and what it says of it, or else the last argument.
find = $(firstword $(foreach one,$1 lib$1,$(shell pkg-config --exists $(one) 2>/dev/null && echo $(one))))
package = $(if $(filter undefined,$(origin PACKAGE_$1)),$(eval PACKAGE_$1 := $(call find,$1)))$(PACKAGE_$1)
linked = $(if $(call package,$1),$(shell pkg-config $2 $(call package,$1)),$3)
LINKS_CPPFLAGS := $(foreach one,$(LINKS),$(call linked,$(one),--cflags,))
LINKS_LDLIBS := $(foreach one,$(LINKS),$(call linked,$(one),--libs,-l$(one)))
";

/// Libraries whose Debian package is called otherwise.
const PACKAGES: [(&str, &str); 6] = [
    ("z", "zlib1g-dev"),
    ("crypto", "libssl-dev"),
    ("bz2", "libbz2-dev"),
    ("tinfo", "libncurses-dev"),
    ("boost_system", "libboost-dev"),
    ("stdc++fs", "g++"),
];

/// The libraries of a program, and of its modules: each once.
pub fn of(program: &Program) -> Vec<Link> {
    let mut found: Vec<Link> = vec![];
    for link in all(program) {
        if !found.iter().any(|known| known.library == link.library) {
            found.push(link.clone());
        }
    }
    found
}

/// Those that the file of this name names: its C++ is compiled with what they say.
pub fn of_file(program: &Program, name: &str) -> Vec<String> {
    let is_there = |link: &&Link| program.sources.file(link.span.file).is_some_and(|file| file.name == name);
    all(program).iter().filter(is_there).map(|link| link.library.clone()).collect()
}

fn all(program: &Program) -> &[Link] {
    program.compilation.program().map_or(&[], |model| &model.links)
}

/// The flags with which headers of the libraries are found.
pub fn flags(links: &[Link]) -> Vec<String> {
    let package = |link: &Link| package(&link.library);
    let said = links.iter().filter_map(package).filter_map(|name| pkg_config(&["--cflags", &name]));
    said.flat_map(|text| text.split_whitespace().map(String::from).collect::<Vec<_>>()).collect()
}

/// Refuses to go on where a library is not installed: a header of it that is missing says less.
pub fn require(program: &Program, cxx: &str, cflags: &[String], terminal: &Terminal) -> Result {
    let mut diagnostics = Diagnostics::new();
    for Link { library, span } in of(program).iter().filter(|link| !is_installed(&link.library, cxx, cflags)) {
        let headline = format!("the library `{library}` is not installed");
        diagnostics.push(Diagnostic::error(ids::MISSING_LIBRARY, headline, *span).help(advice(library)));
    }
    program.show(&diagnostics, Notes::Hidden, terminal)
}

/// Whether the linker finds the library.
pub fn is_installed(library: &str, cxx: &str, cflags: &[String]) -> bool {
    if package(library).is_some() {
        return true;
    }
    let mut command = Command::new(cxx);
    command.args(cflags).arg("-shared").arg(format!("-l{library}")).args(["-o", "/dev/null"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A compiler that is not there is told of elsewhere.
    command.status().map_or(true, |status| status.success())
}

/// What to do about a library that is not installed.
pub fn advice(library: &str) -> String {
    match debian_package(library) {
        Some(package) => format!("apt-get install {package}"),
        None => "install its development package, whose name mostly ends in -dev".to_owned(),
    }
}

/// The Debian package with the library and its headers, as far as apt knows one.
pub fn debian_package(library: &str) -> Option<String> {
    if let Some((_, package)) = PACKAGES.iter().find(|(name, _)| *name == library) {
        return Some((*package).to_owned());
    }
    // Debian has no capitals and no underscores in the names of packages.
    let stem = format!("lib{}", library.to_lowercase().replace('_', "-"));
    let output = Command::new("apt-cache").args(["pkgnames", &stem]).stdin(Stdio::null()).output().ok()?;
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let of_library = |name: &&str| {
        let rest = name.strip_prefix(stem.as_str()).and_then(|rest| rest.strip_suffix("-dev"));
        rest.is_some_and(|rest| rest.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | '-')))
    };
    names.lines().filter(of_library).min_by_key(|name| (name.len(), *name)).map(String::from)
}

/// What pkg-config calls the library; none where it does not know it, or is not there.
fn package(library: &str) -> Option<String> {
    let names = [library.to_owned(), format!("lib{library}")];
    names.into_iter().find(|name| pkg_config(&["--exists", name]).is_some())
}

/// The variables of make that say what pkg-config calls these libraries.
pub fn packages(libraries: &[String]) -> Vec<String> {
    let variable = |library: &String| format!("PACKAGE_{library}={}", package(library).unwrap_or_default());
    libraries.iter().map(variable).collect()
}

/// What pkg-config answers; none where it refuses, or is not there.
fn pkg_config(arguments: &[&str]) -> Option<String> {
    thread_local! {
        static ANSWERS: RefCell<HashMap<String, Option<String>>> = RefCell::default();
    }
    ANSWERS.with_borrow_mut(|answers| {
        let known = answers.entry(arguments.join(" "));
        known.or_insert_with(|| asked_of_pkg_config(arguments)).clone()
    })
}

fn asked_of_pkg_config(arguments: &[&str]) -> Option<String> {
    let output = Command::new("pkg-config").args(arguments).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
