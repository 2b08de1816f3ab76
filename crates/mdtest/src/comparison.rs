//! Compares what a page expects with the actual output, line by line, and shows the difference.
//!
//! Space at the end of a line and empty lines around the whole are ignored. `[..]` in an expected line stands for any
//! characters of that line: a version, a time, the path of a folder.

/// How many equal lines are shown around a difference.
const CONTEXT: usize = 3;

/// The outcome of a comparison that found a difference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// `-` before lines that the page has and should not, `+` before those that it lacks.
    pub shown: String,
    /// The text the page should have: its own lines where they match, the actual ones elsewhere.
    pub merged: String,
}

/// What differs between the page's text and the actual one, if anything does.
pub fn compare(expected: &str, actual: &str) -> Option<Difference> {
    let edits = align(&lines(expected), &lines(actual));
    if edits.iter().all(|edit| matches!(edit, Edit::Same(_))) {
        return None;
    }
    let mut merged = String::new();
    for edit in &edits {
        if let Edit::Same(line) | Edit::Added(line) = edit {
            merged.push_str(line);
            merged.push('\n');
        }
    }
    Some(Difference { shown: show(&edits), merged })
}

/// A line of either side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Edit<'a> {
    /// In both; as the page has it.
    Same(&'a str),
    /// On the page alone.
    Removed(&'a str),
    /// In the actual text alone.
    Added(&'a str),
}

fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().map(str::trim_end).skip_while(|line| line.is_empty()).collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}

/// The longest common subsequence of the lines, by the textbook table: O(lines of one times lines of the other).
fn align<'a>(expected: &[&'a str], actual: &[&'a str]) -> Vec<Edit<'a>> {
    // common[i][j] is the length of the longest common subsequence of expected[i..] and actual[j..].
    let mut common = vec![vec![0_usize; actual.len() + 1]; expected.len() + 1];
    let cell = |table: &[Vec<usize>], i: usize, j: usize| table.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0);
    for (i, line) in expected.iter().enumerate().rev() {
        for (j, other) in actual.iter().enumerate().rev() {
            let without = cell(&common, i + 1, j).max(cell(&common, i, j + 1));
            let length = if matches(line, other) { without.max(cell(&common, i + 1, j + 1) + 1) } else { without };
            if let Some(cell) = common.get_mut(i).and_then(|row| row.get_mut(j)) {
                *cell = length;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut edits = vec![];
    loop {
        match (expected.get(i), actual.get(j)) {
            (Some(line), Some(other))
                if matches(line, other) && cell(&common, i, j) == cell(&common, i + 1, j + 1) + 1 =>
            {
                edits.push(Edit::Same(line));
                (i, j) = (i + 1, j + 1);
            }
            (Some(line), other) if other.is_none() || cell(&common, i + 1, j) >= cell(&common, i, j + 1) => {
                edits.push(Edit::Removed(line));
                i += 1;
            }
            (_, Some(other)) => {
                edits.push(Edit::Added(other));
                j += 1;
            }
            _ => return edits,
        }
    }
}

/// Whether `line` is what `pattern` says, `[..]` standing for any characters.
fn matches(pattern: &str, line: &str) -> bool {
    let Some((first, pattern)) = pattern.split_once("[..]") else {
        return pattern == line;
    };
    let (middle, last) = pattern.rsplit_once("[..]").unwrap_or(("", pattern));
    let Some(mut rest) = line.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    middle.split("[..]").all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

fn show(edits: &[Edit]) -> String {
    let is_near = |index: usize| {
        let near = index.saturating_sub(CONTEXT)..=index + CONTEXT;
        edits.iter().enumerate().any(|(other, edit)| near.contains(&other) && !matches!(edit, Edit::Same(_)))
    };
    let mut shown = String::new();
    let mut skipped = false;
    for (index, edit) in edits.iter().enumerate() {
        if !is_near(index) {
            skipped = true;
            continue;
        }
        if std::mem::take(&mut skipped) {
            shown.push_str("    ...\n");
        }
        let (sign, line) = match edit {
            Edit::Same(line) => (' ', line),
            Edit::Removed(line) => ('-', line),
            Edit::Added(line) => ('+', line),
        };
        let shown_line = format!("    {sign} {line}");
        shown.push_str(shown_line.trim_end());
        shown.push('\n');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(expected: &str, actual: &str) -> Option<String> {
        compare(expected, actual).map(|difference| difference.shown)
    }

    #[test]
    fn space_at_the_ends_does_not_count() {
        assert_eq!(compare("\n a  \nb\n\n", " a\nb"), None);
        assert!(compare("a\nb", "a\n\nb").is_some());
        assert!(compare("a", " a").is_some());
    }

    #[test]
    fn a_difference_is_shown_with_its_surroundings() {
        let expected = "1\n2\n3\n4\n5\n6\n7\n8\n9";
        let actual = expected.replace('7', "seven");
        let shown = shown(expected, &actual).expect("they differ");
        assert_eq!(shown, "    ...\n      4\n      5\n      6\n    - 7\n    + seven\n      8\n      9\n");
    }

    #[test]
    fn a_wildcard_stands_for_any_part_of_a_line() {
        assert!(matches("took [..] ms", "took 12 ms"));
        assert!(matches("[..]", ""));
        assert!(matches("a[..]b[..]c", "a1b2c"));
        assert!(matches("[..]aa", "aaa"));
        assert!(!matches("took [..] ms", "took 12 s"));
        assert!(!matches("a[..]a", "a"));
        assert!(!matches("a", "ab"));
        assert!(!matches("a[..]b[..]c", "acb"));
    }

    #[test]
    fn what_matches_keeps_the_words_of_the_page() {
        let difference = compare("took [..] ms\nold\nsame\n", "took 5 ms\nnew\nsame\n").expect("they differ");
        assert_eq!(difference.merged, "took [..] ms\nnew\nsame\n");
    }

    #[test]
    fn nothing_and_something_differ() {
        assert_eq!(shown("", "a").as_deref(), Some("    + a\n"));
        assert_eq!(shown("a", "").as_deref(), Some("    - a\n"));
        assert_eq!(compare("", "\n\n"), None);
    }
}
