//! `flux build`: from a program to a server. The compiler writes C++ and a Makefile; make does the rest, so that flux
//! and a user without flux do the same.

pub mod bind_functions;
mod cache;
pub mod compilers;
pub mod files;
mod host_executable;
pub mod interface_2006;
pub mod links;
mod makefile;
mod module_objects;
pub mod modules;
mod returns;
mod runtime_library;
pub mod sources;

pub use cache::directory as cache_directory;
pub use host_executable::cached as host_executable;
pub use makefile::RUNTIME_LIBRARIES;
pub use runtime_library::write_sources as write_runtime;

use crate::arguments::Build;
use crate::failure::{Failure, Result};
use crate::program::{Notes, Program, compile, plain};
use crate::terminal::Terminal;
use bind_functions::Compiler;
use files::write_if_changed;
use flux_back_cpp::interface_2006::{SCRIPT, SCRIPT_NAME};
use flux_back_cpp::{GeneratedFile, Options};
use flux_diagnostic::{Diagnostics, Severity};
use flux_ir::program::Link;
use flux_toolchain::node_source::NodeSource;
use flux_toolchain::{blocking_calls, explain, missing_headers, missing_returns, without_colours};
use makefile::Plan;
use modules::Modules;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Builds the server; gives its path.
pub fn build(arguments: &Build, terminal: &Terminal) -> Result<PathBuf> {
    let terminal = &terminal.with_progress(!arguments.quiet).with_format(arguments.format);
    let mut program = compile(&arguments.program)?;
    flux_driver::require_source(&mut program.compilation, program.file);
    program.report(Notes::Hidden, terminal)?;
    let name = program.compilation.program().map(|model| model.name.clone()).unwrap_or_default();
    let home = files::parent(&program.path);
    let folder = makefile::target(arguments, &name);
    let directory = arguments.build_dir.clone().unwrap_or_else(|| home.join("build").join(&folder));
    let modules = Modules::of(&program);
    let (sources, is_of_2006) = node_sources(arguments, &mut program, &modules, &directory)?;
    require_compilers(arguments, &sources)?;
    let runtime = directory.join("runtime");
    files::create_directory(&directory)?;
    runtime_library::write_sources(&runtime)?;
    let linked = links::of(&program);
    links::require(&program, &arguments.cxx, &arguments.cflags(), terminal)?;
    let compiler = compiler_of(arguments, &linked, &directory);
    if bind_functions::is_asked(&program, &sources) {
        terminal.progress("Reading", &format!("the headers of {}", program.path.display()));
    }
    let options = bind_functions::bind(&mut program, &sources, &compiler, terminal)?;
    let mut diagnostics = Diagnostics::new();
    let model = program.compilation.flow.as_ref().ok_or(Failure::Program)?;
    blocking_calls::report(&model.program, &sources, &program.sources, &mut diagnostics);
    program.show(&diagnostics, Notes::Hidden, terminal)?;
    let generated = generate(&program, &options)?;
    let (folders, links) = (modules.folders(&directory, &home), linked.as_slice());
    let compiled = modules.compiled(&program);
    let parts = makefile::Parts {
        folders: &folders,
        links,
        sources: &sources,
        modules: &compiled,
        generated: &generated,
        is_of_2006,
    };
    write_generated(arguments, &Plan::new(arguments, &name, &directory, &parts)?, &directory, &parts)?;
    let server = directory.join(&folder);
    if arguments.generate_only {
        terminal.progress("Generated", &format!("{} (build it: make -C {})", directory.display(), directory.display()));
        return Ok(server);
    }
    let (is_made, said) = make_server(arguments, &name, &directory, &parts, terminal)?;
    if !is_made {
        let asked = flux_back_cpp::asked_functions(model, &program.sources, &options);
        let built = flux_toolchain::Build {
            program: &model.program,
            files: &program.sources,
            sources: &sources,
            headers: &interface_2006::headers(&sources),
            asked: &[flux_back_cpp::plain::declarations(&model.program, &program.sources), asked].concat(),
            generated: &generated,
            has_libraries: !arguments.libraries.is_empty(),
            path: &program.path.display().to_string(),
        };
        return Err(show_failure(&said, &program, &built, is_of_2006, terminal));
    }
    terminal.show(&said);
    let Some(output) = &arguments.output else {
        terminal.progress("Built", &server.display().to_string());
        return Ok(server);
    };
    files::copy(&server, output)?;
    terminal.progress("Built", &output.display().to_string());
    Ok(output.clone())
}

/// The compiler that is asked for the functions of headers, as the build calls it.
fn compiler_of<'a>(arguments: &'a Build, linked: &[Link], directory: &'a Path) -> Compiler<'a> {
    let flags = makefile::flags(arguments);
    let precompiled = runtime_library::precompiled(arguments, &flags.join(" "));
    Compiler { command: &arguments.cxx, flags: [flags, links::flags(linked)].concat(), directory, precompiled }
}

/// Fails where a compiler is missing that the build needs.
fn require_compilers(arguments: &Build, sources: &[NodeSource]) -> Result {
    if arguments.generate_only {
        return Ok(());
    }
    compilers::require_cpp(&arguments.cxx)?;
    match sources.iter().any(|source| source.is_c) {
        true => compilers::require_c(&arguments.cc),
        false => Ok(()),
    }
}

/// Writes what flux generates into the folder of the build.
fn write_generated(arguments: &Build, plan: &Plan, directory: &Path, parts: &makefile::Parts<'_>) -> Result {
    let library = runtime_library::found(arguments, &plan.flags()).ok().flatten();
    link_library(library.as_deref(), directory);
    for file in parts.generated {
        write_if_changed(&directory.join(&file.name), &file.text)?;
    }
    if parts.is_of_2006 {
        write_if_changed(&directory.join(SCRIPT_NAME), SCRIPT)?;
    }
    write_makefile(plan, directory)
}

/// Writes the Makefile, and beside it what objects depend on.
fn write_makefile(plan: &Plan, directory: &Path) -> Result {
    write_if_changed(&directory.join(makefile::COMPILATION), &plan.compilation())?;
    write_if_changed(&directory.join("Makefile"), &plan.makefile())
}

/// The author's sources, those of modules too.
fn own_sources(arguments: &Build, program: &Program, modules: &Modules) -> Result<Vec<NodeSource>> {
    let mut sources = sources::find(&arguments.sources, &files::parent(&program.path))?;
    modules.add_own(&mut sources)?;
    Ok(sources)
}

/// Whether the program has C or C++ of its own.
pub fn has_own_sources(arguments: &Build) -> Result<bool> {
    let program = compile(&arguments.program)?;
    Ok(!own_sources(arguments, &program, &Modules::of(&program))?.is_empty())
}

/// The sources of the nodes, those of modules too, and whether they are of 2006.
fn node_sources(
    arguments: &Build,
    program: &mut Program,
    modules: &Modules,
    directory: &Path,
) -> Result<(Vec<NodeSource>, bool)> {
    let mut sources = own_sources(arguments, program, modules)?;
    if let Some(own) = sources.first().filter(|_| arguments.shared) {
        let own = own.path.display();
        return Err(Failure::usage(format!(
            "a shared object has no C or C++ of its own, as {own}: build it without --shared"
        )));
    }
    modules.add_standard(directory, &mut sources)?;
    sources::show(&mut sources, &mut program.sources);
    let is_of_2006 = interface_2006::functions(&sources).is_some();
    if is_of_2006 {
        interface_2006::refuse_leftovers(&sources, directory)?;
        interface_2006::read_c_as_cpp(&mut sources);
    }
    Ok((sources, is_of_2006))
}

/// Makes the server. Whether it was made, and what the compilers said.
fn make_server(
    arguments: &Build,
    name: &str,
    directory: &Path,
    parts: &makefile::Parts<'_>,
    terminal: &Terminal,
) -> Result<(bool, String)> {
    let mut plan = Plan::new(arguments, name, directory, parts)?;
    // The author's mistakes are said before the runtime is compiled, which takes a minute, once.
    let found = runtime_library::found(arguments, &plan.flags())?.map(|library| library_of(&library));
    let first: Vec<_> = plan.objects().into_iter().chain(found.as_deref()).collect();
    let (mut is_made, mut said) = make(arguments, &plan, directory, &first, terminal)?;
    if is_made && parts.is_of_2006 && returns::add(&said, directory, parts.sources, terminal)? {
        plan = Plan::new(arguments, name, directory, parts)?;
        write_makefile(&plan, directory)?;
        let again: Vec<_> = plan.objects().into_iter().chain(found.as_deref()).collect();
        (is_made, said) = make(arguments, &plan, directory, &again, terminal)?;
    }
    if !is_made {
        return Ok((false, said));
    }
    let library = runtime_library::cached(arguments, &plan.flags(), terminal)?;
    link_library(Some(&library), directory);
    let library = library_of(&library);
    let objects = match module_objects::cached(arguments, directory, &plan, &library, terminal)? {
        Ok(objects) => objects,
        Err(said_then) => return Ok((false, said + &said_then)),
    };
    let objects: Vec<_> = objects.iter().map(|object| object.display().to_string()).collect();
    let modules = format!("MODULES={}", objects.join(" "));
    let (is_linked, said_then) = make(arguments, &plan, directory, &[&library, &modules], terminal)?;
    Ok((is_linked, said + &said_then))
}

/// Links `runtime/libflux.a` to a library that is already built, for a later make without flux. This replaces a link to
/// a library with other flags. Without a link, make builds the runtime.
fn link_library(library: Option<&Path>, directory: &Path) {
    let link = directory.join("runtime/libflux.a");
    let _ = std::fs::remove_file(&link);
    let _ = library.map(|library| std::os::unix::fs::symlink(library, &link));
}

/// The argument that tells make where the runtime is.
fn library_of(library: &Path) -> String {
    format!("FLUX_LIBRARY={}", library.display())
}

/// Shows why a server could not be made, in the program's terms.
fn show_failure(
    said: &str,
    program: &Program,
    built: &flux_toolchain::Build<'_>,
    is_of_2006: bool,
    terminal: &Terminal,
) -> Failure {
    let mut diagnostics = Diagnostics::new();
    let mut other = missing_returns::without_warnings(said);
    // A return that does not compile is missing, too, as far as compilers go.
    if !is_of_2006 && !without_colours(&other).contains("error: ") {
        missing_returns::report(said, built, &mut diagnostics);
    }
    let returns = diagnostics.count(Severity::Error);
    missing_headers::report(&other, built.program, &mut diagnostics);
    if diagnostics.count(Severity::Error) == returns {
        other = explain::explain(&other, built, &links::advice, &mut diagnostics);
        terminal.show(&other);
    }
    match program.show(&diagnostics, Notes::Hidden, terminal) {
        Ok(()) => Failure::Build,
        Err(failure) => failure,
    }
}

/// The C++ of a program that has no errors, and whose functions are [bound](bind_functions::bind).
pub fn generate(program: &Program, options: &Options) -> Result<Vec<GeneratedFile>> {
    let flow = program.compilation.flow.as_ref().ok_or(Failure::Program)?;
    Ok(flux_back_cpp::generate(flow, &program.sources, options))
}

/// Makes what is asked for, its progress shown as it comes. Whether all was made, and what the compilers said.
fn make(
    arguments: &Build,
    plan: &Plan,
    directory: &Path,
    asked: &[&str],
    terminal: &Terminal,
) -> Result<(bool, String)> {
    let cpus = || std::thread::available_parallelism().map_or(1, |number| number.get());
    let jobs = arguments.jobs.map_or_else(cpus, |jobs| jobs as usize);
    let mut command = Command::new("make");
    // By lines, so that what is compiled is shown while it is, and what compilers say is still not mixed.
    command.arg("-C").arg(directory).args(["--no-print-directory", "--output-sync=line"]).arg(format!("-j{jobs}"));
    command.args(asked).args(plan.packages());
    if terminal.color() {
        command.arg("COLOR=-fdiagnostics-color=always");
    }
    // The messages of the linker are read below, so they must be in one language; MAKEFLAGS of a make that runs flux
    // are not for this one.
    command.env("LC_ALL", "C").env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::usage("make is not installed: apt-get install make g++"),
        _ => Failure::usage(format!("cannot start make: {}", plain(&error))),
    })?;
    let errors = child.stderr.take().map(|mut pipe| {
        std::thread::spawn(move || {
            let mut bytes = vec![];
            let _ = pipe.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    });
    for line in
        child.stdout.take().into_iter().flat_map(|pipe| BufReader::new(pipe).lines()).map_while(|line| line.ok())
    {
        show_progress(&line, terminal);
    }
    let status = child.wait().map_err(|error| Failure::usage(format!("make failed: {}", plain(&error))))?;
    let said = errors.and_then(|thread| thread.join().ok()).unwrap_or_default();
    Ok((status.success(), without_repetitions(&said)))
}

/// Leaves out lines that repeat the line before them. An assembler on a full disk says one line hundreds of times.
fn without_repetitions(said: &str) -> String {
    let mut lines: Vec<&str> = said.split_inclusive('\n').collect();
    lines.dedup_by(|line, before| line == before && !line.trim().is_empty());
    lines.concat()
}

/// The Makefile prints `  verb  object`; anything else is passed on.
fn show_progress(line: &str, terminal: &Terminal) {
    let mut words = line.split_whitespace();
    let (verb, object, rest) = (words.next(), words.next().unwrap_or_default(), words.next());
    let file = object.rsplit('/').next().unwrap_or(object);
    match (verb, rest) {
        (Some("compile"), None) => terminal.progress("Compiling", file),
        (Some("link"), None) => terminal.progress("Linking", file),
        _ if line.starts_with("make") => {}
        _ => terminal.show(&format!("{line}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::without_repetitions;

    #[test]
    fn a_line_that_repeats_the_one_before_it_is_left_out() {
        assert_eq!(without_repetitions("full\nbad\nbad\nbad\n\n\nend\nbad"), "full\nbad\n\n\nend\nbad");
    }
}
