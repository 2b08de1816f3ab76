//! `.flick` text laid out: lines stay, columns and spaces become standard, and the program is the same.

#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

use flux_format::{Refusal, format};
use flux_source::{FileId, SourceMap};

fn laid_out(text: &str) -> String {
    let once = format(&SourceMap::of("test.flick", text), FileId(0)).expect("it parses and stays the same program");
    let twice = format(&SourceMap::of("test.flick", once.as_str()), FileId(0)).expect("it still does");
    assert_eq!(once, twice, "a second round changes nothing");
    once
}

#[test]
fn a_bracket_may_end_further_left_than_its_line() {
    let text = "proc a([v/-]r)\n if (s):\n    let t=(e\n)\n    e\n";
    assert_eq!(laid_out(text), "proc a([v/-] r)\n  if (s):\n    let t = (e\n)\n    e\n");
}

/// A line's column is what the parser takes it for, whatever stands before its first token.
#[test]
fn a_mark_of_the_byte_order_moves_no_line() {
    let text = "type k : record\n  a : integer\n  \u{feff}b : integer\n";
    assert_eq!(laid_out(text), "type k : record\n  a : integer\n  b : integer\n");
}

#[test]
fn the_listings_of_the_paper_are_laid_out() {
    let listing_1 = "\
type cmd : record
      key   : string

proc Memcached : ( cmd / cmd client , [ cmd / cmd ] backends )
|   backends=>client
|   client => target_backend ( backends )


fun target_backend : ( [ -/ cmd ] backends , req : cmd ) -> ()
    let target = hash ( req . key ) mod len ( backends ) # the same for everybody
    req => backends [ target ]
";
    let expected = "\
type cmd : record
  key : string

proc Memcached : (cmd/cmd client, [cmd/cmd] backends)
| backends => client
| client => target_backend(backends)

fun target_backend : ([-/cmd] backends, req : cmd) -> ()
  let target = hash(req.key) mod len(backends) # the same for everybody
  req => backends[target]
";
    assert_eq!(laid_out(listing_1), expected);
    let listing_3 = "\
proc hadoop : ([ kv / -] mappers , -/ kv reducer ) :
   if ( all_ready ( mappers ) ) :
      let result = foldt on mappers
         ordering elem e1 , e2 by elem . key as e_key :
            let v = combine ( e1 . val , e2 . val )
            kv ( e_key , v )
      result => reducer
fun combine ( v1 : string , v2 : string ) -> ( string ): ...
";
    let expected = "\
proc hadoop : ([kv/-] mappers, -/kv reducer):
  if (all_ready(mappers)):
    let result = foldt on mappers
      ordering elem e1, e2 by elem.key as e_key:
        let v = combine(e1.val, e2.val)
        kv(e_key, v)
    result => reducer
fun combine(v1 : string, v2 : string) -> (string): ...
";
    assert_eq!(laid_out(listing_3), expected);
}

#[test]
fn units_are_laid_out_as_in_flux() {
    let text = "\
type cmd = unit { % byteorder = big ;
 a:uint8; # one
   b : bytes & length=self . a; } ; # end
  # of it
use   \"a.flick\"  as b
";
    let result = laid_out(text);
    assert!(
        result.contains("&length = self.a;") && result.ends_with("# end\n# of it\nuse \"a.flick\" as b\n"),
        "{result}"
    );
    assert!(result.starts_with("type cmd = unit {"), "{result}");
}

#[test]
fn expressions_have_spaces_around_operators() {
    let text = "\
fun f:(ref n:integer,xs:[integer]{4},d:dict[string,integer])->(integer):
  n:=n-1*-2 mod(3)
  if not(n==1)and n!=2 or n>=-1: d[\"a\"]:=xs [0]
  else : n:=kv(key:n,value:- n).key
  fold on xs from 0 as sum,x: sum+x
fun g : (kv/- a, -/[kv] b) -> () : f(n, xs)
";
    let expected = "\
fun f : (ref n : integer, xs : [integer]{4}, d : dict[string, integer]) -> (integer):
  n := n - 1 * -2 mod (3)
  if not (n == 1) and n != 2 or n >= -1: d[\"a\"] := xs[0]
  else: n := kv(key: n, value: -n).key
  fold on xs from 0 as sum, x: sum + x
fun g : (kv/- a, -/[kv] b) -> (): f(n, xs)
";
    assert_eq!(laid_out(text), expected);
}

#[test]
fn what_does_not_parse_is_left_alone() {
    for text in ["proc P :", "type t = unit { a : uint8 };", "fun f : () -> ()\n\tx"] {
        let refusal = format(&SourceMap::of("test.flick", text), FileId(0)).expect_err(text);
        assert!(matches!(&refusal, Refusal::Mistakes(all) if all.has_errors()), "{text}: {refusal:?}");
    }
}
