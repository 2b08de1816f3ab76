//! Computations: what the verifier requires of them, and the rules of types that make them.

use flux_ir::arena::Arena;
use flux_ir::compute::{Function, Operator, Typing, integer, real, text};
use flux_ir::program::Program;
use flux_ir::text::{parse_program, print_program};
use flux_ir::types::Type;
use flux_ir::verify::{self, Stage};
use flux_source::Span;

pub const COMPUTED: &str = "program p

record hit {
  field text path
  field uint64 bytes
}
enum method (get, put)
predicate large (hit h) {
  variable bool says
  let #1 = >:\"bool\"(field:\"uint64\" 1(variable:\"hit\" 0), integer:\"uint64\" 1)
  says variable:\"bool\" 1
}

node Worth (hit h, list<hit> more) => (uint64 points, text path) {
  compute {
    variable hit one
    set #2 = integer:\"uint64\" 0
    for #4 in variable:\"list<hit>\" 1 {
      set #2 = +:\"uint64\"(variable:\"uint64\" 2, field:\"uint64\" 1(variable:\"hit\" 4))
    }
    if truth:\"bool\" true {
      set #3 = slice:\"text\"(field:\"text\" 0(variable:\"hit\" 0), integer:\"uint64\" 0)
    }
    else {
      fail 404
    }
  }
}
";

/// Calls, comprehensions, maps.
pub const CALLS: &str = "program p

predicate long (text word) {
  says >:\"bool\"(length:\"uint64\"(variable:\"text\" 0), integer:\"uint64\" 9)
}

node Two (text line) => (text a, uint64 b) {
  compute {
    set #1 = variable:\"text\" 0
    set #2 = apply:\"uint64\" = One(variable:\"text\" 0)
  }
}
node One (text line) => (uint64 n) {
  compute {
    set #1 = length:\"uint64\"(variable:\"text\" 0)
  }
}
node Use (list<text> words, map<text, uint64> counts) => (uint64 sum, map<text, uint64> more) {
  compute {
    variable text word
    variable uint64 count
    variable text other
    variable text a
    variable uint64 b
    set #2 = comprehension:\"uint64\" sum #4, #5(\
     variable:\"map<text, uint64>\" 1, variable:\"uint64\" 5, ask:\"bool\" = long(variable:\"text\" 4))
    set #3 = map:\"map<text, uint64>\"(string:\"text\" = \"a\", get:\"uint64\"(\
     variable:\"map<text, uint64>\" 1, string:\"text\" = \"b\", integer:\"uint64\" 0))
    for #4, #5 in variable:\"map<text, uint64>\" 1 {
      put #3 [variable:\"text\" 4] = variable:\"uint64\" 5
    }
    take #7, #8 = Two(element:\"text\"(\
     comprehension:\"list<text>\" list #6(variable:\"list<text>\" 0, variable:\"text\" 6), integer:\"uint64\" 0))
  }
}
";

/// What is wrong once `old`, which is there once, is `new`.
fn broken(old: &str, new: &str) -> Vec<String> {
    broken_in(COMPUTED, old, new)
}

fn broken_in(text: &str, old: &str, new: &str) -> Vec<String> {
    assert_eq!(text.matches(old).count(), 1, "`{old}` is not there once");
    let program = parse_program(&text.replace(old, new)).unwrap();
    verify::program(&program, Stage::Resolved).into_iter().map(|violation| violation.message).collect()
}

#[test]
fn a_computation_reads_back_and_is_well_formed() {
    let program = parse_program(COMPUTED).unwrap();
    assert_eq!(verify::program(&program, Stage::Resolved), []);
    assert_eq!(print_program(&program), COMPUTED);
}

#[test]
fn calls_comprehensions_and_maps_read_back_and_are_well_formed() {
    let program = parse_program(CALLS).unwrap();
    assert_eq!(verify::program(&program, Stage::Resolved), []);
    assert_eq!(print_program(&program), CALLS);
}

#[test]
fn calls_are_of_what_can_be_called_and_end() {
    let wrong = |old: &str, new: &str| broken_in(CALLS, old, new)[0].clone();
    let cannot = "the computation of `Use` calls what cannot be called so";
    assert_eq!(wrong("= Two(", "= Two(string:\"text\" = \"\", "), cannot);
    assert_eq!(wrong("take #7, #8 = Two(", "take #7, #8 = #9("), cannot);
    let number = "the computation of `Use` takes another number of values than a node gives";
    assert_eq!(wrong("take #7, #8 =", "take #7 ="), number);
    let of_another = "the computation of `Use` gives a variable a value of another type";
    assert_eq!(wrong("take #7, #8 =", "take #8, #7 ="), of_another);
    assert_eq!(wrong("take #7, #8 =", "take #7, #2 ="), "the computation of `Use` begins a variable twice");
    let not_bool = "in the computation of `Use` a `uint64` is not of that type";
    assert_eq!(wrong("ask:\"bool\" = long(", "ask:\"uint64\" = long("), not_bool);
    assert_eq!(
        wrong("apply:\"uint64\" = One(", "apply:\"text\" = One("),
        "in the computation of `Two` a `text` is not of that type"
    );
    assert_eq!(
        wrong("apply:\"uint64\" = One(", "apply:\"uint64\" = Two("),
        "in the computation of `Two` a `uint64` is not of that type"
    );
}

#[test]
fn no_computation_calls_itself() {
    let text = "program p

predicate q (uint8 n) {
  says ask:\"bool\" = r(variable:\"uint8\" 0)
}
predicate r (uint8 n) {
  says ask:\"bool\" = q(variable:\"uint8\" 0)
}
";
    let said = verify::program(&parse_program(text).unwrap(), Stage::Typed);
    let said: Vec<_> = said.into_iter().map(|violation| violation.message).collect();
    let itself = |name: &str| format!("the computation of `{name}` calls itself, or calls one that does");
    assert_eq!(said, [itself("q"), itself("r")]);
}

#[test]
fn what_is_gone_through_has_elements_and_their_names_end_with_it() {
    let wrong = |old: &str, new: &str| broken_in(CALLS, old, new)[0].clone();
    let no_list = "the computation of `Use` goes through something else than a list or a map";
    assert_eq!(wrong("for #4, #5 in", "for #4 in"), no_list);
    assert_eq!(wrong("list #6(variable:\"list<text>\" 0", "list #6(string:\"text\" = \"\""), no_list);
    let of_another = "the computation of `Use` gives a variable a value of another type";
    assert_eq!(wrong("for #4, #5 in", "for #5, #4 in"), of_another);
    assert_eq!(wrong("for #4, #5 in", "for #6, #5 in"), "in the computation of `Use` a `text` is not of that type");
    assert_eq!(
        wrong("list #6(variable:\"list<text>\" 0", "list #6(variable:\"list<text>\" 6"),
        "in the computation of `Use` a `list<text>` is not of that type"
    );
    assert_eq!(
        wrong("integer:\"uint64\" 0))\n  }", "length:\"uint64\"(variable:\"text\" 6)))\n  }"),
        "in the computation of `Use` a `text` is not of that type"
    );
    let no_sum = "in the computation of `Use` a `uint64` is not of that type";
    assert_eq!(wrong("uint64\" sum #4", "uint64\" join #4"), no_sum);
    assert_eq!(wrong("uint64\" sum #4", "uint64\" any #4"), no_sum);
    assert_eq!(wrong("variable:\"uint64\" 5, ask", "variable:\"text\" 4, ask"), no_sum);
    assert_eq!(wrong("ask:\"bool\" = long(variable:\"text\" 4)", "variable:\"text\" 4"), no_sum);
}

#[test]
fn what_is_put_is_of_the_type_of_the_elements() {
    let wrong = |old: &str, new: &str| broken_in(CALLS, old, new)[0].clone();
    let none = "the computation of `Use` puts a value where none of its type is";
    assert_eq!(wrong("put #3 [variable:\"text\" 4]", "put #3 [variable:\"uint64\" 5]"), none);
    assert_eq!(wrong("] = variable:\"uint64\" 5", "] = variable:\"text\" 4"), none);
    assert_eq!(wrong("put #3 [", "put #2 ["), none);
    let map = "in the computation of `Use` a `map<text, uint64>` is not of that type";
    assert_eq!(
        wrong("map:\"map<text, uint64>\"(string:\"text\" = \"a\"", "map:\"map<text, uint64>\"(integer:\"uint64\" 1"),
        map
    );
    let get = "in the computation of `Use` a `uint64` is not of that type";
    assert_eq!(
        wrong("string:\"text\" = \"b\", integer:\"uint64\" 0", "integer:\"uint64\" 1, integer:\"uint64\" 0"),
        get
    );
    assert!(parse_program(&CALLS.replace("= \"a\", get:", "= \"a\", integer:\"uint64\" 1, get:")).is_err());
}

#[test]
fn every_part_is_of_its_type() {
    let not_of = |what: &str| vec![format!("in the computation of `Worth` a `{what}` is not of that type")];
    assert_eq!(
        broken("field:\"uint64\" 1(variable:\"hit\" 4)", "field:\"uint64\" 0(variable:\"hit\" 4)"),
        not_of("uint64")
    );
    assert_eq!(broken("+:\"uint64\"(", "&&:\"uint64\"("), not_of("uint64"));
    assert_eq!(broken("integer:\"uint64\" 0)", "integer:\"uint64\" -1)"), not_of("uint64"));
    assert_eq!(broken("integer:\"uint64\" 0)", "integer:\"int8\" 0)"), not_of("text"));
    assert_eq!(broken("variable:\"hit\" 4", "variable:\"hit\" 1")[0], not_of("hit")[0]);
    let of_another = "the computation of `Worth` gives a variable a value of another type";
    assert_eq!(broken("set #3 =", "set #2 =")[0], of_another);
    assert_eq!(broken("for #4 in", "for #2 in")[0], of_another);
    assert_eq!(broken("set #2 = integer:\"uint64\" 0", "set #2 = integer:\"uint32\" 0"), [of_another]);
}

#[test]
fn every_term_takes_parts_of_the_types_that_it_is_for() {
    let condition = |term: &str| broken("if truth:\"bool\" true", &format!("if {term}"));
    let (truth, number, text) = ("truth:\"bool\" true", "integer:\"uint8\" 1", "string:\"text\" = \"\"");
    for right in [
        format!("not:\"bool\"({truth})"),
        format!("==:\"bool\"({number}, choose:\"uint8\"({truth}, {number}, {number}))"),
        "==:\"bool\"(integer:\"int8\" 1, negate:\"int8\"(integer:\"int8\" 1))".to_owned(),
        format!("has:\"bool\"(some:\"optional<uint8>\"({number}))"),
        "has:\"bool\"(none:\"optional<uint8>\")".to_owned(),
        format!("==:\"bool\"({text}, convert:\"text\"({number}))"),
    ] {
        assert_eq!(condition(&right), [""; 0], "{right}");
    }
    for (wrong, what) in [
        (format!("not:\"bool\"({number})"), "a `bool`"),
        (format!("==:\"bool\"({number}, not:\"uint8\"({number}))"), "a `uint8`"),
        (format!("==:\"bool\"({number}, choose:\"uint8\"({number}, {number}, {number}))"), "a `uint8`"),
        (format!("choose:\"bool\"({truth}, {number}, {truth})"), "a `bool`"),
        (format!("choose:\"bool\"({truth}, {truth}, {number})"), "a `bool`"),
        (format!("==:\"bool\"({number}, negate:\"uint8\"({number}))"), "a `uint8`"),
        (format!("==:\"bool\"(integer:\"int8\" 1, negate:\"int8\"({number}))"), "an `int8`"),
        (format!("has:\"bool\"(some:\"optional<uint8>\"({text}))"), "an `optional<uint8>`"),
        (format!("==:\"bool\"({number}, none:\"uint8\")"), "a `uint8`"),
        (format!("convert:\"bool\"({number})"), "a `bool`"),
    ] {
        let expected = format!("in the computation of `Worth` {what} is not of that type");
        assert_eq!(condition(&wrong), [expected], "{wrong}");
    }
}

#[test]
fn what_is_read_has_a_value_and_outputs_are_given() {
    let unset = "in the computation of `Worth` a `uint64` is not of that type";
    assert_eq!(broken("    set #2 = integer:\"uint64\" 0\n", "")[0], unset);
    let without = ["the computation of `Worth` comes to its end without all outputs"];
    assert_eq!(broken("fail 404", "set #2 = integer:\"uint64\" 1"), without);
    assert_eq!(broken("fail 404", "fail 0"), ["the computation of `Worth` fails with the code of success"]);
    assert_eq!(broken("  says variable:\"bool\" 1\n", ""), ["the computation of `large` says nothing"]);
    let twice = "the computation of `Worth` begins a variable twice";
    assert_eq!(broken("set #2 = integer", "let #0 = variable:\"hit\" 0\n    set #2 = integer"), [twice]);
    let begins = "the computation of `Worth` has an `if` of something else than a bool";
    assert_eq!(broken("if truth:\"bool\" true", "if integer:\"uint8\" 1"), [begins]);
}

#[test]
fn text_that_is_no_computation_is_refused() {
    for (old, new) in [
        ("fail 404", "fail 4294967296"),
        ("fail 404", "leave"),
        ("else {", "otherwise {"),
        ("+:", "element:\"uint64\" 1 +:"),
        ("truth:\"bool\" true", "truth:\"bool\" true(none:\"optional<bool>\")"),
        ("truth:\"bool\"", "truth"),
    ] {
        assert!(parse_program(&COMPUTED.replace(old, new)).is_err(), "{new}");
    }
    let deep = format!("{}none:\"optional<bool>\"{}", "not:\"bool\"(".repeat(17_000), ")".repeat(17_000));
    assert!(parse_program(&COMPUTED.replace("truth:\"bool\" true", &deep)).is_err());
}

#[test]
fn literals_are_of_the_type_that_they_meet() {
    let program = Program { types: Arena::default(), ..Program::default() };
    let typing = Typing { types: &program.types, messages: &program.messages };
    let span = Span::default();
    let small = typing.convert(text("1".to_owned(), span), &Type::new("uint8"), span).unwrap();
    let sum = typing.binary(Operator::Add, small.clone(), integer(255, span)).unwrap();
    assert_eq!(sum.ty, Type::new("uint8"));
    let too_large = typing.binary(Operator::Add, small.clone(), integer(256, span)).unwrap_err();
    assert_eq!(too_large.headline, "`uint8` has no 256");
    assert_eq!(typing.binary(Operator::Add, integer(1, span), real(0.5, span)).unwrap().ty, Type::new("float64"));
    assert_eq!(typing.binary(Operator::Multiply, integer(6, span), integer(7, span)).unwrap(), integer(42, span));
    assert!(typing.binary(Operator::Divide, integer(1, span), integer(0, span)).is_err());
    assert!(typing.call(Function::Length, vec![small], span).is_err());
    let list = typing.list(vec![integer(1, span), integer(2, span)], span).unwrap();
    let wanted = Type::new("list<uint8>");
    assert_eq!(typing.coerce(list, &wanted).unwrap().ty, wanted);
    assert!(typing.settle(typing.none(span)).is_err());
}

#[test]
fn what_has_another_type_is_said_as_it_is_written() {
    let program = Program::default();
    let typing = Typing { types: &program.types, messages: &program.messages };
    let span = Span::default();
    let wrong = |expression, wanted: &str| typing.coerce(expression, &Type::new(wanted)).unwrap_err().headline;
    assert_eq!(wrong(typing.none(span), "uint8"), "expected a `uint8`, which is never `none`");
    assert_eq!(wrong(typing.undefined(span), "uint8"), "expected a `uint8`, found a `value`");
    assert_eq!(wrong(typing.undefined(span), "optional<text>"), "expected a `text`, found a `value`");
    assert_eq!(wrong(typing.list(vec![], span).unwrap(), "uint8"), "expected a `uint8`, found a list");
    let numbers = typing.list(vec![integer(1, span)], span).unwrap();
    assert_eq!(wrong(numbers, "uint8"), "expected a `uint8`, found a `list<int64>`");
    assert_eq!(wrong(text("1".to_owned(), span), "uint8"), "expected a `uint8`, found a `text`");
}
