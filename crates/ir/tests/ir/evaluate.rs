//! What computations come to: values and failures, as the generated code has them.

use crate::compute::{CALLS, COMPUTED};
use flux_ir::compute::{
    Expression, Failure, Function, MOST, Operator, Reason, Surroundings, Term, Typing, Value, evaluate, evaluate_node,
    integer, real, text,
};
use flux_ir::program::{NodeId, OptionId, Program};
use flux_ir::text::parse_program;
use flux_ir::types::Type;
use flux_source::{Deep, Span};
use std::sync::LazyLock;

/// The rules in a program that declares no types.
fn typing() -> Typing<'static> {
    static NONE: LazyLock<Program> = LazyLock::new(Program::default);
    Typing { types: &NONE.types, messages: &NONE.messages }
}

/// An integer of a type.
fn whole(value: i128, ty: &str) -> Expression {
    let literal =
        if value < 0 { typing().negate(integer(-value, span()), span()).unwrap() } else { integer(value, span()) };
    typing().coerce(literal, &Type::new(ty)).unwrap()
}

fn word(word: &str) -> Expression {
    text(word.to_owned(), span())
}

fn span() -> Span {
    Span::default()
}

fn to(ty: &str, expression: Expression) -> Expression {
    typing().convert(expression, &Type::new(ty), span()).unwrap()
}

fn call(function: Function, arguments: Vec<Expression>) -> Expression {
    typing().call(function, arguments, span()).unwrap()
}

fn list(elements: Vec<Expression>) -> Expression {
    typing().list(elements, span()).unwrap()
}

fn joined(operator: Operator, left: Expression, right: Expression) -> Expression {
    typing().binary(operator, left, right).unwrap()
}

#[track_caller]
fn gives(expression: &Expression, value: &Value) {
    assert_eq!(evaluate(expression, &[]).as_ref(), Ok(value));
}

#[track_caller]
fn says(expression: &Expression, word: &str) {
    gives(expression, &Value::Bytes(word.into()));
}

#[track_caller]
fn fails(expression: &Expression, reason: Reason) {
    assert_eq!(evaluate(expression, &[]).map_err(|failure| failure.reason), Err(reason));
}

#[test]
fn integers_do_not_wrap() {
    use Operator::{Add, Divide, Multiply, Remainder, Subtract};
    let both =
        |operator, left: i128, right: i128, ty| joined(operator, whole(left, ty), to(ty, word(&right.to_string())));
    gives(&both(Add, 250, 5, "uint8"), &Value::Integer(255));
    fails(&both(Add, 250, 6, "uint8"), Reason::Overflow);
    fails(&both(Subtract, 3, 4, "uint32"), Reason::Overflow);
    fails(&both(Multiply, i64::MAX.into(), 2, "int64"), Reason::Overflow);
    gives(&both(Divide, -7, 2, "int32"), &Value::Integer(-3));
    gives(&both(Remainder, -7, 2, "int32"), &Value::Integer(-1));
    fails(&both(Divide, 1, 0, "int32"), Reason::DivisionByZero);
    fails(&both(Remainder, 1, 0, "uint32"), Reason::DivisionByZero);
    fails(&both(Divide, i64::MIN.into(), -1, "int64"), Reason::Overflow);
    fails(&both(Remainder, i64::MIN.into(), -1, "int64"), Reason::Overflow);
    fails(&typing().negate(to("int8", word("-128")), span()).unwrap(), Reason::Overflow);
}

#[test]
fn comparisons_are_exact_and_no_number_equals_none() {
    let below = joined(Operator::Less, to("int64", word("-1")), to("uint64", word("0")));
    gives(&below, &Value::Truth(true));
    let none = || joined(Operator::Divide, real(0.0, span()), to("float64", word("0")));
    for (operator, holds) in [(Operator::Equal, false), (Operator::Unequal, true), (Operator::GreaterOrEqual, false)] {
        gives(&joined(operator, none(), none()), &Value::Truth(holds));
    }
    gives(&joined(Operator::Equal, list(vec![none()]), list(vec![none()])), &Value::Truth(false));
    let zeros = [0.0, -0.0].map(|zero| list(vec![real(zero, span())]));
    let [one, other] = zeros;
    gives(&joined(Operator::Equal, one, other), &Value::Truth(true));
}

#[test]
fn texts_of_numbers_are_those_of_c_plus_plus() {
    let doubles = [
        (0.0, "0"),
        (-0.0, "-0"),
        (1e5, "1e+05"),
        (123_456.0, "123456"),
        (0.001, "0.001"),
        (0.0001, "1e-04"),
        (1.5e300, "1.5e+300"),
        (1.234_567_890_123_456_7e20, "123456789012345667584"),
        (f64::INFINITY, "inf"),
    ];
    for (number, written) in doubles {
        says(&to("text", real(number, span())), written);
        gives(&to("float64", word(written)), &evaluate(&real(number, span()), &[]).unwrap());
    }
    // Both 3901883.2 and 3901883.3 are as near.
    for (number, written) in [(f64::from(0.1_f32), "0.1"), (-3_901_883.25, "-3901883.2"), (1e10, "1e+10")] {
        says(&to("text", to("float32", real(number, span()))), written);
    }
}

#[test]
fn only_numbers_are_read() {
    for (read, ty, reason) in [
        ("", "int32", Reason::NotANumber),
        ("+7", "int32", Reason::NotANumber),
        ("-1", "uint32", Reason::NotANumber),
        ("-", "int32", Reason::NotANumber),
        ("30x", "uint8", Reason::NotANumber),
        ("300x", "uint8", Reason::Overflow),
        ("99999999999999999999999999999999999999999", "int64", Reason::Overflow),
        ("+1.5", "float64", Reason::NotANumber),
        (" 1", "float64", Reason::NotANumber),
        ("1e999", "float64", Reason::Overflow),
        ("1e-999", "float64", Reason::Overflow),
        ("1e39", "float32", Reason::Overflow),
    ] {
        fails(&to(ty, word(read)), reason);
    }
    gives(&to("int8", word("-128")), &Value::Integer(-128));
    gives(&to("uint8", real(255.9, span())), &Value::Integer(255));
    fails(&to("uint8", to("float64", word("256"))), Reason::Overflow);
    fails(&to("uint64", to("float64", word("nan"))), Reason::Overflow);
    fails(&to("uint64", to("int32", word("-1"))), Reason::Overflow);
}

#[test]
fn a_text_and_its_bytes_are_the_same() {
    for one in ["", "-", "12", "\u{fc}"] {
        says(&to("bytes", word(one)), one);
        says(&to("text", to("bytes", word(one))), one);
    }
}

#[test]
fn nothing_becomes_what_is_no_number_and_no_text() {
    for from in [whole(1, "uint8"), real(1.0, span()), word("1"), list(vec![])] {
        for ty in ["bool", "list<uint8>", "T *"] {
            let term = Term::Convert(Deep::new(from.clone()));
            fails(&Expression { term, ty: Type::new(ty), span: span() }, Reason::Malformed);
        }
    }
}

#[test]
fn functions_give_what_they_say() {
    use Function::{All, Any, Contains, Get, Join, Length, Lower, Max, Min, Position, Split, Sum, Trim, Upper};
    let numbers = |all: &[i128]| list(all.iter().map(|one| whole(*one, "uint8")).collect());
    let truths = |all: &[bool]| {
        let truth = |one: &bool| joined(Operator::Equal, whole(1, "uint8"), whole((*one).into(), "uint8"));
        list(all.iter().map(truth).collect())
    };
    gives(&call(Length, vec![word("four")]), &Value::Integer(4));
    gives(&call(Contains, vec![word("four"), word("our")]), &Value::Truth(true));
    gives(&call(Contains, vec![word("four"), word("or")]), &Value::Truth(false));
    gives(&call(Contains, vec![numbers(&[1, 2]), whole(2, "uint8")]), &Value::Truth(true));
    gives(&call(Position, vec![word("four"), word("")]), &Value::Integer(0));
    fails(&call(Position, vec![word("four"), word("x")]), Reason::NoElement);
    says(&call(Lower, vec![word("A-Z")]), "a-z");
    says(&call(Upper, vec![word("a-z")]), "A-Z");
    says(&call(Trim, vec![word(" \u{b}\t in side \r\n\u{c}")]), "in side");
    says(&call(Trim, vec![word(" ")]), "");
    let parts = call(Split, vec![word("a,,b,"), word(",")]);
    gives(&call(Length, vec![parts.clone()]), &Value::Integer(4));
    says(&call(Join, vec![parts, word("+")]), "a++b+");
    gives(&call(Length, vec![call(Split, vec![word("abc"), word("")])]), &Value::Integer(1));
    gives(&call(Sum, vec![numbers(&[200, 55])]), &Value::Integer(255));
    fails(&call(Sum, vec![numbers(&[200, 56])]), Reason::Overflow);
    gives(&call(Min, vec![numbers(&[3, 1, 2])]), &Value::Integer(1));
    gives(&call(Max, vec![numbers(&[1, 3, 2])]), &Value::Integer(3));
    fails(
        &call(Max, vec![typing().slice(numbers(&[1]), None, Some(whole(0, "uint64")), span()).unwrap()]),
        Reason::NoElement,
    );
    gives(&call(Any, vec![truths(&[false, true])]), &Value::Truth(true));
    gives(&call(All, vec![truths(&[true, false])]), &Value::Truth(false));
    gives(&call(Get, vec![numbers(&[7]), whole(1, "uint64"), whole(9, "uint8")]), &Value::Integer(9));
    gives(&call(Get, vec![numbers(&[7]), whole(0, "uint64"), whole(9, "uint8")]), &Value::Integer(7));
    fails(&typing().element(numbers(&[7]), whole(1, "uint64"), span()).unwrap(), Reason::NoElement);
    let part = |from, to| typing().slice(word("four"), Some(whole(from, "uint64")), Some(whole(to, "uint64")), span());
    says(&part(1, 3).unwrap(), "ou");
    fails(&part(3, 2).unwrap(), Reason::NoElement);
    fails(&part(1, 5).unwrap(), Reason::NoElement);
}

/// A world without functions and options.
struct Alone;

impl Surroundings for Alone {
    fn node(&mut self, _: NodeId, _: Vec<Value>) -> Result<Vec<Value>, Failure> {
        Err(Failure::new(Reason::External, "there are none"))
    }

    fn option(&mut self, _: OptionId) -> Value {
        Value::Integer(0)
    }
}

/// What the node called `name` of a program gives.
fn given(program: &str, name: &str, inputs: Vec<Value>) -> Result<Vec<Value>, Reason> {
    let program = parse_program(program).unwrap();
    let (node, _) = program.nodes.iter().find(|(_, node)| node.name.own() == name).unwrap();
    evaluate_node(&program, node, inputs, &mut Alone).map_err(|failure| failure.reason)
}

fn bytes(text: &str) -> Value {
    Value::Bytes(text.into())
}

#[test]
fn bodies_call_each_other_and_change_what_they_have() {
    let words = Value::List(vec![bytes("to"), bytes("be")]);
    let counts = |all: &[(&str, i128)]| {
        Value::Map(all.iter().map(|(word, count)| (bytes(word), Value::Integer(*count))).collect())
    };
    let inputs = vec![words, counts(&[("b", 2), ("much longer", 40), ("longer still", 3)])];
    let more = counts(&[("a", 2), ("b", 2), ("much longer", 40), ("longer still", 3)]);
    assert_eq!(given(CALLS, "Use", inputs), Ok(vec![Value::Integer(43), more]));
    assert_eq!(given(CALLS, "Use", vec![Value::List(vec![]), counts(&[])]), Err(Reason::NoElement));
    assert_eq!(given(CALLS, "Two", vec![bytes("abc")]), Ok(vec![bytes("abc"), Value::Integer(3)]));
}

#[test]
fn bodies_loop_choose_and_fail() {
    let hit = |path: &str, size: i128| Value::Record(vec![bytes(path), Value::Integer(size)]);
    let inputs = || vec![hit("/a", 1), Value::List(vec![hit("/b", 20), hit("/c", 22)])];
    assert_eq!(given(COMPUTED, "Worth", inputs()), Ok(vec![Value::Integer(42), bytes("/a")]));
    let otherwise = COMPUTED.replace("if truth:\"bool\" true", "if truth:\"bool\" false");
    assert_eq!(given(&otherwise, "Worth", inputs()), Err(Reason::Own(404)));
    assert_eq!(given(COMPUTED, "Worth", vec![hit("/a", 1)]), Err(Reason::Malformed), "an input is missing");
}

#[test]
fn a_text_that_a_loop_doubles_becomes_too_large() {
    let program = "program p
node Double (text t, list<uint64> times) => (text more) {
  compute {
    variable uint64 x
    set #2 = variable:\"text\" 0
    for #3 in variable:\"list<uint64>\" 1 {
      set #2 = +:\"text\"(variable:\"text\" 2, variable:\"text\" 2)
    }
  }
}
";
    let times = |count| Value::List(vec![Value::Integer(0); count]);
    let made = given(program, "Double", vec![bytes("ab"), times(23)]).unwrap();
    assert_eq!(made[0].length().unwrap(), MOST);
    assert_eq!(given(program, "Double", vec![bytes("ab"), times(24)]), Err(Reason::TooLarge));
}

#[test]
fn outside_of_loops_a_text_may_be_as_large_as_it_becomes() {
    let program = "program p
node Same (text t) => (bool same) {
  compute {
    set #1 = ==:\"bool\"(+:\"text\"(variable:\"text\" 0, variable:\"text\" 0), variable:\"text\" 0)
  }
}
node Use (text t) => (bool same) {
  compute {
    set #1 = apply:\"bool\" = Same(variable:\"text\" 0)
  }
}
";
    let large = || vec![Value::Bytes(vec![b'a'; MOST])];
    assert_eq!(given(program, "Same", large()), Ok(vec![Value::Truth(false)]));
    assert_eq!(given(program, "Use", large()), Err(Reason::TooLarge), "who calls it may be in a loop");
}
