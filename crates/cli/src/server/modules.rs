//! The C++ of a program's modules: beside the `.flux` file of one of the user's, inside this command for a standard
//! one.

use super::files::{absolute, parent, write_if_changed};
use super::links;
use super::sources::read;
use crate::failure::{Failure, Result};
use crate::program::Program;
use flux_toolchain::node_source::NodeSource;
use std::path::{Path, PathBuf};

/// The endings of a module's C++, which has the stem of its `.flux` file.
const CPP: [&str; 3] = ["cpp", "cc", "cxx"];

/// The folder of the C++ of standard modules, in the folder of the generated files.
pub const STANDARD: &str = "nodes";

/// The folder below it of what is compiled: a file for each standard module, which includes its sources. What these all
/// include is then read once, and not for each of them.
pub const WHOLE: &str = "nodes/whole";

/// The first line of each of these files: GCC uses a [precompiled header](super::runtime_library) only there.
const FIRST: &str = "#include <flux/generated_support.hpp>\n";

/// Where the modules of a program come from.
pub struct Modules {
    /// The standard ones: `std.tcp`.
    standard: Vec<String>,
    /// The files of the user's.
    own: Vec<PathBuf>,
}

impl Modules {
    /// Those of a program that was compiled.
    pub fn of(program: &Program) -> Self {
        let (mut standard, mut own) = (vec![], vec![]);
        let modules = program.compilation.program().into_iter().flat_map(|model| model.modules.iter());
        for file in modules.filter_map(|(_, module)| program.sources.file(module.span.file)) {
            match flux_nodes::modules().any(|(name, _)| name == file.name) {
                true => standard.push(file.name.clone()),
                false => own.push(PathBuf::from(&file.name)),
            }
        }
        Self { standard, own }
    }

    /// Whether the standard module with this C++ namespace is among them.
    pub fn has_standard(&self, namespace: &str) -> bool {
        self.standard.iter().any(|name| *name == format!("std.{namespace}"))
    }

    /// The standard ones that have C++, as their files are called, `tcp`, each with the libraries that it names.
    pub fn compiled(&self, program: &Program) -> Vec<(&str, Vec<String>)> {
        let has_cpp = |name: &&String| !sources_of(name).is_empty();
        self.standard.iter().filter(has_cpp).map(|name| (stem(name), links::of_file(program, name))).collect()
    }

    /// Adds the C++ of the user's own modules to `sources`, unless it is among them. Where there is C alone it is
    /// refused: a module is a namespace.
    pub fn add_own(&self, sources: &mut Vec<NodeSource>) -> Result {
        for file in &self.own {
            let beside = CPP.iter().map(|ending| file.with_extension(ending)).filter(|path| path.is_file());
            let beside: Vec<_> = beside.collect();
            let in_c = file.with_extension("c");
            if beside.is_empty() && in_c.is_file() && !has_cpp(file, sources) {
                let (found, wanted) = (in_c.display(), file.with_extension("cpp"));
                return Err(Failure::usage(format!("{found} is C, and a module is C++: call it {}", wanted.display())));
            }
            for path in beside {
                let path = absolute(&path)?;
                if sources.iter().all(|source| source.path != path) {
                    sources.push(read(&path)?);
                }
            }
        }
        Ok(())
    }

    /// Writes the C++ of the standard modules, their headers too, into the folder of the generated files. Gives the
    /// paths.
    pub fn write_standard(&self, directory: &Path) -> Result<Vec<PathBuf>> {
        let mut written = vec![];
        for (name, text) in self.standard.iter().flat_map(|name| flux_nodes::cpp(name)) {
            let path = directory.join(STANDARD).join(name);
            write_if_changed(&path, text)?;
            written.push(path);
        }
        for name in &self.standard {
            let included: String = sources_of(name).iter().map(|file| format!("#include \"../{file}\"\n")).collect();
            if !included.is_empty() {
                write_if_changed(&whole(directory, name), &format!("{FIRST}{included}"))?;
            }
        }
        Ok(written)
    }

    /// Writes the C++ of the standard modules, and adds it to `sources`.
    pub fn add_standard(&self, directory: &Path, sources: &mut Vec<NodeSource>) -> Result {
        self.write_standard(directory)?;
        for name in &self.standard {
            for file in sources_of(name) {
                let mut source = read(&directory.join(STANDARD).join(file))?;
                source.includer = Some(absolute(&whole(directory, name))?);
                sources.push(source);
            }
        }
        Ok(())
    }

    /// The folders in which the author's headers are: that of the program, and those of modules.
    pub fn folders(&self, directory: &Path, home: &Path) -> Vec<PathBuf> {
        let own = self.own.iter().map(|file| parent(file));
        let has_cpp = self.standard.iter().any(|name| flux_nodes::cpp(name).next().is_some());
        let standard = has_cpp.then(|| directory.join(STANDARD));
        let mut folders = vec![home.to_owned()];
        for folder in own.chain(standard) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }
}

/// `tcp` of `std.tcp`.
fn stem(name: &str) -> &str {
    name.strip_prefix("std.").unwrap_or(name)
}

/// The sources of a standard module, in order.
fn sources_of(name: &str) -> Vec<&'static str> {
    let mut sources: Vec<_> =
        flux_nodes::cpp(name).map(|(file, _)| file).filter(|file| file.ends_with(".cpp")).collect();
    sources.sort_unstable();
    sources
}

/// What is compiled of a standard module.
fn whole(directory: &Path, name: &str) -> PathBuf {
    directory.join(WHOLE).join(format!("{}.cpp", stem(name)))
}

/// Whether the namespace of the module of this file is opened in a source, or in a header beside the file.
fn has_cpp(file: &Path, sources: &[NodeSource]) -> bool {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let opens = |text: &str| text.contains(&format!("namespace {name}")) || text.contains(&format!("{name}::"));
    let headers = ["h", "hpp", "hh"].map(|ending| std::fs::read_to_string(file.with_extension(ending)));
    sources.iter().any(|source| opens(&source.text)) || headers.iter().flatten().any(|text| opens(text))
}
