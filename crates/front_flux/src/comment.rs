//! What an author says of a statement in the comment above it, or behind it.

use flux_source::Span;

/// The first sentence of the `//` comment that ends on the line above a statement that begins its line, or else of the
/// comment that follows the statement on its line, without the full stop; empty where there is neither.
pub fn first_sentence(text: &str, statement: Span) -> String {
    let above = first_sentence_above(text, statement.start as usize);
    if above.is_empty() { first_sentence_behind(text, statement.end as usize) } else { above }
}

fn first_sentence_behind(text: &str, offset: usize) -> String {
    let rest = text.get(offset..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    rest.trim().strip_prefix("//").map(|comment| sentence(comment.trim())).unwrap_or_default()
}

fn first_sentence_above(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    if before.get(line_start..).is_some_and(|rest| !rest.trim().is_empty()) {
        return String::new();
    }
    let lines = before.get(..line_start).unwrap_or_default().lines().rev();
    let mut comment: Vec<_> = lines.map_while(|line| line.trim().strip_prefix("//")).map(str::trim).collect();
    comment.reverse();
    let paragraph: Vec<_> = comment.into_iter().take_while(|line| !line.is_empty()).collect();
    sentence(&paragraph.join(" "))
}

/// The first sentence: until a full stop before a word with a capital or a number, or all.
fn sentence(words: &str) -> String {
    let mut stops = words.match_indices(". ").map(|(at, _)| at);
    let is_last = |at: &usize| {
        words
            .get(at + 2..)
            .is_some_and(|next| next.starts_with(|first: char| first.is_uppercase() || first.is_ascii_digit()))
    };
    let end = stops.find(is_last).unwrap_or(words.len());
    words.get(..end).unwrap_or_default().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_source::FileId;

    fn said(text: &str) -> String {
        let start = text.find("option").unwrap();
        first_sentence(text, Span::new(FileId(0), start..start + "option;".len()))
    }

    #[test]
    fn it_is_the_first_sentence_of_the_comment_right_above() {
        assert_eq!(said("// Where it listens, e.g. here. 0 is any. More.\noption;"), "Where it listens, e.g. here");
        assert_eq!(said("x;\n  // How long\r\n  // it waits.\n  option;"), "How long it waits");
        assert_eq!(said("// The file.\n\n// How long.\n//\n// Else for ever.\noption;"), "How long");
    }

    #[test]
    fn else_it_is_that_of_the_comment_behind() {
        assert_eq!(said("option; // Where it listens. 0 is any. More.\nx;"), "Where it listens");
        assert_eq!(said("// Above.\noption; // behind"), "Above");
        assert_eq!(said("x;\noption; y; // of y"), "");
    }

    #[test]
    fn there_may_be_none() {
        for text in [
            "option;",
            "\noption;",
            "// Another's.\n\noption;",
            "x; // Of x.\noption;",
            "/* A block. */\noption;",
            "//\noption;",
            "// Of x.\nx; option;",
        ] {
            assert_eq!(said(text), "", "{text}");
        }
    }
}
