//! What the tests of generated code share: from the text of a program to its flow, from C++ to what a compiler says.

use flux_diagnostic::{Diagnostics, Severity};
use flux_front_flux::load::LoadedFile;
use flux_ir::flow::Flow;
use flux_source::{FileId, SourceMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file or folder of these tests.
pub fn tests(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path)
}

/// The folder of the runtime's headers.
pub fn runtime() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/include")
}

/// Compiles a text without writing anything, at the strictest; gives what the compiler says if it is not content. The
/// language is `c` or `c++`.
pub fn compile(compiler: &str, language: &str, folders: &[&Path], text: &str) -> Result<(), String> {
    let standard = if language == "c" { "-std=c11" } else { "-std=c++20" };
    let warnings = ["-Wall", "-Wextra", "-Werror", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion"];
    let mut command = Command::new(compiler);
    command.arg(standard).args(warnings).args(["-fsyntax-only", "-x", language, "-"]);
    command.arg("-isystem").arg(runtime());
    if compiler.starts_with("clang") {
        command.arg("-ferror-limit=0");
    }
    folders.iter().for_each(|folder| _ = command.arg("-I").arg(folder));
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// The flow of a program without errors.
pub fn lower(sources: &SourceMap) -> Flow {
    let mut diagnostics = Diagnostics::new();
    let mut program = flux_front_flux::read(sources, &[LoadedFile::alone(FileId(0))], &mut diagnostics);
    for pass in flux_passes::PROGRAM_PASSES {
        pass.run(&mut program, &mut diagnostics);
    }
    let errors = diagnostics.sorted().into_iter().filter(|one| one.severity == Severity::Error);
    let errors: Vec<_> =
        errors.map(|one| format!("{}: {}", sources.name_and_line(one.primary.span), one.headline)).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    let mut flow = flux_passes::rewrites::lower_program::lower_program(program);
    for pass in flux_passes::FLOW_PASSES {
        pass.run(&mut flow, &mut diagnostics);
    }
    flow
}
