//! Where a statement is broken: where its author broke it before an arrow, and where a line would be too long.
//!
//! A line that is too long ends before the last place that may start a line and is in the fewest brackets: the arrows
//! of a flow before those of its parallel steps, the arrow of a declaration before the commas of its lists. What such a
//! line starts with is broken there again in a second round, so the result stays.

use crate::COLUMNS;
use crate::pieces::Piece;

/// How far what continues a statement is moved to the right, for the statement and for each bracket.
const INDENTATION: usize = 2;

/// Writes a statement, its first line where `out` ends.
pub fn write(pieces: &[Piece], out: &mut String) {
    let mut rest = pieces;
    let mut column = 0;
    while !rest.is_empty() {
        let length = line_length(rest, column);
        let (line, after) = rest.split_at(length);
        for (at, piece) in line.iter().enumerate() {
            if at > 0 && piece.spaced {
                out.push(' ');
            }
            out.push_str(&piece.text);
        }
        if let Some(next) = after.first() {
            column = INDENTATION * next.levels;
            out.push_str(if next.after_gap { "\n\n" } else { "\n" });
            out.push_str(&" ".repeat(column));
        }
        rest = after;
    }
}

/// How many pieces the line has that starts with the first of `pieces` in `column`; at least one.
fn line_length(pieces: &[Piece], mut column: usize) -> usize {
    // The best place so far: its index and its depth.
    let mut best: Option<(usize, usize)> = None;
    for (at, piece) in pieces.iter().enumerate() {
        if at > 0 {
            if piece.starts_line {
                return at;
            }
            if piece.may_start_line && best.is_none_or(|(_, depth)| piece.depth <= depth) {
                // Too long already, and this is the first place to do something about it.
                if column > COLUMNS && best.is_none() {
                    return at;
                }
                best = Some((at, piece.depth));
            }
            column += usize::from(piece.spaced);
        }
        column += if piece.is_comment { 0 } else { piece.text.chars().count() };
        if let (true, Some((at, _))) = (column > COLUMNS, best) {
            return at;
        }
    }
    pieces.len()
}
