//! Each rule of the verifier is broken by one change to a flow that is well-formed.

use crate::random;
use flux_ir::flow::{Callee, Exits, Flow, FunctionId, StepPaths};
use flux_ir::paths;
use flux_ir::program::{Action, Body, Chain, NodeId, Parallel, Step, StepNumber};
use flux_ir::text::{parse_flow, parse_program, print_flow};
use flux_ir::verify::{self, Stage, Violation};
use flux_source::{FileId, Span};
use proptest::prelude::*;

const IMAGE: &str = include_str!("image.ir");
const BANK: &str = include_str!("bank.ir");

fn messages(violations: Vec<Violation>) -> Vec<String> {
    violations.into_iter().map(|violation| violation.message).collect()
}

/// `text` with `old`, which it contains once, made `new`.
fn changed(text: &str, old: &str, new: &str) -> String {
    assert_eq!(text.matches(old).count(), 1, "`{old}` is not there once");
    text.replace(old, new)
}

/// Holds what is wrong with the bank once `old` is `new` to what is expected, in order.
#[track_caller]
fn breaks(stage: Stage, old: &str, new: &str, expected: &[&str]) {
    let flow = parse_flow(&changed(BANK, old, new)).unwrap();
    assert_eq!(messages(verify::flow(&flow, stage)), expected, "`{old}` made `{new}`");
}

/// As [`breaks`], for a rule of a lowered flow.
#[track_caller]
fn breaks_flow(old: &str, new: &str, expected: &[&str]) {
    breaks(Stage::Lowered, old, new, expected);
}

/// As [`breaks`], for a rule of path numbers, which does not matter before there are any.
#[track_caller]
fn breaks_numbers(old: &str, new: &str, expected: &[&str]) {
    breaks(Stage::Lowered, old, new, &[]);
    breaks(Stage::Numbered, old, new, expected);
}

/// Holds what is wrong with a program to what is expected, in order.
#[track_caller]
fn program_breaks(stage: Stage, statements: &str, expected: &[&str]) {
    let program = parse_program(&format!("program p\n{statements}")).unwrap();
    assert_eq!(messages(verify::program(&program, stage)), expected, "{statements}");
}

#[test]
fn the_examples_are_well_formed_and_numbered() {
    for text in [IMAGE, BANK] {
        let mut flow = parse_flow(text).unwrap();
        assert_eq!(verify::flow(&flow, Stage::Numbered), []);
        paths::number(&mut flow);
        assert_eq!(print_flow(&flow), text);
    }
}

#[test]
fn names_are_unique_and_ids_lead_somewhere() {
    let stage = Stage::Resolved;
    program_breaks(stage, "node A\nnode A", &["two nodes are called `A`"]);
    program_breaks(stage, "predicate A = f\npredicate A = g", &["two predicates are called `A`"]);
    program_breaks(stage, "constraint A program\nconstraint A session", &["two constraints are called `A`"]);
    program_breaks(stage, "node A {\nflow = (#3 & A)\n}", &["there is no node #3"]);
    program_breaks(stage, "node A {\nflow [#0] =\n}", &["there is no predicate #0"]);
    program_breaks(stage, "node A {\nholds #0!\n}", &["there is no constraint #0"]);
    program_breaks(stage, "node A\nsource #5 => #6", &["there is no node #5", "there is no node #6"]);
    program_breaks(stage, "node A\nhandle error A -> #5 => node #6", &["there is no node #5", "there is no node #6"]);
    let unkeyed = "the keyed constraint `k` is held without a key";
    program_breaks(stage, "constraint k keyed\nnode A {\nholds k!\n}", &[unkeyed]);
    let keyed = "the constraint `c` is held with a key and is not keyed";
    program_breaks(stage, "constraint c session\nnode A {\nholds c!(in.0)\n}", &[keyed]);
}

#[test]
fn what_the_text_form_cannot_say_is_found_too() {
    let mut program = parse_program("program p\nnode A () => ()\nhandle error A => node A").unwrap();
    let id = NodeId::new(0);
    program.nodes[id].body = Body::Dispatch(vec![]);
    program.handlers[0].path.clear();
    let expected = ["the dispatch of `A` has no line", "a handler is for no node"];
    assert_eq!(messages(verify::program(&program, Stage::Resolved)), expected);

    let mut program = parse_program("program p\nnode A () => ()").unwrap();
    let span = Span { file: FileId(0), start: 3, end: 4 };
    let chain = |steps| Chain { steps, results: None, span };
    let parallel = |number, branches| {
        let action = Action::Parallel(Parallel { branches, arguments: None, span });
        Step { number: StepNumber(number), action, within: None }
    };
    let inner = chain(vec![parallel(2, vec![])]);
    program.nodes[id].body = Body::Chain(chain(vec![parallel(1, vec![inner])]));
    let expected = Violation { message: "a parallel step has no branch".to_owned(), span };
    assert_eq!(verify::program(&program, Stage::Resolved), [expected]);
}

#[test]
fn signatures_are_known_and_lists_fit_them() {
    let typed = |statements, expected| {
        program_breaks(Stage::Resolved, statements, &[]);
        program_breaks(Stage::Typed, statements, &[expected]);
    };
    typed("node A", "the signature of `A` is not known");
    typed("constraint k keyed\nnode A (int x) => () {\nholds k!(in.1)\n}", "a key of `A` is not among its inputs");
    typed("node A (int x) => () {\nflow [_, _] =\n}", "a line of `A` has 2 patterns for 1 inputs");
    typed(
        "node A () => ()\nnode B () => () {\nflow = (A & A(1))\n}",
        "`A` is applied to more constants than it has inputs",
    );
    typed("node A (int x) => ()\nsource A => A", "the source `A` has inputs that no constant binds");
    program_breaks(Stage::Typed, "node A (int x) => () {\nflow [] =\n}\nnode B () => ()\nsource A(1) => B", &[]);
}

#[test]
fn no_node_reaches_itself() {
    let cycle = "node A () => ()\nnode B () => () {\nflow = A -> (C & A)\n}\nnode C () => () {\nflow = B\n}";
    program_breaks(Stage::Resolved, cycle, &[]);
    program_breaks(Stage::Typed, cycle, &["`A` reaches itself, or is reached by a node that does"]);
    let shared = "node A () => ()\nnode B () => () {\nflow = A -> A\n}\nnode C () => () {\nflow = B -> (A & B)\n}";
    program_breaks(Stage::Typed, shared, &[]);
}

#[test]
fn a_flow_has_a_typed_program() {
    breaks_flow("node Beat () => ()", "node Beat", &["the signature of `Beat` is not known"]);
}

#[test]
fn function_names_are_unique_and_free_in_cpp() {
    let twice = BANK.replace("Serve_branch_2", "Serve_branch_1");
    let expected = ["two functions are called `Serve_branch_1`", "function `Serve`: step %5 has no output 0"];
    assert_eq!(messages(verify::flow(&parse_flow(&twice).unwrap(), Stage::Lowered)), expected);
    for name in ["xor", "\"a.b\""] {
        let text = BANK.replace("Beat_run", name);
        let expected = format!("`{}` cannot name a C++ function", name.replace('"', ""));
        assert_eq!(messages(verify::flow(&parse_flow(&text).unwrap(), Stage::Lowered)), [expected]);
    }
}

#[test]
fn functions_are_of_something_that_there_is() {
    breaks_flow("abstract Serve paths", "abstract #99 paths", &["function `Serve`: there is no node #99"]);
    let concrete = ["function `Serve`: `Read` is concrete", "function `Serve`: its signature is not that of `Read`"];
    breaks_flow("abstract Serve paths", "abstract Read paths", &concrete);
    let branch = "branch Serve paths 1/1/0\n  %1 = node Print";
    breaks_flow(branch, &branch.replace("Serve", "#99"), &["function `Serve_branch_1`: there is no node #99"]);
    let signature = ["function `Approve`: its signature is not that of `Serve`"];
    breaks_flow("abstract Approve held", "abstract Serve held", &signature);
    breaks_flow(
        "run 1",
        "run 2",
        &["function `Beat_run`: there is no source 2", "source 1: the entry runs a function that is not the source's"],
    );
}

#[test]
fn what_is_held_is_there_and_held_once() {
    let held = "held log?, account?(in.from)";
    breaks_flow(held, "held #9?", &["function `Approve`: there is no constraint #9"]);
    breaks_flow(held, "held log?, log!", &["function `Approve`: `log` is held twice"]);
    breaks_flow(held, "held account?(in.3)", &["function `Approve`: the key of `account` is not among the inputs"]);
    breaks_flow(held, "held account?, account!(in.to), account!(in.from)", &[]);
}

#[test]
fn entries_are_those_of_the_sources() {
    let produce = "entry produce Listen_produce run Listen_run\n";
    breaks_flow(
        produce,
        "",
        &[
            "1 entries for 2 sources",
            "source 0: a timer, and nothing else, has nothing that produces",
            "source 0: the entry runs a function that is not the source's",
        ],
    );
    breaks_flow(
        "entry run Beat_run",
        "entry produce Listen_produce run Beat_run",
        &[
            "source 1: a timer, and nothing else, has nothing that produces",
            "source 1: the entry produces by a function that is not the source's",
        ],
    );
    let not_its_own = ["source 0: the entry produces by a function that is not the source's"];
    breaks_flow(produce, "entry produce #77 run Listen_run\n", &not_its_own);
    let takes_inputs = ["source 0: what produces takes inputs"];
    breaks_flow("function Listen_produce ()", "function Listen_produce (int port)", &takes_inputs);
    let other_name = ["source 0: what runs does not take what is produced"];
    breaks_flow("function Listen_produce () => (int socket)", "function Listen_produce () => (int other)", &other_name);
    breaks_flow(
        "function Beat_run () => () {",
        "function Beat_run () => (int x) {",
        &[
            "function `Beat_run`: `done` takes 1 values and gets 0",
            "source 1: what runs gives outputs, and nobody takes them",
        ],
    );
}

#[test]
fn steps_have_numbers_of_their_own() {
    let last = "%2 = node Move(in.from, in.to, 100) else failed +2\n      done %2.left";
    breaks_flow(last, &last.replace("%2", "%1"), &["function `Approve`: two steps are %1"]);
    let (old, new) = ("%4 = handler Refuse for Approve(%1.from, %1.to", "%1 = handler Refuse for Approve(7, 7");
    breaks_flow(old, new, &["function `Serve`: two steps are %1"]);
}

#[test]
fn what_is_called_is_there_and_comes_before() {
    let call = "%3 = function Approve(%1.from, %1.to, %1.amount)";
    let expect = |callee: &str, expected: &str| {
        // What is not known of the step is not held against those that use it.
        let text = BANK.replace("%3.left", "%3.0");
        let text = changed(&text, call, &call.replace("function Approve", callee));
        let found = messages(verify::flow(&parse_flow(&text).unwrap(), Stage::Lowered));
        assert_eq!(found, [format!("function `Serve`: {expected}")], "{callee}");
    };
    expect("function #99", "there is no function #99");
    expect("function Serve", "it calls a function that does not come before it");
    expect("function Listen_run", "it calls a function that does not come before it");
    expect("node #99", "there is no node #99");
    expect("fork Approve & Beat_run", "it calls a function that does not come before it");
    expect("node Approve", "it calls the abstract `Approve` as a C++ function");
}

#[test]
fn forks_have_branches_and_each_takes_the_values() {
    let mut flow = parse_flow(BANK).unwrap();
    let serve = flow.functions.ids().nth(3).unwrap();
    flow.functions[serve].body.steps[2].callee = Callee::Fork(vec![]);
    assert_eq!(messages(verify::flow(&flow, Stage::Lowered)), ["function `Serve`: it forks into no branch"]);
    let fork = "fork Serve_branch_1 & Serve_branch_2(%3.left)";
    for after in ["Serve_branch_1 after 0 & Serve_branch_2", "Serve_branch_1 after 1 & Serve_branch_2"] {
        breaks_flow(
            fork,
            &format!("fork {after}(%3.left)"),
            &["function `Serve`: a branch does not wait for an earlier one"],
        );
    }
    breaks_flow(
        fork,
        "fork Serve_branch_1 & Approve(%3.left)",
        &[
            "function `Serve`: the callee of step %5 takes 3 values and gets 1",
            "function `Serve`: the callee of step %5 takes `int` as `from` and gets `long`",
        ],
    );
}

#[test]
fn values_are_known_where_they_are_used() {
    let unknown = |step| format!("function `Serve`: an output of step %{step} is not known here");
    // A step does not see itself, a later one, one in a failure block that has ended, one on another line, or nothing.
    breaks_flow("Read(in.socket)", "Read(%1.from)", &[&unknown(1)]);
    breaks_flow("Read(in.socket)", "Read(%3.0)", &[&unknown(3)]);
    breaks_flow("function Approve(%1.from", "function Approve(%2.0", &[&unknown(2)]);
    breaks_flow("done %2.left +1", "done %1.left +1", &["function `Approve`: an output of step %1 is not known here"]);
    breaks_flow("done %2.left +1", "done %9.0 +1", &["function `Approve`: an output of step %9 is not known here"]);
    // What has failed has no outputs.
    breaks_flow("for Approve(%1.from", "for Approve(%3.left", &[&unknown(3)]);
    breaks_flow("Keep(in.left)", "Keep(in.1)", &["function `Serve_branch_2`: there is no input 1"]);
    breaks_flow("done %2.left +1", "done %2.1 +1", &["function `Approve`: step %2 has no output 1"]);
}

#[test]
fn what_a_node_left_goes_as_a_whole_to_a_handler_of_its_failure() {
    let wrong = |step| format!("function `Serve`: what step %{step} left goes to a handler of its failure, as a whole");
    // Step 3 calls a function: it has no struct that a handler could be given.
    breaks_flow("%1.to, 7", "%3.changed.to, 7", &[&wrong(3)]);
    breaks_flow("Read(in.socket)", "Read(%1.changed.socket)", &[&wrong(1)]);
    for (changes, expected) in [
        (["for ReadRequest(in.socket)", "for ReadRequest(%1.changed.socket)"], vec![]),
        (
            [
                "in.close, in.request) else failed\n        ended",
                "in.close, %1.changed.request) else failed\n        ended",
            ],
            vec!["request"],
        ),
    ] {
        let flow = parse_flow(&changed(IMAGE, changes[0], changes[1])).unwrap();
        let found = messages(verify::flow(&flow, Stage::Lowered));
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert!(
            found.iter().all(|one| one.contains("what step %1 left goes to a handler of its failure")),
            "{found:?}"
        );
    }
}

#[test]
fn an_error_is_there_in_the_failure_block_of_its_step_alone() {
    let none = |step| format!("function `Serve`: there is no error of step %{step} here");
    breaks_flow("Read(in.socket)", "Read(error of %1)", &[&none(1)]);
    breaks_flow("%1.to, 7", "error of %1, 7", &[&none(1)]);
    breaks_flow("%1.to, 7", "error of %3, 7", &[]);
    // The block of an inner failure is still in that of the outer one.
    let refuse = "%4 = handler Refuse for Approve(%1.from, %1.to, 7) else failed +1";
    let inner = "%6 = handler Refuse for Approve(error of %3, error of %4, 7) else failed";
    breaks_flow(refuse, &format!("{} {{\n{inner}\nfailed\n}}", refuse.trim_end_matches(" failed +1")), &[]);
}

#[test]
fn values_are_as_many_and_of_the_types_that_are_wanted() {
    breaks_flow(
        "Approve(%1.from, %1.to, %1.amount)",
        "Approve(%1.from, %1.to)",
        &["function `Serve`: the callee of step %3 takes 3 values and gets 2"],
    );
    breaks_flow(
        "Approve(%1.from, %1.to, %1.amount)",
        "Approve(%1.from, %1.amount, %1.to)",
        &[
            "function `Serve`: the callee of step %3 takes `int` as `to` and gets `long`",
            "function `Serve`: the callee of step %3 takes `long` as `amount` and gets `int`",
        ],
    );
    breaks_flow("Move(in.from, in.to, 100)", "Move(in.from, \"x\", true)", &[]);
    breaks_flow("Guess(in.socket, error of %1)", "Guess(error of %1, error of %1)", &[]);
    breaks_flow(
        "done %2.left +1",
        "done in.to +1",
        &["function `Approve`: `done` takes `long` as `left` and gets `int`"],
    );
    breaks_flow("done %2.left +1", "done +1", &["function `Approve`: `done` takes 1 values and gets 0"]);
    breaks_flow(
        "resume %2.from, %2.to, %2.amount",
        "resume %2.from, %2.to",
        &["function `Serve`: `resume` takes 3 values and gets 2"],
    );
    breaks_flow(
        "resume %2.from, %2.to, %2.amount",
        "resume %2.from, %2.to, error of %1",
        &["function `Serve`: `resume` takes `long` as `amount` and gets `int`"],
    );
    let array = BANK.replace("Keep (long left)", "Keep (long left[2])");
    assert_eq!(
        messages(verify::flow(&parse_flow(&array).unwrap(), Stage::Lowered)),
        ["function `Serve_branch_2`: the callee of step %1 takes `long[2]` as `left` and gets `long`"]
    );
}

#[test]
fn handlers_run_where_something_failed_and_sessions_where_a_flow_begins() {
    breaks_flow(
        "%1 = node Beat() else",
        "%1 = handler Refuse for Beat() else",
        &["function `Beat_run`: it calls the handler `Refuse` where nothing has failed"],
    );
    breaks_flow(
        "%1 = node Print(in.left)",
        "%1 = session f for Print(in.left)",
        &["function `Serve_branch_1`: it asks `f` for a session, and is not run by a source"],
    );
    breaks_flow(
        "session_of for Serve(in.socket)",
        "session_of for #88(in.socket)",
        &["function `Listen_run`: there is no node #88"],
    );
}

#[test]
fn constraints_are_taken_in_the_one_order_each_once() {
    let order = "visitor!, account!(in.from), account!(in.to) else";
    let late = |name| format!("function `Approve`: `{name}` is taken too late for the one order");
    breaks_flow(order, "account!(in.from), visitor! else", &[&late("visitor")]);
    breaks_flow(order, "visitor!, log? else", &[&late("log")]);
    breaks_flow(
        order,
        "visitor!, account!(in.to), account?(in.to) else",
        &["function `Approve`: `account` is taken twice in one step"],
    );
    breaks_flow(order, "account!(in.from, in.to), account!(in.to, in.from), account!(7) else", &[]);
    breaks_flow(order, "#9? else", &["there is no constraint #9"]);
    breaks_flow(order, "visitor?(in.to) else", &["the constraint `visitor` is held with a key and is not keyed"]);
    breaks_flow(order, "account! else", &["the keyed constraint `account` is held without a key"]);
    breaks_flow(order, "account!(%1.left) else", &["function `Approve`: an output of step %1 is not known here"]);
    let two = BANK.replace("constraint log program", "constraint log program\nconstraint cash program");
    let by_name = |taken: &str| {
        let text = changed(&two, order, &format!("{taken} else"));
        messages(verify::flow(&parse_flow(&text).unwrap(), Stage::Lowered))
    };
    assert_eq!(by_name("cash!, log!"), [""; 0]);
    assert_eq!(by_name("log!, cash!"), [late("cash")]);
}

/// What a pass took further out is asked for by the node that it says.
#[test]
fn what_a_pass_took_is_required_by_whom_it_took_it_for() {
    let order = "visitor!, account!(in.from), account!(in.to) else";
    breaks_flow(order, "visitor! by order_constraints for Move else", &[]);
    let stray = "function `Approve`: `visitor` is taken for a node that does not require it";
    breaks_flow(order, "visitor! by order_constraints for Print else", &[stray]);
    breaks_flow(order, "visitor! by order_constraints for #88 else", &[stray]);
    let unknown = changed(BANK, order, "visitor! by magic for Move else");
    assert_eq!(parse_flow(&unknown).unwrap_err().message, "no pass `magic` makes that");
}

#[test]
fn blocks_end_as_their_places_allow() {
    let misplaced = |word| format!("function `Beat_run`: `{word}` stands where nothing has failed");
    let beat = "%1 = node Beat() else failed\n  done";
    for word in ["failed", "ended", "resume", "go_on"] {
        breaks_flow(beat, &format!("%1 = node Beat() else failed\n  {word}"), &[&misplaced(word)]);
    }
    let without = ["function `Beat_run`: `resume` gives no values"];
    breaks_flow(beat, "%1 = node Beat() else resume\n  done", &without);
    let unsaid = ["function `Beat_run`: `go_on` stands where no handler of the failure says so"];
    breaks_flow(beat, "%1 = node Beat() else go_on\n  done", &unsaid);
    let dispatch = "dispatch {\n line => done\n }\n";
    breaks_flow(beat, &format!("%1 = node Beat() else failed\n {dispatch}"), &[]);
    let misplaced = ["function `Beat_run`: a dispatch does not end the function's body"];
    breaks_flow(beat, &format!("%1 = node Beat() else {{\n {dispatch} }}\n done"), &misplaced);
    breaks_flow(beat, &format!("dispatch {{\n line => {{\n {dispatch} }}\n }}"), &misplaced);
}

#[test]
fn dispatches_catch_all_last_or_say_what_happens_without_a_match() {
    let test = "line large(in.from), large(in.amount) =>";
    breaks_flow(test, "line =>", &["function `Approve`: a catch-all is not the last line"]);
    breaks_flow(
        test,
        "line large(in.from), #7(in.3) =>",
        &["function `Approve`: there is no predicate #7", "function `Approve`: there is no input 3"],
    );
    breaks_flow(
        "    unmatched\n",
        "",
        &["function `Approve`: a dispatch without a catch-all does not say what happens without a match"],
    );
    breaks_flow(
        "line large(in.amount) =>",
        "line =>",
        &["function `Approve`: a dispatch with a catch-all says what happens without a match"],
    );
}

#[test]
fn path_numbers_are_dense_at_every_exit() {
    let at = |function: &str, exit: &str, number| {
        format!("function `{function}`: the path numbers of exit {exit} are not dense at {number}")
    };
    breaks_numbers("done %2.left +1", "done %2.left", &[&at("Approve", "Done", 1)]);
    breaks_numbers("done %2.left +1", "done %2.left +2", &[&at("Approve", "Done", 1)]);
    breaks_numbers("else failed +2", "else failed +3", &[&at("Approve", "Failed", 2)]);
    breaks_numbers("    unmatched\n", "    unmatched +9\n", &[&at("Approve", "Failed", 0)]);
    breaks_numbers("fault +3", "fault +4", &[&at("Approve", "Failed", 3)]);
    breaks_numbers("ended +8", "ended +9", &[&at("Serve", "Ended", 8)]);
    breaks_numbers(
        "resume %2.from, %2.to, %2.amount +1",
        "resume %2.from, %2.to, %2.amount",
        &["function `Serve`: a resume adds 0 where 1 paths go on without it"],
    );
    breaks_numbers(
        "paths 4/25/8\n  %1 = node Read",
        "paths 4/25/9\n  %1 = node Read",
        &[
            "function `Serve`: 8 paths lead to exit Ended, and it says 9",
            "function `Listen_run`: the radix of step %2 is not the number of its callee's paths",
        ],
    );
    let fault = "paths 1/1/0\n  %1 = node Beat";
    breaks_numbers(fault, "paths 1/1/0 fault +0\n  %1 = node Beat", &[&at("Beat_run", "Failed", 1)]);
}

#[test]
fn calls_carry_path_numbers_and_nothing_else_does() {
    breaks_numbers(
        "paths 4/25/8 else",
        "paths 4/25/7 else",
        &[
            "function `Listen_run`: the radix of step %2 is not the number of its callee's paths",
            "function `Listen_run`: 7 paths lead to exit Ended, and it says 8",
        ],
    );
    breaks_numbers(
        "paths save 2/4/0 else",
        "paths 2/4/0 else",
        &["function `Serve`: step %3 loses the path register of its caller"],
    );
    breaks_numbers(
        "%1 = node Beat() else",
        "%1 = node Beat() paths 1/1/0 else",
        &["function `Beat_run`: step %1 calls no function and has path numbers"],
    );
}

/// Functions `F0`, `F1`, …, `F6`, each of which calls the one before twice, so that 2 paths become 4, 16, …, 2^64.
fn squares() -> Flow {
    let mut text =
        "program p\npredicate t = test\nnode F0 (int x) => (int x) {\nflow [t] =\nflow [_] =\n}\n".to_owned();
    for index in 1..=6 {
        text += &format!("node F{index} (int x) => (int x) {{\nflow = F{0} -> F{0}\n}}\n", index - 1);
    }
    text += "function F0 (int x) => (int x) {\nabstract F0\ndispatch {\nline t(in.x) => done 1\nline => done 2\n}\n}\n";
    for index in 1..=6 {
        let called = index - 1;
        text += &format!("function F{index} (int x) => (int x) {{\nabstract F{index}\n");
        text += &format!(
            "%1 = function F{called}(in.x) else failed\n%2 = function F{called}(%1.x) else failed\ndone %2.x\n}}\n"
        );
    }
    let mut flow = parse_flow(&text).unwrap();
    paths::number(&mut flow);
    flow
}

#[test]
fn calls_are_cut_exactly_where_numbers_would_not_fit() {
    let flow = squares();
    assert_eq!(messages(verify::flow(&flow, Stage::Numbered)), [""; 0]);
    let paths: Vec<u64> = flow.functions.iter().map(|(_, function)| function.paths.done).collect();
    assert_eq!(paths, [2, 4, 16, 256, 65536, 1 << 32, 1 << 32]);

    let found = |function: usize, paths: StepPaths| {
        let mut flow = flow.clone();
        flow.functions[FunctionId::new(function)].body.steps[1].paths = paths;
        messages(verify::flow(&flow, Stage::Numbered)).remove(0)
    };
    let radix = |done| Exits { done, ..Exits::default() };
    let cut = StepPaths { save: true, cut: true, radix: radix(1), ended_offset: 0 };
    let whole = StepPaths { cut: false, radix: radix(1 << 32), ..cut };
    assert_eq!(flow.functions[FunctionId::new(6)].body.steps[1].paths, cut);
    let wrong =
        |name: &str| format!("function `{name}`: step %2 is cut where numbers fit, or not cut where they do not");
    assert_eq!(found(6, whole), wrong("F6"));
    assert_eq!(found(5, cut), wrong("F5"));
    let other = "function `F6`: the radix of step %2 is not the number of its callee's paths";
    assert_eq!(found(6, StepPaths { radix: radix(2), ..cut }), other);
    let lost = "function `F6`: step %2 loses the path register of its caller";
    assert_eq!(found(6, StepPaths { save: false, ..cut }), lost);
}

/// What does not hold at a stage does not hold at a later one.
fn later_stages_hold_no_more(flow: &Flow) -> Result<(), TestCaseError> {
    let holds = [
        verify::program(&flow.program, Stage::Resolved).is_empty(),
        verify::program(&flow.program, Stage::Typed).is_empty(),
        verify::flow(flow, Stage::Lowered).is_empty(),
        verify::flow(flow, Stage::Finished).is_empty(),
    ];
    prop_assert!(holds.is_sorted_by(|earlier, later| earlier >= later), "{:?}", holds);
    let parts = [Stage::Numbered, Stage::Ordered].map(|stage| verify::flow(flow, stage).is_empty());
    prop_assert_eq!(parts.into_iter().all(|holds| holds), verify::flow(flow, Stage::Finished).is_empty());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever text is given to `flux ir`, judging it does not panic.
    #[test]
    fn any_flow_can_be_judged(
        bank in any::<bool>(), edits in prop::collection::vec((any::<prop::sample::Index>(), "[0-9a-z%#.+ ]"), 1..4),
    ) {
        let mut text = if bank { BANK } else { IMAGE }.to_owned();
        for (at, what) in edits {
            let at = at.index(text.len());
            text.replace_range(at..=at, &what);
        }
        if let Ok(flow) = parse_flow(&text) {
            later_stages_hold_no_more(&flow)?;
        }
    }

    #[test]
    fn any_random_flow_can_be_judged(choices in random::choices()) {
        let flow = random::any_flow(&mut random::Choices::new(&choices));
        later_stages_hold_no_more(&flow)?;
    }
}

#[test]
fn a_deadline_is_a_time_above_0_or_an_option_that_is_a_duration() {
    let wrong = "a step has a deadline that is no duration";
    for (within, expected) in [
        ("1", None),
        ("300", None),
        ("option patience", None),
        ("0", Some(wrong)),
        ("-1", Some(wrong)),
        ("true", Some(wrong)),
        ("\"1\"", Some(wrong)),
        ("option port", Some(wrong)),
        ("option #7", Some(wrong)),
    ] {
        let options = "option patience duration\noption port int\n";
        let text = format!("{options}node A () => ()\nnode B () => () {{\nflow = A within {within}\n}}");
        program_breaks(Stage::Resolved, &text, expected.as_slice());
    }
}

/// A flow whose step runs a function for each element of a list.
const EACH: &str = "program p
constraint c program
node S (list<text> lines, int total) => (list<bool> long, int total)
node Add (text line, int total) => (bool long, int total) {
  holds c!
}
function S_each_1 (text line, int total) => (bool long, int total) {
  branch S
  %1 = node Add(in.line, in.total) holding c! else failed
  done %1.long, %1.total
}
function S (list<text> lines, int total) => (list<bool> long, int total) {
  abstract S
  %1 = each S_each_1 (list<text> lines, int total) => (list<bool> long, int total) loop carrying 1 as 1 \
    (in.lines, in.total) else failed
  done %1.0, %1.1
}
";

#[test]
fn an_each_step_takes_and_gives_what_its_instances_do_for_one_element() {
    let text = EACH.replace("=> (list<bool> long, int total)\n", "=> (list<bool> long, int total) {\nflow = Add\n}\n");
    let found = |old: &str, new: &str| {
        assert_eq!(text.matches(old).count(), 1, "`{old}` is not there once");
        let flow = parse_flow(&text.replace(old, new)).unwrap();
        let found = messages(verify::flow(&flow, Stage::Ordered));
        found.into_iter().filter(|one| one.starts_with("function `S`") || one.contains("width")).collect::<Vec<_>>()
    };
    assert_eq!(found("loop carrying 1 as 1", "loop carrying 1 as 1"), [""; 0]);
    let gives = "function `S`: its instances do not give what it gives";
    let hands_on = "function `S`: an instance hands on what the next one does not take";
    for (old, new, expected) in [
        ("loop carrying 1 as 1", "loop", gives),
        ("loop carrying 1 as 1", "in turn", gives),
        ("loop carrying 1 as 1", "loop carrying 1 as 0", hands_on),
        ("loop carrying 1 as 1", "loop carrying 1 as 7", hands_on),
        (
            "loop carrying 1 as 1",
            "loop carrying 1 as 1, 1 as 1",
            "function `S`: an instance hands on two values as one",
        ),
        (
            "each S_each_1 (list<text> lines, int",
            "each S_each_1 (list<text> lines, bool",
            "function `S`: its instances do not take what it takes",
        ),
        ("each S_each_1", "each S", "function `S`: it calls a function that does not come before it"),
        (
            "(in.lines, in.total)",
            "(in.total, in.lines)",
            "function `S`: the callee of step %1 takes `list<text>` as `lines` and gets `int`",
        ),
    ] {
        assert!(found(old, new).contains(&expected.to_owned()), "`{old}` made `{new}`: {:?}", found(old, new));
    }
    let wide =
        text.replace("list<bool> long, int total) loop carrying 1 as 1", "list<bool> long, list<int> total) at once 1");
    let flow = parse_flow(&wide).unwrap();
    let found = messages(verify::flow(&flow, Stage::Lowered));
    assert!(found.contains(&"an each step has a width that is no number above 1".to_owned()), "{found:?}");
}
