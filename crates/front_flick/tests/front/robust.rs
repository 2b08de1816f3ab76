//! No text makes the front end panic or loop, and every mark is in the text.

use super::read;
use flux_front_flux::lexer::lex;
use flux_source::FileId;
use proptest::prelude::*;

/// Programs with all that the language has.
const CORE: &str = r#"use "other.flick" as o
type kv : record
  key : string{64}
  value : [dict[string, integer]{4}]
type cmd = unit { a : uint8; b : bytes &length = self.a; };
global hits : dict[string, integer]{16}
proc P : (kv/kv client, [-/kv]{4} backends)
  local count : integer = 0
  | client => f(count, backends) => client
  | error broken client => g
proc Q : ([kv/-] in_all, -/kv out) :
  if all_ready(in_all) and not false:
    let r = foldt on in_all ordering e a, b by e.key as k: kv(k, b.value)
    r => out
fun f : (ref n : integer, [-/kv] to, x : kv) -> (kv)
  n := n + 1 * 2 mod 3 - -4
  if x.key in hits: hits[x.key] := 1
  elif len(x.value) >= 2:
    for b in to: x => b
  else:
    x => to[0]
  let y = map on [1, 2] as i: string(i)
  kv(key: y[0], value: filter on x.value as v: len(v) > 0)
fun g : (reason : string) -> (): ...
"#;

fn hold(text: &str) {
    for one in read(text).1.sorted() {
        for mark in std::iter::once(&one.primary).chain(&one.secondary) {
            assert!(text.get(mark.span.range()).is_some(), "{one:?} marks no text of {text:?}");
        }
        assert!(!one.headline.is_empty() && !one.headline.ends_with('.'), "{one:?}");
        assert!(one.help.is_some(), "{one:?} does not help");
    }
}

fn words() -> Vec<&'static str> {
    let tokens = lex(FileId(0), CORE);
    tokens.iter().map(|token| &CORE[token.span.range()]).chain(["\n", "\n  ", "\n    ", "\t", "\"", "/*"]).collect()
}

proptest! {
    #[test]
    fn any_text_is_read(text in "\\PC{0,80}") {
        hold(&text);
    }

    #[test]
    fn any_tokens_are_read(picked in prop::collection::vec(prop::sample::select(words()), 0..60)) {
        hold(&picked.join(" "));
    }

    #[test]
    fn a_program_that_is_cut_or_lacks_a_piece_is_read(from in 0..CORE.len(), length in 0..40_usize) {
        let stays = |(at, _): &(usize, char)| !(from..from + length).contains(at);
        hold(&CORE.char_indices().filter(stays).map(|(_, one)| one).collect::<String>());
        hold(CORE.get(..from).unwrap_or_default());
    }
}

#[test]
fn what_is_nested_without_end_is_refused() {
    for one in ["(", "[", "not ", "-", "f(", "map on "] {
        hold(&format!("fun f : () -> (integer)\n  {}", one.repeat(10_000)));
    }
    hold(&format!("type t : record\n  x : {}", "[".repeat(10_000)));
    let nested: String = (0..500).map(|depth| format!("{}if true:\n", " ".repeat(depth + 1))).collect();
    hold(&format!("fun f : () -> ()\n{nested}"));
}
