//! The text form prints what a person likes to read, parses back to an equal value, and says where a text is wrong.

use crate::random;
use flux_ir::error_code::ErrorPart;
use flux_ir::flow::{Callee, End, Flow, Operand};
use flux_ir::program::{Constant, Program};
use flux_ir::text::{self, NESTING_LIMIT, Options};
use flux_source::{FileId, Span};
use proptest::prelude::*;

const IMAGE: &str = include_str!("image.ir");

#[test]
fn the_image_server_prints_as_it_was_parsed() {
    let flow = text::parse_flow(IMAGE).unwrap();
    assert_eq!(flow.program.nodes.len(), 10);
    assert_eq!(flow.functions.len(), 4);
    assert_eq!(text::print_flow(&flow), IMAGE);
    let program = IMAGE.split("\nfunction").next().unwrap();
    assert_eq!(text::print_program(&flow.program), program);
    assert_eq!(text::parse_program(program), Ok(flow.program));
}

/// The error that parsing `flow` gives, as a user sees it.
fn error(flow: &str) -> String {
    text::parse_flow(flow).unwrap_err().to_string()
}

/// A flow with one function `F` whose body is `lines`.
fn with_body(lines: &str) -> String {
    format!(
        "program p\npredicate big = is_big\nconstraint account keyed\n\
         node N (int a, T *b) => (int c)\nnode F () => ()\n\
         function F (int x, int x, int y) => () {{\nabstract F\n{lines}\n}}\n"
    )
}

/// The operands of the first step of `lines`.
fn operands(lines: &str) -> Vec<Operand> {
    let flow = text::parse_flow(&with_body(lines)).unwrap();
    flow.functions.iter().next().unwrap().1.body.steps[0].inputs.clone()
}

#[test]
fn operands_are_named_by_the_parameter_they_stand_for() {
    let flow = with_body(
        "%7 = node N(in.y, in.1) else {\n%8 = node N(%7.changed.b, error of %7) else failed\nresume %8.c\n}\ndone",
    );
    let flow = text::parse_flow(&flow).unwrap();
    let step = &flow.functions.iter().next().unwrap().1.body.steps[0];
    assert_eq!(step.inputs, [Operand::Input(2), Operand::Input(1)]);
    let handler = &step.failure.steps[0];
    assert_eq!(handler.inputs, [Operand::Changed(step.id, 1), Operand::Error(step.id, ErrorPart::Code)]);
    assert_eq!(step.failure.end, End::Resume { values: vec![Operand::Output(handler.id, 0)], offset: 0 });
    let printed = text::print_flow(&flow);
    assert!(
        printed.contains("%7 = node N(in.y, in.1) else {\n    %8 = node N(%7.changed.b, error of %7) else failed"),
        "{printed}"
    );
}

#[test]
fn the_first_of_equal_names_is_meant_and_the_others_go_by_index() {
    assert_eq!(operands("%1 = node N(in.x, in.1) else failed\ndone"), [Operand::Input(0), Operand::Input(1)]);
    let program = "program p\n\nnode A\nnode A\n\nsource A => #1\nsource #7 => A\n";
    assert_eq!(text::print_program(&text::parse_program(program).unwrap()), program);
}

#[test]
fn constants_keep_their_values() {
    let constants = operands(
        r#"%1 = node N(-9223372036854775808, "a\"\\\n\r\t\u{1b}@//é", true, false, 7) else failed
done"#,
    );
    let constants = constants.into_iter().map(|operand| match operand {
        Operand::Constant(constant) => constant,
        other => panic!("{other:?} is no constant"),
    });
    let expected = [
        Constant::Integer(i64::MIN),
        Constant::Text("a\"\\\n\r\t\u{1b}@//é".to_owned()),
        Constant::Boolean(true),
        Constant::Boolean(false),
        Constant::Integer(7),
    ];
    assert_eq!(constants.collect::<Vec<_>>(), expected);
    assert!(error(&with_body("%1 = node N(9223372036854775808, 1) else failed\ndone")).contains("64 bits"));
}

#[test]
fn modules_and_options_print_as_they_were_parsed() {
    let text = "program p\n\nmodule files\nmodule http {\n  use files\n  include \"http.h\"\n}\nuse http\n\
                include \"page.h\"\noption http.idle duration = 30000\noption root path\n\n\
                node http.Listen (int port, char *root) => () blocking\nnode Page () => () replicable\n\n\
                source http.Listen(80, option root) => Page\n";
    let program = text::parse_program(text).unwrap();
    assert_eq!(text::print_program(&program), text);
    assert_eq!(program.modules.iter().nth(1).unwrap().1.uses, [program.modules.ids().next().unwrap()]);
    let error = |text: &str| text::parse_program(&format!("program p\n{text}")).unwrap_err().to_string();
    assert_eq!(error("option a text"), "line 2: an option is an int, a string, a path, a bool, a duration or a size");
    assert_eq!(error("option a int = option a"), "line 2: nothing is called `a` here; expected an option");
    assert_eq!(error("module a {\nnode B\n}"), "line 3: expected `include`, found `node B`");
}

#[test]
fn spans_stand_at_the_end_of_a_line_in_the_order_of_what_they_belong_to() {
    let text = "program p\n\nconstraint c program  @0:1-2\n\nnode A (int x) => (int y)  @0:3-9 4-5 1:6-7\n\
                node B (int x) => (int y) {  @0:10-19 0-0 0-0\n  holds c!  @0:20-21\n\
                \x20 flow = %1 (%2 A & ) -> %3 A  @0:30-39 30-33 31-32 31-32 33-33 38-39\n}\n";
    let program = text::parse_program(text).unwrap();
    assert_eq!(text::print_program(&program), text);
    let (_, node) = program.nodes.iter().next().unwrap();
    assert_eq!(node.outputs()[0].span, Span { file: FileId(1), start: 6, end: 7 });
    let bare = Options { spans: false }.print_program(&program);
    assert!(!bare.contains('@'), "{bare}");
    let parsed = text::parse_program(&bare).unwrap();
    assert_ne!(parsed, program);
    assert_eq!(text::print_program(&parsed), bare);
}

#[test]
fn comments_and_blank_lines_are_skipped() {
    let text = "// what it is\n\nprogram p // its name\r\n  // nothing here\nnode A // @0:1-2\n";
    let program = text::parse_program(text).unwrap();
    assert_eq!(program.node_named("A").map(|id| program.nodes[id].span), Some(Span::default()));
}

#[test]
fn errors_name_the_line_and_what_is_wrong() {
    let expect = |text: &str, message: &str| assert_eq!(error(text), message, "{text}");
    expect("", "line 1: the text is empty");
    expect("node A", "line 1: expected `program`, found `node A`");
    expect("program p\nnoode A", "line 2: expected a statement, a function or an entry, found `noode A`");
    expect("program p\nnode A (int) => ()", "line 2: expected a type and a name, found `int) => ()`");
    expect("program p\nnode A\n\nsource A => B", "line 4: nothing is called `B` here; expected a node");
    expect("program p\nconstraint c local", "line 2: a constraint's scope is `program`, `session` or `keyed`");
    expect("program p\ninclude \"a", "line 2: the quoted text is not closed, or has an unknown escape");
    expect("program p\nnode A {\n  flow = A", "line 3: the text ends before a `}`");
    expect("program p\nnode A {\nflow = A\nflow [] =\n}", "line 4: a node with several flows has patterns on each");
    expect("program p\nnode A  @0:1-2 3-4", "line 2: more spans than things on the line");
    expect("program p\nnode A (int x) => ()  @0:1-2", "line 2: fewer spans than things on the line");
    expect("program p\nnode A  @1-2", "line 2: the first span of a line names its file");
    expect(&with_body("%1 = node N(in.z, 1) else failed\ndone"), "line 8: no parameter is called `z` there");
    expect(&with_body("%1 = node N(%9.c, 1) else failed\ndone"), "line 8: no parameter is called `c` there");
    expect(
        &with_body("%1 = N(1, 1) else failed\ndone"),
        "line 8: a step calls a `node`, `function`, `fork`, `each`, `handler` or `session`",
    );
    expect(&with_body("done\nfailed"), "line 9: expected `}`, found `failed`");
    expect(
        &with_body("dispatch {\nunmatched\nline => done\n}"),
        "line 10: expected `}` after `unmatched`, found `line => done`",
    );
}

#[test]
fn nesting_is_bounded() {
    let parallel = |depth: usize| {
        format!("program p\nnode A\nnode B {{\nflow = {}A{}\n}}\n", "(".repeat(depth), ")".repeat(depth))
    };
    assert!(text::parse_program(&parallel(NESTING_LIMIT)).is_ok());
    assert!(error(&parallel(NESTING_LIMIT + 1)).contains("nested too deep"));
    assert!(error(&parallel(100_000)).contains("nested too deep"));
    let blocks = |depth: usize| {
        let open: String = (0..depth).map(|step| format!("%{step} = node N(1, 1) else {{\n")).collect();
        with_body(&format!("{open}failed\n{}", "}\ndone\n".repeat(depth)))
    };
    let flow = text::parse_flow(&blocks(NESTING_LIMIT)).unwrap();
    assert_eq!(text::parse_flow(&text::print_flow(&flow)), Ok(flow));
    assert!(error(&blocks(NESTING_LIMIT + 1)).contains("nested too deep"));
    assert!(error(&blocks(100_000)).contains("nested too deep"));
    let choices = |depth: usize| {
        let open = "if [] truth:\"bool\" true {\n}\nelse {\n".repeat(depth);
        format!("program p\nmessage m () max 1 {{\n{open}{}}}\n", "}\n".repeat(depth))
    };
    assert_eq!(text::parse_program(&choices(NESTING_LIMIT)).err(), None);
    assert!(error(&choices(100_000)).contains("nested too deep"));
}

#[test]
fn what_does_not_hold_can_be_said_too() {
    // Tests of the verifier are written in this form, so it takes flows that are not well-formed.
    let flow =
        with_body("%1 = function #99() holding #3!(in.77) else failed\n%1 = fork F & F() else resume\ndone %5.2");
    let flow = text::parse_flow(&flow).unwrap();
    let (_, function) = flow.functions.iter().next().unwrap();
    assert_eq!(function.body.steps[0].acquire[0].key, [Operand::Input(77)]);
    assert!(matches!(&function.body.steps[1].callee, Callee::Fork(branches) if branches.len() == 2));
    assert_eq!(text::parse_flow(&text::print_flow(&flow)), Ok(flow));
}

fn assert_program_round_trip(program: &Program) {
    let printed = text::print_program(program);
    assert_eq!(text::parse_program(&printed).as_ref(), Ok(program), "{printed}");
}

fn assert_flow_round_trip(flow: &Flow) {
    let printed = text::print_flow(flow);
    assert_eq!(text::parse_flow(&printed).as_ref(), Ok(flow), "{printed}");
    assert!(!printed.contains("\n\n\n"), "{printed}");
    let bare = Options { spans: false }.print_flow(flow);
    let parsed = text::parse_flow(&bare).unwrap();
    assert_eq!(text::print_flow(&parsed), bare);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_programs_round_trip(choices in random::choices()) {
        assert_program_round_trip(&random::any_program(&mut random::Choices::new(&choices)));
    }

    #[test]
    fn random_flows_round_trip(choices in random::choices()) {
        assert_flow_round_trip(&random::any_flow(&mut random::Choices::new(&choices)));
    }

    #[test]
    fn any_text_gives_a_flow_or_an_error(text in "(program p\n)?\\PC*\n{0,2}\\PC*") {
        match text::parse_flow(&text) {
            Ok(flow) => assert_flow_round_trip(&flow),
            Err(error) => prop_assert!((1..=text.lines().count().max(1)).contains(&error.line), "{error}"),
        }
    }

    #[test]
    fn a_damaged_text_gives_a_flow_or_an_error_on_one_of_its_lines(
        choices in random::choices(), at in any::<prop::sample::Index>(), what in "[ -~\n]{0,4}", length in 0_usize..8,
    ) {
        let text = text::print_flow(&random::any_flow(&mut random::Choices::new(&choices)));
        let mut characters: Vec<char> = text.chars().collect();
        let start = at.index(characters.len());
        let end = (start + length).min(characters.len());
        characters.splice(start..end, what.chars());
        let damaged: String = characters.into_iter().collect();
        if let Err(error) = text::parse_flow(&damaged) {
            prop_assert!((1..=damaged.lines().count().max(1)).contains(&error.line), "{error}");
        }
    }
}
