//! What messages about names say.

use flux_diagnostic::{Diagnostic, Diagnostics};
use flux_source::{FileId, SourceMap};

/// The one diagnostic of `text`, and the text itself for its marks.
fn only(text: &str) -> Diagnostic {
    let mut diagnostics = Diagnostics::new();
    flux_front_flux::read(&SourceMap::of("test.flux", text), FileId(0), &mut diagnostics);
    let all = diagnostics.sorted();
    assert_eq!(all.len(), 1, "{text}\n{all:#?}");
    all[0].clone()
}

fn help(text: &str) -> String {
    only(text).help.unwrap_or_default()
}

/// The primary mark, then the others, as the text they cover.
fn marks(text: &str) -> Vec<&str> {
    let diagnostic = only(text);
    let spans = std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary);
    spans.map(|mark| &text[mark.span.range()]).collect()
}

#[test]
fn near_names_are_offered() {
    assert_eq!(help("StoreInCache = ;\natomic StoreInCahce:{x};"), "did you mean `StoreInCache`?");
    assert_eq!(help("Read () => ();\nhandle error Raed => X;"), "did you mean `Read`?");
    assert_eq!(help("typedef hit F;\nA:[hti] = ;"), "did you mean `hit`?");
    assert_eq!(help("A (int from) => ();\natomic A:{x(form)};"), "did you mean `from`?");
    assert_eq!(help("A () => () blokcing;"), "did you mean `blocking`?");
    assert_eq!(help("A () => () replicated;"), "did you mean `replicable`?");
    assert_eq!(help("sourc A => B;"), "did you mean `source`?");
}

#[test]
fn where_nothing_is_near_help_says_what_to_write() {
    assert_eq!(help("A:[hit] = ;"), "declare it with the function that tests it: `typedef hit YourFunction;`");
    assert_eq!(help("typedef hit Test;\nA:[Test] = ;"), "write the type: `hit`");
    assert_eq!(help("atomic A:{x};"), "declare it, `A (…) => (…);`, or name it in a flow");
    assert_eq!(help("A (int b, int c) => ();\natomic A:{x(zebra)};"), "the inputs of `A` are `b`, `c`");
    assert_eq!(help("A () => ();\natomic A:{x(b)};"), "`A` has no inputs");
    assert_eq!(help("A:{x};"), "constraints are written `atomic A:{…};`");
    assert_eq!(help("A = ;\natomic A:{x?(session)?};"), "write `?` only once: `x?`");
    assert_eq!(help("A = B (C & D);"), "a parallel step comes after an arrow: `B -> (…)`");
    assert_eq!(help("A (char *) => ();"), "add one: `char *value`");
    assert_eq!(help("A (int f) => ();\natomic A:{x(q)};"), "the inputs of `A` are `f`");
    assert_eq!(
        help("A = B -> (C | D);"),
        "steps are joined by `->`, and branches that run concurrently by `&`: `(A & B)`"
    );
    assert_eq!(help("int Listen () => ();"), "a declaration starts with the node's name: `Listen (…) => (…);`");
    assert_eq!(help("Listen => (int socket);"), "a node that takes nothing is declared `Listen () => (…);`");
    assert_eq!(help("A () => int x;"), "inputs and outputs are in parentheses, empty lists too: `()`");
    assert_eq!(help("A = ;\natomic A {x};"), "write `atomic A:{…};`");
    assert_eq!(help("A = ;\natomic A:x;"), "write `atomic A:{…};`");
}

#[test]
fn help_for_two_words_is_of_what_comes_after_them() {
    assert_eq!(help("flow A = B;"), "a flow starts with the node's name: `A = …;`");
    assert_eq!(help("guard A:{x};"), "constraints are written `atomic A:{…};`");
    assert_eq!(help("node A -> B;"), "inputs and outputs are in parentheses: `node (…) => (…);`");
    assert!(help("node A;").starts_with("statements are `A (…) => (…);`, "));
    assert_eq!(help("int x = 3;"), "C++ belongs in a header: write `include \"…\";`");
    assert_eq!(help("A source => B;"), "the keyword comes first: `source A …;`");
}

#[test]
fn help_for_an_operator_that_assigns_shows_the_whole_assignment() {
    let help = |statement: &str| help(&format!("F (int32 a) => (int32 n) {{ n = 0; {statement} }};"));
    assert_eq!(help("n += 2 * a;"), "write `n = n + 2 * a;`");
    assert_eq!(help("n++;"), "write `n = n + 1;`");
    assert_eq!(help("n += 2\n * a;"), "write `n = n + …;`");
    assert_eq!(help("n += ;"), "write `n = n + …;`");
    let sum = |numbers: usize| ["1"; 20].get(..numbers).map_or_else(String::new, |all| all.join(" + "));
    assert_eq!(help(&format!("n -= {};", sum(8))), format!("write `n = n - {};`", sum(8)));
    assert_eq!(help(&format!("n -= {};", sum(9))), "write `n = n - …;`");
}

#[test]
fn marks_are_where_to_edit_and_at_the_other_place() {
    assert_eq!(marks("A () => ();\nA (int x) => ();"), ["A", "A"]);
    assert_eq!(marks("typedef a B;\ntypedef a C;"), ["a", "typedef a B;"]);
    assert_eq!(marks("A (int x, int x) => ();"), ["x", "x"]);
    assert_eq!(marks("A = ;\natomic A:{x(session)};\natomic A:{x};"), ["x", "x(session)"]);
    assert_eq!(marks("Read () => ();\nhandle error Raed => X;"), ["Raed", "Read"]);
    assert_eq!(marks("A (int x => (int y);"), ["", "("]);
    assert_eq!(marks("A (int &x) => ();"), ["&"]);
    assert_eq!(marks("A = B\nC = D;"), [""]);
    assert_eq!(only("A = B\nC = D;").primary.span.range(), 5..5);
    assert_eq!(marks("A = B(\"x\\qy\");"), ["\\q"]);
}

#[test]
fn headlines_stand_alone() {
    for (text, headline) in [
        ("A = B\nC = D;", "missing `;` after the step `B`"),
        ("Listen () (int x);", "expected `=>` after the inputs of `Listen`, found `(`"),
        ("source Read -> Page;", "`->` after the source `Read` should be `=>`"),
        ("A (int x => (int y);", "`(` of the inputs of `A` is never closed"),
        ("A = error;", "`error` is a reserved word and cannot be a name"),
        ("A = ;\natomic A:{x(session), x};", "the constraint `x` has two scopes"),
        ("A = B;\nA = C;", "the node `A` has two flows without patterns"),
        ("Listen;", "`Listen` alone is not a statement"),
    ] {
        assert_eq!(only(text).headline, headline);
    }
}

#[test]
fn a_long_word_is_cut() {
    let headline = only(&format!("A = B {};", "n".repeat(1_000))).headline;
    assert_eq!(headline, format!("expected `->` or `;` after the step `B`, found `{}…`", "n".repeat(40)));
}
