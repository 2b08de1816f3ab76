//! The functions in C and C++: each rule of the verifier is broken once, and the text form says which there are.

use flux_ir::external::ExternalRole;
use flux_ir::program::Program;
use flux_ir::text::{Options, parse_flow, parse_program};
use flux_ir::verify::{self, Stage};

/// One of each kind that names a function, which is right.
const RIGHT: &str = "external hit predicate
external User session
external Log handler
external A node pure
external B node
predicate hit = hit
node A (int x) => (int x)
node B (int x) => ()
node C (int x) => () {
flow [hit] = %1 A takes (in.x) -> %2 B takes (%1.x) gives ()
flow [_] = %1 B takes (in.x) gives ()
}
node S () => (int x) {
flow =
}
source S => C takes (in.x) session User
handle error A => function Log";

fn read(statements: &str) -> Program {
    parse_program(&format!("program p\n{statements}")).unwrap()
}

/// What is wrong with [`RIGHT`] once `old` is `new`.
fn broken(old: &str, new: &str) -> Vec<String> {
    assert_eq!(RIGHT.matches(old).count(), 1, "`{old}` is not there once");
    let violations = verify::program(&read(&RIGHT.replace(old, new)), Stage::Resolved);
    violations.into_iter().map(|violation| violation.message).collect()
}

#[test]
fn what_names_a_function_names_one_that_is_for_it() {
    assert_eq!(verify::program(&read(RIGHT), Stage::Resolved), []);
    assert_eq!(broken("= hit", "= #7"), ["there is no external #7"]);
    assert_eq!(broken("= hit", "= #2"), ["the handler `Log` is named as a predicate"]);
    assert_eq!(broken("session User\n", "session #0\n"), ["the predicate `hit` is named as a session"]);
    assert_eq!(broken("function Log", "function #1"), ["the session `User` is named as a handler"]);
    assert_eq!(
        broken("(int x) => (int x)\nnode B", "(int x) => (int x) calls #9\nnode B"),
        ["there is no external #9", "the function `A` is one of a node, and no node has it"]
    );
    assert_eq!(
        broken("node B (int x) => ()", "node B (int x) => () calls #2"),
        [
            "the handler `Log` is named as a node",
            "the function of `B` is called otherwise",
            "the function `B` is one of a node, and no node has it"
        ]
    );
}

#[test]
fn a_name_and_a_role_mean_one_function_and_that_of_a_node_is_its_own() {
    let twice = ["two functions of the role handler are called `Log`"];
    assert_eq!(broken("external Log handler", "external Log handler\nexternal Log handler"), twice);
    assert_eq!(broken("external Log handler", "external Log handler\nexternal Log predicate"), [""; 0]);
    let unused = ["the function `Q` is one of a node, and no node has it"];
    assert_eq!(broken("external B node", "external B node\nexternal Q node"), unused);
    assert_eq!(
        broken("node B (int x) => ()", "node B (int x) => () calls #3"),
        [
            "`B` has the function of another",
            "the function of `B` is called otherwise",
            "the function `B` is one of a node, and no node has it"
        ]
    );
}

#[test]
fn what_is_pure_neither_shares_nor_waits() {
    let bound = |text: &str| {
        let violations = verify::program(&read(text), Stage::Bound);
        violations.into_iter().map(|violation| violation.message).collect::<Vec<_>>()
    };
    let right = "constraint c program\nnode A () => () pure\nnode B () => () silent {\nholds c!\n}\n\
                 node D () => () blocking silent";
    assert_eq!(bound(right), [""; 0]);
    let wrong = ["`A` is pure, and shares something or waits"];
    assert_eq!(bound("node A () => () blocking pure"), wrong);
    assert_eq!(bound("constraint c program\nnode A () => () pure {\nholds c?\n}"), wrong);
}

#[test]
fn a_function_is_called_by_itself_only_where_its_purpose_is() {
    let flow = |callee: &str| {
        let text = format!(
            "program p\n{}\nnode F () => () {{\nflow =\n}}\n\
             function F () => () {{\nabstract F\n%1 = {callee}() else failed\ndone\n}}\n",
            "external N node\nexternal Q predicate\nnode N () => ()"
        );
        let violations = verify::flow(&parse_flow(&text).unwrap(), Stage::Lowered);
        violations.into_iter().map(|violation| violation.message).collect::<Vec<_>>()
    };
    assert_eq!(flow("node N"), [""; 0]);
    assert_eq!(flow("handler #0 for N"), ["function `F`: it calls the node `N` by itself"]);
    assert_eq!(flow("session #1 for N"), ["function `F`: it calls the predicate `Q` by itself"]);
    assert_eq!(flow("handler #9 for N"), ["function `F`: there is no external #9"]);
}

#[test]
fn functions_are_listed_only_where_naming_them_does_not_say_it() {
    let printed = |text: &str| Options { spans: false }.print_program(&read(text));
    let has_list = |text: &str| printed(text).contains("external");
    assert!(!has_list(RIGHT), "{}", printed(RIGHT));
    assert!(printed(RIGHT).contains("node A (int x) => (int x) pure\n"));
    for text in [
        // In another order, one more, two of one name, and a promise that nobody else could say.
        "external B node\nexternal A node\nnode A\nnode B",
        "external A handler\nnode A",
        "external A node\nexternal A node\nnode A\nnode B calls #1",
        "external H handler silent\nnode A\nhandle error A => function H",
    ] {
        assert!(has_list(text), "{}", printed(text));
        assert_eq!(read(printed(text).strip_prefix("program p\n").unwrap()), read(text));
    }
}

#[test]
fn a_plain_function_passes_what_its_node_has() {
    let typed = |plain: &str| {
        let text = format!("external A node plain {plain} \"\"\nnode A (int x, int y) => (int z)");
        let violations = verify::program(&read(&text), Stage::Typed);
        violations.into_iter().map(|violation| violation.message).collect::<Vec<_>>()
    };
    let wrong = ["the plain function of `A` passes something else"];
    for right in ["output (value, moved)", "expected_output (value, address)", "error (value, value, value)"] {
        assert_eq!(typed(right), [""; 0], "{right}");
    }
    for plain in ["output (value)", "error (value, value)", "nothing ()"] {
        assert_eq!(typed(plain), wrong, "{plain}");
    }
}

#[test]
fn handlers_take_structs_and_modules_are_in_cpp() {
    let resolved = |line: &str| {
        let violations = verify::program(&read(line), Stage::Resolved);
        violations.into_iter().map(|violation| violation.message).collect::<Vec<_>>()
    };
    assert_eq!(resolved("external H handler c"), [""; 0]);
    assert_eq!(resolved("external P predicate c plain output () \"bool P(int)\""), [""; 0]);
    let plain = "external H handler plain nothing () \"void H(int)\"";
    assert_eq!(resolved(plain), ["the handler `H` takes values one by one"]);
    assert_eq!(resolved("external m.P predicate c"), ["the function `m.P` is of a module, and written in C"]);
}

#[test]
fn a_function_template_is_one_of_a_node_and_takes_values_one_by_one() {
    let resolved = |external: &str| {
        let text = format!(
            "external {external}\nexternal H handler\nnode A () => () calls #0\nnode C () => () {{\ncompute {{\n}}\n}}"
        );
        let violations = verify::program(&read(&text), Stage::Resolved);
        violations.into_iter().map(|violation| violation.message).collect::<Vec<_>>()
    };
    let plain = "plain nothing () \"\"";
    assert_eq!(resolved(&format!("T <\"int8\"> node {plain}")), [""; 0]);
    assert_eq!(resolved(&format!("T <\"int8\"> (#1) node {plain}")), [""; 0]);
    let none = "the function template `T` is no node that takes values one by one";
    assert_eq!(resolved("T <\"int8\"> node"), [none]);
    assert_eq!(resolved(&format!("T <\"int8\"> predicate {plain}"))[0], none);
    let calls = |name| [format!("`{name}` calls what is no computed node, or is no function template")];
    assert_eq!(resolved(&format!("T <\"int8\"> (#0) node {plain}")), calls("T"));
    assert_eq!(resolved(&format!("A (#1) node {plain}")), calls("A"));
}

#[test]
fn each_role_has_a_word_of_its_own() {
    let text = ExternalRole::ALL.map(|role| format!("external X {}\n", role.name())).concat();
    assert!(read(&text).externals.iter().map(|(_, one)| one.role).eq(ExternalRole::ALL));
    let error = |line: &str| parse_program(&format!("program p\n{line}")).unwrap_err().to_string();
    let role = "line 2: a function is for a `node`, a `predicate`, a `handler` or a `session`";
    assert_eq!(error("external X"), role);
    let promise = "line 4: only a function in C or C++ is called, or promises something";
    assert_eq!(error("node A () => () pure {\nflow =\n}"), promise);
}
