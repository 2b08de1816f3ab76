//! Literate tests: a page of Markdown says in prose what a rule is, shows a program, and states what comes of it.
//!
//! [`run`] compiles every ```` ```flux ```` fence of a page and holds the page to its word: comments in the program
//! assert diagnostics, the fences after it assert printed output, ```` ```console ```` fences run the `flux` command.
//! What a page may say is described in this crate's README. The harness knows nothing of Flux but its diagnostics: a
//! [`Compiler`] does the work, so that the tests of the harness bring one of their own.

#![expect(clippy::disallowed_methods, reason = "a test harness is a shell: it writes files and starts processes")]

mod assertion;
mod comparison;
mod console;
mod fence;
mod page;
mod run;

use flux_diagnostic::Diagnostics;
use flux_source::SourceMap;
use std::collections::BTreeMap;
use std::fmt;

pub use run::run;

/// What turns the text of a program into an outcome.
pub trait Compiler {
    /// Compiles the program `text`, whose file is called `name`; `files` are the texts that it may use, by name.
    fn compile(&self, name: &str, text: &str, files: &BTreeMap<String, String>) -> Outcome;
}

/// What came of compiling one program.
#[derive(Default)]
pub struct Outcome {
    /// The file compiled, first, and any that it brought in.
    pub sources: SourceMap,
    /// Everything the compiler has to say.
    pub diagnostics: Diagnostics,
    /// What can be printed of the program, by the words of the fence that asserts it: `ir program`, `ir flow`, `dot`,
    /// `cpp image.flux.cpp`. An output that the program is not good enough for is absent.
    pub outputs: BTreeMap<String, String>,
}

/// How a page fared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// The page's path.
    pub path: String,
    /// What is wrong with it, in the order of the page.
    pub failures: Vec<Failure>,
    /// How many fences were held to their word; a page of tests with none asserts nothing.
    pub assertions: usize,
    /// The page with its expected output made to agree with the actual one; none where it agrees.
    pub updated: Option<String>,
}

/// One thing that is wrong with a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The line of the page, from 1.
    pub line: usize,
    /// What is wrong, over several lines where there is a difference to show.
    pub message: String,
}

impl Report {
    /// Fails a page that is there to test something and asserts nothing.
    pub fn require_assertion(&mut self) {
        if self.assertions == 0 {
            self.failures.push(Failure { line: 1, message: "asserts nothing".to_owned() });
        }
    }

    /// Fails the page, whose text is `text`, of the diagnostic `id` where that diagnostic does not occur on it.
    pub fn require_example(&mut self, text: &str, id: &str) {
        if !text.contains(&format!("[{id}]")) {
            self.failures.push(Failure { line: 1, message: format!("has no example that gives `[{id}]`") });
        }
    }
}

impl fmt::Display for Report {
    /// `page:line: message` for each failure.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Failure { line, message } in &self.failures {
            writeln!(out, "{}:{line}: {}", self.path, message.trim_end())?;
        }
        Ok(())
    }
}
