//! What is generated of the messages of a program, compiled with what holds it to its rules.

use crate::shown;
use flux_back_cpp::generate_messages;
use flux_ir::flow::Flow;
use flux_ir::program::Program;
use flux_source::SourceMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The program of this text, and its sources.
pub fn program(name: &str, text: &str) -> (Program, SourceMap) {
    let mut sources = SourceMap::new();
    let file = sources.add(format!("{name}.flux"), text.to_owned());
    let compilation = flux_driver::compile(&mut sources, file, &mut |_: &str| Err("no modules".to_owned()));
    let wrong: Vec<_> = compilation.diagnostics.sorted().iter().map(|one| one.headline.clone()).collect();
    assert_eq!(wrong, Vec::<String>::new(), "{name}");
    (compilation.program().unwrap().clone(), sources)
}

/// Whether this text is a program.
#[allow(dead_code, reason = "other tests have programs that are")]
pub fn is_program(text: &str) -> bool {
    let mut sources = SourceMap::new();
    let file = sources.add("program.flux".to_owned(), text.to_owned());
    let compilation = flux_driver::compile(&mut sources, file, &mut |_: &str| Err("no modules".to_owned()));
    compilation.diagnostics.sorted().is_empty()
}

/// A folder with the classes of a program and all that the harness needs.
pub struct Harness {
    folder: PathBuf,
    name: String,
}

impl Harness {
    pub fn new(program: &Program, sources: &SourceMap) -> Self {
        let flow = Flow { program: program.clone(), functions: Default::default(), entries: vec![] };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("messages_{}", program.name));
        std::fs::create_dir_all(&folder).unwrap();
        for file in generate_messages(&flow, sources) {
            std::fs::write(folder.join(file.name), file.text).unwrap();
        }
        std::fs::write(folder.join("shown.hpp"), shown::header(program)).unwrap();
        Self { folder, name: program.name.clone() }
    }

    /// Compiles it with the `main` of this name, as one file, so that the headers are read once; gives the binary.
    pub fn build(&self, main: &str, compiler: &str, flags: &[&str]) -> PathBuf {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages");
        let stem = main.trim_end_matches(".cpp");
        let mut objects = runtime_objects(stem, compiler, flags);
        let (folder, here_text) = (self.folder.display().to_string(), here.display().to_string());
        let classes = format!("{folder}/{}.flux.messages.cpp", self.name);
        let shown = format!("{folder}/shown.hpp");
        let files = ["-I", &folder, "-I", &here_text, "-include", &classes, "-include", &shown];
        objects.push(compiled(&here.join(main), &self.folder, stem, compiler, &[flags, &files].concat()));
        let binary = self.folder.join(stem);
        let mut link = Command::new(compiler);
        succeed(link.args(flags).args(&objects).arg("-o").arg(&binary));
        binary
    }
}

/// What of the runtime the classes need: compiled once for all programs, as a test compiles all with one `main`.
fn runtime_objects(stem: &str, compiler: &str, flags: &[&str]) -> Vec<PathBuf> {
    static COMPILED: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("messages_runtime");
    std::fs::create_dir_all(&folder).unwrap();
    let sources = ["message/reader.cpp", "message/bytes.cpp", "message/streamed_parse.cpp", "flow/compute.cpp"];
    let object = |source| compiled(&runtime().join("src").join(source), &folder, stem, compiler, flags);
    COMPILED.get_or_init(|| sources.map(object).to_vec()).clone()
}

fn runtime() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime")
}

/// A file, compiled into a folder.
fn compiled(source: &Path, folder: &Path, stem: &str, compiler: &str, flags: &[&str]) -> PathBuf {
    let object = folder.join(format!("{stem}.{}.o", source.file_stem().unwrap().to_string_lossy()));
    let mut command = Command::new(compiler);
    command.args(["-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wshadow", "-g1", "-fno-sanitize-recover=all"]);
    command.args(flags).arg("-I").arg(runtime().join("include"));
    succeed(command.arg("-c").arg(source).arg("-o").arg(&object));
    object
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
