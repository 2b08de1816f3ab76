//! Programs with deep nesting or long chains. Within the limits, each goes through the whole compiler on the stack of a
//! test. Beyond the limits, the compiler reports one error.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use flux_diagnostic::Severity;
use flux_fuzz::hold;
use flux_random_program::is_in_slice;
use flux_source::{CHAIN_LIMIT, FileId, NESTING_LIMIT, SourceMap};

/// A number of repetitions that exceeds every limit.
const FAR: usize = 9_000;

/// Compiles the text, and returns the id and the headline of each error.
fn errors(name: &str, text: &str) -> Vec<String> {
    let mut sources = SourceMap::of(name, text);
    let compilation = flux_driver::compile(&mut sources, FileId(0), &mut |path| Err(format!("{path} is not there")));
    let all = compilation.diagnostics.sorted();
    let errors = all.iter().filter(|one| one.severity == Severity::Error);
    errors.map(|one| format!("{}: {}", one.id.0, one.headline)).collect()
}

/// A program whose node `F` computes `m` from `n`.
fn computes(ty: &str, body: &str) -> String {
    let nodes = format!("Read () => ({ty} n);\nF ({ty} n) => ({ty} m) {{ {body} }};\nW ({ty} m) => ();\n");
    format!("{nodes}source Read => P;\nP = F -> W;\n")
}

/// A FLICK program whose function computes `body` from `n : ty`.
fn gives(ty: &str, body: &str) -> String {
    let function = format!("fun f: (n : {ty}, xs : [integer]) -> ({ty})\n{body}\n");
    let message = "type c = unit {\n  : \"GET \";\n  key : string &until = \"\\n\" &max_size = 1k;\n};\n";
    format!("{message}proc P: (c/c client)\n  | client => client\n{function}")
}

/// The limit of a repeated construct: the limit of chains, the limit of nesting, or none.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Chain,
    Nested,
    Free,
}

/// Makes a program that repeats a construct this many times.
type Repeated = fn(usize) -> String;

/// The constructs that may be long or deep.
const FLUX: [(&str, Kind, Repeated); 30] = [
    ("sum", Kind::Chain, |n| computes("uint64", &format!("m = n{};", " + n".repeat(n)))),
    ("mixed", Kind::Chain, |n| computes("uint64", &format!("m = n{};", " + uint32(7)".repeat(n)))),
    ("texts", Kind::Chain, |n| computes("text", &format!("m = n{};", " + n".repeat(n)))),
    ("or", Kind::Chain, |n| computes("bool", &format!("m = n{};", " || n".repeat(n)))),
    ("predicate", Kind::Chain, |n| {
        let test = format!("typedef large (uint64 n) {{ n{} > 1 }};\n", " + n".repeat(n - 1));
        format!("{test}Read () => (uint64 n);\nW (uint64 n) => ();\nsource Read => P;\nP:[large] = W;\nP:[_] = W;\n")
    }),
    ("field", Kind::Chain, |n| computes("value", &format!("m = n{};", ".a".repeat(n)))),
    ("index", Kind::Chain, |n| computes("value", &format!("m = n{};", "[0]".repeat(n)))),
    ("slice", Kind::Chain, |n| computes("text", &format!("m = n{};", "[..1]".repeat(n)))),
    ("formula", Kind::Chain, |n| {
        let sum = format!("self.a{}", " + 1".repeat(n));
        let message = format!("type m = unit {{ a : uint8; b : bytes &length = {sum}; }};\n");
        message + "R () => (m x);\nW (m x) => ();\nsource R => W;\n"
    }),
    ("parentheses", Kind::Nested, |n| computes("uint64", &format!("m = {}n{};", "(".repeat(n), ")".repeat(n)))),
    ("right", Kind::Nested, |n| computes("uint64", &format!("m = {}n{};", "n + (".repeat(n), ")".repeat(n)))),
    ("not", Kind::Nested, |n| computes("bool", &format!("m = {}n;", "!".repeat(n)))),
    ("minus", Kind::Nested, |n| computes("int64", &format!("m = {}n;", "-".repeat(n)))),
    ("choose", Kind::Nested, |n| computes("bool", &format!("m = {}n;", "n ? n : ".repeat(n)))),
    ("list", Kind::Nested, |n| computes("value", &format!("m = value({}n{});", "[".repeat(n), "]".repeat(n)))),
    ("calls", Kind::Nested, |n| computes("text", &format!("m = {}n{};", "trim(".repeat(n), ")".repeat(n)))),
    ("lowered", Kind::Nested, |n| {
        let lowered = format!("{}n{}", "lower(".repeat(n), " == \"a\" ? n : n)".repeat(n));
        computes("text", &format!("m = {lowered};"))
    }),
    ("comprehension", Kind::Nested, |n| {
        // Each repetition has two brackets, and so two levels.
        let times = n.div_ceil(2);
        let inner = format!("{}n{}", "sum([for x in [1] : ".repeat(times), "])".repeat(times));
        computes("int64", &format!("m = {inner};"))
    }),
    ("if", Kind::Nested, |n| {
        computes("uint64", &format!("m = n; {}m = n;{}", "if n > 1 { ".repeat(n), " }".repeat(n)))
    }),
    ("else", Kind::Nested, |n| {
        computes("uint64", &format!("m = n; if n > 1 {{ m = 1; }}{}", " else if n > 1 { m = 2; }".repeat(n)))
    }),
    ("for", Kind::Nested, |n| {
        computes("list<uint64>", &format!("m = n; {}m = n;{}", "for x in n { ".repeat(n), " }".repeat(n)))
    }),
    ("type", Kind::Nested, |n| format!("Read () => ({}uint64{} n);\n", "list<".repeat(n), ">".repeat(n))),
    ("field type", Kind::Nested, |n| format!("record r {{ x : {}uint64{}; }};\n", "list<".repeat(n), ">".repeat(n))),
    ("let type", Kind::Nested, |n| {
        let ty = format!("{}uint64{}", "list<".repeat(n), ">".repeat(n));
        computes("uint64", &format!("let x : {ty} = []; m = n;"))
    }),
    ("parallel", Kind::Nested, |n| {
        let nodes = "Read () => (int x);\nA (int x) => ();\nsource Read => P;\nP (int x) => ();\n";
        format!("{nodes}P = {}A{};\n", "(A & ".repeat(n), ")".repeat(n))
    }),
    ("each", Kind::Nested, |n| format!("P = {}A{};\n", "[".repeat(n), "]".repeat(n))),
    ("switch", Kind::Nested, |n| {
        let inner = format!("{}b : uint8;{}", "if (self.a == 1) { ".repeat(n), " }".repeat(n));
        format!("type m = unit {{ a : uint8; {inner} }};\nR () => (m x);\nW (m x) => ();\nsource R => W;\n")
    }),
    ("comments", Kind::Free, |n| format!("{}A = ;\n", "/* a */ // b\n".repeat(n))),
    ("statements", Kind::Free, |n| computes("uint64", &"m = n;\n".repeat(n / 8))),
    ("steps", Kind::Free, |n| {
        let nodes =
            "Read () => (int x);\nA (int x) => (int x);\nW (int x) => ();\nsource Read => P;\nP (int x) => ();\n";
        format!("{nodes}P = {}W;\n", "A -> ".repeat(n / 8))
    }),
];

/// Like [`FLUX`], for FLICK.
const FLICK: [(&str, Kind, Repeated); 10] = [
    ("sum", Kind::Chain, |n| gives("integer", &format!("  n{}", " + n".repeat(n)))),
    ("or", Kind::Chain, |n| gives("bool", &format!("  n{}", " or n".repeat(n)))),
    ("field", Kind::Chain, |n| gives("integer", &format!("  n{}", ".a".repeat(n)))),
    ("element", Kind::Chain, |n| gives("integer", &format!("  n{}", "[0]".repeat(n)))),
    ("parentheses", Kind::Nested, |n| gives("integer", &format!("  {}n{}", "(".repeat(n), ")".repeat(n)))),
    ("not", Kind::Nested, |n| gives("bool", &format!("  {}n", "not ".repeat(n)))),
    ("list", Kind::Nested, |n| gives("integer", &format!("  len({}1{})", "[".repeat(n), "]".repeat(n)))),
    ("elif", Kind::Nested, |n| {
        gives("integer", &format!("  if n > 1:\n    1\n{}  else:\n    3\n", "  elif n > 2:\n    2\n".repeat(n)))
    }),
    ("if", Kind::Nested, |n| gives("integer", &format!("  if n > 1: {}n", "if n > 1: ".repeat(n)))),
    ("type", Kind::Nested, |n| gives(&format!("{}integer{}", "[".repeat(n), "]".repeat(n)), "  n")),
];

fn holds(name: &str, what: &str, text: &str) {
    let hold = if name.ends_with(".flick") { hold::flick_text } else { hold::text };
    let fault = hold(text).err().map(|fault| fault.chars().take(500).collect::<String>());
    assert_eq!(fault, None, "{what}");
}

/// Tests a construct just below its limit, just above it, and far above it.
fn is_limited(name: &str, what: &str, kind: Kind, repeated: Repeated) {
    let limit = match kind {
        Kind::Chain => CHAIN_LIMIT,
        // The value inside all brackets is a level, too.
        Kind::Nested => NESTING_LIMIT - 1,
        Kind::Free => FAR,
    };
    let is_limit = |error: &String| error.starts_with("nesting-too-deep: ");
    let within = repeated(limit - 4);
    let found = errors(name, &within);
    assert!(!found.iter().any(is_limit), "{what}: {found:?}");
    holds(name, what, &within);
    let beyond = repeated(FAR);
    if kind != Kind::Free {
        for text in [repeated(limit + 2), beyond.clone()] {
            assert_eq!(errors(name, &text).iter().filter(|one| is_limit(one)).count(), 1, "{what}");
        }
    }
    holds(name, what, &beyond);
}

#[test]
fn a_program_may_be_as_deep_as_the_limits_say() {
    for (_, (what, kind, repeated)) in (0..).zip(FLUX).filter(|(place, _)| is_in_slice(*place, 2)) {
        is_limited("test.flux", what, kind, repeated);
    }
}

#[test]
fn a_program_in_flick_may_be_as_deep_as_the_limits_say() {
    for (_, (what, kind, repeated)) in (0..).zip(FLICK).filter(|(place, _)| is_in_slice(*place, 2)) {
        is_limited("test.flick", what, kind, repeated);
    }
}
