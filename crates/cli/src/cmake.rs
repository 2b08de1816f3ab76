//! `flux cmake`: the CMake package that is in this command, written to where `find_package(Flux)` finds it.

use crate::arguments::Cmake;
use crate::failure::Result;
use crate::server::files::{absolute, write_if_changed};
use crate::server::{cache_directory, write_runtime};
use crate::terminal::print;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes the package and prints its folder.
pub fn cmake(arguments: &Cmake) -> Result {
    let folder = match &arguments.folder {
        Some(folder) => folder.clone(),
        None => cache_directory()?.join(format!("cmake-{VERSION}")),
    };
    write_if_changed(&folder.join("FluxConfig.cmake"), include_str!("../cmake/FluxConfig.cmake"))?;
    let version = include_str!("../cmake/FluxConfigVersion.cmake").replace("\"VERSION\"", &format!("\"{VERSION}\""));
    write_if_changed(&folder.join("FluxConfigVersion.cmake"), &version)?;
    write_runtime(&folder.join("runtime"))?;
    // By name: the folder may have files of another version. By rooms: those of no folder come first.
    let mut sources: Vec<_> =
        flux_runtime::files().map(|(path, _)| path).filter(|path| path.ends_with(".cpp")).collect();
    sources.sort_by_key(|path| path.matches('/').count());
    let lines: String =
        sources.iter().map(|path| format!("    \"${{CMAKE_CURRENT_LIST_DIR}}/runtime/{path}\"\n")).collect();
    let list = format!("# The sources of the runtime.\n\nset(Flux_RUNTIME_SOURCES\n{lines})\n");
    write_if_changed(&folder.join("FluxRuntime.cmake"), &list)?;
    print(&format!("{}\n", absolute(&folder)?.display()));
    Ok(())
}
