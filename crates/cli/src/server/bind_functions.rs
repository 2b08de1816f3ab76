//! Binds what sources and headers say of a program's functions: which are in C, which are of 2006, and which are plain
//! functions that the headers declare. For the last question the C++ compiler is run once for all functions; it is not
//! run if the sources define every function with the structs of nodes.

use super::compilers;
use super::files::{parent, write_if_changed};
use super::interface_2006;
use super::modules::Modules;
use crate::failure::{Failure, Result};
use crate::program::{Notes, Program, plain};
use crate::terminal::Terminal;
use flux_back_cpp::Options;
use flux_back_cpp::bind_externals::{Found, bind_externals};
use flux_back_cpp::probe::Probe;
use flux_diagnostic::Diagnostics;
use flux_ir::external::{ExternalId, PlainFunction};
use flux_ir::name::Name;
use flux_toolchain::definitions::Definition;
use flux_toolchain::node_source::NodeSource;
use flux_toolchain::{misfits, missing_headers};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the probe is compiled.
pub struct Compiler<'a> {
    /// The C++ compiler.
    pub command: &'a str,
    /// The flags of all that the build compiles, and those of its libraries.
    pub flags: Vec<String>,
    /// The folder with the precompiled header of generated code, if that header is there already.
    pub precompiled: Option<PathBuf>,
    /// Where the probe is written.
    pub directory: &'a Path,
}

/// What the compiler has to be asked; none where the sources say it all.
fn questions<'a>(program: &'a Program, sources: &[NodeSource]) -> Option<Probe<'a>> {
    let flow = program.compilation.flow.as_ref().filter(|_| interface_2006::functions(sources).is_none())?;
    let headers = interface_2006::headers(sources);
    let includes = |function: &Name| match function.module() {
        Some(name) => flow.program.modules.iter().any(|(_, it)| it.name == name && !it.includes.is_empty()),
        None => !flow.program.includes.is_empty(),
    };
    let is_known = |function: &Name| !includes(function) || is_known(function, sources, &headers);
    Some(Probe::new(flow, is_known)).filter(Probe::is_needed)
}

/// Whether the compiler has to be asked.
pub fn is_asked(program: &Program, sources: &[NodeSource]) -> bool {
    questions(program, sources).is_some()
}

/// Binds what sources and headers say of the functions of the program; those that do not fit are errors of it, and
/// shown.
pub fn bind(
    program: &mut Program,
    sources: &[NodeSource],
    compiler: &Compiler<'_>,
    terminal: &Terminal,
) -> Result<Options> {
    let in_c = sources.iter().filter(|source| source.is_c);
    let in_c = in_c.flat_map(|source| source.global_functions().map(|function| function.name.clone())).collect();
    let plain = plain_functions(program, sources, compiler, terminal)?;
    let found = Found { in_c, of_2006: interface_2006::functions(sources), plain };
    let flow = program.compilation.flow.as_mut().ok_or(Failure::Program)?;
    Ok(bind_externals(&mut flow.program, found))
}

/// The functions that headers declare as plain ones.
fn plain_functions(
    program: &Program,
    sources: &[NodeSource],
    compiler: &Compiler<'_>,
    terminal: &Terminal,
) -> Result<Vec<(ExternalId, PlainFunction)>> {
    let Some(probe) = questions(program, sources) else { return Ok(vec![]) };
    // The author's headers may include these.
    let flow = program.compilation.flow.as_ref();
    for types in flow.map_or(vec![], |flow| flux_back_cpp::generate_types(flow, &program.sources)) {
        write_if_changed(&compiler.directory.join(&types.name), &types.text)?;
    }
    let file = compiler.directory.join("probe.cpp");
    write_if_changed(&file, &probe.text())?;
    let folders = Modules::of(program).folders(compiler.directory, &parent(&program.path));
    let mut said = ask(&file, &folders, compiler, &[])?;
    if said.contains("too many errors emitted") {
        said = ask(&file, &folders, compiler, &["-ferror-limit=0"])?;
    }
    let mut diagnostics = Diagnostics::new();
    program.compilation.program().into_iter().for_each(|model| missing_headers::report(&said, model, &mut diagnostics));
    program.show(&diagnostics, Notes::Hidden, terminal)?;
    let (plain, misfits) = probe.read(&said);
    misfits::report_misfits(&misfits, &mut diagnostics);
    program.show(&diagnostics, Notes::Hidden, terminal)?;
    Ok(plain)
}

/// Whether a source shows all there is to know: that it defines the function with a node's structs, or one that no
/// header beside it names.
fn is_known(function: &Name, sources: &[NodeSource], headers: &[String]) -> bool {
    let (namespace, name) = (function.module(), function.own());
    let structs = [format!("{name}_in"), format!("{name}_out")];
    let is_it = |one: &&Definition| one.name == name && one.namespace == namespace.unwrap_or_default();
    let mut defined = sources.iter().flat_map(|source| &source.functions).filter(is_it).peekable();
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let is_named = || headers.iter().any(|text| text.split(|one| !is_word(one)).any(|word| word == name));
    let takes_struct = |parameter: &String| parameter.split(' ').any(|word| structs.iter().any(|one| one == word));
    defined.peek().is_some() && (defined.any(|one| one.parameters.iter().any(takes_struct)) || !is_named())
}

/// What the compiler says of the probe.
fn ask(file: &Path, folders: &[PathBuf], compiler: &Compiler<'_>, flags: &[&str]) -> Result<String> {
    let mut command = Command::new(compiler.command);
    command.args(["-std=c++20", "-fsyntax-only", "-w"]).args(&compiler.flags).args(flags);
    if let Some(folder) = &compiler.precompiled {
        command.arg("-I").arg(folder).args(["-include", "flux/generated_support.hpp"]);
    }
    folders.iter().for_each(|folder| _ = command.arg("-I").arg(folder));
    command.arg("-I").arg(compiler.directory);
    command.arg("-I").arg(compiler.directory.join("runtime/include")).arg(file);
    compilers::require_cpp(compiler.command)?;
    let output = command.env("LC_ALL", "C").output();
    let output =
        output.map_err(|error| Failure::usage(format!("cannot start {}: {}", compiler.command, plain(&error))))?;
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}
