//! The type `value` in computations: what the verifier requires, the rules of types, and what they come to.

use flux_ir::compute::{
    AnyValue, Expression, Failure, Function, Operator, Real, Reason, Surroundings, Typing, Value, evaluate,
    evaluate_node, integer, real, text,
};
use flux_ir::program::{NodeId, OptionId, Program};
use flux_ir::text::{parse_program, print_program};
use flux_ir::types::Type;
use flux_ir::verify::{self, Stage};
use flux_source::Span;

const VALUES: &str = "program p

record hit {
  field text path
}

node Ask (value item, hit h, list<uint64> sizes) => (text name, value made) {
  compute {
    variable value one
    if is_list:\"bool\"(variable:\"value\" 0) {
      set #4 = convert:\"value\"(variable:\"list<uint64>\" 2)
    }
    else {
      set #4 = convert:\"value\"(variable:\"hit\" 1)
    }
    if ==:\"bool\"(element:\"value\"(variable:\"value\" 0, string:\"text\" = \"a\"), none:\"value\") {
      fail 4
    }
    else {
    }
    for #5 in convert:\"list<value>\"(element:\"value\"(variable:\"value\" 0, integer:\"uint64\" 7)) {
      set #4 = variable:\"value\" 5
    }
    set #3 = convert:\"text\"(variable:\"value\" 4)
  }
}
";

/// What is wrong once `old`, which is there once, is `new`.
fn broken(old: &str, new: &str) -> Vec<String> {
    assert_eq!(VALUES.matches(old).count(), 1, "`{old}` is not there once");
    let program = parse_program(&VALUES.replace(old, new)).unwrap();
    verify::program(&program, Stage::Resolved).into_iter().map(|violation| violation.message).collect()
}

#[test]
fn values_read_back_and_are_well_formed() {
    let program = parse_program(VALUES).unwrap();
    assert_eq!(verify::program(&program, Stage::Resolved), []);
    assert_eq!(print_program(&program), VALUES);
}

#[test]
fn what_is_no_value_is_not_used_as_one() {
    let not_of = |what: &str| vec![format!("in the computation of `Ask` a `{what}` is not of that type")];
    assert_eq!(
        broken("is_list:\"bool\"(variable:\"value\" 0)", "is_list:\"bool\"(variable:\"hit\" 1)"),
        not_of("bool")
    );
    assert_eq!(broken("is_list:\"bool\"", "is_list:\"value\"")[0], not_of("value")[0]);
    assert_eq!(broken("integer:\"uint64\" 7", "truth:\"bool\" true"), not_of("value"));
    assert_eq!(broken("integer:\"uint64\" 7", "integer:\"int64\" 7"), not_of("value"));
    assert_eq!(
        broken("convert:\"text\"(variable:\"value\" 4)", "convert:\"text\"(variable:\"hit\" 1)"),
        not_of("text")
    );
    assert_eq!(broken("none:\"value\"", "none:\"text\"")[0], not_of("text")[0]);
    assert_eq!(
        broken("convert:\"value\"(variable:\"hit\" 1)", "convert:\"value\"(variable:\"value\" 0)"),
        not_of("value")
    );
    let walks = broken("convert:\"list<value>\"", "convert:\"list<text>\"");
    assert!(walks.contains(&"in the computation of `Ask` a `list<text>` is not of that type".to_owned()), "{walks:?}");
    let of_keys = VALUES.replace("list<uint64>", "map<uint64, bool>");
    let program = parse_program(&of_keys).unwrap();
    assert_eq!(verify::program(&program, Stage::Resolved).len(), 1, "a map of numbers is no value");
}

#[test]
fn a_value_is_compared_with_what_becomes_one() {
    let program = Program::default();
    let typing = Typing { types: &program.types, messages: &program.messages };
    let span = Span::default();
    let value = || typing.convert(text("a".to_owned(), span), &Type::new("value"), span).unwrap();
    for operator in [Operator::Equal, Operator::Less, Operator::GreaterOrEqual] {
        for other in [integer(1, span), text("b".to_owned(), span), typing.undefined(span), value()] {
            let sides = [typing.binary(operator, value(), other.clone()), typing.binary(operator, other, value())];
            assert!(sides.into_iter().all(|compared| compared.unwrap().ty == Type::new("bool")));
        }
    }
    assert!(typing.binary(Operator::Equal, value(), typing.none(span)).is_err());
    assert!(typing.binary(Operator::Add, value(), integer(1, span)).is_err());
    assert!(typing.binary(Operator::And, value(), value()).is_err());
}

#[test]
fn a_value_is_made_and_read_only_where_nothing_is_lost() {
    let program = Program::default();
    let typing = Typing { types: &program.types, messages: &program.messages };
    let span = Span::default();
    let of = |ty: &str| typing.convert(integer(1, span), &Type::new(ty), span).unwrap();
    let value = Type::new("value");
    assert!(typing.coerce(of("uint32"), &value).is_ok());
    assert!(typing.coerce(of("uint64"), &value).is_err());
    assert!(typing.convert(of("uint64"), &value, span).is_ok());
    assert!(typing.coerce(integer(i128::from(u64::MAX), span), &value).is_err());
    let made = typing.call(Function::Value, vec![integer(1, span)], span).unwrap();
    assert_eq!(made.ty, value);
    assert!(typing.coerce(made.clone(), &Type::new("int64")).is_err());
    assert!(typing.convert(made.clone(), &Type::new("list<text>"), span).is_err());
    assert_eq!(typing.coerce(made.clone(), &Type::new("optional<value>")).unwrap().ty, Type::new("optional<value>"));
    assert_eq!(typing.walk(made.clone(), 1).unwrap().1, std::slice::from_ref(&value));
    assert_eq!(typing.walk(made.clone(), 2).unwrap().1, [Type::new("text"), value]);
    assert!(typing.walk(made, 3).is_err());
}

/// What an expression comes to that names nothing.
fn value_of(expression: &Expression) -> Result<Value, Reason> {
    evaluate(expression, &[]).map_err(|failure| failure.reason)
}

fn any(expression: Expression) -> Expression {
    let program = Program::default();
    Typing { types: &program.types, messages: &program.messages }
        .convert(expression, &Type::new("value"), Span::default())
        .unwrap()
}

#[test]
fn values_are_ordered_as_the_runtime_orders_them() {
    let program = Program::default();
    let typing = Typing { types: &program.types, messages: &program.messages };
    let span = Span::default();
    let word = |word: &str| any(text(word.to_owned(), span));
    let list = |elements| any(typing.coerce(typing.list(elements, span).unwrap(), &Type::new("list<value>")).unwrap());
    let map = |key: &str, value| any(typing.map(vec![[text(key.to_owned(), span), value]], span).unwrap());
    let one = || any(integer(1, span));
    let in_order = [
        typing.undefined(span),
        any(typing.not(typing.binary(Operator::Equal, integer(1, span), integer(1, span)).unwrap(), span).unwrap()),
        any(typing.binary(Operator::Equal, integer(1, span), integer(1, span)).unwrap()),
        any(real(f64::NEG_INFINITY, span)),
        any(integer(i128::from(i64::MIN), span)),
        any(real(-(2_f64.powi(63)), span)),
        any(real(-1.5, span)),
        any(integer(-1, span)),
        any(integer(0, span)),
        any(real(-0.0, span)),
        any(real(0.0, span)),
        any(real(0.5, span)),
        one(),
        any(real(1.0, span)),
        any(integer(i128::from(i64::MAX), span)),
        any(real(2_f64.powi(63), span)),
        any(real(f64::NAN, span)),
        word(""),
        word("a"),
        list(vec![]),
        list(vec![one()]),
        list(vec![one(), word("a")]),
        map("a", one()),
        map("b", typing.undefined(span)),
    ];
    for (left, one) in in_order.iter().enumerate() {
        for (right, other) in in_order.iter().enumerate() {
            for (operator, holds) in [
                (Operator::Less, left < right),
                (Operator::Equal, left == right),
                (Operator::GreaterOrEqual, left >= right),
            ] {
                let compared = typing.binary(operator, one.clone(), other.clone()).unwrap();
                assert_eq!(value_of(&compared), Ok(Value::Truth(holds)), "{left} {} {right}", operator.symbol());
            }
        }
    }
}

#[test]
fn a_value_is_read_as_what_it_is_or_fails() {
    let program = Program::default();
    let typing = Typing { types: &program.types, messages: &program.messages };
    let span = Span::default();
    let read = |of: Expression, ty: &str| value_of(&typing.convert(any(of), &Type::new(ty), span).unwrap());
    let word = || text("7".to_owned(), span);
    assert_eq!(read(integer(7, span), "uint8"), Ok(Value::Integer(7)));
    assert_eq!(read(real(7.9, span), "int64"), Ok(Value::Integer(7)));
    assert_eq!(read(integer(7, span), "float64"), Ok(Value::Real(Real(7.0))));
    assert_eq!(read(word(), "bytes"), Ok(Value::Bytes(b"7".to_vec())));
    assert_eq!(read(integer(256, span), "uint8"), Err(Reason::Overflow));
    for ty in ["int64", "float32", "bool", "list<value>", "map<text, value>"] {
        assert_eq!(read(word(), ty), Err(Reason::WrongType), "{ty}");
    }
    let asked = |function, of| value_of(&typing.call(function, vec![any(of)], span).unwrap());
    assert_eq!(asked(Function::IsText, word()), Ok(Value::Truth(true)));
    assert_eq!(asked(Function::IsInt64, word()), Ok(Value::Truth(false)));
    let large = typing.convert(integer(i128::from(u64::MAX), span), &Type::new("uint64"), span).unwrap();
    assert_eq!(value_of(&any(large)), Err(Reason::Overflow));
    let of = typing.element(any(word()), integer(0, span), span).unwrap();
    assert_eq!(value_of(&of), Ok(Value::Any(AnyValue::Undefined)));
}

#[test]
fn a_record_becomes_a_map_of_its_fields() {
    let program = parse_program(
        "program p

record hit {
  field text path
  field list<how> all
  field optional<int8> age
}
enum how (get, put)

node Ask (hit h) => (value made) {
  compute {
    set #1 = convert:\"value\"(variable:\"hit\" 0)
  }
}
",
    )
    .unwrap();
    struct Nothing;
    impl Surroundings for Nothing {
        fn node(&mut self, _: NodeId, _: Vec<Value>) -> Result<Vec<Value>, Failure> {
            unreachable!("nothing is called")
        }
        fn option(&mut self, _: OptionId) -> Value {
            unreachable!("there are no options")
        }
    }
    let hit = Value::Record(vec![
        Value::Bytes(b"/".to_vec()),
        Value::List(vec![Value::Enumerator(1)]),
        Value::Optional(None),
    ]);
    let given = evaluate_node(&program, NodeId::new(0), vec![hit], &mut Nothing).unwrap();
    let put = Value::Any(AnyValue::Text(b"put".to_vec()));
    let fields =
        [("path", AnyValue::Text(b"/".to_vec())), ("all", AnyValue::List(vec![put])), ("age", AnyValue::Undefined)];
    let entry = |(name, value): (&str, AnyValue)| (Value::Bytes(name.into()), Value::Any(value));
    assert_eq!(given, [Value::Any(AnyValue::Map(fields.into_iter().map(entry).collect()))]);
}
