//! The premise of the theorem that no program can deadlock: each part of it is broken by one change to a flow.

use flux_ir::paths;
use flux_ir::text::parse_flow;
use flux_ir::verify::{self, Stage};

/// Constraints of each scope, nests, a key that is passed on, a handler, branches of which one waits for another.
const ORDERED: &str = include_str!("ordered.ir");

#[track_caller]
fn violations(text: &str) -> Vec<String> {
    let mut flow = parse_flow(text).unwrap();
    paths::number(&mut flow);
    verify::flow(&flow, Stage::Finished).into_iter().map(|violation| violation.message).collect()
}

/// Holds what is wrong once `old`, which is there once, is `new` to what is expected.
#[track_caller]
fn breaks(old: &str, new: &str, expected: &[&str]) {
    assert_eq!(ORDERED.matches(old).count(), 1, "`{old}` is not there once");
    let mut found = violations(&ORDERED.replace(old, new));
    found.sort();
    assert_eq!(found, expected, "`{old}` made `{new}`");
}

#[test]
fn an_ordered_flow_is_accepted() {
    assert_eq!(violations(ORDERED), [""; 0]);
}

#[test]
fn an_acquisition_exceeds_all_that_is_held() {
    let late = "function `Inner`: `a` is taken while `a` is held";
    breaks("holding visitor! else {", "holding a?, visitor! else {", &[late]);
    // By name within a scope.
    let outer = "%1 = function Inner(in.key) else";
    let text = ORDERED.replace("Outer(in.key) holding a!", "Outer(in.key) holding b!");
    let mut found = violations(&text.replace(outer, &outer.replace(" else", " holding a! else")));
    found.sort();
    let expected = [
        "function `Inner`: `b` is taken while `b` is held",
        "function `Listen_run`: `Outer` is called without `a` held as it must be",
        "function `Outer`: `a` is taken while `b` is held",
    ];
    assert_eq!(found, expected);
    // By scope before name: `visitor` is of a session, `b` of the program.
    let late = "function `Pair`: `b` is taken while `visitor` is held";
    breaks("%4 = function Pair(in.key) else", "%4 = function Pair(in.key) holding visitor! else", &[late]);
    // Another key of a constraint, and even the same one, is not taken inside.
    let late = "function `Both_branch_1`: `account` is taken while `account` is held";
    let branch = "branch Both held account!(in.key)\n  %1 = node Look(in.key)";
    breaks(branch, &format!("{branch} holding account?(7)"), &[late]);
}

#[test]
fn two_keys_of_one_constraint_are_taken_in_one_step() {
    breaks("holding account!(in.key) else", "holding account!(in.key), account?(7) else", &[]);
}

#[test]
fn what_a_node_requires_is_held_around_its_call() {
    let look = "%3 = node Look(in.key) holding account?(in.key)";
    let without = "function `Inner`: `Look` is called without `account` held as it must be";
    breaks(look, "%3 = node Look(in.key)", &[without]);
    breaks(look, "%3 = node Look(in.key) holding account?(7)", &[without]);
    breaks(look, "%3 = node Look(7) holding account?(7)", &[]);
    let weak = "function `Inner`: `Other` is called without `visitor` held as it must be";
    breaks("holding visitor! else {", "holding visitor? else {", &[weak]);
    // A handler's inputs are those of the step that failed, and it runs with what is held around that step.
    let handler = "%2 = node Count(in.key) holding b! else failed";
    let without = "function `Inner`: `Count` is called without `b` held as it must be";
    breaks(handler, "%2 = node Count(in.key) else failed", &[without]);
    let kept = "%2 = node Look(in.key) holding account?(in.key) else failed";
    breaks(handler, kept, &[]);
    let inner = "%2 = node Other(in.key) else failed";
    let without = "function `Inner`: `Other` is called without `visitor` held as it must be";
    breaks(handler, inner, &[without]);
}

#[test]
fn a_key_is_known_by_the_origin_of_its_value() {
    let call = "%3 = function Both(in.key) holding account!(in.key)";
    breaks(
        call,
        "%3 = function Both(in.key) holding account!(7)",
        &[
            "function `Both_branch_1`: `Look` is called without `account` held as it must be",
            "function `Both_branch_1`: `account` is not held by a caller",
            "function `Both`: `account` is not held by a caller",
            "function `Listen_run`: `Both` is called without `account` held as it must be",
        ],
    );
    breaks(call, "%3 = function Both(7) holding account!(7)", &[]);
}

#[test]
fn what_a_function_says_is_held_is_held_by_every_caller() {
    let session = "  %2 = function Outer(in.key) holding a! else failed\n";
    let weak = session.replace("a!", "a?");
    let claim = "function `Inner`: `a` is not held by a caller";
    breaks(session, &weak, &[claim, "function `Listen_run`: `Outer` is called without `a` held as it must be"]);
    // A second caller that holds nothing, though the first does.
    let second = format!("{session}  %5 = function Inner(in.key) else failed\n");
    let without = "function `Inner`: `Count` is called without `a` held as it must be";
    breaks(
        session,
        &second,
        &[without, claim, "function `Listen_run`: `Inner` is called without `a` held as it must be"],
    );
    // What nobody calls is called with nothing held.
    breaks(session, "", &[without, claim, "function `Outer`: `Inner` is called without `a` held as it must be"]);
}

#[test]
fn branches_that_conflict_wait_for_each_other() {
    let message = "function `Pair`: branches 0 and 1 may be inside `b` at once";
    breaks("& Pair_branch_1 after 0(in.key)", "& Pair_branch_1(in.key)", &[message]);
    // Waiting for one that waits is enough; waiting for another than the one in conflict is not.
    let three = "& Pair_branch_1 after 0 & Pair_branch_1 after 1(in.key)";
    breaks("& Pair_branch_1 after 0(in.key)", three, &[]);
    let message = "function `Pair`: branches 1 and 2 may be inside `b` at once";
    let three = "& Pair_branch_1 after 0 & Pair_branch_1 after 0(in.key)";
    breaks("& Pair_branch_1 after 0(in.key)", three, &[message]);
}

#[test]
fn instances_that_conflict_with_themselves_do_not_run_at_once() {
    let text = |order: &str, mode: &str, key: &str| {
        format!(
            "program p\nconstraint c keyed\n\
             node S (std::vector<int> keys, int key) => () {{\nholds c!(in.key)\nflow = Add\n}}\n\
             node Add (int one, int key) => () {{\nholds c{mode}({key})\n}}\n\
             function S_each_1 (int one, int key) => () {{\nbranch S held c{mode}(in.key)\n\
             %1 = node Add(in.one, in.key) else failed\ndone\n}}\n\
             function S (std::vector<int> keys, int key) => () {{\nabstract S held c!(in.key)\n\
             %1 = each S_each_1 (std::vector<int> keys, int key) => () {order} (in.keys, in.key) else failed\n\
             done\n}}\n\
             node Go () => (std::vector<int> keys, int key)\n\
             node All (std::vector<int> keys, int key) => () {{\nflow = S\n}}\n\
             function All (std::vector<int> keys, int key) => () {{\nabstract All\n\
             %1 = function S(in.keys, in.key) holding c!(in.key) else failed\ndone\n}}\n"
        )
    };
    let clash = "function `S`: two instances may be inside `c` at once";
    assert_eq!(violations(&text("at once 2", "!", "in.key")), [clash]);
    assert_eq!(violations(&text("at once 2", "?", "in.key")), [""; 0]);
    assert_eq!(violations(&text("in turn", "!", "in.key")), [""; 0]);
    assert_eq!(violations(&text("loop", "!", "in.key")), [""; 0]);
    // An element is no value that is there around the step.
    let without = "function `S_each_1`: `Add` is called without `c` held as it must be";
    assert_eq!(violations(&text("loop", "!", "in.one")), [without]);
}

#[test]
fn keys_that_may_be_equal_conflict() {
    let branches = |first: &str, second: &str| {
        let text = ORDERED.replace("holds account?(in.key)", "holds account!(in.key)").replace("account?", "account!");
        let one = "function Both_branch_1 (int key) => () {\n  branch Both held account!(in.key)\n  \
            %1 = node Look(in.key) else failed\n  done\n}\n";
        let branch = |number: usize, key: &str| {
            one.replace("branch_1", &format!("branch_{number}"))
                .replace("held account!(in.key)", &format!("held account!({key})"))
                .replace("Look(in.key)", &format!("Look({key})"))
        };
        let text = text.replace(one, &format!("{}\n{}", branch(1, first), branch(2, second)));
        let text = text.replace("fork Both_branch_1 & Both_branch_1(", "fork Both_branch_1 & Both_branch_2(");
        text.replace(
            "abstract Both held account!(in.key)",
            "abstract Both held account!(in.key), account!(7), account!(8)",
        )
        .replace(
            "Both(in.key) holding account!(in.key)",
            "Both(in.key) holding account!(in.key), account!(7), account!(8)",
        )
    };
    let message = "function `Both`: branches 0 and 1 may be inside `account` at once";
    assert_eq!(violations(&branches("in.key", "7")), [message]);
    assert_eq!(violations(&branches("7", "7")), [message]);
    assert_eq!(violations(&branches("7", "8")), [""; 0]);
}

#[test]
fn what_is_held_for_a_session_is_held_where_there_is_one() {
    let run = "  %1 = session session_of for All(in.key) else failed\n";
    let without = "function `Listen_run`: `visitor` is taken where there is no session";
    breaks(run, "", &[without]);
    // It is known once its function was called, and what runs before that has none.
    let pair = "  %4 = function Pair(in.key) else failed\n";
    let late = ORDERED.replace(run, "").replace(pair, &format!("{pair}{run}"));
    assert_eq!(violations(&late), [without]);
    // In a handler, too, whatever it is a handler of; and never inside the source.
    let handler = "%2 = node Other(in.key) holding visitor! else failed";
    let text = ORDERED.replace("%2 = node Count(in.key) holding b! else failed", handler);
    let text = text.replace("%1 = node Other(in.key) holding visitor! else {", "%1 = node Listen() else {");
    let text = text.replace("  holds a?\n  flow = %1 Other", "  holds a?\n  flow = %1 Listen");
    assert_eq!(violations(&text), [""; 0]);
    assert_eq!(violations(&text.replace(run, "")), [without]);
    let listen = "%1 = node Listen() else failed\n  done %1.key";
    breaks(
        listen,
        &format!("%2 = node Other(7) holding visitor! else failed\n  {listen}"),
        &["function `Listen_produce`: `visitor` is taken where there is no session"],
    );
}

/// `A = B -> B` two thousand times over: 2^2000 calls, and one context for each function.
#[test]
fn shared_nodes_are_walked_once_for_each_context() {
    let mut text = "program p\nconstraint c program\nconstraint k keyed\n".to_owned();
    text += "node N0 (int x) => (int x) {\nholds k!(in.x)\n}\n";
    for index in 1..=2000 {
        text += &format!("node N{index} (int x) => (int x) {{\nflow = N{0} -> N{0}\n}}\n", index - 1);
    }
    let call = |id: usize, callee: usize, input: &str| match callee {
        0 => format!("%{id} = node N0({input}) holding k!({input}) else failed\n"),
        callee => format!("%{id} = function N{callee}({input}) else failed\n"),
    };
    for index in 1..=2000 {
        let (first, second) = (call(1, index - 1, "in.x"), call(2, index - 1, "%1.x"));
        text += &format!("function N{index} (int x) => (int x) {{\nabstract N{index}\n{first}{second}done %2.x\n}}\n");
    }
    assert_eq!(violations(&text), [""; 0]);
}
