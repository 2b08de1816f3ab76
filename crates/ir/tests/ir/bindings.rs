//! A program says which value each input takes: it reads well, parses back, and each rule of the verifier is broken by
//! one change.

use flux_ir::program::{Action, Argument, Body, StepNumber};
use flux_ir::text::{parse_program, print_program};
use flux_ir::verify::{self, Stage};

/// Every way in which a value goes somewhere.
const PROGRAM: &str = "program p

node Listen (int port) => (int socket)
node Read (int limit, int socket) => (int socket, T *data)
node Size (T *data) => (int size)
node Send (int socket, T *data) => ()
node Spare (int error, int socket) => (T *data, int socket)
node Report (int socket) => ()
node Serve (int socket) => () {
  flow = %1 Read(10) takes (in.socket) \
    -> %2 (%3 Size takes (%1.data) gives (%3.size) & gives (%1.data)) takes (%1.data) \
    -> %4 Send takes (in.socket, %2.1) gives ()
}
node Same (int socket, int other) => (int other) {
  flow [_, _] = gives (in.other)
}

source Listen(80) => Serve takes (in.socket) session seen
source every 500ms => Beat takes ()
handle error Read => node Spare {
  for Read takes (error, in.socket) gives (out.socket, out.data)
}
handle error * -> Send => node Report {
  for Send takes (in.socket)
}
";

/// The program, with a node that takes nothing.
fn program() -> String {
    PROGRAM.replace("node Listen", "node Beat () => ()\nnode Listen")
}

#[test]
fn a_program_says_which_values_go_where_and_parses_back() {
    let program = parse_program(&program()).unwrap();
    assert_eq!(print_program(&program), self::program());
    let serve = &program.nodes[program.node_named("Serve").unwrap()];
    let Body::Chain(chain) = &serve.body else { panic!("a chain") };
    let numbers: Vec<_> = chain.all_steps().into_iter().map(|step| step.number.0).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!(chain.results, Some(vec![]));
    let Action::Apply(send) = &chain.steps[2].action else { panic!("an application") };
    assert_eq!(send.arguments, Some(vec![Argument::Input(0), Argument::Output(StepNumber(2), 1)]));
}

#[test]
fn numbers_that_are_left_out_go_on_from_the_step_before() {
    let text = "program p\nnode A\nnode F {\nflow = A -> %7 (A & A) -> A\n}\n";
    let printed = print_program(&parse_program(text).unwrap());
    assert!(printed.contains("flow = %1 A -> %7 (%8 A & %9 A) -> %10 A"), "{printed}");
}

#[test]
fn steps_are_numbered_in_the_order_of_the_text() {
    let mut program =
        parse_program("program p\nnode A\nnode F {\nflow = %4 A -> %4 (%4 A -> %4 A & %4 A) -> %4 A\n}\n").unwrap();
    let id = program.node_named("F").unwrap();
    let expected = ["two steps have the number 4"; 5];
    let found: Vec<_> = verify::program(&program, Stage::Resolved).into_iter().map(|one| one.message).collect();
    assert_eq!(found, expected);
    let Body::Chain(chain) = &mut program.nodes[id].body else { panic!("a chain") };
    chain.number_steps();
    let printed = print_program(&program);
    assert!(printed.contains("flow = %1 A -> %2 (%3 A -> %4 A & %5 A) -> %6 A"), "{printed}");
    assert_eq!(verify::program(&program, Stage::Resolved), []);
}

/// Holds what is wrong with the program once `old`, which it contains once, is `new` to what is expected.
#[track_caller]
fn breaks(old: &str, new: &str, expected: &[&str]) {
    let text = program();
    assert_eq!(text.matches(old).count(), 1, "`{old}` is not there once");
    let program = parse_program(&text.replace(old, new)).unwrap();
    assert_eq!(verify::program(&program, Stage::Typed), [], "`{old}` made `{new}`");
    let found: Vec<_> = verify::program(&program, Stage::Bound).into_iter().map(|one| one.message).collect();
    assert_eq!(found, expected, "`{old}` made `{new}`");
}

#[test]
fn every_list_of_values_is_there() {
    breaks(" gives ()\n", " gives ()\n", &[]);
    let unbound = |name: &str| format!("{name} does not say which values it has");
    breaks(" takes (%1.data) gives (%3.size)", " gives (%3.size)", &[&unbound("`Size`")]);
    breaks(" gives ()\n", "\n", &[&unbound("`Serve`")]);
    breaks(" gives (%3.size)", "", &[&unbound("a branch"), "`Send` names a value that is not there"]);
    breaks(" => Serve takes (in.socket)", " => Serve", &[&unbound("`Serve`")]);
    breaks("Beat takes ()", "Beat", &[&unbound("`Beat`")]);
    let handler = "nothing says what the handler `Report` takes of what failed";
    breaks(" {\n  for Send takes (in.socket)\n}", "", &[handler]);
    breaks(
        "handle error * -> Send => node Report {\n  for Send takes (in.socket)\n}",
        "handle error * => node Report",
        &[],
    );
    let missing = "there is no node #99";
    breaks("for Send takes (in.socket)", "for Send takes (in.socket)\n  for #99 takes (in.0)", &[missing]);
}

#[test]
fn values_are_as_many_as_are_taken_and_of_their_types() {
    breaks("(in.socket, %2.1)", "(in.socket)", &["`Send` has 2 values and names 1"]);
    breaks("(in.socket, %2.1)", "(in.socket, %2.0)", &["`Send` names a value of another type as number 2"]);
    breaks("gives (in.other)", "gives (in.other, in.socket)", &["`Same` has 1 values and names 2"]);
    breaks("(error, in.socket)", "(error)", &["`Spare` has 2 values and names 1"]);
    let handler = ["the outputs of the handler `Spare` do not fit those of `Read`"];
    breaks("(out.socket, out.data)", "(out.data, out.socket)", &handler);
    breaks("(out.socket, out.data)", "(out.socket)", &handler);
    breaks("(out.socket, out.data)", "(out.socket, out.7)", &handler);
}

#[test]
fn a_flow_resumes_with_values_or_goes_on_where_its_handler_says_so() {
    let unfit =
        |handler: &str, node: &str| format!("the outputs of the handler `{handler}` do not fit those of `{node}`");
    breaks("for Send takes (in.socket)", "for Send takes (in.socket) gives ()", &[&unfit("Report", "Send")]);
    breaks("=> node Report {", "=> node Report -> _ {", &[]);
    breaks("-> Send => node Report {\n  for Send takes (in.socket)\n}", "-> Send => _", &[]);
    let open = "a flow goes on without values after what may have outputs";
    breaks("=> node Spare {", "=> node Spare -> _ {", &[open, &unfit("Spare", "Read")]);
    breaks("* -> Send => node Report {\n  for Send takes (in.socket)\n}", "Send -> * => _", &[open]);
}

#[test]
fn a_value_is_there_from_the_step_that_makes_it_to_the_end_of_its_chain() {
    let missing = |name: &str| format!("{name} names a value that is not there");
    breaks("Read(10) takes (in.socket)", "Read(10) takes (%4.0)", &[&missing("`Read`")]);
    breaks("(in.socket, %2.1)", "(%1.socket, %2.1)", &[]);
    breaks("(in.socket, %2.1)", "(%3.size, %1.data)", &[&missing("`Send`")]);
    breaks("(in.socket, %2.1)", "(in.socket, %2.2)", &[&missing("`Send`")]);
    breaks("(in.socket, %2.1)", "(error, %2.1)", &[&missing("`Send`")]);
    breaks("& gives (%1.data)", "& gives (%3.size, %1.data)", &[&missing("a branch"), &missing("`Send`")]);
}

#[test]
fn what_was_taken_and_not_given_back_is_there_no_more() {
    let gone = "`Send` names a value that is not there";
    // A branch has taken it.
    breaks("(in.socket, %2.1)", "(in.socket, %1.data)", &[gone]);
    let nodes = "node S (T *p, const T *q, std::unique_ptr<T> u) => ()\nnode A (T *p) => (int n)\n\
                 node Back (T *p) => (T *p)\nnode Look (const T *q) => ()\n\
                 node Move (std::unique_ptr<T> u) => (std::unique_ptr<T> u)\n";
    for (chain, is_sound) in [
        ("%1 A takes (in.p) -> %2 A takes (in.p)", false),
        ("%1 Back takes (in.p) -> %2 A takes (in.p)", true),
        ("%1 (%2 Back takes (in.p) gives (%2.p)) takes (in.p) -> %3 A takes (in.p)", true),
        ("%1 (%2 A takes (in.p) gives () & %3 A takes (in.p) gives ()) takes (in.p)", true),
        ("%1 (%2 A takes (in.p) gives ()) takes (in.p) -> %3 A takes (in.p)", false),
        ("%1 Look takes (in.q) -> %2 Look takes (in.q)", true),
        ("%1 Move takes (in.u) -> %2 Move takes (%1.u)", true),
        ("%1 Move takes (in.u) -> %2 Move takes (in.u)", false),
    ] {
        let flow = format!("node F (T *p, const T *q, std::unique_ptr<T> u) => () {{\n  flow = {chain} gives ()\n}}\n");
        let program = parse_program(&format!("program p\n{nodes}{flow}")).unwrap();
        let found = verify::program(&program, Stage::Bound);
        assert_eq!(found.is_empty(), is_sound, "{chain}: {found:?}");
    }
}

#[test]
fn a_branch_sees_only_what_it_gets_a_copy_of() {
    let missing = ["`Size` names a value that is not there", "a branch names a value that is not there"];
    let both = [missing[0], missing[1], "`Send` names a value that is not there"];
    breaks(") takes (%1.data) ->", ") takes (in.socket) ->", &both);
    let nowhere = ["a parallel step names a value that is not there"];
    breaks(") takes (%1.data) ->", ") takes (%1.data, %4.0) ->", &[nowhere[0], both[0], both[1], both[2]]);
}

#[test]
fn what_handlers_reach_is_kept_wherever_their_node_is_applied() {
    let nodes = "node A (int x) => ()\nnode H (long t, T *p) => ()\nnode G (long t) => ()\n";
    for (first, second, handlers, expected) in [
        ("keeps (in.t, in.p)", "keeps (in.t, in.p)", "kept.0, kept.1", None),
        ("keeps (in.p, in.t)", "keeps (in.p, in.t)", "kept.1, kept.0", None),
        ("keeps (in.t, in.p)", "", "kept.0, kept.1", Some("applications of `A` keep different values")),
        ("", "", "kept.0, kept.1", Some("`H` names a value that is not there")),
        (
            "keeps (in.t, in.p)",
            "keeps (in.t, in.p)",
            "kept.1, kept.1",
            Some("`H` names a value of another type as number 1"),
        ),
        (
            "keeps (in.t, %9.p)",
            "keeps (in.t, in.p)",
            "kept.0, kept.1",
            Some("a handler names a value that is not there"),
        ),
    ] {
        let flow = format!("%1 A takes (in.x) {first} -> %2 A takes (in.x) {second} gives ()");
        let text = format!(
            "program p\n{nodes}node F (int x, long t, T *p) => () {{\n  flow = {flow}\n}}\n\
             handle error A => node H {{\n  for A takes ({handlers}) keeps (kept.0)\n}}\n\
             handle error H => node G {{\n  for H takes (in.t)\n}}\n"
        );
        let program = parse_program(&text.replace("%9.p", "%9.0")).unwrap();
        let found: Vec<_> = verify::program(&program, Stage::Bound).into_iter().map(|one| one.message).collect();
        match expected {
            None => assert!(found.is_empty(), "{flow}: {found:?}"),
            Some(expected) => assert!(found.iter().any(|one| one == expected), "{flow}: {found:?}"),
        }
    }
}

/// An each step with a width, and a loop that hands on.
const EACH: &str = "program p
node S (list<text> lines, int total, bool b) => (list<bool> long, int total) {
  flow = %1 [%2 Size takes (element of %1, in.b) gives (%2.long)](4) each (text line) of in.lines takes (in.b) \
    -> %3 [%4 Add takes (element of %3, in.total) gives (%4.total, %4.b)] each (text line) of in.lines \
    takes (in.total) carries (0 as 0) gives (%1.0, %3.0)
}
node Size (text line, bool b) => (bool long)
node Add (text line, int total) => (int total, bool b)
";

#[test]
fn an_each_step_is_over_a_list_and_its_instances_have_copies_alone() {
    let found = |old: &str, new: &str| {
        assert_eq!(EACH.matches(old).count(), 1, "`{old}` is not there once");
        let text = EACH.replace(old, new);
        let program = parse_program(&text).unwrap();
        let found = verify::program(&program, Stage::Bound);
        found.into_iter().map(|one| one.message).collect::<Vec<_>>()
    };
    let program = parse_program(EACH).unwrap();
    assert_eq!(print_program(&program).replace("\n\n", "\n"), EACH.replace("\n\n", "\n"));
    assert_eq!(found("%1.0, %3.0", "%1.0, %3.0"), [""; 0]);
    let width = "an each step has a width that is no number above 1";
    for (old, new, expected) in [
        ("](4)", "](1)", width),
        ("](4)", "](true)", width),
        (
            "of in.lines takes (in.b)",
            "of in.total takes (in.b)",
            "an each step is over something else than a list of its elements",
        ),
        ("of in.lines takes (in.b)", "of in.7 takes (in.b)", "an each step names a value that is not there"),
        ("takes (element of %1, in.b)", "takes (element of %3, in.b)", "`Size` names a value that is not there"),
        ("of in.lines takes (in.b)", "of in.lines takes (in.total)", "`Size` names a value that is not there"),
        ("(%1.0, %3.0)", "(element of %1, %3.0)", "`S` names a value that is not there"),
        ("(%1.0, %3.0)", "(%2.long, %3.0)", "`S` names a value that is not there"),
        ("(%1.0, %3.0)", "(%1.0, %3.1)", "`S` names a value of another type as number 2"),
        ("carries (0 as 0)", "carries (1 as 0)", "an instance hands on a value as one of another type"),
        ("carries (0 as 0)", "carries (0 as 0, 0 as 0)", "an instance hands on two values as one"),
        (
            "] each (text line) of in.lines takes (in.total)",
            "](2) each (text line) of in.lines takes (in.total)",
            "instances that run at once hand values on",
        ),
        (" each (text line) of in.lines takes (in.b)", "", "an each step does not say which values it has"),
    ] {
        assert!(found(old, new).contains(&expected.to_owned()), "`{old}` made `{new}`: {:?}", found(old, new));
    }
}
