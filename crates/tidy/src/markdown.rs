//! What the rules need to know of Markdown documents: the places outside of fences that name something.

use crate::repository::File;

/// A piece of text in backticks, or the target of a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mention {
    /// `` `text` ``
    Code(usize, String),
    /// `[words](target)` or `[words]: target`
    Link(usize, String),
}

/// Everything of that kind in a document, with its line, from 1.
pub fn mentions(file: File) -> Vec<Mention> {
    let mut found = vec![];
    for paragraph in paragraphs(file) {
        let mut is_code = false;
        for (line, text) in &paragraph {
            let mut prose = String::new();
            for (index, piece) in text.split('`').enumerate() {
                is_code ^= index > 0;
                match is_code {
                    true => found.push(Mention::Code(*line, piece.to_owned())),
                    false => prose.push_str(piece),
                }
            }
            found.extend(links(&prose).map(|target| Mention::Link(*line, target.to_owned())));
        }
    }
    found
}

/// The lines between empty lines and fences: what is in backticks does not go beyond them.
fn paragraphs(file: File<'_>) -> Vec<Vec<(usize, &str)>> {
    let mut paragraphs = vec![vec![]];
    let mut fence: Option<&str> = None;
    for (number, line) in file.lines() {
        let content = line.trim();
        let marker = content.get(..content.len() - content.trim_start_matches('`').len()).filter(|it| it.len() >= 3);
        match (fence, marker) {
            (Some(open), Some(close)) if close == content && close.len() >= open.len() => fence = None,
            (Some(_), _) => {}
            (None, Some(_)) => {
                fence = marker;
                paragraphs.push(vec![]);
            }
            (None, None) if content.is_empty() => paragraphs.push(vec![]),
            (None, None) => paragraphs.last_mut().into_iter().for_each(|lines| lines.push((number, line))),
        }
    }
    paragraphs
}

fn links(prose: &str) -> impl Iterator<Item = &str> {
    let inline = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let definition = prose.starts_with('[').then(|| prose.split_once("]: ")).flatten().map(|(_, target)| target.trim());
    inline.chain(definition)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Mention> {
        mentions(File { path: "a.md", text })
    }

    #[test]
    fn code_and_links_are_found_with_their_lines() {
        let found = of("# T\n\nSee `a/b.rs` and [c](d/e.md#f),\n[g `h`](i).\n\n[j]: k/l.md\n");
        let expected = [
            Mention::Code(3, "a/b.rs".to_owned()),
            Mention::Link(3, "d/e.md#f".to_owned()),
            Mention::Code(4, "h".to_owned()),
            Mention::Link(4, "i".to_owned()),
            Mention::Link(6, "k/l.md".to_owned()),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn fences_name_nothing() {
        assert_eq!(of("```sh\n`a`\n```\n````markdown\n```\n[a](b)\n```\n````\n"), []);
    }

    #[test]
    fn a_backtick_that_is_not_closed_ends_with_its_paragraph() {
        assert_eq!(of("one ` two\n\n`a`\n").last(), Some(&Mention::Code(3, "a".to_owned())));
    }
}
