//! Mutations: from programs that are right, or nearly, to what nobody would write.
//!
//! Most mutations change tokens, as bytes at random seldom come past the lexer. The space before a token goes with it,
//! so that what is put together from several programs still is laid out like one.

use flux_front_flux::lexer::lex;
use flux_random_program::Random;
use flux_source::FileId;

/// A mutated text is at most so long, in bytes: a repeated run of a few tokens fits.
pub const LENGTH_LIMIT: usize = 64 << 10;

/// How often a run is repeated.
const REPEATED: usize = 9_000;

/// What people's editors, other systems and bad copies put into files.
const ODD: [&str; 32] = [
    "\u{feff}",
    "\0",
    "\r",
    "\r\n",
    "\t",
    "\n",
    "\u{a0}",
    "\u{2028}",
    "\u{202e}",
    "é",
    "e\u{301}",
    "→",
    "⇒",
    "“",
    "–",
    "😀",
    "\"",
    "\\",
    "\"\\",
    "/*",
    "*/",
    "//",
    "#",
    "(",
    ")",
    "[",
    "{",
    "}",
    "<",
    "::",
    "&&",
    "99999999999999999999",
];

/// A text made from one or two of `seeds` by one to five changes.
pub fn mutate(random: &mut Random, seeds: &[String]) -> String {
    let mut text = random.choose(seeds).unwrap_or_default();
    for _ in 0..random.between(1, 5) {
        let other = random.choose(seeds).unwrap_or_default();
        text = if random.chance(150) { change_bytes(random, &text) } else { change_tokens(random, &text, &other) };
        truncate(&mut text, LENGTH_LIMIT);
    }
    text
}

/// The tokens of a text, comments included, each with the space before it. Put together they are the text.
fn pieces(text: &str) -> Vec<String> {
    let mut before = 0;
    let tokens = lex(FileId::default(), text).into_iter().map(|token| {
        let end = token.span.range().end;
        let piece = text.get(before..end).unwrap_or_default().to_owned();
        before = end;
        piece
    });
    tokens.collect()
}

/// A run of one to `most` of `count` pieces.
fn run(random: &mut Random, count: usize, most: usize) -> std::ops::Range<usize> {
    let start = random.below(count);
    start..(start + random.between(1, most)).min(count)
}

fn change_tokens(random: &mut Random, text: &str, other: &str) -> String {
    let (mut own, others) = (pieces(text), pieces(other));
    let at = random.below(own.len());
    match random.below(10) {
        0 => {
            own.drain(run(random, own.len(), 4));
        }
        1 => {
            let copied = own.get(run(random, own.len(), 12)).unwrap_or_default().to_vec();
            own.splice(at..at, copied);
        }
        2 => {
            let with = random.below(own.len());
            own.swap(at, with);
        }
        3 => {
            let replaced = run(random, own.len(), 2);
            own.splice(replaced, random.choose(&others));
        }
        4 => {
            let inserted = others.get(run(random, others.len(), 12)).unwrap_or_default().to_vec();
            own.splice(at..at, inserted);
        }
        5 => {
            own.truncate(at);
            own.extend(others.into_iter().skip(random.below(at.saturating_mul(2))));
        }
        6 => return change_statements(random, text, other),
        7 => rename(random, &mut own, &others),
        8 => repeat(random, &mut own),
        _ => nest(random, &mut own),
    }
    own.concat()
}

/// Moves, repeats or takes over whole statements.
fn change_statements(random: &mut Random, text: &str, other: &str) -> String {
    let mut own: Vec<&str> = text.split_inclusive(';').collect();
    let others: Vec<&str> = other.split_inclusive(';').collect();
    match random.below(4) {
        0 => random.shuffle(&mut own),
        1 => own.extend(random.choose(&own.clone())),
        2 => {
            let removed = random.below(own.len());
            own = own.into_iter().enumerate().filter(|(at, _)| *at != removed).map(|(_, one)| one).collect();
        }
        _ => own.extend(random.choose(&others)),
    }
    own.concat()
}

/// Calls one thing by the name of another, everywhere: cycles, second declarations, edges between anything.
fn rename(random: &mut Random, own: &mut [String], others: &[String]) {
    let from = random.choose(own).unwrap_or_default();
    let to = if random.chance(700) { random.choose(own) } else { random.choose(others) };
    let to = to.unwrap_or_default();
    for piece in own.iter_mut().filter(|piece| piece.trim() == from.trim()) {
        let space: String = piece.chars().take_while(|character| character.is_whitespace()).collect();
        *piece = format!("{space}{}", to.trim());
    }
}

/// Puts brackets around a run, many times, or repeats it many times.
fn nest(random: &mut Random, own: &mut Vec<String>) {
    let place = run(random, own.len(), 6);
    let times = [1, 2, 10, 63, 64, 65, 500].get(random.below(7)).copied().unwrap_or(1);
    let (open, close) =
        random.choose(&[("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"), ("A(", ")")]).unwrap_or_default();
    let inside = own.get(place.clone()).unwrap_or_default().concat();
    let changed = match random.below(3) {
        0 => inside.repeat(times),
        1 => format!("{}{inside}", open.repeat(times)),
        _ => format!("{}{inside}{}", open.repeat(times), close.repeat(times)),
    };
    own.splice(place, [changed]);
}

/// Repeats a run so often that whatever takes a piece of the stack for each would need more than there is.
fn repeat(random: &mut Random, own: &mut Vec<String>) {
    let place = run(random, own.len(), 4);
    let inside = own.get(place.clone()).unwrap_or_default().concat();
    own.splice(place, [inside.repeat(REPEATED)]);
}

/// Changes, inserts or removes bytes; what is no UTF-8 any more is replaced.
fn change_bytes(random: &mut Random, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = random.below(bytes.len());
    match random.below(5) {
        0 => bytes.truncate(at),
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        2 => {
            bytes.drain(run(random, bytes.len(), 20));
        }
        3 => bytes = text.replace('\n', "\r\n").into_bytes(),
        _ => {
            bytes.splice(at..at, random.choose(&ODD).unwrap_or_default().bytes());
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn truncate(text: &mut String, limit: usize) {
    let end = (0..=limit.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_whole_text() {
        for text in ["", " A = B; // c\n", "\u{feff}x \"y\n/*"] {
            assert_eq!(pieces(text).concat().trim_end(), text.trim_end());
        }
    }

    #[test]
    fn a_seed_replays_and_seeds_differ() {
        let seeds = ["A (int a) => (int b);\nsource A => B;".to_owned(), "C = D -> E; atomic C:{x};".to_owned()];
        let one = |seed| mutate(&mut Random::new(seed), &seeds);
        assert_eq!(one(7), one(7));
        let different: std::collections::BTreeSet<String> = (0..500).map(one).collect();
        assert!(different.len() > 400, "{}", different.len());
        assert!(different.iter().all(|text| text.len() <= LENGTH_LIMIT));
        assert_eq!(mutate(&mut Random::new(1), &[]).len(), mutate(&mut Random::new(1), &[]).len());
    }
}
