//! Finds the fenced blocks of a Markdown page.
//!
//! A fence opens with three or more backticks or tildes and ends with at least as many of the same (CommonMark 0.31,
//! section 4.5), so that a longer fence may show shorter ones. Unlike CommonMark's, it may be indented by any number of
//! spaces, as fences in lists are, and must be closed.

use std::ops::Range;

/// A fenced block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The words after the opening marker.
    pub info: String,
    /// The line of the opening marker, from 1.
    pub line: usize,
    /// The spaces before the opening marker.
    pub indent: usize,
    /// The bytes of the page between the markers.
    pub body: Range<usize>,
    /// The text between the markers, its indentation removed.
    pub text: String,
}

/// The fenced blocks of `page` in order, or the line of one that is never closed.
pub fn blocks(page: &str) -> Result<Vec<Block>, usize> {
    let mut blocks = vec![];
    let mut open: Option<(Block, &str)> = None;
    let mut offset = 0;
    for (number, line) in page.split_inclusive('\n').enumerate() {
        let (indent, content) = split_indent(line);
        let end = offset + line.len();
        open = match open {
            Some((mut block, marker)) if closes(content, marker) => {
                block.body.end = offset;
                blocks.push(block);
                None
            }
            Some((mut block, marker)) => {
                let (kept, _) = line.split_at(indent.min(block.indent));
                block.text.push_str(line.strip_prefix(kept).unwrap_or(line));
                Some((block, marker))
            }
            None => opening(content).map(|(marker, info)| {
                let body = end..end;
                (Block { info: info.to_owned(), line: number + 1, indent, body, text: String::new() }, marker)
            }),
        };
        offset = end;
    }
    match open {
        Some((block, _)) => Err(block.line),
        None => Ok(blocks),
    }
}

fn split_indent(line: &str) -> (usize, &str) {
    let content = line.trim_start_matches(' ');
    (line.len() - content.len(), content.trim_end())
}

/// The marker and the info string, where a fence opens here.
fn opening(content: &str) -> Option<(&str, &str)> {
    let first = content.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let info = content.trim_start_matches(first);
    let marker = content.strip_suffix(info)?;
    // A backtick after the marker makes it a code span: ```like this```.
    (marker.len() >= 3 && !info.contains('`')).then_some((marker, info.trim()))
}

fn closes(content: &str, marker: &str) -> bool {
    content.strip_prefix(marker).is_some_and(|rest| rest.chars().all(|more| marker.starts_with(more)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_its_info_its_line_and_its_text() {
        let page = "# Title\n\n```flux file=a.flux\nA = B;\n```\n";
        let found = blocks(page).expect("it is closed");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].info.as_str(), found[0].line), ("flux file=a.flux", 3));
        assert_eq!(found[0].text, "A = B;\n");
        assert_eq!(page.get(found[0].body.clone()), Some("A = B;\n"));
    }

    #[test]
    fn a_longer_fence_shows_shorter_ones() {
        let found = blocks("````markdown\n```flux\nA\n```\n````\n~~~flux\n```\n~~~\n").expect("all are closed");
        let infos: Vec<_> = found.iter().map(|block| (block.info.as_str(), block.text.as_str())).collect();
        assert_eq!(infos, [("markdown", "```flux\nA\n```\n"), ("flux", "```\n")]);
    }

    #[test]
    fn indentation_belongs_to_the_list_and_not_to_the_text() {
        let found = blocks("1. item\n\n   ```flux\n   A = B;\n     C = D;\n\n   ```\n").expect("it is closed");
        assert_eq!((found[0].text.as_str(), found[0].indent), ("A = B;\n  C = D;\n\n", 3));
    }

    #[test]
    fn a_code_span_opens_no_fence() {
        assert_eq!(blocks("```like this```\ntext\n"), Ok(vec![]));
    }

    #[test]
    fn a_fence_that_is_never_closed_is_an_error_at_its_line() {
        assert_eq!(blocks("text\n```flux\nA\n"), Err(2));
    }
}
