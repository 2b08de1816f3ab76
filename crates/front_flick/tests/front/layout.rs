//! The offside rule: which lines belong together.

use super::{right, said};

const HEAD: &str = "fun f : (a : integer, xs : [integer]) -> (integer)\n";

/// A program with a function of this body.
fn with(body: &str) -> String {
    format!("{HEAD}{body}")
}

#[test]
fn a_line_that_is_indented_further_goes_on() {
    right(&with("  let x = a +\n      1\n    * 2\n  x\n"));
    right(&with("  let x = len(\n    xs\n  )\n  x\n"));
    right(&with("  (a\n    + 1)\n"));
}

#[test]
fn blocks_end_where_a_line_is_further_left() {
    right(&with("  if a > 1:\n    if a > 2:\n      3\n    else:\n      2\n  elif a == 0:\n    0\n  else:\n    1\n"));
    right(&with("  if a > 1: 1 else: 2\n"));
    right(&with("        let x = 1\n        x\n"));
    right(&with("  let all = map on xs as x:\n    let y = x + a\n    y * 2\n  len(all)\n"));
    right(&with("  len(map on xs as x: x + 1)\n"));
    right(&with("  fold on xs from 0 as sum, x: sum + x\n"));
}

#[test]
fn comments_and_empty_lines_are_in_no_column() {
    right(&with("# one\n  let x = a // two\n\n/* three\n*/\n      # four\n  x # five"));
}

#[test]
fn a_line_between_two_columns_is_a_mistake() {
    assert_eq!(
        said(&with("    let x = a\n  x\n")),
        ["3: [indentation] this line is further left than its block, and further right than what is around it"]
    );
    assert_eq!(said(&with("\tlet x = a\n\tx\n")), ["2: [indentation] this line is indented by a tab"]);
}

#[test]
fn a_block_stands_below_and_further_right() {
    assert_eq!(
        said(&with("  if a > 1:\n  a\n")),
        ["2: [unexpected-token] expected what is done then on the lines below, found the end of the line"]
    );
    assert_eq!(
        said("fun f : () -> (integer)\nfun g : () -> (integer)\n  1"),
        ["1: [unexpected-token] expected the body of `f` on the lines below, found the end of the line"]
    );
    assert_eq!(
        said("type t : record\n"),
        ["1: [unexpected-token] expected the fields of `t` on the lines below, found the end of the file"]
    );
}

#[test]
fn what_goes_on_with_an_if_has_one() {
    assert_eq!(
        said(&with(
            "  elif a == 1: 2
  if a == 1: 2
  else: 3
  else: 4
  a =>
"
        )),
        [
            "2: [unexpected-token] no `if` is above this `elif` in its column",
            "5: [unexpected-token] no `if` is above this `else` in its column",
            "6: [unexpected-token] expected a value after `=>`, found the end of the file",
        ]
    );
}

#[test]
fn what_goes_on_with_an_if_stands_in_its_column() {
    right(&with("  if a > 1:\n    if a > 2: 3\n    elif a > 1: 2\n    else: 1\n  else: 0\n"));
    let further = |word| format!("3: [unexpected-token] expected the end of the line here, found `{word}`");
    assert_eq!(said(&with("  if a > 1: a\n    else: 2\n")), [further("else")]);
    let of_none = "4: [unexpected-token] no `if` is above this `else` in its column".to_owned();
    assert_eq!(said(&with("  if a > 1: a\n    elif a > 0: 2\n  else: 3\n")), [further("elif"), of_none]);
    // It is the inner `if` that has no `else`.
    assert_eq!(
        said(&with("  if a > 1:\n    if a > 2: 3\n  else: 2\n")),
        ["3: [block-value] the block ends without a value"]
    );
}

#[test]
fn a_mistake_costs_one_statement() {
    assert_eq!(
        said(&with(
            "  let = 1
  let y 2
  a b
  xs[
  y )
  a
proc P () |
type t
fun
foo bar
fun g : () -> ()
  1 +
"
        )),
        [
            "2: [unexpected-token] expected a name after `let`, found `=`",
            "3: [unexpected-token] expected `=` after `let y`, found `2`",
            "4: [unexpected-token] expected the end of the line here, found `b`",
            "5: [unexpected-token] expected a value after `[`, found the end of the line",
            "6: [unexpected-token] expected the end of the line here, found `)`",
            "8: [unexpected-token] expected what `P` does on the lines below, found `|`",
            "9: [unexpected-token] expected `:` or `=` after `type t`, found the end of the line",
            "10: [unexpected-token] expected the name of a function after `fun`, found the end of the line",
            "13: [unexpected-token] expected a value after `+`, found the end of the file",
        ]
    );
}
