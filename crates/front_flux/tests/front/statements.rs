//! Each statement, read right.

use crate::{flow, handlers, nodes, program, read, requirements, sources};
use flux_ir::effects::Effects;
use flux_ir::program::{Action, Body, Constant, Parallel, Scope};

#[test]
fn a_program_is_called_by_the_stem_of_its_file() {
    let sources = flux_source::SourceMap::of("some/where/image.flux", "A = ;");
    let file = flux_source::FileId(0);
    assert_eq!(flux_front_flux::read(&sources, file, &mut Default::default()).name, "image");
    assert_eq!(flux_front_flux::read(&sources, flux_source::FileId(9), &mut Default::default()).name, "");
}

#[test]
fn includes_keep_their_paths() {
    let read = program("include \"image.h\";\ninclude \"lib/a\\b.h\";");
    let paths: Vec<_> = read.includes.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["image.h", "lib/a\\b.h"]);
}

#[test]
fn a_declaration_has_inputs_outputs_and_attributes() {
    let read = program("Scale (char*a, std::map<int,T> m, int x[3]) => (unsigned  int n) blocking;");
    let node = &read.nodes[read.node_named("Scale").expect("declared")];
    let show = |it: &flux_ir::program::Parameter| format!("{}|{}|{}", it.ty.written(), it.name, it.ty.array());
    assert_eq!(node.inputs().iter().map(show).collect::<Vec<_>>(), ["char *|a|", "std::map<int, T>|m|", "int|x|[3]"]);
    assert_eq!(node.outputs().iter().map(show).collect::<Vec<_>>(), ["unsigned int|n|"]);
    assert_eq!(node.span.range(), 0..74);
    assert_eq!(node.inputs()[1].span.range(), 15..32);
}

#[test]
fn a_node_that_is_declared_and_has_a_flow_is_one() {
    let read = program("A = B;\nB () => ();\nA () => ();");
    assert_eq!(nodes(&read), ["A", "B"]);
    assert!(read.nodes[read.node_named("A").expect("declared")].signature.is_some());
    assert_eq!(flow(&read, "A"), "B");
}

#[test]
fn nodes_are_numbered_by_definition_and_then_by_mention() {
    let text = "source L => Y;\nB = X -> (Y & Z);\nC () => ();\nA = X;\nhandle error X => H;";
    assert_eq!(nodes(&program(text)), ["B", "C", "A", "L", "Y", "X", "Z"]);
}

#[test]
fn sources_have_sessions_constants_and_heartbeats() {
    let text =
        "source Listen(80, true) => A;\nsource L {session: Client} => A;\nsource every 5m => A;\nsource every => A;";
    let read = program(text);
    assert_eq!(sources(&read), ["Listen => A", "L {Client} => A", "every 300000 => A", "every => A"]);
}

#[test]
fn constants_are_in_the_units_of_the_runtime() {
    let read = program(r#"A = B(-1, 64k, 2s, "a\"\\\n\t", false);"#);
    let Body::Chain(chain) = &read.nodes[read.node_named("A").expect("it has a flow")].body else { panic!("a chain") };
    let Action::Apply(application) = &chain.steps[0].action else { panic!("an application") };
    let numbers = [-1, 65_536, 2_000].map(Constant::Integer);
    let others = [Constant::Text("a\"\\\n\t".into()), Constant::Boolean(false)];
    assert_eq!(application.constants, [numbers.as_slice(), &others].concat());
    assert_eq!(application.span.range(), 4..5);
}

#[test]
fn parallel_steps_nest_and_may_have_empty_branches() {
    let read = program("A = B -> (C -> D & & (E & F)) -> G;\nH = (B -> C) -> ();\nI = ( & );");
    assert_eq!(flow(&read, "A"), "B -> (C -> D &  & (E & F)) -> G");
    assert_eq!(flow(&read, "H"), "B -> C", "one branch is no branching");
    assert_eq!(flow(&read, "I"), "( & )");
}

#[test]
fn chains_know_their_places() {
    let text = "A = B ->\n  (C & );\nD = ;";
    let read = program(text);
    let span = |name| read.nodes[read.node_named(name).expect("it has a flow")].chains().next().expect("one").span;
    assert_eq!(&text[span("A").range()], "B ->\n  (C & )");
    assert_eq!(&text[span("D").range()], "D = ;");
    let Body::Chain(chain) = &read.nodes[read.node_named("A").expect("it has a flow")].body else { panic!("a chain") };
    let Action::Parallel(Parallel { branches, span, .. }) = &chain.steps[1].action else { panic!("a parallel step") };
    assert_eq!((&text[span.range()], &text[branches[0].span.range()]), ("(C & )", "C"));
    assert_eq!(branches[1].span, *span);
}

#[test]
fn a_line_without_patterns_is_the_catch_all() {
    let hit = "typedef hit TestInCache;\n";
    let read = program(&format!("{hit}A:[hit, *] = B;\nA = C;"));
    assert_eq!(flow(&read, "A"), "[hit, _] = B; [] = C");
    let text = format!("{hit}A = C;\nA [hit] = B;");
    let read = program(&text);
    assert_eq!(flow(&read, "A"), "[] = C; [hit] = B");
    let Body::Dispatch(lines) = &read.nodes[read.node_named("A").expect("it has a flow")].body else { panic!("lines") };
    assert_eq!(&text[lines[0].span.range()], "A = C;");
    assert_eq!(&text[lines[1].span.range()], "A [hit] = B;");
}

#[test]
fn one_line_with_patterns_is_a_dispatch() {
    assert_eq!(flow(&program("A:[_] = B;"), "A"), "[_] = B");
}

#[test]
fn handlers_are_functions_unless_they_are_nodes() {
    let text = "A = B -> C;\nD () => ();\nE = ;\n\
        handle error B => F;\nhandle error A -> * -> C => D;\nhandle error * => E;\nhandle error C => B;";
    assert_eq!(handlers(&program(text)), ["B => F()", "A -> * -> C => D", "* => E", "C => B"]);
}

#[test]
fn after_a_handler_that_ends_in_an_underscore_the_flow_goes_on() {
    let text = "A = B -> C;\nD () => ();\n\
        handle error A -> B => _;\nhandle error B => F -> _;\nhandle error C => D -> _;";
    assert_eq!(handlers(&program(text)), ["A -> B => _", "B => F() -> _", "C => D -> _"]);
}

#[test]
fn constraints_have_modes_scopes_and_keys() {
    let text = "Move (int from, int to) => ();\n\
        atomic Move:{a?, b!, c(program)?, d?(session), e(to), f(to, from)!, e(from)};";
    let read = program(text);
    let expected =
        ["a Read []", "b Write []", "c Read []", "d Read []", "e Write [1]", "f Write [1, 0]", "e Write [0]"];
    assert_eq!(requirements(&read, "Move"), expected);
    let scopes: Vec<_> = read.constraints.iter().map(|(_, it)| it.scope).collect();
    use Scope::{Keyed, Program, Session};
    assert_eq!(scopes, [Program, Program, Program, Session, Keyed, Keyed]);
}

#[test]
fn constraints_of_one_node_may_be_in_several_statements() {
    let read = program("A = ;\natomic A:{x};\natomic A:{y?};");
    assert_eq!(requirements(&read, "A"), ["x Write []", "y Read []"]);
}

#[test]
fn options_keep_their_kinds_and_their_defaults_in_the_units_of_the_runtime() {
    let text = "option port : int = -1;\noption root : path;\noption idle : duration = 2s;\noption most : size = 64k;\n\
                option least : size = 1;\noption loud : bool = true;\noption name : string = \"a\\tb\";\n\
                A = B(idle, 7);";
    let read = program(text);
    let options: Vec<_> = read.options.iter().map(|(_, one)| (one.kind.name(), one.default.clone())).collect();
    let expected = [
        ("int", Some(Constant::Integer(-1))),
        ("path", None),
        ("duration", Some(Constant::Integer(2000))),
        ("size", Some(Constant::Integer(65536))),
        ("size", Some(Constant::Integer(1))),
        ("bool", Some(Constant::Boolean(true))),
        ("string", Some(Constant::Text("a\tb".to_owned()))),
    ];
    assert_eq!(options, expected);
    let chain = read.nodes[read.node_named("A").unwrap()].chains().next().unwrap();
    let idle = read.options.ids().nth(2).unwrap();
    assert_eq!(chain.applications()[0].constants, [Constant::Option(idle), Constant::Integer(7)]);
}

#[test]
fn nodes_and_predicate_types_may_be_silent_or_pure() {
    let text = "typedef t F pure;\ntypedef u G;\nA () => (int x) silent;\nB (int x) => () pure blocking;";
    let read = program(&format!("{text}\nsource A => B;"));
    let known: Vec<_> = read.externals.iter().map(|(_, one)| (one.name.own(), one.effects)).collect();
    let (pure, unknown) = (Effects::Pure, Effects::Unknown);
    assert_eq!(known, [("F", pure), ("G", unknown), ("A", Effects::Silent), ("B", pure)]);
}

#[test]
fn a_node_may_be_blocking_or_replicable() {
    let read = program("A () => (int x) replicable;\nB (int x) => () blocking;\nC () => ();\nsource A => B;");
    let said: Vec<_> = read.nodes.iter().map(|(_, node)| (node.blocking, node.replicable)).collect();
    assert_eq!(said, [(false, true), (true, false), (false, false)]);
}

#[test]
fn modules_and_messages_are_read() {
    let text = "use std.http as web;\nuse \"cache.flux\";\n\
        type command = unit (int8 n) { a : uint8; # it's a \"comment\n b : other; };\n\
        type other = unit { c : string &length = 0x1f; };\nA = B;";
    let (program, diagnostics) = read(text);
    assert_eq!(diagnostics, [""; 0]);
    let messages: Vec<_> =
        program.messages.iter().map(|(_, message)| (message.name.own(), message.fields.len())).collect();
    assert_eq!(messages, [("command", 2), ("other", 1)]);
    assert_eq!(nodes(&program), ["A", "B"]);
}
