//! What is laid out is the same program, and is not laid out further.

#![allow(clippy::panic, clippy::string_slice, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use flux_diagnostic::Diagnostics;
use flux_format::{COLUMNS, Refusal, format};
use flux_front_flux::lexer::lex;
use flux_front_flux::token::Token;
use flux_ir::text::Options;
use flux_random_program::{Shape, generate};
use flux_source::{FileId, SourceMap};
use proptest::prelude::*;

/// Every statement, and most of their parts.
const EVERYTHING: &str = r#"include "image.h";
link "sqlite3";
use std.http as web;
option port : int = 8080;
option idle : duration = 300ms;
type command = unit (uint8 n, string word) {
  %byteorder = big; # the order
  a : uint8 &requires = $$ > n && $$ - 1 < -(-8) || $$ % 2 == 0;
  : "\r\n";

  // What is left.
  var rest : uint32
    &parse = self.a - 1
    &serialize = self.a = $$ + 1;
  if (self.a > 1) { b : bits(4); : bits(4); } else if (word == "x") {
    c : token("[a-z]+") &max_size = 8;
  } else { }
  switch (self.a) {
    0x1f, 2 -> d : bytes &length = self.a;
    * -> { all : uint16[] &eod &max_size = 64k; }
  }
  switch {
    -> more : other(self.a, "y")[self.a] &max_depth = 4;
    -> { }
  }
  list : uint8[4]
    &update = self.rest = self.rest + $$;
};
type command = unit { a : uint8; };
using request = (int socket, std::map<int, char *> m);
record hit { path : text; bytes : uint64; };
record page {
  hits : list<hit>; # not sorted

  // What is shown first.
  best : optional<hit>;
  by_path : map<text, list<hit>>;
};
enum method { get, put };
Worth (hit h, uint32 age) => (uint64 points) { points = h.bytes / (age + 1); };
Best (list<hit> hits, text line)
  => (hit best, text line) {
  if length(hits) == 0 && !starts_with(line, "x") || -1 < 2 { fail -404; } // nothing
  best = hits[0];

  # The largest.
  for h in hits {
    let words = split(line[1..2], " ") + [lower(line), "b"];
    if h.bytes >= best.bytes { best = h; } else if h != best {
      best = hit(path: words[0], bytes: (h.bytes - 1) * 2 % 7);
    }
  }
};
Count (list<hit> hits) => (map<text, uint64> counts, uint64 most) {
  counts = ["": 0, "/": 1];
  let all : map<text, list<hit>> = [];
  let (first, rest) = Ends(hits[0].path);
  for h in hits { counts[h.path] = get(counts, h.path, 0) + h.bytes; }
  for path, bytes in counts { if bytes == 0 { fail 1; } }
  most = max([for path, bytes in counts if path != "" : bytes]) + length([for h in hits if large(h)]);
};
typedef large (hit h) { h.bytes > 1M };
Listen (int port) => (int socket) silent blocking;
Read (int socket) => (request, int x[3]);
typedef hit TestInCache pure;
source Listen(8080) {session: Client} => Page;
source every 100ms => Beat;
Page = Read within 2s -> web.Find -> (Log("a\n", -1, 64k, true) & & (A & B)) within idle -> Write;
Every = [Read -> [Write](4) within 2s](width) -> ([A] & [B](2));
Find:[_, *, hit] = ;
Find[_, _, _] = Load -> Store;
handle error Page -> * -> Load => FourOhFour;
handle error Read => web.Count -> _;
handle error Log => _;
atomic Read:{cache?, log!, account(socket), user(session), all(program), route?(from, to)};
"#;

fn laid_out(text: &str) -> String {
    match format(&SourceMap::of("test.flux", text), FileId(0)) {
        Ok(result) => result,
        Err(refusal) => panic!("{refusal:?} of {text}"),
    }
}

fn program(text: &str) -> String {
    let program = flux_front_flux::read(&SourceMap::of("test.flux", text), FileId(0), &mut Diagnostics::new());
    Options { spans: false }.print_program(&program)
}

/// Holds what must be so of any text that parses.
fn hold(text: &str) {
    let once = laid_out(text);
    assert_eq!(laid_out(&once), once, "of {text}");
    assert_eq!(program(&once), program(text), "of {text}");
    assert!(!once.lines().any(|line| line.ends_with([' ', '\r'])), "{once}");
}

#[test]
fn what_is_laid_out_stays() {
    assert_eq!(laid_out(EVERYTHING), EVERYTHING);
}

#[test]
fn spaces_and_lines_are_as_everybody_writes_them() {
    let squeezed = "Listen()=>(int*socket ,char*const*a [ 3 ]);source Listen=>Image;\nImage=Read( 1,-2 )->( A&B )\
                    ->Write ;\
                    \natomic Read :{ cache ?,a ( socket ) };F : [ _,hit ]=;option port:int=80;";
    let expected = "Listen () => (int *socket, char *const *a[3]);\nsource Listen => Image;\n\
                    Image = Read(1, -2) -> (A & B) -> Write;\natomic Read:{cache?, a(socket)};\nF:[_, hit] = ;\n\
                    option port : int = 80;\n";
    assert_eq!(laid_out(squeezed), expected);
}

#[test]
fn comments_and_groups_stay() {
    let text = "\n\n// one  \r\n/* two\n   lines */ A = B; // three\n\n\n\n  // four\nB = /* five */ C // six\n\
                // seven\n-> D;\
                /* eight */ C = D; // nine";
    let expected = "// one\n/* two\n   lines */ A = B; // three\n\n// four\nB = /* five */ C // six\n  \
                    // seven\n  -> D; \
                    /* eight */\nC = D; // nine\n";
    assert_eq!(laid_out(text), expected);
    hold(text);
}

#[test]
fn a_statement_broken_before_an_arrow_stays_broken() {
    let text = "Read (int socket)\n        => (int socket);\nA = B ->\n  C\n  -> D;\n";
    assert_eq!(laid_out(text), "Read (int socket)\n  => (int socket);\nA = B -> C\n  -> D;\n");
}

#[test]
fn a_line_that_is_too_long_is_broken_where_it_is_in_the_fewest_brackets() {
    let names: Vec<String> = (0..20).map(|number| format!("node_number_{number}")).collect();
    let chain = format!("A = {} -> ({});", names.join(" -> "), names.join(" & "));
    let parameters: Vec<String> = names.iter().map(|name| format!("int {name}")).collect();
    let declaration = format!("A ({}) => (int a);", parameters.join(", "));
    for text in [chain, declaration] {
        let result = laid_out(&text);
        assert!(result.lines().count() > 2, "{result}");
        assert!(result.lines().all(|line| line.len() <= COLUMNS), "{result}");
        assert!(result.lines().skip(1).all(|line| line.starts_with("  ")), "{result}");
        hold(&text);
    }
    let long = "x".repeat(70);
    let text = format!("A (int {long}) => (int {long});");
    assert_eq!(laid_out(&text), format!("A (int {long})\n  => (int {long});\n"));
}

#[test]
fn a_text_with_mistakes_is_refused() {
    for text in ["A = ;;", "A (int a) => (int a", "A = B", "/* open"] {
        let refused = format(&SourceMap::of("test.flux", text), FileId(0));
        assert!(matches!(refused, Err(Refusal::Mistakes(_))), "{text}");
    }
}

#[test]
fn nothing_stays_nothing() {
    assert_eq!(laid_out(" \n\n"), "");
}

#[test]
fn random_programs_stay_what_they_are() {
    let each = Shape { each: 150, parallel: true, ..Shape::default() };
    for seed in 0..100 {
        hold(&generate(seed, &Shape::default()).flux_text());
        hold(&generate(seed, &each).flux_text());
    }
}

/// Whether two tokens are one operator, which nothing stands in the middle of: `==`, `&&`, `..`.
fn is_operator(source: &str, first: &Token, second: &Token) -> bool {
    let both = &source[first.span.range().start..second.span.range().end];
    ["==", "!=", "<=", ">=", "&&", "||", ".."].contains(&both)
}

/// White space and comments that may stand between any two tokens.
fn between() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        " ",
        "  ",
        "\n",
        "\n\n\n",
        "\t",
        "\r\n",
        " /* a */ ",
        "/* a\n  b */",
        " // c \n",
        "\n// d\n\n",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn programs_written_in_any_way_stay_what_they_are(
        seed in 0..1000_u64,
        gaps in prop::collection::vec(prop::option::weighted(0.3, between()), 50..200),
    ) {
        for source in [generate(seed, &Shape::default()).flux_text(), EVERYTHING.to_owned()] {
            let mut text = String::new();
            let tokens = lex(FileId(0), &source);
            for ((at, token), gap) in tokens.iter().enumerate().zip(gaps.iter().cycle()) {
                text.push_str(&source[token.span.range()]);
                if tokens.get(at + 1).is_some_and(|next| is_operator(&source, token, next)) {
                    continue;
                }
                // A comment to the end of its line needs that end.
                text.push_str(if source[token.span.range()].starts_with(['/', '#']) { "\n" } else { "" });
                text.push_str(gap.unwrap_or(" "));
            }
            hold(&text);
            hold(&text.replace('\n', " \n"));
        }
    }

    #[test]
    fn any_text_is_laid_out_or_refused(text in "[A-D=\\->(){}\\[\\]:;,&*#/ \n\"._0-9]{0,60}") {
        let sources = SourceMap::of("test.flux", text.as_str());
        match format(&sources, FileId(0)) {
            Ok(_) => hold(&text),
            Err(refusal) => prop_assert!(matches!(refusal, Refusal::Mistakes(_)), "{:?}", refusal),
        }
    }
}
