//! Comments that show the user's own statements, with the file and line they are from.

use flux_source::{SourceMap, Span};

/// How much of a statement is shown, in characters; with the place and three levels it stays within the columns.
const LONGEST: usize = 90;

/// `image.flux:21: Image = ReadRequest -> CheckCache;`: the text of a span on one line, without comments of its own and
/// cut where it is long, between what comes `before` it and `after` it.
pub fn quote(sources: &SourceMap, span: Span, before: &str, after: &str) -> String {
    let text = format!("{before}{}", collapse(sources.slice(span)));
    let place = sources.name_and_line(span);
    if text.chars().count() <= LONGEST {
        return format!("{place}: {text}{after}");
    }
    let cut: String = text.chars().take(LONGEST).collect();
    format!("{place}: {}...", cut.trim_end())
}

/// Leaves comments out and makes all white space one space; what is quoted stays.
fn collapse(text: &str) -> String {
    let mut words = String::new();
    let mut rest = text.chars().peekable();
    let mut quoted = false;
    while let Some(letter) = rest.next() {
        match (letter, rest.peek()) {
            ('\\', Some(next)) if quoted => {
                words.extend(['\\', *next]);
                rest.next();
                continue;
            }
            ('/', Some('/')) if !quoted => {
                rest.by_ref().find(|letter| *letter == '\n');
                words.push(' ');
                continue;
            }
            ('/', Some('*')) if !quoted => {
                let mut before = ' ';
                rest.by_ref().skip(1).find(|letter| std::mem::replace(&mut before, *letter) == '*' && *letter == '/');
                words.push(' ');
                continue;
            }
            ('"', _) => quoted = !quoted,
            _ => {}
        }
        words.push(letter);
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_source::FileId;

    fn shown(text: &str) -> String {
        quote(&SourceMap::of("a.flux", text), Span::new(FileId(0), 0..text.len()), "", "")
    }

    #[test]
    fn a_statement_is_shown_on_one_line_without_its_comments() {
        assert_eq!(shown("A (int x) // in\n  => /* out\n */ (int y);"), "a.flux:1: A (int x) => (int y);");
        assert_eq!(shown("A = B(\"http://x \\\" /*\") -> C;"), "a.flux:1: A = B(\"http://x \\\" /*\") -> C;");
        assert_eq!(shown("A = B; /* never closed"), "a.flux:1: A = B;");
    }

    #[test]
    fn a_long_statement_is_cut() {
        let long = format!("A = {}B;", "Node -> ".repeat(20));
        let comment = shown(&long);
        assert!(comment.ends_with("..."), "{comment}");
        assert!(comment.len() < 105, "{comment}");
    }
}
