//! Every page of the repository is a test; see this crate's README.

#![expect(clippy::disallowed_methods, reason = "a test harness is a shell: it reads pages and starts the compiler")]

use flux_mdtest::{Compiler, Outcome, run};
use flux_source::SourceMap;
use libtest_mimic::{Arguments, Failed, Trial};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Arc, OnceLock};

/// Where the diagnostics' pages are.
const DIAGNOSTIC_PAGES: &str = "crates/diagnostic/pages";
/// Where there is nothing but tests.
const TEST_PAGES: [&str; 2] = ["crates/mdtest/pages", DIAGNOSTIC_PAGES];
/// Where each program has one mistake, and gets one message.
const MISTAKE_PAGES: &str = "crates/mdtest/pages/mistakes";
/// How many mistakes there are at least.
const MISTAKES: usize = 200;
/// Where pages may be prose alone.
const OTHER_PAGES: [&str; 2] = ["docs", "README.md"];
/// The diagnostic that no program should bring about: a fault of the compiler itself.
const WITHOUT_EXAMPLE: &str = "contradiction";

/// Spans would say the same as the lines of the page, less clearly.
const FORM: flux_ir::text::Options = flux_ir::text::Options { spans: false };

/// The compiler as the command runs it.
struct FluxCompiler;

impl Compiler for FluxCompiler {
    fn compile(&self, name: &str, text: &str, files: &BTreeMap<String, String>) -> Outcome {
        let mut sources = SourceMap::new();
        let file = sources.add(name, text);
        let mut read = |path: &str| files.get(path).cloned().ok_or_else(|| format!("{path}: no such file"));
        let compilation = flux_driver::compile(&mut sources, file, &mut read);
        let mut outputs = BTreeMap::new();
        if let Some(program) = compilation.program() {
            outputs.insert("ir program".to_owned(), FORM.print_program(program));
        }
        if let Some(flow) = &compilation.flow {
            let (text, program) = (FORM.print_flow(flow), FORM.print_program(&flow.program));
            // `ir program` asserts that part.
            outputs.insert("ir flow".to_owned(), text.strip_prefix(&program).unwrap_or(&text).to_owned());
            let picture = flux_picture::draw(flow, &sources);
            outputs.insert("dot".to_owned(), flux_back_dot::write(&picture));
            outputs.insert("mermaid".to_owned(), flux_back_mermaid::write(&picture));
            outputs.insert("constraints".to_owned(), flux_driver::constraints::constraints(flow));
            let options = flux_back_cpp::Options::default();
            for file in flux_back_cpp::generate(flow, &sources, &options) {
                outputs.insert(format!("cpp {}", file.name), file.text);
            }
        }
        Outcome { sources, diagnostics: compilation.diagnostics, outputs }
    }
}

fn main() -> io::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let mut pages = vec![];
    for place in TEST_PAGES.iter().chain(&OTHER_PAGES) {
        collect(&root.join(place), &mut pages)?;
    }
    assert!(!pages.is_empty(), "there are no pages below {}", root.display());
    let command = Arc::new(OnceLock::new());
    let all = pages.clone();
    let counted = Trial::test("the mistakes are many, and each gives one message", move || count_mistakes(&all));
    let trials = pages.into_iter().map(|page| {
        let (root, command) = (root.clone(), Arc::clone(&command));
        let name = page.strip_prefix(&root).unwrap_or(&page).display().to_string();
        Trial::test(name.clone(), move || test(&page, &name, &root, &command))
    });
    Ok(libtest_mimic::run(&Arguments::from_args(), trials.chain([counted]).collect()).exit_code())
}

/// Adds the pages at and below `path`, in the order of their names.
fn collect(path: &Path, pages: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        let mut entries = std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        return entries.iter().try_for_each(|entry| collect(entry, pages));
    }
    if path.extension().is_some_and(|extension| extension == "md") {
        pages.push(path.to_owned());
    }
    Ok(())
}

fn test(path: &Path, name: &str, root: &Path, command: &OnceLock<Result<PathBuf, String>>) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let flux = match text.contains("\n$ flux ") || text.contains(" $ flux ") {
        true => Some(command.get_or_init(|| flux_command(root)).as_ref()?.as_path()),
        false => None,
    };
    let mut report = run(name, &text, &FluxCompiler, flux);
    if let (Some(updated), Some(_)) = (&report.updated, std::env::var_os("MDTEST_UPDATE")) {
        std::fs::write(path, updated)?;
    }
    let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if id != WITHOUT_EXAMPLE && TEST_PAGES.iter().any(|folder| name.starts_with(folder)) {
        report.require_assertion();
    }
    if id != WITHOUT_EXAMPLE && name.starts_with(DIAGNOSTIC_PAGES) {
        report.require_example(&text, id);
    }
    if report.failures.is_empty() { Ok(()) } else { Err(format!("\n{report}").into()) }
}

/// The compiler, which holds of each program that it gives one message, with all that a person needs.
#[derive(Default)]
struct OneMessage {
    programs: Cell<usize>,
    wrong: RefCell<Vec<String>>,
}

impl Compiler for OneMessage {
    fn compile(&self, name: &str, text: &str, files: &BTreeMap<String, String>) -> Outcome {
        let outcome = FluxCompiler.compile(name, text, files);
        self.programs.set(self.programs.get() + 1);
        let told = outcome.diagnostics.sorted();
        if !matches!(told.as_slice(), [one] if one.help.is_some()) {
            self.wrong.borrow_mut().push(format!("not one message with help, but {}:\n{text}", told.len()));
        }
        outcome
    }
}

/// Fails a page of mistakes on which one gives several messages, none, or one without help. Gives how many there are.
fn require_one_message(name: &str, text: &str) -> Result<usize, Failed> {
    let compiler = OneMessage::default();
    run(name, text, &compiler, None);
    match compiler.wrong.into_inner().as_slice() {
        [] => Ok(compiler.programs.get()),
        wrong => Err(wrong.join("\n").into()),
    }
}

/// Fails where the pages of mistakes have become few.
fn count_mistakes(pages: &[PathBuf]) -> Result<(), Failed> {
    let mut count = 0;
    for page in pages.iter().filter(|page| page.to_string_lossy().contains(MISTAKE_PAGES)) {
        count += require_one_message(&page.to_string_lossy(), &std::fs::read_to_string(page)?)?;
    }
    if count >= MISTAKES { Ok(()) } else { Err(format!("there are only {count} mistakes").into()) }
}

/// The binary that `FLUX` names, or the one of this build, brought up to date.
fn flux_command(root: &Path) -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("FLUX") {
        return Ok(root.join(path));
    }
    let test = std::env::current_exe().map_err(|error| error.to_string())?;
    // target/PROFILE/deps/pages-HASH
    let profile = test.ancestors().nth(2).ok_or("this test is in no target directory")?;
    let mut build = Command::new(env!("CARGO"));
    build.current_dir(root).args(["build", "--quiet", "--package", "flux-lang", "--bin", "flux"]);
    build.arg("--target-dir").arg(profile.parent().unwrap_or(profile));
    if profile.ends_with("release") {
        build.arg("--release");
    }
    match build.status() {
        Ok(status) if status.success() => Ok(profile.join("flux")),
        Ok(status) => Err(format!("cannot build flux: {status}")),
        Err(error) => Err(format!("cannot build flux: {error}")),
    }
}
