//! What the tests of generated code share: from the text of a program to its flow, from a page to the files that its
//! program becomes, from C++ to what a compiler says.
#![allow(dead_code, reason = "each of the tests uses its part")]

use flux_back_cpp::bind_externals::{Found, bind_externals};
use flux_back_cpp::generate;
use flux_back_cpp::interface_2006::{Definition, Definitions};
use flux_diagnostic::{Diagnostics, Severity};
use flux_ir::flow::Flow;
use flux_ir::verify::{self, Stage};
use flux_mdtest::{Compiler, Outcome, Report};
use flux_source::{FileId, SourceMap};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

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
    said(compiler_of(compiler, language, folders).args(["-fsyntax-only", "-"]), text)
}

/// The same for what includes the header of generated code first: that is compiled once.
pub fn compile_generated(compiler: &str, folders: &[&Path], text: &str) -> Result<(), String> {
    static BY_CLANG: OnceLock<()> = OnceLock::new();
    static BY_GCC: OnceLock<()> = OnceLock::new();
    let is_clang = compiler.starts_with("clang");
    let (once, ending) = if is_clang { (&BY_CLANG, "hpp.pch") } else { (&BY_GCC, "hpp.gch") };
    let header = Path::new(env!("CARGO_TARGET_TMPDIR")).join("precompiled.hpp");
    let precompiled = header.with_extension(ending);
    once.get_or_init(|| {
        std::fs::write(&header, "#include <flux/generated_support.hpp>\n").unwrap();
        let mut command = compiler_of(compiler, "c++-header", &[]);
        assert_eq!(said(command.arg(&header).arg("-o").arg(&precompiled), ""), Ok(()));
    });
    let mut command = compiler_of(compiler, "c++", folders);
    match is_clang {
        true => command.arg("-include-pch").arg(&precompiled),
        false => command.arg("-Winvalid-pch").arg("-include").arg(&header),
    };
    said(command.args(["-fsyntax-only", "-"]), text)
}

fn compiler_of(compiler: &str, language: &str, folders: &[&Path]) -> Command {
    let standard = if language == "c" { "-std=c11" } else { "-std=c++20" };
    let warnings = ["-Wall", "-Wextra", "-Werror", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion"];
    let mut command = Command::new(compiler);
    command.arg(standard).args(warnings).args(["-x", language]).arg("-isystem").arg(runtime());
    if compiler.starts_with("clang") {
        command.arg("-ferror-limit=0");
    }
    folders.iter().for_each(|folder| _ = command.arg("-I").arg(folder));
    command
}

/// What a compiler says that reads this text, if it is not content.
fn said(compiler: &mut Command, text: &str) -> Result<(), String> {
    let mut child = compiler.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// The flow of a program without errors.
pub fn lower(sources: &SourceMap) -> Flow {
    let mut diagnostics = Diagnostics::new();
    let mut program = flux_front_flux::read(sources, FileId(0), &mut diagnostics);
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

/// What the program of a page becomes.
pub struct Page {
    /// How the page fared.
    pub report: Report,
    /// The generated files and those of the author that the page has.
    pub folder: tempfile::TempDir,
    /// What the program does.
    pub flow: Flow,
}

impl Page {
    /// Compiles the program of `pages/NAME.md`, which is called `NAME.flux`.
    pub fn read(name: &str) -> Self {
        let path = tests("pages").join(format!("{name}.md"));
        let text = std::fs::read_to_string(&path).unwrap();
        let generator = Generator { found: found(name), folder: tempfile::tempdir().unwrap(), flow: None.into() };
        let report = flux_mdtest::run(&path.display().to_string(), &text, &generator, None);
        Self { report, folder: generator.folder, flow: generator.flow.into_inner().unwrap() }
    }

    /// The names of all pages.
    pub fn names() -> Vec<String> {
        let files = std::fs::read_dir(tests("pages")).unwrap();
        files.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
    }
}

/// Writes what the program of a page becomes.
struct Generator {
    found: Found,
    folder: tempfile::TempDir,
    flow: RefCell<Option<Flow>>,
}

impl Compiler for Generator {
    fn compile(&self, name: &str, text: &str, files: &BTreeMap<String, String>) -> Outcome {
        let sources = SourceMap::of(name, text);
        let mut flow = lower(&sources);
        let options = bind_externals(&mut flow.program, self.found.clone());
        assert_eq!(verify::flow(&flow, Stage::Finished), []);
        let generated = generate(&flow, &sources, &options);
        assert_eq!(generate(&flow, &sources, &options), generated, "generated code must be deterministic");
        let mut outputs = BTreeMap::new();
        for file in generated {
            std::fs::write(self.folder.path().join(&file.name), &file.text).unwrap();
            outputs.insert(format!("cpp {}", file.name), without_version(&file.text));
        }
        for (name, text) in files {
            std::fs::write(self.folder.path().join(name), text).unwrap();
        }
        self.flow.replace(Some(flow));
        Outcome { sources, diagnostics: Diagnostics::new(), outputs }
    }
}

/// Generated text as it is kept: it does not change with the version.
pub fn without_version(text: &str) -> String {
    text.replace(concat!("flux ", env!("CARGO_PKG_VERSION")), "flux VERSION")
}

/// What is known of the functions of a page beside its program.
fn found(page: &str) -> Found {
    match page {
        "corners" => Found { in_c: ["nothing", "Turn", "nodes"].map(str::to_owned).into(), ..Found::default() },
        "old" => Found { of_2006: Some(defined_in_2006()), ..Found::default() },
        _ => Found::default(),
    }
}

/// What the sources of `pages/old.md` define: the result, the name, and the parameters.
fn defined_in_2006() -> Definitions {
    let all = [
        ("int", "Listen", "Listen_in * in, Listen_out * out"),
        ("int", "Parse", "Parse_in * in, Parse_out * out"),
        ("int", "Count", "Count_in * in, Count_out * out"),
        ("int", "Count", "const char * path"),
        ("static int", "Done", "Done_in * in"),
        ("void", "Done", "struct Done_in * in, struct Done_out * out"),
        ("int", "Failed", "Parse_in * in"),
        ("int", "User", "Listen_out * out"),
        ("int", "Turn", "Tick_out * out"),
    ];
    let mut functions = Definitions::default();
    for (result, name, parameters) in all {
        let parameters = parameters.split(", ").map(str::to_owned).collect();
        functions.add(name.to_owned(), Definition { result: result.to_owned(), parameters });
    }
    functions
}
