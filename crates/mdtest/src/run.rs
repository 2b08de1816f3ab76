//! Goes through a page from top to bottom and holds each fence to its word.

use crate::assertion;
use crate::comparison::compare;
use crate::console::Console;
use crate::fence::{self, Fence, Part};
use crate::page::{self, Block};
use crate::{Compiler, Failure, Outcome, Report};
use flux_diagnostic::render;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// What a program is called on a page that does not say.
const DEFAULT_NAME: &str = "test.flux";

/// Tests the page `text`, which is at `path`, with `compiler`, and its commands with the binary at `flux`.
///
/// Nothing is written but the files of a temporary directory; [`Report::updated`] has the page as it should be.
pub fn run(path: &str, text: &str, compiler: &dyn Compiler, flux: Option<&Path>) -> Report {
    let mut run =
        Run { compiler, console: Console::new(flux), files: BTreeMap::new(), outcome: None, found: Found::default() };
    match page::blocks(text) {
        Err(line) => run.found.fail(line, "this fence is never closed"),
        Ok(blocks) => run.blocks(&blocks),
    }
    let Found { failures, assertions, edits } = run.found;
    let updated = (!edits.is_empty()).then(|| apply(text, &edits));
    Report { path: path.to_owned(), failures, assertions, updated }
}

struct Run<'a> {
    compiler: &'a dyn Compiler,
    console: Console<'a>,
    /// The texts of the fences above that are files.
    files: BTreeMap<String, String>,
    /// Of the program that the next fences speak of.
    outcome: Option<Outcome>,
    found: Found,
}

/// What has come up so far.
#[derive(Default)]
struct Found {
    failures: Vec<Failure>,
    assertions: usize,
    /// What is to stand in these bytes of the page, in order.
    edits: Vec<(Range<usize>, String)>,
}

impl Run<'_> {
    fn blocks(&mut self, blocks: &[Block]) {
        let mut fences = vec![];
        for block in blocks {
            match fence::parse(&block.info) {
                Ok(fence) => fences.push((block, fence)),
                Err(message) => self.found.fail(block.line, message),
            }
        }
        let mut rest = fences.as_slice();
        while let Some(((block, fence), after)) = rest.split_first() {
            match fence {
                Fence::Program { file, notes } => {
                    // Printed diagnostics assert more than comments could, so that they stand for them.
                    let speaking = after.iter().take_while(|(_, next)| !matches!(next, Fence::Program { .. }));
                    let is_printed = speaking.into_iter().any(|(_, next)| *next == Fence::Diagnostics);
                    self.program(block, file.as_deref(), *notes, is_printed);
                }
                Fence::File(name) => self.write(block, name),
                Fence::Diagnostics => self.output(block, |outcome| Ok(printed_diagnostics(outcome))),
                Fence::Output { key, part } => self.output(block, |outcome| find(outcome, key, part.as_ref())),
                Fence::Console => self.commands(block),
                Fence::Prose => {}
            }
            rest = after;
        }
    }

    fn program(&mut self, block: &Block, file: Option<&str>, notes: bool, is_printed: bool) {
        if let Some(name) = file {
            self.write(block, name);
        }
        let outcome = self.compiler.compile(file.unwrap_or(DEFAULT_NAME), &block.text, &self.files);
        let (assertions, mut problems) = assertion::parse(&block.text);
        if !(is_printed && assertions.is_empty()) {
            problems.extend(assertion::check(&assertions, &outcome.diagnostics.sorted(), &outcome.sources, notes));
        }
        for (line, message) in problems {
            self.found.fail(block.line + line, message);
        }
        self.found.assertions += 1;
        self.outcome = Some(outcome);
    }

    fn output(&mut self, block: &Block, print: impl FnOnce(&Outcome) -> Result<String, String>) {
        let printed = match &self.outcome {
            None => Err("there is no flux fence before this one".to_owned()),
            Some(outcome) => print(outcome),
        };
        match printed {
            Ok(actual) => self.found.expect(block, &actual),
            Err(message) => self.found.fail(block.line, message),
        }
    }

    fn commands(&mut self, block: &Block) {
        match self.console.run(&block.text) {
            Ok(Some(actual)) => self.found.expect(block, &actual),
            Ok(None) => {}
            Err(message) => self.found.fail(block.line, message),
        }
    }

    fn write(&mut self, block: &Block, name: &str) {
        self.files.insert(name.to_owned(), block.text.clone());
        if let Err(error) = self.console.write(name, &block.text) {
            self.found.fail(block.line, format!("cannot write {name}: {error}"));
        }
    }
}

impl Found {
    fn fail(&mut self, line: usize, message: impl Into<String>) {
        self.failures.push(Failure { line, message: message.into() });
    }

    /// Holds the text of a fence against the actual one.
    fn expect(&mut self, block: &Block, actual: &str) {
        self.assertions += 1;
        if let Some(difference) = compare(&block.text, actual) {
            let what = format!("`{}` is not what the page says (-) but this (+):\n{}", block.info, difference.shown);
            self.fail(block.line, what);
            let indent = " ".repeat(block.indent);
            let lines = difference.merged.lines();
            let text = lines.map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{indent}{line}\n") });
            self.edits.push((block.body.clone(), text.collect()));
        }
    }
}

/// What `flux check` shows of the diagnostics: each with an empty line after it, and how many there are.
fn printed_diagnostics(outcome: &Outcome) -> String {
    let all = outcome.diagnostics.shown();
    let shown = all.diagnostics.iter().map(|one| render::render(one, &outcome.sources, render::Options::default()));
    shown.chain(render::hidden(&all)).chain(render::summary(&outcome.diagnostics)).collect::<Vec<_>>().join("\n\n")
}

fn find(outcome: &Outcome, key: &str, part: Option<&Part>) -> Result<String, String> {
    let Some(text) = outcome.outputs.get(key) else {
        let keys: Vec<_> = outcome.outputs.keys().map(|key| format!("`{key}`")).collect();
        let there = if keys.is_empty() { "nothing: it has errors".to_owned() } else { keys.join(", ") };
        return Err(format!("the program gives no `{key}`; it gives {there}"));
    };
    let (kind, name, found) = match part {
        None => return Ok(text.clone()),
        Some(Part::Function(name)) => ("function", name, extract_function(text, name)),
        Some(Part::Struct(name)) => ("struct", name, extract(text, "};", |line| opens_struct(line, name))),
        Some(Part::Table(name)) => {
            ("table", name, extract(text, "};", |line| line.ends_with(&format!(" {name}[] = {{"))))
        }
    };
    found.ok_or_else(|| format!("`{key}` has no {kind} `{name}`"))
}

/// The function `name` of generated C++, the comment above it included, or of a flow. A flow has a space after the
/// name.
fn extract_function(text: &str, name: &str) -> Option<String> {
    let (call, flow) = ([' ', '*', '&'].map(|before| format!("{before}{name}(")), format!("function {name} ("));
    let opens = |line: &str| call.iter().any(|call| line.contains(call)) || line.starts_with(&flow);
    extract(text, "}", |line| opens(line) && !line.ends_with(';'))
}

/// `struct NAME {`, `enum NAME {` or `enum NAME : TYPE {`
fn opens_struct(line: &str, name: &str) -> bool {
    let after = line.strip_prefix("struct ").or_else(|| line.strip_prefix("enum ")).unwrap_or_default();
    let named = after.strip_prefix("class ").unwrap_or(after).strip_prefix(name);
    named.is_some_and(|rest| rest == " {" || rest.starts_with(" : "))
}

/// The definition whose first line `opens`, the comment above it included.
///
/// It relies on the layout of what is generated: a definition starts in the first column, and the first line that is
/// `end` alone ends it.
fn extract(text: &str, end: &str, opens: impl Fn(&str) -> bool) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let opening = lines.iter().position(|line| !line.starts_with([' ', '/', '#', '}']) && opens(line))?;
    let length = lines.iter().skip(opening).position(|line| *line == end)?;
    let above = lines.iter().take(opening).rev().take_while(|line| line.starts_with("//")).count();
    Some(lines.get(opening - above..=opening + length)?.join("\n"))
}

fn apply(page: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut updated = page.to_owned();
    for (range, text) in edits.iter().rev() {
        updated.replace_range(range.clone(), text);
    }
    updated
}
