//! One mistake, one message: where it is, which it is, and that nothing follows from it.

use crate::{mistakes, nodes, read};

/// Holds that a text has exactly these mistakes, each `line [id]`.
fn holds(text: &str, expected: &[&str]) {
    let expected: Vec<_> = expected.iter().map(|it| it.replace(' ', " error ")).collect();
    assert_eq!(mistakes(text), expected, "{text}");
}

/// A text with one mistake, and which it is.
const SINGLE: &[(&str, &str)] = &[
    ("A = @;", "stray-character"),
    ("@\nA = B;", "stray-character"),
    ("#include \"image.h\"\nA = B;", "stray-character"),
    ("source A ⟹ B;", "stray-character"),
    ("A = B; /* C = D;", "unterminated-comment"),
    ("A = /* B;\natomic C:{d};", "unterminated-comment"),
    ("include \"image.h;\nA = B;", "unterminated-string"),
    ("A = B(\"x);\nC = D;", "unterminated-string"),
    ("A (int a) => (int b) { let n : \"\n= a; b = n; };", "unterminated-string"),
    ("A = B(\"\\q\");", "bad-escape"),
    ("A = B(5h);", "bad-number"),
    ("A = B(1.5);", "bad-number"),
    ("A = B(-2s);", "bad-number"),
    ("A = B(99999999999999999999);", "bad-number"),
    ("source every 100 => A;", "timer-period"),
    ("source every 0s => A;", "timer-period"),
    ("source every 1k => A;", "timer-period"),
    ("error () => ();\nA = error;\natomic error:{x};", "reserved-word"),
    ("source (int a) => ();", "reserved-word"),
    ("A = program -> B;", "reserved-word"),
    ("größe = B;\nC = größe;", "invalid-name"),
    ("A (int größe) => ();", "invalid-name"),
    ("A = delete -> delete;", "invalid-name"),
    ("main () => ();", "invalid-name"),
    ("A (int class) => ();", "invalid-name"),
    ("typedef t operator;", "invalid-name"),
    ("A = ;\nhandle error A => throw;", "invalid-name"),
    ("source A {session: int} => B;", "invalid-name"),
    ("sourc Listen => Image;", "unknown-statement"),
    ("Atomic A:{x};", "unknown-statement"),
    ("Listen;", "unknown-statement"),
    ("A = B;;", "unknown-statement"),
    ("} A = B;", "unknown-statement"),
    ("server { listen 80; }", "unknown-statement"),
    ("server {\n  listen 80;\n}", "unknown-statement"),
    ("typedef ;", "unexpected-token"),
    ("typedef hit TestInCache(x);", "unexpected-token"),
    ("include <image.h>;", "unexpected-token"),
    ("include image.h;", "unexpected-token"),
    ("A = B C;\nD = A;", "unexpected-token"),
    ("A = B -> ;", "unexpected-token"),
    ("A = B -> -> C;", "unexpected-token"),
    ("A = B();", "unexpected-token"),
    ("A = B (C & D);", "unexpected-token"),
    ("A:{x};", "unexpected-token"),
    ("A:[] = ;", "unexpected-token"),
    ("A:[_ _] = ;", "unexpected-token"),
    ("handle A => B;", "unexpected-token"),
    ("atomic A;", "unexpected-token"),
    ("atomic A:{};", "unexpected-token"),
    ("A = ;\natomic A:{x?(session)?};", "unexpected-token"),
    ("A () () => ();", "unexpected-token"),
    ("A (int x) (int y);", "unexpected-token"),
    ("A () => () source B => C;", "unexpected-token"),
    ("source A => B => C;", "unexpected-token"),
    ("source A {x: B} => C;", "unexpected-token"),
    ("option port : number;", "unexpected-token"),
    ("type X = unit { %origin = that; a : int8; };\nA = B;", "message-attribute"),
    ("type X = unit { %byteorder = middle; a : int8; };\nA = B;", "message-attribute"),
    ("type X = unit { %max_size = 0; a : int8; };\nA = B;", "message-attribute"),
    ("type X = unit { %size = self; a : int8; };\nA = B;", "message-attribute"),
    ("type X = unt { a : int8; b : int8; };\nA = B;", "unexpected-token"),
    ("A = B ->\nsource C => D;", "unexpected-token"),
    ("A = B", "missing-semicolon"),
    ("A = B\nC = D;", "missing-semicolon"),
    ("A:[_] =\nA:[_] = B;", "missing-semicolon"),
    ("A () => ()\nB () => ();", "missing-semicolon"),
    ("A () => () blocking\nsource A => B;", "missing-semicolon"),
    ("include \"a.h\"\nA () => ();", "missing-semicolon"),
    ("typedef a B\ntypedef c D;", "missing-semicolon"),
    ("A = (B & C)\n// why\nD = E;", "missing-semicolon"),
    ("A (int x => (int y);\nB = A;", "unclosed-bracket"),
    ("A (int x; int y) => ();\nB = C;", "unexpected-token"),
    ("source every 100 ms => A;", "bad-number"),
    ("source every 100 => A;", "timer-period"),
    ("if (x) A;", "parameter-name"),
    ("Listen => (int socket);", "unexpected-token"),
    ("A (int x\nB (int y) => ();", "unclosed-bracket"),
    ("A (std::map<int, T m) => ();", "unclosed-bracket"),
    ("A = (B & C;", "unclosed-bracket"),
    ("A = B(1;", "unclosed-bracket"),
    ("A:[_, _ = B;", "unclosed-bracket"),
    ("atomic A:{x;\nA = ;", "unclosed-bracket"),
    ("type X = unit { a : int8;\nA = B;", "unclosed-bracket"),
    ("source A = B;", "wrong-arrow"),
    ("source A -> B;", "wrong-arrow"),
    ("A (int x) -> (int x);", "wrong-arrow"),
    ("A => B -> C;", "wrong-arrow"),
    ("A = B => C;", "wrong-arrow"),
    ("handle error A = B; A = ;", "wrong-arrow"),
    ("handle error A -> B; A = ;", "wrong-arrow"),
    ("handle error A -> B -> C; A = B;", "wrong-arrow"),
    ("handle error A -> _; A = ;", "wrong-arrow"),
    ("handle error A -> B -> _; A = B;", "wrong-arrow"),
    ("handle error A => *; A = ;", "unexpected-token"),
    ("handle error A => _ -> B; A = ;", "unexpected-token"),
    ("handle error A => B -> C -> _; A = ;", "unexpected-token"),
    ("handle error A => B -> *; A = ;", "unexpected-token"),
    ("send-page () => ();\nA = send-page;\natomic send-page:{x};", "invalid-name"),
    ("404 () => ();\nA = 404;\nsource B => 404;", "invalid-name"),
    ("A = (B && C);", "unexpected-token"),
    ("error A => B;", "unknown-statement"),
    ("A (int x int y) => ();", "parameter-type"),
    ("A (...) => ();", "parameter-type"),
    ("source 100ms => A;", "unexpected-token"),
    ("source every -1s => A;", "bad-number"),
    ("A = B::C;", "unexpected-token"),
    ("A (int) => ();", "parameter-name"),
    ("A (void) => ();", "parameter-name"),
    ("A (int x, ) => ();", "parameter-name"),
    ("A (socket) => ();", "parameter-name"),
    ("A (int &x) => ();\natomic A:{c(x)};", "parameter-reference"),
    ("A () => (int x = 3);", "input-default"),
    ("A (int x, int x) => ();", "duplicate-parameter"),
    ("use std.http;\nA = http.Send;", "unknown-module"),
    ("A = files.Find -> files.Send;", "unknown-module"),
    ("A (memcached.Command *c) => ();", "unknown-module"),
    ("A = B(port) -> C(port);", "unknown-option"),
    ("A () => () blokcing;", "unknown-attribute"),
    ("A:[hit] = ;\nA:[hit] = B;", "unknown-predicate"),
    ("atomic A:{x};\natomic A:{y};", "unknown-node"),
    ("handle error A => B;", "unknown-node"),
    ("A = ;\nhandle error B -> A => B;", "unknown-node"),
    ("A () => ();\nA (int x) => ();", "duplicate-node"),
    ("A = B;\nA = C;", "duplicate-flow"),
    ("A = B;\nA:[_] = C;\nA = D;", "duplicate-flow"),
    ("typedef a B;\ntypedef a C;", "duplicate-predicate"),
    ("typedef a B;\na () => ();", "name-clash"),
    ("A () => ();\nA_out () => ();", "name-clash"),
    ("A (int a) => ();\natomic A:{x, x(a)};", "constraint-scope"),
    ("A = ;\natomic A:{x(session), x};", "constraint-scope"),
    ("A (int a, int b) => ();\natomic A:{x(a), x(a, b)};", "key-length"),
    ("A (int a, int b) => ();\natomic A:{x(a, b), x, x(a)};", "constraint-scope"),
    ("A = ;\natomic A:{x(session), x(a)};", "constraint-scope"),
    ("A (int a) => ();\natomic A:{x(b)};", "unknown-key"),
    ("A = ;\natomic A:{x(a), y(a)};", "undeclared-key"),
    ("A (int a) => ();\natomic A:{x(a, session)};", "reserved-key"),
];

#[test]
fn each_single_mistake_gives_its_message() {
    for (text, expected) in SINGLE {
        let found = mistakes(text);
        assert!(found.len() == 1 && found[0].ends_with(&format!("error [{expected}]")), "{text}: {found:?}");
    }
}

#[test]
fn a_scope_where_a_key_could_be_meant_gives_a_warning() {
    let text = "A (int session) => ();\natomic A:{x(session)};";
    assert_eq!(mistakes(text), ["2 warning [scope-not-key]"]);
}

#[test]
fn several_mistakes_are_found_in_one_run() {
    let text = "include \"image.h\"
Listen () => (int socket);
Read (int socket => (char *text);
source Listen -> Page;
Page = Read -> -> Write;
typedef hit;
Page2 = Write(5x);
atomic Listen:{a?(session)?};
handle error Reed => Oops;
";
    holds(
        text,
        &[
            "1 [missing-semicolon]",
            "3 [unclosed-bracket]",
            "4 [wrong-arrow]",
            "5 [unexpected-token]",
            "6 [unexpected-token]",
            "7 [bad-number]",
            "8 [unexpected-token]",
            "9 [unknown-node]",
        ],
    );
}

#[test]
fn what_a_broken_statement_may_have_declared_is_not_unknown() {
    holds("Read (int socket => ();\natomic Read:{x(socket)};\nhandle error Read => Oops;", &["1 [unclosed-bracket]"]);
    holds("typedef hit = TestInCache;\nA:[hit] = ;", &["1 [unexpected-token]"]);
    holds("Read (int &socket) => ();\natomic Read:{x(socket)};", &["1 [parameter-reference]"]);
    let spoilt = "atomic A:{cahce} x;\nA = ;\natomic A:{cache};\natomic A:{cahce, cache};";
    holds(spoilt, &["1 [unexpected-token]"]);
}

#[test]
fn a_statement_goes_on_where_the_meaning_is_plain() {
    let (program, _) = read("A () -> (int x)\nsource A = B;\nB => C -> D");
    assert_eq!(nodes(&program), ["A", "B", "C", "D"]);
    assert_eq!(program.sources.len(), 1);
    assert!(program.nodes[program.node_named("A").expect("declared")].signature.is_some());
}

#[test]
fn a_broken_statement_ends_where_the_next_one_starts() {
    let (program, found) = read("A = B C\nD (int x) => ();\nE = F @\n  G -> H\nE2 [_] = ;\ntypedef a\natomic D:{x};");
    assert_eq!(nodes(&program), ["D", "E2"]);
    assert_eq!(program.constraints.len(), 1);
    assert_eq!(found.len(), 3, "{found:#?}");
}

#[test]
fn deep_nesting_is_refused_and_nothing_overflows() {
    let nested = |depth: usize| format!("A = {}B{};", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(mistakes(&nested(256)), Vec::<String>::new());
    assert_eq!(mistakes(&nested(257)), ["1 error [nesting-too-deep]"]);
    assert_eq!(mistakes(&nested(1_000_000)), ["1 error [nesting-too-deep]"]);
    let open = format!("A ({}int x) => ();", "std::vector<".repeat(100_000));
    assert_eq!(mistakes(&open), ["1 error [nesting-too-deep]"]);
}
