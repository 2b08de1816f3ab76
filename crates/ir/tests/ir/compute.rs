//! Computations: what the verifier requires of them, and the rules of types that make them.

use flux_ir::arena::Arena;
use flux_ir::compute::{Function, Operator, Typing, integer, real, text};
use flux_ir::program::Program;
use flux_ir::text::{parse_program, print_program};
use flux_ir::types::Type;
use flux_ir::verify::{self, Stage};
use flux_source::Span;

const COMPUTED: &str = "program p

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

/// What is wrong once `old`, which is there once, is `new`.
fn broken(old: &str, new: &str) -> Vec<String> {
    assert_eq!(COMPUTED.matches(old).count(), 1, "`{old}` is not there once");
    let program = parse_program(&COMPUTED.replace(old, new)).unwrap();
    verify::program(&program, Stage::Resolved).into_iter().map(|violation| violation.message).collect()
}

#[test]
fn a_computation_reads_back_and_is_well_formed() {
    let program = parse_program(COMPUTED).unwrap();
    assert_eq!(verify::program(&program, Stage::Resolved), []);
    assert_eq!(print_program(&program), COMPUTED);
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
    let deep = format!("{}none:\"optional<bool>\"{}", "not:\"bool\"(".repeat(1000), ")".repeat(1000));
    assert!(parse_program(&COMPUTED.replace("truth:\"bool\" true", &deep)).is_err());
}

#[test]
fn literals_are_of_the_type_that_they_meet() {
    let program = Program { types: Arena::default(), ..Program::default() };
    let typing = Typing { types: &program.types };
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
