//! Programs for the tests of predictions.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use flux_driver::compile;
use flux_ir::flow::Flow;
use flux_source::SourceMap;

/// Pages, of which some are found and others made.
pub const PAGES: &str = "
Read () => (int socket);
Look (int socket) => (int socket);
Make (int socket) => (int socket);
Send (int socket) => ();
Sorry (int socket) => ();
source Read => Page;
Page = Look -> Find -> Send;
typedef hit IsHit;
Find:[hit] = ;
Find:[_] = Make;
handle error Make => Sorry;
";

/// The flow of a program, which is called `test`.
pub fn flow(text: &str) -> Flow {
    let mut sources = SourceMap::new();
    let file = sources.add("test.flux", text.to_owned());
    let compilation = compile(&mut sources, file, &mut |path| Err(format!("there is no {path}")));
    assert!(!compilation.diagnostics.has_errors(), "{:?}", compilation.diagnostics.sorted());
    compilation.flow.unwrap()
}
