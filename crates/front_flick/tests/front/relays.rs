//! What is passed on as bytes, and what as whole messages: the bytes of several connections would be mixed.

use flux_diagnostic::Diagnostics;
use flux_front::{Library, link::link};
use flux_front_flick::FlickFront;
use flux_front_flux::FluxFront;
use flux_ir::program::Program;
use flux_source::{FileId, SourceMap};

/// Reads a program with the standard modules.
fn read(text: &str) -> Program {
    let (mut sources, mut diagnostics) = (SourceMap::of("test.flick", text), Diagnostics::new());
    let standard: Vec<_> = flux_nodes::modules().collect();
    let library = Library { standard: &standard, read: &mut |path| Err(path.to_owned()) };
    let program = link((&FluxFront, &[&FluxFront, &FlickFront]), &mut sources, FileId(0), library, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{text}\n{:#?}", diagnostics.sorted());
    program
}

/// The last step of what comes back from `backends`, where the function that sends there begins so.
fn relay(begins: &str, index: &str) -> String {
    let program = read(&format!(
        "type kv : record
  key : string
proc P : (kv/kv client, [kv/kv] backends)
  | client => choose(backends)
  | backends => client
fun choose : ([-/kv] backends, req : kv) -> ()
  {begins}
  req => backends[{index}]
"
    ));
    let back = &program.nodes[program.node_named("P_backends").unwrap()];
    let last = back.chains().flat_map(|chain| chain.applications()).last().unwrap();
    program.nodes[last.node].name.to_string()
}

#[test]
fn bytes_of_an_array_are_passed_on_where_always_the_same_channel_is_sent_to() {
    let (as_bytes, as_messages) = ("flick_Relay_kv", "flick_RelayBatch_kv");
    assert_eq!(relay("let n = len(backends)", "n - 1"), as_bytes);
    assert_eq!(relay("let n = len(backends)\n  let m = n - 1", "m"), as_bytes, "a name of a name");
    assert_eq!(relay("let n = len(req.key)", "n mod len(backends)"), as_messages);
    assert_eq!(relay("let n = least_busy(backends)", "n"), as_messages, "it is asked for each message");
    let one_of_two = "if len(req.key) > 3:\n    req => backends[0]";
    assert_eq!(relay(one_of_two, "1"), as_messages, "each index is always the same, and there are two");
    let changed = "let n = fold on [1, len(req.key)] from 0 as sum, x: sum + x";
    assert_eq!(relay(changed, "n"), as_messages, "the value that it begins with is always the same");
}
