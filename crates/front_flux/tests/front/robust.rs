//! No text makes the front end panic or loop, and what it gives is in order.

use flux_diagnostic::Diagnostics;
use flux_front_flux::{lexer, parser};
use flux_ir::verify;
use flux_source::{FileId, SourceMap};
use proptest::prelude::*;

/// A valid program with every statement that can be compiled, and most of their parts.
const CORE: &str = r#"include "image.h";
Listen (int port) => (int socket) blocking;
Read (int socket) => (int socket, std::map<int, char *> m, int x[3]);
typedef hit TestInCache;
source Listen(8080) {session: Client} => Page;
source every 100ms => Beat;
Page = Read -> Find -> (Log("a\n", -1, 64k, true) & & (A & B)) -> Write;
Find:[_, *, hit] = ;
Find [_, _, _] = Load -> Store;
Find = Give;
handle error Page -> * -> Load => FourOhFour;
atomic Read:{cache?, log!, account(socket), user(session), all(program)};
"#;

/// The other statements.
const OTHERS: &str = r#"use std.http as web;
option port : int = 8080;
type command = unit (uint8 n) { %byteorder = big; %origin = self; a : uint8 &requires = $$ > n; # comment
  if (self.a > 1) { : "x"; } else { b : bits(8); } switch { -> c : two[3]; * -> d : bytes &until = ";" &max_size = 9; }
  var e : uint64 &parse = self.a - 1 &serialize = self.a = $$ + 1;
  f : two[] &until = ";" &max_size = 9 &update = self.e = self.e + 1;
};
type two = unit { x : token("[a-z]+") &max_size = 8; };
"#;

/// Reads `text` and holds what must be so of any text.
fn hold(text: &str) {
    let sources = SourceMap::of("test.flux", text);
    let mut diagnostics = Diagnostics::new();
    let program = flux_front_flux::read(&sources, FileId(0), &mut diagnostics);
    for one in diagnostics.sorted() {
        for mark in std::iter::once(&one.primary).chain(&one.secondary) {
            assert!(text.get(mark.span.range()).is_some(), "{one:?} marks no text of {text:?}");
        }
        assert!(flux_front_flux::ids::ALL.contains(&one.id) || flux_front::ids::ALL.contains(&one.id), "{one:?}");
        assert!(!one.headline.is_empty() && !one.headline.ends_with('.'), "{one:?}");
    }
    for (_, node) in program.nodes.iter() {
        assert!(text.get(node.span.range()).is_some_and(|spelling| !spelling.is_empty()), "{}", node.name);
    }
    if !diagnostics.has_errors() {
        assert_eq!(verify::program(&program, verify::Stage::Resolved), [], "{text}");
        // Every word of a program without errors is in a statement.
        let tokens = lexer::lex(FileId(0), text);
        let syntax = parser::parse(text, tokens, &mut Diagnostics::new());
        assert!(syntax.skipped_words.is_empty() && !syntax.truncated);
    }
}

/// The tokens of a program, to be put together anew.
fn words(text: &str) -> Vec<&str> {
    lexer::lex(FileId(0), text).iter().map(|token| &text[token.span.range()]).collect()
}

#[test]
fn the_whole_program_has_no_mistake() {
    let ids = |text: &str| -> Vec<_> {
        let mut diagnostics = Diagnostics::new();
        flux_front_flux::read(&SourceMap::of("test.flux", text), FileId(0), &mut diagnostics);
        diagnostics.sorted().iter().map(|one| one.id.0).collect()
    };
    assert_eq!(ids(CORE), [""; 0]);
    assert_eq!(ids(OTHERS), [""; 0]);
}

#[test]
fn every_prefix_and_every_suffix_is_read() {
    let whole = format!("{CORE}{OTHERS}");
    for at in (0..=whole.len()).filter(|at| whole.is_char_boundary(*at)) {
        hold(&whole[..at]);
        hold(&whole[at..]);
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in any::<String>()) {
        hold(&text);
    }

    #[test]
    fn any_text_of_our_characters_is_read(text in "[A-C_ \n\"/*#:;,.=<>&?!(){}\\[\\]0-9ksm→⇒\\\\-]{0,80}") {
        hold(&text);
    }

    #[test]
    fn any_order_of_words_is_read(order in prop::collection::vec((0..200_usize, "[ \n]"), 0..60)) {
        let whole = format!("{CORE}{OTHERS}");
        let words = words(&whole);
        let mut text = String::new();
        for (index, gap) in order {
            text.push_str(words[index % words.len()]);
            text.push_str(&gap);
        }
        hold(&text);
    }

    #[test]
    fn a_program_with_words_changed_is_read(
        changes in prop::collection::vec((0..200_usize, 0..200_usize, 0..3_u8), 1..6),
    ) {
        let mut words = words(CORE);
        let all = words.clone();
        for (at, other, kind) in changes {
            let at = at % words.len();
            match kind {
                0 => { words.remove(at); }
                1 => words.insert(at, all[other % all.len()]),
                _ => words[at] = all[other % all.len()],
            }
        }
        hold(&words.join("\n"));
        hold(&words.join(" "));
    }

    #[test]
    fn a_program_with_a_character_changed_is_read(
        at in 0..CORE.len(),
        character in any::<char>(),
        insert in any::<bool>(),
    ) {
        let mut text = CORE.to_owned();
        prop_assume!(text.is_char_boundary(at));
        if !insert {
            text.remove(at);
        }
        text.insert(at, character);
        hold(&text);
    }
}
