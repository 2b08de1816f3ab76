//! `flux stubs`

use crate::arguments::{Convention, Stubs};
use crate::failure::{Failure, Result};
use crate::program::{Notes, Program, compile, plain};
use crate::server::interface_2006::headers;
use crate::server::modules::Modules;
use crate::server::{bind_functions, files, generate, links, sources, write_runtime};
use crate::terminal::{Terminal, print};
use flux_back_cpp::probe::Probe;
use flux_back_cpp::{AskedFunction, Options, asked_functions, plain};
use flux_toolchain::definitions::{Definition, definitions};
use flux_toolchain::node_source::NodeSource;
use flux_toolchain::prototypes::Prototype;
use std::collections::BTreeSet;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

/// Writes the functions that no source defines, or all.
pub fn stubs(arguments: &Stubs, terminal: &Terminal) -> Result {
    let mut program = compile(&arguments.program)?;
    program.report(Notes::Hidden, terminal)?;
    let home = files::parent(&program.path);
    let modules = Modules::of(&program);
    let mut sources = sources::find(&arguments.sources, &home)?;
    modules.add_own(&mut sources)?;
    let options = bind(arguments, &mut program, &sources, terminal)?;
    let flow = program.compilation.flow.as_ref().ok_or(Failure::Program)?;
    let declared = prototypes(plain::declarations(&flow.program, &program.sources));
    let names: Vec<_> = declared.iter().map(|one| one.name.clone()).collect();
    let is_declared = |name: &String| names.contains(name);
    let asked = prototypes(asked_functions(flow, &program.sources, &options));
    let generated = generate(&program, &options)?;
    let there = There::new(&modules, &sources);
    let declared = declared.into_iter().filter(|one| arguments.all || !there.has_plain(one));
    let asked = asked.into_iter().filter(|one| arguments.all || !there.has(one));
    let mut defined: Vec<_> = declared.chain(asked).collect();
    if defined.is_empty() {
        terminal.progress("Complete", &format!("every function of {} is defined", program.path.display()));
        return Ok(());
    }
    let generated_header = generated.first().map_or("", |file| &file.name);
    let is_open = |plain: &Prototype| defined.iter().any(|one| one.name == plain.name && !is_declared(&one.name));
    let open: Vec<_> = match arguments.convention {
        Convention::Paper => vec![],
        Convention::Plain => plain_functions(&program).into_iter().filter(is_open).collect(),
    };
    if open.is_empty() {
        return write(arguments.output.as_deref(), &source_text(generated_header, &defined), defined.len(), terminal);
    }
    defined.retain(|one| !open.iter().any(|plain| plain.name == one.name));
    let stem = arguments.output.as_deref().and_then(Path::file_stem);
    let header = format!("{}.h", stem.map_or("nodes".into(), |stem| stem.to_string_lossy()));
    let declarations = header_text(&program, &open);
    match &arguments.output {
        Some(path) => write(Some(&path.with_file_name(&header)), &declarations, open.len(), terminal)?,
        None => print(&format!("// {header}: `include \"{header}\";` in the program\n{declarations}\n")),
    }
    let needs_structs = defined.iter().any(|one| one.declaration.contains("struct "));
    let included = if needs_structs { generated_header } else { header.as_str() };
    let all: Vec<_> = open.into_iter().chain(defined).collect();
    write(arguments.output.as_deref(), &source_text(included, &all), all.len(), terminal)
}

/// The functions that are there.
struct There<'a> {
    modules: &'a Modules,
    sources: &'a [NodeSource],
    in_headers: Vec<Definition>,
}

impl<'a> There<'a> {
    fn new(modules: &'a Modules, sources: &'a [NodeSource]) -> Self {
        let in_headers = headers(sources).iter().flat_map(|text| definitions(text)).collect();
        Self { modules, sources, in_headers }
    }

    /// Whether a source defines the function, in its namespace, or a standard module has it.
    fn has(&self, function: &Prototype) -> bool {
        let namespace = function.namespace.as_deref().unwrap_or_default();
        let is_it = |one: &Definition| one.name == function.own_name() && one.namespace == namespace;
        self.modules.has_standard(namespace) || self.sources.iter().flat_map(|source| &source.functions).any(is_it)
    }

    /// As [`Self::has`], for a function that a header declares: it may define it, too, and may have it from any
    /// namespace, `using shop::Find;`.
    fn has_plain(&self, function: &Prototype) -> bool {
        let mut all = self.sources.iter().flat_map(|source| &source.functions).chain(&self.in_headers);
        self.has(function) || all.any(|one| one.name == function.own_name())
    }
}

/// Binds what the sources and headers of the program say of its functions.
fn bind(arguments: &Stubs, program: &mut Program, sources: &[NodeSource], terminal: &Terminal) -> Result<Options> {
    let name = program.compilation.program().map(|model| model.name.clone()).unwrap_or_default();
    let directory = files::parent(&program.path).join("build").join(name);
    let flags = links::flags(&links::of(program));
    let compiler =
        bind_functions::Compiler { command: &arguments.cxx, flags, directory: &directory, precompiled: None };
    if bind_functions::is_asked(program, sources) {
        files::create_directory(&directory)?;
        write_runtime(&directory.join("runtime"))?;
        Modules::of(program).write_standard(&directory)?;
    }
    bind_functions::bind(program, sources, &compiler, terminal)
}

/// All functions of the program that can be plain; those of modules are declared in headers of their own.
fn plain_functions(program: &Program) -> Vec<Prototype> {
    let Some(flow) = &program.compilation.flow else { return vec![] };
    prototypes(Probe::new(flow, |function| function.is_of_module()).wanted(&program.sources))
}

fn prototypes(asked: Vec<AskedFunction>) -> Vec<Prototype> {
    asked.into_iter().map(Prototype::from).collect()
}

/// Writes a file with so many functions that does not exist yet, or prints it.
fn write(path: Option<&Path>, text: &str, functions: usize, terminal: &Terminal) -> Result {
    let Some(path) = path else {
        print(text);
        return Ok(());
    };
    let written = std::fs::File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::usage(format!("{} exists and is left as it is: choose another file", path.display()))
        }
        _ => Failure::usage(format!("cannot write {}: {}", path.display(), plain(&error))),
    })?;
    terminal.progress("Written", &format!("{functions} functions to {}", path.display()));
    Ok(())
}

/// The file with the stubs, each under the statement that asks for it.
fn source_text(header: &str, functions: &[Prototype]) -> String {
    let stubs = functions.iter().map(|prototype| format!("\n// {}\n{}", prototype.asked_by, prototype.stub()));
    format!("#include \"{header}\"\n{}", stubs.collect::<String>())
}

/// The header with the declarations of plain functions. Types may be those of headers that modules include.
fn header_text(program: &Program, functions: &[Prototype]) -> String {
    let model = program.compilation.program();
    let of_modules = model.into_iter().flat_map(|model| model.uses.iter().map(|id| &model.modules[*id]));
    let included = of_modules.flat_map(|module| &module.includes).chain(model.into_iter().flat_map(|it| &it.includes));
    let mut paths: Vec<_> = included.map(|include| include.path.as_str()).collect();
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(*path));
    let flow = program.compilation.flow.as_ref();
    let types: Vec<String> = flow.map_or(vec![], |flow| flux_back_cpp::types::types_header_names(flow).collect());
    let paths = types.iter().map(String::as_str).chain(paths);
    let includes: String = paths.map(|path| format!("#include \"{path}\"\n")).collect();
    let declared = functions.iter().map(|one| format!("\n// {}\n{};\n", one.asked_by, one.declaration));
    format!("#pragma once\n\n{includes}{}", declared.collect::<String>())
}
