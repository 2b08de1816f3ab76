//! The objects of standard modules, kept between builds: one for each text of all that a module includes, and for each
//! runtime that it is compiled with. The header of a module is the same for every program that uses it, so a program
//! compiles no more than its own C++ where another has used its modules before.

use super::files::{copy, write_if_changed};
use super::makefile::{Module, Plan};
use super::modules::STANDARD;
use super::{cache, make, runtime_library};
use crate::arguments::Build;
use crate::failure::Result;
use crate::terminal::Terminal;
use flux_toolchain::cpp_tokens::includes;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

/// What is kept of a module.
const OBJECT: &str = "module.o";

/// A module, and all that its object is made of beside the runtime.
struct Wanted<'plan> {
    module: &'plan Module,
    /// By its path in the folder of the build.
    texts: BTreeMap<PathBuf, String>,
    /// How its folder in the cache is called.
    name: String,
    /// Where the object is kept, with the texts, as a debugger looks for them.
    home: PathBuf,
}

/// The objects for this plan, or what the compiler said where one cannot be made. Those that are not in the cache yet
/// are compiled in the folder of the build, as the Makefile there says, and kept.
pub fn cached(
    arguments: &Build,
    directory: &Path,
    plan: &Plan,
    library: &str,
    terminal: &Terminal,
) -> Result<std::result::Result<Vec<PathBuf>, String>> {
    let cache = cache::directory()?;
    let runtime = runtime_library::key(&arguments.cxx, &plan.flags())?;
    let wanted = plan.modules().iter().map(|module| {
        let texts = texts(directory, &module.source);
        let mut hasher = DefaultHasher::new();
        (runtime, plan.is_shared(), &module.links, &texts).hash(&mut hasher);
        let name = format!("{}{:016x}", cache::MODULE, hasher.finish());
        Wanted { module, texts, home: cache.join(&name), name }
    });
    let wanted: Vec<_> = wanted.collect();
    let mut missing: Vec<_> = wanted.iter().filter(|one| !cache::has(&one.home.join(OBJECT))).collect();
    // In one order for all builds, so that no two wait for each other.
    missing.sort_by(|one, other| one.name.cmp(&other.name));
    let wait = |one: &Wanted<'_>| {
        terminal.progress("Waiting", &format!("for another build, which compiles std.{}", one.module.name))
    };
    let _making: Vec<_> = missing.iter().map(|one| cache::making(&cache, &one.name, || wait(one))).collect();
    missing.retain(|one| !cache::has(&one.home.join(OBJECT)));
    if !missing.is_empty() {
        cache::remove_unused(&cache);
        let home = |one: &&Wanted<'_>| format!("HOME_OF_{}={}", one.module.name, one.home.display());
        let homes: Vec<_> = missing.iter().map(home).collect();
        let asked = missing.iter().map(|one| one.module.object.as_str()).chain(homes.iter().map(String::as_str));
        let asked: Vec<_> = asked.chain([library]).collect();
        let (is_made, said) = make(arguments, plan, directory, &asked, terminal)?;
        if !is_made {
            return Ok(Err(said));
        }
        for one in missing {
            one.keep(&cache, directory)?;
        }
    }
    Ok(Ok(wanted.into_iter().map(|one| one.home.join(OBJECT)).collect()))
}

impl Wanted<'_> {
    /// Moves the object into the cache.
    fn keep(&self, cache: &Path, directory: &Path) -> Result {
        // Beside its place and renamed into it, so that nobody links half of one.
        let building = cache.join(format!("{}{}-{}", cache::BUILDING, std::process::id(), self.module.name));
        for (path, text) in &self.texts {
            write_if_changed(&building.join(path), text)?;
        }
        let made = directory.join(&self.module.object);
        copy(&made, &building.join(OBJECT))?;
        let _ = std::fs::remove_file(made);
        if !cache::has(&self.home.join(OBJECT)) {
            // What is there without an object is of no use.
            let _ = std::fs::remove_dir_all(&self.home);
        }
        if std::fs::rename(&building, &self.home).is_err() {
            // Another build was first; its object is as good.
            let _ = std::fs::remove_dir_all(&building);
        }
        Ok(())
    }
}

/// What is compiled as `source`: it, and all that it includes from beside it or of what was generated. Other headers
/// are the runtime's, or the system's.
fn texts(directory: &Path, source: &str) -> BTreeMap<PathBuf, String> {
    let mut texts = BTreeMap::new();
    let mut unread = vec![PathBuf::from(source)];
    while let Some(path) = unread.pop() {
        let Ok(text) = std::fs::read_to_string(directory.join(&path)) else { continue };
        for include in includes(&text) {
            let Some(name) = include.name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) else { continue };
            let name = name.strip_prefix("../").unwrap_or(name);
            let places = [Path::new(STANDARD).join(name), PathBuf::from(name)];
            unread.extend(places.into_iter().filter(|place| !texts.contains_key(place)));
        }
        texts.insert(path, text);
    }
    texts
}
