//! What is compiled once and kept between builds, in the user's cache: [runtimes](super::runtime_library) and [objects
//! of standard modules](super::module_objects). What no build has used for a month is removed when another is made.

use super::files::create_directory;
use crate::failure::Result;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How the folder of a runtime begins; the rest is its key.
pub const RUNTIME: &str = "runtime-";

/// How the folder of a module's object begins.
pub const MODULE: &str = "module-";

/// How that begins which is being made.
pub const BUILDING: &str = "building-";

/// How the file begins that is locked meanwhile.
const LOCK: &str = "lock-";

/// How long a thing is kept after the last build that used it.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The folder of the cache. It may not exist yet.
pub fn place() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    base.unwrap_or_else(std::env::temp_dir).join("flux")
}

/// The folder of the cache, created if it does not exist.
pub fn directory() -> Result<PathBuf> {
    let directory = place();
    create_directory(&directory)?;
    Ok(directory)
}

/// Whether this file of a folder here is there; the folder counts as used now.
pub fn has(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let folder = path.parent().and_then(|folder| File::open(folder).ok());
    // Where this is refused, the cache is somebody else's.
    let _ = folder.map(|folder| folder.set_modified(SystemTime::now()));
    true
}

/// Held by who makes a thing here, until dropped, so that it is made once by builds that want it at the same time.
pub struct Making {
    _locked: Option<File>,
}

/// Waits until nobody makes what is called so, after `wait` was told if it takes time. Where files cannot be locked
/// nobody waits: then a thing may be made twice, which does no harm.
pub fn making(cache: &Path, name: &str, wait: impl FnOnce()) -> Making {
    let locked = File::create(cache.join(format!("{LOCK}{name}"))).ok();
    if let Some(file) = &locked
        && flock(file, FlockOperation::NonBlockingLockExclusive)
            .is_err_and(|error| error == rustix::io::Errno::WOULDBLOCK)
    {
        wait();
        while flock(file, FlockOperation::LockExclusive).is_err_and(|error| error == rustix::io::Errno::INTR) {}
    }
    Making { _locked: locked }
}

/// Removes what no build has used for long, and what is left of builds that were interrupted. What cannot be removed
/// stays.
pub fn remove_unused(cache: &Path) {
    remove_unused_at(cache, SystemTime::now());
}

fn remove_unused_at(cache: &Path, now: SystemTime) {
    for entry in std::fs::read_dir(cache).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = [RUNTIME, MODULE, BUILDING, LOCK].iter().any(|begin| name.to_string_lossy().starts_with(begin));
        let used = entry.metadata().and_then(|one| one.modified());
        if is_ours && used.is_ok_and(|used| now.duration_since(used).is_ok_and(|unused| unused > KEPT)) {
            let _ = std::fs::remove_dir_all(entry.path()).or_else(|_| std::fs::remove_file(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_build_has_used_for_a_month_is_removed() {
        let cache = std::env::temp_dir().join(format!("flux_cache_{}", std::process::id()));
        for name in ["runtime-1", "runtime-2", "building-3", "module-4", "module-5", "cmake-0.1.0"] {
            std::fs::create_dir_all(cache.join(name)).unwrap();
        }
        drop(making(&cache, "module-5", || panic!("nobody makes it")));
        let kept = ["runtime-2", "module-4"].map(|name| File::open(cache.join(name)).unwrap());
        let now = std::fs::metadata(&cache).unwrap().modified().unwrap();
        let later = now + KEPT + Duration::from_secs(1);
        remove_unused_at(&cache, now);
        assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 7);
        for folder in kept {
            folder.set_modified(later).unwrap();
        }
        remove_unused_at(&cache, later);
        let mut kept: Vec<_> = std::fs::read_dir(&cache).unwrap().map(|one| one.unwrap().file_name()).collect();
        kept.sort();
        std::fs::remove_dir_all(&cache).unwrap();
        assert_eq!(kept, ["cmake-0.1.0", "module-4", "runtime-2"]);
    }

    #[test]
    fn what_two_builds_want_is_made_by_one_after_the_other() {
        let cache = std::env::temp_dir().join(format!("flux_cache_locked_{}", std::process::id()));
        std::fs::create_dir_all(&cache).unwrap();
        let made = std::sync::Mutex::new(vec![]);
        let (says, said) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let first = making(&cache, "runtime-1", || panic!("nobody makes it"));
            drop(making(&cache, "runtime-2", || panic!("another thing")));
            scope.spawn(|| {
                let _second = making(&cache, "runtime-1", move || says.send(()).unwrap());
                made.lock().unwrap().push("second");
            });
            said.recv().unwrap();
            made.lock().unwrap().push("first");
            drop(first);
        });
        std::fs::remove_dir_all(&cache).unwrap();
        assert_eq!(made.into_inner().unwrap(), ["first", "second"]);
        // Where there is no such folder nothing is locked, and nobody waits.
        drop((making(&cache, "runtime-1", || panic!("nobody")), making(&cache, "runtime-1", || panic!("nobody"))));
    }
}
