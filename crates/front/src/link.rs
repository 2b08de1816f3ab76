//! Joins the files of a program, whatever notation each is in.
//!
//! Each file is read after those that it uses, straight into the one program: the names that it uses of them have their
//! ids already, and nothing is copied or numbered again.

use crate::load::{LoadedFile, load};
use crate::node_names::check_node_names;
use crate::scope::{Declared, Scope};
use crate::{Front, Library, stem};
use flux_diagnostic::Diagnostics;
use flux_ir::arena::ArenaId;
use flux_ir::program::{Module, ModuleId, Program};
use flux_source::{FileId, SourceMap, Span};
use std::collections::{HashMap, HashSet};

/// Reads the program in `file`, whose name's stem becomes the program's, with the modules that it uses; their texts
/// are added to `sources`. A file is in the notation that its name ends in, and in `first` where that is the ending of
/// none. What is wrong goes to `diagnostics`: where that has errors, the program is what could be understood, and is
/// not to be compiled. Linear in the files.
pub fn link(
    (first, fronts): (&dyn Front, &[&dyn Front]),
    sources: &mut SourceMap,
    file: FileId,
    library: Library<'_>,
    diagnostics: &mut Diagnostics,
) -> Program {
    let files = load((first, fronts), sources, file, library, diagnostics);
    read(sources, &files, diagnostics)
}

/// As [`link`], of a program that uses no modules, all of it in the notation `front`.
pub fn read_alone(front: &dyn Front, sources: &SourceMap, file: FileId, diagnostics: &mut Diagnostics) -> Program {
    read(sources, &[LoadedFile { file, front, module: None, uses: vec![], missing: vec![] }], diagnostics)
}

fn read(sources: &SourceMap, files: &[LoadedFile<'_>], diagnostics: &mut Diagnostics) -> Program {
    let mut program = Program::default();
    for file in files {
        let Some(source) = sources.file(file.file) else { return Program::default() };
        let uses = file.uses.iter().map(|used| used.module).collect();
        match &file.module {
            Some(name) => {
                let span = Span::new(file.file, 0..source.text.len());
                program.modules.add(Module { name: name.clone(), uses, includes: vec![], span });
            }
            None => (program.name, program.uses) = (stem(&source.name), uses),
        }
    }
    let mut declared = Declared::default();
    for (index, file) in files.iter().enumerate() {
        let Some(source) = sources.file(file.file) else { continue };
        let module: Option<ModuleId> = file.module.as_ref().map(|_| ArenaId::new(index));
        let first_node = program.nodes.len();
        let mut scope = Scope {
            program: &mut program,
            diagnostics: &mut *diagnostics,
            declared: &mut declared,
            module,
            uses: &file.uses,
            missing: &file.missing,
            instances: HashMap::new(),
            promises: HashMap::new(),
            first_node,
            reported: HashSet::new(),
            reported_modules: HashSet::new(),
        };
        file.front.read(file.file, &source.text, &mut scope);
        scope.end();
    }
    check_node_names(&program, &declared, diagnostics);
    program
}
