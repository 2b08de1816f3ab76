//! What does not fit is reported once, where it is.

use super::{read, right, said};

const TYPES: &str = "type kv : record\n  key : string\n  value : integer\n";

/// What is said of a program after the three lines of `TYPES`.
fn of(rest: &str) -> Vec<String> {
    said(&format!("{TYPES}{rest}"))
}

#[test]
fn programs_that_use_everything_are_right() {
    right(&format!(
        "{TYPES}global hits : dict[string, integer]{{100}}
proc Count : (kv/kv client, [kv/kv]{{8}} backends)
  local seen : integer = 0
  | client => note(seen) => choose(backends)
  | backends => client
  | error broken backends => say(client)
fun note : (ref seen : integer, req : kv) -> (kv)
  seen := seen + 1
  if req.key in hits: hits[req.key] := hits[req.key] + 1
  else: hits[req.key] := 1
  kv(req.key, max(req.value, seen))
fun choose : ([-/kv] backends, req : kv) -> ()
  if len(backends) > 1 and not (req.value == 0):
    req => backends[hash(req.key) mod len(backends)]
  else:
    for backend in backends: req => backend
fun say : (-/kv client, reason : string) -> ()
  kv(key: reason, value: 0 - 1) => client
"
    ));
}

#[test]
fn names_have_the_letters_of_cpp() {
    let wrong = |line: u32, name: &str| format!("{line}: [invalid-name] `{name}` has letters that a name cannot have");
    assert_eq!(of("proc é : (kv/- a, -/kv b)\n  | a => b\n"), [wrong(4, "é")]);
    let process = "proc P : (kv/- a, -/kv b)\n  | a => ü() => b\n";
    let function = "fun ü : (x : kv) -> (kv)\n  let ä = x\n  ä\n";
    let all = format!("global ö : integer = 1\n{process}{function}");
    assert_eq!(of(&all), [wrong(4, "ö"), wrong(6, "ü"), wrong(8, "ä")]);
}

#[test]
fn channels_have_ways() {
    let program = |rules: &str| of(&format!("proc P : (kv/- a, -/kv b, [-/kv] c)\n{rules}"));
    assert_eq!(
        program("  | a => a\n  | b => b\n  | a => c\n  | a => b => b\n  | x => b\n"),
        [
            "5: [channel-direction] nothing can be sent to a channel `kv/-`",
            "6: [channel-direction] nothing comes out of `b`, which is a channel `-/kv`",
            "7: [send-target] this is an array of channels `[-/kv]`, and not one channel",
            "8: [send-target] a channel is the end of the way, and more follows",
            "9: [unknown-value] there is no channel `x` here",
        ]
    );
    assert_eq!(
        of("proc P : (-/- a, k : integer)\n  | a => a\n"),
        [
            "4: [channel-direction] nothing goes through the channel `a`",
            "4: [channel-direction] `k` is no channel, and a `proc` is given channels alone",
        ]
    );
    assert_eq!(
        of("proc P : (kv/- a)\n  | a => f(a)\nfun f : (kv/kv b, x : kv) -> ()\n  x => b\n"),
        ["5: [channel-direction] `b` of `f` is a channel `kv/kv`, and this is `kv/-`"]
    );
    assert_eq!(of("fun f : (kv/kv b, x : kv) -> (integer)\n  b.key => b\n  let y = b + 1\n  hash(b)\n").len(), 3);
}

#[test]
fn what_is_sent_fits() {
    let program = |rule: &str| {
        of(&format!(
            "proc P : (kv/kv a)
  | a => {rule}
fun f : (x : kv) -> (integer)
  x.value
fun g : (x : kv) -> ()
  let y = x
"
        ))
    };
    assert_eq!(program("f"), ["5: [send-target] what `f` gives goes nowhere"]);
    assert_eq!(program("f => a"), ["5: [expression-type] the channel takes `kv`, and this has the type `integer`"]);
    assert_eq!(program("g => a"), ["5: [send-target] `g` gives nothing that could go on"]);
    assert_eq!(program("f(1)"), ["5: [call-mismatch] `f` takes 1 thing, and is given 2"]);
    assert_eq!(program("h(1)"), ["5: [unknown-function] there is no function `h`"]);
    assert_eq!(program("g"), [""; 0]);
}

#[test]
fn the_least_busy_is_of_channels_that_are_sent_to() {
    let program = |of_what: &str| {
        of(&format!(
            "proc P : ([kv/kv] a, [-/kv] b, [kv/-] c)
  | a => f(a, b, c)
fun f : ([kv/kv] a, [-/kv] b, [kv/-] c, x : kv) -> ()
  x => b[{of_what}]
"
        ))
    };
    for right in ["least_busy(a)", "least_busy(b)", "(least_busy(b) + 1) mod len(b)"] {
        assert_eq!(program(right), [""; 0]);
    }
    for wrong in ["least_busy(c)", "least_busy(b[0])", "least_busy(x)", "least_busy(b, x.key)", "least_busy()"] {
        assert_eq!(program(wrong), ["7: [call-mismatch] `least_busy` is not given what it takes"], "{wrong}");
    }
    assert_eq!(program("least_busi(b)"), ["7: [unknown-function] there is no function `least_busi`"]);
}

#[test]
fn functions_give_what_they_say() {
    assert_eq!(
        of("fun f : (x : kv) -> (integer)\n  let y = x.value\n"),
        ["5: [block-value] the block ends without a value"]
    );
    assert_eq!(
        of("fun f : (x : kv) -> (integer)\n  if x.value > 0: 1\n"),
        ["5: [block-value] the block ends without a value"]
    );
    assert_eq!(of("fun f : (x : kv) -> ()\n  x.value\n"), ["5: [block-value] this value goes nowhere"]);
    assert_eq!(of("fun f : (x : kv) -> (string)\n  x.value\n").len(), 1);
    assert_eq!(of("fun f : (x : kv) -> (): ...\n"), ["4: [channel-direction] `f` is in C++, and gives nothing"]);
}

#[test]
fn there_is_no_recursion() {
    assert_eq!(
        of("fun f : (x : integer) -> (integer)\n  f(x - 1)\n"),
        ["4: [recursion] the function `f` calls itself"]
    );
    assert_eq!(
        of("fun f : (x : integer) -> (integer)
  g(x)
fun g : (x : integer) -> (integer)
  h(x) + h(x)
fun h : (x : integer) -> (integer)
  g(x)
"),
        ["6: [recursion] functions call each other in a circle: `g` -> `h` -> `g`"]
    );
}

#[test]
fn names_are_declared_once_and_known() {
    assert_eq!(
        of("fun kv : () -> (integer)\n  1\nfun len : () -> (integer)\n  1\ntype a : record\n  a : a\n"),
        [
            "4: [duplicate-name] the name `kv` of this function is taken",
            "6: [duplicate-name] `len` is of the language, and cannot be declared",
            "8: [record-cycle] a value of the record `a` would contain another one without end",
        ]
    );
    assert_eq!(
        of("fun f : (x : kvv, y : int) -> (integer)\n  let z = valu\n  w.key\n"),
        [
            "4: [field-type] there is no type `kvv`",
            "4: [field-type] there is no type `int`",
            "5: [unknown-value] there is no value `valu` here",
            "6: [unknown-value] there is no value `w` here",
        ]
    );
    assert_eq!(of("fun f : (x : kv) -> (string)\n  x.kez\n"), ["5: [unknown-field] a `kv` has no field `kez`"]);
}

#[test]
fn records_are_made_of_all_their_fields() {
    let program = |value: &str| of(&format!("fun f : (x : string) -> (kv)\n  {value}\n"));
    assert_eq!(program("kv(x)"), ["5: [record-fields] the record `kv` lacks its field `value`"]);
    assert_eq!(program("kv(x, 1, 2)"), ["5: [record-fields] the record `kv` has only 2 fields"]);
    assert_eq!(program("kv(key: x, key: x)"), ["5: [record-fields] the record `kv` has no field `key` left"]);
    assert_eq!(program("kv(value: 1, key: x)"), [""; 0]);
}

#[test]
fn a_record_that_is_sent_is_wrong_where_it_is_written() {
    let sent = |fields: &str| said(&format!("type kv : record\n{fields}proc P : (kv/kv a)\n  | a => a\n"));
    assert_eq!(
        sent("  value : integer\n  value : string\n"),
        ["3: [duplicate-field] `kv` has two fields called `value`"]
    );
    assert_eq!(sent("  value : int\n"), ["2: [field-type] there is no type `int`"]);
    assert_eq!(sent("  switch : int8\n"), ["2: [invalid-name] `switch` is a word of C++ and cannot name a field"]);
}

#[test]
fn only_state_changes() {
    assert_eq!(
        of("fun f : (x : integer, ref s : integer) -> ()\n  x := 1\n  s := 2\n  s := \"two\"\n"),
        [
            "5: [assigned-value] only state can be changed, and this is none",
            "7: [expression-type] expected an `integer`, found a `string`",
        ]
    );
    assert_eq!(
        of("proc P : (kv/kv a)
  local n : string
  | a => f(1) => a
  | a => f(n) => a
fun f : (ref s : integer, x : kv) -> (kv)
  x
"),
        [
            "6: [call-mismatch] `s` is a `ref`, and this is no state",
            "7: [call-mismatch] `s` is of the type `integer`, and this of the type `string`",
        ]
    );
}

/// What somebody writes who knows other languages gets one message, which says what to write here.
#[test]
fn habits_of_other_languages_are_told_what_to_write() {
    let lines = [
        ("  return x => to[0]", "a function gives the value of its last line"),
        ("  while true:\n    x => to[0]", "for x in xs:"),
        ("  if x.value = 3:\n    x => to[0]", "compared by `==`"),
        ("  if x.value > 1 && x.value < 3:\n    x => to[0]", "write `and`"),
        ("  if x.value > 3\n    x => to[0]\n  else\n    x => to[1]", "write `if"),
        ("  if x.value > 1:\n    x => to[0]\n  else if x.value > 0:\n    x => to[1]", "write `elif`"),
        ("  let n = 1\n   x => to[n]", "begin it in the same column"),
        ("  target = 1\n  x => to[target]", "`let x = …`"),
        ("  x.value += 1", "`x := x + 1`"),
        ("  x.key => to[0]", "make one of it: `kv(…) => …`"),
        ("  x := kv(\"a\", 1)", "`ref x : kv`"),
        ("\tx => to[0]", "indent by spaces"),
    ];
    for (line, wanted) in lines {
        let text = format!("{TYPES}fun f : ([-/kv] to, x : kv) -> ()\n{line}\n");
        let all = read(&text).1;
        let helps: Vec<String> = all.sorted().into_iter().filter_map(|one| one.help.clone()).collect();
        assert!(matches!(helps.as_slice(), [only] if only.contains(wanted)), "{line}: {helps:?}");
    }
    assert_eq!(
        of("proc P : (kv/kv a, [-/kv] b)
  | a => b[0]
  | error broken a => g(b)
fun g : ([-/kv] b, x : kv) -> ()
  x => b[0]
"),
        ["6: [expression-type] what comes along has the type `string`, and `g` takes `kv`"]
    );
    let only_one = said("type kv : record\n  key : str\nproc P : (kv/kv a, -/kv b)\n  | a => b\n");
    assert_eq!(only_one, ["2: [field-type] there is no type `str`"]);
}
