//! What the C++ compiler and the linker say, in the terms of the program.
//!
//! Both speak of generated files and mangled names. Here their messages become diagnostics like those of the compiler
//! itself: a missing function belongs to the node that has none, and an error in generated code to the statement that
//! the code was made from. Nothing here starts a process or opens a file: messages come in as text, and so do the
//! sources of nodes, of which only the tokens are read.

mod assertions;
pub mod blocking_calls;
pub mod cpp_tokens;
pub mod definitions;
pub mod explain;
pub mod ids;
mod linker;
pub mod misfits;
pub mod missing_headers;
pub mod missing_returns;
pub mod node_source;
pub mod prototypes;
mod unknown_types;

use flux_back_cpp::{AskedFunction, GeneratedFile};
use flux_ir::program::Program;
use flux_source::{FileId, SourceMap, Span};
use node_source::NodeSource;

/// What was compiled and linked.
pub struct Build<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its files, and those of its nodes.
    pub files: &'a SourceMap,
    /// The sources of the nodes.
    pub sources: &'a [NodeSource],
    /// The texts of the headers beside them.
    pub headers: &'a [String],
    /// The functions that the program asks of its author.
    pub asked: &'a [AskedFunction],
    /// The files that were generated.
    pub generated: &'a [GeneratedFile],
    /// Whether there are libraries, which may have functions, too.
    pub has_libraries: bool,
    /// What the author calls the program.
    pub path: &'a str,
}

/// No place: only the words of a diagnostic are shown.
pub const NOWHERE: Span = Span { file: FileId(u32::MAX), start: 0, end: 0 };

impl Build<'_> {
    /// The statement that a comment in generated code quotes, `image.flux:23: typedef hit TestInCache;`.
    fn statement(&self, comment: &str) -> Span {
        self.files.named_line(comment).unwrap_or(NOWHERE)
    }

    /// A line of a node's source, which the toolchain calls `path`, and the source.
    fn node_line(&self, path: &str, line: u32) -> Option<(&NodeSource, Span)> {
        let source = node_source::find(self.sources, path)?;
        Some((source, self.files.line(source.file?, line)?))
    }
}

/// What a compiler said, without the escape sequences that colour it.
pub fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\x1b') {
        plain += before;
        rest = after.split_once(['m', 'K']).map_or("", |(_, after)| after);
    }
    plain + rest
}
